// SPDX-License-Identifier: Apache-2.0
// Every environment variable that Ingot reads. The manual page ingot(1) describes the same list; a test compares them.
//
// Values are read when the object they belong to is opened (a device, a stream, a library loaded at run time) and kept
// there: later changes of the environment do not affect open objects.
#ifndef INGOT_CORE_SETTINGS_H
#define INGOT_CORE_SETTINGS_H

#include <ingot/status.h>
#include <stdbool.h>
#include <stdint.h>

// X(name without INGOT_, accepted values, default, meaning)
//
// Accepted values: "A..B" is a number from A to B, "a|b" one of these words, "" any text.
#define IGI_SETTING_LIST(X)                                                                                           \
    X(BACKEND, "", "chosen by measurement", "which backend runs which tensor op")                                     \
    X(BENCH, "", "next to the command", "the ingot-bench program, which `ingot bench` runs")                          \
    X(BLAS, "", "OpenBLAS or Accelerate", "the BLAS library to load")                                                 \
    X(CACHE_DIR, "", "$XDG_CACHE_HOME/ingot", "where compiled kernels are kept; empty: nowhere")                      \
    X(CAPTURE, "", "no capture", "the file for Xcode that records all work on a Mac")                                 \
    X(CAPTURE_DIR, "", "no capture", "where failing and chosen dispatches are written, for `ingot replay`")           \
    X(CAPTURE_DISPATCH, "", "failing ones", "further dispatches to capture: sum*, sum*:0-9, 17")                      \
    X(CHECK, "", "nothing", "what is checked while kernels run: all, memory, races, init, sync")                      \
    X(CLANG, "", "that of Ingot's LLVM", "the clang that compiles MSL")                                               \
    X(CODEGEN, "", "next to the library", "the ingot-codegen program, or in-process")                                 \
    X(DEFAULT_LIBRARY, "", "default.metal next to the program", "what newDefaultLibrary loads")                       \
    X(DEVICE, "", "the first device", "the device to use: cpu, metal or a number")                                    \
    X(FUSE, "0|blocks|always|auto", "auto", "how chains of elementwise ops are fused")                                \
    X(JIT_DEBUG, "", "none", "tools that see compiled kernels: gdb, perf or both")                                    \
    X(MATH_MODE, "fast|safe", "fast", "the math mode of MSL that libMetal loads from files")                          \
    X(METAL, "", "libingot-metal.so.0", "the library with the Metal backend")                                         \
    X(METAL_TIMEOUT, "", "no limit", "seconds that a command buffer of libMetal may take")                            \
    X(MODEL, "", "none", "the model that `ingot bench llm` measures")                                                 \
    X(MPS, "0|1", "1", "whether matrix products on a Mac may use Metal Performance Shaders")                          \
    X(POOL_BYTES, "0..18446744073709551615", "a quarter of memory", "the most bytes kept for reuse")                  \
    X(PYTHON, "", "python3", "the Python whose packages are peers in benchmarks")                                     \
    X(SCHEDULE, "0..18446744073709551615", "as fast as possible", "the seed for a random order of threads")           \
    X(SIMD, "", "the best that runs here", "the level of the SIMD backend")                                           \
    X(SIMT_ISA, "avx2|sse4.2", "all that the CPU has", "the instructions that compiled kernels may use")              \
    X(SIMT_SHAPE, "always|never|auto", "auto", "whether kernels are compiled per threadgroup size")                   \
    X(SIMT_WIDTH, "0|1|4|8|16|32", "0: chosen per kernel", "how many threads of a kernel run per step")               \
    X(TENSOR_LAYOUT, "fragments|interleaved|blocked", "fragments", "which thread holds what of a cooperative tensor") \
    X(THRESHOLDS, "", "thresholds in the cache", "the file of measured dispatch thresholds")                          \
    X(TIER, "1|2|both", "both", "kernels run code made quickly (1), optimised code (2), or first 1 and then 2")       \
    X(TRACE, "", "no trace", "the file of a trace for Perfetto and chrome://tracing; %p: the process")                \
    X(WORKERS, "1..1024", "one per core", "how many CPU threads run kernels")

typedef enum igi_setting {
#define X(name, values, standard, meaning) IGI_SETTING_##name,
    IGI_SETTING_LIST(X)
#undef X
        IGI_SETTING_COUNT
} igi_setting;

// The text of the variable; NULL if it is not set.
const char *igi_setting_text(igi_setting setting);
// The same, but NULL also if it is empty.
const char *igi_setting_named(igi_setting setting);
bool igi_setting_is(igi_setting setting, const char *value);
// `otherwise` if it is not set, empty, or not a number in range.
uint64_t igi_setting_number(igi_setting setting, uint64_t otherwise);

// Fails on the first variable whose value is not accepted, and says which values are.
ig_status igi_settings_check(ig_error *error);

#endif
