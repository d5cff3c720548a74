// SPDX-License-Identifier: Apache-2.0
// One kernel out of a library's bitcode, retargeted from clang's front-end triple to this machine.
#include <llvm-c/BitReader.h>
#include <llvm-c/Comdat.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Target.h>
#include <string.h>

#include "simt/ir.h"
#include "simt/passes.h"

// Function bodies stay unread until something needs them: a library may hold thousands of kernels.
static ig_status parse(igi_simt_module *m) {
    const igi_simt_request *request = m->request;
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRange(request->bitcode, request->bitcode_length, "kernel", 0);
    if (LLVMGetBitcodeModuleInContext2(m->context, buffer, &m->module)) {
        m->module = NULL;
        LLVMDisposeMemoryBuffer(buffer);  // the module would have taken it over
        return igi_error_set(m->error, IG_STATUS_BAD_FORMAT, "the library's bitcode cannot be read");
    }
    m->kernel = LLVMGetNamedFunction(m->module, request->symbol);
    if (m->kernel) return IG_STATUS_OK;
    return igi_error_set(m->error, IG_STATUS_NOT_FOUND, "there is no kernel '%s' in the library", request->name);
}

// The linker reads and takes over the kernel, which alone is external, and what it refers to.
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

// Attributes of the front-end's processor mean nothing here; everything will be inlined into the kernel.
static void adapt_function(LLVMValueRef function) {
    static const char *const foreign[] = {"target-cpu",    "target-features",  "tune-cpu",
                                          "frame-pointer", "no-trapping-math", "stack-protector-buffer-size"};
    LLVMAttributeIndex index = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        LLVMRemoveStringAttributeAtIndex(function, index, foreign[i], (unsigned)strlen(foreign[i]));
    if (LLVMIsDeclaration(function)) return;
    igi_remove_attribute(function, "noinline");
    igi_remove_attribute(function, "optnone");
    igi_add_attribute(function, "alwaysinline");
    LLVMSetComdat(function, NULL);
    LLVMSetLinkage(function, LLVMInternalLinkage);
}

static void adapt_global(LLVMValueRef global) {
    if (LLVMIsDeclaration(global) || LLVMGetLinkage(global) == LLVMAppendingLinkage) return;
    LLVMSetComdat(global, NULL);
    LLVMSetLinkage(global, LLVMInternalLinkage);
}

ig_status igi_pass_extract(igi_simt_module *m) {
    ig_status status = parse(m);
    if (status != IG_STATUS_OK) return status;
    LLVMValueRef annotations = LLVMGetNamedGlobal(m->module, "llvm.global.annotations");
    if (annotations) LLVMDeleteGlobal(annotations);
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f)) adapt_function(f);
    for (LLVMValueRef g = LLVMGetFirstGlobal(m->module); g; g = LLVMGetNextGlobal(g)) adapt_global(g);
    LLVMSetLinkage(m->kernel, LLVMExternalLinkage);
    status = keep_needed(m);
    if (status == IG_STATUS_OK) retarget(m);
    return status;
}
