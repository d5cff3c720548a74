// SPDX-License-Identifier: Apache-2.0
// Sizes, origins and regions.
#ifndef INGOT_METAL_TYPES_H
#define INGOT_METAL_TYPES_H

#import <Metal/MTLDefines.h>

typedef struct {
    NSUInteger x, y, z;
} MTLOrigin;

typedef struct {
    NSUInteger width, height, depth;
} MTLSize;

typedef struct {
    MTLOrigin origin;
    MTLSize size;
} MTLRegion;

typedef struct {
    float x, y;
} MTLSamplePosition;
typedef MTLSamplePosition MTLCoordinate2D;

typedef struct {
    uint64_t _impl;
} MTLResourceID;

typedef struct {
    NSUInteger size, align;
} MTLSizeAndAlign;

typedef uint64_t MTLGPUAddress;
typedef uint64_t MTLTimestamp;

MTL_INLINE MTLOrigin MTLOriginMake(NSUInteger x, NSUInteger y, NSUInteger z) {
    MTLOrigin origin = {x, y, z};
    return origin;
}

MTL_INLINE MTLSize MTLSizeMake(NSUInteger width, NSUInteger height, NSUInteger depth) {
    MTLSize size = {width, height, depth};
    return size;
}

MTL_INLINE MTLRegion MTLRegionMake3D(NSUInteger x, NSUInteger y, NSUInteger z, NSUInteger width, NSUInteger height,
                                     NSUInteger depth) {
    MTLRegion region = {{x, y, z}, {width, height, depth}};
    return region;
}

MTL_INLINE MTLRegion MTLRegionMake2D(NSUInteger x, NSUInteger y, NSUInteger width, NSUInteger height) {
    return MTLRegionMake3D(x, y, 0, width, height, 1);
}

MTL_INLINE MTLRegion MTLRegionMake1D(NSUInteger x, NSUInteger width) {
    return MTLRegionMake3D(x, 0, 0, width, 1, 1);
}

MTL_INLINE MTLSamplePosition MTLSamplePositionMake(float x, float y) {
    MTLSamplePosition position = {x, y};
    return position;
}

#endif
