// SPDX-License-Identifier: Apache-2.0
// Argument buffers. Internal.
#ifndef INGOT_COMPAT_METAL_ARGUMENT_ENCODER_H
#define INGOT_COMPAT_METAL_ARGUMENT_ENCODER_H

#include "library.h"

@interface IGArgumentEncoder : IGObject <MTLArgumentEncoder> {
    IGDevice *_device;
    struct igi_argument_member *_members;
    size_t _memberCount;
    NSUInteger _length, _alignment;
    id<MTLBuffer> _buffer;
    NSUInteger _offset;
    IGLibrary *_library;  // owns the layout of `_members`; nil if they are of descriptors
}
// nil if a descriptor has a type that cannot be in an argument buffer, or two have the same index.
- (id)initWithDevice:(IGDevice *)device arguments:(NSArray *)arguments;
// For a struct of the library. nil if it is anything else.
- (id)initWithLayout:(igi_layout_range)layout library:(IGLibrary *)library;
@end

#pragma GCC visibility push(hidden)
id<MTLArgumentEncoder> igi_new_encoder_of_binding(id<MTLBufferBinding> binding);
#pragma GCC visibility pop

#endif
