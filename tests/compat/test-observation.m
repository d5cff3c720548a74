// SPDX-License-Identifier: Apache-2.0
// Watching a program: times of its commands, captures, and what validation found.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helpers.h"

static const char spin_source[] = "kernel void spin(device uint *a [[buffer(0)]], constant uint &n [[buffer(1)]]) {\n"
                                  "    uint x = a[0];\n"
                                  "    for (uint i = 0; i < n; i++) x = x * 1664525u + 1013904223u;\n"
                                  "    a[0] = x;\n"
                                  "}\n";

// ---- Times ----

static id<MTLCounterSampleBuffer> new_samples(NSUInteger count) {
    NSError *error = nil;
    MTLCounterSampleBufferDescriptor *descriptor = [[[MTLCounterSampleBufferDescriptor alloc] init] autorelease];
    assert_int_equal([device.counterSets count], 1);
    descriptor.counterSet = [device.counterSets objectAtIndex:0];
    descriptor.sampleCount = count;
    descriptor.storageMode = MTLStorageModeShared;
    id<MTLCounterSampleBuffer> samples = [device newCounterSampleBufferWithDescriptor:descriptor error:&error];
    assert_non_null(samples);
    return samples;
}

static void dispatch_spin(id<MTLComputeCommandEncoder> encoder, uint32_t rounds) {
    [encoder setBytes:&rounds length:sizeof rounds atIndex:1];
    [encoder dispatchThreads:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
}

static void times_are_taken_at_encoders_and_dispatches(void **state) {
    enum { START, BETWEEN, END, UNUSED, COUNT };
    id<MTLComputePipelineState> pipeline = new_pipeline(spin_source, "spin");
    id<MTLCounterSampleBuffer> samples = new_samples(COUNT);
    id<MTLBuffer> words = new_words(1), resolved = new_words(2 * COUNT);
    id<MTLCommandQueue> queue = [device newCommandQueue];
    MTLTimestamp before, after, gpu;
    [device sampleTimestamps:&before gpuTimestamp:&gpu];
    MTLComputePassDescriptor *pass = [MTLComputePassDescriptor computePassDescriptor];
    MTLComputePassSampleBufferAttachmentDescriptor *attachment = pass.sampleBufferAttachments[0];
    attachment.sampleBuffer = samples;
    attachment.startOfEncoderSampleIndex = START;
    attachment.endOfEncoderSampleIndex = END;
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoderWithDescriptor:pass];
    [encoder setComputePipelineState:pipeline];
    [encoder setBuffer:words offset:0 atIndex:0];
    dispatch_spin(encoder, 10);
    [encoder sampleCountersInBuffer:samples atSampleIndex:BETWEEN withBarrier:YES];
    dispatch_spin(encoder, 20000000);
    [encoder endEncoding];
    id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
    [blit resolveCounters:samples inRange:NSMakeRange(0, COUNT) destinationBuffer:resolved destinationOffset:0];
    [blit endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    [device sampleTimestamps:&after gpuTimestamp:&gpu];
    assert_int_equal(commands.status, MTLCommandBufferStatusCompleted);
    NSData *data = [samples resolveCounterRange:NSMakeRange(0, COUNT)];
    const MTLCounterResultTimestamp *times = [data bytes];
    assert_int_equal([data length], COUNT * sizeof *times);
    assert_true(before <= times[START].timestamp && times[START].timestamp <= times[BETWEEN].timestamp);
    assert_true(times[END].timestamp <= after);
    uint64_t first = times[BETWEEN].timestamp - times[START].timestamp;
    uint64_t second = times[END].timestamp - times[BETWEEN].timestamp;
    assert_true(second > 1000000 && second > first);  // twenty million rounds take more than a millisecond
    assert_true(times[UNUSED].timestamp == MTLCounterErrorValue);
    assert_memory_equal(resolved.contents, times, COUNT * sizeof *times);
    [queue release];
    [words release];
    [resolved release];
    [samples release];
    [pipeline release];
}

static void what_is_not_there_cannot_be_sampled(void **state) {
    NSError *error = nil;
    MTLCounterSampleBufferDescriptor *descriptor = [[[MTLCounterSampleBufferDescriptor alloc] init] autorelease];
    descriptor.sampleCount = 4;
    assert_null([device newCounterSampleBufferWithDescriptor:descriptor error:&error]);
    assert_error(error, MTLCounterErrorDomain, MTLCounterSampleBufferErrorInvalid);
    assert_true([device supportsCounterSampling:MTLCounterSamplingPointAtDispatchBoundary]);
    assert_false([device supportsCounterSampling:MTLCounterSamplingPointAtDrawBoundary]);
    id<MTLCounterSampleBuffer> samples = new_samples(2);
    assert_null([samples resolveCounterRange:NSMakeRange(1, 2)]);
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder sampleCountersInBuffer:samples atSampleIndex:2 withBarrier:NO];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    assert_error(commands.error, MTLCommandBufferErrorDomain, MTLCommandBufferErrorInvalidResource);
    [samples release];
    [queue release];
}

