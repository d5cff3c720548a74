// SPDX-License-Identifier: Apache-2.0
// Loads and stores of a group of lanes, and everything that must be done lane by lane.
#include <string.h>

#include "simt/ir.h"
#include "simt/trips.h"
#include "simt/widen.h"

enum { CACHE_LINE = 64, MOST_LINES = 8 };

static uint64_t size_of(const igi_simt_widener *w, LLVMTypeRef type) {
    return LLVMABISizeOfType(w->s.layout, type);
}

bool igi_simt_is_plain_access(LLVMValueRef i, LLVMTypeRef type) {
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    bool scalar = kind == LLVMIntegerTypeKind || kind == LLVMHalfTypeKind || kind == LLVMBFloatTypeKind ||
                  kind == LLVMFloatTypeKind || kind == LLVMPointerTypeKind;
    return scalar && LLVMGetOrdering(i) == LLVMAtomicOrderingNotAtomic && !LLVMGetVolatile(i);
}

bool igi_simt_is_row_access(const igi_simt_widener *w, LLVMValueRef address, LLVMTypeRef type) {
    igi_simt_shape shape = igi_simt_shape_of(&w->s, address);
    bool whole = LLVMGetTypeKind(type) != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(type) % 8 == 0;
    return shape.kind == IGI_SHAPE_LINEAR && shape.stride == (int64_t)size_of(w, type) && whole;
}

static LLVMValueRef alignment(const igi_simt_widener *w, LLVMValueRef access) {
    return LLVMConstInt(w->i32, LLVMGetAlignment(access), 0);
}

static void clone_once(igi_simt_widener *w, LLVMValueRef i) {
    LLVMValueRef copy = LLVMInstructionClone(i);
    for (int k = 0; k < LLVMGetNumOperands(i); k++)
        LLVMSetOperand(copy, (unsigned)k, igi_simt_widen_scalar(w, LLVMGetOperand(i, (unsigned)k)));
    LLVMInsertIntoBuilder(w->builder, copy);
    if (LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMVoidTypeKind) igi_simt_widen_set(w, i, copy, NULL);
    igi_simt_note(w, IGI_REMARK_UNIFORM, i);
}

LLVMValueRef igi_simt_load_masked(igi_simt_widener *w, LLVMTypeRef wide, LLVMValueRef address, unsigned bytes,
                                  LLVMValueRef mask) {
    if (!mask) {
        LLVMValueRef row = LLVMBuildLoad2(w->builder, wide, address, "");
        LLVMSetAlignment(row, bytes);
        return row;
    }
    LLVMTypeRef types[] = {wide, w->pointer};
    LLVMValueRef arguments[] = {address, LLVMConstInt(w->i32, bytes, 0), mask, LLVMConstNull(wide)};
    return igi_simt_call_intrinsic(w->builder, "llvm.masked.load", types, 2, arguments, 4);
}

static bool is_atomic_of_lanes(const igi_simt_widener *w, LLVMValueRef i) {
    return LLVMIsAAtomicRMWInst(i) && igi_simt_shape_of(&w->s, LLVMGetOperand(i, 0)).kind == IGI_SHAPE_VARYING;
}

// Whether this is a loop in which lanes change memory one after the other, as in a histogram. The processor then sees the
// loads of the next rounds too late to hide how long memory takes.
static bool is_in_slow_loop(const igi_simt_widener *w) {
    if (w->m->request->first_tier || w->s.cfg.blocks[w->block].loop == IGI_NONE) return false;
    for (LLVMValueRef i = LLVMGetFirstInstruction(w->s.cfg.blocks[w->block].block); i; i = LLVMGetNextInstruction(i))
        if (is_atomic_of_lanes(w, i)) return true;
    return false;
}

