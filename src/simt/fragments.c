// SPDX-License-Identifier: Apache-2.0
// Loads of matrices that kernels spell out: each lane computes the place of its two elements of a simdgroup matrix from
// its number, and loads them. Such a pair becomes a load of the whole matrix, by rows, instead of two gathers.
//
// An address is followed back to the number of the lane. What is known of a value are the differences between its lanes,
// which must be constants, and a bound, from which follows that nothing wraps where an integer is extended.
#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/pointer-map.h"
#include "simt/ir.h"
#include "simt/passes.h"
#include "simt/shape.h"

enum { LANES = IGI_SIMD_WIDTH, DEEPEST = 40, MOST_VALUES = 4096 };

#define NO_BOUND UINT64_MAX

typedef struct lanes {
    bool known;
    bool absolute;      // `at` are the values themselves; otherwise they are relative to a value that all lanes share
    uint64_t bound;     // no lane has more, as an unsigned number
    int64_t at[LANES];  // wraps as 64-bit integers do
} lanes;

typedef struct finder {
    igi_simt_module *m;
    igi_simt_shapes s;
    igi_pointer_map number;  // value -> its place in `found`
    lanes *found;
    uint32_t count;
    igi_pointer_map first;   // value -> its place in `firsts`
    igi_simt_values firsts;  // what it is in lane 0
    bool no_memory;
} finder;

// ---- Differences between lanes ----

static lanes lanes_of(finder *f, LLVMValueRef value, int depth);

static unsigned bits_of(LLVMValueRef value) {
    LLVMTypeRef type = LLVMTypeOf(value);
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(type) : 64;
}

static uint64_t largest(unsigned bits) {
    return bits >= 64 ? UINT64_MAX : (1ull << bits) - 1;
}

// Nothing is known of a sum or product that may not fit.
static uint64_t bounded(bool fits, uint64_t bound, unsigned bits) {
    return fits && bound <= largest(bits) >> 1 ? bound : NO_BOUND;
}

static lanes shared(uint64_t bound) {
    return (lanes){.known = true, .bound = bound};
}

static lanes constant(LLVMValueRef value) {
    uint64_t number = LLVMConstIntGetZExtValue(value);
    lanes result = {.known = true, .absolute = true, .bound = number};
    for (uint32_t l = 0; l < LANES; l++) result.at[l] = (int64_t)number;
    return result;
}

static lanes lane_numbers(void) {
    lanes result = {.known = true, .absolute = true, .bound = LANES - 1};
    for (uint32_t l = 0; l < LANES; l++) result.at[l] = l;
    return result;
}

static lanes add(lanes a, lanes b, unsigned bits) {
    uint64_t bound;
    bool fits = a.bound != NO_BOUND && b.bound != NO_BOUND && igi_add(a.bound, b.bound, &bound);
    lanes result = {.known = true, .absolute = a.absolute && b.absolute};
    result.bound = bounded(fits, fits ? bound : 0, bits);
    // A narrow integer that may wrap has no constant differences.
    result.known = bits == 64 || result.bound != NO_BOUND;
    for (uint32_t l = 0; l < LANES; l++) result.at[l] = (int64_t)((uint64_t)a.at[l] + (uint64_t)b.at[l]);
    return result;
}

static lanes scale(lanes a, uint64_t factor, unsigned bits) {
    uint64_t bound;
    bool fits = a.bound != NO_BOUND && igi_mul(a.bound, factor, &bound);
    lanes result = {.known = true, .absolute = a.absolute, .bound = bounded(fits, fits ? bound : 0, bits)};
    result.known = bits == 64 || result.bound != NO_BOUND;
    for (uint32_t l = 0; l < LANES; l++) result.at[l] = (int64_t)((uint64_t)a.at[l] * factor);
    return result;
}

// Of numbers that are known, and positive.
static uint64_t combine(LLVMOpcode opcode, uint64_t a, uint64_t b) {
    switch (opcode) {
        case LLVMAnd: return a & b;
        case LLVMOr: return a | b;
        case LLVMXor: return a ^ b;
        case LLVMUDiv:
        case LLVMSDiv: return b ? a / b : 0;
        case LLVMURem:
        case LLVMSRem: return b ? a % b : 0;
        default: return b < 64 ? a >> b : 0;  // shifts to the right
    }
}

