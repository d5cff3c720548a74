// SPDX-License-Identifier: Apache-2.0
// Accesses that turn out at run time to be contiguous. An index computed by masks, shifts or remainders from the
// thread's position (i & (distance - 1), i / width, i % width) is not linear for every width, but usually is for those
// that are used; a check is cheaper than a gather. So are coordinates of textures, which are clamped, or floats.
#include <llvm-c/Target.h>
#include <string.h>

#include "simt/ir.h"
#include "simt/widen.h"

enum { MAX_DEPTH = 8, MAX_STEPS = 96 };

static bool is_linear_operation(LLVMValueRef value) {
    switch (LLVMGetInstructionOpcode(value)) {
        case LLVMAdd:
        case LLVMSub:
        case LLVMMul:
        case LLVMShl:
        case LLVMZExt:
        case LLVMSExt:
        case LLVMTrunc:
        case LLVMGetElementPtr: return true;
        default: return false;
    }
}

static bool is_bit_operation(LLVMValueRef value) {
    switch (LLVMGetInstructionOpcode(value)) {
        case LLVMAnd:
        case LLVMOr:
        case LLVMXor:
        case LLVMLShr:
        case LLVMAShr:
        case LLVMUDiv:
        case LLVMURem:
        case LLVMSelect: return true;
        default: return false;
    }
}

// Whether it is computed from the lane's number by integer arithmetic alone. `bent`: with an operation that is not
// linear.
static bool is_computed(const igi_simt_widener *w, LLVMValueRef value, int depth, bool *bent) {
    if (igi_simt_shape_of(&w->s, value).kind != IGI_SHAPE_VARYING) return true;
    if (depth == 0 || !LLVMIsAInstruction(value)) return false;
    bool bends = is_bit_operation(value);
    *bent |= bends;
    if (!bends && !is_linear_operation(value)) return false;
    for (int k = 0; k < LLVMGetNumOperands(value); k++)
        if (!is_computed(w, LLVMGetOperand(value, (unsigned)k), depth - 1, bent)) return false;
    return true;
}

// ---- Coordinates ----

static bool is_coordinate_call(LLVMValueRef value) {
    static const char *const names[] = {"llvm.smin.",  "llvm.smax.", "llvm.umin.",       "llvm.umax.",
                                        "llvm.floor.", "llvm.rint.", "llvm.fptosi.sat.", "llvm.fptoui.sat.",
                                        "llvm.fma.",   "llvm.abs.",  "llvm.minnum.",     "llvm.maxnum.",
                                        "llvm.fabs.",  "llvm.trunc."};
    const char *name = igi_simt_callee_name(value);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strncmp(name, names[k], strlen(names[k])) == 0) return true;
    return false;
}

// Other operations that textures apply to coordinates.
static bool is_coordinate_operation(LLVMValueRef value) {
    switch (LLVMGetInstructionOpcode(value)) {
        case LLVMFAdd:
        case LLVMFSub:
        case LLVMFMul:
        case LLVMFDiv:
        case LLVMFNeg:
        case LLVMFCmp:
        case LLVMUIToFP:
        case LLVMSIToFP:
        case LLVMFPToUI:
        case LLVMFPToSI: return true;
        case LLVMCall: return is_coordinate_call(value);
        default: return false;
    }
}

static bool is_neutral(LLVMValueRef value) {
    LLVMOpcode opcode = LLVMGetInstructionOpcode(value);
    return opcode == LLVMFreeze || opcode == LLVMBitCast || opcode == LLVMICmp || is_linear_operation(value) ||
           is_bit_operation(value);
}

