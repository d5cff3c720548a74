// SPDX-License-Identifier: Apache-2.0
// What both kernels share.
#pragma once

#include <metal_stdlib>

constant constexpr float step = 2;
