// SPDX-License-Identifier: Apache-2.0
// Reflection, from what Ingot knows about a kernel's arguments. Types are described when they are first asked for, because
// the source is compiled once more for them.
#include "argument-encoder.h"
#include "types.h"

@interface IGBinding : IGObject <MTLBufferBinding, MTLThreadgroupBinding, MTLTextureBinding, MTLTensorBinding> {
   @public
    NSString *_name;
    MTLBindingType _type;
    MTLBindingAccess _access;
    NSUInteger _index, _size, _alignment;
    MTLDataType _dataType;
    MTLPointerType *_pointer;
    MTLTextureType _textureType;
    NSUInteger _arrayLength;
    igi_mtl_tensor_shape _shape;
    MTLTensorExtents *_dimensions;
    BOOL _used, _depth;
    IGLibrary *_library;
    NSString *_kernel;
    MTLType *_element;
}
- (id)initWithArgument:(const ig_argument *)argument of:(NSString *)kernel in:(IGLibrary *)library;
@end

@interface MTLArgument (Ingot)
- (id)initWithBinding:(IGBinding *)binding;
@end

static MTLBindingType type_of(const ig_argument *argument) {
    switch (argument->kind) {
        case IG_ARGUMENT_BUFFER: return igi_is_tensor(argument->type) ? MTLBindingTypeTensor : MTLBindingTypeBuffer;
        case IG_ARGUMENT_TEXTURE: return MTLBindingTypeTexture;
        case IG_ARGUMENT_SAMPLER: return MTLBindingTypeSampler;
        default: return MTLBindingTypeThreadgroupMemory;
    }
}

// For a struct only the size is known: its alignment divides it, and is at most 16.
static NSUInteger alignment_of(MTLDataType data_type, NSUInteger size) {
    ig_type type;
    uint32_t components;
    if (igi_type_of(data_type, &type, &components)) return ig_type_size(type) * (components == 3 ? 4 : components);
    NSUInteger alignment = size & (~size + 1);
    return alignment == 0 || alignment > 16 ? 16 : alignment;
}

// ---- Bindings ----

@implementation IGBinding
- (id)initWithArgument:(const ig_argument *)argument of:(NSString *)kernel in:(IGLibrary *)library {
    if (!(self = [super init])) return nil;
    _library = [library retain];
    _kernel = [kernel retain];
    _name = [[NSString alloc] initWithUTF8String:argument->name];
    _type = type_of(argument);
    _arrayLength = argument->array_length ? argument->array_length : 1;
    _access = igi_binding_access(argument->access);
    _index = argument->index;
    _used = argument->condition[0] == 0 && argument->access != IG_ACCESS_NONE;
    _size = argument->min_bytes;
    _dataType = igi_element_type(argument->type);
    _alignment = alignment_of(_dataType, _size);
    if (_type == MTLBindingTypeTexture) _textureType = igi_texture_type(argument->type, &_depth, &_dataType);
    if (_type == MTLBindingTypeTensor) [self setShape:igi_mtl_tensor_shape_of(argument->type)];
    return self;
}

- (void)dealloc {
    [_name release];
    [_kernel release];
    [_library release];
    [_pointer release];
    [_element release];
    [_dimensions release];
    [super dealloc];
}

- (void)setShape:(igi_mtl_tensor_shape)shape {
    _shape = shape;
    _access = shape.access;
    _dimensions = igi_new_extents(&shape);
}

// What the buffer holds; nil if it is not known.
- (MTLType *)element {
    @synchronized(self) {
        if (!_element && _library && _type == MTLBindingTypeBuffer) {
            igi_layout_range range = [_library layoutOfBuffer:_index of:_kernel];
            _element = igi_new_type(range);
            if (range.count) _alignment = range.parts->alignment;
        }
    }
    return _element;
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
    if (_dataType == MTLDataTypeStruct) [self element];
    return _type == MTLBindingTypeBuffer ? _alignment : 0;
}

- (NSUInteger)bufferDataSize {
    return _type == MTLBindingTypeBuffer ? _size : 0;
}

- (MTLDataType)bufferDataType {
    return _type == MTLBindingTypeBuffer ? _dataType : MTLDataTypeNone;
}

- (MTLStructType *)bufferStructType {
    MTLType *element = _dataType == MTLDataTypeStruct ? [self element] : nil;
    return [element isKindOfClass:[MTLStructType class]] ? (MTLStructType *)element : nil;
}

- (MTLPointerType *)bufferPointerType {
    if (_type != MTLBindingTypeBuffer) return nil;
    MTLType *element = [self element];
    @synchronized(self) {
        if (!_pointer)
            _pointer = [[MTLPointerType alloc] initWithElement:element
                                                   elementType:element.dataType ? element.dataType : _dataType
                                                        access:_access
                                                          size:_size
                                                     alignment:_alignment];
    }
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

- (MTLTensorDataType)tensorDataType {
    return _shape.element;
}

- (MTLDataType)indexType {
    return _shape.index;
}

- (MTLTensorExtents *)dimensions {
    return _dimensions;
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
    return [BINDING bufferStructType];
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

id<MTLArgumentEncoder> igi_new_encoder_of_binding(id<MTLBufferBinding> binding) {
    IGBinding *own = (IGBinding *)binding;
    if (![own isKindOfClass:[IGBinding class]] || own->_type != MTLBindingTypeBuffer || !own->_library) return nil;
    igi_layout_range layout = [own->_library layoutOfBuffer:own->_index of:own->_kernel];
    return [[IGArgumentEncoder alloc] initWithLayout:layout library:own->_library];
}

id<MTLBinding> igi_new_binding(IGLibrary *library, const ig_kernel_info *kernel, const ig_argument *argument) {
    NSString *name = [NSString stringWithUTF8String:kernel->name];
    return [[IGBinding alloc] initWithArgument:argument of:name in:library];
}

MTLArgument *igi_new_argument(IGLibrary *library, const ig_kernel_info *kernel, const ig_argument *argument) {
    id<MTLBinding> binding = igi_new_binding(library, kernel, argument);
    MTLArgument *made = [[MTLArgument alloc] initWithBinding:(IGBinding *)binding];
    [binding release];
    return made;
}

@implementation MTLComputePipelineReflection
@synthesize bindings = _bindings, arguments = _arguments;

- (id)initWithKernel:(const ig_kernel_info *)kernel library:(IGLibrary *)library {
    if (!(self = [super init])) return nil;
    igi_ensure_pool();
    NSMutableArray *bindings = [[NSMutableArray alloc] init], *arguments = [[NSMutableArray alloc] init];
    for (size_t i = 0; i < kernel->argument_count; i++) {
        if (kernel->arguments[i].kind == IG_ARGUMENT_BUILTIN || kernel->arguments[i].kind == IG_ARGUMENT_STAGE_INPUT)
            continue;
        IGBinding *binding = (IGBinding *)igi_new_binding(library, kernel, &kernel->arguments[i]);
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
