// SPDX-License-Identifier: Apache-2.0
// Types of arguments: structs, arrays, pointers, textures.
#include "types.h"

#include <stdio.h>
#include <string.h>

// ---- Names ----

static const struct {
    const char *name;
    ig_type type;
} names[] = {
    {"float", IG_TYPE_F32}, {"half", IG_TYPE_F16},  {"bfloat", IG_TYPE_BF16}, {"int", IG_TYPE_I32},
    {"uint", IG_TYPE_U32},  {"short", IG_TYPE_I16}, {"ushort", IG_TYPE_U16},  {"char", IG_TYPE_I8},
    {"uchar", IG_TYPE_U8},  {"bool", IG_TYPE_BOOL}, {"long", IG_TYPE_I64},    {"ulong", IG_TYPE_U64},
};

// 7 is float2x2, 8 is float2x3; half matrices have the same order.
static MTLDataType matrix_type(ig_type type, uint32_t columns, uint32_t rows) {
    NSUInteger first = type == IG_TYPE_F32 ? MTLDataTypeFloat2x2 : MTLDataTypeHalf2x2;
    if ((type != IG_TYPE_F32 && type != IG_TYPE_F16) || columns < 2 || columns > 4 || rows < 2 || rows > 4)
        return MTLDataTypeNone;
    return (MTLDataType)(first + 3 * (columns - 2) + rows - 2);
}

static uint32_t digit(const char **text) {
    return **text >= '2' && **text <= '4' ? (uint32_t)(*(*text)++ - '0') : 1;
}

MTLDataType igi_element_type(const char *text) {
    if (strncmp(text, "const ", 6) == 0) text += 6;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i].name);
        if (strncmp(text, names[i].name, length) != 0) continue;
        const char *rest = text + length;
        uint32_t components = digit(&rest), rows = 1;
        if (*rest == 'x') rest++, rows = digit(&rest);
        if (strspn(rest, " const*&") != strlen(rest)) continue;
        return rows > 1 ? matrix_type(names[i].type, components, rows) : igi_data_type(names[i].type, components);
    }
    return MTLDataTypeStruct;
}

MTLBindingAccess igi_binding_access(ig_access access) {
    switch (access) {
        case IG_ACCESS_WRITE: return MTLBindingAccessWriteOnly;
        case IG_ACCESS_READ_WRITE: return MTLBindingAccessReadWrite;
        default: return MTLBindingAccessReadOnly;
    }
}

MTLTextureType igi_texture_type(const char *text, BOOL *depth, MTLDataType *data) {
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
    *data = igi_element_type(held);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == length && strncmp(text, types[i].name, length) == 0) return types[i].type;
    return MTLTextureType2D;
}

// ---- Layouts ----

// What libingot knows by name only.
static MTLDataType handle_type(const char *name) {
    if (igi_is_tensor(name)) return MTLDataTypeTensor;
    if (strncmp(name, "visible_function_table", 22) == 0) return MTLDataTypeVisibleFunctionTable;
    if (strcmp(name, "command_buffer") == 0) return MTLDataTypeIndirectCommandBuffer;
    if (strcmp(name, "compute_pipeline_state") == 0) return MTLDataTypeComputePipeline;
    return strcmp(name, "render_pipeline_state") == 0 ? MTLDataTypeRenderPipeline : MTLDataTypeNone;
}

static BOOL is_handle(MTLDataType type) {
    return type == MTLDataTypePointer || type == MTLDataTypeTexture || type == MTLDataTypeSampler ||
           type == MTLDataTypeVisibleFunctionTable || type == MTLDataTypeIndirectCommandBuffer ||
           type == MTLDataTypeComputePipeline || type == MTLDataTypeRenderPipeline || type == MTLDataTypeTensor;
}

MTLDataType igi_layout_data_type(const ig_layout *part) {
    switch (part->kind) {
        case IG_LAYOUT_SCALAR:
            return part->columns > 1 ? matrix_type(part->scalar, part->columns, part->components)
                                     : igi_data_type(part->scalar, part->components);
        case IG_LAYOUT_STRUCT: return MTLDataTypeStruct;
        case IG_LAYOUT_ARRAY: return MTLDataTypeArray;
        case IG_LAYOUT_POINTER: return MTLDataTypePointer;
        case IG_LAYOUT_TEXTURE: return MTLDataTypeTexture;
        case IG_LAYOUT_SAMPLER: return MTLDataTypeSampler;
        default: return handle_type(part->type);
    }
}

