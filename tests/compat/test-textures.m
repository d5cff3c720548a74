// SPDX-License-Identifier: Apache-2.0
// Textures and samplers: descriptors, pixels, views, copies, kernels, reflection.
#include <float.h>
#include <string.h>

#include "helpers.h"

static id<MTLTexture> new_texture(MTLPixelFormat format, NSUInteger width, NSUInteger height, BOOL mipmapped) {
    MTLTextureDescriptor *descriptor = [MTLTextureDescriptor texture2DDescriptorWithPixelFormat:format
                                                                                          width:width
                                                                                         height:height
                                                                                      mipmapped:mipmapped];
    descriptor.usage = MTLTextureUsageShaderRead | MTLTextureUsageShaderWrite;
    id<MTLTexture> texture = [device newTextureWithDescriptor:descriptor];
    assert_non_null(texture);
    return texture;
}

static void fill(id<MTLTexture> texture, uint8_t *pixels) {
    for (NSUInteger i = 0; i < texture.width * texture.height * 4; i++) pixels[i] = (uint8_t)(i * 7);
    [texture replaceRegion:MTLRegionMake2D(0, 0, texture.width, texture.height)
               mipmapLevel:0
                 withBytes:pixels
               bytesPerRow:texture.width * 4];
}

static void run_blit(void (^encode)(id<MTLBlitCommandEncoder> encoder)) {
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
    encode(encoder);
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    assert_null(commands.error);
    [queue release];
}

// ---- Descriptors ----

static void descriptors_have_apples_defaults(void **state) {
    MTLTextureDescriptor *d = [[MTLTextureDescriptor alloc] init];
    assert_int_equal(d.textureType, MTLTextureType2D);
    assert_int_equal(d.pixelFormat, MTLPixelFormatRGBA8Unorm);
    assert_int_equal(d.width * d.height * d.depth * d.mipmapLevelCount * d.sampleCount * d.arrayLength, 1);
    assert_int_equal(d.usage, MTLTextureUsageShaderRead);
    assert_int_equal(d.swizzle.alpha, MTLTextureSwizzleAlpha);
    d.storageMode = MTLStorageModePrivate;
    d.cpuCacheMode = MTLCPUCacheModeWriteCombined;
    d.hazardTrackingMode = MTLHazardTrackingModeUntracked;
    assert_int_equal(d.resourceOptions, MTLResourceStorageModePrivate | MTLResourceCPUCacheModeWriteCombined |
                                            MTLResourceHazardTrackingModeUntracked);
    d.width = 9;
    MTLTextureDescriptor *copy = [d copy];
    assert_int_equal(copy.width, 9);
    assert_int_equal(copy.storageMode, MTLStorageModePrivate);
    [copy release];
    [d release];
    MTLTextureDescriptor *cube = [MTLTextureDescriptor textureCubeDescriptorWithPixelFormat:MTLPixelFormatR8Unorm
                                                                                       size:16
                                                                                  mipmapped:YES];
    assert_int_equal(cube.textureType, MTLTextureTypeCube);
    assert_int_equal(cube.mipmapLevelCount, 5);
    MTLSamplerDescriptor *s = [[MTLSamplerDescriptor alloc] init];
    assert_int_equal(s.maxAnisotropy, 1);
    assert_true(s.normalizedCoordinates);
    assert_true(s.lodMaxClamp > 1e38f);
    [s release];
}

// Numbers from Apple's documentation.
static void formats_have_apples_numbers(void **state) {
    assert_int_equal(MTLPixelFormatBGRA8Unorm_sRGB, 81);
    assert_int_equal(MTLPixelFormatRG11B10Float, 92);
    assert_int_equal(MTLPixelFormatRGBA32Float, 125);
    assert_int_equal(MTLPixelFormatASTC_12x12_HDR, 236);
    assert_int_equal(MTLPixelFormatDepth32Float_Stencil8, 260);
    assert_int_equal(MTLPixelFormatBGR10_XR_sRGB, 555);
}

