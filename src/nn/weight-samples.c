// SPDX-License-Identifier: Apache-2.0
// Sample calls of ops on weights.
#include <string.h>

#include "nn/weight.h"
#include "tensor/sample-maker.h"

static const struct {
    uint64_t tokens, rows, columns;
    ig_weight_type type;
} shapes[IGI_QUANTIZED_SAMPLES] = {
    {1, 33, 256, IG_WEIGHT_Q4_0}, {3, 7, 64, IG_WEIGHT_Q8_0},   {17, 33, 96, IG_WEIGHT_Q4_0},
    {20, 9, 64, IG_WEIGHT_Q8_0},  {1, 1, 32, IG_WEIGHT_Q8_0},   {0, 3, 32, IG_WEIGHT_Q4_0},
    {5, 0, 64, IG_WEIGHT_Q4_0},   {1, 5, 4096, IG_WEIGHT_Q4_0}, {130, 70, 544, IG_WEIGHT_Q8_0},
};

// Rows of blocks are packed whatever the layout.
static igi_view *packed_input(igi_sample_maker *m, ig_type type, uint64_t rows, uint64_t columns) {
    igi_sample_spec plain = *m->spec;
    const igi_sample_spec *spec = m->spec;
    plain.layout = IGI_LAYOUT_CONTIGUOUS;
    m->spec = &plain, m->tame = true;
    igi_view *view = igi_sample_input(m, type, &(ig_shape){2, {rows, columns}}, false);
    m->spec = spec, m->tame = false;
    return view;
}

static void packed_output(igi_sample_maker *m, ig_type type, uint64_t rows, uint64_t columns) {
    igi_sample_spec plain = *m->spec;
    const igi_sample_spec *spec = m->spec;
    plain.layout = IGI_LAYOUT_CONTIGUOUS;
    m->spec = &plain;
    igi_sample_output(m, type, &(ig_shape){2, {rows, columns}});
    m->spec = spec;
}

// Any bytes are blocks, once the scales are sensible.
static void make_weight(igi_sample_maker *m, ig_weight_type type, uint64_t rows, uint64_t columns) {
    const igi_view *view = packed_input(m, IG_TYPE_U8, rows, igi_weight_row_bytes(type, columns));
    if (!view) return;
    uint64_t bytes = igi_view_count(view), block = igi_weight_formats[type].bytes;
    for (uint64_t i = 0; i < bytes; i++) view->storage->memory[i] = (char)igi_sample_bits(m);
    for (uint64_t i = 0; i < bytes; i += block) {
        uint16_t scale = igi_f16_from_double((type == IG_WEIGHT_Q4_0 ? 0.125 : 1.0 / 128) *
                                             (1 + (double)(igi_sample_bits(m) % 64) / 64));
        memcpy(view->storage->memory + i, &scale, sizeof scale);
    }
}

void igi_sample_quantized(igi_sample_maker *m, ig_type operand, ig_type result) {
    uint32_t i = m->spec->shape;
    uint64_t tokens = shapes[i].tokens, rows = shapes[i].rows, columns = shapes[i].columns;
    bool halves = m->spec->op == IG_OP_WEIGHT_MATMUL && operand == IG_TYPE_F32 && m->spec->values;
    ig_weight_type type = halves ? i % 2 ? IG_WEIGHT_F16 : IG_WEIGHT_BF16 : shapes[i].type;
    m->sample->call.p.weight.type = type;
    m->sample->scale = 4 * (double)columns;
    m->tame = true;
    if (m->spec->op == IG_OP_DEQUANTIZE) {
        make_weight(m, type, rows, columns);
        igi_sample_output(m, result, &(ig_shape){2, {rows, columns}});
        return;
    }
    bool quantizes = m->spec->op == IG_OP_QUANTIZE;
    igi_sample_input(m, operand, &(ig_shape){2, {quantizes ? rows : tokens, columns}},
                     m->spec->layout == IGI_LAYOUT_REPEATED);
    if (quantizes) {
        packed_output(m, IG_TYPE_U8, rows, igi_weight_row_bytes(type, columns));
        return;
    }
    if (halves)
        packed_input(m, igi_weight_formats[type].element, rows, columns);
    else
        make_weight(m, type, rows, columns);
    igi_sample_output(m, result, &(ig_shape){2, {tokens, rows}});
}
