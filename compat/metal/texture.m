// SPDX-License-Identifier: Apache-2.0
// Textures: pixels, views, and what Metal says of them.
#include "texture.h"

ig_texture *igi_texture_of(id<MTLTexture> texture) {
    return texture ? ((IGTexture *)texture)->_texture : NULL;
}

static BOOL fits(NSUInteger value) {
    return value <= UINT32_MAX;
}

// Metal and ig_texture_type have the same numbers.
_Static_assert((int)MTLTextureTypeCubeArray == (int)IG_TEXTURE_CUBE_ARRAY &&
                   (int)MTLTextureTypeTextureBuffer == (int)IG_TEXTURE_BUFFER,
               "the numbers of types");

static BOOL is_usual(MTLTextureSwizzleChannels s) {
    return s.red == MTLTextureSwizzleRed && s.green == MTLTextureSwizzleGreen && s.blue == MTLTextureSwizzleBlue &&
           s.alpha == MTLTextureSwizzleAlpha;
}

static void set_swizzle(ig_texture_view_desc *view, MTLTextureSwizzleChannels s) {
    const MTLTextureSwizzle channels[] = {s.red, s.green, s.blue, s.alpha};
    for (int i = 0; i < 4; i++) view->swizzle[i] = (ig_swizzle)(channels[i] + IG_SWIZZLE_ZERO);
}

// A texture that is created with a swizzle is a view of one without.
static ig_texture *swizzled(ig_texture *texture, const ig_texture_desc *desc, MTLTextureSwizzleChannels swizzle) {
    ig_texture_view_desc view = {.type = desc->type};
    ig_texture *made = NULL;
    set_swizzle(&view, swizzle);
    if (ig_texture_create_view(texture, &view, &made) != IG_STATUS_OK) made = NULL;
    ig_texture_release(texture);
    return made;
}

@interface IGTexture (Making)
- (id)initWithTexture:(ig_texture *)texture
               device:(IGDevice *)device
              options:(MTLResourceOptions)options
                usage:(MTLTextureUsage)usage
              swizzle:(MTLTextureSwizzleChannels)swizzle
               buffer:(id<MTLBuffer>)buffer;
- (id)viewOf:(IGTexture *)parent level:(NSUInteger)level slice:(NSUInteger)slice;
@end

id<MTLTexture> igi_new_texture(IGDevice *device, MTLTextureDescriptor *d, id<MTLBuffer> buffer, NSUInteger offset,
                               NSUInteger bytesPerRow) {
    if (!d || d.storageMode == MTLStorageModeMemoryless) return nil;
    if (!fits(d.width) || !fits(d.height) || !fits(d.depth) || !fits(d.arrayLength) || !fits(d.mipmapLevelCount) ||
        !fits(d.sampleCount) || !fits(d.pixelFormat) || d.textureType > MTLTextureTypeTextureBuffer)
        return nil;
    ig_texture_desc desc = {
        .type = (ig_texture_type)d.textureType,
        .format = (ig_pixel_format)d.pixelFormat,
        .width = (uint32_t)d.width,
        .height = (uint32_t)d.height,
        .depth = (uint32_t)d.depth,
        .array_length = (uint32_t)d.arrayLength,
        .levels = (uint32_t)d.mipmapLevelCount,
        .samples = (uint32_t)d.sampleCount,
        .buffer = igi_buffer_of(buffer),
        .offset = offset,
        .row_bytes = bytesPerRow,
    };
    ig_texture *texture;
    if (ig_texture_create(device->_device, &desc, &texture) != IG_STATUS_OK) return nil;
    if (!is_usual(d.swizzle) && !(texture = swizzled(texture, &desc, d.swizzle))) return nil;
    return [[IGTexture alloc] initWithTexture:texture
                                       device:device
                                      options:d.resourceOptions
                                        usage:d.usage
                                      swizzle:d.swizzle
                                       buffer:buffer];
}

@implementation IGTexture
- (id)initWithTexture:(ig_texture *)texture
               device:(IGDevice *)device
              options:(MTLResourceOptions)options
                usage:(MTLTextureUsage)usage
              swizzle:(MTLTextureSwizzleChannels)swizzle
               buffer:(id<MTLBuffer>)buffer {
    if (!(self = [super initWithDevice:device options:options])) return nil;
    _texture = texture;
    ig_texture_get_desc(texture, &_desc);
    _usage = usage;
    _swizzle = swizzle;
    _buffer = [buffer retain];
    return self;
}

- (id)viewOf:(IGTexture *)parent level:(NSUInteger)level slice:(NSUInteger)slice {
    _parent = [parent retain];
    _level = level;
    _slice = slice;
    return self;
}

