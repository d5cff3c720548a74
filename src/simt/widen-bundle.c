// SPDX-License-Identifier: Apache-2.0
// Bundles: loads, or stores, of one block at constant distances from each other, such as the parts of a float4 or of a
// quantised block. Memory is read in whole pieces for each lane, or for all lanes at once, and shuffled in registers;
// reading the elements one by one would take gathers.
//
// The lanes' elements are first in memory order, the `size` elements of each lane contiguous, in `size` pieces of one
// vector each. Separating even and odd elements, log2(size) times, sorts them by element (and the reverse for stores).
// If the size is not a power of two, each element is picked from all pieces.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "simt/ir.h"
#include "simt/transpose.h"
#include "simt/widen.h"

enum {
    MAX_MEMBERS = IGI_SIMT_MOST_PIECES,
    MAX_INTERLEAVE = 16,
    MAX_ODD_INTERLEAVE = 9,
    MAX_CHUNK_BYTES = 64,
    QUAD_BYTES = 16
};

// base + index * scale + offset
typedef struct place {
    LLVMValueRef base, index;
    LLVMOpcode extension;  // of the index
    uint64_t scale;
    int64_t offset;
} place;

struct igi_simt_bundle {
    igi_simt_bundle *next;  // of the block
    LLVMTypeRef type;
    bool store;
    bool interleaved;      // lanes are `size` elements apart
    bool spread;           // lanes are at known distances (widen-spread.c)
    uint32_t size;         // elements of each lane
    uint32_t count;        // members
    LLVMValueRef trigger;  // where it is emitted: the first load, the last store
    uint32_t trigger_position;
    LLVMValueRef reference;  // the member at position 0
    LLVMValueRef members[MAX_MEMBERS];
    uint32_t position[MAX_MEMBERS];  // of each member, in elements
    LLVMValueRef rows[MAX_MEMBERS];  // what lanes read, in pieces, if they only write it elsewhere
    uint32_t read_in;                // emission in which that is valid
};

// ---- Where an access goes ----

static LLVMValueRef address_of(LLVMValueRef access) {
    return LLVMGetOperand(access, LLVMIsAStoreInst(access) ? 1 : 0);
}

// value = rest + constant; a 32-bit index that wraps between two members would be 2^32 elements away.
static LLVMValueRef strip_constant(LLVMValueRef value, int64_t *constant) {
    LLVMOpcode opcode = LLVMIsAInstruction(value) ? LLVMGetInstructionOpcode(value) : LLVMRet;
    bool sum = opcode == LLVMAdd || (opcode == LLVMOr && LLVMGetIsDisjoint(value));
    if (!sum || !LLVMIsAConstantInt(LLVMGetOperand(value, 1))) return value;
    *constant = LLVMConstIntGetSExtValue(LLVMGetOperand(value, 1));
    return LLVMGetOperand(value, 0);
}

static void strip_index(place *p, LLVMValueRef index, uint64_t scale) {
    int64_t constant = 0;
    p->scale = scale;
    p->extension = LLVMRet;
    index = strip_constant(index, &constant);
    bool extended = LLVMIsAZExtInst(index) || LLVMIsASExtInst(index);
    if (constant == 0 && extended && LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(index, 0))) == 32) {
        p->extension = LLVMGetInstructionOpcode(index);
        index = strip_constant(LLVMGetOperand(index, 0), &constant);
    }
    p->index = index;
    p->offset += constant * (int64_t)scale;
}

// Removes one GEP from the base; returns false if it has more than one index that is not constant.
static bool strip_gep(const igi_simt_widener *w, place *p) {
    LLVMValueRef gep = p->base, variable = NULL;
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    uint64_t scale = 0;
    int64_t offset = 0;
    for (int k = 1; k < LLVMGetNumOperands(gep); k++) {
        LLVMValueRef index = LLVMGetOperand(gep, (unsigned)k);
        if (k > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
            unsigned field = (unsigned)LLVMConstIntGetZExtValue(index);
            offset += (int64_t)LLVMOffsetOfElement(w->s.layout, type, field);
            type = LLVMStructGetTypeAtIndex(type, field);
            continue;
        }
        if (k > 1) type = LLVMGetElementType(type);
        uint64_t bytes = LLVMABISizeOfType(w->s.layout, type);
        if (LLVMIsAConstantInt(index)) {
            offset += LLVMConstIntGetSExtValue(index) * (int64_t)bytes;
        } else {
            if (variable || p->index) return false;
            variable = index;
            scale = bytes;
        }
    }
    if (variable) strip_index(p, variable, scale);
    p->offset += offset;
    p->base = LLVMGetOperand(gep, 0);
    return true;
}

