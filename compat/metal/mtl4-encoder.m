// SPDX-License-Identifier: Apache-2.0
// Metal 4: encoders, which remember their commands as blocks.
#include "indirect-commands.h"
#include "mtl4.h"

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

- (void)dispatchThreadsWithIndirectBuffer:(MTLGPUAddress)indirectBuffer {
    [self recordDispatch:^(IGReplay *replay, id<MTLComputeCommandEncoder> compute) {
      NSUInteger offset = 0;
      id<MTLBuffer> buffer = [replay bufferAt:indirectBuffer offset:&offset];
      if (buffer) [(IGComputeEncoder *)compute dispatchThreadsWithIndirectBuffer:buffer offset:offset];
    }];
}

- (void)setImageblockWidth:(NSUInteger)width height:(NSUInteger)height {
    [_owner mistake:@"the software device has no imageblocks"];
}

// ---- Indirect command buffers ----

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

// ---- Times ----

- (void)writeTimestampWithGranularity:(MTL4TimestampGranularity)granularity
                             intoHeap:(id<MTL4CounterHeap>)counterHeap
                              atIndex:(NSUInteger)index {
    if (_ended) return [_owner mistake:@"an encoder was used after its endEncoding"];
    [_owner writeTimestampIntoHeap:counterHeap atIndex:index];
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
