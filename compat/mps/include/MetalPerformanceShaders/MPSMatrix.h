// SPDX-License-Identifier: Apache-2.0
// Matrices in buffers: rows of `rowBytes`, and several matrices `matrixBytes` apart.
#ifndef INGOT_MPS_MATRIX_H
#define INGOT_MPS_MATRIX_H

#import <MetalPerformanceShaders/MPSCoreTypes.h>

NS_ASSUME_NONNULL_BEGIN

@interface MPSMatrixDescriptor : NSObject {
    NSUInteger _rows, _columns, _matrices, _rowBytes, _matrixBytes;
    MPSDataType _dataType;
}
+ (instancetype)matrixDescriptorWithRows:(NSUInteger)rows
                                 columns:(NSUInteger)columns
                                rowBytes:(NSUInteger)rowBytes
                                dataType:(MPSDataType)dataType;
+ (instancetype)matrixDescriptorWithRows:(NSUInteger)rows
                                 columns:(NSUInteger)columns
                                matrices:(NSUInteger)matrices
                                rowBytes:(NSUInteger)rowBytes
                             matrixBytes:(NSUInteger)matrixBytes
                                dataType:(MPSDataType)dataType;
// The best value for the device: whole cache lines.
+ (NSUInteger)rowBytesForColumns:(NSUInteger)columns dataType:(MPSDataType)dataType;
+ (NSUInteger)rowBytesFromColumns:(NSUInteger)columns dataType:(MPSDataType)dataType;
@property (readwrite, nonatomic) NSUInteger rows, columns, rowBytes;
@property (readonly, nonatomic) NSUInteger matrices, matrixBytes;
@property (readwrite, nonatomic) MPSDataType dataType;
@end

@interface MPSMatrix : NSObject {
    id<MTLBuffer> _data;
    NSUInteger _offset, _rows, _columns, _matrices, _rowBytes, _matrixBytes;
    MPSDataType _dataType;
}
// nil if the matrix is not inside the buffer.
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer descriptor:(MPSMatrixDescriptor *)descriptor;
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer
                        offset:(NSUInteger)offset
                    descriptor:(MPSMatrixDescriptor *)descriptor;
- (instancetype)initWithDevice:(id<MTLDevice>)device descriptor:(MPSMatrixDescriptor *)descriptor;
- (void)synchronizeOnCommandBuffer:(id<MTLCommandBuffer>)commandBuffer;
- (NSUInteger)resourceSize;
@property (readonly, retain, nonatomic) id<MTLDevice> device;
@property (readonly, nonatomic) NSUInteger rows, columns, matrices, rowBytes, matrixBytes, offset;
@property (readonly, nonatomic) MPSDataType dataType;
@property (readonly, nonatomic) id<MTLBuffer> data;
@end

NS_ASSUME_NONNULL_END

#endif