// Whether each round of a short loop reads another row, as where threads walk down columns. The next lanes continue all
// of these rows: more of them than the processor's own prefetchers follow.
static bool is_in_column(const igi_simt_widener *w, LLVMValueRef load) {
    enum { MOST_ROUNDS = 64 };
    uint32_t loop = w->s.cfg.blocks[w->block].loop;
    if (w->m->request->first_tier || loop == IGI_NONE || !igi_simt_trips(&w->s.cfg, loop, MOST_ROUNDS)) return false;
    for (LLVMValueRef i = LLVMGetFirstInstruction(LLVMGetInstructionParent(load)); i != load;
         i = LLVMGetNextInstruction(i))
        if (LLVMIsALoadInst(i) && igi_simt_is_row_access(w, LLVMGetOperand(i, 0), LLVMTypeOf(i))) return false;
    return true;
}

// The cache lines after the row, which the next lanes will read.
static void prefetch_next(igi_simt_widener *w, LLVMValueRef address, uint64_t bytes) {
    for (uint64_t line = 0; line < bytes; line += CACHE_LINE) {
        LLVMValueRef distance = LLVMConstInt(w->i64, bytes < CACHE_LINE ? CACHE_LINE : bytes + line, 0);
        LLVMValueRef next = LLVMBuildGEP2(w->builder, w->i8, address, &distance, 1, "");
        LLVMValueRef arguments[] = {next, LLVMConstInt(w->i32, 0, 0), LLVMConstInt(w->i32, 3, 0),
                                    LLVMConstInt(w->i32, 1, 0)};
        igi_simt_call_intrinsic(w->builder, "llvm.prefetch", &w->pointer, 1, arguments, 4);
    }
}

static LLVMValueRef load_row(igi_simt_widener *w, LLVMValueRef load, LLVMTypeRef wide) {
    igi_simt_note(w, IGI_REMARK_CONTIGUOUS, load);
    LLVMValueRef address = igi_simt_widen_scalar(w, LLVMGetOperand(load, 0));
    uint64_t bytes = size_of(w, wide);
    bool slow = bytes <= (uint64_t)MOST_LINES * CACHE_LINE && is_in_slow_loop(w);
    if (slow || (bytes <= CACHE_LINE && is_in_column(w, load))) prefetch_next(w, address, bytes);
    return igi_simt_load_masked(w, wide, address, LLVMGetAlignment(load), w->mask);
}

LLVMValueRef igi_simt_gather_from(igi_simt_widener *w, LLVMValueRef load, LLVMTypeRef wide, LLVMValueRef addresses) {
    LLVMTypeRef types[] = {wide, LLVMTypeOf(addresses)};
    LLVMValueRef arguments[] = {addresses, alignment(w, load), igi_simt_active_mask(w), LLVMConstNull(wide)};
    return igi_simt_call_intrinsic(w->builder, "llvm.masked.gather", types, 2, arguments, 4);
}

// Addresses of eight bytes, which only this case needs: made here of the indices, they cost the others nothing.
static LLVMValueRef addresses_apart(igi_simt_widener *w, LLVMValueRef address, const igi_simt_guess *guess) {
    if (!guess->indices) return igi_simt_widen_vector(w, address);
    LLVMOpcode extension = LLVMGetInstructionOpcode(LLVMGetOperand(address, 1));
    LLVMTypeRef far = igi_simt_widen_type(w, w->i64);
    LLVMValueRef index = LLVMBuildCast(w->builder, extension, guess->indices, far, "");
    return LLVMBuildGEP2(w->builder, LLVMGetGEPSourceElementType(address), guess->base, &index, 1, "");
}

