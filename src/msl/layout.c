// SPDX-License-Identifier: Apache-2.0
// Layouts, from clang's descriptions of types. Those of our own headers are known by their names: metal::vec<float, 4>
// is one part, whatever members it has.
#include "msl/layout.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <string.h>

#include "msl/llvm-context.h"

enum { MAX_DEPTH = 24, MAX_PARTS = 65536, POINTER_BYTES = 8 };
// Tags of DWARF, and the places of operands in LLVM's nodes.
enum {
    TAG_ARRAY = 0x01,
    TAG_CLASS = 0x02,
    TAG_ENUMERATION = 0x04,
    TAG_MEMBER = 0x0d,
    TAG_POINTER = 0x0f,
    TAG_REFERENCE = 0x10,
    TAG_STRUCTURE = 0x13,
    TAG_TYPEDEF = 0x16,
    TAG_UNION = 0x17,
    TAG_INHERITANCE = 0x1c,
    TAG_BASE = 0x24,
    TAG_CONST = 0x26,
    TAG_VOLATILE = 0x35,
};
enum {
    SCOPE = 1,
    NAME = 2,
    BASE_TYPE = 3,
    ELEMENTS = 4,
    EXTRA = 4,
    TEMPLATE = 6,
    SIGNATURE_TYPES = 3,
    SUBPROGRAM_TYPE = 4,
    PARAMETER_TYPE = 1,
    PARAMETER_VALUE = 2,
    RANGE_COUNT = 0,
};

typedef struct describer {
    LLVMContextRef context;
    ig_layout *parts;
    size_t count, capacity;
    LLVMMetadataRef around[MAX_DEPTH];  // the structs that are being described
    uint32_t depth;
    bool failed;  // memory, or a type beyond the limits
} describer;

// Where a part is.
typedef struct position {
    const char *name;
    size_t name_length;
    uint32_t offset, id;
} position;

static uint32_t describe(describer *d, LLVMMetadataRef type, position at);

// ---- Nodes of metadata ----

static LLVMValueRef operand(describer *d, LLVMMetadataRef node, unsigned index) {
    LLVMValueRef value = LLVMMetadataAsValue(d->context, node);
    unsigned count = LLVMGetMDNodeNumOperands(value);
    LLVMValueRef *all = index < count ? igi_calloc(count, sizeof *all) : NULL;
    if (index < count && !all) d->failed = true;
    if (!all) return NULL;
    LLVMGetMDNodeOperands(value, all);
    LLVMValueRef found = all[index];
    free(all);
    return found;
}

static LLVMMetadataRef node(describer *d, LLVMMetadataRef of, unsigned index) {
    LLVMValueRef value = of ? operand(d, of, index) : NULL;
    return value ? LLVMValueAsMetadata(value) : NULL;
}

static unsigned tuple_count(describer *d, LLVMMetadataRef tuple) {
    return tuple ? LLVMGetMDNodeNumOperands(LLVMMetadataAsValue(d->context, tuple)) : 0;
}

static uint64_t number(LLVMValueRef value) {
    return value && LLVMIsAConstantInt(value) ? LLVMConstIntGetZExtValue(value) : 0;
}

static const char *type_name(LLVMMetadataRef type, size_t *length) {
    const char *name = LLVMDITypeGetName(type, length);
    return name ? name : "";
}

static bool is_named(LLVMMetadataRef type, const char *name) {
    size_t length;
    const char *text = type_name(type, &length);
    return strlen(name) == length && memcmp(text, name, length) == 0;
}

static bool begins(LLVMMetadataRef type, const char *prefix) {
    size_t length;
    const char *text = type_name(type, &length);
    return length >= strlen(prefix) && memcmp(text, prefix, strlen(prefix)) == 0;
}

static uint32_t bytes_of(LLVMMetadataRef type) {
    uint64_t bytes = LLVMDITypeGetSizeInBits(type) / 8;
    return bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
}

