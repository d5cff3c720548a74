// SPDX-License-Identifier: Apache-2.0
// For builds that cannot run compile-runtime: there are no functions, and compiled Metal libraries are refused.
#include "air/runtime.h"

const char igi_air_runtime[] = "";
const size_t igi_air_runtime_length = 0;
const char igi_air_runtime_target[] = "", igi_air_runtime_layout[] = "";
const igi_air_runtime_module igi_air_runtime_modules[] = {{0, 0}};
const size_t igi_air_runtime_module_count = 0;
const igi_air_runtime_function igi_air_runtime_functions[] = {{"", 0}};
const size_t igi_air_runtime_function_count = 0;
