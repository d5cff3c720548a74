// SPDX-License-Identifier: Apache-2.0
// Pairs of elements that a thread reads and then writes: sorting networks, butterflies of Fourier transforms. Thread i
// has element i of a block and the one `distance` after it, a power of two that only the running kernel knows. Then the
// lanes of a register have, between them, either two rows of memory, or two registers of neighbouring elements without
// gaps, if the distance is less than a register: these are read as a whole and permuted, which the kernel checks.
//
// Without mask registers, elements of inactive lanes are written too, with the value that they had when the same lanes
// read them a moment before: a masked store takes longer than all the rest. Nothing in between can wait for other
// threads, so that another thread that wrote the element meanwhile would race with the read.
#include <string.h>

#include "simt/ir.h"
#include "simt/target.h"
#include "simt/widen.h"

enum { MAX_DEPTH = 6 };
enum { APART, ROWS, WOVEN };  // lanes have any addresses; two rows; two registers between them

// ---- Recognising them ----

static bool is_arithmetic(LLVMValueRef value) {
    return LLVMIsABinaryOperator(value) || LLVMIsACastInst(value) || LLVMIsAGetElementPtrInst(value);
}

// Whether both are computed in the same way from the same values.
static bool are_same(LLVMValueRef a, LLVMValueRef b, int depth) {
    if (a == b) return true;
    if (!LLVMIsAInstruction(a) || !LLVMIsAInstruction(b) || depth == 0) return false;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(a);
    if (opcode != LLVMGetInstructionOpcode(b) || LLVMTypeOf(a) != LLVMTypeOf(b)) return false;
    bool constant = igi_simt_is_invariant_load(a) && igi_simt_is_invariant_load(b);
    if (!is_arithmetic(a) && !constant) return false;
    if (opcode == LLVMGetElementPtr && LLVMGetGEPSourceElementType(a) != LLVMGetGEPSourceElementType(b)) return false;
    if (LLVMGetNumOperands(a) != LLVMGetNumOperands(b)) return false;
    for (int k = 0; k < LLVMGetNumOperands(a); k++)
        if (!are_same(LLVMGetOperand(a, (unsigned)k), LLVMGetOperand(b, (unsigned)k), depth - 1)) return false;
    return true;
}

// Whether memory might change, or another thread be waited for.
static bool may_change_memory(LLVMValueRef i) {
    if (LLVMIsALoadInst(i)) return LLVMGetVolatile(i) || LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic;
    if (LLVMIsACallInst(i)) return strncmp(igi_simt_callee_name(i), "llvm.", 5) != 0 || igi_simt_is_memory_intrinsic(i);
    return LLVMIsAStoreInst(i) || LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i) || LLVMIsAFenceInst(i);
}

// The next load or store of memory that may change, or whatever else changes it; NULL at the end of the block.
static LLVMValueRef next_access(LLVMValueRef i) {
    while (i && (igi_simt_is_invariant_load(i) || (!LLVMIsALoadInst(i) && !may_change_memory(i))))
        i = LLVMGetNextInstruction(i);
    return i;
}

static LLVMValueRef access_after(LLVMValueRef i) {
    return next_access(LLVMGetNextInstruction(i));
}

// The first access of a block that only this one leads to, or NULL.
static LLVMValueRef access_of_branch(const igi_simt_widener *w, LLVMBasicBlockRef from) {
    uint32_t at = igi_simt_cfg_index(&w->s.cfg, from);
    if (at == IGI_NONE) return NULL;
    const igi_simt_block *block = &w->s.cfg.blocks[at];
    for (uint32_t k = 0; k < block->successor_count; k++) {
        const igi_simt_block *next = &w->s.cfg.blocks[block->successors[k]];
        LLVMValueRef access = next_access(LLVMGetFirstInstruction(next->block));
        if (next->predecessor_count == 1 && access) return access;
    }
    return NULL;
}

static bool is_used_before(LLVMValueRef value, LLVMValueRef end) {
    for (LLVMValueRef i = LLVMGetNextInstruction(value); i && i != end; i = LLVMGetNextInstruction(i))
        for (int k = 0; k < LLVMGetNumOperands(i); k++)
            if (LLVMGetOperand(i, (unsigned)k) == value) return true;
    return false;
}

