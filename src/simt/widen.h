// SPDX-License-Identifier: Apache-2.0
// Rewriting the thread function from one thread to a group of lanes, into a new function.
//
// Uniform values stay scalars, linear ones are kept as the first lane's scalar, varying ones become vectors. Values
// that cross blocks, phi nodes and block masks are in stack slots that LLVM turns back into registers.
#ifndef INGOT_SIMT_WIDEN_H
#define INGOT_SIMT_WIDEN_H

#include "simt/passes.h"
#include "simt/remarks.h"
#include "simt/shape.h"

typedef struct igi_simt_bundle igi_simt_bundle;

// widen-exchange.c: two elements that a thread reads and then writes.
enum { IGI_MAX_CHUNKS = 4, IGI_MAX_EXCHANGES = 4 };
typedef struct igi_simt_exchange {
    LLVMValueRef load[2], store[2];  // the address of the second is that of the first and a distance
    LLVMValueRef last;               // of the two stores
    // Slots: where lanes turned out to be; the lanes' first indices, and the distance to the second; what was read; and
    // the first lane's address in each register.
    LLVMValueRef way, indices, distance, old[2], first[2][IGI_MAX_CHUNKS];
} igi_simt_exchange;

typedef struct igi_simt_widener {
    igi_simt_module *m;
    igi_simt_shapes s;
    uint32_t width;       // of the code emitted now: less in a copy for the lower lanes
    bool full;            // every lane of the group is a thread
    bool mask_registers;  // the machine has some
    bool agrees;          // branches first ask whether all lanes go one way
    LLVMValueRef from, to;
    LLVMBuilderRef builder, slots;  // slots: at the end of the new entry block
    LLVMTypeRef i1, i8, i32, i64, pointer, mask_type;
    // By block of the old function:
    LLVMBasicBlockRef *entry, *body;
    LLVMValueRef *mask_slot;
    // What is known of the lanes without looking at the mask; NULL: not kept.
    LLVMValueRef *came_slot;  // false: none came
    LLVMValueRef *all_slot;   // true: all came, along one edge
    bool *pending;            // [from * count + to]: blocks still to visit after `from`
    bool *loop_pending;       // [loop * count + to]: blocks to visit after a divergent loop
    uint32_t *position;       // in program order
    // By instruction number:
    LLVMValueRef *slot, *incoming, *scalar, *wide;
    uint32_t *known_in;        // emission in which scalar and wide are valid
    LLVMValueRef *stored;      // store of a matrix to memory
    igi_simt_bundle **bundle;  // that the access belongs to
    igi_simt_bundle *bundles;  // all of them
    igi_simt_exchange exchanges[IGI_MAX_EXCHANGES];
    uint32_t exchange_count;
    uint32_t emission;        // counts emissions of a block's instructions
    LLVMValueRef entry_mask;  // NULL: all lanes
    uint32_t block;           // being emitted
    LLVMValueRef mask;        // of that block; NULL: all lanes
    LLVMBasicBlockRef whole;  // start of the block's copy for when all lanes are active; NULL: not in such a copy
    LLVMValueRef other_part;  // the second one of the last matrix loaded
    LLVMValueRef halves[2];   // places of a matrix during calls of shared functions; NULL: none yet
    LLVMValueRef row_addresses, row_elements;  // of bundles during such calls; NULL: none yet
    bool matrix_order;                         // vectors are wanted in matrix order if they have it
    const char *declined;                      // why this kernel is not widened; NULL so far
    LLVMValueRef declined_at;
} igi_simt_widener;

// ---- Values (widen.c) ----

