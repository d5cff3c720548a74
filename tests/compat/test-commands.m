// SPDX-License-Identifier: Apache-2.0
// Command buffers and their encoders: what they compute, in which order, and what they report if misused.
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "helpers.h"

static const char kernels[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void increment(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]]) { a[i] += 1; }\n"
    "kernel void affine(device uint *a [[buffer(0)]], constant uint &m [[buffer(1)]], constant uint &n [[buffer(2)]],\n"
    "                   uint i [[thread_position_in_grid]]) { a[i] = a[i] * m + n; }\n"
    "kernel void rotate_left(device uint *a [[buffer(0)]], threadgroup uint *t [[threadgroup(0)]],\n"
    "                        uint i [[thread_index_in_threadgroup]], uint n [[threads_per_threadgroup]]) {\n"
    "    t[i] = a[i]; threadgroup_barrier(mem_flags::mem_threadgroup); a[i] = t[(i + 1) % n]; }\n"
    "kernel void ignores(device uint *a [[buffer(0)]], threadgroup uint *unused [[threadgroup(0)]]) { a[0] = 5; }\n"
    "kernel void uses_some(device uint *a [[buffer(0)]], constant float &x [[buffer(7)]], constant uint &y "
    "[[buffer(8)]],\n"
    "                      uint i [[thread_position_in_grid]]) { a[i] = i; }\n"
    "struct holder { device uint *target; };\n"
    "kernel void follow(device holder &h [[buffer(0)]], uint i [[thread_position_in_grid]]) { h.target[i] = i + 1; }\n"
    "kernel void fault(device ulong *a [[buffer(0)]]) { *(device uint *)a[0] = 1; }\n";

static id<MTLCommandQueue> queue;
static id<MTLBuffer> buffer;
static id<MTLCommandBuffer> commands;
static id<MTLComputeCommandEncoder> encoder;

static int open_commands(void **state) {
    if (open_device(state) != 0) return -1;
    queue = [device newCommandQueue];
    buffer = new_words(64);
    commands = [queue commandBuffer];
    return 0;
}

static int close_commands(void **state) {
    [buffer release];
    [queue release];
    return close_device(state);
}

static MTLSize line(NSUInteger length) {
    return MTLSizeMake(length, 1, 1);
}

static void begin(const char *kernel) {
    id<MTLComputePipelineState> pipeline = new_pipeline(kernels, kernel);
    encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:pipeline];
    [encoder setBuffer:buffer offset:0 atIndex:0];
    [pipeline release];
}

static void finish(void) {
    [commands commit];
    [commands waitUntilCompleted];
}

static void finish_well(void) {
    finish();
    if (commands.error) print_error("%s\n", [[commands.error localizedDescription] UTF8String]);
    assert_int_equal(commands.status, MTLCommandBufferStatusCompleted);
    assert_null(commands.error);
}

static void finish_with_error(NSInteger code, const char *part) {
    finish();
    assert_int_equal(commands.status, MTLCommandBufferStatusError);
    assert_error(commands.error, MTLCommandBufferErrorDomain, code);
    assert_contains([commands.error localizedDescription], part);
}

// ---- Work ----

static void dispatches_run_in_order(void **state) {
    begin("affine");
    assert_int_equal(encoder.dispatchType, MTLDispatchTypeSerial);
    uint32_t m = 3, n = 5;
    [encoder setBytes:&m length:sizeof m atIndex:1];
    [encoder setBytes:&n length:sizeof n atIndex:2];
    [encoder dispatchThreads:line(64) threadsPerThreadgroup:line(32)];
    n = 7;
    [encoder setBytes:&n length:sizeof n atIndex:2];
    [encoder memoryBarrierWithScope:MTLBarrierScopeBuffers];
    [encoder dispatchThreadgroups:line(2) threadsPerThreadgroup:line(32)];
    [encoder endEncoding];
    finish_well();
    for (int i = 0; i < 64; i++) assert_int_equal(words_of(buffer)[i], 22);
}

static void buffers_and_offsets_are_bound(void **state) {
    uint32_t values[2] = {10, 1};
    id<MTLBuffer> numbers = [device newBufferWithBytes:values length:sizeof values options:0];
    begin("affine");
    const id<MTLBuffer> both[2] = {numbers, numbers};
    const NSUInteger offsets[2] = {0, 4};
    [encoder setBuffers:both offsets:offsets withRange:NSMakeRange(1, 2)];
    [encoder dispatchThreads:line(1) threadsPerThreadgroup:line(1)];
    [encoder setBufferOffset:8 atIndex:0];
    [encoder setBufferOffset:0 atIndex:2];
    [encoder dispatchThreads:line(1) threadsPerThreadgroup:line(1)];
    [encoder endEncoding];
    [numbers release];
    finish_well();
    assert_int_equal(words_of(buffer)[0], 1);
    assert_int_equal(words_of(buffer)[2], 10);
}

