// SPDX-License-Identifier: Apache-2.0
// Samplers: a description packed into 64 bits.
#include <math.h>
#include <string.h>

#include "device/backend.h"
#include "device/texture.h"

static const uint64_t address_modes[] = {
    [IG_ADDRESS_CLAMP_TO_EDGE] = IGI_ADDRESS_CLAMP_TO_EDGE,
    [IG_ADDRESS_REPEAT] = IGI_ADDRESS_REPEAT,
    [IG_ADDRESS_MIRRORED_REPEAT] = IGI_ADDRESS_MIRRORED_REPEAT,
    [IG_ADDRESS_CLAMP_TO_ZERO] = IGI_ADDRESS_CLAMP_TO_ZERO,
    [IG_ADDRESS_CLAMP_TO_BORDER] = IGI_ADDRESS_CLAMP_TO_BORDER,
    [IG_ADDRESS_MIRROR_CLAMP_TO_EDGE] = IGI_ADDRESS_MIRROR_CLAMP_TO_EDGE,
};

static ig_status refuse(const char *why) {
    return igi_fail(IG_STATUS_INVALID_ARGUMENT, "sampler_create: %s", why);
}

static ig_status check(const ig_texture_sampler_desc *desc) {
    unsigned last = IG_ADDRESS_MIRROR_CLAMP_TO_EDGE;
    if ((unsigned)desc->s > last || (unsigned)desc->t > last || (unsigned)desc->r > last)
        return refuse("there is no such address mode");
    if ((unsigned)desc->mag_filter > IG_FILTER_LINEAR || (unsigned)desc->min_filter > IG_FILTER_LINEAR ||
        (unsigned)desc->mip_filter > IG_MIP_LINEAR)
        return refuse("there is no such filter");
    if ((unsigned)desc->compare > IG_COMPARE_ALWAYS) return refuse("there is no such comparison");
    if ((unsigned)desc->border > IG_BORDER_OPAQUE_WHITE) return refuse("there is no such border colour");
    if (desc->max_anisotropy > 16) return refuse("max_anisotropy is at most 16");
    if (!(desc->lod_min >= 0) || !(desc->lod_max >= 0)) return refuse("levels are not negative");
    bool repeats = desc->s == IG_ADDRESS_REPEAT || desc->s == IG_ADDRESS_MIRRORED_REPEAT ||
                   desc->t == IG_ADDRESS_REPEAT || desc->t == IG_ADDRESS_MIRRORED_REPEAT ||
                   desc->r == IG_ADDRESS_REPEAT || desc->r == IG_ADDRESS_MIRRORED_REPEAT;
    if (desc->pixel_coordinates && repeats) return refuse("pixel coordinates are clamped; they cannot repeat");
    return IG_STATUS_OK;
}

static uint64_t half_bits(float x) {
    _Float16 half = (_Float16)(x > 65504 ? 65504 : x);
    uint16_t bits;
    memcpy(&bits, &half, sizeof bits);
    return bits;
}

static uint64_t pack(const ig_texture_sampler_desc *desc) {
    uint32_t most = desc->max_anisotropy ? desc->max_anisotropy : 1;
    float last = desc->lod_max > 0 ? desc->lod_max : 65504;
    return address_modes[desc->s] << IGI_SAMPLER_S | address_modes[desc->t] << IGI_SAMPLER_T |
           address_modes[desc->r] << IGI_SAMPLER_R | (uint64_t)desc->mag_filter << IGI_SAMPLER_MAG |
           (uint64_t)desc->min_filter << IGI_SAMPLER_MIN | (uint64_t)desc->mip_filter << IGI_SAMPLER_MIP |
           (uint64_t)desc->pixel_coordinates << IGI_SAMPLER_PIXEL | (uint64_t)desc->compare << IGI_SAMPLER_COMPARE |
           (uint64_t)desc->border << IGI_SAMPLER_BORDER | (uint64_t)(most - 1) << IGI_SAMPLER_ANISOTROPY |
           half_bits(desc->lod_min) << IGI_SAMPLER_LOD_MIN | half_bits(last) << IGI_SAMPLER_LOD_MAX;
}

ig_status ig_texture_sampler_create(ig_device *device, const ig_texture_sampler_desc *desc,
                                    ig_texture_sampler **sampler) {
    if (!device || !desc || !sampler) return refuse("device, desc and sampler must not be NULL");
    if (igi_device_is_inherited(device)) return igi_device_fail_forked();
    ig_status status = check(desc);
    if (status != IG_STATUS_OK) return status;
    ig_texture_sampler *made = igi_calloc(1, sizeof *made);
    if (!made) return igi_fail_no_memory();
    igi_ref_init(&made->references);
    made->device = ig_device_retain(device);
    made->desc = *desc;
    made->state = pack(desc);
    if (device->backend->sampler_open && !device->backend->sampler_open(made, desc)) {
        free(made);
        ig_device_release(device);
        return igi_fail(IG_STATUS_UNSUPPORTED, "sampler_create: this device does not support such a sampler");
    }
    *sampler = made;
    return IG_STATUS_OK;
}

ig_texture_sampler *ig_texture_sampler_retain(ig_texture_sampler *sampler) {
    if (sampler) igi_ref_take(&sampler->references);
    return sampler;
}

void ig_texture_sampler_release(ig_texture_sampler *sampler) {
    if (!sampler || igi_device_is_inherited(sampler->device) || !igi_ref_drop(&sampler->references)) return;
    ig_device *device = sampler->device;
    if (device->backend->sampler_close) device->backend->sampler_close(sampler);
    free(sampler);
    ig_device_release(device);
}

uint64_t ig_texture_sampler_resource_id(const ig_texture_sampler *sampler) {
    const igi_device_backend *backend = sampler->device->backend;
    return backend->sampler_resource_id ? backend->sampler_resource_id(sampler) : sampler->state;
}