- (void)dealloc {
    ig_texture_release(_texture);
    [_buffer release];
    [_parent release];
    [super dealloc];
}

// ---- What it is ----

- (MTLTextureType)textureType {
    return (MTLTextureType)_desc.type;
}

- (MTLPixelFormat)pixelFormat {
    return (MTLPixelFormat)_desc.format;
}

#define SIZE(name, field)                     \
    -(NSUInteger)name {                       \
        return _desc.field ? _desc.field : 1; \
    }
SIZE(width, width)
SIZE(height, height)
SIZE(depth, depth)
SIZE(arrayLength, array_length)
SIZE(mipmapLevelCount, levels)
SIZE(sampleCount, samples)

- (MTLTextureUsage)usage {
    return _usage;
}

- (MTLTextureSwizzleChannels)swizzle {
    return _swizzle;
}

- (MTLResourceID)gpuResourceID {
    return (MTLResourceID){ig_texture_resource_id(_texture)};
}

- (id<MTLResource>)rootResource {
    if (_parent) return [_parent rootResource] ? [_parent rootResource] : (id<MTLResource>)_parent;
    return (id<MTLResource>)_buffer;
}

- (id<MTLTexture>)parentTexture {
    return _parent;
}

- (NSUInteger)parentRelativeLevel {
    return _level;
}

- (NSUInteger)parentRelativeSlice {
    return _slice;
}

- (id<MTLBuffer>)buffer {
    return _buffer;
}

- (NSUInteger)bufferOffset {
    return _buffer ? _desc.offset : 0;
}

- (NSUInteger)bufferBytesPerRow {
    return _buffer ? _desc.row_bytes : 0;
}

// ---- What the software device does not have ----

- (IOSurfaceRef)iosurface {
    return NULL;
}

#define NOTHING(type, name) \
    -(type)name {           \
        return 0;           \
    }
NOTHING(NSUInteger, iosurfacePlane)
NOTHING(BOOL, isShareable)
NOTHING(BOOL, isFramebufferOnly)
NOTHING(NSUInteger, firstMipmapInTail)
NOTHING(NSUInteger, tailSizeInBytes)
NOTHING(BOOL, isSparse)
NOTHING(id<MTLTexture>, remoteStorageTexture)
NOTHING(MTLSharedTextureHandle *, newSharedTextureHandle)

- (BOOL)allowGPUOptimizedContents {
    return YES;
}

- (MTLTextureCompressionType)compressionType {
    return MTLTextureCompressionTypeLossless;
}

- (id<MTLTexture>)newRemoteTextureViewForDevice:(id<MTLDevice>)device {
    return nil;
}

// ---- Pixels ----

- (ig_region)region:(MTLRegion)region level:(NSUInteger)level slice:(NSUInteger)slice {
    return (ig_region){(uint32_t)region.origin.x,
                       (uint32_t)region.origin.y,
                       (uint32_t)region.origin.z,
                       (uint32_t)region.size.width,
                       (uint32_t)region.size.height,
                       (uint32_t)region.size.depth,
                       (uint32_t)level,
                       (uint32_t)slice};
}

// Where Metal's validation would stop the program, nothing is copied.
static BOOL has_pixels(MTLRegion region) {
    return region.size.width && region.size.height && region.size.depth && fits(region.origin.x) &&
           fits(region.origin.y) && fits(region.origin.z) && fits(region.size.width) && fits(region.size.height) &&
           fits(region.size.depth);
}

- (void)getBytes:(void *)pixelBytes
      bytesPerRow:(NSUInteger)bytesPerRow
    bytesPerImage:(NSUInteger)bytesPerImage
       fromRegion:(MTLRegion)region
      mipmapLevel:(NSUInteger)level
            slice:(NSUInteger)slice {
    ig_region from = [self region:region level:level slice:slice];
    if (has_pixels(region)) (void)ig_texture_read(_texture, &from, pixelBytes, bytesPerRow, bytesPerImage);
}

- (void)getBytes:(void *)pixelBytes
     bytesPerRow:(NSUInteger)bytesPerRow
      fromRegion:(MTLRegion)region
     mipmapLevel:(NSUInteger)level {
    [self getBytes:pixelBytes bytesPerRow:bytesPerRow bytesPerImage:0 fromRegion:region mipmapLevel:level slice:0];
}

- (void)replaceRegion:(MTLRegion)region
          mipmapLevel:(NSUInteger)level
                slice:(NSUInteger)slice
            withBytes:(const void *)pixelBytes
          bytesPerRow:(NSUInteger)bytesPerRow
        bytesPerImage:(NSUInteger)bytesPerImage {
    ig_region to = [self region:region level:level slice:slice];
    if (has_pixels(region)) (void)ig_texture_write(_texture, &to, pixelBytes, bytesPerRow, bytesPerImage);
}

