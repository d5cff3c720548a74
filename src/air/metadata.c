// SPDX-License-Identifier: Apache-2.0
// What a module says about its kernel: arguments, limits, function constants, and how it was compiled.
#include <stdio.h>
#include <string.h>

#include "air/translator.h"
#include "msl/element-type.h"
#include "msl/layout.h"

// ---- Nodes ----

typedef struct node {
    LLVMValueRef *items;
    unsigned count;
} node;

static node open_node(air_translator *t, LLVMValueRef value) {
    node n = {0};
    if (!value || LLVMIsAMDString(value) || !LLVMIsAMDNode(value)) return n;
    unsigned count = LLVMGetMDNodeNumOperands(value);
    n.items = igi_calloc(count, sizeof *n.items);
    if (!n.items) {
        igi_air_fail_memory(t);
        return n;
    }
    LLVMGetMDNodeOperands(value, n.items);
    n.count = count;
    return n;
}

static node open_named(air_translator *t, const char *name) {
    node n = {0};
    unsigned count = LLVMGetNamedMetadataNumOperands(t->module, name);
    n.items = igi_calloc(count, sizeof *n.items);
    if (!n.items) {
        igi_air_fail_memory(t);
        return n;
    }
    LLVMGetNamedMetadataOperands(t->module, name, n.items);
    n.count = count;
    return n;
}

// Reads each item of a list of the module, until one fails.
static bool read_each(air_translator *t, const char *name, bool (*read)(air_translator *, LLVMValueRef)) {
    node n = open_named(t, name);
    bool ok = t->status == IG_STATUS_OK;
    for (unsigned i = 0; ok && i < n.count; i++) ok = read(t, n.items[i]);
    free(n.items);
    return ok;
}

static LLVMValueRef at(const node *n, unsigned index) {
    return index < n->count ? n->items[index] : NULL;
}

static bool is_string(LLVMValueRef value) {
    return value && LLVMIsAMDString(value);
}

static bool is(LLVMValueRef value, const char *text) {
    unsigned length;
    if (!is_string(value)) return false;
    const char *found = LLVMGetMDString(value, &length);
    return length == strlen(text) && memcmp(found, text, length) == 0;
}

// owns: the caller's; NULL if it is not a string, holds a NUL, or memory is short.
static char *copy_string(LLVMValueRef value) {
    unsigned length;
    if (!is_string(value)) return NULL;
    const char *found = LLVMGetMDString(value, &length);
    return memchr(found, 0, length) ? NULL : igi_strndup(found, length);
}

static int64_t number(LLVMValueRef value) {
    return value && LLVMIsAConstantInt(value) && LLVMGetIntTypeWidth(LLVMTypeOf(value)) <= 64
               ? LLVMConstIntGetSExtValue(value)
               : -1;
}

// ---- Arguments ----

// !{pointer to the constant, type, name}
static char *read_condition(air_translator *t, LLVMValueRef value) {
    node n = open_node(t, value);
    char *name = copy_string(at(&n, 2));
    free(n.items);
    return name;
}

// ---- Members of structures ----

enum { DEEPEST = 8, MOST_PARTS = 4096 };  // a structure may hold another one many times

// A member, as !{offset, size, length of the array, type, name, and for a structure its own list...} has it.
typedef struct member {
    int64_t offset, size, length;
    char *type, *name;
    LLVMValueRef inner;  // NULL if it is no structure
} member;

static bool is_sound(const member *m) {
    return m->offset >= 0 && m->offset <= INT32_MAX && m->size >= 0 && m->size <= INT32_MAX && m->length >= 0 &&
           m->length <= INT32_MAX && m->size * m->length <= INT32_MAX && m->type && m->name;
}

