// SPDX-License-Identifier: Apache-2.0
// Lane operations, in registers: the group of lanes is the simdgroup, or several of them.
#include <stdlib.h>
#include <string.h>

#include "simt/ir.h"
#include "simt/widen.h"

enum { SIMD = IGI_SIMD_WIDTH };

typedef struct lane_op {
    igi_simt_widener *w;
    LLVMValueRef call;
    LLVMTypeRef type;  // of one lane
    uint32_t set;      // 32 or 4 lanes take part together
    bool is_float, is_signed;
} lane_op;

static LLVMValueRef number(const lane_op *op, uint64_t value) {
    return LLVMConstInt(op->type, value, 0);
}

// ---- Shuffles ----

// lanes[index]; a constant index is a plain shuffle.
static LLVMValueRef permute(igi_simt_widener *w, LLVMValueRef lanes, LLVMValueRef index) {
    LLVMTypeRef type = LLVMTypeOf(lanes);
    if (LLVMIsConstant(index)) return LLVMBuildShuffleVector(w->builder, lanes, LLVMGetPoison(type), index, "");
    LLVMValueRef memory = LLVMBuildAlloca(w->slots, type, IGI_TEMPORARY);
    LLVMSetAlignment(memory, 64);
    LLVMBuildStore(w->builder, lanes, memory);
    LLVMTypeRef element = LLVMGetElementType(type);
    LLVMValueRef wide_index = LLVMBuildZExt(w->builder, index, igi_simt_widen_type(w, w->i64), "");
    LLVMValueRef addresses = LLVMBuildGEP2(w->builder, element, memory, &wide_index, 1, "");
    LLVMTypeRef types[] = {type, LLVMTypeOf(addresses)};
    LLVMValueRef arguments[] = {addresses, LLVMConstInt(w->i32, LLVMABIAlignmentOfType(w->s.layout, element), 0),
                                LLVMConstAllOnes(w->mask_type), LLVMConstNull(type)};
    return igi_simt_call_intrinsic(w->builder, "llvm.masked.gather", types, 2, arguments, 4);
}

static LLVMValueRef source_index(const lane_op *op, const char *kind, LLVMValueRef argument) {
    igi_simt_widener *w = op->w;
    LLVMBuilderRef b = w->builder;
    LLVMTypeRef type = igi_simt_widen_type(w, w->i32);
    LLVMValueRef self = igi_simt_lane_numbers(w, w->i32, 0, 1), last = igi_simt_splat(type, op->set - 1, false);
    LLVMValueRef within = LLVMBuildAnd(b, self, last, ""), base = LLVMBuildXor(b, self, within, ""), index;
    if (strcmp(kind, "shuffle") == 0) {
        index = LLVMBuildAnd(b, argument, last, "");
    } else if (strcmp(kind, "shuffle_xor") == 0) {
        index = LLVMBuildAnd(b, LLVMBuildXor(b, within, argument, ""), last, "");
    } else if (strcmp(kind, "shuffle_up") == 0) {
        LLVMValueRef inside = LLVMBuildICmp(b, LLVMIntUGE, within, argument, "");
        index = LLVMBuildSelect(b, inside, LLVMBuildSub(b, within, argument, ""), within, "");
    } else if (strcmp(kind, "shuffle_down") == 0) {
        LLVMValueRef room = LLVMBuildSub(b, igi_simt_splat(type, op->set, false), within, "");
        LLVMValueRef inside = LLVMBuildICmp(b, LLVMIntULT, argument, room, "");
        index = LLVMBuildSelect(b, inside, LLVMBuildAdd(b, within, argument, ""), within, "");
    } else {
        bool up = strcmp(kind, "rotate_up") == 0;
        LLVMValueRef moved = up ? LLVMBuildSub(b, within, argument, "") : LLVMBuildAdd(b, within, argument, "");
        index = LLVMBuildAnd(b, moved, last, "");
    }
    return LLVMBuildAdd(b, base, index, "");
}

