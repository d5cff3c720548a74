// SPDX-License-Identifier: Apache-2.0
// Kernels that work on rows (rows.metal), run through Metal's public interface.
#include "mps.h"

enum { LANES = 32, MOST = 16 };

// Matches rows.metal.
typedef struct rows {
    uint64_t matrix, result, indices;
    uint32_t row, column, result_row, indices_row, columns, values, offset;
    float alpha, beta;
} rows;

static void refuse_unless(BOOL right, id owner, NSString *what) {
    if (!right) igi_mps_refuse([owner class], what);
}

// Made for each encoding: compiled code is in the device's memory and on disk.
static id<MTLComputePipelineState> pipeline_for(MPSKernel *owner, NSString *name, MPSDataType type) {
    refuse_unless(type == MPSDataTypeFloat32 || type == MPSDataTypeFloat16, owner, @"values must be float or half");
    NSString *full = [name stringByAppendingString:type == MPSDataTypeFloat32 ? @"_f32" : @"_f16"];
    return [igi_mps_new_pipeline(owner.device, [owner class], "rows.metal", full) autorelease];
}

static id<MTLComputeCommandEncoder> encoder_for(MPSKernel *owner, id<MTLCommandBuffer> commands,
                                                id<MTLComputePipelineState> pipeline, const rows *p) {
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    if (owner.label) encoder.label = owner.label;
    [encoder setComputePipelineState:pipeline];
    [encoder setBytes:p length:sizeof *p atIndex:3];
    return encoder;
}

// ---- Matrix times vector ----

@implementation MPSMatrixVectorMultiplication
- (instancetype)initWithDevice:(id<MTLDevice>)device
                     transpose:(BOOL)transpose
                          rows:(NSUInteger)height
                       columns:(NSUInteger)columns
                         alpha:(double)alpha
                          beta:(double)beta {
    if (!(self = [super initWithDevice:device])) return nil;
    _transpose = transpose, _rows = height, _columns = columns, _alpha = alpha, _beta = beta;
    return self;
}

- (instancetype)initWithDevice:(id<MTLDevice>)device rows:(NSUInteger)height columns:(NSUInteger)columns {
    return [self initWithDevice:device transpose:NO rows:height columns:columns alpha:1 beta:0];
}

- (instancetype)copyWithZone:(NSZone *)zone device:(id<MTLDevice>)device {
    MPSMatrixVectorMultiplication *copy = [super copyWithZone:zone device:device];
    copy->_transpose = _transpose, copy->_rows = _rows, copy->_columns = _columns;
    copy->_alpha = _alpha, copy->_beta = _beta;
    return copy;
}

- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                  inputMatrix:(MPSMatrix *)matrix
                  inputVector:(MPSVector *)vector
                 resultVector:(MPSVector *)result {
    NSUInteger height = _transpose ? _columns : _rows, width = _transpose ? _rows : _columns;
    refuse_unless(matrix.dataType == result.dataType && vector.dataType == result.dataType, self,
                  @"matrix and vectors must have the same type");
    refuse_unless(matrix && height <= matrix.rows && width <= matrix.columns, self, @"the matrix is too small");
    refuse_unless(vector && vector.length >= _columns && vector.vectors >= result.vectors, self,
                  @"the vector is too small");
    refuse_unless(result && result.length >= _rows && matrix.matrices >= result.vectors, self,
                  @"the result is too small, or there are fewer matrices");
    NSUInteger size = igi_mps_size(result.dataType);
    uint32_t row = (uint32_t)(matrix.rowBytes / size);
    uint64_t stride = vector.vectorBytes / size;
    rows p = {.matrix = matrix.matrixBytes / size,
              .result = result.vectorBytes / size,
              .row = _transpose ? 1 : row,
              .column = _transpose ? row : 1,
              .columns = (uint32_t)_columns,
              .alpha = (float)_alpha,
              .beta = (float)_beta};
    id<MTLComputePipelineState> pipeline = pipeline_for(self, @"multiply_vector", result.dataType);
    if (!_rows) return;
    id<MTLComputeCommandEncoder> encoder = encoder_for(self, commandBuffer, pipeline, &p);
    [encoder setBuffer:matrix.data offset:matrix.offset atIndex:0];
    [encoder setBuffer:vector.data offset:vector.offset atIndex:1];
    [encoder setBuffer:result.data offset:result.offset atIndex:2];
    [encoder setBytes:&stride length:sizeof stride atIndex:4];
    [encoder dispatchThreadgroups:MTLSizeMake(_rows, result.vectors, 1) threadsPerThreadgroup:MTLSizeMake(LANES, 1, 1)];
    [encoder endEncoding];
}
@end

