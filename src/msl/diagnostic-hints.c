// SPDX-License-Identifier: Apache-2.0
// What to write instead of names that are not in MSL: those of CUDA, OpenCL and C, and mistyped attributes.
#include <stdio.h>
#include <string.h>

#include "msl/attributes.h"
#include "msl/diagnostic.h"

typedef struct hint {
    const char *name;  // a trailing "*" stands for any suffix
    const char *advice;
} hint;

static const char space_of_pointers[] = "MSL pointers name an address space: device, constant, threadgroup or thread";
static const char simd_shuffles[] = "MSL has simd_shuffle, simd_shuffle_down, simd_shuffle_up and simd_shuffle_xor";
static const char atomics[] =
    "MSL has atomic_fetch_add_explicit and its like on 'device atomic_uint *', with memory_order_relaxed";
static const char opencl_barrier[] = "MSL has threadgroup_barrier(mem_flags::mem_threadgroup)";

static const hint hints[] = {
    // CUDA
    {"__global__", "MSL marks kernels with 'kernel'"},
    {"__device__", "MSL functions need no mark"},
    {"__host__", "MSL functions need no mark"},
    {"__forceinline__", "write 'inline'"},
    {"__shared__", "write 'threadgroup'"},
    {"__constant__", "write 'constant'"},
    {"threadIdx", "add a parameter 'uint3 name [[thread_position_in_threadgroup]]'"},
    {"blockIdx", "add a parameter 'uint3 name [[threadgroup_position_in_grid]]'"},
    {"blockDim", "add a parameter 'uint3 name [[threads_per_threadgroup]]'"},
    {"gridDim", "add a parameter 'uint3 name [[threadgroups_per_grid]]'"},
    {"warpSize", "add a parameter 'uint name [[threads_per_simdgroup]]'"},
    {"__syncthreads", opencl_barrier},
    {"__syncwarp", "MSL has simdgroup_barrier(mem_flags::mem_none)"},
    {"__shfl*", simd_shuffles},
    {"__ballot*", "MSL has simd_ballot"},
    {"__any_sync", "MSL has simd_any"},
    {"__all_sync", "MSL has simd_all"},
    {"__ldg", "read through the pointer"},
    {"__popc", "MSL has popcount"},
    {"__clz", "MSL has clz"},
    {"__threadfence*", "MSL has threadgroup_barrier(mem_flags::mem_device) and, from 3.2, atomic_thread_fence"},
    {"atomicAdd", atomics},
    {"atomicSub", atomics},
    {"atomicMin", atomics},
    {"atomicMax", atomics},
    {"atomicExch", atomics},
    {"atomicCAS", atomics},
    {"make_*", "MSL constructs vectors as in float4(x, y, z, w)"},
    // OpenCL
    {"__kernel", "write 'kernel'"},
    {"__global", "write 'device'"},
    {"global", "write 'device'"},
    {"__local", "write 'threadgroup'"},
    {"local", "write 'threadgroup'"},
    {"__constant", "write 'constant'"},
    {"__private", "write 'thread'"},
    {"get_global_id", "add a parameter 'uint3 name [[thread_position_in_grid]]'"},
    {"get_local_id", "add a parameter 'uint3 name [[thread_position_in_threadgroup]]'"},
    {"get_group_id", "add a parameter 'uint3 name [[threadgroup_position_in_grid]]'"},
    {"get_global_size", "add a parameter 'uint3 name [[threads_per_grid]]'"},
    {"get_local_size", "add a parameter 'uint3 name [[threads_per_threadgroup]]'"},
    {"get_num_groups", "add a parameter 'uint3 name [[threadgroups_per_grid]]'"},
    {"barrier", opencl_barrier},
    {"work_group_barrier", opencl_barrier},
    {"CLK_*_MEM_FENCE", opencl_barrier},
    {"CLK_*", opencl_barrier},
    {"sub_group_*", "MSL has simd_sum, simd_max, simd_shuffle and others on simdgroups"},
    {"atomic_add", atomics},
    {"atomic_inc", atomics},
    {"atomic_cmpxchg", atomics},
    {"vload*", "read through a pointer to float4 or packed_float4"},
    {"vstore*", "write through a pointer to float4 or packed_float4"},
    {"convert_*", "MSL converts as in float4(x)"},
    {"as_float*", "MSL has as_type<float4>(x)"},
    {"as_int*", "MSL has as_type<int4>(x)"},
    {"as_uint*", "MSL has as_type<uint4>(x)"},
    {"native_*", "MSL has the function in namespace fast, like fast::sin"},
    {"image2d_t", "MSL has texture2d<float>"},
    {"image3d_t", "MSL has texture3d<float>"},
    {"sampler_t", "MSL has sampler"},
    // C
    {"printf", "kernels cannot print; write to a buffer and print it on the host"},
    {"assert", "kernels cannot stop the program; write to a buffer and check it on the host"},
    {"malloc", "kernels cannot allocate; pass a buffer"},
    {"nullptr_t", space_of_pointers},
};

