// SPDX-License-Identifier: Apache-2.0
// Extracts one kernel from a library's bitcode, and retargets it from clang's front-end triple to the target.
#include <assert.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/Comdat.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Target.h>
#include <stdio.h>
#include <string.h>

#include "msl/annotations.h"
#include "simt/ir.h"
#include "simt/passes.h"

// Function bodies are not read until something needs them: a library may contain thousands of kernels.
static ig_status parse_module(igi_simt_module *m, const char *bitcode, size_t length, LLVMModuleRef *module) {
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRange(bitcode, length, "kernel", 0);
    if (!LLVMGetBitcodeModuleInContext2(m->context, buffer, module)) return IG_STATUS_OK;
    *module = NULL;
    LLVMDisposeMemoryBuffer(buffer);  // the module would have taken ownership
    return igi_error_set(m->error, IG_STATUS_BAD_FORMAT, "the library's bitcode cannot be read");
}

static ig_status parse(igi_simt_module *m) {
    const igi_simt_request *request = m->request;
    ig_status status = parse_module(m, request->bitcode, request->bitcode_length, &m->module);
    if (status != IG_STATUS_OK) return status;
    m->kernel = LLVMGetNamedFunction(m->module, request->symbol);
    if (m->kernel) return IG_STATUS_OK;
    return igi_error_set(m->error, IG_STATUS_NOT_FOUND, "the library has no kernel '%s'", request->name);
}

// The linker reads and takes over the kernel, the only external function, and what it refers to.
static ig_status keep_needed(igi_simt_module *m) {
    LLVMModuleRef library = m->module;
    m->module = LLVMModuleCreateWithNameInContext(m->request->name, m->context);
    LLVMSetTarget(m->module, LLVMGetTarget(library));
    LLVMSetDataLayout(m->module, LLVMGetDataLayoutStr(library));
    if (LLVMLinkModules2(m->module, library))
        return igi_error_set(m->error, IG_STATUS_BAD_FORMAT, "the library's bitcode cannot be read");
    m->kernel = LLVMGetNamedFunction(m->module, m->request->symbol);
    m->subprogram = LLVMGetSubprogram(m->kernel);
    return IG_STATUS_OK;
}

static void retarget(igi_simt_module *m) {
    char *triple = LLVMGetTargetMachineTriple(m->machine);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(m->machine);
    LLVMSetTarget(m->module, triple);
    LLVMSetModuleDataLayout(m->module, layout);
    LLVMDisposeTargetData(layout);
    LLVMDisposeMessage(triple);
}

// Attributes for the front end's processor have no meaning here; everything will be inlined into the kernel.
static void adapt_function(LLVMValueRef function) {
    static const char *const foreign[] = {"target-cpu",    "target-features",  "tune-cpu",
                                          "frame-pointer", "no-trapping-math", "stack-protector-buffer-size"};
    LLVMAttributeIndex index = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        LLVMRemoveStringAttributeAtIndex(function, index, foreign[i], (unsigned)strlen(foreign[i]));
    if (LLVMIsDeclaration(function)) return;
    igi_simt_remove_attribute(function, "noinline");
    igi_simt_remove_attribute(function, "optnone");
    igi_simt_add_attribute(function, "alwaysinline");
    LLVMSetComdat(function, NULL);
    LLVMSetLinkage(function, LLVMInternalLinkage);
}

static void adapt_global(LLVMValueRef global) {
    if (LLVMIsDeclaration(global) || LLVMGetLinkage(global) == LLVMAppendingLinkage) return;
    LLVMSetComdat(global, NULL);
    LLVMSetLinkage(global, LLVMInternalLinkage);
}

static void visit_function(LLVMValueRef function, const igi_msl_annotation *annotation, void *user) {
    igi_simt_module *m = user;
    if (function == m->kernel && igi_msl_annotation_is(annotation, "ig.apart")) m->apart = true;
}

// Annotations have been read; llvm.used and the like are of no use for a single kernel.
static void drop_lists(LLVMModuleRef module) {
    static const char *const lists[] = {"llvm.global.annotations", "llvm.used", "llvm.compiler.used"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        LLVMValueRef list = LLVMGetNamedGlobal(module, lists[i]);
        if (list) LLVMDeleteGlobal(list);
    }
}

static LLVMValueRef without_key(LLVMValueRef entry) {
    LLVMValueRef key = LLVMGetOperand(entry, 2);
    LLVMValueRef parts[] = {LLVMGetOperand(entry, 0), LLVMGetOperand(entry, 1), LLVMConstNull(LLVMTypeOf(key))};
    return LLVMConstStructInContext(LLVMGetTypeContext(LLVMTypeOf(entry)), parts, 3, 0);
}

