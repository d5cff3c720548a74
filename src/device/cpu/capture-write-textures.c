// SPDX-License-Identifier: Apache-2.0
// What a capture says of textures and samplers. Enumerations are the numbers of <ingot/texture.h>.
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "device/cpu/capture-write.h"
#include "device/texture.h"

typedef cpu_capture_writer writer;

// ---- Textures ----

static void put_file(writer *w, const char *key, size_t index, const char *suffix, const char *pixels) {
    const ig_texture *texture = w->capture->textures[index].texture;
    char *now = pixels ? NULL : igi_cpu_capture_pixels(texture);
    char name[48];
    snprintf(name, sizeof name, "texture-%zu%s.npy", index, suffix);
    igi_json_put_string(&w->json, key, name);
    if (pixels || now)
        igi_cpu_capture_save(w, name, igi_device_pixel_number(texture->desc.format), pixels ? pixels : now,
                             igi_cpu_capture_pixel_bytes(texture));
    else if (w->status == IG_STATUS_OK)
        w->status = igi_error_no_memory(w->error);
    free(now);
}

static void put_pixels(writer *w, size_t index) {
    const cpu_capture_texture *entry = &w->capture->textures[index];
    const ig_texture_desc *desc = &entry->texture->desc;
    if (desc->buffer) {
        igi_json_put_u64(&w->json, "buffer", igi_cpu_capture_index(w->capture, desc->buffer));
        igi_json_put_u64(&w->json, "offset", desc->offset);
        igi_json_put_u64(&w->json, "row_bytes", desc->row_bytes);
        return;
    }
    put_file(w, "file", index, "", entry->before);
    if (entry->written && w->has_results) put_file(w, "after", index, "-after", NULL);
}

static void put_texture(writer *w, size_t index) {
    const ig_texture_desc *desc = &w->capture->textures[index].texture->desc;
    igi_json *json = &w->json;
    igi_json_begin_object(json);
    igi_json_put_u64(json, "type", desc->type);
    igi_json_put_string(json, "format", ig_pixel_format_name(desc->format));
    igi_json_put_u64(json, "width", desc->width);
    igi_json_put_u64(json, "height", desc->height);
    igi_json_put_u64(json, "depth", desc->depth);
    igi_json_put_u64(json, "array_length", desc->array_length);
    igi_json_put_u64(json, "levels", desc->levels);
    igi_json_put_u64(json, "samples", desc->samples);
    if (desc->label) igi_json_put_string(json, "label", desc->label);
    put_pixels(w, index);
    igi_json_end_object(json);
}

void igi_cpu_capture_put_textures(writer *w) {
    igi_json_key(&w->json, "textures"), igi_json_begin_array(&w->json);
    for (size_t i = 0; i < w->capture->texture_count; i++) put_texture(w, i);
    igi_json_end_array(&w->json);
}

// ---- Arguments ----

void igi_cpu_capture_put_view(writer *w, const ig_texture *texture) {
    const ig_texture_view_desc *view = &texture->view;
    const ig_texture *root = igi_cpu_capture_root((ig_texture *)texture);
    igi_json *json = &w->json;
    size_t index = 0;
    while (index < w->capture->texture_count && w->capture->textures[index].texture != root) index++;
    assert(index < w->capture->texture_count);  // every texture of the dispatch was kept
    igi_json_put_u64(json, "texture", index);
    if (!texture->root) return;
    igi_json_key(json, "view"), igi_json_begin_object(json);
    igi_json_put_u64(json, "type", view->type);
    igi_json_put_string(json, "format", ig_pixel_format_name(view->format));
    igi_json_put_u64(json, "level", view->level);
    igi_json_put_u64(json, "levels", view->levels);
    igi_json_put_u64(json, "layer", view->layer);
    igi_json_put_u64(json, "layers", view->layers);
    igi_json_key(json, "swizzle"), igi_json_begin_array(json);
    for (int c = 0; c < 4; c++) igi_json_u64(json, view->swizzle[c]);
    igi_json_end_array(json);
    igi_json_end_object(json);
}

// As bits, so that it comes back as it was, infinite or not.
static uint64_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

void igi_cpu_capture_put_sampler(writer *w, const ig_texture_sampler *sampler) {
    const ig_texture_sampler_desc *desc = &sampler->desc;
    igi_json *json = &w->json;
    igi_json_key(json, "sampler"), igi_json_begin_object(json);
    igi_json_put_u64(json, "s", desc->s);
    igi_json_put_u64(json, "t", desc->t);
    igi_json_put_u64(json, "r", desc->r);
    igi_json_put_u64(json, "mag_filter", desc->mag_filter);
    igi_json_put_u64(json, "min_filter", desc->min_filter);
    igi_json_put_u64(json, "mip_filter", desc->mip_filter);
    igi_json_put_bool(json, "pixel_coordinates", desc->pixel_coordinates);
    igi_json_put_u64(json, "compare", desc->compare);
    igi_json_put_u64(json, "border", desc->border);
    igi_json_put_u64(json, "max_anisotropy", desc->max_anisotropy);
    igi_json_put_u64(json, "lod_min_bits", bits_of(desc->lod_min));
    igi_json_put_u64(json, "lod_max_bits", bits_of(desc->lod_max));
    igi_json_end_object(json);
}