static void what_cannot_be_is_nil(void **state) {
    MTLTextureDescriptor *d = [MTLTextureDescriptor texture2DDescriptorWithPixelFormat:MTLPixelFormatBC1_RGBA
                                                                                 width:16
                                                                                height:16
                                                                             mipmapped:NO];
    assert_null([device newTextureWithDescriptor:d]);
    d.pixelFormat = MTLPixelFormatR8Unorm;
    d.width = 0;
    assert_null([device newTextureWithDescriptor:d]);
    d.width = NSUIntegerMax;
    assert_null([device newTextureWithDescriptor:d]);
    d.width = 16;
    d.storageMode = MTLStorageModeMemoryless;
    assert_null([device newTextureWithDescriptor:d]);
    assert_null([device newTextureWithDescriptor:nil]);
    assert_null([device newSamplerStateWithDescriptor:nil]);
}

// ---- Pixels ----

static void pixels_are_replaced_and_read(void **state) {
    uint8_t pixels[8 * 4 * 4], part[2 * 2 * 4];
    id<MTLTexture> texture = new_texture(MTLPixelFormatRGBA8Unorm, 8, 4, NO);
    assert_int_equal(texture.width, 8);
    assert_int_equal(texture.height, 4);
    assert_int_equal(texture.depth, 1);
    assert_int_equal(texture.arrayLength, 1);
    assert_int_equal(texture.sampleCount, 1);
    assert_int_equal(texture.mipmapLevelCount, 1);
    assert_int_equal(texture.allocatedSize, sizeof pixels);
    assert_int_equal(texture.pixelFormat, MTLPixelFormatRGBA8Unorm);
    assert_int_equal(texture.usage, MTLTextureUsageShaderRead | MTLTextureUsageShaderWrite);
    assert_ptr_equal(texture.device, device);
    assert_null(texture.buffer);
    assert_null(texture.parentTexture);
    assert_true(texture.gpuResourceID._impl != 0);
    texture.label = @"picture";
    assert_text(texture.label, "picture");
    fill(texture, pixels);
    [texture getBytes:part bytesPerRow:8 fromRegion:MTLRegionMake2D(3, 1, 2, 2) mipmapLevel:0];
    assert_memory_equal(part, pixels + (8 + 3) * 4, 8);
    assert_memory_equal(part + 8, pixels + (16 + 3) * 4, 8);
    [texture release];
}

static void slices_of_an_array_are_separate(void **state) {
    MTLTextureDescriptor *d = [MTLTextureDescriptor texture2DDescriptorWithPixelFormat:MTLPixelFormatR8Uint
                                                                                 width:2
                                                                                height:1
                                                                             mipmapped:NO];
    d.textureType = MTLTextureType2DArray;
    d.arrayLength = 3;
    id<MTLTexture> texture = [device newTextureWithDescriptor:d];
    uint8_t pixels[2] = {5, 6}, read[2] = {0};
    [texture replaceRegion:MTLRegionMake2D(0, 0, 2, 1)
               mipmapLevel:0
                     slice:2
                 withBytes:pixels
               bytesPerRow:2
             bytesPerImage:2];
    MTLRegion all = MTLRegionMake2D(0, 0, 2, 1);
    [texture getBytes:read bytesPerRow:2 bytesPerImage:2 fromRegion:all mipmapLevel:0 slice:1];
    assert_int_equal(read[1], 0);
    [texture getBytes:read bytesPerRow:2 bytesPerImage:2 fromRegion:all mipmapLevel:0 slice:2];
    assert_int_equal(read[1], 6);
    [texture release];
}

