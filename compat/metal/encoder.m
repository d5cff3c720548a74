// SPDX-License-Identifier: Apache-2.0
// What the encoders have in common.
#include "counters.h"

@implementation IGEncoder
- (id)initWithCommandBuffer:(IGCommandBuffer *)owner {
    if (!(self = [super init])) return nil;
    _owner = [owner retain];
    _commands = owner->_commands;
    return self;
}

- (void)dealloc {
    if (_commands) {
        [_owner fail:@"an encoder was released before its endEncoding"];
        [_owner encoder:self endedWithBuffers:0 threadgroups:0];
    }
    [_attachments release];
    [_owner release];
    [super dealloc];
}

- (id<MTLDevice>)device {
    return [_owner device];
}

- (BOOL)isOpen {
    if (!_commands) [_owner fail:@"an encoder was used after its endEncoding"];
    return _commands != NULL;
}

- (void)endEncoding {
    if (![self isOpen]) return;
    if (_debugDepth) [_owner fail:@"endEncoding came before the popDebugGroup of a debug group"];
    for (MTLComputePassSampleBufferAttachmentDescriptor *attachment in _attachments)
        [self sample:attachment.sampleBuffer at:attachment.endOfEncoderSampleIndex before:NO];
    _commands = NULL;
    [_owner encoder:self endedWithBuffers:0 threadgroups:0];
}

// ---- Times ----

- (void)sample:(id<MTLCounterSampleBuffer>)buffer at:(NSUInteger)index before:(BOOL)before {
    if (index == MTLCounterDontSample) return;
    [[_owner sampling] sample:buffer at:index before:before dispatch:ig_commands_dispatch_count(_commands)];
}

- (void)sampleAttachments:(MTLComputePassSampleBufferAttachmentDescriptorArray *)attachments {
    _attachments = [[attachments all] retain];
    for (MTLComputePassSampleBufferAttachmentDescriptor *attachment in _attachments)
        [self sample:attachment.sampleBuffer at:attachment.startOfEncoderSampleIndex before:YES];
}

- (void)sampleCounters:(id<MTLCounterSampleBuffer>)buffer at:(NSUInteger)index {
    if (![self isOpen]) return;
    if (!buffer || index >= buffer.sampleCount)
        return [_owner fail:@"sampleCountersInBuffer: the index is outside of the sample buffer"];
    [self sample:buffer at:index before:NO];
}

// ---- Debugging ----

- (void)insertDebugSignpost:(NSString *)string {
}

- (void)pushDebugGroup:(NSString *)string {
    _debugDepth++;
}

- (void)popDebugGroup {
    if (_debugDepth == 0)
        [_owner fail:@"popDebugGroup without a pushDebugGroup"];
    else
        _debugDepth--;
}
@end
