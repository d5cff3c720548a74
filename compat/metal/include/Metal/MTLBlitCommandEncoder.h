// SPDX-License-Identifier: Apache-2.0
// Copies and fills.
#ifndef INGOT_METAL_BLIT_COMMAND_ENCODER_H
#define INGOT_METAL_BLIT_COMMAND_ENCODER_H

#import <Metal/MTLCommandEncoder.h>
#import <Metal/MTLTypes.h>

@protocol MTLBuffer;
@protocol MTLCounterSampleBuffer;
@protocol MTLFence;
@protocol MTLTexture;

typedef NS_OPTIONS(NSUInteger, MTLBlitOption) {
    MTLBlitOptionNone = 0,
    MTLBlitOptionDepthFromDepthStencil = 1,
    MTLBlitOptionStencilFromDepthStencil = 2,
    MTLBlitOptionRowLinearPVRTC = 4,
};

@protocol MTLBlitCommandEncoder <MTLCommandEncoder>
- (void)copyFromBuffer:(id<MTLBuffer>)sourceBuffer
          sourceOffset:(NSUInteger)sourceOffset
              toBuffer:(id<MTLBuffer>)destinationBuffer
     destinationOffset:(NSUInteger)destinationOffset
                  size:(NSUInteger)size;
- (void)fillBuffer:(id<MTLBuffer>)buffer range:(NSRange)range value:(uint8_t)value;
- (void)synchronizeResource:(id<MTLResource>)resource;
- (void)updateFence:(id<MTLFence>)fence;
- (void)waitForFence:(id<MTLFence>)fence;

// The software device has no counters: the command buffer reports an error.
- (void)sampleCountersInBuffer:(id<MTLCounterSampleBuffer>)sampleBuffer
                 atSampleIndex:(NSUInteger)sampleIndex
                   withBarrier:(BOOL)barrier;
- (void)resolveCounters:(id<MTLCounterSampleBuffer>)sampleBuffer
                inRange:(NSRange)range
      destinationBuffer:(id<MTLBuffer>)destinationBuffer
      destinationOffset:(NSUInteger)destinationOffset;
@end

#endif
