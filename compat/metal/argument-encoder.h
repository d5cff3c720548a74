// SPDX-License-Identifier: Apache-2.0
// Argument buffers. Internal.
#ifndef INGOT_COMPAT_METAL_ARGUMENT_ENCODER_H
#define INGOT_COMPAT_METAL_ARGUMENT_ENCODER_H

#include "device.h"

@interface IGArgumentEncoder : IGObject <MTLArgumentEncoder> {
    IGDevice *_device;
    struct igi_argument_member *_members;
    size_t _memberCount;
    NSUInteger _length, _alignment;
    id<MTLBuffer> _buffer;
    NSUInteger _offset;
}
// nil if a descriptor has a type that cannot be in an argument buffer, or two have the same index.
- (id)initWithDevice:(IGDevice *)device arguments:(NSArray *)arguments;
@end

#endif