igi_layout_range igi_layout_below(igi_layout_range range, size_t index) {
    if (index >= range.count) return (igi_layout_range){0};
    size_t end = index + 1;
    while (end < range.count && range.parts[end].depth > range.parts[index].depth) end++;
    return (igi_layout_range){range.parts + index, end - index};
}

NSUInteger igi_layout_ids(igi_layout_range range) {
    if (range.count == 0) return 0;
    if (range.parts->kind == IG_LAYOUT_ARRAY) return range.parts->count * igi_layout_ids(igi_layout_below(range, 1));
    if (range.parts->kind != IG_LAYOUT_STRUCT) return 1;
    NSUInteger ids = 0;
    for (size_t i = 1; i < range.count; i++)
        if (range.parts[i].depth == range.parts->depth + 1) ids += igi_layout_ids(igi_layout_below(range, i));
    return ids;
}

static id of_class(MTLType *type, Class class) {
    return [type isKindOfClass:class] ? type : nil;
}

@interface MTLStructMember (Ingot)
- (id)initWithLayout:(igi_layout_range)range;
@end
@interface MTLStructType (Ingot)
- (id)initWithLayout:(igi_layout_range)range;
- (BOOL)hasHandles;
@end
@interface MTLArrayType (Ingot)
- (id)initWithLayout:(igi_layout_range)range;
@end
@interface MTLPointerType (IngotLayout)
- (id)initWithLayout:(igi_layout_range)range;
@end
@interface MTLTextureReferenceType (Ingot)
- (id)initWithLayout:(igi_layout_range)range;
@end

MTLType *igi_new_type(igi_layout_range range) {
    if (range.count == 0) return nil;
    switch (range.parts->kind) {
        case IG_LAYOUT_STRUCT: return [[MTLStructType alloc] initWithLayout:range];
        case IG_LAYOUT_ARRAY: return [[MTLArrayType alloc] initWithLayout:range];
        case IG_LAYOUT_POINTER: return [[MTLPointerType alloc] initWithLayout:range];
        case IG_LAYOUT_TEXTURE: return [[MTLTextureReferenceType alloc] initWithLayout:range];
        default:
            if (igi_is_tensor(range.parts->type)) return [[MTLTensorReferenceType alloc] initWithLayout:range];
            return [[MTLType alloc] initWithDataType:igi_layout_data_type(range.parts)];
    }
}

@implementation MTLType
@synthesize dataType = _dataType;

- (id)initWithDataType:(MTLDataType)dataType {
    if ((self = [super init])) _dataType = dataType;
    return self;
}
@end

@implementation MTLStructMember
@synthesize name = _name, offset = _offset, argumentIndex = _argumentIndex;

- (id)initWithLayout:(igi_layout_range)range {
    if (!(self = [super init])) return nil;
    _name = [[NSString alloc] initWithUTF8String:range.parts->name];
    _offset = range.parts->offset;
    _argumentIndex = range.parts->id;
    _type = igi_new_type(range);
    return self;
}

- (void)dealloc {
    [_name release];
    [_type release];
    [super dealloc];
}

- (MTLDataType)dataType {
    return _type.dataType;
}

- (MTLStructType *)structType {
    return of_class(_type, [MTLStructType class]);
}

- (MTLArrayType *)arrayType {
    return of_class(_type, [MTLArrayType class]);
}

- (MTLTextureReferenceType *)textureReferenceType {
    return of_class(_type, [MTLTextureReferenceType class]);
}

- (MTLPointerType *)pointerType {
    return of_class(_type, [MTLPointerType class]);
}

- (MTLTensorReferenceType *)tensorReferenceType {
    return of_class(_type, [MTLTensorReferenceType class]);
}
@end

@implementation MTLStructType
@synthesize members = _members;