static void add_part(air_translator *t, air_argument *a, const char *name, const char *type, ig_layout part) {
    part.name = igi_strdup(name);
    part.type = igi_strdup(type);
    bool grown = igi_grow((void **)&a->layout, &a->layout_capacity, a->layout_count + 1, sizeof *a->layout);
    if (grown && part.name && part.type) {
        a->layout[a->layout_count++] = part;
        return;
    }
    free((char *)part.name), free((char *)part.type);
    igi_air_fail_memory(t);
}

static uint32_t digit(char c) {
    return c >= '2' && c <= '4' ? (uint32_t)(c - '0') : 0;
}

// "float2" is one column of 2, "float2x3" 2 columns of 3.
static void read_shape(const char *type, ig_layout *part) {
    size_t length = strlen(type);
    uint32_t last = length > 1 ? digit(type[length - 1]) : 0;
    bool matrix = last && length > 3 && type[length - 2] == 'x' && digit(type[length - 3]);
    part->components = last ? last : 1;
    part->columns = matrix ? digit(type[length - 3]) : 1;
}

static void add_members(air_translator *t, air_argument *a, LLVMValueRef list, uint32_t depth);

static void add_value(air_translator *t, air_argument *a, const member *m, const char *name, ig_layout part) {
    part.size = (uint32_t)m->size;
    part.kind = IG_LAYOUT_OTHER;
    char *pointer = igi_format("%s*", m->type);
    if (m->inner)
        part.kind = IG_LAYOUT_STRUCT;
    else if (pointer && igi_msl_element_type(pointer, &part.scalar))
        part.kind = IG_LAYOUT_SCALAR, read_shape(m->type, &part);
    free(pointer);
    add_part(t, a, name, m->type, part);
    if (m->inner && part.depth < DEEPEST) add_members(t, a, m->inner, part.depth + 1);
}

static void add_member(air_translator *t, air_argument *a, const member *m, uint32_t depth) {
    ig_layout part = {.depth = depth, .offset = (uint32_t)m->offset};
    if (!m->length) {
        add_value(t, a, m, m->name, part);
        return;
    }
    part.kind = IG_LAYOUT_ARRAY;
    part.count = (uint32_t)m->length;
    part.stride = (uint32_t)m->size;
    part.size = (uint32_t)(m->size * m->length);
    add_part(t, a, m->name, m->type, part);
    add_value(t, a, m, "", (ig_layout){.depth = depth + 1});
}

static void add_members(air_translator *t, air_argument *a, LLVMValueRef list, uint32_t depth) {
    node n = open_node(t, list);
    for (unsigned i = 0; i + 4 < n.count && a->layout_count < MOST_PARTS && t->status == IG_STATUS_OK;) {
        member m = {.offset = number(at(&n, i)), .size = number(at(&n, i + 1)), .length = number(at(&n, i + 2))};
        m.type = copy_string(at(&n, i + 3)), m.name = copy_string(at(&n, i + 4));
        m.inner = is(at(&n, i + 5), "air.struct_type_info") ? at(&n, i + 6) : NULL;
        i += 5;
        while (i < n.count && number(at(&n, i)) < 0) i++;  // words about this member
        if (is_sound(&m)) add_member(t, a, &m, depth);
        free(m.type), free(m.name);
    }
    free(n.items);
}

// The structure itself is the first part; its size and name are known later.
static void read_layout(air_translator *t, air_argument *a, LLVMValueRef list) {
    igi_msl_layout_free(a->layout, a->layout_count);
    a->layout = NULL;
    a->layout_count = a->layout_capacity = 0;
    add_part(t, a, "", "", (ig_layout){.kind = IG_LAYOUT_STRUCT});
    add_members(t, a, list, 1);
}

static void set_string(char **slot, LLVMValueRef value) {
    free(*slot);
    *slot = copy_string(value);
}

