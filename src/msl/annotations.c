// SPDX-License-Identifier: Apache-2.0
// Reading annotations back from the IR.
#include "msl/annotations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "msl/type-names.h"

static const char *global_string(LLVMValueRef global, size_t *length) {
    *length = 0;
    LLVMValueRef value = global && LLVMIsAGlobalVariable(global) ? LLVMGetInitializer(global) : NULL;
    if (!value || !LLVMIsConstantString(value)) return "";
    const char *text = LLVMGetAsString(value, length);
    if (*length && text[*length - 1] == 0) (*length)--;
    return text;
}

igi_msl_annotation igi_msl_annotation_read(LLVMValueRef text, LLVMValueRef file, LLVMValueRef line,
                                           LLVMValueRef arguments) {
    igi_msl_annotation annotation = {0};
    size_t file_length;
    annotation.text = global_string(text, &annotation.text_length);
    annotation.file = global_string(file, &file_length);
    annotation.line = line && LLVMIsAConstantInt(line) ? (uint32_t)LLVMConstIntGetZExtValue(line) : 0;
    if (arguments && LLVMIsAGlobalVariable(arguments)) {
        LLVMValueRef values = LLVMGetInitializer(arguments);
        // A struct of zeros has no operands of its own.
        LLVMValueRef first = values ? LLVMGetAggregateElement(values, 0) : NULL;
        annotation.has_argument = first && LLVMIsAConstantInt(first);
        if (annotation.has_argument) annotation.argument = LLVMConstIntGetSExtValue(first);
    }
    return annotation;
}

const char *igi_msl_annotation_after(const igi_msl_annotation *annotation, const char *prefix) {
    size_t length = strlen(prefix);
    if (annotation->text_length < length || memcmp(annotation->text, prefix, length) != 0) return NULL;
    return annotation->text + length;
}

bool igi_msl_annotation_is(const igi_msl_annotation *annotation, const char *text) {
    return annotation->text_length == strlen(text) && igi_msl_annotation_after(annotation, text);
}

bool igi_msl_is_visible(LLVMValueRef function) {
    LLVMAttributeIndex index = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    return LLVMGetEnumAttributeAtIndex(function, index, LLVMGetEnumAttributeKindForName("hot", 3)) != NULL;
}

bool igi_msl_variable_annotation(LLVMValueRef instruction, igi_msl_annotation *annotation, LLVMValueRef *variable) {
    if (!LLVMIsACallInst(instruction)) return false;
    LLVMValueRef callee = LLVMGetCalledValue(instruction);
    size_t length;
    const char *name = LLVMGetValueName2(callee, &length);
    if (strncmp(name, "llvm.var.annotation", 19) != 0) return false;
    *variable = LLVMGetOperand(instruction, 0);
    *annotation = igi_msl_annotation_read(LLVMGetOperand(instruction, 1), LLVMGetOperand(instruction, 2),
                                          LLVMGetOperand(instruction, 3), LLVMGetOperand(instruction, 4));
    return igi_msl_annotation_after(annotation, "ig.") != NULL;
}

bool igi_msl_is_threadgroup_storage(LLVMValueRef alloca, const igi_msl_annotation *annotation) {
    if (!LLVMIsAAllocaInst(alloca) || annotation->text_length != strlen("ig.threadgroup") ||
        !igi_msl_annotation_after(annotation, "ig.threadgroup"))
        return false;
    LLVMTypeRef type = LLVMGetAllocatedType(alloca);
    while (LLVMGetTypeKind(type) == LLVMArrayTypeKind) type = LLVMGetElementType(type);
    return LLVMGetTypeKind(type) != LLVMPointerTypeKind;
}

const char *igi_msl_storage_name(const char *name) {
    static const char prefix[] = "__ig_shared_";  // of the lexical pass
    return strncmp(name, prefix, sizeof prefix - 1) == 0 ? name + sizeof prefix - 1 : name;
}

static igi_msl_parameter *find(igi_msl_parameters *parameters, LLVMValueRef storage) {
    for (size_t i = 0; i < parameters->count; i++)
        if (parameters->items[i].storage == storage) return &parameters->items[i];
    return NULL;
}

static igi_msl_parameter *add(igi_msl_parameters *parameters, LLVMValueRef storage) {
    if (!igi_grow((void **)&parameters->items, &parameters->capacity, parameters->count + 1, sizeof *parameters->items))
        return NULL;
    igi_msl_parameter *parameter = &parameters->items[parameters->count++];
    *parameter = (igi_msl_parameter){.storage = storage};
    return parameter;
}

static bool find_builtin(const igi_msl_annotation *annotation, igi_msl_builtin *builtin) {
    static const char *const names[] = {
#define NAME(name, components) "ig." #name,
        IGI_BUILTIN_LIST(NAME)
#undef NAME
    };
    for (int i = 0; i < IGI_BUILTIN_COUNT; i++) {
        if (strlen(names[i]) != annotation->text_length || !igi_msl_annotation_after(annotation, names[i])) continue;
        *builtin = (igi_msl_builtin)i;
        return true;
    }
    return false;
}