static LLVMValueRef load_guessed(igi_simt_widener *w, LLVMValueRef load, LLVMTypeRef wide) {
    igi_simt_guess guess = igi_simt_guess_places(w, LLVMGetOperand(load, 0), LLVMTypeOf(load), true);
    LLVMBasicBlockRef ways[5] = {guess.apart};
    LLVMValueRef values[5];
    unsigned count = 1;
    if (guess.row) ways[count++] = guess.row;
    if (guess.near) ways[count++] = guess.near;
    if (guess.window) ways[count++] = guess.window;
    if (guess.inside) ways[count++] = guess.inside;
    for (unsigned i = 0; i < count; i++) {
        LLVMPositionBuilderAtEnd(w->builder, ways[i]);
        if (ways[i] == guess.row || ways[i] == guess.inside)
            values[i] = igi_simt_load_masked(w, wide, ways[i] == guess.row ? guess.first : guess.line,
                                             LLVMGetAlignment(load), w->mask);
        else if (ways[i] == guess.near)
            values[i] = igi_simt_load_near(w, &guess.close, wide, LLVMGetAlignment(load));
        else if (ways[i] == guess.window)
            values[i] = igi_simt_load_window(w, &guess.places, wide, LLVMGetAlignment(load));
        else
            values[i] = igi_simt_gather_from(w, load, wide, addresses_apart(w, LLVMGetOperand(load, 0), &guess));
        LLVMBuildBr(w->builder, guess.after);
    }
    LLVMPositionBuilderAtEnd(w->builder, guess.after);
    LLVMValueRef value = LLVMBuildPhi(w->builder, wide, "");
    LLVMAddIncoming(value, values, ways, count);
    return value;
}

static LLVMValueRef gather_by_call(igi_simt_widener *w, LLVMValueRef load) {
    LLVMValueRef value;
    igi_simt_load_rows_by_call(w, igi_simt_widen_vector(w, LLVMGetOperand(load, 0)), LLVMTypeOf(load), 1, &value);
    return value;
}

static LLVMValueRef gather(igi_simt_widener *w, LLVMValueRef load, LLVMTypeRef wide) {
    if (igi_simt_is_shared(w, LLVMGetOperand(load, 0))) {
        igi_simt_note(w, IGI_REMARK_SHUFFLED, load);
        return igi_simt_load_shared(w, LLVMGetOperand(load, 0), LLVMTypeOf(load), LLVMGetAlignment(load));
    }
    igi_simt_note(w, IGI_REMARK_GATHER, load);
    if (igi_simt_may_call_for_rows(w, LLVMTypeOf(load), 1)) return gather_by_call(w, load);
    bool edge = igi_simt_is_at_edge(load) && igi_simt_is_clamped_line(w, LLVMGetOperand(load, 0));
    bool guess = !edge && igi_simt_may_be_row(w, LLVMGetOperand(load, 0), LLVMTypeOf(load));
    return guess ? load_guessed(w, load, wide)
                 : igi_simt_gather_from(w, load, wide, igi_simt_widen_vector(w, LLVMGetOperand(load, 0)));
}

void igi_simt_widen_load(igi_simt_widener *w, LLVMValueRef load) {
    LLVMValueRef address = LLVMGetOperand(load, 0);
    LLVMTypeRef type = LLVMTypeOf(load);
    if (igi_simt_shape_of(&w->s, address).kind == IGI_SHAPE_UNIFORM) {
        clone_once(w, load);
    } else if (igi_simt_widen_exchange(w, load)) {
        return;
    } else if (!igi_simt_is_plain_access(load, type)) {
        igi_simt_widen_one_by_one(w, load);
    } else if (!igi_simt_widen_bundled(w, load)) {
        LLVMTypeRef wide = igi_simt_widen_type(w, type);
        igi_simt_widen_set(w, load, NULL,
                           igi_simt_is_row_access(w, address, type) ? load_row(w, load, wide) : gather(w, load, wide));
    }
}

void igi_simt_store_masked(igi_simt_widener *w, LLVMValueRef value, LLVMValueRef address, unsigned bytes,
                           LLVMValueRef mask) {
    if (!mask) {
        LLVMSetAlignment(LLVMBuildStore(w->builder, value, address), bytes);
        return;
    }
    LLVMTypeRef types[] = {LLVMTypeOf(value), w->pointer};
    LLVMValueRef arguments[] = {value, address, LLVMConstInt(w->i32, bytes, 0), mask};
    igi_simt_call_intrinsic(w->builder, "llvm.masked.store", types, 2, arguments, 4);
}