static lanes combined(LLVMOpcode opcode, lanes a, lanes b, unsigned bits) {
    lanes result = {.known = true, .absolute = true};
    if (!a.absolute || !b.absolute || a.bound > largest(bits) >> 1 || b.bound > largest(bits) >> 1) return (lanes){0};
    for (uint32_t l = 0; l < LANES; l++) {
        uint64_t number = combine(opcode, (uint64_t)a.at[l], (uint64_t)b.at[l]);
        result.at[l] = (int64_t)number;
        if (number > result.bound) result.bound = number;
    }
    return result;
}

static bool constant_operand(LLVMValueRef i, unsigned k, uint64_t *number) {
    LLVMValueRef operand = LLVMGetOperand(i, k);
    if (LLVMIsAConstantInt(operand)) *number = LLVMConstIntGetZExtValue(operand);
    return LLVMIsAConstantInt(operand) != NULL;
}

// (x << a) >> b extends the sign of a narrow integer, and scales it.
static lanes extended_by_shifts(finder *f, LLVMValueRef ashr, int depth) {
    LLVMValueRef shl = LLVMGetOperand(ashr, 0);
    uint64_t up = 0, down = 0;
    unsigned bits = bits_of(ashr);
    if (!LLVMIsAInstruction(shl) || LLVMGetInstructionOpcode(shl) != LLVMShl) return (lanes){0};
    if (!constant_operand(shl, 1, &up) || !constant_operand(ashr, 1, &down) || up >= bits || down > up)
        return (lanes){0};
    lanes x = lanes_of(f, LLVMGetOperand(shl, 0), depth);
    if (!x.known || x.bound > largest(bits) >> 1 >> up) return (lanes){0};
    return scale(x, 1ull << (up - down), bits);
}

static lanes of_operator(finder *f, LLVMValueRef i, int depth) {
    LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
    uint64_t number = 0;
    unsigned bits = bits_of(i);
    if (opcode == LLVMAShr) {
        lanes extended = extended_by_shifts(f, i, depth);
        if (extended.known) return extended;
    }
    lanes a = lanes_of(f, LLVMGetOperand(i, 0), depth), b = lanes_of(f, LLVMGetOperand(i, 1), depth);
    if (!a.known || !b.known) return (lanes){0};
    if (opcode == LLVMAdd || (opcode == LLVMOr && LLVMGetIsDisjoint(i))) return add(a, b, bits);
    if (opcode == LLVMMul && constant_operand(i, 1, &number)) return scale(a, number, bits);
    if (opcode == LLVMShl && constant_operand(i, 1, &number) && number < bits) return scale(a, 1ull << number, bits);
    return opcode == LLVMSub || opcode == LLVMMul || opcode == LLVMShl ? (lanes){0} : combined(opcode, a, b, bits);
}

static lanes of_conversion(finder *f, LLVMValueRef i, int depth) {
    LLVMValueRef operand = LLVMGetOperand(i, 0);
    lanes x = lanes_of(f, operand, depth);
    unsigned narrow = bits_of(i) < bits_of(operand) ? bits_of(i) : bits_of(operand);
    return x.known && x.bound <= largest(narrow) >> 1 ? x : (lanes){0};
}

// What one index of an address adds to it. The type is that of what it counts.
static lanes of_index(finder *f, LLVMValueRef index, LLVMTypeRef type, int depth) {
    lanes x = bits_of(index) == 64 ? lanes_of(f, index, depth) : (lanes){0};
    return x.known ? scale(x, LLVMABISizeOfType(f->s.layout, type), 64) : x;
}

static lanes of_address(finder *f, LLVMValueRef gep, int depth) {
    lanes sum = lanes_of(f, LLVMGetOperand(gep, 0), depth);
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    for (unsigned k = 1; sum.known && k < (unsigned)LLVMGetNumOperands(gep); k++) {
        if (k > 1 && LLVMGetTypeKind(type) != LLVMArrayTypeKind) return (lanes){0};
        if (k > 1) type = LLVMGetElementType(type);
        lanes step = of_index(f, LLVMGetOperand(gep, k), type, depth);
        sum = step.known ? add(sum, step, 64) : step;
    }
    return sum;
}

