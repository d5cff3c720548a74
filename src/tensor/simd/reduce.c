// SPDX-License-Identifier: Apache-2.0
// Reductions: chunks of packed floats become summaries, and summaries are merged. If the kept dimension is contiguous
// and the reduced one is not, whole rows are added up instead.
#include <math.h>
#include <string.h>

#include "tensor/iterate.h"
#include "tensor/simd/simd.h"

// ---- Summaries ----

// Of some elements; of none if count is 0.
typedef struct summary {
    uint64_t count;
    double value;    // sum, product, extreme, squares around the mean
    double mean;     // variance
    uint64_t index;  // of the extreme, from the first element
} summary;

typedef struct reduction {
    const igi_tensor_call *call;
    const igi_simd_kernels *k;
    ig_op op;
    ig_type in;
    double order;
    igi_tensor_walk kept;     // out and in
    igi_tensor_walk reduced;  // in, relative to a kept element
} reduction;

static double precise_sum(uint64_t count, const float *a, double centre, double power) {
    double sum = 0;
    for (uint64_t i = 0; i < count; i++) {
        double x = (double)a[i] - centre;
        sum += power == 2 ? x * x : x;
    }
    return sum;
}

// Squares of very large or very small values leave float's range, but not double's.
static double squares(const igi_simd_kernels *k, uint64_t count, const float *a, double centre) {
    double sum = k->sum_of_squares(count, a, (float)centre);
    return isfinite(sum) && sum > 1e-25 * (double)count ? sum : precise_sum(count, a, centre, 2);
}

static double plain_sum(const igi_simd_kernels *k, uint64_t count, const float *a) {
    double sum = k->sum(count, a);
    return isfinite(sum) ? sum : precise_sum(count, a, 0, 1);
}

static double norm_term(const reduction *r, uint64_t count, const float *a) {
    if (r->order == 2) return squares(r->k, count, a, 0);
    if (r->order == 1) {
        double sum = r->k->sum_of_magnitudes(count, a);
        if (isfinite(sum)) return sum;
        for (uint64_t i = sum = 0; i < count; i++) sum += fabs((double)a[i]);
        return sum;
    }
    double high = (double)r->k->largest(count, a), low = (double)r->k->smallest(count, a);
    return isnan(high) ? high : fmax(fabs(high), fabs(low));
}

static bool has_zero(uint64_t count, const float *a, bool wanted) {
    for (uint64_t i = 0; i < count; i++)
        if ((a[i] == 0) == wanted) return true;
    return false;
}

static summary summarize(const reduction *r, uint64_t count, const float *a) {
    summary s = {.count = count};
    switch (r->op) {
        case IG_OP_SUM:
        case IG_OP_MEAN: s.value = plain_sum(r->k, count, a); break;
        case IG_OP_PROD: s.value = r->k->product(count, a); break;
        case IG_OP_ANY: s.value = has_zero(count, a, false); break;
        case IG_OP_ALL: s.value = !has_zero(count, a, true); break;
        case IG_OP_NORM: s.value = norm_term(r, count, a); break;
        case IG_OP_VARIANCE: {
            s.mean = plain_sum(r->k, count, a) / (double)count;
            double centre = (double)(float)s.mean, off = s.mean - centre;
            s.value = squares(r->k, count, a, centre) - (double)count * off * off;
            break;
        }
        case IG_OP_MAX:
        case IG_OP_ARGMAX: s.value = (double)r->k->largest(count, a); break;
        default: s.value = (double)r->k->smallest(count, a); break;
    }
    return s;
}

// ---- Merging ----

static bool better(const reduction *r, double x, double best) {
    if (isnan(best)) return false;
    if (isnan(x)) return true;
    return r->op == IG_OP_MAX || r->op == IG_OP_ARGMAX || r->op == IG_OP_NORM ? x > best : x < best;
}

// Chan, Golub and LeVeque, 1983.
static void merge_variance(summary *a, const summary *b) {
    double total = (double)(a->count + b->count), off = b->mean - a->mean;
    a->value += b->value + off * off * (double)a->count * (double)b->count / total;
    a->mean += off * (double)b->count / total;
}