// The scalar of a uniform value, or the first lane's of a linear one.
LLVMValueRef igi_simt_widen_scalar(igi_simt_widener *w, LLVMValueRef value);
LLVMValueRef igi_simt_widen_vector(igi_simt_widener *w, LLVMValueRef value);
void igi_simt_widen_set(igi_simt_widener *w, LLVMValueRef value, LLVMValueRef scalar, LLVMValueRef wide);
LLVMTypeRef igi_simt_widen_type(const igi_simt_widener *w, LLVMTypeRef scalar);
// <0, 1, 2...> and the like: first + lane * step, of an integer type.
LLVMValueRef igi_simt_lane_numbers(const igi_simt_widener *w, LLVMTypeRef type, int64_t first, int64_t step);
// <0, 1, 2...> of `count` i32.
LLVMValueRef igi_simt_count_up(const igi_simt_widener *w, uint32_t count);
LLVMValueRef igi_simt_splat_value(igi_simt_widener *w, LLVMValueRef scalar);
LLVMValueRef igi_simt_spread(igi_simt_widener *w, LLVMValueRef scalar, uint32_t lanes);
LLVMValueRef igi_simt_active_mask(igi_simt_widener *w);  // of the block, never NULL
// Whether all lanes that are emitted are known to be active.
bool igi_simt_has_all_lanes(const igi_simt_widener *w);
// Stack slots of vectors. Without mask registers, vectors of bits are stored as wide as the registers that use them.
static inline LLVMBasicBlockRef igi_simt_new_block(igi_simt_widener *w, const char *name) {
    return LLVMAppendBasicBlockInContext(w->m->context, w->to, name);
}
LLVMValueRef igi_simt_make_slot(igi_simt_widener *w, LLVMTypeRef type);
void igi_simt_store_slot(igi_simt_widener *w, LLVMValueRef value, LLVMValueRef slot);
LLVMValueRef igi_simt_load_slot(igi_simt_widener *w, LLVMTypeRef type, LLVMValueRef slot);
LLVMValueRef igi_simt_any(igi_simt_widener *w, LLVMValueRef mask);
LLVMValueRef igi_simt_all(igi_simt_widener *w, LLVMValueRef mask);
// Constant indices for a shuffle.
LLVMValueRef igi_simt_shuffle_mask(const igi_simt_widener *w, const uint32_t *indices, uint32_t count);
// Elements of two vectors of one type, the second of which may be NULL.
LLVMValueRef igi_simt_shuffle(igi_simt_widener *w, LLVMValueRef a, LLVMValueRef b, const uint32_t *from,
                              uint32_t count);
void igi_simt_decline(igi_simt_widener *w, const char *why, LLVMValueRef where);

// ---- Instructions ----

void igi_simt_widen_instruction(igi_simt_widener *w, LLVMValueRef instruction);  // widen.c
void igi_simt_widen_load(igi_simt_widener *w, LLVMValueRef load);                // widen-memory.c
void igi_simt_widen_store(igi_simt_widener *w, LLVMValueRef store);
// Runs the instruction once for each active lane.
void igi_simt_widen_one_by_one(igi_simt_widener *w, LLVMValueRef instruction);
// widen-atomics.c: those of all lanes at once, if they access one address; returns false if not.
bool igi_simt_widen_shared_atomic(igi_simt_widener *w, LLVMValueRef instruction);
// widen-atomic-row.c: those of neighbouring lanes on neighbouring elements, several at once; the same.
bool igi_simt_widen_atomic_row(igi_simt_widener *w, LLVMValueRef instruction);
// widen-late.c: whether such additions may come late (simt/late.h).
bool igi_simt_may_add_late(const igi_simt_widener *w, LLVMValueRef atomic);
// widen-extract.c: the value of one lane.
LLVMValueRef igi_simt_widen_lane(igi_simt_widener *w, LLVMValueRef value, uint32_t lane);
// Whether it is a load or store of a scalar, neither atomic nor volatile.
bool igi_simt_is_plain_access(LLVMValueRef access, LLVMTypeRef type);
// Whether neighbouring lanes access neighbouring elements.
bool igi_simt_is_row_access(const igi_simt_widener *w, LLVMValueRef address, LLVMTypeRef type);
// One access of neighbouring elements; mask NULL: all of them.
LLVMValueRef igi_simt_load_masked(igi_simt_widener *w, LLVMTypeRef wide, LLVMValueRef address, unsigned alignment,
                                  LLVMValueRef mask);
