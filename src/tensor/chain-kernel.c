// SPDX-License-Identifier: Apache-2.0
// Chains as one kernel: its source in MSL, and its arguments.
#include <string.h>

#include "tensor/chain.h"

// ---- Arguments ----

igi_tensor_chain_kernel igi_tensor_chain_kernel_of(const igi_tensor_chain *chain) {
    igi_tensor_chain_kernel kernel = {0};
    for (uint32_t i = 0; i < chain->value_count; i++) {
        const igi_tensor_chain_value *value = &chain->values[i];
        if (value->needed && !value->made) kernel.inputs[kernel.input_count++] = (uint8_t)i;
        if (value->visible) kernel.outputs[kernel.output_count++] = (uint8_t)i;
    }
    for (uint32_t i = 0; i < chain->op_count; i++) {
        const igi_tensor_chain_op *op = &chain->ops[i];
        if (!chain->values[op->out].needed || !igi_ops[op->op]->has_parameters) continue;
        kernel.parameters[kernel.parameter_count++] = (float)op->p.elementwise.low;
        kernel.parameters[kernel.parameter_count++] = (float)op->p.elementwise.high;
    }
    kernel.fits = kernel.input_count + kernel.output_count + 2 <= IGI_CHAIN_BUFFERS;
    return kernel;
}

ig_status igi_tensor_chain_encode_kernel(const igi_tensor_chain *chain, const igi_tensor_chain_kernel *kernel,
                                         ig_pipeline *pipeline, ig_commands *commands) {
    ig_status status = ig_commands_set_pipeline(commands, pipeline);
    uint32_t slot = 0, columns = (uint32_t)chain->columns;
    for (uint32_t i = 0; i < kernel->input_count + kernel->output_count && status == IG_STATUS_OK; i++) {
        bool in = i < kernel->input_count;
        const igi_tensor_chain_value *value =
            &chain->values[in ? kernel->inputs[i] : kernel->outputs[i - kernel->input_count]];
        status = ig_commands_set_buffer(commands, value->storage->buffer, value->offset, slot++);
    }
    if (kernel->parameter_count && status == IG_STATUS_OK)
        status = ig_commands_set_bytes(commands, kernel->parameters, kernel->parameter_count * sizeof(float), slot++);
    if (columns && status == IG_STATUS_OK) status = ig_commands_set_bytes(commands, &columns, sizeof columns, slot);
    ig_size grid = {chain->count, 1, 1};
    if (columns) grid = (ig_size){columns, chain->count / columns, 1};
    return status == IG_STATUS_OK ? ig_commands_dispatch_threads(commands, grid, (ig_size){0}) : status;
}

// ---- Structure ----

igi_hash igi_tensor_chain_structure(const igi_tensor_chain *chain, const igi_tensor_chain_kernel *kernel) {
    uint8_t text[4 * IGI_CHAIN_VALUES + 8 * IGI_CHAIN_OPS + 4];
    size_t used = 0;
    text[used++] = chain->columns != 0;
    text[used++] = (uint8_t)kernel->input_count;
    text[used++] = (uint8_t)kernel->output_count;
    for (uint32_t i = 0; i < chain->value_count; i++) {
        const igi_tensor_chain_value *value = &chain->values[i];
        text[used++] = (uint8_t)(value->needed | value->visible << 1 | value->made << 2);
        text[used++] = (uint8_t)value->type;
        text[used++] = (uint8_t)value->spread;
    }
    for (uint32_t i = 0; i < chain->op_count; i++) {
        const igi_tensor_chain_op *op = &chain->ops[i];
        text[used++] = (uint8_t)op->op;
        for (uint32_t k = 0; k < op->input_count; k++) text[used++] = op->in[k];
        text[used++] = op->out;
    }
    return igi_hash_bytes(text, used);
}

// ---- Source ----

static const char *name_of(ig_type type) {
    switch (type) {
        case IG_TYPE_F16: return "half";
        case IG_TYPE_BF16: return "bfloat";
        case IG_TYPE_I8: return "char";
        case IG_TYPE_U8:
        case IG_TYPE_BOOL: return "uchar";
        case IG_TYPE_I32: return "int";
        case IG_TYPE_I64: return "long";
        default: return "float";
    }
}

