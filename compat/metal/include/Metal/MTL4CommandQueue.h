// SPDX-License-Identifier: Apache-2.0
// Metal 4: queues, to which command buffers are committed together.
#ifndef INGOT_METAL_MTL4_COMMAND_QUEUE_H
#define INGOT_METAL_MTL4_COMMAND_QUEUE_H

#import <Metal/MTLDefines.h>
#include <dispatch/dispatch.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTL4CommandBuffer;
@protocol MTLDevice;
@protocol MTLEvent;
@protocol MTLResidencySet;

typedef NS_ENUM(NSInteger, MTL4CommandQueueError) {
    MTL4CommandQueueErrorNone = 0,
    MTL4CommandQueueErrorTimeout = 1,
    MTL4CommandQueueErrorNotPermitted = 2,
    MTL4CommandQueueErrorOutOfMemory = 3,
    MTL4CommandQueueErrorDeviceRemoved = 4,
    MTL4CommandQueueErrorAccessRevoked = 5,
    MTL4CommandQueueErrorInternal = 6,
};
MTL_EXTERN NSErrorDomain const MTL4CommandQueueErrorDomain;

// What became of a commit.
@protocol MTL4CommitFeedback <NSObject>
@property (nullable, readonly) NSError *error;  // nil: all of it ran
@property (readonly) CFTimeInterval GPUStartTime;
@property (readonly) CFTimeInterval GPUEndTime;
@end
typedef void (^MTL4CommitFeedbackHandler)(id<MTL4CommitFeedback> commitFeedback);

MTL_EXPORT
@interface MTL4CommitOptions : NSObject {
    NSMutableArray *_handlers;
}
- (void)addFeedbackHandler:(MTL4CommitFeedbackHandler)block;
@end

MTL_EXPORT
@interface MTL4CommandQueueDescriptor : NSObject <NSCopying> {
    NSString *_label;
    dispatch_queue_t _feedbackQueue;
}
@property (nullable, nonatomic, copy) NSString *label;
@property (nullable, nonatomic, assign) dispatch_queue_t feedbackQueue;  // retained; NULL: handlers run on any thread
@end

// Addresses in argument tables are looked up in the residency sets of the queue and of the command buffer.
@protocol MTL4CommandQueue <NSObject>
@property (readonly) id<MTLDevice> device;
@property (nullable, readonly) NSString *label;
- (void)commit:(const id<MTL4CommandBuffer> _Nonnull[_Nonnull])commandBuffers count:(NSUInteger)count;
- (void)commit:(const id<MTL4CommandBuffer> _Nonnull[_Nonnull])commandBuffers
         count:(NSUInteger)count
       options:(MTL4CommitOptions *)options;
- (void)signalEvent:(id<MTLEvent>)event value:(uint64_t)value;
- (void)waitForEvent:(id<MTLEvent>)event value:(uint64_t)value;
- (void)addResidencySet:(id<MTLResidencySet>)residencySet;
- (void)addResidencySets:(const id<MTLResidencySet> _Nonnull[_Nonnull])residencySets count:(NSUInteger)count;
- (void)removeResidencySet:(id<MTLResidencySet>)residencySet;
- (void)removeResidencySets:(const id<MTLResidencySet> _Nonnull[_Nonnull])residencySets count:(NSUInteger)count;
@end

NS_ASSUME_NONNULL_END

#endif
