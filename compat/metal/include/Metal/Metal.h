// SPDX-License-Identifier: Apache-2.0
// The compute half of Apple's Metal API, on Ingot's software device. docs/metal-on-linux.md says what is covered.
#ifndef INGOT_METAL_H
#define INGOT_METAL_H

#import <Metal/MTL4ArgumentTable.h>
#import <Metal/MTL4CommandBuffer.h>
#import <Metal/MTL4CommandQueue.h>
#import <Metal/MTL4Compiler.h>
#import <Metal/MTL4ComputeCommandEncoder.h>
#import <Metal/MTLAllocation.h>
#import <Metal/MTLArgument.h>
#import <Metal/MTLArgumentEncoder.h>
#import <Metal/MTLBinaryArchive.h>
#import <Metal/MTLBlitCommandEncoder.h>
#import <Metal/MTLBlitPass.h>
#import <Metal/MTLBuffer.h>
#import <Metal/MTLCaptureManager.h>
#import <Metal/MTLCaptureScope.h>
#import <Metal/MTLCommandBuffer.h>
#import <Metal/MTLCommandEncoder.h>
#import <Metal/MTLCommandQueue.h>
#import <Metal/MTLComputeCommandEncoder.h>
#import <Metal/MTLComputePass.h>
#import <Metal/MTLComputePipeline.h>
#import <Metal/MTLCounters.h>
#import <Metal/MTLDataType.h>
#import <Metal/MTLDefines.h>
#import <Metal/MTLDepthStencil.h>
#import <Metal/MTLDevice.h>
#import <Metal/MTLDynamicLibrary.h>
#import <Metal/MTLEvent.h>
#import <Metal/MTLFence.h>
#import <Metal/MTLFunctionConstantValues.h>
#import <Metal/MTLFunctionDescriptor.h>
#import <Metal/MTLFunctionHandle.h>
#import <Metal/MTLFunctionLog.h>
#import <Metal/MTLHeap.h>
#import <Metal/MTLIOCommandBuffer.h>
#import <Metal/MTLIOCommandQueue.h>
#import <Metal/MTLIndirectCommandBuffer.h>
#import <Metal/MTLIndirectCommandEncoder.h>
#import <Metal/MTLLibrary.h>
#import <Metal/MTLLinkedFunctions.h>
#import <Metal/MTLLogState.h>
#import <Metal/MTLPipeline.h>
#import <Metal/MTLPixelFormat.h>
#import <Metal/MTLResidencySet.h>
#import <Metal/MTLResource.h>
#import <Metal/MTLSampler.h>
#import <Metal/MTLStageInputOutputDescriptor.h>
#import <Metal/MTLTensor.h>
#import <Metal/MTLTexture.h>
#import <Metal/MTLTypes.h>
#import <Metal/MTLVisibleFunctionTable.h>

#endif
