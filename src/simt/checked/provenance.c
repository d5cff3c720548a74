// SPDX-License-Identifier: Apache-2.0
// Which object a pointer was made from, by following it back through the code.
#include "simt/checked/instrument.h"

enum { DEPTH = 64, MOST_VISITED = 64 };

typedef struct tracer {
    const igi_simt_instrumenter *in;
    LLVMValueRef visited[MOST_VISITED];
    unsigned count;
    bool mixed;  // comes from several objects
    bool any;
    igi_simt_provenance found;
} tracer;

uint64_t igi_simt_variable_bytes(const igi_simt_instrumenter *in, LLVMValueRef variable) {
    LLVMValueRef count = LLVMGetOperand(variable, 0);
    uint64_t bytes = LLVMABISizeOfType(in->layout, LLVMGetAllocatedType(variable));
    return LLVMIsAConstantInt(count) ? bytes * LLVMConstIntGetZExtValue(count) : UINT64_MAX;
}

// ---- One root ----

static bool is_own_argument(const igi_simt_instrumenter *in, LLVMValueRef value) {
    return LLVMIsAArgument(value) && LLVMGetParamParent(value) == in->m->thread;
}

// A load of igi_simt_group.arguments[slot].
static bool trace_slot(const igi_simt_instrumenter *in, LLVMValueRef load, igi_simt_provenance *found) {
    uint64_t offset, first = offsetof(igi_simt_group, arguments);
    LLVMValueRef field = LLVMGetOperand(load, 0);
    if (!igi_simt_is_field(field, &offset) || offset < first || offset >= offsetof(igi_simt_group, textures))
        return false;
    LLVMValueRef root = LLVMIsAArgument(field) ? field : LLVMGetOperand(field, 0);
    if (root != LLVMGetParam(in->m->thread, 0)) return false;
    uint32_t slot = (uint32_t)((offset - first) / sizeof(void *));
    *found = (igi_simt_provenance){.space = slot < IGI_MAX_SLOTS ? IGI_SPACE_BUFFER : IGI_SPACE_ARGUMENT,
                                   .base = load,
                                   .index = slot,
                                   .known = true};
    return true;
}

// igi_simt_pass_threadgroup leaves these: "ig.object"(place, bytes).
static bool is_threadgroup_variable(LLVMValueRef value) {
    return igi_simt_calls(value, "ig.object");
}

static uint32_t place_of_variable(LLVMValueRef variable) {
    uint64_t offset = 0;
    igi_simt_constant_offset(LLVMGetOperand(variable, 0), &offset);
    return (uint32_t)offset;
}

bool igi_simt_is_part(LLVMValueRef instruction) {
    return igi_simt_calls(instruction, "__ig_part");
}

static igi_simt_provenance part_of(LLVMValueRef call) {
    LLVMValueRef kind = LLVMGetOperand(call, 2);
    uint64_t number = LLVMIsAConstantInt(kind) ? LLVMConstIntGetZExtValue(kind) : IGI_PART_COUNT;
    return (igi_simt_provenance){.space = IGI_SPACE_PART,
                                 .base = call,
                                 .index = number < IGI_PART_COUNT ? (uint32_t)number : IGI_PART_COUNT,
                                 .known = true};
}

static igi_simt_provenance root_of(const igi_simt_instrumenter *in, LLVMValueRef value) {
    igi_simt_provenance found = {.space = IGI_SPACE_UNKNOWN, .base = value, .known = true};
    if (LLVMIsAAllocaInst(value))
        found = (igi_simt_provenance){IGI_SPACE_PRIVATE, value, igi_simt_variable_bytes(in, value), 0, value, true};
    else if (LLVMIsAGlobalVariable(value))
        found = (igi_simt_provenance){
            IGI_SPACE_CONSTANT, value, LLVMABISizeOfType(in->layout, LLVMGlobalGetValueType(value)), 0, value, true};
    else if (is_threadgroup_variable(value))
        found =
            (igi_simt_provenance){IGI_SPACE_VARIABLE,       value, LLVMConstIntGetZExtValue(LLVMGetOperand(value, 1)),
                                  place_of_variable(value), value, true};
    else if (igi_simt_is_part(value))
        found = part_of(value);
    else if (LLVMIsALoadInst(value))
        trace_slot(in, value, &found);
    else if (is_own_argument(in, value))
        found.known = false;
    return found;
}

// ---- All roots ----

static bool same(const igi_simt_provenance *a, const igi_simt_provenance *b) {
    if (a->space != b->space || a->known != b->known) return false;
    if (a->space == IGI_SPACE_BUFFER || a->space == IGI_SPACE_ARGUMENT) return a->index == b->index;
    return a->base == b->base;
}

