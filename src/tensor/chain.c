// SPDX-License-Identifier: Apache-2.0
// Chains: recording ops, and determining which results are needed.
#include "tensor/chain.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "tensor/iterate.h"

// Below this size, intermediate results stay in the caches anyway.
enum { LEAST_ELEMENTS = 1 << 18 };

igi_tensor_chain *igi_tensor_chain_create(igi_tensor_runtime *runtime, igi_tensor_fusion_mode mode, bool encodes) {
    igi_tensor_chain *chain = igi_calloc(1, sizeof *chain);
    if (!chain) return NULL;
    chain->runtime = runtime;
    chain->mode = mode;
    chain->encodes = encodes;
    return chain;
}

void igi_tensor_chain_free(igi_tensor_chain *chain) {
    if (!chain) return;
    for (uint32_t i = 0; i < chain->value_count; i++) igi_tensor_storage_release(chain->values[i].storage);
    free(chain);
}

uint64_t igi_tensor_chain_columns(const igi_tensor_chain *chain) {
    return chain->columns ? chain->columns : chain->count;
}

bool igi_tensor_chain_is_full(const igi_tensor_chain *chain) {
    return chain->op_count == IGI_CHAIN_OPS || chain->value_count + IGI_MAX_INPUTS + 1 > IGI_CHAIN_VALUES;
}

void igi_tensor_chain_name(const igi_tensor_chain *chain, char *name, size_t size) {
    size_t used = 0;
    name[0] = 0;
    for (uint32_t i = 0; i < chain->op_count && used < size; i++)
        used += (size_t)snprintf(name + used, size - used, "%s%s", i ? ", " : "", ig_op_name(chain->ops[i].op));
}

// ---- What can be part of a chain ----

static bool computes_elements(const igi_tensor_call *call) {
    igi_tensor_fusion_rule fusion = igi_ops[call->op]->fusion;
    if (fusion == IGI_FUSION_NONE || call->output_count != 1) return false;
    return fusion != IGI_FUSION_FUNCTION || igi_tensor_is_float(call->in[0].type);
}

// How an operand is spread over the result; false if it is in none of these ways. `columns` is changed only if it
// matters.
static bool find_spread(const igi_tensor_view *out, const igi_tensor_view *in, igi_tensor_spread *spread,
                        uint64_t *columns) {
    if (igi_tensor_view_is_contiguous(in)) {
        *spread = IGI_SPREAD_EACH;
        return true;
    }
    igi_tensor_walk walk = igi_tensor_walk_of(2, (const igi_tensor_view *[]){out, in});
    int64_t size = (int64_t)ig_type_size(in->type), along = walk.strides[1][walk.rank - 1];
    if (walk.rank == 1) {
        *spread = IGI_SPREAD_ONE;
        return along == 0;
    }
    int64_t across = walk.strides[1][0];
    *spread = along == size ? IGI_SPREAD_COLUMNS : IGI_SPREAD_ROWS;
    *columns = walk.shape[1];
    return walk.rank == 2 && ((along == size && across == 0) || (along == 0 && across == size));
}

bool igi_tensor_chain_takes(const igi_tensor_runtime *runtime, igi_tensor_fusion_mode mode,
                            const igi_tensor_call *call) {
    const igi_tensor_view *out = &call->out[0];
    if (mode == IGI_FUSION_OFF || !computes_elements(call)) return false;
    uint64_t count = igi_tensor_view_count(out), columns = 0, least = mode == IGI_FUSION_AUTO ? LEAST_ELEMENTS : 1;
    if (count < least || count > INT32_MAX) return false;
    if (!runtime->slots[call->op][IG_BACKEND_MSL].row || !igi_tensor_view_is_contiguous(out)) return false;
    for (uint32_t i = 0; i < call->input_count; i++) {
        igi_tensor_spread spread;
        uint64_t own = columns;
        if (!find_spread(out, &call->in[i], &spread, &own)) return false;
        if (columns && own != columns) return false;
        columns = own;
    }
    return true;
}

// ---- Adding ----

// Whether something other than the chain has a reference; if not, nobody can get one any more.
static bool seen_outside(const igi_tensor_chain *chain, const igi_tensor_storage *storage) {
    uint32_t own = 0;
    for (uint32_t i = 0; i < chain->value_count; i++) own += chain->values[i].storage == storage;
    return atomic_load_explicit(&storage->references.count, memory_order_acquire) > own;
}

static bool comes_from_outside(const igi_tensor_chain *chain, const igi_tensor_storage *storage) {
    for (uint32_t i = 0; i < chain->value_count; i++)
        if (chain->values[i].storage == storage && !chain->values[i].made) return true;
    return false;
}

