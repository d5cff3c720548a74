// SPDX-License-Identifier: Apache-2.0
// Buffers and heaps: storage, memory of the caller, aliasing, lifetimes.
#include <stdlib.h>
#include <string.h>

#include "helpers.h"

static void a_shared_buffer_is_memory(void **state) {
    id<MTLBuffer> buffer = new_words(16);
    assert_int_equal(buffer.length, 64);
    assert_int_equal(buffer.allocatedSize, 64);
    assert_int_equal(buffer.storageMode, MTLStorageModeShared);
    assert_int_equal(buffer.cpuCacheMode, MTLCPUCacheModeDefaultCache);
    assert_int_equal(buffer.hazardTrackingMode, MTLHazardTrackingModeTracked);
    assert_int_equal(buffer.resourceOptions, 0);
    assert_ptr_equal(buffer.device, device);
    assert_int_equal(buffer.gpuAddress, (uint64_t)(uintptr_t)[buffer contents]);
    for (int i = 0; i < 16; i++) assert_int_equal(words_of(buffer)[i], 0);
    buffer.label = @"sixteen";
    assert_text(buffer.label, "sixteen");
    assert_null(buffer.heap);
    assert_int_equal(buffer.heapOffset, 0);
    assert_false([buffer isAliasable]);
    assert_int_equal([buffer setPurgeableState:MTLPurgeableStateVolatile], MTLPurgeableStateNonVolatile);
    assert_int_equal([buffer setPurgeableState:MTLPurgeableStateKeepCurrent], MTLPurgeableStateVolatile);
    [buffer addDebugMarker:@"start" range:NSMakeRange(0, 4)];
    [buffer removeAllDebugMarkers];
    assert_null(buffer.remoteStorageBuffer);
    assert_null([buffer newRemoteBufferViewForDevice:device]);
    assert_null([buffer newTextureWithDescriptor:nil offset:0 bytesPerRow:16]);
    [buffer release];
}

static void options_choose_the_storage(void **state) {
    id<MTLBuffer> private = [device newBufferWithLength:64 options:MTLResourceStorageModePrivate];
    assert_null([private contents]);
    assert_int_equal(private.storageMode, MTLStorageModePrivate);
    assert_true(private.gpuAddress != 0);
    MTLResourceOptions options =
        MTLResourceStorageModeManaged | MTLResourceCPUCacheModeWriteCombined | MTLResourceHazardTrackingModeUntracked;
    id<MTLBuffer> managed = [device newBufferWithLength:64 options:options];
    assert_non_null([managed contents]);
    assert_int_equal(managed.storageMode, MTLStorageModeManaged);
    assert_int_equal(managed.cpuCacheMode, MTLCPUCacheModeWriteCombined);
    assert_int_equal(managed.hazardTrackingMode, MTLHazardTrackingModeUntracked);
    assert_int_equal(managed.resourceOptions, options);
    [managed didModifyRange:NSMakeRange(0, 64)];
    assert_null([device newBufferWithLength:64 options:MTLResourceStorageModeMemoryless]);
    assert_null([device newBufferWithLength:0 options:0]);
    assert_null([device newBufferWithLength:NSUIntegerMax options:0]);
    [private release];
    [managed release];
}

static void bytes_are_copied(void **state) {
    uint32_t values[4] = {1, 2, 3, 4};
    id<MTLBuffer> buffer = [device newBufferWithBytes:values length:sizeof values options:0];
    values[0] = 9;
    assert_int_equal(words_of(buffer)[0], 1);
    assert_int_equal(words_of(buffer)[3], 4);
    assert_null([device newBufferWithBytes:NULL length:4 options:0]);
    [buffer release];
}

static void memory_without_copy_goes_back_once(void **state) {
    void *memory = NULL;
    assert_int_equal(posix_memalign(&memory, 4096, 4096), 0);
    __block void *freed = NULL;
    __block NSUInteger length = 0;
    id<MTLBuffer> buffer = [device newBufferWithBytesNoCopy:memory
                                                     length:4096
                                                    options:0
                                                deallocator:^(void *pointer, NSUInteger size) {
                                                  freed = pointer;
                                                  length = size;
                                                }];
    assert_ptr_equal([buffer contents], memory);
    id<MTLComputePipelineState> pipeline = new_pipeline(increment_source, "increment");
    id<MTLCommandQueue> queue = [device newCommandQueue];
    NSAutoreleasePool *inner = [[NSAutoreleasePool alloc] init];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:pipeline];
    [encoder setBuffer:buffer offset:0 atIndex:0];
    [encoder dispatchThreads:MTLSizeMake(16, 1, 1) threadsPerThreadgroup:MTLSizeMake(16, 1, 1)];
    [encoder endEncoding];
    ((uint32_t *)memory)[0] = 41;
    [buffer release];
    assert_null(freed);  // the command buffer holds it
    [commands commit];
    [commands waitUntilCompleted];
    assert_int_equal(((uint32_t *)memory)[0], 42);
    [inner drain];
    assert_ptr_equal(freed, memory);
    assert_int_equal(length, 4096);
    buffer = [device newBufferWithBytesNoCopy:memory length:4096 options:0 deallocator:nil];
    [buffer release];
    assert_null([device newBufferWithBytesNoCopy:NULL length:4096 options:0 deallocator:nil]);
    [queue release];
    [pipeline release];
    free(memory);
}

