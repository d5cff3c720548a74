// SPDX-License-Identifier: Apache-2.0
// Attention without a score matrix: blocks of queries times blocks of keys, with softmax computed block by block.
//
// The rows of a job are the queries of all heads of one key head. Many rows become columns of vectors, so that neither
// keys nor values need to be transposed and softmax works down the columns; few rows are processed one by one along the
// elements, at the speed of memory.
#include <math.h>
#include <string.h>

#include "tensor/nn/nn.h"
#include "tensor/nn/simd/kernels.h"

// Whole vectors of every level, and tiles of three; blocks that stay in the second-level cache.
enum { BLOCK_ROWS = 96, BLOCK_KEYS = 128, FEW_ROWS = 16, FEW_KEYS = 64, MAX_HEADS = 6 };

// Elements of keys, and as many of values, that a fast core processes in a nanosecond.
enum { KEPT_PER_NS = 16 };

typedef struct job {
    const igi_tensor_call *call;
    const igi_simd_kernels *k;
    const igi_nn_kernels *n;
    uint64_t group, dim, value_dim;
    uint64_t rows, blocks;  // rows of a key head, and blocks of them
    atomic_int status;
} job;

// One block of rows of one key head, and its memory.
typedef struct part {
    const job *j;
    uint64_t batch, key_head, first, rows;
    uint64_t columns;            // rows, rounded up to whole vectors
    igi_tensor_key_range *seen;  // by row
    igi_tensor_key_range all;    // what any row sees
    float *q, *keys, *values, *scores, *out, *most, *sum, *rescale;
    int32_t *begin, *end;
} part;

static uint64_t scratch_floats(const job *j) {
    uint64_t rows = BLOCK_ROWS;
    return rows * (j->dim + j->value_dim) + BLOCK_KEYS * (j->dim + j->value_dim + rows) + rows * 5 +
           rows * sizeof(igi_tensor_key_range) / sizeof(float);
}

static void divide_scratch(part *p, float *at) {
    const job *j = p->j;
    p->seen = (igi_tensor_key_range *)at, at += BLOCK_ROWS * sizeof *p->seen / sizeof *at;
    p->most = at, at += BLOCK_ROWS;
    p->sum = at, at += BLOCK_ROWS;
    p->rescale = at, at += BLOCK_ROWS;
    p->begin = (int32_t *)at, at += BLOCK_ROWS;
    p->end = (int32_t *)at, at += BLOCK_ROWS;
    p->q = at, at += BLOCK_ROWS * j->dim;
    p->out = at, at += BLOCK_ROWS * j->value_dim;
    p->keys = at, at += BLOCK_KEYS * j->dim;
    p->values = at, at += BLOCK_KEYS * j->value_dim;
    p->scores = at;
}

// ---- Operands ----

// Where the elements of a row of q or of the result begin.
static char *row_at(const part *p, const igi_tensor_view *view, uint64_t row) {
    uint64_t query = (p->first + row) / p->j->group, head = p->key_head * p->j->group + (p->first + row) % p->j->group;
    return igi_tensor_view_data(view) + (int64_t)p->batch * igi_tensor_view_stride_bytes(view, 0) +
           (int64_t)query * igi_tensor_view_stride_bytes(view, 1) +
           (int64_t)head * igi_tensor_view_stride_bytes(view, 2);
}

static const char *key_at(const part *p, const igi_tensor_view *view, uint64_t key) {
    return igi_tensor_view_data(view) + (int64_t)p->batch * igi_tensor_view_stride_bytes(view, 0) +
           (int64_t)igi_tensor_key_slot(p->j->call, key) * igi_tensor_view_stride_bytes(view, 1) +
           (int64_t)p->key_head * igi_tensor_view_stride_bytes(view, 2);
}

static void load_row(const part *p, const igi_tensor_view *view, const char *from, float *to) {
    igi_simd_load_all(p->j->k, view->type, from, igi_tensor_view_stride_bytes(view, 3), view->shape[3], to);
}