static bool is_qualifier(unsigned tag) {
    return tag == TAG_TYPEDEF || tag == TAG_CONST || tag == TAG_VOLATILE;
}

// Without typedefs and qualifiers. NULL is void.
static LLVMMetadataRef plain(describer *d, LLVMMetadataRef type, bool *constant) {
    for (int i = 0; type && i < MAX_DEPTH && is_qualifier(LLVMGetDINodeTag(type)); i++) {
        if (constant && LLVMGetDINodeTag(type) == TAG_CONST) *constant = true;
        type = node(d, type, BASE_TYPE);
    }
    return type;
}

// Whether it is declared in namespace metal, or in metal::__ig.
static bool is_ours(describer *d, LLVMMetadataRef type) {
    LLVMMetadataRef scope = node(d, type, SCOPE);
    for (int i = 0; scope && i < 2; i++) {
        if (LLVMGetMetadataKind(scope) != LLVMDINamespaceMetadataKind) return false;
        LLVMValueRef name = operand(d, scope, NAME);
        unsigned length = 0;
        const char *text = name ? LLVMGetMDString(name, &length) : NULL;
        if (length == 5 && memcmp(text, "metal", 5) == 0) return true;
        scope = node(d, scope, SCOPE);
    }
    return false;
}

static LLVMMetadataRef template_type(describer *d, LLVMMetadataRef type, unsigned index) {
    return plain(d, node(d, node(d, node(d, type, TEMPLATE), index), PARAMETER_TYPE), NULL);
}

static uint32_t template_number(describer *d, LLVMMetadataRef type, unsigned index) {
    LLVMMetadataRef parameter = node(d, node(d, type, TEMPLATE), index);
    return parameter ? (uint32_t)number(operand(d, parameter, PARAMETER_VALUE)) : 0;
}

// ---- Scalars ----

static const struct {
    const char *described, *name;
    ig_type type;
} scalars[] = {
    {"bool", "bool", IG_TYPE_BOOL},      {"char", "char", IG_TYPE_I8},
    {"signed char", "char", IG_TYPE_I8}, {"unsigned char", "uchar", IG_TYPE_U8},
    {"short", "short", IG_TYPE_I16},     {"unsigned short", "ushort", IG_TYPE_U16},
    {"int", "int", IG_TYPE_I32},         {"unsigned int", "uint", IG_TYPE_U32},
    {"long", "long", IG_TYPE_I64},       {"unsigned long", "ulong", IG_TYPE_U64},
    {"long long", "long", IG_TYPE_I64},  {"unsigned long long", "ulong", IG_TYPE_U64},
    {"_Float16", "half", IG_TYPE_F16},   {"half", "half", IG_TYPE_F16},
    {"__bf16", "bfloat", IG_TYPE_BF16},  {"float", "float", IG_TYPE_F32},
};
enum { SCALAR_COUNT = sizeof scalars / sizeof *scalars };

static size_t scalar_of(describer *d, LLVMMetadataRef type) {
    type = plain(d, type, NULL);
    if (type && LLVMGetDINodeTag(type) == TAG_ENUMERATION) type = plain(d, node(d, type, BASE_TYPE), NULL);
    size_t i = 0;
    while (i < SCALAR_COUNT && !(type && LLVMGetDINodeTag(type) == TAG_BASE && is_named(type, scalars[i].described)))
        i++;
    return i;
}

// ---- Parts ----

static ig_layout *add(describer *d, position at, char *type, ig_layout part) {
    char *name = igi_strndup(at.name, at.name_length);
    bool full = d->count >= MAX_PARTS || d->depth >= MAX_DEPTH;
    if (!name || !type || full || !igi_grow((void **)&d->parts, &d->capacity, d->count + 1, sizeof *d->parts)) {
        free(name), free(type);
        d->failed = true;
        return NULL;
    }
    part.name = name;
    part.type = type;
    part.depth = d->depth;
    part.offset = at.offset;
    part.id = at.id;
    d->parts[d->count] = part;
    return &d->parts[d->count++];
}