// A word and, for most, the values after it. Returns how many operands that took; words that mean nothing to a kernel
// are stepped over one by one.
static unsigned read_word(air_translator *t, air_argument *a, const node *n, unsigned i) {
    LLVMValueRef word = at(n, i), next = at(n, i + 1);
    if (is(word, "air.location_index")) return a->location = number(next), a->count = number(at(n, i + 2)), 3;
    if (is(word, "air.address_space")) return a->space = number(next), 2;
    if (is(word, "air.arg_type_size")) return a->size = number(next), 2;
    if (is(word, "air.arg_type_align_size")) return a->alignment = number(next), 2;
    if (is(word, "air.buffer_size")) return a->reference = true, 2;
    if (is(word, "air.arg_type_name")) return set_string(&a->type, next), 2;
    if (is(word, "air.arg_name")) return set_string(&a->name, next), 2;
    if (is(word, "air.struct_type_info")) return read_layout(t, a, next), 2;
    if (is(word, "air.function_constant")) {
        free(a->condition);
        a->condition = read_condition(t, next);
        return 2;
    }
    if (is(word, "air.read_write") || is(word, "air.write"))
        a->written = true, a->write_only = is(word, "air.write");
    else if (is_string(word) && !a->kind)
        a->kind = copy_string(word);
    return 1;
}

air_argument_class igi_air_class_of(const air_argument *a) {
    if (strcmp(a->kind, "air.buffer") == 0 || strcmp(a->kind, "air.indirect_buffer") == 0) return AIR_BUFFER;
    static const struct {
        const char *kind;
        air_argument_class class;
    } objects[] = {{"air.visible_function_table", AIR_TABLE},
                   {"air.texture", AIR_TEXTURE},
                   {"air.sampler", AIR_SAMPLER},
                   {"air.stage_in", AIR_ATTRIBUTE},
                   {"air.vertex_input", AIR_ATTRIBUTE}};
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
        if (strcmp(a->kind, objects[i].kind) == 0) return objects[i].class;
    return AIR_BUILTIN;
}

bool igi_air_is_array(const air_argument *a) {
    return strncmp(a->type, "array<", 6) == 0;
}

// An argument that commands set has an index in a table: 31 buffers, 128 textures, 16 samplers.
static bool check_slot(air_translator *t, air_argument *a) {
    static const int64_t slots[] = {[AIR_BUFFER] = 31,  [AIR_TABLE] = 31,     [AIR_TEXTURE] = 128,
                                    [AIR_SAMPLER] = 16, [AIR_ATTRIBUTE] = 31, [AIR_BUILTIN] = 0};
    air_argument_class class = igi_air_class_of(a);
    bool object = class == AIR_TEXTURE || class == AIR_SAMPLER;
    if (!object || !igi_air_is_array(a)) a->count = 1;
    if (class == AIR_BUILTIN) return true;
    if (a->count >= 1 && a->count <= slots[class] && a->location >= 0 && a->location <= slots[class] - a->count)
        return true;
    return igi_air_fail(t, IG_STATUS_BAD_FORMAT, "argument '%.100s' of kernel '%.200s' has no index below %d", a->name,
                        t->name, (int)slots[class]);
}

static bool read_argument(air_translator *t, LLVMValueRef value, size_t index) {
    node n = open_node(t, value);
    air_argument *a = &t->arguments[t->argument_count++];
    *a = (air_argument){.location = -1, .space = -1, .count = 1};
    bool placed = number(at(&n, 0)) == (int64_t)index;
    for (unsigned i = 1; i < n.count;) i += read_word(t, a, &n, i);
    free(n.items);
    if (!a->name) a->name = igi_format("argument_%zu", index);
    if (!a->type) a->type = igi_strdup("");
    if (!a->name || !a->type) return igi_air_fail_memory(t);
    if (placed && a->kind) return check_slot(t, a);
    return igi_air_fail(t, IG_STATUS_BAD_FORMAT, "argument %zu of kernel '%.200s' is not described", index, t->name);
}

