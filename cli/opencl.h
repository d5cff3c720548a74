// SPDX-License-Identifier: Apache-2.0
// OpenCL CPU platforms as peers. The loader is opened at run time; nothing is needed to build.
#ifndef INGOT_CLI_OPENCL_H
#define INGOT_CLI_OPENCL_H

#include <stdbool.h>
#include <stddef.h>

typedef struct opencl_platform opencl_platform;

// The first CPU device of the platform whose name contains `name`. NULL when there is none.
opencl_platform *opencl_open(const char *name);
void opencl_close(opencl_platform *platform);

// One launch of a kernel. `arguments` has a letter each: b a buffer, f a float, u a uint, v a uint2.
typedef struct opencl_launch {
    const char *kernel, *arguments;
    size_t global[2], local[2];
} opencl_launch;

// Seconds until every kernel of the source can run: PoCL makes the machine code at the first launch, so each kernel is
// launched once on small data. Negative when that failed.
double opencl_build_seconds(opencl_platform *platform, const char *source, const opencl_launch *launches, size_t count);

#endif
