// SPDX-License-Identifier: Apache-2.0
// Counters that command buffers, queues and the host wait for.
#ifndef INGOT_METAL_EVENT_H
#define INGOT_METAL_EVENT_H

#import <Metal/MTLDefines.h>
#include <dispatch/dispatch.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLDevice;
@protocol MTLSharedEvent;

@protocol MTLEvent <NSObject>
@property (nullable, readonly) id<MTLDevice> device;
@property (nullable, copy, atomic) NSString *label;
@end

MTL_EXPORT
@interface MTLSharedEventListener : NSObject {
    dispatch_queue_t _dispatchQueue;
}
+ (MTLSharedEventListener *)sharedListener;
- (instancetype)init;
- (instancetype)initWithDispatchQueue:(dispatch_queue_t)dispatchQueue;
@property (readonly) dispatch_queue_t dispatchQueue;
@end

// For other processes on a Mac; within one process here.
MTL_EXPORT
@interface MTLSharedEventHandle : NSObject <NSSecureCoding> {
    id<MTLSharedEvent> _event;
}
@property (nullable, readonly) NSString *label;
@end

typedef void (^MTLSharedEventNotificationBlock)(id<MTLSharedEvent> event, uint64_t value);

@protocol MTLSharedEvent <MTLEvent>
@property (readwrite) uint64_t signaledValue;
- (void)notifyListener:(MTLSharedEventListener *)listener
               atValue:(uint64_t)value
                 block:(MTLSharedEventNotificationBlock)block;
- (BOOL)waitUntilSignaledValue:(uint64_t)value timeoutMS:(uint64_t)milliseconds;
- (MTLSharedEventHandle *)newSharedEventHandle;
@end

NS_ASSUME_NONNULL_END

#endif