static void set_space(igi_msl_parameter *parameter, const igi_msl_annotation *annotation, const char *space) {
    size_t length = annotation->text_length - (size_t)(space - annotation->text);
    if (length >= sizeof parameter->space) length = sizeof parameter->space - 1;
    memcpy(parameter->space, space, length);
    parameter->space[length] = 0;
}

static void set_slot(igi_msl_parameter *parameter, const igi_msl_annotation *annotation, const char *space,
                     ig_argument_kind kind) {
    set_space(parameter, annotation, space);
    parameter->kind = kind;
    parameter->has_index = annotation->has_argument;
    parameter->index = annotation->argument;
    parameter->annotated = true;
}

static char *rest(const igi_msl_annotation *annotation, const char *from) {
    return igi_strndup(from, annotation->text_length - (size_t)(from - annotation->text));
}

// The name of a constant, which the source may qualify: "options::has_mask".
static char *unqualified(const igi_msl_annotation *annotation, const char *from) {
    const char *end = annotation->text + annotation->text_length;
    for (const char *at = from; at < end; at++)
        if (*at == ':' || *at == ' ') from = at + 1;
    return rest(annotation, from);
}

static bool annotate(igi_msl_parameter *parameter, const igi_msl_annotation *annotation) {
    const char *after;
    parameter->file = annotation->file;
    parameter->line = annotation->line;
    if ((after = igi_msl_annotation_after(annotation, "ig.buffer:"))) {
        set_slot(parameter, annotation, after, IG_ARGUMENT_BUFFER);
    } else if ((after = igi_msl_annotation_after(annotation, "ig.threadgroup:"))) {
        set_slot(parameter, annotation, after, IG_ARGUMENT_THREADGROUP);
    } else if ((after = igi_msl_annotation_after(annotation, "ig.texture:"))) {
        set_slot(parameter, annotation, after, IG_ARGUMENT_TEXTURE);
    } else if ((after = igi_msl_annotation_after(annotation, "ig.sampler:"))) {
        set_slot(parameter, annotation, after, IG_ARGUMENT_SAMPLER);
    } else if ((after = igi_msl_annotation_after(annotation, "ig.space:"))) {
        set_space(parameter, annotation, after);
    } else if ((after = igi_msl_annotation_after(annotation, "ig.condition:"))) {
        free(parameter->condition);
        parameter->condition = unqualified(annotation, after);
        return parameter->condition != NULL;
    } else if ((after = igi_msl_annotation_after(annotation, "ig.unsupported:"))) {
        free(parameter->unsupported);
        parameter->unsupported = rest(annotation, after);
        parameter->index = annotation->argument;
        return parameter->unsupported != NULL;
    } else if (find_builtin(annotation, &parameter->builtin)) {
        parameter->kind = IG_ARGUMENT_BUILTIN;
        parameter->annotated = true;
    } else if (annotation->text_length == strlen("ig.threadgroup")) {
        parameter->threadgroup = true;
    }
    return true;
}

// A parameter's alloca is written from an argument, or annotated with something only parameters carry.
static bool only_for_parameters(const igi_msl_annotation *annotation) {
    return annotation->text_length != strlen("ig.threadgroup") ||
           !igi_msl_annotation_after(annotation, "ig.threadgroup");
}

// Where clang keeps the address of an object that is passed or returned by its address; nothing but a debugger reads it.
static bool is_for_debuggers(LLVMValueRef storage) {
    size_t length;
    const char *name = LLVMGetValueName2(storage, &length), suffix[] = ".indirect_addr";
    if (strcmp(name, "result.ptr") == 0) return true;
    return length >= sizeof suffix - 1 && strcmp(name + length - (sizeof suffix - 1), suffix) == 0;
}

// Large arrays of textures, and large structures of functions that draw, are passed by their address.
static bool is_by_address(LLVMValueRef variable, const igi_msl_annotation *annotation) {
    static const char *const kinds[] = {"ig.texture:", "ig.sampler:", "ig.unsupported:", "ig.plain"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && LLVMIsAArgument(variable); i++)
        if (igi_msl_annotation_after(annotation, kinds[i])) return true;
    return false;
}

