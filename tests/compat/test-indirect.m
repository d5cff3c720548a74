// SPDX-License-Identifier: Apache-2.0
// Indirect command buffers that kernels fill, as programs for a Mac use them.
#include <string.h>

#include "helpers.h"

static const char kernels[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "struct Work { command_buffer commands [[id(0)]]; compute_pipeline_state pipelines[2] [[id(1)]];\n"
    "              device uint *out [[id(4)]]; };\n"
    "kernel void twice(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]]) { a[i] *= 2; }\n"
    "kernel void add(device uint *a [[buffer(0)]], constant uint *b [[buffer(1)]],\n"
    "                uint i [[thread_position_in_grid]]) { a[i] += b[0] + 7; }\n"
    "kernel void fill(constant Work &w [[buffer(0)]], device uint2 &range [[buffer(1)]],\n"
    "                 uint i [[thread_position_in_grid]]) {\n"
    "  compute_command c(w.commands, i);\n"
    "  if (i == 0) range = uint2(2, 3);\n"
    "  c.set_compute_pipeline_state(w.pipelines[i % 2]);\n"
    "  c.set_kernel_buffer(w.out + 4 * i, 0);\n"
    "  if (i < 6) c.concurrent_dispatch_threadgroups(uint3(2, 1, 1), uint3(2, 1, 1));\n"
    "  c.set_barrier(); }\n"
    "kernel void direct(device command_buffer &commands [[buffer(0)]], constant uint &index [[buffer(1)]]) {\n"
    "  compute_command c(commands, index); c.concurrent_dispatch_threads(uint3(4, 1, 1), uint3(4, 1, 1)); }\n";

enum { COUNT = 8 };

static id<MTLLibrary> library;
static id<MTLCommandQueue> queue;
static id<MTLBuffer> out, range, arguments;
static id<MTLComputePipelineState> twice, add, fill;
static id<MTLIndirectCommandBuffer> recorded;
static id<MTLCommandBuffer> commands;

static id<MTLComputePipelineState> new_recordable(const char *name) {
    MTLComputePipelineDescriptor *descriptor = [[[MTLComputePipelineDescriptor alloc] init] autorelease];
    id<MTLFunction> function = [library newFunctionWithName:[NSString stringWithUTF8String:name]];
    descriptor.computeFunction = function;
    descriptor.supportIndirectCommandBuffers = YES;
    NSError *error = nil;
    id<MTLComputePipelineState> pipeline = [device newComputePipelineStateWithDescriptor:descriptor
                                                                                 options:0
                                                                              reflection:nil
                                                                                   error:&error];
    [function release];
    if (!pipeline) fail_msg("%s", [[error localizedDescription] UTF8String]);
    return pipeline;
}

static id<MTLIndirectCommandBuffer> new_recorded(BOOL inherit) {
    MTLIndirectCommandBufferDescriptor *descriptor = [[[MTLIndirectCommandBufferDescriptor alloc] init] autorelease];
    descriptor.commandTypes =
        MTLIndirectCommandTypeConcurrentDispatch | MTLIndirectCommandTypeConcurrentDispatchThreads;
    descriptor.inheritPipelineState = descriptor.inheritBuffers = inherit;
    descriptor.maxKernelBufferBindCount = 2;
    return [device newIndirectCommandBufferWithDescriptor:descriptor maxCommandCount:COUNT options:0];
}

static int open_fixture(void **state) {
    if (open_device(state) != 0) return -1;
    library = new_library(kernels);
    queue = [device newCommandQueue];
    out = new_words(4 * COUNT);
    range = new_words(2);
    twice = new_recordable("twice"), add = new_recordable("add"), fill = new_recordable("fill");
    recorded = new_recorded(NO);
    commands = [queue commandBuffer];
    for (uint32_t i = 0; i < 4 * COUNT; i++) words_of(out)[i] = i;
    return 0;
}

static int close_fixture(void **state) {
    [recorded release];
    [fill release], [add release], [twice release];
    [arguments release], arguments = nil;
    [range release];
    [out release];
    [queue release];
    [library release];
    return close_device(state);
}

#define indirect_test(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

static void put(id<MTLArgumentEncoder> encoder) {
    const id<MTLComputePipelineState> both[2] = {twice, add};
    arguments = [device newBufferWithLength:encoder.encodedLength options:0];
    [encoder setArgumentBuffer:arguments offset:0];
    [encoder setIndirectCommandBuffer:recorded atIndex:0];
    [encoder setComputePipelineStates:both withRange:NSMakeRange(1, 2)];
    [encoder setBuffer:out offset:0 atIndex:4];
}

static void put_as_function(void) {
    id<MTLFunction> function = [library newFunctionWithName:@"fill"];
    id<MTLArgumentEncoder> encoder = [function newArgumentEncoderWithBufferIndex:0];
    put(encoder);
    [encoder release];
    [function release];
}

static id<MTLComputeCommandEncoder> begin_filling(void) {
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:fill];
    [encoder setBuffer:arguments offset:0 atIndex:0];
    [encoder setBuffer:range offset:0 atIndex:1];
    [encoder useResource:recorded usage:MTLResourceUsageWrite];
    [encoder useResource:out usage:MTLResourceUsageRead | MTLResourceUsageWrite];
    [encoder dispatchThreads:MTLSizeMake(COUNT, 1, 1) threadsPerThreadgroup:MTLSizeMake(COUNT, 1, 1)];
    return encoder;
}