static LLVMValueRef index_of(LLVMValueRef address) {
    return LLVMGetOperand(LLVMGetOperand(address, 1), 0);
}

// What is added to the index of `low` to get that of `high`, the same for all lanes and not a constant, since there are
// bundles for those; NULL: no such thing.
static LLVMValueRef distance_between(const igi_simt_widener *w, LLVMValueRef low, LLVMValueRef high) {
    LLVMValueRef sum = index_of(high);
    if (!LLVMIsAInstruction(sum) || LLVMGetInstructionOpcode(sum) != LLVMAdd) return NULL;
    for (unsigned k = 0; k < 2; k++) {
        LLVMValueRef distance = LLVMGetOperand(sum, k);
        if (LLVMGetOperand(sum, 1 - k) == index_of(low) && !LLVMIsConstant(distance) &&
            igi_simt_shape_of(&w->s, distance).kind == IGI_SHAPE_UNIFORM)
            return distance;
    }
    return NULL;
}

static bool is_paired(const igi_simt_widener *w, LLVMValueRef low, LLVMValueRef high) {
    LLVMValueRef first = LLVMGetOperand(low, 0), second = LLVMGetOperand(high, 0);
    LLVMTypeRef type = LLVMTypeOf(low);
    return type == LLVMTypeOf(high) && igi_simt_is_plain_access(low, type) && igi_simt_is_plain_access(high, type) &&
           igi_simt_is_indexed(w, first, 4) && igi_simt_is_indexed(w, second, 4) &&
           LLVMGetOperand(first, 0) == LLVMGetOperand(second, 0) &&
           LLVMGetInstructionOpcode(LLVMGetOperand(first, 1)) == LLVMGetInstructionOpcode(LLVMGetOperand(second, 1)) &&
           igi_simt_may_be_row(w, first, type) && distance_between(w, first, second);
}

static bool writes_to(LLVMValueRef access, LLVMValueRef load) {
    LLVMTypeRef type = LLVMTypeOf(load);
    return access && LLVMIsAStoreInst(access) && LLVMTypeOf(LLVMGetOperand(access, 0)) == type &&
           igi_simt_is_plain_access(access, type) &&
           are_same(LLVMGetOperand(access, 1), LLVMGetOperand(load, 0), MAX_DEPTH);
}

static bool find_stores(const igi_simt_widener *w, igi_simt_exchange *e) {
    LLVMValueRef first = access_after(e->load[1]);
    if (!first) first = access_of_branch(w, LLVMGetInstructionParent(e->load[1]));
    LLVMValueRef second = first ? access_after(first) : NULL;
    for (unsigned k = 0; k < 2; k++) {
        if (!writes_to(first, e->load[k]) || !writes_to(second, e->load[1 - k])) continue;
        e->store[k] = first;
        e->store[1 - k] = e->last = second;
        return true;
    }
    return false;
}

static bool has_lanes(const igi_simt_widener *w) {
    uint32_t lanes = igi_simt_near_lanes(w);
    bool permutes = strstr(igi_simt_features(), "+avx2") || igi_simt_is_for_arm();
    return permutes && w->full && !w->m->request->first_tier && w->width % lanes == 0 &&
           w->width / lanes <= IGI_MAX_CHUNKS;
}

static void make_slots(igi_simt_widener *w, igi_simt_exchange *e) {
    e->way = igi_simt_make_slot(w, w->i32);
    e->indices = igi_simt_make_slot(w, igi_simt_widen_type(w, w->i32));
    e->distance = igi_simt_make_slot(w, w->i32);
    for (unsigned k = 0; k < 2; k++) {
        e->old[k] = igi_simt_make_slot(w, igi_simt_widen_type(w, w->i32));
        for (uint32_t c = 0; c < w->width / igi_simt_near_lanes(w); c++)
            e->first[k][c] = igi_simt_make_slot(w, w->pointer);
    }
}