// Whether it is computed from the lane's number by any arithmetic, in so many steps. `coordinate`: with clamps or floats.
static bool is_calculated(const igi_simt_widener *w, LLVMValueRef value, int *steps, bool *coordinate) {
    if (igi_simt_shape_of(&w->s, value).kind != IGI_SHAPE_VARYING) return true;
    if (--*steps <= 0 || !LLVMIsAInstruction(value)) return false;
    bool special = is_coordinate_operation(value);
    *coordinate |= special;
    if (!special && !is_neutral(value)) return false;
    int count = LLVMIsACallInst(value) ? (int)LLVMGetNumArgOperands(value) : LLVMGetNumOperands(value);
    for (int k = 0; k < count; k++)
        if (!is_calculated(w, LLVMGetOperand(value, (unsigned)k), steps, coordinate)) return false;
    return true;
}

bool igi_simt_is_coordinate(const igi_simt_widener *w, LLVMValueRef address) {
    bool coordinate = false;
    int steps = MAX_STEPS;
    return is_calculated(w, address, &steps, &coordinate) && coordinate;
}

bool igi_simt_may_be_row(const igi_simt_widener *w, LLVMValueRef address, LLVMTypeRef type) {
    bool bent = false;
    bool whole = LLVMGetTypeKind(type) != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(type) % 8 == 0;
    if (!whole || igi_simt_shape_of(&w->s, address).kind != IGI_SHAPE_VARYING) return false;
    return (is_computed(w, address, MAX_DEPTH, &bent) && bent) || igi_simt_is_coordinate(w, address);
}

// ---- Indices ----

bool igi_simt_is_at_hand(const igi_simt_widener *w, LLVMValueRef value) {
    uint32_t number;
    if (!LLVMIsAInstruction(value)) return true;
    if (LLVMGetInstructionParent(value) == w->s.cfg.blocks[w->block].block) return true;
    return igi_map_get(&w->s.index, value, &number) && w->slot[number];
}

bool igi_simt_is_indexed(const igi_simt_widener *w, LLVMValueRef address, uint64_t bytes) {
    if (!LLVMIsAGetElementPtrInst(address) || LLVMGetNumOperands(address) != 2) return false;
    LLVMValueRef base = LLVMGetOperand(address, 0), index = LLVMGetOperand(address, 1);
    bool extended = LLVMIsAZExtInst(index) || LLVMIsASExtInst(index);
    if (!extended || !igi_simt_is_at_hand(w, base) || !igi_simt_is_at_hand(w, LLVMGetOperand(index, 0))) return false;
    return LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(index, 0))) == 32 &&
           LLVMABISizeOfType(w->s.layout, LLVMGetGEPSourceElementType(address)) == bytes &&
           igi_simt_shape_of(&w->s, base).kind == IGI_SHAPE_UNIFORM &&
           igi_simt_shape_of(&w->s, LLVMGetOperand(index, 0)).kind == IGI_SHAPE_VARYING;
}

// Uniform terms do not change the distance between lanes; without them, accesses that differ in nothing else need the
// same check, which LLVM then computes once.
LLVMValueRef igi_simt_without_common(const igi_simt_widener *w, LLVMValueRef index) {
    if (!LLVMIsAInstruction(index) || LLVMGetInstructionOpcode(index) != LLVMAdd) return index;
    for (unsigned k = 0; k < 2; k++) {
        LLVMValueRef common = LLVMGetOperand(index, k), rest = LLVMGetOperand(index, 1 - k);
        if (igi_simt_shape_of(&w->s, common).kind == IGI_SHAPE_UNIFORM && igi_simt_is_at_hand(w, rest)) return rest;
    }
    return index;
}

// ---- The question ----

// Lanes that must agree. In a full group all lanes are threads, and inactive ones have meaningful indices too, so that
// the answer is the same before and after a branch.
static LLVMValueRef lanes_to_compare(const igi_simt_widener *w) {
    return w->full ? NULL : w->mask;
}

