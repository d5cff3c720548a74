// SPDX-License-Identifier: Apache-2.0
// Reflection, from what Ingot knows about a kernel's arguments. Members of structs are not known.
#include <stdio.h>
#include <string.h>

#include "library.h"

@interface IGBinding : IGObject <MTLBufferBinding, MTLThreadgroupBinding, MTLTextureBinding> {
    NSString *_name;
    MTLBindingType _type;
    MTLBindingAccess _access;
    NSUInteger _index, _size, _alignment;
    MTLDataType _dataType;
    MTLPointerType *_pointer;
    MTLTextureType _textureType;
    NSUInteger _arrayLength;
    BOOL _used, _depth;
}
- (id)initWithArgument:(const ig_argument *)argument;
@end

@interface MTLPointerType (Ingot)
- (id)initWithElement:(MTLDataType)element
               access:(MTLBindingAccess)access
                 size:(NSUInteger)size
            alignment:(NSUInteger)alignment;
@end

@interface MTLArgument (Ingot)
- (id)initWithBinding:(IGBinding *)binding;
@end

// ---- Types ----

static const struct {
    const char *name;
    ig_type type;
} names[] = {
    {"float", IG_TYPE_F32}, {"half", IG_TYPE_F16},  {"bfloat", IG_TYPE_BF16}, {"int", IG_TYPE_I32},
    {"uint", IG_TYPE_U32},  {"short", IG_TYPE_I16}, {"ushort", IG_TYPE_U16},  {"char", IG_TYPE_I8},
    {"uchar", IG_TYPE_U8},  {"bool", IG_TYPE_BOOL}, {"long", IG_TYPE_I64},    {"ulong", IG_TYPE_U64},
};

// "const float *", "uint3 &": the type pointed to. Anything but a scalar or vector counts as a struct.
static MTLDataType element_type(const char *text) {
    if (strncmp(text, "const ", 6) == 0) text += 6;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i].name);
        if (strncmp(text, names[i].name, length) != 0) continue;
        const char *rest = text + length;
        uint32_t components = *rest >= '2' && *rest <= '4' ? (uint32_t)(*rest++ - '0') : 1;
        if (strspn(rest, " const*&") == strlen(rest)) return igi_data_type(names[i].type, components);
    }
    return MTLDataTypeStruct;
}

// For a struct only the size is known: its alignment divides it, and is at most 16.
static NSUInteger alignment_of(MTLDataType data_type, NSUInteger size) {
    ig_type type;
    uint32_t components;
    if (igi_type_of(data_type, &type, &components)) return ig_type_size(type) * (components == 3 ? 4 : components);
    NSUInteger alignment = size & (~size + 1);
    return alignment == 0 || alignment > 16 ? 16 : alignment;
}

static MTLBindingAccess access_of(ig_access access) {
    switch (access) {
        case IG_ACCESS_WRITE: return MTLBindingAccessWriteOnly;
        case IG_ACCESS_READ_WRITE: return MTLBindingAccessReadWrite;
        default: return MTLBindingAccessReadOnly;
    }
}

@implementation MTLType
@synthesize dataType = _dataType;
@end

@implementation MTLPointerType
@synthesize elementType = _elementType, access = _access, alignment = _alignment, dataSize = _dataSize;

- (id)initWithElement:(MTLDataType)element
               access:(MTLBindingAccess)access
                 size:(NSUInteger)size
            alignment:(NSUInteger)alignment {
    if (!(self = [super init])) return nil;
    _dataType = MTLDataTypePointer;
    _elementType = element;
    _access = access;
    _dataSize = size;
    _alignment = alignment;
    return self;
}

- (BOOL)elementIsArgumentBuffer {
    return NO;
}

- (MTLStructType *)elementStructType {
    return nil;
}

- (MTLArrayType *)elementArrayType {
    return nil;
}
@end

// ---- Textures ----

// "texture2d<float, access::sample>", "array<depthcube<float>, 4>": the type, what it holds, and whether it is of depth.
static MTLTextureType texture_type(const char *text, BOOL *depth, MTLDataType *data) {
    static const struct {
        const char *name;
        MTLTextureType type;
    } types[] = {
        {"1d", MTLTextureType1D},
        {"1d_array", MTLTextureType1DArray},
        {"2d", MTLTextureType2D},
        {"2d_array", MTLTextureType2DArray},
        {"2d_ms", MTLTextureType2DMultisample},
        {"2d_ms_array", MTLTextureType2DMultisampleArray},
        {"cube", MTLTextureTypeCube},
        {"cube_array", MTLTextureTypeCubeArray},
        {"3d", MTLTextureType3D},
        {"_buffer", MTLTextureTypeTextureBuffer},
    };
    if (strncmp(text, "array<", 6) == 0) text += 6;
    *depth = strncmp(text, "depth", 5) == 0;
    text += strncmp(text, "texture", 7) == 0 ? 7 : *depth ? 5 : 0;
    size_t length = strcspn(text, "<");
    char held[16] = "";
    if (text[length] == '<')
        snprintf(held, sizeof held, "%.*s", (int)strcspn(text + length + 1, ",> "), text + length + 1);
    *data = element_type(held);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == length && strncmp(text, types[i].name, length) == 0) return types[i].type;
    return MTLTextureType2D;
}