static LLVMValueRef skip_offsets(LLVMValueRef pointer) {
    for (int i = 0; i < DEPTH; i++) {
        bool instruction = LLVMIsAInstruction(pointer) != NULL, expression = LLVMIsAConstantExpr(pointer) != NULL;
        if (!instruction && !expression) return pointer;
        LLVMOpcode opcode = instruction ? LLVMGetInstructionOpcode(pointer) : LLVMGetConstOpcode(pointer);
        if (opcode != LLVMGetElementPtr && opcode != LLVMBitCast && opcode != LLVMAddrSpaceCast && opcode != LLVMFreeze)
            return pointer;
        pointer = LLVMGetOperand(pointer, 0);
    }
    return pointer;
}

static void visit(tracer *t, LLVMValueRef pointer) {
    pointer = skip_offsets(pointer);
    bool phi = LLVMIsAPHINode(pointer), select = LLVMIsASelectInst(pointer);
    if (t->mixed || LLVMIsUndef(pointer)) return;
    if (!phi && !select) {
        igi_simt_provenance found = root_of(t->in, pointer);
        if (t->any && !same(&t->found, &found)) t->mixed = true;
        if (!t->any) t->found = found;
        t->any = true;
        return;
    }
    for (unsigned i = 0; i < t->count; i++)
        if (t->visited[i] == pointer) return;
    if (t->count == MOST_VISITED) {
        t->mixed = true;
        return;
    }
    t->visited[t->count++] = pointer;
    if (select) {
        visit(t, LLVMGetOperand(pointer, 1)), visit(t, LLVMGetOperand(pointer, 2));
        return;
    }
    for (unsigned i = 0; i < LLVMCountIncoming(pointer); i++) visit(t, LLVMGetIncomingValue(pointer, i));
}

// If a pointer may come from several objects, the object is looked up at run time where they join.
igi_simt_provenance igi_simt_trace_pointer(const igi_simt_instrumenter *in, LLVMValueRef pointer) {
    tracer t = {.in = in};
    visit(&t, pointer);
    if (t.any && !t.mixed) return t.found;
    return (igi_simt_provenance){.space = IGI_SPACE_UNKNOWN, .base = skip_offsets(pointer), .known = true};
}

// ---- Constant places ----

static bool constant_step(const igi_simt_instrumenter *in, LLVMValueRef gep, int64_t *offset) {
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(gep); i++) {
        LLVMValueRef index = LLVMGetOperand(gep, i);
        if (!LLVMIsAConstantInt(index)) return false;
        int64_t number = LLVMConstIntGetSExtValue(index);
        if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
            *offset += (int64_t)LLVMOffsetOfElement(in->layout, type, (unsigned)number);
            type = LLVMStructGetTypeAtIndex(type, (unsigned)number);
            continue;
        }
        if (i > 1) type = LLVMGetElementType(type);
        *offset += number * (int64_t)LLVMABISizeOfType(in->layout, type);
    }
    return true;
}

bool igi_simt_constant_place(const igi_simt_instrumenter *in, LLVMValueRef pointer, LLVMValueRef *variable,
                             int64_t *offset) {
    *offset = 0;
    for (int i = 0; i < DEPTH; i++) {
        *variable = pointer;
        if (LLVMIsAAllocaInst(pointer)) return true;
        if (!LLVMIsAGetElementPtrInst(pointer) || !constant_step(in, pointer, offset)) return false;
        pointer = LLVMGetOperand(pointer, 0);
    }
    return false;
}

// ---- Arrays inside of something larger ----

static void visit_indices_of(LLVMValueRef gep, void (*act)(void *user, const igi_simt_array_index *index), void *user) {
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    unsigned count = (unsigned)LLVMGetNumOperands(gep);
    for (unsigned i = 2; i < count && i < IGI_MAX_INDICES; i++) {
        LLVMValueRef index = LLVMGetOperand(gep, i);
        if (LLVMGetTypeKind(type) == LLVMStructTypeKind) {
            type = LLVMStructGetTypeAtIndex(type, (unsigned)LLVMConstIntGetZExtValue(index));
            continue;
        }
        uint64_t length = LLVMGetTypeKind(type) == LLVMArrayTypeKind ? LLVMGetArrayLength2(type) : 0;
        type = LLVMGetElementType(type);
        if (length > 1 && !LLVMIsAConstantInt(index)) act(user, &(igi_simt_array_index){gep, i, length, type});
    }
}

void igi_simt_visit_array_indices(LLVMValueRef pointer, void (*act)(void *user, const igi_simt_array_index *index),
                                  void *user) {
    // Bounded, because an address in unreachable code may be computed from itself.
    for (int depth = 0; depth < IGI_MAX_INDICES && LLVMIsAGetElementPtrInst(pointer); depth++) {
        visit_indices_of(pointer, act, user);
        pointer = LLVMGetOperand(pointer, 0);
    }
}
