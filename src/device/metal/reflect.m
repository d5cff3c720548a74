// SPDX-License-Identifier: Apache-2.0
// What Metal reports about a kernel's arguments and constants.
#include <stdio.h>
#include <string.h>

#include "device/metal/metal.h"

// ---- Types ----

// Each type is followed by its vectors of two, three and four.
static const struct {
    MTLDataType first;
    ig_type type;
    const char *name;
} types[] = {
    {MTLDataTypeFloat, IG_TYPE_F32, "float"},    {MTLDataTypeHalf, IG_TYPE_F16, "half"},
    {MTLDataTypeBFloat, IG_TYPE_BF16, "bfloat"}, {MTLDataTypeInt, IG_TYPE_I32, "int"},
    {MTLDataTypeUInt, IG_TYPE_U32, "uint"},      {MTLDataTypeShort, IG_TYPE_I16, "short"},
    {MTLDataTypeUShort, IG_TYPE_U16, "ushort"},  {MTLDataTypeChar, IG_TYPE_I8, "char"},
    {MTLDataTypeUChar, IG_TYPE_U8, "uchar"},     {MTLDataTypeBool, IG_TYPE_BOOL, "bool"},
    {MTLDataTypeLong, IG_TYPE_I64, "long"},      {MTLDataTypeULong, IG_TYPE_U64, "ulong"},
};

bool igi_metal_type(MTLDataType type, ig_type *scalar, uint32_t *components) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (type < types[i].first || type > types[i].first + 3) continue;
        *scalar = types[i].type;
        *components = (uint32_t)(type - types[i].first) + 1;
        return true;
    }
    return false;
}

MTLDataType igi_metal_data_type(ig_type type, uint32_t components) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].type == type && components >= 1 && components <= 4) return types[i].first + (components - 1);
    return MTLDataTypeNone;
}

static void spell_type(MTLDataType type, char *text, size_t capacity) {
    snprintf(text, capacity, type == MTLDataTypeStruct ? "struct" : "");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (type < types[i].first || type > types[i].first + 3) continue;
        unsigned components = (unsigned)(type - types[i].first) + 1;
        if (components == 1)
            snprintf(text, capacity, "%s", types[i].name);
        else
            snprintf(text, capacity, "%s%u", types[i].name, components);
    }
}

// ---- Arguments ----

static ig_access access_of(MTLBindingAccess access) {
    switch (access) {
        case MTLBindingAccessReadOnly: return IG_ACCESS_READ;
        case MTLBindingAccessWriteOnly: return IG_ACCESS_WRITE;
        case MTLBindingAccessReadWrite: return IG_ACCESS_READ_WRITE;
    }
    return IG_ACCESS_NONE;
}

static ig_argument describe_buffer(id<MTLBufferBinding> binding, char *type, size_t capacity) {
    char element[32];
    spell_type([binding bufferDataType], element, sizeof element);
    ig_access access = [binding isUsed] ? access_of([binding access]) : IG_ACCESS_NONE;
    snprintf(type, capacity, "%s%s *", access == IG_ACCESS_READ ? "const " : "", element);
    return (ig_argument){
        .attribute = "buffer",
        .address_space = access == IG_ACCESS_READ ? "" : "device",  // or constant: Metal does not say
        .condition = [binding isUsed] ? "" : "unused",
        .kind = IG_ARGUMENT_BUFFER,
        .array_length = 1,
        .access = access,
        .index = (uint32_t)[binding index],
        .min_bytes = (uint32_t)[binding bufferDataSize],
    };
}

static ig_argument describe_threadgroup(id<MTLThreadgroupBinding> binding, char *type, size_t capacity) {
    snprintf(type, capacity, "threadgroup *");
    return (ig_argument){
        .attribute = "threadgroup",
        .address_space = "threadgroup",
        .condition = [binding isUsed] ? "" : "unused",
        .kind = IG_ARGUMENT_THREADGROUP,
        .array_length = 1,
        .access = IG_ACCESS_READ_WRITE,
        .index = (uint32_t)[binding index],
        .min_bytes = (uint32_t)[binding threadgroupMemoryDataSize],
    };
}

static ig_argument describe_texture(id<MTLTextureBinding> binding, char *type, size_t capacity) {
    static const char *const names[] = {"1d",   "1d_array",   "2d", "2d_array",    "2d_ms",
                                        "cube", "cube_array", "3d", "2d_ms_array", "_buffer"};
    char element[32];
    spell_type([binding textureDataType], element, sizeof element);
    NSUInteger shape = [binding textureType], length = [binding arrayLength];
    snprintf(type, capacity, "%s%s%s<%s>%s", length > 1 ? "array<" : "", [binding isDepthTexture] ? "depth" : "texture",
             shape < sizeof names / sizeof *names ? names[shape] : "", element, length > 1 ? ">" : "");
    return (ig_argument){
        .attribute = "texture",
        .address_space = "",
        .condition = [binding isUsed] ? "" : "unused",
        .kind = IG_ARGUMENT_TEXTURE,
        .array_length = length ? (uint32_t)length : 1,
        .access = access_of([binding access]),
        .index = (uint32_t)[binding index],
    };
}

static ig_argument describe_sampler(id<MTLBinding> binding, char *type, size_t capacity) {
    snprintf(type, capacity, "sampler");
    return (ig_argument){
        .attribute = "sampler",
        .address_space = "",
        .condition = [binding isUsed] ? "" : "unused",
        .kind = IG_ARGUMENT_SAMPLER,
        .array_length = 1,
        .access = IG_ACCESS_READ,
        .index = (uint32_t)[binding index],
    };
}

// Returns false for bindings that are not arguments here.
static bool describe(id<MTLBinding> binding, ig_argument *argument, char *type, size_t capacity) {
    if ([binding type] == MTLBindingTypeBuffer)
        *argument = describe_buffer((id<MTLBufferBinding>)binding, type, capacity);
    else if ([binding type] == MTLBindingTypeThreadgroupMemory && [binding isArgument])
        *argument = describe_threadgroup((id<MTLThreadgroupBinding>)binding, type, capacity);
    else if ([binding type] == MTLBindingTypeTexture)
        *argument = describe_texture((id<MTLTextureBinding>)binding, type, capacity);
    else if ([binding type] == MTLBindingTypeSampler)
        *argument = describe_sampler(binding, type, capacity);
    else
        return false;
    return true;
}

enum { TYPE_BYTES = 48 };

ig_argument *igi_metal_arguments(MTLComputePipelineReflection *reflection, size_t *count) {
    NSArray<id<MTLBinding>> *bindings = [reflection bindings];
    size_t bytes = 1;
    for (id<MTLBinding> binding in bindings)
        bytes += sizeof(ig_argument) + TYPE_BYTES + strlen([[binding name] UTF8String]) + 1;
    ig_argument *arguments = igi_calloc(1, bytes);
    char *strings = arguments ? (char *)(arguments + [bindings count]) : NULL;
    *count = 0;
    for (id<MTLBinding> binding in bindings) {
        if (!arguments || !describe(binding, &arguments[*count], strings, TYPE_BYTES)) continue;
        ig_argument *argument = &arguments[(*count)++];
        argument->type = strings;
        argument->name = strcpy(strings + TYPE_BYTES, [[binding name] UTF8String]);
        strings += TYPE_BYTES + strlen(argument->name) + 1;
    }
    return arguments;
}
