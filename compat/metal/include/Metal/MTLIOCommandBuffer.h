// SPDX-License-Identifier: Apache-2.0
// Reads of files that are made together.
#ifndef INGOT_METAL_IO_COMMAND_BUFFER_H
#define INGOT_METAL_IO_COMMAND_BUFFER_H

#import <Metal/MTLTypes.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLBuffer;
@protocol MTLIOCommandBuffer;
@protocol MTLIOFileHandle;
@protocol MTLSharedEvent;
@protocol MTLTexture;

typedef NS_ENUM(NSInteger, MTLIOStatus) {
    MTLIOStatusPending = 0,
    MTLIOStatusCancelled = 1,
    MTLIOStatusError = 2,
    MTLIOStatusComplete = 3,
};

typedef void (^MTLIOCommandBufferHandler)(id<MTLIOCommandBuffer> commandBuffer);

// The first command that fails, because the file is too short or a range is outside of its target, ends the buffer.
@protocol MTLIOCommandBuffer <NSObject>
@property (nullable, copy, atomic) NSString *label;
@property (readonly) MTLIOStatus status;
@property (nullable, readonly) NSError *error;
- (void)loadBytes:(void *)pointer
                  size:(NSUInteger)size
          sourceHandle:(id<MTLIOFileHandle>)sourceHandle
    sourceHandleOffset:(NSUInteger)sourceHandleOffset;
- (void)loadBuffer:(id<MTLBuffer>)buffer
                offset:(NSUInteger)offset
                  size:(NSUInteger)size
          sourceHandle:(id<MTLIOFileHandle>)sourceHandle
    sourceHandleOffset:(NSUInteger)sourceHandleOffset;
- (void)loadTexture:(id<MTLTexture>)texture
                  slice:(NSUInteger)slice
                  level:(NSUInteger)level
                   size:(MTLSize)size
      sourceBytesPerRow:(NSUInteger)sourceBytesPerRow
    sourceBytesPerImage:(NSUInteger)sourceBytesPerImage
      destinationOrigin:(MTLOrigin)destinationOrigin
           sourceHandle:(id<MTLIOFileHandle>)sourceHandle
     sourceHandleOffset:(NSUInteger)sourceHandleOffset;
- (void)copyStatusToBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset;  // an MTLIOStatus, at the end
- (void)addBarrier;
- (void)waitForEvent:(id<MTLSharedEvent>)event value:(uint64_t)value;
- (void)signalEvent:(id<MTLSharedEvent>)event value:(uint64_t)value;
- (void)addCompletedHandler:(MTLIOCommandBufferHandler)block;
- (void)enqueue;
- (void)commit;
- (void)waitUntilCompleted;
- (void)tryCancel;  // what has not begun
- (void)pushDebugGroup:(NSString *)string;
- (void)popDebugGroup;
@end

NS_ASSUME_NONNULL_END

#endif
