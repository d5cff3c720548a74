// SPDX-License-Identifier: Apache-2.0
// Walks from the kernels to everything they can reach, and checks functions and variables on the way.
#include "msl/contents.h"

#include <llvm-c/Target.h>
#include <string.h>

#include "core/memory.h"
#include "msl/allowed.h"
#include "msl/annotations.h"
#include "msl/constant-symbol.h"
#include "msl/contents-internal.h"
#include "msl/initialisers.h"
#include "msl/places.h"
#include "msl/type-names.h"

enum { MAX_ERRORS = 50 };

// ---- Errors ----

// What clang generates itself has no location; the function that contains it has one.
static bool find_place(LLVMValueRef at, igi_msl_place *place) {
    if (!at) return false;
    if (igi_msl_place_of(at, place)) return true;
    return LLVMIsAInstruction(at) && igi_msl_place_of(LLVMGetBasicBlockParent(LLVMGetInstructionParent(at)), place);
}

static void add_error(contents *c, LLVMValueRef at, const char *name, const char *message) {
    igi_msl_place place;
    if (find_place(at, &place)) {
        igi_msl_diagnostics_add_rewritten(c->diagnostics, "error", place.file, place.line, place.column, name, message);
        free(place.file);
    } else {
        c->diagnostics->unplaced++;
        igi_msl_diagnostics_add_at_word(c->diagnostics, "error", name, message);
    }
}

void contents_refuse(contents *c, LLVMValueRef at, const char *name, const char *format, ...) {
    if (!c->diagnostics || c->diagnostics->error_count >= MAX_ERRORS) return;
    va_list arguments;
    va_start(arguments, format);
    char *message = igi_vformat(format, arguments);
    va_end(arguments);
    if (!message)
        c->failed = true;
    else
        add_error(c, at, name, message);
    free(message);
}

char *contents_name(LLVMValueRef function) {
    size_t length;
    const char *symbol = LLVMGetValueName2(function, &length);
    if (*symbol == '\1') symbol++;  // clang's marker for a name that must not be mangled
    igi_msl_signature signature;
    igi_msl_signature_read(symbol, &signature);
    char *name = signature.name;
    signature.name = NULL;
    igi_msl_signature_free(&signature);
    return name;
}

// ---- What has been seen ----

bool contents_is_new(contents *c, const void *key) {
    uint32_t value;
    if (igi_map_get(&c->seen, key, &value)) return false;
    if (!igi_map_set(&c->seen, key, 0)) c->failed = true;
    return true;
}

static contents_function *add_function(contents *c, LLVMValueRef function) {
    uint32_t number = (uint32_t)c->function_count;
    if (igi_map_get(&c->seen, function, &number)) return &c->functions[number];
    if (!igi_grow((void **)&c->functions, &c->function_capacity, c->function_count + 1, sizeof *c->functions) ||
        !igi_map_set(&c->seen, function, number)) {
        c->failed = true;
        return NULL;
    }
    c->functions[c->function_count++] = (contents_function){.function = function};
    return &c->functions[number];
}

static void add_constant(contents *c, LLVMValueRef constant) {
    if (!igi_grow((void **)&c->constants, &c->constant_capacity, c->constant_count + 1, sizeof *c->constants))
        c->failed = true;
    else
        c->constants[c->constant_count++] = constant;
}

// ---- Variables ----

static void refuse_variable(contents *c, LLVMValueRef global, LLVMValueRef at, const char *format) {
    size_t length;
    char *name = igi_msl_variable_name(LLVMGetValueName2(global, &length));
    if (!name) c->failed = true;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (name) contents_refuse(c, at, name, format, name);
#pragma GCC diagnostic pop
    free(name);
}

static bool is_function_constant(LLVMValueRef global) {
    size_t length;
    igi_msl_constant_symbol constant;
    return igi_msl_constant_symbol_read(LLVMGetValueName2(global, &length), &constant);
}

// A store to it outside of the functions that clang generates.
static LLVMValueRef find_store(LLVMValueRef value) {
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use), store = NULL;
        if (LLVMIsAConstantExpr(user)) store = find_store(user);
        if (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 1) == value) store = user;
        if (store && !igi_msl_is_initialiser(LLVMGetBasicBlockParent(LLVMGetInstructionParent(store)))) return store;
    }
    return NULL;
}

