// SPDX-License-Identifier: Apache-2.0
#include "mps.h"

enum { LINE = 64 };  // bytes of a cache's

@implementation MPSMatrixDescriptor
@synthesize rows = _rows, columns = _columns, matrices = _matrices, rowBytes = _rowBytes, matrixBytes = _matrixBytes,
            dataType = _dataType;

+ (instancetype)matrixDescriptorWithRows:(NSUInteger)rows
                                 columns:(NSUInteger)columns
                                rowBytes:(NSUInteger)rowBytes
                                dataType:(MPSDataType)dataType {
    return [self matrixDescriptorWithRows:rows
                                  columns:columns
                                 matrices:1
                                 rowBytes:rowBytes
                              matrixBytes:rows * rowBytes
                                 dataType:dataType];
}

+ (instancetype)matrixDescriptorWithRows:(NSUInteger)rows
                                 columns:(NSUInteger)columns
                                matrices:(NSUInteger)matrices
                                rowBytes:(NSUInteger)rowBytes
                             matrixBytes:(NSUInteger)matrixBytes
                                dataType:(MPSDataType)dataType {
    MPSMatrixDescriptor *made = [[[self alloc] init] autorelease];
    made->_rows = rows, made->_columns = columns, made->_matrices = matrices;
    made->_rowBytes = rowBytes, made->_matrixBytes = matrixBytes;
    made->_dataType = dataType;
    return made;
}

+ (NSUInteger)rowBytesForColumns:(NSUInteger)columns dataType:(MPSDataType)dataType {
    return (columns * igi_mps_size(dataType) + LINE - 1) / LINE * LINE;
}

+ (NSUInteger)rowBytesFromColumns:(NSUInteger)columns dataType:(MPSDataType)dataType {
    return [self rowBytesForColumns:columns dataType:dataType];
}
@end

// Whether its size fits into 64 bits and is at most `length`.
static bool fits(MPSMatrixDescriptor *d, NSUInteger offset, NSUInteger length) {
    NSUInteger size = igi_mps_size(d.dataType), row, rows, all, end;
    if (!size || !d.rows || !d.columns || !d.matrices || d.rowBytes % size || offset % size) return false;
    if (__builtin_mul_overflow(d.columns, size, &row) || row > d.rowBytes) return false;
    if (__builtin_mul_overflow(d.rows - 1, d.rowBytes, &rows) || __builtin_add_overflow(rows, row, &rows)) return false;
    if (__builtin_mul_overflow(d.matrices - 1, d.matrixBytes, &all) || __builtin_add_overflow(all, rows, &all))
        return false;
    return !__builtin_add_overflow(all, offset, &end) && end <= length;
}

@implementation MPSMatrix
@synthesize data = _data, offset = _offset, rows = _rows, columns = _columns, matrices = _matrices,
            rowBytes = _rowBytes, matrixBytes = _matrixBytes, dataType = _dataType;

- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer descriptor:(MPSMatrixDescriptor *)descriptor {
    return [self initWithBuffer:buffer offset:0 descriptor:descriptor];
}

- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer
                        offset:(NSUInteger)offset
                    descriptor:(MPSMatrixDescriptor *)descriptor {
    if (!(self = [super init])) return nil;
    if (!buffer || !descriptor || !fits(descriptor, offset, [buffer length])) {
        [self release];
        return nil;
    }
    _data = [buffer retain];
    _offset = offset, _rows = descriptor.rows, _columns = descriptor.columns, _matrices = descriptor.matrices;
    _rowBytes = descriptor.rowBytes, _matrixBytes = descriptor.matrixBytes, _dataType = descriptor.dataType;
    return self;
}

- (instancetype)initWithDevice:(id<MTLDevice>)device descriptor:(MPSMatrixDescriptor *)descriptor {
    NSUInteger length;
    if (__builtin_mul_overflow(descriptor.matrices, descriptor.matrixBytes, &length)) length = 0;
    id<MTLBuffer> buffer = [device newBufferWithLength:length options:MTLResourceStorageModeShared];
    self = [self initWithBuffer:buffer offset:0 descriptor:descriptor];
    [buffer release];
    return self;
}

- (void)dealloc {
    [_data release];
    [super dealloc];
}

- (id<MTLDevice>)device {
    return [_data device];
}

- (NSUInteger)resourceSize {
    return [_data length];
}

- (void)synchronizeOnCommandBuffer:(id<MTLCommandBuffer>)commandBuffer {
    igi_mps_synchronize(_data, commandBuffer);
}
@end