static bool visit(LLVMValueRef instruction, igi_msl_parameters *parameters) {
    igi_msl_annotation annotation;
    LLVMValueRef variable;
    if (LLVMIsAStoreInst(instruction)) {
        LLVMValueRef value = LLVMGetOperand(instruction, 0), storage = LLVMGetOperand(instruction, 1);
        bool pointer = LLVMIsAArgument(value) && LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind;
        if (!pointer || !LLVMIsAAllocaInst(storage) || find(parameters, storage) || is_for_debuggers(storage))
            return true;
        igi_msl_parameter *parameter = add(parameters, storage);
        if (parameter) parameter->argument = value, parameter->anchor = instruction;
        return parameter != NULL;
    }
    if (!igi_msl_variable_annotation(instruction, &annotation, &variable)) return true;
    if (!LLVMIsAAllocaInst(variable) && !is_by_address(variable, &annotation)) return true;
    igi_msl_parameter *parameter = find(parameters, variable);
    if (!parameter && !only_for_parameters(&annotation)) return true;
    if (!parameter) parameter = add(parameters, variable);
    if (!parameter) return false;
    parameter->anchor = instruction;
    return annotate(parameter, &annotation);
}

// The types say more than the words of a declaration, which a macro or an alias may hide. Symbols that are not mangled
// leave it at the words.
static bool read_spaces(LLVMValueRef function, igi_msl_parameters *parameters) {
    size_t length;
    igi_msl_signature signature;
    igi_msl_signature_read(LLVMGetValueName2(function, &length), &signature);
    bool read = signature.name != NULL;
    for (size_t i = 0; i < parameters->count && parameters->count == signature.count; i++) {
        igi_msl_parameter *parameter = &parameters->items[i];
        if (parameter->argument) snprintf(parameter->space, sizeof parameter->space, "%s", signature.spaces[i]);
        parameter->has_type = true;
    }
    for (size_t i = 0; i < parameters->count; i++)
        parameters->items[i].threadgroup |= strcmp(parameters->items[i].space, "threadgroup") == 0;
    igi_msl_signature_free(&signature);
    return read;
}

bool igi_msl_parameters_read(LLVMValueRef function, igi_msl_parameters *parameters) {
    *parameters = (igi_msl_parameters){0};
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(function);
    for (LLVMValueRef i = LLVMGetFirstInstruction(entry); i; i = LLVMGetNextInstruction(i)) {
        if (visit(i, parameters)) continue;
        igi_msl_parameters_free(parameters);
        return false;
    }
    if (read_spaces(function, parameters)) return true;
    igi_msl_parameters_free(parameters);
    return false;
}

uint32_t igi_msl_array_length(const char *type) {
    const char *last = strrchr(type, ',');
    if (strncmp(type, "array<", 6) != 0 || !last) return 1;
    unsigned long length = strtoul(last + 1, NULL, 10);
    return length && length <= UINT32_MAX ? (uint32_t)length : 1;
}

void igi_msl_number_open_slots(igi_msl_parameters *parameters) {
    for (size_t i = 0; i < parameters->count; i++) {
        igi_msl_parameter *open = &parameters->items[i];
        bool table = open->kind == IG_ARGUMENT_BUFFER && open->annotated && !open->argument;
        bool object = open->kind == IG_ARGUMENT_TEXTURE || open->kind == IG_ARGUMENT_SAMPLER || table;
        if (object ? open->has_index : open->annotated || !open->argument) continue;
        if (!object) open->kind = open->threadgroup ? IG_ARGUMENT_THREADGROUP : IG_ARGUMENT_BUFFER;
        open->annotated = open->has_index = true;
        for (bool taken = true; taken; open->index += taken) {
            taken = false;
            for (size_t k = 0; k < parameters->count; k++) {
                const igi_msl_parameter *other = &parameters->items[k];
                if (k != i && other->has_index && other->kind == open->kind && other->index == open->index)
                    taken = true;
            }
        }
    }
}

void igi_msl_parameters_free(igi_msl_parameters *parameters) {
    for (size_t i = 0; i < parameters->count; i++) {
        free(parameters->items[i].condition);
        free(parameters->items[i].unsupported);
    }
    free(parameters->items);
    *parameters = (igi_msl_parameters){0};
}

void igi_msl_annotated_functions(LLVMModuleRef module, igi_msl_annotated_visit visit_function, void *user) {
    LLVMValueRef table = LLVMGetNamedGlobal(module, "llvm.global.annotations");
    LLVMValueRef entries = table ? LLVMGetInitializer(table) : NULL;
    int count = entries ? LLVMGetNumOperands(entries) : 0;
    for (int i = 0; i < count; i++) {
        LLVMValueRef entry = LLVMGetOperand(entries, (unsigned)i);
        LLVMValueRef function = LLVMGetOperand(entry, 0);
        if (!LLVMIsAFunction(function)) continue;
        igi_msl_annotation annotation = igi_msl_annotation_read(LLVMGetOperand(entry, 1), LLVMGetOperand(entry, 2),
                                                                LLVMGetOperand(entry, 3), LLVMGetOperand(entry, 4));
        if (igi_msl_annotation_after(&annotation, "ig.")) visit_function(function, &annotation, user);
    }
}
