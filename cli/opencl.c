// SPDX-License-Identifier: Apache-2.0
// A few functions of OpenCL, found in libOpenCL.so.1 when there is one.
#include "opencl.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "output.h"

// From the OpenCL 1.2 specification.
typedef void *cl_handle;
enum { BUFFER_BYTES = 1 << 20 };
enum { CL_SUCCESS = 0, CL_DEVICE_TYPE_CPU = 2, CL_PLATFORM_NAME = 0x0902 };

#define FUNCTIONS(X)                                                                                                \
    X(int32_t, clGetPlatformIDs, (uint32_t, cl_handle *, uint32_t *))                                               \
    X(int32_t, clGetPlatformInfo, (cl_handle, uint32_t, size_t, void *, size_t *))                                  \
    X(int32_t, clGetDeviceIDs, (cl_handle, uint64_t, uint32_t, cl_handle *, uint32_t *))                            \
    X(cl_handle, clCreateContext, (const intptr_t *, uint32_t, const cl_handle *, void *, void *, int32_t *))       \
    X(int32_t, clReleaseContext, (cl_handle))                                                                       \
    X(cl_handle, clCreateProgramWithSource, (cl_handle, uint32_t, const char **, const size_t *, int32_t *))        \
    X(int32_t, clBuildProgram, (cl_handle, uint32_t, const cl_handle *, const char *, void *, void *))              \
    X(cl_handle, clCreateCommandQueue, (cl_handle, cl_handle, uint64_t, int32_t *))                                 \
    X(int32_t, clReleaseCommandQueue, (cl_handle))                                                                  \
    X(int32_t, clFinish, (cl_handle))                                                                               \
    X(cl_handle, clCreateBuffer, (cl_handle, uint64_t, size_t, void *, int32_t *))                                  \
    X(int32_t, clReleaseMemObject, (cl_handle))                                                                     \
    X(cl_handle, clCreateKernel, (cl_handle, const char *, int32_t *))                                              \
    X(int32_t, clSetKernelArg, (cl_handle, uint32_t, size_t, const void *))                                         \
    X(int32_t, clEnqueueNDRangeKernel,                                                                              \
      (cl_handle, cl_handle, uint32_t, const size_t *, const size_t *, const size_t *, uint32_t, const cl_handle *, \
       cl_handle *))                                                                                                \
    X(int32_t, clReleaseKernel, (cl_handle))                                                                        \
    X(int32_t, clReleaseProgram, (cl_handle))

typedef struct opencl_functions {
#define POINTER(result, name, arguments) result(*name) arguments;
    FUNCTIONS(POINTER)
#undef POINTER
} opencl_functions;

struct opencl_platform {
    void *loader;
    opencl_functions cl;
    cl_handle device, context, queue, buffer;
};

static bool load(opencl_platform *platform) {
    platform->loader = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!platform->loader) return false;
    bool complete = true;
#define LOAD(result, name, arguments)                              \
    *(void **)&platform->cl.name = dlsym(platform->loader, #name); \
    complete &= platform->cl.name != NULL;
    FUNCTIONS(LOAD)
#undef LOAD
    return complete;
}

static bool find_device(opencl_platform *platform, const char *name) {
    cl_handle platforms[16];
    uint32_t count = 0;
    if (platform->cl.clGetPlatformIDs(16, platforms, &count) != CL_SUCCESS) return false;
    for (uint32_t i = 0; i < count && i < 16; i++) {
        char text[256] = "";
        platform->cl.clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof text, text, NULL);
        if (strstr(text, name) &&
            platform->cl.clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &platform->device, NULL) == CL_SUCCESS)
            return true;
    }
    return false;
}

opencl_platform *opencl_open(const char *name) {
    opencl_platform *platform = cli_alloc(sizeof *platform);
    *platform = (opencl_platform){0};
    // PoCL keeps builds on disk; a cold build is what is measured.
    setenv("POCL_KERNEL_CACHE", "0", 1);
    int32_t failed = 0;
    if (load(platform) && find_device(platform, name))
        platform->context = platform->cl.clCreateContext(NULL, 1, &platform->device, NULL, NULL, &failed);
    if (platform->context && !failed) {
        platform->queue = platform->cl.clCreateCommandQueue(platform->context, platform->device, 0, &failed);
        platform->buffer = platform->cl.clCreateBuffer(platform->context, 1, BUFFER_BYTES, NULL, &failed);
        if (platform->queue && platform->buffer) return platform;
    }
    opencl_close(platform);
    return NULL;
}

void opencl_close(opencl_platform *platform) {
    if (!platform) return;
    if (platform->buffer) platform->cl.clReleaseMemObject(platform->buffer);
    if (platform->queue) platform->cl.clReleaseCommandQueue(platform->queue);
    if (platform->context) platform->cl.clReleaseContext(platform->context);
    // The loader stays: PoCL's worker threads do not survive its unloading.
    free(platform);
}

static int32_t set_argument(opencl_platform *platform, cl_handle kernel, uint32_t index, char kind) {
    const uint32_t sixteen[2] = {16, 16};
    const float half = 0.5f;
    switch (kind) {
        case 'b': return platform->cl.clSetKernelArg(kernel, index, sizeof(cl_handle), &platform->buffer);
        case 'f': return platform->cl.clSetKernelArg(kernel, index, sizeof half, &half);
        case 'u': return platform->cl.clSetKernelArg(kernel, index, sizeof sixteen[0], sixteen);
        default: return platform->cl.clSetKernelArg(kernel, index, sizeof sixteen, sixteen);
    }
}

static int32_t launch_once(opencl_platform *platform, cl_handle program, const opencl_launch *launch) {
    int32_t failed = 0;
    cl_handle kernel = platform->cl.clCreateKernel(program, launch->kernel, &failed);
    for (uint32_t i = 0; kernel && !failed && launch->arguments[i]; i++)
        failed = set_argument(platform, kernel, i, launch->arguments[i]);
    if (!failed)
        failed = platform->cl.clEnqueueNDRangeKernel(platform->queue, kernel, launch->global[1] ? 2 : 1, NULL,
                                                     launch->global, launch->local, 0, NULL, NULL);
    if (!failed) failed = platform->cl.clFinish(platform->queue);
    if (kernel) platform->cl.clReleaseKernel(kernel);
    return failed;
}

double opencl_build_seconds(opencl_platform *platform, const char *source, const opencl_launch *launches,
                            size_t count) {
    const opencl_functions *cl = &platform->cl;
    int32_t failed = 0;
    uint64_t start = igi_now_ns();
    cl_handle program = cl->clCreateProgramWithSource(platform->context, 1, &source, NULL, &failed);
    if (!program || failed) return -1;
    failed = cl->clBuildProgram(program, 1, &platform->device, "", NULL, NULL);
    for (size_t i = 0; i < count && !failed; i++) failed = launch_once(platform, program, &launches[i]);
    double seconds = (double)(igi_now_ns() - start) * 1e-9;
    cl->clReleaseProgram(program);
    return failed ? -1 : seconds;
}
