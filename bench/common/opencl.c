// SPDX-License-Identifier: Apache-2.0
// A few functions of OpenCL, from libOpenCL.so.1 if it is installed.
#include "bench/common/opencl.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "console/output.h"
#include "core/clock.h"

// From the OpenCL 1.2 specification.
enum { BUFFER_BYTES = 1 << 20 };
enum { CL_SUCCESS = 0, CL_TRUE = 1, CL_DEVICE_TYPE_CPU = 2, CL_MEM_READ_WRITE = 1 };
enum { CL_PLATFORM_VERSION = 0x0901, CL_PLATFORM_NAME = 0x0902 };
enum { MAX_PLATFORMS = 16 };

enum { CL_MEM_OBJECT_IMAGE2D = 0x10F1 };

// cl_image_desc.
typedef struct image_shape {
    uint32_t type;
    size_t width, height, depth, array_size, row_pitch, slice_pitch;
    uint32_t levels, samples;
    cl_handle buffer;
} image_shape;

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
    X(int32_t, clEnqueueWriteBuffer,                                                                                \
      (cl_handle, cl_handle, uint32_t, size_t, size_t, const void *, uint32_t, const cl_handle *, cl_handle *))     \
    X(int32_t, clEnqueueReadBuffer,                                                                                 \
      (cl_handle, cl_handle, uint32_t, size_t, size_t, void *, uint32_t, const cl_handle *, cl_handle *))           \
    X(cl_handle, clCreateImage, (cl_handle, uint64_t, const uint32_t *, const image_shape *, void *, int32_t *))    \
    X(int32_t, clEnqueueWriteImage,                                                                                 \
      (cl_handle, cl_handle, uint32_t, const size_t *, const size_t *, size_t, size_t, const void *, uint32_t,      \
       const cl_handle *, cl_handle *))                                                                             \
    X(int32_t, clEnqueueReadImage,                                                                                  \
      (cl_handle, cl_handle, uint32_t, const size_t *, const size_t *, size_t, size_t, void *, uint32_t,            \
       const cl_handle *, cl_handle *))                                                                             \
    X(int32_t, clReleaseMemObject, (cl_handle))                                                                     \
    X(cl_handle, clCreateKernel, (cl_handle, const char *, int32_t *))                                              \
    X(int32_t, clSetKernelArg, (cl_handle, uint32_t, size_t, const void *))                                         \
    X(int32_t, clEnqueueNDRangeKernel,                                                                              \
      (cl_handle, cl_handle, uint32_t, const size_t *, const size_t *, const size_t *, uint32_t, const cl_handle *, \
       cl_handle *))                                                                                                \
    X(int32_t, clReleaseKernel, (cl_handle))                                                                        \
    X(int32_t, clReleaseProgram, (cl_handle))

typedef struct opencl_functions {
// NOLINTNEXTLINE(bugprone-macro-parentheses): parts of a declaration
#define POINTER(result, name, arguments) result(*name) arguments;
    FUNCTIONS(POINTER)
#undef POINTER
} opencl_functions;

struct opencl_platform {
    void *loader;
    opencl_functions cl;
    cl_handle device, context, queue, buffer;
    char name[128], version[128];
};

static bool load(opencl_platform *platform, const char *library) {
    platform->loader = dlopen(library, RTLD_NOW | RTLD_LOCAL);
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
    const opencl_functions *cl = &platform->cl;
    cl_handle platforms[MAX_PLATFORMS];
    uint32_t count = 0;
    if (cl->clGetPlatformIDs(MAX_PLATFORMS, platforms, &count) != CL_SUCCESS) return false;
    for (uint32_t i = 0; i < count && i < MAX_PLATFORMS; i++) {
        cl->clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof platform->name, platform->name, NULL);
        cl->clGetPlatformInfo(platforms[i], CL_PLATFORM_VERSION, sizeof platform->version, platform->version, NULL);
        if (strstr(platform->name, name) &&
            cl->clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &platform->device, NULL) == CL_SUCCESS)
            return true;
    }
    return false;
}