// The guard of a function's static variable that is initialised when control first reaches it; the variable itself is
// refused.
static bool is_guard(const contents *c, LLVMValueRef global) {
    size_t length;
    const char *symbol = LLVMGetValueName2(global, &length);
    if (strncmp(symbol, "_ZGV", 4) != 0) return false;
    char *guarded = igi_format("_Z%s", symbol + 4);
    LLVMValueRef variable = guarded ? LLVMGetNamedGlobal(c->module, guarded) : NULL;
    free(guarded);
    return variable && !LLVMIsGlobalConstant(variable);
}

static void check_variable(contents *c, LLVMValueRef global) {
    const char *section = LLVMGetSection(global);
    if (is_guard(c, global)) return;
    if (LLVMIsDeclaration(global)) {
        if (!is_function_constant(global))
            refuse_variable(c, global, c->at, "variable '%s' is declared but not defined");
    } else if (LLVMIsThreadLocal(global)) {
        refuse_variable(c, global, global, "variable '%s' is thread_local, which Metal does not have");
    } else if (section && *section) {
        refuse_variable(c, global, global, "variable '%s' is put into a section, which Metal does not allow");
    } else if (!LLVMIsGlobalConstant(global) && (!igi_msl_is_derived(global) || find_store(global))) {
        refuse_variable(c, global, global,
                        "variable '%s' outlives a function but is not constant; Metal allows that only in the constant "
                        "address space");
    }
    const char *type = contents_refused_type(c, LLVMGlobalGetValueType(global));
    if (type) contents_refuse(c, global, NULL, "Metal has no %s", type);
}

// ---- Constants: what they refer to is reached ----

static void refuse_address(contents *c, LLVMValueRef function) {
    char *name = contents_name(function);
    if (!name) c->failed = true;
    if (name) contents_refuse(c, c->at, name, "address of '%s', which is declared but not defined", name);
    free(name);
}

static void visit_global(contents *c, LLVMValueRef global) {
    if (LLVMIsAFunction(global)) {
        if (!LLVMIsDeclaration(global))
            add_function(c, global);
        else if (!igi_msl_is_visible(global))
            refuse_address(c, global);
    } else if (LLVMIsAGlobalVariable(global)) {
        check_variable(c, global);
        LLVMValueRef value = LLVMGetInitializer(global);
        if (value) add_constant(c, value);
    }  // else an alias: check_module
}

static void visit_constants(contents *c) {
    while (c->constant_count && !c->failed) {
        LLVMValueRef constant = c->constants[--c->constant_count];
        int operands = LLVMIsAGlobalValue(constant) ? 0 : LLVMGetNumOperands(constant);
        bool leaf = operands == 0 && !LLVMIsAGlobalValue(constant) && !LLVMIsABlockAddress(constant);
        bool function = LLVMIsAFunction(constant) && !LLVMIsDeclaration(constant);
        if (leaf || (!function && !contents_is_new(c, constant))) continue;
        if (LLVMIsABlockAddress(constant))
            contents_refuse(c, c->at, NULL, "the address of a label is taken, which Metal does not allow");
        else if (LLVMIsAGlobalValue(constant))
            visit_global(c, constant);
        else
            for (int i = 0; i < operands; i++) add_constant(c, LLVMGetOperand(constant, (unsigned)i));
    }
}

// ---- Functions ----

static void add_call(contents *c, size_t caller, LLVMValueRef call) {
    contents_function *f = &c->functions[caller];
    if (!igi_grow((void **)&f->calls, &f->call_capacity, f->call_count + 1, sizeof *f->calls))
        c->failed = true;
    else
        f->calls[f->call_count++] = call;
}

static void refuse_callee(contents *c, LLVMValueRef callee) {
    size_t length;
    const char *symbol = LLVMGetValueName2(callee, &length);
    char *name = contents_name(callee);
    if (!name)
        c->failed = true;
    else if (strncmp(symbol, "llvm.threadlocal.address", 24) == 0)
        ;  // the variable is refused
    else if (strncmp(symbol, "llvm.", 5) == 0)
        contents_refuse(c, c->at, NULL, "builtin function of the compiler ('%s') that Metal does not have", name);
    else if (igi_msl_is_reserved(symbol))
        contents_refuse(c, c->at, name, "call to '%s', which Ingot's headers do not declare with this type", name);
    else if (igi_msl_is_of_headers(symbol))
        contents_refuse(c, c->at, name, "call to '%s' in a kernel: Ingot knows it only in functions that do not run",
                        name);
    else
        contents_refuse(c, c->at, name, "call to '%s', which is declared but not defined", name);
    free(name);
}