// Of the loads of a block.
static void find_in(igi_simt_widener *w, uint32_t block) {
    w->block = block;
    LLVMValueRef i = next_access(LLVMGetFirstInstruction(w->s.cfg.blocks[block].block));
    for (; i && w->exchange_count < IGI_MAX_EXCHANGES; i = access_after(i)) {
        igi_simt_exchange *e = &w->exchanges[w->exchange_count];
        LLVMValueRef next = access_after(i);
        if (!LLVMIsALoadInst(i) || !next || !LLVMIsALoadInst(next)) continue;
        if (!is_paired(w, i, next) || is_used_before(i, next)) continue;
        *e = (igi_simt_exchange){.load = {i, next}};
        if (!find_stores(w, e)) continue;
        make_slots(w, e);
        w->exchange_count++;
    }
}

void igi_simt_find_exchanges(igi_simt_widener *w) {
    if (!has_lanes(w)) return;
    for (uint32_t block = 0; block < w->s.cfg.count; block++) find_in(w, block);
}

// ---- Vectors of one register ----

static LLVMTypeRef words(const igi_simt_widener *w) {
    return LLVMVectorType(w->i32, igi_simt_near_lanes(w));
}

static LLVMValueRef repeat(igi_simt_widener *w, LLVMValueRef scalar) {
    return igi_simt_spread(w, scalar, igi_simt_near_lanes(w));
}

static LLVMValueRef number(const igi_simt_widener *w, uint64_t value) {
    return igi_simt_splat(words(w), value, false);
}

// ARM permutes bytes: element n is bytes 4n to 4n + 3.
static LLVMValueRef pick_bytes(igi_simt_widener *w, LLVMValueRef low, LLVMValueRef high, LLVMValueRef places) {
    LLVMBuilderRef b = w->builder;
    LLVMTypeRef bytes = LLVMVectorType(w->i8, 4 * igi_simt_near_lanes(w));
    LLVMValueRef first = LLVMBuildMul(b, places, number(w, 0x04040404), "");
    LLVMValueRef all = LLVMBuildAdd(b, first, number(w, 0x03020100), "");
    LLVMValueRef arguments[] = {LLVMBuildBitCast(b, low, bytes, ""), LLVMBuildBitCast(b, high, bytes, ""),
                                LLVMBuildBitCast(b, all, bytes, "")};
    LLVMValueRef picked = igi_simt_call_intrinsic(b, "llvm.aarch64.neon.tbl2", &bytes, 1, arguments, 3);
    return LLVMBuildBitCast(b, picked, words(w), "");
}

// The elements of two registers at `places`, in 0 to twice the number of lanes.
static LLVMValueRef pick(igi_simt_widener *w, LLVMValueRef low, LLVMValueRef high, LLVMValueRef places) {
    if (igi_simt_is_for_arm()) return pick_bytes(w, low, high, places);
    if (w->mask_registers) {
        LLVMValueRef arguments[] = {low, places, high};
        return igi_simt_call_intrinsic(w->builder, "llvm.x86.avx512.vpermi2var.d.512", NULL, 0, arguments, 3);
    }
    LLVMValueRef of_low[] = {low, places}, of_high[] = {high, places};
    LLVMValueRef a = igi_simt_call_intrinsic(w->builder, "llvm.x86.avx2.permd", NULL, 0, of_low, 2);
    LLVMValueRef b = igi_simt_call_intrinsic(w->builder, "llvm.x86.avx2.permd", NULL, 0, of_high, 2);
    LLVMValueRef upper = LLVMBuildICmp(w->builder, LLVMIntSGE, places, number(w, igi_simt_near_lanes(w)), "");
    return LLVMBuildSelect(w->builder, upper, b, a, "");
}

static LLVMValueRef next_register(igi_simt_widener *w, LLVMValueRef address) {
    return igi_simt_field(w->builder, address, (size_t)igi_simt_near_lanes(w) * 4);
}

static LLVMValueRef load_register(igi_simt_widener *w, LLVMValueRef address, unsigned alignment) {
    LLVMValueRef load = LLVMBuildLoad2(w->builder, words(w), address, "");
    LLVMSetAlignment(load, alignment);
    return load;
}

// ---- Where the lanes are ----

// Whether the distance is a power of two that is less than a register.
static LLVMValueRef is_short(igi_simt_widener *w, LLVMValueRef distance) {
    LLVMBuilderRef b = w->builder;
    LLVMValueRef ones = igi_simt_call_intrinsic(b, "llvm.ctpop", &w->i32, 1, &distance, 1);
    LLVMValueRef power = LLVMBuildICmp(b, LLVMIntEQ, ones, LLVMConstInt(w->i32, 1, 0), "");
    LLVMValueRef limit = LLVMConstInt(w->i32, igi_simt_near_lanes(w), 0);
    return LLVMBuildAnd(b, power, LLVMBuildICmp(b, LLVMIntULT, distance, limit, ""), "short");
}

