// SPDX-License-Identifier: Apache-2.0
// ingot bench ops: the cases, the runners, and how they are compared.
#ifndef INGOT_BENCH_OPS_OPS_H
#define INGOT_BENCH_OPS_OPS_H

#include <ingot/ingot.h>

#include "bench/common/context.h"

// ---- Cases ----

typedef enum ops_kind {
    OPS_UNARY,
    OPS_BINARY,
    OPS_REDUCE,  // everything to one value
    OPS_MATMUL,
    OPS_SOFTMAX,  // of each row
    OPS_RMS_NORM,
    OPS_TRANSPOSE,  // a copy
    OPS_ATTENTION,  // causal; rows are queries at the end of the columns, which are keys
    OPS_MATVEC,     // a matrix of weights in the format of this name times a vector
    OPS_CHAIN,      // several ops, one after the other
} ops_kind;

typedef enum ops_group { OPS_PRODUCTS, OPS_LARGE, OPS_ROWS, OPS_CHAINS, OPS_SMALL, OPS_NN } ops_group;

enum { OPS_HEADS = 16, OPS_HEAD_DIM = 64 };  // of attention

// Inputs are f32 matrices of this shape unless the kind says otherwise.
typedef struct ops_case {
    ops_group group;
    ops_kind kind;
    const char *op;  // the name in the Python libraries
    uint64_t rows, columns;
    union {
        ig_status (*chain)(ig_stream *, const ig_tensor *const *, const ig_op_options *, ig_tensor **);
        ig_status (*unary)(ig_stream *, const ig_tensor *, const ig_op_options *, ig_tensor **);
        ig_status (*binary)(ig_stream *, const ig_tensor *, const ig_tensor *, const ig_op_options *, ig_tensor **);
        ig_status (*reduce)(ig_stream *, const ig_tensor *, const ig_reduce_desc *, const ig_op_options *,
                            ig_tensor **);
    } run;
} ops_case;

extern const ops_case ops_cases[];
extern const size_t ops_case_count;

bool ops_wanted(const bench_context *context, const ops_case *test);
const char *ops_group_name(ops_group group);
// "matmul 512", "exp 16M", "exp 1000", "softmax 4096x4096"
void ops_case_name(const ops_case *test, char name[64]);
const char *ops_case_unit(const ops_case *test);
bool ops_case_lower_is_better(const ops_case *test);  // microseconds are
// The figure in that unit.
double ops_case_figure(const ops_case *test, double seconds);

// ---- Runners ----

// Something that can run cases. Each call is what a user would write: results are new tensors.
typedef struct ops_runner {
    char name[16];
    bool spins;       // its threads keep spinning after their work
    bool calls_blas;  // for products: the OpenBLAS of this process, whose threads spin too
    // Prepares inputs; returns false if it does not have the case. `check` is the sum of the result's magnitudes, or
    // NAN.
    bool (*begin)(struct ops_runner *runner, const ops_case *test, double *check);
    // Seconds of one call: the median of batches of that many calls each; negative on failure.
    double (*run)(struct ops_runner *runner, const ops_case *test, uint64_t calls, uint64_t batches);
    void (*finish)(struct ops_runner *runner);
    void (*close)(struct ops_runner *runner);
} ops_runner;

// What Ingot's own runners share.
typedef struct ops_tensors {
    ig_device *device;
    ig_stream *stream;
    ig_tensor *inputs[2], *weight, *scalar;
    ig_weight *blocks;  // of OPS_MATVEC
} ops_tensors;

ig_status ops_tensors_open(ops_tensors *tensors, ig_error *error);
ig_status ops_tensors_fill(ops_tensors *tensors, const ops_case *test);  // replaces earlier ones
void ops_tensors_clear(ops_tensors *tensors);
void ops_tensors_close(ops_tensors *tensors);
// Chains of two inputs and a scalar, 0.75.
ig_status ops_run_mixed(ig_stream *stream, const ig_tensor *const *in, const ig_op_options *options, ig_tensor **out);
ig_status ops_run_swish(ig_stream *stream, const ig_tensor *const *in, const ig_op_options *options, ig_tensor **out);
ig_status ops_call(ops_tensors *tensors, const ops_case *test, ig_backend backend, ig_tensor **out);
// Seconds of one call, averaged over that many; negative on failure.
double ops_time_calls(ops_tensors *tensors, const ops_case *test, ig_backend backend, uint64_t calls);

// NULL if it is not available here.
ops_runner *ops_open_backend(ops_tensors *tensors, ig_backend backend);
ops_runner *ops_open_openblas(ops_tensors *tensors);
ops_runner *ops_open_stream(void);
// "numpy" or "torch", each in a separate child process: the threads of one would keep spinning while the other is
// measured.
ops_runner *ops_open_python(uint32_t threads, const char *library);

// ---- Contest ----

enum { OPS_MAX_RUNNERS = 12, OPS_MAX_TURNS = 128, OPS_MAX_BATCHES = 64 };

typedef struct ops_samples {
    uint64_t calls, batches;        // per turn; no calls: does not take part
    double once;                    // seconds of a call, initially
    double seconds[OPS_MAX_TURNS];  // of a call in each turn; 0: none
    double spent;
} ops_samples;

typedef struct ops_contest {
    ops_tensors tensors;
    ops_runner *runners[OPS_MAX_RUNNERS];  // the first is Ingot, which chooses its backend itself
    size_t runner_count;
    size_t order[OPS_MAX_RUNNERS];  // the order of turns
    uint64_t repeats;
    ops_samples samples[OPS_MAX_RUNNERS];
} ops_contest;

// Returns false if Ingot itself cannot run it.
bool ops_measure(ops_contest *contest, const ops_case *test);
// The median over the turns; 0 for those that do not take part.
double ops_seconds(const ops_contest *contest, size_t which);
// How many times longer it takes than Ingot: the median of the ratios within turns. 0: not known
double ops_times_slower(const ops_contest *contest, size_t which);

// ---- Tuning ----

// Measures the least work for which each backend is the faster one, and stores it.
int ops_tune(const bench_context *context);

#endif
