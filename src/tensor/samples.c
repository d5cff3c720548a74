// SPDX-License-Identifier: Apache-2.0
// Making sample calls: memory, layouts, values.
#include "tensor/samples.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "tensor/sample-maker.h"

#define LENGTH(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

// ---- Values ----

// SplitMix64 (Steele, Lea, Flood, 2014).
uint64_t igi_tensor_sample_bits(igi_tensor_sample_maker *m) {
    uint64_t z = m->random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

// In [-2, 2), mostly around 0.
static double next_value(igi_tensor_sample_maker *m) {
    double u = (double)(igi_tensor_sample_bits(m) >> 11) * 0x1p-53,
           v = (double)(igi_tensor_sample_bits(m) >> 11) * 0x1p-53;
    return 2 * (u + v) - 2;
}

static double special_float(igi_tensor_sample_maker *m) {
    static const double gentle[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, FLT_TRUE_MIN, -1e-40};
    static const double any[] = {NAN,  INFINITY, -INFINITY, 0.0,      -0.0, FLT_TRUE_MIN, -1e-40, FLT_MIN,
                                 -1.0, 1.0,      0.5,       -FLT_MAX, 10.0, -10.0,        90.0,   -90.0,
                                 1e4,  -3e-3,    65504.0,   6e-8,     2.5,  3.5,          -0.5,   FLT_MAX};
    uint64_t bits = igi_tensor_sample_bits(m);
    if (igi_ops[m->spec->op]->samples->sums) return bits % 40 == 0 ? gentle[bits / 40 % LENGTH(gentle)] : next_value(m);
    return bits % 2 ? any[bits / 2 % LENGTH(any)] : next_value(m) * 8;
}

static int64_t special_integer(igi_tensor_sample_maker *m) {
    static const int64_t extremes[] = {0, 1, -1, 127, -128, 255, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
    uint64_t bits = igi_tensor_sample_bits(m);
    return bits % 2 ? extremes[bits / 2 % LENGTH(extremes)] : (int64_t)(bits >> 60);
}

static void put(igi_tensor_sample_maker *m, ig_type type, char *element) {
    bool special = m->spec->values == IGI_VALUES_SPECIAL && !m->tame;
    if (igi_tensor_is_float(type)) {
        double value = special ? special_float(m) : next_value(m);
        igi_tensor_store_doubles(type, element, 0, 1, &value);
    } else {
        int64_t value = special ? special_integer(m) : (int64_t)(igi_tensor_sample_bits(m) % 17) - 8;
        if (type == IG_TYPE_BOOL) value = (int64_t)(igi_tensor_sample_bits(m) & 1);
        igi_tensor_store_integers(type, element, 0, 1, &value);
    }
}

// As for sums: extremes far from 1 would only show where nested functions lose their digits.
void igi_tensor_sample_fill(ig_type type, uint64_t seed, uint64_t count, char *elements) {
    const igi_tensor_sample_spec spec = {.op = IG_OP_SUM, .type = type, .values = IGI_VALUES_SPECIAL};
    igi_tensor_sample_maker maker = {.spec = &spec, .random = seed};
    for (uint64_t i = 0; i < count; i++) put(&maker, type, elements + i * ig_type_size(type));
}

// ---- Layouts ----

// Allocates memory in which a view of this shape has the layout.
static ig_status lay_out(ig_device *device, ig_type type, const ig_shape *s, igi_tensor_sample_layout layout,
                         igi_tensor_view *view) {
    uint64_t lengths[IG_MAX_RANK + 1], count;
    bool transposed = layout == IGI_LAYOUT_TRANSPOSED, padded = layout == IGI_LAYOUT_PADDED && s->rank;
    for (uint32_t i = 0; i < s->rank; i++) lengths[i] = s->lengths[transposed ? s->rank - 1 - i : i];
    if (padded) lengths[s->rank - 1] = 2 * lengths[s->rank - 1] + 1;
    uint64_t size = ig_type_size(type);
    if (!igi_tensor_shape_count(s->rank, lengths, size, &count)) return IG_STATUS_OVERFLOW;
    igi_tensor_view memory = igi_tensor_view_contiguous(type, s->rank, lengths), result = memory;
    for (uint32_t i = 0; i < s->rank; i++) {
        result.shape[i] = s->lengths[i];
        result.strides[i] = memory.strides[transposed ? s->rank - 1 - i : i];
    }
    if (padded) result.strides[s->rank - 1] = 2;
    if (padded && count) result.offset = size;
    for (uint32_t i = 0; i < s->rank && layout == IGI_LAYOUT_REVERSED && count; i++) {
        result.offset += (uint64_t)((int64_t)(result.shape[i] - 1) * result.strides[i]) * size;
        result.strides[i] = -result.strides[i];
    }
    ig_status status = igi_tensor_storage_make(device, count * size, &result.storage);
    if (status == IG_STATUS_OK) *view = result;
    return status;
}

static uint64_t memory_bytes(const igi_tensor_view *view) {
    return ig_buffer_length(view->storage->buffer);
}

// ---- Inputs and outputs ----

static igi_tensor_view *add_input(igi_tensor_sample_maker *m, ig_type type, const ig_shape *shape) {
    assert(m->sample->call.input_count < IGI_MAX_INPUTS);
    igi_tensor_view *view = &m->sample->call.in[m->sample->call.input_count];
    igi_tensor_sample_layout layout = m->spec->layout == IGI_LAYOUT_REPEATED ? IGI_LAYOUT_CONTIGUOUS : m->spec->layout;
    if (m->status == IG_STATUS_OK) m->status = lay_out(m->device, type, shape, layout, view);
    if (m->status != IG_STATUS_OK) return NULL;
    m->sample->call.input_count++;
    return view;
}

igi_tensor_view *igi_tensor_sample_input(igi_tensor_sample_maker *m, ig_type type, const ig_shape *shape,
                                         bool repeats) {
    igi_tensor_view *view = add_input(m, type, shape);
    if (!view) return NULL;
    uint64_t size = ig_type_size(type), count = memory_bytes(view) / size;
    for (uint64_t i = 0; i < count; i++) put(m, type, view->storage->memory + i * size);
    if (repeats && view->rank) view->strides[0] = 0;
    return view;
}

void igi_tensor_sample_absent_input(igi_tensor_sample_maker *m) {
    if (m->status == IG_STATUS_OK) m->sample->call.input_count++;
}

static char *element_at(const igi_tensor_view *view, uint64_t position) {
    int64_t at = 0;
    for (uint32_t i = view->rank; i-- > 0; position /= view->shape[i])
        at += (int64_t)(position % view->shape[i]) * igi_tensor_view_stride_bytes(view, i);
    return igi_tensor_view_data(view) + at;
}

void igi_tensor_sample_index(igi_tensor_sample_maker *m, ig_type type, const ig_shape *shape, uint32_t axis,
                             uint64_t length, bool distinct) {
    const igi_tensor_view *view = add_input(m, type, shape);
    if (!view) return;
    uint64_t count = igi_tensor_view_count(view), inner = 1;
    for (uint32_t i = axis + 1; i < view->rank; i++) inner *= view->shape[i];
    for (uint64_t i = 0; i < count; i++) {
        uint64_t along = i / inner % view->shape[axis];
        int64_t index = (int64_t)(distinct ? along : igi_tensor_sample_bits(m) % length);
        if (distinct) index = (int64_t)length - 1 - index;
        if (igi_tensor_sample_bits(m) % 4 == 0) index -= (int64_t)length;
        igi_tensor_store_integers(type, element_at(view, i), 0, 1, &index);
    }
}

void igi_tensor_sample_output(igi_tensor_sample_maker *m, ig_type type, const ig_shape *shape) {
    igi_tensor_sample *sample = m->sample;
    uint32_t index = sample->call.output_count;
    assert(index < IGI_MAX_OUTPUTS);
    igi_tensor_sample_layout layout = m->spec->layout == IGI_LAYOUT_PADDED ? IGI_LAYOUT_PADDED : IGI_LAYOUT_CONTIGUOUS;
    igi_tensor_view first, second;
    if (m->status == IG_STATUS_OK) m->status = lay_out(m->device, type, shape, layout, &first);
    if (m->status != IG_STATUS_OK) return;
    m->status = lay_out(m->device, type, shape, layout, &second);
    if (m->status != IG_STATUS_OK) {
        igi_tensor_storage_release(first.storage);
        return;
    }
    // Both start with the same contents, so that bytes between the elements can be compared too.
    memset(first.storage->memory, 0xa5, memory_bytes(&first));
    memset(second.storage->memory, 0xa5, memory_bytes(&second));
    sample->call.out[index] = first;
    sample->again[index] = second;
    sample->call.output_count++;
}

// ---- Shapes ----

const ig_shape igi_tensor_elementwise_shapes[IGI_ELEMENTWISE_SHAPES] = {
    {1, {257}},
    {3, {3, 5, 33}},
    {1, {1}},
    {1, {0}},
    {1, {31}},
    {1, {33}},
    {0, {0}},
    {2, {0, 4}},
    {2, {31, 17}},
    {4, {2, 3, 4, 5}},
    {8, {2, 1, 2, 1, 3, 1, 2, 2}},
    {1, {4099}},
    {2, {65, 129}},
};

uint32_t igi_tensor_elementwise_rank(uint32_t shape) {
    return igi_tensor_elementwise_shapes[shape].rank;
}

const struct igi_tensor_line_shape igi_tensor_line_shapes[IGI_LINE_SHAPES] = {
    {{1, {257}}, 0},         {{2, {33, 31}}, 1},  {{3, {5, 33, 7}}, 1}, {{1, {1}}, 0},
    {{2, {31, 33}}, 0},      {{2, {0, 5}}, 1},    {{2, {5, 0}}, 1},     {{2, {3, 1025}}, 1},
    {{4, {2, 3, 4, 65}}, 3}, {{2, {1025, 3}}, 0}, {{2, {7, 16}}, 1},    {{2, {2, 5003}}, 1},
};

uint32_t igi_tensor_line_rank(uint32_t shape) {
    return igi_tensor_line_shapes[shape].in.rank;
}

// ---- Samples ----

uint32_t igi_tensor_sample_shapes(ig_op op) {
    return igi_ops[op]->samples->shapes;
}

bool igi_tensor_sample_applies(const igi_tensor_sample_spec *spec) {
    const igi_tensor_sample_set *set = igi_ops[spec->op]->samples;
    assert(spec->shape < set->shapes);
    uint32_t rank = set->rank_of ? set->rank_of(spec->shape) : set->rank;
    ig_type operand, result;
    if (!igi_tensor_type_in(spec->type, set->types ? set->types : IGI_ANY_TYPE)) return false;
    igi_op_types(spec->op, spec->type, &operand, &result);
    if (operand != spec->type) return false;
    if (igi_ops[spec->op]->inputs == 0) return spec->layout <= IGI_LAYOUT_PADDED && spec->values == IGI_VALUES_RANDOM;
    return spec->layout == IGI_LAYOUT_CONTIGUOUS || rank > (spec->layout == IGI_LAYOUT_TRANSPOSED ? 1 : 0);
}

ig_status igi_tensor_sample_make(ig_device *device, const igi_tensor_sample_spec *spec, igi_tensor_sample *sample) {
    *sample = (igi_tensor_sample){.scale = 1};
    igi_tensor_sample_maker m = {.device = device, .spec = spec, .sample = sample};
    m.random = (uint64_t)spec->op * 1000003 + (uint64_t)spec->shape * 1009 + (uint64_t)spec->type * 31 + spec->values;
    sample->call.op = spec->op;
    ig_type operand, result;
    igi_op_types(spec->op, spec->type, &operand, &result);
    igi_ops[spec->op]->samples->make(&m, operand, result);
    if (m.status != IG_STATUS_OK) igi_tensor_sample_free(sample);
    return m.status;
}

void igi_tensor_sample_free(igi_tensor_sample *sample) {
    for (uint32_t i = 0; i < sample->call.input_count; i++) igi_tensor_storage_release(sample->call.in[i].storage);
    for (uint32_t i = 0; i < sample->call.output_count; i++) {
        igi_tensor_storage_release(sample->call.out[i].storage);
        igi_tensor_storage_release(sample->again[i].storage);
    }
    *sample = (igi_tensor_sample){0};
}
