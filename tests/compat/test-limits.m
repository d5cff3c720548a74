// SPDX-License-Identifier: Apache-2.0
// maxCommandBufferCount: commandBuffer waits while a queue has so many that have not completed.
#include <unistd.h>

#include "helpers.h"

typedef struct request {
    dispatch_semaphore_t given;
    id<MTLCommandBuffer> commands;  // one reference
} request;

// Asks on another thread.
static void ask(request *r, id<MTLCommandQueue> queue) {
    r->given = dispatch_semaphore_create(0);
    dispatch_async(dispatch_get_global_queue(0, 0), ^{
      @autoreleasepool {
          r->commands = [[queue commandBuffer] retain];
      }
      dispatch_semaphore_signal(r->given);
    });
}

static BOOL is_given(const request *r, int64_t milliseconds) {
    return dispatch_semaphore_wait(r->given, dispatch_time(DISPATCH_TIME_NOW, milliseconds * 1000000)) == 0;
}

enum { SHORT = 60, LONG = 60000 };

static id<MTLCommandBuffer> new_commands(id<MTLCommandQueue> queue) {
    NSAutoreleasePool *inner = [[NSAutoreleasePool alloc] init];
    id<MTLCommandBuffer> commands = [[queue commandBuffer] retain];
    [inner drain];
    return commands;
}

static void one_more_waits_for_one_to_complete(void **state) {
    id<MTLCommandQueue> queue = [device newCommandQueueWithMaxCommandBufferCount:2];
    id<MTLSharedEvent> event = [device newSharedEvent];
    id<MTLCommandBuffer> first = new_commands(queue), second = new_commands(queue);
    request third;
    ask(&third, queue);
    assert_false(is_given(&third, SHORT));  // neither is committed
    [first encodeWaitForEvent:event value:1];
    [first commit];
    assert_false(is_given(&third, SHORT));  // it has not completed
    event.signaledValue = 1;
    assert_true(is_given(&third, LONG));
    request fourth;
    ask(&fourth, queue);
    assert_false(is_given(&fourth, SHORT));
    [second release];  // without a commit
    assert_true(is_given(&fourth, LONG));
    [third.commands commit];
    [fourth.commands commit];
    [fourth.commands waitUntilCompleted];
    dispatch_release(third.given);
    dispatch_release(fourth.given);
    [third.commands release];
    [fourth.commands release];
    [first release];
    [event release];
    [queue release];
}

static void many_pass_through_a_small_queue(void **state) {
    MTLCommandQueueDescriptor *descriptor = [[[MTLCommandQueueDescriptor alloc] init] autorelease];
    assert_int_equal(descriptor.maxCommandBufferCount, 64);
    descriptor.maxCommandBufferCount = 3;
    id<MTLCommandQueue> queue = [device newCommandQueueWithDescriptor:descriptor];
    id<MTLComputePipelineState> pipeline = new_pipeline(increment_source, "increment");
    id<MTLBuffer> word = new_words(1);
    id<MTLCommandBuffer> last = nil;
    for (int i = 0; i < 400; i++) {
        id<MTLCommandBuffer> commands = i % 2 ? [queue commandBuffer] : [queue commandBufferWithUnretainedReferences];
        id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
        [encoder setComputePipelineState:pipeline];
        [encoder setBuffer:word offset:0 atIndex:0];
        [encoder dispatchThreads:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
        [encoder endEncoding];
        [commands commit];
        last = commands;
    }
    [last waitUntilCompleted];
    assert_int_equal(words_of(word)[0], 400);
    [word release];
    [pipeline release];
    [queue release];
}

// The handler's own thread may be what the others wait for.
static void handlers_do_not_wait(void **state) {
    id<MTLCommandQueue> queue = [device newCommandQueueWithMaxCommandBufferCount:1];
    dispatch_semaphore_t done = dispatch_semaphore_create(0);
    id<MTLCommandBuffer> commands = new_commands(queue);
    [commands addCompletedHandler:^(id<MTLCommandBuffer> completed) {
      id<MTLCommandBuffer> next = [queue commandBuffer], more = [queue commandBuffer];
      [next commit];
      [more commit];
      dispatch_semaphore_signal(done);
    }];
    [commands commit];
    [commands release];
    assert_int_equal(dispatch_semaphore_wait(done, dispatch_time(DISPATCH_TIME_NOW, (int64_t)LONG * 1000000)), 0);
    commands = new_commands(queue);
    [commands commit];
    [commands waitUntilCompleted];
    [commands release];
    dispatch_release(done);
    [queue release];
}

static void sixty_four_is_usual(void **state) {
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLCommandBuffer> held[64];
    for (int i = 0; i < 64; i++) held[i] = new_commands(queue);
    request next;
    ask(&next, queue);
    assert_false(is_given(&next, SHORT));
    [held[63] commit];
    assert_true(is_given(&next, LONG));
    for (int i = 0; i < 64; i++) [held[i] release];
    [next.commands release];
    dispatch_release(next.given);
    [queue release];
}

int main(void) {
    const struct CMUnitTest tests[] = {
        compat_test(one_more_waits_for_one_to_complete),
        compat_test(many_pass_through_a_small_queue),
        compat_test(handlers_do_not_wait),
        compat_test(sixty_four_is_usual),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