static place place_of(const igi_simt_widener *w, LLVMValueRef address) {
    place p = {.base = address};
    while (LLVMIsAGetElementPtrInst(p.base) && strip_gep(w, &p)) continue;
    return p;
}

static bool same_place(const place *a, const place *b) {
    return a->base == b->base && a->index == b->index && a->scale == b->scale && a->extension == b->extension;
}

// ---- Finding bundles ----

static bool may_write(LLVMValueRef i) {
    switch (LLVMGetInstructionOpcode(i)) {
        case LLVMStore:
        case LLVMAtomicRMW:
        case LLVMAtomicCmpXchg:
        case LLVMFence: return true;
        case LLVMCall:
            if (igi_simt_is_pseudo(i)) return false;
            return strncmp(igi_simt_callee_name(i), "llvm.", 5) != 0 || igi_simt_is_memory_intrinsic(i);
        default: return false;
    }
}

static bool may_touch(LLVMValueRef i) {
    return LLVMGetInstructionOpcode(i) == LLVMLoad || may_write(i);
}

static bool is_candidate(const igi_simt_widener *w, LLVMValueRef i, bool store) {
    if (store ? !LLVMIsAStoreInst(i) : !LLVMIsALoadInst(i)) return false;
    LLVMTypeRef type = igi_simt_accessed_type(i);
    if (!igi_simt_is_plain_access(i, type) || igi_simt_is_row_access(w, address_of(i), type)) return false;
    uint32_t number;
    if (igi_map_get(&w->s.index, i, &number) && w->bundle[number]) return false;
    return igi_simt_shape_of(&w->s, address_of(i)).kind != IGI_SHAPE_UNIFORM;
}

typedef struct candidate {
    LLVMValueRef access;
    int64_t offset;
} candidate;

static int by_offset(const void *a, const void *b) {
    const candidate *left = a, *right = b;
    return left->offset < right->offset ? -1 : left->offset > right->offset;
}

static bool is_found(const candidate *found, uint32_t count, int64_t offset) {
    for (uint32_t i = 0; i < count; i++)
        if (found[i].offset == offset) return true;
    return false;
}

// Accesses after `first` that belong to the same bundle, up to one that might interfere.
static uint32_t collect(const igi_simt_widener *w, LLVMValueRef first, candidate *found) {
    bool store = LLVMIsAStoreInst(first) != NULL;
    LLVMTypeRef type = igi_simt_accessed_type(first);
    place home = place_of(w, address_of(first));
    uint32_t count = 0;
    for (LLVMValueRef i = first; i && count < MAX_MEMBERS; i = LLVMGetNextInstruction(i)) {
        bool belongs = is_candidate(w, i, store) && igi_simt_accessed_type(i) == type;
        place p = belongs ? place_of(w, address_of(i)) : home;
        bool here = belongs && same_place(&p, &home);
        // Stores move to the last of them, but no store may move past another one to the same address.
        if (here && store && is_found(found, count, p.offset)) break;
        if (here)
            found[count++] = (candidate){i, p.offset};
        else if ((store ? may_touch(i) : may_write(i)) && !igi_simt_are_apart(first, i))
            break;
    }
    qsort(found, count, sizeof *found, by_offset);
    return count;
}

static bool is_first(LLVMValueRef a, LLVMValueRef b) {
    for (LLVMValueRef i = a; i; i = LLVMGetNextInstruction(i))
        if (i == b) return true;
    return false;
}

static igi_simt_bundle *make_bundle(igi_simt_widener *w, const candidate *from, uint32_t count, uint64_t bytes) {
    igi_simt_bundle *b = igi_calloc(1, sizeof *b);
    if (!b) return NULL;
    b->type = igi_simt_accessed_type(from[0].access);
    b->store = LLVMIsAStoreInst(from[0].access) != NULL;
    b->reference = b->trigger = from[0].access;
    b->count = count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number;
        b->members[i] = from[i].access;
        b->position[i] = (uint32_t)((uint64_t)(from[i].offset - from[0].offset) / bytes);
        if (is_first(b->store ? b->trigger : from[i].access, b->store ? from[i].access : b->trigger)) {
            b->trigger = from[i].access;
            b->trigger_position = b->position[i];
        }
        if (igi_map_get(&w->s.index, from[i].access, &number)) w->bundle[number] = b;
    }
    b->next = w->bundles;
    w->bundles = b;
    return b;
}

