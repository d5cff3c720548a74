// SPDX-License-Identifier: Apache-2.0
// Dispatches recorded ahead of time, by the host: kernels cannot encode any. They are read when executeCommandsInBuffer: is
// encoded.
#ifndef INGOT_METAL_INDIRECT_COMMAND_BUFFER_H
#define INGOT_METAL_INDIRECT_COMMAND_BUFFER_H

#import <Metal/MTLIndirectCommandEncoder.h>
#import <Metal/MTLResource.h>

typedef NS_OPTIONS(NSUInteger, MTLIndirectCommandType) {
    MTLIndirectCommandTypeDraw = 1,
    MTLIndirectCommandTypeDrawIndexed = 2,
    MTLIndirectCommandTypeDrawPatches = 4,
    MTLIndirectCommandTypeDrawIndexedPatches = 8,
    MTLIndirectCommandTypeConcurrentDispatch = 32,
    MTLIndirectCommandTypeConcurrentDispatchThreads = 64,
    MTLIndirectCommandTypeDrawMeshThreadgroups = 128,
    MTLIndirectCommandTypeDrawMeshThreads = 256,
};

typedef struct {
    uint32_t location, length;
} MTLIndirectCommandBufferExecutionRange;

MTL_EXPORT
@interface MTLIndirectCommandBufferDescriptor : NSObject <NSCopying> {
    MTLIndirectCommandType _commandTypes;
    BOOL _inheritPipelineState, _inheritBuffers;
    NSUInteger _maxKernelBufferBindCount, _maxKernelThreadgroupMemoryBindCount;
}
@property (readwrite, nonatomic) MTLIndirectCommandType commandTypes;
@property (readwrite, nonatomic) BOOL inheritPipelineState;
@property (readwrite, nonatomic) BOOL inheritBuffers;
@property (readwrite, nonatomic) NSUInteger maxKernelBufferBindCount;
@property (readwrite, nonatomic) NSUInteger maxKernelThreadgroupMemoryBindCount;
@end

@protocol MTLIndirectCommandBuffer <MTLResource>
@property (readonly) NSUInteger size;
@property (readonly) MTLResourceID gpuResourceID;  // 0 here
- (id<MTLIndirectComputeCommand>)indirectComputeCommandAtIndex:(NSUInteger)commandIndex;
- (void)resetWithRange:(NSRange)range;
@end

#endif
