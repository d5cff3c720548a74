// SPDX-License-Identifier: Apache-2.0
// Masked accesses that the target has no instruction for. LLVM would make a jump and a block for every lane of each
// of them, which takes seconds to compile and no less time to run than a loop over the active lanes.
#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "simt/ir.h"
#include "simt/passes.h"
#include "simt/target.h"

enum { MOST_LANES = 64, MAX_DEPTH = 6 };

typedef enum access_kind { LOAD, STORE, GATHER, SCATTER } access_kind;

// One masked access.
typedef struct access {
    igi_simt_module *m;
    LLVMBuilderRef builder;
    LLVMValueRef call;
    access_kind kind;
    LLVMTypeRef type;      // of all lanes
    LLVMValueRef address;  // of the first lane, or of each
    LLVMValueRef mask;
    LLVMValueRef value;  // that is written, or what lanes that are not active read
} access;

// ---- What the machine has ----

static bool has(const char *feature) {
    return strstr(igi_simt_features(), feature) != NULL;
}

// ARM's SVE has them all, but LLVM uses it for vectors of a fixed length only if it is told how long the registers are;
// otherwise it makes a jump for each lane.
static bool is_native(access_kind kind, uint64_t bits) {
    switch (kind) {
        case LOAD:
        case STORE: return has(bits < 32 ? "+avx512bw" : "+avx");
        case GATHER: return bits >= 32 && has("+avx2");
        case SCATTER: return bits >= 32 && has("+avx512f");
    }
    return false;
}

bool igi_simt_has_mask_registers(void) {
    return has("+avx512bw");
}

uint32_t igi_simt_most_lanes(void) {
    return is_native(LOAD, 32) ? IGI_MAX_WIDTH : MOST_LANES;
}

// ---- Recognising them ----

static bool starts_with(LLVMValueRef call, const char *prefix) {
    return strncmp(igi_simt_callee_name(call), prefix, strlen(prefix)) == 0;
}

static bool is_masked(LLVMValueRef i) {
    return starts_with(i, "llvm.masked.load.") || starts_with(i, "llvm.masked.store.") ||
           starts_with(i, "llvm.masked.gather.") || starts_with(i, "llvm.masked.scatter.");
}

// llvm.masked.load(address, alignment, mask, otherwise), llvm.masked.store(value, address, alignment, mask); gather and
// scatter alike.
static access read_access(igi_simt_module *m, LLVMBuilderRef builder, LLVMValueRef call) {
    bool each = starts_with(call, "llvm.masked.gather.") || starts_with(call, "llvm.masked.scatter.");
    bool reads = starts_with(call, "llvm.masked.load.") || starts_with(call, "llvm.masked.gather.");
    LLVMValueRef value = LLVMGetOperand(call, reads ? 3 : 0);
    return (access){.m = m,
                    .builder = builder,
                    .call = call,
                    .kind = reads ? (each ? GATHER : LOAD) : (each ? SCATTER : STORE),
                    .type = LLVMTypeOf(value),
                    .address = LLVMGetOperand(call, reads ? 0 : 1),
                    .mask = LLVMGetOperand(call, reads ? 2 : 3),
                    .value = value};
}

static uint64_t bits_of(const access *a) {
    return LLVMSizeOfTypeInBits(LLVMGetModuleDataLayout(a->m->module), igi_simt_element_type(a->type));
}

static uint64_t alignment_of(const access *a) {
    return LLVMConstIntGetZExtValue(LLVMGetOperand(a->call, a->kind == LOAD || a->kind == GATHER ? 1 : 2));
}

// With a constant mask, LLVM makes no jumps.
static bool is_ours(const access *a) {
    return !is_native(a->kind, bits_of(a)) && !LLVMIsConstant(a->mask) && LLVMGetVectorSize(a->type) <= MOST_LANES;
}

// ---- Parts ----

// How many parts of `each` lanes there are; 1: it is not cut. Parts are joined two by two.
static unsigned part_count(unsigned lanes, unsigned each) {
    unsigned parts = each ? lanes / each : 1;
    return parts > 1 && parts * each == lanes && (parts & (parts - 1)) == 0 ? parts : 1;
}

