// SPDX-License-Identifier: Apache-2.0
// Copies, conversions, constants and selections.
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "core/status-internal.h"
#include "tensor/iterate.h"
#include "tensor/simd/simd.h"

// ---- Copies ----

typedef struct copying {
    igi_tensor_walk walk;
    uint64_t size;
    uint32_t slow;  // dimension along which the source is contiguous, if that is not the last
} copying;

static void copy_row(void *user, uint64_t count, char *const *data, const int64_t *strides) {
    igi_tensor_copy_elements(((const copying *)user)->size, count, data[1], strides[1], data[0], strides[0]);
}

static void copy_part(void *user, uint64_t begin, uint64_t end) {
    copying *c = user;
    igi_tensor_walk_range(&c->walk, begin, end, copy_row, c);
}

// The dimension along which the source is contiguous; the rank if there is none but the last.
static uint32_t packed_dimension(const igi_tensor_walk *walk, uint64_t size) {
    uint32_t last = walk->rank - 1;
    if (walk->strides[1][last] == (int64_t)size || walk->strides[0][last] != (int64_t)size) return walk->rank;
    for (uint32_t i = 0; i < last; i++)
        if (walk->strides[1][i] == (int64_t)size && walk->shape[i] > 1) return i;
    return walk->rank;
}

// A transpose is done in blocks that are a cache line of the source wide, and four of the target, which lie in the same
// row of memory chips. So many rows of the source are more than the processor's own prefetchers follow: they are fetched
// AHEAD blocks before they are needed, into the second-level cache. In the first, rows a power of two apart would push
// each other out.
enum { LINE = 64, WIDTH = 16, BAND = 64, AHEAD = 4, SECOND_LEVEL = 2 };

typedef uint32_t quad __attribute__((vector_size(16)));

static inline quad load_quad(const char *from) {
    quad q;
    memcpy(&q, from, sizeof q);
    return q;
}

static inline void store_quad(char *to, quad q) {
    memcpy(to, &q, sizeof q);
}

// Four by four elements of four bytes; rows are `from_row` and `to_row` bytes apart; each side is contiguous along its
// rows. No arrays: GCC 12 would keep them in memory.
static void transpose_quad(const char *from, int64_t from_row, char *to, int64_t to_row) {
    quad a = load_quad(from), b = load_quad(from + from_row);
    quad c = load_quad(from + 2 * from_row), d = load_quad(from + 3 * from_row);
    quad ac = __builtin_shufflevector(a, c, 0, 4, 1, 5), bd = __builtin_shufflevector(b, d, 0, 4, 1, 5);
    store_quad(to, __builtin_shufflevector(ac, bd, 0, 4, 1, 5));
    store_quad(to + to_row, __builtin_shufflevector(ac, bd, 2, 6, 3, 7));
    ac = __builtin_shufflevector(a, c, 2, 6, 3, 7), bd = __builtin_shufflevector(b, d, 2, 6, 3, 7);
    store_quad(to + 2 * to_row, __builtin_shufflevector(ac, bd, 0, 4, 1, 5));
    store_quad(to + 3 * to_row, __builtin_shufflevector(ac, bd, 2, 6, 3, 7));
}

// Sixteen elements of four bytes, a cache line; written past the caches if it is aligned to one in memory.
static void put_line(char *to, const char *from) {
#if defined(__SSE2__)
    if ((uintptr_t)to % 64 == 0) {
        for (int i = 0; i < 64; i += 16)
            _mm_stream_si128((__m128i *)(to + i), _mm_load_si128((const __m128i *)(from + i)));
        return;
    }
#endif
    memcpy(to, from, 64);
}

// A whole block of four-byte elements, assembled in a buffer and written line by line: waiting for cache lines of the
// target to be fetched takes longer than everything else.
static void transpose_block(int64_t columns, const char *from, int64_t from_row, char *to, int64_t to_row) {
    char aside[WIDTH * BAND * 4] __attribute__((aligned(LINE)));
    for (int64_t i = 0; i < columns; i += 4) {
        for (int64_t k = i; k < i + 4; k++)
            __builtin_prefetch(from + k * from_row + (int64_t)AHEAD * LINE, 0, SECOND_LEVEL);
        for (int64_t j = 0; j < WIDTH; j += 4)
            transpose_quad(from + i * from_row + j * 4, from_row, aside + (j * columns + i) * 4, columns * 4);
    }
    for (int64_t j = 0; j < WIDTH; j++)
        for (int64_t k = 0; k < columns * 4; k += LINE) put_line(to + j * to_row + k, aside + j * columns * 4 + k);
}