// The place of each lane's first element: after `distance` lanes, as many elements are left out.
static LLVMValueRef woven_places(igi_simt_widener *w, LLVMValueRef distance) {
    LLVMBuilderRef b = w->builder;
    LLVMValueRef lanes = igi_simt_count_up(w, igi_simt_near_lanes(w));
    return LLVMBuildAdd(b, lanes, LLVMBuildAnd(b, lanes, repeat(w, LLVMBuildNeg(b, distance, "")), ""), "woven");
}

// The reverse, for a register of memory: which of the lanes' first elements, and after them their second, goes where.
static LLVMValueRef places_in_memory(igi_simt_widener *w, LLVMValueRef distance, uint32_t half) {
    LLVMBuilderRef b = w->builder;
    uint32_t lanes = igi_simt_near_lanes(w);
    LLVMValueRef one = repeat(w, distance), below = LLVMBuildSub(b, one, number(w, 1), "");
    LLVMValueRef at = LLVMBuildAdd(b, igi_simt_count_up(w, lanes), number(w, (uint64_t)half * lanes), "");
    LLVMValueRef around = LLVMBuildNot(b, LLVMBuildOr(b, one, below, ""), "");
    LLVMValueRef before = LLVMBuildLShr(b, LLVMBuildAnd(b, at, around, ""), number(w, 1), "");
    LLVMValueRef lane = LLVMBuildOr(b, before, LLVMBuildAnd(b, at, below, ""), "");
    LLVMValueRef is_second = LLVMBuildICmp(b, LLVMIntNE, LLVMBuildAnd(b, at, one, ""), number(w, 0), "");
    return LLVMBuildOr(b, lane, LLVMBuildSelect(b, is_second, number(w, lanes), number(w, 0), ""), "from");
}

static LLVMValueRef base_of(igi_simt_widener *w, const igi_simt_exchange *e) {
    return igi_simt_widen_scalar(w, LLVMGetOperand(LLVMGetOperand(e->load[0], 0), 0));
}

// Remembers where a register's lanes begin. Returns whether no index wraps, and adds to *misses where lanes are not at `places`.
static LLVMValueRef place_chunk(igi_simt_widener *w, const igi_simt_exchange *e, uint32_t chunk, LLVMValueRef indices,
                                LLVMValueRef distance, LLVMValueRef places, LLVMValueRef *misses) {
    LLVMBuilderRef b = w->builder;
    uint32_t lanes = igi_simt_near_lanes(w);
    LLVMValueRef address = LLVMGetOperand(e->load[0], 0), extension = LLVMGetOperand(address, 1);
    LLVMValueRef base = base_of(w, e), mine;
    LLVMValueRef starts[2] = {
        LLVMBuildExtractElement(b, indices, LLVMConstInt(w->i32, (uint64_t)chunk * lanes, 0), "")};
    starts[1] = LLVMBuildAdd(b, starts[0], distance, "");
    mine = LLVMBuildSub(b, igi_simt_part(w, indices, chunk * lanes, lanes), repeat(w, starts[0]), "");
    LLVMValueRef apart = LLVMBuildXor(b, mine, places, ""), fits = LLVMConstInt(w->i1, 1, 0);
    *misses = *misses ? LLVMBuildOr(b, *misses, apart, "") : apart;
    for (unsigned k = 0; k < 2; k++) {
        LLVMValueRef far = LLVMBuildCast(b, LLVMGetInstructionOpcode(extension), starts[k], w->i64, "");
        LLVMValueRef first = LLVMBuildGEP2(b, LLVMGetGEPSourceElementType(address), base, &far, 1, "");
        LLVMBuildStore(b, first, e->first[k][chunk]);
        fits = LLVMBuildAnd(b, fits, igi_simt_stays_straight(w, extension, starts[k], 2 * lanes), "");
    }
    return fits;
}

