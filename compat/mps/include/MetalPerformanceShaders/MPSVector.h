// SPDX-License-Identifier: Apache-2.0
// Vectors in buffers.
#ifndef INGOT_MPS_VECTOR_H
#define INGOT_MPS_VECTOR_H

#import <MetalPerformanceShaders/MPSCoreTypes.h>

NS_ASSUME_NONNULL_BEGIN

MTL_EXPORT
@interface MPSVectorDescriptor : NSObject {
    NSUInteger _length, _vectors, _vectorBytes;
    MPSDataType _dataType;
}
+ (instancetype)vectorDescriptorWithLength:(NSUInteger)length dataType:(MPSDataType)dataType;
+ (instancetype)vectorDescriptorWithLength:(NSUInteger)length
                                   vectors:(NSUInteger)vectors
                               vectorBytes:(NSUInteger)vectorBytes
                                  dataType:(MPSDataType)dataType;
+ (NSUInteger)vectorBytesForLength:(NSUInteger)length dataType:(MPSDataType)dataType;
@property (readwrite, nonatomic) NSUInteger length;
@property (readonly, nonatomic) NSUInteger vectors, vectorBytes;
@property (readwrite, nonatomic) MPSDataType dataType;
@end

// nil if the buffer is too small.
MTL_EXPORT
@interface MPSVector : NSObject {
    id<MTLBuffer> _data;
    NSUInteger _offset, _length, _vectors, _vectorBytes;
    MPSDataType _dataType;
}
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer descriptor:(MPSVectorDescriptor *)descriptor;
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer
                        offset:(NSUInteger)offset
                    descriptor:(MPSVectorDescriptor *)descriptor;
- (instancetype)initWithDevice:(id<MTLDevice>)device descriptor:(MPSVectorDescriptor *)descriptor;
- (void)synchronizeOnCommandBuffer:(id<MTLCommandBuffer>)commandBuffer;
- (NSUInteger)resourceSize;
@property (readonly, retain, nonatomic) id<MTLDevice> device;
@property (readonly, nonatomic) NSUInteger length, vectors, vectorBytes, offset;
@property (readonly, nonatomic) MPSDataType dataType;
@property (readonly, nonatomic) id<MTLBuffer> data;
@end

NS_ASSUME_NONNULL_END

#endif