static void store_row(igi_simt_widener *w, LLVMValueRef store, LLVMValueRef value) {
    igi_simt_note(w, IGI_REMARK_CONTIGUOUS, store);
    LLVMValueRef address = igi_simt_widen_scalar(w, LLVMGetOperand(store, 1));
    if (!w->mask && igi_simt_is_streamed(w, store))
        igi_simt_store_past_cache(w, value, address, LLVMGetAlignment(store));
    else
        igi_simt_store_masked(w, value, address, LLVMGetAlignment(store), w->mask);
}

void igi_simt_scatter_to(igi_simt_widener *w, LLVMValueRef store, LLVMValueRef value, LLVMValueRef addresses) {
    LLVMTypeRef types[] = {LLVMTypeOf(value), LLVMTypeOf(addresses)};
    LLVMValueRef arguments[] = {value, addresses, alignment(w, store), igi_simt_active_mask(w)};
    igi_simt_call_intrinsic(w->builder, "llvm.masked.scatter", types, 2, arguments, 4);
}

static void store_guessed(igi_simt_widener *w, LLVMValueRef store, LLVMValueRef value, LLVMValueRef addresses) {
    igi_simt_guess guess =
        igi_simt_guess_places(w, LLVMGetOperand(store, 1), LLVMTypeOf(LLVMGetOperand(store, 0)), false);
    LLVMPositionBuilderAtEnd(w->builder, guess.row);
    igi_simt_store_masked(w, value, guess.first, LLVMGetAlignment(store), w->mask);
    LLVMBuildBr(w->builder, guess.after);
    LLVMPositionBuilderAtEnd(w->builder, guess.apart);
    igi_simt_scatter_to(w, store, value, addresses);
    LLVMBuildBr(w->builder, guess.after);
    if (guess.window) {
        LLVMPositionBuilderAtEnd(w->builder, guess.window);
        igi_simt_store_window(w, &guess.places, value, LLVMGetAlignment(store));
        LLVMBuildBr(w->builder, guess.after);
    }
    LLVMPositionBuilderAtEnd(w->builder, guess.after);
}

static void scatter(igi_simt_widener *w, LLVMValueRef store, LLVMValueRef value) {
    igi_simt_note(w, IGI_REMARK_SCATTER, store);
    LLVMValueRef addresses = igi_simt_widen_vector(w, LLVMGetOperand(store, 1));
    LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(store, 0));
    if (igi_simt_may_call_for_rows(w, type, 1))
        igi_simt_store_rows_by_call(w, addresses, &value, 1);
    else if (igi_simt_may_be_row(w, LLVMGetOperand(store, 1), type))
        store_guessed(w, store, value, addresses);
    else
        igi_simt_scatter_to(w, store, value, addresses);
}

// All lanes write to one place, and the last active lane does so after the others. Blocks without active lanes are
// skipped, so there is one.
static void store_last(igi_simt_widener *w, LLVMValueRef store, LLVMValueRef value) {
    LLVMValueRef last = LLVMConstInt(w->i32, w->width - 1, 0);
    if (w->mask) {
        LLVMTypeRef bits = LLVMIntTypeInContext(w->m->context, w->width);
        LLVMValueRef arguments[] = {LLVMBuildBitCast(w->builder, w->mask, bits, ""), LLVMConstInt(w->i1, 1, 0)};
        LLVMValueRef above = igi_simt_call_intrinsic(w->builder, "llvm.ctlz", &bits, 1, arguments, 2);
        last = LLVMBuildSub(w->builder, last, LLVMBuildIntCast2(w->builder, above, w->i32, 0, ""), "");
    }
    LLVMValueRef copy = LLVMInstructionClone(store);
    LLVMSetOperand(copy, 0, LLVMBuildExtractElement(w->builder, value, last, ""));
    LLVMSetOperand(copy, 1, igi_simt_widen_scalar(w, LLVMGetOperand(store, 1)));
    LLVMInsertIntoBuilder(w->builder, copy);
    igi_simt_note(w, IGI_REMARK_UNIFORM, store);
}