static LLVMValueRef is_nothing(igi_simt_widener *w, LLVMValueRef vector) {
    LLVMTypeRef all = LLVMIntTypeInContext(w->m->context, 32 * igi_simt_near_lanes(w));
    return LLVMBuildICmp(w->builder, LLVMIntEQ, LLVMBuildBitCast(w->builder, vector, all, ""), LLVMConstNull(all), "");
}

// APART, ROWS or WOVEN.
static LLVMValueRef find_way(igi_simt_widener *w, const igi_simt_exchange *e, LLVMValueRef distance) {
    LLVMBuilderRef b = w->builder;
    LLVMValueRef indices = LLVMBuildFreeze(b, igi_simt_widen_vector(w, index_of(LLVMGetOperand(e->load[0], 0))), "");
    LLVMBuildStore(b, indices, e->indices);
    LLVMValueRef near = is_short(w, distance), all = LLVMConstInt(w->i1, 1, 0), misses = NULL;
    LLVMValueRef row = igi_simt_count_up(w, igi_simt_near_lanes(w));
    LLVMValueRef places = LLVMBuildSelect(b, near, woven_places(w, distance), row, "");
    for (uint32_t c = 0; c < w->width / igi_simt_near_lanes(w); c++)
        all = LLVMBuildAnd(b, all, place_chunk(w, e, c, indices, distance, places, &misses), "");
    all = LLVMBuildAnd(b, all, is_nothing(w, misses), "");
    LLVMValueRef whole = LLVMBuildSelect(b, near, LLVMConstInt(w->i32, WOVEN, 0), LLVMConstInt(w->i32, ROWS, 0), "");
    return LLVMBuildSelect(b, all, whole, LLVMConstInt(w->i32, APART, 0), "way");
}

// A block for each way, and one where they meet.
typedef struct ways {
    LLVMBasicBlockRef block[3], after;
} ways;

static ways branch(igi_simt_widener *w, LLVMValueRef way) {
    static const char *const names[] = {"apart", "rows", "woven"};
    ways to;
    for (unsigned i = 0; i < 3; i++) to.block[i] = igi_simt_new_block(w, names[i]);
    to.after = igi_simt_new_block(w, "exchanged");
    LLVMValueRef choice = LLVMBuildSwitch(w->builder, way, to.block[APART], 2);
    LLVMAddCase(choice, LLVMConstInt(w->i32, ROWS, 0), to.block[ROWS]);
    LLVMAddCase(choice, LLVMConstInt(w->i32, WOVEN, 0), to.block[WOVEN]);
    return to;
}

// The lanes' addresses, which only lanes that are apart need: made there, they cost the others nothing.
static LLVMValueRef addresses_of(igi_simt_widener *w, const igi_simt_exchange *e, unsigned k, LLVMValueRef base) {
    LLVMBuilderRef b = w->builder;
    LLVMTypeRef narrow = igi_simt_widen_type(w, w->i32), far = igi_simt_widen_type(w, w->i64);
    LLVMValueRef address = LLVMGetOperand(e->load[0], 0), indices = LLVMBuildLoad2(b, narrow, e->indices, "");
    LLVMValueRef distance = LLVMBuildLoad2(b, w->i32, e->distance, "");
    if (k == 1) indices = LLVMBuildAdd(b, indices, igi_simt_splat_value(w, distance), "");
    LLVMValueRef index = LLVMBuildCast(b, LLVMGetInstructionOpcode(LLVMGetOperand(address, 1)), indices, far, "");
    return LLVMBuildGEP2(b, LLVMGetGEPSourceElementType(address), base, &index, 1, "");
}

// ---- Reading ----

static LLVMValueRef join_words(igi_simt_widener *w, LLVMValueRef *parts) {
    uint32_t lanes = igi_simt_near_lanes(w);
    return igi_simt_join(w, parts, w->width / lanes, lanes);
}

static void load_rows(igi_simt_widener *w, const igi_simt_exchange *e, LLVMValueRef values[2]) {
    for (unsigned k = 0; k < 2; k++) {
        LLVMValueRef parts[IGI_MAX_CHUNKS] = {0};
        for (uint32_t c = 0; c < w->width / igi_simt_near_lanes(w); c++) {
            LLVMValueRef first = LLVMBuildLoad2(w->builder, w->pointer, e->first[k][c], "");
            parts[c] = load_register(w, first, LLVMGetAlignment(e->load[k]));
        }
        values[k] = join_words(w, parts);
    }
}

