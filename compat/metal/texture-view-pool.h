// SPDX-License-Identifier: Apache-2.0
// Pools of texture views. Internal.
#ifndef INGOT_COMPAT_METAL_TEXTURE_VIEW_POOL_H
#define INGOT_COMPAT_METAL_TEXTURE_VIEW_POOL_H

#include <pthread.h>

#include "texture.h"

@interface IGTextureViewPool : IGObject <MTLTextureViewPool> {
    IGDevice *_device;
    NSUInteger _count;
    uint64_t _base;
    struct igi_view_slot *_slots;
    pthread_mutex_t _lock;  // guards the views of the slots
}
// nil and an error if it has no views, or too many.
- (id)initWithDevice:(IGDevice *)device descriptor:(MTLResourceViewPoolDescriptor *)descriptor error:(NSError **)error;
@end

#pragma GCC visibility push(hidden)
// The view of a pool that has that id, for the autorelease pool; nil if there is none.
id<MTLTexture> igi_pooled_view(MTLResourceID resource);
#pragma GCC visibility pop

#endif
