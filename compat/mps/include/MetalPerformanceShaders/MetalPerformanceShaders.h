// SPDX-License-Identifier: Apache-2.0
// Of Metal Performance Shaders, products of matrices.
#ifndef INGOT_METAL_PERFORMANCE_SHADERS_H
#define INGOT_METAL_PERFORMANCE_SHADERS_H

#import <MetalPerformanceShaders/MPSMatrixMultiplication.h>

#endif
