// SPDX-License-Identifier: Apache-2.0
// Kernels over rows: reductions of one, additions of many, softmax, norms.
#include "tensor/simd/isa/isa.h"
#include "tensor/simd/isa/loop.h"
#include "tensor/simd/isa/math.h"

// ---- Reductions ----

// Floats are added in blocks, the blocks in double: accurate enough, and as fast as memory.
enum { BLOCK = 4096, ACCUMULATORS = 4 };

typedef float quad __attribute__((vector_size(16)));
typedef int32_t quad_bits __attribute__((vector_size(16)));

INLINE double sum_lanes(vf v) {
    union {
        vf whole;
        quad quads[VECTOR_BYTES / 16];
    } parts = {v};
    quad sum = parts.quads[0];
    for (int i = 1; i < VECTOR_BYTES / 16; i++) sum += parts.quads[i];
    return (double)((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

// Adds up TERM, an expression of the vector x, and returns the sum. Lanes past the end hold `rest`, whose term is 0.
#define SUM_OF(TERM, rest)                                                              \
    double total = 0;                                                                   \
    for (uint64_t begin = 0; begin < count; begin += BLOCK) {                           \
        uint64_t end = count - begin < BLOCK ? count : begin + BLOCK, at = begin;       \
        vf sums[ACCUMULATORS] = {0};                                                    \
        for (; at + ACCUMULATORS * LANES <= end; at += ACCUMULATORS * LANES)            \
            for (int k = 0; k < ACCUMULATORS; k++) {                                    \
                vf x = load(a + at + k * LANES);                                        \
                sums[k] += TERM;                                                        \
            }                                                                           \
        for (; at < end; at += LANES) {                                                 \
            vf x = end - at < LANES ? load_part(a + at, end - at, rest) : load(a + at); \
            sums[0] += TERM;                                                            \
        }                                                                               \
        total += sum_lanes((sums[0] + sums[1]) + (sums[2] + sums[3]));                  \
    }                                                                                   \
    return total

static double NAME(f32_sum)(uint64_t count, const float *a) {
    SUM_OF(x, 0);
}

static double NAME(f32_sum_of_squares)(uint64_t count, const float *a, float centre) {
    SUM_OF((x - centre) * (x - centre), centre);
}

static double NAME(f32_sum_of_magnitudes)(uint64_t count, const float *a) {
    SUM_OF(absolute(x), 0);
}

static double NAME(f32_product)(uint64_t count, const float *a) {
    double products[4] = {1, 1, 1, 1};
    for (uint64_t i = 0; i < count; i++) products[i % 4] *= (double)a[i];
    return products[0] * products[1] * (products[2] * products[3]);
}

// Returns the best lane of v by a comparison.
#define BEST_LANE(v, test)                                                                 \
    union {                                                                                \
        vf whole;                                                                          \
        quad quads[VECTOR_BYTES / 16];                                                     \
    } parts = {v};                                                                         \
    quad best_quad = parts.quads[0];                                                       \
    for (int i = 1; i < VECTOR_BYTES / 16; i++) {                                          \
        quad_bits is = parts.quads[i] test best_quad, part = (quad_bits)parts.quads[i];    \
        best_quad = (quad)((part & is) | ((quad_bits)best_quad & ~is));                    \
    }                                                                                      \
    float result = best_quad[0];                                                           \
    for (int i = 1; i < 4; i++) result = best_quad[i] test result ? best_quad[i] : result; \
    return result

// The best element, given a vector function for the better of two and a comparison; NaN beats all.
#define EXTREME(better, test)                                                           \
    vf best[ACCUMULATORS];                                                              \
    vi nans = {0};                                                                      \
    for (int k = 0; k < ACCUMULATORS; k++) best[k] = splat(a[0]);                       \
    uint64_t at = 0;                                                                    \
    for (; at + ACCUMULATORS * LANES <= count; at += ACCUMULATORS * LANES)              \
        for (int k = 0; k < ACCUMULATORS; k++) {                                        \
            vf x = load(a + at + k * LANES);                                            \
            best[k] = better(x, best[k]);                                               \
            nans |= is_nan(x);                                                          \
        }                                                                               \
    for (; at < count; at += LANES) {                                                   \
        vf x = count - at < LANES ? load_part(a + at, count - at, a[0]) : load(a + at); \
        best[0] = better(x, best[0]);                                                   \
        nans |= is_nan(x);                                                              \
    }                                                                                   \
    if (any(nans)) return NAN;                                                          \
    vf all = better(better(best[0], best[1]), better(best[2], best[3]));                \
    BEST_LANE(all, test)

static float NAME(f32_largest)(uint64_t count, const float *a) {
    EXTREME(larger, >);
}

static float largest_lane(vf v) {
    BEST_LANE(v, >);
}

static float NAME(f32_smallest)(uint64_t count, const float *a) {
    EXTREME(smaller, <);
}

static uint64_t NAME(f32_find)(uint64_t count, const float *a, float value) {
    vf wanted = splat(value);
    bool wants_nan = value != value;
    uint64_t at = 0;
    for (; at + ACCUMULATORS * LANES <= count; at += ACCUMULATORS * LANES) {
        vi here = {0};
        for (int k = 0; k < ACCUMULATORS; k++) {
            vf x = load(a + at + k * LANES);
            here |= wants_nan ? is_nan(x) : x == wanted;
        }
        if (any(here)) break;
    }
    while (at < count && !(wants_nan ? a[at] != a[at] : a[at] == value)) at++;
    return at;
}

static double NAME(f32_dot)(uint64_t count, const float *a, const float *b) {
    double total = 0;
    for (uint64_t begin = 0; begin < count; begin += BLOCK) {
        uint64_t end = count - begin < BLOCK ? count : begin + BLOCK, at = begin;
        vf sums[ACCUMULATORS] = {0};
        for (; at + ACCUMULATORS * LANES <= end; at += ACCUMULATORS * LANES)
            for (int k = 0; k < ACCUMULATORS; k++) sums[k] += load(a + at + k * LANES) * load(b + at + k * LANES);
        for (; at + LANES <= end; at += LANES) sums[0] += load(a + at) * load(b + at);
        if (at < end) sums[1] += load_part(a + at, end - at, 0) * load_part(b + at, end - at, 0);
        total += sum_lanes((sums[0] + sums[1]) + (sums[2] + sums[3]));
    }
    return total;
}

// Four rows with one vector, which is then read only once.
static void NAME(f32_dot_rows)(uint64_t count, const float *const rows[4], const float *b, double sums[4]) {
    for (int r = 0; r < 4; r++) sums[r] = 0;
    for (uint64_t begin = 0; begin < count; begin += BLOCK) {
        uint64_t end = count - begin < BLOCK ? count : begin + BLOCK, at = begin;
        vf first[4] = {0}, second[4] = {0};
        for (; at + 2 * LANES <= end; at += 2 * LANES) {
            vf x = load(b + at), y = load(b + at + LANES);
            for (int r = 0; r < 4; r++) first[r] += load(rows[r] + at) * x;
            for (int r = 0; r < 4; r++) second[r] += load(rows[r] + at + LANES) * y;
        }
        for (; at + LANES <= end; at += LANES) {
            vf x = load(b + at);
            for (int r = 0; r < 4; r++) first[r] += load(rows[r] + at) * x;
        }
        if (at < end) {
            vf x = load_part(b + at, end - at, 0);
            for (int r = 0; r < 4; r++) second[r] += load_part(rows[r] + at, end - at, 0) * x;
        }
        for (int r = 0; r < 4; r++) sums[r] += sum_lanes(first[r] + second[r]);
    }
}

// ---- Many rows into one ----

// result = EXPRESSION of result r and row x.
#define DEFINE_ROW(name, EXPRESSION)                                              \
    static void NAME(f32_##name)(uint64_t count, const float *a, float *result) { \
        uint64_t at = 0, left;                                                    \
        for (; at + LANES <= count; at += LANES) {                                \
            vf x = load(a + at), r = load(result + at);                           \
            store(result + at, EXPRESSION);                                       \
        }                                                                         \
        if (!(left = count - at)) return;                                         \
        vf x = load_part(a + at, left, 0), r = load_part(result + at, left, 0);   \
        store_part(result + at, EXPRESSION, left);                                \
    }
DEFINE_ROW(add_row, r + x)
DEFINE_ROW(add_squares_row, r + x * x)
DEFINE_ROW(add_magnitudes_row, r + absolute(x))
DEFINE_ROW(multiply_row, r *x)
DEFINE_ROW(largest_row, choose((r > x) | is_nan(r), r, x))
DEFINE_ROW(smallest_row, choose((r < x) | is_nan(r), r, x))

static void NAME(f32_add_scaled_row)(uint64_t count, float scale, const float *a, float *result) {
    uint64_t at = 0, left;
    for (; at + LANES <= count; at += LANES) store(result + at, load(result + at) + load(a + at) * scale);
    if (!(left = count - at)) return;
    store_part(result + at, load_part(result + at, left, 0) + load_part(a + at, left, 0) * scale, left);
}

// ---- Softmax ----

// Stores 2^64 e^(x - most) and adds it up.
static double exponentials(uint64_t count, const float *a, float most, float *out) {
    double total = 0;
    for (uint64_t begin = 0; begin < count; begin += BLOCK) {
        uint64_t end = count - begin < BLOCK ? count : begin + BLOCK, at = begin;
        vf sum = splat(0);
        for (; at + LANES <= end; at += LANES) {
            vf e = exp_scaled(load(a + at) - most);
            sum += e;
            store(out + at, e);
        }
        if (at < end) {
            vf e = exp_scaled(load_part(a + at, end - at, -INFINITY) - most);
            sum += e;
            store_part(out + at, e, end - at);
        }
        total += sum_lanes(sum);
    }
    return total;
}

// Fetches what is `ahead` elements further on, too.
static double sum_of_exponentials(uint64_t count, const float *a, float most, uint64_t ahead) {
    double total = 0;
    for (uint64_t begin = 0; begin < count; begin += BLOCK) {
        uint64_t end = count - begin < BLOCK ? count : begin + BLOCK, at = begin;
        vf sum = splat(0);
        for (; at + LANES <= end; at += LANES) {
            __builtin_prefetch(a + ahead + at, 0, 2);
            sum += exp_of_small(load(a + at) - most);
        }
        if (at < end) sum += exp_of_small(load_part(a + at, end - at, -INFINITY) - most);
        total += sum_lanes(sum);
    }
    return total;
}

static void fill(uint64_t count, float value, float *out, bool stream) {
    VECTOR_LOOP(splat(value), splat(value));
}

static void scale_line(uint64_t count, const float *a, float scale, float *out, bool stream) {
    VECTOR_LOOP(load(a + at) * scale, load_part(a + at, left, 0) * scale);
}

static void NAME(f32_softmax)(uint64_t count, const float *a, float *out) {
    float most = NAME(f32_largest)(count, a);
    if (most == -INFINITY) {
        fill(count, 0, out, false);
        return;
    }
    double total = exponentials(count, a, most, out);
    scale_line(count, out, (float)(1 / total), out, false);
}

// Elements fetched before they are needed, so early.
enum { AHEAD = 2048 };

// Three rows at once: of one the exponentials are computed; meanwhile the next is read from memory, and the one before
// is written to it.
typedef struct softmax_rows {
    const float *next, *a;
    float *line, *last;  // exponentials of a, and of the row before it
    float *out;          // result of that row
    float most, scale;   // of a, of that row
} softmax_rows;

// Adds the exponentials up, and finds the largest element of the next row that is not NaN.
static double soften_rows(uint64_t count, softmax_rows r, float *next_most) {
    uint64_t head = unaligned_head(r.out, count), whole = (count - head) / LANES * LANES, at = 0;
    vf best = splat(-INFINITY);
    double total = 0;
    for (uint64_t begin = 0; begin < count; begin += BLOCK) {
        uint64_t end = count - begin < BLOCK ? count : begin + BLOCK;
        vf sum = splat(0);
        for (; at + LANES <= end; at += LANES) {
            vf e = exp_scaled(load(r.a + at) - r.most);
            __builtin_prefetch(r.next + at + AHEAD, 0, 2);
            best = larger(load(r.next + at), best);
            sum += e;
            store(r.line + at, e);
            if (at < whole) store_past_caches(r.out + head + at, load(r.last + head + at) * r.scale);
        }
        if (at < end) {
            vf e = exp_scaled(load_part(r.a + at, end - at, -INFINITY) - r.most);
            best = larger(load_part(r.next + at, end - at, -INFINITY), best);
            sum += e;
            store_part(r.line + at, e, end - at);
        }
        total += sum_lanes(sum);
    }
    for (uint64_t i = 0; i < head; i++) r.out[i] = r.last[i] * r.scale;
    for (uint64_t i = head + whole; i < count; i++) r.out[i] = r.last[i] * r.scale;
    *next_most = largest_lane(best);
    return total;
}

// If all elements are -inf, the results are 0. If one is NaN, so is its exponential, and with it all results.
static float shift_for(float most) {
    return most == -INFINITY ? 0 : most;
}

static float scale_for(float most, double total) {
    return most == -INFINITY && !isnan(total) ? 0 : (float)(1 / total);
}

static void NAME(f32_softmax_rows)(uint64_t rows, uint64_t count, const float *a, int64_t a_row, float *lines,
                                   float *out, int64_t out_row) {
    float most = NAME(f32_largest)(count, a), *first = lines + IGI_SIMD_LINE_GAP, next = 0;
    softmax_rows r = {.last = first, .line = first + count + IGI_SIMD_LINE_GAP, .out = out};
    r.scale = scale_for(most, exponentials(count, a, shift_for(most), first));
    if (rows > 1) most = NAME(f32_largest)(count, a + a_row);
    for (uint64_t i = 1; i < rows; i++, most = next) {
        r.a = a + (int64_t)i * a_row;
        r.next = i + 1 < rows ? r.a + a_row : r.a;
        r.most = shift_for(most);
        float *line = r.line;
        r.scale = scale_for(most, soften_rows(count, r, &next));
        r.line = r.last, r.last = line;
        r.out += out_row;
    }
    scale_line(count, r.last, r.scale, r.out, true);
}

static void subtract(uint64_t count, const float *a, float most, float log_total, float *out, bool stream) {
    VECTOR_LOOP(load(a + at) - most - log_total, load_part(a + at, left, 0) - most - log_total);
}

static void NAME(f32_log_softmax)(uint64_t count, const float *a, float *out, bool stream) {
    float most = NAME(f32_largest)(count, a);
    if (most == -INFINITY) {
        fill(count, -INFINITY, out, stream);
        return;
    }
    double total = sum_of_exponentials(count, a, most, stream ? count : 0);
    subtract(count, a, most, (float)log(total), out, stream);
}

// ---- Norms ----

static void NAME(f32_scale_row)(uint64_t count, const float *a, float centre, float scale, float shift,
                                const float *weight, const float *bias, float *out) {
    uint64_t at = 0, left;
    for (; at + LANES <= count; at += LANES) {
        vf x = (load(a + at) - centre) * scale + shift;
        if (weight) x *= load(weight + at);
        if (bias) x += load(bias + at);
        store(out + at, x);
    }
    if (!(left = count - at)) return;
    vf x = (load_part(a + at, left, 0) - centre) * scale + shift;
    if (weight) x *= load_part(weight + at, left, 0);
    if (bias) x += load_part(bias + at, left, 0);
    store_part(out + at, x, left);
}

void NAME(igi_simd_fill_rows)(igi_simd_kernels *table) {
    table->sum = NAME(f32_sum);
    table->sum_of_squares = NAME(f32_sum_of_squares);
    table->sum_of_magnitudes = NAME(f32_sum_of_magnitudes);
    table->product = NAME(f32_product);
    table->largest = NAME(f32_largest);
    table->smallest = NAME(f32_smallest);
    table->find = NAME(f32_find);
    table->dot = NAME(f32_dot);
    table->dot_rows = NAME(f32_dot_rows);
    table->add_row = NAME(f32_add_row);
    table->add_squares_row = NAME(f32_add_squares_row);
    table->add_magnitudes_row = NAME(f32_add_magnitudes_row);
    table->multiply_row = NAME(f32_multiply_row);
    table->largest_row = NAME(f32_largest_row);
    table->smallest_row = NAME(f32_smallest_row);
    table->add_scaled_row = NAME(f32_add_scaled_row);
    table->softmax = NAME(f32_softmax);
    table->softmax_rows = NAME(f32_softmax_rows);
    table->log_softmax = NAME(f32_log_softmax);
    table->scale_row = NAME(f32_scale_row);
}
