// SPDX-License-Identifier: Apache-2.0
// Metal 4: samplers and views in argument tables, dispatches by buffer, times, copies, indirect command buffers.
#include <string.h>

#include "helpers.h"

static id<MTL4ArgumentTable> new_table(void) {
    MTL4ArgumentTableDescriptor *shape = [[[MTL4ArgumentTableDescriptor alloc] init] autorelease];
    shape.maxBufferBindCount = 4;
    shape.maxTextureBindCount = 2;
    shape.maxSamplerStateBindCount = 2;
    id<MTL4ArgumentTable> table = [device newArgumentTableWithDescriptor:shape error:NULL];
    assert_non_null(table);
    return table;
}

// Four pixels in each of two layers: 1, 2, 3, 4 and 11, 12, 13, 14.
static id<MTLTexture> new_layers(void) {
    MTLTextureDescriptor *shape = [[[MTLTextureDescriptor alloc] init] autorelease];
    shape.textureType = MTLTextureType2DArray;
    shape.pixelFormat = MTLPixelFormatR32Float;
    shape.width = 2, shape.height = 2, shape.arrayLength = 2;
    id<MTLTexture> texture = [device newTextureWithDescriptor:shape];
    for (NSUInteger layer = 0; layer < 2; layer++) {
        float pixels[4];
        for (NSUInteger i = 0; i < 4; i++) pixels[i] = (float)(10 * layer + i + 1);
        [texture replaceRegion:MTLRegionMake2D(0, 0, 2, 2)
                   mipmapLevel:0
                         slice:layer
                     withBytes:pixels
                   bytesPerRow:8
                 bytesPerImage:16];
    }
    return texture;
}

static const char sample_source[] =
    "#include <metal_stdlib>\nusing namespace metal;\n"
    "kernel void look(texture2d<float> t [[texture(0)]], sampler s [[sampler(1)]], device float *out [[buffer(0)]]) {\n"
    "    out[0] = t.sample(s, float2(0.5)).x;\n"
    "    out[1] = t.sample(s, float2(1.25, 0.25)).x;\n"
    "}\n"
    "struct views { texture2d<float> t[2]; };\n"
    "kernel void through(constant views &v [[buffer(0)]], device float *out [[buffer(1)]]) {\n"
    "    for (uint i = 0; i < 2; i++) out[i] = v.t[i].read(uint2(1, 0)).x;\n"
    "}\n";

// ---- Samplers and views ----

static id<MTLSamplerState> new_sampler(MTLSamplerMinMagFilter filter, MTLSamplerAddressMode address) {
    MTLSamplerDescriptor *how = [[[MTLSamplerDescriptor alloc] init] autorelease];
    how.minFilter = how.magFilter = filter;
    how.sAddressMode = how.tAddressMode = address;
    return [device newSamplerStateWithDescriptor:how];
}

static id<MTLTextureViewPool> new_pool(NSUInteger count) {
    MTLResourceViewPoolDescriptor *shape = [[[MTLResourceViewPoolDescriptor alloc] init] autorelease];
    shape.resourceViewCount = count;
    shape.label = @"views";
    NSError *error = nil;
    id<MTLTextureViewPool> pool = [device newTextureViewPoolWithDescriptor:shape error:&error];
    assert_non_null(pool);
    return pool;
}

static MTLTextureViewDescriptor *layer_view(NSUInteger layer) {
    MTLTextureViewDescriptor *view = [[[MTLTextureViewDescriptor alloc] init] autorelease];
    view.sliceRange = NSMakeRange(layer, 1);
    return view;
}

