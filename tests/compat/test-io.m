// SPDX-License-Identifier: Apache-2.0
// Files that queues read, and libraries that others are linked with.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helpers.h"

static char path[] = "/tmp/ingot-io-XXXXXX";

static int write_file(void **state) {
    strcpy(path + strlen(path) - 6, "XXXXXX");
    int file = mkstemp(path);
    uint32_t words[64];
    for (uint32_t i = 0; i < 64; i++) words[i] = 100 + i;
    BOOL written = file >= 0 && write(file, words, sizeof words) == (ssize_t)sizeof words;
    close(file);
    return written ? open_device(state) : -1;
}

static int remove_file(void **state) {
    unlink(path);
    return close_device(state);
}

static NSURL *file_url(void) {
    return [NSURL fileURLWithPath:[NSString stringWithUTF8String:path]];
}

static id<MTLIOCommandQueue> new_files(MTLIOCommandQueueType type) {
    MTLIOCommandQueueDescriptor *descriptor = [[[MTLIOCommandQueueDescriptor alloc] init] autorelease];
    descriptor.type = type;
    id<MTLIOCommandQueue> queue = [device newIOCommandQueueWithDescriptor:descriptor error:NULL];
    assert_non_null(queue);
    return queue;
}

static void files_are_read_into_buffers_textures_and_memory(void **state) {
    NSError *error = nil;
    id<MTLIOFileHandle> file = [device newIOFileHandleWithURL:file_url() error:&error];
    id<MTLIOCommandQueue> queue = new_files(MTLIOCommandQueueTypeSerial);
    id<MTLIOCommandBuffer> commands = [queue commandBuffer];
    id<MTLBuffer> words = new_words(8), status = new_words(2);
    MTLTextureDescriptor *shape = [MTLTextureDescriptor texture2DDescriptorWithPixelFormat:MTLPixelFormatR32Uint
                                                                                     width:4
                                                                                    height:2
                                                                                 mipmapped:NO];
    id<MTLTexture> texture = [device newTextureWithDescriptor:shape];
    id<MTLSharedEvent> event = [device newSharedEvent];
    uint32_t two[2] = {0};
    __block int calls = 0;
    [commands loadBuffer:words offset:8 size:16 sourceHandle:file sourceHandleOffset:40];
    [commands loadBytes:two size:sizeof two sourceHandle:file sourceHandleOffset:248];
    [commands loadTexture:texture
                      slice:0
                      level:0
                       size:MTLSizeMake(4, 2, 1)
          sourceBytesPerRow:16
        sourceBytesPerImage:32
          destinationOrigin:MTLOriginMake(0, 0, 0)
               sourceHandle:file
         sourceHandleOffset:0];
    [commands copyStatusToBuffer:status offset:0];
    [commands signalEvent:event value:5];
    [commands addCompletedHandler:^(id<MTLIOCommandBuffer> done) {
      calls++;
    }];
    [commands commit];
    [commands waitUntilCompleted];
    assert_int_equal(commands.status, MTLIOStatusComplete);
    assert_null(commands.error);
    assert_int_equal(calls, 1);
    assert_int_equal(event.signaledValue, 5);
    assert_int_equal(*(MTLIOStatus *)status.contents, MTLIOStatusComplete);
    for (uint32_t i = 0; i < 8; i++) assert_int_equal(words_of(words)[i], i < 2 || i > 5 ? 0 : 108 + i);
    assert_int_equal(two[1], 163);
    uint32_t pixels[8];
    [texture getBytes:pixels bytesPerRow:16 fromRegion:MTLRegionMake2D(0, 0, 4, 2) mipmapLevel:0];
    for (uint32_t i = 0; i < 8; i++) assert_int_equal(pixels[i], 100 + i);
    [event release];
    [texture release];
    [status release];
    [words release];
    [queue release];
    [file release];
}

