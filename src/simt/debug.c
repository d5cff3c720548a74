// SPDX-License-Identifier: Apache-2.0
// Source lines all the way to the machine code, for libraries with line tables.
//
// Up to this pass every instruction has the location that clang gave it, inside the subprogram of the kernel, and the
// functions that contain it have no subprogram, which LLVM accepts. Now each remaining function becomes a subprogram
// with the kernel's name, with the kernel inlined into it.
#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "core/memory.h"
#include "simt/ir.h"
#include "simt/passes.h"
#include "simt/place.h"

static const char prefix[] = "ig.";

LLVMMetadataRef igi_simt_kernel_place(const igi_simt_module *m) {
    if (!m->subprogram) return NULL;
    return LLVMDIBuilderCreateDebugLocation(m->context, LLVMDISubprogramGetLine(m->subprogram), 0, m->subprogram, NULL);
}

// The same location, reached through one more inlined call.
static LLVMMetadataRef within(igi_simt_module *m, LLVMMetadataRef place, LLVMMetadataRef call) {
    LLVMMetadataRef inlined_at = LLVMDILocationGetInlinedAt(place);
    return LLVMDIBuilderCreateDebugLocation(m->context, LLVMDILocationGetLine(place), LLVMDILocationGetColumn(place),
                                            LLVMDILocationGetScope(place),
                                            inlined_at ? within(m, inlined_at, call) : call);
}

// Metadata of loops names their first and last locations, which would have to change too; they are dropped, and hints
// are kept.
static void forget_loop_places(igi_simt_module *m, LLVMValueRef branch, unsigned kind) {
    enum { MOST = 32 };
    LLVMValueRef loop = LLVMGetMetadata(branch, kind), operands[MOST];
    unsigned count = loop ? LLVMGetMDNodeNumOperands(loop) : 0;
    if (count < 2 || count > MOST) return;
    LLVMGetMDNodeOperands(loop, operands);
    LLVMMetadataRef kept[MOST] = {LLVMTemporaryMDNode(m->context, NULL, 0)};  // stands for the loop itself
    size_t kept_count = 1;
    for (unsigned k = 1; k < count; k++) {
        LLVMMetadataRef operand = LLVMValueAsMetadata(operands[k]);
        if (LLVMGetMetadataKind(operand) != LLVMDILocationMetadataKind) kept[kept_count++] = operand;
    }
    LLVMMetadataRef made = LLVMMDNodeInContext2(m->context, kept, kept_count);
    LLVMMetadataReplaceAllUsesWith(kept[0], made);
    LLVMSetMetadata(branch, kind, LLVMMetadataAsValue(m->context, made));
}

// "llvm.dbg.declare" and the like, which say where a variable is.
static bool describes_variable(LLVMValueRef instruction) {
    LLVMValueRef callee = LLVMIsACallInst(instruction) ? LLVMGetCalledValue(instruction) : NULL;
    size_t length;
    return callee && LLVMIsAFunction(callee) && strncmp(LLVMGetValueName2(callee, &length), "llvm.dbg.", 9) == 0;
}

// Variables of the standard library would be in a function that has none of these lines.
static void place_instruction(igi_simt_module *m, LLVMValueRef instruction, LLVMMetadataRef call) {
    LLVMMetadataRef place = LLVMInstructionGetDebugLoc(instruction), users = igi_simt_place_of_user(place);
    if (describes_variable(instruction) && (!users || users != place)) {
        LLVMInstructionEraseFromParent(instruction);
        return;
    }
    if (users) place = users;
    LLVMInstructionSetDebugLoc(instruction, place && call ? within(m, place, call) : place ? place : call);
}

// Functions of the standard library take the line of their call. Instructions without a line get the kernel's: calls
// must have one to be inlined, and a debugger takes the first line after the prologue as the beginning of the function.
// call: NULL for a function that is not described, because it will itself be inlined.
static void place_instructions(igi_simt_module *m, LLVMValueRef function, LLVMMetadataRef call) {
    unsigned loop = LLVMGetMDKindIDInContext(m->context, "llvm.loop", 9);
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block)) {
        forget_loop_places(m, LLVMGetBasicBlockTerminator(block), loop);
        for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            place_instruction(m, i, call);
        }
    }
}

// ---- Variables that move ----