static void threadgroup_memory_is_given(void **state) {
    for (uint32_t i = 0; i < 64; i++) words_of(buffer)[i] = i;
    begin("rotate_left");
    [encoder setThreadgroupMemoryLength:64 * 4 atIndex:0];
    [encoder dispatchThreadgroups:line(1) threadsPerThreadgroup:line(64)];
    [encoder endEncoding];
    begin("ignores");
    [encoder dispatchThreads:line(1) threadsPerThreadgroup:line(1)];
    [encoder setThreadgroupMemoryLength:0 atIndex:0];
    [encoder dispatchThreads:line(1) threadsPerThreadgroup:line(1)];
    [encoder endEncoding];
    finish_well();
    assert_int_equal(words_of(buffer)[0], 5);
    assert_int_equal(words_of(buffer)[1], 2);
    assert_int_equal(words_of(buffer)[63], 0);
}

static void indirect_arguments_are_read_when_it_runs(void **state) {
    id<MTLBuffer> arguments = new_words(4);
    id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
    [blit fillBuffer:arguments range:NSMakeRange(4, 12) value:1];  // 0x01010101 groups are too many: see below
    [blit endEncoding];
    begin("increment");
    [encoder dispatchThreadgroupsWithIndirectBuffer:arguments indirectBufferOffset:0 threadsPerThreadgroup:line(8)];
    [encoder endEncoding];
    finish_well();
    assert_int_equal(words_of(buffer)[0], 0);  // a count of 0 in x
    commands = [queue commandBuffer];
    words_of(arguments)[0] = 3, words_of(arguments)[1] = 1, words_of(arguments)[2] = 1;
    begin("increment");
    [encoder dispatchThreadgroupsWithIndirectBuffer:arguments indirectBufferOffset:0 threadsPerThreadgroup:line(8)];
    [encoder endEncoding];
    finish_well();
    assert_int_equal(words_of(buffer)[23], 1);
    assert_int_equal(words_of(buffer)[24], 0);
    [arguments release];
}

static id<MTLIndirectCommandBuffer> new_indirect(BOOL inherit) {
    MTLIndirectCommandBufferDescriptor *descriptor = [[[MTLIndirectCommandBufferDescriptor alloc] init] autorelease];
    descriptor.commandTypes =
        MTLIndirectCommandTypeConcurrentDispatch | MTLIndirectCommandTypeConcurrentDispatchThreads;
    descriptor.inheritPipelineState = descriptor.inheritBuffers = inherit;
    descriptor.maxKernelBufferBindCount = 3;
    return [device newIndirectCommandBufferWithDescriptor:descriptor maxCommandCount:4 options:0];
}

static void descriptors_of_recorded_commands_keep_their_values(void **state) {
    MTLIndirectCommandBufferDescriptor *descriptor = [[MTLIndirectCommandBufferDescriptor alloc] init];
    descriptor.commandTypes = MTLIndirectCommandTypeDraw;
    descriptor.inheritCullMode = descriptor.supportDynamicAttributeStride = YES;
    descriptor.maxVertexBufferBindCount = 8;
    descriptor.maxKernelBufferBindCount = 3;
    MTLIndirectCommandBufferDescriptor *copy = [descriptor copy];
    [descriptor release];
    assert_int_equal(copy.commandTypes, MTLIndirectCommandTypeDraw);
    assert_true(copy.inheritCullMode && copy.supportDynamicAttributeStride && !copy.inheritBuffers);
    assert_int_equal(copy.maxVertexBufferBindCount, 8);
    assert_int_equal(copy.maxKernelBufferBindCount, 3);
    [copy release];
}