// The value that lane 0 has if the lanes are `step` apart.
static LLVMValueRef first_value(igi_simt_widener *w, LLVMValueRef values, uint64_t step) {
    LLVMValueRef mask = lanes_to_compare(w);
    if (!mask) return LLVMBuildExtractElement(w->builder, values, LLVMConstInt(w->i32, 0, 0), "");
    LLVMTypeRef bits = LLVMIntTypeInContext(w->m->context, w->width), type = LLVMGetElementType(LLVMTypeOf(values));
    LLVMValueRef arguments[] = {LLVMBuildBitCast(w->builder, mask, bits, ""), LLVMConstInt(w->i1, 0, 0)};
    LLVMValueRef lane = igi_simt_call_intrinsic(w->builder, "llvm.cttz", &bits, 1, arguments, 2);
    LLVMValueRef one = LLVMBuildExtractElement(w->builder, values, lane, "");
    LLVMValueRef before = LLVMBuildIntCast2(w->builder, lane, type, 0, "");
    return LLVMBuildSub(w->builder, one, LLVMBuildMul(w->builder, before, LLVMConstInt(type, step, 0), ""), "");
}

static LLVMValueRef are_apart(igi_simt_widener *w, LLVMValueRef values, LLVMValueRef first, uint64_t step) {
    LLVMBuilderRef b = w->builder;
    LLVMValueRef steps = igi_simt_lane_numbers(w, LLVMTypeOf(first), 0, (int64_t)step);
    LLVMValueRef hit =
        LLVMBuildICmp(b, LLVMIntEQ, LLVMBuildSub(b, values, igi_simt_splat_value(w, first), ""), steps, "");
    if (lanes_to_compare(w)) hit = LLVMBuildOr(b, hit, LLVMBuildNot(b, lanes_to_compare(w), ""), "");
    return igi_simt_all(w, hit);
}

// Branches to `next` if it holds; leaves the builder there.
static void go_on_if(igi_simt_widener *w, LLVMValueRef holds, LLVMBasicBlockRef next, LLVMBasicBlockRef otherwise) {
    LLVMBuildCondBr(w->builder, holds, next, otherwise);
    LLVMPositionBuilderAtEnd(w->builder, next);
}

LLVMValueRef igi_simt_stays_straight(igi_simt_widener *w, LLVMValueRef extension, LLVMValueRef lowest, uint32_t reach) {
    bool with_sign = LLVMIsASExtInst(extension) != NULL;
    LLVMValueRef limit = LLVMConstInt(w->i32, (with_sign ? INT32_MAX : UINT32_MAX) - reach, 0);
    return LLVMBuildICmp(w->builder, with_sign ? LLVMIntSLE : LLVMIntULE, lowest, limit, "");
}

