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

int main(void) {
    const struct CMUnitTest tests[] = {
        compat_test(a_shared_buffer_is_memory),
        compat_test(options_choose_the_storage),
        compat_test(bytes_are_copied),
        compat_test(memory_without_copy_goes_back_once),
        compat_test(a_heap_descriptor_keeps_what_it_is_told),
        compat_test(a_heap_gives_and_takes_back),
        compat_test(a_placement_heap_puts_buffers_where_it_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
