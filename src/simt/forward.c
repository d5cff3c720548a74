// SPDX-License-Identifier: Apache-2.0
// What a whole threadgroup has just written to its memory is taken from registers: in a scan, or a tree of additions,
// the lanes read what their neighbours wrote before the barrier, a step further along. A load across two stores waits
// until both have reached the cache; a shuffle of two registers does not, and whole registers are not even moved.
//
// Only within a block, and only elements of four bytes at known places. Threadgroup memory is one thread's of the host
// while it runs a threadgroup, and no buffer overlaps it.
#include <string.h>

#include "core/memory.h"
#include "simt/ir.h"
#include "simt/launch.h"
#include "simt/passes.h"
#include "simt/reorder.h"
#include "simt/target.h"

enum { WORD = 4, MOST_WORDS = 32768 / WORD, REGISTER_LANES = 16, MOST_REGISTERS = IGI_MAX_WIDTH / 4 };

// Four bytes of threadgroup memory.
typedef struct word {
    LLVMValueRef value;  // a vector that was written there, of which they are an element; NULL: not known
    unsigned lane;
    LLVMValueRef store;  // that nobody has needed so far; NULL: none
} word;

typedef struct forwarder {
    igi_simt_module *m;
    LLVMBuilderRef builder;
    word *words;
    size_t used;  // words after these are not known
    igi_simt_values dead;
    bool failed;
} forwarder;

// ---- Places ----

typedef enum place_kind { ELSEWHERE, KNOWN, ANYWHERE } place_kind;

typedef struct place {
    place_kind kind;
    int64_t offset;  // of KNOWN: in threadgroup memory
} place;

static bool is_buffer(uint64_t field) {
    size_t first = offsetof(igi_simt_group, arguments);
    return field >= first && field < first + IGI_MAX_SLOTS * sizeof(void *);
}

static place find_place(LLVMValueRef address) {
    int64_t offset = 0;
    uint64_t step, field;
    bool known = true;
    for (; LLVMIsAGetElementPtrInst(address); address = LLVMGetOperand(address, 0)) {
        known &= igi_simt_constant_offset(address, &step);
        if (known) offset += (int64_t)step;
    }
    if (LLVMIsAAllocaInst(address) || LLVMIsAArgument(address)) return (place){ELSEWHERE, 0};
    bool is_field = LLVMIsALoadInst(address) && igi_simt_is_field(LLVMGetOperand(address, 0), &field);
    if (is_field && is_buffer(field)) return (place){ELSEWHERE, 0};
    bool own = is_field && field == offsetof(igi_simt_group, threadgroup_memory);
    return (place){own && known ? KNOWN : ANYWHERE, offset};
}

// ---- Accesses ----

typedef struct access {
    LLVMValueRef address, value, mask;  // value: that is written, or inactive lanes read; mask: NULL without
    LLVMTypeRef type;
    bool reads, writes;
} access;

static bool begins(LLVMValueRef call, const char *prefix) {
    return strncmp(igi_simt_callee_name(call), prefix, strlen(prefix)) == 0;
}

static bool is_plain(LLVMValueRef i) {
    return !LLVMGetVolatile(i) && LLVMGetOrdering(i) == LLVMAtomicOrderingNotAtomic;
}

// Whether it is a plain access to contiguous elements.
static bool find_access(LLVMValueRef i, access *a) {
    if (LLVMIsALoadInst(i) && is_plain(i))
        *a = (access){LLVMGetOperand(i, 0), NULL, NULL, LLVMTypeOf(i), .reads = true};
    else if (LLVMIsAStoreInst(i) && is_plain(i))
        *a = (access){LLVMGetOperand(i, 1), LLVMGetOperand(i, 0), NULL, LLVMTypeOf(LLVMGetOperand(i, 0)),
                      .writes = true};
    else if (LLVMIsACallInst(i) && begins(i, "llvm.masked.load."))
        *a = (access){LLVMGetOperand(i, 0), LLVMGetOperand(i, 3), LLVMGetOperand(i, 2), LLVMTypeOf(i), .reads = true};
    else if (LLVMIsACallInst(i) && begins(i, "llvm.masked.store."))
        *a = (access){LLVMGetOperand(i, 1), LLVMGetOperand(i, 0), LLVMGetOperand(i, 3),
                      LLVMTypeOf(LLVMGetOperand(i, 0)), .writes = true};
    else
        return false;
    return true;
}

static bool touches_nothing(LLVMValueRef i) {
    bool is_access = LLVMIsALoadInst(i) || LLVMIsAStoreInst(i) || LLVMIsAAtomicRMWInst(i) ||
                     LLVMIsAAtomicCmpXchgInst(i) || LLVMIsAFenceInst(i);
    if (is_access) return false;
    return !LLVMIsACallInst(i) || (begins(i, "llvm.") && !igi_simt_is_memory_intrinsic(i));
}

static uint64_t bytes_of(const forwarder *f, LLVMTypeRef type) {
    return LLVMABISizeOfType(LLVMGetModuleDataLayout(f->m->module), type);
}