- (void)replaceRegion:(MTLRegion)region
          mipmapLevel:(NSUInteger)level
            withBytes:(const void *)pixelBytes
          bytesPerRow:(NSUInteger)bytesPerRow {
    [self replaceRegion:region mipmapLevel:level slice:0 withBytes:pixelBytes bytesPerRow:bytesPerRow bytesPerImage:0];
}

// ---- Views ----

- (id<MTLTexture>)newViewWithDesc:(ig_texture_view_desc)desc swizzle:(MTLTextureSwizzleChannels)swizzle {
    ig_texture *view;
    if (ig_texture_create_view(_texture, &desc, &view) != IG_STATUS_OK) return nil;
    IGTexture *made = [[IGTexture alloc] initWithTexture:view
                                                  device:_device
                                                 options:_options
                                                   usage:_usage
                                                 swizzle:swizzle
                                                  buffer:_buffer];
    return [made viewOf:self level:desc.level slice:desc.layer];
}

- (id<MTLTexture>)newTextureViewWithPixelFormat:(MTLPixelFormat)pixelFormat {
    if (!fits(pixelFormat)) return nil;
    ig_texture_view_desc desc = {.format = (ig_pixel_format)pixelFormat, .type = _desc.type};
    if (!is_usual(_swizzle)) set_swizzle(&desc, _swizzle);
    return [self newViewWithDesc:desc swizzle:_swizzle];
}

- (id<MTLTexture>)newTextureViewWithPixelFormat:(MTLPixelFormat)pixelFormat
                                    textureType:(MTLTextureType)textureType
                                         levels:(NSRange)levels
                                         slices:(NSRange)slices
                                        swizzle:(MTLTextureSwizzleChannels)swizzle {
    if (!fits(pixelFormat) || textureType > MTLTextureTypeTextureBuffer || !levels.length || !slices.length ||
        !fits(levels.location) || !fits(levels.length) || !fits(slices.location) || !fits(slices.length))
        return nil;
    ig_texture_view_desc desc = {.format = (ig_pixel_format)pixelFormat,
                                 .type = (ig_texture_type)textureType,
                                 .level = (uint32_t)levels.location,
                                 .levels = (uint32_t)levels.length,
                                 .layer = (uint32_t)slices.location,
                                 .layers = (uint32_t)slices.length};
    if (!is_usual(swizzle)) set_swizzle(&desc, swizzle);
    return [self newViewWithDesc:desc swizzle:swizzle];
}

- (id<MTLTexture>)newTextureViewWithPixelFormat:(MTLPixelFormat)pixelFormat
                                    textureType:(MTLTextureType)textureType
                                         levels:(NSRange)levels
                                         slices:(NSRange)slices {
    return [self newTextureViewWithPixelFormat:pixelFormat
                                   textureType:textureType
                                        levels:levels
                                        slices:slices
                                       swizzle:MTLTextureSwizzleChannelsDefault];
}

- (id<MTLTexture>)newTextureViewWithDescriptor:(MTLTextureViewDescriptor *)d {
    if (!d || !fits(d.pixelFormat) || d.textureType > MTLTextureTypeTextureBuffer || !fits(d.levelRange.location) ||
        !fits(d.levelRange.length) || !fits(d.sliceRange.location) || !fits(d.sliceRange.length))
        return nil;
    ig_texture_view_desc desc = {.format = (ig_pixel_format)d.pixelFormat,
                                 .type = (ig_texture_type)d.textureType,
                                 .level = (uint32_t)d.levelRange.location,
                                 .levels = (uint32_t)d.levelRange.length,
                                 .layer = (uint32_t)d.sliceRange.location,
                                 .layers = (uint32_t)d.sliceRange.length};
    if (!is_usual(d.swizzle)) set_swizzle(&desc, d.swizzle);
    return [self newViewWithDesc:desc swizzle:d.swizzle];
}

// ---- Resource ----

// The bytes of all levels and layers, without padding.
- (NSUInteger)allocatedSize {
    NSUInteger bytes = 0, pixel = ig_pixel_format_bytes(_desc.format);
    BOOL cube = _desc.type == IG_TEXTURE_CUBE || _desc.type == IG_TEXTURE_CUBE_ARRAY;
    for (uint32_t level = 0; level < [self mipmapLevelCount]; level++)
        bytes += MAX(self.width >> level, 1u) * MAX(self.height >> level, 1u) * MAX(self.depth >> level, 1u) * pixel;
    return bytes * self.arrayLength * self.sampleCount * (cube ? 6 : 1);
}
@end
