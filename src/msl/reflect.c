// SPDX-License-Identifier: Apache-2.0
// Reflection, read from the annotations in the IR.
#include "msl/reflect.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <stdio.h>
#include <string.h>

#include "msl/annotations.h"
#include "msl/constant-order.h"
#include "msl/constant-symbol.h"
#include "msl/contents.h"
#include "msl/layout.h"
#include "msl/llvm-context.h"
#include "msl/reflect-stage.h"
#include "msl/type-names.h"

// What <metal_tensor> reads of an argument.
enum { TENSOR_BYTES = 8 * (2 + 16 + 16) };
enum { MAX_BUFFERS = 31, MAX_TEXTURES = 128, MAX_SAMPLERS = 16 };

typedef struct reflector {
    LLVMModuleRef module;
    igi_msl_reflection *out;
    igi_msl_diagnostics *diagnostics;
    igi_msl_stage_members members;
    bool failed;  // memory
} reflector;

typedef struct subject {  // the parameter that is being checked
    const igi_msl_kernel *kernel;
    igi_msl_parameter *parameter;
    ig_argument *argument;
} subject;

__attribute__((format(printf, 3, 4))) static void complain(reflector *r, const subject *s, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *message = igi_vformat(format, arguments);
    va_end(arguments);
    if (!message) {
        r->failed = true;
        return;
    }
    const char *file = s->parameter->file ? s->parameter->file : r->diagnostics->sources->files[0].path;
    igi_msl_diagnostics_add(r->diagnostics, "error", file, s->parameter->line, 0, s->argument->name, message);
    free(message);
}

// ---- Kernels ----

static igi_msl_kernel *find_symbol(igi_msl_reflection *out, const char *symbol) {
    for (size_t i = 0; i < out->kernel_count; i++)
        if (strcmp(out->kernels[i].symbol, symbol) == 0) return &out->kernels[i];
    return NULL;
}

static igi_msl_kernel *kernel_of(reflector *r, LLVMValueRef function) {
    size_t length;
    const char *symbol = LLVMGetValueName2(function, &length);
    igi_msl_kernel *found = find_symbol(r->out, symbol);
    if (found) return found;
    igi_msl_reflection *out = r->out;
    char *copy = igi_strndup(symbol, length);
    if (!copy ||
        !igi_grow((void **)&out->kernels, &out->kernel_capacity, out->kernel_count + 1, sizeof *out->kernels)) {
        free(copy);
        r->failed = true;
        return NULL;
    }
    out->kernels[out->kernel_count] = (igi_msl_kernel){.symbol = copy};
    return &out->kernels[out->kernel_count++];
}

// What is said of functions that draw or trace rays: by their attributes, and by left-out.c.
static const struct {
    const char *text;
    ig_function_kind kind;
} other_kinds[] = {
    {"ig.unsupported:vertex", IG_FUNCTION_VERTEX},
    {"ig.unsupported:fragment", IG_FUNCTION_FRAGMENT},
    {"ig.unsupported:object", IG_FUNCTION_OBJECT},
    {"ig.unsupported:mesh", IG_FUNCTION_MESH},
    {"ig.unsupported:tile", IG_FUNCTION_TILE},
    {"ig.unsupported:intersection", IG_FUNCTION_INTERSECTION},
    {"ig.unsupported:ray tracing", IG_FUNCTION_RAY_TRACING},
};

static void visit_other(reflector *r, LLVMValueRef function, const igi_msl_annotation *annotation) {
    for (size_t i = 0; i < sizeof other_kinds / sizeof *other_kinds; i++) {
        if (!igi_msl_annotation_is(annotation, other_kinds[i].text)) continue;
        igi_msl_kernel *found = kernel_of(r, function);
        if (!found || found->info.kind != IG_FUNCTION_KERNEL) return;
        char message[200];
        // Not a warning: nothing is wrong with the source, and the kernels of the file work.
        snprintf(message, sizeof message, "Ingot does not run %s functions: no pipeline can be made of this one",
                 ig_function_kind_name(other_kinds[i].kind));
        igi_msl_diagnostics_add(r->diagnostics, "remark", annotation->file, annotation->line, 1, NULL, message);
        found->info.kind = other_kinds[i].kind;
        found->info.argument_count = 1;  // as for kernels
        return;
    }
}