// Without repeated halving, each element takes nearly as many shuffles as there are elements, and not all machines have
// such shuffles for bytes.
static bool suits_interleaving(uint64_t size, uint64_t bytes) {
    if (igi_is_power_of_two(size)) return size >= 2 && size <= MAX_INTERLEAVE;
    return size == 3 || (size <= MAX_ODD_INTERLEAVE && bytes > 1);
}

// Reads all lanes' memory in one piece: takes the members that fit between one lane's first member and the next lane's.
static uint32_t take_interleaved(igi_simt_widener *w, const candidate *from, uint32_t count, uint64_t bytes) {
    igi_simt_shape shape = igi_simt_shape_of(&w->s, address_of(from[0].access));
    if (shape.kind != IGI_SHAPE_LINEAR || shape.stride <= 0 || (uint64_t)shape.stride % bytes) return 0;
    uint64_t size = (uint64_t)shape.stride / bytes;
    if (!suits_interleaving(size, bytes)) return 0;
    uint32_t taken = 0, distinct = 0;
    for (; taken < count; taken++) {
        int64_t distance = from[taken].offset - from[0].offset;
        if ((uint64_t)distance % bytes || (uint64_t)distance >= size * bytes) break;
        distinct += taken == 0 || distance != from[taken - 1].offset - from[0].offset;
    }
    bool store = LLVMIsAStoreInst(from[0].access) != NULL;
    if (store ? distinct != size || taken != size : (uint64_t)distinct * 4 < size) return 0;
    igi_simt_bundle *b = make_bundle(w, from, taken, bytes);
    if (!b) return 0;
    b->interleaved = true;
    b->size = (uint32_t)size;
    return taken;
}

static uint32_t count_neighbours(const candidate *from, uint32_t count, uint64_t bytes) {
    uint32_t run = 1;
    while (run < count && from[run].offset == from[run - 1].offset + (int64_t)bytes) run++;
    return run;
}

// Elements that are picked from what all lanes read.
static uint32_t take_spread(igi_simt_widener *w, const candidate *from, uint32_t count, uint64_t bytes) {
    if (!LLVMIsALoadInst(from[0].access)) return 0;
    uint32_t neighbours = count_neighbours(from, count, bytes);
    uint32_t run = igi_simt_spread_run(w, address_of(from[0].access), neighbours, bytes);
    igi_simt_bundle *b = run ? make_bundle(w, from, run, bytes) : NULL;
    if (!b) return 0;
    b->spread = true;
    b->size = run;
    return run;
}

// If lanes are at a known distance, reading 16 bytes at a time takes the fewest shuffles, and few registers, because
// little is in flight. Otherwise addresses would have to be extracted four times as often.
static uint32_t longest_row(const igi_simt_widener *w, LLVMValueRef access, uint32_t run, uint64_t bytes) {
    igi_simt_shape_kind kind = igi_simt_shape_of(&w->s, address_of(access)).kind;
    bool known = kind == IGI_SHAPE_LINEAR || kind == IGI_SHAPE_PATTERN;
    // Several lanes are read together.
    if (kind == IGI_SHAPE_PATTERN && igi_simt_lanes_in_row(w, address_of(access), run * bytes, 2) == 2)
        return MAX_CHUNK_BYTES;
    return LLVMIsALoadInst(access) && known && bytes <= 4 && w->width % 4 == 0 ? QUAD_BYTES : MAX_CHUNK_BYTES;
}

// Neighbouring elements, a power of two of them, that each lane reads or writes in one access.
static uint32_t take_row(igi_simt_widener *w, const candidate *from, uint32_t count, uint64_t bytes) {
    uint32_t run = count_neighbours(from, count, bytes);
    while (!igi_is_power_of_two(run)) run &= run - 1;
    uint32_t longest = longest_row(w, from[0].access, run, bytes);
    while (run * bytes > longest || (run > w->width && longest != QUAD_BYTES)) run /= 2;
    if (run < 2) return 0;
    igi_simt_bundle *b = make_bundle(w, from, run, bytes);
    if (!b) return 0;
    b->size = run;
    return run;
}