// How many lanes are accessed together, if not all: as many as there are bits in a word, which counts the active ones; or,
// where a constant says which are active, those of a register, because LLVM accesses what is not whole lane by lane.
static unsigned lanes_of_part(const access *a) {
    unsigned lanes = LLVMGetVectorSize(a->type), each = MOST_LANES;
    if (is_native(a->kind, bits_of(a))) return lanes;
    bool row = a->kind == LOAD || a->kind == STORE;
    if (row && LLVMIsConstant(a->mask) && bits_of(a) >= 8) each = (unsigned)(128 / bits_of(a));
    return lanes / part_count(lanes, each);
}

// Neighbouring lanes of an access.
static LLVMValueRef some_lanes(const access *a, LLVMValueRef vector, unsigned first, unsigned count) {
    LLVMTypeRef i32 = LLVMInt32TypeInContext(a->m->context);
    LLVMValueRef lanes[MOST_LANES];
    for (unsigned i = 0; i < count; i++) lanes[i] = LLVMConstInt(i32, first + i, false);
    return LLVMBuildShuffleVector(a->builder, vector, LLVMGetPoison(LLVMTypeOf(vector)), LLVMConstVector(lanes, count),
                                  "");
}

static LLVMValueRef part_alignment(const access *a, uint64_t offset) {
    uint64_t alignment = alignment_of(a);
    while (offset % alignment != 0) alignment /= 2;
    return LLVMConstInt(LLVMInt32TypeInContext(a->m->context), alignment, false);
}

static LLVMValueRef access_part(const access *a, unsigned first, unsigned count) {
    static const char *const names[] = {"llvm.masked.load", "llvm.masked.store", "llvm.masked.gather",
                                        "llvm.masked.scatter"};
    bool each = a->kind == GATHER || a->kind == SCATTER, reads = a->kind == LOAD || a->kind == GATHER;
    uint64_t offset = each ? 0 : first * bits_of(a) / 8;
    LLVMValueRef mask = some_lanes(a, a->mask, first, count), value = some_lanes(a, a->value, first, count);
    LLVMValueRef address =
        each ? some_lanes(a, a->address, first, count) : igi_simt_field(a->builder, a->address, offset);
    LLVMValueRef alignment = part_alignment(a, offset);
    LLVMTypeRef types[] = {LLVMTypeOf(value), LLVMTypeOf(address)};
    LLVMValueRef of_read[] = {address, alignment, mask, value}, of_write[] = {value, address, alignment, mask};
    return igi_simt_call_intrinsic(a->builder, names[a->kind], types, 2, reads ? of_read : of_write, 4);
}

// Lanes of one vector, and after them those of another one.
static LLVMValueRef join(const access *a, const LLVMValueRef *parts, unsigned count) {
    if (count == 1) return *parts;
    LLVMValueRef low = join(a, parts, count / 2), high = join(a, parts + count / 2, count / 2), lanes[IGI_MAX_WIDTH];
    unsigned both = 2 * LLVMGetVectorSize(LLVMTypeOf(low));
    LLVMTypeRef i32 = LLVMInt32TypeInContext(a->m->context);
    for (unsigned i = 0; i < both; i++) lanes[i] = LLVMConstInt(i32, i, false);
    return LLVMBuildShuffleVector(a->builder, low, high, LLVMConstVector(lanes, both), "");
}

// ---- Bytes and halves, read as the words they are in ----

static bool can_read_words(const access *a) {
    uint64_t bits = bits_of(a);
    return a->kind == GATHER && (bits == 8 || bits == 16) && alignment_of(a) * 8 >= bits && is_native(GATHER, 32);
}

