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

// 0 is no limit there, and level 0 here.
static float lod_max_of(float clamp) {
    return clamp > 0 ? clamp : FLT_MIN;
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
        .lod_max = lod_max_of(descriptor.lodMaxClamp),
        .lod_average = descriptor.lodAverage,
    };
    return [[IGSamplerState alloc] initWithDevice:device desc:&desc label:descriptor.label];
}

@implementation IGSamplerState
- (id)initWithDevice:(IGDevice *)device desc:(const ig_texture_sampler_desc *)desc label:(NSString *)label {
    if (!(self = [super init])) return nil;
    _device = [device retain];
    _desc = *desc;
    self.label = label;
    if (ig_texture_sampler_create(device->_device, desc, &_sampler) != IG_STATUS_OK) {
        _sampler = NULL;
        [self release];
        return nil;
    }
    igi_living_add(&_living, ig_texture_sampler_resource_id(_sampler), self);
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
    __block ig_texture_sampler_desc desc;
    __block IGDevice *device = nil;
    igi_living_use(resource._impl, [IGSamplerState class], ^(id owner) {
      desc = ((IGSamplerState *)owner)->_desc;
      device = [((IGSamplerState *)owner)->_device retain];
    });
    if (!device) return nil;
    IGSamplerState *made = [[IGSamplerState alloc] initWithDevice:device desc:&desc label:nil];
    [device release];
    return made ? igi_autoreleased(made) : nil;
}

id<MTLSamplerState> igi_sampler_clamped(id<MTLSamplerState> sampler, float lodMin, float lodMax) {
    if (!sampler) return nil;
    IGSamplerState *own = (IGSamplerState *)sampler;
    ig_texture_sampler_desc desc = own->_desc;
    desc.lod_min = lodMin;
    desc.lod_max = lod_max_of(lodMax);
    IGSamplerState *made = [[IGSamplerState alloc] initWithDevice:own->_device desc:&desc label:own.label];
    return made ? igi_autoreleased(made) : nil;
}