void igi_simt_widen_store(igi_simt_widener *w, LLVMValueRef store) {
    LLVMValueRef value = LLVMGetOperand(store, 0), address = LLVMGetOperand(store, 1);
    LLVMTypeRef type = LLVMTypeOf(value);
    bool same_place = igi_simt_shape_of(&w->s, address).kind == IGI_SHAPE_UNIFORM;
    if (same_place && igi_simt_shape_of(&w->s, value).kind == IGI_SHAPE_UNIFORM) {
        clone_once(w, store);
    } else if (igi_simt_widen_exchange(w, store) || igi_simt_widen_bundled(w, store)) {
        return;
    } else if (!igi_simt_is_plain_access(store, type)) {
        igi_simt_widen_one_by_one(w, store);
    } else if (same_place) {
        store_last(w, store, igi_simt_widen_vector(w, value));
    } else if (igi_simt_is_row_access(w, address, type)) {
        store_row(w, store, igi_simt_widen_vector(w, value));
    } else {
        scatter(w, store, igi_simt_widen_vector(w, value));
    }
}

// ---- Lane by lane ----

typedef struct lane_loop {
    LLVMValueRef lane, left;  // the current lane; bits of it and of those still to come
    LLVMBasicBlockRef head, after;
} lane_loop;

LLVMValueRef igi_simt_spill(igi_simt_widener *w, LLVMValueRef wide) {
    LLVMValueRef memory = LLVMBuildAlloca(w->slots, LLVMTypeOf(wide), IGI_TEMPORARY);
    LLVMBuildStore(w->builder, wide, memory);
    return memory;
}

LLVMValueRef igi_simt_element_address(igi_simt_widener *w, LLVMValueRef memory, LLVMTypeRef type, LLVMValueRef lane) {
    return LLVMBuildGEP2(w->builder, type, memory, &lane, 1, "");
}

// for (left = mask; left; left &= left - 1) { lane = cttz(left) ... the builder is left here ... }
static lane_loop begin_lanes(igi_simt_widener *w) {
    LLVMTypeRef bits = LLVMIntTypeInContext(w->m->context, w->width);
    LLVMValueRef all = LLVMBuildBitCast(w->builder, igi_simt_active_mask(w), bits, "");
    lane_loop loop = {.head = igi_simt_new_block(w, "lanes"), .after = igi_simt_new_block(w, "after")};
    LLVMBasicBlockRef before = LLVMGetInsertBlock(w->builder), body = igi_simt_new_block(w, "lane");
    LLVMBuildBr(w->builder, loop.head);
    LLVMPositionBuilderAtEnd(w->builder, loop.head);
    loop.left = LLVMBuildPhi(w->builder, bits, "");
    LLVMAddIncoming(loop.left, &all, &before, 1);
    LLVMValueRef any = LLVMBuildICmp(w->builder, LLVMIntNE, loop.left, LLVMConstNull(bits), "");
    LLVMBuildCondBr(w->builder, any, body, loop.after);
    LLVMPositionBuilderAtEnd(w->builder, body);
    LLVMValueRef arguments[] = {loop.left, LLVMConstInt(w->i1, 1, 0)};
    LLVMValueRef lane = igi_simt_call_intrinsic(w->builder, "llvm.cttz", &bits, 1, arguments, 2);
    loop.lane = LLVMBuildIntCast2(w->builder, lane, w->i32, 0, "");
    return loop;
}

