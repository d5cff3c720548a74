// SPDX-License-Identifier: Apache-2.0
// Operations on tensors, and which implementation runs them.
//
// Every op takes a stream, its operands, its parameters, options (NULL: defaults) and gives a new tensor last.
// Operands are borrowed. An op that fails leaves its output untouched; ig_stream_get_error says why.
//
// Types. Operands of different types are first converted to their common one: bool < u8, i8 < i32 < i64 < f16, bf16
// < f32, where u8 with i8 gives i32 and f16 with bf16 gives f32. Ops that need a fraction give f32 for integers; sums
// of integers are i64; arithmetic on bool gives i32. Integers wrap around.
// Shapes. Elementwise operands broadcast as in NumPy: aligned at the last dimension, length 1 repeats.
// Values. NaN propagates through everything but comparisons; for max, min and sort it is the largest value.
#ifndef INGOT_OPS_H
#define INGOT_OPS_H

#include <ingot/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

// ---- The list of ops: identifier, name, type of the result ----
// SAME: the type of the operands. KEEP: the same, but i32 for bool. FLOAT: the same, but f32 for integers.
// SUM: the same, but i64 for integers. PRODUCT: the same, but i32 for i8, u8 and bool. BOOL. INDEX: i64.
// GIVEN: a parameter says.

// Elementwise ops of one operand.
#define IG_UNARY_LIST(X)              \
    X(ABS, abs, KEEP)                 \
    X(NEG, neg, KEEP)                 \
    X(SIGN, sign, KEEP)               \
    X(SQUARE, square, KEEP)           \
    X(RELU, relu, KEEP)               \
    X(FLOOR, floor, KEEP)             \
    X(CEIL, ceil, KEEP)               \
    X(ROUND, round, KEEP)             \
    X(SQRT, sqrt, FLOAT)              \
    X(RSQRT, rsqrt, FLOAT)            \
    X(RECIPROCAL, reciprocal, FLOAT)  \
    X(EXP, exp, FLOAT)                \
    X(EXP2, exp2, FLOAT)              \
    X(EXPM1, expm1, FLOAT)            \
    X(LOG, log, FLOAT)                \
    X(LOG2, log2, FLOAT)              \
    X(LOG1P, log1p, FLOAT)            \
    X(SIN, sin, FLOAT)                \
    X(COS, cos, FLOAT)                \
    X(TAN, tan, FLOAT)                \
    X(ASIN, asin, FLOAT)              \
    X(ACOS, acos, FLOAT)              \
    X(ATAN, atan, FLOAT)              \
    X(SINH, sinh, FLOAT)              \
    X(COSH, cosh, FLOAT)              \
    X(TANH, tanh, FLOAT)              \
    X(ERF, erf, FLOAT)                \
    X(SIGMOID, sigmoid, FLOAT)        \
    X(SOFTPLUS, softplus, FLOAT)      \
    X(SILU, silu, FLOAT)              \
    X(GELU, gelu, FLOAT)              \
    X(GELU_TANH, gelu_tanh, FLOAT)    \
    X(LOGICAL_NOT, logical_not, BOOL) \
    X(ISNAN, isnan, BOOL)             \
    X(ISINF, isinf, BOOL)             \
    X(ISFINITE, isfinite, BOOL)

// silu_mul is silu(a) * b, the gate of a feed-forward network. div is true division; floor_div and mod round down, as
// in Python, and give 0 for an integer divisor of 0.
#define IG_BINARY_LIST(X)                 \
    X(ADD, add, KEEP)                     \
    X(SUB, sub, KEEP)                     \
    X(MUL, mul, KEEP)                     \
    X(DIV, div, FLOAT)                    \
    X(POW, pow, KEEP)                     \
    X(MAXIMUM, maximum, SAME)             \
    X(MINIMUM, minimum, SAME)             \
    X(FLOOR_DIV, floor_div, KEEP)         \
    X(MOD, mod, KEEP)                     \
    X(ATAN2, atan2, FLOAT)                \
    X(SILU_MUL, silu_mul, FLOAT)          \
    X(EQUAL, equal, BOOL)                 \
    X(NOT_EQUAL, not_equal, BOOL)         \
    X(LESS, less, BOOL)                   \
    X(LESS_EQUAL, less_equal, BOOL)       \
    X(GREATER, greater, BOOL)             \
    X(GREATER_EQUAL, greater_equal, BOOL) \
    X(LOGICAL_AND, logical_and, BOOL)     \
    X(LOGICAL_OR, logical_or, BOOL)       \
    X(LOGICAL_XOR, logical_xor, BOOL)

