// SPDX-License-Identifier: Apache-2.0
#include "argument-encoder.h"

#include <stdlib.h>

#include "types.h"

// Consecutive members of one type.
typedef struct igi_argument_member {
    NSUInteger index, count, offset, stride;
    BOOL is_constant;
    igi_layout_range pointed;  // what a pointer of a described struct points to
} igi_argument_member;

enum { HANDLE_BYTES = sizeof(uint64_t), MAX_MEMBERS = 1 << 20 };

@implementation MTLArgumentDescriptor
@synthesize dataType = _dataType, index = _index, arrayLength = _arrayLength, access = _access,
            textureType = _textureType, constantBlockAlignment = _constantBlockAlignment;

+ (MTLArgumentDescriptor *)argumentDescriptor {
    return igi_autoreleased([[self alloc] init]);
}

- (id)copyWithZone:(NSZone *)zone {
    MTLArgumentDescriptor *copy = [[[self class] allocWithZone:zone] init];
    copy->_dataType = _dataType;
    copy->_index = _index;
    copy->_arrayLength = _arrayLength;
    copy->_access = _access;
    copy->_textureType = _textureType;
    copy->_constantBlockAlignment = _constantBlockAlignment;
    return copy;
}
@end

static BOOL is_handle(MTLDataType type) {
    return type == MTLDataTypePointer || type == MTLDataTypeTexture || type == MTLDataTypeSampler ||
           type == MTLDataTypeComputePipeline || type == MTLDataTypeRenderPipeline ||
           type == MTLDataTypeIndirectCommandBuffer || type == MTLDataTypeVisibleFunctionTable;
}

// Of a member: handles, and constants as MSL lays them out. 0: not a type of argument buffers.
static NSUInteger size_of(MTLDataType data_type) {
    ig_type type;
    uint32_t components;
    if (is_handle(data_type)) return HANDLE_BYTES;
    if (!igi_type_of(data_type, &type, &components)) return 0;
    return (NSUInteger)ig_type_size(type) * (components == 3 ? 4 : components);
}

static NSInteger by_index(id left, id right, void *context) {
    NSUInteger a = [(MTLArgumentDescriptor *)left index], b = [(MTLArgumentDescriptor *)right index];
    return a < b ? NSOrderedAscending : a > b ? NSOrderedDescending : NSOrderedSame;
}

@implementation IGArgumentEncoder
- (BOOL)add:(MTLArgumentDescriptor *)descriptor {
    NSUInteger size = size_of(descriptor.dataType), alignment = size;
    const igi_argument_member *last = _memberCount ? &_members[_memberCount - 1] : NULL;
    if (!size || descriptor.arrayLength > UINT32_MAX || (last && descriptor.index < last->index + last->count))
        return NO;
    if (descriptor.constantBlockAlignment > alignment) alignment = descriptor.constantBlockAlignment;
    NSUInteger count = descriptor.arrayLength ? descriptor.arrayLength : 1;
    NSUInteger offset = (_length + alignment - 1) / alignment * alignment;
    _members[_memberCount++] =
        (igi_argument_member){descriptor.index, count, offset, size, !is_handle(descriptor.dataType), {0}};
    _length = offset + count * size;
    if (alignment > _alignment) _alignment = alignment;
    return YES;
}

- (id)initWithDevice:(IGDevice *)device arguments:(NSArray *)arguments {
    if (!(self = [super init])) return nil;
    igi_ensure_pool();
    _device = [device retain];
    _alignment = 1;
    _members = calloc([arguments count] + 1, sizeof *_members);
    BOOL right = _members && [arguments count];
    for (MTLArgumentDescriptor *descriptor in [arguments sortedArrayUsingFunction:by_index context:NULL])
        right = right && [self add:descriptor];
    _length = (_length + _alignment - 1) / _alignment * _alignment;
    if (right) return self;
    [self release];
    return nil;
}

// ---- Of a struct ----

// A part of the struct at `offset`: a member, or several if it is a struct or an array of structs.
- (BOOL)addPart:(igi_layout_range)part index:(NSUInteger)index offset:(NSUInteger)offset {
    const ig_layout *first = part.parts;
    igi_layout_range element = igi_layout_below(part, 1);
    BOOL repeated = first->kind == IG_LAYOUT_ARRAY;
    if (first->kind == IG_LAYOUT_STRUCT) return [self addMembers:part index:index offset:offset];
    if (repeated && (element.parts->kind == IG_LAYOUT_STRUCT || element.parts->kind == IG_LAYOUT_ARRAY)) {
        NSUInteger ids = igi_layout_ids(element);
        for (uint32_t i = 0; i < first->count; i++)
            if (![self addPart:element index:index + i * ids offset:offset + (NSUInteger)i * first->stride]) return NO;
        return YES;
    }
    if (_memberCount >= MAX_MEMBERS) return NO;
    igi_argument_member *grown = realloc(_members, (_memberCount + 1) * sizeof *grown);
    if (!grown) return NO;
    _members = grown;
    const ig_layout *held = repeated ? element.parts : first;
    _members[_memberCount++] = (igi_argument_member){
        index,
        repeated ? first->count : 1,
        offset,
        repeated ? first->stride : first->size,
        held->kind == IG_LAYOUT_SCALAR,
        held->kind == IG_LAYOUT_POINTER ? igi_layout_below(repeated ? element : part, 1) : (igi_layout_range){0}};
    return YES;
}