// Vectors of indices are half as wide as vectors of addresses, but they must not wrap between lanes. That is checked
// separately: the distance between lanes is one check for several accesses.
static void guess_by_index(igi_simt_widener *w, LLVMValueRef address, LLVMTypeRef type, bool reads,
                           igi_simt_guess *guess) {
    LLVMBuilderRef b = w->builder;
    LLVMValueRef extension = LLVMGetOperand(address, 1), index = LLVMGetOperand(extension, 0);
    LLVMValueRef base = igi_simt_widen_scalar(w, LLVMGetOperand(address, 0));
    // Inactive lanes may hold any value, but the check must have a defined result.
    LLVMValueRef all = LLVMBuildFreeze(b, igi_simt_widen_vector(w, index), "");
    LLVMValueRef apart = LLVMBuildFreeze(b, igi_simt_widen_vector(w, igi_simt_without_common(w, index)), "");
    guess->base = base;
    guess->indices = all;
    LLVMValueRef lowest = first_value(w, all, 1);
    LLVMValueRef far = LLVMBuildCast(b, LLVMGetInstructionOpcode(extension), lowest, w->i64, "");
    guess->first = LLVMBuildGEP2(b, LLVMGetGEPSourceElementType(address), base, &far, 1, "");
    bool near = reads && igi_simt_may_be_near(w, address, type), window = igi_simt_may_be_window(w, address, type);
    LLVMBasicBlockRef each = window ? igi_simt_new_block(w, "each") : guess->apart;
    // Lanes in a row are near each other too. One check is computed once for all texels with this coordinate; two would
    // be in each other's way.
    if (near) {
        LLVMBasicBlockRef together = igi_simt_new_block(w, "maybe.near");
        guess->near = igi_simt_new_block(w, "near");
        go_on_if(w, igi_simt_find_near(w, apart, &guess->close), together, each);
        go_on_if(w, igi_simt_place_window(w, address, all, igi_simt_near_lanes(w), &guess->close), guess->near,
                 guess->apart);
    } else {
        LLVMBasicBlockRef row = igi_simt_new_block(w, "maybe.row");
        guess->row = igi_simt_new_block(w, "row");
        go_on_if(w, are_apart(w, apart, first_value(w, apart, 1), 1), row, each);
        go_on_if(w, igi_simt_stays_straight(w, extension, lowest, w->width - 1), guess->row, guess->apart);
    }
    if (!window) return;
    LLVMPositionBuilderAtEnd(b, each);
    LLVMBasicBlockRef together = igi_simt_new_block(w, "maybe.window");
    guess->window = igi_simt_new_block(w, "window");
    go_on_if(w, igi_simt_find_window(w, apart, &guess->places), together, guess->apart);
    go_on_if(w, igi_simt_place_window(w, address, all, IGI_WINDOW_LANES, &guess->places), guess->window, guess->apart);
}

// ---- Lines that are clamped ----

enum { MAX_CLAMPS = 6 };

static bool is_limited_by(LLVMValueRef value, const char *name) {
    return strncmp(igi_simt_callee_name(value), name, strlen(name)) == 0;
}

static bool is_clamp(LLVMValueRef value) {
    return LLVMIsACallInst(value) && (is_limited_by(value, "llvm.smin.") || is_limited_by(value, "llvm.smax.") ||
                                      is_limited_by(value, "llvm.umin.") || is_limited_by(value, "llvm.umax."));
}

// The operand of a clamp that is the same for all lanes, or -1.
static int limit_of(const igi_simt_widener *w, LLVMValueRef clamp) {
    for (unsigned k = 0; k < 2; k++) {
        LLVMValueRef limit = LLVMGetOperand(clamp, k);
        if (igi_simt_shape_of(&w->s, limit).kind == IGI_SHAPE_UNIFORM && igi_simt_is_at_hand(w, limit)) return (int)k;
    }
    return -1;
}

// What an index is without its clamps, if that is a line with a step of 1; NULL if it is not.
static LLVMValueRef clamped_line(const igi_simt_widener *w, LLVMValueRef index, LLVMValueRef *clamps, size_t *count) {
    *count = 0;
    while (is_clamp(index)) {
        int limit = limit_of(w, index);
        if (limit < 0 || *count == MAX_CLAMPS) return NULL;
        clamps[(*count)++] = index;
        index = LLVMGetOperand(index, (unsigned)(1 - limit));
    }
    igi_simt_shape shape = igi_simt_shape_of(&w->s, index);
    bool line = shape.kind == IGI_SHAPE_LINEAR && shape.stride == 1;
    return *count && line && igi_simt_is_at_hand(w, index) ? index : NULL;
}

bool igi_simt_is_clamped_line(const igi_simt_widener *w, LLVMValueRef address) {
    LLVMValueRef clamps[MAX_CLAMPS], index = LLVMIsAGetElementPtrInst(address) ? LLVMGetOperand(address, 1) : address;
    size_t count;
    bool extended = LLVMIsAZExtInst(index) || LLVMIsASExtInst(index);
    return extended && clamped_line(w, LLVMGetOperand(index, 0), clamps, &count);
}