// The bound of a value that all lanes share.
static uint64_t shared_bound(finder *f, LLVMValueRef i, int depth) {
    if (igi_simt_calls(i, "__ig_simd_index")) return IGI_MAX_GROUP_THREADS / LANES - 1;
    uint64_t mask = 0, bound = NO_BOUND;
    bool masks = LLVMGetInstructionOpcode(i) == LLVMAnd && constant_operand(i, 1, &mask);
    bool truncates = LLVMGetInstructionOpcode(i) == LLVMTrunc;
    if (masks || truncates) {
        lanes x = lanes_of(f, LLVMGetOperand(i, 0), depth);
        if (x.known && x.bound <= largest(bits_of(i)) >> 1) bound = x.bound;
        if (masks && mask < bound && mask <= largest(bits_of(i)) >> 1) bound = mask;
        return bound;
    }
    if (LLVMIsABinaryOperator(i)) return of_operator(f, i, depth).known ? of_operator(f, i, depth).bound : NO_BOUND;
    if (LLVMIsACastInst(i) && LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMIntegerTypeKind) {
        lanes x = of_conversion(f, i, depth);
        return x.known ? x.bound : NO_BOUND;
    }
    return NO_BOUND;
}

static lanes compute(finder *f, LLVMValueRef i, int depth) {
    if (igi_simt_calls(i, "__ig_simd_lane")) return lane_numbers();
    if (igi_simt_shape_of(&f->s, i).kind == IGI_SHAPE_UNIFORM) return shared(shared_bound(f, i, depth));
    if (LLVMIsABinaryOperator(i) && LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMIntegerTypeKind)
        return of_operator(f, i, depth);
    switch (LLVMGetInstructionOpcode(i)) {
        case LLVMZExt:
        case LLVMSExt:
        case LLVMTrunc: return of_conversion(f, i, depth);
        case LLVMGetElementPtr: return of_address(f, i, depth);
        default: return (lanes){0};
    }
}

static lanes lanes_of(finder *f, LLVMValueRef value, int depth) {
    uint32_t number;
    if (LLVMIsAConstantInt(value) && bits_of(value) <= 64) return constant(value);
    if (!LLVMIsAInstruction(value)) return value == f->s.linear_argument ? (lanes){0} : shared(NO_BOUND);
    if (depth == 0) return (lanes){0};
    if (igi_map_get(&f->number, value, &number)) return f->found[number];
    lanes result = compute(f, value, depth - 1);
    if (f->count == MOST_VALUES) return result;
    f->no_memory |= !igi_map_set(&f->number, value, f->count);
    if (!f->no_memory) f->found[f->count++] = result;
    return result;
}

// ---- Lane 0 ----

static void drop_promises(LLVMValueRef i) {
    switch (LLVMGetInstructionOpcode(i)) {
        case LLVMAdd:
        case LLVMSub:
        case LLVMMul:
        case LLVMShl: LLVMSetNUW(i, 0), LLVMSetNSW(i, 0); break;
        case LLVMUDiv:
        case LLVMSDiv:
        case LLVMLShr:
        case LLVMAShr: LLVMSetExact(i, 0); break;
        case LLVMOr: LLVMSetIsDisjoint(i, 0); break;
        case LLVMGetElementPtr: LLVMSetIsInBounds(i, 0); break;
        case LLVMZExt: LLVMSetNNeg(i, 0); break;
        default: break;
    }
}

// The value in lane 0, computed from values that all lanes share. pre: its lanes are known.
static LLVMValueRef in_first_lane(finder *f, LLVMBuilderRef builder, LLVMValueRef value) {
    uint32_t number;
    if (!LLVMIsAInstruction(value)) return value;
    if (igi_simt_calls(value, "__ig_simd_lane")) return LLVMConstNull(LLVMTypeOf(value));
    if (igi_simt_shape_of(&f->s, value).kind == IGI_SHAPE_UNIFORM) return value;
    if (igi_map_get(&f->first, value, &number)) return f->firsts.items[number];
    LLVMValueRef copy = LLVMInstructionClone(value);
    for (int k = 0; k < LLVMGetNumOperands(value); k++)
        LLVMSetOperand(copy, (unsigned)k, in_first_lane(f, builder, LLVMGetOperand(value, (unsigned)k)));
    LLVMPositionBuilderBefore(builder, value);
    LLVMInsertIntoBuilder(builder, copy);
    drop_promises(copy);
    f->no_memory |= !igi_map_set(&f->first, value, (uint32_t)f->firsts.count);
    f->no_memory |= !igi_simt_values_add(&f->firsts, copy);
    return copy;
}

// ---- Pairs of loads ----

typedef struct fragment {
    uint64_t stride;  // elements
    bool transposed;
    uint64_t bytes;  // of an element
} fragment;

// Where Metal puts the first element of each lane.
static uint32_t row_of(uint32_t lane) {
    return lane / 16 * 4 + lane / 2 % 4;
}

