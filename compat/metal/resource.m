// SPDX-License-Identifier: Apache-2.0
// What all resources have in common.
#include "resource.h"

MTLPurgeableState igi_set_purgeable(MTLPurgeableState *current, MTLPurgeableState next) {
    MTLPurgeableState before = *current;
    // Nothing is ever purged, so Empty has no effect either.
    if (next != MTLPurgeableStateKeepCurrent) *current = next;
    return before;
}

@implementation IGResource
- (id)initWithDevice:(IGDevice *)device options:(MTLResourceOptions)options {
    if (!(self = [super init])) return nil;
    _device = [device retain];
    _options = options;
    _purgeable = MTLPurgeableStateNonVolatile;
    return self;
}

- (void)dealloc {
    [_device release];
    [super dealloc];
}

- (id<MTLDevice>)device {
    return _device;
}

- (NSUInteger)allocatedSize {
    return 0;
}

- (MTLCPUCacheMode)cpuCacheMode {
    return (MTLCPUCacheMode)((_options & MTLResourceCPUCacheModeMask) >> MTLResourceCPUCacheModeShift);
}

- (MTLStorageMode)storageMode {
    return igi_storage_mode(_options);
}

- (MTLHazardTrackingMode)hazardTrackingMode {
    NSUInteger mode = (_options & MTLResourceHazardTrackingModeMask) >> MTLResourceHazardTrackingModeShift;
    return mode == MTLHazardTrackingModeDefault ? MTLHazardTrackingModeTracked : (MTLHazardTrackingMode)mode;
}

- (MTLResourceOptions)resourceOptions {
    return _options;
}

- (MTLPurgeableState)setPurgeableState:(MTLPurgeableState)state {
    return igi_set_purgeable(&_purgeable, state);
}

- (id<MTLHeap>)heap {
    return nil;
}

- (NSUInteger)heapOffset {
    return 0;
}

- (void)makeAliasable {
}

- (BOOL)isAliasable {
    return NO;
}
@end