static void visit_kernel(LLVMValueRef function, const igi_msl_annotation *annotation, void *user) {
    reflector *r = user;
    if (LLVMIsDeclaration(function)) return;
    const char *name = igi_msl_annotation_after(annotation, "ig.host_name:");
    if (igi_msl_annotation_after(annotation, "ig.unsupported:")) {
        visit_other(r, function, annotation);
        return;
    }
    bool kernel = igi_msl_annotation_is(annotation, "ig.kernel");
    bool limit = igi_msl_annotation_after(annotation, "ig.max_total_threads_per_threadgroup") != NULL;
    igi_msl_kernel *found = kernel || name || limit ? kernel_of(r, function) : NULL;
    if (!found) return;
    if (kernel) found->info.argument_count = 1;  // marks it; the real count is set with the arguments
    if (limit) found->info.max_total_threads = (uint32_t)annotation->argument;
    if (name) {
        free((char *)found->info.name);
        found->info.name = igi_strndup(name, annotation->text_length - strlen("ig.host_name:"));
        if (!found->info.name) r->failed = true;
    }
}

// ---- Visible functions ----

static const char *host_name_of(const igi_msl_reflection *out, const char *symbol) {
    for (size_t i = 0; i < out->kernel_count; i++)
        if (strcmp(out->kernels[i].symbol, symbol) == 0) return out->kernels[i].info.name;
    return NULL;
}

static char *function_name(const igi_msl_reflection *out, const char *symbol) {
    const char *host_name = host_name_of(out, symbol);
    if (host_name) return igi_strdup(host_name);
    igi_msl_signature signature;
    igi_msl_signature_read(symbol, &signature);
    char *name = signature.name;
    signature.name = NULL;
    igi_msl_signature_free(&signature);
    return name;
}

// pre: host names have been read.
static void visit_visible(LLVMValueRef function, const igi_msl_annotation *annotation, void *user) {
    reflector *r = user;
    igi_msl_reflection *out = r->out;
    size_t length;
    if (LLVMIsDeclaration(function) || !igi_msl_annotation_is(annotation, "ig.visible")) return;
    const char *symbol = LLVMGetValueName2(function, &length);
    for (size_t i = 0; i < out->function_count; i++)
        if (strcmp(out->functions[i].symbol, symbol) == 0) return;
    igi_msl_function made = {function_name(out, symbol), igi_strdup(symbol)};
    if (!made.name || !made.symbol ||
        !igi_grow((void **)&out->functions, &out->function_capacity, out->function_count + 1, sizeof *out->functions)) {
        free(made.name), free(made.symbol);
        r->failed = true;
        return;
    }
    out->functions[out->function_count++] = made;
}

// ---- Arguments ----

static char *parameter_name(LLVMValueRef storage) {
    size_t length;
    const char *name = LLVMGetValueName2(storage, &length);
    if (length > 5 && memcmp(name + length - 5, ".addr", 5) == 0) length -= 5;
    return igi_strndup(name, length);
}

static uint64_t attribute_value(LLVMValueRef function, unsigned index, const char *name) {
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAttributeRef attribute = LLVMGetEnumAttributeAtIndex(function, index, kind);
    return attribute ? LLVMGetEnumAttributeValue(attribute) : 0;
}

// The size of the object that a reference refers to; 1 if it is not known. clang reports a class without its trailing
// padding, which is part of the size, and of what Metal requires to be bound.
static uint32_t referenced_bytes(LLVMValueRef function, LLVMValueRef argument) {
    unsigned index = 1;
    while (index <= LLVMCountParams(function) && LLVMGetParam(function, index - 1) != argument) index++;
    if (index > LLVMCountParams(function)) return 1;
    uint64_t bytes = attribute_value(function, index, "dereferenceable"),
             alignment = attribute_value(function, index, "align");
    if (alignment) bytes = igi_round_up(bytes, alignment);
    return bytes == 0 ? 1 : bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
}

// Bytes of one element of "const float4*"; 1 if the type is not a built-in one.
static uint32_t element_bytes(const char *type) {
    static const struct {
        const char *name;
        uint32_t bytes;
    } scalars[] = {{"bool", 1}, {"char", 1}, {"uchar", 1}, {"short", 2}, {"ushort", 2}, {"half", 2},
                   {"int", 4},  {"uint", 4}, {"float", 4}, {"long", 8},  {"ulong", 8},  {"bfloat", 2}};
    if (strncmp(type, "const ", 6) == 0) type += 6;
    size_t length = strcspn(type, "*&234 "), rest = strspn(type + length, "234");
    if (type[length + rest] != '*' || strchr(type + length + rest + 1, '*')) return 1;
    uint32_t components = rest ? (uint32_t)(type[length] - '0') : 1;
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++)
        if (strlen(scalars[i].name) == length && memcmp(scalars[i].name, type, length) == 0)
            return scalars[i].bytes * (components == 3 ? 4 : components);
    return 1;
}