// ---- Captures ----

static char place[] = "/tmp/ingot-capture-XXXXXX";

static int allow_captures(void **state) {
    setenv("MTL_CAPTURE_ENABLED", "1", 1);
    strcpy(place + strlen(place) - 6, "XXXXXX");
    return mkdtemp(place) && open_device(state) == 0 ? 0 : -1;
}

static int forbid_captures(void **state) {
    unsetenv("MTL_CAPTURE_ENABLED");
    [[NSFileManager defaultManager] removeFileAtPath:[NSString stringWithUTF8String:place] handler:nil];
    return close_device(state);
}

static MTLCaptureDescriptor *descriptor_for(id object, const char *name) {
    MTLCaptureDescriptor *descriptor = [[[MTLCaptureDescriptor alloc] init] autorelease];
    descriptor.captureObject = object;
    descriptor.destination = MTLCaptureDestinationGPUTraceDocument;
    descriptor.outputURL = [NSURL fileURLWithPath:[NSString stringWithFormat:@"%s/%s", place, name]];
    return descriptor;
}

// Directories with a description in them.
static size_t dispatches_in(const char *name) {
    size_t count = 0;
    char path[600];
    snprintf(path, sizeof path, "%s/%s", place, name);
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        snprintf(path, sizeof path, "%s/%s/%s/capture.json", place, name, entry->d_name);
        count += access(path, R_OK) == 0;
    }
    if (directory) closedir(directory);
    return count;
}

static void increment_twice(id<MTLCommandQueue> queue, id<MTLComputePipelineState> pipeline) {
    id<MTLBuffer> words = new_words(8);
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:pipeline];
    [encoder setBuffer:words offset:0 atIndex:0];
    for (int i = 0; i < 2; i++)
        [encoder dispatchThreads:MTLSizeMake(8, 1, 1) threadsPerThreadgroup:MTLSizeMake(8, 1, 1)];
    [encoder endEncoding];
    [commands commit];  // not waited for: stopCapture waits
    [words release];
}

static void captures_hold_what_was_committed_between_start_and_stop(void **state) {
    MTLCaptureManager *manager = [MTLCaptureManager sharedCaptureManager];
    NSError *error = nil;
    id<MTLCommandQueue> queue = [device newCommandQueue], other = [device newCommandQueue];
    id<MTLComputePipelineState> pipeline = new_pipeline(increment_source, "increment");
    assert_true([manager supportsDestination:MTLCaptureDestinationGPUTraceDocument]);
    assert_false([manager supportsDestination:MTLCaptureDestinationDeveloperTools]);
    assert_true([manager startCaptureWithDescriptor:descriptor_for(device, "all.gputrace") error:&error]);
    assert_true(manager.isCapturing);
    assert_false([manager startCaptureWithDescriptor:descriptor_for(device, "second.gputrace") error:&error]);
    assert_error(error, MTLCaptureErrorDomain, MTLCaptureErrorAlreadyCapturing);
    increment_twice(queue, pipeline);
    [manager stopCapture];
    assert_false(manager.isCapturing);
    increment_twice(queue, pipeline);
    assert_int_equal(dispatches_in("all.gputrace"), 2);
    assert_true([manager startCaptureWithDescriptor:descriptor_for(other, "queue.gputrace") error:&error]);
    increment_twice(queue, pipeline);
    increment_twice(other, pipeline);
    [manager stopCapture];
    assert_int_equal(dispatches_in("queue.gputrace"), 2);
    [pipeline release];
    [other release];
    [queue release];
}

