// SPDX-License-Identifier: Apache-2.0
// result = alpha * left * right + beta * result, of matrices of one type.
#ifndef INGOT_MPS_MATRIX_MULTIPLICATION_H
#define INGOT_MPS_MATRIX_MULTIPLICATION_H

#import <MetalPerformanceShaders/MPSKernel.h>
#import <MetalPerformanceShaders/MPSMatrix.h>

NS_ASSUME_NONNULL_BEGIN

@interface MPSMatrixMultiplication : MPSKernel {
    BOOL _transposeLeft, _transposeRight;
    NSUInteger _resultRows, _resultColumns, _interiorColumns, _batchStart, _batchSize;
    double _alpha, _beta;
    MTLOrigin _resultMatrixOrigin, _leftMatrixOrigin, _rightMatrixOrigin;
    id<MTLComputePipelineState> _f32, _f16;
}
- (instancetype)initWithDevice:(id<MTLDevice>)device
                 transposeLeft:(BOOL)transposeLeft
                transposeRight:(BOOL)transposeRight
                    resultRows:(NSUInteger)resultRows
                 resultColumns:(NSUInteger)resultColumns
               interiorColumns:(NSUInteger)interiorColumns
                         alpha:(double)alpha
                          beta:(double)beta;
- (instancetype)initWithDevice:(id<MTLDevice>)device
                    resultRows:(NSUInteger)resultRows
                 resultColumns:(NSUInteger)resultColumns
               interiorColumns:(NSUInteger)interiorColumns;
// Raises NSInvalidArgumentException where Metal would end the program: types that differ, matrices that are too small.
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                   leftMatrix:(MPSMatrix *)leftMatrix
                  rightMatrix:(MPSMatrix *)rightMatrix
                 resultMatrix:(MPSMatrix *)resultMatrix;
@property (readwrite, nonatomic) MTLOrigin resultMatrixOrigin, leftMatrixOrigin, rightMatrixOrigin;
@property (readwrite, nonatomic) NSUInteger batchStart, batchSize;
@end

NS_ASSUME_NONNULL_END

#endif
