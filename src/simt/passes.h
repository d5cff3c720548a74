// SPDX-License-Identifier: Apache-2.0
// The passes. Each works on the module of one kernel and returns IG_STATUS_OK or an error. What holds after a pass
// (post:) holds for all that follow; each leaves valid IR, and any may return OUT_OF_MEMORY.
#ifndef INGOT_SIMT_PASSES_H
#define INGOT_SIMT_PASSES_H

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <stdbool.h>

#include "core/status-internal.h"
#include "simt/cfg.h"
#include "simt/compile.h"
#include "simt/launch.h"

// The passes in the order they run, each with the stage that is complete after it: where a request for that stage ends.
// The names are those of the functions igi_simt_pass_NAME, and of the table in docs/architecture.md.
#define IGI_SIMT_PASS_LIST(X)          \
    X(extract, IGI_STAGE_NONE)         \
    X(align, IGI_STAGE_NONE)           \
    X(constants, IGI_STAGE_NONE)       \
    X(bind, IGI_STAGE_NONE)            \
    X(functions, IGI_STAGE_NONE)       \
    X(inline, IGI_STAGE_NONE)          \
    X(invariant, IGI_STAGE_NONE)       \
    X(define, IGI_STAGE_NONE)          \
    X(contract, IGI_STAGE_NONE)        \
    X(check, IGI_STAGE_LLVM)           \
    X(abort, IGI_STAGE_NONE)           \
    X(note_barriers, IGI_STAGE_NONE)   \
    X(relax, IGI_STAGE_NONE)           \
    X(coarsen, IGI_STAGE_NONE)         \
    X(group, IGI_STAGE_NONE)           \
    X(unlock, IGI_STAGE_NONE)          \
    X(hoist, IGI_STAGE_NONE)           \
    X(remarks, IGI_STAGE_NONE)         \
    X(debug, IGI_STAGE_REMARKS)        \
    X(fused, IGI_STAGE_NONE)           \
    X(optimise, IGI_STAGE_NONE)        \
    X(reload, IGI_STAGE_NONE)          \
    X(show_magnitudes, IGI_STAGE_NONE) \
    X(private, IGI_STAGE_NONE)         \
    X(split, IGI_STAGE_NONE)           \
    X(forward, IGI_STAGE_NONE)         \
    X(wide_masks, IGI_STAGE_NONE)      \
    X(info, IGI_STAGE_SIMT)            \
    X(masked, IGI_STAGE_NONE)          \
    X(separate, IGI_STAGE_NONE)

#define IGI_LINKED_PREFIX "ig.linked."
enum { IGI_LINKED_NAME = 32 };

typedef struct igi_simt_module {
    const igi_simt_request *request;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMTargetMachineRef machine;
    LLVMValueRef kernel;      // extract: the user's kernel
    LLVMValueRef thread;      // bind: ptr (group, x, y, z, lane), the kernel for one thread
    bool apart;               // extract: products and sums of vectors are not contracted
    bool many_dimensions;     // bind: the kernel uses y or z positions
    bool knows_its_group;     // bind: the kernel uses more than its position in the grid
    uint64_t constant_slots;  // bind: bits of buffers declared constant
    LLVMValueRef wide[2];     // group: [0] with a mask, [1] for full groups of lanes; NULL when narrow
    uint32_t rows;            // coarsen: rows of threads that one call runs
    bool declined;            // group: cannot be widened
    bool overflows;           // after all passes: quick code needs more of the stack than it may have
    igi_simt_code_info info;
    LLVMMetadataRef subprogram;  // extract: the kernel's source location; NULL without line tables
    ig_error *error;
} igi_simt_module;

static inline bool igi_simt_is_wide(const igi_simt_module *m) {
    return m->wide[0] || m->wide[1];
}

// Whether time to compile counts more than the speed of the code: in the first tier, and for large kernels.
static inline bool igi_simt_is_hasty(const igi_simt_module *m) {
    return m->request->first_tier || m->info.instructions > IGI_LARGE_KERNEL;
}

