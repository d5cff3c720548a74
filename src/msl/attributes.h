// SPDX-License-Identifier: Apache-2.0
// Every MSL attribute that Ingot knows, and its kind.
#ifndef INGOT_MSL_ATTRIBUTES_H
#define INGOT_MSL_ATTRIBUTES_H

#include <stddef.h>

// X(name, number of components it may have)
#define IGI_BUILTIN_LIST(X)                   \
    X(thread_position_in_grid, 3)             \
    X(thread_position_in_threadgroup, 3)      \
    X(threadgroup_position_in_grid, 3)        \
    X(threads_per_grid, 3)                    \
    X(threads_per_threadgroup, 3)             \
    X(threadgroups_per_grid, 3)               \
    X(dispatch_threads_per_threadgroup, 3)    \
    X(grid_origin, 3)                         \
    X(grid_size, 3)                           \
    X(thread_index_in_threadgroup, 1)         \
    X(thread_index_in_simdgroup, 1)           \
    X(thread_index_in_quadgroup, 1)           \
    X(simdgroup_index_in_threadgroup, 1)      \
    X(quadgroup_index_in_threadgroup, 1)      \
    X(simdgroups_per_threadgroup, 1)          \
    X(quadgroups_per_threadgroup, 1)          \
    X(dispatch_simdgroups_per_threadgroup, 1) \
    X(dispatch_quadgroups_per_threadgroup, 1) \
    X(threads_per_simdgroup, 1)               \
    X(thread_execution_width, 1)

typedef enum igi_msl_builtin {
#define IGI_BUILTIN_ENUM(name, components) IGI_BUILTIN_##name,
    IGI_BUILTIN_LIST(IGI_BUILTIN_ENUM)
#undef IGI_BUILTIN_ENUM
        IGI_BUILTIN_COUNT
} igi_msl_builtin;

typedef enum igi_msl_attribute_kind {
    IGI_ATTRIBUTE_KERNEL,
    IGI_ATTRIBUTE_VISIBLE,  // may be called through a function table or from another library
    IGI_ATTRIBUTE_HOST_NAME,
    IGI_ATTRIBUTE_SLOT,         // buffer(n), threadgroup(n), texture(n), sampler(n)
    IGI_ATTRIBUTE_BUILTIN,      // given by the device
    IGI_ATTRIBUTE_CONSTANT,     // function_constant(n)
    IGI_ATTRIBUTE_LIMIT,        // max_total_threads_per_threadgroup(n)
    IGI_ATTRIBUTE_MEMBER,       // id(n): argument buffers are plain structs here, so only reflection needs it
    IGI_ATTRIBUTE_STAGE_INPUT,  // attribute(n): a member that is filled from a buffer
    IGI_ATTRIBUTE_IGNORED,      // means nothing to a compute kernel on this device
    IGI_ATTRIBUTE_UNSUPPORTED,  // graphics, ray tracing: refused by name
} igi_msl_attribute_kind;

typedef struct igi_msl_attribute {
    const char *name;
    igi_msl_attribute_kind kind;
} igi_msl_attribute;

// NULL for a name that is not in MSL.
const igi_msl_attribute *igi_msl_attribute_find(const char *name, size_t length);
// The attribute that a mistyped one was probably meant to be, among those that kernels can have; NULL if none is close.
const char *igi_msl_attribute_nearest(const char *name);

#endif