static void recorded_commands_are_executed(void **state) {
    id<MTLIndirectCommandBuffer> recorded = new_indirect(NO);
    id<MTLComputePipelineState> increment = new_pipeline(kernels, "increment"),
                                affine = new_pipeline(kernels, "affine");
    const uint32_t constants[2] = {3, 7};
    id<MTLBuffer> numbers = [device newBufferWithBytes:constants length:sizeof constants options:0];
    id<MTLIndirectComputeCommand> first = [recorded indirectComputeCommandAtIndex:0];
    [first setComputePipelineState:increment];
    [first setKernelBuffer:buffer offset:0 atIndex:0];
    [first concurrentDispatchThreads:line(2) threadsPerThreadgroup:line(2)];
    id<MTLIndirectComputeCommand> third = [recorded indirectComputeCommandAtIndex:2];
    [third setComputePipelineState:affine];
    [third setKernelBuffer:buffer offset:4 atIndex:0];
    [third setKernelBuffer:numbers offset:0 atIndex:1];
    [third setKernelBuffer:numbers offset:4 atIndex:2];
    [third setBarrier];
    [third concurrentDispatchThreadgroups:line(1) threadsPerThreadgroup:line(2)];
    assert_int_equal(recorded.size, 4);
    assert_null([recorded indirectComputeCommandAtIndex:4]);
    encoder = [commands computeCommandEncoder];
    [encoder executeCommandsInBuffer:recorded withRange:NSMakeRange(0, 4)];
    [encoder executeCommandsInBuffer:recorded withRange:NSMakeRange(0, 1)];
    [encoder endEncoding];
    finish_well();
    const uint32_t expected[4] = {2, 11, 7, 0};
    assert_memory_equal(buffer.contents, expected, sizeof expected);
    // They are read when they are executed.
    commands = [queue commandBuffer];
    encoder = [commands computeCommandEncoder];
    [encoder executeCommandsInBuffer:recorded withRange:NSMakeRange(0, 4)];
    [encoder endEncoding];
    [recorded resetWithRange:NSMakeRange(0, 4)];
    finish_well();
    assert_memory_equal(buffer.contents, expected, sizeof expected);
    [recorded release];
    [increment release];
    [affine release];
    [numbers release];
}

static void recorded_commands_inherit(void **state) {
    id<MTLIndirectCommandBuffer> recorded = new_indirect(YES);
    [[recorded indirectComputeCommandAtIndex:3] concurrentDispatchThreads:line(3) threadsPerThreadgroup:line(3)];
    begin("increment");
    [encoder executeCommandsInBuffer:recorded withRange:NSMakeRange(3, 1)];
    [encoder endEncoding];
    finish_well();
    assert_int_equal(words_of(buffer)[2], 1);
    assert_int_equal(words_of(buffer)[3], 0);
    [recorded release];
}

static void recorded_commands_outside_are_an_error(void **state) {
    id<MTLIndirectCommandBuffer> recorded = new_indirect(NO);
    encoder = [commands computeCommandEncoder];
    [encoder executeCommandsInBuffer:recorded withRange:NSMakeRange(3, 2)];
    [encoder endEncoding];
    finish_with_error(MTLCommandBufferErrorInvalidResource, "outside");
    [recorded release];
}

static void empty_grids_do_nothing(void **state) {
    begin("increment");
    [encoder dispatchThreads:line(0) threadsPerThreadgroup:line(1)];
    [encoder dispatchThreads:MTLSizeMake(4, 0, 1) threadsPerThreadgroup:line(1)];
    [encoder dispatchThreadgroups:MTLSizeMake(4, 1, 0) threadsPerThreadgroup:line(1)];
    [encoder endEncoding];
    finish_well();
    assert_int_equal(words_of(buffer)[0], 0);
}

static void pointers_in_buffers_reach_used_resources(void **state) {
    MTLHeapDescriptor *descriptor = [[[MTLHeapDescriptor alloc] init] autorelease];
    descriptor.size = 1024;
    id<MTLHeap> heap = [device newHeapWithDescriptor:descriptor];
    id<MTLBuffer> target = [heap newBufferWithLength:64 options:MTLResourceStorageModePrivate];
    assert_null([target contents]);
    uint64_t address = target.gpuAddress;
    memcpy([buffer contents], &address, sizeof address);
    begin("follow");
    [encoder useHeap:heap];
    [encoder useHeaps:&heap count:1];
    [encoder useResource:target usage:MTLResourceUsageRead | MTLResourceUsageWrite];
    [encoder dispatchThreads:line(16) threadsPerThreadgroup:line(16)];
    [encoder endEncoding];
    [heap release];
    id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
    [blit copyFromBuffer:target sourceOffset:0 toBuffer:buffer destinationOffset:128 size:64];
    [blit synchronizeResource:buffer];
    [blit endEncoding];
    [target release];
    finish_well();
    assert_int_equal(words_of(buffer)[32], 1);
    assert_int_equal(words_of(buffer)[47], 16);
}

