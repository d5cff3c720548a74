// SPDX-License-Identifier: Apache-2.0
// Metal's textures and samplers.
#include <assert.h>
#include <float.h>
#include <string.h>

#include "device/metal/metal.h"

// ---- Making ----

// Textures that host and GPU share need unified memory; elsewhere copies are kept in step.
static MTLStorageMode storage_of(id<MTLDevice> device) {
    return [device hasUnifiedMemory] ? MTLStorageModeShared : MTLStorageModeManaged;
}

// Formats and types have Metal's numbers.
static MTLTextureDescriptor *describe(id<MTLDevice> device, const ig_texture_desc *desc) {
    MTLTextureDescriptor *d = [[[MTLTextureDescriptor alloc] init] autorelease];
    [d setTextureType:(MTLTextureType)desc->type];
    [d setPixelFormat:(MTLPixelFormat)desc->format];
    [d setWidth:desc->width];
    [d setHeight:desc->height];
    [d setDepth:desc->depth];
    [d setArrayLength:desc->array_length];
    [d setMipmapLevelCount:desc->levels];
    [d setSampleCount:desc->samples];
    [d setUsage:MTLTextureUsageShaderRead | MTLTextureUsageShaderWrite | MTLTextureUsagePixelFormatView];
    [d setStorageMode:storage_of(device)];
    return d;
}

// The plugin has the headers of src/device, not its functions.
static uint64_t pixel_bytes_of(const ig_texture *texture) {
    return 1u << (texture->shown.layout & 7);
}

static uint32_t at_level(uint32_t whole, uint32_t level) {
    return whole >> level ? whole >> level : 1;
}

// The pixels are in the buffer's memory.
static id<MTLTexture> make_in_buffer(id<MTLDevice> device, const ig_texture_desc *desc, uint64_t pixel_bytes) {
    const metal_buffer *buffer = igi_metal_buffer(desc->buffer);
    MTLTextureDescriptor *d = describe(device, desc);
    [d setResourceOptions:[buffer->buffer resourceOptions]];
    uint64_t row = desc->row_bytes ? desc->row_bytes : (uint64_t)desc->width * pixel_bytes;
    return [buffer->buffer newTextureWithDescriptor:d offset:buffer->base + desc->offset bytesPerRow:row];
}

static MTLTextureSwizzle swizzle_of(ig_swizzle swizzle, MTLTextureSwizzle same) {
    return swizzle == IG_SWIZZLE_SAME ? same : (MTLTextureSwizzle)(swizzle - IG_SWIZZLE_ZERO);
}

static id<MTLTexture> make_view(const ig_texture *from, const ig_texture_view_desc *view) {
    MTLTextureSwizzleChannels channels = MTLTextureSwizzleChannelsMake(
        swizzle_of(view->swizzle[0], MTLTextureSwizzleRed), swizzle_of(view->swizzle[1], MTLTextureSwizzleGreen),
        swizzle_of(view->swizzle[2], MTLTextureSwizzleBlue), swizzle_of(view->swizzle[3], MTLTextureSwizzleAlpha));
    return [igi_metal_texture(from) newTextureViewWithPixelFormat:(MTLPixelFormat)view->format
                                                      textureType:(MTLTextureType)view->type
                                                           levels:NSMakeRange(view->level, view->levels)
                                                           slices:NSMakeRange(view->layer, view->layers)
                                                          swizzle:channels];
}

// New textures are zero here; Metal does not promise it.
static void clear(ig_texture *texture) {
    for (uint32_t level = 0; level < texture->desc.levels && texture->desc.samples == 1; level++) {
        ig_region all = {.width = at_level(texture->desc.width, level),
                         .height = at_level(texture->desc.height, level),
                         .depth = at_level(texture->desc.depth, level),
                         .level = level};
        uint64_t row = all.width * pixel_bytes_of(texture), plane = row * all.height;
        void *zeros = igi_calloc(all.depth, plane);
        for (all.layer = 0; zeros && all.layer < texture->shown.layers; all.layer++)
            igi_metal_texture_write(texture, &all, zeros, row, plane);
        free(zeros);
    }
}

