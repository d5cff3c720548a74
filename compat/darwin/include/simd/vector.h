// SPDX-License-Identifier: Apache-2.0
#include <simd/geometry.h>