static void shuffle(const lane_op *op, const char *kind) {
    igi_simt_widener *w = op->w;
    LLVMValueRef value = LLVMGetOperand(op->call, 0), argument = LLVMGetOperand(op->call, 1);
    LLVMValueRef lanes = igi_simt_widen_vector(w, value);
    if (igi_simt_shape_of(&w->s, op->call).kind == IGI_SHAPE_UNIFORM) {
        LLVMValueRef lane =
            LLVMBuildAnd(w->builder, igi_simt_widen_scalar(w, argument), LLVMConstInt(w->i32, SIMD - 1, 0), "");
        igi_simt_widen_set(w, op->call, LLVMBuildExtractElement(w->builder, lanes, lane, ""), NULL);
        return;
    }
    LLVMValueRef index = source_index(op, kind, igi_simt_widen_vector(w, argument));
    igi_simt_widen_set(w, op->call, NULL, permute(w, lanes, index));
}

// ---- Reductions ----

static LLVMValueRef identity(const lane_op *op, const char *kind) {
    unsigned bits = op->is_float ? 32 : LLVMGetIntTypeWidth(op->type);
    uint64_t ones = bits == 64 ? UINT64_MAX : (1ull << bits) - 1, top = 1ull << (bits - 1);
    if (op->is_float) {
        double value = 0;
        if (strcmp(kind, "mul") == 0) value = 1;
        if (strcmp(kind, "min") == 0 || strcmp(kind, "max") == 0)
            return LLVMConstBitCast(LLVMConstInt(op->w->i32, 0x7fc00000, 0), op->type);  // NaN loses
        return LLVMConstReal(op->type, value == 0 ? -0.0 : value);
    }
    if (strcmp(kind, "mul") == 0) return number(op, 1);
    if (strcmp(kind, "and") == 0) return number(op, ones);
    if (strcmp(kind, "min") == 0) return number(op, op->is_signed ? top - 1 : ones);
    if (strcmp(kind, "max") == 0) return number(op, op->is_signed ? top : 0);
    return number(op, 0);
}

static LLVMValueRef combine(const lane_op *op, const char *kind, LLVMValueRef a, LLVMValueRef c) {
    LLVMBuilderRef b = op->w->builder;
    LLVMTypeRef type = LLVMTypeOf(a);
    LLVMValueRef pair[] = {a, c};
    bool low = strcmp(kind, "min") == 0;
    if (low || strcmp(kind, "max") == 0) {
        const char *name = op->is_float    ? (low ? "llvm.minnum" : "llvm.maxnum")
                           : op->is_signed ? (low ? "llvm.smin" : "llvm.smax")
                                           : (low ? "llvm.umin" : "llvm.umax");
        return igi_simt_call_intrinsic(b, name, &type, 1, pair, 2);
    }
    if (strcmp(kind, "add") == 0) return op->is_float ? LLVMBuildFAdd(b, a, c, "") : LLVMBuildAdd(b, a, c, "");
    if (strcmp(kind, "mul") == 0) return op->is_float ? LLVMBuildFMul(b, a, c, "") : LLVMBuildMul(b, a, c, "");
    if (strcmp(kind, "and") == 0) return LLVMBuildAnd(b, a, c, "");
    return strcmp(kind, "or") == 0 ? LLVMBuildOr(b, a, c, "") : LLVMBuildXor(b, a, c, "");
}

static LLVMValueRef lanes_or_identity(const lane_op *op, const char *kind) {
    igi_simt_widener *w = op->w;
    LLVMValueRef lanes = igi_simt_widen_vector(w, LLVMGetOperand(op->call, 0));
    if (!w->mask) return lanes;
    return LLVMBuildSelect(w->builder, w->mask, lanes, igi_simt_splat_value(w, identity(op, kind)), "");
}

// Several simdgroups, one after the other: only the lower half of each is computed, then a quarter, and all its lanes get
// what the first one has.
static LLVMValueRef reduce_simdgroups(const lane_op *op, const char *kind, LLVMValueRef lanes) {
    igi_simt_widener *w = op->w;
    LLVMValueRef sums[IGI_MAX_WIDTH / SIMD];
    for (uint32_t first = 0; first < w->width; first += SIMD) {
        LLVMValueRef sum = igi_simt_part(w, lanes, first, SIMD);
        for (uint32_t left = SIMD / 2; left > 0; left /= 2)
            sum = combine(op, kind, igi_simt_part(w, sum, 0, left), igi_simt_part(w, sum, left, left));
        sum = LLVMBuildExtractElement(w->builder, sum, LLVMConstInt(w->i32, 0, 0), "");
        sums[first / SIMD] = igi_simt_spread(w, sum, SIMD);
    }
    return igi_simt_join(w, sums, w->width / SIMD, SIMD);
}

