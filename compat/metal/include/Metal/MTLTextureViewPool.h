// SPDX-License-Identifier: Apache-2.0
// Views of textures that are made in advance.
#ifndef INGOT_METAL_TEXTURE_VIEW_POOL_H
#define INGOT_METAL_TEXTURE_VIEW_POOL_H

#import <Metal/MTLResourceViewPool.h>
#import <Metal/MTLTexture.h>

NS_ASSUME_NONNULL_BEGIN

// These return the id of the view; 0: there can be no such view, or the index is outside of the pool. A view keeps what it
// shows, which must be in a residency set where it is used.
@protocol MTLTextureViewPool <MTLResourceViewPool>
- (MTLResourceID)setTextureView:(id<MTLTexture>)texture atIndex:(NSUInteger)index;
- (MTLResourceID)setTextureView:(id<MTLTexture>)texture
                     descriptor:(MTLTextureViewDescriptor *)descriptor
                        atIndex:(NSUInteger)index;
- (MTLResourceID)setTextureViewFromBuffer:(id<MTLBuffer>)buffer
                               descriptor:(MTLTextureDescriptor *)descriptor
                                   offset:(NSUInteger)offset
                              bytesPerRow:(NSUInteger)bytesPerRow
                                  atIndex:(NSUInteger)index;
@end

NS_ASSUME_NONNULL_END

#endif