static void concurrent_encoders_and_fences_keep_order(void **state) {
    id<MTLFence> fence = [device newFence];
    fence.label = @"fence";
    assert_ptr_equal(fence.device, device);
    id<MTLComputePipelineState> pipeline = new_pipeline(kernels, "increment");
    MTLComputePassDescriptor *pass = [MTLComputePassDescriptor computePassDescriptor];
    pass.dispatchType = MTLDispatchTypeConcurrent;
    for (int i = 0; i < 2; i++) {
        encoder = [commands computeCommandEncoderWithDescriptor:pass];
        assert_int_equal(encoder.dispatchType, MTLDispatchTypeConcurrent);
        if (i) [encoder waitForFence:fence];
        [encoder setComputePipelineState:pipeline];
        [encoder setBuffer:buffer offset:0 atIndex:0];
        [encoder dispatchThreads:line(64) threadsPerThreadgroup:line(64)];
        [encoder memoryBarrierWithResources:(const id<MTLResource> *)(void *)&buffer count:1];
        [encoder dispatchThreads:line(64) threadsPerThreadgroup:line(64)];
        [encoder updateFence:fence];
        [encoder endEncoding];
    }
    id<MTLBlitCommandEncoder> blit =
        [commands blitCommandEncoderWithDescriptor:[MTLBlitPassDescriptor blitPassDescriptor]];
    [blit waitForFence:fence];
    [blit fillBuffer:buffer range:NSMakeRange(0, 4) value:0xff];
    [blit updateFence:fence];
    [blit endEncoding];
    finish_well();
    assert_int_equal(words_of(buffer)[0], 0xffffffff);
    assert_int_equal(words_of(buffer)[63], 4);
    [fence release];
    [pipeline release];
}

static void labels_and_debug_groups_are_kept(void **state) {
    queue.label = @"queue";
    commands.label = @"commands";
    begin("increment");
    encoder.label = @"encoder";
    [encoder pushDebugGroup:@"group"];
    [encoder insertDebugSignpost:@"here"];
    [encoder dispatchThreads:line(1) threadsPerThreadgroup:line(1)];
    [encoder popDebugGroup];
    [encoder endEncoding];
    [commands pushDebugGroup:@"outer"];
    [commands popDebugGroup];
    [queue insertDebugCaptureBoundary];
    assert_text(queue.label, "queue");
    assert_text(commands.label, "commands");
    assert_text(encoder.label, "encoder");
    assert_ptr_equal(encoder.device, device);
    assert_ptr_equal(commands.device, device);
    assert_ptr_equal(commands.commandQueue, queue);
    assert_ptr_equal(queue.device, device);
    assert_true(commands.retainedReferences);
    assert_int_equal(commands.errorOptions, MTLCommandBufferErrorOptionNone);
    for (id log in commands.logs) fail_msg("%s", [[log description] UTF8String]);
    finish_well();
}

static void times_tell_when_it_ran(void **state) {
    assert_true(commands.GPUStartTime == 0 && commands.GPUEndTime == 0);
    begin("increment");
    [encoder dispatchThreads:line(64) threadsPerThreadgroup:line(32)];
    [encoder endEncoding];
    finish_well();
    assert_true(commands.kernelStartTime > 0 && commands.kernelEndTime >= commands.kernelStartTime);
    assert_true(commands.GPUStartTime >= commands.kernelStartTime);
    assert_true(commands.GPUEndTime >= commands.GPUStartTime);
    assert_true(commands.GPUEndTime - commands.GPUStartTime < 10);
}

// ---- Bindings do not leak ----

static void bindings_end_with_their_encoder(void **state) {
    begin("increment");
    [encoder dispatchThreads:line(1) threadsPerThreadgroup:line(1)];
    [encoder endEncoding];
    id<MTLComputePipelineState> pipeline = new_pipeline(kernels, "increment");
    encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:pipeline];
    [encoder dispatchThreads:line(1) threadsPerThreadgroup:line(1)];
    [encoder endEncoding];
    [pipeline release];
    finish_well();
    assert_int_equal(words_of(buffer)[0], 1);  // the second dispatch wrote elsewhere
}

static void arguments_that_are_not_used_need_not_be_set(void **state) {
    begin("uses_some");
    [encoder setBytes:"" length:0 atIndex:8];
    [encoder dispatchThreads:line(4) threadsPerThreadgroup:line(4)];
    [encoder endEncoding];
    finish_well();
    assert_int_equal(words_of(buffer)[3], 3);
}

static void arguments_that_were_not_set_read_as_zeros(void **state) {
    words_of(buffer)[2] = 9;
    begin("affine");
    [encoder setBytes:&(uint32_t){5} length:4 atIndex:2];
    [encoder dispatchThreads:line(4) threadsPerThreadgroup:line(4)];
    [encoder endEncoding];
    finish_well();
    assert_int_equal(words_of(buffer)[2], 5);
}

static const char past_source[] =
    "kernel void past(device const uint *in [[buffer(0)]], device uint *out [[buffer(1)]],\n"
    "                 constant uint &count [[buffer(2)]], uint i [[thread_position_in_grid]]) {\n"
    "    out[i] = in[count + i];\n"
    "}\n";