static void a_texture_of_a_buffer_shares_its_memory(void **state) {
    id<MTLBuffer> buffer = new_words(64);
    MTLTextureDescriptor *d = [MTLTextureDescriptor texture2DDescriptorWithPixelFormat:MTLPixelFormatR32Uint
                                                                                 width:4
                                                                                height:3
                                                                             mipmapped:NO];
    id<MTLTexture> texture = [buffer newTextureWithDescriptor:d offset:64 bytesPerRow:32];
    assert_non_null(texture);
    assert_ptr_equal(texture.buffer, buffer);
    assert_int_equal(texture.bufferOffset, 64);
    assert_int_equal(texture.bufferBytesPerRow, 32);
    words_of(buffer)[16 + 8 + 2] = 77;
    uint32_t pixel = 0;
    [texture getBytes:&pixel bytesPerRow:4 fromRegion:MTLRegionMake2D(2, 1, 1, 1) mipmapLevel:0];
    assert_int_equal(pixel, 77);
    assert_null([buffer newTextureWithDescriptor:d offset:200 bytesPerRow:32]);
    assert_int_equal([device minimumLinearTextureAlignmentForPixelFormat:MTLPixelFormatR32Uint], 16);
    [buffer release];
    [texture release];
}

// ---- Views ----

static void views_show_the_same_pixels(void **state) {
    uint8_t pixels[8 * 8 * 4];
    id<MTLTexture> texture = new_texture(MTLPixelFormatRGBA8Unorm, 8, 8, YES);
    assert_int_equal(texture.mipmapLevelCount, 4);
    fill(texture, pixels);
    id<MTLTexture> words = [texture newTextureViewWithPixelFormat:MTLPixelFormatR32Uint];
    assert_int_equal(words.pixelFormat, MTLPixelFormatR32Uint);
    assert_ptr_equal(words.parentTexture, texture);
    uint32_t word;
    [words getBytes:&word bytesPerRow:4 fromRegion:MTLRegionMake2D(5, 2, 1, 1) mipmapLevel:0];
    assert_memory_equal(&word, pixels + (2 * 8 + 5) * 4, 4);
    id<MTLTexture> smaller = [texture newTextureViewWithPixelFormat:MTLPixelFormatRGBA8Unorm
                                                        textureType:MTLTextureType2D
                                                             levels:NSMakeRange(1, 2)
                                                             slices:NSMakeRange(0, 1)];
    assert_int_equal(smaller.width, 4);
    assert_int_equal(smaller.mipmapLevelCount, 2);
    assert_int_equal(smaller.parentRelativeLevel, 1);
    assert_null([texture newTextureViewWithPixelFormat:MTLPixelFormatR8Unorm]);
    assert_null([texture newTextureViewWithPixelFormat:MTLPixelFormatRGBA8Unorm
                                           textureType:MTLTextureType2D
                                                levels:NSMakeRange(3, 2)
                                                slices:NSMakeRange(0, 1)]);
    [words release];
    [smaller release];
    [texture release];
}

// ---- Copies ----

static void blits_copy_between_buffers_and_textures(void **state) {
    uint8_t pixels[8 * 8 * 4];
    id<MTLTexture> from = new_texture(MTLPixelFormatRGBA8Unorm, 8, 8, NO);
    id<MTLTexture> to = new_texture(MTLPixelFormatRGBA8Unorm, 8, 8, NO);
    id<MTLTexture> whole = new_texture(MTLPixelFormatRGBA8Unorm, 8, 8, NO);
    id<MTLBuffer> buffer = new_words(64);
    fill(from, pixels);
    run_blit(^(id<MTLBlitCommandEncoder> blit) {
      [blit copyFromTexture:from
                sourceSlice:0
                sourceLevel:0
               sourceOrigin:MTLOriginMake(1, 2, 0)
                 sourceSize:MTLSizeMake(4, 3, 1)
                  toTexture:to
           destinationSlice:0
           destinationLevel:0
          destinationOrigin:MTLOriginMake(0, 5, 0)];
      [blit copyFromTexture:to
                       sourceSlice:0
                       sourceLevel:0
                      sourceOrigin:MTLOriginMake(0, 5, 0)
                        sourceSize:MTLSizeMake(4, 3, 1)
                          toBuffer:buffer
                 destinationOffset:16
            destinationBytesPerRow:32
          destinationBytesPerImage:96];
      [blit copyFromBuffer:buffer
                 sourceOffset:16
            sourceBytesPerRow:32
          sourceBytesPerImage:96
                   sourceSize:MTLSizeMake(4, 3, 1)
                    toTexture:to
             destinationSlice:0
             destinationLevel:0
            destinationOrigin:MTLOriginMake(4, 0, 0)];
      [blit copyFromTexture:from toTexture:whole];
      [blit synchronizeTexture:whole slice:0 level:0];
      [blit optimizeContentsForGPUAccess:whole];
    });
    uint8_t row[16], all[sizeof pixels];
    assert_memory_equal((uint8_t *)[buffer contents] + 16 + 32, pixels + (3 * 8 + 1) * 4, 16);
    [to getBytes:row bytesPerRow:16 fromRegion:MTLRegionMake2D(4, 2, 4, 1) mipmapLevel:0];
    assert_memory_equal(row, pixels + (4 * 8 + 1) * 4, 16);
    [whole getBytes:all bytesPerRow:32 fromRegion:MTLRegionMake2D(0, 0, 8, 8) mipmapLevel:0];
    assert_memory_equal(all, pixels, sizeof all);
    [from release];
    [to release];
    [whole release];
    [buffer release];
}

