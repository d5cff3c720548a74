// SPDX-License-Identifier: Apache-2.0
#ifndef INGOT_MPS_CORE_TYPES_H
#define INGOT_MPS_CORE_TYPES_H

#import <Metal/Metal.h>

// A bit for the kind of number, and the number of bits.
typedef NS_ENUM(uint32_t, MPSDataType) {
    MPSDataTypeInvalid = 0,
    MPSDataTypeFloatBit = 0x10000000,
    MPSDataTypeFloat32 = MPSDataTypeFloatBit | 32,
    MPSDataTypeFloat16 = MPSDataTypeFloatBit | 16,
    MPSDataTypeComplexBit = 0x01000000,
    MPSDataTypeComplexFloat32 = MPSDataTypeFloatBit | MPSDataTypeComplexBit | 64,
    MPSDataTypeComplexFloat16 = MPSDataTypeFloatBit | MPSDataTypeComplexBit | 32,
    MPSDataTypeSignedBit = 0x20000000,
    MPSDataTypeIntBit = MPSDataTypeSignedBit,
    MPSDataTypeInt2 = MPSDataTypeIntBit | 2,
    MPSDataTypeInt4 = MPSDataTypeIntBit | 4,
    MPSDataTypeInt8 = MPSDataTypeIntBit | 8,
    MPSDataTypeInt16 = MPSDataTypeIntBit | 16,
    MPSDataTypeInt32 = MPSDataTypeIntBit | 32,
    MPSDataTypeInt64 = MPSDataTypeIntBit | 64,
    MPSDataTypeUInt2 = 2,
    MPSDataTypeUInt4 = 4,
    MPSDataTypeUInt8 = 8,
    MPSDataTypeUInt16 = 16,
    MPSDataTypeUInt32 = 32,
    MPSDataTypeUInt64 = 64,
    MPSDataTypeAlternateEncodingBit = 0x80000000,
    MPSDataTypeBool = MPSDataTypeAlternateEncodingBit | 8,
    MPSDataTypeBFloat16 = MPSDataTypeAlternateEncodingBit | MPSDataTypeFloat16,
    MPSDataTypeNormalizedBit = 0x40000000,
    MPSDataTypeUnorm1 = MPSDataTypeNormalizedBit | 1,
    MPSDataTypeUnorm8 = MPSDataTypeNormalizedBit | 8,
};

typedef NS_OPTIONS(NSUInteger, MPSKernelOptions) {
    MPSKernelOptionsNone = 0,
    MPSKernelOptionsSkipAPIValidation = 1,
    MPSKernelOptionsAllowReducedPrecision = 2,
    MPSKernelOptionsDisableInternalTiling = 4,
    MPSKernelOptionsInsertDebugGroups = 8,
    MPSKernelOptionsVerbose = 16,
};

MTL_EXTERN BOOL MPSSupportsMTLDevice(id<MTLDevice> device);

#endif