// An aligned word is in one page: reading all of it cannot fault where reading a part of it does not.
static void read_words(const access *a) {
    LLVMBuilderRef b = a->builder;
    LLVMTypeRef i64s = igi_simt_integers_like(a->type, 64), i32s = igi_simt_integers_like(a->type, 32);
    LLVMValueRef at = LLVMBuildPtrToInt(b, a->address, i64s, "");
    LLVMValueRef first = LLVMBuildAnd(b, at, igi_simt_splat(i64s, ~3ull, false), "");
    LLVMValueRef words = LLVMBuildIntToPtr(b, first, LLVMTypeOf(a->address), "");
    LLVMTypeRef types[] = {i32s, LLVMTypeOf(words)};
    LLVMValueRef arguments[] = {words, LLVMConstInt(LLVMInt32TypeInContext(a->m->context), 4, false), a->mask,
                                LLVMGetPoison(i32s)};
    LLVMValueRef word = igi_simt_call_intrinsic(b, "llvm.masked.gather", types, 2, arguments, 4);
    LLVMValueRef byte = LLVMBuildTrunc(b, LLVMBuildAnd(b, at, igi_simt_splat(i64s, 3, false), ""), i32s, "");
    LLVMValueRef shift = LLVMBuildShl(b, byte, igi_simt_splat(i32s, 3, false), "");
    LLVMTypeRef narrow = igi_simt_integers_like(a->type, (unsigned)bits_of(a));
    LLVMValueRef part = LLVMBuildTrunc(b, LLVMBuildLShr(b, word, shift, ""), narrow, "");
    LLVMValueRef result = LLVMBuildBitCast(b, part, a->type, "");
    if (!LLVMIsUndef(a->value)) result = LLVMBuildSelect(b, a->mask, result, a->value, "");
    LLVMReplaceAllUsesWith(a->call, result);
    LLVMInstructionEraseFromParent(a->call);
}

// ---- Variables for the lanes' values ----

// Of one function; accesses of the same type share them.
typedef struct variables {
    igi_simt_values addresses, values;
} variables;

static void free_variables(variables *v) {
    igi_simt_values_free(&v->addresses);
    igi_simt_values_free(&v->values);
}

// NULL when memory is short.
static LLVMValueRef variable_for(const access *a, igi_simt_values *known, LLVMTypeRef type) {
    for (size_t i = 0; i < known->count; i++)
        if (LLVMGetAllocatedType(known->items[i]) == type) return known->items[i];
    LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(a->call));
    LLVMBuilderRef b = LLVMCreateBuilderInContext(a->m->context);
    LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)));
    LLVMValueRef variable = LLVMBuildAlloca(b, type, IGI_TEMPORARY);
    LLVMDisposeBuilder(b);
    return igi_simt_values_add(known, variable) ? variable : NULL;
}

// ---- A loop over the active lanes ----

static LLVMValueRef element_at(const access *a, LLVMTypeRef type, LLVMValueRef base, LLVMValueRef lane) {
    return LLVMBuildInBoundsGEP2(a->builder, type, base, &lane, 1, "");
}

static void access_lane(const access *a, LLVMValueRef addresses, LLVMValueRef values, LLVMValueRef lane) {
    LLVMBuilderRef b = a->builder;
    LLVMTypeRef type = igi_simt_element_type(a->type);
    LLVMValueRef address, value = element_at(a, type, values, lane);
    if (addresses) {
        LLVMTypeRef pointer = igi_simt_element_type(LLVMTypeOf(a->address));
        address = LLVMBuildLoad2(b, pointer, element_at(a, pointer, addresses, lane), "address");
    } else {
        address = element_at(a, type, a->address, lane);
    }
    bool reads = a->kind == LOAD || a->kind == GATHER;
    LLVMValueRef moved = LLVMBuildLoad2(b, type, reads ? address : value, "");
    if (reads) LLVMSetAlignment(moved, (unsigned)alignment_of(a));
    LLVMValueRef store = LLVMBuildStore(b, moved, reads ? value : address);
    if (!reads) LLVMSetAlignment(store, (unsigned)alignment_of(a));
}

// From `before`, where the builder is, with the mask's bits, to `after`.
static void build_loop(const access *a, LLVMValueRef bits, LLVMValueRef addresses, LLVMValueRef values,
                       LLVMBasicBlockRef after) {
    LLVMBuilderRef b = a->builder;
    LLVMContextRef context = a->m->context;
    LLVMTypeRef type = LLVMTypeOf(bits);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(b), body = LLVMInsertBasicBlockInContext(context, after, "lanes");
    LLVMValueRef zero = LLVMConstNull(type);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntNE, bits, zero, ""), body, after);
    LLVMPositionBuilderAtEnd(b, body);
    LLVMValueRef rest = LLVMBuildPhi(b, type, "rest");
    LLVMValueRef arguments[] = {rest, LLVMConstInt(LLVMInt1TypeInContext(context), 1, false)};
    LLVMValueRef lane = igi_simt_call_intrinsic(b, "llvm.cttz", &type, 1, arguments, 2);
    access_lane(a, addresses, values, lane);
    LLVMValueRef less = LLVMBuildAdd(b, rest, LLVMConstAllOnes(type), "");
    LLVMValueRef next = LLVMBuildAnd(b, rest, less, "");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntNE, next, zero, ""), body, after);
    LLVMAddIncoming(rest, (LLVMValueRef[]){bits, next}, (LLVMBasicBlockRef[]){before, body}, 2);
}

