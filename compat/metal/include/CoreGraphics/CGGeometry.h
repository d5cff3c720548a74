// SPDX-License-Identifier: Apache-2.0
// Sizes that headers for Metal mention. In Objective-C they are Foundation's.
#ifndef INGOT_CORE_GRAPHICS_GEOMETRY_H
#define INGOT_CORE_GRAPHICS_GEOMETRY_H

#ifdef __OBJC__
#import <Foundation/NSGeometry.h>
typedef NSPoint CGPoint;
typedef NSSize CGSize;
typedef NSRect CGRect;
#else
typedef double CGFloat;
typedef struct CGPoint {
    CGFloat x, y;
} CGPoint;
typedef struct CGSize {
    CGFloat width, height;
} CGSize;
typedef struct CGRect {
    CGPoint origin;
    CGSize size;
} CGRect;
#endif

#endif
