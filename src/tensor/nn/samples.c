// SPDX-License-Identifier: Apache-2.0
// Sample calls of transformer ops.
#include "tensor/nn/nn.h"
#include "tensor/sample-maker.h"

static const struct {
    uint64_t batch, queries, keys, heads, key_heads, dim;
    uint64_t query_position, window, start;  // start: of the keys in their ring; 0: they are all there is
    bool causal;
} shapes[IGI_ATTENTION_SAMPLES] = {
    {1, 33, 65, 4, 2, 16, 32, 0, 0, true},   {2, 1, 31, 3, 1, 32, 30, 0, 0, false},
    {1, 17, 33, 8, 1, 34, 0, 7, 0, true},    {1, 1, 1, 1, 1, 2, 0, 0, 0, true},
    {1, 0, 5, 2, 2, 8, 0, 0, 0, false},      {2, 3, 0, 2, 1, 8, 0, 0, 0, true},
    {1, 5, 257, 6, 6, 64, 100, 31, 0, true}, {1, 31, 33, 5, 1, 66, 2, 0, 0, false},
    {1, 9, 4, 7, 7, 30, 20, 3, 0, true},     {1, 1, 300, 8, 2, 128, 299, 0, 11, true},
    {1, 40, 40, 2, 2, 24, 0, 0, 3, true},    {3, 2, 130, 4, 4, 40, 128, 64, 77, true},
    {1, 100, 150, 3, 1, 48, 50, 0, 0, true}, {1, 3, 70, 4, 2, 256, 67, 0, 0, true},
    {2, 37, 40, 2, 1, 160, 3, 0, 0, true},
};

static void make_softmax(igi_sample_maker *m, ig_type operand, ig_type result) {
    uint32_t i = m->spec->shape;
    const ig_shape x = {4, {shapes[i].batch, shapes[i].heads, shapes[i].queries, shapes[i].keys}};
    m->sample->call.p.attend.scale = i % 2 ? 1 : 0.125;
    m->sample->scale = (double)shapes[i].keys + 1;
    igi_sample_input(m, operand, &x, m->spec->layout == IGI_LAYOUT_REPEATED);
    m->tame = true;  // infinities of both signs met with each other are for the tests
    if (i % 3 == 2)
        igi_sample_absent_input(m);
    else
        igi_sample_input(m, i % 3 ? IG_TYPE_BOOL : operand, &x, i % 2);
    m->tame = false;
    igi_sample_output(m, result, &x);
}

static void make_rope(igi_sample_maker *m, ig_type operand, ig_type result) {
    uint32_t i = m->spec->shape;
    const ig_shape x = {4, {shapes[i].batch, shapes[i].queries, shapes[i].heads, shapes[i].dim}};
    igi_parameters *p = &m->sample->call.p;
    m->sample->scale = 16;  // sines of rounded angles
    p->rope.base = i % 3 ? 10000 : 500000;
    p->rope.scale = i % 4 ? 1 : 0.25;
    p->rope.position = i % 2 ? 4000 : 3;
    p->rope.dims = (uint32_t)(i % 3 == 2 ? shapes[i].dim / 4 * 2 : shapes[i].dim);
    p->rope.interleaved = i % 2;
    igi_sample_input(m, operand, &x, m->spec->layout == IGI_LAYOUT_REPEATED);
    if (i % 2)
        igi_sample_absent_input(m);
    else
        igi_sample_index(m, IG_TYPE_I64, &(ig_shape){2, {shapes[i].batch, shapes[i].queries}}, 1, 100000, false);
    igi_sample_output(m, result, &x);
}

// Keys and values are also tried in halves beside float queries.
static void make_attention(igi_sample_maker *m, ig_type operand, ig_type result) {
    uint32_t i = m->spec->shape;
    uint64_t start = shapes[i].start, slots = shapes[i].keys + (start ? 5 : 0),
             value_dim = shapes[i].dim - (i % 3 == 2 ? 2 : 0);
    bool halves = operand == IG_TYPE_F32 && i % 4 == 1;
    ig_type kept = halves ? i % 8 == 1 ? IG_TYPE_F16 : IG_TYPE_BF16 : operand;
    igi_parameters *p = &m->sample->call.p;
    p->attend.keys = shapes[i].keys;
    p->attend.start = start;
    p->attend.scale = 0.25;
    m->sample->scale = 4 * (double)(shapes[i].keys + shapes[i].dim);
    m->tame = true;  // nothing times infinity is NaN, but only where it is added up at all
    igi_sample_input(m, operand, &(ig_shape){4, {shapes[i].batch, shapes[i].queries, shapes[i].heads, shapes[i].dim}},
                     m->spec->layout == IGI_LAYOUT_REPEATED);
    igi_sample_input(m, kept, &(ig_shape){4, {shapes[i].batch, slots, shapes[i].key_heads, shapes[i].dim}}, false);
    igi_sample_input(m, kept, &(ig_shape){4, {shapes[i].batch, slots, shapes[i].key_heads, value_dim}}, false);
    m->tame = false;
    igi_sample_output(m, result, &(ig_shape){4, {shapes[i].batch, shapes[i].queries, shapes[i].heads, value_dim}});
}

void igi_sample_attention(igi_sample_maker *m, ig_type operand, ig_type result) {
    igi_parameters *p = &m->sample->call.p;
    if (m->spec->op == IG_OP_ROPE) {
        make_rope(m, operand, result);
        return;
    }
    p->attend.query_position = shapes[m->spec->shape].query_position;
    p->attend.window = shapes[m->spec->shape].window;
    p->attend.causal = shapes[m->spec->shape].causal;
    (m->spec->op == IG_OP_ATTENTION ? make_attention : make_softmax)(m, operand, result);
}