static char *shape_name(const char *scalar, uint32_t components, uint32_t columns, bool packed) {
    const char *prefix = packed ? "packed_" : "";
    if (columns > 1) return igi_format("%s%s%ux%u", prefix, scalar, columns, components);
    return components > 1 ? igi_format("%s%s%u", prefix, scalar, components) : igi_format("%s%s", prefix, scalar);
}

// The size is the type's own: that of a vector of three differs when it is packed.
static uint32_t add_scalar(describer *d, LLVMMetadataRef element, uint32_t components, uint32_t columns, uint32_t size,
                           position at) {
    size_t i = scalar_of(d, element);
    if (i == SCALAR_COUNT) {
        add(d, at, igi_strdup("unknown"), (ig_layout){.kind = IG_LAYOUT_OTHER, .size = size, .alignment = 1});
        return 1;
    }
    uint32_t scalar_size = ig_type_size(scalars[i].type), column = columns ? size / columns : size;
    uint32_t whole = scalar_size * (components == 3 ? 4 : components);
    bool packed = components > 1 && column == scalar_size * components && components == 3;
    add(d, at, shape_name(scalars[i].name, components, columns, packed),
        (ig_layout){.kind = IG_LAYOUT_SCALAR,
                    .size = size,
                    .alignment = packed ? scalar_size : whole,
                    .scalar = scalars[i].type,
                    .components = components,
                    .columns = columns});
    return 1;
}

static uint32_t add_packed(describer *d, LLVMMetadataRef type, position at) {
    LLVMMetadataRef vector = template_type(d, type, 0);
    size_t before = d->count;
    uint32_t components = template_number(d, vector, 1);
    add_scalar(d, template_type(d, vector, 0), components, 1, bytes_of(type), at);
    if (d->failed || d->parts[before].kind != IG_LAYOUT_SCALAR) return 1;
    ig_layout *part = &d->parts[before];
    part->alignment = ig_type_size(part->scalar);
    if (strncmp(part->type, "packed_", 7) == 0) return 1;
    char *name = igi_format("packed_%s", part->type);
    if (!name) d->failed = true;
    free((char *)part->type);
    part->type = name;
    return 1;
}

// ---- Textures ----

static uint32_t add_texture(describer *d, LLVMMetadataRef type, position at) {
    static const char *const accesses[] = {"sample", "read", "write", "read_write"};
    static const ig_access meanings[] = {IG_ACCESS_READ, IG_ACCESS_READ, IG_ACCESS_WRITE, IG_ACCESS_READ_WRITE};
    size_t length, i = scalar_of(d, template_type(d, type, 0));
    const char *name = type_name(type, &length);
    uint32_t access = template_number(d, type, 1);
    if (access > 3) access = 0;
    char *spelled = igi_format("%.*s<%s, access::%s>", (int)(memchr(name, '<', length) ? strcspn(name, "<") : length),
                               name, i < SCALAR_COUNT ? scalars[i].name : "float", accesses[access]);
    add(d, at, spelled,
        (ig_layout){.kind = IG_LAYOUT_TEXTURE,
                    .size = bytes_of(type),
                    .alignment = POINTER_BYTES,
                    .scalar = i < SCALAR_COUNT ? scalars[i].type : IG_TYPE_F32,
                    .access = meanings[access]});
    return 1;
}

// ---- What has parts ----

// Of an array, the outermost first.
typedef struct dimensions {
    LLVMMetadataRef element;
    const uint32_t *counts;
    size_t count;
} dimensions;

