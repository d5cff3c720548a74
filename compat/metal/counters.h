// SPDX-License-Identifier: Apache-2.0
// Timestamps of command buffers. Internal.
#ifndef INGOT_COMPAT_METAL_COUNTERS_H
#define INGOT_COMPAT_METAL_COUNTERS_H

#include "commands.h"

@interface IGCounterSampleBuffer : IGObject <MTLCounterSampleBuffer> {
   @public
    _Atomic uint64_t *_samples;

   @private
    IGDevice *_device;
    NSUInteger _sampleCount;
}
// nil and an error unless the descriptor asks for timestamps.
- (id)initWithDevice:(IGDevice *)device
          descriptor:(MTLCounterSampleBufferDescriptor *)descriptor
               error:(NSError **)error;
@end

@interface MTLComputePassSampleBufferAttachmentDescriptorArray (Ingot)
- (NSArray *)all;
@end

// When a command buffer has ended, its samples get their times: those of the dispatches around the place at which they
// were encoded.
@interface IGSampling : IGObject {
    struct igi_sample *_samples;
    size_t _count;
}
// `before`: when what follows begins; otherwise when what came before ended. Nothing happens for MTLCounterDontSample.
- (void)sample:(id<MTLCounterSampleBuffer>)buffer at:(NSUInteger)index before:(BOOL)before dispatch:(size_t)dispatch;
// Copies samples into a buffer.
- (void)resolve:(id<MTLCounterSampleBuffer>)buffer
          range:(NSRange)range
             to:(id<MTLBuffer>)target
         offset:(NSUInteger)offset;
- (void)fillFrom:(const ig_commands *)commands;
@end

#pragma GCC visibility push(hidden)
NSArray *igi_counter_sets(void);
#pragma GCC visibility pop

#endif
