// SPDX-License-Identifier: Apache-2.0
// Comparisons of depths.
#ifndef INGOT_METAL_DEPTH_STENCIL_H
#define INGOT_METAL_DEPTH_STENCIL_H

#import <Metal/MTLDefines.h>

typedef NS_ENUM(NSUInteger, MTLCompareFunction) {
    MTLCompareFunctionNever = 0,
    MTLCompareFunctionLess = 1,
    MTLCompareFunctionEqual = 2,
    MTLCompareFunctionLessEqual = 3,
    MTLCompareFunctionGreater = 4,
    MTLCompareFunctionNotEqual = 5,
    MTLCompareFunctionGreaterEqual = 6,
    MTLCompareFunctionAlways = 7,
};

#endif