static void end_lanes(igi_simt_widener *w, const lane_loop *loop) {
    LLVMTypeRef bits = LLVMTypeOf(loop->left);
    LLVMValueRef less = LLVMBuildSub(w->builder, loop->left, LLVMConstInt(bits, 1, 0), "");
    LLVMValueRef next = LLVMBuildAnd(w->builder, loop->left, less, "");
    LLVMBasicBlockRef from = LLVMGetInsertBlock(w->builder);
    LLVMAddIncoming(loop->left, &next, &from, 1);
    LLVMBuildBr(w->builder, loop->head);
    LLVMPositionBuilderAtEnd(w->builder, loop->after);
}

static bool is_spillable(LLVMTypeRef type) {
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    bool whole = kind != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(type) % 8 == 0;
    return whole && kind != LLVMVectorTypeKind && kind != LLVMStructTypeKind && kind != LLVMArrayTypeKind &&
           kind != LLVMTokenTypeKind && kind != LLVMMetadataTypeKind;
}

static bool all_spillable(LLVMValueRef i) {
    LLVMTypeRef type = LLVMTypeOf(i);
    if (LLVMGetTypeKind(type) != LLVMVoidTypeKind && !is_spillable(type)) return false;
    for (int k = 0; k < LLVMGetNumOperands(i); k++) {
        LLVMValueRef given = LLVMGetOperand(i, (unsigned)k);
        if (!LLVMIsAFunction(given) && !LLVMIsConstant(given) && !is_spillable(LLVMTypeOf(given))) return false;
    }
    return true;
}

enum { MOST_OPERANDS = 8 };

// Compare-and-exchange returns a pair; its parts are kept as two vectors in memory, which extractvalue finds.
static void one_by_one(igi_simt_widener *w, LLVMValueRef i, LLVMTypeRef result, LLVMValueRef memory,
                       LLVMValueRef flags) {
    igi_simt_note(w, IGI_REMARK_ONE_BY_ONE, i);
    LLVMValueRef spilled[MOST_OPERANDS] = {0};
    int count = LLVMGetNumOperands(i);
    if (count > MOST_OPERANDS) {
        igi_simt_decline(w, "an operation with more than 8 operands", i);
        return;
    }
    for (int k = 0; k < count; k++) {
        LLVMValueRef given = LLVMGetOperand(i, (unsigned)k);
        if (!LLVMIsAFunction(given) && !LLVMIsConstant(given) &&
            igi_simt_shape_of(&w->s, given).kind != IGI_SHAPE_UNIFORM)
            spilled[k] = igi_simt_spill(w, igi_simt_widen_vector(w, given));
        else if (!LLVMIsAFunction(given))
            igi_simt_widen_scalar(w, given);  // loaded before the loop, where it dominates
    }
    lane_loop loop = begin_lanes(w);
    LLVMValueRef copy = LLVMInstructionClone(i);
    for (int k = 0; k < count; k++) {
        LLVMValueRef given = LLVMGetOperand(i, (unsigned)k);
        if (LLVMIsAFunction(given)) continue;
        LLVMTypeRef type = LLVMTypeOf(given);
        LLVMSetOperand(
            copy, (unsigned)k,
            spilled[k] ? LLVMBuildLoad2(w->builder, type, igi_simt_element_address(w, spilled[k], type, loop.lane), "")
                       : igi_simt_widen_scalar(w, given));
    }
    LLVMInsertIntoBuilder(w->builder, copy);
    if (flags) {
        LLVMValueRef old = LLVMBuildExtractValue(w->builder, copy, 0, "");
        LLVMValueRef done = LLVMBuildZExt(w->builder, LLVMBuildExtractValue(w->builder, copy, 1, ""), w->i8, "");
        LLVMBuildStore(w->builder, old, igi_simt_element_address(w, memory, result, loop.lane));
        LLVMBuildStore(w->builder, done, igi_simt_element_address(w, flags, w->i8, loop.lane));
    } else if (memory) {
        LLVMBuildStore(w->builder, copy, igi_simt_element_address(w, memory, result, loop.lane));
    }
    end_lanes(w, &loop);
}

