// SPDX-License-Identifier: Apache-2.0
// Events: each is paired with a shared event of Metal, which GPUs wait for and signal.
//
// The host's signals go to Metal at once; Metal's come back through a listener.
#include "device/metal/metal.h"

// Finds our event from a notification. It may no longer exist: not every command buffer reaches its signals.
@interface IngotEventLink : NSObject {
   @public
    pthread_mutex_t lock;  // recursive: a signal may destroy the event
    ig_event *event;
}
@end

@implementation IngotEventLink
- (instancetype)init {
    self = [super init];
    if (!self) return nil;
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &recursive);
    pthread_mutexattr_destroy(&recursive);
    return self;
}

- (void)dealloc {
    pthread_mutex_destroy(&lock);
    [super dealloc];
}
@end

typedef struct metal_event {
    id<MTLSharedEvent> shared;
    IngotEventLink *link;
} metal_event;

static metal_event *state_of(const ig_event *event) {
    return event->state;
}

static MTLSharedEventListener *listener_of(metal_device *metal) {
    pthread_mutex_lock(&metal->lock);
    if (!metal->listener) metal->listener = [[MTLSharedEventListener alloc] init];
    pthread_mutex_unlock(&metal->lock);
    return metal->listener;
}

static void close_parts(metal_event *state) {
    [state->link release];
    [state->shared release];
    free(state);
}

ig_status igi_metal_event_open(ig_event *event) {
    metal_device *metal = igi_metal(event->device);
    metal_event *state = igi_calloc(1, sizeof *state);
    if (!state) return IG_STATUS_OUT_OF_MEMORY;
    @autoreleasepool {
        state->shared = [metal->device newSharedEvent];
        state->link = [[IngotEventLink alloc] init];
        if (!state->shared || !state->link || !listener_of(metal)) {
            close_parts(state);
            return IG_STATUS_OUT_OF_MEMORY;
        }
    }
    state->link->event = event;
    event->state = state;
    return IG_STATUS_OK;
}

void igi_metal_event_close(ig_event *event) {
    metal_event *state = state_of(event);
    pthread_mutex_lock(&state->link->lock);
    state->link->event = NULL;
    pthread_mutex_unlock(&state->link->lock);
    @autoreleasepool {
        close_parts(state);
    }
}

void igi_metal_event_signal(ig_event *event, uint64_t value) {
    metal_event *state = state_of(event);
    pthread_mutex_lock(&state->link->lock);  // a late signal must not overwrite a greater one
    @autoreleasepool {
        if (value > [state->shared signaledValue]) [state->shared setSignaledValue:value];
    }
    pthread_mutex_unlock(&state->link->lock);
}

void igi_metal_encode_wait(id<MTLCommandBuffer> buffer, ig_event *event, uint64_t value) {
    [buffer encodeWaitForEvent:state_of(event)->shared value:value];
}

void igi_metal_encode_signal(id<MTLCommandBuffer> buffer, ig_event *event, uint64_t value) {
    metal_event *state = state_of(event);
    IngotEventLink *link = state->link;  // the block retains it
    [state->shared notifyListener:listener_of(igi_metal(event->device))
                          atValue:value
                            block:^(id<MTLSharedEvent> reached, uint64_t now) {
                              (void)reached;
                              (void)now;
                              pthread_mutex_lock(&link->lock);
                              if (link->event) igi_device_event_reached(link->event, value);
                              pthread_mutex_unlock(&link->lock);
                            }];
    [buffer encodeSignalEvent:state->shared value:value];
}