static void mipmaps_are_averages(void **state) {
    id<MTLTexture> texture = new_texture(MTLPixelFormatR32Float, 4, 4, YES);
    float pixels[16], one;
    for (int i = 0; i < 16; i++) pixels[i] = (float)i;
    [texture replaceRegion:MTLRegionMake2D(0, 0, 4, 4) mipmapLevel:0 withBytes:pixels bytesPerRow:16];
    run_blit(^(id<MTLBlitCommandEncoder> blit) {
      [blit generateMipmapsForTexture:texture];
    });
    [texture getBytes:&one bytesPerRow:4 fromRegion:MTLRegionMake2D(0, 0, 1, 1) mipmapLevel:2];
    assert_true(one == 7.5f);
    [texture release];
}

// ---- Kernels ----

static const char halve_source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void halve(texture2d<float> in [[texture(0)]], texture2d<float, access::write> out [[texture(1)]],\n"
    "                  sampler s [[sampler(0)]], uint2 id [[thread_position_in_grid]]) {\n"
    "    out.write(in.sample(s, (float2(id) + 0.5f) / float2(out.get_width(), out.get_height())), id);\n"
    "}\n";

static void kernels_sample_and_write(void **state) {
    id<MTLComputePipelineState> pipeline = new_pipeline(halve_source, "halve");
    id<MTLTexture> in = new_texture(MTLPixelFormatR32Float, 4, 4, NO);
    id<MTLTexture> out = new_texture(MTLPixelFormatR32Float, 2, 2, NO);
    float pixels[16], halves[4];
    for (int i = 0; i < 16; i++) pixels[i] = (float)i;
    [in replaceRegion:MTLRegionMake2D(0, 0, 4, 4) mipmapLevel:0 withBytes:pixels bytesPerRow:16];
    MTLSamplerDescriptor *d = [[MTLSamplerDescriptor alloc] init];
    d.minFilter = d.magFilter = MTLSamplerMinMagFilterLinear;
    d.sAddressMode = d.tAddressMode = MTLSamplerAddressModeClampToEdge;
    d.label = @"linear";
    id<MTLSamplerState> sampler = [device newSamplerStateWithDescriptor:d];
    assert_text(sampler.label, "linear");
    assert_ptr_equal(sampler.device, device);
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:pipeline];
    const id<MTLTexture> both[] = {in, out};
    [encoder setTextures:both withRange:NSMakeRange(0, 2)];
    [encoder setSamplerState:sampler atIndex:0];
    [encoder dispatchThreads:MTLSizeMake(2, 2, 1) threadsPerThreadgroup:MTLSizeMake(2, 2, 1)];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    assert_null(commands.error);
    [out getBytes:halves bytesPerRow:8 fromRegion:MTLRegionMake2D(0, 0, 2, 2) mipmapLevel:0];
    const float expected[] = {2.5f, 4.5f, 10.5f, 12.5f};
    assert_memory_equal(halves, expected, sizeof expected);
    [d release];
    [sampler release];
    [in release];
    [out release];
    [queue release];
    [pipeline release];
}