static void load_keys(const part *p, const igi_tensor_view *view, uint64_t key, uint64_t count, float *to) {
    for (uint64_t t = 0; t < count; t++, to += view->shape[3]) load_row(p, view, key_at(p, view, key + t), to);
}

// Keys or values of a block: in place if rows are contiguous and do not wrap around, else as packed floats.
static void find_keys(const part *p, const igi_tensor_view *view, uint64_t key, uint64_t count, float *scratch,
                      igi_nn_few *few) {
    const char *first = key_at(p, view, key), *last = key_at(p, view, key + count - 1);
    bool straight = last == first + (int64_t)(count - 1) * igi_tensor_view_stride_bytes(view, 1);
    few->keys = count;
    few->dim = view->shape[3];
    if (straight && view->strides[3] == 1) {
        few->type = view->type, few->kept = first, few->kept_row = view->strides[1];
        return;
    }
    load_keys(p, view, key, count, scratch);
    few->type = IG_TYPE_F32, few->kept = scratch, few->kept_row = (int64_t)view->shape[3];
}

static void find_seen(part *p) {
    p->all = (igi_tensor_key_range){UINT64_MAX, 0};
    for (uint64_t r = 0; r < p->rows; r++) {
        igi_tensor_key_range seen =
            igi_tensor_visible_keys(&p->j->call->p, (p->first + r) / p->j->group, p->j->call->p.attend.keys);
        p->seen[r] = seen;
        if (seen.begin == seen.end) continue;
        if (seen.begin < p->all.begin) p->all.begin = seen.begin;
        if (seen.end > p->all.end) p->all.end = seen.end;
    }
    if (p->all.begin > p->all.end) p->all.begin = p->all.end;
}

static float inverse(float sum) {
    return sum == 0 ? 0 : 1 / sum;
}

// ---- Many rows ----

// Queries as columns: q[i][row], scaled. `row` is a line of scratch.
static void load_columns(const part *p, float *row) {
    float scale = (float)p->j->call->p.attend.scale;
    memset(p->q, 0, p->j->dim * p->columns * sizeof *p->q);
    for (uint64_t r = 0; r < p->rows; r++) {
        load_row(p, &p->j->call->in[0], row_at(p, &p->j->call->in[0], r), row);
        for (uint64_t i = 0; i < p->j->dim; i++) p->q[i * p->columns + r] = row[i] * scale;
    }
}

// Which keys of the block each column sees; false if all see all of it.
static bool limit_columns(const part *p, uint64_t key, uint64_t count) {
    bool limited = false;
    for (uint64_t r = 0; r < p->columns; r++) {
        igi_tensor_key_range seen = r < p->rows ? p->seen[r] : (igi_tensor_key_range){0, UINT64_MAX};
        uint64_t begin = seen.begin > key ? seen.begin - key : 0, end = seen.end > key ? seen.end - key : 0;
        p->begin[r] = (int32_t)(begin < count ? begin : count);
        p->end[r] = (int32_t)(end < count ? end : count);
        limited = limited || p->begin[r] > 0 || p->end[r] < (int32_t)count;
    }
    return limited;
}

static void add_block(const part *p, uint64_t key, uint64_t count) {
    const job *j = p->j;
    int64_t columns = (int64_t)p->columns, dim = (int64_t)j->dim, value_dim = (int64_t)j->value_dim;
    load_keys(p, &j->call->in[1], key, count, p->keys);
    j->n->product(&(igi_nn_product){.inner = j->dim,
                                    .a = p->keys,
                                    .a_row = dim,
                                    .a_step = 1,
                                    .b = p->q,
                                    .b_row = columns,
                                    .out = p->scores,
                                    .out_row = columns},
                  count, p->columns);
    bool limited = limit_columns(p, key, count);
    j->n->soften(&(igi_nn_block){.keys = count,
                                 .columns = p->columns,
                                 .scores = p->scores,
                                 .begin = limited ? p->begin : NULL,
                                 .end = p->end,
                                 .most = p->most,
                                 .sum = p->sum,
                                 .rescale = p->rescale});
    load_keys(p, &j->call->in[2], key, count, p->values);
    j->n->product(&(igi_nn_product){.inner = count,
                                    .a = p->values,
                                    .a_row = 1,
                                    .a_step = value_dim,
                                    .b = p->scores,
                                    .b_row = columns,
                                    .out = p->out,
                                    .out_row = columns,
                                    .rescale = p->rescale},
                  j->value_dim, p->columns);
}

