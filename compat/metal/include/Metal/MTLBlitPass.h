// SPDX-License-Identifier: Apache-2.0
// Options of a blit encoder.
#ifndef INGOT_METAL_BLIT_PASS_H
#define INGOT_METAL_BLIT_PASS_H

#import <Metal/MTLPassSamples.h>

NS_ASSUME_NONNULL_BEGIN

MTL_EXPORT
@interface MTLBlitPassDescriptor : NSObject <NSCopying> {
    MTLBlitPassSampleBufferAttachmentDescriptorArray *_sampleBufferAttachments;
}
+ (MTLBlitPassDescriptor *)blitPassDescriptor;
@property (readonly) MTLBlitPassSampleBufferAttachmentDescriptorArray *sampleBufferAttachments;
@end

NS_ASSUME_NONNULL_END

#endif