static LLVMValueRef mask_bits(const access *a) {
    LLVMTypeRef narrow = LLVMIntTypeInContext(a->m->context, LLVMGetVectorSize(a->type));
    LLVMValueRef bits = LLVMBuildBitCast(a->builder, a->mask, narrow, "");
    return LLVMBuildZExt(a->builder, bits, LLVMInt64TypeInContext(a->m->context), "active");
}

// Lanes of a row are most often all active: then it is one access. Goes on in a block for the other case. Returns what
// was read, if it reads.
static LLVMValueRef access_whole_row(const access *a, LLVMValueRef bits, LLVMBasicBlockRef after) {
    LLVMBuilderRef b = a->builder;
    LLVMContextRef context = a->m->context;
    LLVMBasicBlockRef whole = LLVMInsertBasicBlockInContext(context, after, "whole"),
                      some = LLVMInsertBasicBlockInContext(context, after, "some");
    unsigned lanes = LLVMGetVectorSize(a->type);
    LLVMValueRef all = LLVMConstInt(LLVMTypeOf(bits), lanes == 64 ? ~0ull : (1ull << lanes) - 1, false);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, bits, all, ""), whole, some);
    LLVMPositionBuilderAtEnd(b, whole);
    LLVMValueRef row = a->kind == LOAD ? LLVMBuildLoad2(b, a->type, a->address, "") : NULL;
    LLVMSetAlignment(row ? row : LLVMBuildStore(b, a->value, a->address), (unsigned)alignment_of(a));
    LLVMBuildBr(b, after);
    LLVMPositionBuilderAtEnd(b, some);
    return row;
}

// Which lanes of a part are active. A mask of many lanes is better made of its bits again: it was put together from vectors of
// bits, which LLVM would take apart bit by bit.
static LLVMValueRef mask_of_part(const access *a, LLVMValueRef bits, unsigned first, unsigned lanes) {
    LLVMBuilderRef b = a->builder;
    if (lanes == LLVMGetVectorSize(a->type)) return a->mask;
    LLVMTypeRef word = LLVMTypeOf(bits), number = LLVMIntTypeInContext(a->m->context, (unsigned)bits_of(a)),
                numbers = LLVMVectorType(number, lanes), i32 = LLVMInt32TypeInContext(a->m->context);
    LLVMValueRef mine = LLVMBuildTrunc(b, LLVMBuildLShr(b, bits, LLVMConstInt(word, first, false), ""), number, "");
    LLVMValueRef one[MOST_LANES];
    for (unsigned i = 0; i < lanes; i++) one[i] = LLVMConstInt(number, 1ull << i, false);
    LLVMValueRef place = LLVMBuildInsertElement(b, LLVMGetPoison(numbers), mine, LLVMConstInt(i32, 0, false), "");
    LLVMValueRef all =
        LLVMBuildShuffleVector(b, place, LLVMGetPoison(numbers), LLVMConstNull(LLVMVectorType(i32, lanes)), "");
    LLVMValueRef own = LLVMBuildAnd(b, all, LLVMConstVector(one, lanes), "");
    return LLVMBuildICmp(b, LLVMIntNE, own, LLVMConstNull(numbers), "");
}

static LLVMValueRef keep_active(const access *a, LLVMValueRef bits, LLVMValueRef row, unsigned first) {
    if (LLVMIsUndef(a->value)) return row;
    unsigned lanes = LLVMGetVectorSize(LLVMTypeOf(row));
    LLVMValueRef frozen = LLVMBuildFreeze(a->builder, row, ""), otherwise = some_lanes(a, a->value, first, lanes);
    return LLVMBuildSelect(a->builder, mask_of_part(a, bits, first, lanes), frozen, otherwise, "");
}

