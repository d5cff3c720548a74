// SPDX-License-Identifier: Apache-2.0
// Events between queues and with the host.
#include <unistd.h>

#include "helpers.h"

static void the_host_signals_and_waits(void **state) {
    id<MTLSharedEvent> event = [device newSharedEvent];
    event.label = @"event";
    assert_text(event.label, "event");
    assert_ptr_equal(event.device, device);
    assert_int_equal(event.signaledValue, 0);
    NSDate *start = [NSDate date];
    assert_false([event waitUntilSignaledValue:1 timeoutMS:20]);
    assert_true([start timeIntervalSinceNow] <= -0.019);
    event.signaledValue = 4;
    assert_int_equal(event.signaledValue, 4);
    assert_true([event waitUntilSignaledValue:4 timeoutMS:UINT64_MAX]);
    MTLSharedEventHandle *handle = [event newSharedEventHandle];
    assert_text(handle.label, "event");
    id<MTLSharedEvent> same = [device newSharedEventWithHandle:handle];
    assert_ptr_equal(same, event);
    [same release];
    [handle release];
    [event release];
}

static void queues_wait_for_each_other(void **state) {
    id<MTLEvent> event = [device newEvent];
    id<MTLCommandQueue> first = [device newCommandQueue], second = [device newCommandQueue];
    id<MTLBuffer> buffer = new_words(1);
    id<MTLCommandBuffer> waits = [second commandBuffer], signals = [first commandBuffer];
    [waits encodeWaitForEvent:event value:1];
    id<MTLBlitCommandEncoder> blit = [waits blitCommandEncoder];
    [blit fillBuffer:buffer range:NSMakeRange(0, 1) value:2];
    [blit endEncoding];
    [waits commit];
    blit = [signals blitCommandEncoder];
    [blit fillBuffer:buffer range:NSMakeRange(0, 4) value:1];
    [blit endEncoding];
    [signals encodeSignalEvent:event value:1];
    [event release];
    usleep(1000);
    assert_true(waits.status < MTLCommandBufferStatusCompleted);
    [signals commit];
    [waits waitUntilCompleted];
    assert_int_equal(words_of(buffer)[0], 0x01010102);
    [buffer release];
    [first release];
    [second release];
}

static void listeners_hear_of_values(void **state) {
    id<MTLSharedEvent> event = [device newSharedEvent];
    id<MTLCommandQueue> queue = [device newCommandQueue];
    dispatch_queue_t listens = dispatch_queue_create("listens", DISPATCH_QUEUE_SERIAL);
    MTLSharedEventListener *listener = [[MTLSharedEventListener alloc] initWithDispatchQueue:listens];
    assert_ptr_equal(listener.dispatchQueue, listens);
    dispatch_semaphore_t heard = dispatch_semaphore_create(0);
    __block uint64_t value = 0;
    __block BOOL on_queue = NO;
    [event notifyListener:listener
                  atValue:2
                    block:^(id<MTLSharedEvent> which, uint64_t now) {
                      value = which == event ? now : 0;
                      on_queue = strcmp(dispatch_queue_get_label(DISPATCH_CURRENT_QUEUE_LABEL), "listens") == 0;
                      dispatch_semaphore_signal(heard);
                    }];
    event.signaledValue = 1;
    assert_true(dispatch_semaphore_wait(heard, dispatch_time(DISPATCH_TIME_NOW, 5 * NSEC_PER_MSEC)) != 0);
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    [commands encodeSignalEvent:event value:2];
    [commands commit];
    assert_int_equal(dispatch_semaphore_wait(heard, DISPATCH_TIME_FOREVER), 0);
    assert_int_equal(value, 2);
    assert_true(on_queue);
    [event notifyListener:[MTLSharedEventListener sharedListener]
                  atValue:1
                    block:^(id<MTLSharedEvent> which, uint64_t now) {
                      dispatch_semaphore_signal(heard);
                    }];
    assert_int_equal(dispatch_semaphore_wait(heard, DISPATCH_TIME_FOREVER), 0);
    [commands waitUntilCompleted];
    [listener release];
    dispatch_release(heard);
    dispatch_release(listens);
    [queue release];
    [event release];
}

static void a_nil_event_is_an_error(void **state) {
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    [commands encodeWaitForEvent:nil value:1];
    [commands commit];
    [commands waitUntilCompleted];
    assert_error(commands.error, MTLCommandBufferErrorDomain, MTLCommandBufferErrorInvalidResource);
    [queue release];
}

int main(void) {
    const struct CMUnitTest tests[] = {
        compat_test(the_host_signals_and_waits),
        compat_test(queues_wait_for_each_other),
        compat_test(listeners_hear_of_values),
        compat_test(a_nil_event_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