static void exchange_one_by_one(igi_simt_widener *w, LLVMValueRef i) {
    LLVMTypeRef value = LLVMStructGetTypeAtIndex(LLVMTypeOf(i), 0);
    LLVMTypeRef wide = igi_simt_widen_type(w, value), bytes = igi_simt_widen_type(w, w->i8);
    LLVMValueRef memory = LLVMBuildAlloca(w->slots, wide, IGI_TEMPORARY),
                 flags = LLVMBuildAlloca(w->slots, bytes, IGI_TEMPORARY);
    one_by_one(w, i, value, memory, flags);
    LLVMValueRef olds = LLVMBuildLoad2(w->builder, wide, memory, "");
    LLVMValueRef dones = LLVMBuildLoad2(w->builder, bytes, flags, "");
    dones = LLVMBuildICmp(w->builder, LLVMIntNE, dones, LLVMConstNull(bytes), "");
    for (LLVMUseRef use = LLVMGetFirstUse(i); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        bool part = LLVMIsAExtractValueInst(user) && LLVMGetInstructionParent(user) == LLVMGetInstructionParent(i);
        if (!part) {
            igi_simt_decline(w, "an exchange whose result leaves its block", i);
            return;
        }
        igi_simt_widen_set(w, user, NULL, LLVMGetIndices(user)[0] == 0 ? olds : dones);
    }
}

// All lanes are active: one copy for each, without a loop.
static LLVMValueRef one_after_another(igi_simt_widener *w, LLVMValueRef i, LLVMTypeRef wide) {
    LLVMValueRef results = wide ? LLVMGetPoison(wide) : NULL;
    for (uint32_t lane = 0; lane < w->width; lane++) {
        LLVMValueRef copy = LLVMInstructionClone(i);
        for (int k = 0; k < LLVMGetNumOperands(i); k++) {
            LLVMValueRef given = LLVMGetOperand(i, (unsigned)k);
            if (LLVMIsAFunction(given)) continue;
            LLVMSetOperand(copy, (unsigned)k, igi_simt_widen_lane(w, given, lane));
        }
        LLVMInsertIntoBuilder(w->builder, copy);
        LLVMValueRef index = LLVMConstInt(w->i32, lane, 0);
        if (wide) results = LLVMBuildInsertElement(w->builder, results, copy, index, "");
    }
    return results;
}

void igi_simt_widen_one_by_one(igi_simt_widener *w, LLVMValueRef i) {
    LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
    if (igi_simt_widen_shared_atomic(w, i) || igi_simt_widen_atomic_row(w, i)) return;
    if (opcode == LLVMAtomicCmpXchg) {
        exchange_one_by_one(w, i);
        return;
    }
    // Its value was set together with the exchange.
    if (opcode == LLVMExtractValue && LLVMGetInstructionOpcode(LLVMGetOperand(i, 0)) == LLVMAtomicCmpXchg) return;
    if (!all_spillable(i) || LLVMGetNumOperands(i) > 8) {
        igi_simt_decline(w, "an instruction on a type that cannot be widened", i);
        return;
    }
    LLVMTypeRef type = LLVMTypeOf(i);
    bool gives = LLVMGetTypeKind(type) != LLVMVoidTypeKind;
    LLVMTypeRef wide = gives ? igi_simt_widen_type(w, type) : NULL;
    if (!w->mask) {
        LLVMValueRef results = one_after_another(w, i, wide);
        if (gives) igi_simt_widen_set(w, i, NULL, results);
        return;
    }
    LLVMValueRef memory = gives ? LLVMBuildAlloca(w->slots, wide, IGI_TEMPORARY) : NULL;
    one_by_one(w, i, type, memory, NULL);
    if (gives) igi_simt_widen_set(w, i, NULL, LLVMBuildLoad2(w->builder, wide, memory, ""));
}