static const char *const builtin_names[] = {
#define NAME(name, components) #name,
    IGI_BUILTIN_LIST(NAME)
#undef NAME
};
static const unsigned builtin_components[] = {
#define COMPONENTS(name, components) components,
    IGI_BUILTIN_LIST(COMPONENTS)
#undef COMPONENTS
};

// The type inside the classes of our headers, and its number of elements.
static LLVMTypeRef scalar_of(LLVMTypeRef type, uint32_t *components) {
    *components = 1;
    while (LLVMGetTypeKind(type) == LLVMStructTypeKind && LLVMCountStructElementTypes(type) == 1)
        type = LLVMStructGetTypeAtIndex(type, 0);
    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind) {
        *components = LLVMGetVectorSize(type);
        type = LLVMGetElementType(type);
    }
    return type;
}

// Whether igi_simt_pass_bind can fill it, whatever the type is called.
static bool holds_integers(LLVMValueRef storage) {
    uint32_t components;
    LLVMTypeRef scalar = scalar_of(LLVMGetAllocatedType(storage), &components);
    if (LLVMGetTypeKind(scalar) != LLVMIntegerTypeKind || components > 4) return false;
    return LLVMGetIntTypeWidth(scalar) == 16 || LLVMGetIntTypeWidth(scalar) == 32;
}

static void check_builtin(reflector *r, const subject *s) {
    static const char *const allowed[] = {"uint", "ushort", "uint2", "ushort2", "uint3", "ushort3"};
    const char *type = s->argument->type;
    size_t count = builtin_components[s->parameter->builtin] == 1 ? 2 : 6;
    bool fits = holds_integers(s->parameter->storage);
    if (!*type && fits) return;  // the symbol could not be read
    for (size_t i = 0; i < count && fits; i++)
        if (strcmp(type, allowed[i]) == 0) return;
    const char *open = *type ? " '" : "", *close = *type ? "'" : "";
    complain(r, s, "invalid type%s%s%s for attribute '%s': it must be %s", open, type, close, s->argument->attribute,
             count == 2 ? "uint or ushort" : "uint, uint2, uint3, ushort, ushort2 or ushort3");
}

static int slots_of(ig_argument_kind kind) {
    return kind == IG_ARGUMENT_TEXTURE ? MAX_TEXTURES : kind == IG_ARGUMENT_SAMPLER ? MAX_SAMPLERS : MAX_BUFFERS;
}

static bool is_texture_type(const char *type) {
    if (strncmp(type, "array<", 6) == 0) type += 6;
    return strncmp(type, "texture", 7) == 0 || strncmp(type, "depth", 5) == 0;
}

static bool is_sampler_type(const char *type) {
    if (strncmp(type, "array<", 6) == 0) type += 6;
    return strncmp(type, "sampler", 7) == 0;
}

static bool is_function_table(const char *type) {
    if (strncmp(type, "raytracing::", 12) == 0) type += 12;
    return strncmp(type, "visible_function_table<", 23) == 0 || strncmp(type, "intersection_function_table<", 28) == 0;
}

static bool is_acceleration_structure(const char *type) {
    return strncmp(type, "raytracing::acceleration_structure<", 35) == 0;
}

static bool is_tensor(const char *type) {
    return strncmp(type, "tensor<", 7) == 0;
}

static void check_object(reflector *r, const subject *s) {
    bool texture = s->argument->kind == IG_ARGUMENT_TEXTURE;
    const char *type = s->argument->type;
    if (!*type || (texture ? is_texture_type(type) : is_sampler_type(type))) return;
    complain(r, s, "'%s' has a %s index but is of type '%s', not a %s", s->argument->name, s->argument->attribute, type,
             s->argument->attribute);
}

// Whether the address space fits the kind of the argument.
static void check_space(reflector *r, const subject *s) {
    const ig_argument *argument = s->argument;
    bool threadgroup = argument->kind == IG_ARGUMENT_THREADGROUP;
    if (!s->parameter->has_type || !s->parameter->argument) return;
    const char *type = strchr(argument->type, '&') ? "reference" : "pointer", *space = s->parameter->space;
    if (!*space)
        complain(r, s, "%s type must have explicit address space qualifier: write 'device' or 'constant' before it",
                 type);
    else if (threadgroup != (strcmp(space, "threadgroup") == 0))
        complain(r, s, "'%s' is in the %s address space, which attribute '%s' does not take", argument->name, space,
                 argument->attribute);
}