void igi_simt_find_bundles(igi_simt_widener *w, LLVMBasicBlockRef block) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
        if (!is_candidate(w, i, LLVMIsAStoreInst(i) != NULL)) continue;
        candidate found[MAX_MEMBERS];
        uint32_t count = collect(w, i, found);
        uint64_t bytes = LLVMABISizeOfType(w->s.layout, igi_simt_accessed_type(i));
        for (uint32_t at = 0; at < count;) {
            uint32_t taken = take_interleaved(w, found + at, count - at, bytes);
            if (!taken) taken = take_spread(w, found + at, count - at, bytes);
            if (!taken) taken = take_row(w, found + at, count - at, bytes);
            at += taken ? taken : 1;
        }
    }
}

void igi_simt_free_bundles(igi_simt_widener *w) {
    while (w->bundles) {
        igi_simt_bundle *next = w->bundles->next;
        free(w->bundles);
        w->bundles = next;
    }
}

uint32_t igi_simt_bundle_size(const igi_simt_bundle *b) {
    return b ? b->size : 0;
}

// ---- All lanes at once ----

static LLVMValueRef offset_by(igi_simt_widener *w, LLVMValueRef address, uint64_t bytes) {
    LLVMValueRef index = LLVMConstInt(w->i64, bytes, 0);
    return LLVMBuildGEP2(w->builder, w->i8, address, &index, 1, "");
}

// The offset of position 0 from the address of the trigger, the only address that is certain to be available here.
static int64_t back_to_start(igi_simt_widener *w, const igi_simt_bundle *b) {
    return -(int64_t)(b->trigger_position * LLVMABISizeOfType(w->s.layout, b->type));
}

// Which elements of a piece may be accessed: those of active lanes, and none after the last lane's last member. NULL:
// all.
static LLVMValueRef piece_mask(igi_simt_widener *w, const igi_simt_bundle *b, uint32_t piece) {
    uint32_t lanes[IGI_MAX_WIDTH], last = b->position[b->count - 1];
    LLVMValueRef there[IGI_MAX_WIDTH];
    bool all = true;
    for (uint32_t i = 0; i < w->width; i++) {
        uint32_t at = piece * w->width + i;
        lanes[i] = at / b->size;
        bool used = at % b->size <= last || (!w->mask && lanes[i] + 1 < w->width);
        there[i] = LLVMConstInt(w->i1, used, 0);
        all &= used;
    }
    LLVMValueRef holes = all ? NULL : LLVMConstVector(there, w->width);
    if (!w->mask) return holes;
    LLVMValueRef spread = LLVMBuildShuffleVector(w->builder, w->mask, LLVMGetPoison(w->mask_type),
                                                 igi_simt_shuffle_mask(w, lanes, w->width), "");
    return holes ? LLVMBuildAnd(w->builder, spread, holes, "") : spread;
}

static void load_interleaved(igi_simt_widener *w, const igi_simt_bundle *b, LLVMValueRef *pieces) {
    LLVMTypeRef wide = igi_simt_widen_type(w, b->type);
    uint64_t bytes = LLVMABISizeOfType(w->s.layout, b->type);
    LLVMValueRef base = igi_simt_widen_scalar(w, address_of(b->trigger));
    base = offset_by(w, base, (uint64_t)back_to_start(w, b));
    for (uint32_t p = 0; p < b->size; p++)
        pieces[p] = igi_simt_load_masked(w, wide, offset_by(w, base, (uint64_t)p * w->width * bytes), (unsigned)bytes,
                                         piece_mask(w, b, p));
}

static void store_interleaved(igi_simt_widener *w, const igi_simt_bundle *b, LLVMValueRef *pieces) {
    uint64_t bytes = LLVMABISizeOfType(w->s.layout, b->type);
    LLVMValueRef base = igi_simt_widen_scalar(w, address_of(b->trigger));
    base = offset_by(w, base, (uint64_t)back_to_start(w, b));
    for (uint32_t p = 0; p < b->size; p++)
        igi_simt_store_masked(w, pieces[p], offset_by(w, base, (uint64_t)p * w->width * bytes), (unsigned)bytes,
                              piece_mask(w, b, p));
}

// ---- One access for each lane ----

