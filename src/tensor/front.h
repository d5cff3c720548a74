// SPDX-License-Identifier: Apache-2.0
// The front end of ops: checks operands, converts types, creates outputs, runs the call, cleans up.
//
// An op builds a call in steps; after the first failure, later steps do nothing:
//     igi_tensor_front f;
//     igi_tensor_front_begin(&f, stream, IG_OP_ADD, options);
//     igi_tensor_front_input(&f, "a", a);
//     igi_tensor_front_input(&f, "b", b);
//     igi_tensor_front_unify(&f, 0, 2);
//     ... shapes, f.call.p ...
//     igi_tensor_front_output(&f, type, rank, shape);
//     return igi_tensor_front_finish(&f, out);
#ifndef INGOT_TENSOR_FRONT_H
#define INGOT_TENSOR_FRONT_H

#include "tensor/stream.h"

enum { IGI_MAX_TEMPORARIES = 6 };

typedef struct igi_tensor_front {
    ig_stream *stream;
    const char *name;              // of the op, for messages
    const ig_op_options *options;  // never NULL
    ig_status status;
    igi_tensor_call call;
    ig_tensor *outputs[IGI_MAX_OUTPUTS];  // one reference each
    ig_tensor *temporaries[IGI_MAX_TEMPORARIES];
    uint32_t temporary_count;
} igi_tensor_front;

void igi_tensor_front_begin(igi_tensor_front *f, ig_stream *stream, ig_op op, const ig_op_options *options);
// The same for a public call whose name differs from its op's.
void igi_tensor_front_begin_as(igi_tensor_front *f, ig_stream *stream, ig_op op, const char *name,
                               const ig_op_options *options);
// `role` is for messages. An optional input may be NULL.
void igi_tensor_front_input(igi_tensor_front *f, const char *role, const ig_tensor *tensor);
void igi_tensor_front_optional_input(igi_tensor_front *f, const char *role, const ig_tensor *tensor);
// Converts input `index` to a type, with a temporary if it differs.
void igi_tensor_front_convert(igi_tensor_front *f, uint32_t index, ig_type type);
// Converts inputs [first, end) to the type that the op computes in, and returns the type of its result.
ig_type igi_tensor_front_unify(igi_tensor_front *f, uint32_t first, uint32_t end);
// Broadcasts inputs [first, end) to their common shape.
void igi_tensor_front_broadcast(igi_tensor_front *f, uint32_t first, uint32_t end, uint32_t *rank, uint64_t *shape);
// Replaces input `index` by a contiguous copy unless it is contiguous already.
void igi_tensor_front_pack(igi_tensor_front *f, uint32_t index);
// Appends an output: options->into for the first, if given, or a new tensor.
void igi_tensor_front_output(igi_tensor_front *f, ig_type type, uint32_t rank, const uint64_t *shape);
// A new tensor that is released at the end of the op. NULL after a failure.
ig_tensor *igi_tensor_front_temporary(igi_tensor_front *f, ig_type type, uint32_t rank, const uint64_t *shape);
// Runs another op with one input, cast or copy, or none, as part of this one. Its failure becomes this op's.
void igi_tensor_front_run_inner(igi_tensor_front *f, ig_op op, const igi_tensor_view *from, const igi_tensor_view *to,
                                const igi_tensor_parameters *p);
// Passes a tensor's reference to the op, which drops it at its end.
void igi_tensor_front_own(igi_tensor_front *f, ig_tensor *tensor);

__attribute__((format(printf, 3, 4))) void igi_tensor_front_fail(igi_tensor_front *f, ig_status status,
                                                                 const char *format, ...);
// Converts an axis that may count from the end to one that counts from the start; 0 after a failure.
uint32_t igi_tensor_front_axis(igi_tensor_front *f, int32_t axis, uint32_t rank);

// Runs the call. Both return the outputs to the caller on success, and always clean up.
ig_status igi_tensor_front_finish(igi_tensor_front *f, ig_tensor **out);
ig_status igi_tensor_front_finish_two(igi_tensor_front *f, ig_tensor **first, ig_tensor **second);
// Without running anything: for ops made of other ops.
ig_status igi_tensor_front_hand_over(igi_tensor_front *f, ig_tensor **out);

// An elementwise op of any number of inputs, all in one call.
ig_status igi_tensor_front_elementwise(ig_stream *stream, ig_op op, const ig_tensor *const *inputs,
                                       const igi_tensor_parameters *p, const ig_op_options *options, ig_tensor **out);

#endif