// ---- One matrix ----

@implementation MPSMatrixUnaryKernel
@synthesize sourceMatrixOrigin = _sourceMatrixOrigin, resultMatrixOrigin = _resultMatrixOrigin,
            batchStart = _batchStart, batchSize = _batchSize;

- (instancetype)initWithDevice:(id<MTLDevice>)device {
    if ((self = [super initWithDevice:device])) _batchSize = NSUIntegerMax;  // all there are
    return self;
}

- (instancetype)copyWithZone:(NSZone *)zone device:(id<MTLDevice>)device {
    MPSMatrixUnaryKernel *copy = [super copyWithZone:zone device:device];
    copy->_sourceMatrixOrigin = _sourceMatrixOrigin, copy->_resultMatrixOrigin = _resultMatrixOrigin;
    copy->_batchStart = _batchStart, copy->_batchSize = _batchSize;
    return copy;
}

- (NSUInteger)batchesOf:(MPSMatrix *)result {
    NSUInteger left = _batchStart < result.matrices ? result.matrices - _batchStart : 0;
    return MIN(_batchSize, left);
}

// What remains of the source after its origin, if less was not asked for.
- (NSUInteger)rowsOf:(MPSMatrix *)source wanted:(NSUInteger)wanted {
    return MIN(wanted, _sourceMatrixOrigin.x < source.rows ? source.rows - _sourceMatrixOrigin.x : 0);
}

- (NSUInteger)columnsOf:(MPSMatrix *)source wanted:(NSUInteger)wanted {
    return MIN(wanted, _sourceMatrixOrigin.y < source.columns ? source.columns - _sourceMatrixOrigin.y : 0);
}

- (void)check:(MPSMatrix *)result holds:(MTLSize)size {
    MTLOrigin origin = _resultMatrixOrigin;
    refuse_unless(result && origin.x <= result.rows && size.height <= result.rows - origin.x &&
                      origin.y <= result.columns && size.width <= result.columns - origin.y &&
                      _batchStart + size.depth <= result.matrices,
                  self, @"a result's matrix is too small");
}

- (void)bind:(MPSMatrix *)matrix origin:(MTLOrigin)origin to:(id<MTLComputeCommandEncoder>)encoder at:(NSUInteger)slot {
    NSUInteger size = igi_mps_size(matrix.dataType);
    [encoder setBuffer:matrix.data
                offset:matrix.offset + _batchStart * matrix.matrixBytes + origin.x * matrix.rowBytes + origin.y * size
               atIndex:slot];
}

static rows rows_of(MPSMatrix *source, MPSMatrix *result, NSUInteger columns) {
    NSUInteger size = igi_mps_size(source.dataType);
    return (rows){.matrix = source.matrixBytes / size,
                  .result = result.matrixBytes / size,
                  .row = (uint32_t)(source.rowBytes / size),
                  .column = 1,
                  .result_row = (uint32_t)(result.rowBytes / size),
                  .columns = (uint32_t)columns};
}
@end

// ---- Softmax ----

@implementation MPSMatrixSoftMax
@synthesize sourceRows = _sourceRows, sourceColumns = _sourceColumns;

- (instancetype)initWithDevice:(id<MTLDevice>)device {
    if ((self = [super initWithDevice:device])) _sourceRows = _sourceColumns = NSUIntegerMax;
    return self;
}

- (instancetype)copyWithZone:(NSZone *)zone device:(id<MTLDevice>)device {
    MPSMatrixSoftMax *copy = [super copyWithZone:zone device:device];
    copy->_sourceRows = _sourceRows, copy->_sourceColumns = _sourceColumns;
    return copy;
}

- (NSString *)kernelName {
    return @"softmax";
}

- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                  inputMatrix:(MPSMatrix *)source
                 resultMatrix:(MPSMatrix *)result {
    NSUInteger batches = [self batchesOf:result];
    NSUInteger height = [self rowsOf:source wanted:_sourceRows], width = [self columnsOf:source wanted:_sourceColumns];
    refuse_unless(source.dataType == result.dataType, self, @"matrices must have the same type");
    refuse_unless(_batchStart + batches <= source.matrices, self, @"there are fewer source matrices");
    [self check:result holds:MTLSizeMake(width, height, batches)];
    rows p = rows_of(source, result, width);
    id<MTLComputePipelineState> pipeline = pipeline_for(self, [self kernelName], result.dataType);
    if (!height || !width || !batches) return;
    id<MTLComputeCommandEncoder> encoder = encoder_for(self, commandBuffer, pipeline, &p);
    [self bind:source origin:_sourceMatrixOrigin to:encoder at:0];
    [self bind:result origin:_resultMatrixOrigin to:encoder at:2];
    [encoder dispatchThreadgroups:MTLSizeMake(height, batches, 1) threadsPerThreadgroup:MTLSizeMake(LANES, 1, 1)];
    [encoder endEncoding];
}
@end

@implementation MPSMatrixLogSoftMax
- (NSString *)kernelName {
    return @"log_softmax";
}
@end

// ---- The largest values ----

@implementation MPSMatrixFindTopK
@synthesize sourceRows = _sourceRows, sourceColumns = _sourceColumns, indexOffset = _indexOffset,
            numberOfTopKValues = _numberOfTopKValues;

- (instancetype)initWithDevice:(id<MTLDevice>)device numberOfTopKValues:(NSUInteger)numberOfTopKValues {
    if (!(self = [super initWithDevice:device])) return nil;
    _sourceRows = _sourceColumns = NSUIntegerMax;
    _numberOfTopKValues = numberOfTopKValues;
    return self;
}

- (instancetype)initWithDevice:(id<MTLDevice>)device {
    return [self initWithDevice:device numberOfTopKValues:1];
}

- (instancetype)copyWithZone:(NSZone *)zone device:(id<MTLDevice>)device {
    MPSMatrixFindTopK *copy = [super copyWithZone:zone device:device];
    copy->_sourceRows = _sourceRows, copy->_sourceColumns = _sourceColumns;
    copy->_indexOffset = _indexOffset, copy->_numberOfTopKValues = _numberOfTopKValues;
    return copy;
}

- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                  inputMatrix:(MPSMatrix *)source
            resultIndexMatrix:(MPSMatrix *)indices
            resultValueMatrix:(MPSMatrix *)values {
    NSUInteger batches = [self batchesOf:values], count = _numberOfTopKValues;
    NSUInteger height = [self rowsOf:source wanted:_sourceRows], width = [self columnsOf:source wanted:_sourceColumns];
    refuse_unless(source.dataType == values.dataType, self, @"source and values must have the same type");
    refuse_unless(indices.dataType == MPSDataTypeUInt32, self, @"the matrix of indices must be of MPSDataTypeUInt32");
    refuse_unless(count >= 1 && count <= MOST && count <= width, self,
                  @"numberOfTopKValues must be between 1 and 16, and at most the number of columns");
    refuse_unless(_batchStart + batches <= source.matrices, self, @"there are fewer source matrices");
    [self check:values holds:MTLSizeMake(count, height, batches)];
    [self check:indices holds:MTLSizeMake(count, height, batches)];
    rows p = rows_of(source, values, width);
    p.indices = indices.matrixBytes / sizeof(uint32_t), p.indices_row = (uint32_t)(indices.rowBytes / sizeof(uint32_t));
    p.values = (uint32_t)count, p.offset = (uint32_t)_indexOffset;
    id<MTLComputePipelineState> pipeline = pipeline_for(self, @"top", values.dataType);
    if (!height || !batches) return;
    id<MTLComputeCommandEncoder> encoder = encoder_for(self, commandBuffer, pipeline, &p);
    [self bind:source origin:_sourceMatrixOrigin to:encoder at:0];
    [self bind:indices origin:_resultMatrixOrigin to:encoder at:1];
    [self bind:values origin:_resultMatrixOrigin to:encoder at:2];
    [encoder dispatchThreads:MTLSizeMake(height, batches, 1) threadsPerThreadgroup:MTLSizeMake(LANES, 1, 1)];
    [encoder endEncoding];
}
@end