static bool is_vector_of_words(LLVMTypeRef type) {
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) return false;
    LLVMTypeRef element = LLVMGetElementType(type);
    return LLVMGetTypeKind(element) == LLVMFloatTypeKind ||
           (LLVMGetTypeKind(element) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(element) == 32);
}

// ---- What is known ----

// Words that an access to `bytes` at a known offset may touch: from *first to before *end.
static void find_range(int64_t offset, uint64_t bytes, size_t *first, size_t *end) {
    int64_t last = offset + (int64_t)bytes + WORD - 1;
    *first = offset < 0 ? 0 : (size_t)offset / WORD;
    *end = last < 0 ? 0 : (size_t)last / WORD;
    if (*end > MOST_WORDS) *end = MOST_WORDS;
}

static void forget_range(forwarder *f, size_t first, size_t end, bool value, bool store) {
    for (size_t k = first; k < end && k < f->used; k++) {
        if (value) f->words[k].value = NULL;
        if (store) f->words[k].store = NULL;
    }
}

// Values too if memory changes; otherwise it is read, and the stores are needed.
static void forget(forwarder *f, place p, uint64_t bytes, bool changes) {
    size_t first = 0, end = f->used;
    if (p.kind == ELSEWHERE) return;
    if (p.kind == KNOWN) find_range(p.offset, bytes, &first, &end);
    forget_range(f, first, end, changes, true);
}

static void forget_all(forwarder *f) {
    forget_range(f, 0, f->used, true, true);
    f->used = 0;
}

// The store whose words are just these, and were not needed.
static LLVMValueRef overwritten(const forwarder *f, size_t first, size_t end) {
    LLVMValueRef store = first < f->used ? f->words[first].store : NULL;
    if (!store) return NULL;
    for (size_t k = first; k < end; k++)
        if (k >= f->used || f->words[k].store != store || f->words[k].lane != k - first) return NULL;
    return LLVMGetVectorSize(LLVMTypeOf(f->words[first].value)) == end - first ? store : NULL;
}

static void note_store(forwarder *f, LLVMValueRef store, const access *a, place p) {
    size_t first, end;
    bool whole = p.kind == KNOWN && !a->mask && is_vector_of_words(a->type) && p.offset % WORD == 0 && p.offset >= 0 &&
                 (uint64_t)p.offset + bytes_of(f, a->type) <= (uint64_t)MOST_WORDS * WORD;
    if (!whole) {
        forget(f, p, bytes_of(f, a->type), true);
        return;
    }
    find_range(p.offset, bytes_of(f, a->type), &first, &end);
    LLVMValueRef old = overwritten(f, first, end);
    if (old) f->failed |= !igi_simt_values_add(&f->dead, old);
    for (size_t k = f->used; k < first; k++) f->words[k] = (word){0};
    if (end > f->used) f->used = end;
    for (size_t k = first; k < end; k++) f->words[k] = (word){a->value, (unsigned)(k - first), store};
}

// ---- Reading from registers ----

// Up to two registers that the lanes of one are picked from; what inactive lanes read may be one.
typedef struct picked {
    LLVMValueRef vector[2];
    unsigned part[2], count;        // which register of the vector
    unsigned from[REGISTER_LANES];  // by lane: the place in both
} picked;

static bool add_lane(picked *p, unsigned at, LLVMValueRef vector, unsigned lane, unsigned lanes) {
    if (LLVMGetVectorSize(LLVMTypeOf(vector)) % lanes) return false;
    for (unsigned k = 0; k < 2; k++) {
        if (k == p->count) {
            p->vector[k] = vector, p->part[k] = lane / lanes;
            p->count++;
        }
        if (p->vector[k] != vector || p->part[k] != lane / lanes) continue;
        p->from[at] = k * lanes + lane % lanes;
        return true;
    }
    return false;
}

// LLVM's constants have no lane that is known to be off but false.
static bool is_off(LLVMValueRef mask, unsigned lane) {
    return mask && LLVMIsNull(LLVMGetAggregateElement(mask, lane));
}

// Lanes from `first` on. Returns false if they are in more than two registers.
static bool pick_lanes(const forwarder *f, const access *a, int64_t offset, unsigned first, unsigned lanes, picked *p) {
    *p = (picked){0};
    for (unsigned l = 0; l < lanes; l++) {
        int64_t at = offset / WORD + first + l;
        if (is_off(a->mask, first + l)) {
            if (!LLVMIsUndef(a->value) && !add_lane(p, l, a->value, first + l, lanes)) return false;
        } else {
            bool known = at >= 0 && (size_t)at < f->used && f->words[at].value;
            if (!known || !add_lane(p, l, f->words[at].value, f->words[at].lane, lanes)) return false;
        }
    }
    return p->count > 0;
}

