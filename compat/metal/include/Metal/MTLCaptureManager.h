// SPDX-License-Identifier: Apache-2.0
// Captures need Xcode: nothing can be captured here, and the manager says so.
#ifndef INGOT_METAL_CAPTURE_MANAGER_H
#define INGOT_METAL_CAPTURE_MANAGER_H

#import <Metal/MTLCaptureScope.h>

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
@property (nonatomic, retain) id captureObject;
@property (nonatomic) MTLCaptureDestination destination;
@property (nonatomic, copy) NSURL *outputURL;
@end

MTL_EXPORT
@interface MTLCaptureManager : NSObject {
    id<MTLCaptureScope> _defaultCaptureScope;
}
+ (MTLCaptureManager *)sharedCaptureManager;
@property (readwrite, retain, atomic) id<MTLCaptureScope> defaultCaptureScope;
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

#endif
