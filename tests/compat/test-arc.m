// SPDX-License-Identifier: Apache-2.0
// Programs written for automatic reference counting: what they hold is released, weak variables become nil.
#include "helpers.h"

@interface Runner : NSObject
@property (strong) id<MTLCommandQueue> queue;
@property (copy) void (^done)(MTLCommandBufferStatus status);
@property (weak) Runner *friend;
- (void)run;
@end

@implementation Runner {
    NSMutableArray *_finished;
}

- (instancetype)init {
    if (!(self = [super init])) return nil;
    _queue = [device newCommandQueue];
    _finished = [NSMutableArray new];
    return self;
}

- (void)run {
    __weak Runner *weak_self = self;
    id<MTLCommandBuffer> commands = [_queue commandBuffer];
    [commands addCompletedHandler:^(id<MTLCommandBuffer> which) {
      Runner *strong_self = weak_self;
      if (strong_self.done) strong_self.done(which.status);
    }];
    [commands commit];
    [commands waitUntilCompleted];
    [_finished addObject:commands];
}
@end

@interface FastRunner : Runner
@property (strong) NSString *name;
@end

@implementation FastRunner
@end

static int ended;

@interface Witness : NSObject
@end

@implementation Witness
- (void)dealloc {
    ended++;
}
@end

static void objects_end_with_their_last_reference(void **state) {
    ended = 0;
    __weak Witness *weak = nil;
    @autoreleasepool {
        Witness *witness = [Witness new];
        weak = witness;
        NSArray *array = @[ witness, witness ];
        witness = nil;
        assert_int_equal(ended, 0);
        assert_ptr_equal(array[1], weak);
    }
    assert_int_equal(ended, 1);
    assert_null(weak);
}

static void what_an_object_holds_goes_with_it(void **state) {
    long before = igi_metal_live_objects();
    __weak FastRunner *gone = nil;
    @autoreleasepool {
        FastRunner *runner = [FastRunner new];
        Runner *other = [Runner new];
        __block MTLCommandBufferStatus status = MTLCommandBufferStatusNotEnqueued;
        runner.done = ^(MTLCommandBufferStatus now) {
          status = now;
        };
        runner.name = [NSString stringWithFormat:@"%d", 1];
        runner.friend = other;
        other.friend = runner;
        for (int i = 0; i < 3; i++) [runner run];
        assert_int_equal(status, MTLCommandBufferStatusCompleted);
        assert_ptr_equal(runner.friend, other);
        gone = runner;
        assert_true(igi_metal_live_objects() > before);
    }
    assert_null(gone);
    assert_int_equal(igi_metal_live_objects(), before);
}

static void weak_variables_are_copied_and_moved_by_blocks(void **state) {
    Witness *witness = [Witness new];
    __weak Witness *weak = witness;
    BOOL (^is_there)(void) = ^{
      return (BOOL)(weak != nil);
    };
    BOOL (^copy)(void) = [is_there copy];
    @autoreleasepool {
        assert_true(copy());
    }
    witness = nil;
    assert_false(copy());
    assert_false(is_there());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        compat_test(objects_end_with_their_last_reference),
        compat_test(what_an_object_holds_goes_with_it),
        compat_test(weak_variables_are_copied_and_moved_by_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
