// SPDX-License-Identifier: Apache-2.0
// Textures and samplers. Internal.
#ifndef INGOT_COMPAT_METAL_TEXTURE_H
#define INGOT_COMPAT_METAL_TEXTURE_H

#include <ingot/texture.h>

#include "living.h"
#include "resource.h"

@interface IGTexture : IGResource <MTLTexture> {
   @public
    ig_texture *_texture;

   @private
    ig_texture_desc _desc;
    MTLTextureUsage _usage;
    MTLTextureSwizzleChannels _swizzle;
    id<MTLBuffer> _buffer;      // that has the pixels, or nil
    IGTexture *_parent;         // of a view, or nil
    NSUInteger _level, _slice;  // of the parent
}
@end

@interface IGSamplerState : IGObject <MTLSamplerState> {
   @public
    ig_texture_sampler *_sampler;
    ig_texture_sampler_desc _desc;
    IGDevice *_device;

   @private
    igi_living _living;
}
@end

@interface IGSamplerState (Making)
- (id)initWithDevice:(IGDevice *)device desc:(const ig_texture_sampler_desc *)desc label:(NSString *)label;
@end

#pragma GCC visibility push(hidden)
// These return nil if there can be no such texture or sampler. `buffer` may be nil.
id<MTLTexture> igi_new_texture(IGDevice *device, MTLTextureDescriptor *descriptor, id<MTLBuffer> buffer,
                               NSUInteger offset, NSUInteger bytesPerRow);
id<MTLSamplerState> igi_new_sampler(IGDevice *device, MTLSamplerDescriptor *descriptor);
// A sampler of that id, if there is one, for the autorelease pool.
id<MTLSamplerState> igi_sampler_of(MTLResourceID resource);
// The same sampler with other clamps, for the autorelease pool; nil if they are wrong.
id<MTLSamplerState> igi_sampler_clamped(id<MTLSamplerState> sampler, float lodMin, float lodMax);
// The ig_texture of an MTLTexture; NULL for nil.
ig_texture *igi_texture_of(id<MTLTexture> texture);
#pragma GCC visibility pop

#endif