// As many lanes at once as a number of an element's size has bits.
static LLVMValueRef read_row(const access *a, LLVMValueRef bits) {
    LLVMBuilderRef b = a->builder;
    unsigned lanes = LLVMGetVectorSize(a->type), count = part_count(lanes, (unsigned)bits_of(a)), each = lanes / count;
    LLVMTypeRef part = LLVMVectorType(igi_simt_element_type(a->type), each);
    LLVMValueRef parts[MOST_LANES];
    for (unsigned i = 0; i < count; i++) {
        uint64_t offset = (uint64_t)i * each * bits_of(a) / 8;
        LLVMValueRef read = LLVMBuildLoad2(b, part, igi_simt_field(b, a->address, offset), "");
        LLVMSetAlignment(read, (unsigned)LLVMConstIntGetZExtValue(part_alignment(a, offset)));
        parts[i] = keep_active(a, bits, read, i * each);
    }
    return join(a, parts, count);
}

// If some lane is active, and the row is within a page, all of it can be read: what inactive lanes read is not used. Goes on
// in a block for the other case. Returns what was read.
static LLVMValueRef read_within_page(const access *a, LLVMValueRef bits, LLVMBasicBlockRef after) {
    enum { PAGE_BYTES = 4096 };  // of the smallest pages
    LLVMBuilderRef b = a->builder;
    LLVMContextRef context = a->m->context;
    LLVMTypeRef type = LLVMTypeOf(bits);
    uint64_t bytes = LLVMGetVectorSize(a->type) * bits_of(a) / 8;
    LLVMBasicBlockRef within = LLVMInsertBasicBlockInContext(context, after, "within_page"),
                      apart = LLVMInsertBasicBlockInContext(context, after, "lane_by_lane");
    LLVMValueRef at = LLVMBuildPtrToInt(b, a->address, type, "");
    LLVMValueRef offset = LLVMBuildAnd(b, at, LLVMConstInt(type, PAGE_BYTES - 1, false), "offset");
    LLVMValueRef fits = LLVMBuildICmp(b, LLVMIntULE, offset, LLVMConstInt(type, PAGE_BYTES - bytes, false), "");
    LLVMValueRef any = LLVMBuildICmp(b, LLVMIntNE, bits, LLVMConstNull(type), "");
    LLVMBuildCondBr(b, LLVMBuildAnd(b, fits, any, ""), within, apart);
    LLVMPositionBuilderAtEnd(b, within);
    LLVMValueRef row = read_row(a, bits);
    LLVMBuildBr(b, after);
    LLVMPositionBuilderAtEnd(b, apart);
    return row;
}

// The row that was read in one of two ways, or what lanes read one by one; made in `gathered`.
static LLVMValueRef join_row(const access *a, LLVMValueRef rows[2], LLVMValueRef values, LLVMBasicBlockRef gathered,
                             LLVMBasicBlockRef after) {
    LLVMBuilderRef b = a->builder;
    LLVMPositionBuilderAtEnd(b, gathered);
    LLVMValueRef all[] = {rows[0], rows[1], LLVMBuildLoad2(b, a->type, values, "")};
    LLVMBuildBr(b, after);
    LLVMPositionBuilderBefore(b, a->call);
    LLVMValueRef result = LLVMBuildPhi(b, a->type, "");
    LLVMBasicBlockRef from[] = {LLVMGetInstructionParent(rows[0]), LLVMGetInstructionParent(rows[1]), gathered};
    LLVMAddIncoming(result, all, from, 3);
    return result;
}

