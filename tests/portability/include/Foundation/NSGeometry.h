// SPDX-License-Identifier: Apache-2.0
// Points and sizes, as CoreGraphics has them.
#ifndef STAND_IN_NS_GEOMETRY_H
#define STAND_IN_NS_GEOMETRY_H

typedef struct {
    double x, y;
} NSPoint;
typedef struct {
    double width, height;
} NSSize;
typedef struct {
    NSPoint origin;
    NSSize size;
} NSRect;

#endif