bool igi_metal_texture_open(ig_texture *texture, const ig_texture *from, const ig_texture_view_desc *view) {
    @autoreleasepool {
        id<MTLDevice> device = igi_metal(texture->device)->device;
        const ig_texture_desc *desc = &texture->desc;
        id<MTLTexture> made = from           ? make_view(from, view)
                              : desc->buffer ? make_in_buffer(device, desc, pixel_bytes_of(texture))
                                             : [device newTextureWithDescriptor:describe(device, desc)];
        texture->state = made;
        if (made && !from && !desc->buffer) clear(texture);
        return made != nil;
    }
}

void igi_metal_texture_close(ig_texture *texture) {
    [igi_metal_texture(texture) release];
}

static uint64_t bits_of(MTLResourceID resource) {
    uint64_t bits;
    static_assert(sizeof bits == sizeof resource, "argument buffers hold 8 bytes");
    memcpy(&bits, &resource, sizeof bits);
    return bits;
}

uint64_t igi_metal_texture_resource_id(const ig_texture *texture) {
    return bits_of([igi_metal_texture(texture) gpuResourceID]);
}

// ---- Pixels ----

static MTLRegion region_of(const ig_region *r) {
    return MTLRegionMake3D(r->x, r->y, r->z, r->width, r->height, r->depth);
}

// Metal wants 0 where there is only one plane.
static uint64_t image_bytes(const ig_texture *texture, uint64_t plane_bytes) {
    return texture->desc.type == IG_TEXTURE_3D ? plane_bytes : 0;
}

void igi_metal_texture_write(ig_texture *texture, const ig_region *region, const void *bytes, uint64_t row_bytes,
                             uint64_t plane_bytes) {
    [igi_metal_texture(texture) replaceRegion:region_of(region)
                                  mipmapLevel:region->level
                                        slice:region->layer
                                    withBytes:bytes
                                  bytesPerRow:row_bytes
                                bytesPerImage:image_bytes(texture, plane_bytes)];
}

void igi_metal_texture_read(const ig_texture *texture, const ig_region *region, void *bytes, uint64_t row_bytes,
                            uint64_t plane_bytes) {
    [igi_metal_texture(texture) getBytes:bytes
                             bytesPerRow:row_bytes
                           bytesPerImage:image_bytes(texture, plane_bytes)
                              fromRegion:region_of(region)
                             mipmapLevel:region->level
                                   slice:region->layer];
}

// ---- Copies ----

static MTLOrigin origin_of(const ig_region *r) {
    return MTLOriginMake(r->x, r->y, r->z);
}

static MTLSize size_of(const ig_region *r) {
    return MTLSizeMake(r->width, r->height, r->depth);
}

void igi_metal_encode_pixels(id<MTLBlitCommandEncoder> blit, const igi_device_pixel_copy *copy) {
    const ig_region *read = &copy->read, *written = &copy->written;
    const metal_buffer *buffer = copy->buffer ? igi_metal_buffer(copy->buffer) : NULL;
    if (copy->source && copy->target)
        [blit copyFromTexture:igi_metal_texture(copy->source)
                  sourceSlice:read->layer
                  sourceLevel:read->level
                 sourceOrigin:origin_of(read)
                   sourceSize:size_of(read)
                    toTexture:igi_metal_texture(copy->target)
             destinationSlice:written->layer
             destinationLevel:written->level
            destinationOrigin:origin_of(written)];
    else if (copy->source)
        [blit copyFromTexture:igi_metal_texture(copy->source)
                         sourceSlice:read->layer
                         sourceLevel:read->level
                        sourceOrigin:origin_of(read)
                          sourceSize:size_of(read)
                            toBuffer:buffer->buffer
                   destinationOffset:buffer->base + copy->offset
              destinationBytesPerRow:copy->to.row_bytes
            destinationBytesPerImage:copy->to.plane_bytes];
    else
        [blit copyFromBuffer:buffer->buffer
                   sourceOffset:buffer->base + copy->offset
              sourceBytesPerRow:copy->from.row_bytes
            sourceBytesPerImage:copy->from.plane_bytes
                     sourceSize:size_of(written)
                      toTexture:igi_metal_texture(copy->target)
               destinationSlice:written->layer
               destinationLevel:written->level
              destinationOrigin:origin_of(written)];
}