static opencl_platform *open_platform(const char *library, const char *name) {
    opencl_platform *platform = cli_alloc(sizeof *platform);
    *platform = (opencl_platform){0};
    // PoCL keeps builds on disk, but cold builds are measured.
    setenv("POCL_KERNEL_CACHE", "0", 1);
    int32_t failed = 0;
    if (load(platform, library) && find_device(platform, name))
        platform->context = platform->cl.clCreateContext(NULL, 1, &platform->device, NULL, NULL, &failed);
    if (platform->context && !failed) {
        platform->queue = platform->cl.clCreateCommandQueue(platform->context, platform->device, 0, &failed);
        platform->buffer = opencl_buffer_create(platform, BUFFER_BYTES);
        if (platform->queue && platform->buffer) return platform;
    }
    opencl_close(platform);
    return NULL;
}

opencl_platform *opencl_open(const char *name) {
    opencl_platform *found = open_platform("libOpenCL.so.1", name);
    return found ? found : open_platform("/System/Library/Frameworks/OpenCL.framework/OpenCL", name);
}

opencl_platform *opencl_open_library(const char *path) {
    return open_platform(path, "");
}

void opencl_close(opencl_platform *platform) {
    if (!platform) return;
    opencl_buffer_release(platform, platform->buffer);
    if (platform->queue) platform->cl.clReleaseCommandQueue(platform->queue);
    if (platform->context) platform->cl.clReleaseContext(platform->context);
    // The loader stays loaded: PoCL's worker threads do not survive its unloading.
    free(platform);
}

const char *opencl_platform_name(const opencl_platform *platform) {
    return platform->name;
}

const char *opencl_platform_version(const opencl_platform *platform) {
    return platform->version;
}

// ---- Buffers ----

cl_handle opencl_buffer_create(opencl_platform *platform, size_t bytes) {
    int32_t failed = 0;
    cl_handle buffer = platform->cl.clCreateBuffer(platform->context, CL_MEM_READ_WRITE, bytes, NULL, &failed);
    return failed ? NULL : buffer;
}

bool opencl_buffer_write(opencl_platform *platform, cl_handle buffer, const void *bytes, size_t length) {
    return platform->cl.clEnqueueWriteBuffer(platform->queue, buffer, CL_TRUE, 0, length, bytes, 0, NULL, NULL) ==
           CL_SUCCESS;
}

bool opencl_buffer_read(opencl_platform *platform, cl_handle buffer, void *bytes, size_t length) {
    return platform->cl.clEnqueueReadBuffer(platform->queue, buffer, CL_TRUE, 0, length, bytes, 0, NULL, NULL) ==
           CL_SUCCESS;
}

void opencl_buffer_release(opencl_platform *platform, cl_handle buffer) {
    if (buffer) platform->cl.clReleaseMemObject(buffer);
}

// ---- Images ----

cl_handle opencl_image_create(opencl_platform *platform, const uint32_t format[2], size_t width, size_t height) {
    int32_t failed = 0;
    image_shape shape = {.type = CL_MEM_OBJECT_IMAGE2D, .width = width, .height = height, .depth = 1, .array_size = 1};
    cl_handle image = platform->cl.clCreateImage(platform->context, CL_MEM_READ_WRITE, format, &shape, NULL, &failed);
    return failed ? NULL : image;
}

bool opencl_image_write(opencl_platform *platform, cl_handle image, size_t width, size_t height, const void *pixels) {
    const size_t origin[3] = {0}, size[3] = {width, height, 1};
    return platform->cl.clEnqueueWriteImage(platform->queue, image, CL_TRUE, origin, size, 0, 0, pixels, 0, NULL,
                                            NULL) == CL_SUCCESS;
}

bool opencl_image_read(opencl_platform *platform, cl_handle image, size_t width, size_t height, void *pixels) {
    const size_t origin[3] = {0}, size[3] = {width, height, 1};
    return platform->cl.clEnqueueReadImage(platform->queue, image, CL_TRUE, origin, size, 0, 0, pixels, 0, NULL,
                                           NULL) == CL_SUCCESS;
}

