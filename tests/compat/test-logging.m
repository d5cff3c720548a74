// SPDX-License-Identifier: Apache-2.0
// Log states: what kernels log arrives at the handlers of a queue or a command buffer.
#include "helpers.h"

#include <stdlib.h>
#include <string.h>

static const char source[] = "#include <metal_stdlib>\n#include <metal_logging>\nusing namespace metal;\n"
                             "constant os_log own(\"com.example\", \"tests\");\n"
                             "kernel void talk(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
                             "    if (i == 1) own.log_error(\"thread %u of %v2u\", i, uint2(a[0], 7));\n"
                             "    if (i == 2) os_log_default.log_info(\"info\");\n"
                             "}\n";

static id<MTLLogState> new_log_state(MTLLogLevel level, NSMutableString *received) {
    MTLLogStateDescriptor *descriptor = [[MTLLogStateDescriptor alloc] init];
    descriptor.level = level;
    descriptor.bufferSize = 4096;
    NSError *error = nil;
    id<MTLLogState> state = [device newLogStateWithDescriptor:descriptor error:&error];
    assert_non_null(state);
    [state addLogHandler:^(NSString *subSystem, NSString *category, MTLLogLevel logLevel, NSString *message) {
      [received appendFormat:@"%d %@:%@ %@;", (int)logLevel, subSystem, category, message];
    }];
    [descriptor release];
    return state;
}

static void run(id<MTLCommandBuffer> commands) {
    run_on_words(commands, source, "talk");
}

static void handlers_of_a_command_buffer_get_messages(void **state) {
    NSMutableString *received = [NSMutableString string];
    id<MTLCommandQueue> queue = [device newCommandQueue];
    MTLCommandBufferDescriptor *descriptor = [[MTLCommandBufferDescriptor alloc] init];
    id<MTLLogState> log = new_log_state(MTLLogLevelDebug, received);
    descriptor.logState = log;
    [log release];
    id<MTLCommandBuffer> commands = [queue commandBufferWithDescriptor:descriptor];
    [descriptor release];
    run(commands);
    assert_text(received, "4 com.example:tests thread 1 of 0,7;2 (null):(null) info;");
    [queue release];
}

static void a_queue_has_one_for_its_command_buffers(void **state) {
    NSMutableString *received = [NSMutableString string];
    MTLCommandQueueDescriptor *descriptor = [[MTLCommandQueueDescriptor alloc] init];
    id<MTLLogState> log = new_log_state(MTLLogLevelError, received);
    descriptor.logState = log;
    id<MTLCommandQueue> queue = [device newCommandQueueWithDescriptor:descriptor];
    [descriptor release];
    [log release];
    run([queue commandBuffer]);
    assert_text(received, "4 com.example:tests thread 1 of 0,7;");
    [queue release];
}

static void without_a_log_state_nothing_arrives(void **state) {
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    run(commands);
    assert_int_equal(commands.status, MTLCommandBufferStatusCompleted);
    [queue release];
}

static void sizes_are_checked(void **state) {
    MTLLogStateDescriptor *descriptor = [[MTLLogStateDescriptor alloc] init];
    NSError *error = nil;
    descriptor.bufferSize = 10;
    assert_null([device newLogStateWithDescriptor:descriptor error:&error]);
    assert_error(error, MTLLogStateErrorDomain, MTLLogStateErrorInvalidSize);
    descriptor.bufferSize = -1;
    assert_null([device newLogStateWithDescriptor:descriptor error:NULL]);
    [descriptor release];
}

int main(void) {
    const struct CMUnitTest tests[] = {
        compat_test(handlers_of_a_command_buffer_get_messages), compat_test(a_queue_has_one_for_its_command_buffers),
        compat_test(without_a_log_state_nothing_arrives), compat_test(sizes_are_checked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
