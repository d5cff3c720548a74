// SPDX-License-Identifier: Apache-2.0
// Kernels ready to run.
#ifndef INGOT_METAL_COMPUTE_PIPELINE_H
#define INGOT_METAL_COMPUTE_PIPELINE_H

#import <Metal/MTLAllocation.h>
#import <Metal/MTLArgument.h>
#import <Metal/MTLFunctionHandle.h>
#import <Metal/MTLLinkedFunctions.h>
#import <Metal/MTLPipeline.h>
#import <Metal/MTLTypes.h>
#import <Metal/MTLVisibleFunctionTable.h>

NS_ASSUME_NONNULL_BEGIN

@class MTLStageInputOutputDescriptor;
@protocol MTLBinaryArchive;
@protocol MTLDevice;
@protocol MTLDynamicLibrary;
@protocol MTL4BinaryFunction;
@protocol MTLFunction;

MTL_EXPORT
@interface MTLComputePipelineReflection : NSObject {
    NSArray *_bindings, *_arguments;
}
@property (readonly) NSArray<id<MTLBinding>> *bindings;
@property (readonly) NSArray<MTLArgument *> *arguments;
@end

MTL_EXPORT
@interface MTLComputePipelineDescriptor : NSObject <NSCopying> {
    NSString *_label;
    id<MTLFunction> _computeFunction;
    BOOL _threadGroupSizeIsMultipleOfThreadExecutionWidth, _supportIndirectCommandBuffers,
        _supportAddingBinaryFunctions;
    NSUInteger _maxTotalThreadsPerThreadgroup, _maxCallStackDepth;
    MTLSize _requiredThreadsPerThreadgroup;
    MTLStageInputOutputDescriptor *_stageInputDescriptor;
    MTLPipelineBufferDescriptorArray *_buffers;
    MTLLinkedFunctions *_linkedFunctions;
    NSArray *_insertLibraries, *_preloadedLibraries, *_binaryArchives;
    MTLShaderValidation _shaderValidation;
}
@property (nullable, copy, nonatomic) NSString *label;
@property (nullable, readwrite, nonatomic, retain) id<MTLFunction> computeFunction;
@property (readwrite, nonatomic) BOOL threadGroupSizeIsMultipleOfThreadExecutionWidth;
@property (readwrite, nonatomic) NSUInteger maxTotalThreadsPerThreadgroup;
@property (readwrite, nonatomic) NSUInteger maxCallStackDepth;
@property (readwrite, nonatomic) MTLSize requiredThreadsPerThreadgroup;
@property (nullable, copy, nonatomic) MTLStageInputOutputDescriptor *stageInputDescriptor;
@property (readonly) MTLPipelineBufferDescriptorArray *buffers;
@property (readwrite, nonatomic) BOOL supportIndirectCommandBuffers;
@property (readwrite, nonatomic) BOOL supportAddingBinaryFunctions;
@property (nullable, copy, nonatomic) MTLLinkedFunctions *linkedFunctions;
@property (nullable, readwrite, nonatomic, copy) NSArray<id<MTLDynamicLibrary>> *insertLibraries;
@property (readwrite, nonatomic, copy) NSArray<id<MTLDynamicLibrary>> *preloadedLibraries;
@property (nullable, readwrite, nonatomic, copy) NSArray<id<MTLBinaryArchive>> *binaryArchives;
@property (readwrite, nonatomic) MTLShaderValidation shaderValidation;
- (void)reset;
@end

@protocol MTLComputePipelineState <MTLAllocation>
@property (nullable, readonly) NSString *label;
@property (readonly) id<MTLDevice> device;
@property (nullable, readonly) MTLComputePipelineReflection *reflection;
@property (readonly) NSUInteger maxTotalThreadsPerThreadgroup;
@property (readonly) NSUInteger threadExecutionWidth;
@property (readonly) NSUInteger staticThreadgroupMemoryLength;
@property (readonly) BOOL supportIndirectCommandBuffers;
@property (readonly) MTLShaderValidation shaderValidation;
@property (readonly) MTLSize requiredThreadsPerThreadgroup;
@property (readonly) MTLResourceID gpuResourceID;
- (NSUInteger)imageblockMemoryLengthForDimensions:(MTLSize)imageblockDimensions;
// Of a linked function; nil for others.
- (nullable id<MTLFunctionHandle>)functionHandleWithFunction:(id<MTLFunction>)function;
- (nullable id<MTLFunctionHandle>)functionHandleWithBinaryFunction:(id<MTL4BinaryFunction>)function;
- (nullable id<MTLVisibleFunctionTable>)newVisibleFunctionTableWithDescriptor:
    (MTLVisibleFunctionTableDescriptor *)descriptor NS_RETURNS_RETAINED;
@end

NS_ASSUME_NONNULL_END

#endif