static void do_many(const part *p) {
    const igi_tensor_view *out = &p->j->call->out[0];
    load_columns(p, p->scores);
    for (uint64_t r = 0; r < p->columns; r++) p->most[r] = -INFINITY, p->sum[r] = 0;
    memset(p->out, 0, p->j->value_dim * p->columns * sizeof *p->out);
    for (uint64_t key = p->all.begin; key < p->all.end; key += BLOCK_KEYS)
        add_block(p, key, p->all.end - key < BLOCK_KEYS ? p->all.end - key : BLOCK_KEYS);
    float *row = p->scores;
    for (uint64_t r = 0; r < p->rows; r++) {
        float scale = inverse(p->sum[r]);
        for (uint64_t i = 0; i < p->j->value_dim; i++) row[i] = p->out[i * p->columns + r] * scale;
        igi_simd_store_all(p->j->k, out->type, row, row_at(p, out, r), igi_tensor_view_stride_bytes(out, 3),
                           out->shape[3]);
    }
}

// ---- Few rows ----

static void soften_row(const part *p, uint64_t r, uint64_t key, uint64_t count) {
    const job *j = p->j;
    float *scores = p->scores + r * FEW_KEYS, *out = p->out + r * j->value_dim;
    bool limited = key < p->seen[r].begin || key + count > p->seen[r].end;
    for (uint64_t t = 0; t < count && limited; t++)
        if (key + t < p->seen[r].begin || key + t >= p->seen[r].end) scores[t] = -INFINITY;
    float before = p->most[r], here = j->k->largest(count, scores), most = here > before || isnan(here) ? here : before;
    float shift = most == -INFINITY ? 0 : most, rescale = expf(before - shift);
    p->sum[r] = p->sum[r] * rescale + j->n->exponentials(count, scores, shift);
    p->most[r] = most;
    if (most == before) return;
    j->k->scale_row(j->value_dim, out, 0, rescale, 0, NULL, NULL, out);
}

static void add_few(const part *p, uint64_t key, uint64_t count) {
    const job *j = p->j;
    igi_nn_few few = {.rows = p->rows, .q = p->q, .scores = p->scores, .scores_row = FEW_KEYS, .out = p->out};
    find_keys(p, &j->call->in[1], key, count, p->keys, &few);
    j->n->few_scores(&few);
    for (uint64_t r = 0; r < p->rows; r++) soften_row(p, r, key, count);
    find_keys(p, &j->call->in[2], key, count, p->values, &few);
    j->n->few_sums(&few);
}

static void begin_few(const part *p) {
    const job *j = p->j;
    const igi_tensor_view *q = &j->call->in[0];
    for (uint64_t r = 0; r < p->rows; r++) {
        float *row = p->q + r * j->dim;
        load_row(p, q, row_at(p, q, r), row);
        if (j->dim) j->k->scale_row(j->dim, row, 0, (float)j->call->p.attend.scale, 0, NULL, NULL, row);
        p->most[r] = -INFINITY, p->sum[r] = 0;
    }
    memset(p->out, 0, p->rows * j->value_dim * sizeof *p->out);
}

static void end_few(const part *p) {
    const job *j = p->j;
    const igi_tensor_view *out = &j->call->out[0];
    for (uint64_t r = 0; r < p->rows; r++) {
        float *row = p->out + r * j->value_dim;
        j->k->scale_row(j->value_dim, row, 0, inverse(p->sum[r]), 0, NULL, NULL, row);
        igi_simd_store_all(j->k, out->type, row, row_at(p, out, r), igi_tensor_view_stride_bytes(out, 3),
                           out->shape[3]);
    }
}

