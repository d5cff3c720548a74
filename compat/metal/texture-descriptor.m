// SPDX-License-Identifier: Apache-2.0
// Descriptors of textures and samplers, which only store what is put into them.
#include <float.h>
#include <string.h>

#include "resource.h"

static NSUInteger levels_of(NSUInteger side) {
    NSUInteger levels = 1;
    while (side >>= 1) levels++;
    return levels;
}

@implementation MTLTextureDescriptor
@synthesize textureType = _textureType, pixelFormat = _pixelFormat, width = _width, height = _height, depth = _depth,
            mipmapLevelCount = _mipmapLevelCount, sampleCount = _sampleCount, arrayLength = _arrayLength,
            resourceOptions = _resourceOptions, usage = _usage, allowGPUOptimizedContents = _allowGPUOptimizedContents,
            compressionType = _compressionType, swizzle = _swizzle;

- (id)init {
    if (!(self = [super init])) return nil;
    _textureType = MTLTextureType2D;
    _pixelFormat = MTLPixelFormatRGBA8Unorm;
    _width = _height = _depth = _mipmapLevelCount = _sampleCount = _arrayLength = 1;
    _usage = MTLTextureUsageShaderRead;
    _allowGPUOptimizedContents = YES;
    _swizzle = MTLTextureSwizzleChannelsDefault;
    return self;
}

+ (MTLTextureDescriptor *)texture2DDescriptorWithPixelFormat:(MTLPixelFormat)pixelFormat
                                                       width:(NSUInteger)width
                                                      height:(NSUInteger)height
                                                   mipmapped:(BOOL)mipmapped {
    MTLTextureDescriptor *made = igi_autoreleased([[self alloc] init]);
    made.pixelFormat = pixelFormat;
    made.width = width;
    made.height = height;
    if (mipmapped) made.mipmapLevelCount = levels_of(MAX(width, height));
    return made;
}

+ (MTLTextureDescriptor *)textureCubeDescriptorWithPixelFormat:(MTLPixelFormat)pixelFormat
                                                          size:(NSUInteger)size
                                                     mipmapped:(BOOL)mipmapped {
    MTLTextureDescriptor *made = [self texture2DDescriptorWithPixelFormat:pixelFormat
                                                                    width:size
                                                                   height:size
                                                                mipmapped:mipmapped];
    made.textureType = MTLTextureTypeCube;
    return made;
}

+ (MTLTextureDescriptor *)textureBufferDescriptorWithPixelFormat:(MTLPixelFormat)pixelFormat
                                                           width:(NSUInteger)width
                                                 resourceOptions:(MTLResourceOptions)resourceOptions
                                                           usage:(MTLTextureUsage)usage {
    MTLTextureDescriptor *made = [self texture2DDescriptorWithPixelFormat:pixelFormat
                                                                    width:width
                                                                   height:1
                                                                mipmapped:NO];
    made.textureType = MTLTextureTypeTextureBuffer;
    made.resourceOptions = resourceOptions;
    made.usage = usage;
    return made;
}

IGI_OPTION_PARTS

- (id)copyWithZone:(NSZone *)zone {
    MTLTextureDescriptor *copy = [[[self class] allocWithZone:zone] init];
    copy.textureType = _textureType;
    copy.pixelFormat = _pixelFormat;
    copy.width = _width;
    copy.height = _height;
    copy.depth = _depth;
    copy.mipmapLevelCount = _mipmapLevelCount;
    copy.sampleCount = _sampleCount;
    copy.arrayLength = _arrayLength;
    copy.resourceOptions = _resourceOptions;
    copy.usage = _usage;
    copy.allowGPUOptimizedContents = _allowGPUOptimizedContents;
    copy.compressionType = _compressionType;
    copy.swizzle = _swizzle;
    return copy;
}
@end

@implementation MTLTextureViewDescriptor
@synthesize pixelFormat = _pixelFormat, textureType = _textureType, levelRange = _levelRange, sliceRange = _sliceRange,
            swizzle = _swizzle;

- (id)init {
    if (!(self = [super init])) return nil;
    _textureType = MTLTextureType2D;
    _swizzle = MTLTextureSwizzleChannelsDefault;
    return self;
}

- (id)copyWithZone:(NSZone *)zone {
    MTLTextureViewDescriptor *copy = [[[self class] allocWithZone:zone] init];
    copy.pixelFormat = _pixelFormat;
    copy.textureType = _textureType;
    copy.levelRange = _levelRange;
    copy.sliceRange = _sliceRange;
    copy.swizzle = _swizzle;
    return copy;
}
@end

@implementation MTLSamplerDescriptor
@synthesize minFilter = _minFilter, magFilter = _magFilter, mipFilter = _mipFilter, maxAnisotropy = _maxAnisotropy,
            sAddressMode = _sAddressMode, tAddressMode = _tAddressMode, rAddressMode = _rAddressMode,
            borderColor = _borderColor, normalizedCoordinates = _normalizedCoordinates, lodMinClamp = _lodMinClamp,
            lodMaxClamp = _lodMaxClamp, lodAverage = _lodAverage, compareFunction = _compareFunction,
            supportArgumentBuffers = _supportArgumentBuffers, label = _label;

- (id)init {
    if (!(self = [super init])) return nil;
    _maxAnisotropy = 1;
    _normalizedCoordinates = YES;
    _lodMaxClamp = FLT_MAX;
    return self;
}

- (void)dealloc {
    [_label release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    MTLSamplerDescriptor *copy = [[[self class] allocWithZone:zone] init];
    copy.minFilter = _minFilter;
    copy.magFilter = _magFilter;
    copy.mipFilter = _mipFilter;
    copy.maxAnisotropy = _maxAnisotropy;
    copy.sAddressMode = _sAddressMode;
    copy.tAddressMode = _tAddressMode;
    copy.rAddressMode = _rAddressMode;
    copy.borderColor = _borderColor;
    copy.normalizedCoordinates = _normalizedCoordinates;
    copy.lodMinClamp = _lodMinClamp;
    copy.lodMaxClamp = _lodMaxClamp;
    copy.lodAverage = _lodAverage;
    copy.compareFunction = _compareFunction;
    copy.supportArgumentBuffers = _supportArgumentBuffers;
    copy.label = _label;
    return copy;
}
@end