static void merge(const reduction *r, summary *a, const summary *b) {
    if (!b->count) return;
    if (!a->count) {
        *a = *b;
        return;
    }
    switch (r->op) {
        case IG_OP_SUM:
        case IG_OP_MEAN: a->value += b->value; break;
        case IG_OP_PROD: a->value *= b->value; break;
        case IG_OP_ANY: a->value = a->value != 0 || b->value != 0; break;
        case IG_OP_ALL: a->value = a->value != 0 && b->value != 0; break;
        case IG_OP_VARIANCE: merge_variance(a, b); break;
        case IG_OP_NORM:
            if (!isinf(r->order)) {
                a->value += b->value;
                break;
            }  // fallthrough
        default:
            if (better(r, b->value, a->value)) a->value = b->value, a->index = b->index;
            break;
    }
    a->count += b->count;
}

static double finish(const reduction *r, const summary *s) {
    double count = (double)s->count, correction = r->call->p.reduce.correction;
    switch (r->op) {
        case IG_OP_PROD:
        case IG_OP_ALL: return s->count ? s->value : 1;
        case IG_OP_MEAN: return s->value / count;
        case IG_OP_VARIANCE: return count - correction > 0 ? s->value / (count - correction) : NAN;
        case IG_OP_NORM: return r->order == 2 ? sqrt(s->value) : s->value;
        default: return s->value;
    }
}

static void store(const reduction *r, const summary *s, char *to) {
    ig_type type = r->call->out[0].type;
    bool position = r->op == IG_OP_ARGMAX || r->op == IG_OP_ARGMIN;
    double value = finish(r, s);
    int64_t index = (int64_t)s->index;
    if (position)
        igi_tensor_store_integers(type, to, 0, 1, &index);
    else
        igi_tensor_store_doubles(type, to, 0, 1, &value);
}

// ---- One result at a time ----

typedef struct gathering {
    const reduction *r;
    summary total;
    uint64_t at;  // position of the next element
} gathering;

enum { LONG_CHUNK = 4 * IGI_SIMD_CHUNK };

static void gather_row(void *user, uint64_t count, char *const *data, const int64_t *strides) {
    gathering *g = user;
    const reduction *r = g->r;
    float buffer[IGI_SIMD_CHUNK];
    bool packed = igi_simd_is_packed(r->in, strides[0]);
    uint64_t most = packed ? LONG_CHUNK : IGI_SIMD_CHUNK;
    for (uint64_t at = 0, now; at < count; at += now, g->at += now) {
        now = count - at < most ? count - at : most;
        const char *from = data[0] + (int64_t)at * strides[0];
        if (!packed) igi_simd_load(r->k, r->in, from, strides[0], now, buffer);
        const float *floats = packed ? (const float *)from : buffer;
        summary s = summarize(r, now, floats);
        bool position = r->op == IG_OP_ARGMAX || r->op == IG_OP_ARGMIN;
        if (position && (!g->total.count || better(r, s.value, g->total.value)))
            s.index = g->at + r->k->find(now, floats, (float)s.value);
        merge(r, &g->total, &s);
    }
}

static summary gather_range(const reduction *r, char *first, uint64_t begin, uint64_t end) {
    gathering g = {.r = r, .at = begin};
    igi_tensor_walk walk = r->reduced;
    walk.data[0] = first;
    igi_tensor_walk_range(&walk, begin, end, gather_row, &g);
    return g.total;
}

static void reduce_row(void *user, uint64_t count, char *const *data, const int64_t *strides) {
    const reduction *r = user;
    for (uint64_t i = 0; i < count; i++) {
        summary s = gather_range(r, data[1] + (int64_t)i * strides[1], 0, r->reduced.count);
        store(r, &s, data[0] + (int64_t)i * strides[0]);
    }
}

static void reduce_part(void *user, uint64_t begin, uint64_t end) {
    igi_tensor_walk_range(&((const reduction *)user)->kept, begin, end, reduce_row, user);
}

// ---- One large result: pieces in parallel, merged in order, so that threads do not change it ----

enum { PIECE = 1 << 16 };

typedef struct piecewise {
    const reduction *r;
    char *first;
    summary *pieces;
} piecewise;

static void gather_pieces(void *user, uint64_t begin, uint64_t end) {
    const piecewise *p = user;
    uint64_t count = p->r->reduced.count;
    for (uint64_t i = begin; i < end; i++)
        p->pieces[i] = gather_range(p->r, p->first, i * PIECE, count - i * PIECE < PIECE ? count : (i + 1) * PIECE);
}