static void copy_block(const copying *c, const char *from, char *to, uint64_t rows, uint64_t columns) {
    const igi_tensor_walk *w = &c->walk;
    uint32_t last = w->rank - 1;
    if (c->size == 4 && rows == WIDTH && columns % (LINE / 4) == 0) {
        transpose_block((int64_t)columns, from, w->strides[1][last], to, w->strides[0][c->slow]);
        return;
    }
    for (uint64_t i = 0; i < rows; i++)
        igi_tensor_copy_elements(c->size, columns, from + (int64_t)i * w->strides[1][c->slow], w->strides[1][last],
                                 to + (int64_t)i * w->strides[0][c->slow], w->strides[0][last]);
}

// Rows [begin, end) of the plane in the order of the source: it is read along them, and the target is written in whole
// cache lines.
static void copy_plane(const copying *c, const char *from, char *to, uint64_t begin, uint64_t end) {
    const igi_tensor_walk *w = &c->walk;
    uint32_t last = w->rank - 1;
    uint64_t rows = w->shape[c->slow];
    for (uint64_t j = begin; j < end; j += BAND)
        for (uint64_t i = 0; i < rows; i += WIDTH) {
            int64_t from_at = (int64_t)i * w->strides[1][c->slow] + (int64_t)j * w->strides[1][last];
            int64_t to_at = (int64_t)i * w->strides[0][c->slow] + (int64_t)j * w->strides[0][last];
            copy_block(c, from + from_at, to + to_at, rows - i < WIDTH ? rows - i : WIDTH,
                       end - j < BAND ? end - j : BAND);
        }
}

// Planes, or bands of a plane if there is only one.
typedef struct transposing {
    const copying *c;
    igi_tensor_walk planes;  // all other dimensions
} transposing;

static uint64_t plane_rows(const copying *c) {
    return c->walk.shape[c->walk.rank - 1];
}

static void plane_row(void *user, uint64_t count, char *const *data, const int64_t *strides) {
    for (uint64_t i = 0; i < count; i++)
        copy_plane(user, data[1] + (int64_t)i * strides[1], data[0] + (int64_t)i * strides[0], 0, plane_rows(user));
}

