// SPDX-License-Identifier: Apache-2.0
// What is computed of each row of a matrix: its product with a vector, its softmax, its largest values.
#ifndef INGOT_MPS_MATRIX_ROWS_H
#define INGOT_MPS_MATRIX_ROWS_H

#import <MetalPerformanceShaders/MPSKernel.h>
#import <MetalPerformanceShaders/MPSMatrix.h>
#import <MetalPerformanceShaders/MPSVector.h>

NS_ASSUME_NONNULL_BEGIN

// result = alpha * matrix * vector + beta * result, for each matrix with the vector of its number. Float or half.
MTL_EXPORT
@interface MPSMatrixVectorMultiplication : MPSKernel {
    BOOL _transpose;
    NSUInteger _rows, _columns;
    double _alpha, _beta;
}
- (instancetype)initWithDevice:(id<MTLDevice>)device
                     transpose:(BOOL)transpose
                          rows:(NSUInteger)rows
                       columns:(NSUInteger)columns
                         alpha:(double)alpha
                          beta:(double)beta;
- (instancetype)initWithDevice:(id<MTLDevice>)device rows:(NSUInteger)rows columns:(NSUInteger)columns;
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                  inputMatrix:(MPSMatrix *)inputMatrix
                  inputVector:(MPSVector *)inputVector
                 resultVector:(MPSVector *)resultVector;
@end

// Origins count rows as x and columns as y, as those of products do.
MTL_EXPORT
@interface MPSMatrixUnaryKernel : MPSKernel {
    MTLOrigin _sourceMatrixOrigin, _resultMatrixOrigin;
    NSUInteger _batchStart, _batchSize;
}
@property (readwrite, nonatomic) MTLOrigin sourceMatrixOrigin, resultMatrixOrigin;
@property (readwrite, nonatomic) NSUInteger batchStart, batchSize;
@end

// exp(x) over the sum of exp of the row. Float or half; sourceRows and sourceColumns of NSUIntegerMax: all.
MTL_EXPORT
@interface MPSMatrixSoftMax : MPSMatrixUnaryKernel {
    NSUInteger _sourceRows, _sourceColumns;
}
@property (readwrite, nonatomic) NSUInteger sourceRows, sourceColumns;
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                  inputMatrix:(MPSMatrix *)inputMatrix
                 resultMatrix:(MPSMatrix *)resultMatrix;
@end

MTL_EXPORT
@interface MPSMatrixLogSoftMax : MPSMatrixSoftMax
@end

// The largest values of each row, the largest first, and their columns as uint32_t. Of equal values the first one counts.
MTL_EXPORT
@interface MPSMatrixFindTopK : MPSMatrixUnaryKernel {
    NSUInteger _sourceRows, _sourceColumns, _indexOffset, _numberOfTopKValues;
}
- (instancetype)initWithDevice:(id<MTLDevice>)device numberOfTopKValues:(NSUInteger)numberOfTopKValues;
@property (readwrite, nonatomic) NSUInteger sourceRows, sourceColumns, indexOffset, numberOfTopKValues;  // at most 16
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                  inputMatrix:(MPSMatrix *)inputMatrix
            resultIndexMatrix:(MPSMatrix *)resultIndexMatrix
            resultValueMatrix:(MPSMatrix *)resultValueMatrix;
@end

NS_ASSUME_NONNULL_END

#endif
