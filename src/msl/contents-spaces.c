// SPDX-License-Identifier: Apache-2.0
// Addresses from another space that are given to a function for the thread's own. clang keeps the other address spaces
// apart, but converts each into that one (<__ingot_keywords>). Signatures tell spaces; between them the IR of clang, before
// any pass, shows where an argument comes from: a parameter that was stored once, with offsets.
#include <string.h>

#include "core/memory.h"
#include "msl/annotations.h"
#include "msl/contents-internal.h"
#include "msl/type-names.h"

enum { MAX_STEPS = 16 };

static bool is_pointer(LLVMValueRef value) {
    return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind;
}

// The one value that is ever stored in a variable; NULL when there is none, or several.
static LLVMValueRef only_store(LLVMValueRef variable) {
    LLVMValueRef stored = NULL;
    for (LLVMUseRef use = LLVMGetFirstUse(variable); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (!LLVMIsAStoreInst(user) || LLVMGetOperand(user, 1) != variable) continue;
        if (stored) return NULL;
        stored = LLVMGetOperand(user, 0);
    }
    return stored;
}

// The parameter of the caller that the address is in or was computed from; NULL for others.
static LLVMValueRef origin(LLVMValueRef address) {
    for (int i = 0; i < MAX_STEPS && address; i++) {
        if (LLVMIsAArgument(address)) return address;
        if (LLVMIsAGetElementPtrInst(address)) {
            address = LLVMGetOperand(address, 0);
        } else if (LLVMIsALoadInst(address) && LLVMIsAAllocaInst(LLVMGetOperand(address, 0))) {
            address = only_store(LLVMGetOperand(address, 0));
        } else {
            return NULL;
        }
        if (address && !is_pointer(address)) return NULL;
    }
    return NULL;
}

static unsigned index_of(LLVMValueRef function, LLVMValueRef argument) {
    unsigned index = 0;
    while (LLVMGetParam(function, index) != argument) index++;
    return index;
}

// Parameters that the signature does not have: the object of a member function, where to put the result.
static bool hidden_parameters(LLVMValueRef function, const igi_msl_signature *signature, unsigned *hidden) {
    unsigned count = LLVMCountParams(function);
    *hidden = count - (unsigned)signature->count;
    return count >= signature->count && *hidden <= 1 && (*hidden == 0 || is_pointer(LLVMGetParam(function, 0)));
}

// The space that the signature names for a parameter; NULL when it is not known, or no pointer.
static const char *space_of(LLVMValueRef function, const igi_msl_signature *signature, unsigned index) {
    unsigned hidden;
    if (!hidden_parameters(function, signature, &hidden) || index < hidden) return NULL;
    const char *type = signature->types[index - hidden];
    size_t length = strlen(type);
    bool address = length && (type[length - 1] == '*' || type[length - 1] == '&');
    return address ? signature->spaces[index - hidden] : NULL;
}

// Functions of our headers take any space. Constructors and assignments that nobody wrote do, too.
static bool takes_any_space(const igi_msl_signature *signature) {
    const char *name = signature->name;
    return strstr(name, "__ig") || strncmp(name, "std::", 5) == 0 || strstr(name, "operator=") ||
           strstr(name, "'lambda");
}

static bool is_constructor(const char *symbol) {
    return strstr(symbol, "C1E") || strstr(symbol, "C2E") || strstr(symbol, "C1I") || strstr(symbol, "C2I");
}

static bool is_of_headers(const char *symbol) {
    static const char *const prefixes[] = {"_ZN5metal", "_ZNK5metal", "_ZN4__ig", "__ig"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(symbol, prefixes[i], strlen(prefixes[i])) == 0) return true;
    return false;
}

static void check_argument(contents *c, LLVMValueRef call, unsigned index, const char *space,
                           const igi_msl_signature *callee) {
    LLVMValueRef function = LLVMGetCalledValue(call);
    const char *wanted = space_of(function, callee, index);
    if (!wanted || *wanted) return;
    contents_refuse(
        c, call, callee->name,
        "argument %u of '%s' is in the %s address space; the function takes one in the thread address space",
        index + 1 - (LLVMCountParams(function) - (unsigned)callee->count), callee->name, space);
}

// Of each function, once; reading them is most of the work.
typedef struct reader {
    contents *c;
    igi_msl_signature *signatures;  // by the number of the function; no name: not read yet
} reader;

// NULL when memory is short.
static const igi_msl_signature *signature_of(reader *r, LLVMValueRef function) {
    uint32_t number;
    size_t length;
    if (!igi_map_get(&r->c->seen, function, &number)) return NULL;
    igi_msl_signature *signature = &r->signatures[number];
    if (!signature->name) igi_msl_signature_read(LLVMGetValueName2(function, &length), signature);
    if (!signature->name) r->c->failed = true;
    return signature->name ? signature : NULL;
}

// Only where an address goes from a parameter with a space to a function of the user's.
static void check_call(reader *r, const igi_msl_signature *caller, LLVMValueRef call) {
    size_t length;
    LLVMValueRef callee = LLVMGetCalledValue(call), self = LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
    const char *symbol = LLVMGetValueName2(callee, &length);
    if (is_of_headers(symbol) || is_constructor(symbol)) return;
    for (unsigned i = 0; i < LLVMCountParams(callee) && i < LLVMGetNumArgOperands(call); i++) {
        LLVMValueRef value = LLVMGetOperand(call, i), from = is_pointer(value) ? origin(value) : NULL;
        const char *space = from ? space_of(self, caller, index_of(self, from)) : NULL;
        const igi_msl_signature *signature = space && *space ? signature_of(r, callee) : NULL;
        if (signature && !takes_any_space(signature)) check_argument(r->c, call, i, space, signature);
    }
}

void contents_check_spaces(contents *c) {
    reader r = {c, igi_calloc(c->function_count + 1, sizeof *r.signatures)};
    if (!r.signatures) c->failed = true;
    for (size_t i = 0; i < c->function_count && !c->failed; i++) {
        size_t length;
        const contents_function *f = &c->functions[i];
        const char *symbol = LLVMGetValueName2(f->function, &length);
        // A function without an address space in its signature has no such address to pass on.
        if (is_of_headers(symbol) || !strstr(symbol, "SY") || !f->call_count) continue;
        const igi_msl_signature *signature = signature_of(&r, f->function);
        for (size_t k = 0; k < f->call_count && signature; k++) check_call(&r, signature, f->calls[k]);
    }
    for (size_t i = 0; i < c->function_count && r.signatures; i++) igi_msl_signature_free(&r.signatures[i]);
    free(r.signatures);
}
