// SPDX-License-Identifier: Apache-2.0
#include "msl/reflect-stage.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "msl/annotations.h"

typedef struct igi_msl_stage_member {
    LLVMValueRef function;
    const char *name;
    size_t name_length;
    uint32_t index;
    ig_type type;
    uint32_t components;
} member;

// ---- Finding ----

// As `described` of stdlib/__ingot_stage_input has them.
static void visit(LLVMValueRef function, const igi_msl_annotation *annotation, void *user) {
    igi_msl_stage_members *members = user;
    const char *name = igi_msl_annotation_after(annotation, "ig.attribute:");
    if (!name || members->failed) return;
    uint64_t number = (uint64_t)annotation->argument;
    member found = {.function = function,
                    .name = name,
                    .name_length = annotation->text_length - (size_t)(name - annotation->text),
                    .index = number & 0xff,
                    .type = (ig_type)(number >> 8 & 0xff),
                    .components = number >> 16 & 0xff};
    if (!annotation->has_argument || found.type >= IG_TYPE_COUNT) return;
    if (igi_grow((void **)&members->items, &members->capacity, members->count + 1, sizeof *members->items))
        members->items[members->count++] = found;
    else
        members->failed = true;
}

void igi_msl_stage_members_find(LLVMModuleRef module, igi_msl_stage_members *members) {
    *members = (igi_msl_stage_members){0};
    igi_msl_annotated_functions(module, visit, members);
}

void igi_msl_stage_members_free(igi_msl_stage_members *members) {
    free(members->items);
    *members = (igi_msl_stage_members){0};
}

// ---- Of a kernel ----

// The kernel calls `filled`, which calls `fetch`, which calls the member's function.
enum { CALLS = 3 };

static bool is_called(LLVMValueRef function, LLVMValueRef kernel, int calls) {
    if (function == kernel) return true;
    for (LLVMUseRef use = calls ? LLVMGetFirstUse(function) : NULL; use; use = LLVMGetNextUse(use)) {
        LLVMValueRef call = LLVMGetUser(use);
        if (!LLVMIsACallInst(call)) continue;
        if (is_called(LLVMGetBasicBlockParent(LLVMGetInstructionParent(call)), kernel, calls - 1)) return true;
    }
    return false;
}

static char *type_name(const member *m) {
    static const char *const names[IG_TYPE_COUNT] = {
        [IG_TYPE_BOOL] = "bool",  [IG_TYPE_I8] = "char",  [IG_TYPE_U8] = "uchar",    [IG_TYPE_I16] = "short",
        [IG_TYPE_U16] = "ushort", [IG_TYPE_I32] = "int",  [IG_TYPE_U32] = "uint",    [IG_TYPE_I64] = "long",
        [IG_TYPE_U64] = "ulong",  [IG_TYPE_F16] = "half", [IG_TYPE_BF16] = "bfloat", [IG_TYPE_F32] = "float"};
    if (m->components == 1) return igi_strdup(names[m->type]);
    return igi_format("%s%u", names[m->type], m->components);
}

static bool append(ig_kernel_info *info, const member *m) {
    ig_argument *arguments = igi_calloc(info->argument_count + 1, sizeof *arguments);
    ig_argument made = {.name = igi_strndup(m->name, m->name_length),
                        .type = type_name(m),
                        .condition = igi_strdup(""),
                        .attribute = "attribute",
                        .address_space = "",
                        .kind = IG_ARGUMENT_STAGE_INPUT,
                        .access = IG_ACCESS_READ,
                        .index = m->index,
                        .array_length = 1};
    if (!arguments || !made.name || !made.type || !made.condition) {
        free(arguments), free((char *)made.name), free((char *)made.type), free((char *)made.condition);
        return false;
    }
    if (info->argument_count) memcpy(arguments, info->arguments, info->argument_count * sizeof *arguments);
    arguments[info->argument_count++] = made;
    free((void *)info->arguments);
    info->arguments = arguments;
    return true;
}

bool igi_msl_stage_members_append(const igi_msl_stage_members *members, LLVMValueRef kernel, ig_kernel_info *info) {
    for (size_t i = 0; i < members->count; i++)
        if (is_called(members->items[i].function, kernel, CALLS) && !append(info, &members->items[i])) return false;
    return !members->failed;
}