// ---- Heaps ----

static id<MTLHeap> new_heap(NSUInteger size, MTLHeapType type) {
    MTLHeapDescriptor *descriptor = [[MTLHeapDescriptor alloc] init];
    descriptor.size = size;
    descriptor.type = type;
    descriptor.storageMode = MTLStorageModeShared;
    id<MTLHeap> heap = [device newHeapWithDescriptor:descriptor];
    [descriptor release];
    return heap;
}

static void a_heap_descriptor_keeps_what_it_is_told(void **state) {
    MTLHeapDescriptor *descriptor = [[[MTLHeapDescriptor alloc] init] autorelease];
    assert_int_equal(descriptor.storageMode, MTLStorageModePrivate);
    descriptor.storageMode = MTLStorageModeShared;
    descriptor.cpuCacheMode = MTLCPUCacheModeWriteCombined;
    descriptor.hazardTrackingMode = MTLHazardTrackingModeTracked;
    assert_int_equal(descriptor.resourceOptions, MTLResourceStorageModeShared | MTLResourceCPUCacheModeWriteCombined |
                                                     MTLResourceHazardTrackingModeTracked);
    MTLHeapDescriptor *copy = [[descriptor copy] autorelease];
    assert_int_equal(copy.resourceOptions, descriptor.resourceOptions);
    assert_null([device newHeapWithDescriptor:descriptor]);  // of no size
}

static void a_heap_gives_and_takes_back(void **state) {
    id<MTLHeap> heap = new_heap(1024, MTLHeapTypeAutomatic);
    heap.label = @"heap";
    assert_text(heap.label, "heap");
    assert_int_equal(heap.size, 1024);
    assert_int_equal(heap.currentAllocatedSize, 1024);
    assert_int_equal([heap maxAvailableSizeWithAlignment:256], 1024);
    id<MTLBuffer> first = [heap newBufferWithLength:100 options:0];
    id<MTLBuffer> second = [heap newBufferWithLength:512 options:0];
    assert_int_equal(first.heapOffset, 0);
    assert_int_equal(second.heapOffset, 256);
    assert_int_equal(heap.usedSize, 768);
    assert_int_equal([heap maxAvailableSizeWithAlignment:256], 256);
    assert_null([heap newBufferWithLength:512 options:0]);
    assert_null([heap newBufferWithLength:16 options:MTLResourceStorageModePrivate]);
    assert_null([heap newBufferWithLength:16 options:0 offset:0]);  // not a placement heap
    [first release];
    assert_int_equal(heap.usedSize, 512);
    first = [heap newBufferWithLength:256 options:0];
    assert_int_equal(first.heapOffset, 0);
    assert_ptr_equal(first.heap, heap);
    memset([first contents], 7, 256);
    [first makeAliasable];
    assert_true([first isAliasable]);
    id<MTLBuffer> alias = [heap newBufferWithLength:256 options:0];
    assert_ptr_equal([alias contents], [first contents]);
    assert_int_equal(((char *)[alias contents])[255], 7);
    assert_int_equal([heap setPurgeableState:MTLPurgeableStateKeepCurrent], MTLPurgeableStateNonVolatile);
    assert_null([heap newTextureWithDescriptor:nil]);
    [first release];
    [heap release];  // its buffers hold it
    ((char *)[alias contents])[0] = 1;
    [alias release];
    [second release];
}

static void a_placement_heap_puts_buffers_where_it_is_told(void **state) {
    id<MTLHeap> heap = new_heap(4096, MTLHeapTypePlacement);
    assert_int_equal(heap.type, MTLHeapTypePlacement);
    MTLSizeAndAlign place = [device heapBufferSizeAndAlignWithLength:1000 options:0];
    assert_int_equal(place.size, 1024);
    assert_int_equal(place.align, 256);
    id<MTLBuffer> low = [heap newBufferWithLength:1024 options:0 offset:0];
    id<MTLBuffer> high = [heap newBufferWithLength:1024 options:0 offset:512];
    assert_ptr_equal((char *)[low contents] + 512, [high contents]);
    assert_null([heap newBufferWithLength:1024 options:0 offset:3500]);
    assert_null([heap newBufferWithLength:1024 options:0 offset:3584]);
    assert_null([heap newBufferWithLength:1024 options:0 offset:100]);
    assert_null([heap newBufferWithLength:1024 options:0]);
    [low release];
    [high release];
    [heap release];
}

