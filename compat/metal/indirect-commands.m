// SPDX-License-Identifier: Apache-2.0
#include "indirect-commands.h"

#include "resource.h"

enum { SLOTS = 31 };

@implementation IGIndirectCommand
- (void)reset {
    [_pipeline release];
    _pipeline = nil;
    for (int i = 0; i < SLOTS; i++) {
        [_buffers[i] release];
        _buffers[i] = nil;
        _offsets[i] = _threadgroupLengths[i] = 0;
    }
    _kind = IGI_NO_DISPATCH;
    _hasBarrier = NO;
    _stageIn = MTLRegionMake3D(0, 0, 0, 0, 0, 0);
}

- (void)dealloc {
    [self reset];
    [super dealloc];
}

- (void)setComputePipelineState:(id<MTLComputePipelineState>)pipelineState {
    [pipelineState retain];
    [_pipeline release];
    _pipeline = pipelineState;
}

- (void)setKernelBuffer:(id<MTLBuffer>)buffer
                 offset:(NSUInteger)offset
        attributeStride:(NSUInteger)stride
                atIndex:(NSUInteger)index {
    [self setKernelBuffer:buffer offset:offset atIndex:index];
}

- (void)setKernelBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index {
    if (index >= SLOTS) return;
    [buffer retain];
    [_buffers[index] release];
    _buffers[index] = buffer;
    _offsets[index] = offset;
}

- (void)setThreadgroupMemoryLength:(NSUInteger)length atIndex:(NSUInteger)index {
    if (index < SLOTS) _threadgroupLengths[index] = length;
}

- (void)concurrentDispatchThreadgroups:(MTLSize)groups threadsPerThreadgroup:(MTLSize)group {
    _kind = IGI_DISPATCH_GROUPS;
    _grid = groups;
    _group = group;
}

- (void)concurrentDispatchThreads:(MTLSize)threads threadsPerThreadgroup:(MTLSize)group {
    _kind = IGI_DISPATCH_THREADS;
    _grid = threads;
    _group = group;
}

- (void)setBarrier {
    _hasBarrier = YES;
}

- (void)clearBarrier {
    _hasBarrier = NO;
}

- (void)setImageblockWidth:(NSUInteger)width height:(NSUInteger)height {
}

- (void)setStageInRegion:(MTLRegion)region {
    _stageIn = region;
}

- (void)encodeInto:(id<MTLComputeCommandEncoder>)encoder pipeline:(BOOL)pipeline buffers:(BOOL)buffers {
    if (_kind == IGI_NO_DISPATCH) return;
    if (_hasBarrier) [encoder memoryBarrierWithScope:MTLBarrierScopeBuffers];
    if (pipeline) [encoder setComputePipelineState:_pipeline];
    [encoder setStageInRegion:_stageIn];
    for (NSUInteger i = 0; buffers && i < SLOTS; i++) [encoder setBuffer:_buffers[i] offset:_offsets[i] atIndex:i];
    for (NSUInteger i = 0; i < SLOTS; i++)
        if (_threadgroupLengths[i]) [encoder setThreadgroupMemoryLength:_threadgroupLengths[i] atIndex:i];
    if (_kind == IGI_DISPATCH_GROUPS)
        [encoder dispatchThreadgroups:_grid threadsPerThreadgroup:_group];
    else
        [encoder dispatchThreads:_grid threadsPerThreadgroup:_group];
}
@end

@implementation IGIndirectCommandBuffer
- (id)initWithDevice:(IGDevice *)device
          descriptor:(MTLIndirectCommandBufferDescriptor *)descriptor
               count:(NSUInteger)count
             options:(MTLResourceOptions)options {
    if (!(self = [super initWithDevice:device options:options])) return nil;
    _commands = [[NSMutableArray alloc] initWithCapacity:count];
    _inheritsPipeline = descriptor.inheritPipelineState;
    _inheritsBuffers = descriptor.inheritBuffers;
    for (NSUInteger i = 0; i < count; i++) {
        IGIndirectCommand *command = [[IGIndirectCommand alloc] init];
        [_commands addObject:command];
        [command release];
    }
    return self;
}

- (void)dealloc {
    [_commands release];
    [super dealloc];
}

- (NSUInteger)size {
    return [_commands count];
}

- (id<MTLIndirectComputeCommand>)indirectComputeCommandAtIndex:(NSUInteger)index {
    return index < [_commands count] ? igi_autoreleased([[_commands objectAtIndex:index] retain]) : nil;
}

- (void)resetWithRange:(NSRange)range {
    for (NSUInteger i = 0; i < [_commands count]; i++)
        if (NSLocationInRange(i, range)) [[_commands objectAtIndex:i] reset];
}

- (void)encodeRange:(NSRange)range into:(id<MTLComputeCommandEncoder>)encoder {
    for (NSUInteger i = 0; i < range.length; i++)
        [[_commands objectAtIndex:range.location + i] encodeInto:encoder
                                                        pipeline:!_inheritsPipeline
                                                         buffers:!_inheritsBuffers];
}

- (MTLResourceID)gpuResourceID {
    return (MTLResourceID){0};
}

// ---- Resource ----

- (NSUInteger)allocatedSize {
    return [_commands count] * sizeof(uint64_t);
}
@end