// Inactive lanes use the address of an active one: what they read is not used.
static LLVMValueRef borrowed_addresses(igi_simt_widener *w, LLVMValueRef addresses) {
    LLVMTypeRef bits = LLVMIntTypeInContext(w->m->context, w->width);
    LLVMValueRef arguments[] = {LLVMBuildBitCast(w->builder, w->mask, bits, ""), LLVMConstInt(w->i1, 0, 0)};
    LLVMValueRef lane = igi_simt_call_intrinsic(w->builder, "llvm.cttz", &bits, 1, arguments, 2);
    LLVMValueRef one = LLVMBuildExtractElement(w->builder, addresses, lane, "");
    return LLVMBuildSelect(w->builder, w->mask, addresses, igi_simt_splat_value(w, one), "");
}

// Where each lane's row begins.
static LLVMValueRef row_addresses(igi_simt_widener *w, const igi_simt_bundle *b) {
    return offset_by(w, igi_simt_widen_vector(w, address_of(b->trigger)), (uint64_t)back_to_start(w, b));
}

static void lane_addresses(igi_simt_widener *w, const igi_simt_bundle *b, LLVMValueRef *addresses) {
    LLVMValueRef address = address_of(b->trigger);
    igi_simt_shape shape = igi_simt_shape_of(&w->s, address);
    int64_t back = back_to_start(w, b);
    if ((shape.kind == IGI_SHAPE_LINEAR || shape.kind == IGI_SHAPE_PATTERN) && igi_simt_has_all_lanes(w)) {
        LLVMValueRef base = igi_simt_widen_scalar(w, address);
        for (uint32_t i = 0; i < w->width; i++)
            addresses[i] = offset_by(w, base, (uint64_t)(igi_simt_lane_offset(&w->s, shape, i) + back));
        return;
    }
    LLVMValueRef all = igi_simt_widen_vector(w, address);
    if (w->mask) all = borrowed_addresses(w, all);
    for (uint32_t i = 0; i < w->width; i++)
        addresses[i] =
            offset_by(w, LLVMBuildExtractElement(w->builder, all, LLVMConstInt(w->i32, i, 0), ""), (uint64_t)back);
}

// Lanes at known distances, of which some read memory without gaps: one load for several of them.
static bool may_read_lanes_together(const igi_simt_widener *w, const igi_simt_bundle *b) {
    LLVMValueRef address = address_of(b->trigger);
    uint64_t bytes = LLVMABISizeOfType(w->s.layout, b->type), row = b->size * bytes;
    bool masks = !w->mask || w->mask_registers || bytes == 4;
    return igi_simt_is_spread(w, address) && masks && igi_simt_has_near_lanes(w, address, row) &&
           (w->mask || igi_simt_lanes_in_row(w, address, row, 2) == 2);
}

static void load_rows_together(igi_simt_widener *w, const igi_simt_bundle *b, LLVMValueRef *pieces) {
    LLVMValueRef address = address_of(b->trigger), rows[IGI_MAX_WIDTH] = {0};
    igi_simt_shape shape = igi_simt_shape_of(&w->s, address);
    uint64_t row = b->size * LLVMABISizeOfType(w->s.layout, b->type);
    uint32_t per_piece = w->width / b->size, together = igi_simt_lanes_in_row(w, address, row, per_piece);
    igi_simt_span span = igi_simt_active_span(w, address, back_to_start(w, b), row);
    LLVMTypeRef vector = LLVMVectorType(b->type, b->size * together);
    for (uint32_t i = 0; i < w->width / together; i++)
        rows[i] = igi_simt_load_span(w, &span, igi_simt_lane_offset(&w->s, shape, i * together), vector,
                                     LLVMGetAlignment(b->reference));
    per_piece /= together;
    for (uint32_t p = 0; p < b->size; p++) pieces[p] = igi_simt_concatenate(w, rows + (size_t)p * per_piece, per_piece);
}

// Rows that are longer than a piece: the elements of one lane are several pieces.
static void load_long_rows(igi_simt_widener *w, const igi_simt_bundle *b, LLVMValueRef *pieces) {
    LLVMTypeRef piece = igi_simt_widen_type(w, b->type);
    uint64_t bytes = LLVMABISizeOfType(w->s.layout, b->type), whole = w->width * bytes;
    unsigned alignment = LLVMGetAlignment(b->reference);
    LLVMValueRef addresses[IGI_MAX_WIDTH];
    lane_addresses(w, b, addresses);
    for (uint32_t p = 0; p < b->size; p++) {
        uint32_t at = p * w->width;
        pieces[p] = LLVMBuildLoad2(w->builder, piece, offset_by(w, addresses[at / b->size], at % b->size * bytes), "");
        LLVMSetAlignment(pieces[p], alignment < whole ? alignment : (unsigned)whole);
    }
}

