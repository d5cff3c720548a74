// SPDX-License-Identifier: Apache-2.0
// Headers that programs for a Mac get from others of Apple's C++ library. It is included first in what the toolchain file and
// Ingot's clang compile, whether that is C++ or not.
#if !defined(INGOT_METAL_CXX_INCLUDES_H) && defined(__cplusplus)
#define INGOT_METAL_CXX_INCLUDES_H

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#endif