static void add_header(igi_text *text, const igi_tensor_chain *chain, const igi_tensor_chain_kernel *kernel,
                       const char *name) {
    uint32_t slot = 0;
    igi_text_addf(text, "kernel void %s(", name);
    for (uint32_t i = 0; i < kernel->input_count; i++, slot++)
        igi_text_addf(text, "device const %s *x%u [[buffer(%u)]],\n    ",
                      name_of(chain->values[kernel->inputs[i]].type), i, slot);
    for (uint32_t i = 0; i < kernel->output_count; i++, slot++)
        igi_text_addf(text, "device %s *y%u [[buffer(%u)]],\n    ", name_of(chain->values[kernel->outputs[i]].type), i,
                      slot);
    if (kernel->parameter_count) igi_text_addf(text, "constant float *p [[buffer(%u)]],\n    ", slot++);
    if (chain->columns)
        igi_text_addf(text,
                      "constant uint &columns [[buffer(%u)]], uint2 at [[thread_position_in_grid]]) {\n"
                      "    uint i = at.y * columns + at.x;\n",
                      slot);
    else
        igi_text_add(text, "uint i [[thread_position_in_grid]]) {\n");
}

static void add_loads(igi_text *text, const igi_tensor_chain *chain, const igi_tensor_chain_kernel *kernel) {
    static const char *const places[] = {
        [IGI_SPREAD_EACH] = "i", [IGI_SPREAD_ONE] = "0", [IGI_SPREAD_COLUMNS] = "at.x", [IGI_SPREAD_ROWS] = "at.y"};
    for (uint32_t i = 0; i < kernel->input_count; i++) {
        const igi_tensor_chain_value *value = &chain->values[kernel->inputs[i]];
        igi_text_addf(text, "    %s v%u = x%u[%s];\n", name_of(value->type), kernel->inputs[i], i,
                      places[value->spread]);
    }
}

static void add_cast(igi_text *text, const igi_tensor_chain *chain, const igi_tensor_chain_op *op) {
    ig_type from = chain->values[op->in[0]].type, to = chain->values[op->out].type;
    const char *made = to == IG_TYPE_BOOL ? "bool" : name_of(to);
    if (from == to)
        igi_text_addf(text, "v%u", op->in[0]);
    else
        igi_text_addf(text, "%s(Cast<%s, %s>::of(v%u))", name_of(to), made, name_of(from), op->in[0]);
}

static void add_function(igi_text *text, const igi_tensor_chain_op *op, const char *type, uint32_t parameter) {
    const char *name = ig_op_name(op->op);
    if (op->input_count == 2)
        igi_text_addf(text, "%s(%s_op::of(float(v%u), float(v%u)))", type, name, op->in[0], op->in[1]);
    else if (igi_ops[op->op]->has_parameters)
        igi_text_addf(text, "%s(%s_op::of(float(v%u), float2(p[%u], p[%u])))", type, name, op->in[0], parameter,
                      parameter + 1);
    else
        igi_text_addf(text, "%s(%s_op::of(float(v%u), float2(0.0f)))", type, name, op->in[0]);
}

static void add_op(igi_text *text, const igi_tensor_chain *chain, const igi_tensor_chain_op *op, uint32_t parameter) {
    const char *type = name_of(chain->values[op->out].type);
    igi_text_addf(text, "    %s v%u = ", type, op->out);
    switch (igi_ops[op->op]->fusion) {
        case IGI_FUSION_WHERE: igi_text_addf(text, "v%u != 0 ? v%u : v%u", op->in[0], op->in[1], op->in[2]); break;
        case IGI_FUSION_CAST: add_cast(text, chain, op); break;
        default: add_function(text, op, type, parameter);
    }
    igi_text_add(text, ";\n");
}

char *igi_tensor_chain_source(const igi_tensor_chain *chain, const igi_tensor_chain_kernel *kernel, const char *name) {
    igi_text text = {0};
    uint32_t parameter = 0;
    add_header(&text, chain, kernel, name);
    add_loads(&text, chain, kernel);
    for (uint32_t i = 0; i < chain->op_count; i++) {
        const igi_tensor_chain_op *op = &chain->ops[i];
        if (!chain->values[op->out].needed) continue;
        add_op(&text, chain, op, parameter);
        if (igi_ops[op->op]->has_parameters) parameter += 2;
    }
    for (uint32_t i = 0; i < kernel->output_count; i++)
        igi_text_addf(&text, "    y%u[i] = v%u;\n", i, kernel->outputs[i]);
    igi_text_add(&text, "}\n");
    return igi_text_take(&text);
}