static bool is_by_value(const ig_argument *argument) {
    return argument->kind == IG_ARGUMENT_FUNCTION_TABLE || argument->kind == IG_ARGUMENT_ACCELERATION_STRUCTURE ||
           is_tensor(argument->type);
}

static void check_slot(reflector *r, const subject *s) {
    ig_argument *argument = s->argument;
    const ig_kernel_info *info = &s->kernel->info;
    int slots = slots_of(argument->kind);
    bool object = argument->kind == IG_ARGUMENT_TEXTURE || argument->kind == IG_ARGUMENT_SAMPLER;
    if (s->parameter->index < 0 || s->parameter->index > slots - (int64_t)argument->array_length) {
        complain(r, s, "%s index %lld of '%s' is out of range: it must be between 0 and %d", argument->attribute,
                 (long long)s->parameter->index, argument->name, slots - 1);
        return;
    }
    if (object) check_object(r, s);
    if (!object && !is_by_value(argument) && !s->parameter->argument) {
        bool threadgroup = argument->kind == IG_ARGUMENT_THREADGROUP;
        complain(r, s, "'%s' has a %s index but is not a pointer or reference: write '%s %s %s%s'", argument->name,
                 argument->attribute, threadgroup ? "threadgroup" : "constant", argument->type, threadgroup ? "*" : "&",
                 argument->name);
        return;
    }
    for (const ig_argument *other = info->arguments; other < argument; other++) {
        bool conditional = *other->condition || *argument->condition;
        if (strcmp(other->attribute, argument->attribute) == 0 && other->index == argument->index && !conditional)
            complain(r, s, "%s index %u of '%s' is already used by '%s'", argument->attribute, argument->index,
                     argument->name, other->name);
    }
}

// The second argument of the template; sample when there is none.
static ig_access texture_access(const char *type) {
    if (strstr(type, "access::read_write")) return IG_ACCESS_READ_WRITE;
    return strstr(type, "access::write") ? IG_ACCESS_WRITE : IG_ACCESS_READ;
}

static void describe_object(const subject *s) {
    ig_argument *argument = s->argument;
    bool texture = argument->kind == IG_ARGUMENT_TEXTURE;
    argument->attribute = texture ? "texture" : "sampler";
    argument->index = (uint32_t)s->parameter->index;
    argument->access = texture ? texture_access(argument->type) : IG_ACCESS_READ;
    argument->array_length = igi_msl_array_length(argument->type);
}

static void describe_slot(const subject *s, LLVMValueRef function) {
    ig_argument *argument = s->argument;
    bool threadgroup = s->parameter->kind == IG_ARGUMENT_THREADGROUP;
    argument->attribute = threadgroup ? "threadgroup" : "buffer";
    argument->address_space = threadgroup                                    ? "threadgroup"
                              : strcmp(s->parameter->space, "constant") == 0 ? "constant"
                                                                             : "device";
    argument->index = (uint32_t)s->parameter->index;
    bool structure = !threadgroup && is_acceleration_structure(argument->type);
    if (structure || (!threadgroup && is_function_table(argument->type))) {
        argument->kind = structure ? IG_ARGUMENT_ACCELERATION_STRUCTURE : IG_ARGUMENT_FUNCTION_TABLE;
        argument->address_space = "";
        argument->access = IG_ACCESS_READ;
        return;
    }
    if (!threadgroup && is_tensor(argument->type)) {
        argument->access = IG_ACCESS_READ_WRITE;
        argument->min_bytes = TENSOR_BYTES;
        return;
    }
    argument->access = strncmp(argument->type, "const ", 6) == 0 ? IG_ACCESS_READ : IG_ACCESS_READ_WRITE;
    argument->min_bytes = referenced_bytes(function, s->parameter->argument);
    if (argument->min_bytes <= 1) argument->min_bytes = element_bytes(argument->type);
}

// What earlier stages or the device give to a function that draws: [[stage_in]], [[vertex_id]]..., or without an attribute.
static bool is_given(const subject *s) {
    if (s->kernel->info.kind == IG_FUNCTION_KERNEL) return false;
    return s->parameter->unsupported || (!s->parameter->annotated && !s->parameter->argument);
}