static void end(id<MTLComputeCommandEncoder> encoder) {
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
}

static void end_well(id<MTLComputeCommandEncoder> encoder) {
    end(encoder);
    if (commands.error) print_error("%s\n", [[commands.error localizedDescription] UTF8String]);
    assert_int_equal(commands.status, MTLCommandBufferStatusCompleted);
}

// Commands with even numbers double their four words; the others add 7, because what is not set reads as zeros.
static void expect_executed(uint32_t first, uint32_t count) {
    for (uint32_t i = 0; i < 4 * COUNT; i++) {
        uint32_t command = i / 4, expected = command % 2 ? i + 7 : 2 * i;
        bool ran = command >= first && command - first < count && command < 6;
        assert_int_equal(words_of(out)[i], ran ? expected : i);
    }
}

static void kernels_fill_what_is_executed(void **state) {
    put_as_function();
    id<MTLComputeCommandEncoder> encoder = begin_filling();
    [encoder executeCommandsInBuffer:recorded withRange:NSMakeRange(1, COUNT - 1)];
    end_well(encoder);
    expect_executed(1, COUNT - 1);
}

static void kernels_choose_the_range(void **state) {
    put_as_function();
    id<MTLComputeCommandEncoder> encoder = begin_filling();
    [encoder executeCommandsInBuffer:recorded indirectBuffer:range indirectBufferOffset:0];
    end_well(encoder);
    expect_executed(2, 3);
    // A range that is not there.
    words_of(range)[0] = COUNT;
    commands = [queue commandBuffer];
    encoder = [commands computeCommandEncoder];
    [encoder executeCommandsInBuffer:recorded indirectBuffer:range indirectBufferOffset:0];
    end(encoder);
    assert_int_equal(commands.status, MTLCommandBufferStatusError);
    assert_contains([commands.error localizedDescription], "3 commands from 8 on");
    commands = [queue commandBuffer];
    encoder = [commands computeCommandEncoder];
    [encoder executeCommandsInBuffer:recorded indirectBuffer:nil indirectBufferOffset:0];
    end(encoder);
    assert_int_equal(commands.status, MTLCommandBufferStatusError);
}

static void arguments_by_descriptors(void **state) {
    MTLArgumentDescriptor *commands_of = [MTLArgumentDescriptor argumentDescriptor],
                          *pipelines = [MTLArgumentDescriptor argumentDescriptor],
                          *pointer = [MTLArgumentDescriptor argumentDescriptor];
    commands_of.dataType = MTLDataTypeIndirectCommandBuffer;
    pipelines.dataType = MTLDataTypeComputePipeline;
    pipelines.index = 1, pipelines.arrayLength = 2;
    pointer.dataType = MTLDataTypePointer;
    pointer.index = 4;
    id<MTLArgumentEncoder> encoder =
        [device newArgumentEncoderWithArguments:[NSArray arrayWithObjects:commands_of, pipelines, pointer, nil]];
    assert_int_equal(encoder.encodedLength, 32);
    put(encoder);
    [encoder release];
    const uint64_t *handles = arguments.contents;
    assert_true(handles[0] == recorded.gpuResourceID._impl && handles[0]);
    assert_true(handles[1] == twice.gpuResourceID._impl && handles[1]);
    assert_true(handles[2] == add.gpuResourceID._impl && handles[2] != handles[1]);
    id<MTLComputeCommandEncoder> compute = begin_filling();
    [compute executeCommandsInBuffer:recorded withRange:NSMakeRange(0, COUNT)];
    end_well(compute);
    expect_executed(0, COUNT);
}

