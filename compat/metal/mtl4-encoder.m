// SPDX-License-Identifier: Apache-2.0
// Metal 4: argument tables, and encoders, which remember their commands as blocks.
#include "mtl4.h"
#include "resource.h"
#include "texture.h"

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
    self.label = descriptor.label;
    return self;
}

- (void)dealloc {
    [_device release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    IGArgumentTable *copy = [[[self class] allocWithZone:zone] initWithDevice:_device descriptor:nil];
    memcpy(copy->_addresses, _addresses, sizeof _addresses);
    memcpy(copy->_textures, _textures, sizeof _textures);
    copy->_hasSamplers = _hasSamplers;
    return copy;
}

- (id<MTLDevice>)device {
    return _device;
}

- (void)setAddress:(MTLGPUAddress)gpuAddress atIndex:(NSUInteger)bindingIndex {
    if (bindingIndex < _bufferCount) _addresses[bindingIndex] = gpuAddress;
}

- (void)setAddress:(MTLGPUAddress)gpuAddress attributeStride:(NSUInteger)stride atIndex:(NSUInteger)bindingIndex {
    [self setAddress:gpuAddress atIndex:bindingIndex];
}

- (void)setTexture:(MTLResourceID)resourceID atIndex:(NSUInteger)bindingIndex {
    if (bindingIndex < _textureCount) _textures[bindingIndex] = resourceID._impl;
}

- (void)setSamplerState:(MTLResourceID)resourceID atIndex:(NSUInteger)bindingIndex {
    _hasSamplers = YES;
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

- (id<MTLTexture>)textureWith:(uint64_t)identity {
    for (id<MTLResidencySet> set in _residencySets)
        for (id allocation in set.allAllocations)
            if ([allocation isKindOfClass:[IGTexture class]] &&
                [(id<MTLTexture>)allocation gpuResourceID]._impl == identity)
                return allocation;
    [_commands fail:@"a texture of the argument table is in no residency set of the queue or the command buffer"];
    return nil;
}

- (void)bind:(IGArgumentTable *)table {
    id<MTLComputeCommandEncoder> compute = [self compute];
    if (table->_hasSamplers) [_commands refuse:@"samplers in argument tables are not supported"];
    for (NSUInteger i = 0; i < IGI_MTL4_BUFFERS; i++) {
        NSUInteger offset = 0;
        id<MTLBuffer> buffer = table->_addresses[i] ? [self bufferAt:table->_addresses[i] offset:&offset] : nil;
        [compute setBuffer:buffer offset:offset atIndex:i];
    }
    for (NSUInteger i = 0; i < IGI_MTL4_TEXTURES; i++)
        if (table->_textures[i]) [compute setTexture:[self textureWith:table->_textures[i]] atIndex:i];
    // Kernels may reach any of them through pointers.
    for (id<MTLResidencySet> set in _residencySets)
        for (id allocation in set.allAllocations) [_commands keep:allocation];
}
@end

// ---- Encoding ----

@implementation IGMTL4Encoder
- (id)initWithOwner:(IGMTL4CommandBuffer *)owner {
    if ((self = [super init])) _owner = [owner retain];
    return self;
}

- (void)dealloc {
    if (!_ended) [_owner encoderEnded];
    [_pipeline release];
    [_table release];
    [_owner release];
    [super dealloc];
}

- (id<MTL4CommandBuffer>)commandBuffer {
    return _owner;
}

- (MTLStages)stages {
    return MTLStageDispatch | MTLStageBlit;
}

- (void)record:(igi_mtl4_command)command {
    if (_ended) return [_owner mistake:@"an encoder was used after its endEncoding"];
    [_owner record:command];
}

- (void)endEncoding {
    if (_ended) return [_owner mistake:@"an encoder was ended twice"];
    [self record:^(IGReplay *replay) {
      [replay end];
    }];
    _ended = YES;
    [_owner encoderEnded];
}

- (void)setComputePipelineState:(id<MTLComputePipelineState>)state {
    [(id)state retain];
    [_pipeline release];
    _pipeline = state;
}

- (void)setArgumentTable:(id<MTL4ArgumentTable>)argumentTable {
    [(id)argumentTable retain];
    [_table release];
    _table = (IGArgumentTable *)argumentTable;
}

- (void)setThreadgroupMemoryLength:(NSUInteger)length atIndex:(NSUInteger)index {
    if (index >= IGI_MTL4_BUFFERS) return [_owner mistake:@"an index of threadgroup memory is above the highest, 30"];
    _threadgroupLengths[index] = length;
}

// ---- Dispatches ----

typedef struct igi_lengths {
    NSUInteger of[IGI_MTL4_BUFFERS];
} igi_lengths;

// Records the state as it is now; the dispatch itself comes after it.
- (void)recordWithState:(void (^)(IGReplay *replay, id<MTLComputeCommandEncoder> compute))dispatch {
    id<MTLComputePipelineState> pipeline = _pipeline;
    IGArgumentTable *table = [[_table copy] autorelease];
    igi_lengths lengths;
    memcpy(lengths.of, _threadgroupLengths, sizeof lengths.of);
    [self record:^(IGReplay *replay) {
      id<MTLComputeCommandEncoder> compute = [replay compute];
      if (pipeline) [compute setComputePipelineState:pipeline];
      if (table) [replay bind:table];
      for (NSUInteger i = 0; i < IGI_MTL4_BUFFERS; i++)
          if (lengths.of[i]) [compute setThreadgroupMemoryLength:lengths.of[i] atIndex:i];
      dispatch(replay, compute);
    }];
}

- (void)recordDispatch:(void (^)(IGReplay *replay, id<MTLComputeCommandEncoder> compute))dispatch {
    if (!_pipeline) return [_owner mistake:@"a dispatch came before setComputePipelineState"];
    [self recordWithState:dispatch];
}

- (void)dispatchThreads:(MTLSize)threads threadsPerThreadgroup:(MTLSize)group {
    [self recordDispatch:^(IGReplay *replay, id<MTLComputeCommandEncoder> compute) {
      [compute dispatchThreads:threads threadsPerThreadgroup:group];
    }];
}

- (void)dispatchThreadgroups:(MTLSize)groups threadsPerThreadgroup:(MTLSize)group {
    [self recordDispatch:^(IGReplay *replay, id<MTLComputeCommandEncoder> compute) {
      [compute dispatchThreadgroups:groups threadsPerThreadgroup:group];
    }];
}

- (void)dispatchThreadgroupsWithIndirectBuffer:(MTLGPUAddress)indirectBuffer threadsPerThreadgroup:(MTLSize)group {
    [self recordDispatch:^(IGReplay *replay, id<MTLComputeCommandEncoder> compute) {
      NSUInteger offset = 0;
      id<MTLBuffer> buffer = [replay bufferAt:indirectBuffer offset:&offset];
      if (buffer)
          [compute dispatchThreadgroupsWithIndirectBuffer:buffer
                                     indirectBufferOffset:offset
                                    threadsPerThreadgroup:group];
    }];
}

- (void)executeCommandsInBuffer:(id<MTLIndirectCommandBuffer>)indirectCommandBuffer withRange:(NSRange)executionRange {
    [self recordWithState:^(IGReplay *replay, id<MTLComputeCommandEncoder> compute) {
      [compute executeCommandsInBuffer:indirectCommandBuffer withRange:executionRange];
    }];
}

- (void)executeCommandsInBuffer:(id<MTLIndirectCommandBuffer>)indirectCommandBuffer
                 indirectBuffer:(MTLGPUAddress)indirectRangeBuffer {
    [self recordWithState:^(IGReplay *replay, id<MTLComputeCommandEncoder> compute) {
      NSUInteger offset = 0;
      id<MTLBuffer> buffer = [replay bufferAt:indirectRangeBuffer offset:&offset];
      if (buffer)
          [compute executeCommandsInBuffer:indirectCommandBuffer indirectBuffer:buffer indirectBufferOffset:offset];
    }];
}

- (void)resetCommandsInBuffer:(id<MTLIndirectCommandBuffer>)buffer withRange:(NSRange)range {
    [self record:^(IGReplay *replay) {
      [[replay blit] resetCommandsInBuffer:buffer withRange:range];
    }];
}

- (void)copyIndirectCommandBuffer:(id<MTLIndirectCommandBuffer>)source
                      sourceRange:(NSRange)sourceRange
                      destination:(id<MTLIndirectCommandBuffer>)destination
                 destinationIndex:(NSUInteger)destinationIndex {
    [self record:^(IGReplay *replay) {
      [[replay blit] copyIndirectCommandBuffer:source
                                   sourceRange:sourceRange
                                   destination:destination
                              destinationIndex:destinationIndex];
    }];
}

- (void)optimizeIndirectCommandBuffer:(id<MTLIndirectCommandBuffer>)buffer withRange:(NSRange)range {
    [self record:^(IGReplay *replay) {
      [[replay blit] optimizeIndirectCommandBuffer:buffer withRange:range];
    }];
}

// ---- Copies ----

- (void)copyFromBuffer:(id<MTLBuffer>)source
          sourceOffset:(NSUInteger)sourceOffset
              toBuffer:(id<MTLBuffer>)target
     destinationOffset:(NSUInteger)targetOffset
                  size:(NSUInteger)size {
    [self record:^(IGReplay *replay) {
      [[replay blit] copyFromBuffer:source
                       sourceOffset:sourceOffset
                           toBuffer:target
                  destinationOffset:targetOffset
                               size:size];
    }];
}

- (void)copyFromBuffer:(id<MTLBuffer>)source
           sourceOffset:(NSUInteger)sourceOffset
      sourceBytesPerRow:(NSUInteger)bytesPerRow
    sourceBytesPerImage:(NSUInteger)bytesPerImage
             sourceSize:(MTLSize)size
              toTexture:(id<MTLTexture>)target
       destinationSlice:(NSUInteger)slice
       destinationLevel:(NSUInteger)level
      destinationOrigin:(MTLOrigin)origin {
    [self record:^(IGReplay *replay) {
      [[replay blit] copyFromBuffer:source
                       sourceOffset:sourceOffset
                  sourceBytesPerRow:bytesPerRow
                sourceBytesPerImage:bytesPerImage
                         sourceSize:size
                          toTexture:target
                   destinationSlice:slice
                   destinationLevel:level
                  destinationOrigin:origin];
    }];
}

- (void)copyFromTexture:(id<MTLTexture>)source
                 sourceSlice:(NSUInteger)slice
                 sourceLevel:(NSUInteger)level
                sourceOrigin:(MTLOrigin)origin
                  sourceSize:(MTLSize)size
                    toBuffer:(id<MTLBuffer>)target
           destinationOffset:(NSUInteger)offset
      destinationBytesPerRow:(NSUInteger)bytesPerRow
    destinationBytesPerImage:(NSUInteger)bytesPerImage {
    [self record:^(IGReplay *replay) {
      [[replay blit] copyFromTexture:source
                         sourceSlice:slice
                         sourceLevel:level
                        sourceOrigin:origin
                          sourceSize:size
                            toBuffer:target
                   destinationOffset:offset
              destinationBytesPerRow:bytesPerRow
            destinationBytesPerImage:bytesPerImage];
    }];
}

- (void)copyFromTexture:(id<MTLTexture>)source toTexture:(id<MTLTexture>)target {
    [self record:^(IGReplay *replay) {
      [[replay blit] copyFromTexture:source toTexture:target];
    }];
}

- (void)fillBuffer:(id<MTLBuffer>)buffer range:(NSRange)range value:(uint8_t)value {
    [self record:^(IGReplay *replay) {
      [[replay blit] fillBuffer:buffer range:range value:value];
    }];
}

- (void)generateMipmapsForTexture:(id<MTLTexture>)texture {
    [self record:^(IGReplay *replay) {
      [[replay blit] generateMipmapsForTexture:texture];
    }];
}

// ---- Order, which is always that of encoding, and debugging ----

- (void)barrierAfterQueueStages:(MTLStages)afterQueueStages
                   beforeStages:(MTLStages)beforeStages
              visibilityOptions:(MTL4VisibilityOptions)visibilityOptions {
}

- (void)barrierAfterStages:(MTLStages)afterStages
         beforeQueueStages:(MTLStages)beforeQueueStages
         visibilityOptions:(MTL4VisibilityOptions)visibilityOptions {
}

- (void)barrierAfterEncoderStages:(MTLStages)afterEncoderStages
              beforeEncoderStages:(MTLStages)beforeEncoderStages
                visibilityOptions:(MTL4VisibilityOptions)visibilityOptions {
}

- (void)updateFence:(id<MTLFence>)fence afterEncoderStages:(MTLStages)afterEncoderStages {
}

- (void)waitForFence:(id<MTLFence>)fence beforeEncoderStages:(MTLStages)beforeEncoderStages {
}

- (void)insertDebugSignpost:(NSString *)string {
}

- (void)pushDebugGroup:(NSString *)string {
}

- (void)popDebugGroup {
}
@end
