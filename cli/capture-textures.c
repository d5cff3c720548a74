// SPDX-License-Identifier: Apache-2.0
// What a capture says of textures and samplers. The library checks what it means; here numbers have to be in range.
#include <string.h>

#include "capture-fields.h"

// ---- Textures ----

static ig_status get_format(const capture_loader *l, const igi_json_value *object, ig_pixel_format *format) {
    const char *name;
    ig_status status = capture_get_text(l, object, "format", &name);
    if (status != IG_STATUS_OK) return status;
    *format = ig_pixel_format_find(name);
    return *format != IG_PIXEL_INVALID ? IG_STATUS_OK : capture_wrong(l, "format", "is not a format of pixels");
}

static ig_status read_place(const capture_loader *l, const igi_json_value *item, capture_texture *texture) {
    uint64_t buffer;
    texture->in_buffer = true;
    ig_status status = capture_get_number(l, item, "buffer", CAPTURE_MAX_ITEMS, &buffer);
    if (status == IG_STATUS_OK) status = capture_get_number(l, item, "offset", UINT64_MAX, &texture->desc.offset);
    if (status == IG_STATUS_OK) status = capture_get_number(l, item, "row_bytes", UINT64_MAX, &texture->desc.row_bytes);
    if (status != IG_STATUS_OK) return status;
    texture->buffer = buffer;
    return buffer < l->read->buffer_count ? IG_STATUS_OK : capture_wrong(l, "buffer", "does not exist");
}

static ig_status read_files(const capture_loader *l, const igi_json_value *item, capture_texture *texture) {
    const char *file, *after = igi_json_get_string(igi_json_member(item, "after"));
    ig_status status = capture_get_text(l, item, "file", &file);
    if (status == IG_STATUS_OK) status = capture_load_array(l, file, &texture->before);
    if (status == IG_STATUS_OK && after) status = capture_load_array(l, after, &texture->after);
    if (status != IG_STATUS_OK || !after) return status;
    bool alike = texture->after.type == texture->before.type && texture->after.bytes == texture->before.bytes;
    return alike ? IG_STATUS_OK : capture_wrong(l, after, "has another type or length than the pixels before");
}

ig_status capture_read_texture(const capture_loader *l, const igi_json_value *item) {
    capture_texture *texture = &l->read->textures[l->read->texture_count++];
    ig_texture_desc *desc = &texture->desc;
    uint32_t type = 0;
    const capture_number numbers[] = {
        {"type", IG_TEXTURE_TYPE_COUNT - 1, &type},
        {"width", UINT32_MAX, &desc->width},
        {"height", UINT32_MAX, &desc->height},
        {"depth", UINT32_MAX, &desc->depth},
        {"array_length", UINT32_MAX, &desc->array_length},
        {"levels", UINT32_MAX, &desc->levels},
        {"samples", UINT32_MAX, &desc->samples},
    };
    ig_status status = capture_get_numbers(l, item, numbers, sizeof numbers / sizeof *numbers);
    if (status == IG_STATUS_OK) status = get_format(l, item, &desc->format);
    if (status != IG_STATUS_OK) return status;
    desc->type = (ig_texture_type)type;
    desc->label = igi_json_get_string(igi_json_member(item, "label"));
    return igi_json_member(item, "buffer") ? read_place(l, item, texture) : read_files(l, item, texture);
}

// ---- Arguments ----

static ig_status read_swizzle(const capture_loader *l, const igi_json_value *view, ig_swizzle swizzle[4]) {
    const igi_json_value *array;
    ig_status status = capture_get_array(l, view, "swizzle", 4, &array);
    if (status != IG_STATUS_OK) return status;
    const igi_json_value *item = array->first;
    for (int c = 0; c < 4; c++, item = item ? item->next : NULL) {
        uint64_t from;
        if (!igi_json_get_u64(item, &from) || from > IG_SWIZZLE_ALPHA)
            return capture_wrong(l, "swizzle", "must be four channels");
        swizzle[c] = (ig_swizzle)from;
    }
    return IG_STATUS_OK;
}

ig_status capture_read_view(const capture_loader *l, const igi_json_value *item, capture_argument *argument) {
    const igi_json_value *view = igi_json_member(item, "view");
    ig_texture_view_desc *desc = &argument->view;
    uint32_t type = 0, texture = 0;
    argument->kind = CAPTURE_TEXTURE;
    ig_status status = capture_get_numbers(l, item, &(capture_number){"texture", CAPTURE_MAX_ITEMS, &texture}, 1);
    if (status == IG_STATUS_OK && texture >= l->read->texture_count)
        status = capture_wrong(l, "texture", "does not exist");
    argument->buffer = texture;
    if (status != IG_STATUS_OK || !view) return status;
    const capture_number numbers[] = {
        {"type", IG_TEXTURE_TYPE_COUNT - 1, &type}, {"level", UINT32_MAX, &desc->level},
        {"levels", UINT32_MAX, &desc->levels},      {"layer", UINT32_MAX, &desc->layer},
        {"layers", UINT32_MAX, &desc->layers},
    };
    status = capture_get_numbers(l, view, numbers, sizeof numbers / sizeof *numbers);
    if (status == IG_STATUS_OK) status = get_format(l, view, &desc->format);
    if (status == IG_STATUS_OK) status = read_swizzle(l, view, desc->swizzle);
    desc->type = (ig_texture_type)type;
    argument->is_view = true;
    return status;
}

static float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

ig_status capture_read_sampler(const capture_loader *l, const igi_json_value *item, capture_argument *argument) {
    const igi_json_value *sampler = igi_json_member(item, "sampler");
    ig_texture_sampler_desc *desc = &argument->sampler;
    uint32_t s = 0, t = 0, r = 0, mag = 0, min = 0, mip = 0, compare = 0, border = 0, least = 0, most = 0;
    argument->kind = CAPTURE_SAMPLER;
    const capture_number numbers[] = {
        {"s", IG_ADDRESS_MIRROR_CLAMP_TO_EDGE, &s},
        {"t", IG_ADDRESS_MIRROR_CLAMP_TO_EDGE, &t},
        {"r", IG_ADDRESS_MIRROR_CLAMP_TO_EDGE, &r},
        {"mag_filter", IG_FILTER_LINEAR, &mag},
        {"min_filter", IG_FILTER_LINEAR, &min},
        {"mip_filter", IG_MIP_LINEAR, &mip},
        {"compare", IG_COMPARE_ALWAYS, &compare},
        {"border", IG_BORDER_OPAQUE_WHITE, &border},
        {"max_anisotropy", UINT32_MAX, &desc->max_anisotropy},
        {"lod_min_bits", UINT32_MAX, &least},
        {"lod_max_bits", UINT32_MAX, &most},
    };
    ig_status status = capture_get_numbers(l, sampler, numbers, sizeof numbers / sizeof *numbers);
    if (status != IG_STATUS_OK) return status;
    if (!igi_json_get_bool(igi_json_member(sampler, "pixel_coordinates"), &desc->pixel_coordinates))
        return capture_wrong(l, "pixel_coordinates", "must be a boolean");
    desc->s = (ig_address_mode)s, desc->t = (ig_address_mode)t, desc->r = (ig_address_mode)r;
    desc->mag_filter = (ig_filter)mag, desc->min_filter = (ig_filter)min, desc->mip_filter = (ig_mip_filter)mip;
    desc->compare = (ig_compare)compare, desc->border = (ig_border)border;
    desc->lod_min = float_of(least), desc->lod_max = float_of(most);
    return IG_STATUS_OK;
}