static NSString *look(id<MTLTexture> resident, id<MTL4ArgumentTable> table, float seen[2]) {
    id<MTLComputePipelineState> pipeline = new_pipeline(sample_source, "look");
    id<MTLBuffer> out = new_words(2);
    [table setAddress:out.gpuAddress atIndex:0];
    NSString *wrong = run_metal4(@[ resident, out ], table, pipeline, ^(id<MTL4ComputeCommandEncoder> encoder) {
      [encoder dispatchThreads:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
    });
    memcpy(seen, out.contents, 8);
    [out release];
    [pipeline release];
    return wrong;
}

static void tables_have_samplers(void **state) {
    id<MTL4ArgumentTable> table = new_table();
    id<MTLTexture> texture = new_layers();
    id<MTLTexture> first = [texture newTextureViewWithDescriptor:layer_view(0)];
    id<MTLSamplerState> linear = new_sampler(MTLSamplerMinMagFilterLinear, MTLSamplerAddressModeRepeat);
    id<MTLSamplerState> nearest = new_sampler(MTLSamplerMinMagFilterNearest, MTLSamplerAddressModeClampToEdge);
    float seen[2];
    NSAutoreleasePool *inner = [[NSAutoreleasePool alloc] init];
    [table setTexture:first.gpuResourceID atIndex:0];
    [table setSamplerState:linear.gpuResourceID atIndex:1];
    assert_null(look(first, table, seen));
    assert_float_equal(seen[0], 2.5f, 0);  // the middle of all four
    assert_float_equal(seen[1], 1, 0);     // repeated: (0.25, 0.25)
    [table setSamplerState:nearest.gpuResourceID atIndex:1];
    assert_null(look(first, table, seen));
    assert_float_equal(seen[1], 2, 0);  // the edge
    MTLResourceID gone = nearest.gpuResourceID;
    [nearest release];
    [inner drain];
    [table setSamplerState:gone atIndex:1];
    assert_contains(look(first, table, seen), "no longer, a sampler");
    [linear release];
    [first release];
    [texture release];
    [table release];
}

static void pools_give_views_by_id(void **state) {
    id<MTL4ArgumentTable> table = new_table();
    id<MTLTexture> texture = new_layers();
    id<MTLSamplerState> sampler = new_sampler(MTLSamplerMinMagFilterLinear, MTLSamplerAddressModeClampToEdge);
    id<MTLTextureViewPool> pool = new_pool(3), other = new_pool(2);
    assert_text(pool.label, "views");
    assert_true(pool.resourceViewCount == 3 && pool.device == device);
    [table setSamplerState:sampler.gpuResourceID atIndex:1];
    MTLResourceID first = [pool setTextureView:texture descriptor:layer_view(0) atIndex:0];
    MTLResourceID second = [pool setTextureView:texture descriptor:layer_view(1) atIndex:2];
    assert_true(first._impl && second._impl && first._impl != second._impl);
    float seen[2];
    const struct {
        uint64_t identity;
        float expected;
    } ids[] = {{first._impl, 2.5f},
               {second._impl, 12.5f},
               {pool.baseResourceID._impl, 2.5f},
               {pool.baseResourceID._impl + 2, 12.5f},
               {[other copyResourceViewsFromPool:pool sourceRange:NSMakeRange(2, 1) destinationIndex:1]._impl, 12.5f},
               {other.baseResourceID._impl + 1, 12.5f}};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        [table setTexture:(MTLResourceID){ids[i].identity} atIndex:0];
        assert_null(look(texture, table, seen));
        assert_float_equal(seen[0], ids[i].expected, 0);
    }
    [table setTexture:(MTLResourceID){pool.baseResourceID._impl + 1} atIndex:0];  // nothing is there
    assert_contains(look(texture, table, seen), "residency set");
    id<MTLTexture> elsewhere = new_layers();
    [table setTexture:first atIndex:0];
    assert_contains(look(elsewhere, table, seen), "residency set");  // what it shows is not resident
    assert_int_equal([pool setTextureView:texture atIndex:3]._impl, 0);
    assert_int_equal([pool setTextureView:nil atIndex:0]._impl, 0);
    assert_int_equal([pool setTextureView:texture descriptor:layer_view(2) atIndex:0]._impl, 0);
    assert_int_equal([pool copyResourceViewsFromPool:other sourceRange:NSMakeRange(1, 2) destinationIndex:0]._impl, 0);
    NSError *error = nil;
    assert_null([device newTextureViewPoolWithDescriptor:nil error:&error]);
    assert_non_null(error);
    [elsewhere release];
    [pool release];
    [other release];
    [sampler release];
    [texture release];
    [table release];
}