enum { LEVELS = 4 };

// Samples the middle of each level, of which each has its number everywhere.
static NSString *sample_levels(id<MTLComputePipelineState> pipeline, id<MTLTexture> texture, float seen[LEVELS],
                               void (^set)(id<MTLComputeCommandEncoder> encoder)) {
    id<MTLBuffer> out = new_words(LEVELS);
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:pipeline];
    [encoder setTexture:texture atIndex:0];
    [encoder setBuffer:out offset:0 atIndex:0];
    set(encoder);
    [encoder dispatchThreads:MTLSizeMake(LEVELS, 1, 1) threadsPerThreadgroup:MTLSizeMake(LEVELS, 1, 1)];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    memcpy(seen, out.contents, LEVELS * sizeof(float));
    [out release];
    [queue release];
    return [commands.error localizedDescription];
}

static void samplers_are_set_with_other_clamps(void **state) {
    id<MTLComputePipelineState> pipeline = new_pipeline(
        "#include <metal_stdlib>\nusing namespace metal;\n"
        "kernel void levels(texture2d<float> t [[texture(0)]], sampler s [[sampler(1)]], device float *out "
        "[[buffer(0)]],\n"
        "                   uint i [[thread_position_in_grid]]) { out[i] = t.sample(s, float2(0.5), level(i)).x; }\n",
        "levels");
    id<MTLTexture> texture = new_texture(MTLPixelFormatR32Float, 8, 8, YES);
    for (NSUInteger level = 0; level < LEVELS; level++) {
        float pixels[64];
        for (int i = 0; i < 64; i++) pixels[i] = (float)level;
        [texture replaceRegion:MTLRegionMake2D(0, 0, 8u >> level, 8u >> level)
                   mipmapLevel:level
                     withBytes:pixels
                   bytesPerRow:(8u >> level) * sizeof(float)];
    }
    MTLSamplerDescriptor *d = [[[MTLSamplerDescriptor alloc] init] autorelease];
    d.mipFilter = MTLSamplerMipFilterLinear;
    d.lodMaxClamp = 2;
    d.lodAverage = YES;
    id<MTLSamplerState> sampler = [device newSamplerStateWithDescriptor:d];
    static const struct {
        float low, high, expected[LEVELS];
    } clamps[] = {{1, 2, {1, 1, 2, 2}},
                  {0, 0, {0, 0, 0, 0}},
                  {0, FLT_MAX, {0, 1, 2, 3}},
                  {2.5f, 9, {2.5f, 2.5f, 2.5f, 3}},
                  {0.5f, 1.5f, {0.5f, 1, 1.5f, 1.5f}}};
    float seen[LEVELS], own[LEVELS] = {0, 1, 2, 2};
    for (size_t i = 0; i < sizeof clamps / sizeof *clamps; i++) {
        float low = clamps[i].low, high = clamps[i].high;
        assert_null(sample_levels(pipeline, texture, seen, ^(id<MTLComputeCommandEncoder> encoder) {
          [encoder setSamplerState:sampler lodMinClamp:low lodMaxClamp:high atIndex:1];
        }));
        assert_memory_equal(seen, clamps[i].expected, sizeof seen);
        assert_null(sample_levels(pipeline, texture, seen, ^(id<MTLComputeCommandEncoder> encoder) {
          [encoder setSamplerStates:(const id<MTLSamplerState>[]){nil, sampler}
                       lodMinClamps:(const float[]){0, low}
                       lodMaxClamps:(const float[]){0, high}
                          withRange:NSMakeRange(0, 2)];
        }));
        assert_memory_equal(seen, clamps[i].expected, sizeof seen);
    }
    assert_null(sample_levels(pipeline, texture, seen, ^(id<MTLComputeCommandEncoder> encoder) {
      [encoder setSamplerState:sampler atIndex:1];
    }));
    assert_memory_equal(seen, own, sizeof seen);
    assert_contains(sample_levels(pipeline, texture, seen,
                                  ^(id<MTLComputeCommandEncoder> encoder) {
                                    [encoder setSamplerState:sampler lodMinClamp:-1 lodMaxClamp:2 atIndex:1];
                                  }),
                    "lod clamp");
    [sampler release];
    [texture release];
    [pipeline release];
}

