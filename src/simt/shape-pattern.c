// SPDX-License-Identifier: Apache-2.0
// Patterns: values that differ from the first lane's by a constant of each lane, other than multiples of one stride. They
// come from the lane's number in its simdgroup, which is known (lane / 2, lane % 2 * 8), and stay patterns when
// something is added that is the same in all lanes (the address of a block).
#include <string.h>

#include "core/memory.h"
#include "simt/ir.h"
#include "simt/shape.h"

enum { MOST_PATTERNS = 512 };

struct igi_simt_patterns {
    igi_simt_pattern items[MOST_PATTERNS];
    uint32_t count;
};

bool igi_simt_patterns_build(igi_simt_shapes *s) {
    if (s->width != IGI_SIMD_WIDTH) return true;
    s->patterns = igi_calloc(1, sizeof *s->patterns);
    return s->patterns != NULL;
}

static bool is_spread(igi_simt_shape shape) {
    return shape.kind == IGI_SHAPE_UNIFORM || shape.kind == IGI_SHAPE_LINEAR || shape.kind == IGI_SHAPE_PATTERN;
}

int64_t igi_simt_lane_offset(const igi_simt_shapes *s, igi_simt_shape shape, uint32_t lane) {
    if (shape.kind == IGI_SHAPE_PATTERN) return s->patterns->items[shape.pattern].offset[lane];
    return shape.kind == IGI_SHAPE_LINEAR ? shape.stride * (int64_t)lane : 0;
}

static bool is_small(const igi_simt_shapes *s, const igi_simt_pattern *p) {
    for (uint32_t i = 0; i < s->width; i++)
        if (p->offset[i] > INT32_MAX || p->offset[i] < INT32_MIN) return false;
    return true;
}

static bool is_straight(const igi_simt_shapes *s, const igi_simt_pattern *p) {
    for (uint32_t i = 2; i < s->width; i++)
        if (p->offset[i] != p->offset[1] * (int64_t)i) return false;
    return true;
}

// The shape of lanes at such offsets from the first.
static igi_simt_shape shape_of_offsets(const igi_simt_shapes *s, const igi_simt_pattern *p) {
    const igi_simt_shape varying = {.kind = IGI_SHAPE_VARYING};
    igi_simt_patterns *all = s->patterns;
    if (!is_small(s, p)) return varying;
    if (is_straight(s, p))
        return (igi_simt_shape){.kind = p->offset[1] ? IGI_SHAPE_LINEAR : IGI_SHAPE_UNIFORM, .stride = p->offset[1]};
    uint32_t at = 0;
    while (at < all->count && memcmp(&all->items[at], p, sizeof *p) != 0) at++;
    if (at == MOST_PATTERNS) return varying;
    if (at == all->count) all->items[all->count++] = *p;
    return (igi_simt_shape){.kind = IGI_SHAPE_PATTERN, .pattern = at};
}

// ---- Values that are known ----

static uint64_t low_bits(uint64_t value, unsigned bits) {
    return bits < 64 ? value & ((1ull << bits) - 1) : value;
}

