// SPDX-License-Identifier: Apache-2.0
// Reflection: the arguments of a kernel.
#ifndef INGOT_METAL_ARGUMENT_H
#define INGOT_METAL_ARGUMENT_H

#import <Metal/MTLDataType.h>
#import <Metal/MTLTensor.h>
#import <Metal/MTLTexture.h>

NS_ASSUME_NONNULL_BEGIN

typedef NS_ENUM(NSInteger, MTLBindingType) {
    MTLBindingTypeBuffer = 0,
    MTLBindingTypeThreadgroupMemory = 1,
    MTLBindingTypeTexture = 2,
    MTLBindingTypeSampler = 3,
    MTLBindingTypeImageblockData = 16,
    MTLBindingTypeImageblock = 17,
    MTLBindingTypeVisibleFunctionTable = 24,
    MTLBindingTypePrimitiveAccelerationStructure = 25,
    MTLBindingTypeInstanceAccelerationStructure = 26,
    MTLBindingTypeIntersectionFunctionTable = 27,
    MTLBindingTypeObjectPayload = 34,
    MTLBindingTypeTensor = 37,
};

typedef NS_ENUM(NSUInteger, MTLArgumentType) {
    MTLArgumentTypeBuffer = 0,
    MTLArgumentTypeThreadgroupMemory = 1,
    MTLArgumentTypeTexture = 2,
    MTLArgumentTypeSampler = 3,
    MTLArgumentTypeImageblockData = 16,
    MTLArgumentTypeImageblock = 17,
    MTLArgumentTypeVisibleFunctionTable = 24,
    MTLArgumentTypePrimitiveAccelerationStructure = 25,
    MTLArgumentTypeInstanceAccelerationStructure = 26,
    MTLArgumentTypeIntersectionFunctionTable = 27,
};

typedef NS_ENUM(NSUInteger, MTLBindingAccess) {
    MTLBindingAccessReadOnly = 0,
    MTLBindingAccessReadWrite = 1,
    MTLBindingAccessWriteOnly = 2,
    MTLArgumentAccessReadOnly = 0,
    MTLArgumentAccessReadWrite = 1,
    MTLArgumentAccessWriteOnly = 2,
};
typedef MTLBindingAccess MTLArgumentAccess;

// A type in memory: a scalar, a vector, a matrix, or what its subclasses describe.
MTL_EXPORT
@interface MTLType : NSObject {
    MTLDataType _dataType;
}
@property (readonly) MTLDataType dataType;
@end

@class MTLArrayType, MTLPointerType, MTLStructType, MTLTensorReferenceType, MTLTextureReferenceType;

MTL_EXPORT
@interface MTLStructMember : NSObject {
    NSString *_name;
    NSUInteger _offset, _argumentIndex;
    MTLType *_type;
}
@property (readonly) NSString *name;
@property (readonly) NSUInteger offset;  // in bytes
@property (readonly) MTLDataType dataType;
@property (readonly) NSUInteger argumentIndex;  // in an argument buffer: its [[id(n)]]
// nil if the member is something else.
- (nullable MTLStructType *)structType;
- (nullable MTLArrayType *)arrayType;
- (nullable MTLTextureReferenceType *)textureReferenceType;
- (nullable MTLPointerType *)pointerType;
- (nullable MTLTensorReferenceType *)tensorReferenceType;
@end

MTL_EXPORT
@interface MTLStructType : MTLType {
    NSArray<MTLStructMember *> *_members;
}
@property (readonly) NSArray<MTLStructMember *> *members;
- (nullable MTLStructMember *)memberByName:(NSString *)name;
@end

MTL_EXPORT
@interface MTLArrayType : MTLType {
    NSUInteger _arrayLength, _stride, _argumentIndexStride;
    MTLType *_element;
}
@property (readonly) MTLDataType elementType;
@property (readonly) NSUInteger arrayLength;
@property (readonly) NSUInteger stride;               // in bytes
@property (readonly) NSUInteger argumentIndexStride;  // of an argument buffer
- (nullable MTLStructType *)elementStructType;
- (nullable MTLArrayType *)elementArrayType;
- (nullable MTLTextureReferenceType *)elementTextureReferenceType;
- (nullable MTLPointerType *)elementPointerType;
- (nullable MTLTensorReferenceType *)elementTensorReferenceType;
@end

