// SPDX-License-Identifier: Apache-2.0
// ingot bench simt: the cases, the runners, and how they are compared.
//
// A case says how its kernels are launched; a runner launches them somewhere. Ingot's own runner is in this process,
// every peer in a child process (remote.c): OpenCL platforms bring an LLVM each, and a peer that crashes or was
// compiled for another CPU is then merely left out.
#ifndef INGOT_BENCH_SIMT_SIMT_H
#define INGOT_BENCH_SIMT_SIMT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ingot/texture.h>

#include "bench/common/context.h"
#include "console/options.h"
#include "sizes.h"

enum { SIMT_MAX_BUFFERS = 6, SIMT_MAX_ARGUMENTS = 4 };

// ---- Cases ----

typedef struct simt_argument {
    enum { SIMT_BUFFER, SIMT_UINT, SIMT_FLOAT, SIMT_TEXTURE } kind;
    uint32_t number;  // the value, or the index of a buffer of the case
    float real;
} simt_argument;

// Argument k is buffer(k) or texture(k) in MSL. Grids count threads.
typedef struct simt_launch {
    const char *kernel;
    size_t grid[3], group[3];
    size_t argument_count;
    simt_argument arguments[SIMT_MAX_ARGUMENTS];
} simt_launch;

// Where a case sends its launches, in order.
typedef struct simt_sink {
    void (*launch)(void *target, const simt_launch *launch);
    void *target;
} simt_sink;

// A buffer of a case that is a texture where there are textures, and plain memory elsewhere.
typedef struct simt_image {
    ig_pixel_format format;  // IG_PIXEL_INVALID: it is not one
    uint32_t width, height;
} simt_image;

typedef struct simt_case {
    const char *name, *size;
    const char *unit;
    double work;  // of one run: work / seconds is the figure in `unit`
    size_t bytes[SIMT_MAX_BUFFERS];
    size_t buffer_count;
    simt_image images[SIMT_MAX_BUFFERS];
    size_t result, result_bytes;  // which buffer holds the result, and how much of it counts
    bool streams;                 // bound by memory: STREAM's triad is a peer
    bool restore;                 // runs overwrite their input, which is restored before each
    bool multiplies;              // a matrix product: a BLAS is a peer
    bool metal_only;              // OpenCL C has no such kernel
    bool scalar_in_c;             // gcc does not vectorise the plain C version
    bool nearly;                  // the results are bytes that may differ by one
    double tolerance;             // relative, of floats; 0: integers
    double may_differ;            // share of the elements that need not agree
    void (*fill)(void *const *buffers);
    void (*reference)(void *const *buffers, void *result);
    void (*encode)(const simt_sink *sink);
} simt_case;

extern const simt_case simt_cases[];
extern const size_t simt_case_count;

// CLI_CONTINUE if all the kernels that were asked for exist; otherwise says which does not.
int simt_check_kernels(const bench_context *context);

// Functions that fill inputs and compute scalar results to compare others with (reference.c).
#define SIMT_CASE_DATA(X) \
    X(saxpy)              \
    X(add)                \
    X(softmax)            \
    X(rmsnorm)            \
    X(sum)                \
    X(scan)               \
    X(histogram)          \
    X(transpose)          \
    X(matmul)             \
    X(stencil)            \
    X(nbody)              \
    X(mandelbrot)         \
    X(bitonic)            \
    X(q4_matvec)          \
    X(texture_blur)       \
    X(texture_resize)     \
    X(texture_blur8)      \
    X(texture_resize8)    \
    X(texture_histogram)
#define SIMT_DECLARE(name)                       \
    void simt_fill_##name(void *const *buffers); \
    void simt_reference_##name(void *const *buffers, void *result);
SIMT_CASE_DATA(SIMT_DECLARE)
#undef SIMT_DECLARE

// The number of elements that are wrong beyond what the case allows; `first` is the first wrong one.
size_t simt_count_wrong(const simt_case *test, const void *result, const void *expected, size_t *first);

// ---- Runners ----

typedef struct simt_runner simt_runner;
typedef struct simt_runner_ops {
    // Prepares buffers and kernels. Returns false without `error` if the runner does not have this case.
    bool (*prepare)(simt_runner *runner, const simt_case *test, void *const *inputs);
    // Seconds of one run from encoding to completion; negative on failure.
    double (*run)(simt_runner *runner);
    bool (*read)(simt_runner *runner, void *result);
    void (*finish)(simt_runner *runner);  // frees what prepare made
    void (*close)(simt_runner *runner);
} simt_runner_ops;

struct simt_runner {
    const simt_runner_ops *ops;
    char name[32];    // as a peer
    char error[256];  // what went wrong; "" if nothing did
};

__attribute__((format(printf, 2, 3))) bool simt_fail(simt_runner *runner, const char *format, ...);

// NULL if it is not available on this machine. Ingot's own is never NULL but may have an error.
// `vendor` is the .icd file of an OpenCL platform.
simt_runner *simt_open_ingot(const char *name);
simt_runner *simt_open_checked(const char *name, uint32_t checks);  // IG_CHECK_ flags
simt_runner *simt_open_openmp(const char *name);
simt_runner *simt_open_openblas(void);
simt_runner *simt_open_opencv(void);  // the cases with textures only
simt_runner *simt_open_opencl(const char *vendor);
// Oclgrind, an interpreter that checks: memory always, "races" and "init" if `checks` contains them. It runs parts of the
// grids, and estimates the time of the whole.
simt_runner *simt_open_oclgrind(const char *checks);
bool simt_has_oclgrind(void);

// Calls the function with every .icd file, each of which names an OpenCL platform; "" stands for what the loader finds
// itself.
void simt_each_opencl(void (*found)(const char *vendor, void *user), void *user);

// ---- Runners in children ----

// The inputs of a case and the result of a run, in memory that children share.
typedef struct simt_exchange {
    int file;
    char *memory;
    size_t length;
} simt_exchange;
bool simt_exchange_create(simt_exchange *exchange);
bool simt_exchange_attach(simt_exchange *exchange, int file);
void simt_exchange_free(simt_exchange *exchange);
void simt_exchange_buffers(const simt_exchange *exchange, const simt_case *test, void **buffers);
void *simt_exchange_result(const simt_exchange *exchange, const simt_case *test);

// `peer` is what simt_serve understands: "w1", "openmp", "stream", "openblas", "opencl:FILE.icd",
// "oclgrind:CHECKS".
simt_runner *simt_open_remote(const char *peer, const simt_exchange *exchange);
// The child's side: serves the parent until it is gone.
int simt_serve(const char *peer);

// ---- Measuring ----

enum { SIMT_MAX_RUNNERS = 12 };

typedef struct simt_contest {
    const simt_case *test;
    simt_runner *runners[SIMT_MAX_RUNNERS];  // the first is Ingot itself
    size_t runner_count;
    uint64_t repeats;
    simt_exchange exchange;
    double seconds[SIMT_MAX_RUNNERS];  // medians; negative for those that do not take part
} simt_contest;

// Checks all results, then measures in turns. Returns false if Ingot itself failed; failures are reported.
bool simt_measure(simt_contest *contest);

#endif
