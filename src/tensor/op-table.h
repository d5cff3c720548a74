// SPDX-License-Identifier: Apache-2.0
// The op table: which ops there are, and what each backend offers for them.
#ifndef INGOT_TENSOR_OP_TABLE_H
#define INGOT_TENSOR_OP_TABLE_H

#include "tensor/call.h"

// ---- Ops ----

// How much implementations may differ from the reference, see igi_tensor_tolerance_for.
typedef enum igi_tensor_tolerance_rule {
    IGI_TOLERANCE_FUNCTION,  // of one value or two: `ulps` of the result
    IGI_TOLERANCE_EXACT,
    IGI_TOLERANCE_SUM,      // of many values
    IGI_TOLERANCE_PRODUCT,  // of many factors
    IGI_TOLERANCE_ROW,      // sums over a row, and functions of them
    IGI_TOLERANCE_WEIGHTS,  // sums of products with quantised weights
    IGI_TOLERANCE_MOVE,     // values that are moved, and at most added to each other
    IGI_TOLERANCE_GENERATE,
} igi_tensor_tolerance_rule;

// How an op becomes part of the kernel of a chain (chain-kernel.c).
typedef enum igi_tensor_fusion_rule {
    IGI_FUSION_NONE,
    IGI_FUSION_FUNCTION,  // of floats: NAME_op in src/kernels/functions.metal
    IGI_FUSION_CAST,
    IGI_FUSION_WHERE,
} igi_tensor_fusion_rule;

enum { IGI_TYPED_BY_OUTPUT = IGI_MAX_INPUTS };  // for `typed_by`
enum { IGI_IN_PLACE_ANY = 0xff };               // for `in_place`

// An op as everything outside its implementations sees it. There is one per op, in src/tensor/ops or src/tensor/nn; its
// name and the type of its result are in the public lists of <ingot/ops.h>.
typedef struct igi_op {
    const char *family;   // "reduce"; for readers
    uint8_t inputs;       // at most this many
    uint8_t typed_by;     // the input whose type an implementation must have, or IGI_TYPED_BY_OUTPUT
    uint8_t in_place;     // bit i: the output may be the very elements of input i
    bool has_parameters;  // elementwise: reads igi_tensor_parameters.elementwise
    bool blas_first;      // BLAS is tried first; only such ops may have a row in the blas backend
    igi_tensor_fusion_rule fusion;
    igi_tensor_tolerance_rule tolerance;
    double ulps;  // for IGI_TOLERANCE_FUNCTION
    uint64_t (*work)(
        const igi_tensor_call *call);             // multiplications; NULL: elements of the largest operand are counted
    const struct igi_tensor_sample_set *samples;  // sample-maker.h
} igi_op;

#define IGI_DECLARE_OP(id, name, type) extern const igi_op igi_op_of_##name;
IG_OP_LIST(IGI_DECLARE_OP)
#undef IGI_DECLARE_OP
extern const igi_op *const igi_ops[IG_OP_COUNT];

bool igi_op_find(const char *name, size_t length, ig_op *op);
bool igi_tensor_backend_find(const char *name, size_t length, ig_backend *backend);

// The type that an op computes in and the type of its result, for operands whose common type is `common`.
void igi_op_types(ig_op op, ig_type common, ig_type *operand, ig_type *result);

// `work` of matrix products: elements of the result times the length of the first input's last dimension, or
// UINT64_MAX.
uint64_t igi_tensor_work_of_product(const igi_tensor_call *call);

// ---- Implementations ----

struct igi_tensor_runtime;

// One op of one backend.
typedef struct igi_tensor_implementation {
    ig_op op;
    uint32_t types;  // see igi_tensor_call_type
    // The smallest work for which it beats the backends below it, unless measured otherwise (thresholds.h).
    uint64_t threshold;
    // Optional; replaces `threshold` if that depends on the machine.
    uint64_t (*threshold_here)(void);
    // Optional; NULL: accepts every call of these types.
    bool (*accepts)(const igi_tensor_call *call);
    // Runs, or encodes into call->commands. Changes nothing but outputs, which may be partly written on failure.
    ig_status (*run)(const igi_tensor_call *call);
} igi_tensor_implementation;

// A backend of ops. Rows may be in any order; each op has at most one.
typedef struct igi_op_backend {
    ig_backend id;
    bool encodes;  // run encodes device work; otherwise the work is done when run returns
    const igi_tensor_implementation *rows;
    size_t row_count;
    // Optional; NULL: available everywhere. Returns false, with a reason of at most 119 characters, if it is not
    // available on this machine. Called once per runtime; calls for one runtime are never concurrent.
    bool (*open)(struct igi_tensor_runtime *runtime, void **state, char *reason);
    void (*close)(void *state);
} igi_op_backend;

extern const igi_op_backend igi_ops_scalar, igi_ops_simd, igi_ops_blas, igi_ops_msl;
// In the order in which the table is filled; ends with NULL.
extern const igi_op_backend *const igi_op_backends[];

#endif