static int64_t with_sign(uint64_t value, unsigned bits) {
    return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

static bool is_integer(LLVMValueRef value, unsigned *bits) {
    if (LLVMGetTypeKind(LLVMTypeOf(value)) != LLVMIntegerTypeKind) return false;
    *bits = LLVMGetIntTypeWidth(LLVMTypeOf(value));
    return *bits > 1 && *bits <= 64;
}

// The value of a lane, if it is known.
static bool value_in_lane(const igi_simt_shapes *s, LLVMValueRef value, uint32_t lane, uint64_t *known) {
    unsigned bits;
    if (!is_integer(value, &bits)) return false;
    igi_simt_shape shape = igi_simt_shape_of(s, value);
    bool constant = LLVMIsAConstantInt(value) != NULL;
    if (!constant && !shape.known) return false;
    uint64_t first = constant ? LLVMConstIntGetZExtValue(value) : (uint64_t)shape.first;
    *known = low_bits(first + (uint64_t)igi_simt_lane_offset(s, shape, lane), bits);
    return true;
}

static bool fold_division(LLVMOpcode opcode, uint64_t a, uint64_t b, unsigned bits, uint64_t *result) {
    int64_t dividend = with_sign(a, bits), divisor = with_sign(b, bits);
    bool is_signed = opcode == LLVMSDiv || opcode == LLVMSRem;
    if (b == 0 || (is_signed && divisor == -1)) return false;
    if (is_signed)
        *result = (uint64_t)(opcode == LLVMSDiv ? dividend / divisor : dividend % divisor);
    else
        *result = opcode == LLVMUDiv ? a / b : a % b;
    return true;
}

static bool fold(LLVMOpcode opcode, uint64_t a, uint64_t b, unsigned bits, uint64_t *result) {
    switch (opcode) {
        case LLVMAdd: *result = a + b; return true;
        case LLVMSub: *result = a - b; return true;
        case LLVMMul: *result = a * b; return true;
        case LLVMAnd: *result = a & b; return true;
        case LLVMOr: *result = a | b; return true;
        case LLVMXor: *result = a ^ b; return true;
        case LLVMShl: *result = b < bits ? a << b : 0; return b < bits;
        case LLVMLShr: *result = b < bits ? a >> b : 0; return b < bits;
        case LLVMAShr: *result = b < bits ? (uint64_t)(with_sign(a, bits) >> b) : 0; return b < bits;
        case LLVMUDiv:
        case LLVMSDiv:
        case LLVMURem:
        case LLVMSRem: return fold_division(opcode, a, b, bits, result);
        default: return false;
    }
}

static bool lane_result(const igi_simt_shapes *s, LLVMValueRef i, uint32_t lane, uint64_t *result) {
    uint64_t a, b;
    unsigned bits;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
    if (!is_integer(LLVMGetOperand(i, 0), &bits) || !value_in_lane(s, LLVMGetOperand(i, 0), lane, &a)) return false;
    if (opcode == LLVMOr && LLVMGetIsDisjoint(i)) opcode = LLVMAdd;  // as it is widened
    if (LLVMIsABinaryOperator(i)) {
        if (!value_in_lane(s, LLVMGetOperand(i, 1), lane, &b) || !fold(opcode, a, b, bits, result)) return false;
    } else if (opcode == LLVMSExt) {
        *result = (uint64_t)with_sign(a, bits);
    } else if (opcode == LLVMZExt || opcode == LLVMTrunc || opcode == LLVMFreeze) {
        *result = a;
    } else {
        return false;
    }
    return true;
}

// All operands are known in all lanes.
static bool known_result(const igi_simt_shapes *s, LLVMValueRef i, igi_simt_shape *shape) {
    igi_simt_pattern p = {0};
    uint64_t first = 0, highest = 0;
    unsigned bits;
    if (!is_integer(i, &bits)) return false;
    for (uint32_t lane = 0; lane < s->width; lane++) {
        uint64_t value;
        if (!lane_result(s, i, lane, &value)) return false;
        value = low_bits(value, bits);
        if (lane == 0) first = value;
        if (value > highest) highest = value;
        p.offset[lane] = with_sign(low_bits(value - first, bits), bits);
    }
    *shape = shape_of_offsets(s, &p);
    if (shape->kind == IGI_SHAPE_VARYING) return false;
    shape->known = true;
    shape->first = with_sign(first, bits);
    if (shape->kind == IGI_SHAPE_LINEAR && shape->stride > 0 && highest < 1u << 30)
        shape->limit = (uint32_t)highest + 1;
    return true;
}

// ---- Values that are known but for what all lanes have in common ----

static igi_simt_shape scaled_sum(const igi_simt_shapes *s, igi_simt_shape a, igi_simt_shape b, int64_t factor) {
    igi_simt_pattern p = {0};
    for (uint32_t i = 0; i < s->width; i++)
        p.offset[i] = igi_simt_lane_offset(s, a, i) + factor * igi_simt_lane_offset(s, b, i);
    return shape_of_offsets(s, &p);
}

static bool small_factor(LLVMValueRef i, int64_t *factor) {
    LLVMValueRef by = LLVMGetOperand(i, 1);
    if (!LLVMIsAConstantInt(by)) return false;
    *factor = LLVMConstIntGetSExtValue(by);
    if (LLVMGetInstructionOpcode(i) == LLVMShl)
        *factor = *factor >= 0 && *factor < 16 ? (int64_t)1 << *factor : 1 << 30;
    return *factor > -(1 << 20) && *factor < 1 << 20;
}

static igi_simt_shape relative_sum(const igi_simt_shapes *s, LLVMValueRef i) {
    const igi_simt_shape varying = {.kind = IGI_SHAPE_VARYING}, none = {.kind = IGI_SHAPE_UNIFORM};
    igi_simt_shape a = igi_simt_shape_of(s, LLVMGetOperand(i, 0)), b = igi_simt_shape_of(s, LLVMGetOperand(i, 1));
    int64_t factor;
    if (!is_spread(a) || !is_spread(b)) return varying;
    switch (LLVMGetInstructionOpcode(i)) {
        case LLVMAdd: return scaled_sum(s, a, b, 1);
        case LLVMSub: return scaled_sum(s, a, b, -1);
        case LLVMOr: return LLVMGetIsDisjoint(i) ? scaled_sum(s, a, b, 1) : varying;
        case LLVMMul:
        case LLVMShl: return small_factor(i, &factor) ? scaled_sum(s, none, a, factor) : varying;
        default: return varying;
    }
}

igi_simt_shape igi_simt_pattern_address(const igi_simt_shapes *s, igi_simt_shape base, igi_simt_shape index,
                                        uint64_t bytes) {
    bool spread = is_spread(base) && is_spread(index) && s->patterns && bytes < 1 << 20;
    return spread ? scaled_sum(s, base, index, (int64_t)bytes) : (igi_simt_shape){.kind = IGI_SHAPE_VARYING};
}

static bool has_pattern(const igi_simt_shapes *s, LLVMValueRef i) {
    for (int k = 0; k < LLVMGetNumOperands(i); k++)
        if (igi_simt_shape_of(s, LLVMGetOperand(i, (unsigned)k)).kind == IGI_SHAPE_PATTERN) return true;
    return false;
}

static bool has_unreached(const igi_simt_shapes *s, LLVMValueRef i) {
    for (int k = 0; k < LLVMGetNumOperands(i); k++)
        if (igi_simt_shape_of(s, LLVMGetOperand(i, (unsigned)k)).kind == IGI_SHAPE_NONE) return true;
    return false;
}

bool igi_simt_pattern_of(const igi_simt_shapes *s, LLVMValueRef i, igi_simt_shape *shape) {
    if (!s->patterns || (!LLVMIsABinaryOperator(i) && !LLVMIsACastInst(i) && !LLVMIsAFreezeInst(i))) return false;
    if (has_unreached(s, i)) return false;
    if (known_result(s, i, shape)) return true;
    if (!LLVMIsABinaryOperator(i) || !has_pattern(s, i)) return false;
    *shape = relative_sum(s, i);
    return true;
}