// A kernel waits for what is read, through an event.
static void kernels_and_files_wait_for_each_other(void **state) {
    id<MTLIOFileHandle> file = [device newIOFileHandleWithURL:file_url() error:NULL];
    id<MTLIOCommandQueue> files = new_files(MTLIOCommandQueueTypeConcurrent);
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLComputePipelineState> pipeline = new_pipeline(increment_source, "increment");
    id<MTLSharedEvent> event = [device newSharedEvent];
    id<MTLBuffer> words = new_words(8);
    id<MTLCommandBuffer> kernels = [queue commandBuffer];
    [kernels encodeWaitForEvent:event value:2];
    id<MTLComputeCommandEncoder> encoder = [kernels computeCommandEncoder];
    [encoder setComputePipelineState:pipeline];
    [encoder setBuffer:words offset:0 attributeStride:0 atIndex:0];
    [encoder dispatchThreads:MTLSizeMake(8, 1, 1) threadsPerThreadgroup:MTLSizeMake(8, 1, 1)];
    [encoder endEncoding];
    [kernels commit];
    id<MTLIOCommandBuffer> reads = [files commandBuffer];
    [reads waitForEvent:event value:1];
    [reads loadBuffer:words offset:0 size:32 sourceHandle:file sourceHandleOffset:0];
    [reads signalEvent:event value:2];
    [reads commit];
    assert_int_equal(reads.status, MTLIOStatusPending);
    event.signaledValue = 1;
    [kernels waitUntilCompleted];
    for (uint32_t i = 0; i < 8; i++) assert_int_equal(words_of(words)[i], 101 + i);
    [reads waitUntilCompleted];
    [words release];
    [event release];
    [pipeline release];
    [queue release];
    [files release];
    [file release];
}

static void what_cannot_be_read_is_an_error(void **state) {
    NSError *error = nil;
    assert_null([device newIOFileHandleWithURL:[NSURL fileURLWithPath:@"/nowhere/at/all"] error:&error]);
    assert_error(error, MTLIOErrorDomain, MTLIOErrorURLInvalid);
    assert_null([device newIOFileHandleWithURL:file_url() compressionMethod:MTLIOCompressionMethodLZ4 error:&error]);
    assert_error(error, MTLIOErrorDomain, MTLIOErrorInternal);
    id<MTLIOFileHandle> file = [device newIOHandleWithURL:file_url() error:&error];
    id<MTLIOCommandQueue> queue = new_files(MTLIOCommandQueueTypeSerial);
    id<MTLBuffer> words = new_words(128);
    static const struct {
        NSUInteger offset, size, from;
        const char *says;
    } wrong[] = {{0, 300, 0, "44 bytes too early"}, {500, 16, 0, "outside"}, {UINT64_MAX, 8, 0, "outside"}};
    for (size_t i = 0; i < 3; i++) {
        id<MTLIOCommandBuffer> commands = [queue commandBuffer];
        [commands loadBuffer:words
                        offset:wrong[i].offset
                          size:wrong[i].size
                  sourceHandle:file
            sourceHandleOffset:wrong[i].from];
        [commands commit];
        [commands waitUntilCompleted];
        assert_int_equal(commands.status, MTLIOStatusError);
        assert_contains([commands.error localizedDescription], wrong[i].says);
    }
    id<MTLIOCommandBuffer> cancelled = [queue commandBuffer];
    [cancelled loadBuffer:words offset:0 size:4 sourceHandle:file sourceHandleOffset:0];
    [cancelled tryCancel];
    [cancelled commit];
    [cancelled waitUntilCompleted];
    assert_int_equal(cancelled.status, MTLIOStatusCancelled);
    [words release];
    [queue release];
    [file release];
}

// ---- Dynamic libraries ----

static id<MTLLibrary> new_dynamic(const char *text, NSString *name) {
    MTLCompileOptions *options = [[[MTLCompileOptions alloc] init] autorelease];
    options.libraryType = MTLLibraryTypeDynamic;
    options.installName = name;
    NSError *error = nil;
    id<MTLLibrary> library = [device newLibraryWithSource:[NSString stringWithUTF8String:text]
                                                  options:options
                                                    error:&error];
    if (!library) fail_msg("%s", [[error localizedDescription] UTF8String]);
    return library;
}

