// SPDX-License-Identifier: Apache-2.0
#include "counters.h"

#include <stdlib.h>

// ---- What can be counted ----

@interface IGCounter : NSObject <MTLCounter>
@end

@implementation IGCounter
- (NSString *)name {
    return MTLCommonCounterTimestamp;
}
@end

@interface IGCounterSet : NSObject <MTLCounterSet>
@end

@implementation IGCounterSet
- (NSString *)name {
    return MTLCommonCounterSetTimestamp;
}

- (NSArray *)counters {
    igi_ensure_pool();
    return [NSArray arrayWithObject:[[[IGCounter alloc] init] autorelease]];
}
@end

NSArray *igi_counter_sets(void) {
    igi_ensure_pool();
    return [NSArray arrayWithObject:[[[IGCounterSet alloc] init] autorelease]];
}

// ---- Sample buffers ----

@implementation IGCounterSampleBuffer
- (id)initWithDevice:(IGDevice *)device
          descriptor:(MTLCounterSampleBufferDescriptor *)descriptor
               error:(NSError **)error {
    igi_clear_error(error);
    if (!(self = [super init])) return nil;
    _device = [device retain];
    _sampleCount = descriptor.sampleCount;
    self.label = descriptor.label;
    BOOL timestamps = [descriptor.counterSet.name isEqual:MTLCommonCounterSetTimestamp];
    if (timestamps && _sampleCount) _samples = calloc(_sampleCount, sizeof *_samples);
    for (NSUInteger i = 0; _samples && i < _sampleCount; i++) atomic_init(&_samples[i], MTLCounterErrorValue);
    if (_samples) return self;
    BOOL memory = timestamps && _sampleCount;
    igi_refuse(error, MTLCounterErrorDomain,
               memory ? MTLCounterSampleBufferErrorOutOfMemory : MTLCounterSampleBufferErrorInvalid,
               memory       ? @"there is no memory for the samples"
               : timestamps ? @"a sample buffer needs a sampleCount"
                            : @"the software device has one counter set, 'timestamp'");
    [self release];
    return nil;
}

- (void)dealloc {
    free((void *)_samples);
    [_device release];
    [super dealloc];
}

- (id<MTLDevice>)device {
    return _device;
}

- (NSUInteger)sampleCount {
    return _sampleCount;
}

- (NSData *)resolveCounterRange:(NSRange)range {
    if (range.location > _sampleCount || range.length > _sampleCount - range.location) return nil;
    igi_ensure_pool();
    NSMutableData *data = [NSMutableData dataWithLength:range.length * sizeof(MTLCounterResultTimestamp)];
    MTLCounterResultTimestamp *results = [data mutableBytes];
    for (NSUInteger i = 0; i < range.length; i++) results[i].timestamp = atomic_load(&_samples[range.location + i]);
    return data;
}
@end

// ---- Sampling ----

typedef struct igi_sample {
    IGCounterSampleBuffer *buffer;  // retained
    size_t dispatch;                // that follows
    BOOL before;
    NSRange range;         // of samples; one, or those to be resolved
    id<MTLBuffer> target;  // retained; nil: this is a sample
    NSUInteger offset;
} igi_sample;

static uint64_t time_of(const ig_commands *commands, const igi_sample *sample) {
    ig_timing whole = {0}, timing;
    size_t count = ig_commands_dispatch_count(commands);
    ig_commands_get_timing(commands, &whole);
    if (!count) return sample->before ? whole.start_ns : whole.end_ns;
    if (sample->before && sample->dispatch < count &&
        ig_commands_get_dispatch_timing(commands, sample->dispatch, &timing) == IG_STATUS_OK)
        return timing.start_ns;
    if (sample->dispatch > 0 &&
        ig_commands_get_dispatch_timing(commands, sample->dispatch - 1, &timing) == IG_STATUS_OK)
        return timing.end_ns;
    return whole.start_ns;
}

static void copy_samples(const igi_sample *sample) {
    char *target = (char *)(uintptr_t)sample->target.gpuAddress + sample->offset;
    for (NSUInteger i = 0; i < sample->range.length; i++) {
        uint64_t value = atomic_load(&sample->buffer->_samples[sample->range.location + i]);
        memcpy(target + i * sizeof value, &value, sizeof value);
    }
}

@implementation IGSampling
- (void)add:(igi_sample)sample {
    igi_sample *grown = realloc(_samples, (_count + 1) * sizeof *grown);
    if (!grown) return;
    _samples = grown;
    _samples[_count++] = sample;
    [sample.buffer retain];
    [sample.target retain];
}

- (void)sample:(id<MTLCounterSampleBuffer>)buffer at:(NSUInteger)index before:(BOOL)before dispatch:(size_t)dispatch {
    if (!buffer || index >= buffer.sampleCount) return;
    [self add:(igi_sample){.buffer = (IGCounterSampleBuffer *)buffer,
                           .dispatch = dispatch,
                           .before = before,
                           .range = NSMakeRange(index, 1)}];
}

- (void)resolve:(id<MTLCounterSampleBuffer>)buffer
          range:(NSRange)range
             to:(id<MTLBuffer>)target
         offset:(NSUInteger)offset {
    NSUInteger count = buffer.sampleCount, length = target.length;
    if (range.location > count || range.length > count - range.location) return;
    if (offset > length || range.length > (length - offset) / sizeof(uint64_t)) return;
    [self add:(igi_sample){
                  .buffer = (IGCounterSampleBuffer *)buffer, .range = range, .target = target, .offset = offset}];
}

- (void)fillFrom:(const ig_commands *)commands {
    for (size_t i = 0; i < _count; i++) {
        igi_sample *sample = &_samples[i];
        if (sample->target)
            copy_samples(sample);
        else
            atomic_store(&sample->buffer->_samples[sample->range.location], time_of(commands, sample));
    }
}

- (void)dealloc {
    for (size_t i = 0; i < _count; i++) {
        [_samples[i].buffer release];
        [_samples[i].target release];
    }
    free(_samples);
    [super dealloc];
}
@end
