// SPDX-License-Identifier: Apache-2.0
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

BOOL MPSSupportsMTLDevice(id<MTLDevice> device) {
    return device != nil;
}

@implementation MPSKernel
@synthesize device = _device, label = _label, options = _options;

- (instancetype)initWithDevice:(id<MTLDevice>)device {
    if (!(self = [super init])) return nil;
    _device = [device retain];
    if (device) return self;
    [self release];
    return nil;
}

- (void)dealloc {
    [_label release];
    [_device release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    return [self copyWithZone:zone device:_device];
}

- (instancetype)copyWithZone:(NSZone *)zone device:(id<MTLDevice>)device {
    MPSKernel *copy = [[[self class] allocWithZone:zone] initWithDevice:device ? device : _device];
    copy.label = _label;
    copy.options = _options;
    return copy;
}
@end