static void describe_given(const subject *s) {
    const char *name = s->parameter->unsupported ? s->parameter->unsupported : "";
    const igi_msl_attribute *attribute = igi_msl_attribute_find(name, strlen(name));
    s->argument->kind = IG_ARGUMENT_BUILTIN;
    s->argument->attribute = attribute ? attribute->name : "";
    bool numbered = s->parameter->index > 0 && s->parameter->index < MAX_SAMPLERS;  // of a colour
    s->argument->index = numbered ? (uint32_t)s->parameter->index : 0;
}

static void describe_argument(reflector *r, const subject *s, LLVMValueRef function, const char *type) {
    ig_argument *argument = s->argument;
    char *name = parameter_name(s->parameter->storage);
    char *type_copy = igi_strdup(type);
    char *condition = igi_strdup(s->parameter->condition ? s->parameter->condition : "");
    *argument = (ig_argument){.name = name,
                              .type = type_copy,
                              .condition = condition,
                              .attribute = "",
                              .address_space = "",
                              .array_length = 1,
                              .kind = s->parameter->kind};
    if (!name || !type_copy || !condition) {
        r->failed = true;
        return;
    }
    if (is_given(s)) {
        describe_given(s);
    } else if (s->parameter->unsupported) {
        complain(r, s, "attribute '%s' is not supported by Ingot", s->parameter->unsupported);
    } else if (argument->kind == IG_ARGUMENT_BUILTIN) {
        argument->attribute = builtin_names[s->parameter->builtin];
        check_builtin(r, s);
    } else {
        bool object = argument->kind == IG_ARGUMENT_TEXTURE || argument->kind == IG_ARGUMENT_SAMPLER;
        if (object)
            describe_object(s);
        else
            describe_slot(s, function);
        check_slot(r, s);
        check_space(r, s);
    }
}

static void describe_arguments(reflector *r, igi_msl_kernel *kernel, LLVMValueRef function,
                               const igi_msl_signature *signature, igi_msl_parameters *parameters) {
    ig_argument *arguments = igi_calloc(parameters->count, sizeof *arguments);
    if (!arguments) {
        r->failed = true;
        return;
    }
    kernel->info.arguments = arguments;
    for (size_t i = 0; i < parameters->count && !r->failed; i++) {
        subject s = {kernel, &parameters->items[i], &arguments[i]};
        const char *type = i < signature->count ? signature->types[i] : "";
        kernel->info.argument_count = i + 1;
        describe_argument(r, &s, function, type);
    }
}

// 2 of "ushort2", 1 of "uint".
static unsigned width_of(const char *type) {
    size_t length = strlen(type);
    char last = length ? type[length - 1] : 0;
    return last >= '2' && last <= '4' ? (unsigned)(last - '0') : 1;
}

static bool is_position(const ig_argument *argument) {
    for (size_t i = 0; i < IGI_BUILTIN_COUNT && argument->kind == IG_ARGUMENT_BUILTIN; i++)
        if (strcmp(builtin_names[i], argument->attribute) == 0) return builtin_components[i] > 1;
    return false;
}

// Positions and sizes have the same number of components (MSL specification, "Attributes for Kernel Function Input
// Arguments").
static void check_widths(reflector *r, const igi_msl_kernel *kernel, igi_msl_parameters *parameters) {
    const ig_argument *first = NULL;
    for (size_t i = 0; i < kernel->info.argument_count; i++) {
        ig_argument *argument = (ig_argument *)&kernel->info.arguments[i];
        if (!is_position(argument)) continue;
        if (!first) first = argument;
        if (width_of(first->type) == width_of(argument->type)) continue;
        subject s = {kernel, &parameters->items[i], argument};
        complain(
            r, &s,
            "expecting input declarations with either all scalar types or all vector types with the same number of "
            "elements: '%s' is '%s', but '%s' is '%s'",
            argument->name, argument->type, first->name, first->type);
        return;
    }
}

// ---- Threadgroup memory ----

static uint32_t threadgroup_bytes(LLVMModuleRef module, LLVMValueRef function) {
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(module);
    uint64_t bytes = 0;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
            igi_msl_annotation annotation;
            LLVMValueRef variable;
            if (!igi_msl_variable_annotation(i, &annotation, &variable)) continue;
            if (!igi_msl_is_threadgroup_storage(variable, &annotation)) continue;
            bytes = igi_round_up(bytes, LLVMGetAlignment(variable));
            bytes += LLVMABISizeOfType(layout, LLVMGetAllocatedType(variable));
        }
    }
    return bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
}

// ---- Rules about whole kernels ----

typedef struct origin {
    const char *symbol, *file;
    uint32_t line;
} origin;