static void a_scope_bounds_its_capture(void **state) {
    MTLCaptureManager *manager = [MTLCaptureManager sharedCaptureManager];
    NSError *error = nil;
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLComputePipelineState> pipeline = new_pipeline(increment_source, "increment");
    id<MTLCaptureScope> scope = [manager newCaptureScopeWithDevice:device];
    assert_true([manager startCaptureWithDescriptor:descriptor_for(scope, "scope.gputrace") error:&error]);
    increment_twice(queue, pipeline);
    id<MTLCommandBuffer> last = [queue commandBuffer];
    [last commit];
    [last waitUntilCompleted];
    [scope beginScope];
    increment_twice(queue, pipeline);
    [scope endScope];
    assert_false(manager.isCapturing);
    increment_twice(queue, pipeline);
    assert_int_equal(dispatches_in("scope.gputrace"), 2);
    [scope release];
    [pipeline release];
    [queue release];
}

static void captures_that_cannot_be_made_are_refused(void **state) {
    MTLCaptureManager *manager = [MTLCaptureManager sharedCaptureManager];
    NSError *error = nil;
    MTLCaptureDescriptor *descriptor = descriptor_for(device, "");  // exists
    assert_false([manager startCaptureWithDescriptor:descriptor error:&error]);
    assert_error(error, MTLCaptureErrorDomain, MTLCaptureErrorInvalidDescriptor);
    assert_contains([error localizedDescription], "exists already");
    descriptor = descriptor_for(@"a string", "x");
    assert_false([manager startCaptureWithDescriptor:descriptor error:&error]);
    assert_contains([error localizedDescription], "captureObject");
    unsetenv("MTL_CAPTURE_ENABLED");
    assert_false([manager startCaptureWithDescriptor:descriptor_for(device, "x") error:&error]);
    assert_error(error, MTLCaptureErrorDomain, MTLCaptureErrorNotSupported);
    assert_contains([error localizedDescription], "MTL_CAPTURE_ENABLED=1");
}

// ---- What validation found ----

static int validate(void **state) {
    setenv("MTL_SHADER_VALIDATION", "1", 1);
    return open_device(state);
}

static int end_validation(void **state) {
    unsetenv("MTL_SHADER_VALIDATION");
    return close_device(state);
}

static void findings_are_logs_of_functions(void **state) {
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    run_on_words(commands,
                 "kernel void past(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
                 "    a[i + 1] = i;\n}\n",
                 "past");
    assert_int_equal(commands.status, MTLCommandBufferStatusError);
    size_t count = 0;
    for (id<MTLFunctionLog> log in commands.logs) {
        count++;
        assert_int_equal(log.type, MTLFunctionLogTypeValidation);
        assert_text(log.debugLocation.functionName, "past");
        assert_int_equal(log.debugLocation.line, 2);
        assert_true([[log description] length] > 0);
    }
    assert_int_equal(count, 1);
    id<MTLCommandBuffer> good = [queue commandBuffer];
    run_on_words(good, increment_source, "increment");
    for (id log in good.logs) fail_msg("%s", [[log description] UTF8String]);
    [queue release];
}

int main(void) {
    const struct CMUnitTest tests[] = {
        compat_test(times_are_taken_at_encoders_and_dispatches),
        compat_test(what_is_not_there_cannot_be_sampled),
        cmocka_unit_test_setup_teardown(captures_hold_what_was_committed_between_start_and_stop, allow_captures,
                                        forbid_captures),
        cmocka_unit_test_setup_teardown(a_scope_bounds_its_capture, allow_captures, forbid_captures),
        cmocka_unit_test_setup_teardown(captures_that_cannot_be_made_are_refused, allow_captures, forbid_captures),
        cmocka_unit_test_setup_teardown(findings_are_logs_of_functions, validate, end_validation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
