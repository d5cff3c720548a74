// SPDX-License-Identifier: Apache-2.0
// Metal 4: command buffers, which the device creates and which are used again and again.
#ifndef INGOT_METAL_MTL4_COMMAND_BUFFER_H
#define INGOT_METAL_MTL4_COMMAND_BUFFER_H

#import <Metal/MTL4BufferRange.h>
#import <Metal/MTLDefines.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTL4ComputeCommandEncoder;
@protocol MTL4CounterHeap;
@protocol MTLDevice;
@protocol MTLFence;
@protocol MTLLogState;
@protocol MTLResidencySet;

// Memory of command buffers. There is nothing to manage here.
MTL_EXPORT
@interface MTL4CommandAllocatorDescriptor : NSObject <NSCopying> {
    NSString *_label;
}
@property (nullable, nonatomic, copy) NSString *label;
@end

@protocol MTL4CommandAllocator <NSObject>
@property (readonly) id<MTLDevice> device;
@property (nullable, readonly) NSString *label;
- (uint64_t)allocatedSize;
- (void)reset;
@end

MTL_EXPORT
@interface MTL4CommandBufferOptions : NSObject <NSCopying> {
    id<MTLLogState> _logState;
}
@property (nullable, nonatomic, retain) id<MTLLogState> logState;
@end

// Commands between begin and end run when a queue commits the buffer.
@protocol MTL4CommandBuffer <NSObject>
@property (readonly) id<MTLDevice> device;
@property (nullable, copy, atomic) NSString *label;
- (void)beginCommandBufferWithAllocator:(id<MTL4CommandAllocator>)allocator;
- (void)beginCommandBufferWithAllocator:(id<MTL4CommandAllocator>)allocator options:(MTL4CommandBufferOptions *)options;
- (void)endCommandBuffer;
- (nullable id<MTL4ComputeCommandEncoder>)computeCommandEncoder;
- (void)useResidencySet:(id<MTLResidencySet>)residencySet;
- (void)useResidencySets:(const id<MTLResidencySet> _Nonnull[_Nonnull])residencySets count:(NSUInteger)count;
- (void)writeTimestampIntoHeap:(id<MTL4CounterHeap>)counterHeap atIndex:(NSUInteger)index;
- (void)resolveCounterHeap:(id<MTL4CounterHeap>)counterHeap
                 withRange:(NSRange)range
                intoBuffer:(MTL4BufferRange)bufferRange
                 waitFence:(nullable id<MTLFence>)fenceToWait
               updateFence:(nullable id<MTLFence>)fenceToUpdate;
- (void)pushDebugGroup:(NSString *)string;
- (void)popDebugGroup;
@end

NS_ASSUME_NONNULL_END

#endif
