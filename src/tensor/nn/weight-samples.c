// SPDX-License-Identifier: Apache-2.0
// Descriptors and samples of ops on weights.
#include <string.h>

#include "tensor/nn/weight.h"
#include "tensor/sample-maker.h"

// Columns are multiplied to whole blocks.
static const struct {
    uint64_t tokens, rows, columns;
} shapes[] = {
    {1, 33, 256}, {3, 7, 64}, {17, 33, 96}, {20, 9, 64},    {1, 1, 32},
    {0, 3, 32},   {5, 0, 64}, {1, 5, 4096}, {130, 70, 544},
};

// Where the f16 values of a block are, and their magnitude, so that weights are of magnitude 1.
static const struct {
    double scale, offset;
    uint8_t scale_at, offset_at;
} scalings[IG_WEIGHT_TYPE_COUNT] = {
    [IG_WEIGHT_Q8_0] = {1.0 / 128, 0, 0, 0},         [IG_WEIGHT_Q4_0] = {1.0 / 8, 0, 0, 0},
    [IG_WEIGHT_Q4_1] = {1.0 / 8, -1, 0, 2},          [IG_WEIGHT_Q5_0] = {1.0 / 16, 0, 0, 0},
    [IG_WEIGHT_Q5_1] = {1.0 / 16, -1, 0, 2},         [IG_WEIGHT_Q2_K] = {1.0 / 32, 1.0 / 16, 80, 82},
    [IG_WEIGHT_Q3_K] = {1.0 / 128, 0, 108, 0},       [IG_WEIGHT_Q4_K] = {1.0 / 512, 1.0 / 64, 0, 2},
    [IG_WEIGHT_Q5_K] = {1.0 / 1024, 1.0 / 64, 0, 2}, [IG_WEIGHT_Q6_K] = {1.0 / 4096, 0, 208, 0},
};

// The few samples of a validation together cover every format with each shape, without compiling a device kernel twice.
static ig_weight_type type_of(const igi_tensor_sample_spec *spec, ig_type operand) {
    uint32_t element = operand == IG_TYPE_F16 ? 1 : operand == IG_TYPE_BF16 ? 2 + (uint32_t)spec->values : 0;
    uint32_t i = (uint32_t)spec->layout + 3 * element;
    return (ig_weight_type)(IG_WEIGHT_Q8_0 + i % (IG_WEIGHT_TYPE_COUNT - IG_WEIGHT_Q8_0));
}

// Rows of blocks are contiguous whatever the layout.
static igi_tensor_view *packed_input(igi_tensor_sample_maker *m, ig_type type, uint64_t rows, uint64_t columns) {
    igi_tensor_sample_spec plain = *m->spec;
    const igi_tensor_sample_spec *spec = m->spec;
    plain.layout = IGI_LAYOUT_CONTIGUOUS;
    m->spec = &plain, m->tame = true;
    igi_tensor_view *view = igi_tensor_sample_input(m, type, &(ig_shape){2, {rows, columns}}, false);
    m->spec = spec, m->tame = false;
    return view;
}

static void packed_output(igi_tensor_sample_maker *m, ig_type type, uint64_t rows, uint64_t columns) {
    igi_tensor_sample_spec plain = *m->spec;
    const igi_tensor_sample_spec *spec = m->spec;
    plain.layout = IGI_LAYOUT_CONTIGUOUS;
    m->spec = &plain;
    igi_tensor_sample_output(m, type, &(ig_shape){2, {rows, columns}});
    m->spec = spec;
}

static void put_half(igi_tensor_sample_maker *m, double about, char *to) {
    uint16_t bits = igi_tensor_f16_from_double(about * (1 + (double)(igi_tensor_sample_bits(m) % 64) / 64));
    memcpy(to, &bits, sizeof bits);
}