MTL_EXPORT
@interface MTLPointerType : MTLType {
    MTLDataType _elementType;
    MTLBindingAccess _access;
    NSUInteger _alignment, _dataSize;
    MTLType *_element;
    BOOL _elementIsArgumentBuffer;
}
@property (readonly) MTLDataType elementType;
@property (readonly) MTLBindingAccess access;
@property (readonly) NSUInteger alignment;
@property (readonly) NSUInteger dataSize;
@property (readonly) BOOL elementIsArgumentBuffer;  // the struct has pointers, textures or samplers in it
- (nullable MTLStructType *)elementStructType;
- (nullable MTLArrayType *)elementArrayType;
@end

MTL_EXPORT
@interface MTLTextureReferenceType : MTLType {
    MTLDataType _textureDataType;
    MTLTextureType _textureType;
    MTLBindingAccess _access;
    BOOL _isDepthTexture;
}
@property (readonly) MTLDataType textureDataType;
@property (readonly) MTLTextureType textureType;
@property (readonly) MTLBindingAccess access;
@property (readonly) BOOL isDepthTexture;
@end

// A dimension whose size is not constant is -1.
MTL_EXPORT
@interface MTLTensorReferenceType : MTLType {
    MTLTensorDataType _tensorDataType;
    MTLDataType _indexType;
    MTLTensorExtents *_dimensions;
    MTLBindingAccess _access;
}
@property (readonly) MTLTensorDataType tensorDataType;
@property (readonly) MTLDataType indexType;
@property (nullable, readonly) MTLTensorExtents *dimensions;
@property (readonly) MTLBindingAccess access;
@end

@protocol MTLBinding <NSObject>
@property (readonly) NSString *name;
@property (readonly) MTLBindingType type;
@property (readonly) MTLBindingAccess access;
@property (readonly) NSUInteger index;
@property (readonly, getter=isUsed) BOOL used;
@property (readonly, getter=isArgument) BOOL argument;
@end

@protocol MTLBufferBinding <MTLBinding>
@property (readonly) NSUInteger bufferAlignment;
@property (readonly) NSUInteger bufferDataSize;
@property (readonly) MTLDataType bufferDataType;
@property (nullable, readonly) MTLStructType *bufferStructType;
@property (nullable, readonly) MTLPointerType *bufferPointerType;
@end

@protocol MTLThreadgroupBinding <MTLBinding>
@property (readonly) NSUInteger threadgroupMemoryAlignment;
@property (readonly) NSUInteger threadgroupMemoryDataSize;
@end

@protocol MTLTextureBinding <MTLBinding>
@property (readonly) MTLTextureType textureType;
@property (readonly) MTLDataType textureDataType;
@property (readonly, getter=isDepthTexture) BOOL depthTexture;
@property (readonly) NSUInteger arrayLength;
@end

@protocol MTLTensorBinding <MTLBinding>
@property (readonly) MTLTensorDataType tensorDataType;
@property (readonly) MTLDataType indexType;
@property (nullable, readonly) MTLTensorExtents *dimensions;  // -1 where a size is not constant
@end

// The older form of the same.
MTL_EXPORT
@interface MTLArgument : NSObject {
    id<MTLBinding> _binding;
}
@property (readonly) NSString *name;
@property (readonly) MTLArgumentType type;
@property (readonly) MTLBindingAccess access;
@property (readonly) NSUInteger index;
@property (readonly, getter=isActive) BOOL active;
@property (readonly) NSUInteger bufferAlignment;
@property (readonly) NSUInteger bufferDataSize;
@property (readonly) MTLDataType bufferDataType;
@property (nullable, readonly) MTLStructType *bufferStructType;
@property (nullable, readonly) MTLPointerType *bufferPointerType;
@property (readonly) NSUInteger threadgroupMemoryAlignment;
@property (readonly) NSUInteger threadgroupMemoryDataSize;
@property (readonly) MTLTextureType textureType;
@property (readonly) MTLDataType textureDataType;
@property (readonly) BOOL isDepthTexture;
@property (readonly) NSUInteger arrayLength;
@end

NS_ASSUME_NONNULL_END

#endif