// Reads the bitcode, keeps one kernel and what it may reach, and retargets it to the target (simt/target.h).
// post: m->kernel; everything else is internal and will be inlined. errors: BAD_FORMAT, NOT_FOUND.
ig_status igi_simt_pass_extract(igi_simt_module *m);
// Vectors, and structs with vectors, are assumed to be no more aligned than scalars are.
ig_status igi_simt_pass_align(igi_simt_module *m);
// Gives function constants their values; the initialisers of constants derived from them run in the kernel.
// post: a function constant that is still only declared was given no value.
ig_status igi_simt_pass_constants(igi_simt_module *m);
// Turns parameters and built-in values into loads from igi_simt_group: the kernel becomes m->thread.
// post: m->thread, which calls m->kernel once; positions are placeholder calls. errors: UNSUPPORTED.
ig_status igi_simt_pass_bind(igi_simt_module *m);
// Calls through pointers become a switch over the functions that may be meant.
// post: nothing but calls refers to functions with a body; no call goes through a pointer.
ig_status igi_simt_pass_functions(igi_simt_module *m);
// The name of the functions with these switches, followed by a number if there are several.
#define IGI_CALL_OF_POINTER "ig.call"
// The name of a linked function in the module.
void igi_simt_linked_name(const igi_simt_request *request, size_t index, char name[IGI_LINKED_NAME]);
// Part of bind: after inlining, placeholder calls become parameters of m->thread.
ig_status igi_simt_replace_placeholders(igi_simt_module *m);
// Part of constants: after inlining, derived constants become variables of the thread.
ig_status igi_simt_localise_derived(igi_simt_module *m);
// Inlines everything and simplifies.
// post: m->thread is the only function with a body, unless there is recursion; all it knows about the thread are its
// parameters; threadgroup variables are places in the group's memory; loops are as igi_simt_pass_unroll leaves them.
ig_status igi_simt_pass_inline(igi_simt_module *m);
// Part of inline, for a request with checks: every access, barrier and use of a value is checked at run time
// (simt/checked). post: the global "ig.sites"; one thread at a time only.
ig_status igi_simt_pass_instrument(igi_simt_module *m);
// For one thread at a time: removes the calls that check vectors of threads (checked/pseudo.h).
ig_status igi_simt_drop_pseudos(igi_simt_module *m);
bool igi_simt_is_pseudo(LLVMValueRef instruction);
// Part of inline, before anything is simplified: the operands of llvm.fabs are hidden from LLVM.
ig_status igi_simt_hide_magnitudes(igi_simt_module *m);
// Part of inline: unrolls loops that count to a small constant. post: loop-simplified, LCSSA, no switches.
ig_status igi_simt_pass_unroll(igi_simt_module *m);
// Part of group, if a group of lanes is the whole threadgroup: unrolls the loops with barriers whose few steps are known,
// `for (step = size / 2; step > 0; step /= 2)`, so that it is known in each step which lanes are active.
ig_status igi_simt_unroll_waiting(igi_simt_module *m);
// Tells LLVM what to do with the loop that this branch closes: "llvm.loop.unroll.full" and the like.
void igi_simt_mark_loop(igi_simt_module *m, LLVMValueRef branch, const char *wish);
// Loops in which the threads of a row walk through memory side by side (stride.c).
bool igi_simt_is_striding(const igi_simt_module *m, const igi_simt_cfg *cfg, uint32_t loop);
bool igi_simt_has_barrier(const igi_simt_cfg *cfg, uint32_t loop);
bool igi_simt_has_striding_loop(const igi_simt_module *m);
// Whether lanes do it one after the other: an atomic operation.
bool igi_simt_is_one_by_one(LLVMValueRef instruction);
// Whether the relax pass has marked it: a read-modify-write of threadgroup memory, which unlock will replace.
bool igi_simt_is_relaxed_atomic(LLVMValueRef instruction);
// How many threads of a row read a cache line of bytes or shorts in a loop of such operations; 0: no such loop.
uint32_t igi_simt_lanes_of_line(const igi_simt_module *m);
// columns.c: whether threads that differ only in y compute much that does not depend on y.
bool igi_simt_has_common_columns(const igi_simt_module *m);
// Part of inline: what never changes in the descriptions of textures, before loops are unrolled.
ig_status igi_simt_mark_textures(igi_simt_module *m);
// Part of inline: the formats of textures that the request knows become constants, and whether the kernel is checked.
ig_status igi_simt_fix_layouts(igi_simt_module *m);
// Part of inline: moves threadgroup variables into igi_simt_group.threadgroup_memory. post: info.threadgroup_bytes.
ig_status igi_simt_pass_threadgroup(igi_simt_module *m);
// Marks loads from constant buffers: what they read does not change while a kernel runs. Changes nothing else.
ig_status igi_simt_pass_invariant(igi_simt_module *m);
// Defines operations that LLVM leaves undefined: division by zero, shifts past the width.
// post: no division traps; nothing computes with bfloats.
ig_status igi_simt_pass_define(igi_simt_module *m);
// Part of define: bfloat arithmetic becomes float arithmetic, rounded after each operation.
ig_status igi_simt_pass_bfloat(igi_simt_module *m);
// Fuses multiplications with additions where the source allows it, in the same way for all widths.
// post: nothing may be contracted any more.
ig_status igi_simt_pass_contract(igi_simt_module *m);
// Refuses what no pass has removed: recursion, calls of undefined functions, mutable globals, constants without a
// value. Changes nothing.
// errors: UNSUPPORTED, WRONG_CONSTANT.
ig_status igi_simt_pass_check(igi_simt_module *m);
// For an abortable request: loops end when igi_simt_group.abort is set.
ig_status igi_simt_pass_abort(igi_simt_module *m);
// Atomic loads and stores of threadgroup memory become plain; read-modify-writes are marked for igi_simt_pass_unlock.
ig_status igi_simt_pass_relax(igi_simt_module *m);
// For a known threadgroup size: threads of several rows share what does not depend on y (m->rows; 1: they do not), or
// several threadgroups share what does not depend on their position (info.batch).
ig_status igi_simt_pass_coarsen(igi_simt_module *m);
// Scalars only, two-way branches, one return: what widening requires. Only before igi_simt_widen.
// post: no vectors (except of odd types); loops as igi_simt_shapes_build requires; no longer suitable for running
// single threads.
ig_status igi_simt_pass_prepare(igi_simt_module *m);
// Part of prepare: operations on simdgroup matrices become operations on scalars.
ig_status igi_simt_split_matrices(igi_simt_module *m);
// Part of prepare: pairs of loads by which lanes load their elements of a matrix become loads of the matrix.
ig_status igi_simt_find_fragments(igi_simt_module *m);
// Part of prepare: products, and what passes matrices from one to the other, are on rows.
ig_status igi_simt_find_rows(igi_simt_module *m);
// Part of prepare: left matrices of products are loaded one after the other.
ig_status igi_simt_load_in_turn(igi_simt_module *m);
// Part of prepare: products that add to the sums of others come right after them.
ig_status igi_simt_chain_products(igi_simt_module *m);
// The product in the same block that adds to this one, of which these are the halves; NULL: there is none.
LLVMValueRef igi_simt_product_of_sum(LLVMValueRef low, LLVMValueRef high);
// How many products with one left matrix are computed together.
uint32_t igi_simt_products_together(void);
// Whether an instruction may change memory. Barriers between the lanes of a simdgroup, and products, do not.
bool igi_simt_may_write_between_products(LLVMValueRef instruction);
// For one thread at a time: loads and stores of matrices become plain ones.
ig_status igi_simt_lower_matrices(igi_simt_module *m);
// For one thread at a time, and several simdgroups: computes its position in the simdgroup.
ig_status igi_simt_lower_places(igi_simt_module *m);
// Interleaves the lanes' elements of private arrays. Only between igi_simt_pass_prepare and igi_simt_widen.
// post: such an alloca carries IGI_LANE_STRIDE, the bytes from one lane's element to the next; the offsets of its
// accesses are those of `width` arrays.
ig_status igi_simt_pass_interleave(igi_simt_module *m, uint32_t width);
// Copies code that clamps coordinates, for the inside of pictures, where the clamps do nothing. Only between
// igi_simt_pass_interleave and igi_simt_widen.
ig_status igi_simt_pass_inside(igi_simt_module *m, uint32_t width);
// Lanes of 32 bits that a vector register of the target holds.
uint32_t igi_simt_register_lanes(void);
// Whether there are only 16 of them: then several rows of threads that each take several would not fit.
bool igi_simt_has_few_registers(void);
// The most lanes of a group: more would be masked by a jump for each lane where the CPU has no masked accesses.
uint32_t igi_simt_most_lanes(void);
// Whether the target has registers for masks, with which comparisons and masked accesses cost little.
bool igi_simt_has_mask_registers(void);
// Whether branches of so many lanes first ask whether all go one way, because masks take many instructions.
bool igi_simt_should_agree(const igi_simt_module *m, uint32_t width);
// Lanes per group for this kernel on the target; 1: it is not widened.
uint32_t igi_simt_choose_width(igi_simt_module *m);
// Makes a new function, i32 (group, x, y, z, context, at, arrays), that runs `width` neighbouring threads of a row of
// m->thread, of which x is the first, and returns IGI_REGION_DONE; `full`: all of them exist. If that is not possible,
// *declined says why and *widened is NULL, which is not an error. pre: prepared. post: m->thread is unchanged; barriers
// are still calls, which all lanes reach together.
ig_status igi_simt_widen(igi_simt_module *m, uint32_t width, bool full, const char *name, LLVMValueRef *widened,
                         const char **declined);
