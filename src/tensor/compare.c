// SPDX-License-Identifier: Apache-2.0
// Comparing results with the reference.
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "tensor/iterate.h"
#include "tensor/op-table.h"
#include "tensor/samples.h"

// Half the distance from 1 to its neighbour.
static double unit_roundoff(ig_type type) {
    return type == IG_TYPE_F16 ? 0x1p-11 : type == IG_TYPE_BF16 ? 0x1p-8 : 0x1p-24;
}

igi_tensor_tolerance igi_tensor_tolerance_for(const igi_tensor_call *call, double scale) {
    const igi_op *op = igi_ops[call->op];
    ig_type type = call->out[0].type;
    if (!igi_tensor_is_float(type)) return (igi_tensor_tolerance){0, 0};
    // The result is rounded to its type once; everything before is computed in float.
    double rounding = 2 * unit_roundoff(type), inner = 2 * unit_roundoff(IG_TYPE_F32);
    // Smaller values may be flushed to zero, or be the last place of a denormal.
    double smallest = type == IG_TYPE_F16 ? 0x1p-24 : FLT_MIN;
    // The error of a sum grows with the number of terms; samples are of magnitude 1. Errors of multiplying by one
    // factor many times all have the same sign.
    bool multiplies = op->tolerance == IGI_TOLERANCE_PRODUCT;
    double adding = inner * (4 + (multiplies ? scale / 2 : sqrt(scale)));
    switch (op->tolerance) {
        case IGI_TOLERANCE_WEIGHTS:
            // With weights of few bits, x may be rounded to 16 bits.
            return (igi_tensor_tolerance){rounding + adding, (adding + 0x1p-14) * (1 + sqrt(scale)) + smallest};
        case IGI_TOLERANCE_SUM:
        case IGI_TOLERANCE_PRODUCT:
            return (igi_tensor_tolerance){rounding + adding, adding * (1 + sqrt(scale)) + smallest};
        case IGI_TOLERANCE_ROW: return (igi_tensor_tolerance){rounding + 4 * adding, adding + smallest};
        case IGI_TOLERANCE_MOVE: return (igi_tensor_tolerance){2 * rounding, rounding};
        case IGI_TOLERANCE_GENERATE: return (igi_tensor_tolerance){rounding + 8 * inner, 16 * inner};
        case IGI_TOLERANCE_FUNCTION: return (igi_tensor_tolerance){rounding + inner * (op->ulps - 1), smallest};
        case IGI_TOLERANCE_EXACT: break;
    }
    return (igi_tensor_tolerance){0, 0};
}

static bool agree(double reference, double result, igi_tensor_tolerance tolerance) {
    if (isnan(reference) || isnan(result)) return isnan(reference) && isnan(result);
    if (isinf(reference) || isinf(result)) return reference == result;
    return fabs(reference - result) <= tolerance.absolute + tolerance.relative * fabs(reference);
}

typedef struct comparison {
    ig_type type;
    igi_tensor_tolerance tolerance;
    uint64_t seen;
    bool differs;
    uint64_t where;
    double reference, result;
} comparison;

static void compare_row(void *user, uint64_t count, char *const *data, const int64_t *strides) {
    comparison *c = user;
    for (uint64_t i = 0; i < count && !c->differs; i++, c->seen++) {
        const char *a = data[0] + (int64_t)i * strides[0], *b = data[1] + (int64_t)i * strides[1];
        int64_t x = 0, y = 0;
        igi_tensor_load_doubles(c->type, a, 0, 1, &c->reference);
        igi_tensor_load_doubles(c->type, b, 0, 1, &c->result);
        if (!igi_tensor_is_float(c->type)) {
            igi_tensor_load_integers(c->type, a, 0, 1, &x);
            igi_tensor_load_integers(c->type, b, 0, 1, &y);
        }
        c->differs = x != y || !agree(c->reference, c->result, c->tolerance);
        c->where = c->seen;
    }
}

bool igi_tensor_views_agree(const igi_tensor_view *reference, const igi_tensor_view *result,
                            igi_tensor_tolerance tolerance, char difference[IGI_DIFFERENCE_TEXT]) {
    comparison c = {.type = reference->type, .tolerance = tolerance};
    igi_tensor_walk walk = igi_tensor_walk_of(2, (const igi_tensor_view *[]){reference, result});
    igi_tensor_walk_all(&walk, compare_row, &c);
    if (c.differs)
        snprintf(difference, IGI_DIFFERENCE_TEXT, "element %llu is %.9g instead of %.9g", (unsigned long long)c.where,
                 c.result, c.reference);
    return !c.differs;
}
