// SPDX-License-Identifier: Apache-2.0
// Building blocks of samples.
#ifndef INGOT_TENSOR_SAMPLE_MAKER_H
#define INGOT_TENSOR_SAMPLE_MAKER_H

#include "tensor/op-table.h"
#include "tensor/samples.h"

typedef struct igi_sample_maker {
    ig_device *device;
    const igi_sample_spec *spec;
    igi_sample *sample;
    uint64_t random;   // state of the numbers
    bool tame;         // random values only, whatever the spec says
    ig_status status;  // the first failure makes later steps do nothing
} igi_sample_maker;

uint64_t igi_sample_bits(igi_sample_maker *m);

// Appends an input with values of the sample's kind; `repeats`: stride 0 in the first dimension.
igi_view *igi_sample_input(igi_sample_maker *m, ig_type type, const ig_shape *shape, bool repeats);
void igi_sample_absent_input(igi_sample_maker *m);
// Appends a vector or tensor of positions, valid for an axis of this length: a permutation along `axis` where
// `distinct`, else any, some counted from the end.
void igi_sample_index(igi_sample_maker *m, ig_type type, const ig_shape *shape, uint32_t axis, uint64_t length,
                      bool distinct);
void igi_sample_output(igi_sample_maker *m, ig_type type, const ig_shape *shape);

// Families: fill the sample. `operand` and `result` are the types of the op's rule.
typedef void (*igi_sample_family)(igi_sample_maker *m, ig_type operand, ig_type result);
extern const struct igi_sample_family_row {
    igi_sample_family make;
    uint32_t shapes;
} igi_sample_families[IGI_FAMILY_COUNT];
// Of the layers above.
void igi_sample_attention(igi_sample_maker *m, ig_type operand, ig_type result);
void igi_sample_quantized(igi_sample_maker *m, ig_type operand, ig_type result);
enum { IGI_ATTENTION_SAMPLES = 15, IGI_QUANTIZED_SAMPLES = 9 };
// Rank of a shape's first input, for layouts that need some.
uint32_t igi_sample_rank(ig_op op, uint32_t shape);

#endif