// The part of a key head `heads` further on.
static part further(const part *p, uint64_t heads) {
    part next = *p;
    next.key_head += heads;
    next.q += heads * p->rows * p->j->dim;
    next.out += heads * p->rows * p->j->value_dim;
    next.most += heads * p->rows;
    next.sum += heads * p->rows;
    return next;
}

// Heads that are adjacent in memory go through the keys together.
static void do_few(const part *p, uint64_t heads) {
    part parts[MAX_HEADS];
    for (uint64_t h = 0; h < heads; h++) {
        parts[h] = further(p, h);
        begin_few(&parts[h]);
    }
    for (uint64_t key = p->all.begin; key < p->all.end; key += FEW_KEYS)
        for (uint64_t h = 0; h < heads; h++)
            add_few(&parts[h], key, p->all.end - key < FEW_KEYS ? p->all.end - key : FEW_KEYS);
    for (uint64_t h = 0; h < heads; h++) end_few(&parts[h]);
}

// ---- All ----

// The number of parts, of `left`, that can run together in the available memory.
static uint64_t heads_together(const part *p, uint64_t left) {
    uint64_t heads = p->j->call->in[1].shape[2] - p->key_head, most = BLOCK_ROWS / p->rows;
    if (p->j->blocks > 1) return 1;
    heads = heads < left ? heads : left;
    heads = heads < most ? heads : most;
    return heads < MAX_HEADS ? heads : MAX_HEADS;
}

static void do_parts(void *user, uint64_t begin, uint64_t end) {
    job *j = user;
    igi_tensor_storage *scratch = NULL;
    ig_status status = igi_tensor_storage_make(j->call->runtime->device, scratch_floats(j) * sizeof(float), &scratch);
    if (status != IG_STATUS_OK) {
        atomic_store(&j->status, status);
        return;
    }
    uint64_t key_heads = j->call->in[1].shape[2];
    for (uint64_t i = begin, heads = 1; i < end; i += heads) {
        part p = {.j = j, .batch = i / j->blocks / key_heads, .key_head = i / j->blocks % key_heads};
        p.first = i % j->blocks * BLOCK_ROWS;
        p.rows = j->rows - p.first < BLOCK_ROWS ? j->rows - p.first : BLOCK_ROWS;
        p.columns = igi_round_up(p.rows, j->k->lanes);
        divide_scratch(&p, (float *)scratch->memory);
        find_seen(&p);
        heads = p.rows < FEW_ROWS ? heads_together(&p, end - i) : 1;
        if (p.rows < FEW_ROWS)
            do_few(&p, heads);
        else
            do_many(&p);
    }
    igi_tensor_storage_release(scratch);
}

ig_status igi_simd_attention(const igi_tensor_call *call) {
    const igi_tensor_view *q = &call->in[0], *k = &call->in[1], *v = &call->in[2];
    if (igi_tensor_view_count(&call->out[0]) == 0) return IG_STATUS_OK;
    job j = {.call = call, .k = igi_simd(), .n = igi_nn_simd(), .dim = q->shape[3], .value_dim = v->shape[3]};
    j.group = q->shape[2] / k->shape[2];
    j.rows = q->shape[1] * j.group;
    j.blocks = (j.rows + BLOCK_ROWS - 1) / BLOCK_ROWS;
    uint64_t parts = q->shape[0] * k->shape[2] * j.blocks, each = j.rows / j.blocks * call->p.attend.keys * j.dim;
    uint64_t together = parts < 8 || j.rows >= FEW_ROWS ? 1 : parts < 16 ? 2 : 4;
    igi_tensor_parallel_lasting(call->runtime, parts,
                                each < IGI_SIMD_GRAIN ? IGI_SIMD_GRAIN / (each + 1) + 1 : together,
                                parts * each / KEPT_PER_NS, do_parts, &j);
    return (ig_status)atomic_load(&j.status);
}