static bool describes(LLVMValueRef instruction, LLVMValueRef variable) {
    LLVMValueRef described;
    if (!describes_variable(instruction)) return false;
    LLVMValueRef operand = LLVMGetOperand(instruction, 0);
    if (LLVMGetMDNodeNumOperands(operand) != 1) return false;
    LLVMGetMDNodeOperands(operand, &described);
    return described == variable;
}

// The same description, of what the slot points to.
static void describe_slot(igi_simt_module *m, LLVMValueRef description, LLVMValueRef slot) {
    uint64_t deref = 0x06;  // DW_OP_deref
    LLVMDIBuilderRef metadata = LLVMCreateDIBuilder(m->module);
    LLVMMetadataRef expression = LLVMDIBuilderCreateExpression(metadata, &deref, 1);
    LLVMSetOperand(description, 0, LLVMMetadataAsValue(m->context, LLVMValueAsMetadata(slot)));
    LLVMSetOperand(description, 2, LLVMMetadataAsValue(m->context, expression));
    LLVMDIBuilderFinalize(metadata);
    LLVMDisposeDIBuilder(metadata);
}

void igi_simt_follow_variable(igi_simt_module *m, LLVMBuilderRef builder, LLVMValueRef variable, LLVMValueRef place) {
    LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(variable)), slot = NULL;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
            if (!describes(i, variable)) continue;
            if (!slot) {
                slot = LLVMBuildAlloca(builder, LLVMTypeOf(place), IGI_TEMPORARY "slot");
                LLVMBuildStore(builder, place, slot);
            }
            describe_slot(m, i, slot);
        }
    }
}

typedef struct describer {
    igi_simt_module *m;
    LLVMDIBuilderRef builder;
    LLVMMetadataRef file, type;
} describer;

static void open_unit(describer *d) {
    d->file = LLVMDIScopeGetFile(d->m->subprogram);
    static const char producer[] = "ingot";
    LLVMDIBuilderCreateCompileUnit(
        d->builder, LLVMDWARFSourceLanguageC, d->file, producer, strlen(producer), 1, "", 0, 0, "", 0,
        d->m->request->variables ? LLVMDWARFEmissionFull : LLVMDWARFEmissionLineTablesOnly, 0, 0, 0, "", 0, "", 0);
    d->type = LLVMDIBuilderCreateSubroutineType(d->builder, d->file, NULL, 0, LLVMDIFlagZero);
}

static bool will_be_inlined(LLVMValueRef function) {
    unsigned kind = LLVMGetEnumAttributeKindForName("alwaysinline", 12);
    return LLVMGetEnumAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind) != NULL;
}

static void describe(describer *d, LLVMValueRef function) {
    const char *name = d->m->request->name;
    unsigned line = LLVMDISubprogramGetLine(d->m->subprogram);
    LLVMMetadataRef made = LLVMDIBuilderCreateFunction(d->builder, d->file, name, strlen(name), "", 0, d->file, line,
                                                       d->type, 0, 1, line, LLVMDIFlagZero, 1);
    place_instructions(d->m, function, LLVMDIBuilderCreateDebugLocation(d->m->context, line, 0, made, NULL));
    LLVMSetSubprogram(function, made);
}

// "ig.run" of kernel add becomes "add.run".
static bool rename(const igi_simt_module *m, LLVMValueRef function) {
    size_t length;
    const char *old = LLVMGetValueName2(function, &length);
    if (strncmp(old, prefix, strlen(prefix)) != 0) return true;
    char *name = igi_format("%s.%s", m->request->name, old + strlen(prefix));
    if (name) LLVMSetValueName2(function, name, strlen(name));
    free(name);
    return name != NULL;
}

ig_status igi_simt_pass_debug(igi_simt_module *m) {
    if (!m->request->line_tables) return IG_STATUS_OK;
    if (m->request->variables) LLVMSetIsNewDbgInfoFormat(m->module, 0);  // as instructions, which have places
    describer d = {.m = m, .builder = LLVMCreateDIBuilder(m->module)};
    bool ok = true;
    if (m->subprogram) open_unit(&d);
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f && ok; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f)) continue;
        ok = rename(m, f);
        if (!ok || !m->subprogram) continue;
        if (will_be_inlined(f))
            place_instructions(m, f, NULL);
        else
            describe(&d, f);
    }
    LLVMDIBuilderFinalize(d.builder);
    LLVMDisposeDIBuilder(d.builder);
    return ok ? IG_STATUS_OK : igi_error_no_memory(m->error);
}
