// SPDX-License-Identifier: Apache-2.0
// Address spaces: AIR numbers them (1 device, 2 constant, 3 threadgroup), here there is one.
//
// The type of a value cannot be changed through LLVM's C API, so the module goes through its text. Outside of quotes,
// where names and strings are, `addrspace(N)` and `addrspacecast` are nothing but keywords; local names, which have no
// quotes, are dropped first.
#include <llvm-c/IRReader.h>
#include <string.h>

#include "air/translator.h"

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("_.$-%@!\\", c);
}

static bool begins_with(const char *at, const char *end, const char *word) {
    size_t length = strlen(word);
    return (size_t)(end - at) >= length && memcmp(at, word, length) == 0;
}

static const char *after_quotes(const char *at, const char *end) {
    const char *close = memchr(at + 1, '"', (size_t)(end - at - 1));
    return close ? close + 1 : end;
}

// In place: nothing becomes longer.
static size_t remove_spaces(char *text, size_t length) {
    static const char space[] = " addrspace(", cast[] = "addrspacecast", same[] = "bitcast";
    const char *at = text, *end = text + length;
    char *to = text;
    while (at < end) {
        const char *next = at + 1;
        if (*at == '"') {
            next = after_quotes(at, end);
        } else if (begins_with(at, end, space)) {
            const char *close = memchr(at, ')', (size_t)(end - at));
            at = close ? close + 1 : end;
            continue;
        } else if (begins_with(at, end, cast) && at > text && !is_word(at[-1]) && !is_word(at[strlen(cast)])) {
            memcpy(to, same, strlen(same));
            to += strlen(same), at += strlen(cast);
            continue;
        }
        memmove(to, at, (size_t)(next - at));
        to += next - at, at = next;
    }
    *to = 0;
    return (size_t)(to - text);
}

// llvm.used and the like hold addresses in one space, as casts.
static void drop_lists(air_translator *t) {
    static const char *const lists[] = {"llvm.compiler.used", "llvm.used"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        LLVMValueRef list = LLVMGetNamedGlobal(t->module, lists[i]);
        if (list) LLVMDeleteGlobal(list);
    }
}

static void mark_threadgroup(air_translator *t) {
    enum { THREADGROUP = 3 };
    for (LLVMValueRef g = LLVMGetFirstGlobal(t->module); g; g = LLVMGetNextGlobal(g)) {
        if (LLVMGetPointerAddressSpace(LLVMTypeOf(g)) != THREADGROUP) continue;
        LLVMSetSection(g, AIR_THREADGROUP_SECTION);
        LLVMSetLinkage(g, LLVMInternalLinkage);
        if (LLVMIsDeclaration(g)) LLVMSetInitializer(g, LLVMGetUndef(LLVMGlobalGetValueType(g)));
    }
}

bool igi_air_flatten(air_translator *t) {
    drop_lists(t);
    mark_threadgroup(t);
    char *text = LLVMPrintModuleToString(t->module), *message = NULL;
    LLVMDisposeModule(t->module);
    t->module = NULL;
    size_t length = remove_spaces(text, strlen(text));
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, length, "air");
    LLVMDisposeMessage(text);
    LLVMContextSetDiscardValueNames(t->context, 0);  // LLVM reads text only with names
    if (!LLVMParseIRInContext(t->context, buffer, &t->module, &message)) return true;
    t->module = NULL;
    igi_air_fail(t, IG_STATUS_UNSUPPORTED, "the code of kernel '%.200s' cannot be put into one address space: %s",
                 t->name, message);
    LLVMDisposeMessage(message);
    return false;
}