static bool read_arguments(air_translator *t, LLVMValueRef value) {
    node n = open_node(t, value);
    bool ok = true;
    if (n.count > AIR_MAX_ARGUMENTS)
        ok = igi_air_fail(t, IG_STATUS_UNSUPPORTED, "kernel '%.200s' has more than %d arguments", t->name,
                          AIR_MAX_ARGUMENTS);
    for (unsigned i = 0; ok && i < n.count; i++) ok = read_argument(t, n.items[i], i);
    free(n.items);
    if (ok && LLVMCountParams(t->kernel) != t->argument_count)
        ok = igi_air_fail(t, IG_STATUS_BAD_FORMAT, "kernel '%.200s' has %u parameters, and %zu are described", t->name,
                          LLVMCountParams(t->kernel), t->argument_count);
    return ok;
}

// ---- The kernel ----

static void read_limit(air_translator *t, LLVMValueRef value) {
    node n = open_node(t, value);
    if (is(at(&n, 0), "air.max_work_group_size")) {
        int64_t most = number(at(&n, 1));
        if (most > 0 && most <= UINT32_MAX) t->max_threads = (uint32_t)most;
    }
    free(n.items);
}

static node open_functions(air_translator *t) {
    static const struct {
        const char *name;
        ig_function_kind kind;
    } lists[] = {
        {"air.kernel", IG_FUNCTION_KERNEL},
        {"air.visible", IG_FUNCTION_VISIBLE},
        {"air.vertex", IG_FUNCTION_VERTEX},
        {"air.fragment", IG_FUNCTION_FRAGMENT},
        {"air.object", IG_FUNCTION_OBJECT},
        {"air.mesh", IG_FUNCTION_MESH},
        {"air.intersection", IG_FUNCTION_INTERSECTION},
    };
    node n = {0};
    for (size_t i = 0; i < sizeof lists / sizeof *lists && !n.count; i++) {
        free(n.items);
        n = open_named(t, lists[i].name);
        t->kind = n.count ? lists[i].kind : IG_FUNCTION_KERNEL;
    }
    return n;
}

// !{the function, its results, its arguments, limits...}; of a visible function only the first is needed.
static bool read_kernel(air_translator *t) {
    node kernels = open_functions(t), n = open_node(t, kernels.count == 1 ? kernels.items[0] : NULL);
    free(kernels.items);
    t->kernel = at(&n, 0);
    bool ok = t->status == IG_STATUS_OK;
    if (ok && (!t->kernel || !LLVMIsAFunction(t->kernel) || LLVMIsDeclaration(t->kernel)))
        ok = igi_air_fail(t, IG_STATUS_BAD_FORMAT, "the bitcode of '%.200s' has no kernel", t->name);
    if (t->kind == IG_FUNCTION_VISIBLE) {
        free(n.items);
        return ok;
    }
    bool returns = ok && LLVMGetTypeKind(LLVMGetReturnType(LLVMGlobalGetValueType(t->kernel))) != LLVMVoidTypeKind;
    if (returns && t->kind == IG_FUNCTION_KERNEL)
        ok = igi_air_fail(t, IG_STATUS_BAD_FORMAT, "kernel '%.200s' returns a value", t->name);
    ok = ok && read_arguments(t, at(&n, 2));
    for (unsigned i = 3; ok && i < n.count; i++) read_limit(t, n.items[i]);
    free(n.items);
    return ok;
}

static void read_options(air_translator *t) {
    node options = open_named(t, "air.compile_options");
    for (unsigned i = 0; i < options.count; i++) {
        node n = open_node(t, options.items[i]);
        if (is(at(&n, 0), "air.compile.denorms_disable")) t->flushes_denormals = true;
        free(n.items);
    }
    free(options.items);
}

// ---- Function constants: external symbols, as src/msl names them (msl/constant-symbol.h) ----

static bool name_constant(air_translator *t, LLVMValueRef global, const char *type, const char *name, int64_t id) {
    char *symbol = igi_format("ig.fc.%lld.%s.%s", (long long)id, type, name);
    if (!symbol) return igi_air_fail_memory(t);
    LLVMValueRef made = LLVMGetNamedGlobal(t->module, symbol);
    if (!made) {
        made = LLVMAddGlobal(t->module, LLVMGlobalGetValueType(global), symbol);
        LLVMSetGlobalConstant(made, 1);
        LLVMSetAlignment(made, LLVMGetAlignment(global));
    }
    free(symbol);
    if (made != global) LLVMReplaceAllUsesWith(global, made);  // it may be listed twice
    return true;
}