// The sum of what a kernel reads in the `after` bytes that follow a buffer full of ones.
static uint32_t sum_past(NSUInteger bytes, NSUInteger after, MTLResourceOptions options) {
    uint32_t count = (uint32_t)(bytes / 4), words = (uint32_t)(after / 4), sum = 0;
    NSMutableData *ones = [NSMutableData dataWithLength:bytes];
    memset([ones mutableBytes], 0xff, bytes);
    id<MTLBuffer> in = [device newBufferWithBytes:[ones bytes] length:bytes options:options], out = new_words(words);
    id<MTLComputePipelineState> pipeline = new_pipeline(past_source, "past");
    commands = [queue commandBuffer];
    encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:pipeline];
    [encoder setBuffer:in offset:0 atIndex:0];
    [encoder setBuffer:out offset:0 atIndex:1];
    [encoder setBytes:&count length:4 atIndex:2];
    [encoder dispatchThreads:line(words) threadsPerThreadgroup:line(64)];
    [encoder endEncoding];
    finish_well();
    for (uint32_t i = 0; i < words; i++) sum |= words_of(out)[i];
    [pipeline release];
    [in release];
    [out release];
    return sum;
}

// Many kernels read a little too far, and ignore what they get.
static void what_follows_a_buffer_reads_as_zeros(void **state) {
    enum { SMALL = 4 << 10, LARGE = 64 << 10 };
    id<MTLBuffer> neighbour = [device newBufferWithLength:16 options:0];
    memset(neighbour.contents, 0xff, 16);
    assert_int_equal(sum_past(16, SMALL, 0), 0);
    [neighbour release];
    assert_int_equal(sum_past(8192, SMALL, 0), 0);
    assert_int_equal(sum_past(16, SMALL, 0), 0);
    assert_int_equal(sum_past(1 << 20, 1 << 20, 0), 0);
    assert_int_equal(sum_past(4096, LARGE, MTLResourceStorageModePrivate), 0);
    assert_int_equal(sum_past((1 << 16) - 4, LARGE, MTLResourceStorageModeManaged), 0);
}

static void fast_math_chooses_by_bools(void **state) {
    static const char source[] =
        "kernel void choose(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],\n"
        "                   uint i [[thread_position_in_grid]]) {\n"
        "    out[i] = in[i] * (i < 2) + 1;\n"
        "}\n";
    const float values[4] = {3, -4, __builtin_nanf(""), __builtin_inff()};
    id<MTLBuffer> in = [device newBufferWithBytes:values length:16 options:0], out = new_words(4);
    id<MTLComputePipelineState> pipeline = new_pipeline(source, "choose");
    encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:pipeline];
    [encoder setBuffer:in offset:0 atIndex:0];
    [encoder setBuffer:out offset:0 atIndex:1];
    [encoder dispatchThreads:line(4) threadsPerThreadgroup:line(4)];
    [encoder endEncoding];
    finish_well();
    const float expected[4] = {4, -3, 1, 1};
    assert_memory_equal(out.contents, expected, sizeof expected);
    [pipeline release];
    [in release];
    [out release];
}

static void pipelines_end_with_their_encoder(void **state) {
    begin("increment");
    [encoder dispatchThreads:line(1) threadsPerThreadgroup:line(1)];
    [encoder endEncoding];
    encoder = [commands computeCommandEncoder];
    [encoder setBuffer:buffer offset:0 atIndex:0];
    [encoder dispatchThreads:line(1) threadsPerThreadgroup:line(1)];
    [encoder endEncoding];
    finish_with_error(MTLCommandBufferErrorInvalidResource, "setComputePipelineState");
}

// ---- Misuse ----

static void a_threadgroup_too_large_is_an_error(void **state) {
    begin("increment");
    [encoder dispatchThreads:line(2048) threadsPerThreadgroup:line(2048)];
    [encoder endEncoding];
    finish_with_error(MTLCommandBufferErrorInvalidResource, "2048");
}

static void a_threadgroup_of_nothing_is_an_error(void **state) {
    begin("increment");
    [encoder dispatchThreads:line(16) threadsPerThreadgroup:MTLSizeMake(16, 0, 1)];
    [encoder endEncoding];
    finish_with_error(MTLCommandBufferErrorInvalidResource, "without threads");
}

static void an_index_too_high_is_an_error(void **state) {
    begin("increment");
    [encoder setBuffer:buffer offset:0 atIndex:31];
    [encoder endEncoding];
    finish_with_error(MTLCommandBufferErrorInvalidResource, "31");
}

static void an_offset_without_buffer_is_an_error(void **state) {
    begin("increment");
    [encoder setBufferOffset:4 atIndex:3];
    [encoder endEncoding];
    finish_with_error(MTLCommandBufferErrorInvalidResource, "no buffer at index 3");
}

static void a_copy_outside_is_an_error(void **state) {
    id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
    [blit copyFromBuffer:buffer sourceOffset:250 toBuffer:buffer destinationOffset:0 size:16];
    [blit endEncoding];
    finish_with_error(MTLCommandBufferErrorInvalidResource, "outside");
}

