// SPDX-License-Identifier: Apache-2.0
// Lane operations, one loop each.
#include "simt/lanes.h"

#include <stdbool.h>

#include <string.h>

typedef struct set {  // lanes first to first + width - 1; those in `active` take part
    igi_simt_lane *lanes;
    uint32_t first, width, active;
} set;

static bool takes_part(const set *s, uint32_t lane) {
    return lane < IGI_SIMD_WIDTH && (s->active >> lane & 1);
}

// NOLINTBEGIN(bugprone-macro-parentheses): names of variables
#define EACH(s, lane)                                                        \
    for (uint32_t lane = (s)->first; lane < (s)->first + (s)->width; lane++) \
        if (takes_part(s, lane))
// NOLINTEND(bugprone-macro-parentheses)

// ---- Shuffles ----

typedef uint32_t (*source_function)(uint32_t self, uint32_t argument, uint32_t width);

static uint32_t from_index(uint32_t self, uint32_t argument, uint32_t width) {
    (void)self;
    return argument % width;
}
static uint32_t from_xor(uint32_t self, uint32_t argument, uint32_t width) {
    return (self ^ argument) % width;
}
static uint32_t from_up(uint32_t self, uint32_t argument, uint32_t width) {
    (void)width;
    return self >= argument ? self - argument : self;
}
static uint32_t from_down(uint32_t self, uint32_t argument, uint32_t width) {
    return argument < width - self ? self + argument : self;
}
static uint32_t from_rotate_up(uint32_t self, uint32_t argument, uint32_t width) {
    return (self - argument) % width;
}
static uint32_t from_rotate_down(uint32_t self, uint32_t argument, uint32_t width) {
    return (self + argument) % width;
}

static void shuffle(const set *s, source_function source) {
    EACH(s, lane) {
        uint32_t from = s->first + source(lane - s->first, (uint32_t)s->lanes[lane].operands[1], s->width);
        s->lanes[lane].result = takes_part(s, from) ? s->lanes[from].operands[0] : 0;
    }
}

// ---- Reductions and scans ----

