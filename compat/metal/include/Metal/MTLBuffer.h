// SPDX-License-Identifier: Apache-2.0
// Memory that kernels read and write.
#ifndef INGOT_METAL_BUFFER_H
#define INGOT_METAL_BUFFER_H

#import <Metal/MTLResource.h>
#import <Metal/MTLTypes.h>

NS_ASSUME_NONNULL_BEGIN

@class MTLTensorDescriptor, MTLTextureDescriptor;
@protocol MTLTensor;
@protocol MTLTexture;

@protocol MTLBuffer <MTLResource>
@property (readonly) NSUInteger length;
@property (readonly) uint64_t gpuAddress;
@property (nullable, readonly) id<MTLBuffer> remoteStorageBuffer;
- (void *)contents;
- (void)didModifyRange:(NSRange)range;
- (void)addDebugMarker:(NSString *)marker range:(NSRange)range;
- (void)removeAllDebugMarkers;
- (nullable id<MTLBuffer>)newRemoteBufferViewForDevice:(id<MTLDevice>)device;
// The texture has the pixels in this buffer.
- (nullable id<MTLTexture>)newTextureWithDescriptor:(MTLTextureDescriptor *)descriptor
                                             offset:(NSUInteger)offset
                                        bytesPerRow:(NSUInteger)bytesPerRow;
// The tensor has its elements in this buffer. Strides are packed if the descriptor has none.
- (nullable id<MTLTensor>)newTensorWithDescriptor:(MTLTensorDescriptor *)descriptor
                                           offset:(NSUInteger)offset
                                            error:(NSError **)error;
@end

NS_ASSUME_NONNULL_END

#endif
