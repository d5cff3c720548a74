// SPDX-License-Identifier: Apache-2.0
// Building blocks of samples.
#ifndef INGOT_TENSOR_SAMPLE_MAKER_H
#define INGOT_TENSOR_SAMPLE_MAKER_H

#include "tensor/op-table.h"
#include "tensor/samples.h"

typedef struct igi_tensor_sample_maker {
    ig_device *device;
    const igi_tensor_sample_spec *spec;
    igi_tensor_sample *sample;
    uint64_t random;   // state of the random numbers
    bool tame;         // random values only, whatever the spec says
    ig_status status;  // after the first failure, later steps do nothing
} igi_tensor_sample_maker;

uint64_t igi_tensor_sample_bits(igi_tensor_sample_maker *m);

// Appends an input with values of the sample's kind; `repeats`: stride 0 in the first dimension.
igi_tensor_view *igi_tensor_sample_input(igi_tensor_sample_maker *m, ig_type type, const ig_shape *shape, bool repeats);
void igi_tensor_sample_absent_input(igi_tensor_sample_maker *m);
// Appends a vector or tensor of positions, valid for an axis of this length: a permutation along `axis` if `distinct`,
// else arbitrary ones, some of them counted from the end.
void igi_tensor_sample_index(igi_tensor_sample_maker *m, ig_type type, const ig_shape *shape, uint32_t axis,
                             uint64_t length, bool distinct);
void igi_tensor_sample_output(igi_tensor_sample_maker *m, ig_type type, const ig_shape *shape);

// ---- Sets: what an op is tried with ----

typedef struct igi_tensor_sample_set {
    uint32_t shapes;                      // how many; the first IGI_VALIDATION_SHAPES are tested on every machine
    uint32_t rank;                        // of the first input, for layouts that need a minimum,
    uint32_t (*rank_of)(uint32_t shape);  // unless it differs between shapes
    uint32_t types;                       // 0: every type that the op computes in
    bool sums;  // special values are few and not extreme: whether a sum of extremes overflows depends on its order
    // Appends inputs and outputs, and sets the parameters and `scale`. `operand` and `result` are types according to
    // the op's rule.
    void (*make)(igi_tensor_sample_maker *m, ig_type operand, ig_type result);
} igi_tensor_sample_set;

// Shapes that several ops are tested with.
enum { IGI_ELEMENTWISE_SHAPES = 13, IGI_LINE_SHAPES = 12 };
extern const ig_shape igi_tensor_elementwise_shapes[IGI_ELEMENTWISE_SHAPES];
extern const struct igi_tensor_line_shape {
    ig_shape in;
    uint32_t axis;
} igi_tensor_line_shapes[IGI_LINE_SHAPES];
uint32_t igi_tensor_elementwise_rank(uint32_t shape);
uint32_t igi_tensor_line_rank(uint32_t shape);

static inline bool igi_tensor_sample_repeats(const igi_tensor_sample_maker *m) {
    return m->spec->layout == IGI_LAYOUT_REPEATED;
}

#endif
