// SPDX-License-Identifier: Apache-2.0
#include "helpers.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

id<MTLDevice> device;
static NSAutoreleasePool *pool;

const char increment_source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void increment(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]]) { a[i] += 1; }\n";

int open_device(void **state) {
    (void)state;
    pool = [[NSAutoreleasePool alloc] init];
    device = MTLCreateSystemDefaultDevice();
    return device ? 0 : -1;
}

// What handlers on other threads still hold is released soon.
int close_device(void **state) {
    (void)state;
    [device release];
    device = nil;
    [pool drain];
    for (int i = 0; i < 2000 && igi_metal_live_objects() != 0; i++) usleep(1000);
    if (igi_metal_live_objects() == 0) return 0;
    fprintf(stderr, "%ld objects are left\n", igi_metal_live_objects());
    return -1;
}

void expect_contains(const char *text, const char *part, const char *file, int line) {
    if (text && strstr(text, part)) return;
    fprintf(stderr, "'%s' is not in: %s\n", part, text ? text : "(nil)");
    _fail(file, line);
}

id<MTLLibrary> new_library(const char *source) {
    NSError *error = nil;
    id<MTLLibrary> library = [device newLibraryWithSource:[NSString stringWithUTF8String:source]
                                                  options:nil
                                                    error:&error];
    if (!library) fprintf(stderr, "%s\n", [[error localizedDescription] UTF8String]);
    assert_non_null(library);
    return library;
}

id<MTLComputePipelineState> new_pipeline(const char *source, const char *kernel) {
    NSError *error = nil;
    id<MTLLibrary> library = new_library(source);
    id<MTLFunction> function = [library newFunctionWithName:[NSString stringWithUTF8String:kernel]];
    assert_non_null(function);
    id<MTLComputePipelineState> pipeline = [device newComputePipelineStateWithFunction:function error:&error];
    if (!pipeline) fprintf(stderr, "%s\n", [[error localizedDescription] UTF8String]);
    assert_non_null(pipeline);
    [function release];
    [library release];
    return pipeline;
}

id<MTLBuffer> new_words(NSUInteger count) {
    id<MTLBuffer> buffer = [device newBufferWithLength:count * sizeof(uint32_t) options:MTLResourceStorageModeShared];
    assert_non_null(buffer);
    return buffer;
}

uint32_t *words_of(id<MTLBuffer> buffer) {
    return [buffer contents];
}

void run_one_thread(id<MTLComputePipelineState> pipeline, id<MTLBuffer> buffer) {
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:pipeline];
    [encoder setBuffer:buffer offset:0 atIndex:0];
    [encoder dispatchThreads:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    [queue release];
}

void run_on_words(id<MTLCommandBuffer> commands, const char *source, const char *kernel) {
    enum { COUNT = 64 };
    id<MTLComputePipelineState> pipeline = new_pipeline(source, kernel);
    id<MTLBuffer> words = new_words(COUNT);
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:pipeline];
    [encoder setBuffer:words offset:0 atIndex:0];
    [encoder dispatchThreads:MTLSizeMake(COUNT, 1, 1) threadsPerThreadgroup:MTLSizeMake(COUNT, 1, 1)];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    [words release];
    [pipeline release];
}

NSString *run_metal4(NSArray *resident, id<MTL4ArgumentTable> table, id<MTLComputePipelineState> pipeline,
                     void (^encode)(id<MTL4ComputeCommandEncoder> encoder)) {
    __block NSString *wrong = nil;
    id<MTL4CommandQueue> queue = [device newMTL4CommandQueue];
    id<MTL4CommandAllocator> allocator = [device newCommandAllocator];
    id<MTL4CommandBuffer> commands = [device newCommandBuffer];
    id<MTLResidencySet> set = [device newResidencySetWithDescriptor:nil error:NULL];
    for (id allocation in resident) [set addAllocation:allocation];
    [commands beginCommandBufferWithAllocator:allocator];
    [commands useResidencySet:set];
    id<MTL4ComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    if (pipeline) [encoder setComputePipelineState:pipeline];
    if (table) [encoder setArgumentTable:table];
    encode(encoder);
    [encoder endEncoding];
    [commands endCommandBuffer];
    dispatch_semaphore_t done = dispatch_semaphore_create(0);
    MTL4CommitOptions *options = [[[MTL4CommitOptions alloc] init] autorelease];
    [options addFeedbackHandler:^(id<MTL4CommitFeedback> feedback) {
      wrong = [[[feedback error] localizedDescription] retain];
      dispatch_semaphore_signal(done);
    }];
    [queue commit:(const id<MTL4CommandBuffer>[]){commands} count:1 options:options];
    assert_int_equal(dispatch_semaphore_wait(done, dispatch_time(DISPATCH_TIME_NOW, 60000000000)), 0);
    dispatch_release(done);
    [set release];
    [commands release];
    [allocator release];
    [queue release];
    return [wrong autorelease];
}