// Ids of parts count from that of their struct.
- (BOOL)addMembers:(igi_layout_range)type index:(NSUInteger)index offset:(NSUInteger)offset {
    for (size_t i = 1; i < type.count; i++) {
        const ig_layout *part = &type.parts[i];
        if (part->depth != type.parts->depth + 1) continue;
        NSUInteger at = index + part->id - type.parts->id;
        if (![self addPart:igi_layout_below(type, i) index:at offset:offset + part->offset]) return NO;
    }
    return YES;
}

- (id)initWithLayout:(igi_layout_range)layout library:(IGLibrary *)library {
    if (!(self = [super init])) return nil;
    igi_ensure_pool();
    _library = [library retain];
    _device = (IGDevice *)[[library device] retain];
    if (layout.count && layout.parts->kind == IG_LAYOUT_STRUCT && [self addMembers:layout index:0 offset:0]) {
        _length = layout.parts->size;
        _alignment = layout.parts->alignment;
        return self;
    }
    [self release];
    return nil;
}

- (id<MTLArgumentEncoder>)newArgumentEncoderForBufferAtIndex:(NSUInteger)index {
    for (size_t i = 0; i < _memberCount; i++) {
        const igi_argument_member *member = &_members[i];
        if (index >= member->index && index - member->index < member->count)
            return [[IGArgumentEncoder alloc] initWithLayout:member->pointed library:_library];
    }
    return nil;
}

- (void)dealloc {
    free(_members);
    [_library release];
    [_buffer release];
    [_device release];
    [super dealloc];
}

- (id<MTLDevice>)device {
    return _device;
}

- (NSUInteger)encodedLength {
    return _length;
}

- (NSUInteger)alignment {
    return _alignment;
}

- (void)setArgumentBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset {
    [buffer retain];
    [_buffer release];
    _buffer = buffer;
    _offset = offset;
}

- (void)setArgumentBuffer:(id<MTLBuffer>)buffer startOffset:(NSUInteger)start arrayElement:(NSUInteger)element {
    [self setArgumentBuffer:buffer offset:start + element * _length];
}

// ---- Members ----

- (void *)member:(NSUInteger)index constant:(BOOL)constant {
    char *contents = _buffer.contents;
    if (!contents || _offset > _buffer.length || _buffer.length - _offset < _length) return NULL;
    for (size_t i = 0; i < _memberCount; i++) {
        const igi_argument_member *member = &_members[i];
        if (index < member->index || index - member->index >= member->count) continue;
        if (member->is_constant != constant) return NULL;
        return contents + _offset + member->offset + (index - member->index) * member->stride;
    }
    return NULL;
}

- (void)setHandle:(uint64_t)handle at:(NSUInteger)index {
    void *member = [self member:index constant:NO];
    if (member) memcpy(member, &handle, sizeof handle);
}

- (void)setBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index {
    [self setHandle:buffer ? buffer.gpuAddress + offset : 0 at:index];
}

- (void)setBuffers:(const id<MTLBuffer>[])buffers offsets:(const NSUInteger[])offsets withRange:(NSRange)range {
    for (NSUInteger i = 0; i < range.length; i++)
        [self setBuffer:buffers[i] offset:offsets[i] atIndex:range.location + i];
}

- (void)setTexture:(id<MTLTexture>)texture atIndex:(NSUInteger)index {
    [self setHandle:texture ? texture.gpuResourceID._impl : 0 at:index];
}

- (void)setTextures:(const id<MTLTexture>[])textures withRange:(NSRange)range {
    for (NSUInteger i = 0; i < range.length; i++) [self setTexture:textures[i] atIndex:range.location + i];
}

- (void)setSamplerState:(id<MTLSamplerState>)sampler atIndex:(NSUInteger)index {
    [self setHandle:sampler ? sampler.gpuResourceID._impl : 0 at:index];
}

- (void)setSamplerStates:(const id<MTLSamplerState>[])samplers withRange:(NSRange)range {
    for (NSUInteger i = 0; i < range.length; i++) [self setSamplerState:samplers[i] atIndex:range.location + i];
}

- (void)setVisibleFunctionTable:(id<MTLVisibleFunctionTable>)table atIndex:(NSUInteger)index {
    [self setHandle:table ? table.gpuResourceID._impl : 0 at:index];
}

- (void)setVisibleFunctionTables:(const id<MTLVisibleFunctionTable>[])tables withRange:(NSRange)range {
    for (NSUInteger i = 0; i < range.length; i++) [self setVisibleFunctionTable:tables[i] atIndex:range.location + i];
}

- (void)setComputePipelineState:(id<MTLComputePipelineState>)pipeline atIndex:(NSUInteger)index {
    [self setHandle:pipeline ? pipeline.gpuResourceID._impl : 0 at:index];
}

- (void)setComputePipelineStates:(const id<MTLComputePipelineState>[])pipelines withRange:(NSRange)range {
    for (NSUInteger i = 0; i < range.length; i++)
        [self setComputePipelineState:pipelines[i] atIndex:range.location + i];
}

- (void)setIndirectCommandBuffer:(id<MTLIndirectCommandBuffer>)buffer atIndex:(NSUInteger)index {
    [self setHandle:buffer ? buffer.gpuResourceID._impl : 0 at:index];
}

- (void)setIndirectCommandBuffers:(const id<MTLIndirectCommandBuffer>[])buffers withRange:(NSRange)range {
    for (NSUInteger i = 0; i < range.length; i++) [self setIndirectCommandBuffer:buffers[i] atIndex:range.location + i];
}

- (void *)constantDataAtIndex:(NSUInteger)index {
    return [self member:index constant:YES];
}
@end