static void a_nil_buffer_in_a_copy_is_an_error(void **state) {
    id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
    [blit fillBuffer:nil range:NSMakeRange(0, 4) value:1];
    [blit endEncoding];
    finish_with_error(MTLCommandBufferErrorInvalidResource, "NULL");
}

static void an_open_encoder_at_commit_is_an_error(void **state) {
    begin("increment");
    finish_with_error(MTLCommandBufferErrorInvalidResource, "commit came before endEncoding");
    [encoder endEncoding];
}

static void two_open_encoders_are_an_error(void **state) {
    begin("increment");
    id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
    [blit endEncoding];
    [encoder endEncoding];
    finish_with_error(MTLCommandBufferErrorInvalidResource, "before endEncoding of the one before it");
}

static void an_ended_encoder_cannot_be_used(void **state) {
    begin("increment");
    [encoder endEncoding];
    [encoder dispatchThreads:line(1) threadsPerThreadgroup:line(1)];
    finish_with_error(MTLCommandBufferErrorInvalidResource, "after its endEncoding");
}

static void an_encoder_dropped_open_is_an_error(void **state) {
    NSAutoreleasePool *inner = [[NSAutoreleasePool alloc] init];
    begin("increment");
    [inner drain];
    finish_with_error(MTLCommandBufferErrorInvalidResource, "released before its endEncoding");
}

static void debug_groups_must_pair(void **state) {
    begin("increment");
    [encoder pushDebugGroup:@"open"];
    [encoder endEncoding];
    finish_with_error(MTLCommandBufferErrorInvalidResource, "debug group");
    commands = [queue commandBuffer];
    begin("increment");
    [encoder popDebugGroup];
    [encoder endEncoding];
    finish_with_error(MTLCommandBufferErrorInvalidResource, "popDebugGroup");
}

static void what_the_device_lacks_is_an_error(void **state) {
    begin("increment");
    [encoder setTexture:nil atIndex:0];
    [encoder setSamplerState:nil atIndex:0];
    [encoder setTextures:(const id<MTLTexture>[]){nil} withRange:NSMakeRange(0, 1)];
    [encoder setSamplerStates:(const id<MTLSamplerState>[]){nil} withRange:NSMakeRange(0, 1)];
    [encoder setImageblockWidth:8 height:8];
    [encoder sampleCountersInBuffer:nil atSampleIndex:0 withBarrier:YES];
    [encoder executeCommandsInBuffer:nil withRange:NSMakeRange(0, 1)];
    [encoder endEncoding];
    id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
    [blit sampleCountersInBuffer:nil atSampleIndex:0 withBarrier:NO];
    [blit resolveCounters:nil inRange:NSMakeRange(0, 1) destinationBuffer:buffer destinationOffset:0];
    [blit endEncoding];
    finish_with_error(MTLCommandBufferErrorNotPermitted, "imageblocks");
}

static void a_committed_command_buffer_takes_nothing_more(void **state) {
    begin("increment");
    [encoder dispatchThreads:line(1) threadsPerThreadgroup:line(1)];
    [encoder endEncoding];
    finish_well();
    [commands commit];
    assert_null([commands computeCommandEncoder]);
    assert_null([commands blitCommandEncoder]);
    [commands addCompletedHandler:^(id<MTLCommandBuffer> done) {
      fail();
    }];
    assert_int_equal(commands.status, MTLCommandBufferStatusCompleted);
    assert_int_equal(words_of(buffer)[0], 1);
}

// cmocka installs its own signal handlers at the start of each test; Ingot's handlers turn signals into errors.
static struct sigaction fault_action;

// The first kernel that runs installs it.
static void learn_fault_handler(void) {
    open_commands(NULL);
    begin("increment");
    [encoder dispatchThreads:line(1) threadsPerThreadgroup:line(1)];
    [encoder endEncoding];
    finish();
    sigaction(SIGSEGV, NULL, &fault_action);
    close_commands(NULL);
}

static void a_fault_in_a_kernel_is_an_error(void **state) {
    sigaction(SIGSEGV, &fault_action, NULL);
    uint64_t nowhere = 16;
    memcpy([buffer contents], &nowhere, sizeof nowhere);
    begin("fault");
    [encoder dispatchThreads:line(1) threadsPerThreadgroup:line(1)];
    [encoder endEncoding];
    finish_with_error(MTLCommandBufferErrorPageFault, "fault");
}

// ---- Handlers, order and status ----