static void load_woven(igi_simt_widener *w, const igi_simt_exchange *e, LLVMValueRef distance, LLVMValueRef values[2]) {
    LLVMValueRef parts[2][IGI_MAX_CHUNKS] = {0}, places = woven_places(w, distance);
    LLVMValueRef second = LLVMBuildAdd(w->builder, places, repeat(w, distance), "");
    unsigned alignment = LLVMGetAlignment(e->load[0]);
    for (uint32_t c = 0; c < w->width / igi_simt_near_lanes(w); c++) {
        LLVMValueRef first = LLVMBuildLoad2(w->builder, w->pointer, e->first[0][c], "");
        LLVMValueRef low = load_register(w, first, alignment),
                     high = load_register(w, next_register(w, first), alignment);
        parts[0][c] = pick(w, low, high, places);
        parts[1][c] = pick(w, low, high, second);
    }
    for (unsigned k = 0; k < 2; k++) values[k] = join_words(w, parts[k]);
}

static void load_apart(igi_simt_widener *w, const igi_simt_exchange *e, LLVMValueRef base, LLVMValueRef values[2]) {
    for (unsigned k = 0; k < 2; k++) {
        LLVMTypeRef wide = igi_simt_widen_type(w, LLVMTypeOf(e->load[k]));
        LLVMValueRef read = igi_simt_gather_from(w, e->load[k], wide, addresses_of(w, e, k, base));
        values[k] = LLVMBuildBitCast(w->builder, read, igi_simt_widen_type(w, w->i32), "");
    }
}

static LLVMValueRef distance_of(igi_simt_widener *w, const igi_simt_exchange *e) {
    LLVMValueRef low = LLVMGetOperand(e->load[0], 0), high = LLVMGetOperand(e->load[1], 0);
    return LLVMBuildFreeze(w->builder, igi_simt_widen_scalar(w, distance_between(w, low, high)), "distance");
}

static void load_both(igi_simt_widener *w, const igi_simt_exchange *e) {
    LLVMValueRef distance = distance_of(w, e), base = base_of(w, e), way = find_way(w, e, distance), values[3][2];
    LLVMBuildStore(w->builder, distance, e->distance);
    LLVMBuildStore(w->builder, way, e->way);
    ways to = branch(w, way);
    for (unsigned i = 0; i < 3; i++) {
        LLVMPositionBuilderAtEnd(w->builder, to.block[i]);
        if (i == APART) load_apart(w, e, base, values[i]);
        if (i == ROWS) load_rows(w, e, values[i]);
        if (i == WOVEN) load_woven(w, e, distance, values[i]);
        LLVMBuildBr(w->builder, to.after);
    }
    LLVMPositionBuilderAtEnd(w->builder, to.after);
    LLVMValueRef all[2];
    for (unsigned k = 0; k < 2; k++) {
        LLVMValueRef from[] = {values[0][k], values[1][k], values[2][k]};
        all[k] = LLVMBuildPhi(w->builder, igi_simt_widen_type(w, w->i32), "");
        LLVMAddIncoming(all[k], from, to.block, 3);
    }
    for (unsigned k = 0; k < 2; k++) {
        LLVMTypeRef wide = igi_simt_widen_type(w, LLVMTypeOf(e->load[k]));
        LLVMBuildStore(w->builder, all[k], e->old[k]);
        igi_simt_widen_set(w, e->load[k], NULL, LLVMBuildBitCast(w->builder, all[k], wide, ""));
    }
}

// ---- Writing ----

// What is written in rows and registers, and by which lanes; NULL: by all, which some machines prefer.
typedef struct written {
    LLVMValueRef values[2], mask;
} written;

static written values_to_write(igi_simt_widener *w, const igi_simt_exchange *e) {
    LLVMTypeRef type = igi_simt_widen_type(w, w->i32);
    bool back = w->mask && !w->mask_registers;
    written to = {.mask = back ? NULL : w->mask};
    for (unsigned k = 0; k < 2; k++) {
        LLVMValueRef wide = igi_simt_widen_vector(w, LLVMGetOperand(e->store[k], 0));
        LLVMValueRef value = LLVMBuildBitCast(w->builder, wide, type, "");
        LLVMValueRef old = LLVMBuildLoad2(w->builder, type, e->old[k], "");
        to.values[k] = back ? LLVMBuildSelect(w->builder, w->mask, value, old, "") : value;
    }
    return to;
}

