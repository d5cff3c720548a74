// SPDX-License-Identifier: Apache-2.0
// Dispatches recorded ahead of time, by the host or by kernels. They are read when they are executed.
#ifndef INGOT_METAL_INDIRECT_COMMAND_BUFFER_H
#define INGOT_METAL_INDIRECT_COMMAND_BUFFER_H

#import <Metal/MTLIndirectCommandEncoder.h>
#import <Metal/MTLResource.h>

NS_ASSUME_NONNULL_BEGIN

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
    BOOL _inheritDepthStencilState, _inheritDepthBias, _inheritDepthClipMode, _inheritCullMode,
        _inheritFrontFacingWinding, _inheritTriangleFillMode, _supportRayTracing, _supportDynamicAttributeStride;
    NSUInteger _maxKernelBufferBindCount, _maxKernelThreadgroupMemoryBindCount;
    NSUInteger _maxVertexBufferBindCount, _maxFragmentBufferBindCount, _maxObjectBufferBindCount,
        _maxMeshBufferBindCount, _maxObjectThreadgroupMemoryBindCount;
}
@property (readwrite, nonatomic) MTLIndirectCommandType commandTypes;
@property (readwrite, nonatomic) BOOL inheritPipelineState;
@property (readwrite, nonatomic) BOOL inheritBuffers;
@property (readwrite, nonatomic) NSUInteger maxKernelBufferBindCount;
@property (readwrite, nonatomic) NSUInteger maxKernelThreadgroupMemoryBindCount;
// Of drawing, which is not done here: they keep what they are set to.
@property (readwrite, nonatomic) BOOL inheritDepthStencilState;
@property (readwrite, nonatomic) BOOL inheritDepthBias;
@property (readwrite, nonatomic) BOOL inheritDepthClipMode;
@property (readwrite, nonatomic) BOOL inheritCullMode;
@property (readwrite, nonatomic) BOOL inheritFrontFacingWinding;
@property (readwrite, nonatomic) BOOL inheritTriangleFillMode;
@property (readwrite, nonatomic) BOOL supportRayTracing;
@property (readwrite, nonatomic) BOOL supportDynamicAttributeStride;
@property (readwrite, nonatomic) NSUInteger maxVertexBufferBindCount;
@property (readwrite, nonatomic) NSUInteger maxFragmentBufferBindCount;
@property (readwrite, nonatomic) NSUInteger maxObjectBufferBindCount;
@property (readwrite, nonatomic) NSUInteger maxMeshBufferBindCount;
@property (readwrite, nonatomic) NSUInteger maxObjectThreadgroupMemoryBindCount;
@end

@protocol MTLIndirectCommandBuffer <MTLResource>
@property (readonly) NSUInteger size;
@property (readonly) MTLResourceID gpuResourceID;
- (id<MTLIndirectComputeCommand>)indirectComputeCommandAtIndex:(NSUInteger)commandIndex;
- (void)resetWithRange:(NSRange)range;
@end

NS_ASSUME_NONNULL_END

#endif