static uint32_t call_triple(id<MTLDynamicLibrary> triple) {
    MTLCompileOptions *options = [[[MTLCompileOptions alloc] init] autorelease];
    options.libraries = @[ triple ];
    NSError *error = nil;
    id<MTLLibrary> library =
        [device newLibraryWithSource:@"extern uint triple(uint x);\n"
                                      "kernel void k(device uint *a [[buffer(0)]]) { a[0] = triple(14); }"
                             options:options
                               error:&error];
    if (!library) fail_msg("%s", [[error localizedDescription] UTF8String]);
    id<MTLFunction> function = [library newFunctionWithName:@"k"];
    id<MTLComputePipelineState> pipeline = [device newComputePipelineStateWithFunction:function error:&error];
    id<MTLBuffer> word = new_words(1);
    run_one_thread(pipeline, word);
    uint32_t result = words_of(word)[0];
    [word release];
    [pipeline release];
    [function release];
    [library release];
    return result;
}

static void functions_of_dynamic_libraries_can_be_called(void **state) {
    NSError *error = nil;
    id<MTLLibrary> library = new_dynamic("uint triple(uint x) { return 3 * x; }", @"@executable_path/triple.metallib");
    id<MTLDynamicLibrary> triple = [device newDynamicLibrary:library error:&error];
    assert_text(triple.installName, "@executable_path/triple.metallib");
    assert_int_equal(call_triple(triple), 42);
    assert_true([triple serializeToURL:file_url() error:&error]);
    id<MTLDynamicLibrary> again = [device newDynamicLibraryWithURL:file_url() error:&error];
    assert_text(again.installName, "@executable_path/triple.metallib");
    assert_int_equal(call_triple(again), 42);
    assert_true(device.supportsDynamicLibraries);
    [again release];
    [triple release];
    [library release];
}

static void what_cannot_be_a_dynamic_library_is_refused(void **state) {
    NSError *error = nil;
    id<MTLLibrary> executable = new_library(increment_source);
    assert_null([device newDynamicLibrary:executable error:&error]);
    assert_error(error, MTLDynamicLibraryDomain, MTLDynamicLibraryErrorUnresolvedInstallName);
    assert_null([device newDynamicLibraryWithURL:file_url() error:&error]);
    assert_error(error, MTLDynamicLibraryDomain, MTLDynamicLibraryErrorInvalidFile);
    [executable release];
}

static void inputs_of_functions_are_described(void **state) {
    MTLStageInputOutputDescriptor *inputs = [MTLStageInputOutputDescriptor stageInputOutputDescriptor];
    inputs.attributes[2].format = MTLAttributeFormatFloat3;
    inputs.attributes[2].bufferIndex = 4;
    inputs.layouts[4].stride = 16;
    inputs.layouts[4].stepFunction = MTLStepFunctionThreadPositionInGridX;
    MTLStageInputOutputDescriptor *copy = [[inputs copy] autorelease];
    [inputs reset];
    assert_int_equal(copy.attributes[2].format, MTLAttributeFormatFloat3);
    assert_int_equal(copy.layouts[4].stride, 16);
    assert_int_equal(inputs.layouts[4].stride, 0);
}

// ---- Stage inputs ----

static const char *const stage_source =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "struct In { float4 place [[attribute(0)]]; ushort colour [[attribute(5)]]; };\n"
    "kernel void k(In in [[stage_in]], device float4 *o [[buffer(0)]], uint i [[thread_position_in_grid]],\n"
    "              uint first [[grid_origin]]) { o[i] = in.place + float4(0, 0, in.colour, 100 * first); }\n";

static MTLComputePipelineDescriptor *stage_descriptor(id<MTLFunction> function) {
    MTLComputePipelineDescriptor *descriptor = [[[MTLComputePipelineDescriptor alloc] init] autorelease];
    MTLStageInputOutputDescriptor *inputs = [MTLStageInputOutputDescriptor stageInputOutputDescriptor];
    inputs.attributes[0].format = MTLAttributeFormatFloat2;
    inputs.attributes[0].bufferIndex = 1;
    inputs.attributes[5].format = MTLAttributeFormatUChar;
    inputs.attributes[5].offset = 8;
    inputs.attributes[5].bufferIndex = 1;
    inputs.layouts[1].stride = 12;
    inputs.layouts[1].stepFunction = MTLStepFunctionThreadPositionInGridXIndexed;
    inputs.indexBufferIndex = 3;
    inputs.indexType = MTLIndexTypeUInt16;
    descriptor.computeFunction = function;
    descriptor.stageInputDescriptor = inputs;
    return descriptor;
}