static uint32_t add_array(describer *d, dimensions array, uint32_t bytes, position at) {
    uint32_t count = array.counts[0], stride = count ? bytes / count : 0;
    size_t index = d->count;
    if (!add(d, at, igi_strdup(""),
             (ig_layout){.kind = IG_LAYOUT_ARRAY, .size = bytes, .count = count, .stride = stride}))
        return 0;
    position inner = {"", 0, 0, at.id};
    dimensions rest = {array.element, array.counts + 1, array.count - 1};
    d->depth++;
    uint32_t ids = rest.count ? add_array(d, rest, stride, inner) : describe(d, array.element, inner);
    d->depth--;
    if (d->failed || index + 1 >= d->count) return 0;
    char *name = igi_format("%s[%u]", d->parts[index + 1].type, count);
    if (!name) d->failed = true;
    free((char *)d->parts[index].type);
    d->parts[index].type = name;
    d->parts[index].alignment = d->parts[index + 1].alignment;
    return ids * count;
}

static uint32_t describe_array(describer *d, LLVMMetadataRef type, position at) {
    uint32_t counts[MAX_DEPTH];
    LLVMMetadataRef ranges = node(d, type, ELEMENTS), element = node(d, type, BASE_TYPE);
    unsigned count = tuple_count(d, ranges);
    if (count == 0 || count > MAX_DEPTH) {
        d->failed = true;
        return 0;
    }
    for (unsigned i = 0; i < count; i++) counts[i] = (uint32_t)number(operand(d, node(d, ranges, i), RANGE_COUNT));
    if (LLVMDITypeGetFlags(type) & LLVMDIFlagVector) return add_scalar(d, element, counts[0], 1, bytes_of(type), at);
    return add_array(d, (dimensions){element, counts, count}, bytes_of(type), at);
}

static uint32_t describe_pointer(describer *d, LLVMMetadataRef type, position at) {
    bool constant = false;
    LLVMMetadataRef element = plain(d, node(d, type, BASE_TYPE), &constant);
    size_t index = d->count, length = 0;
    if (!add(d, at, igi_strdup(""),
             (ig_layout){.kind = IG_LAYOUT_POINTER,
                         .size = POINTER_BYTES,
                         .alignment = POINTER_BYTES,
                         .access = constant ? IG_ACCESS_READ : IG_ACCESS_READ_WRITE}))
        return 0;
    bool inside = false;
    for (uint32_t i = 0; i < d->depth; i++) inside |= element && d->around[i] == element;
    const char *name = element ? type_name(element, &length) : "void";
    if (!element) length = 4;
    if (element && !inside) {
        d->depth++;
        describe(d, element, (position){"", 0, 0, 0});
        d->depth--;
        if (d->failed || index + 1 >= d->count) return 0;
        name = d->parts[index + 1].type, length = strlen(name);
    }
    char *spelled = igi_format("%s%.*s *", constant ? "const " : "", (int)length, name);
    if (!spelled) d->failed = true;
    free((char *)d->parts[index].type);
    d->parts[index].type = spelled;
    return 1;
}

// ---- Structs ----

typedef struct members {
    uint32_t offset;      // of a base class
    uint32_t base, next;  // ids
    uint32_t alignment;
} members;

static bool is_static(LLVMMetadataRef member) {
    return LLVMDITypeGetFlags(member) & LLVMDIFlagStaticMember;
}

// The [[id(n)]] of a member is a constant after it. It counts from the id of its struct.
static void note_explicit_id(describer *d, LLVMMetadataRef elements, unsigned index, members *m) {
    LLVMMetadataRef next = index + 1 < tuple_count(d, elements) ? node(d, elements, index + 1) : NULL;
    if (!next || LLVMGetMetadataKind(next) != LLVMDIDerivedTypeMetadataKind || !begins(next, "__ig_id_")) return;
    m->next = m->base + (uint32_t)number(operand(d, next, EXTRA));
}

static void describe_members(describer *d, LLVMMetadataRef type, members *m);