// Distances halve: first with distant lanes, last with the neighbour.
static void reduce(const lane_op *op, const char *kind) {
    igi_simt_widener *w = op->w;
    if (op->set == SIMD && op->set < w->width) {
        igi_simt_widen_set(w, op->call, NULL, reduce_simdgroups(op, kind, lanes_or_identity(op, kind)));
        return;
    }
    LLVMValueRef lanes = lanes_or_identity(op, kind), self = igi_simt_lane_numbers(w, w->i32, 0, 1);
    LLVMTypeRef type = LLVMTypeOf(self);
    for (uint32_t distance = op->set / 2; distance > 0; distance /= 2) {
        LLVMValueRef partner = LLVMBuildXor(w->builder, self, igi_simt_splat(type, distance, false), "");
        lanes = combine(op, kind, lanes, permute(w, lanes, partner));
    }
    if (op->set == w->width)
        igi_simt_widen_set(w, op->call, LLVMBuildExtractElement(w->builder, lanes, LLVMConstInt(w->i32, 0, 0), ""),
                           NULL);
    else
        igi_simt_widen_set(w, op->call, NULL, lanes);
}

static void scan(const lane_op *op, const char *kind, bool inclusive) {
    igi_simt_widener *w = op->w;
    LLVMBuilderRef b = w->builder;
    LLVMValueRef lanes = lanes_or_identity(op, kind), nothing = igi_simt_splat_value(w, identity(op, kind));
    LLVMTypeRef type = igi_simt_widen_type(w, w->i32);
    LLVMValueRef self = igi_simt_lane_numbers(w, w->i32, 0, 1);
    LLVMValueRef within = LLVMBuildAnd(b, self, igi_simt_splat(type, op->set - 1, false), "");
    for (uint32_t distance = 1; distance <= op->set; distance *= 2) {
        // The last step moves everything by one lane, for the exclusive form.
        bool last = distance == op->set;
        if (last && inclusive) break;
        LLVMValueRef step = igi_simt_splat(type, last ? 1 : distance, false);
        LLVMValueRef inside = LLVMBuildICmp(b, LLVMIntUGE, within, step, "");
        LLVMValueRef from = LLVMBuildSelect(b, inside, LLVMBuildSub(b, self, step, ""), self, "");
        LLVMValueRef moved = LLVMBuildSelect(b, inside, permute(w, lanes, from), nothing, "");
        lanes = last ? moved : combine(op, kind, moved, lanes);
    }
    igi_simt_widen_set(w, op->call, NULL, lanes);
}

// For each lane, the votes of its simdgroup.
static LLVMValueRef votes_of_simdgroup(igi_simt_widener *w, LLVMValueRef votes) {
    uint32_t simdgroup[IGI_MAX_WIDTH];
    for (uint32_t lane = 0; lane < w->width; lane++) simdgroup[lane] = lane / SIMD;
    LLVMTypeRef words = LLVMVectorType(w->i32, w->width / SIMD);
    LLVMValueRef bits = LLVMBuildBitCast(w->builder, votes, words, "");
    LLVMValueRef mask = igi_simt_shuffle_mask(w, simdgroup, w->width);
    bits = LLVMBuildShuffleVector(w->builder, bits, LLVMGetPoison(words), mask, "");
    return LLVMBuildZExt(w->builder, bits, igi_simt_widen_type(w, w->i64), "");
}