static id<MTLComputePipelineState> new_stage_pipeline(MTLComputePipelineDescriptor *descriptor, NSError **error) {
    return [device newComputePipelineStateWithDescriptor:descriptor
                                                 options:MTLPipelineOptionNone
                                              reflection:NULL
                                                   error:error];
}

static void kernels_read_stage_inputs(void **state) {
    struct point {
        float place[2];
        uint8_t colour, unused[3];
    } points[4] = {{{1, 2}, 3, {0}}, {{4, 5}, 6, {0}}, {{7, 8}, 9, {0}}, {{10, 11}, 12, {0}}};
    const uint16_t indices[] = {0, 3, 2, 1};
    NSError *error = nil;
    id<MTLLibrary> library = new_library(stage_source);
    id<MTLFunction> function = [library newFunctionWithName:@"k"];
    assert_int_equal([function.stageInputAttributes count], 2);
    MTLAttribute *second = function.stageInputAttributes[1];
    assert_text(second.name, "colour");
    assert_int_equal(second.attributeIndex, 5);
    assert_int_equal(second.attributeType, MTLDataTypeUShort);
    id<MTLComputePipelineState> pipeline = new_stage_pipeline(stage_descriptor(function), &error);
    if (!pipeline) fail_msg("%s", [[error localizedDescription] UTF8String]);
    id<MTLBuffer> out = [device newBufferWithLength:3 * 16 options:0];
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:pipeline];
    [encoder setBuffer:out offset:0 atIndex:0];
    [encoder setBytes:points length:sizeof points atIndex:1];
    [encoder setBytes:indices length:sizeof indices atIndex:3];
    [encoder setStageInRegion:MTLRegionMake1D(1, 2)];
    [encoder dispatchThreads:MTLSizeMake(3, 1, 1) threadsPerThreadgroup:MTLSizeMake(3, 1, 1)];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    if (commands.error) fail_msg("%s", [[commands.error localizedDescription] UTF8String]);
    const float expected[] = {10, 11, 12, 101, 7, 8, 9, 101, 0, 0, 0, 100}, *got = [out contents];
    for (int i = 0; i < 12; i++) assert_true(got[i] == expected[i]);
    [queue release], [out release], [pipeline release], [function release], [library release];
}

static void stage_inputs_that_do_not_fit_are_refused(void **state) {
    NSError *error = nil;
    id<MTLLibrary> library = new_library(stage_source);
    id<MTLFunction> function = [library newFunctionWithName:@"k"];
    assert_null([device newComputePipelineStateWithFunction:function error:&error]);
    assert_contains([error localizedDescription], "[[attribute(0)]]");
    MTLComputePipelineDescriptor *descriptor = stage_descriptor(function);
    descriptor.stageInputDescriptor.layouts[1].stride = NSUIntegerMax - 1;
    assert_null(new_stage_pipeline(descriptor, &error));
    assert_contains([error localizedDescription], "stride");
    descriptor = stage_descriptor(function);
    descriptor.stageInputDescriptor.attributes[5].format = MTLAttributeFormatInvalid;
    assert_null(new_stage_pipeline(descriptor, &error));
    assert_contains([error localizedDescription], "the format of attribute 'colour'");
    [function release], [library release];
}

// ---- Strides that are given with buffers ----

enum { STRIDED = 3, STRIDED_BYTES = STRIDED * 16 };

// Elements so far apart that a stride that is not heeded gives other ones.
static void fill_strided(char *bytes, NSUInteger stride) {
    for (int i = 0; i < 4; i++) {
        const float place[2] = {(float)i + 1, (float)i + 2};
        memcpy(bytes + (NSUInteger)i * stride, place, sizeof place);
        bytes[(NSUInteger)i * stride + 8] = (char)(10 * i);
    }
}