// Whether no lane from `first` to `last` is changed by the clamp. Neither is negative.
static LLVMValueRef is_idle(igi_simt_widener *w, LLVMValueRef clamp, LLVMValueRef first, LLVMValueRef last) {
    LLVMValueRef limit = igi_simt_widen_scalar(w, LLVMGetOperand(clamp, (unsigned)limit_of(w, clamp)));
    bool with_sign = is_limited_by(clamp, "llvm.s"),
         below = is_limited_by(clamp, with_sign ? "llvm.smin." : "llvm.umin.");
    LLVMIntPredicate up = with_sign ? LLVMIntSGE : LLVMIntUGE;
    return below ? LLVMBuildICmp(w->builder, up, limit, last, "") : LLVMBuildICmp(w->builder, up, first, limit, "");
}

// Consecutive indices that are clamped at the edges of a picture are contiguous except at the edges, which is decided by
// the scalars of the first and the last lane. Continues in a new block if they are not contiguous.
static void guess_by_ends(igi_simt_widener *w, LLVMValueRef address, igi_simt_guess *guess) {
    LLVMBuilderRef b = w->builder;
    LLVMValueRef clamps[MAX_CLAMPS];
    size_t count;
    LLVMValueRef line = clamped_line(w, LLVMGetOperand(LLVMGetOperand(address, 1), 0), clamps, &count);
    if (!line) return;
    LLVMValueRef first = LLVMBuildFreeze(b, igi_simt_widen_scalar(w, line), "");
    LLVMValueRef last = LLVMBuildAdd(b, first, LLVMConstInt(w->i32, w->width - 1, 0), "");
    LLVMValueRef idle =
        LLVMBuildICmp(b, LLVMIntULE, first, LLVMConstInt(w->i32, (uint64_t)INT32_MAX - (w->width - 1), 0), "");
    for (size_t i = 0; i < count; i++) idle = LLVMBuildAnd(b, idle, is_idle(w, clamps[i], first, last), "");
    LLVMValueRef far = LLVMBuildZExt(b, first, w->i64, ""), base = igi_simt_widen_scalar(w, LLVMGetOperand(address, 0));
    guess->line = LLVMBuildGEP2(b, LLVMGetGEPSourceElementType(address), base, &far, 1, "");
    guess->inside = igi_simt_new_block(w, "inside");
    LLVMBasicBlockRef edge = igi_simt_new_block(w, "edge");
    LLVMBuildCondBr(b, idle, guess->inside, edge);
    LLVMPositionBuilderAtEnd(b, edge);
}

static void guess_by_address(igi_simt_widener *w, LLVMValueRef address, uint64_t bytes, igi_simt_guess *guess) {
    LLVMValueRef addresses = igi_simt_widen_vector(w, address);
    LLVMValueRef numbers = LLVMBuildPtrToInt(w->builder, addresses, igi_simt_widen_type(w, w->i64), "");
    numbers = LLVMBuildFreeze(w->builder, numbers, "");
    LLVMValueRef lowest = first_value(w, numbers, bytes);
    guess->first = LLVMBuildIntToPtr(w->builder, lowest, w->pointer, "");
    guess->row = igi_simt_new_block(w, "row");
    go_on_if(w, are_apart(w, numbers, lowest, bytes), guess->row, guess->apart);
}

igi_simt_guess igi_simt_guess_places(igi_simt_widener *w, LLVMValueRef address, LLVMTypeRef type, bool reads) {
    uint64_t bytes = LLVMABISizeOfType(w->s.layout, type);
    igi_simt_guess guess = {.apart = igi_simt_new_block(w, "apart"), .after = igi_simt_new_block(w, "")};
    bool indexed = igi_simt_is_indexed(w, address, bytes);
    if (indexed && reads) guess_by_ends(w, address, &guess);
    if (indexed)
        guess_by_index(w, address, type, reads, &guess);
    else
        guess_by_address(w, address, bytes, &guess);
    return guess;
}
