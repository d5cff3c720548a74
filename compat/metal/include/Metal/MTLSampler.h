// SPDX-License-Identifier: Apache-2.0
// How kernels sample textures.
#ifndef INGOT_METAL_SAMPLER_H
#define INGOT_METAL_SAMPLER_H

#import <Metal/MTLDepthStencil.h>
#import <Metal/MTLTypes.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLDevice;

typedef NS_ENUM(NSUInteger, MTLSamplerMinMagFilter) {
    MTLSamplerMinMagFilterNearest = 0,
    MTLSamplerMinMagFilterLinear = 1,
};

typedef NS_ENUM(NSUInteger, MTLSamplerMipFilter) {
    MTLSamplerMipFilterNotMipmapped = 0,
    MTLSamplerMipFilterNearest = 1,
    MTLSamplerMipFilterLinear = 2,
};

typedef NS_ENUM(NSUInteger, MTLSamplerAddressMode) {
    MTLSamplerAddressModeClampToEdge = 0,
    MTLSamplerAddressModeMirrorClampToEdge = 1,
    MTLSamplerAddressModeRepeat = 2,
    MTLSamplerAddressModeMirrorRepeat = 3,
    MTLSamplerAddressModeClampToZero = 4,
    MTLSamplerAddressModeClampToBorderColor = 5,
};

typedef NS_ENUM(NSUInteger, MTLSamplerBorderColor) {
    MTLSamplerBorderColorTransparentBlack = 0,
    MTLSamplerBorderColorOpaqueBlack = 1,
    MTLSamplerBorderColorOpaqueWhite = 2,
};

MTL_EXPORT
@interface MTLSamplerDescriptor : NSObject <NSCopying> {
    MTLSamplerMinMagFilter _minFilter, _magFilter;
    MTLSamplerMipFilter _mipFilter;
    NSUInteger _maxAnisotropy;
    MTLSamplerAddressMode _sAddressMode, _tAddressMode, _rAddressMode;
    MTLSamplerBorderColor _borderColor;
    BOOL _normalizedCoordinates, _lodAverage, _supportArgumentBuffers;
    float _lodMinClamp, _lodMaxClamp;
    MTLCompareFunction _compareFunction;
    NSString *_label;
}
@property (nonatomic) MTLSamplerMinMagFilter minFilter;
@property (nonatomic) MTLSamplerMinMagFilter magFilter;
@property (nonatomic) MTLSamplerMipFilter mipFilter;
@property (nonatomic) NSUInteger maxAnisotropy;
@property (nonatomic) MTLSamplerAddressMode sAddressMode;
@property (nonatomic) MTLSamplerAddressMode tAddressMode;
@property (nonatomic) MTLSamplerAddressMode rAddressMode;
@property (nonatomic) MTLSamplerBorderColor borderColor;
@property (nonatomic) BOOL normalizedCoordinates;
@property (nonatomic) float lodMinClamp;
@property (nonatomic) float lodMaxClamp;
@property (nonatomic) BOOL lodAverage;
@property (nonatomic) MTLCompareFunction compareFunction;
@property (nonatomic) BOOL supportArgumentBuffers;
@property (nullable, copy, nonatomic) NSString *label;
@end

@protocol MTLSamplerState <NSObject>
@property (nullable, readonly) NSString *label;
@property (readonly) id<MTLDevice> device;
@property (readonly) MTLResourceID gpuResourceID;
@end

NS_ASSUME_NONNULL_END

#endif
