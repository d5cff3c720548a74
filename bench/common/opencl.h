// SPDX-License-Identifier: Apache-2.0
// OpenCL CPU platforms as peers. The loader is opened at run time; nothing is needed at build time.
#ifndef INGOT_BENCH_COMMON_OPENCL_H
#define INGOT_BENCH_COMMON_OPENCL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct opencl_platform opencl_platform;
typedef void *cl_handle;

// The first CPU device of the platforms whose name contains `name`. NULL if there is none.
opencl_platform *opencl_open(const char *name);
// The same from a library that has OpenCL's functions itself, without the loader.
opencl_platform *opencl_open_library(const char *path);
void opencl_close(opencl_platform *platform);
const char *opencl_platform_name(const opencl_platform *platform);
const char *opencl_platform_version(const opencl_platform *platform);

// Functions that create something return NULL on failure; all others return whether they succeeded.
cl_handle opencl_buffer_create(opencl_platform *platform, size_t bytes);
bool opencl_buffer_write(opencl_platform *platform, cl_handle buffer, const void *bytes, size_t length);
bool opencl_buffer_read(opencl_platform *platform, cl_handle buffer, void *bytes, size_t length);
void opencl_buffer_release(opencl_platform *platform, cl_handle buffer);
// Two-dimensional images; they are released as buffers are. A format is the order of channels and their type.
enum { OPENCL_R = 0x10B0, OPENCL_RGBA = 0x10B5, OPENCL_UNORM8 = 0x10D2, OPENCL_UINT8 = 0x10DA, OPENCL_FLOAT = 0x10DE };
cl_handle opencl_image_create(opencl_platform *platform, const uint32_t format[2], size_t width, size_t height);
bool opencl_image_write(opencl_platform *platform, cl_handle image, size_t width, size_t height, const void *pixels);
bool opencl_image_read(opencl_platform *platform, cl_handle image, size_t width, size_t height, void *pixels);
cl_handle opencl_program_build(opencl_platform *platform, const char *source, const char *options);
void opencl_program_release(opencl_platform *platform, cl_handle program);
cl_handle opencl_kernel_create(opencl_platform *platform, cl_handle program, const char *name);
void opencl_kernel_release(opencl_platform *platform, cl_handle kernel);
bool opencl_kernel_set(opencl_platform *platform, cl_handle kernel, uint32_t index, size_t length, const void *value);
// Grids count threads.
bool opencl_enqueue(opencl_platform *platform, cl_handle kernel, const size_t grid[3], const size_t group[3]);
// Only the part of a grid that begins at `offset`.
bool opencl_enqueue_part(opencl_platform *platform, cl_handle kernel, const size_t offset[3], const size_t grid[3],
                         const size_t group[3]);
bool opencl_finish(opencl_platform *platform);

// One launch of a kernel. `arguments` has one letter each: b a buffer, f a float, u a uint, v a uint2.
typedef struct opencl_launch {
    const char *kernel, *arguments;
    size_t global[3], local[3];
} opencl_launch;

// Seconds until every kernel of the source can run: PoCL generates machine code at the first launch, so each kernel is
// launched once on small data. Negative on failure.
double opencl_build_seconds(opencl_platform *platform, const char *source, const opencl_launch *launches, size_t count);

#endif