static void describe_member(describer *d, LLVMMetadataRef elements, unsigned index, members *m) {
    LLVMMetadataRef member = node(d, elements, index);
    if (!member || LLVMGetMetadataKind(member) != LLVMDIDerivedTypeMetadataKind || is_static(member)) return;
    unsigned tag = LLVMGetDINodeTag(member);
    uint32_t offset = m->offset + (uint32_t)(LLVMDITypeGetOffsetInBits(member) / 8);
    if (tag == TAG_INHERITANCE) {
        uint32_t outer = m->offset;
        m->offset = offset;
        describe_members(d, plain(d, node(d, member, BASE_TYPE), NULL), m);
        m->offset = outer;
        return;
    }
    if (tag != TAG_MEMBER) return;
    position at = {.offset = offset};
    at.name = type_name(member, &at.name_length);
    note_explicit_id(d, elements, index, m);
    at.id = m->next;
    size_t first = d->count;
    m->next += describe(d, node(d, member, BASE_TYPE), at);
    if (d->failed || first >= d->count) return;
    uint32_t stated = LLVMDITypeGetAlignInBits(member) / 8, alignment = d->parts[first].alignment;
    if (stated > alignment) alignment = stated;
    if (alignment > m->alignment) m->alignment = alignment;
}

static void describe_members(describer *d, LLVMMetadataRef type, members *m) {
    LLVMMetadataRef elements = node(d, type, ELEMENTS);
    unsigned count = tuple_count(d, elements);
    for (unsigned i = 0; i < count && !d->failed; i++) describe_member(d, elements, i, m);
}

static uint32_t add_struct(describer *d, LLVMMetadataRef type, position at) {
    size_t length, index = d->count;
    const char *name = type_name(type, &length);
    if (!add(d, at, igi_strndup(name, length), (ig_layout){.kind = IG_LAYOUT_STRUCT, .size = bytes_of(type)})) return 0;
    members m = {.base = at.id, .next = at.id, .alignment = LLVMDITypeGetAlignInBits(type) / 8};
    if (!m.alignment) m.alignment = 1;
    d->around[d->depth++] = type;
    describe_members(d, type, &m);
    d->around[--d->depth] = NULL;
    if (!d->failed) d->parts[index].alignment = m.alignment;
    return m.next > at.id ? m.next - at.id : 1;
}

// A template that nothing in the source uses is only a name: "matrix<float, 2, 3>".
static uint32_t add_by_name(describer *d, LLVMMetadataRef type, position at) {
    char name[64] = "", scalar[24];
    unsigned columns, rows = 0;
    size_t length, i = 0;
    const char *text = type_name(type, &length);
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    int read = sscanf(name, "%*[a-z]<%23[^,], %u, %u>", scalar, &columns, &rows);
    if (read == 2) rows = columns, columns = 1;
    while (read >= 2 && i < SCALAR_COUNT && strcmp(scalars[i].described, scalar) != 0) i++;
    if (read < 2 || i == SCALAR_COUNT || rows > 4 || columns > 4) {
        add(d, at, igi_strdup(name), (ig_layout){.kind = IG_LAYOUT_OTHER, .alignment = 1});
        return 1;
    }
    uint32_t column = ig_type_size(scalars[i].type) * (rows == 3 ? 4 : rows);
    add(d, at, shape_name(scalars[i].name, rows, columns, false),
        (ig_layout){.kind = IG_LAYOUT_SCALAR,
                    .size = column * columns,
                    .alignment = column,
                    .scalar = scalars[i].type,
                    .components = rows,
                    .columns = columns});
    return 1;
}

static uint32_t describe_ours(describer *d, LLVMMetadataRef type, position at) {
    uint32_t bytes = bytes_of(type);
    if (!bytes && (begins(type, "vec<") || begins(type, "matrix<"))) return add_by_name(d, type, at);
    if (begins(type, "vec<"))
        return add_scalar(d, template_type(d, type, 0), template_number(d, type, 1), 1, bytes, at);
    if (begins(type, "matrix<"))
        return add_scalar(d, template_type(d, type, 0), template_number(d, type, 2), template_number(d, type, 1), bytes,
                          at);
    if (begins(type, "packed<")) return add_packed(d, type, at);
    if (begins(type, "atomic<")) return describe(d, template_type(d, type, 0), at);
    if (begins(type, "texture") || begins(type, "depth")) return add_texture(d, type, at);
    if (begins(type, "array<")) {
        uint32_t count = template_number(d, type, 1);
        LLVMMetadataRef element = node(d, node(d, node(d, type, TEMPLATE), 0), PARAMETER_TYPE);
        return count ? add_array(d, (dimensions){element, &count, 1}, bytes, at) : 0;
    }
    size_t length;
    const char *name = type_name(type, &length);
    add(d, at, igi_strndup(name, length),
        (ig_layout){.kind = is_named(type, "sampler") ? IG_LAYOUT_SAMPLER : IG_LAYOUT_OTHER,
                    .size = bytes,
                    .alignment = POINTER_BYTES});
    return 1;
}

