// SPDX-License-Identifier: Apache-2.0
// Queues run their command buffers one after the other.
#ifndef INGOT_METAL_COMMAND_QUEUE_H
#define INGOT_METAL_COMMAND_QUEUE_H

#import <Metal/MTLDefines.h>

NS_ASSUME_NONNULL_BEGIN

@class MTLCommandBufferDescriptor;
@protocol MTLCommandBuffer;
@protocol MTLDevice;
@protocol MTLLogState;
@protocol MTLResidencySet;

MTL_EXPORT
@interface MTLCommandQueueDescriptor : NSObject <NSCopying> {
    NSUInteger _maxCommandBufferCount;
    id<MTLLogState> _logState;
}
@property (readwrite, nonatomic) NSUInteger maxCommandBufferCount;
@property (nullable, readwrite, nonatomic, retain) id<MTLLogState> logState;
@end

@protocol MTLCommandQueue <NSObject>
@property (nullable, copy, atomic) NSString *label;
@property (readonly) id<MTLDevice> device;
- (nullable id<MTLCommandBuffer>)commandBuffer;
- (nullable id<MTLCommandBuffer>)commandBufferWithDescriptor:(MTLCommandBufferDescriptor *)descriptor;
- (nullable id<MTLCommandBuffer>)commandBufferWithUnretainedReferences;
- (void)insertDebugCaptureBoundary;
- (void)addResidencySet:(id<MTLResidencySet>)residencySet;
- (void)addResidencySets:(const id<MTLResidencySet> _Nonnull[_Nonnull])residencySets count:(NSUInteger)count;
- (void)removeResidencySet:(id<MTLResidencySet>)residencySet;
- (void)removeResidencySets:(const id<MTLResidencySet> _Nonnull[_Nonnull])residencySets count:(NSUInteger)count;
@end

NS_ASSUME_NONNULL_END

#endif