static bool loop_over_lanes(const access *a, variables *v) {
    LLVMBuilderRef b = a->builder;
    bool each = a->kind == GATHER || a->kind == SCATTER, reads = a->kind == LOAD || a->kind == GATHER;
    LLVMValueRef addresses = each ? variable_for(a, &v->addresses, LLVMTypeOf(a->address)) : NULL;
    LLVMValueRef values = variable_for(a, &v->values, a->type);
    if (!values || (each && !addresses)) return false;
    LLVMBasicBlockRef before = igi_simt_split_before(a->call), after = LLVMGetInstructionParent(a->call);
    LLVMPositionBuilderAtEnd(b, before);
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(a->call));
    LLVMValueRef bits = mask_bits(a);
    LLVMValueRef rows[2] = {each ? NULL : access_whole_row(a, bits, after)};
    if (rows[0]) rows[1] = read_within_page(a, bits, after);
    LLVMBasicBlockRef end = rows[0] ? LLVMInsertBasicBlockInContext(a->m->context, after, "gathered") : after;
    if (each) LLVMBuildStore(b, a->address, addresses);
    LLVMBuildStore(b, LLVMIsUndef(a->value) ? LLVMConstNull(a->type) : a->value, values);
    build_loop(a, bits, addresses, values, end);
    LLVMPositionBuilderBefore(b, a->call);
    if (rows[0])
        LLVMReplaceAllUsesWith(a->call, join_row(a, rows, values, end, after));
    else if (reads)
        LLVMReplaceAllUsesWith(a->call, LLVMBuildLoad2(b, a->type, values, ""));
    LLVMInstructionEraseFromParent(a->call);
    return true;
}

// ---- Writes of few lanes ----

// Which lanes write often depends on data: a loop over them would end where the processor does not expect it.
static bool may_write_all(const access *a) {
    enum { FEW_LANES = 16 };
    return a->kind == SCATTER && LLVMGetVectorSize(a->type) <= FEW_LANES;
}

// Every lane writes; those that are not active write to a variable that nobody reads. Addresses and values go through
// memory: extracting them from vectors would take longer.
static bool write_all(const access *a, variables *v) {
    LLVMBuilderRef b = a->builder;
    LLVMTypeRef type = igi_simt_element_type(a->type), pointers = LLVMTypeOf(a->address);
    LLVMValueRef unread = variable_for(a, &v->values, type), values = variable_for(a, &v->values, a->type);
    LLVMValueRef addresses = variable_for(a, &v->addresses, pointers);
    if (!unread || !values || !addresses) return false;
    unsigned lanes = LLVMGetVectorSize(a->type);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(a->m->context), i32s = LLVMVectorType(i32, lanes);
    LLVMValueRef first = LLVMBuildInsertElement(b, LLVMGetPoison(pointers), unread, LLVMConstInt(i32, 0, false), "");
    LLVMValueRef nowhere = LLVMBuildShuffleVector(b, first, LLVMGetPoison(pointers), LLVMConstNull(i32s), "unread");
    LLVMBuildStore(b, LLVMBuildSelect(b, a->mask, a->address, nowhere, ""), addresses);
    LLVMBuildStore(b, a->value, values);
    for (unsigned lane = 0; lane < lanes; lane++) access_lane(a, addresses, values, LLVMConstInt(i32, lane, false));
    LLVMInstructionEraseFromParent(a->call);
    return true;
}

// ---- Rows, written register by register ----

// Whether a mask was computed from what lanes read: then a loop over its lanes would end where the processor does not
// expect it.
static bool depends_on_data(LLVMValueRef value, int depth) {
    if (!LLVMIsAInstruction(value)) return false;
    if (LLVMGetTypeKind(LLVMTypeOf(value)) != LLVMVectorTypeKind) return false;
    if (LLVMIsALoadInst(value) || is_masked(value)) return true;
    for (int k = 0; k < LLVMGetNumOperands(value) && depth > 0; k++)
        if (depends_on_data(LLVMGetOperand(value, (unsigned)k), depth - 1)) return true;
    return false;
}

// AMD's processors without mask registers take 20 cycles to write the active lanes of a register, and more between
// stores that go past the caches. Where lanes are compared with the ends of a row, most registers need no mask.
static bool is_slow(const access *a) {
    return a->kind == STORE && bits_of(a) >= 32 && igi_simt_has_few_registers() && !LLVMIsConstant(a->mask) &&
           strncmp(igi_simt_chosen_target().cpu, "znver", 5) == 0 && LLVMGetVectorSize(a->type) <= MOST_LANES &&
           !depends_on_data(a->mask, MAX_DEPTH);
}