static void finish_lines(void) {
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

static void planes_part(void *user, uint64_t begin, uint64_t end) {
    const transposing *t = user;
    igi_tensor_walk_range(&t->planes, begin, end, plane_row, (void *)t->c);
    finish_lines();
}

static void bands_part(void *user, uint64_t begin, uint64_t end) {
    const transposing *t = user;
    uint64_t rows = plane_rows(t->c), last = end * BAND < rows ? end * BAND : rows;
    copy_plane(t->c, t->planes.data[1], t->planes.data[0], begin * BAND, last);
    finish_lines();
}

static void transpose(const igi_tensor_call *call, const copying *c) {
    transposing t = {c, c->walk};
    uint32_t last = c->walk.rank - 1;
    uint64_t plane = c->walk.shape[c->slow] * c->walk.shape[last];
    t.planes.shape[c->slow] = t.planes.shape[last] = 1;
    t.planes.count = c->walk.count / plane;
    uint64_t grain = plane < IGI_SIMD_GRAIN ? IGI_SIMD_GRAIN / plane : 1;
    if (t.planes.count > 1)
        igi_tensor_parallel(call->runtime, t.planes.count, grain, planes_part, &t);
    else
        igi_tensor_parallel(call->runtime, (plane_rows(c) + BAND - 1) / BAND, 1, bands_part, &t);
}

ig_status igi_simd_copy(const igi_tensor_call *call) {
    copying c = {igi_tensor_walk_of(2, (const igi_tensor_view *[]){&call->out[0], &call->in[0]}),
                 ig_type_size(call->out[0].type), 0};
    c.slow = packed_dimension(&c.walk, c.size);
    if (c.walk.count && c.slow < c.walk.rank)
        transpose(call, &c);
    else
        igi_tensor_parallel(call->runtime, c.walk.count, 4 * (uint64_t)IGI_SIMD_GRAIN, copy_part, &c);
    return IG_STATUS_OK;
}

// ---- Conversions ----

typedef struct casting {
    igi_tensor_walk walk;
    const igi_simd_kernels *k;
    ig_type from, to;
} casting;

static bool is_float_pair(ig_type from, ig_type to) {
    return igi_tensor_is_float(from) && igi_tensor_is_float(to);
}

bool igi_simd_accepts_cast(const igi_tensor_call *call) {
    ig_type from = call->in[0].type, to = call->out[0].type;
    return from == to || is_float_pair(from, to) || igi_simd()->cast[from][to];
}

static void cast_floats(const casting *c, uint64_t count, const char *from, int64_t from_stride, char *to,
                        int64_t to_stride) {
    float values[IGI_SIMD_CHUNK];
    igi_simd_load(c->k, c->from, from, from_stride, count, values);
    igi_simd_store(c->k, c->to, values, to, to_stride, count);
}

static void cast_others(const casting *c, uint64_t count, const char *from, int64_t from_stride, char *to,
                        int64_t to_stride) {
    int64_t source[IGI_SIMD_CHUNK], target[IGI_SIMD_CHUNK];
    uint64_t from_size = ig_type_size(c->from), to_size = ig_type_size(c->to);
    bool packed = from_stride == (int64_t)from_size, in_place = to_stride == (int64_t)to_size;
    if (!packed) igi_tensor_copy_elements(from_size, count, from, from_stride, (char *)source, (int64_t)from_size);
    c->k->cast[c->from][c->to](count, packed ? (const void *)from : source, in_place ? (void *)to : target);
    if (!in_place) igi_tensor_copy_elements(to_size, count, (const char *)target, (int64_t)to_size, to, to_stride);
}

static void cast_row(void *user, uint64_t count, char *const *data, const int64_t *strides) {
    const casting *c = user;
    bool floats = is_float_pair(c->from, c->to);
    for (uint64_t at = 0, now; at < count; at += now) {
        now = count - at < IGI_SIMD_CHUNK ? count - at : IGI_SIMD_CHUNK;
        (floats ? cast_floats : cast_others)(c, now, data[1] + (int64_t)at * strides[1], strides[1],
                                             data[0] + (int64_t)at * strides[0], strides[0]);
    }
}

static void cast_part(void *user, uint64_t begin, uint64_t end) {
    casting *c = user;
    igi_tensor_walk_range(&c->walk, begin, end, cast_row, c);
}

ig_status igi_simd_cast(const igi_tensor_call *call) {
    casting c = {igi_tensor_walk_of(2, (const igi_tensor_view *[]){&call->out[0], &call->in[0]}), igi_simd(),
                 call->in[0].type, call->out[0].type};
    if (c.from == c.to) return igi_simd_copy(call);
    igi_tensor_parallel(call->runtime, c.walk.count, IGI_SIMD_GRAIN, cast_part, &c);
    return IG_STATUS_OK;
}

// ---- Constants ----

typedef struct filling {
    igi_tensor_walk walk;
    uint64_t size;
    char element[8];
} filling;

#define FILL(type)                                          \
    {                                                       \
        type value, *to = (type *)data[0];                  \
        memcpy(&value, f->element, sizeof value);           \
        for (uint64_t i = 0; i < count; i++) to[i] = value; \
    }

static void fill_row(void *user, uint64_t count, char *const *data, const int64_t *strides) {
    const filling *f = user;
    if (strides[0] != (int64_t)f->size)
        igi_tensor_copy_elements(f->size, count, f->element, 0, data[0], strides[0]);
    else if (f->size == 1)
        memset(data[0], f->element[0], count);
    else if (f->size == 2)
        FILL(uint16_t)
    else if (f->size == 4)
        FILL(uint32_t)
    else
        FILL(uint64_t)
}

static void fill_part(void *user, uint64_t begin, uint64_t end) {
    filling *f = user;
    igi_tensor_walk_range(&f->walk, begin, end, fill_row, f);
}

ig_status igi_simd_fill_values(const igi_tensor_call *call) {
    ig_type type = call->out[0].type;
    filling f = {igi_tensor_walk_of(1, (const igi_tensor_view *[]){&call->out[0]}), ig_type_size(type), {0}};
    igi_tensor_store_doubles(type, f.element, 0, 1, &call->p.range.start);
    igi_tensor_parallel(call->runtime, f.walk.count, IGI_SIMD_GRAIN, fill_part, &f);
    return IG_STATUS_OK;
}

// ---- Random numbers ----

typedef struct drawing {
    const igi_tensor_call *call;
    igi_tensor_walk walk;
    uint64_t begin;  // position of the row's first element
} drawing;

static void draw(const igi_tensor_call *call, uint64_t position, uint64_t count, float *numbers) {
    const igi_simd_kernels *k = igi_simd();
    ig_type type = call->out[0].type;
    float first = (float)call->p.random.first, second = (float)call->p.random.second;
    if (call->op == IG_OP_RANDOM_NORMAL) {
        k->normal(count, call->p.random.seed, position, first, second, numbers);
        return;
    }
    uint32_t bits = type == IG_TYPE_F32 ? 24 : type == IG_TYPE_F16 ? 11 : 8;
    k->uniform(count, call->p.random.seed, position, bits, first, second - first, numbers);
}

// The largest number of the type below `high`, and the limit below which a float is rounded to at most that.
static float ceiling_of(const igi_tensor_call *call) {
    char element[8];
    double high = call->p.random.second;
    ig_type type = call->out[0].type;
    igi_tensor_store_doubles(type, element, 0, 1, &high);
    igi_tensor_load_doubles(type, element, 0, 1, &high);
    return (float)igi_tensor_next_below(type, high);
}

static void keep_below(const igi_tensor_call *call, uint64_t count, float *numbers) {
    char element[8];
    double ceiling = ceiling_of(call), rounded;
    for (uint64_t i = 0; i < count; i++) {
        if ((double)numbers[i] < ceiling) continue;
        double value = (double)numbers[i];
        igi_tensor_store_doubles(call->out[0].type, element, 0, 1, &value);
        igi_tensor_load_doubles(call->out[0].type, element, 0, 1, &rounded);
        if (rounded > ceiling) numbers[i] = (float)ceiling;
    }
}

static void draw_row(void *user, uint64_t count, char *const *data, const int64_t *strides) {
    drawing *d = user;
    float numbers[IGI_SIMD_CHUNK];
    for (uint64_t at = 0, now; at < count; at += now, d->begin += now) {
        now = count - at < IGI_SIMD_CHUNK ? count - at : IGI_SIMD_CHUNK;
        draw(d->call, d->begin, now, numbers);
        if (d->call->op == IG_OP_RANDOM_UNIFORM) keep_below(d->call, now, numbers);
        igi_simd_store(igi_simd(), d->call->out[0].type, numbers, data[0] + (int64_t)at * strides[0], strides[0], now);
    }
}

static void draw_part(void *user, uint64_t begin, uint64_t end) {
    drawing d = *(const drawing *)user;
    d.begin = d.call->p.random.position + begin;
    igi_tensor_walk_range(&d.walk, begin, end, draw_row, &d);
}

ig_status igi_simd_random(const igi_tensor_call *call) {
    drawing d = {call, igi_tensor_walk_of(1, (const igi_tensor_view *[]){&call->out[0]}), 0};
    igi_tensor_parallel(call->runtime, d.walk.count, IGI_SIMD_GRAIN, draw_part, &d);
    return IG_STATUS_OK;
}

// ---- Index select ----

typedef struct selecting {
    const igi_tensor_call *call;
    uint32_t axis;
    atomic_bool failed;
    atomic_int_fast64_t wrong;
} selecting;

// The slices at positions [begin, end) of the index.
static void select_part(void *user, uint64_t begin, uint64_t end) {
    selecting *s = user;
    const igi_tensor_view *x = &s->call->in[0], *index = &s->call->in[1], *out = &s->call->out[0];
    igi_tensor_view from = *x, to = *out;
    from.shape[s->axis] = to.shape[s->axis] = 1;
    int64_t length = (int64_t)x->shape[s->axis], position;
    for (uint64_t i = begin; i < end; i++) {
        igi_tensor_load_integers(index->type,
                                 igi_tensor_view_data(index) + (int64_t)i * igi_tensor_view_stride_bytes(index, 0), 0,
                                 1, &position);
        if (position < -length || position >= length) {
            atomic_store(&s->wrong, position);
            atomic_store(&s->failed, true);
            return;
        }
        if (position < 0) position += length;
        from.offset = x->offset + (uint64_t)(position * igi_tensor_view_stride_bytes(x, s->axis));
        to.offset = out->offset + (uint64_t)((int64_t)i * igi_tensor_view_stride_bytes(out, s->axis));
        igi_tensor_copy_view(&from, &to);
    }
}

ig_status igi_simd_index_select(const igi_tensor_call *call) {
    selecting s = {.call = call, .axis = call->p.index.axis};
    uint64_t count = call->in[1].shape[0], slice = count ? igi_tensor_view_count(&call->out[0]) / count : 0;
    igi_tensor_parallel(call->runtime, count, slice < IGI_SIMD_GRAIN ? IGI_SIMD_GRAIN / (slice + 1) + 1 : 1,
                        select_part, &s);
    if (!atomic_load(&s.failed)) return IG_STATUS_OK;
    return igi_error_set(call->error, IG_STATUS_OUT_OF_RANGE, "%s: index %lld is outside an axis of length %llu",
                         igi_tensor_call_name(call), (long long)atomic_load(&s.wrong),
                         (unsigned long long)call->in[0].shape[s.axis]);
}