static void handlers_run_before_the_wait_ends(void **state) {
    __block int scheduled = 0, first = 0, second = 0;
    begin("increment");
    [encoder dispatchThreads:line(1) threadsPerThreadgroup:line(1)];
    [encoder endEncoding];
    dispatch_semaphore_t was_scheduled = dispatch_semaphore_create(0);
    [commands addScheduledHandler:^(id<MTLCommandBuffer> which) {
      scheduled++;
      dispatch_semaphore_signal(was_scheduled);
    }];
    [commands addCompletedHandler:^(id<MTLCommandBuffer> which) {
      if (which.status == MTLCommandBufferStatusCompleted && !which.error) first++;
      [which waitUntilCompleted];  // waiting for itself returns
    }];
    [commands addCompletedHandler:^(id<MTLCommandBuffer> which) {
      if (first == 1) second++;
    }];
    [commands commit];
    [commands waitUntilScheduled];
    [commands waitUntilCompleted];
    assert_int_equal(second, 1);
    dispatch_semaphore_wait(was_scheduled, DISPATCH_TIME_FOREVER);
    assert_int_equal(scheduled, 1);
    dispatch_release(was_scheduled);
}

static void handlers_run_when_encoding_failed(void **state) {
    __block NSInteger code = 0;
    begin("increment");
    [encoder dispatchThreads:line(4096) threadsPerThreadgroup:line(4096)];
    [encoder endEncoding];
    [commands addCompletedHandler:^(id<MTLCommandBuffer> which) {
      code = [which.error code];
    }];
    finish();
    assert_int_equal(code, MTLCommandBufferErrorInvalidResource);
}

static void a_handler_may_start_more_work(void **state) {
    dispatch_semaphore_t done = dispatch_semaphore_create(0);
    id<MTLComputePipelineState> pipeline = new_pipeline(kernels, "increment");
    begin("increment");
    [encoder dispatchThreads:line(1) threadsPerThreadgroup:line(1)];
    [encoder endEncoding];
    [commands addCompletedHandler:^(id<MTLCommandBuffer> which) {
      id<MTLCommandBuffer> more = [queue commandBuffer];
      id<MTLComputeCommandEncoder> another = [more computeCommandEncoder];
      [another setComputePipelineState:pipeline];
      [another setBuffer:buffer offset:0 atIndex:0];
      [another dispatchThreads:line(1) threadsPerThreadgroup:line(1)];
      [another endEncoding];
      [more commit];
      [more waitUntilCompleted];
      dispatch_semaphore_signal(done);
    }];
    [commands commit];
    dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
    assert_int_equal(words_of(buffer)[0], 2);
    [commands waitUntilCompleted];
    dispatch_release(done);
    [pipeline release];
}

static void enqueued_command_buffers_run_in_that_order(void **state) {
    id<MTLCommandBuffer> second = [queue commandBufferWithUnretainedReferences];
    assert_false(second.retainedReferences);
    assert_int_equal(commands.status, MTLCommandBufferStatusNotEnqueued);
    [commands enqueue];
    [second enqueue];
    assert_int_equal(commands.status, MTLCommandBufferStatusEnqueued);
    id<MTLCommandBuffer> first = commands;
    commands = second;
    begin("affine");
    uint32_t m = 10, n = 2;
    [encoder setBytes:&m length:4 atIndex:1];
    [encoder setBytes:&n length:4 atIndex:2];
    [encoder dispatchThreads:line(1) threadsPerThreadgroup:line(1)];
    [encoder endEncoding];
    [second commit];
    assert_int_equal(second.status, MTLCommandBufferStatusCommitted);
    usleep(2000);
    assert_int_equal(words_of(buffer)[0], 0);  // it waits for the first
    commands = first;
    begin("increment");
    [encoder dispatchThreads:line(1) threadsPerThreadgroup:line(1)];
    [encoder endEncoding];
    [first commit];
    [second waitUntilCompleted];
    assert_int_equal(words_of(buffer)[0], 12);
    assert_int_equal(first.status, MTLCommandBufferStatusCompleted);
}

static void a_dropped_command_buffer_holds_up_nobody(void **state) {
    NSAutoreleasePool *inner = [[NSAutoreleasePool alloc] init];
    id<MTLCommandBuffer> dropped = [queue commandBuffer];
    [dropped enqueue];
    [commands enqueue];
    begin("increment");
    [encoder dispatchThreads:line(1) threadsPerThreadgroup:line(1)];
    [encoder endEncoding];
    [commands commit];
    assert_int_equal(commands.status, MTLCommandBufferStatusCommitted);
    [inner drain];
    [commands waitUntilCompleted];
    assert_int_equal(words_of(buffer)[0], 1);
}

static void waiting_for_what_was_not_committed_returns(void **state) {
    [commands waitUntilCompleted];
    [commands waitUntilScheduled];
    assert_int_equal(commands.status, MTLCommandBufferStatusNotEnqueued);
    assert_null(commands.error);
}