void igi_simt_store_masked(igi_simt_widener *w, LLVMValueRef value, LLVMValueRef address, unsigned alignment,
                           LLVMValueRef mask);

// Accesses of lanes at any addresses.
LLVMValueRef igi_simt_gather_from(igi_simt_widener *w, LLVMValueRef load, LLVMTypeRef wide, LLVMValueRef addresses);
void igi_simt_scatter_to(igi_simt_widener *w, LLVMValueRef store, LLVMValueRef value, LLVMValueRef addresses);

// widen-exchange.c: finds pairs of elements in the whole function; emits an access to one, or returns false.
void igi_simt_find_exchanges(igi_simt_widener *w);
bool igi_simt_widen_exchange(igi_simt_widener *w, LLVMValueRef access);

// A vector in memory, and where one of its elements is.
LLVMValueRef igi_simt_spill(igi_simt_widener *w, LLVMValueRef wide);
LLVMValueRef igi_simt_element_address(igi_simt_widener *w, LLVMValueRef memory, LLVMTypeRef type, LLVMValueRef lane);

// widen-stream.c: rows written to memory that the kernel does not read, if there is more of it than the caches hold.
bool igi_simt_is_streamed(const igi_simt_widener *w, LLVMValueRef store);
void igi_simt_store_past_cache(igi_simt_widener *w, LLVMValueRef value, LLVMValueRef address, unsigned alignment);

// widen-bundle.c: finds the accesses of a block that are better done together.
void igi_simt_find_bundles(igi_simt_widener *w, LLVMBasicBlockRef block);
void igi_simt_free_bundles(igi_simt_widener *w);
uint32_t igi_simt_bundle_size(const igi_simt_bundle *bundle);  // elements of each lane; 0: no bundle
// Emits the bundle at its place; returns false if the access is in none, or is done separately.
bool igi_simt_widen_bundled(igi_simt_widener *w, LLVMValueRef access);
// widen-spread.c: lanes that read at known distances from each other.
bool igi_simt_is_spread(const igi_simt_widener *w, LLVMValueRef address);
// Whether all that they read, `bytes` each, is within a page, and in the order of lanes where some may be inactive.
bool igi_simt_has_near_lanes(const igi_simt_widener *w, LLVMValueRef address, uint64_t bytes);
// How many lanes, a power of two, read memory without gaps.
uint32_t igi_simt_lanes_in_row(const igi_simt_widener *w, LLVMValueRef address, uint64_t bytes, uint32_t most);
// Of `run` neighbouring elements of each lane, how many are best picked from all that the lanes read; 0: none.
uint32_t igi_simt_spread_run(const igi_simt_widener *w, LLVMValueRef address, uint32_t run, uint64_t bytes);
// Those elements; the first is `back` bytes from the address.
void igi_simt_load_spread(igi_simt_widener *w, LLVMValueRef address, int64_t back, LLVMTypeRef type, uint32_t run,
                          unsigned alignment, LLVMValueRef *elements);
// Whether all lanes are active, and several of them read each place: one load for each place.
bool igi_simt_is_shared(const igi_simt_widener *w, LLVMValueRef address);
LLVMValueRef igi_simt_load_shared(igi_simt_widener *w, LLVMValueRef address, LLVMTypeRef type, unsigned alignment);
// What may be read, in bytes from the first lane's address (`base` + `back`): from the first active lane to the end of
// the last one. NULL: all lanes are active.
typedef struct igi_simt_span {
    LLVMValueRef base;
    int64_t back;
    LLVMValueRef first, end;
} igi_simt_span;
igi_simt_span igi_simt_active_span(igi_simt_widener *w, LLVMValueRef address, int64_t back, uint64_t bytes);
LLVMValueRef igi_simt_load_span(igi_simt_widener *w, const igi_simt_span *span, int64_t at, LLVMTypeRef vector,
                                unsigned alignment);