static LLVMValueRef shuffle(forwarder *f, LLVMValueRef a, LLVMValueRef b, const unsigned *from, unsigned lanes) {
    LLVMValueRef places[IGI_MAX_WIDTH];
    LLVMTypeRef i32 = LLVMInt32TypeInContext(f->m->context);
    for (unsigned l = 0; l < lanes; l++) places[l] = LLVMConstInt(i32, from[l], false);
    return LLVMBuildShuffleVector(f->builder, a, b, LLVMConstVector(places, lanes), "");
}

static LLVMValueRef part_of(forwarder *f, LLVMValueRef vector, unsigned part, unsigned lanes, LLVMTypeRef element) {
    unsigned count = LLVMGetVectorSize(LLVMTypeOf(vector)), from[IGI_MAX_WIDTH];
    LLVMValueRef same = LLVMBuildBitCast(f->builder, vector, LLVMVectorType(element, count), "");
    if (count == lanes) return same;
    for (unsigned l = 0; l < lanes; l++) from[l] = part * lanes + l;
    return shuffle(f, same, LLVMGetPoison(LLVMTypeOf(same)), from, lanes);
}

static LLVMValueRef build(forwarder *f, const picked *p, LLVMTypeRef element, unsigned lanes) {
    LLVMValueRef first = part_of(f, p->vector[0], p->part[0], lanes, element);
    bool same = p->count == 1;
    for (unsigned l = 0; l < lanes && same; l++) same = p->from[l] == l;
    if (same) return first;
    LLVMValueRef second = LLVMGetPoison(LLVMTypeOf(first));
    if (p->count == 2) second = part_of(f, p->vector[1], p->part[1], lanes, element);
    return shuffle(f, first, second, p->from, lanes);
}

static LLVMValueRef join(forwarder *f, const LLVMValueRef *parts, unsigned count, unsigned lanes) {
    unsigned from[IGI_MAX_WIDTH];
    if (count == 1) return parts[0];
    for (unsigned l = 0; l < count * lanes; l++) from[l] = l;
    LLVMValueRef low = join(f, parts, count / 2, lanes), high = join(f, parts + count / 2, count / 2, lanes);
    return shuffle(f, low, high, from, count * lanes);
}

static bool take_from_registers(forwarder *f, LLVMValueRef load, const access *a, place p) {
    picked registers[MOST_REGISTERS];
    LLVMValueRef parts[MOST_REGISTERS];
    bool constant = !a->mask || LLVMIsConstant(a->mask);
    if (p.kind != KNOWN || p.offset % WORD || !constant || !is_vector_of_words(a->type)) return false;
    unsigned all = LLVMGetVectorSize(a->type), most = igi_simt_register_lanes(), lanes = all < most ? all : most;
    unsigned count = all / lanes;
    if (all % lanes || count > MOST_REGISTERS || (count & (count - 1))) return false;
    for (unsigned k = 0; k < count; k++)
        if (!pick_lanes(f, a, p.offset, k * lanes, lanes, &registers[k])) return false;
    LLVMPositionBuilderBefore(f->builder, load);
    for (unsigned k = 0; k < count; k++) parts[k] = build(f, &registers[k], LLVMGetElementType(a->type), lanes);
    LLVMReplaceAllUsesWith(load, join(f, parts, count, lanes));
    return true;
}

// ---- Blocks ----

static void visit(forwarder *f, LLVMValueRef i) {
    access a;
    if (touches_nothing(i) || igi_simt_is_invariant_load(i)) return;
    if (!find_access(i, &a)) {
        forget_all(f);
        return;
    }
    place p = find_place(a.address);
    if (a.writes)
        note_store(f, i, &a, p);
    else if (!take_from_registers(f, i, &a, p))
        forget(f, p, bytes_of(f, a.type), false);
    else
        f->failed |= !igi_simt_values_add(&f->dead, i);
}

static bool forward_in(forwarder *f, LLVMBasicBlockRef block) {
    f->dead.count = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) visit(f, i);
    forget_all(f);
    for (size_t k = 0; k < f->dead.count; k++) LLVMInstructionEraseFromParent(f->dead.items[k]);
    return !f->failed && (!f->dead.count || igi_simt_reorder(block));
}

ig_status igi_simt_pass_forward(igi_simt_module *m) {
    LLVMValueRef run = LLVMGetNamedFunction(m->module, "ig.run");
    bool observed = m->request->check || m->request->scheduled || m->request->variables;
    if (!run || LLVMIsDeclaration(run) || observed || igi_simt_is_hasty(m)) return IG_STATUS_OK;
    forwarder f = {.m = m, .builder = LLVMCreateBuilderInContext(m->context)};
    f.words = igi_calloc(MOST_WORDS, sizeof *f.words);
    bool ok = f.words != NULL;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(run); b && ok; b = LLVMGetNextBasicBlock(b))
        ok = forward_in(&f, b);
    free(f.words);
    igi_simt_values_free(&f.dead);
    LLVMDisposeBuilder(f.builder);
    return ok ? IG_STATUS_OK : igi_error_no_memory(m->error);
}
