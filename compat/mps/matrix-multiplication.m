// SPDX-License-Identifier: Apache-2.0
// A product is a kernel (product.metal), run through Metal's public interface.
#include "mps.h"

// Matches product.metal.
typedef struct layout {
    uint64_t matrix;
    uint32_t row, column;
} layout;

typedef struct product {
    layout left, right, result;
    uint32_t rows, columns, inner;
    float alpha, beta;
} product;

enum { TILE_ROWS = 64, TILE_COLUMNS = 32, SIDE = 16 };

static layout layout_of(MPSMatrix *matrix, BOOL transposed) {
    uint32_t size = (uint32_t)igi_mps_size(matrix.dataType), row = (uint32_t)(matrix.rowBytes / size);
    uint64_t distance = matrix.matrixBytes / size;
    return transposed ? (layout){distance, 1, row} : (layout){distance, row, 1};
}

static void refuse(NSString *what) {
    igi_mps_refuse([MPSMatrixMultiplication class], what);
}

@implementation MPSMatrixMultiplication
@synthesize resultMatrixOrigin = _resultMatrixOrigin, leftMatrixOrigin = _leftMatrixOrigin,
            rightMatrixOrigin = _rightMatrixOrigin, batchStart = _batchStart, batchSize = _batchSize;

// ---- Life ----

- (instancetype)initWithDevice:(id<MTLDevice>)device
                 transposeLeft:(BOOL)transposeLeft
                transposeRight:(BOOL)transposeRight
                    resultRows:(NSUInteger)resultRows
                 resultColumns:(NSUInteger)resultColumns
               interiorColumns:(NSUInteger)interiorColumns
                         alpha:(double)alpha
                          beta:(double)beta {
    if (!(self = [super initWithDevice:device])) return nil;
    _transposeLeft = transposeLeft, _transposeRight = transposeRight;
    _resultRows = resultRows, _resultColumns = resultColumns, _interiorColumns = interiorColumns;
    _alpha = alpha, _beta = beta;
    _batchSize = NSUIntegerMax;  // all there are
    return self;
}

- (instancetype)initWithDevice:(id<MTLDevice>)device
                    resultRows:(NSUInteger)resultRows
                 resultColumns:(NSUInteger)resultColumns
               interiorColumns:(NSUInteger)interiorColumns {
    return [self initWithDevice:device
                  transposeLeft:NO
                 transposeRight:NO
                     resultRows:resultRows
                  resultColumns:resultColumns
                interiorColumns:interiorColumns
                          alpha:1
                           beta:0];
}

- (instancetype)copyWithZone:(NSZone *)zone device:(id<MTLDevice>)device {
    MPSMatrixMultiplication *copy = [super copyWithZone:zone device:device];
    copy->_transposeLeft = _transposeLeft, copy->_transposeRight = _transposeRight;
    copy->_resultRows = _resultRows, copy->_resultColumns = _resultColumns, copy->_interiorColumns = _interiorColumns;
    copy->_alpha = _alpha, copy->_beta = _beta;
    copy->_batchStart = _batchStart, copy->_batchSize = _batchSize;
    copy->_resultMatrixOrigin = _resultMatrixOrigin;
    copy->_leftMatrixOrigin = _leftMatrixOrigin, copy->_rightMatrixOrigin = _rightMatrixOrigin;
    return copy;
}

- (void)dealloc {
    [_f32 release];
    [_f16 release];
    [super dealloc];
}

// ---- Encoding ----

- (id<MTLComputePipelineState>)newPipeline:(NSString *)name {
    return igi_mps_new_pipeline(_device, [self class], "product.metal", name);
}

- (id<MTLComputePipelineState>)pipelineFor:(MPSDataType)type {
    @synchronized(self) {
        if (type == MPSDataTypeFloat32) return _f32 ? _f32 : (_f32 = [self newPipeline:@"multiply_f32"]);
        if (type == MPSDataTypeFloat16) return _f16 ? _f16 : (_f16 = [self newPipeline:@"multiply_f16"]);
    }
    refuse(@"matrices must be float or half");
    return nil;
}

- (NSUInteger)batchesOf:(MPSMatrix *)result {
    if (_batchStart >= result.matrices) return 0;
    NSUInteger left = result.matrices - _batchStart;
    return _batchSize < left ? _batchSize : left;
}

static BOOL holds(MPSMatrix *matrix, MTLOrigin origin, BOOL transposed, NSUInteger rows, NSUInteger columns,
                  NSUInteger matrices) {
    NSUInteger height = transposed ? columns : rows, width = transposed ? rows : columns;
    return matrix && origin.x <= matrix.rows && height <= matrix.rows - origin.x && origin.y <= matrix.columns &&
           width <= matrix.columns - origin.y && matrices <= matrix.matrices;
}

// Origins count rows as x and columns as y.
- (void)bind:(MPSMatrix *)matrix origin:(MTLOrigin)origin to:(id<MTLComputeCommandEncoder>)encoder at:(NSUInteger)slot {
    NSUInteger size = igi_mps_size(matrix.dataType);
    [encoder setBuffer:matrix.data
                offset:matrix.offset + _batchStart * matrix.matrixBytes + origin.x * matrix.rowBytes + origin.y * size
               atIndex:slot];
}

- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                   leftMatrix:(MPSMatrix *)left
                  rightMatrix:(MPSMatrix *)right
                 resultMatrix:(MPSMatrix *)result {
    NSUInteger batches = [self batchesOf:result], matrices = _batchStart + batches;
    if (left.dataType != result.dataType || right.dataType != result.dataType)
        refuse(@"matrices must have the same type");
    if (!holds(left, _leftMatrixOrigin, _transposeLeft, _resultRows, _interiorColumns, matrices))
        refuse(@"the left matrix is too small");
    if (!holds(right, _rightMatrixOrigin, _transposeRight, _interiorColumns, _resultColumns, matrices))
        refuse(@"the right matrix is too small");
    if (!holds(result, _resultMatrixOrigin, NO, _resultRows, _resultColumns, matrices))
        refuse(@"the result's matrix is too small");
    product p = {layout_of(left, _transposeLeft),
                 layout_of(right, _transposeRight),
                 layout_of(result, NO),
                 (uint32_t)_resultRows,
                 (uint32_t)_resultColumns,
                 (uint32_t)_interiorColumns,
                 (float)_alpha,
                 (float)_beta};
    id<MTLComputePipelineState> pipeline = [self pipelineFor:result.dataType];
    if (!batches || !_resultRows || !_resultColumns) return;
    id<MTLComputeCommandEncoder> encoder = [commandBuffer computeCommandEncoder];
    if (_label) encoder.label = _label;
    [encoder setComputePipelineState:pipeline];
    [self bind:left origin:_leftMatrixOrigin to:encoder at:0];
    [self bind:right origin:_rightMatrixOrigin to:encoder at:1];
    [self bind:result origin:_resultMatrixOrigin to:encoder at:2];
    [encoder setBytes:&p length:sizeof p atIndex:3];
    [encoder dispatchThreadgroups:MTLSizeMake((_resultColumns + TILE_COLUMNS - 1) / TILE_COLUMNS,
                                              (_resultRows + TILE_ROWS - 1) / TILE_ROWS, batches)
            threadsPerThreadgroup:MTLSizeMake(SIDE, SIDE, 1)];
    [encoder endEncoding];
}
@end
