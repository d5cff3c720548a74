// SPDX-License-Identifier: Apache-2.0
// Comparing results with the reference.
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "tensor/iterate.h"
#include "tensor/op-table.h"
#include "tensor/samples.h"

// Half the distance of 1 to its neighbour.
static double unit_roundoff(ig_type type) {
    return type == IG_TYPE_F16 ? 0x1p-11 : type == IG_TYPE_BF16 ? 0x1p-8 : 0x1p-24;
}

// Ulps of the result that a function of one value may be off. Everything not listed: 1.
static double function_ulps(ig_op op) {
    switch (op) {
        case IG_OP_EXP:
        case IG_OP_EXP2:
        case IG_OP_LOG:
        case IG_OP_LOG2:
        case IG_OP_RSQRT:
        case IG_OP_SIGMOID:
        case IG_OP_ATAN:
        case IG_OP_ATAN2:
        case IG_OP_ERF:
        case IG_OP_EXPM1:
        case IG_OP_LOG1P: return 4;
        case IG_OP_SIN:
        case IG_OP_COS:
        case IG_OP_ASIN:
        case IG_OP_ACOS:
        case IG_OP_TANH:
        case IG_OP_SINH:
        case IG_OP_COSH:
        case IG_OP_SILU:
        case IG_OP_SILU_MUL:
        case IG_OP_SOFTPLUS: return 6;
        case IG_OP_TAN:
        case IG_OP_GELU:
        case IG_OP_POW: return 16;
        case IG_OP_GELU_TANH: return 256;  // far below zero e^x magnifies the rounding of its argument
        default: return 1;
    }
}

igi_tolerance igi_tolerance_for(const igi_call *call, double scale) {
    ig_type type = call->out[0].type;
    if (!igi_is_float(type)) return (igi_tolerance){0, 0};
    // The result is rounded to its type once; what comes before is done in float.
    double rounding = 2 * unit_roundoff(type), inner = 2 * unit_roundoff(IG_TYPE_F32);
    // Errors of adding grow with how much is added; samples are of magnitude 1.
    // What is smaller may be flushed to zero, or be the last place of a denormal.
    double smallest = type == IG_TYPE_F16 ? 0x1p-24 : FLT_MIN;
    // Those of multiplying one factor many times all have the same sign.
    double adding = inner * (4 + (call->op == IG_OP_PROD ? scale / 2 : sqrt(scale)));
    switch (igi_ops[call->op].family) {
        case IGI_FAMILY_QUANTIZED:
            // Beside weights of few bits, x may be rounded to 16.
            return (igi_tolerance){rounding + adding, (adding + 0x1p-14) * (1 + sqrt(scale)) + smallest};
        case IGI_FAMILY_SCAN:
        case IGI_FAMILY_REDUCE:
        case IGI_FAMILY_MATMUL:
        case IGI_FAMILY_CONVOLVE: return (igi_tolerance){rounding + adding, adding * (1 + sqrt(scale)) + smallest};
        case IGI_FAMILY_ATTENTION:
        case IGI_FAMILY_NORMALIZE: return (igi_tolerance){rounding + 4 * adding, adding + smallest};
        case IGI_FAMILY_INDEX: return (igi_tolerance){2 * rounding, rounding};
        case IGI_FAMILY_GENERATE:
            if (call->op == IG_OP_RANDOM_UNIFORM || call->op == IG_OP_FILL) return (igi_tolerance){0, 0};
            return (igi_tolerance){rounding + 8 * inner, 16 * inner};
        default: return (igi_tolerance){rounding + inner * (function_ulps(call->op) - 1), smallest};
    }
}

static bool agree(double reference, double result, igi_tolerance tolerance) {
    if (isnan(reference) || isnan(result)) return isnan(reference) && isnan(result);
    if (isinf(reference) || isinf(result)) return reference == result;
    return fabs(reference - result) <= tolerance.absolute + tolerance.relative * fabs(reference);
}

typedef struct comparison {
    ig_type type;
    igi_tolerance tolerance;
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
        igi_load_doubles(c->type, a, 0, 1, &c->reference);
        igi_load_doubles(c->type, b, 0, 1, &c->result);
        if (!igi_is_float(c->type)) {
            igi_load_integers(c->type, a, 0, 1, &x);
            igi_load_integers(c->type, b, 0, 1, &y);
        }
        c->differs = x != y || !agree(c->reference, c->result, c->tolerance);
        c->where = c->seen;
    }
}

bool igi_views_agree(const igi_view *reference, const igi_view *result, igi_tolerance tolerance,
                     char difference[IGI_DIFFERENCE_TEXT]) {
    comparison c = {.type = reference->type, .tolerance = tolerance};
    igi_walk walk = igi_walk_of(2, (const igi_view *[]){reference, result});
    igi_walk_all(&walk, compare_row, &c);
    if (c.differs)
        snprintf(difference, IGI_DIFFERENCE_TEXT, "element %llu is %.9g instead of %.9g", (unsigned long long)c.where,
                 c.result, c.reference);
    return !c.differs;
}