static ig_status reduce_in_pieces(const reduction *r, char *to, char *first) {
    uint64_t count = (r->reduced.count + PIECE - 1) / PIECE;
    igi_tensor_storage *scratch = NULL;
    ig_status status = igi_tensor_storage_make(r->call->runtime->device, count * sizeof(summary), &scratch);
    if (status != IG_STATUS_OK) return status;
    piecewise p = {r, first, (summary *)scratch->memory};
    igi_tensor_parallel(r->call->runtime, count, 1, gather_pieces, &p);
    summary total = {0};
    for (uint64_t i = 0; i < count; i++) merge(r, &total, &p.pieces[i]);
    store(r, &total, to);
    igi_tensor_storage_release(scratch);
    return IG_STATUS_OK;
}

// ---- Rows into one ----

typedef void (*row_kernel)(uint64_t count, const float *a, float *result);

static row_kernel row_kernel_of(const reduction *r) {
    switch (r->op) {
        case IG_OP_SUM:
        case IG_OP_MEAN: return r->k->add_row;
        case IG_OP_MAX: return r->k->largest_row;
        case IG_OP_MIN: return r->k->smallest_row;
        default: return NULL;
    }
}

// Columns are taken some at a time; many rows are split into pieces whose sums are added at the end. Rows are first
// added as floats, a few at a time, then as doubles.
enum { COLUMNS = IGI_SIMD_CHUNK, ROWS_AS_FLOATS = 64, ROWS_PIECE = 512 };

typedef struct column_job {
    const reduction *r;
    uint64_t row_pieces;
    double *sums;  // of each piece of each column; NULL if there is one piece
} column_job;

typedef struct columns {
    const reduction *r;
    uint64_t count;
    uint64_t rows;  // in `floats` so far
    bool exact;     // extremes lose nothing in float
    float floats[COLUMNS];
    double doubles[COLUMNS];
} columns;

static void flush(columns *c) {
    for (uint64_t i = 0; i < c->count && c->rows; i++)
        if (c->exact)
            c->doubles[i] = (double)c->floats[i];
        else
            c->doubles[i] += (double)c->floats[i];
    if (!c->exact) c->rows = 0;
}

// Some elements of the reduced dimensions: as many rows of columns.
static void add_columns(void *user, uint64_t count, char *const *data, const int64_t *strides) {
    columns *c = user;
    const reduction *r = c->r;
    float buffer[COLUMNS];
    bool packed = r->in == IG_TYPE_F32;
    row_kernel add = row_kernel_of(r);
    for (uint64_t i = 0; i < count; i++) {
        const char *from = data[0] + (int64_t)i * strides[0];
        if (!packed) igi_simd_load(r->k, r->in, from, ig_type_size(r->in), c->count, buffer);
        const float *row = packed ? (const float *)from : buffer;
        if (c->rows == 0)
            memcpy(c->floats, row, c->count * sizeof *row);
        else
            add(c->count, row, c->floats);
        if (++c->rows % ROWS_AS_FLOATS == 0) flush(c);
    }
}

// Rows [begin, end) of up to COLUMNS columns from `first` on.
static void reduce_columns(columns *c, char *first, uint64_t begin, uint64_t end) {
    igi_tensor_walk walk = c->r->reduced;
    walk.data[0] = first;
    igi_tensor_walk_range(&walk, begin, end, add_columns, c);
    flush(c);
}

// Sums that left float's range are computed again, one by one.
static void store_column(const reduction *r, double value, char *to, char *from) {
    bool extreme = r->op == IG_OP_MAX || r->op == IG_OP_MIN;
    summary s = {r->reduced.count, value, 0, 0};
    if (!extreme && !isfinite(value)) s = gather_range(r, from, 0, r->reduced.count);
    store(r, &s, to);
}

static void column_row(void *user, uint64_t count, char *const *data, const int64_t *strides) {
    const reduction *r = ((const column_job *)user)->r;
    for (uint64_t at = 0; at < count; at += COLUMNS) {
        columns c = {.r = r, .count = count - at < COLUMNS ? count - at : COLUMNS};
        c.exact = r->op == IG_OP_MAX || r->op == IG_OP_MIN;
        char *from = data[1] + (int64_t)at * strides[1], *to = data[0] + (int64_t)at * strides[0];
        reduce_columns(&c, from, 0, r->reduced.count);
        for (uint64_t i = 0; i < c.count; i++)
            store_column(r, c.doubles[i], to + (int64_t)i * strides[0], from + (int64_t)i * strides[1]);
    }
}

