// SPDX-License-Identifier: Apache-2.0
// Fences, which need no work because commands run in order, and events.
#include "event.h"

#include <pthread.h>

@implementation IGFence
- (id)initWithDevice:(IGDevice *)device {
    if ((self = [super init])) _device = [device retain];
    return self;
}

- (void)dealloc {
    [_device release];
    [super dealloc];
}

- (id<MTLDevice>)device {
    return _device;
}
@end

@implementation IGEvent
- (id)initWithDevice:(IGDevice *)device {
    if (!(self = [super init])) return nil;
    _device = [device retain];
    if (ig_event_create(device->_device, &_event) != IG_STATUS_OK) {
        [self release];
        return nil;
    }
    return self;
}

- (void)dealloc {
    ig_event_release(_event);
    [_device release];
    [super dealloc];
}

- (id<MTLDevice>)device {
    return _device;
}
@end

static void *run_block(void *block) {
    @autoreleasepool {
        ((dispatch_block_t)block)();
    }
    Block_release(block);
    return NULL;
}

// If no thread can be started, the block runs here, late.
static void run_on_new_thread(dispatch_block_t block) {
    pthread_t thread;
    void *copy = Block_copy(block);
    if (pthread_create(&thread, NULL, run_block, copy) == 0)
        pthread_detach(thread);
    else
        run_block(copy);
}

@implementation IGSharedEvent
- (uint64_t)signaledValue {
    return ig_event_value(_event);
}

- (void)setSignaledValue:(uint64_t)value {
    (void)ig_event_signal(_event, value);
}

- (BOOL)waitUntilSignaledValue:(uint64_t)value timeoutMS:(uint64_t)milliseconds {
    uint64_t timeout = milliseconds < IG_FOREVER / 1000000 ? milliseconds * 1000000 : IG_FOREVER;
    return ig_event_wait(_event, value, timeout) == IG_STATUS_OK;
}

// The value may never be reached, so a separate thread waits: those of the queues are for work.
- (void)notifyListener:(MTLSharedEventListener *)listener
               atValue:(uint64_t)value
                 block:(MTLSharedEventNotificationBlock)block {
    dispatch_queue_t queue = listener.dispatchQueue;
    dispatch_retain(queue);
    run_on_new_thread(^{
      (void)ig_event_wait(_event, value, IG_FOREVER);
      dispatch_async(queue, ^{
        block(self, [self signaledValue]);
      });
      dispatch_release(queue);
    });
}

- (MTLSharedEventHandle *)newSharedEventHandle {
    return [[MTLSharedEventHandle alloc] initWithEvent:self];
}
@end

@implementation MTLSharedEventListener
@synthesize dispatchQueue = _dispatchQueue;

+ (MTLSharedEventListener *)sharedListener {
    static dispatch_once_t once;
    static MTLSharedEventListener *listener;
    dispatch_once(&once, ^{
      listener = [[MTLSharedEventListener alloc] init];
    });
    return listener;
}

- (instancetype)init {
    dispatch_queue_t queue = dispatch_queue_create("ingot.metal.listener", DISPATCH_QUEUE_SERIAL);
    self = [self initWithDispatchQueue:queue];
    dispatch_release(queue);
    return self;
}

- (instancetype)initWithDispatchQueue:(dispatch_queue_t)dispatchQueue {
    if (!(self = [super init])) return nil;
    _dispatchQueue = dispatchQueue;
    dispatch_retain(dispatchQueue);
    return self;
}

- (void)dealloc {
    dispatch_release(_dispatchQueue);
    [super dealloc];
}
@end

@implementation MTLSharedEventHandle
+ (BOOL)supportsSecureCoding {
    return YES;
}

- (id)initWithEvent:(IGSharedEvent *)event {
    if ((self = [super init])) _event = [event retain];
    return self;
}

- (void)dealloc {
    [_event release];
    [super dealloc];
}

- (IGSharedEvent *)event {
    return (IGSharedEvent *)_event;
}

- (NSString *)label {
    return [_event label];
}

// Events shared with other processes are not supported.
- (void)encodeWithCoder:(NSCoder *)coder {
}

- (id)initWithCoder:(NSCoder *)coder {
    [self release];
    return nil;
}
@end