// The results for a tensor without elements: sum 0, prod 1, any false, all true, norm 0, mean and variance NaN; max,
// min, argmax and argmin are errors.
#define IG_REDUCE_LIST(X)        \
    X(SUM, sum, SUM)             \
    X(PROD, prod, SUM)           \
    X(MEAN, mean, FLOAT)         \
    X(MAX, max, SAME)            \
    X(MIN, min, SAME)            \
    X(ANY, any, BOOL)            \
    X(ALL, all, BOOL)            \
    X(ARGMAX, argmax, INDEX)     \
    X(ARGMIN, argmin, INDEX)     \
    X(VARIANCE, variance, FLOAT) \
    X(NORM, norm, FLOAT)

// Ops with special parameters, each declared below.
#define IG_OTHER_LIST(X)                     \
    X(LEAKY_RELU, leaky_relu, FLOAT)         \
    X(CLAMP, clamp, KEEP)                    \
    X(CAST, cast, GIVEN)                     \
    X(COPY, copy, SAME)                      \
    X(WHERE, where, SAME)                    \
    X(CUMSUM, cumsum, SUM)                   \
    X(MATMUL, matmul, PRODUCT)               \
    X(SOFTMAX, softmax, FLOAT)               \
    X(LOG_SOFTMAX, log_softmax, FLOAT)       \
    X(LAYER_NORM, layer_norm, FLOAT)         \
    X(RMS_NORM, rms_norm, FLOAT)             \
    X(GATHER, gather, SAME)                  \
    X(SCATTER, scatter, SAME)                \
    X(INDEX_SELECT, index_select, SAME)      \
    X(SORT, sort, SAME)                      \
    X(FILL, fill, GIVEN)                     \
    X(ARANGE, arange, GIVEN)                 \
    X(RANDOM_UNIFORM, random_uniform, GIVEN) \
    X(RANDOM_NORMAL, random_normal, GIVEN)   \
    X(CONV, conv, PRODUCT)                   \
    X(MAX_POOL, max_pool, KEEP)              \
    X(AVG_POOL, avg_pool, FLOAT)

// Ops of transformers, see nn.h.
#define IG_NN_LIST(X)                        \
    X(MASKED_SOFTMAX, masked_softmax, FLOAT) \
    X(ROPE, rope, FLOAT)                     \
    X(ATTENTION, attention, FLOAT)           \
    X(QUANTIZE, quantize, FLOAT)             \
    X(DEQUANTIZE, dequantize, FLOAT)         \
    X(WEIGHT_MATMUL, weight_matmul, FLOAT)

// All ops.
#define IG_OP_LIST(X) IG_UNARY_LIST(X) IG_BINARY_LIST(X) IG_REDUCE_LIST(X) IG_OTHER_LIST(X) IG_NN_LIST(X)

// An op, for calls about ops.
typedef enum ig_op {
#define IG_OP_ENUM(id, name, type) IG_OP_##id,
    IG_OP_LIST(IG_OP_ENUM)
#undef IG_OP_ENUM
        IG_OP_COUNT
} ig_op;
const char *ig_op_name(ig_op op);  // "matmul"; "unknown" for any other value

// ---- Implementations ----

// In the order in which the op table is filled.
typedef enum ig_backend {
    IG_BACKEND_ANY,     // whichever is best
    IG_BACKEND_SCALAR,  // the reference: simple, accumulates in double
    IG_BACKEND_SIMD,    // vector instructions of this CPU, several threads
    IG_BACKEND_BLAS,    // OpenBLAS, or Accelerate on macOS
    IG_BACKEND_MSL,     // MSL kernels on the stream's device, whichever that is
    IG_BACKEND_COUNT
} ig_backend;
const char *ig_backend_name(ig_backend backend);  // "simd"

// Options that every op takes; NULL stands for zeros.
typedef struct ig_op_options {
    // Write the result here, of the right shape and type, instead of into a new tensor; it may be an operand. The
    // output parameter may then be NULL, or gets a reference to it.
    ig_tensor *into;
    // Use only this backend. errors: UNSUPPORTED if it cannot run this call, or failed its validation.
    ig_backend backend;
} ig_op_options;

// What is known about an implementation of an op.
typedef enum ig_op_state {
    IG_OP_ABSENT,     // the backend does not have the op
    IG_OP_UNTRIED,    // not needed so far
    IG_OP_VALIDATED,  // gave correct results on this machine
    IG_OP_REJECTED,   // did not, and is never used
} ig_op_state;