static void blits_reset_and_copy(void **state) {
    id<MTLIndirectCommandBuffer> copy = new_recorded(NO);
    put_as_function();
    [begin_filling() endEncoding];
    id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
    [blit copyIndirectCommandBuffer:recorded sourceRange:NSMakeRange(3, 2) destination:copy destinationIndex:6];
    [blit resetCommandsInBuffer:recorded withRange:NSMakeRange(0, COUNT)];
    [blit optimizeIndirectCommandBuffer:copy withRange:NSMakeRange(0, COUNT)];
    [blit endEncoding];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder executeCommandsInBuffer:recorded withRange:NSMakeRange(0, COUNT)];
    [encoder executeCommandsInBuffer:copy withRange:NSMakeRange(0, COUNT)];
    end_well(encoder);
    expect_executed(3, 2);
    commands = [queue commandBuffer];
    blit = [commands blitCommandEncoder];
    [blit copyIndirectCommandBuffer:recorded sourceRange:NSMakeRange(0, 3) destination:copy destinationIndex:6];
    [blit endEncoding];
    end(nil);
    assert_int_equal(commands.status, MTLCommandBufferStatusError);
    assert_contains([commands.error localizedDescription], "outside of the indirect command buffer");
    [copy release];
}

static void handles_by_reference_and_inherited_state(void **state) {
    id<MTLIndirectCommandBuffer> inheriting = new_recorded(YES);
    id<MTLComputePipelineState> direct = new_recordable("direct");
    MTLResourceID handle = inheriting.gpuResourceID;
    uint32_t index = 5;
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:direct];
    [encoder setBytes:&handle length:sizeof handle atIndex:0];
    [encoder setBytes:&index length:sizeof index atIndex:1];
    [encoder dispatchThreads:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
    [encoder setComputePipelineState:twice];
    [encoder setBuffer:out offset:16 * sizeof(uint32_t) atIndex:0];
    [encoder executeCommandsInBuffer:inheriting withRange:NSMakeRange(0, COUNT)];
    end_well(encoder);
    expect_executed(4, 1);
    [direct release];
    [inheriting release];
}

static void mistakes_of_kernels_are_errors(void **state) {
    id<MTLComputePipelineState> direct = new_recordable("direct");
    MTLResourceID handle = recorded.gpuResourceID;
    for (uint32_t index = 3; index <= COUNT; index += COUNT - 3) {
        commands = [queue commandBuffer];
        id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
        [encoder setComputePipelineState:direct];
        [encoder setBytes:&handle length:sizeof handle atIndex:0];
        [encoder setBytes:&index length:sizeof index atIndex:1];
        [encoder dispatchThreads:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
        [encoder executeCommandsInBuffer:recorded withRange:NSMakeRange(0, COUNT)];
        end(encoder);
        assert_int_equal(commands.status, MTLCommandBufferStatusError);
        assert_contains([commands.error localizedDescription],
                        index == 3 ? "command 3 of indirect command buffer: it has no pipeline"
                                   : "a kernel has encoded command 8 of indirect command buffer, which has 8");
    }
    [direct release];
    // A pipeline that is gone.
    put_as_function();
    [add release], add = nil;
    commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = begin_filling();
    [encoder executeCommandsInBuffer:recorded withRange:NSMakeRange(0, 2)];
    end(encoder);
    assert_int_equal(commands.status, MTLCommandBufferStatusError);
    assert_contains([commands.error localizedDescription], "command 1 of indirect command buffer: its pipeline");
    expect_executed(0, 1);
}

static void types_are_reflected(void **state) {
    id<MTLFunction> function = [library newFunctionWithName:@"fill"];
    MTLComputePipelineDescriptor *descriptor = [[[MTLComputePipelineDescriptor alloc] init] autorelease];
    MTLComputePipelineReflection *reflection = nil;
    descriptor.computeFunction = function;
    id<MTLComputePipelineState> pipeline =
        [device newComputePipelineStateWithDescriptor:descriptor
                                              options:MTLPipelineOptionArgumentInfo | MTLPipelineOptionBufferTypeInfo
                                           reflection:&reflection
                                                error:nil];
    id<MTLBufferBinding> binding = (id<MTLBufferBinding>)[reflection.bindings objectAtIndex:0];
    MTLStructType *type = binding.bufferStructType;
    assert_int_equal([type memberByName:@"commands"].dataType, MTLDataTypeIndirectCommandBuffer);
    assert_int_equal([type memberByName:@"pipelines"].arrayType.elementType, MTLDataTypeComputePipeline);
    assert_int_equal([type memberByName:@"pipelines"].argumentIndex, 1);
    assert_int_equal([type memberByName:@"out"].argumentIndex, 4);
    [pipeline release];
    [function release];
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        indirect_test(kernels_fill_what_is_executed),
        indirect_test(kernels_choose_the_range),
        indirect_test(arguments_by_descriptors),
        indirect_test(blits_reset_and_copy),
        indirect_test(handles_by_reference_and_inherited_state),
        indirect_test(mistakes_of_kernels_are_errors),
        indirect_test(types_are_reflected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
