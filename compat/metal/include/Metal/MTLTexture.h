// SPDX-License-Identifier: Apache-2.0
// Pictures that kernels read, write and sample.
#ifndef INGOT_METAL_TEXTURE_H
#define INGOT_METAL_TEXTURE_H

#import <IOSurface/IOSurfaceRef.h>
#import <Metal/MTLPixelFormat.h>
#import <Metal/MTLResource.h>
#import <Metal/MTLTypes.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLBuffer;
@class MTLSharedTextureHandle;

typedef NS_ENUM(NSUInteger, MTLTextureType) {
    MTLTextureType1D = 0,
    MTLTextureType1DArray = 1,
    MTLTextureType2D = 2,
    MTLTextureType2DArray = 3,
    MTLTextureType2DMultisample = 4,
    MTLTextureTypeCube = 5,
    MTLTextureTypeCubeArray = 6,
    MTLTextureType3D = 7,
    MTLTextureType2DMultisampleArray = 8,
    MTLTextureTypeTextureBuffer = 9,
};

typedef NS_ENUM(uint8_t, MTLTextureSwizzle) {
    MTLTextureSwizzleZero = 0,
    MTLTextureSwizzleOne = 1,
    MTLTextureSwizzleRed = 2,
    MTLTextureSwizzleGreen = 3,
    MTLTextureSwizzleBlue = 4,
    MTLTextureSwizzleAlpha = 5,
};

typedef struct {
    MTLTextureSwizzle red, green, blue, alpha;
} MTLTextureSwizzleChannels;

MTL_INLINE MTLTextureSwizzleChannels MTLTextureSwizzleChannelsMake(MTLTextureSwizzle red, MTLTextureSwizzle green,
                                                                   MTLTextureSwizzle blue, MTLTextureSwizzle alpha) {
    MTLTextureSwizzleChannels channels = {red, green, blue, alpha};
    return channels;
}

#define MTLTextureSwizzleChannelsDefault                                                                \
    (MTLTextureSwizzleChannelsMake(MTLTextureSwizzleRed, MTLTextureSwizzleGreen, MTLTextureSwizzleBlue, \
                                   MTLTextureSwizzleAlpha))

typedef NS_OPTIONS(NSUInteger, MTLTextureUsage) {
    MTLTextureUsageUnknown = 0,
    MTLTextureUsageShaderRead = 1,
    MTLTextureUsageShaderWrite = 2,
    MTLTextureUsageRenderTarget = 4,
    MTLTextureUsagePixelFormatView = 16,
    MTLTextureUsageShaderAtomic = 32,
};

typedef NS_ENUM(NSInteger, MTLTextureCompressionType) {
    MTLTextureCompressionTypeLossless = 0,
    MTLTextureCompressionTypeLossy = 1,
};

MTL_EXPORT
@interface MTLTextureDescriptor : NSObject <NSCopying> {
    MTLTextureType _textureType;
    MTLPixelFormat _pixelFormat;
    NSUInteger _width, _height, _depth, _mipmapLevelCount, _sampleCount, _arrayLength;
    MTLResourceOptions _resourceOptions;
    MTLTextureUsage _usage;
    BOOL _allowGPUOptimizedContents;
    MTLTextureCompressionType _compressionType;
    MTLTextureSwizzleChannels _swizzle;
}
+ (MTLTextureDescriptor *)texture2DDescriptorWithPixelFormat:(MTLPixelFormat)pixelFormat
                                                       width:(NSUInteger)width
                                                      height:(NSUInteger)height
                                                   mipmapped:(BOOL)mipmapped;
+ (MTLTextureDescriptor *)textureCubeDescriptorWithPixelFormat:(MTLPixelFormat)pixelFormat
                                                          size:(NSUInteger)size
                                                     mipmapped:(BOOL)mipmapped;
+ (MTLTextureDescriptor *)textureBufferDescriptorWithPixelFormat:(MTLPixelFormat)pixelFormat
                                                           width:(NSUInteger)width
                                                 resourceOptions:(MTLResourceOptions)resourceOptions
                                                           usage:(MTLTextureUsage)usage;
@property (readwrite, nonatomic) MTLTextureType textureType;
@property (readwrite, nonatomic) MTLPixelFormat pixelFormat;
@property (readwrite, nonatomic) NSUInteger width;
@property (readwrite, nonatomic) NSUInteger height;
@property (readwrite, nonatomic) NSUInteger depth;
@property (readwrite, nonatomic) NSUInteger mipmapLevelCount;
@property (readwrite, nonatomic) NSUInteger sampleCount;
@property (readwrite, nonatomic) NSUInteger arrayLength;
@property (readwrite, nonatomic) MTLResourceOptions resourceOptions;
@property (readwrite, nonatomic) MTLCPUCacheMode cpuCacheMode;
@property (readwrite, nonatomic) MTLStorageMode storageMode;
@property (readwrite, nonatomic) MTLHazardTrackingMode hazardTrackingMode;
@property (readwrite, nonatomic) MTLTextureUsage usage;
@property (readwrite, nonatomic) BOOL allowGPUOptimizedContents;
@property (readwrite, nonatomic) MTLTextureCompressionType compressionType;
@property (readwrite, nonatomic) MTLTextureSwizzleChannels swizzle;
@end