static uint32_t column_of(uint32_t lane) {
    return lane / 8 % 2 * 4 + lane % 2 * 2;
}

static bool is_laid_out(const lanes *x, const fragment *g) {
    for (uint32_t l = 0; l < LANES; l++) {
        uint64_t across = g->transposed ? row_of(l) : column_of(l), down = g->transposed ? column_of(l) : row_of(l);
        if (x->at[l] - x->at[0] != (int64_t)((down * g->stride + across) * g->bytes)) return false;
    }
    return true;
}

// Lane 1 is two columns further, lane 2 one row.
static bool find_layout(const lanes *x, fragment *g) {
    if (!x->known) return false;
    int64_t row = x->at[2] - x->at[0], columns = x->at[1] - x->at[0], bytes = (int64_t)g->bytes;
    g->transposed = columns != 2 * bytes;
    int64_t stride = g->transposed ? columns / 2 : row;
    if (stride <= 0 || stride % bytes) return false;
    g->stride = (uint64_t)(stride / bytes);
    return is_laid_out(x, g);
}

static bool is_element_load(LLVMValueRef i) {
    if (!LLVMIsALoadInst(i) || LLVMGetVolatile(i) || LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic) return false;
    LLVMTypeRef type = LLVMTypeOf(i);
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    return kind == LLVMFloatTypeKind || kind == LLVMHalfTypeKind || kind == LLVMBFloatTypeKind ||
           (kind == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 16);
}

// base + index + offset, in bytes. The index is without its extensions and constant parts.
typedef struct place {
    LLVMValueRef base, index;
    uint64_t scale, offset;
} place;

static bool adds_constant(LLVMValueRef i, uint64_t *number) {
    LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
    if (opcode != LLVMAdd && !(opcode == LLVMOr && LLVMGetIsDisjoint(i))) return false;
    return constant_operand(i, 1, number) && *number <= largest(bits_of(i)) >> 1;
}

// pre: the lanes of the address are known, so that no part of it wraps.
static place place_of(const finder *f, LLVMValueRef pointer) {
    place p = {0};
    uint64_t step = 0;
    while (igi_simt_constant_offset(pointer, &step)) {
        p.offset += step;
        pointer = LLVMGetOperand(pointer, 0);
    }
    p.base = pointer;
    if (!LLVMIsAGetElementPtrInst(pointer) || LLVMGetNumOperands(pointer) != 2) return p;
    p.base = LLVMGetOperand(pointer, 0);
    p.index = LLVMGetOperand(pointer, 1);
    p.scale = LLVMABISizeOfType(f->s.layout, LLVMGetGEPSourceElementType(pointer));
    while (LLVMIsAInstruction(p.index)) {
        bool extends = LLVMIsASExtInst(p.index) || LLVMIsAZExtInst(p.index);
        bool adds = !extends && adds_constant(p.index, &step);
        if (!extends && !adds) break;
        p.offset += adds ? step * p.scale : 0;
        p.index = LLVMGetOperand(p.index, 0);
    }
    return p;
}

static bool may_write(LLVMValueRef i) {
    if (LLVMIsALoadInst(i)) return false;
    return LLVMIsAStoreInst(i) || LLVMIsACallInst(i) || LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i);
}

// The load of the second element, with nothing between that writes.
static LLVMValueRef find_second(finder *f, LLVMValueRef load, uint64_t distance) {
    place first = place_of(f, LLVMGetOperand(load, 0));
    for (LLVMValueRef i = LLVMGetNextInstruction(load); i && !may_write(i); i = LLVMGetNextInstruction(i)) {
        if (!is_element_load(i) || LLVMTypeOf(i) != LLVMTypeOf(load)) continue;
        if (!lanes_of(f, LLVMGetOperand(i, 0), DEEPEST).known) continue;
        place other = place_of(f, LLVMGetOperand(i, 0));
        bool alike = other.base == first.base && other.index == first.index && other.scale == first.scale;
        if (alike && other.offset - first.offset == distance) return i;
    }
    return NULL;
}

// ---- Loads of matrices ----

static LLVMValueRef call_part(finder *f, LLVMBuilderRef builder, const char *name, LLVMTypeRef type,
                              LLVMValueRef *arguments) {
    LLVMTypeRef types[5];
    for (unsigned k = 0; k < 5; k++) types[k] = LLVMTypeOf(arguments[k]);
    LLVMTypeRef function = LLVMFunctionType(type, types, 5, 0);
    LLVMValueRef callee = igi_simt_declare(f->m->module, name, function);
    igi_simt_add_attribute(callee, "convergent");
    return LLVMBuildCall2(builder, function, callee, arguments, 5, "");
}