// With the suffix 'f' they are C's.
static const char *const math[] = {"acos", "asin",  "atan",  "atan2", "ceil", "cos",  "cosh", "exp",   "exp2",
                                   "fabs", "floor", "fma",   "fmax",  "fmin", "fmod", "log",  "log10", "log2",
                                   "pow",  "round", "rsqrt", "sin",   "sinh", "sqrt", "tan",  "tanh",  "trunc"};

static bool matches(const char *pattern, const char *name) {
    size_t star = strcspn(pattern, "*");
    if (!pattern[star]) return strcmp(pattern, name) == 0;
    size_t length = strlen(name), tail = strlen(pattern + star + 1);
    return length >= star + tail && strncmp(pattern, name, star) == 0 &&
           strcmp(name + length - tail, pattern + star + 1) == 0;
}

static const char *find_advice(const char *name) {
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (matches(hints[i].name, name)) return hints[i].advice;
    return NULL;
}

static bool is_suffixed_math(const char *name) {
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof math / sizeof *math; i++)
        if (strlen(math[i]) + 1 == length && name[length - 1] == 'f' && strncmp(math[i], name, length - 1) == 0)
            return true;
    return false;
}

enum { MAX_NAME = 64 };

// The name between the first quotes of a message about an unknown name.
static bool unknown_name(const char *text, char name[MAX_NAME]) {
    static const char *const complaints[] = {"use of undeclared identifier '",
                                             "unknown type name '",
                                             "no template named '",
                                             "no member named '",
                                             "unknown attribute '",
                                             "no type named '"};
    for (size_t i = 0; i < sizeof complaints / sizeof *complaints; i++) {
        size_t length = strlen(complaints[i]);
        if (strncmp(text, complaints[i], length) != 0) continue;
        size_t size = strcspn(text + length, "'");
        if (size == 0 || size >= MAX_NAME) return false;
        memcpy(name, text + length, size);
        name[size] = '\0';
        return true;
    }
    return false;
}

// Replaces what clang proposes.
static void replace_name(igi_msl_diagnostic *message, const char *name, const char *by) {
    igi_msl_diagnostic_free(message);
    if (!message->column) return;
    igi_msl_diagnostic_span span = {message->column, message->column + (uint32_t)strlen(name)};
    igi_msl_diagnostic_propose(message, span, igi_strdup(by));
}

// Advice such as "write 'device'" also becomes a proposed change.
static void propose_advice(igi_msl_diagnostic *message, const char *name, const char *advice) {
    static const char write[] = "write '";
    igi_msl_diagnostic_free(message);
    if (strncmp(advice, write, sizeof write - 1) != 0) return;
    char by[MAX_NAME];
    snprintf(by, sizeof by, "%.*s", (int)strcspn(advice + sizeof write - 1, "'"), advice + sizeof write - 1);
    replace_name(message, name, by);
}

static char *attribute_hint(igi_msl_diagnostic *message, const char *name) {
    const char *nearest = igi_msl_attribute_nearest(name);
    if (!nearest) return igi_format("unknown attribute '%s'", name);
    replace_name(message, name, nearest);
    return igi_format("unknown attribute '%s'; did you mean '%s'?", name, nearest);
}

static char *math_hint(igi_msl_diagnostic *message, const char *name) {
    char plain[MAX_NAME];
    size_t length = strlen(name) - 1;
    memcpy(plain, name, length);
    plain[length] = '\0';
    replace_name(message, name, plain);
    return igi_format("use of undeclared identifier '%s'; MSL has '%s' for every floating-point type", name, plain);
}

char *igi_msl_diagnostic_add_hint(igi_msl_diagnostic *message) {
    char name[MAX_NAME];
    if (!unknown_name(message->text, name)) return igi_strdup(message->text);
    if (strncmp(message->text, "unknown attribute", 17) == 0) return attribute_hint(message, name);
    if (is_suffixed_math(name)) return math_hint(message, name);
    const char *advice = find_advice(name);
    if (!advice) return igi_strdup(message->text);
    propose_advice(message, name, advice);
    const char *guess = strstr(message->text, "; did you mean");
    size_t length = guess ? (size_t)(guess - message->text) : strlen(message->text);
    return igi_format("%.*s; %s", (int)length, message->text, advice);
}
