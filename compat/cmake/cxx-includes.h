// SPDX-License-Identifier: Apache-2.0
// Headers that programs for a Mac get from others of Apple's C++ library. The toolchain file includes this one first.
#ifndef INGOT_METAL_CXX_INCLUDES_H
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
