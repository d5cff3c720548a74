// SPDX-License-Identifier: Apache-2.0
// Reading files into buffers and textures, in the order of a queue.
#ifndef INGOT_METAL_IO_COMMAND_QUEUE_H
#define INGOT_METAL_IO_COMMAND_QUEUE_H

#import <Metal/MTLDefines.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLBuffer;
@protocol MTLDevice;
@protocol MTLIOCommandBuffer;

typedef NS_ENUM(NSInteger, MTLIOPriority) {
    MTLIOPriorityHigh = 0,
    MTLIOPriorityNormal = 1,
    MTLIOPriorityLow = 2,
};

typedef NS_ENUM(NSInteger, MTLIOCommandQueueType) {
    MTLIOCommandQueueTypeConcurrent = 0,
    MTLIOCommandQueueTypeSerial = 1,
};

typedef NS_ENUM(NSInteger, MTLIOError) {
    MTLIOErrorURLInvalid = 1,
    MTLIOErrorInternal = 2,
};
MTL_EXTERN NSErrorDomain const MTLIOErrorDomain;

// A file that is open for reading.
@protocol MTLIOFileHandle <NSObject>
@property (nullable, copy, atomic) NSString *label;
@end

@protocol MTLIOScratchBuffer <NSObject>
@property (readonly) id<MTLBuffer> buffer;
@end

// Never called: files are read in place.
@protocol MTLIOScratchBufferAllocator <NSObject>
- (nullable id<MTLIOScratchBuffer>)newScratchBufferWithMinimumSize:(NSUInteger)minimumSize;
@end

// Priorities and limits are stored and have no effect.
MTL_EXPORT
@interface MTLIOCommandQueueDescriptor : NSObject <NSCopying> {
    NSUInteger _maxCommandBufferCount, _maxCommandsInFlight;
    MTLIOPriority _priority;
    MTLIOCommandQueueType _type;
    id<MTLIOScratchBufferAllocator> _scratchBufferAllocator;
}
@property (nonatomic, readwrite) NSUInteger maxCommandBufferCount;
@property (nonatomic, readwrite) MTLIOPriority priority;
@property (nonatomic, readwrite) MTLIOCommandQueueType type;
@property (nonatomic, readwrite) NSUInteger maxCommandsInFlight;
@property (nullable, nonatomic, readwrite, retain) id<MTLIOScratchBufferAllocator> scratchBufferAllocator;
@end

@protocol MTLIOCommandQueue <NSObject>
@property (nullable, copy, atomic) NSString *label;
- (void)enqueueBarrier;
- (id<MTLIOCommandBuffer>)commandBuffer;
- (id<MTLIOCommandBuffer>)commandBufferWithUnretainedReferences;
@end

NS_ASSUME_NONNULL_END

#endif