// widen-window.c: the lanes of each register access increasing addresses within a small window.
enum { IGI_WINDOW_LANES = 16 };
typedef struct igi_simt_window {
    LLVMValueRef first[IGI_MAX_CHUNKS];    // by register: its address
    LLVMValueRef offsets[IGI_MAX_CHUNKS];  // of the lanes from it, in elements
    LLVMValueRef bits[IGI_MAX_CHUNKS];     // one for each element that a lane accesses
} igi_simt_window;
bool igi_simt_may_be_window(const igi_simt_widener *w, LLVMValueRef address, LLVMTypeRef type);
// Whether lanes with such indices are within a window, as an i1, and their places in it; the same for lanes with
// addresses.
LLVMValueRef igi_simt_find_window(igi_simt_widener *w, LLVMValueRef indices, igi_simt_window *window);
LLVMValueRef igi_simt_place_window(igi_simt_widener *w, LLVMValueRef address, LLVMValueRef indices, uint32_t lanes,
                                   igi_simt_window *window);
LLVMValueRef igi_simt_load_window(igi_simt_widener *w, const igi_simt_window *window, LLVMTypeRef wide,
                                  unsigned alignment);
void igi_simt_store_window(igi_simt_widener *w, const igi_simt_window *window, LLVMValueRef value, unsigned alignment);

// Some consecutive lanes of a vector, and vectors of so many lanes put together.
LLVMValueRef igi_simt_part(igi_simt_widener *w, LLVMValueRef vector, uint32_t first, uint32_t lanes);
LLVMValueRef igi_simt_join(igi_simt_widener *w, LLVMValueRef *parts, uint32_t count, uint32_t lanes);

// widen-near.c: the same for reads, of windows as long as a register, in any order; and the lanes of such a register.
uint32_t igi_simt_near_lanes(const igi_simt_widener *w);
bool igi_simt_may_be_near(const igi_simt_widener *w, LLVMValueRef address, LLVMTypeRef type);
LLVMValueRef igi_simt_find_near(igi_simt_widener *w, LLVMValueRef indices, igi_simt_window *window);
LLVMValueRef igi_simt_load_near(igi_simt_widener *w, const igi_simt_window *window, LLVMTypeRef wide,
                                unsigned alignment);

// widen-guess.c: paths taken at run time: lanes are contiguous from `first` on (NULL: not checked, which happens to reads
// only); lanes are near each other, or within a window (the same); or neither. All must continue at `after`.
typedef struct igi_simt_guess {
    LLVMBasicBlockRef row, near, window, apart, after;
    LLVMBasicBlockRef inside;  // a row from `line` on, which clamps do not change; NULL: not checked; only of reads
    LLVMValueRef first, line;
    LLVMValueRef base, indices;     // of lanes that are apart: a pointer and 32-bit indices; NULL: not known
    igi_simt_window places, close;  // of lanes in a window; of lanes that are near
} igi_simt_guess;
// Whether an index is computed as coordinates of textures are: from the lane's number by clamps or floats.
bool igi_simt_is_coordinate(const igi_simt_widener *w, LLVMValueRef address);
// Whether it would be a row of memory without clamps.
bool igi_simt_is_clamped_line(const igi_simt_widener *w, LLVMValueRef address);
bool igi_simt_may_be_row(const igi_simt_widener *w, LLVMValueRef address, LLVMTypeRef type);
igi_simt_guess igi_simt_guess_places(igi_simt_widener *w, LLVMValueRef address, LLVMTypeRef type, bool reads);
// Whether it is an extended 32-bit index, in elements of some size, added to a uniform pointer.
bool igi_simt_is_indexed(const igi_simt_widener *w, LLVMValueRef address, uint64_t bytes);
// Whether the value is available in the current block: it is computed there, or kept across blocks.
bool igi_simt_is_at_hand(const igi_simt_widener *w, LLVMValueRef value);
LLVMValueRef igi_simt_without_common(const igi_simt_widener *w, LLVMValueRef index);
// Whether an index that is extended does not wrap within `reach`.
LLVMValueRef igi_simt_stays_straight(igi_simt_widener *w, LLVMValueRef extension, LLVMValueRef lowest, uint32_t reach);

