// SPDX-License-Identifier: Apache-2.0
// Instrumenting the one function of a kernel. Parts share an igi_simt_instrumenter.
#ifndef INGOT_SIMT_CHECKED_INSTRUMENT_H
#define INGOT_SIMT_CHECKED_INSTRUMENT_H

#include "core/memory.h"
#include "simt/checked/state.h"
#include "simt/ir.h"
#include "simt/passes.h"

typedef struct igi_simt_sites_builder {
    igi_simt_checked_site *items;
    size_t count, capacity;
    igi_text strings;
    bool failed;    // memory
    bool too_many;  // more than the numbers in shadow memory can count
} igi_simt_sites_builder;

// What a pointer points into. base: its first byte; bytes: its length if that is a constant.
typedef struct igi_simt_provenance {
    igi_simt_checked_space space;
    LLVMValueRef base;
    uint64_t bytes;
    uint32_t index;     // of the argument; of a threadgroup variable, where it begins; of a part, its kind
    LLVMValueRef name;  // value that carries the name; NULL: none
    bool known;         // false: not memory of the program, such as igi_simt_group
} igi_simt_provenance;

// One address of an instruction; a copy has two.
typedef struct igi_simt_access {
    LLVMValueRef pointer;
    LLVMValueRef length;  // i64
    igi_simt_checked_act act;
    uint32_t alignment;
    bool comparable;  // a plain store of a number
} igi_simt_access;

typedef struct igi_simt_found_object {
    LLVMValueRef base, object;
} igi_simt_found_object;

typedef struct igi_simt_instrumenter {
    igi_simt_module *m;
    LLVMBuilderRef builder;
    LLVMTypeRef i1, i8, i32, i64, pointer, void_type;
    LLVMTargetDataRef layout;
    uint32_t checks;
    LLVMValueRef check, thread;  // of the hooks
    igi_simt_sites_builder sites;
    igi_simt_found_object *found;  // objects of pointers that were read from memory, looked up once each
    size_t found_count, found_capacity;
    igi_simt_values origin_values, origins;  // values that may not be finite, and where they were made
    igi_simt_values doubtful, doubts;        // values that may be unwritten, and whether they are
    bool failed;                             // memory
} igi_simt_instrumenter;

// ---- Names ----

// Records the names of variables, which other changes remove.
void igi_simt_remember_names(igi_simt_instrumenter *in);
void igi_simt_restore_names(igi_simt_instrumenter *in);
// Not NUL-terminated; "" if there is none.
const char *igi_simt_remembered_name(const igi_simt_instrumenter *in, LLVMValueRef value, unsigned *length);

// ---- Sites ----

uint32_t igi_simt_add_site(igi_simt_instrumenter *in, LLVMValueRef instruction, igi_simt_checked_act act,
                           const igi_simt_provenance *of, uint32_t bytes, uint32_t index);
// Puts the table into the module.
void igi_simt_emit_sites(igi_simt_instrumenter *in);
void igi_simt_free_sites(igi_simt_sites_builder *sites);

// ---- Provenance ----

igi_simt_provenance igi_simt_trace_pointer(const igi_simt_instrumenter *in, LLVMValueRef pointer);
// A call of __ig_part: the pointer, the bytes of the part that it points to, and an igi_simt_checked_part.
bool igi_simt_is_part(LLVMValueRef instruction);
// The offset of a pointer from the alloca that it is made from, if that is a constant. Otherwise *variable is NULL.
bool igi_simt_constant_place(const igi_simt_instrumenter *in, LLVMValueRef pointer, LLVMValueRef *variable,
                             int64_t *offset);
uint64_t igi_simt_variable_bytes(const igi_simt_instrumenter *in, LLVMValueRef variable);

// ---- Accesses ----

bool igi_simt_is_access(LLVMValueRef instruction);
// How many it has.
unsigned igi_simt_list_accesses(const igi_simt_instrumenter *in, LLVMValueRef instruction, igi_simt_access all[2]);
bool igi_simt_is_matrix_access(LLVMValueRef instruction);
void igi_simt_list_matrix_accesses(const igi_simt_instrumenter *in, LLVMValueRef instruction, igi_simt_access all[2]);
// Whether it is provably outside of a private variable. *inside: it is provably inside.
bool igi_simt_is_out_of_place(const igi_simt_instrumenter *in, const igi_simt_access *access, bool *inside);
// Whether it points to a function constant. If that has no value, accesses that are not used must be removed.
bool igi_simt_is_function_constant(const igi_simt_provenance *of);
// Pointers to igi_simt_checked_object: of an argument, or found where the pointer is made. pre for the second: the
// builder is at the end of a block.
LLVMValueRef igi_simt_object_at(igi_simt_instrumenter *in, uint32_t index);
LLVMValueRef igi_simt_find_object(igi_simt_instrumenter *in, LLVMValueRef base);