static void load_rows(igi_simt_widener *w, const igi_simt_bundle *b, LLVMValueRef *pieces) {
    if (b->size > w->width) {
        load_long_rows(w, b, pieces);
        return;
    }
    if (may_read_lanes_together(w, b)) {
        load_rows_together(w, b, pieces);
        return;
    }
    LLVMTypeRef row = LLVMVectorType(b->type, b->size);
    LLVMValueRef addresses[IGI_MAX_WIDTH], rows[IGI_MAX_WIDTH] = {0};
    unsigned alignment = LLVMGetAlignment(b->reference);
    lane_addresses(w, b, addresses);
    for (uint32_t i = 0; i < w->width; i++) {
        rows[i] = LLVMBuildLoad2(w->builder, row, addresses[i], "");
        LLVMSetAlignment(rows[i], alignment);
    }
    uint32_t per_piece = w->width / b->size;
    for (uint32_t p = 0; p < b->size; p++) pieces[p] = igi_simt_concatenate(w, rows + (size_t)p * per_piece, per_piece);
}

// ---- Rows that lanes read and write elsewhere: they are not sorted by element and back ----

static igi_simt_bundle *bundle_of(const igi_simt_widener *w, LLVMValueRef access) {
    uint32_t number;
    return igi_map_get(&w->s.index, access, &number) ? w->bundle[number] : NULL;
}

static bool has_member(const igi_simt_bundle *b, LLVMValueRef access, uint32_t position) {
    for (uint32_t k = 0; k < b->count; k++)
        if (b->members[k] == access) return b->position[k] == position;
    return false;
}

// Whether the stores write just what the loads read, in the same order.
static bool are_copies(const igi_simt_bundle *stores, const igi_simt_bundle *loads) {
    if (stores->interleaved || loads->interleaved || loads->spread || loads->store) return false;
    if (stores->size != loads->size || stores->count != loads->count || loads->count != loads->size) return false;
    for (uint32_t k = 0; k < stores->count; k++)
        if (!has_member(loads, LLVMGetOperand(stores->members[k], 0), stores->position[k])) return false;
    return true;
}

static LLVMValueRef only_user(LLVMValueRef value) {
    LLVMUseRef use = LLVMGetFirstUse(value);
    return use && !LLVMGetNextUse(use) ? LLVMGetUser(use) : NULL;
}

static bool is_copied(const igi_simt_widener *w, const igi_simt_bundle *b) {
    LLVMValueRef user = only_user(b->members[0]);
    const igi_simt_bundle *to = user && LLVMIsAStoreInst(user) ? bundle_of(w, user) : NULL;
    if (!to || !to->store || !are_copies(to, b)) return false;
    for (uint32_t k = 0; k < b->count; k++)
        if (!only_user(b->members[k])) return false;
    return true;
}

// ---- Four words for each lane ----

// How many times four words each lane reads by itself; 0: it does not. Several pay where a shuffle that crosses 16 bytes
// is two instructions, or a register has no more.
static uint32_t quads_of(const igi_simt_widener *w, const igi_simt_bundle *b) {
    uint64_t bytes = LLVMABISizeOfType(w->s.layout, b->type), row = b->size * bytes;
    if (b->interleaved || bytes > 4 || row % QUAD_BYTES || w->width % 4 || is_copied(w, b)) return 0;
    bool crossing_is_slow = !w->mask_registers || w->width == 4;
    bool several = bytes == 4 && igi_is_power_of_two(b->size) && crossing_is_slow && igi_simt_has_all_lanes(w);
    return row == QUAD_BYTES || several ? (uint32_t)(row / QUAD_BYTES) : 0;
}

// From each four words of both: word `first` and the next one, in pairs of `run` words, alternately from a and b.
static LLVMValueRef unpack(igi_simt_widener *w, LLVMValueRef a, LLVMValueRef b, uint32_t first, uint32_t run) {
    uint32_t from[IGI_MAX_WIDTH], width = w->width;
    for (uint32_t i = 0; i < width; i++) {
        uint32_t k = i % 4, in_a = k / run % 2 == 0, word = run == 1 ? k / 2 : k % 2;
        from[i] = i - k + first + word + (in_a ? 0 : width);
    }
    return LLVMBuildShuffleVector(w->builder, a, b, igi_simt_shuffle_mask(w, from, width), "");
}