static void ballot(const lane_op *op) {
    igi_simt_widener *w = op->w;
    LLVMBuilderRef b = w->builder;
    LLVMValueRef votes =
        LLVMBuildAnd(b, igi_simt_widen_vector(w, LLVMGetOperand(op->call, 0)), igi_simt_active_mask(w), "");
    if (op->set == w->width) {
        igi_simt_widen_set(w, op->call, LLVMBuildZExt(b, LLVMBuildBitCast(b, votes, w->i32, ""), w->i64, ""), NULL);
        return;
    }
    LLVMTypeRef type = igi_simt_widen_type(w, w->i64);
    LLVMValueRef bits = votes_of_simdgroup(w, votes);
    if (op->set != SIMD) {
        LLVMValueRef first =
            LLVMBuildAnd(b, igi_simt_lane_numbers(w, w->i64, 0, 1), igi_simt_splat(type, 28, false), "");
        bits = LLVMBuildAnd(b, LLVMBuildLShr(b, bits, first, ""), igi_simt_splat(type, 15, false), "");
    }
    igi_simt_widen_set(w, op->call, NULL, bits);
}

// ---- Which is which ----

static bool parse(lane_op *op, const char *name, char kind[24]) {
    const char *suffix = strrchr(name, '_');
    size_t length = suffix ? (size_t)(suffix - name) : 0;
    if (!length || length >= 24) return false;
    memcpy(kind, name, length);
    kind[length] = 0;
    op->is_float = suffix[1] == 'f';
    op->is_signed = suffix[1] == 'i';
    return true;
}

// Groups of lanes begin at multiples of 32 threads (igi_simt_can_run_group).
static bool place_in_group(igi_simt_widener *w, LLVMValueRef call, const char *name) {
    LLVMValueRef index = LLVMGetOperand(call, 0);
    if (strcmp(name, "simd_lane") == 0)
        igi_simt_widen_set(w, call, LLVMConstInt(w->i32, 0, 0), NULL);
    else if (strcmp(name, "simd_index") == 0)
        igi_simt_widen_set(
            w, call, LLVMBuildLShr(w->builder, igi_simt_widen_scalar(w, index), LLVMConstInt(w->i32, 5, 0), ""), NULL);
    else
        return false;
    return true;
}

// Whether it holds for all active lanes.
static void inside(igi_simt_widener *w, LLVMValueRef call) {
    LLVMValueRef holds = LLVMBuildFreeze(w->builder, igi_simt_widen_vector(w, LLVMGetOperand(call, 0)), "");
    if (w->mask) holds = LLVMBuildOr(w->builder, holds, LLVMBuildNot(w->builder, w->mask, ""), "");
    igi_simt_widen_set(w, call, igi_simt_all(w, holds), NULL);
}

bool igi_simt_widen_lane_operation(igi_simt_widener *w, LLVMValueRef call) {
    const char *name = igi_simt_callee_name(call);
    if (strncmp(name, "__ig_", 5) != 0) return false;
    if (strcmp(name, IGI_INSIDE) == 0) {
        inside(w, call);
        return true;
    }
    name += 5;
    if (strcmp(name, "barrier") == 0) return false;      // waits as a whole: a plain call
    if (strcmp(name, "simd_barrier") == 0) return true;  // lanes are together anyway
    if (place_in_group(w, call, name)) return true;
    if (w->width % SIMD != 0) {
        igi_simt_decline(w, "a lane operation in a group that is not a simdgroup", call);
        return true;
    }
    lane_op op = {.w = w, .call = call, .type = LLVMTypeOf(call), .set = SIMD};
    LLVMValueRef last = LLVMGetOperand(call, LLVMGetNumArgOperands(call) - 1);
    if (LLVMIsAConstantInt(last) && LLVMTypeOf(last) == w->i32) op.set = (uint32_t)LLVMConstIntGetZExtValue(last);
    char kind[24];
    if (strcmp(name, "ballot") == 0) {
        ballot(&op);
    } else if (igi_simt_widen_matrix_operation(w, call, name)) {
        return true;
    } else if (!parse(&op, name, kind)) {
        igi_simt_decline(w, "an unknown lane operation", call);
    } else if (strncmp(kind, "reduce_", 7) == 0) {
        reduce(&op, kind + 7);
    } else if (strncmp(kind, "scan_inclusive_", 15) == 0) {
        scan(&op, kind + 15, true);
    } else if (strncmp(kind, "scan_exclusive_", 15) == 0) {
        scan(&op, kind + 15, false);
    } else {
        shuffle(&op, kind);
    }
    return true;
}
