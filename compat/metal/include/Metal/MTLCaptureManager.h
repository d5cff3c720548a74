// SPDX-License-Identifier: Apache-2.0
// Captures of dispatches, which `ingot replay` runs again. As on a Mac, a program may only capture with
// MTL_CAPTURE_ENABLED=1 in its environment. outputURL names the directory of the capture, which must not exist; there is no
// other destination.
#ifndef INGOT_METAL_CAPTURE_MANAGER_H
#define INGOT_METAL_CAPTURE_MANAGER_H

#import <Metal/MTLCaptureScope.h>

NS_ASSUME_NONNULL_BEGIN

MTL_EXTERN NSErrorDomain const MTLCaptureErrorDomain;

typedef NS_ENUM(NSInteger, MTLCaptureError) {
    MTLCaptureErrorNotSupported = 1,
    MTLCaptureErrorAlreadyCapturing = 2,
    MTLCaptureErrorInvalidDescriptor = 3,
};

typedef NS_ENUM(NSInteger, MTLCaptureDestination) {
    MTLCaptureDestinationDeveloperTools = 1,
    MTLCaptureDestinationGPUTraceDocument = 2,
};

MTL_EXPORT
@interface MTLCaptureDescriptor : NSObject <NSCopying> {
    id _captureObject;
    MTLCaptureDestination _destination;
    NSURL *_outputURL;
}
@property (nullable, nonatomic, retain) id captureObject;
@property (nonatomic) MTLCaptureDestination destination;
@property (nullable, nonatomic, copy) NSURL *outputURL;
@end

MTL_EXPORT
@interface MTLCaptureManager : NSObject {
    id<MTLCaptureScope> _defaultCaptureScope;
    MTLCaptureDescriptor *_descriptor;  // of the capture that was started; nil: none
    BOOL _isRecording;                  // and its scope has begun
    NSMutableArray *_committed;         // command buffers since then
}
+ (MTLCaptureManager *)sharedCaptureManager;
@property (nullable, readwrite, retain, atomic) id<MTLCaptureScope> defaultCaptureScope;
@property (readonly) BOOL isCapturing;
- (id<MTLCaptureScope>)newCaptureScopeWithDevice:(id<MTLDevice>)device;
- (id<MTLCaptureScope>)newCaptureScopeWithCommandQueue:(id<MTLCommandQueue>)commandQueue;
- (BOOL)supportsDestination:(MTLCaptureDestination)destination;
- (BOOL)startCaptureWithDescriptor:(MTLCaptureDescriptor *)descriptor error:(NSError **)error;
- (void)startCaptureWithDevice:(id<MTLDevice>)device;
- (void)startCaptureWithCommandQueue:(id<MTLCommandQueue>)commandQueue;
- (void)startCaptureWithScope:(id<MTLCaptureScope>)captureScope;
- (void)stopCapture;
@end

NS_ASSUME_NONNULL_END

#endif
