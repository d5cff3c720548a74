// SPDX-License-Identifier: Apache-2.0
// Metal 4: pipelines that were compiled before. Their code is in Ingot's cache; an archive says which they are.
#ifndef INGOT_METAL_MTL4_ARCHIVE_H
#define INGOT_METAL_MTL4_ARCHIVE_H

#import <Metal/MTLDefines.h>

NS_ASSUME_NONNULL_BEGIN

@class MTL4BinaryFunctionDescriptor, MTL4ComputePipelineDescriptor, MTL4PipelineStageDynamicLinkingDescriptor;
@protocol MTL4BinaryFunction;
@protocol MTLComputePipelineState;

// nil and an error for what is not in the archive.
@protocol MTL4Archive <NSObject>
@property (nullable, copy, atomic) NSString *label;
- (nullable id<MTLComputePipelineState>)newComputePipelineStateWithDescriptor:
                                            (MTL4ComputePipelineDescriptor *)descriptor
                                                                        error:(NSError **)error;
- (nullable id<MTLComputePipelineState>)
    newComputePipelineStateWithDescriptor:(MTL4ComputePipelineDescriptor *)descriptor
                 dynamicLinkingDescriptor:(MTL4PipelineStageDynamicLinkingDescriptor *)dynamicLinkingDescriptor
                                    error:(NSError **)error;
- (nullable id<MTL4BinaryFunction>)newBinaryFunctionWithDescriptor:(MTL4BinaryFunctionDescriptor *)descriptor
                                                             error:(NSError **)error;
@end

NS_ASSUME_NONNULL_END

#endif