static void replace(LLVMBuilderRef builder, LLVMValueRef load, LLVMValueRef part) {
    LLVMReplaceAllUsesWith(load, LLVMBuildBitCast(builder, part, LLVMTypeOf(load), ""));
    LLVMInstructionEraseFromParent(load);
}

static void load_matrix(finder *f, LLVMBuilderRef builder, LLVMValueRef load, LLVMValueRef second, const fragment *g) {
    LLVMContextRef context = f->m->context;
    LLVMTypeRef i64 = LLVMInt64TypeInContext(context), i1 = LLVMInt1TypeInContext(context);
    LLVMValueRef address = LLVMGetOperand(load, 0), base = in_first_lane(f, builder, address);
    LLVMPositionBuilderBefore(builder, load);
    LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(load));
    uint64_t distance = g->bytes * (g->transposed ? g->stride : 1);
    LLVMValueRef arguments[] = {address, igi_simt_field(builder, address, distance), base,
                                LLVMConstInt(i64, g->stride, 0), LLVMConstInt(i1, g->transposed, 0)};
    bool whole = g->bytes == 4;
    LLVMTypeRef type = whole ? LLVMFloatTypeInContext(context) : LLVMInt16TypeInContext(context);
    LLVMValueRef even = call_part(f, builder, whole ? "__ig_matrix_even_f32" : "__ig_matrix_even_b16", type, arguments);
    LLVMValueRef odd = call_part(f, builder, whole ? "__ig_matrix_odd_f32" : "__ig_matrix_odd_b16", type, arguments);
    replace(builder, load, even);
    LLVMPositionBuilderBefore(builder, second);
    replace(builder, second, odd);
}

static void try_load(finder *f, LLVMBuilderRef builder, LLVMValueRef load) {
    fragment g = {.bytes = LLVMABISizeOfType(f->s.layout, LLVMTypeOf(load))};
    lanes x = lanes_of(f, LLVMGetOperand(load, 0), DEEPEST);
    if (!find_layout(&x, &g)) return;
    LLVMValueRef second = find_second(f, load, g.bytes * (g.transposed ? g.stride : 1));
    if (second) load_matrix(f, builder, load, second, &g);
}

static bool is_product(LLVMValueRef i) {
    return igi_simt_calls(i, "__ig_mma_even");
}

// The second load of a pair is gone when its turn comes.
static void try_block(finder *f, LLVMBuilderRef builder, LLVMBasicBlockRef block) {
    LLVMValueRef next;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i && !f->no_memory; i = next) {
        LLVMValueRef before = LLVMGetPreviousInstruction(i);
        igi_simt_shape_kind kind = igi_simt_shape_of(&f->s, LLVMGetOperand(i, 0)).kind;
        bool apart = kind != IGI_SHAPE_UNIFORM && kind != IGI_SHAPE_LINEAR;
        if (is_element_load(i) && apart) try_load(f, builder, i);
        LLVMValueRef at = before ? LLVMGetNextInstruction(before) : LLVMGetFirstInstruction(block);
        next = at == i ? LLVMGetNextInstruction(i) : at;
    }
}

ig_status igi_simt_find_fragments(igi_simt_module *m) {
    igi_simt_values products;
    if (m->request->check) return IG_STATUS_OK;  // every access is checked by itself
    if (!igi_simt_collect(m->thread, is_product, &products)) return igi_error_no_memory(m->error);
    bool none = products.count == 0;
    igi_simt_values_free(&products);
    if (none) return IG_STATUS_OK;
    finder f = {.m = m, .found = igi_calloc(MOST_VALUES, sizeof *f.found)};
    if (!f.found || !igi_simt_shapes_build(m->thread, LLVMGetParam(m->thread, 1), LANES, &f.s)) {
        free(f.found);
        return igi_error_no_memory(m->error);
    }
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(m->context);
    for (uint32_t b = 0; b < f.s.cfg.count; b++) try_block(&f, builder, f.s.cfg.blocks[b].block);
    LLVMDisposeBuilder(builder);
    igi_simt_shapes_free(&f.s);
    igi_map_free(&f.number), igi_map_free(&f.first);
    igi_simt_values_free(&f.firsts);
    free(f.found);
    return f.no_memory ? igi_error_no_memory(m->error) : IG_STATUS_OK;
}
