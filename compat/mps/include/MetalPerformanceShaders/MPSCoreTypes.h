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
