// SPDX-License-Identifier: Apache-2.0
// Sample calls of every op: validation runs some of them on this machine, and the tests many more.
#ifndef INGOT_TENSOR_SAMPLES_H
#define INGOT_TENSOR_SAMPLES_H

#include "tensor/call.h"

typedef enum igi_tensor_sample_layout {
    IGI_LAYOUT_CONTIGUOUS,
    IGI_LAYOUT_PADDED,      // gaps between elements, an offset in front
    IGI_LAYOUT_TRANSPOSED,  // last dimension slowest in memory
    IGI_LAYOUT_REVERSED,    // negative strides
    IGI_LAYOUT_REPEATED,    // inputs: stride 0 in the first dimension
    IGI_LAYOUT_COUNT
} igi_tensor_sample_layout;

typedef enum igi_tensor_sample_values {
    IGI_VALUES_RANDOM,
    IGI_VALUES_SPECIAL,  // NaN, infinities, zeros of both signs, denormals, extremes among the others
    IGI_VALUES_COUNT
} igi_tensor_sample_values;

typedef struct igi_tensor_sample_spec {
    ig_op op;
    ig_type type;    // see igi_tensor_call_type
    uint32_t shape;  // < igi_tensor_sample_shapes(op)
    igi_tensor_sample_layout layout;
    igi_tensor_sample_values values;
} igi_tensor_sample_spec;

typedef struct igi_tensor_sample {
    igi_tensor_call call;
    igi_tensor_view again[IGI_MAX_OUTPUTS];  // outputs for a second run, laid out like the call's
    double scale;  // magnitude of the terms that an op adds, relative to its result, for tolerances
} igi_tensor_sample;

// The number of shapes an op is tested with; the first few are enough to detect a broken implementation.
uint32_t igi_tensor_sample_shapes(ig_op op);
enum { IGI_VALIDATION_SHAPES = 3 };

// Returns false if the op does not exist for this type, or the layout makes no difference here.
bool igi_tensor_sample_applies(const igi_tensor_sample_spec *spec);
ig_status igi_tensor_sample_make(ig_device *device, const igi_tensor_sample_spec *spec, igi_tensor_sample *sample);
void igi_tensor_sample_free(igi_tensor_sample *sample);

// Contiguous elements, some of them special values.
void igi_tensor_sample_fill(ig_type type, uint64_t seed, uint64_t count, char *elements);

// ---- Comparing ----

typedef struct igi_tensor_tolerance {
    double relative, absolute;
} igi_tensor_tolerance;
// How much an implementation may differ from the reference.
igi_tensor_tolerance igi_tensor_tolerance_for(const igi_tensor_call *call, double scale);
// Both views have the same shape and type. Returns false at the first difference, with one line that says where it is.
enum { IGI_DIFFERENCE_TEXT = 96 };
bool igi_tensor_views_agree(const igi_tensor_view *reference, const igi_tensor_view *result,
                            igi_tensor_tolerance tolerance, char difference[IGI_DIFFERENCE_TEXT]);

#endif