// From the end of a block without a terminator to a new one, both before the call.
static bool write_register(const access *a, variables *v, unsigned first, unsigned count) {
    LLVMBuilderRef b = a->builder;
    LLVMContextRef context = a->m->context;
    LLVMBasicBlockRef end = LLVMGetInstructionParent(a->call),
                      whole = LLVMInsertBasicBlockInContext(context, end, "whole"),
                      some = LLVMInsertBasicBlockInContext(context, end, "some"),
                      after = LLVMInsertBasicBlockInContext(context, end, "written");
    access part = *a;
    part.mask = some_lanes(a, a->mask, first, count);
    part.value = some_lanes(a, a->value, first, count);
    part.type = LLVMTypeOf(part.value);
    part.address = igi_simt_field(b, a->address, first * bits_of(a) / 8);
    LLVMValueRef values = variable_for(&part, &v->values, part.type), bits = mask_bits(&part);
    if (!values) return false;
    LLVMValueRef choice = LLVMBuildSwitch(b, bits, some, 2);
    LLVMAddCase(choice, LLVMConstNull(LLVMTypeOf(bits)), after);
    LLVMAddCase(choice, LLVMConstInt(LLVMTypeOf(bits), (1ull << count) - 1, false), whole);
    LLVMPositionBuilderAtEnd(b, whole);
    LLVMSetAlignment(LLVMBuildStore(b, part.value, part.address), (unsigned)alignment_of(a));
    LLVMBuildBr(b, after);
    LLVMPositionBuilderAtEnd(b, some);
    LLVMBuildStore(b, part.value, values);
    build_loop(&part, bits, NULL, values, after);
    LLVMPositionBuilderAtEnd(b, after);
    return true;
}

static bool write_registers(const access *a, variables *v) {
    unsigned lanes = LLVMGetVectorSize(a->type), most = (unsigned)(256 / bits_of(a));
    LLVMBasicBlockRef before = igi_simt_split_before(a->call);
    LLVMPositionBuilderAtEnd(a->builder, before);
    LLVMSetCurrentDebugLocation2(a->builder, LLVMInstructionGetDebugLoc(a->call));
    for (unsigned first = 0; first < lanes; first += most)
        if (!write_register(a, v, first, lanes - first < most ? lanes - first : most)) return false;
    LLVMBuildBr(a->builder, LLVMGetInstructionParent(a->call));
    LLVMInstructionEraseFromParent(a->call);
    return true;
}

// ---- The pass ----

static bool lower(igi_simt_module *m, LLVMBuilderRef builder, LLVMValueRef call, variables *v);

static bool lower_parts(const access *a, unsigned each, variables *v) {
    LLVMValueRef parts[IGI_MAX_WIDTH];
    bool reads = a->kind == LOAD || a->kind == GATHER, ok = true;
    unsigned count = LLVMGetVectorSize(a->type) / each;
    for (unsigned i = 0; i < count; i++) parts[i] = access_part(a, i * each, each);
    if (reads) LLVMReplaceAllUsesWith(a->call, join(a, parts, count));
    LLVMInstructionEraseFromParent(a->call);
    for (unsigned i = 0; i < count && ok; i++) ok = lower(a->m, a->builder, parts[i], v);
    return ok;
}

static bool lower(igi_simt_module *m, LLVMBuilderRef builder, LLVMValueRef call, variables *v) {
    LLVMPositionBuilderBefore(builder, call);
    access a = read_access(m, builder, call);
    unsigned each = lanes_of_part(&a);
    if (each < LLVMGetVectorSize(a.type)) return lower_parts(&a, each, v);
    if (is_slow(&a)) return write_registers(&a, v);
    if (!is_ours(&a)) return true;
    if (may_write_all(&a)) return write_all(&a, v);
    if (!can_read_words(&a)) return loop_over_lanes(&a, v);
    read_words(&a);
    return true;
}

static ig_status lower_in(igi_simt_module *m, LLVMValueRef function) {
    igi_simt_values calls;
    variables v = {0};
    if (!igi_simt_collect(function, is_masked, &calls)) return igi_error_no_memory(m->error);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(m->context);
    bool ok = true;
    for (size_t i = 0; i < calls.count && ok; i++) ok = lower(m, builder, calls.items[i], &v);
    LLVMDisposeBuilder(builder);
    igi_simt_values_free(&calls);
    free_variables(&v);
    return ok ? IG_STATUS_OK : igi_error_no_memory(m->error);
}

ig_status igi_simt_pass_masked(igi_simt_module *m) {
    ig_status status = IG_STATUS_OK;
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f && status == IG_STATUS_OK; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f)) status = lower_in(m, f);
    return status;
}
