// SPDX-License-Identifier: Apache-2.0
// Tensors: numbers in several dimensions, for arguments `tensor<device T, ...>`. Dimension 0 is the innermost.
#ifndef INGOT_METAL_TENSOR_H
#define INGOT_METAL_TENSOR_H

#import <Metal/MTLResource.h>
#import <Metal/MTLTypes.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLBuffer;

typedef NS_ENUM(NSInteger, MTLTensorDataType) {
    MTLTensorDataTypeNone = 0,
    MTLTensorDataTypeFloat32 = 3,
    MTLTensorDataTypeFloat16 = 16,
    MTLTensorDataTypeInt32 = 29,
    MTLTensorDataTypeUInt32 = 33,
    MTLTensorDataTypeInt16 = 37,
    MTLTensorDataTypeUInt16 = 41,
    MTLTensorDataTypeInt8 = 45,
    MTLTensorDataTypeUInt8 = 49,
    MTLTensorDataTypeBFloat16 = 121,
};

typedef NS_ENUM(NSInteger, MTLTensorError) {
    MTLTensorErrorNone = 0,
    MTLTensorErrorInternalError = 1,
    MTLTensorErrorInvalidDescriptor = 2,
};
MTL_EXTERN NSErrorDomain const MTLTensorDomain;

typedef NS_OPTIONS(NSUInteger, MTLTensorUsage) {
    MTLTensorUsageCompute = 1,
    MTLTensorUsageRender = 1 << 1,
    MTLTensorUsageMachineLearning = 1 << 2,
};

#define MTL_TENSOR_MAX_RANK 16

// Sizes, strides or a place: a number for each dimension.
MTL_EXPORT
@interface MTLTensorExtents : NSObject <NSCopying> {
    NSUInteger _rank;
    NSInteger _values[MTL_TENSOR_MAX_RANK];
}
// nil if there are too many values, or none where the rank asks for them.
- (nullable instancetype)initWithRank:(NSUInteger)rank values:(nullable const NSInteger *)values;
@property (readonly) NSUInteger rank;
- (NSInteger)extentAtDimensionIndex:(NSUInteger)dimensionIndex;  // -1: there is no such dimension
@end

MTL_EXPORT
@interface MTLTensorDescriptor : NSObject <NSCopying> {
    MTLTensorExtents *_dimensions, *_strides;
    MTLTensorDataType _dataType;
    MTLTensorUsage _usage;
    MTLResourceOptions _resourceOptions;
}
@property (nonatomic, copy) MTLTensorExtents *dimensions;         // one of size 1
@property (nullable, nonatomic, copy) MTLTensorExtents *strides;  // in elements; of tensors in a buffer only
@property (nonatomic) MTLTensorDataType dataType;
@property (nonatomic) MTLTensorUsage usage;
@property (nonatomic) MTLResourceOptions resourceOptions;
// Parts of the options.
@property (nonatomic) MTLCPUCacheMode cpuCacheMode;
@property (nonatomic) MTLStorageMode storageMode;
@property (nonatomic) MTLHazardTrackingMode hazardTrackingMode;
@end

@protocol MTLTensor <MTLResource>
@property (readonly) MTLResourceID gpuResourceID;     // for argument buffers and MTL4ArgumentTable
@property (nullable, readonly) id<MTLBuffer> buffer;  // that has its elements; nil: it has memory of its own
@property (readonly) NSUInteger bufferOffset;
@property (nullable, readonly) MTLTensorExtents *strides;  // nil without a buffer
@property (readonly) MTLTensorExtents *dimensions;
@property (readonly) MTLTensorDataType dataType;
@property (readonly) MTLTensorUsage usage;
// Nothing is copied if the slice is not in the tensor. Strides are those of `bytes`, in elements.
- (void)replaceSliceOrigin:(MTLTensorExtents *)sliceOrigin
           sliceDimensions:(MTLTensorExtents *)sliceDimensions
                 withBytes:(const void *)bytes
                   strides:(MTLTensorExtents *)strides;
- (void)getBytes:(void *)bytes
            strides:(MTLTensorExtents *)strides
    fromSliceOrigin:(MTLTensorExtents *)sliceOrigin
    sliceDimensions:(MTLTensorExtents *)sliceDimensions;
@end

NS_ASSUME_NONNULL_END

#endif
