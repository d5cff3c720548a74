// SPDX-License-Identifier: Apache-2.0
// Metal 4: counter heaps, over the sample buffers of Metal 3.
#include "counters.h"
#include "mtl4.h"

@implementation MTL4CounterHeapDescriptor
@synthesize type = _type, count = _count;

- (id)copyWithZone:(NSZone *)zone {
    MTL4CounterHeapDescriptor *copy = [[[self class] allocWithZone:zone] init];
    copy.type = _type;
    copy.count = _count;
    return copy;
}
@end

@implementation IGCounterHeap
- (id)initWithDevice:(IGDevice *)device descriptor:(MTL4CounterHeapDescriptor *)descriptor error:(NSError **)error {
    igi_clear_error(error);
    if (!(self = [super init])) return nil;
    igi_ensure_pool();
    MTLCounterSampleBufferDescriptor *older = [[[MTLCounterSampleBufferDescriptor alloc] init] autorelease];
    if (descriptor.type == MTL4CounterHeapTypeTimestamp) older.counterSet = [igi_counter_sets() lastObject];
    older.sampleCount = descriptor.count;
    _samples = [[IGCounterSampleBuffer alloc] initWithDevice:device descriptor:older error:error];
    if (!_samples) {
        [self release];
        return nil;
    }
    [self invalidateCounterRange:NSMakeRange(0, descriptor.count)];
    return self;
}

- (void)dealloc {
    [_samples release];
    [super dealloc];
}

- (NSUInteger)count {
    return _samples.sampleCount;
}

- (MTL4CounterHeapType)type {
    return MTL4CounterHeapTypeTimestamp;
}

- (NSData *)resolveCounterRange:(NSRange)range {
    return [_samples resolveCounterRange:range];
}

- (void)invalidateCounterRange:(NSRange)range {
    NSUInteger count = _samples.sampleCount;
    for (NSUInteger i = 0; i < range.length && range.location < count && i < count - range.location; i++)
        atomic_store(&_samples->_samples[range.location + i], 0);
}
@end

@implementation IGMTL4CommandBuffer (Counters)
- (void)writeTimestampIntoHeap:(id<MTL4CounterHeap>)heap atIndex:(NSUInteger)index {
    if (!heap || index >= heap.count) return [self mistake:@"a timestamp is written outside of its counter heap"];
    IGCounterSampleBuffer *samples = ((IGCounterHeap *)heap)->_samples;
    [self record:^(IGReplay *replay) {
      [[replay->_commands sampling] sample:samples
                                        at:index
                                    before:NO
                                  dispatch:ig_commands_dispatch_count(replay->_commands->_commands)];
    }];
}

// Times are copied when the command buffer has run, so nothing in it can see them.
- (void)resolveCounterHeap:(id<MTL4CounterHeap>)heap
                 withRange:(NSRange)range
                intoBuffer:(MTL4BufferRange)target
                 waitFence:(id<MTLFence>)fenceToWait
               updateFence:(id<MTLFence>)fenceToUpdate {
    NSUInteger count = heap.count, bytes = range.length * sizeof(MTL4TimestampHeapEntry);
    if (!heap || range.location > count || range.length > count - range.location || bytes > target.length)
        return [self mistake:@"resolveCounterHeap: the range is outside of the heap, or larger than the buffer's"];
    IGCounterSampleBuffer *samples = ((IGCounterHeap *)heap)->_samples;
    [self record:^(IGReplay *replay) {
      NSUInteger offset = 0;
      id<MTLBuffer> buffer = [replay bufferAt:target.bufferAddress offset:&offset];
      if (buffer && bytes > buffer.length - offset)
          return [replay->_commands fail:@"resolveCounterHeap: the times reach past the end of the buffer"];
      if (buffer) [[replay->_commands sampling] resolve:samples range:range to:buffer offset:offset];
    }];
}
@end
