// SPDX-License-Identifier: Apache-2.0
// Visible functions: a library has them as modules of their own. Kernels declare those that they call by name, and reach
// others through tables of numbers (simt/functions.c).
#include <string.h>

#include "air/translator.h"

// src/msl knows them by this attribute (igi_msl_is_visible).
static void mark(air_translator *t, LLVMValueRef function) {
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(t->context, LLVMGetEnumAttributeKindForName("hot", 3), 0));
}

static char *symbol_of(air_translator *t, const char *name) {
    char *symbol = igi_format(AIR_VISIBLE_PREFIX "%s", name);
    if (!symbol) igi_air_fail_memory(t);
    return symbol;
}

// Two declarations of one function become one.
bool igi_air_name_reference(air_translator *t, LLVMValueRef function, const char *name) {
    char *symbol = symbol_of(t, name);
    if (!symbol) return false;
    LLVMValueRef first = LLVMGetNamedFunction(t->module, symbol);
    if (!first)
        LLVMSetValueName2(function, symbol, strlen(symbol));
    else if (first != function && LLVMIsDeclaration(first))
        LLVMReplaceAllUsesWith(function, first);
    free(symbol);
    mark(t, first ? first : function);
    LLVMSetSection(first ? first : function, "");
    return true;
}

bool igi_air_expose(air_translator *t) {
    char *symbol = symbol_of(t, t->name);
    if (!symbol) return false;
    LLVMValueRef other = LLVMGetNamedFunction(t->module, symbol);
    bool taken = other && other != t->kernel;
    if (!taken) LLVMSetValueName2(t->kernel, symbol, strlen(symbol));
    free(symbol);
    if (taken) return igi_air_fail_unknown(t, "itself");
    unsigned inlined = LLVMGetEnumAttributeKindForName("alwaysinline", strlen("alwaysinline"));
    LLVMRemoveEnumAttributeAtIndex(t->kernel, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, inlined);
    LLVMSetLinkage(t->kernel, LLVMExternalLinkage);
    mark(t, t->kernel);
    return true;
}