// Lanes 0, 4, 8... in one vector, 1, 5, 9... in the next: then all shuffles stay within 16 bytes.
static void load_words(igi_simt_widener *w, const igi_simt_bundle *b, uint32_t quad, LLVMValueRef words[4]) {
    bool whole = LLVMABISizeOfType(w->s.layout, b->type) == 4;
    LLVMTypeRef row = LLVMVectorType(whole ? b->type : w->i32, 4);
    LLVMValueRef addresses[IGI_MAX_WIDTH], rows[IGI_MAX_WIDTH] = {0}, v[4];
    unsigned alignment = LLVMGetAlignment(b->reference);
    lane_addresses(w, b, addresses);
    for (uint32_t i = 0; i < w->width; i++) {
        uint32_t at = i % 4 * (w->width / 4) + i / 4;
        rows[at] = LLVMBuildLoad2(w->builder, row, offset_by(w, addresses[i], (uint64_t)quad * QUAD_BYTES), "");
        LLVMSetAlignment(rows[at], quad && alignment > QUAD_BYTES ? QUAD_BYTES : alignment);
    }
    for (uint32_t i = 0; i < 4; i++) v[i] = igi_simt_concatenate(w, rows + (size_t)i * (w->width / 4), w->width / 4);
    for (uint32_t half = 0; half < 2; half++) {
        LLVMValueRef low = unpack(w, v[0], v[1], 2 * half, 1), high = unpack(w, v[2], v[3], 2 * half, 1);
        for (uint32_t k = 0; k < 2; k++) words[2 * half + k] = unpack(w, low, high, 2 * k, 2);
    }
}

static void load_quads(igi_simt_widener *w, const igi_simt_bundle *b, LLVMValueRef *elements) {
    uint32_t quads = quads_of(w, b), per_quad = b->size / quads, parts = per_quad / 4;
    LLVMTypeRef type = igi_simt_widen_type(w, b->type);
    assert(parts);
    for (uint32_t q = 0; q < quads; q++) {
        LLVMValueRef words[4];
        load_words(w, b, q, words);
        for (uint32_t i = 0; i < per_quad; i++)
            elements[q * per_quad + i] = igi_simt_part_of_word(w, words[i / parts], i % parts, type);
    }
}

static void store_rows(igi_simt_widener *w, const igi_simt_bundle *b, LLVMValueRef *pieces) {
    LLVMValueRef addresses[IGI_MAX_WIDTH];
    unsigned alignment = LLVMGetAlignment(b->reference);
    lane_addresses(w, b, addresses);
    for (uint32_t i = 0; i < w->width; i++) {
        uint32_t from[MAX_MEMBERS], first = i * b->size % w->width;
        for (uint32_t k = 0; k < b->size; k++) from[k] = first + k;
        LLVMValueRef piece = pieces[i * b->size / w->width];
        LLVMValueRef row = LLVMBuildShuffleVector(w->builder, piece, LLVMGetPoison(LLVMTypeOf(piece)),
                                                  igi_simt_shuffle_mask(w, from, b->size), "");
        LLVMSetAlignment(LLVMBuildStore(w->builder, row, addresses[i]), alignment);
    }
}

static LLVMValueRef spill_pieces(igi_simt_widener *w, const igi_simt_bundle *b, LLVMValueRef *pieces) {
    LLVMTypeRef all = LLVMVectorType(b->type, b->size * w->width);
    LLVMValueRef memory = LLVMBuildAlloca(w->slots, all, IGI_TEMPORARY);
    for (uint32_t p = 0; p < b->size; p++) {
        LLVMValueRef first = LLVMConstInt(w->i32, (uint64_t)p * w->width, 0);
        LLVMBuildStore(w->builder, pieces[p], igi_simt_element_address(w, memory, b->type, first));
    }
    return memory;
}

