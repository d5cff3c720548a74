// SPDX-License-Identifier: Apache-2.0
// The list of ops.
#include "tensor/op-table.h"

#include <assert.h>
#include <string.h>

#define NAME(id, name, type) [IG_OP_##id] = #name,
static const char *const names[IG_OP_COUNT] = {IG_OP_LIST(NAME)};

#define DESCRIPTOR(id, name, type) [IG_OP_##id] = &igi_op_of_##name,
const igi_op *const igi_ops[IG_OP_COUNT] = {IG_OP_LIST(DESCRIPTOR)};

static const char *const backend_names[IG_BACKEND_COUNT] = {
    [IG_BACKEND_ANY] = "any",   [IG_BACKEND_SCALAR] = "scalar", [IG_BACKEND_SIMD] = "simd",
    [IG_BACKEND_BLAS] = "blas", [IG_BACKEND_MSL] = "msl",
};

const char *ig_op_name(ig_op op) {
    return (unsigned)op < IG_OP_COUNT ? names[op] : "unknown";
}

const char *ig_backend_name(ig_backend backend) {
    return (unsigned)backend < IG_BACKEND_COUNT ? backend_names[backend] : "unknown";
}

static bool is(const char *name, const char *text, size_t length) {
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

bool igi_op_find(const char *name, size_t length, ig_op *op) {
    for (int i = 0; i < IG_OP_COUNT; i++) {
        if (!is(names[i], name, length)) continue;
        *op = (ig_op)i;
        return true;
    }
    return false;
}

bool igi_tensor_backend_find(const char *name, size_t length, ig_backend *backend) {
    for (int i = 0; i < IG_BACKEND_COUNT; i++) {
        if (!is(backend_names[i], name, length)) continue;
        *backend = (ig_backend)i;
        return true;
    }
    return false;
}

// ---- Types ----

// As the public lists of ops name them.
typedef enum type_rule { KEEP, SAME, FLOAT, BOOL, INDEX, SUM, PRODUCT, GIVEN } type_rule;

#define RULE(id, name, type) [IG_OP_##id] = (type),
static const uint8_t type_rules[IG_OP_COUNT] = {IG_OP_LIST(RULE)};

void igi_op_types(ig_op op, ig_type common, ig_type *operand, ig_type *result) {
    bool fraction = igi_tensor_is_float(common);
    *operand = *result = common;
    switch ((type_rule)type_rules[op]) {
        case KEEP:
            if (common == IG_TYPE_BOOL) *operand = *result = IG_TYPE_I32;
            break;
        case FLOAT:
            if (!fraction) *operand = *result = IG_TYPE_F32;
            break;
        case BOOL: *result = IG_TYPE_BOOL; break;
        case INDEX: *result = IG_TYPE_I64; break;
        case SUM:
            if (!fraction) *result = IG_TYPE_I64;
            break;
        case PRODUCT:
            if (!fraction && common != IG_TYPE_I64) *operand = *result = IG_TYPE_I32;
            break;
        case SAME:
        case GIVEN: break;
    }
}

// ---- Calls ----

const char *igi_tensor_call_name(const igi_tensor_call *call) {
    return call->name ? call->name : ig_op_name(call->op);
}

ig_type igi_tensor_call_type(const igi_tensor_call *call) {
    uint32_t input = igi_ops[call->op]->typed_by;
    return input == IGI_TYPED_BY_OUTPUT ? call->out[0].type : call->in[input].type;
}

static uint64_t elements_of_largest(const igi_tensor_call *call) {
    uint64_t most = igi_tensor_view_count(&call->out[0]);
    for (uint32_t i = 0; i < call->input_count; i++) {
        uint64_t count = call->in[i].storage ? igi_tensor_view_count(&call->in[i]) : 0;
        if (count > most) most = count;
    }
    return most;
}

uint64_t igi_tensor_call_work(const igi_tensor_call *call) {
    const igi_op *op = igi_ops[call->op];
    return op->work ? op->work(call) : elements_of_largest(call);
}

uint64_t igi_tensor_work_of_product(const igi_tensor_call *call) {
    assert(call->in[0].rank >= 1);
    uint64_t work, inner = call->in[0].shape[call->in[0].rank - 1];
    return igi_mul(igi_tensor_view_count(&call->out[0]), inner, &work) ? work : UINT64_MAX;
}