static LLVMValueRef chunk_of(igi_simt_widener *w, LLVMValueRef vector, uint32_t chunk) {
    uint32_t lanes = igi_simt_near_lanes(w);
    return vector ? igi_simt_part(w, vector, chunk * lanes, lanes) : NULL;
}

static void store_rows(igi_simt_widener *w, const igi_simt_exchange *e, const written *to) {
    unsigned last = e->store[1] == e->last;
    for (unsigned n = 0; n < 2; n++)
        for (uint32_t c = 0; c < w->width / igi_simt_near_lanes(w); c++) {
            unsigned k = n == 0 ? 1 - last : last;
            LLVMValueRef first = LLVMBuildLoad2(w->builder, w->pointer, e->first[k][c], "");
            igi_simt_store_masked(w, chunk_of(w, to->values[k], c), first, LLVMGetAlignment(e->store[k]),
                                  chunk_of(w, to->mask, c));
        }
}

static LLVMValueRef pick_mask(igi_simt_widener *w, LLVMValueRef mask, LLVMValueRef places) {
    if (!mask) return NULL;
    LLVMValueRef wide = LLVMBuildSExt(w->builder, mask, words(w), "");
    return LLVMBuildICmp(w->builder, LLVMIntNE, pick(w, wide, wide, places), number(w, 0), "");
}

static void store_woven(igi_simt_widener *w, const igi_simt_exchange *e, const written *to) {
    LLVMValueRef distance = LLVMBuildLoad2(w->builder, w->i32, e->distance, "");
    for (uint32_t half = 0; half < 2; half++) {
        LLVMValueRef places = places_in_memory(w, distance, half);
        for (uint32_t c = 0; c < w->width / igi_simt_near_lanes(w); c++) {
            LLVMValueRef first = LLVMBuildLoad2(w->builder, w->pointer, e->first[0][c], "");
            LLVMValueRef value = pick(w, chunk_of(w, to->values[0], c), chunk_of(w, to->values[1], c), places);
            igi_simt_store_masked(w, value, half ? next_register(w, first) : first, LLVMGetAlignment(e->store[0]),
                                  pick_mask(w, chunk_of(w, to->mask, c), places));
        }
    }
}

static void store_apart(igi_simt_widener *w, const igi_simt_exchange *e, LLVMValueRef base, const written *to) {
    unsigned last = e->store[1] == e->last, order[] = {1 - last, last};
    for (unsigned n = 0; n < 2; n++)
        igi_simt_scatter_to(w, e->store[order[n]], to->values[order[n]], addresses_of(w, e, order[n], base));
}

static void store_both(igi_simt_widener *w, const igi_simt_exchange *e) {
    written to_write = values_to_write(w, e);
    LLVMValueRef base = base_of(w, e);
    ways to = branch(w, LLVMBuildLoad2(w->builder, w->i32, e->way, ""));
    for (unsigned i = 0; i < 3; i++) {
        LLVMPositionBuilderAtEnd(w->builder, to.block[i]);
        if (i == APART) store_apart(w, e, base, &to_write);
        if (i == ROWS) store_rows(w, e, &to_write);
        if (i == WOVEN) store_woven(w, e, &to_write);
        LLVMBuildBr(w->builder, to.after);
    }
    LLVMPositionBuilderAtEnd(w->builder, to.after);
}

bool igi_simt_widen_exchange(igi_simt_widener *w, LLVMValueRef access) {
    for (uint32_t n = 0; n < w->exchange_count; n++) {
        const igi_simt_exchange *e = &w->exchanges[n];
        bool stores = access == e->store[0] || access == e->store[1];
        if (!stores && access != e->load[0] && access != e->load[1]) continue;
        igi_simt_note(w, stores ? IGI_REMARK_SCATTER : IGI_REMARK_GATHER, access);
        if (!stores && w->mask) {
            LLVMBuildStore(w->builder, LLVMConstInt(w->i32, APART, 0), e->way);
            return false;
        }
        if (access == e->load[1]) load_both(w, e);
        if (access == e->last) store_both(w, e);
        return true;
    }
    return false;
}