// ---- Programs and kernels ----

cl_handle opencl_program_build(opencl_platform *platform, const char *source, const char *options) {
    const opencl_functions *cl = &platform->cl;
    int32_t failed = 0;
    cl_handle program = cl->clCreateProgramWithSource(platform->context, 1, &source, NULL, &failed);
    if (!program || failed) return NULL;
    if (cl->clBuildProgram(program, 1, &platform->device, options, NULL, NULL) == CL_SUCCESS) return program;
    cl->clReleaseProgram(program);
    return NULL;
}

void opencl_program_release(opencl_platform *platform, cl_handle program) {
    if (program) platform->cl.clReleaseProgram(program);
}

cl_handle opencl_kernel_create(opencl_platform *platform, cl_handle program, const char *name) {
    int32_t failed = 0;
    cl_handle kernel = platform->cl.clCreateKernel(program, name, &failed);
    return failed ? NULL : kernel;
}

void opencl_kernel_release(opencl_platform *platform, cl_handle kernel) {
    if (kernel) platform->cl.clReleaseKernel(kernel);
}

bool opencl_kernel_set(opencl_platform *platform, cl_handle kernel, uint32_t index, size_t length, const void *value) {
    return platform->cl.clSetKernelArg(kernel, index, length, value) == CL_SUCCESS;
}

bool opencl_enqueue(opencl_platform *platform, cl_handle kernel, const size_t grid[3], const size_t group[3]) {
    uint32_t dimensions = grid[2] > 1 ? 3 : grid[1] > 1 ? 2 : 1;
    return platform->cl.clEnqueueNDRangeKernel(platform->queue, kernel, dimensions, NULL, grid, group, 0, NULL, NULL) ==
           CL_SUCCESS;
}

bool opencl_enqueue_part(opencl_platform *platform, cl_handle kernel, const size_t offset[3], const size_t grid[3],
                         const size_t group[3]) {
    return platform->cl.clEnqueueNDRangeKernel(platform->queue, kernel, 3, offset, grid, group, 0, NULL, NULL) ==
           CL_SUCCESS;
}

bool opencl_finish(opencl_platform *platform) {
    return platform->cl.clFinish(platform->queue) == CL_SUCCESS;
}

// ---- Building ----

static bool set_sample(opencl_platform *platform, cl_handle kernel, uint32_t index, char kind) {
    const uint32_t sixteen[2] = {16, 16};
    const float half = 0.5f;
    switch (kind) {
        case 'b': return opencl_kernel_set(platform, kernel, index, sizeof(cl_handle), &platform->buffer);
        case 'f': return opencl_kernel_set(platform, kernel, index, sizeof half, &half);
        case 'u': return opencl_kernel_set(platform, kernel, index, sizeof sixteen[0], sixteen);
        default: return opencl_kernel_set(platform, kernel, index, sizeof sixteen, sixteen);
    }
}

static bool launch_once(opencl_platform *platform, cl_handle program, const opencl_launch *launch) {
    cl_handle kernel = opencl_kernel_create(platform, program, launch->kernel);
    bool ok = kernel;
    for (uint32_t i = 0; ok && launch->arguments[i]; i++) ok = set_sample(platform, kernel, i, launch->arguments[i]);
    ok = ok && opencl_enqueue(platform, kernel, launch->global, launch->local) && opencl_finish(platform);
    opencl_kernel_release(platform, kernel);
    return ok;
}

double opencl_build_seconds(opencl_platform *platform, const char *source, const opencl_launch *launches,
                            size_t count) {
    uint64_t start = igi_now_ns();
    cl_handle program = opencl_program_build(platform, source, "");
    bool ok = program;
    for (size_t i = 0; i < count && ok; i++) ok = launch_once(platform, program, &launches[i]);
    double seconds = (double)(igi_now_ns() - start) * 1e-9;
    opencl_program_release(platform, program);
    return ok ? seconds : -1;
}
