// SPDX-License-Identifier: Apache-2.0
// Blocks and dispatch, as Metal programs use them.
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helpers.h"

// ---- Blocks ----

static void blocks_are_objects(void **state) {
    int number = 3;
    id string = [NSMutableString stringWithString:@"x"];
    NSUInteger references = [string retainCount];
    int (^stack)(void) = ^{
      return number + (int)[string length];
    };
    int (^heap)(void) = [stack copy];
    assert_int_equal(heap(), 4);
    assert_int_equal([string retainCount], references + 1);
    NSArray *array = [[NSArray alloc] initWithObjects:heap, nil];
    assert_int_equal([heap retainCount], 2);
    [heap release];
    assert_int_equal(((int (^)(void))[array lastObject])(), 4);
    [array release];
    assert_int_equal([string retainCount], references);
    void (^global)(void) = ^{
    };
    assert_ptr_equal([global copy], global);
    assert_ptr_equal(Block_copy(global), global);
    [global release];
}

static void block_variables_move_to_the_heap(void **state) {
    __block int count = 0;
    void (^increments)(void) = Block_copy(^{
      count++;
    });
    void (^nested)(void) = Block_copy(^{
      increments();
      increments();
    });
    nested();
    count++;
    assert_int_equal(count, 3);
    Block_release(increments);
    nested();
    assert_int_equal(count, 5);
    Block_release(nested);
    count++;
    assert_int_equal(count, 6);
}

// ---- Queues ----

static void a_serial_queue_runs_in_order(void **state) {
    dispatch_queue_t queue = dispatch_queue_create("serial", DISPATCH_QUEUE_SERIAL);
    assert_string_equal(dispatch_queue_get_label(queue), "serial");
    __block int next = 0, wrong = 0;
    for (int i = 0; i < 1000; i++)
        dispatch_async(queue, ^{
          if (next++ != i) wrong++;
        });
    __block int seen = 0;
    dispatch_sync(queue, ^{
      seen = next;
    });
    assert_int_equal(seen, 1000);
    assert_int_equal(wrong, 0);
    dispatch_release(queue);
}

static void barriers_part_a_concurrent_queue(void **state) {
    dispatch_queue_attr_t attribute =
        dispatch_queue_attr_make_with_qos_class(DISPATCH_QUEUE_CONCURRENT, QOS_CLASS_UTILITY, 0);
    dispatch_queue_t queue = dispatch_queue_create("concurrent", attribute);
    __block atomic_int running;
    __block int before = -1;
    atomic_init(&running, 0);
    dispatch_block_t work = ^{
      atomic_fetch_add(&running, 1);
      usleep(1000);
      atomic_fetch_sub(&running, 1);
    };
    for (int i = 0; i < 8; i++) dispatch_async(queue, work);
    dispatch_barrier_async(queue, ^{
      before = atomic_load(&running);
    });
    for (int i = 0; i < 8; i++) dispatch_async(queue, work);
    dispatch_barrier_sync(queue, ^{
      if (before == 0) before = atomic_load(&running) == 0 ? 1 : -2;
    });
    assert_int_equal(before, 1);
    dispatch_release(queue);
}

static void increment_context(void *context) {
    ++*(int *)context;
}

static void increment_nth(void *context, size_t n) {
    ((int *)context)[n]++;
}

static void functions_do_as_well_as_blocks(void **state) {
    dispatch_queue_t queue = dispatch_queue_create(NULL, NULL);
    int count = 0, each[100] = {0};
    dispatch_async_f(queue, &count, increment_context);
    dispatch_sync_f(queue, &count, increment_context);
    assert_int_equal(count, 2);
    dispatch_apply_f(100, dispatch_get_global_queue(DISPATCH_QUEUE_PRIORITY_DEFAULT, 0), each, increment_nth);
    for (int i = 0; i < 100; i++) assert_int_equal(each[i], 1);
    static dispatch_once_t once;
    for (int i = 0; i < 3; i++) dispatch_once_f(&once, &count, increment_context);
    assert_int_equal(count, 3);
    dispatch_set_context(queue, &count);
    assert_ptr_equal(dispatch_get_context(queue), &count);
    dispatch_set_finalizer_f(queue, increment_context);
    dispatch_release(queue);
    for (int i = 0; i < 2000 && count != 4; i++) usleep(1000);
    assert_int_equal(count, 4);
    assert_string_equal(dispatch_queue_get_label(&_dispatch_main_q), "com.apple.main-thread");
    assert_ptr_equal(dispatch_get_main_queue(), &_dispatch_main_q);
}