// Any bytes are valid blocks, once the scales are sensible.
static void make_weight(igi_tensor_sample_maker *m, ig_weight_type type, uint64_t rows, uint64_t columns) {
    const igi_tensor_view *view = packed_input(m, IG_TYPE_U8, rows, igi_tensor_weight_row_bytes(type, columns));
    if (!view) return;
    uint64_t bytes = igi_tensor_view_count(view), block = igi_tensor_weight_formats[type].bytes;
    for (uint64_t i = 0; i < bytes; i++) view->storage->memory[i] = (char)igi_tensor_sample_bits(m);
    for (uint64_t i = 0; i < bytes; i += block) {
        char *at = view->storage->memory + i;
        put_half(m, scalings[type].scale, at + scalings[type].scale_at);
        if (scalings[type].offset != 0) put_half(m, scalings[type].offset, at + scalings[type].offset_at);
    }
}

static uint64_t columns_of(const igi_tensor_sample_maker *m, ig_weight_type type) {
    return igi_round_up(shapes[m->spec->shape].columns, igi_tensor_weight_formats[type].weights);
}

static void begin(igi_tensor_sample_maker *m, ig_weight_type type) {
    m->sample->call.p.weight.type = type;
    m->sample->scale = 4 * (double)columns_of(m, type);
    m->tame = true;
}

static void make_quantize(igi_tensor_sample_maker *m, ig_type operand, ig_type result) {
    ig_weight_type type = type_of(m->spec, operand);
    uint64_t rows = shapes[m->spec->shape].rows, columns = columns_of(m, type);
    (void)result;
    begin(m, type);
    igi_tensor_sample_input(m, operand, &(ig_shape){2, {rows, columns}}, igi_tensor_sample_repeats(m));
    packed_output(m, IG_TYPE_U8, rows, igi_tensor_weight_row_bytes(type, columns));
}

static void make_dequantize(igi_tensor_sample_maker *m, ig_type operand, ig_type result) {
    ig_weight_type type = type_of(m->spec, operand);
    uint64_t rows = shapes[m->spec->shape].rows, columns = columns_of(m, type);
    begin(m, type);
    make_weight(m, type, rows, columns);
    igi_tensor_sample_output(m, result, &(ig_shape){2, {rows, columns}});
}

// Weights are also tested as f16 and bf16 with float operands.
static void make_matmul(igi_tensor_sample_maker *m, ig_type operand, ig_type result) {
    uint32_t i = m->spec->shape;
    bool halves = operand == IG_TYPE_F32 && m->spec->values;
    ig_weight_type type = halves ? i % 2 ? IG_WEIGHT_F16 : IG_WEIGHT_BF16 : type_of(m->spec, operand);
    uint64_t tokens = shapes[i].tokens, rows = shapes[i].rows, columns = columns_of(m, type);
    begin(m, type);
    igi_tensor_sample_input(m, operand, &(ig_shape){2, {tokens, columns}}, igi_tensor_sample_repeats(m));
    if (halves)
        packed_input(m, igi_tensor_weight_formats[type].element, rows, columns);
    else
        make_weight(m, type, rows, columns);
    igi_tensor_sample_output(m, result, &(ig_shape){2, {tokens, rows}});
}

// ---- Descriptors ----

#define SAMPLES(maker) {.shapes = sizeof shapes / sizeof *shapes, .rank = 2, .make = (maker)}
static const igi_tensor_sample_set quantize_samples = SAMPLES(make_quantize),
                                   dequantize_samples = SAMPLES(make_dequantize), matmul_samples = SAMPLES(make_matmul);

const igi_op igi_op_of_quantize = {
    .family = "quantized", .inputs = 1, .tolerance = IGI_TOLERANCE_WEIGHTS, .samples = &quantize_samples};
const igi_op igi_op_of_dequantize = {.family = "quantized",
                                     .inputs = 1,
                                     .typed_by = IGI_TYPED_BY_OUTPUT,
                                     .tolerance = IGI_TOLERANCE_WEIGHTS,
                                     .samples = &dequantize_samples};
const igi_op igi_op_of_weight_matmul = {.family = "quantized",
                                        .inputs = 2,
                                        .tolerance = IGI_TOLERANCE_WEIGHTS,
                                        .work = igi_tensor_work_of_product,
                                        .samples = &matmul_samples};