- (id)initWithLayout:(igi_layout_range)range {
    if (!(self = [super initWithDataType:MTLDataTypeStruct])) return nil;
    NSMutableArray *members = [[NSMutableArray alloc] init];
    for (size_t i = 1; i < range.count; i++) {
        if (range.parts[i].depth != range.parts->depth + 1) continue;
        MTLStructMember *member = [[MTLStructMember alloc] initWithLayout:igi_layout_below(range, i)];
        [members addObject:member];
        [member release];
    }
    _members = members;
    return self;
}

- (void)dealloc {
    [_members release];
    [super dealloc];
}

- (BOOL)hasHandles {
    for (MTLStructMember *member in _members) {
        MTLDataType type = member.arrayType ? member.arrayType.elementType : member.dataType;
        if (is_handle(type)) return YES;
        if ([member.structType hasHandles]) return YES;
    }
    return NO;
}

- (MTLStructMember *)memberByName:(NSString *)name {
    for (MTLStructMember *member in _members)
        if ([member.name isEqual:name]) return member;
    return nil;
}
@end

@implementation MTLArrayType
@synthesize arrayLength = _arrayLength, stride = _stride, argumentIndexStride = _argumentIndexStride;

- (id)initWithLayout:(igi_layout_range)range {
    if (!(self = [super initWithDataType:MTLDataTypeArray])) return nil;
    igi_layout_range element = igi_layout_below(range, 1);
    _arrayLength = range.parts->count;
    _stride = range.parts->stride;
    _argumentIndexStride = igi_layout_ids(element);
    _element = igi_new_type(element);
    return self;
}

- (void)dealloc {
    [_element release];
    [super dealloc];
}

- (MTLDataType)elementType {
    return _element.dataType;
}

- (MTLStructType *)elementStructType {
    return of_class(_element, [MTLStructType class]);
}

- (MTLArrayType *)elementArrayType {
    return of_class(_element, [MTLArrayType class]);
}

- (MTLTextureReferenceType *)elementTextureReferenceType {
    return of_class(_element, [MTLTextureReferenceType class]);
}

- (MTLPointerType *)elementPointerType {
    return of_class(_element, [MTLPointerType class]);
}

- (MTLTensorReferenceType *)elementTensorReferenceType {
    return of_class(_element, [MTLTensorReferenceType class]);
}
@end

@implementation MTLPointerType
@synthesize elementType = _elementType, access = _access, alignment = _alignment, dataSize = _dataSize,
            elementIsArgumentBuffer = _elementIsArgumentBuffer;

- (id)initWithElement:(MTLType *)element
          elementType:(MTLDataType)elementType
               access:(MTLBindingAccess)access
                 size:(NSUInteger)size
            alignment:(NSUInteger)alignment {
    if (!(self = [super initWithDataType:MTLDataTypePointer])) return nil;
    _element = [element retain];
    _elementType = elementType;
    _access = access;
    _dataSize = size;
    _alignment = alignment;
    _elementIsArgumentBuffer = [[self elementStructType] hasHandles];
    return self;
}

- (id)initWithLayout:(igi_layout_range)range {
    igi_layout_range element = igi_layout_below(range, 1);
    MTLType *type = igi_new_type(element);
    self = [self initWithElement:type
                     elementType:type ? type.dataType : MTLDataTypeStruct
                          access:igi_binding_access(range.parts->access)
                            size:element.count ? element.parts->size : 0
                       alignment:element.count ? element.parts->alignment : 0];
    [type release];
    return self;
}

- (void)dealloc {
    [_element release];
    [super dealloc];
}

- (MTLStructType *)elementStructType {
    return of_class(_element, [MTLStructType class]);
}

- (MTLArrayType *)elementArrayType {
    return of_class(_element, [MTLArrayType class]);
}
@end

@implementation MTLTextureReferenceType
@synthesize textureDataType = _textureDataType, textureType = _textureType, access = _access,
            isDepthTexture = _isDepthTexture;

- (id)initWithLayout:(igi_layout_range)range {
    if (!(self = [super initWithDataType:MTLDataTypeTexture])) return nil;
    _textureType = igi_texture_type(range.parts->type, &_isDepthTexture, &_textureDataType);
    _access = igi_binding_access(range.parts->access);
    return self;
}
@end
