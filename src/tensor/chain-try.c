// SPDX-License-Identifier: Apache-2.0
// Validation of fused kernels. The error of a whole chain has no bound that is known beforehand; the errors of its ops
// do. So every op is compared with the reference on the operands that the kernel itself had for it.
#include <stdio.h>
#include <string.h>

#include "tensor/chain.h"
#include "tensor/samples.h"

static const uint64_t sample_rows = 17, sample_columns = 61;
static const uint64_t timeout_ns = 20000000000u;

static uint64_t elements_of(igi_tensor_spread spread) {
    uint64_t rows = spread == IGI_SPREAD_EACH || spread == IGI_SPREAD_ROWS ? sample_rows : 1;
    uint64_t columns = spread == IGI_SPREAD_EACH || spread == IGI_SPREAD_COLUMNS ? sample_columns : 1;
    return rows * columns;
}

static ig_status give_memory(igi_tensor_runtime *runtime, igi_tensor_chain_value *value) {
    return igi_tensor_storage_make(runtime->device, elements_of(value->spread) * ig_type_size(value->type),
                                   &value->storage);
}

ig_status igi_tensor_chain_make_sample(const igi_tensor_chain *chain, igi_tensor_chain **sample) {
    igi_tensor_chain *made = igi_tensor_chain_create(chain->runtime, chain->mode, chain->encodes);
    if (!made) return IG_STATUS_OUT_OF_MEMORY;
    *made = *chain;
    made->columns = chain->columns ? sample_columns : 0;
    made->count = sample_rows * sample_columns;
    for (uint32_t i = 0; i < made->value_count; i++) made->values[i].storage = NULL, made->values[i].offset = 0;
    ig_status status = IG_STATUS_OK;
    for (uint32_t i = 0; i < made->value_count && status == IG_STATUS_OK; i++) {
        igi_tensor_chain_value *value = &made->values[i];
        if (!value->needed) continue;
        status = give_memory(chain->runtime, value);
        if (status == IG_STATUS_OK && !value->made)
            igi_tensor_sample_fill(value->type, i, elements_of(value->spread), value->storage->memory);
    }
    if (status == IG_STATUS_OK)
        *sample = made;
    else
        igi_tensor_chain_free(made);
    return status;
}

static ig_status run_kernel(const igi_tensor_chain *chain, const igi_tensor_chain_kernel *kernel,
                            ig_pipeline *pipeline) {
    ig_commands *commands = NULL;
    ig_status status = ig_commands_create(chain->runtime->queue, &(ig_commands_desc){.label = "validation"}, &commands);
    if (status == IG_STATUS_OK) status = igi_tensor_chain_encode_kernel(chain, kernel, pipeline, commands);
    if (status == IG_STATUS_OK) status = ig_commands_commit(commands);
    if (status == IG_STATUS_OK) status = ig_commands_wait(commands, timeout_ns);
    ig_commands_release(commands);
    return status;
}

static igi_tensor_view whole(const igi_tensor_chain *chain, const igi_tensor_chain_value *value) {
    uint64_t columns = igi_tensor_chain_columns(chain);
    return igi_tensor_chain_view(value, columns,
                                 &(igi_tensor_chain_piece){.rows = chain->count / columns, .columns = columns});
}

// ---- Comparing ----

// Compares the reference's result for the op's operands with the kernel's.
static ig_status check_op(const igi_tensor_chain *chain, const igi_tensor_chain_op *op, bool *good, char *what) {
    char difference[IGI_DIFFERENCE_TEXT];
    igi_tensor_chain_value expected = {.type = chain->values[op->out].type};
    ig_status status = give_memory(chain->runtime, &expected);
    if (status != IG_STATUS_OK) return status;
    igi_tensor_call call = {.op = op->op, .input_count = op->input_count, .output_count = 1, .p = op->p};
    call.runtime = chain->runtime;
    for (uint32_t i = 0; i < op->input_count; i++) call.in[i] = whole(chain, &chain->values[op->in[i]]);
    call.out[0] = whole(chain, &expected);
    igi_tensor_view result = whole(chain, &chain->values[op->out]);
    status = chain->runtime->slots[op->op][IG_BACKEND_SCALAR].row->run(&call);
    if (status == IG_STATUS_OK)
        *good = igi_tensor_views_agree(&call.out[0], &result, igi_tensor_tolerance_for(&call, 1), difference);
    if (status == IG_STATUS_OK && !*good) snprintf(what, 120, "%s: %s", ig_op_name(op->op), difference);
    igi_tensor_storage_release(expected.storage);
    return status;
}

static ig_status check_all(const igi_tensor_chain *chain, bool *good, char *what) {
    ig_status status = IG_STATUS_OK;
    for (uint32_t i = 0; i < chain->op_count && status == IG_STATUS_OK && *good; i++)
        if (chain->values[chain->ops[i].out].needed) status = check_op(chain, &chain->ops[i], good, what);
    return status;
}

// Memory of the values that both kernels write, one after the other.
typedef struct results {
    igi_tensor_storage *of[IGI_CHAIN_VALUES];
} results;

static ig_status set_aside(igi_tensor_chain *chain, const igi_tensor_chain_kernel *kernel, results *r) {
    ig_status status = IG_STATUS_OK;
    for (uint32_t i = 0; i < kernel->output_count && status == IG_STATUS_OK; i++) {
        igi_tensor_chain_value *value = &chain->values[kernel->outputs[i]];
        r->of[kernel->outputs[i]] = value->storage;
        value->storage = NULL;
        status = give_memory(chain->runtime, value);
    }
    return status;
}

static void compare_results(const igi_tensor_chain *chain, const results *r, bool *good, char *what) {
    char difference[IGI_DIFFERENCE_TEXT];
    for (uint32_t i = 0; i < chain->value_count && *good; i++) {
        if (!r->of[i]) continue;
        igi_tensor_view one = whole(chain, &chain->values[i]), other = one;
        other.storage = r->of[i];
        *good = igi_tensor_views_agree(&other, &one, (igi_tensor_tolerance){0, 0}, difference);
        if (!*good) snprintf(what, 120, "with and without intermediate results: %.80s", difference);
    }
}

ig_status igi_tensor_chain_try(igi_tensor_chain *sample, const igi_tensor_chain_kernel *kernel, ig_pipeline *fused,
                               ig_pipeline *everything, bool *good, char *what) {
    results aside = {{0}};
    *good = true;
    ig_status status = run_kernel(sample, kernel, fused);
    if (status == IG_STATUS_OK) status = set_aside(sample, kernel, &aside);
    for (uint32_t i = 0; i < sample->value_count; i++)
        sample->values[i].visible = sample->values[i].made && sample->values[i].needed;
    igi_tensor_chain_kernel all = igi_tensor_chain_kernel_of(sample);
    if (status == IG_STATUS_OK) status = run_kernel(sample, &all, everything);
    if (status == IG_STATUS_OK) status = check_all(sample, good, what);
    if (status == IG_STATUS_OK) compare_results(sample, &aside, good, what);
    for (uint32_t i = 0; i < IGI_CHAIN_VALUES; i++) igi_tensor_storage_release(aside.of[i]);
    return status;
}