// An implementation of an op.
typedef struct ig_op_choice {
    ig_op_state state;
    uint32_t types;      // of operands that it takes: bit 1 << ig_type
    uint64_t threshold;  // least work for which it is chosen; UINT64_MAX: only if no other backend can run the call
    char reason[120];    // why rejected or absent; "" otherwise
} ig_op_choice;

// One op of a stream: what each backend offers, in which order they are tried, and which one was requested.
typedef struct ig_op_explanation {
    const char *name, *family;
    const char *work;  // what thresholds count: "elements", "multiplications"
    ig_op_choice backends[IG_BACKEND_COUNT];
    ig_backend order[IG_BACKEND_COUNT];  // best first, ends with IG_BACKEND_ANY
    ig_backend forced;                   // by INGOT_BACKEND or ig_stream_set_backends; IG_BACKEND_ANY: none
} ig_op_explanation;
// Explains an op. With `validate`, implementations that were not needed so far are validated now.
ig_status ig_stream_explain(ig_stream *stream, ig_op op, bool validate, ig_op_explanation *explanation);
// The backend that would run this op on operands of this type in common layouts, for this much work. If the op converts
// its operands first, the converted type counts: exp of integers runs where exp of f32 does.
ig_backend ig_stream_choice(ig_stream *stream, ig_op op, ig_type type, uint64_t work);
// Sets a threshold for all streams of the device. Saved ones apply to later processes (`ingot bench ops --tune`).
// errors: NOT_FOUND when the backend does not have the op.
ig_status ig_stream_set_threshold(ig_stream *stream, ig_op op, ig_backend backend, uint64_t work);
// Saves the thresholds of the device, for later processes too. errors: IO.
ig_status ig_stream_save_thresholds(ig_stream *stream, ig_error *error);

// ---- Elementwise ----

// ig_tensor_exp(stream, x, options, &y) and so on for IG_UNARY_LIST.
#define IG_DECLARE_UNARY(id, name, type) \
    ig_status ig_tensor_##name(ig_stream *stream, const ig_tensor *x, const ig_op_options *options, ig_tensor **out);
IG_UNARY_LIST(IG_DECLARE_UNARY)
#undef IG_DECLARE_UNARY

// ig_tensor_add(stream, a, b, options, &c) and so on for IG_BINARY_LIST.
#define IG_DECLARE_BINARY(id, name, type)                                                 \
    ig_status ig_tensor_##name(ig_stream *stream, const ig_tensor *a, const ig_tensor *b, \
                               const ig_op_options *options, ig_tensor **out);
IG_BINARY_LIST(IG_DECLARE_BINARY)
#undef IG_DECLARE_BINARY

// x, or slope * x below zero.
ig_status ig_tensor_leaky_relu(ig_stream *stream, const ig_tensor *x, double slope, const ig_op_options *options,
                               ig_tensor **out);
// x, but low where x is below it and high where x is above. pre: low <= high
ig_status ig_tensor_clamp(ig_stream *stream, const ig_tensor *x, double low, double high, const ig_op_options *options,
                          ig_tensor **out);
// Floats to integers: towards zero, saturating, NaN is 0. Integers to integers: wrapping. To bool: nonzero is true.
ig_status ig_tensor_cast(ig_stream *stream, const ig_tensor *x, ig_type type, const ig_op_options *options,
                         ig_tensor **out);
// A contiguous copy of x: also of transposed views, or into a view.
ig_status ig_tensor_copy(ig_stream *stream, const ig_tensor *x, const ig_op_options *options, ig_tensor **out);
// a where condition (of any type) is not 0, else b. All three broadcast.
ig_status ig_tensor_where(ig_stream *stream, const ig_tensor *condition, const ig_tensor *a, const ig_tensor *b,
                          const ig_op_options *options, ig_tensor **out);

// ---- Reductions ----

// Which axes are reduced, and how.
typedef struct ig_reduce_desc {
    uint32_t axis_count;  // 0: all axes
    int32_t axes[IG_MAX_RANK];
    bool keep_dims;     // reduced dimensions stay, with length 1
    double correction;  // variance: divides by n - correction; 0 is the population's
    double order;       // norm: 1, 2 or INFINITY; 0: 2
} ig_reduce_desc;

// ig_tensor_sum(stream, x, desc, options, &y) and so on for IG_REDUCE_LIST. desc NULL: the whole tensor.
// argmax and argmin return the first index of several equal elements, in C order; they reduce one axis or all.
#define IG_DECLARE_REDUCE(id, name, type)                                                         \
    ig_status ig_tensor_##name(ig_stream *stream, const ig_tensor *x, const ig_reduce_desc *desc, \
                               const ig_op_options *options, ig_tensor **out);
