// SPDX-License-Identifier: Apache-2.0
#include <float.h>

#include "texture.h"

static ig_address_mode address_of(MTLSamplerAddressMode mode) {
    static const ig_address_mode modes[] = {
        [MTLSamplerAddressModeClampToEdge] = IG_ADDRESS_CLAMP_TO_EDGE,
        [MTLSamplerAddressModeMirrorClampToEdge] = IG_ADDRESS_MIRROR_CLAMP_TO_EDGE,
        [MTLSamplerAddressModeRepeat] = IG_ADDRESS_REPEAT,
        [MTLSamplerAddressModeMirrorRepeat] = IG_ADDRESS_MIRRORED_REPEAT,
        [MTLSamplerAddressModeClampToZero] = IG_ADDRESS_CLAMP_TO_ZERO,
        [MTLSamplerAddressModeClampToBorderColor] = IG_ADDRESS_CLAMP_TO_BORDER,
    };
    return mode < sizeof modes / sizeof *modes ? modes[mode] : IG_ADDRESS_CLAMP_TO_EDGE;
}

static ig_compare compare_of(MTLCompareFunction function) {
    static const ig_compare functions[] = {
        [MTLCompareFunctionNever] = IG_COMPARE_NEVER,
        [MTLCompareFunctionLess] = IG_COMPARE_LESS,
        [MTLCompareFunctionEqual] = IG_COMPARE_EQUAL,
        [MTLCompareFunctionLessEqual] = IG_COMPARE_LESS_EQUAL,
        [MTLCompareFunctionGreater] = IG_COMPARE_GREATER,
        [MTLCompareFunctionNotEqual] = IG_COMPARE_NOT_EQUAL,
        [MTLCompareFunctionGreaterEqual] = IG_COMPARE_GREATER_EQUAL,
        [MTLCompareFunctionAlways] = IG_COMPARE_ALWAYS,
    };
    return function < sizeof functions / sizeof *functions ? functions[function] : IG_COMPARE_NEVER;
}

id<MTLSamplerState> igi_new_sampler(IGDevice *device, MTLSamplerDescriptor *descriptor) {
    if (!descriptor) return nil;
    ig_texture_sampler_desc desc = {
        .s = address_of(descriptor.sAddressMode),
        .t = address_of(descriptor.tAddressMode),
        .r = address_of(descriptor.rAddressMode),
        .mag_filter = (ig_filter)descriptor.magFilter,
        .min_filter = (ig_filter)descriptor.minFilter,
        .mip_filter = (ig_mip_filter)descriptor.mipFilter,
        .pixel_coordinates = !descriptor.normalizedCoordinates,
        .compare = compare_of(descriptor.compareFunction),
        .border = (ig_border)descriptor.borderColor,
        .max_anisotropy = (uint32_t)descriptor.maxAnisotropy,
        .lod_min = descriptor.lodMinClamp,
        // 0 is no limit there, and level 0 here.
        .lod_max = descriptor.lodMaxClamp > 0 ? descriptor.lodMaxClamp : FLT_MIN,
    };
    ig_texture_sampler *sampler;
    if (ig_texture_sampler_create(device->_device, &desc, &sampler) != IG_STATUS_OK) return nil;
    return [[IGSamplerState alloc] initWithSampler:sampler device:device label:descriptor.label];
}

@implementation IGSamplerState
- (id)initWithSampler:(ig_texture_sampler *)sampler device:(IGDevice *)device label:(NSString *)label {
    if (!(self = [super init])) return nil;
    _sampler = sampler;
    _device = [device retain];
    self.label = label;
    igi_living_add(&_living, ig_texture_sampler_resource_id(sampler), self);
    return self;
}

- (void)dealloc {
    igi_living_remove(&_living);
    ig_texture_sampler_release(_sampler);
    [_device release];
    [super dealloc];
}

- (id<MTLDevice>)device {
    return _device;
}

- (MTLResourceID)gpuResourceID {
    return (MTLResourceID){ig_texture_sampler_resource_id(_sampler)};
}
@end

// Samplers of the same properties have the same id, so any of them will do.
id<MTLSamplerState> igi_sampler_of(MTLResourceID resource) {
    __block ig_texture_sampler *sampler = NULL;
    __block IGDevice *device = nil;
    igi_living_use(resource._impl, [IGSamplerState class], ^(id owner) {
      sampler = ig_texture_sampler_retain(((IGSamplerState *)owner)->_sampler);
      device = [((IGSamplerState *)owner)->_device retain];
    });
    if (!sampler) return nil;
    IGSamplerState *made = [[IGSamplerState alloc] initWithSampler:sampler device:device label:nil];
    [device release];
    return igi_autoreleased(made);
}