static void groups_wait_and_notify(void **state) {
    dispatch_group_t group = dispatch_group_create();
    dispatch_queue_t global = dispatch_get_global_queue(QOS_CLASS_USER_INITIATED, 0);
    dispatch_semaphore_t notified = dispatch_semaphore_create(0);
    __block atomic_int done;
    atomic_init(&done, 0);
    assert_int_equal(dispatch_group_wait(group, DISPATCH_TIME_NOW), 0);
    for (int i = 0; i < 10; i++)
        dispatch_group_async(group, global, ^{
          usleep(500);
          atomic_fetch_add(&done, 1);
        });
    dispatch_group_enter(group);
    assert_true(dispatch_group_wait(group, dispatch_time(DISPATCH_TIME_NOW, NSEC_PER_MSEC)) != 0);
    dispatch_group_notify(group, global, ^{
      dispatch_semaphore_signal(notified);
    });
    dispatch_group_leave(group);
    assert_int_equal(dispatch_group_wait(group, DISPATCH_TIME_FOREVER), 0);
    assert_int_equal(atomic_load(&done), 10);
    assert_int_equal(dispatch_semaphore_wait(notified, DISPATCH_TIME_FOREVER), 0);
    dispatch_release(notified);
    dispatch_release(group);
}

static void time_passes(void **state) {
    dispatch_semaphore_t semaphore = dispatch_semaphore_create(0);
    assert_null(dispatch_semaphore_create(-1));
    uint64_t start = dispatch_time(DISPATCH_TIME_NOW, 0);
    assert_true(dispatch_semaphore_wait(semaphore, dispatch_walltime(NULL, NSEC_PER_MSEC)) != 0);
    dispatch_after(dispatch_time(DISPATCH_TIME_NOW, 5 * NSEC_PER_MSEC), dispatch_get_global_queue(0, 0), ^{
      dispatch_semaphore_signal(semaphore);
    });
    assert_int_equal(dispatch_semaphore_wait(semaphore, dispatch_walltime(NULL, 60 * NSEC_PER_SEC)), 0);
    assert_true(dispatch_time(DISPATCH_TIME_NOW, 0) - start >= 5 * NSEC_PER_MSEC);
    assert_true(dispatch_time(DISPATCH_TIME_FOREVER, 1) == DISPATCH_TIME_FOREVER);
    assert_true(dispatch_time(DISPATCH_TIME_NOW, INT64_MAX) == DISPATCH_TIME_FOREVER);
    dispatch_release(semaphore);
}

static void data_is_kept_and_given_back(void **state) {
    char *text = strdup("one");
    dispatch_data_t one = dispatch_data_create(text, 3, NULL, DISPATCH_DATA_DESTRUCTOR_FREE);
    dispatch_semaphore_t freed = dispatch_semaphore_create(0);
    dispatch_data_t two = dispatch_data_create("two", 3, dispatch_get_global_queue(0, 0), ^{
      dispatch_semaphore_signal(freed);
    });
    dispatch_data_t both = dispatch_data_create_concat(one, two);
    assert_int_equal(dispatch_data_get_size(both), 6);
    __block size_t seen = 0;
    assert_true(dispatch_data_apply(both, ^bool(dispatch_data_t part, size_t offset, const void *bytes, size_t size) {
      seen += size;
      return true;
    }));
    assert_int_equal(seen, 6);
    const void *bytes = NULL;
    size_t size = 0;
    dispatch_data_t map = dispatch_data_create_map(both, &bytes, &size);
    assert_memory_equal(bytes, "onetwo", 6);
    dispatch_release(map);
    dispatch_release(both);
    dispatch_release(one);
    dispatch_release(two);
    assert_int_equal(dispatch_semaphore_wait(freed, DISPATCH_TIME_FOREVER), 0);
    dispatch_release(freed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        compat_test(blocks_are_objects),
        compat_test(block_variables_move_to_the_heap),
        compat_test(a_serial_queue_runs_in_order),
        compat_test(barriers_part_a_concurrent_queue),
        compat_test(functions_do_as_well_as_blocks),
        compat_test(groups_wait_and_notify),
        compat_test(time_passes),
        compat_test(data_is_kept_and_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