// An index that is not a constant, into an array of several elements that is part of something larger.
typedef struct igi_simt_array_index {
    LLVMValueRef gep;
    unsigned operand;  // of the gep, less than IGI_MAX_INDICES
    uint64_t length;   // of the array
    LLVMTypeRef element;
} igi_simt_array_index;
// Calls act for each such index that a pointer is computed with. Arrays of one element, which may stand for longer ones
// at the end of a structure, are left out.
void igi_simt_visit_array_indices(LLVMValueRef pointer, void (*act)(void *user, const igi_simt_array_index *index),
                                  void *user);

// Puts the builder after the definition of a value, where all its uses can see what it builds.
void igi_simt_position_after(igi_simt_instrumenter *in, LLVMValueRef value);

// ---- Parts ----

static inline bool igi_simt_is_write(igi_simt_checked_act act) {
    return act == IGI_ACT_WRITE || act == IGI_ACT_ATOMIC_WRITE;
}
// Whether other threads can access this memory, and some may write it.
static inline bool igi_simt_is_shared(igi_simt_checked_space space) {
    return space != IGI_SPACE_PRIVATE && space != IGI_SPACE_CONSTANT;
}

// Calls act for every instruction for which `wanted` holds. They are collected first, so that it may change the function.
void igi_simt_instrument_all(igi_simt_instrumenter *in, bool (*wanted)(LLVMValueRef instruction),
                             void (*act)(igi_simt_instrumenter *in, LLVMValueRef instruction));

LLVMValueRef igi_simt_call_hook(igi_simt_instrumenter *in, const char *name, LLVMTypeRef result,
                                LLVMValueRef *arguments, unsigned count);
LLVMValueRef igi_simt_number32(const igi_simt_instrumenter *in, uint64_t value);
LLVMValueRef igi_simt_number64(const igi_simt_instrumenter *in, uint64_t value);
// Marks an instruction as one of the kernel's own, whose value may be uninitialised.
void igi_simt_mark_own(igi_simt_instrumenter *in, LLVMValueRef instruction);

// Accesses that are provably outside of a private variable, before LLVM removes them as undefined.
void igi_simt_instrument_constant_places(igi_simt_instrumenter *in);
void igi_simt_instrument_accesses(igi_simt_instrumenter *in);
void igi_simt_instrument_waits(igi_simt_instrumenter *in);
// For a quick look (quick.h): calls that igi_simt_widen_check makes code of, for all lanes at once.
void igi_simt_touch_accesses(igi_simt_instrumenter *in);
void igi_simt_touch_waits(igi_simt_instrumenter *in);
void igi_simt_touch_unwritten(igi_simt_instrumenter *in);
void igi_simt_touch_variables(igi_simt_instrumenter *in);
// Calls "ig.check.unless": to be suspected where the condition does not hold.
void igi_simt_suspect_unless(igi_simt_instrumenter *in, LLVMValueRef condition);
void igi_simt_suspect_always(igi_simt_instrumenter *in);
// The elements of a value for which `doubt`, bits, holds may be unwritten.
void igi_simt_doubt(igi_simt_instrumenter *in, LLVMValueRef value, LLVMValueRef doubt);
void igi_simt_instrument_arithmetic(igi_simt_instrumenter *in);
// Whether a bit is set, of one for each element of a vector; of a scalar, the bit.
LLVMValueRef igi_simt_any_element(igi_simt_instrumenter *in, LLVMValueRef flags);
// NaNs and infinities that are written into buffers. The first is called before LLVM may rely on there being none; the last
// is for a quick look.
void igi_simt_allow_not_finite(igi_simt_instrumenter *in);
void igi_simt_instrument_finite(igi_simt_instrumenter *in);
void igi_simt_touch_finite(igi_simt_instrumenter *in);
// Called around LLVM's promotion of variables to registers: keeps undefined values distinct from others.
void igi_simt_keep_unwritten(igi_simt_instrumenter *in);
void igi_simt_forget_stores_of_unwritten(igi_simt_instrumenter *in);
void igi_simt_define_the_rest(igi_simt_instrumenter *in);
void igi_simt_forget_unwritten(igi_simt_instrumenter *in);
bool igi_simt_is_unwritten(LLVMValueRef value);
bool igi_simt_is_unwritten_call(LLVMValueRef instruction);
// Whether the lifetime of a variable begins at the instruction.
bool igi_simt_begins_life(LLVMValueRef instruction);
// Marks values that are stored into buffers, while threadgroup variables can still be distinguished from others.
void igi_simt_instrument_results(igi_simt_instrumenter *in);
// Runs last.
ig_status igi_simt_instrument_values(igi_simt_instrumenter *in);

#endif