IG_REDUCE_LIST(IG_DECLARE_REDUCE)
#undef IG_DECLARE_REDUCE

// Running sums along an axis: element i of the result is the sum of elements 0 to i.
ig_status ig_tensor_cumsum(ig_stream *stream, const ig_tensor *x, int32_t axis, const ig_op_options *options,
                           ig_tensor **out);

// ---- Products ----

// alpha * (a x b) + beta * c. c broadcasts and may be NULL; it is not read when beta is 0. alpha and beta are used only
// if `scaled` is true; otherwise both are 1.
typedef struct ig_matmul_desc {
    bool scaled;
    double alpha, beta;
    const ig_tensor *c;
} ig_matmul_desc;

// The last two dimensions are matrices; those before are batches and broadcast. A vector on the left counts as a row, one
// on the right as a column, and that dimension is missing from the result. Transposed views are multiplied without a copy.
ig_status ig_tensor_matmul(ig_stream *stream, const ig_tensor *a, const ig_tensor *b, const ig_matmul_desc *desc,
                           const ig_op_options *options, ig_tensor **out);
ig_status ig_tensor_dot(ig_stream *stream, const ig_tensor *a, const ig_tensor *b, const ig_op_options *options,
                        ig_tensor **out);  // of two vectors
// The product of a matrix and a vector.
ig_status ig_tensor_matvec(ig_stream *stream, const ig_tensor *matrix, const ig_tensor *vector,
                           const ig_op_options *options, ig_tensor **out);
ig_status ig_tensor_outer(ig_stream *stream, const ig_tensor *a, const ig_tensor *b, const ig_op_options *options,
                          ig_tensor **out);  // of two vectors

// ---- Normalisation ----

// The softmax along an axis. A row of nothing but -inf gives zeros (softmax) and -inf (log_softmax), not NaN.
ig_status ig_tensor_softmax(ig_stream *stream, const ig_tensor *x, int32_t axis, const ig_op_options *options,
                            ig_tensor **out);
// The logarithm of the softmax along an axis.
ig_status ig_tensor_log_softmax(ig_stream *stream, const ig_tensor *x, int32_t axis, const ig_op_options *options,
                                ig_tensor **out);

// Layer normalisation over the last dimension. weight and bias are vectors of its length, or NULL. epsilon 0: 1e-5.
ig_status ig_tensor_layer_norm(ig_stream *stream, const ig_tensor *x, const ig_tensor *weight, const ig_tensor *bias,
                               double epsilon, const ig_op_options *options, ig_tensor **out);
// x divided by the root of its mean square over the last dimension, times weight. weight may be NULL; epsilon 0: 1e-5.
ig_status ig_tensor_rms_norm(ig_stream *stream, const ig_tensor *x, const ig_tensor *weight, double epsilon,
                             const ig_op_options *options, ig_tensor **out);

// ---- Moving elements ----
// Indices are i32 or i64; negative ones count from the end. errors: OUT_OF_RANGE, found when the op runs.

// out[i][j] = x[index[i][j]][j] for axis 0. index has the rank of x, and only along the axis may it be longer than x.
ig_status ig_tensor_gather(ig_stream *stream, const ig_tensor *x, int32_t axis, const ig_tensor *index,
                           const ig_op_options *options, ig_tensor **out);
// A copy of x in which out[index[i][j]][j] = source[i][j] for axis 0, or += with `add`. If an index occurs twice, the
// last element of source wins.
ig_status ig_tensor_scatter(ig_stream *stream, const ig_tensor *x, int32_t axis, const ig_tensor *index,
                            const ig_tensor *source, bool add, const ig_op_options *options, ig_tensor **out);
// The slices of x at the positions in the vector `index`.
ig_status ig_tensor_index_select(ig_stream *stream, const ig_tensor *x, int32_t axis, const ig_tensor *index,
                                 const ig_op_options *options, ig_tensor **out);
// The tensors one after another along an axis; their other dimensions must agree.
ig_status ig_tensor_concatenate(ig_stream *stream, const ig_tensor *const *tensors, size_t count, int32_t axis,
                                const ig_op_options *options, ig_tensor **out);
// Adds elements of `value` around x: before[d] and after[d] of them along dimension d.
ig_status ig_tensor_pad(ig_stream *stream, const ig_tensor *x, const uint64_t *before, const uint64_t *after,
                        double value, const ig_op_options *options, ig_tensor **out);

