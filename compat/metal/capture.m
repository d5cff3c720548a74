// SPDX-License-Identifier: Apache-2.0
// Captures, which are not supported.
#include "object.h"

@interface IGCaptureScope : IGObject <MTLCaptureScope> {
    id<MTLDevice> _device;
    id<MTLCommandQueue> _commandQueue;
}
@end

@implementation IGCaptureScope
- (id)initWithDevice:(id<MTLDevice>)device queue:(id<MTLCommandQueue>)queue {
    if (!(self = [super init])) return nil;
    _device = [device retain];
    _commandQueue = [queue retain];
    return self;
}

- (void)dealloc {
    [_commandQueue release];
    [_device release];
    [super dealloc];
}

- (id<MTLDevice>)device {
    return _device;
}

- (id<MTLCommandQueue>)commandQueue {
    return _commandQueue;
}

- (void)beginScope {
}

- (void)endScope {
}
@end

@implementation MTLCaptureDescriptor
@synthesize captureObject = _captureObject, destination = _destination, outputURL = _outputURL;

- (id)init {
    if ((self = [super init])) _destination = MTLCaptureDestinationDeveloperTools;
    return self;
}

- (void)dealloc {
    [_captureObject release];
    [_outputURL release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    MTLCaptureDescriptor *copy = [[[self class] allocWithZone:zone] init];
    copy.captureObject = _captureObject;
    copy.destination = _destination;
    copy.outputURL = _outputURL;
    return copy;
}
@end

@implementation MTLCaptureManager
@synthesize defaultCaptureScope = _defaultCaptureScope;

+ (MTLCaptureManager *)sharedCaptureManager {
    static dispatch_once_t once;
    static MTLCaptureManager *manager;
    dispatch_once(&once, ^{
      manager = [[MTLCaptureManager alloc] init];
    });
    return manager;
}

- (void)dealloc {
    [_defaultCaptureScope release];
    [super dealloc];
}

- (BOOL)isCapturing {
    return NO;
}

- (id<MTLCaptureScope>)newCaptureScopeWithDevice:(id<MTLDevice>)device {
    return [[IGCaptureScope alloc] initWithDevice:device queue:nil];
}

- (id<MTLCaptureScope>)newCaptureScopeWithCommandQueue:(id<MTLCommandQueue>)commandQueue {
    return [[IGCaptureScope alloc] initWithDevice:commandQueue.device queue:commandQueue];
}

- (BOOL)supportsDestination:(MTLCaptureDestination)destination {
    return NO;
}

- (BOOL)startCaptureWithDescriptor:(MTLCaptureDescriptor *)descriptor error:(NSError **)error {
    igi_refuse(error, MTLCaptureErrorDomain, MTLCaptureErrorNotSupported,
               @"captures are made by Xcode, and the software device has none");
    return NO;
}

- (void)startCaptureWithDevice:(id<MTLDevice>)device {
}

- (void)startCaptureWithCommandQueue:(id<MTLCommandQueue>)commandQueue {
}

- (void)startCaptureWithScope:(id<MTLCaptureScope>)captureScope {
}

- (void)stopCapture {
}
@end