bool igi_simt_widen_lane_operation(igi_simt_widener *w, LLVMValueRef call);  // widen-lanes.c; false: not one
bool igi_simt_widen_check(igi_simt_widener *w, LLVMValueRef call);           // widen-check.c; the same
// widen-matrix.c
bool igi_simt_widen_matrix_operation(igi_simt_widener *w, LLVMValueRef call, const char *name);
LLVMValueRef igi_simt_matrix_to_lanes(igi_simt_widener *w, LLVMValueRef matrix);
LLVMValueRef igi_simt_widen_matrix(igi_simt_widener *w, LLVMValueRef value);  // in matrix order
// widen-area.c: matrices in rows of memory; false: not there, or not for all lanes.
bool igi_simt_load_area(igi_simt_widener *w, LLVMValueRef call, LLVMValueRef columns[2]);
bool igi_simt_load_area_rows(igi_simt_widener *w, LLVMValueRef call, LLVMValueRef halves[2]);
bool igi_simt_store_area(igi_simt_widener *w, LLVMValueRef call);
// Where the rows of a matrix are that all lanes load, and their distance in elements. false: they are not in rows.
bool igi_simt_find_area(igi_simt_widener *w, LLVMValueRef call, LLVMValueRef *base, LLVMValueRef *stride);
// Memory for one of the two vectors of a matrix, for a call of a shared function.
LLVMValueRef igi_simt_place_of_half(igi_simt_widener *w, unsigned half);
void igi_simt_widen_product(igi_simt_widener *w, LLVMValueRef call);  // widen-product.c
// widen-rows.c: whether a function moves `size` neighbouring elements for each active lane, as in quick code; and a call
// of it, for the addresses of all lanes.
bool igi_simt_may_call_for_rows(const igi_simt_widener *w, LLVMTypeRef element, uint32_t size);
void igi_simt_load_rows_by_call(igi_simt_widener *w, LLVMValueRef addresses, LLVMTypeRef element, uint32_t size,
                                LLVMValueRef *elements);
