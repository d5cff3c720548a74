// SPDX-License-Identifier: Apache-2.0
// The op table: what ops there are, and what each backend offers for them.
#ifndef INGOT_TENSOR_OP_TABLE_H
#define INGOT_TENSOR_OP_TABLE_H

#include "tensor/call.h"

// ---- Ops ----

typedef enum igi_family {
    IGI_FAMILY_UNARY,
    IGI_FAMILY_BINARY,
    IGI_FAMILY_TERNARY,
    IGI_FAMILY_CONVERT,  // cast and copy: types may differ
    IGI_FAMILY_REDUCE,
    IGI_FAMILY_SCAN,
    IGI_FAMILY_MATMUL,
    IGI_FAMILY_NORMALIZE,
    IGI_FAMILY_INDEX,
    IGI_FAMILY_SORT,
    IGI_FAMILY_GENERATE,
    IGI_FAMILY_CONVOLVE,
    IGI_FAMILY_ATTENTION,
    IGI_FAMILY_QUANTIZED,
    IGI_FAMILY_COUNT
} igi_family;

typedef enum igi_type_rule {
    IGI_TYPE_KEEP,
    IGI_TYPE_FLOAT,
    IGI_TYPE_BOOL,
    IGI_TYPE_INDEX,
    IGI_TYPE_SUM,
    IGI_TYPE_PRODUCT,
    IGI_TYPE_GIVEN,
} igi_type_rule;

typedef enum igi_shape_rule {
    IGI_SHAPE_BROADCAST,  // of all inputs
    IGI_SHAPE_REDUCE,     // the input's without some axes
    IGI_SHAPE_SAME,       // as the first input
    IGI_SHAPE_OWN,        // the op's front end says
} igi_shape_rule;

typedef struct igi_op {
    const char *name;
    igi_type_rule type_rule;
    igi_family family;
    uint8_t inputs;  // at most
    igi_shape_rule shape_rule;
} igi_op;

extern const igi_op igi_ops[IG_OP_COUNT];
extern const char *const igi_family_names[IGI_FAMILY_COUNT];
bool igi_op_find(const char *name, size_t length, ig_op *op);
bool igi_backend_find(const char *name, size_t length, ig_backend *backend);

// The type an op computes in and the type of its result, for operands whose common type is `common`.
void igi_op_types(ig_op op, ig_type common, ig_type *operand, ig_type *result);

// ---- Implementations ----

struct igi_runtime;

// One op of one backend.
typedef struct igi_implementation {
    ig_op op;
    uint32_t types;  // see igi_call_type
    // Least work for which it beats the backends below it, unless measured otherwise (thresholds.h).
    uint64_t threshold;
    // Optional; instead of `threshold` where that depends on the machine.
    uint64_t (*threshold_here)(void);
    // Optional; NULL: every call of these types.
    bool (*accepts)(const igi_call *call);
    // Runs, or encodes into call->commands. Touches nothing but outputs; on failure these may be half written.
    ig_status (*run)(const igi_call *call);
} igi_implementation;

// A backend of ops. Rows may come in any order and name an op once.
typedef struct igi_op_backend {
    ig_backend id;
    bool encodes;  // run encodes device work; otherwise it is done when run returns
    const igi_implementation *rows;
    size_t row_count;
    // Optional; NULL: available everywhere. False, with a reason of at most 119 characters, when it is not on this
    // machine. Called once per runtime; the calls of one runtime never come at the same time.
    bool (*open)(struct igi_runtime *runtime, void **state, char *reason);
    void (*close)(void *state);
} igi_op_backend;

// Rows of transformers (nn/), added to those of the backend they name. Ends with rows NULL.
typedef struct igi_row_set {
    ig_backend backend;
    const igi_implementation *rows;
    size_t row_count;
} igi_row_set;
extern const igi_row_set igi_nn_rows[];

extern const igi_op_backend igi_ops_scalar, igi_ops_simd, igi_ops_blas, igi_ops_metal;
// In the order in which the table is filled; ends with NULL.
extern const igi_op_backend *const igi_op_backends[];

#endif
