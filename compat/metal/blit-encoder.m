// SPDX-License-Identifier: Apache-2.0
// Blit encoders: copies and fills of buffers.
#include "commands.h"
#include "resource.h"

@implementation IGBlitEncoder
- (void)copyFromBuffer:(id<MTLBuffer>)source
          sourceOffset:(NSUInteger)sourceOffset
              toBuffer:(id<MTLBuffer>)target
     destinationOffset:(NSUInteger)targetOffset
                  size:(NSUInteger)size {
    if ([self isOpen])
        (void)ig_commands_copy(_commands, igi_buffer_of(source), sourceOffset, igi_buffer_of(target), targetOffset,
                               size);
}

- (void)fillBuffer:(id<MTLBuffer>)buffer range:(NSRange)range value:(uint8_t)value {
    if ([self isOpen]) (void)ig_commands_fill(_commands, igi_buffer_of(buffer), range.location, range.length, value);
}

// Host and device see the same memory.
- (void)synchronizeResource:(id<MTLResource>)resource {
    [self isOpen];
}

- (void)updateFence:(id<MTLFence>)fence {
    [self isOpen];
}

- (void)waitForFence:(id<MTLFence>)fence {
    [self isOpen];
}

- (void)sampleCountersInBuffer:(id<MTLCounterSampleBuffer>)sampleBuffer
                 atSampleIndex:(NSUInteger)sampleIndex
                   withBarrier:(BOOL)barrier {
    [_owner refuse:@"the software device has no counters"];
}

- (void)resolveCounters:(id<MTLCounterSampleBuffer>)sampleBuffer
                inRange:(NSRange)range
      destinationBuffer:(id<MTLBuffer>)destinationBuffer
      destinationOffset:(NSUInteger)destinationOffset {
    [_owner refuse:@"the software device has no counters"];
}
@end
