// SPDX-License-Identifier: Apache-2.0
// Residency sets and binary archives. Internal.
#ifndef INGOT_COMPAT_METAL_RESIDENCY_SET_H
#define INGOT_COMPAT_METAL_RESIDENCY_SET_H

#include "device.h"

@interface IGResidencySet : IGObject <MTLResidencySet> {
    IGDevice *_device;
    NSMutableArray *_allocations;
}
- (id)initWithDevice:(IGDevice *)device label:(NSString *)label;
@end

@interface IGBinaryArchive : IGObject <MTLBinaryArchive> {
    IGDevice *_device;
    NSMutableArray *_names;
}
- (id)initWithDevice:(IGDevice *)device url:(NSURL *)url error:(NSError **)error;
@end

#endif
