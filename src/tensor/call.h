// SPDX-License-Identifier: Apache-2.0
// One op on its operands, checked and ready to run: what every implementation is given.
//
// The front end has done all checking: types and shapes fit the op, elementwise inputs have the shape of the output
// (stride 0 where they repeat), all inputs that hold values have one type (index and condition operands aside), and
// outputs do not overlap any input, unless they are the very same elements, in ops that may run in place. There may be
// no elements.
#ifndef INGOT_TENSOR_CALL_H
#define INGOT_TENSOR_CALL_H

#include <ingot/ops.h>

#include "tensor/view.h"

enum { IGI_MAX_INPUTS = 3, IGI_MAX_OUTPUTS = 2 };

// Parameters of ops besides tensors. Axes count from 0.
typedef union igi_tensor_parameters {
    struct {
        union {
            double low, slope;
        };
        double high;
    } elementwise;  // clamp: low and high; leaky_relu: slope
    struct {
        uint32_t axes;  // bit i: axis i of the input is reduced
        double correction, order;
    } reduce;  // out has the reduced dimensions, with length 1
    struct {
        uint32_t axis;
    } along;  // softmax, log_softmax, cumsum
    struct {
        double alpha, beta;
    } matmul;  // in: a [.., m, k], b [.., k, n], c [.., m, n] or absent; batches already broadcast; beta is not 0
    struct {
        double epsilon;
    } norm;  // in: x, weight, bias; the last two vectors or absent
    struct {
        uint32_t axis;
        bool add;
    } index;  // gather: x, index. scatter: x, index, source (out already holds x). index_select: x, index
    struct {
        uint32_t axis;
        bool descending;
    } sort;  // out: values, indices
    struct {
        double start, step;
    } range;  // fill (start alone) and arange
    struct {
        uint64_t seed, position;
        double first, second;  // low and high, or mean and deviation
    } random;
    struct {
        uint64_t stride[2], padding[2], dilation[2], groups;
    } conv;  // in: x [n, c, h, w], weight [o, c / groups, kh, kw], bias or absent
    struct {
        uint64_t window[2], stride[2], padding[2];
    } pool;  // in: x [n, c, h, w]
    struct {
        double scale;
        uint64_t query_position;  // of the first query; the first key is at 0
        uint64_t window;          // keys a query sees, the last one at its own position; 0: all
        uint64_t keys, start;     // attention: the number of keys, and the slot of the first; they wrap around
        bool causal;
        // masked_softmax: x [.., queries, keys], mask of the same shape or absent.
        // attention: q [batch, queries, heads, dim], k [batch, slots, key heads, dim], v [batch, slots, key heads, dim
        // of the result]; k and v may be of another float type than q
    } attend;
    struct {
        double base, scale;
        const float *factors;  // of the caller, until the call returns; NULL: none
        uint64_t position;     // added to all
        uint32_t dims;         // elements that are rotated; even
        bool interleaved;
    } rope;  // in: x [batch, sequence, heads, dim], positions (i64) [batch, sequence] or absent: 0, 1, ...
    struct {
        uint32_t type;  // ig_weight_type
        // quantize: x [rows, columns] to u8 [rows, bytes]. dequantize: the other way. weight_matmul: x [tokens,
        // columns], weight u8 [rows, bytes] or halves [rows, columns], out [tokens, rows]. Rows of weights are packed.
    } weight;
} igi_tensor_parameters;

typedef struct igi_tensor_call {
    ig_op op;
    const char *name;  // of the public call, for messages: "conv2d" if the op is conv; a literal
    uint32_t input_count, output_count;
    igi_tensor_view in[IGI_MAX_INPUTS];
    igi_tensor_view out[IGI_MAX_OUTPUTS];
    igi_tensor_parameters p;
    struct igi_tensor_runtime *runtime;  // workers, the device
    ig_commands *commands;               // for backends that encode; NULL for the others
    ig_error *error;                     // for messages; may be NULL
    bool past_caches;                    // the result is part of one that is too large for the caches
} igi_tensor_call;

const char *igi_tensor_call_name(const igi_tensor_call *call);  // for messages
// The type an implementation must support: that of the first input that is not a condition, or of the output.
ig_type igi_tensor_call_type(const igi_tensor_call *call);
// The amount of work, in the unit of the op's family: it is compared with thresholds.
uint64_t igi_tensor_call_work(const igi_tensor_call *call);

#endif