static void argument_buffers_hold_pooled_views(void **state) {
    id<MTL4ArgumentTable> table = new_table();
    id<MTLTexture> texture = new_layers();
    id<MTLBuffer> pixels = new_words(4), out = new_words(2);
    ((float *)pixels.contents)[1] = 42;
    id<MTLTextureViewPool> pool = new_pool(2);
    MTLResourceID views[2];
    views[0] = [pool setTextureView:texture descriptor:layer_view(1) atIndex:1];
    views[1] =
        [pool setTextureViewFromBuffer:pixels
                            descriptor:[MTLTextureDescriptor texture2DDescriptorWithPixelFormat:MTLPixelFormatR32Float
                                                                                          width:2
                                                                                         height:1
                                                                                      mipmapped:NO]
                                offset:0
                           bytesPerRow:16
                               atIndex:0];
    id<MTLBuffer> arguments = [device newBufferWithBytes:views
                                                  length:sizeof views
                                                 options:MTLResourceStorageModeShared];
    id<MTLComputePipelineState> pipeline = new_pipeline(sample_source, "through");
    [table setAddress:arguments.gpuAddress atIndex:0];
    [table setAddress:out.gpuAddress atIndex:1];
    NSArray *resident = @[ texture, pixels, arguments, out ];
    assert_null(run_metal4(resident, table, pipeline, ^(id<MTL4ComputeCommandEncoder> encoder) {
      [encoder dispatchThreads:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
    }));
    assert_float_equal(((float *)out.contents)[0], 12, 0);
    assert_float_equal(((float *)out.contents)[1], 42, 0);
    [pipeline release];
    [arguments release];
    [pool release];
    [pixels release];
    [out release];
    [texture release];
    [table release];
}

// ---- Dispatches by buffer ----

static void grids_and_groups_come_from_a_buffer(void **state) {
    id<MTL4ArgumentTable> table = new_table();
    id<MTLBuffer> sizes = new_words(8), words = new_words(64);
    id<MTLComputePipelineState> pipeline =
        new_pipeline("kernel void shape(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]],\n"
                     "                  uint n [[threads_per_threadgroup]], uint all [[threads_per_grid]]) { a[i] = n "
                     "+ 100 * all; }\n",
                     "shape");
    const MTLDispatchThreadsIndirectArguments wanted = {{10, 1, 1}, {4, 1, 1}}, wrong = {{10, 1, 1}, {0, 1, 1}};
    void (^dispatch)(id<MTL4ComputeCommandEncoder>) = ^(id<MTL4ComputeCommandEncoder> encoder) {
      [encoder dispatchThreadsWithIndirectBuffer:sizes.gpuAddress + 8];
    };
    memcpy((char *)sizes.contents + 8, &wanted, sizeof wanted);
    [table setAddress:words.gpuAddress atIndex:0];
    assert_null(run_metal4(@[ sizes, words ], table, pipeline, dispatch));
    for (uint32_t i = 0; i < 64; i++) assert_int_equal(words_of(words)[i], i < 8 ? 1004 : i < 10 ? 1002 : 0);
    memcpy((char *)sizes.contents + 8, &wrong, sizeof wrong);
    assert_contains(run_metal4(@[ sizes, words ], table, pipeline, dispatch), "no threads");
    assert_contains(run_metal4(@[ words ], table, pipeline, dispatch), "residency set");
    [pipeline release];
    [sizes release];
    [words release];
    [table release];
}

// ---- Times ----

static void heaps_have_the_times_of_dispatches(void **state) {
    id<MTL4ArgumentTable> table = new_table();
    id<MTLBuffer> words = new_words(64), times = new_words(16);
    MTL4CounterHeapDescriptor *shape = [[[MTL4CounterHeapDescriptor alloc] init] autorelease];
    NSError *error = nil;
    shape.count = 4;
    assert_null([device newCounterHeapWithDescriptor:shape error:&error]);  // it has no type
    assert_error(error, MTLCounterErrorDomain, MTLCounterSampleBufferErrorInvalid);
    shape.type = MTL4CounterHeapTypeTimestamp;
    id<MTL4CounterHeap> heap = [device newCounterHeapWithDescriptor:shape error:&error];
    assert_true(heap.count == 4 && heap.type == MTL4CounterHeapTypeTimestamp);
    assert_int_equal([device sizeOfCounterHeapEntry:heap.type], sizeof(MTL4TimestampHeapEntry));
    id<MTLComputePipelineState> pipeline = new_pipeline(increment_source, "increment");
    [table setAddress:words.gpuAddress atIndex:0];
    MTL4BufferRange target = MTL4BufferRangeMake(times.gpuAddress + 8, 24);
    void (^encode)(id<MTL4ComputeCommandEncoder>) = ^(id<MTL4ComputeCommandEncoder> encoder) {
      [encoder writeTimestampWithGranularity:MTL4TimestampGranularityPrecise intoHeap:heap atIndex:0];
      for (int i = 0; i < 3; i++) {
          [encoder dispatchThreads:MTLSizeMake(64, 1, 1) threadsPerThreadgroup:MTLSizeMake(64, 1, 1)];
          if (i == 1) [encoder writeTimestampWithGranularity:MTL4TimestampGranularityPrecise intoHeap:heap atIndex:1];
      }
      [encoder.commandBuffer writeTimestampIntoHeap:heap atIndex:3];
      [encoder.commandBuffer resolveCounterHeap:heap
                                      withRange:NSMakeRange(1, 3)
                                     intoBuffer:target
                                      waitFence:nil
                                    updateFence:nil];
    };
    MTLTimestamp before = 0, after = 0, ignored;
    [device sampleTimestamps:&ignored gpuTimestamp:&before];
    assert_null(run_metal4(@[ words, times ], table, pipeline, encode));
    [device sampleTimestamps:&ignored gpuTimestamp:&after];
    const MTL4TimestampHeapEntry *all = [[heap resolveCounterRange:NSMakeRange(0, 4)] bytes];
    assert_true(before <= all[0].timestamp && all[0].timestamp <= all[1].timestamp);
    assert_true(all[1].timestamp < all[3].timestamp && all[3].timestamp <= after);
    assert_int_equal(all[2].timestamp, 0);  // nobody wrote it
    assert_int_equal([device queryTimestampFrequency], 1000000000);
    assert_memory_equal((char *)times.contents + 8, all + 1, 24);
    [heap invalidateCounterRange:NSMakeRange(1, 100)];
    all = [[heap resolveCounterRange:NSMakeRange(0, 4)] bytes];
    assert_true(all[0].timestamp && !all[1].timestamp && !all[3].timestamp);
    assert_null([heap resolveCounterRange:NSMakeRange(2, 3)]);
    assert_contains(run_metal4(@[ words ], table, pipeline,
                               ^(id<MTL4ComputeCommandEncoder> encoder) {
                                 [encoder writeTimestampWithGranularity:0 intoHeap:heap atIndex:4];
                               }),
                    "counter heap");
    [heap release];
    [pipeline release];
    [words release];
    [times release];
    [table release];
}

// ---- Copies and indirect command buffers ----

static void encoders_copy_parts_of_textures(void **state) {
    id<MTLTexture> from = new_layers(), to = new_layers(), whole = new_layers();
    assert_null(run_metal4(@[ from, to, whole ], nil, nil, ^(id<MTL4ComputeCommandEncoder> encoder) {
      [encoder copyFromTexture:from
                   sourceSlice:1
                   sourceLevel:0
                  sourceOrigin:MTLOriginMake(0, 1, 0)
                    sourceSize:MTLSizeMake(2, 1, 1)
                     toTexture:to
              destinationSlice:0
              destinationLevel:0
             destinationOrigin:MTLOriginMake(0, 0, 0)];
      [encoder copyFromTexture:from
                   sourceSlice:0
                   sourceLevel:0
                     toTexture:whole
              destinationSlice:1
              destinationLevel:0
                    sliceCount:1
                    levelCount:1];
      [encoder optimizeContentsForCPUAccess:to];
    }));
    float pixels[4];
    const float part[] = {13, 14, 3, 4}, first[] = {1, 2, 3, 4};
    [to getBytes:pixels bytesPerRow:8 fromRegion:MTLRegionMake2D(0, 0, 2, 2) mipmapLevel:0];
    assert_memory_equal(pixels, part, sizeof part);
    [whole getBytes:pixels bytesPerRow:8 bytesPerImage:16 fromRegion:MTLRegionMake2D(0, 0, 2, 2) mipmapLevel:0 slice:1];
    assert_memory_equal(pixels, first, sizeof first);
    [from release];
    [to release];
    [whole release];
}

static id<MTLIndirectCommandBuffer> new_indirect(NSUInteger count) {
    MTLIndirectCommandBufferDescriptor *shape = [[[MTLIndirectCommandBufferDescriptor alloc] init] autorelease];
    shape.commandTypes = MTLIndirectCommandTypeConcurrentDispatch;
    shape.maxKernelBufferBindCount = 1;
    return [device newIndirectCommandBufferWithDescriptor:shape maxCommandCount:count options:0];
}

static void indirect_command_buffers_are_copied_and_reset(void **state) {
    id<MTLBuffer> words = new_words(4);
    id<MTLIndirectCommandBuffer> from = new_indirect(2), to = new_indirect(3);
    MTLComputePipelineDescriptor *descriptor = [[[MTLComputePipelineDescriptor alloc] init] autorelease];
    id<MTLLibrary> library = new_library(increment_source);
    descriptor.computeFunction = [[library newFunctionWithName:@"increment"] autorelease];
    descriptor.supportIndirectCommandBuffers = YES;
    id<MTLComputePipelineState> pipeline = [device newComputePipelineStateWithDescriptor:descriptor
                                                                                 options:0
                                                                              reflection:NULL
                                                                                   error:NULL];
    id<MTLIndirectComputeCommand> command = [from indirectComputeCommandAtIndex:1];
    [command setComputePipelineState:pipeline];
    [command setKernelBuffer:words offset:4 atIndex:0];
    [command concurrentDispatchThreadgroups:MTLSizeMake(2, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
    assert_null(run_metal4(@[ words ], nil, nil, ^(id<MTL4ComputeCommandEncoder> encoder) {
      [encoder copyIndirectCommandBuffer:from sourceRange:NSMakeRange(1, 1) destination:to destinationIndex:2];
      [encoder executeCommandsInBuffer:to withRange:NSMakeRange(0, 3)];
      [encoder resetCommandsInBuffer:from withRange:NSMakeRange(0, 2)];
      [encoder executeCommandsInBuffer:from withRange:NSMakeRange(0, 2)];
      [encoder copyIndirectCommandBuffer:to sourceRange:NSMakeRange(1, 2) destination:to destinationIndex:0];
      [encoder executeCommandsInBuffer:to withRange:NSMakeRange(1, 1)];
    }));
    const uint32_t expected[] = {0, 2, 2, 0};
    assert_memory_equal(words.contents, expected, sizeof expected);
    assert_contains(run_metal4(@[ words ], nil, nil,
                               ^(id<MTL4ComputeCommandEncoder> encoder) {
                                 [encoder copyIndirectCommandBuffer:from
                                                        sourceRange:NSMakeRange(1, 2)
                                                        destination:to
                                                   destinationIndex:0];
                               }),
                    "a range of commands is outside");
    [pipeline release];
    [library release];
    [from release];
    [to release];
    [words release];
}

int main(void) {
    const struct CMUnitTest tests[] = {
        compat_test(tables_have_samplers),
        compat_test(pools_give_views_by_id),
        compat_test(argument_buffers_hold_pooled_views),
        compat_test(grids_and_groups_come_from_a_buffer),
        compat_test(heaps_have_the_times_of_dispatches),
        compat_test(encoders_copy_parts_of_textures),
        compat_test(indirect_command_buffers_are_copied_and_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
