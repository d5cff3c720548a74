// SPDX-License-Identifier: Apache-2.0
// Where a pass samples the times of its begin and end. A blit counts for the dispatches around it.
#ifndef INGOT_METAL_PASS_SAMPLES_H
#define INGOT_METAL_PASS_SAMPLES_H

#import <Metal/MTLCounters.h>

NS_ASSUME_NONNULL_BEGIN

MTL_EXPORT
@interface MTLComputePassSampleBufferAttachmentDescriptor : NSObject <NSCopying> {
    id<MTLCounterSampleBuffer> _sampleBuffer;
    NSUInteger _startOfEncoderSampleIndex, _endOfEncoderSampleIndex;
}
@property (nullable, nonatomic, retain) id<MTLCounterSampleBuffer> sampleBuffer;
@property (nonatomic) NSUInteger startOfEncoderSampleIndex;
@property (nonatomic) NSUInteger endOfEncoderSampleIndex;
@end

MTL_EXPORT
@interface MTLComputePassSampleBufferAttachmentDescriptorArray : NSObject <NSCopying> {
    NSMutableDictionary *_attachments;
}
- (MTLComputePassSampleBufferAttachmentDescriptor *)objectAtIndexedSubscript:(NSUInteger)attachmentIndex;
- (void)setObject:(nullable MTLComputePassSampleBufferAttachmentDescriptor *)attachment
    atIndexedSubscript:(NSUInteger)attachmentIndex;
@end

@compatibility_alias MTLBlitPassSampleBufferAttachmentDescriptor MTLComputePassSampleBufferAttachmentDescriptor;
@compatibility_alias MTLBlitPassSampleBufferAttachmentDescriptorArray
    MTLComputePassSampleBufferAttachmentDescriptorArray;

NS_ASSUME_NONNULL_END

#endif
