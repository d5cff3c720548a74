// SPDX-License-Identifier: Apache-2.0
// The compute half of Metal 4.
#include <string.h>

#include "helpers.h"

typedef struct session {
    id<MTL4CommandQueue> queue;
    id<MTL4CommandAllocator> allocator;
    id<MTL4CommandBuffer> commands;
    id<MTL4ArgumentTable> table;
    id<MTLResidencySet> resident;
    id<MTLSharedEvent> event;
} session;

static session open_session(void) {
    NSError *error = nil;
    MTL4ArgumentTableDescriptor *shape = [[[MTL4ArgumentTableDescriptor alloc] init] autorelease];
    shape.maxBufferBindCount = 4;
    shape.maxTextureBindCount = 1;
    session s = {[device newMTL4CommandQueue],
                 [device newCommandAllocator],
                 [device newCommandBuffer],
                 [device newArgumentTableWithDescriptor:shape error:&error],
                 [device newResidencySetWithDescriptor:nil error:&error],
                 [device newSharedEvent]};
    assert_true(s.queue && s.allocator && s.commands && s.table && s.resident && s.event);
    [s.queue addResidencySet:s.resident];
    return s;
}

static void close_session(session *s) {
    [s->queue release];
    [s->allocator release];
    [s->commands release];
    [s->table release];
    [s->resident release];
    [s->event release];
}

// Waits for everything that was committed.
static void finish(session *s, uint64_t value) {
    [s->queue signalEvent:s->event value:value];
    assert_true([s->event waitUntilSignaledValue:value timeoutMS:20000]);
}

static id<MTLBuffer> new_resident_words(session *s, NSUInteger count) {
    id<MTLBuffer> words = new_words(count);
    [s->resident addAllocation:words];
    [s->resident commit];
    return words;
}

static id<MTLComputePipelineState> compile(const char *source, NSString *kernel, MTLFunctionConstantValues *values) {
    NSError *error = nil;
    id<MTL4Compiler> compiler = [device newCompilerWithDescriptor:nil error:&error];
    MTL4LibraryDescriptor *text = [[[MTL4LibraryDescriptor alloc] init] autorelease];
    text.source = [NSString stringWithUTF8String:source];
    id<MTLLibrary> library = [compiler newLibraryWithDescriptor:text error:&error];
    assert_non_null(library);
    MTL4LibraryFunctionDescriptor *plain = [[[MTL4LibraryFunctionDescriptor alloc] init] autorelease];
    plain.library = library;
    plain.name = kernel;
    MTL4SpecializedFunctionDescriptor *special = [[[MTL4SpecializedFunctionDescriptor alloc] init] autorelease];
    special.functionDescriptor = plain;
    special.constantValues = values;
    MTL4ComputePipelineDescriptor *descriptor = [[[MTL4ComputePipelineDescriptor alloc] init] autorelease];
    descriptor.computeFunctionDescriptor = values ? special : plain;
    id<MTLComputePipelineState> pipeline = [compiler newComputePipelineStateWithDescriptor:descriptor
                                                                       compilerTaskOptions:nil
                                                                                     error:&error];
    if (!pipeline) fail_msg("%s", [[error localizedDescription] UTF8String]);
    [library release];
    [compiler release];
    return pipeline;
}

// ---- Running ----