// ---- Samplers ----

static const MTLSamplerAddressMode address_modes[] = {
    [IG_ADDRESS_CLAMP_TO_EDGE] = MTLSamplerAddressModeClampToEdge,
    [IG_ADDRESS_REPEAT] = MTLSamplerAddressModeRepeat,
    [IG_ADDRESS_MIRRORED_REPEAT] = MTLSamplerAddressModeMirrorRepeat,
    [IG_ADDRESS_CLAMP_TO_ZERO] = MTLSamplerAddressModeClampToZero,
    [IG_ADDRESS_CLAMP_TO_BORDER] = MTLSamplerAddressModeClampToBorderColor,
    [IG_ADDRESS_MIRROR_CLAMP_TO_EDGE] = MTLSamplerAddressModeMirrorClampToEdge,
};
static const MTLCompareFunction comparisons[] = {
    [IG_COMPARE_NEVER] = MTLCompareFunctionNever,
    [IG_COMPARE_LESS] = MTLCompareFunctionLess,
    [IG_COMPARE_LESS_EQUAL] = MTLCompareFunctionLessEqual,
    [IG_COMPARE_GREATER] = MTLCompareFunctionGreater,
    [IG_COMPARE_GREATER_EQUAL] = MTLCompareFunctionGreaterEqual,
    [IG_COMPARE_EQUAL] = MTLCompareFunctionEqual,
    [IG_COMPARE_NOT_EQUAL] = MTLCompareFunctionNotEqual,
    [IG_COMPARE_ALWAYS] = MTLCompareFunctionAlways,
};

bool igi_metal_sampler_open(ig_texture_sampler *sampler, const ig_texture_sampler_desc *desc) {
    @autoreleasepool {
        MTLSamplerDescriptor *d = [[[MTLSamplerDescriptor alloc] init] autorelease];
        [d setSAddressMode:address_modes[desc->s]];
        [d setTAddressMode:address_modes[desc->t]];
        [d setRAddressMode:address_modes[desc->r]];
        [d setMinFilter:(MTLSamplerMinMagFilter)desc->min_filter];
        [d setMagFilter:(MTLSamplerMinMagFilter)desc->mag_filter];
        [d setMipFilter:(MTLSamplerMipFilter)desc->mip_filter];
        [d setNormalizedCoordinates:!desc->pixel_coordinates];
        [d setCompareFunction:comparisons[desc->compare]];
        [d setBorderColor:(MTLSamplerBorderColor)desc->border];
        [d setMaxAnisotropy:desc->max_anisotropy ? desc->max_anisotropy : 1];
        [d setLodMinClamp:desc->lod_min];
        [d setLodMaxClamp:desc->lod_max > 0 ? desc->lod_max : FLT_MAX];
        [d setLodAverage:desc->lod_average];
        [d setSupportArgumentBuffers:YES];
        sampler->own = [igi_metal(sampler->device)->device newSamplerStateWithDescriptor:d];
    }
    return sampler->own;
}

void igi_metal_sampler_close(ig_texture_sampler *sampler) {
    [igi_metal_sampler(sampler) release];
}

uint64_t igi_metal_sampler_resource_id(const ig_texture_sampler *sampler) {
    return bits_of([igi_metal_sampler(sampler) gpuResourceID]);
}
