// SPDX-License-Identifier: Apache-2.0
// Dispatches and their arguments.
#ifndef INGOT_METAL_COMPUTE_COMMAND_ENCODER_H
#define INGOT_METAL_COMPUTE_COMMAND_ENCODER_H

#import <Metal/MTLCommandBuffer.h>
#import <Metal/MTLCommandEncoder.h>
#import <Metal/MTLTypes.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLBuffer;
@protocol MTLComputePipelineState;
@protocol MTLCounterSampleBuffer;
@protocol MTLFence;
@protocol MTLHeap;
@protocol MTLIndirectCommandBuffer;
@protocol MTLSamplerState;
@protocol MTLTexture;
@protocol MTLVisibleFunctionTable;

typedef struct {
    uint32_t threadgroupsPerGrid[3];
} MTLDispatchThreadgroupsIndirectArguments;

typedef struct {
    uint32_t threadsPerGrid[3];
    uint32_t threadsPerThreadgroup[3];
} MTLDispatchThreadsIndirectArguments;

typedef struct {
    uint32_t stageInOrigin[3];
    uint32_t stageInSize[3];
} MTLStageInRegionIndirectArguments;

// As attributeStride: the layout of the pipeline has it.
#define MTLAttributeStrideStatic NSUIntegerMax

@protocol MTLComputeCommandEncoder <MTLCommandEncoder>
@property (readonly) MTLDispatchType dispatchType;
- (void)setComputePipelineState:(id<MTLComputePipelineState>)state;
- (void)setBytes:(const void *)bytes length:(NSUInteger)length atIndex:(NSUInteger)index;
// Strides are for layouts of [[stage_in]] with MTLBufferLayoutStrideDynamic.
- (void)setBuffer:(id<MTLBuffer>)buffer
             offset:(NSUInteger)offset
    attributeStride:(NSUInteger)stride
            atIndex:(NSUInteger)index;
- (void)setBuffers:(const id<MTLBuffer> _Nullable[_Nonnull])buffers
             offsets:(const NSUInteger[_Nonnull])offsets
    attributeStrides:(const NSUInteger[_Nonnull])strides
           withRange:(NSRange)range;
- (void)setBufferOffset:(NSUInteger)offset attributeStride:(NSUInteger)stride atIndex:(NSUInteger)index;
- (void)setBytes:(const void *)bytes
             length:(NSUInteger)length
    attributeStride:(NSUInteger)stride
            atIndex:(NSUInteger)index;
- (void)setBuffer:(nullable id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index;
- (void)setBufferOffset:(NSUInteger)offset atIndex:(NSUInteger)index;
- (void)setBuffers:(const id<MTLBuffer> _Nullable[_Nonnull])buffers
           offsets:(const NSUInteger[_Nonnull])offsets
         withRange:(NSRange)range;
- (void)setVisibleFunctionTable:(nullable id<MTLVisibleFunctionTable>)visibleFunctionTable
                  atBufferIndex:(NSUInteger)bufferIndex;
- (void)setVisibleFunctionTables:(const id<MTLVisibleFunctionTable> _Nullable[_Nonnull])visibleFunctionTables
                 withBufferRange:(NSRange)range;
- (void)setThreadgroupMemoryLength:(NSUInteger)length atIndex:(NSUInteger)index;
- (void)dispatchThreadgroups:(MTLSize)threadgroupsPerGrid threadsPerThreadgroup:(MTLSize)threadsPerThreadgroup;
- (void)dispatchThreadgroupsWithIndirectBuffer:(id<MTLBuffer>)indirectBuffer
                          indirectBufferOffset:(NSUInteger)indirectBufferOffset
                         threadsPerThreadgroup:(MTLSize)threadsPerThreadgroup;
- (void)dispatchThreads:(MTLSize)threadsPerGrid threadsPerThreadgroup:(MTLSize)threadsPerThreadgroup;
- (void)updateFence:(id<MTLFence>)fence;
- (void)waitForFence:(id<MTLFence>)fence;
- (void)useResource:(id<MTLResource>)resource usage:(MTLResourceUsage)usage;
- (void)useResources:(const id<MTLResource> _Nonnull[_Nonnull])resources
               count:(NSUInteger)count
               usage:(MTLResourceUsage)usage;
- (void)useHeap:(id<MTLHeap>)heap;
- (void)useHeaps:(const id<MTLHeap> _Nonnull[_Nonnull])heaps count:(NSUInteger)count;
- (void)memoryBarrierWithScope:(MTLBarrierScope)scope;
- (void)memoryBarrierWithResources:(const id<MTLResource> _Nonnull[_Nonnull])resources count:(NSUInteger)count;

- (void)setTexture:(nullable id<MTLTexture>)texture atIndex:(NSUInteger)index;
- (void)setTextures:(const id<MTLTexture> _Nullable[_Nonnull])textures withRange:(NSRange)range;
- (void)setSamplerState:(nullable id<MTLSamplerState>)sampler atIndex:(NSUInteger)index;
- (void)setSamplerStates:(const id<MTLSamplerState> _Nullable[_Nonnull])samplers withRange:(NSRange)range;
- (void)setSamplerState:(nullable id<MTLSamplerState>)sampler
            lodMinClamp:(float)lodMinClamp
            lodMaxClamp:(float)lodMaxClamp
                atIndex:(NSUInteger)index;
- (void)setSamplerStates:(const id<MTLSamplerState> _Nullable[_Nonnull])samplers
            lodMinClamps:(const float[_Nonnull])lodMinClamps
            lodMaxClamps:(const float[_Nonnull])lodMaxClamps
               withRange:(NSRange)range;
- (void)setStageInRegion:(MTLRegion)region;
- (void)setStageInRegionWithIndirectBuffer:(id<MTLBuffer>)indirectBuffer
                      indirectBufferOffset:(NSUInteger)indirectBufferOffset;
// The software device has none: the command buffer reports an error.
- (void)setImageblockWidth:(NSUInteger)width height:(NSUInteger)height;
// The commands are read when they are executed.
- (void)executeCommandsInBuffer:(id<MTLIndirectCommandBuffer>)indirectCommandBuffer withRange:(NSRange)executionRange;
- (void)executeCommandsInBuffer:(id<MTLIndirectCommandBuffer>)indirectCommandbuffer
                 indirectBuffer:(id<MTLBuffer>)indirectRangeBuffer
           indirectBufferOffset:(NSUInteger)indirectBufferOffset;
- (void)sampleCountersInBuffer:(id<MTLCounterSampleBuffer>)sampleBuffer
                 atSampleIndex:(NSUInteger)sampleIndex
                   withBarrier:(BOOL)barrier;
@end

NS_ASSUME_NONNULL_END

#endif