static void visit_origin(LLVMValueRef function, const igi_msl_annotation *annotation, void *user) {
    origin *wanted = user;
    size_t length;
    if (strcmp(LLVMGetValueName2(function, &length), wanted->symbol) != 0) return;
    wanted->file = annotation->file;
    wanted->line = annotation->line;
}

// Reports an error at the kernel's name.
static void complain_of_kernel(reflector *r, const igi_msl_kernel *kernel, const char *message) {
    origin found = {.symbol = kernel->symbol, .file = r->diagnostics->sources->files[0].path};
    igi_msl_annotated_functions(r->module, visit_origin, &found);
    igi_msl_diagnostics_add(r->diagnostics, "error", found.file, found.line, 0, kernel->info.name, message);
}

static void missing_attribute(reflector *r, const igi_msl_kernel *kernel) {
    char message[300];
    snprintf(message, sizeof message,
             "kernel '%.100s' has a parameter that is neither a pointer nor a reference and has no attribute; did you "
             "mean [[thread_position_in_grid]]?",
             kernel->info.name);
    complain_of_kernel(r, kernel, message);
}

static void check_kernel(reflector *r, const igi_msl_kernel *kernel, LLVMValueRef function,
                         const igi_msl_signature *signature, igi_msl_parameters *parameters) {
    if (!r->failed) check_widths(r, kernel, parameters);
    if (parameters->count < signature->count) missing_attribute(r, kernel);
    if (LLVMGetTypeKind(LLVMGetReturnType(LLVMGlobalGetValueType(function))) == LLVMVoidTypeKind) return;
    char message[200];
    snprintf(message, sizeof message, "kernel '%.100s' must return void", kernel->info.name);
    complain_of_kernel(r, kernel, message);
}

// That of a template has its result before it: "VertexOut place<float>".
static char *name_without_result(const char *name) {
    size_t start = 0;
    int angles = 0;
    for (size_t i = 0; name[i]; i++) {
        if (name[i] == '<') angles++;
        if (name[i] == '>') angles--;
        if (name[i] == ' ' && angles == 0) start = i + 1;
    }
    return igi_strdup(name + start);
}

static void describe_kernel(reflector *r, igi_msl_kernel *kernel) {
    LLVMValueRef function = LLVMGetNamedFunction(r->module, kernel->symbol);
    igi_msl_signature signature;
    igi_msl_parameters parameters;
    kernel->info.argument_count = 0;
    igi_msl_signature_read(kernel->symbol, &signature);
    if (!kernel->info.name && signature.name) kernel->info.name = name_without_result(signature.name);
    if (!signature.name || !kernel->info.name || !igi_msl_parameters_read(function, &parameters)) {
        igi_msl_signature_free(&signature);
        r->failed = true;
        return;
    }
    igi_msl_number_open_slots(&parameters);
    kernel->info.static_threadgroup_memory = threadgroup_bytes(r->module, function);
    describe_arguments(r, kernel, function, &signature, &parameters);
    if (!r->failed && !igi_msl_stage_members_append(&r->members, function, &kernel->info)) r->failed = true;
    if (kernel->info.kind == IG_FUNCTION_KERNEL) check_kernel(r, kernel, function, &signature, &parameters);
    igi_msl_parameters_free(&parameters);
    igi_msl_signature_free(&signature);
}

// ---- Function constants ----

static const struct {
    const char *name;
    ig_type type;
} constant_types[] = {
    {"bool", IG_TYPE_BOOL},    {"char", IG_TYPE_I8},      {"int8_t", IG_TYPE_I8},        {"uchar", IG_TYPE_U8},
    {"uint8_t", IG_TYPE_U8},   {"short", IG_TYPE_I16},    {"int16_t", IG_TYPE_I16},      {"ushort", IG_TYPE_U16},
    {"uint16_t", IG_TYPE_U16}, {"int", IG_TYPE_I32},      {"int32_t", IG_TYPE_I32},      {"uint", IG_TYPE_U32},
    {"uint32_t", IG_TYPE_U32}, {"unsigned", IG_TYPE_U32}, {"unsigned int", IG_TYPE_U32}, {"long", IG_TYPE_I64},
    {"int64_t", IG_TYPE_I64},  {"ulong", IG_TYPE_U64},    {"uint64_t", IG_TYPE_U64},     {"size_t", IG_TYPE_U64},
    {"half", IG_TYPE_F16},     {"bfloat", IG_TYPE_BF16},  {"float", IG_TYPE_F32},
};