static MTLBindingType type_of(ig_argument_kind kind) {
    switch (kind) {
        case IG_ARGUMENT_BUFFER: return MTLBindingTypeBuffer;
        case IG_ARGUMENT_TEXTURE: return MTLBindingTypeTexture;
        case IG_ARGUMENT_SAMPLER: return MTLBindingTypeSampler;
        default: return MTLBindingTypeThreadgroupMemory;
    }
}

// ---- Bindings ----

@implementation IGBinding
- (id)initWithArgument:(const ig_argument *)argument {
    if (!(self = [super init])) return nil;
    BOOL buffer = argument->kind == IG_ARGUMENT_BUFFER;
    _name = [[NSString alloc] initWithUTF8String:argument->name];
    _type = type_of(argument->kind);
    _arrayLength = argument->array_length ? argument->array_length : 1;
    _access = access_of(argument->access);
    _index = argument->index;
    _used = argument->condition[0] == 0 && argument->access != IG_ACCESS_NONE;
    _size = argument->min_bytes;
    _dataType = element_type(argument->type);
    _alignment = alignment_of(_dataType, _size);
    if (_type == MTLBindingTypeTexture) _textureType = texture_type(argument->type, &_depth, &_dataType);
    if (buffer)
        _pointer = [[MTLPointerType alloc] initWithElement:_dataType access:_access size:_size alignment:_alignment];
    return self;
}

- (void)dealloc {
    [_name release];
    [_pointer release];
    [super dealloc];
}

- (NSString *)name {
    return _name;
}

- (MTLBindingType)type {
    return _type;
}

- (MTLBindingAccess)access {
    return _access;
}

- (NSUInteger)index {
    return _index;
}

// An argument that depends on a derived constant may or may not exist.
- (BOOL)isUsed {
    return _used;
}

- (BOOL)isArgument {
    return YES;
}

- (NSUInteger)bufferAlignment {
    return _type == MTLBindingTypeBuffer ? _alignment : 0;
}

- (NSUInteger)bufferDataSize {
    return _type == MTLBindingTypeBuffer ? _size : 0;
}

- (MTLDataType)bufferDataType {
    return _type == MTLBindingTypeBuffer ? _dataType : MTLDataTypeNone;
}

- (MTLStructType *)bufferStructType {
    return nil;
}

- (MTLPointerType *)bufferPointerType {
    return _pointer;
}

- (MTLTextureType)textureType {
    return _textureType;
}

- (MTLDataType)textureDataType {
    return _type == MTLBindingTypeTexture ? _dataType : MTLDataTypeNone;
}

- (BOOL)isDepthTexture {
    return _depth;
}

- (NSUInteger)arrayLength {
    return _arrayLength;
}

- (NSUInteger)threadgroupMemoryAlignment {
    return _type == MTLBindingTypeThreadgroupMemory ? _alignment : 0;
}

- (NSUInteger)threadgroupMemoryDataSize {
    return _type == MTLBindingTypeThreadgroupMemory ? _size : 0;
}
@end

#define BINDING ((IGBinding *)_binding)

@implementation MTLArgument
- (id)initWithBinding:(IGBinding *)binding {
    if ((self = [super init])) _binding = (id<MTLBinding>)[binding retain];
    return self;
}

- (void)dealloc {
    [_binding release];
    [super dealloc];
}

- (NSString *)name {
    return [BINDING name];
}

- (MTLArgumentType)type {
    return (MTLArgumentType)[BINDING type];
}

- (MTLBindingAccess)access {
    return [BINDING access];
}

- (NSUInteger)index {
    return [BINDING index];
}

- (BOOL)isActive {
    return [BINDING isUsed];
}

- (NSUInteger)bufferAlignment {
    return [BINDING bufferAlignment];
}

- (NSUInteger)bufferDataSize {
    return [BINDING bufferDataSize];
}

- (MTLDataType)bufferDataType {
    return [BINDING bufferDataType];
}

- (MTLStructType *)bufferStructType {
    return nil;
}

- (MTLPointerType *)bufferPointerType {
    return [BINDING bufferPointerType];
}

- (NSUInteger)threadgroupMemoryAlignment {
    return [BINDING threadgroupMemoryAlignment];
}

- (NSUInteger)threadgroupMemoryDataSize {
    return [BINDING threadgroupMemoryDataSize];
}

- (MTLTextureType)textureType {
    return [BINDING textureType];
}

- (MTLDataType)textureDataType {
    return [BINDING textureDataType];
}

- (BOOL)isDepthTexture {
    return [BINDING isDepthTexture];
}

- (NSUInteger)arrayLength {
    return [BINDING arrayLength];
}
@end

@implementation MTLComputePipelineReflection
@synthesize bindings = _bindings, arguments = _arguments;

- (id)initWithKernel:(const ig_kernel_info *)kernel {
    if (!(self = [super init])) return nil;
    igi_ensure_pool();
    NSMutableArray *bindings = [[NSMutableArray alloc] init], *arguments = [[NSMutableArray alloc] init];
    for (size_t i = 0; i < kernel->argument_count; i++) {
        if (kernel->arguments[i].kind == IG_ARGUMENT_BUILTIN) continue;
        IGBinding *binding = [[IGBinding alloc] initWithArgument:&kernel->arguments[i]];
        MTLArgument *argument = [[MTLArgument alloc] initWithBinding:binding];
        [bindings addObject:binding];
        [arguments addObject:argument];
        [binding release];
        [argument release];
    }
    _bindings = bindings;
    _arguments = arguments;
    return self;
}

- (void)dealloc {
    [_bindings release];
    [_arguments release];
    [super dealloc];
}
@end