// Sorts along an axis. Stable; NaN is largest. Both outputs may be NULL; indices are i64. options.into is for the values.
ig_status ig_tensor_sort(ig_stream *stream, const ig_tensor *x, int32_t axis, bool descending,
                         const ig_op_options *options, ig_tensor **values, ig_tensor **indices);
// The positions that would sort x, i64.
ig_status ig_tensor_argsort(ig_stream *stream, const ig_tensor *x, int32_t axis, bool descending,
                            const ig_op_options *options, ig_tensor **indices);
// The k largest elements along an axis, largest first. errors: OUT_OF_RANGE when the axis is shorter than k.
ig_status ig_tensor_top_k(ig_stream *stream, const ig_tensor *x, int32_t axis, uint64_t k, const ig_op_options *options,
                          ig_tensor **values, ig_tensor **indices);

// ---- New tensors ----

// The lengths of the dimensions, outermost first.
typedef struct ig_shape {
    uint32_t rank;
    uint64_t lengths[IG_MAX_RANK];
} ig_shape;

// A tensor whose elements are all `value`, converted to `type`.
ig_status ig_tensor_fill(ig_stream *stream, ig_type type, ig_shape shape, double value, const ig_op_options *options,
                         ig_tensor **out);
// start, start + step, ...: `count` of them.
ig_status ig_tensor_arange(ig_stream *stream, ig_type type, double start, double step, uint64_t count,
                           const ig_op_options *options, ig_tensor **out);
// The same seed gives the same numbers on every backend (Philox 4x32-10 by position), for uniform ones to the last bit.
// `position` is the position of the first element in the sequence: set it to continue where another tensor ended. Types
// are f32, f16 and bf16.
typedef struct ig_random_desc {
    uint64_t seed, position;
} ig_random_desc;
// Uniformly distributed numbers: low <= x < high
ig_status ig_tensor_random_uniform(ig_stream *stream, ig_type type, ig_shape shape, ig_random_desc desc, double low,
                                   double high, const ig_op_options *options, ig_tensor **out);
// Normally distributed numbers.
ig_status ig_tensor_random_normal(ig_stream *stream, ig_type type, ig_shape shape, ig_random_desc desc, double mean,
                                  double deviation, const ig_op_options *options, ig_tensor **out);

// ---- Convolution and pooling ----

// Zero strides and dilations count as 1; groups 0 as 1. [0] is height, [1] width; conv1d and pool1d use [1] alone.
typedef struct ig_conv_desc {
    uint64_t stride[2], padding[2], dilation[2], groups;
} ig_conv_desc;

// x [batch, channel, (height,) width], weight [out channel, channel / groups, (height,) width], bias [out channel] or
// NULL; cross-correlation, as everywhere in machine learning. Where padding is multiplied by a weight that is
// not finite, the result may be NaN.
ig_status ig_tensor_conv1d(ig_stream *stream, const ig_tensor *x, const ig_tensor *weight, const ig_tensor *bias,
                           const ig_conv_desc *desc, const ig_op_options *options, ig_tensor **out);
ig_status ig_tensor_conv2d(ig_stream *stream, const ig_tensor *x, const ig_tensor *weight, const ig_tensor *bias,
                           const ig_conv_desc *desc, const ig_op_options *options, ig_tensor **out);

// A stride of zero stands for the size of the window. Padding is left out of both the maximum and the mean.
typedef struct ig_pool_desc {
    uint64_t window[2], stride[2], padding[2];
} ig_pool_desc;
// The largest element of each window of x [batch, channel, width].
ig_status ig_tensor_max_pool1d(ig_stream *stream, const ig_tensor *x, const ig_pool_desc *desc,
                               const ig_op_options *options, ig_tensor **out);
// The largest element of each window of x [batch, channel, height, width].
ig_status ig_tensor_max_pool2d(ig_stream *stream, const ig_tensor *x, const ig_pool_desc *desc,
                               const ig_op_options *options, ig_tensor **out);
// The mean of each window of x [batch, channel, width].
ig_status ig_tensor_avg_pool1d(ig_stream *stream, const ig_tensor *x, const ig_pool_desc *desc,
                               const ig_op_options *options, ig_tensor **out);
// The mean of each window of x [batch, channel, height, width].
ig_status ig_tensor_avg_pool2d(ig_stream *stream, const ig_tensor *x, const ig_pool_desc *desc,
                               const ig_op_options *options, ig_tensor **out);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
