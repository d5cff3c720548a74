// SPDX-License-Identifier: Apache-2.0
// Metal 4: encoders, which remember their commands as blocks.
#include "mtl4.h"
#include "tensor.h"

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

- (void)copyFromTensor:(id<MTLTensor>)sourceTensor
             sourceOrigin:(MTLTensorExtents *)sourceOrigin
         sourceDimensions:(MTLTensorExtents *)sourceDimensions
                 toTensor:(id<MTLTensor>)destinationTensor
        destinationOrigin:(MTLTensorExtents *)destinationOrigin
    destinationDimensions:(MTLTensorExtents *)destinationDimensions {
    IGTensor *from = (IGTensor *)sourceTensor, *to = (IGTensor *)destinationTensor;
    igi_slice slice = {.rank = sourceDimensions.rank};
    NSUInteger element = igi_tensor_element_size(from.dataType);
    if (!from || !to || from.dataType != to.dataType || ![sourceDimensions isEqual:destinationDimensions] ||
        !igi_tensor_slice(from, sourceOrigin, sourceDimensions, &slice.from_start, slice.from) ||
        !igi_tensor_slice(to, destinationOrigin, destinationDimensions, &slice.to_start, slice.to))
        return [_owner mistake:@"copyFromTensor: the slices are not of one size and type, or not in their tensors"];
    for (NSUInteger d = 0; d < slice.rank; d++)
        slice.counts[d] = (NSUInteger)[sourceDimensions extentAtDimensionIndex:d];
    [self record:^(IGReplay *replay) {
      id<MTLBlitCommandEncoder> blit = [replay blit];
      igi_slice_copy(&slice, ^(NSUInteger source, NSUInteger target, NSUInteger count) {
        [blit copyFromBuffer:from->_memory
                 sourceOffset:from->_offset + source * element
                     toBuffer:to->_memory
            destinationOffset:to->_offset + target * element
                         size:count * element];
      });
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