// Ranges without a length: all that follow.
MTL_EXPORT
@interface MTLTextureViewDescriptor : NSObject <NSCopying> {
    MTLPixelFormat _pixelFormat;
    MTLTextureType _textureType;
    NSRange _levelRange, _sliceRange;
    MTLTextureSwizzleChannels _swizzle;
}
@property (nonatomic) MTLPixelFormat pixelFormat;  // MTLPixelFormatInvalid: that of the texture
@property (nonatomic) MTLTextureType textureType;
@property (nonatomic) NSRange levelRange;
@property (nonatomic) NSRange sliceRange;
@property (nonatomic) MTLTextureSwizzleChannels swizzle;
@end

@protocol MTLTexture <MTLResource>
@property (nullable, readonly) id<MTLResource> rootResource;
@property (nullable, readonly) id<MTLTexture> parentTexture;
@property (readonly) NSUInteger parentRelativeLevel;
@property (readonly) NSUInteger parentRelativeSlice;
@property (nullable, readonly) id<MTLBuffer> buffer;
@property (readonly) NSUInteger bufferOffset;
@property (readonly) NSUInteger bufferBytesPerRow;
@property (nullable, readonly) IOSurfaceRef iosurface;
@property (readonly) NSUInteger iosurfacePlane;
@property (readonly) MTLTextureType textureType;
@property (readonly) MTLPixelFormat pixelFormat;
@property (readonly) NSUInteger width;
@property (readonly) NSUInteger height;
@property (readonly) NSUInteger depth;
@property (readonly) NSUInteger mipmapLevelCount;
@property (readonly) NSUInteger sampleCount;
@property (readonly) NSUInteger arrayLength;
@property (readonly) MTLTextureUsage usage;
@property (readonly, getter=isShareable) BOOL shareable;
@property (readonly, getter=isFramebufferOnly) BOOL framebufferOnly;
@property (readonly) NSUInteger firstMipmapInTail;
@property (readonly) NSUInteger tailSizeInBytes;
@property (readonly) BOOL isSparse;
@property (readonly) BOOL allowGPUOptimizedContents;
@property (readonly) MTLTextureCompressionType compressionType;
@property (readonly) MTLResourceID gpuResourceID;
@property (readonly) MTLTextureSwizzleChannels swizzle;
@property (nullable, readonly) id<MTLTexture> remoteStorageTexture;
- (void)getBytes:(void *)pixelBytes
      bytesPerRow:(NSUInteger)bytesPerRow
    bytesPerImage:(NSUInteger)bytesPerImage
       fromRegion:(MTLRegion)region
      mipmapLevel:(NSUInteger)level
            slice:(NSUInteger)slice;
- (void)getBytes:(void *)pixelBytes
     bytesPerRow:(NSUInteger)bytesPerRow
      fromRegion:(MTLRegion)region
     mipmapLevel:(NSUInteger)level;
- (void)replaceRegion:(MTLRegion)region
          mipmapLevel:(NSUInteger)level
                slice:(NSUInteger)slice
            withBytes:(const void *)pixelBytes
          bytesPerRow:(NSUInteger)bytesPerRow
        bytesPerImage:(NSUInteger)bytesPerImage;
- (void)replaceRegion:(MTLRegion)region
          mipmapLevel:(NSUInteger)level
            withBytes:(const void *)pixelBytes
          bytesPerRow:(NSUInteger)bytesPerRow;
- (nullable id<MTLTexture>)newTextureViewWithPixelFormat:(MTLPixelFormat)pixelFormat;
- (nullable id<MTLTexture>)newTextureViewWithPixelFormat:(MTLPixelFormat)pixelFormat
                                             textureType:(MTLTextureType)textureType
                                                  levels:(NSRange)levelRange
                                                  slices:(NSRange)sliceRange;
- (nullable id<MTLTexture>)newTextureViewWithPixelFormat:(MTLPixelFormat)pixelFormat
                                             textureType:(MTLTextureType)textureType
                                                  levels:(NSRange)levelRange
                                                  slices:(NSRange)sliceRange
                                                 swizzle:(MTLTextureSwizzleChannels)swizzle;
- (nullable id<MTLTexture>)newTextureViewWithDescriptor:(MTLTextureViewDescriptor *)descriptor;
- (nullable MTLSharedTextureHandle *)newSharedTextureHandle;                     // nil here
- (nullable id<MTLTexture>)newRemoteTextureViewForDevice:(id<MTLDevice>)device;  // nil here
@end

NS_ASSUME_NONNULL_END

#endif