// Returns how many ids of an argument buffer it takes.
static uint32_t describe(describer *d, LLVMMetadataRef type, position at) {
    type = plain(d, type, NULL);
    if (!type || d->failed || d->depth >= MAX_DEPTH) {
        d->failed = true;
        return 0;
    }
    switch (LLVMGetDINodeTag(type)) {
        case TAG_POINTER:
        case TAG_REFERENCE: return describe_pointer(d, type, at);
        case TAG_ARRAY: return describe_array(d, type, at);
        case TAG_CLASS:
        case TAG_STRUCTURE:
        case TAG_UNION: return is_ours(d, type) ? describe_ours(d, type, at) : add_struct(d, type, at);
        default: return add_scalar(d, type, 1, 1, bytes_of(type), at);
    }
}

// ---- Arguments ----

void igi_msl_layout_free(const ig_layout *layout, size_t count) {
    for (size_t i = 0; layout && i < count; i++) free((char *)layout[i].name), free((char *)layout[i].type);
    free((void *)layout);
}

// A type that cannot be described leaves the argument without a layout.
static void describe_argument(LLVMContextRef context, LLVMMetadataRef type, ig_argument *argument) {
    describer d = {.context = context};
    type = plain(&d, type, NULL);
    unsigned tag = type ? LLVMGetDINodeTag(type) : 0;
    if (tag != TAG_POINTER && tag != TAG_REFERENCE) return;
    LLVMMetadataRef element = plain(&d, node(&d, type, BASE_TYPE), NULL);
    if (element) describe(&d, element, (position){"", 0, 0, 0});
    if (d.failed) {
        igi_msl_layout_free(d.parts, d.count);
        return;
    }
    argument->layout = d.parts;
    argument->layout_count = d.count;
}

static void describe_kernel(LLVMContextRef context, LLVMValueRef function, ig_kernel_info *kernel) {
    LLVMMetadataRef subprogram = function ? LLVMGetSubprogram(function) : NULL;
    describer d = {.context = context};
    LLVMMetadataRef types = node(&d, node(&d, subprogram, SUBPROGRAM_TYPE), SIGNATURE_TYPES);
    if (tuple_count(&d, types) != kernel->argument_count + 1) return;  // the first is the result
    for (size_t i = 0; i < kernel->argument_count; i++) {
        ig_argument *argument = (ig_argument *)&kernel->arguments[i];
        if (argument->kind == IG_ARGUMENT_BUFFER && !argument->layout)
            describe_argument(context, node(&d, types, (unsigned)i + 1), argument);
    }
}

ig_status igi_msl_describe_layouts(const char *bitcode, size_t length, igi_msl_reflection *reflection) {
    LLVMContextRef context = igi_msl_llvm_context_create();
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRange(bitcode, length, "library", 0);
    LLVMModuleRef module;
    bool failed = LLVMParseBitcodeInContext2(context, buffer, &module);
    for (size_t i = 0; !failed && i < reflection->kernel_count; i++)
        describe_kernel(context, LLVMGetNamedFunction(module, reflection->kernels[i].symbol),
                        &reflection->kernels[i].info);
    if (!failed) LLVMDisposeModule(module);
    LLVMDisposeMemoryBuffer(buffer);
    LLVMContextDispose(context);
    return failed ? IG_STATUS_BAD_FORMAT : IG_STATUS_OK;
}