// From the spelling if it is known; a typedef is identified by its machine type.
static ig_type constant_type(const char *spelling, size_t length, LLVMTypeRef type) {
    while (length && spelling[length - 1] >= '2' && spelling[length - 1] <= '4' && spelling[length - 2] != '_')
        length--;
    for (size_t i = 0; i < sizeof constant_types / sizeof *constant_types; i++)
        if (strlen(constant_types[i].name) == length && memcmp(constant_types[i].name, spelling, length) == 0)
            return constant_types[i].type;
    switch (LLVMGetTypeKind(type)) {
        case LLVMHalfTypeKind: return IG_TYPE_F16;
        case LLVMBFloatTypeKind: return IG_TYPE_BF16;
        case LLVMFloatTypeKind: return IG_TYPE_F32;
        case LLVMIntegerTypeKind: break;
        default: return IG_TYPE_COUNT;
    }
    switch (LLVMGetIntTypeWidth(type)) {
        case 8: return IG_TYPE_U8;
        case 16: return IG_TYPE_I16;
        case 32: return IG_TYPE_I32;
        default: return IG_TYPE_I64;
    }
}

static unsigned bits_of(ig_type type) {
    switch (type) {
        case IG_TYPE_BOOL:
        case IG_TYPE_I8:
        case IG_TYPE_U8: return 8;
        case IG_TYPE_I16:
        case IG_TYPE_U16:
        case IG_TYPE_F16:
        case IG_TYPE_BF16: return 16;
        case IG_TYPE_I32:
        case IG_TYPE_U32:
        case IG_TYPE_F32: return 32;
        case IG_TYPE_I64:
        case IG_TYPE_U64: return 64;
        default: return 0;
    }
}

// Whether it is a scalar or a vector with as many bits as the spelled type.
static bool is_constant_type(LLVMTypeRef scalar, const ig_function_constant_info *info) {
    unsigned bits = bits_of(info->type);
    if (info->components > 4) return false;
    switch (LLVMGetTypeKind(scalar)) {
        case LLVMHalfTypeKind:
        case LLVMBFloatTypeKind: return bits == 16;
        case LLVMFloatTypeKind: return bits == 32;
        case LLVMIntegerTypeKind: return LLVMGetIntTypeWidth(scalar) == bits;
        default: return false;
    }
}

static void refuse_constant(reflector *r, const char *name) {
    char *message = igi_format("function constant '%s' must be a scalar or a vector of 2, 3 or 4 scalars", name);
    if (message)
        igi_msl_diagnostics_add_at_word(r->diagnostics, "error", name, message);
    else
        r->failed = true;
    free(message);
}

static void describe_constant(reflector *r, LLVMValueRef global) {
    size_t length;
    igi_msl_constant_symbol symbol;
    if (!igi_msl_constant_symbol_read(LLVMGetValueName2(global, &length), &symbol)) return;
    if (strncmp(symbol.name, "__ig_", 5) == 0) return;  // of a stage input, which the pipeline sets
    ig_function_constant_info info = {.id = symbol.id, .name = igi_strdup(symbol.name)};
    LLVMTypeRef scalar = scalar_of(LLVMGlobalGetValueType(global), &info.components);
    info.type = constant_type(symbol.type, symbol.type_length, scalar);
    if (!is_constant_type(scalar, &info)) refuse_constant(r, symbol.name);
    igi_msl_reflection *out = r->out;
    if (!info.name ||
        !igi_grow((void **)&out->constants, &out->constant_capacity, out->constant_count + 1, sizeof *out->constants)) {
        free((char *)info.name);
        r->failed = true;
        return;
    }
    out->constants[out->constant_count++] = info;
}

// ---- All of it ----

static void drop_unmarked(igi_msl_reflection *out) {
    size_t kept = 0;
    for (size_t i = 0; i < out->kernel_count; i++) {
        if (out->kernels[i].info.argument_count) {
            out->kernels[kept++] = out->kernels[i];
        } else {
            free((char *)out->kernels[i].info.name);
            free(out->kernels[i].symbol);
        }
    }
    out->kernel_count = kept;
}

static void check_names(reflector *r) {
    for (size_t i = 0; i < r->out->kernel_count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (strcmp(r->out->kernels[i].info.name, r->out->kernels[k].info.name) != 0) continue;
            char message[300];
            const ig_kernel_info *a = &r->out->kernels[i].info, *b = &r->out->kernels[k].info;
            bool kernels = a->kind == IG_FUNCTION_KERNEL && b->kind == IG_FUNCTION_KERNEL;
            snprintf(message, sizeof message, "two %s are called '%.200s'", kernels ? "kernels" : "functions", a->name);
            complain_of_kernel(r, &r->out->kernels[i], message);
        }
    }
}