void igi_simt_store_rows_by_call(igi_simt_widener *w, LLVMValueRef addresses, LLVMValueRef *elements, uint32_t size);
// widen-shared.c: a function of the module, without a result, which the builder fills from here on; and its end, after
// which the builder is where it was.
typedef struct igi_simt_shared {
    LLVMBasicBlockRef block;
    LLVMMetadataRef place;
} igi_simt_shared;
LLVMValueRef igi_simt_begin_shared(igi_simt_widener *w, const char *name, LLVMTypeRef type, igi_simt_shared *outer);
void igi_simt_end_shared(igi_simt_widener *w, const igi_simt_shared *outer);
// The active lanes as bits, for a shared function; and in that function a loop over them, whose lane is in 64 bits.
#define IGI_MOST_SHARED_LANES 64u
typedef struct igi_simt_lane_rounds {
    LLVMBasicBlockRef body, after;
    LLVMValueRef rest;
} igi_simt_lane_rounds;
LLVMValueRef igi_simt_active_lanes(igi_simt_widener *w);
LLVMValueRef igi_simt_begin_lanes(igi_simt_widener *w, LLVMValueRef active, igi_simt_lane_rounds *rounds);
void igi_simt_end_lanes(igi_simt_widener *w, const igi_simt_lane_rounds *rounds);
void igi_simt_widen_terminator(igi_simt_widener *w, uint32_t block);  // widen-control.c
void igi_simt_widen_guard(igi_simt_widener *w, uint32_t block);
// Lanes of `mask` (NULL: all) go from one block to the other.
void igi_simt_pass_lanes(igi_simt_widener *w, uint32_t from, uint32_t to, LLVMValueRef mask);
// Computes what phi nodes get along the edge, so that lanes can be passed from several blocks that this one dominates.
void igi_simt_prepare_values(igi_simt_widener *w, uint32_t from, uint32_t to);
// widen-agree.c: whether a condition compares what is linear in the lane with a uniform value; and whether it, or its
// opposite, holds for all lanes. pre of the second: the first.
bool igi_simt_compares_lane(const igi_simt_widener *w, LLVMValueRef condition);
LLVMValueRef igi_simt_holds_for_all(igi_simt_widener *w, LLVMValueRef condition, bool opposite);
// Whether that is worthwhile; the slots for what is known of a block's lanes, and their values while no lane has come; and
// the branches to `to` for when it is known that no lanes, or all of them, came. The builder is left where it is not known.
bool igi_simt_asks_for_agreement(const igi_simt_widener *w);
void igi_simt_make_known_slots(igi_simt_widener *w, uint32_t block);
void igi_simt_reset_known(igi_simt_widener *w, LLVMBuilderRef builder, uint32_t block);
void igi_simt_branch_if_none(igi_simt_widener *w, uint32_t block, LLVMBasicBlockRef to);
void igi_simt_branch_if_all(igi_simt_widener *w, uint32_t block, LLVMBasicBlockRef to);
// Whether scalars may show that all lanes take the same way at the end of a block; and the passing of lanes if they do.
// The builder is left where they may not; the block that is returned follows in all cases.
bool igi_simt_may_agree(const igi_simt_widener *w, uint32_t block);
LLVMBasicBlockRef igi_simt_pass_agreeing(igi_simt_widener *w, uint32_t block, LLVMValueRef condition);
// widen-rounds.c: whether the block is a loop in which all lanes stay as long as the first and the last do; and the
// branch back to w->whole for as long. The builder is left where they do not.
bool igi_simt_has_whole_rounds(const igi_simt_widener *w, uint32_t block);
void igi_simt_widen_whole_round(igi_simt_widener *w, uint32_t block, LLVMValueRef condition);
// widen-control.c: all lanes leave a divergent loop that is only this block.
void igi_simt_leave_together(igi_simt_widener *w, uint32_t block, uint32_t exit);
// Whether a copy for iterations without active lanes in the upper half pays; whether a mask has none there; from now on
// so many lanes are emitted.
bool igi_simt_has_half_rounds(const igi_simt_widener *w, uint32_t block);
LLVMValueRef igi_simt_only_lower_half(igi_simt_widener *w, LLVMValueRef mask);
// Likewise for iterations with exactly the lowest lanes, whose mask is then a constant.
enum { IGI_SIMT_FEW_LANES = 4 };
bool igi_simt_has_short_round(const igi_simt_widener *w, uint32_t block);
LLVMValueRef igi_simt_exactly_lowest(igi_simt_widener *w, LLVMValueRef mask);
void igi_simt_set_lanes(igi_simt_widener *w, uint32_t width);
void igi_simt_widen_reset_masks(igi_simt_widener *w, uint32_t header);

// ---- For the user (widen-remarks.c); these do nothing unless the request asks for remarks ----

void igi_simt_note(igi_simt_widener *w, igi_simt_remark_kind kind, LLVMValueRef instruction);
// Accesses done together: for all lanes at once, or a few elements for each lane.
void igi_simt_note_bundle(igi_simt_widener *w, const LLVMValueRef *members, uint32_t count, bool interleaved);
void igi_simt_note_control(igi_simt_widener *w);   // branches and loops where lanes diverge
void igi_simt_note_declined(igi_simt_widener *w);  // if it was declined; drops earlier remarks

#endif