static bool is_kernel(const contents *c, LLVMValueRef function) {
    uint32_t number;
    return igi_map_get(&c->seen, function, &number) && c->functions[number].kernel;
}

static void refuse_kernel_call(contents *c, LLVMValueRef call) {
    char *name = contents_name(LLVMGetCalledValue(call));
    if (!name) c->failed = true;
    if (name) contents_refuse(c, call, name, "'%s' is a kernel, which other functions cannot call", name);
    free(name);
}

static void check_callee(contents *c, size_t caller, LLVMValueRef call) {
    LLVMValueRef callee = LLVMGetCalledValue(call);
    if (LLVMIsAInlineAsm(callee)) {
        contents_refuse(c, call, NULL, "inline assembly is not allowed in Metal");
    } else if (!LLVMIsAFunction(callee)) {
        if (LLVMIsAConstant(callee)) add_constant(c, callee);  // an alias; pointers are checked after inlining
    } else if (!LLVMIsDeclaration(callee)) {
        if (LLVMGetCalledFunctionType(call) != LLVMGlobalGetValueType(callee))
            contents_refuse(c, call, NULL, "a function is called with arguments of the wrong types");
        if (is_kernel(c, callee)) refuse_kernel_call(c, call);
        add_function(c, callee);
        add_call(c, caller, call);
    } else if (!igi_msl_allows(callee)) {
        if (!igi_msl_is_visible(callee)) refuse_callee(c, callee);  // else it is linked when a pipeline is made
    } else if (!igi_msl_allows_operands(call)) {
        contents_refuse(c, call, NULL, "an internal function of Ingot's headers is called in an unsupported way");
    }
}

static bool is_annotation(LLVMValueRef call) {
    size_t length;
    const char *name = LLVMGetValueName2(LLVMGetCalledValue(call), &length);
    return strncmp(name, "llvm.var.annotation", 19) == 0 || strncmp(name, "llvm.ptr.annotation", 19) == 0;
}

static void check_threadgroup_variable(contents *c, size_t function, LLVMValueRef instruction) {
    igi_msl_annotation annotation;
    LLVMValueRef variable;
    size_t length;
    if (c->functions[function].kernel || !igi_msl_variable_annotation(instruction, &annotation, &variable) ||
        !igi_msl_is_threadgroup_storage(variable, &annotation))
        return;
    const char *name = igi_msl_storage_name(LLVMGetValueName2(variable, &length));
    contents_refuse(
        c, instruction, name,
        "threadgroup variable '%s' is declared in a function that is no kernel; declare it in the kernel and "
        "pass a pointer",
        name);
}

static void visit_instruction(contents *c, size_t function, LLVMValueRef instruction) {
    c->at = instruction;
    check_threadgroup_variable(c, function, instruction);
    c->functions[function].instructions++;
    contents_check_instruction(c, instruction);
    int count = LLVMGetNumOperands(instruction);
    if (LLVMIsACallInst(instruction)) {
        check_callee(c, function, instruction);
        // The texts of an annotation are clang's own, in a section that produces no machine code.
        count = is_annotation(instruction) ? 1 : count - 1;
    }
    for (int i = 0; i < count; i++) {
        LLVMValueRef operand = LLVMGetOperand(instruction, (unsigned)i);
        if (LLVMIsAConstant(operand)) add_constant(c, operand);
    }
    visit_constants(c);
}

// clang puts its own initialisers into a section.
static void check_function(contents *c, LLVMValueRef function) {
    unsigned naked = LLVMGetEnumAttributeKindForName("naked", 5);
    const char *section = LLVMGetSection(function);
    char *name = contents_name(function);
    if (!name) {
        c->failed = true;
        return;
    }
    if (section && *section && !igi_msl_is_initialiser(function))
        contents_refuse(c, function, name, "function '%s' is put into a section, which Metal does not allow", name);
    if (LLVMGetFunctionCallConv(function) != LLVMCCallConv ||
        LLVMGetEnumAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, naked))
        contents_refuse(c, function, name, "function '%s' has a calling convention that Metal does not have", name);
    free(name);
}

static void visit_function(contents *c, size_t number) {
    LLVMValueRef function = c->functions[number].function;
    c->at = function;
    check_function(c, function);
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i && !c->failed; i = LLVMGetNextInstruction(i))
            visit_instruction(c, number, i);
}