static bool is_spelling(const char *text) {
    return text && *text && !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")];
}

// !{the variable, type, name, number, ...}
static bool read_constant(air_translator *t, LLVMValueRef value) {
    node n = open_node(t, value);
    LLVMValueRef global = at(&n, 0);
    char *type = copy_string(at(&n, 1)), *name = copy_string(at(&n, 2));
    int64_t id = number(at(&n, 3));
    bool ok = global && LLVMIsAGlobalVariable(global) && is_spelling(type) && is_spelling(name) && id >= 0;
    if (!ok) igi_air_fail(t, IG_STATUS_BAD_FORMAT, "a function constant of kernel '%.200s' is not described", t->name);
    ok = ok && name_constant(t, global, type, name, id);
    free(type), free(name), free(n.items);
    return ok;
}

// ---- Samplers that the source has: their addresses become their states ----

static LLVMValueRef word_of(LLVMValueRef state, unsigned index) {
    LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(state));
    if (kind == LLVMIntegerTypeKind) return index ? NULL : state;
    bool has = kind == LLVMArrayTypeKind && LLVMGetArrayLength2(LLVMTypeOf(state)) > index;
    return has ? LLVMGetAggregateElement(state, index) : NULL;
}

static bool is_word(LLVMValueRef value) {
    return value && LLVMIsAConstantInt(value) && LLVMGetIntTypeWidth(LLVMTypeOf(value)) == 64;
}

// !{"air.sampler_state", the variable}
static bool read_sampler(air_translator *t, LLVMValueRef value) {
    node n = open_node(t, value);
    LLVMValueRef global = at(&n, 1);
    free(n.items);
    if (!global) return true;  // it is not used
    LLVMValueRef held = LLVMIsAGlobalVariable(global) ? LLVMGetInitializer(global) : NULL;
    LLVMValueRef first = held ? word_of(held, 0) : NULL, second = held ? word_of(held, 1) : NULL;
    if (!is_word(first) || (second && !is_word(second)))
        return igi_air_fail(t, IG_STATUS_BAD_FORMAT, "a sampler of kernel '%.200s' is not described", t->name);
    const uint64_t words[2] = {LLVMConstIntGetZExtValue(first), second ? LLVMConstIntGetZExtValue(second) : 0};
    uint64_t state;
    if (!igi_air_read_sampler(t, words, &state)) return false;
    LLVMReplaceAllUsesWith(global, LLVMConstIntToPtr(LLVMConstInt(t->i64, state, 0), t->pointer));
    return true;
}

// ---- Visible functions that it calls ----

// !{"air.visible_function_reference", the declaration, its name}. Other modules than kernels' have lists of their own.
static bool read_reference(air_translator *t, LLVMValueRef value) {
    node n = open_node(t, value);
    LLVMValueRef function = at(&n, 1);
    char *name = copy_string(at(&n, 2));
    free(n.items);
    bool known = function && LLVMIsAFunction(function) && LLVMIsDeclaration(function) && name;
    bool ok = !known || igi_air_name_reference(t, function, name);
    free(name);
    return ok;
}

bool igi_air_runs(const air_translator *t) {
    return t->kind == IG_FUNCTION_KERNEL || t->kind == IG_FUNCTION_VISIBLE;
}

bool igi_air_read_metadata(air_translator *t) {
    if (!read_kernel(t)) return false;
    if (!igi_air_runs(t)) return true;
    read_options(t);
    return read_each(t, "air.function_constants", read_constant) && read_each(t, "air.sampler_states", read_sampler) &&
           read_each(t, "air.visible_function_references", read_reference);
}