// Wraps m->thread for whole threadgroups: a loop, or a coroutine if threads wait for each other.
// post: "ig.run", or "ig.start" and "ig.resume"; info except for private_bytes. errors: UNSUPPORTED with m->declined.
ig_status igi_simt_pass_group(igi_simt_module *m);
// Around group, if the request asks for remarks: records where barriers are, then the results.
ig_status igi_simt_pass_note_barriers(igi_simt_module *m);
ig_status igi_simt_pass_remarks(igi_simt_module *m);
// With line tables: functions are named after the kernel and have source lines.
ig_status igi_simt_pass_debug(igi_simt_module *m);

// Marked atomics become load, change, store. pre: what lanes do one by one has been serialised.
ig_status igi_simt_pass_unlock(igi_simt_module *m);

// Computes fused multiply-adds of floats in doubles, with the same results, if the processor has no instruction for them.
// post: then there are none.
ig_status igi_simt_pass_fused(igi_simt_module *m);

// Prepares "ig.run": its parts are inlined into it, and the fields of igi_simt_group are read before its loops.
ig_status igi_simt_pass_hoist(igi_simt_module *m);

// LLVM's optimisation of the whole threadgroup; fewer passes for large kernels.
ig_status igi_simt_pass_optimise(igi_simt_module *m);
// Pieces that LLVM cuts out of loaded vectors by shifts become loads.
ig_status igi_simt_pass_reload(igi_simt_module *m);
// After LLVM's optimisation: the operands of llvm.fabs are no longer hidden.
ig_status igi_simt_pass_show_magnitudes(igi_simt_module *m);
// After LLVM's optimisation: private arrays move off the stack, and unreachable code traps.
// post: info.private_bytes; frames are small, and what is left in them is accessed only inside its bounds.
// errors: UNSUPPORTED if there is far too much of it.
ig_status igi_simt_pass_private(igi_simt_module *m);
// Before threads become coroutines: their private arrays move to igi_simt_lane.arrays, out of the future frames.
// post: info.array_bytes. errors: UNSUPPORTED if there is far too much of it.
ig_status igi_simt_move_arrays_to_lane(igi_simt_module *m);
// The size of all variables of m->thread; UINT64_MAX if it does not fit.
uint64_t igi_simt_private_bytes_of_thread(const igi_simt_module *m);
enum { IGI_MAX_PRIVATE = 64 << 20 };
ig_status igi_simt_refuse_private(igi_simt_module *m, uint64_t bytes);
// Part of private: unreachable code traps instead of running into the code after it.
void igi_simt_trap_unreachable(LLVMValueRef function);
// Part of private: lets a debugger find a variable that moves from the frame to `place`. The builder is where the place
// is computed, after the variables of its function.
void igi_simt_follow_variable(igi_simt_module *m, LLVMBuilderRef builder, LLVMValueRef variable, LLVMValueRef place);
// Vectors of many registers become vectors of one each, on x86.
ig_status igi_simt_pass_split(igi_simt_module *m);
// Reads of what a block has written to threadgroup memory itself are gone where whole registers are read.
ig_status igi_simt_pass_forward(igi_simt_module *m);
// Without mask registers: masks that are combined, or used in other blocks, become integers of 32 bits, 0 or -1.
ig_status igi_simt_pass_wide_masks(igi_simt_module *m);
// Exports m->info, which no longer changes, as the symbol "ig.info".
ig_status igi_simt_pass_info(igi_simt_module *m);
// Masked accesses that the target has no instruction for become loops over the active lanes.
ig_status igi_simt_pass_masked(igi_simt_module *m);
// In quick code, the code generator sees each shuffle of a chain by itself.
ig_status igi_simt_pass_separate(igi_simt_module *m);

// Whose memory a pointer of the thread function leads to.
typedef enum igi_simt_owner {
    IGI_OWNER_ANY,
    IGI_OWNER_UNKNOWN,
    IGI_OWNER_THREADGROUP,
    IGI_OWNER_BUFFER,
} igi_simt_owner;
igi_simt_owner igi_simt_owner_of(LLVMValueRef pointer);
// Whether two plain loads or stores are of memory that does not overlap, because it has different owners.
bool igi_simt_are_apart(LLVMValueRef a, LLVMValueRef b);

// Calls rewrite, with the builder positioned before it, for every instruction of m->thread for which `wanted` holds.
ig_status igi_simt_rewrite_instructions(igi_simt_module *m, bool (*wanted)(LLVMValueRef instruction),
                                        void (*rewrite)(LLVMBuilderRef builder, LLVMValueRef instruction));
// The location of the kernel, for instructions that come from no line of it. NULL without line tables.
LLVMMetadataRef igi_simt_kernel_place(const igi_simt_module *m);
// Runs LLVM's own passes.
ig_status igi_simt_run_passes(igi_simt_module *m, const char *passes);

#endif
