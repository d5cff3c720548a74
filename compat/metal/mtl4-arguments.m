// SPDX-License-Identifier: Apache-2.0
// Metal 4: argument tables, and command buffers of Metal 3 that are encoded from what was remembered.
#include "function-table.h"
#include "mtl4.h"
#include "resource.h"
#include "tensor.h"
#include "texture-view-pool.h"

@implementation MTL4ArgumentTableDescriptor
@synthesize maxBufferBindCount = _maxBufferBindCount, maxTextureBindCount = _maxTextureBindCount,
            maxSamplerStateBindCount = _maxSamplerStateBindCount, initializeBindings = _initializeBindings,
            supportAttributeStrides = _supportAttributeStrides, label = _label;

- (void)dealloc {
    [_label release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    MTL4ArgumentTableDescriptor *copy = [[[self class] allocWithZone:zone] init];
    copy.maxBufferBindCount = _maxBufferBindCount;
    copy.maxTextureBindCount = _maxTextureBindCount;
    copy.maxSamplerStateBindCount = _maxSamplerStateBindCount;
    copy.initializeBindings = _initializeBindings;
    copy.supportAttributeStrides = _supportAttributeStrides;
    copy.label = _label;
    return copy;
}
@end

@implementation IGArgumentTable
- (id)initWithDevice:(IGDevice *)device descriptor:(MTL4ArgumentTableDescriptor *)descriptor {
    if (!(self = [super init])) return nil;
    _device = [device retain];
    _bufferCount = MIN(descriptor.maxBufferBindCount, (NSUInteger)IGI_MTL4_BUFFERS);
    _textureCount = MIN(descriptor.maxTextureBindCount, (NSUInteger)IGI_MTL4_TEXTURES);
    _samplerCount = MIN(descriptor.maxSamplerStateBindCount, (NSUInteger)IGI_MTL4_SAMPLERS);
    self.label = descriptor.label;
    return self;
}

- (void)dealloc {
    [_device release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    IGArgumentTable *copy = [[[self class] allocWithZone:zone] initWithDevice:_device descriptor:nil];
    copy->_bindings = _bindings;
    return copy;
}

- (id<MTLDevice>)device {
    return _device;
}

- (void)setAddress:(MTLGPUAddress)gpuAddress atIndex:(NSUInteger)bindingIndex {
    if (bindingIndex >= _bufferCount) return;
    _bindings.addresses[bindingIndex] = gpuAddress;
    _bindings.resources[bindingIndex] = 0;
}

- (void)setAddress:(MTLGPUAddress)gpuAddress attributeStride:(NSUInteger)stride atIndex:(NSUInteger)bindingIndex {
    [self setAddress:gpuAddress atIndex:bindingIndex];
    if (bindingIndex < _bufferCount) _bindings.strides[bindingIndex] = stride;
}

- (void)setResource:(MTLResourceID)resourceID atBufferIndex:(NSUInteger)bindingIndex {
    if (bindingIndex >= _bufferCount) return;
    _bindings.addresses[bindingIndex] = 0;
    _bindings.resources[bindingIndex] = resourceID._impl;
}

- (void)setTexture:(MTLResourceID)resourceID atIndex:(NSUInteger)bindingIndex {
    if (bindingIndex < _textureCount) _bindings.textures[bindingIndex] = resourceID._impl;
}

- (void)setSamplerState:(MTLResourceID)resourceID atIndex:(NSUInteger)bindingIndex {
    if (bindingIndex < _samplerCount) _bindings.samplers[bindingIndex] = resourceID._impl;
}
@end

// ---- Replaying ----

@implementation IGReplay
- (id)initWithCommands:(IGCommandBuffer *)commands residencySets:(NSArray *)sets {
    if (!(self = [super init])) return nil;
    _commands = [commands retain];
    _residencySets = [sets retain];
    return self;
}

- (void)dealloc {
    [_commands release];
    [_residencySets release];
    [super dealloc];
}

- (void)end {
    [_compute endEncoding];
    [_blit endEncoding];
    _compute = nil;
    _blit = nil;
}

- (id<MTLComputeCommandEncoder>)compute {
    if (!_compute) {
        [self end];
        _compute = [_commands computeCommandEncoder];
    }
    return _compute;
}

- (id<MTLBlitCommandEncoder>)blit {
    if (!_blit) {
        [self end];
        _blit = [_commands blitCommandEncoder];
    }
    return _blit;
}

// The buffer, or all of a heap's memory as one; nil if the allocation is something else.
static id<MTLBuffer> buffer_of(id allocation) {
    if ([allocation isKindOfClass:[IGBuffer class]]) return allocation;
    if (![allocation isKindOfClass:[IGHeap class]]) return nil;
    IGHeap *heap = allocation;
    return igi_autoreleased([[IGBuffer alloc] initWithBuffer:ig_buffer_retain([heap memory])
                                                      device:(IGDevice *)heap.device
                                                     options:heap.resourceOptions]);
}

- (id<MTLBuffer>)bufferAt:(uint64_t)address offset:(NSUInteger *)offset {
    for (id<MTLResidencySet> set in _residencySets)
        for (id allocation in set.allAllocations) {
            id<MTLBuffer> buffer = buffer_of(allocation);
            if (!buffer || address < buffer.gpuAddress || address - buffer.gpuAddress >= buffer.length) continue;
            *offset = address - buffer.gpuAddress;
            return buffer;
        }
    [_commands fail:[NSString stringWithFormat:@"address 0x%llx is in no buffer of a residency set of the queue or the "
                                               @"command buffer",
                                               (unsigned long long)address]];
    return nil;
}

// Whether a kernel may use the memory: it is in a set itself, or its heap is.
- (BOOL)isResident:(id<MTLResource>)resource {
    for (id<MTLResidencySet> set in _residencySets)
        if ([set containsAllocation:resource] || (resource.heap && [set containsAllocation:resource.heap])) return YES;
    return NO;
}

- (id)residentOf:(Class)class with:(uint64_t)identity {
    for (id<MTLResidencySet> set in _residencySets)
        for (id allocation in set.allAllocations)
            if ([allocation isKindOfClass:class] && [allocation gpuResourceID]._impl == identity) return allocation;
    return nil;
}

- (id<MTLTexture>)textureWith:(uint64_t)identity {
    id<MTLTexture> texture = [self residentOf:[IGTexture class] with:identity];
    if (texture) return texture;
    texture = igi_pooled_view((MTLResourceID){identity});
    if (texture && [self isResident:texture.rootResource]) return texture;
    [_commands fail:@"a texture of the argument table is in no residency set of the queue or the command buffer"];
    return nil;
}

- (void)bindResource:(uint64_t)identity at:(NSUInteger)index {
    IGBuffer *memory, *description = igi_mtl_tensor_of((MTLResourceID){identity}, &memory);
    if (!description) {
        id table = [self residentOf:[IGVisibleFunctionTable class] with:identity];
        if (table) return [[self compute] setVisibleFunctionTable:table atBufferIndex:index];
        return [_commands fail:@"a resource of the argument table is no tensor, and in no residency set of the queue "
                               @"or the command buffer"];
    }
    if (![self isResident:memory] && ![self residentOf:[IGTensor class] with:identity])
        return [_commands fail:@"neither a tensor of the argument table nor its buffer is in a residency set of the "
                               @"queue or the command buffer"];
    [_commands keep:memory];
    [[self compute] setBuffer:description offset:0 atIndex:index];
}

- (void)bindBuffers:(const struct igi_bindings *)bindings {
    for (NSUInteger i = 0; i < IGI_MTL4_BUFFERS; i++) {
        NSUInteger offset = 0;
        uint64_t address = bindings->addresses[i];
        id<MTLBuffer> buffer = address ? [self bufferAt:address offset:&offset] : nil;
        [[self compute] setBuffer:buffer offset:offset attributeStride:bindings->strides[i] atIndex:i];
        if (bindings->resources[i]) [self bindResource:bindings->resources[i] at:i];
    }
}

- (void)bindSampler:(uint64_t)identity at:(NSUInteger)index {
    id<MTLSamplerState> sampler = igi_sampler_of((MTLResourceID){identity});
    if (!sampler) return [_commands fail:@"a sampler of the argument table is not, or no longer, a sampler"];
    [[self compute] setSamplerState:sampler atIndex:index];
}

- (void)bind:(IGArgumentTable *)table {
    const struct igi_bindings *bindings = &table->_bindings;
    [self bindBuffers:bindings];
    for (NSUInteger i = 0; i < IGI_MTL4_TEXTURES; i++)
        if (bindings->textures[i]) [[self compute] setTexture:[self textureWith:bindings->textures[i]] atIndex:i];
    for (NSUInteger i = 0; i < IGI_MTL4_SAMPLERS; i++)
        if (bindings->samplers[i]) [self bindSampler:bindings->samplers[i] at:i];
    // Kernels may reach any of them through pointers.
    for (id<MTLResidencySet> set in _residencySets)
        for (id allocation in set.allAllocations) [_commands keep:allocation];
}
@end