static void column_part(void *user, uint64_t begin, uint64_t end) {
    igi_tensor_walk_range(&((const column_job *)user)->r->kept, begin, end, column_row, user);
}

// ---- Few columns of many rows ----

static uint64_t piece_end(const reduction *r, uint64_t piece) {
    uint64_t end = (piece + 1) * ROWS_PIECE;
    return end < r->reduced.count ? end : r->reduced.count;
}

static void piece_part(void *user, uint64_t begin, uint64_t end) {
    const column_job *j = user;
    const reduction *r = j->r;
    uint64_t width = r->kept.count;
    for (uint64_t piece = begin; piece < end; piece++)
        for (uint64_t at = 0; at < width; at += COLUMNS) {
            columns c = {.r = r, .count = width - at < COLUMNS ? width - at : COLUMNS};
            c.exact = r->op == IG_OP_MAX || r->op == IG_OP_MIN;
            char *from = r->kept.data[1] + (int64_t)at * r->kept.strides[1][0];
            reduce_columns(&c, from, piece * ROWS_PIECE, piece_end(r, piece));
            memcpy(j->sums + piece * width + at, c.doubles, c.count * sizeof *c.doubles);
        }
}

static ig_status reduce_row_pieces(const reduction *r) {
    uint64_t width = r->kept.count, pieces = (r->reduced.count + ROWS_PIECE - 1) / ROWS_PIECE;
    igi_tensor_storage *scratch = NULL;
    ig_status status = igi_tensor_storage_make(r->call->runtime->device, width * pieces * sizeof(double), &scratch);
    if (status != IG_STATUS_OK) return status;
    column_job j = {r, pieces, (double *)scratch->memory};
    igi_tensor_parallel(r->call->runtime, pieces, 1, piece_part, &j);
    for (uint64_t i = 0; i < width; i++) {
        summary total = {0};
        for (uint64_t piece = 0; piece < pieces; piece++)
            merge(r, &total, &(summary){1, j.sums[piece * width + i], 0, 0});
        int64_t at = (int64_t)i;
        store_column(r, total.value, r->kept.data[0] + at * r->kept.strides[0][0],
                     r->kept.data[1] + at * r->kept.strides[1][0]);
    }
    igi_tensor_storage_release(scratch);
    return IG_STATUS_OK;
}

// ---- Choosing ----

static bool rows_add_up(const reduction *r) {
    int64_t size = (int64_t)ig_type_size(r->in);
    uint32_t last = r->kept.rank - 1;
    return r->kept.shape[last] >= 8 && r->kept.strides[1][last] == size &&
           r->reduced.strides[0][r->reduced.rank - 1] != size && r->reduced.count && row_kernel_of(r);
}

ig_status igi_simd_reduce(const igi_tensor_call *call) {
    reduction r = {.call = call, .k = igi_simd(), .op = call->op, .in = call->in[0].type};
    igi_tensor_view kept = igi_tensor_view_half(&call->in[0], call->p.reduce.axes, false);
    igi_tensor_view reduced = igi_tensor_view_half(&call->in[0], call->p.reduce.axes, true);
    r.order = call->p.reduce.order;
    r.kept = igi_tensor_walk_of(2, (const igi_tensor_view *[]){&call->out[0], &kept});
    r.reduced = igi_tensor_walk_of(1, (const igi_tensor_view *[]){&reduced});
    if (!r.kept.count) return IG_STATUS_OK;
    uint64_t each = r.reduced.count ? r.reduced.count : 1, grain = each < IGI_SIMD_GRAIN ? IGI_SIMD_GRAIN / each : 1;
    bool few_columns = r.kept.rank == 1 && r.kept.count < 16 * (uint64_t)COLUMNS && each >= 4 * (uint64_t)ROWS_PIECE;
    if (rows_add_up(&r) && few_columns) return reduce_row_pieces(&r);
    if (rows_add_up(&r))
        igi_tensor_parallel(call->runtime, r.kept.count, grain < COLUMNS ? COLUMNS : grain, column_part,
                            &(column_job){&r, 1, NULL});
    else if (r.kept.count == 1 && each > 2 * (uint64_t)PIECE)
        return reduce_in_pieces(&r, r.kept.data[0], r.kept.data[1]);
    else
        igi_tensor_parallel(call->runtime, r.kept.count, grain, reduce_part, &r);
    return IG_STATUS_OK;
}