static float as_float(uint64_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t float_bits(float value) {
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    return bits;
}

typedef uint64_t (*combine_function)(uint64_t a, uint64_t b);

#define COMBINE(name, expression)                  \
    static uint64_t name(uint64_t a, uint64_t b) { \
        return (uint64_t)(expression);             \
    }
#define COMBINE_INTEGERS(suffix, type)                                   \
    COMBINE(add_##suffix, (type)((type)a + (type)b))                     \
    COMBINE(mul_##suffix, (type)((type)a * (type)b))                     \
    COMBINE(min_##suffix, (type)((type)a < (type)b ? (type)a : (type)b)) \
    COMBINE(max_##suffix, (type)((type)a > (type)b ? (type)a : (type)b))
COMBINE_INTEGERS(u32, uint32_t)
COMBINE_INTEGERS(u64, uint64_t)
COMBINE(min_i32, (uint32_t)((int32_t)a < (int32_t)b ? a : b))
COMBINE(max_i32, (uint32_t)((int32_t)a > (int32_t)b ? a : b))
COMBINE(min_i64, (int64_t)a < (int64_t)b ? a : b)
COMBINE(max_i64, (int64_t)a > (int64_t)b ? a : b)
COMBINE(and_u64, a &b)
COMBINE(or_u64, a | b)
COMBINE(xor_u64, a ^ b)
COMBINE(add_f32, float_bits(as_float(a) + as_float(b)))
COMBINE(mul_f32, float_bits(as_float(a) * as_float(b)))
// A NaN loses against a number, as in MSL's fmin and fmax.
COMBINE(min_f32, as_float(b) < as_float(a) || as_float(a) != as_float(a) ? b : a)
COMBINE(max_f32, as_float(b) > as_float(a) || as_float(a) != as_float(a) ? b : a)

static void reduce(const set *s, combine_function combine) {
    uint64_t total = 0;
    bool any = false;
    EACH(s, lane) {
        total = any ? combine(total, s->lanes[lane].operands[0]) : s->lanes[lane].operands[0];
        any = true;
    }
    EACH(s, lane) s->lanes[lane].result = total;
}

static void scan(const set *s, combine_function combine, uint64_t identity, bool inclusive) {
    uint64_t total = identity;
    EACH(s, lane) {
        uint64_t next = combine(total, s->lanes[lane].operands[0]);
        s->lanes[lane].result = inclusive ? next : total;
        total = next;
    }
}

// ---- The rest ----

static void ballot(const set *s) {
    uint64_t votes = 0;
    EACH(s, lane) votes |= (s->lanes[lane].operands[0] & 1) << (lane - s->first);
    EACH(s, lane) s->lanes[lane].result = votes;
}

// Where each lane's two elements of an 8x8 matrix are.
static void matrix_place(uint32_t lane, uint32_t *row, uint32_t *column) {
    *row = lane / 16 * 4 + lane / 2 % 4;
    *column = lane / 8 % 2 * 4 + lane % 2 * 2;
}

static void gather_matrix(const set *s, int operand, float matrix[8][8]) {
    memset(matrix, 0, sizeof(float[8][8]));
    EACH(s, lane) {
        uint32_t row, column;
        matrix_place(lane, &row, &column);
        memcpy(&matrix[row][column], &s->lanes[lane].operands[operand], 2 * sizeof(float));
    }
}

static void multiply_accumulate(const set *s) {
    float a[8][8], b[8][8], c[8][8];
    gather_matrix(s, 0, a), gather_matrix(s, 1, b), gather_matrix(s, 2, c);
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 8; k++)
            for (int j = 0; j < 8; j++) c[i][j] = __builtin_fmaf(a[i][k], b[k][j], c[i][j]);
    EACH(s, lane) {
        uint32_t row, column;
        matrix_place(lane, &row, &column);
        memcpy(&s->lanes[lane].result, &c[row][column], 2 * sizeof(float));
    }
}

// ---- Which is which ----

typedef struct rule {
    source_function source;
    combine_function combine;
    uint64_t identity;
    enum { REDUCE, SCAN_INCLUSIVE, SCAN_EXCLUSIVE } kind;
} rule;

#define SHUFFLE_RULES(suffix)                                                                                       \
    [IGI_LANE_shuffle_##suffix] = {.source = from_index}, [IGI_LANE_shuffle_xor_##suffix] = {.source = from_xor},   \
    [IGI_LANE_shuffle_up_##suffix] = {.source = from_up}, [IGI_LANE_shuffle_down_##suffix] = {.source = from_down}, \
    [IGI_LANE_rotate_up_##suffix] = {.source = from_rotate_up},                                                     \
    [IGI_LANE_rotate_down_##suffix] = {.source = from_rotate_down}
// sum and product are the same for signed and unsigned integers: both use the unsigned function `u`
#define ARITHMETIC_RULES(suffix, u, one)                                                                          \
    [IGI_LANE_reduce_add_##suffix] = {.combine = add_##u}, [IGI_LANE_reduce_mul_##suffix] = {.combine = mul_##u}, \
    [IGI_LANE_reduce_min_##suffix] = {.combine = min_##suffix},                                                   \
    [IGI_LANE_reduce_max_##suffix] = {.combine = max_##suffix},                                                   \
    [IGI_LANE_scan_inclusive_add_##suffix] = {.combine = add_##u, .kind = SCAN_INCLUSIVE},                        \
    [IGI_LANE_scan_exclusive_add_##suffix] = {.combine = add_##u, .kind = SCAN_EXCLUSIVE},                        \
    [IGI_LANE_scan_inclusive_mul_##suffix] = {.combine = mul_##u, .identity = (one), .kind = SCAN_INCLUSIVE},     \
    [IGI_LANE_scan_exclusive_mul_##suffix] = {.combine = mul_##u, .identity = (one), .kind = SCAN_EXCLUSIVE}
#define BITWISE_RULES(suffix)                                                                                   \
    [IGI_LANE_reduce_and_##suffix] = {.combine = and_u64}, [IGI_LANE_reduce_or_##suffix] = {.combine = or_u64}, \
    [IGI_LANE_reduce_xor_##suffix] = {.combine = xor_u64}

static const rule rules[IGI_LANE_OP_COUNT] = {
    SHUFFLE_RULES(u32),
    SHUFFLE_RULES(u64),
    ARITHMETIC_RULES(i32, u32, 1),
    ARITHMETIC_RULES(u32, u32, 1),
    ARITHMETIC_RULES(i64, u64, 1),
    ARITHMETIC_RULES(u64, u64, 1),
    ARITHMETIC_RULES(f32, f32, 0x3f800000),
    BITWISE_RULES(u32),
    BITWISE_RULES(u64),
};

static void answer_set(const set *s, igi_simt_lane_op op) {
    const rule *how = &rules[op];
    if (op == IGI_LANE_ballot) {
        ballot(s);
    } else if (op == IGI_LANE_mma_f32) {
        multiply_accumulate(s);
    } else if (how->source) {
        shuffle(s, how->source);
    } else if (how->combine && how->kind == REDUCE) {
        reduce(s, how->combine);
    } else if (how->combine) {
        scan(s, how->combine, how->identity, how->kind == SCAN_INCLUSIVE);
    }
}

void igi_simt_lanes_answer(igi_simt_lane *lanes, uint32_t count, uint32_t active) {
    if (!active || !count) return;
    const igi_simt_lane *first = &lanes[__builtin_ctz(active)];
    igi_simt_lane_op op = (igi_simt_lane_op)first->op;
    bool quads = first->width == IGI_QUAD_WIDTH && op != IGI_LANE_simd_barrier && op != IGI_LANE_mma_f32 &&
                 op != IGI_LANE_converge;
    uint32_t width = quads ? IGI_QUAD_WIDTH : IGI_SIMD_WIDTH;
    for (uint32_t at = 0; at < IGI_SIMD_WIDTH; at += width) answer_set(&(set){lanes, at, width, active}, op);
}