// An initialiser that is tied to a variable, as those of templates are, would be dropped by the linker unless the
// variable is already there. Returns false when memory is short.
static bool untie_initialisers(LLVMModuleRef module) {
    LLVMValueRef table = LLVMGetNamedGlobal(module, "llvm.global_ctors");
    LLVMValueRef entries = table ? LLVMGetInitializer(table) : NULL;
    int count = entries ? LLVMGetNumOperands(entries) : 0;
    igi_simt_values untied = {0};
    bool ok = true;
    for (int i = 0; i < count && ok; i++)
        ok = igi_simt_values_add(&untied, without_key(LLVMGetOperand(entries, (unsigned)i)));
    if (ok && untied.count)
        LLVMSetInitializer(table, LLVMConstArray2(LLVMTypeOf(untied.items[0]), untied.items, (uint64_t)untied.count));
    igi_simt_values_free(&untied);
    return ok;
}

static bool adapt_module(LLVMModuleRef module) {
    drop_lists(module);
    if (!untie_initialisers(module)) return false;
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) adapt_function(f);
    for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = LLVMGetNextGlobal(g)) adapt_global(g);
    return true;
}

// ---- Linked functions ----

void igi_simt_linked_name(const igi_simt_request *request, size_t index, char name[IGI_LINKED_NAME]) {
    size_t first = 0;
    while (strcmp(request->linked[first].symbol, request->linked[index].symbol) != 0 ||
           request->linked[first].bitcode != request->linked[index].bitcode)
        first++;
    assert(first <= index);
    snprintf(name, IGI_LINKED_NAME, IGI_LINKED_PREFIX "%zu", first);
}

// The functions of one library that are linked keep external linkage, under names by which they are found again.
static ig_status name_linked(igi_simt_module *m, LLVMModuleRef module, const char *bitcode) {
    for (size_t i = 0; i < m->request->linked_count; i++) {
        const igi_simt_linked *linked = &m->request->linked[i];
        char name[IGI_LINKED_NAME];
        if (linked->bitcode != bitcode) continue;
        igi_simt_linked_name(m->request, i, name);
        LLVMValueRef function = LLVMGetNamedFunction(module, linked->symbol);
        if (!function && LLVMGetNamedFunction(module, name)) continue;
        if (!function || LLVMIsDeclaration(function))
            return igi_error_set(m->error, IG_STATUS_NOT_FOUND, "kernel '%s': a linked function is not in its library",
                                 m->request->name);
        LLVMSetValueName2(function, name, strlen(name));
        LLVMSetLinkage(function, LLVMExternalLinkage);
    }
    return IG_STATUS_OK;
}

static ig_status link_library(igi_simt_module *m, const igi_simt_linked *linked) {
    LLVMModuleRef library;
    ig_status status = parse_module(m, linked->bitcode, linked->bitcode_length, &library);
    if (status != IG_STATUS_OK) return status;
    if (!adapt_module(library)) status = igi_error_no_memory(m->error);
    if (status == IG_STATUS_OK) status = name_linked(m, library, linked->bitcode);
    if (status != IG_STATUS_OK) {
        LLVMDisposeModule(library);
        return status;
    }
    if (!LLVMLinkModules2(m->module, library)) return IG_STATUS_OK;
    return igi_error_set(m->error, IG_STATUS_BAD_FORMAT, "kernel '%s': the library of a linked function does not fit",
                         m->request->name);
}

// Functions that are declared here and defined in another library.
static void resolve(igi_simt_module *m) {
    for (size_t i = 0; i < m->request->linked_count; i++) {
        char name[IGI_LINKED_NAME];
        igi_simt_linked_name(m->request, i, name);
        LLVMValueRef declared = LLVMGetNamedFunction(m->module, m->request->linked[i].symbol);
        LLVMValueRef defined = LLVMGetNamedFunction(m->module, name);
        if (!declared || !defined || LLVMGlobalGetValueType(declared) != LLVMGlobalGetValueType(defined)) continue;
        LLVMReplaceAllUsesWith(declared, defined);
        LLVMDeleteFunction(declared);
    }
}

static ig_status link_libraries(igi_simt_module *m) {
    ig_status status = IG_STATUS_OK;
    for (size_t i = 0; i < m->request->linked_count && status == IG_STATUS_OK; i++) {
        const igi_simt_linked *linked = &m->request->linked[i];
        bool seen = !linked->bitcode;
        for (size_t k = 0; k < i && !seen; k++) seen = m->request->linked[k].bitcode == linked->bitcode;
        if (!seen) status = link_library(m, linked);
    }
    if (status != IG_STATUS_OK) return status;
    resolve(m);
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && f != m->kernel) LLVMSetLinkage(f, LLVMInternalLinkage);
    return IG_STATUS_OK;
}

ig_status igi_simt_pass_extract(igi_simt_module *m) {
    ig_status status = parse(m);
    if (status != IG_STATUS_OK) return status;
    igi_msl_annotated_functions(m->module, visit_function, m);
    if (!adapt_module(m->module)) return igi_error_no_memory(m->error);
    LLVMSetLinkage(m->kernel, LLVMExternalLinkage);
    status = name_linked(m, m->module, NULL);
    if (status == IG_STATUS_OK) status = keep_needed(m);
    if (status == IG_STATUS_OK) status = link_libraries(m);
    if (status == IG_STATUS_OK) retarget(m);
    return status;
}
