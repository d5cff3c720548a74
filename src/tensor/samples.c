// SPDX-License-Identifier: Apache-2.0
// Making sample calls.
#include "tensor/samples.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "tensor/op-table.h"

typedef struct shape {
    uint32_t rank;
    uint64_t lengths[IG_MAX_RANK];
} shape;

// ---- Shapes of each family; the first IGI_VALIDATION_SHAPES are tried on every machine ----

static const shape elementwise_shapes[] = {
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

// Shape and which axes are reduced.
static const struct {
    shape in;
    uint32_t axes;
} reduce_shapes[] = {
    {{1, {257}}, 1},      {{2, {33, 31}}, 2},
    {{3, {5, 33, 7}}, 2}, {{1, {1}}, 1},
    {{2, {31, 33}}, 1},   {{3, {4, 5, 6}}, 5},
    {{3, {4, 5, 6}}, 7},  {{4, {2, 3, 4, 5}}, 6},
    {{2, {0, 5}}, 2},     {{2, {5, 1}}, 2},
    {{1, {4099}}, 1},     {{2, {3, 1025}}, 2},
    {{2, {1025, 3}}, 1},  {{8, {1, 2, 1, 2, 1, 3, 1, 33}}, 0xf0},
};

// Batch, rows, inner, columns; and which of the operands lack the batch.
static const struct {
    uint64_t batch, rows, inner, columns;
    bool a_repeats, b_repeats, adds;
    double alpha, beta;
} matmul_shapes[] = {
    {1, 33, 31, 17, false, false, false, 1, 1},   {3, 8, 16, 24, false, true, true, 2, -1},
    {1, 1, 257, 1, false, false, false, 1, 1},    {1, 1, 1, 1, false, false, false, 1, 1},
    {1, 31, 33, 1, false, false, false, 1, 1},    {1, 1, 33, 31, false, false, false, 1, 1},
    {1, 65, 1, 67, false, false, false, 1, 1},    {1, 0, 5, 3, false, false, false, 1, 1},
    {1, 4, 0, 3, false, false, true, 1, 1},       {2, 64, 64, 64, true, false, false, 1, 1},
    {1, 129, 65, 33, false, false, true, 1, 0},   {4, 5, 7, 3, true, true, true, 1, 2},
    {1, 97, 300, 101, false, false, false, 1, 1},
};

#define LENGTH(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

uint32_t igi_sample_shapes(ig_op op) {
    switch (igi_ops[op].family) {
        case IGI_FAMILY_REDUCE: return LENGTH(reduce_shapes);
        case IGI_FAMILY_MATMUL: return LENGTH(matmul_shapes);
        default: return LENGTH(elementwise_shapes);
    }
}

// ---- Values ----

typedef struct numbers {
    uint64_t state;
} numbers;

// SplitMix64 (Steele, Lea, Flood, 2014).
static uint64_t next_bits(numbers *r) {
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

// In [-2, 2), mostly around 0.
static double next_value(numbers *r) {
    double u = (double)(next_bits(r) >> 11) * 0x1p-53, v = (double)(next_bits(r) >> 11) * 0x1p-53;
    return 2 * (u + v) - 2;
}

static bool accumulates(ig_op op) {
    igi_family family = igi_ops[op].family;
    bool chooses = op == IG_OP_MAX || op == IG_OP_MIN || op == IG_OP_ARGMAX || op == IG_OP_ARGMIN;
    return (family == IGI_FAMILY_REDUCE && !chooses) || family == IGI_FAMILY_MATMUL || family == IGI_FAMILY_NORMALIZE ||
           family == IGI_FAMILY_SCAN || family == IGI_FAMILY_CONVOLVE;
}

// Sums of extremes overflow in some orders of adding and not in others.
static double special_float(numbers *r, ig_op op) {
    static const double gentle[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, FLT_TRUE_MIN, -1e-40};
    static const double any[] = {NAN,  INFINITY, -INFINITY, 0.0,      -0.0, FLT_TRUE_MIN, -1e-40, FLT_MIN,
                                 -1.0, 1.0,      0.5,       -FLT_MAX, 10.0, -10.0,        90.0,   -90.0,
                                 1e4,  -3e-3,    65504.0,   6e-8,     2.5,  3.5,          -0.5,   FLT_MAX};
    uint64_t bits = next_bits(r);
    if (accumulates(op)) return bits % 40 == 0 ? gentle[bits / 40 % LENGTH(gentle)] : next_value(r);
    return bits % 2 ? any[bits / 2 % LENGTH(any)] : next_value(r) * 8;
}

static int64_t special_integer(numbers *r, ig_type type) {
    static const int64_t extremes[] = {0, 1, -1, 127, -128, 255, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
    uint64_t bits = next_bits(r);
    return bits % 2 && type != IG_TYPE_BOOL ? extremes[bits / 2 % LENGTH(extremes)] : (int64_t)(bits >> 60);
}

static void put(numbers *r, const igi_sample_spec *spec, ig_type type, char *element) {
    bool special = spec->values == IGI_VALUES_SPECIAL;
    if (igi_is_float(type)) {
        double value = special ? special_float(r, spec->op) : next_value(r);
        igi_store_doubles(type, element, 0, 1, &value);
    } else {
        int64_t value = special ? special_integer(r, type) : (int64_t)(next_bits(r) % 17) - 8;
        if (type == IG_TYPE_BOOL) value &= 1;
        igi_store_integers(type, element, 0, 1, &value);
    }
}

// ---- Views ----

// Memory in which a view of this shape has the layout.
static ig_status lay_out(ig_device *device, ig_type type, const shape *s, igi_sample_layout layout, igi_view *view) {
    uint64_t lengths[IG_MAX_RANK + 1], count;
    bool transposed = layout == IGI_LAYOUT_TRANSPOSED, padded = layout == IGI_LAYOUT_PADDED;
    for (uint32_t i = 0; i < s->rank; i++) lengths[i] = s->lengths[transposed ? s->rank - 1 - i : i];
    if (padded && s->rank) lengths[s->rank - 1] = 2 * lengths[s->rank - 1] + 1;
    uint64_t size = ig_type_size(type);
    if (!igi_shape_count(s->rank, lengths, size, &count)) return IG_STATUS_OVERFLOW;
    igi_view memory = igi_view_contiguous(type, s->rank, lengths), result = memory;
    for (uint32_t i = 0; i < s->rank; i++) {
        result.shape[i] = s->lengths[i];
        result.strides[i] = memory.strides[transposed ? s->rank - 1 - i : i];
    }
    if (padded && s->rank) result.strides[s->rank - 1] = 2;
    if (padded && s->rank && count) result.offset = size;
    for (uint32_t i = 0; i < s->rank && layout == IGI_LAYOUT_REVERSED && count; i++) {
        result.offset += (uint64_t)((int64_t)(result.shape[i] - 1) * result.strides[i]) * size;
        result.strides[i] = -result.strides[i];
    }
    ig_status status = igi_storage_make(device, count * size, &result.storage);
    if (status == IG_STATUS_OK) *view = result;
    return status;
}

static uint64_t memory_bytes(const igi_view *view) {
    return ig_buffer_length(view->storage->buffer);
}

typedef struct maker {
    ig_device *device;
    const igi_sample_spec *spec;
    igi_sample *sample;
    numbers numbers;
    ig_status status;
} maker;

static void add_input(maker *m, ig_type type, const shape *s, bool repeats) {
    if (m->status != IG_STATUS_OK) return;
    igi_view *view = &m->sample->call.in[m->sample->call.input_count];
    igi_sample_layout layout = m->spec->layout == IGI_LAYOUT_REPEATED ? IGI_LAYOUT_CONTIGUOUS : m->spec->layout;
    m->status = lay_out(m->device, type, s, layout, view);
    if (m->status != IG_STATUS_OK) return;
    m->sample->call.input_count++;
    uint64_t size = ig_type_size(type), count = memory_bytes(view) / size;
    for (uint64_t i = 0; i < count; i++) put(&m->numbers, m->spec, type, view->storage->memory + i * size);
    if (repeats && view->rank) view->strides[0] = 0;
}

static void add_output(maker *m, ig_type type, const shape *s) {
    if (m->status != IG_STATUS_OK) return;
    igi_sample *sample = m->sample;
    uint32_t index = sample->call.output_count;
    igi_sample_layout layout = m->spec->layout == IGI_LAYOUT_PADDED ? IGI_LAYOUT_PADDED : IGI_LAYOUT_CONTIGUOUS;
    igi_view first, second;
    m->status = lay_out(m->device, type, s, layout, &first);
    if (m->status != IG_STATUS_OK) return;
    m->status = lay_out(m->device, type, s, layout, &second);
    if (m->status != IG_STATUS_OK) {
        igi_storage_release(first.storage);
        return;
    }
    // Both start alike, so that bytes beside the elements can be compared too.
    memset(first.storage->memory, 0xa5, memory_bytes(&first));
    memset(second.storage->memory, 0xa5, memory_bytes(&second));
    sample->call.out[index] = first;
    sample->again[index] = second;
    sample->call.output_count++;
}

// ---- Families ----

static void make_elementwise(maker *m, ig_type operand, ig_type result) {
    const shape *s = &elementwise_shapes[m->spec->shape];
    ig_op op = m->spec->op;
    igi_parameters *p = &m->sample->call.p;
    bool repeated = m->spec->layout == IGI_LAYOUT_REPEATED;
    uint32_t inputs = igi_ops[op].inputs;
    for (uint32_t i = 0; i < inputs; i++)
        add_input(m, op == IG_OP_WHERE && i == 0 ? IG_TYPE_BOOL : operand, s, repeated && i + 1 == inputs);
    if (op == IG_OP_CLAMP) p->elementwise.low = -1.25, p->elementwise.high = 3.5;
    if (op == IG_OP_LEAKY_RELU) p->elementwise.slope = 0.01;
    add_output(m, result, s);
}

static void make_reduce(maker *m, ig_type operand, ig_type result) {
    shape in = reduce_shapes[m->spec->shape].in, out = in;
    uint32_t axes = reduce_shapes[m->spec->shape].axes;
    for (uint32_t i = 0; i < in.rank; i++) {
        if (!(axes >> i & 1)) continue;
        m->sample->scale *= (double)in.lengths[i];
        out.lengths[i] = 1;
    }
    m->sample->call.p.reduce.axes = axes;
    m->sample->call.p.reduce.order = 2;
    add_input(m, operand, &in, m->spec->layout == IGI_LAYOUT_REPEATED);
    add_output(m, result, &out);
}

static void make_matmul(maker *m, ig_type operand, ig_type result) {
    uint32_t i = m->spec->shape;
    uint64_t batch = matmul_shapes[i].batch, rows = matmul_shapes[i].rows, inner = matmul_shapes[i].inner,
             columns = matmul_shapes[i].columns;
    bool repeated = m->spec->layout == IGI_LAYOUT_REPEATED;
    add_input(m, operand, &(shape){3, {batch, rows, inner}}, matmul_shapes[i].a_repeats || repeated);
    add_input(m, operand, &(shape){3, {batch, inner, columns}}, matmul_shapes[i].b_repeats);
    if (matmul_shapes[i].adds)
        add_input(m, result, &(shape){3, {batch, rows, columns}}, false);
    else
        m->sample->call.input_count++;  // absent
    m->sample->call.p.matmul.alpha = matmul_shapes[i].alpha;
    m->sample->call.p.matmul.beta = matmul_shapes[i].beta;
    m->sample->scale = (double)inner + 1;
    add_output(m, result, &(shape){3, {batch, rows, columns}});
}

// ---- Making ----

// Casts are tried to one other type of each kind, which the shape decides.
static ig_type cast_target(ig_type from, uint32_t variant) {
    static const ig_type all[] = {IG_TYPE_F32, IG_TYPE_I32, IG_TYPE_F16, IG_TYPE_BF16,
                                  IG_TYPE_U8,  IG_TYPE_I64, IG_TYPE_I8,  IG_TYPE_BOOL};
    return all[(variant + (uint32_t)from) % LENGTH(all)];
}

bool igi_sample_applies(const igi_sample_spec *spec) {
    ig_type operand, result;
    if (!igi_type_in(spec->type, IGI_ANY_TYPE)) return false;
    igi_op_types(spec->op, spec->type, &operand, &result);
    if (operand != spec->type) return false;
    if (spec->layout == IGI_LAYOUT_CONTIGUOUS) return true;
    if (igi_ops[spec->op].family == IGI_FAMILY_REDUCE) return true;
    if (igi_ops[spec->op].family == IGI_FAMILY_MATMUL) return true;
    return elementwise_shapes[spec->shape].rank > (spec->layout == IGI_LAYOUT_TRANSPOSED ? 1 : 0);
}

ig_status igi_sample_make(ig_device *device, const igi_sample_spec *spec, igi_sample *sample) {
    *sample = (igi_sample){.scale = 1};
    maker m = {.device = device, .spec = spec, .sample = sample};
    m.numbers.state = (uint64_t)spec->op * 1000003 + spec->shape * 1009 + (uint64_t)spec->type * 31 + spec->values;
    sample->call.op = spec->op;
    ig_type operand, result;
    igi_op_types(spec->op, spec->type, &operand, &result);
    if (spec->op == IG_OP_CAST) result = cast_target(spec->type, spec->shape);
    switch (igi_ops[spec->op].family) {
        case IGI_FAMILY_REDUCE: make_reduce(&m, operand, result); break;
        case IGI_FAMILY_MATMUL: make_matmul(&m, operand, result); break;
        default: make_elementwise(&m, operand, result); break;
    }
    if (m.status != IG_STATUS_OK) igi_sample_free(sample);
    return m.status;
}

void igi_sample_free(igi_sample *sample) {
    for (uint32_t i = 0; i < sample->call.input_count; i++) igi_storage_release(sample->call.in[i].storage);
    for (uint32_t i = 0; i < sample->call.output_count; i++) {
        igi_storage_release(sample->call.out[i].storage);
        igi_storage_release(sample->again[i].storage);
    }
    *sample = (igi_sample){0};
}