// Releases memory that only the chain still refers to. Running op by op on the device would need it.
static void forget_unseen(igi_tensor_chain *chain) {
    for (uint32_t i = 0; i < chain->value_count && !chain->encodes; i++) {
        igi_tensor_storage *storage = chain->values[i].storage;
        if (!storage || comes_from_outside(chain, storage) || seen_outside(chain, storage)) continue;
        for (uint32_t other = 0; other < chain->value_count; other++) {
            if (chain->values[other].storage != storage) continue;
            chain->values[other].storage = NULL;
            igi_tensor_storage_release(storage);
        }
    }
}

static bool is_same(const igi_tensor_chain_value *value, const igi_tensor_view *view, igi_tensor_spread spread) {
    return value->storage == view->storage && value->offset == view->offset && value->type == view->type &&
           value->spread == spread;
}

typedef enum finding { FOUND, ABSENT, CONFLICT } finding;

// The newest value at this address. A conflict: an op of the chain wrote there with another layout.
static finding find_value(const igi_tensor_chain *chain, const igi_tensor_view *view, igi_tensor_spread spread,
                          bool writes, uint8_t *index) {
    finding result = ABSENT;
    for (uint32_t i = chain->value_count; i-- > 0;) {
        const igi_tensor_chain_value *value = &chain->values[i];
        if (value->storage != view->storage) continue;
        if (is_same(value, view, spread)) {
            if (result == ABSENT) *index = (uint8_t)i, result = FOUND;
        } else if (value->made || writes) {
            return CONFLICT;
        }
    }
    return result;
}

static uint8_t add_value(igi_tensor_chain *chain, const igi_tensor_view *view, igi_tensor_spread spread, bool made) {
    chain->values[chain->value_count] = (igi_tensor_chain_value){.storage = igi_tensor_storage_retain(view->storage),
                                                                 .offset = view->offset,
                                                                 .type = view->type,
                                                                 .spread = spread,
                                                                 .made = made,
                                                                 .current = true};
    return (uint8_t)chain->value_count++;
}

typedef struct operands {
    igi_tensor_spread spread[IGI_MAX_INPUTS];
    finding found[IGI_MAX_INPUTS];
    uint8_t value[IGI_MAX_INPUTS];
    uint64_t columns;
} operands;

static bool find_operands(const igi_tensor_chain *chain, const igi_tensor_call *call, operands *o) {
    o->columns = chain->columns;
    for (uint32_t i = 0; i < call->input_count; i++) {
        uint64_t columns = o->columns;
        find_spread(&call->out[0], &call->in[i], &o->spread[i], &columns);
        if (o->columns && columns != o->columns) return false;
        o->columns = columns;
        o->found[i] = find_value(chain, &call->in[i], o->spread[i], false, &o->value[i]);
        if (o->found[i] == CONFLICT) return false;
    }
    return true;
}

bool igi_tensor_chain_add(igi_tensor_chain *chain, const igi_tensor_call *call, const igi_tensor_implementation *row) {
    const igi_tensor_view *out = &call->out[0];
    operands o;
    uint8_t before;
    assert(igi_tensor_chain_takes(chain->runtime, chain->mode, call));
    if (igi_tensor_chain_is_full(chain) || (chain->op_count && chain->count != igi_tensor_view_count(out)))
        return false;
    forget_unseen(chain);
    if (!find_operands(chain, call, &o)) return false;
    if (find_value(chain, out, IGI_SPREAD_EACH, true, &before) == CONFLICT) return false;
    igi_tensor_chain_op *op = &chain->ops[chain->op_count++];
    *op = (igi_tensor_chain_op){.op = call->op, .input_count = call->input_count, .p = call->p, .row = row};
    // The same operand twice is one value.
    for (uint32_t i = 0; i < call->input_count; i++) {
        if (find_value(chain, &call->in[i], o.spread[i], false, &op->in[i]) == FOUND) continue;
        op->in[i] = add_value(chain, &call->in[i], o.spread[i], false);
    }
    for (uint32_t i = 0; i < chain->value_count; i++)
        if (chain->values[i].storage == out->storage) chain->values[i].current = false;
    op->out = add_value(chain, out, IGI_SPREAD_EACH, true);
    chain->count = igi_tensor_view_count(out);
    chain->columns = o.columns;
    return true;
}

// ---- What is needed ----

uint32_t igi_tensor_chain_plan(igi_tensor_chain *chain) {
    uint32_t needed = 0;
    for (uint32_t i = 0; i < chain->value_count; i++) {
        igi_tensor_chain_value *value = &chain->values[i];
        value->visible = value->made && value->current && value->storage && seen_outside(chain, value->storage);
        value->needed = value->visible;
    }
    for (uint32_t i = chain->op_count; i-- > 0;) {
        const igi_tensor_chain_op *op = &chain->ops[i];
        if (!chain->values[op->out].needed) continue;
        needed++;
        for (uint32_t k = 0; k < op->input_count; k++) chain->values[op->in[k]].needed = true;
    }
    return needed;
}