// From the kernels to a list of their own.
static void separate_others(reflector *r) {
    igi_msl_reflection *out = r->out;
    size_t kept = 0, count = 0;
    for (size_t i = 0; i < out->kernel_count; i++) count += out->kernels[i].info.kind != IG_FUNCTION_KERNEL;
    if (!igi_grow((void **)&out->others, &out->other_capacity, count, sizeof *out->others)) {
        r->failed = true;
        return;
    }
    for (size_t i = 0; i < out->kernel_count; i++) {
        if (out->kernels[i].info.kind == IG_FUNCTION_KERNEL)
            out->kernels[kept++] = out->kernels[i];
        else
            out->others[out->other_count++] = out->kernels[i];
    }
    out->kernel_count = kept;
}

static void reflect_module(reflector *r) {
    igi_msl_annotated_functions(r->module, visit_kernel, r);
    igi_msl_annotated_functions(r->module, visit_visible, r);
    drop_unmarked(r->out);
    igi_msl_stage_members_find(r->module, &r->members);
    for (size_t i = 0; i < r->out->kernel_count && !r->failed; i++) describe_kernel(r, &r->out->kernels[i]);
    igi_msl_stage_members_free(&r->members);
    for (LLVMValueRef g = LLVMGetFirstGlobal(r->module); g && !r->failed; g = LLVMGetNextGlobal(g))
        describe_constant(r, g);
    if (!igi_msl_order_constants(r->diagnostics->sources, r->out->constants, r->out->constant_count)) r->failed = true;
    if (!r->failed && r->out->kernel_count < 4096) check_names(r);
    if (!r->failed) separate_others(r);
}

// LLVM names the symbol as "@name" in the second line of its message.
static void report_invalid(reflector *r, char *message) {
    char *detail = strchr(message, '\n'), *symbol = strchr(message, '@');
    if (detail) *detail++ = 0;
    if (symbol) symbol[strcspn(symbol, "( \n")] = 0;
    char *text = igi_format("invalid code: %s%s%s", message, symbol ? " " : "", symbol ? symbol + 1 : "");
    if (text)
        igi_msl_diagnostics_add_at_word(r->diagnostics, "error", symbol ? symbol + 1 : NULL, text);
    else
        r->failed = true;
    free(text);
}

static void check_module(reflector *r) {
    char *message = NULL;
    if (LLVMVerifyModule(r->module, LLVMReturnStatusAction, &message))
        report_invalid(r, message);
    else if (!igi_msl_check_contents(r->module, r->diagnostics))
        r->failed = true;
    LLVMDisposeMessage(message);
}

static ig_status read_module(const char *bitcode, size_t length, bool check, igi_msl_reflection *reflection,
                             igi_msl_diagnostics *diagnostics, ig_error *error) {
    *reflection = (igi_msl_reflection){0};
    LLVMContextRef context = igi_msl_llvm_context_create();
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRange(bitcode, length, "library", 0);
    reflector r = {.out = reflection, .diagnostics = diagnostics};
    ig_status status = IG_STATUS_OK;
    if (LLVMParseBitcodeInContext2(context, buffer, &r.module)) {
        status = igi_error_set(
            error, IG_STATUS_BAD_FORMAT,
            "clang's output cannot be read: either it is not clang 19 (see INGOT_CLANG), or an operation mixes "
            "half and bfloat, which MSL does not allow");
    } else {
        reflect_module(&r);
        if (check && !r.failed) check_module(&r);
        LLVMDisposeModule(r.module);
        if (r.failed) status = igi_error_no_memory(error);
        if (!r.failed && diagnostics->error_count) status = IG_STATUS_COMPILE_FAILED;
    }
    LLVMDisposeMemoryBuffer(buffer);
    LLVMContextDispose(context);
    if (status != IG_STATUS_OK) igi_msl_reflection_free(reflection);
    return status;
}

ig_status igi_msl_reflect(const char *bitcode, size_t length, igi_msl_reflection *reflection,
                          igi_msl_diagnostics *diagnostics, ig_error *error) {
    return read_module(bitcode, length, false, reflection, diagnostics, error);
}

ig_status igi_msl_examine(const char *bitcode, size_t length, igi_msl_reflection *reflection,
                          igi_msl_diagnostics *diagnostics, ig_error *error) {
    return read_module(bitcode, length, true, reflection, diagnostics, error);
}
