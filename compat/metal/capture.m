// SPDX-License-Identifier: Apache-2.0
#include "capture.h"

#include <stdlib.h>
#include <string.h>

@interface MTLCaptureManager (Ingot)
- (void)scopeBegins:(id)scope;
- (void)scopeEnds:(id)scope;
- (void)note:(IGCommandBuffer *)buffer;
@end

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
    [[MTLCaptureManager sharedCaptureManager] scopeBegins:self];
}

- (void)endScope {
    [[MTLCaptureManager sharedCaptureManager] scopeEnds:self];
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
    [_descriptor release];
    [_committed release];
    [super dealloc];
}

- (BOOL)isCapturing {
    @synchronized(self) {
        return _descriptor != nil;
    }
}

- (id<MTLCaptureScope>)newCaptureScopeWithDevice:(id<MTLDevice>)device {
    return [[IGCaptureScope alloc] initWithDevice:device queue:nil];
}

- (id<MTLCaptureScope>)newCaptureScopeWithCommandQueue:(id<MTLCommandQueue>)commandQueue {
    return [[IGCaptureScope alloc] initWithDevice:commandQueue.device queue:commandQueue];
}

- (BOOL)supportsDestination:(MTLCaptureDestination)destination {
    return destination == MTLCaptureDestinationGPUTraceDocument && igi_metal_may_capture();
}

// ---- Recording ----

static IGDevice *device_of(id object) {
    return (IGDevice *)([object isKindOfClass:[IGDevice class]] ? object : [object device]);
}

static IGQueue *queue_of(id object) {
    if ([object isKindOfClass:[IGCaptureScope class]]) object = [object commandQueue];
    return [object isKindOfClass:[IGQueue class]] ? object : nil;
}

- (BOOL)record:(NSError **)error {
    IGQueue *queue = queue_of(_descriptor.captureObject);
    ig_capture_desc desc = {.directory = igi_text([_descriptor.outputURL path]), .queue = queue ? queue->_queue : NULL};
    ig_error why = {0};
    ig_status status = ig_device_start_capture(device_of(_descriptor.captureObject)->_device, &desc, &why);
    if (status != IG_STATUS_OK)
        igi_refuse(error, MTLCaptureErrorDomain, MTLCaptureErrorInvalidDescriptor,
                   [NSString stringWithUTF8String:why.message ? why.message : ig_status_text(status)]);
    ig_error_clear(&why);
    _isRecording = status == IG_STATUS_OK;
    if (_isRecording) _committed = [[NSMutableArray alloc] init];
    return _isRecording;
}

// What is wrong with a descriptor; nil: nothing.
static NSString *objection(MTLCaptureDescriptor *descriptor) {
    id object = descriptor.captureObject;
    NSString *path = [descriptor.outputURL isFileURL] ? [descriptor.outputURL path] : nil;
    BOOL known = [object isKindOfClass:[IGDevice class]] || [object isKindOfClass:[IGQueue class]] ||
                 [object isKindOfClass:[IGCaptureScope class]];
    if (!known) return @"captureObject must be a device, a command queue or a capture scope";
    if (descriptor.destination != MTLCaptureDestinationGPUTraceDocument)
        return @"there are no developer tools to capture for: set destination to MTLCaptureDestinationGPUTraceDocument";
    if (!path) return @"outputURL must name the directory to write";
    if ([[NSFileManager defaultManager] fileExistsAtPath:path])
        return [NSString stringWithFormat:@"'%@' exists already", path];
    return nil;
}

- (BOOL)startCaptureWithDescriptor:(MTLCaptureDescriptor *)descriptor error:(NSError **)error {
    igi_clear_error(error);
    igi_ensure_pool();
    NSString *wrong = objection(descriptor);
    if (!igi_metal_may_capture()) {
        igi_refuse(error, MTLCaptureErrorDomain, MTLCaptureErrorNotSupported,
                   @"captures are off; MTL_CAPTURE_ENABLED=1 in the environment allows them");
        return NO;
    }
    if (wrong) {
        igi_refuse(error, MTLCaptureErrorDomain, MTLCaptureErrorInvalidDescriptor, wrong);
        return NO;
    }
    @synchronized(self) {
        if (_descriptor) {
            igi_refuse(error, MTLCaptureErrorDomain, MTLCaptureErrorAlreadyCapturing, @"a capture is running");
            return NO;
        }
        _descriptor = [descriptor copy];
        BOOL waits = [descriptor.captureObject isKindOfClass:[IGCaptureScope class]];
        if (waits || [self record:error]) return YES;
        [_descriptor release];
        _descriptor = nil;
        return NO;
    }
}

- (void)stopCapture {
    NSArray *committed = nil;
    MTLCaptureDescriptor *descriptor = nil;
    @synchronized(self) {
        descriptor = _descriptor;
        committed = _committed;
        _descriptor = nil;
        _committed = nil;
    }
    // What was committed belongs to the capture, whether it has run or not.
    for (IGCommandBuffer *buffer in committed) [buffer waitBriefly];
    if (_isRecording) (void)ig_device_stop_capture(device_of(descriptor.captureObject)->_device);
    _isRecording = NO;
    [committed release];
    [descriptor release];
}

- (void)scopeBegins:(id)scope {
    @synchronized(self) {
        if (_descriptor.captureObject == scope && !_isRecording) [self record:NULL];
    }
}

- (void)scopeEnds:(id)scope {
    BOOL ends;
    @synchronized(self) {
        ends = _descriptor.captureObject == scope && _isRecording;
    }
    if (ends) [self stopCapture];
}

- (void)note:(IGCommandBuffer *)buffer {
    @synchronized(self) {
        [_committed addObject:buffer];
    }
}

// ---- For developer tools, which are not there ----

- (void)startCaptureWithDevice:(id<MTLDevice>)device {
}

- (void)startCaptureWithCommandQueue:(id<MTLCommandQueue>)commandQueue {
}

- (void)startCaptureWithScope:(id<MTLCaptureScope>)captureScope {
}
@end

bool igi_metal_may_capture(void) {
    const char *allowed = getenv("MTL_CAPTURE_ENABLED");
    if (!allowed) allowed = getenv("METAL_CAPTURE_ENABLED");
    return allowed && *allowed && strcmp(allowed, "0") != 0;
}

void igi_capture_note(IGCommandBuffer *buffer) {
    [[MTLCaptureManager sharedCaptureManager] note:buffer];
}