static void expect_strided(id<MTLBuffer> out, NSUInteger offset) {
    const int order[] = {0, 3, 2};
    const float *got = (const float *)((const char *)[out contents] + offset);
    for (int i = 0; i < STRIDED; i++) {
        assert_true(got[4 * i] == (float)order[i] + 1 && got[4 * i + 1] == (float)order[i] + 2);
        assert_true(got[4 * i + 2] == (float)(10 * order[i]));
    }
}

static void strides_come_with_buffers(void **state) {
    enum { WAYS = 5, APART = 256 };
    const uint16_t indices[] = {0, 3, 2, 1};
    const NSUInteger strides[WAYS] = {12, 20, 24, 16, 28}, offsets[WAYS] = {0, APART, 2 * APART, 3 * APART, 4 * APART};
    NSError *error = nil;
    id<MTLLibrary> library = new_library(stage_source);
    id<MTLFunction> function = [library newFunctionWithName:@"k"];
    MTLComputePipelineDescriptor *descriptor = stage_descriptor(function);
    descriptor.stageInputDescriptor.layouts[1].stride = MTLBufferLayoutStrideDynamic;
    descriptor.supportIndirectCommandBuffers = YES;
    id<MTLComputePipelineState> pipeline = new_stage_pipeline(descriptor, &error);
    if (!pipeline) fail_msg("%s", [[error localizedDescription] UTF8String]);
    id<MTLBuffer> out = [device newBufferWithLength:WAYS * APART options:0];
    id<MTLBuffer> points = [device newBufferWithLength:WAYS * APART options:0];
    id<MTLBuffer> order = [device newBufferWithBytes:indices length:sizeof indices options:0];
    for (int i = 0; i < WAYS; i++) fill_strided((char *)[points contents] + offsets[i], strides[i]);
    MTLIndirectCommandBufferDescriptor *recorded = [[[MTLIndirectCommandBufferDescriptor alloc] init] autorelease];
    recorded.commandTypes = MTLIndirectCommandTypeConcurrentDispatchThreads;
    recorded.maxKernelBufferBindCount = 4;
    id<MTLIndirectCommandBuffer> list = [device newIndirectCommandBufferWithDescriptor:recorded
                                                                       maxCommandCount:1
                                                                               options:0];
    id<MTLIndirectComputeCommand> command = [list indirectComputeCommandAtIndex:0];
    [command setComputePipelineState:pipeline];
    [command setKernelBuffer:out offset:offsets[4] atIndex:0];
    [command setKernelBuffer:points offset:offsets[4] attributeStride:strides[4] atIndex:1];
    [command setKernelBuffer:order offset:0 atIndex:3];
    [command concurrentDispatchThreads:MTLSizeMake(STRIDED, 1, 1) threadsPerThreadgroup:MTLSizeMake(STRIDED, 1, 1)];
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:pipeline];
    [encoder setBuffer:order offset:0 atIndex:3];
    for (int i = 0; i < 4; i++) {
        [encoder setBuffer:out offset:offsets[i] atIndex:0];
        if (i == 0) [encoder setBuffer:points offset:offsets[i] attributeStride:strides[i] atIndex:1];
        if (i == 1) [encoder setBufferOffset:offsets[i] attributeStride:strides[i] atIndex:1];
        if (i == 2)
            [encoder setBytes:(char *)[points contents] + offsets[i] length:APART attributeStride:strides[i] atIndex:1];
        if (i == 3)
            [encoder setBuffers:&points offsets:&offsets[i] attributeStrides:&strides[i] withRange:NSMakeRange(1, 1)];
        [encoder dispatchThreads:MTLSizeMake(STRIDED, 1, 1) threadsPerThreadgroup:MTLSizeMake(STRIDED, 1, 1)];
    }
    [encoder executeCommandsInBuffer:list withRange:NSMakeRange(0, 1)];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    if (commands.error) fail_msg("%s", [[commands.error localizedDescription] UTF8String]);
    for (int i = 0; i < WAYS; i++) expect_strided(out, offsets[i]);
    [list release], [queue release], [out release], [points release], [order release];
    [pipeline release], [function release], [library release];
}