static void a_dispatch_uses_the_table_as_it_was_when_encoded(void **state) {
    session s = open_session();
    id<MTLComputePipelineState> pipeline = compile(increment_source, @"increment", nil);
    id<MTLBuffer> first = new_resident_words(&s, 16), second = new_resident_words(&s, 16);
    for (uint64_t round = 1; round <= 2; round++) {  // command buffers are used again
        [s.commands beginCommandBufferWithAllocator:s.allocator];
        id<MTL4ComputeCommandEncoder> encoder = [s.commands computeCommandEncoder];
        [encoder setComputePipelineState:pipeline];
        [encoder setArgumentTable:s.table];
        [s.table setAddress:first.gpuAddress atIndex:0];
        [encoder dispatchThreads:MTLSizeMake(16, 1, 1) threadsPerThreadgroup:MTLSizeMake(16, 1, 1)];
        [s.table setAddress:second.gpuAddress + 32 atIndex:0];
        [encoder dispatchThreadgroups:MTLSizeMake(2, 1, 1) threadsPerThreadgroup:MTLSizeMake(4, 1, 1)];
        [encoder barrierAfterEncoderStages:MTLStageDispatch
                       beforeEncoderStages:MTLStageDispatch
                         visibilityOptions:MTL4VisibilityOptionDevice];
        [encoder dispatchThreads:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
        [encoder endEncoding];
        [s.commands endCommandBuffer];
        [s.table setAddress:0 atIndex:0];
        [s.queue commit:(const id<MTL4CommandBuffer>[]){s.commands} count:1];
        finish(&s, round);
        [s.allocator reset];
    }
    for (int i = 0; i < 16; i++) {
        assert_int_equal(words_of(first)[i], 2);
        assert_int_equal(words_of(second)[i], i < 8 ? 0 : i == 8 ? 4 : 2);
    }
    [first release];
    [second release];
    [pipeline release];
    close_session(&s);
}

static void copies_and_dispatches_share_an_encoder(void **state) {
    session s = open_session();
    id<MTLComputePipelineState> pipeline = compile(increment_source, @"increment", nil);
    id<MTLBuffer> words = new_resident_words(&s, 8), copy = new_words(8), counts = new_resident_words(&s, 3);
    words_of(counts)[0] = 2, words_of(counts)[1] = words_of(counts)[2] = 1;
    [s.commands beginCommandBufferWithAllocator:s.allocator];
    id<MTL4ComputeCommandEncoder> encoder = [s.commands computeCommandEncoder];
    [encoder fillBuffer:words range:NSMakeRange(0, 32) value:1];
    [encoder setComputePipelineState:pipeline];
    [s.table setAddress:words.gpuAddress atIndex:0];
    [encoder setArgumentTable:s.table];
    [encoder dispatchThreadgroupsWithIndirectBuffer:counts.gpuAddress threadsPerThreadgroup:MTLSizeMake(2, 1, 1)];
    [encoder copyFromBuffer:words sourceOffset:0 toBuffer:copy destinationOffset:0 size:32];
    [encoder endEncoding];
    [s.commands endCommandBuffer];
    [s.queue commit:(const id<MTL4CommandBuffer>[]){s.commands} count:1];
    finish(&s, 1);
    for (int i = 0; i < 8; i++) assert_int_equal(words_of(copy)[i], i < 4 ? 0x01010102 : 0x01010101);
    [words release];
    [copy release];
    [counts release];
    [pipeline release];
    close_session(&s);
}

// Commands inherit the pipeline and the table, and are copied and reset in order.
static void recorded_commands_are_executed(void **state) {
    session s = open_session();
    id<MTLComputePipelineState> pipeline = compile(increment_source, @"increment", nil);
    id<MTLBuffer> words = new_resident_words(&s, 8), range = new_resident_words(&s, 2);
    MTLIndirectCommandBufferDescriptor *shape = [[[MTLIndirectCommandBufferDescriptor alloc] init] autorelease];
    shape.commandTypes = MTLIndirectCommandTypeConcurrentDispatchThreads;
    shape.inheritPipelineState = shape.inheritBuffers = YES;
    id<MTLIndirectCommandBuffer> recorded = [device newIndirectCommandBufferWithDescriptor:shape
                                                                           maxCommandCount:4
                                                                                   options:0];
    [[recorded indirectComputeCommandAtIndex:1] concurrentDispatchThreads:MTLSizeMake(3, 1, 1)
                                                    threadsPerThreadgroup:MTLSizeMake(3, 1, 1)];
    words_of(range)[0] = 2, words_of(range)[1] = 1;
    [s.commands beginCommandBufferWithAllocator:s.allocator];
    id<MTL4ComputeCommandEncoder> encoder = [s.commands computeCommandEncoder];
    [encoder setComputePipelineState:pipeline];
    [s.table setAddress:words.gpuAddress atIndex:0];
    [encoder setArgumentTable:s.table];
    [encoder copyIndirectCommandBuffer:recorded sourceRange:NSMakeRange(1, 1) destination:recorded destinationIndex:2];
    [encoder executeCommandsInBuffer:recorded withRange:NSMakeRange(0, 4)];
    [encoder resetCommandsInBuffer:recorded withRange:NSMakeRange(1, 1)];
    [encoder optimizeIndirectCommandBuffer:recorded withRange:NSMakeRange(0, 4)];
    [s.table setAddress:words.gpuAddress + 4 atIndex:0];
    [encoder executeCommandsInBuffer:recorded withRange:NSMakeRange(0, 2)];
    [encoder executeCommandsInBuffer:recorded indirectBuffer:range.gpuAddress];
    [encoder endEncoding];
    [s.commands endCommandBuffer];
    [s.queue commit:(const id<MTL4CommandBuffer>[]){s.commands} count:1];
    finish(&s, 1);
    static const uint32_t expected[8] = {2, 3, 3, 1};
    for (int i = 0; i < 8; i++) assert_int_equal(words_of(words)[i], expected[i]);
    [recorded release];
    [words release];
    [range release];
    [pipeline release];
    close_session(&s);
}

static void textures_come_from_the_table(void **state) {
    session s = open_session();
    id<MTLComputePipelineState> pipeline =
        compile("#include <metal_stdlib>\nusing namespace metal;\n"
                "kernel void paint(texture2d<uint, access::write> t [[texture(0)]], uint2 p "
                "[[thread_position_in_grid]]) { t.write(uint4(p.x + 10 * p.y), p); }",
                @"paint", nil);
    MTLTextureDescriptor *shape = [MTLTextureDescriptor texture2DDescriptorWithPixelFormat:MTLPixelFormatR32Uint
                                                                                     width:4
                                                                                    height:2
                                                                                 mipmapped:NO];
    shape.usage = MTLTextureUsageShaderWrite;
    id<MTLTexture> texture = [device newTextureWithDescriptor:shape];
    [s.resident addAllocation:texture];
    [s.table setTexture:texture.gpuResourceID atIndex:0];
    [s.commands beginCommandBufferWithAllocator:s.allocator];
    id<MTL4ComputeCommandEncoder> encoder = [s.commands computeCommandEncoder];
    [encoder setComputePipelineState:pipeline];
    [encoder setArgumentTable:s.table];
    [encoder dispatchThreads:MTLSizeMake(4, 2, 1) threadsPerThreadgroup:MTLSizeMake(4, 2, 1)];
    [encoder endEncoding];
    [s.commands endCommandBuffer];
    [s.queue commit:(const id<MTL4CommandBuffer>[]){s.commands} count:1];
    finish(&s, 1);
    uint32_t pixels[8];
    [texture getBytes:pixels bytesPerRow:16 fromRegion:MTLRegionMake2D(0, 0, 4, 2) mipmapLevel:0];
    for (uint32_t i = 0; i < 8; i++) assert_int_equal(pixels[i], i % 4 + 10 * (i / 4));
    [texture release];
    [pipeline release];
    close_session(&s);
}

static void memory_of_heaps_is_resident_with_the_heap(void **state) {
    session s = open_session();
    id<MTLComputePipelineState> pipeline = compile(increment_source, @"increment", nil);
    MTLHeapDescriptor *shape = [[[MTLHeapDescriptor alloc] init] autorelease];
    shape.size = 4096;
    shape.storageMode = MTLStorageModeShared;
    id<MTLHeap> heap = [device newHeapWithDescriptor:shape];
    id<MTLBuffer> before = [heap newBufferWithLength:256 options:MTLResourceStorageModeShared];
    id<MTLBuffer> words = [heap newBufferWithLength:32 options:MTLResourceStorageModeShared];
    memset(words.contents, 0, 32);
    [s.resident addAllocation:heap];
    [s.table setAddress:words.gpuAddress atIndex:0];
    [s.commands beginCommandBufferWithAllocator:s.allocator];
    id<MTL4ComputeCommandEncoder> encoder = [s.commands computeCommandEncoder];
    [encoder setComputePipelineState:pipeline];
    [encoder setArgumentTable:s.table];
    [encoder dispatchThreads:MTLSizeMake(8, 1, 1) threadsPerThreadgroup:MTLSizeMake(8, 1, 1)];
    [encoder endEncoding];
    [s.commands endCommandBuffer];
    [s.queue commit:(const id<MTL4CommandBuffer>[]){s.commands} count:1];
    finish(&s, 1);
    for (int i = 0; i < 8; i++) assert_int_equal(words_of(words)[i], 1);
    [s.resident removeAllAllocations];
    [words release];
    [before release];
    [heap release];
    [pipeline release];
    close_session(&s);
}

// ---- Feedback ----

// What went wrong, or nil; nothing but the description.
static NSString *feedback_of(session *s) {
    __block NSString *text = nil;
    __block double from = 0, to = 0;
    dispatch_semaphore_t given = dispatch_semaphore_create(0);
    MTL4CommitOptions *options = [[[MTL4CommitOptions alloc] init] autorelease];
    [options addFeedbackHandler:^(id<MTL4CommitFeedback> feedback) {
      NSError *error = feedback.error;
      if (error && [[error domain] isEqual:MTL4CommandQueueErrorDomain]) text = [[error localizedDescription] retain];
      from = feedback.GPUStartTime, to = feedback.GPUEndTime;
      dispatch_semaphore_signal(given);
    }];
    [s->queue commit:(const id<MTL4CommandBuffer>[]){s->commands} count:1 options:options];
    assert_int_equal(dispatch_semaphore_wait(given, dispatch_time(DISPATCH_TIME_NOW, 20000000000)), 0);
    dispatch_release(given);
    assert_true(from > 0 && to >= from);
    return [text autorelease];
}

static void commits_report_what_became_of_them(void **state) {
    session s = open_session();
    id<MTLComputePipelineState> pipeline = compile(increment_source, @"increment", nil);
    id<MTLBuffer> words = new_resident_words(&s, 8), elsewhere = new_words(8);
    for (int i = 0; i < 3; i++) {
        [s.table setAddress:(i == 1 ? elsewhere : words).gpuAddress atIndex:0];
        [s.commands beginCommandBufferWithAllocator:s.allocator];
        id<MTL4ComputeCommandEncoder> encoder = [s.commands computeCommandEncoder];
        if (i != 2) [encoder setComputePipelineState:pipeline];
        [encoder setArgumentTable:s.table];
        [encoder dispatchThreads:MTLSizeMake(8, 1, 1) threadsPerThreadgroup:MTLSizeMake(8, 1, 1)];
        [encoder endEncoding];
        [s.commands endCommandBuffer];
        NSString *wrong = feedback_of(&s);
        if (i == 0) assert_null(wrong);
        if (i == 1) assert_contains(wrong, "residency set");
        if (i == 2) assert_contains(wrong, "setComputePipelineState");
    }
    [s.commands beginCommandBufferWithAllocator:s.allocator];
    assert_contains(feedback_of(&s), "endCommandBuffer");
    assert_int_equal(words_of(words)[0], 1);
    [words release];
    [elsewhere release];
    [pipeline release];
    close_session(&s);
}

// ---- Compiling ----

static void compilers_specialise_and_work_in_the_background(void **state) {
    session s = open_session();
    MTLFunctionConstantValues *values = [[[MTLFunctionConstantValues alloc] init] autorelease];
    uint32_t factor = 6;
    [values setConstantValue:&factor type:MTLDataTypeUInt atIndex:0];
    id<MTLComputePipelineState> pipeline = compile("constant uint factor [[function_constant(0)]];\n"
                                                   "kernel void k(device uint *a [[buffer(0)]]) { a[0] = 7 * factor; }",
                                                   @"k", values);
    id<MTLBuffer> word = new_words(1);
    run_one_thread(pipeline, word);
    assert_int_equal(words_of(word)[0], 42);
    id<MTL4Compiler> compiler = [device newCompilerWithDescriptor:nil error:NULL];
    MTL4LibraryDescriptor *text = [[[MTL4LibraryDescriptor alloc] init] autorelease];
    text.source = @"this is not MSL";
    __block NSInteger code = 0;
    id<MTL4CompilerTask> task = [compiler newLibraryWithDescriptor:text
                                                 completionHandler:^(id<MTLLibrary> library, NSError *error) {
                                                   code = library ? 0 : [error code];
                                                 }];
    [task waitUntilCompleted];
    assert_int_equal(task.status, MTL4CompilerTaskStatusFinished);
    assert_int_equal(code, MTLLibraryErrorCompileFailure);
    NSError *error = nil;
    MTL4ComputePipelineDescriptor *empty = [[[MTL4ComputePipelineDescriptor alloc] init] autorelease];
    assert_null([compiler newComputePipelineStateWithDescriptor:empty compilerTaskOptions:nil error:&error]);
    assert_error(error, MTLLibraryErrorDomain, MTLLibraryErrorFunctionNotFound);
    [task release];
    [compiler release];
    [word release];
    [pipeline release];
    close_session(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        compat_test(a_dispatch_uses_the_table_as_it_was_when_encoded),
        compat_test(copies_and_dispatches_share_an_encoder),
        compat_test(recorded_commands_are_executed),
        compat_test(textures_come_from_the_table),
        compat_test(memory_of_heaps_is_resident_with_the_heap),
        compat_test(commits_report_what_became_of_them),
        compat_test(compilers_specialise_and_work_in_the_background),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
