// SPDX-License-Identifier: Apache-2.0
// Matrix products, the part of Metal Performance Shaders that is supported.
#ifndef INGOT_METAL_PERFORMANCE_SHADERS_H
#define INGOT_METAL_PERFORMANCE_SHADERS_H

#import <MetalPerformanceShaders/MPSMatrixMultiplication.h>
#import <MetalPerformanceShaders/MPSMatrixRows.h>
#import <MetalPerformanceShaders/MPSVector.h>

#endif