// ---- Argument buffers ----

static const char arguments_source[] =
    "#include <metal_stdlib>\nusing namespace metal;\n"
    "struct arguments {\n"
    "    float scale [[id(0)]];\n"
    "    device float *parts[2] [[id(1)]];\n"
    "    float4 bias [[id(3)]];\n"
    "    texture2d<float> image [[id(4)]];\n"
    "};\n"
    "kernel void gather(constant arguments *all [[buffer(0)]], device float *out [[buffer(1)]]) {\n"
    "    constant arguments &a = all[1];\n"
    "    out[0] = a.scale * a.parts[0][1] + a.parts[1][0] + a.bias.w + a.image.read(uint2(1, 0)).x;\n"
    "}\n";

static MTLArgumentDescriptor *described(MTLDataType type, NSUInteger index, NSUInteger count) {
    MTLArgumentDescriptor *descriptor = [MTLArgumentDescriptor argumentDescriptor];
    descriptor.dataType = type;
    descriptor.index = index;
    descriptor.arrayLength = count;
    return [[descriptor copy] autorelease];
}

static id<MTLTexture> new_image(void) {
    MTLTextureDescriptor *descriptor = [MTLTextureDescriptor texture2DDescriptorWithPixelFormat:MTLPixelFormatR32Float
                                                                                          width:2
                                                                                         height:1
                                                                                      mipmapped:NO];
    id<MTLTexture> image = [device newTextureWithDescriptor:descriptor];
    const float pixels[2] = {0, 1000};
    [image replaceRegion:MTLRegionMake2D(0, 0, 2, 1) mipmapLevel:0 withBytes:pixels bytesPerRow:8];
    return image;
}

static void argument_encoders_lay_out_structures(void **state) {
    id<MTLArgumentEncoder> arguments = [device newArgumentEncoderWithArguments:@[
        described(MTLDataTypeTexture, 4, 0), described(MTLDataTypeFloat, 0, 0), described(MTLDataTypePointer, 1, 2),
        described(MTLDataTypeFloat4, 3, 0)
    ]];
    assert_int_equal(arguments.encodedLength, 64);
    assert_int_equal(arguments.alignment, 16);
    const float numbers[4] = {1, 2, 30, 4};
    id<MTLBuffer> buffer = [device newBufferWithLength:128 options:0], out = new_words(1);
    id<MTLBuffer> first = [device newBufferWithBytes:numbers length:16 options:0];
    id<MTLTexture> image = new_image();
    assert_null([arguments constantDataAtIndex:0]);  // no buffer yet
    [arguments setArgumentBuffer:buffer startOffset:0 arrayElement:1];
    *(float *)[arguments constantDataAtIndex:0] = 5;
    ((float *)[arguments constantDataAtIndex:3])[3] = 400;
    [arguments setBuffer:first offset:0 atIndex:1];
    [arguments setBuffer:first offset:8 atIndex:2];
    [arguments setTexture:image atIndex:4];
    [arguments setBuffer:first offset:0 atIndex:0];  // a constant
    [arguments setBuffer:first offset:0 atIndex:9];  // nothing
    assert_null([arguments constantDataAtIndex:1]);
    [arguments setArgumentBuffer:buffer offset:80];
    assert_null([arguments constantDataAtIndex:0]);  // does not fit
    id<MTLComputePipelineState> pipeline = new_pipeline(arguments_source, "gather");
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:pipeline];
    [encoder setBuffer:buffer offset:0 atIndex:0];
    [encoder setBuffer:out offset:0 atIndex:1];
    [encoder useResource:image usage:MTLResourceUsageRead];
    [encoder useResource:first usage:MTLResourceUsageRead];
    [encoder dispatchThreads:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    assert_null(commands.error);
    assert_true(*(float *)out.contents == 5 * 2 + 30 + 400 + 1000);
    for (id object in @[ arguments, buffer, out, first, image, pipeline, queue ]) [object release];
}

static void argument_encoders_refuse_what_cannot_be(void **state) {
    assert_null([device newArgumentEncoderWithArguments:@[]]);
    assert_null([device newArgumentEncoderWithArguments:@[ described(MTLDataTypeStruct, 0, 0) ]]);
    NSArray *twice = @[ described(MTLDataTypePointer, 0, 3), described(MTLDataTypePointer, 2, 0) ];
    assert_null([device newArgumentEncoderWithArguments:twice]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        compat_test(a_shared_buffer_is_memory),
        compat_test(options_choose_the_storage),
        compat_test(bytes_are_copied),
        compat_test(memory_without_copy_goes_back_once),
        compat_test(a_heap_descriptor_keeps_what_it_is_told),
        compat_test(a_heap_gives_and_takes_back),
        compat_test(a_placement_heap_puts_buffers_where_it_is_told),
        compat_test(argument_encoders_lay_out_structures),
        compat_test(argument_encoders_refuse_what_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
