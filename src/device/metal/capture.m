// SPDX-License-Identifier: Apache-2.0
// Recording what a device does, to look at in Xcode.
#include <stdlib.h>

#include "device/metal/metal.h"

void igi_metal_capture_start(metal_device *metal) {
    const char *path = getenv("INGOT_CAPTURE");
    if (!path || !*path) return;
    NSURL *file = igi_metal_file(path);
    if (!file) {
        igi_log(IG_LOG_WARNING, "INGOT_CAPTURE: nothing is recorded: the name of the file is not UTF-8");
        return;
    }
    MTLCaptureManager *manager = [MTLCaptureManager sharedCaptureManager];
    if (![manager supportsDestination:MTLCaptureDestinationGPUTraceDocument]) {
        igi_log(IG_LOG_WARNING, "INGOT_CAPTURE: this system cannot record (on macOS, set MTL_CAPTURE_ENABLED=1)");
        return;
    }
    MTLCaptureDescriptor *descriptor = [[[MTLCaptureDescriptor alloc] init] autorelease];
    [descriptor setCaptureObject:metal->device];
    [descriptor setDestination:MTLCaptureDestinationGPUTraceDocument];
    [descriptor setOutputURL:file];
    NSError *problem = nil;
    metal->capturing = [manager startCaptureWithDescriptor:descriptor error:&problem];
    if (!metal->capturing) igi_log(IG_LOG_WARNING, "INGOT_CAPTURE: %s", [[problem localizedDescription] UTF8String]);
}

void igi_metal_capture_stop(metal_device *metal) {
    if (metal->capturing) [[MTLCaptureManager sharedCaptureManager] stopCapture];
}