// Rows of inactive lanes must not be written: the active ones are copied from memory, one after the other.
static void store_active_rows(igi_simt_widener *w, const igi_simt_bundle *b, LLVMValueRef *pieces) {
    LLVMValueRef rows = spill_pieces(w, b, pieces);
    LLVMValueRef addresses = igi_simt_spill(w, igi_simt_widen_vector(w, address_of(b->trigger)));
    LLVMTypeRef type = LLVMVectorType(b->type, b->size);
    igi_simt_lane_rounds rounds;
    LLVMValueRef lane = igi_simt_begin_lanes(w, igi_simt_active_lanes(w), &rounds);
    LLVMValueRef first = LLVMBuildMul(w->builder, lane, LLVMConstInt(w->i64, b->size, 0), "");
    LLVMValueRef row = LLVMBuildLoad2(w->builder, type, igi_simt_element_address(w, rows, b->type, first), "");
    LLVMSetAlignment(row, (unsigned)LLVMABISizeOfType(w->s.layout, b->type));
    LLVMValueRef from = igi_simt_element_address(w, addresses, w->pointer, lane);
    LLVMValueRef address = LLVMBuildLoad2(w->builder, w->pointer, from, "");
    LLVMSetAlignment(LLVMBuildStore(w->builder, row, offset_by(w, address, (uint64_t)back_to_start(w, b))),
                     LLVMGetAlignment(b->reference));
    igi_simt_end_lanes(w, &rounds);
}

// ---- Emitting ----

static bool is_moved_by_call(const igi_simt_widener *w, const igi_simt_bundle *b) {
    return !b->interleaved && igi_simt_may_call_for_rows(w, b->type, b->size);
}

static void keep_rows(const igi_simt_widener *w, igi_simt_bundle *b, LLVMValueRef *pieces) {
    memcpy(b->rows, pieces, b->size * sizeof *pieces);
    b->read_in = w->emission;
}

// What was read for these stores; NULL: they write something else, or it was not read as rows.
static const igi_simt_bundle *rows_for(const igi_simt_widener *w, const igi_simt_bundle *b) {
    const igi_simt_bundle *from = bundle_of(w, LLVMGetOperand(b->members[0], 0));
    return from && from->rows[0] && from->read_in == w->emission && are_copies(b, from) ? from : NULL;
}

static void emit_loads(igi_simt_widener *w, igi_simt_bundle *b) {
    LLVMValueRef pieces[MAX_MEMBERS] = {0}, elements[MAX_MEMBERS] = {0};
    if (is_moved_by_call(w, b)) {
        igi_simt_load_rows_by_call(w, row_addresses(w, b), b->type, b->size, elements);
    } else if (b->spread) {
        igi_simt_load_spread(w, address_of(b->trigger), back_to_start(w, b), b->type, b->size,
                             LLVMGetAlignment(b->reference), elements);
    } else if (quads_of(w, b)) {
        load_quads(w, b, elements);
    } else {
        (b->interleaved ? load_interleaved : load_rows)(w, b, pieces);
        if (is_copied(w, b)) keep_rows(w, b, pieces);
        igi_simt_sort_by_element(w, pieces, b->size, elements);
    }
    for (uint32_t i = 0; i < b->count; i++) igi_simt_widen_set(w, b->members[i], NULL, elements[b->position[i]]);
}

static void emit_stores(igi_simt_widener *w, const igi_simt_bundle *b) {
    LLVMValueRef pieces[MAX_MEMBERS] = {0}, elements[MAX_MEMBERS] = {0};
    for (uint32_t i = 0; i < b->count; i++)
        elements[b->position[i]] = igi_simt_widen_vector(w, LLVMGetOperand(b->members[i], 0));
    if (is_moved_by_call(w, b)) {
        igi_simt_store_rows_by_call(w, row_addresses(w, b), elements, b->size);
        return;
    }
    const igi_simt_bundle *copied = rows_for(w, b);
    if (copied)
        memcpy(pieces, copied->rows, b->size * sizeof *pieces);
    else
        igi_simt_sort_by_lane(w, elements, b->size, pieces);
    (b->interleaved ? store_interleaved : w->mask ? store_active_rows : store_rows)(w, b, pieces);
}

bool igi_simt_widen_bundled(igi_simt_widener *w, LLVMValueRef access) {
    uint32_t number;
    igi_simt_bundle *b = igi_map_get(&w->s.index, access, &number) ? w->bundle[number] : NULL;
    // Rows of inactive lanes must not be written.
    bool some = b && b->store && !b->interleaved && w->mask && !is_moved_by_call(w, b);
    if (!b || (some && w->width > IGI_MOST_SHARED_LANES)) return false;
    if (access != b->trigger) return true;
    igi_simt_note_bundle(w, b->members, b->count, b->interleaved);
    if (b->store)
        emit_stores(w, b);
    else
        emit_loads(w, b);
    return true;
}