// ---- Where the walk begins ----

static void visit_kernel(LLVMValueRef function, const igi_msl_annotation *annotation, void *user) {
    bool kernel = igi_msl_annotation_is(annotation, "ig.kernel");
    if ((!kernel && !igi_msl_annotation_is(annotation, "ig.visible")) || LLVMIsDeclaration(function)) return;
    contents_function *added = add_function(user, function);
    if (added && kernel) added->kernel = true;
}

// Initialisers run in every kernel; what is kept by `used` attributes becomes machine code too.
static void visit_list(contents *c, const char *name) {
    LLVMValueRef list = LLVMGetNamedGlobal(c->module, name);
    LLVMValueRef entries = list ? LLVMGetInitializer(list) : NULL;
    if (!entries) return;
    c->at = list;
    add_constant(c, entries);
    visit_constants(c);
}

static void refuse_list(contents *c, const char *list_name, const char *what) {
    LLVMValueRef list = LLVMGetNamedGlobal(c->module, list_name);
    LLVMValueRef entries = list ? LLVMGetInitializer(list) : NULL;
    for (int i = 0; entries && i < LLVMGetNumOperands(entries); i++) {
        LLVMValueRef function = LLVMGetOperand(LLVMGetOperand(entries, (unsigned)i), 1);
        if (!LLVMIsAFunction(function) || igi_msl_is_initialiser(function)) continue;
        char *name = contents_name(function);
        if (!name) c->failed = true;
        if (name) contents_refuse(c, function, name, "function '%s' is a %s, which Metal does not have", name, what);
        free(name);
    }
}

void contents_add_root(contents *c, LLVMValueRef function) {
    if (!LLVMIsDeclaration(function)) add_function(c, function);
}

void contents_walk(contents *c) {
    static const char *const lists[] = {"llvm.global_ctors", "llvm.used", "llvm.compiler.used"};
    igi_msl_annotated_functions(c->module, visit_kernel, c);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) visit_list(c, lists[i]);
    for (size_t i = 0; i < c->function_count && !c->failed; i++) visit_function(c, i);
}

void contents_free(contents *c) {
    for (size_t i = 0; i < c->function_count; i++) free(c->functions[i].calls);
    free(c->functions), free(c->constants);
    igi_map_free(&c->seen);
}

// ---- The module as a whole ----

static void check_reserved(contents *c, LLVMValueRef global) {
    size_t length;
    const char *symbol = LLVMGetValueName2(global, &length);
    bool own = strncmp(symbol, "llvm.", 5) == 0 && LLVMIsAGlobalVariable(global);
    igi_msl_constant_symbol constant;
    if (LLVMIsDeclaration(global) || own || !igi_msl_is_reserved(symbol)) return;
    if (igi_msl_constant_symbol_read(symbol, &constant))
        contents_refuse(c, global, constant.name,
                        "function constant '%s' has an initialiser; its value is set when a pipeline is created",
                        constant.name);
    else
        contents_refuse(c, global, symbol, "'%s' is a name that is reserved for the compiler", symbol);
}

static void check_module(contents *c) {
    size_t length;
    LLVMGetModuleInlineAsm(c->module, &length);
    if (length) contents_refuse(c, NULL, NULL, "assembly is not allowed in Metal");
    LLVMValueRef alias = LLVMGetFirstGlobalAlias(c->module);
    if (!alias) alias = LLVMGetFirstGlobalIFunc(c->module);
    char *name = alias ? contents_name(alias) : NULL;
    if (alias) contents_refuse(c, NULL, name, "'%s' is an alias, which Metal does not have", name ? name : "it");
    free(name);
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f)) check_reserved(c, f);
    for (LLVMValueRef g = LLVMGetFirstGlobal(c->module); g; g = LLVMGetNextGlobal(g)) check_reserved(c, g);
}

bool igi_msl_check_contents(LLVMModuleRef module, igi_msl_diagnostics *diagnostics) {
    contents c = {.module = module, .diagnostics = diagnostics};
    check_module(&c);
    refuse_list(&c, "llvm.global_ctors", "constructor");
    refuse_list(&c, "llvm.global_dtors", "destructor");
    contents_walk(&c);
    if (!c.failed) contents_check_spaces(&c);
    if (!c.failed) contents_check_calls(&c);
    contents_free(&c);
    return !c.failed;
}