static void threads_commit_at_once(void **state) {
    enum { THREADS = 8, EACH = 20 };
    __block int completed = 0;
    id<MTLComputePipelineState> pipeline = new_pipeline(kernels, "increment");
    dispatch_apply(THREADS, NULL, ^(size_t thread) {
      @autoreleasepool {
          for (int i = 0; i < EACH; i++) {
              id<MTLCommandBuffer> mine = [queue commandBuffer];
              id<MTLComputeCommandEncoder> work = [mine computeCommandEncoder];
              [work setComputePipelineState:pipeline];
              [work setBuffer:buffer offset:0 atIndex:0];
              [work dispatchThreads:line(64) threadsPerThreadgroup:line(64)];
              [work endEncoding];
              [mine addCompletedHandler:^(id<MTLCommandBuffer> which) {
                __atomic_fetch_add(&completed, 1, __ATOMIC_RELAXED);
              }];
              [mine commit];
              if (i % 3 == 0) [mine waitUntilCompleted];
          }
      }
    });
    finish_well();
    assert_int_equal(completed, THREADS * EACH);
    assert_int_equal(words_of(buffer)[63], THREADS * EACH);
    [pipeline release];
}

static void descriptors_of_queues_and_buffers(void **state) {
    MTLCommandQueueDescriptor *descriptor = [[[MTLCommandQueueDescriptor alloc] init] autorelease];
    assert_int_equal(descriptor.maxCommandBufferCount, 64);
    id<MTLCommandQueue> other = [device newCommandQueueWithDescriptor:descriptor];
    MTLCommandBufferDescriptor *how = [[[MTLCommandBufferDescriptor alloc] init] autorelease];
    assert_true(how.retainedReferences);
    how.retainedReferences = NO;
    assert_false([other commandBufferWithDescriptor:[[how copy] autorelease]].retainedReferences);
    [other release];
    other = [device newCommandQueueWithMaxCommandBufferCount:2];
    id<MTLCommandBuffer> three[3];
    for (int i = 0; i < 3; i++) [three[i] = [other commandBuffer] commit];
    for (int i = 0; i < 3; i++) [three[i] waitUntilCompleted];
    [other release];
}

#define commands_test(function) cmocka_unit_test_setup_teardown(function, open_commands, close_commands)

int main(void) {
    const struct CMUnitTest tests[] = {
        commands_test(dispatches_run_in_order),
        commands_test(buffers_and_offsets_are_bound),
        commands_test(threadgroup_memory_is_given),
        commands_test(indirect_arguments_are_read_when_it_runs),
        commands_test(descriptors_of_recorded_commands_keep_their_values),
        commands_test(recorded_commands_are_executed),
        commands_test(recorded_commands_inherit),
        commands_test(recorded_commands_outside_are_an_error),
        commands_test(empty_grids_do_nothing),
        commands_test(pointers_in_buffers_reach_used_resources),
        commands_test(concurrent_encoders_and_fences_keep_order),
        commands_test(labels_and_debug_groups_are_kept),
        commands_test(times_tell_when_it_ran),
        commands_test(bindings_end_with_their_encoder),
        commands_test(arguments_that_are_not_used_need_not_be_set),
        commands_test(arguments_that_were_not_set_read_as_zeros),
        commands_test(what_follows_a_buffer_reads_as_zeros),
        commands_test(fast_math_chooses_by_bools),
        commands_test(pipelines_end_with_their_encoder),
        commands_test(a_threadgroup_too_large_is_an_error),
        commands_test(a_threadgroup_of_nothing_is_an_error),
        commands_test(an_index_too_high_is_an_error),
        commands_test(an_offset_without_buffer_is_an_error),
        commands_test(a_copy_outside_is_an_error),
        commands_test(a_nil_buffer_in_a_copy_is_an_error),
        commands_test(an_open_encoder_at_commit_is_an_error),
        commands_test(two_open_encoders_are_an_error),
        commands_test(an_ended_encoder_cannot_be_used),
        commands_test(an_encoder_dropped_open_is_an_error),
        commands_test(debug_groups_must_pair),
        commands_test(what_the_device_lacks_is_an_error),
        commands_test(a_committed_command_buffer_takes_nothing_more),
        commands_test(a_fault_in_a_kernel_is_an_error),
        commands_test(handlers_run_before_the_wait_ends),
        commands_test(handlers_run_when_encoding_failed),
        commands_test(a_handler_may_start_more_work),
        commands_test(enqueued_command_buffers_run_in_that_order),
        commands_test(a_dropped_command_buffer_holds_up_nobody),
        commands_test(waiting_for_what_was_not_committed_returns),
        commands_test(threads_commit_at_once),
        commands_test(descriptors_of_queues_and_buffers),
    };
    learn_fault_handler();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
