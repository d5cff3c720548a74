// SPDX-License-Identifier: Apache-2.0
#include "mps.h"

#include <string.h>

#include "core/embedded.h"

extern const igi_embedded igi_mps_files[] __attribute__((visibility("hidden")));
extern const size_t igi_mps_files_count __attribute__((visibility("hidden")));

void igi_mps_refuse(Class owner, NSString *what) {
    [NSException raise:NSInvalidArgumentException format:@"%@: %@", NSStringFromClass(owner), what];
}

void igi_mps_synchronize(id<MTLBuffer> buffer, id<MTLCommandBuffer> commands) {
    if ([buffer storageMode] != MTLStorageModeManaged) return;
    id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
    [encoder synchronizeResource:buffer];
    [encoder endEncoding];
}

static const char *text_of(const char *file) {
    size_t i = 0;
    while (i < igi_mps_files_count && strcmp(igi_mps_files[i].name, file) != 0) i++;
    return i < igi_mps_files_count ? igi_mps_files[i].data : "";
}

id<MTLComputePipelineState> igi_mps_new_pipeline(id<MTLDevice> device, Class owner, const char *file, NSString *name) {
    NSError *error = nil;
    MTLCompileOptions *options = [[[MTLCompileOptions alloc] init] autorelease];
    options.fastMathEnabled = NO;  // NaN and infinities in, NaN and infinities out
    id<MTLLibrary> library = [device newLibraryWithSource:[NSString stringWithUTF8String:text_of(file)]
                                                  options:options
                                                    error:&error];
    id<MTLFunction> function = [library newFunctionWithName:name];
    id<MTLComputePipelineState> made =
        function ? [device newComputePipelineStateWithFunction:function error:&error] : nil;
    [function release];
    [library release];
    if (!made) igi_mps_refuse(owner, [error localizedDescription]);
    return made;
}

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