static void indices_beyond_the_last_are_errors(void **state) {
    id<MTLTexture> texture = new_texture(MTLPixelFormatR8Unorm, 1, 1, NO);
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setTexture:nil atIndex:0];
    [encoder setTexture:texture atIndex:128];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    assert_contains([commands.error localizedDescription], "texture index 128");
    [queue release];
    [texture release];
}

// ---- Reflection ----

static void reflection_knows_textures(void **state) {
    id<MTLLibrary> library = new_library(
        "#include <metal_stdlib>\n"
        "using namespace metal;\n"
        "kernel void k(texture2d<half, access::write> a [[texture(0)]], depthcube<float> b [[texture(1)]],\n"
        "              array<texture2d<float>, 4> c [[texture(2)]], sampler s [[sampler(1)]]) {\n"
        "    a.write(half4(b.sample(s, float3(1)) + c[1].sample(s, float2(0)).x), uint2(0));\n"
        "}\n");
    id<MTLFunction> function = [library newFunctionWithName:@"k"];
    MTLComputePipelineReflection *reflection = nil;
    NSError *error = nil;
    id<MTLComputePipelineState> pipeline = [device newComputePipelineStateWithFunction:function
                                                                               options:MTLPipelineOptionArgumentInfo
                                                                            reflection:&reflection
                                                                                 error:&error];
    assert_non_null(pipeline);
    assert_int_equal([reflection.bindings count], 4);
    id<MTLTextureBinding> a = (id<MTLTextureBinding>)[reflection.bindings objectAtIndex:0];
    id<MTLTextureBinding> b = (id<MTLTextureBinding>)[reflection.bindings objectAtIndex:1];
    id<MTLTextureBinding> c = (id<MTLTextureBinding>)[reflection.bindings objectAtIndex:2];
    assert_int_equal(a.type, MTLBindingTypeTexture);
    assert_int_equal(a.access, MTLBindingAccessWriteOnly);
    assert_int_equal(a.textureType, MTLTextureType2D);
    assert_int_equal(a.textureDataType, MTLDataTypeHalf);
    assert_false([a isDepthTexture]);
    assert_int_equal(b.textureType, MTLTextureTypeCube);
    assert_true([b isDepthTexture]);
    assert_int_equal(c.arrayLength, 4);
    assert_int_equal(c.index, 2);
    id<MTLBinding> s = [reflection.bindings objectAtIndex:3];
    assert_int_equal(s.type, MTLBindingTypeSampler);
    assert_int_equal(s.index, 1);
    MTLArgument *argument = [reflection.arguments objectAtIndex:1];
    assert_int_equal(argument.textureType, MTLTextureTypeCube);
    assert_true(argument.isDepthTexture);
    [pipeline release];
    [function release];
    [library release];
}

int main(void) {
    const struct CMUnitTest tests[] = {
        compat_test(descriptors_have_apples_defaults),
        compat_test(formats_have_apples_numbers),
        compat_test(what_cannot_be_is_nil),
        compat_test(pixels_are_replaced_and_read),
        compat_test(slices_of_an_array_are_separate),
        compat_test(a_texture_of_a_buffer_shares_its_memory),
        compat_test(views_show_the_same_pixels),
        compat_test(blits_copy_between_buffers_and_textures),
        compat_test(mipmaps_are_averages),
        compat_test(kernels_sample_and_write),
        compat_test(samplers_are_set_with_other_clamps),
        compat_test(indices_beyond_the_last_are_errors),
        compat_test(reflection_knows_textures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