// The next encoder starts without strides.
static void a_stride_that_was_not_given_is_an_error(void **state) {
    char points[64];
    const uint16_t indices[] = {0, 3, 2, 1};
    id<MTLLibrary> library = new_library(stage_source);
    id<MTLFunction> function = [library newFunctionWithName:@"k"];
    MTLComputePipelineDescriptor *descriptor = stage_descriptor(function);
    descriptor.stageInputDescriptor.layouts[1].stride = MTLBufferLayoutStrideDynamic;
    id<MTLComputePipelineState> pipeline = new_stage_pipeline(descriptor, NULL);
    id<MTLBuffer> out = [device newBufferWithLength:STRIDED_BYTES options:0];
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    fill_strided(points, 12);
    for (int i = 0; i < 2; i++) {
        id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
        [encoder setComputePipelineState:pipeline];
        [encoder setBuffer:out offset:0 atIndex:0];
        [encoder setBytes:points length:sizeof points attributeStride:i ? MTLAttributeStrideStatic : 12 atIndex:1];
        [encoder setBytes:indices length:sizeof indices atIndex:3];
        [encoder dispatchThreads:MTLSizeMake(STRIDED, 1, 1) threadsPerThreadgroup:MTLSizeMake(STRIDED, 1, 1)];
        [encoder endEncoding];
    }
    [commands commit];
    [commands waitUntilCompleted];
    assert_contains([commands.error localizedDescription], "the stride of buffer 1 is dynamic and was not set");
    [queue release], [out release], [pipeline release], [function release], [library release];
}

static void a_region_can_come_from_a_buffer(void **state) {
    char points[64];
    const uint16_t indices[] = {0, 3, 2, 1};
    const MTLStageInRegionIndirectArguments region = {{1, 0, 0}, {2, 1, 1}};
    id<MTLLibrary> library = new_library(stage_source);
    id<MTLFunction> function = [library newFunctionWithName:@"k"];
    id<MTLComputePipelineState> pipeline = new_stage_pipeline(stage_descriptor(function), NULL);
    id<MTLBuffer> out = [device newBufferWithLength:STRIDED_BYTES options:0];
    id<MTLBuffer> regions = [device newBufferWithLength:64 options:0];
    memcpy((char *)[regions contents] + 16, &region, sizeof region);
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    fill_strided(points, 12);
    [encoder setComputePipelineState:pipeline];
    [encoder setBuffer:out offset:0 atIndex:0];
    [encoder setBytes:points length:sizeof points atIndex:1];
    [encoder setBytes:indices length:sizeof indices atIndex:3];
    [encoder setStageInRegionWithIndirectBuffer:regions indirectBufferOffset:16];
    [encoder dispatchThreads:MTLSizeMake(STRIDED, 1, 1) threadsPerThreadgroup:MTLSizeMake(STRIDED, 1, 1)];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    if (commands.error) fail_msg("%s", [[commands.error localizedDescription] UTF8String]);
    const float expected[] = {4, 5, 30, 101, 3, 4, 20, 101, 0, 0, 0, 100}, *got = [out contents];
    for (int i = 0; i < 12; i++) assert_true(got[i] == expected[i]);
    [regions release], [queue release], [out release], [pipeline release], [function release], [library release];
}

#define file_test(function) cmocka_unit_test_setup_teardown(function, write_file, remove_file)

int main(void) {
    const struct CMUnitTest tests[] = {
        file_test(files_are_read_into_buffers_textures_and_memory),
        file_test(kernels_and_files_wait_for_each_other),
        file_test(what_cannot_be_read_is_an_error),
        file_test(functions_of_dynamic_libraries_can_be_called),
        file_test(what_cannot_be_a_dynamic_library_is_refused),
        compat_test(inputs_of_functions_are_described),
        compat_test(kernels_read_stage_inputs),
        compat_test(stage_inputs_that_do_not_fit_are_refused),
        compat_test(strides_come_with_buffers),
        compat_test(a_stride_that_was_not_given_is_an_error),
        compat_test(a_region_can_come_from_a_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
