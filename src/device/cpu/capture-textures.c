// SPDX-License-Identifier: Apache-2.0
// Captures: textures as they were before a dispatch. Several arguments may be views of one texture, which is kept once; pixels
// that lie in a buffer of the user's are kept with it, since the kernel may have the buffer too.
#include "core/memory.h"
#include "device/cpu/capture.h"
#include "device/texture.h"

ig_texture *igi_cpu_capture_root(ig_texture *texture) {
    return texture->root ? texture->root : texture;
}

// ---- Pixels ----

static uint64_t bytes_of_level(const ig_texture *texture, uint32_t level) {
    const igi_texture *t = &texture->shown;
    return (uint64_t)igi_device_level_extent(t->width, level) * igi_device_level_extent(t->height, level) *
           igi_device_level_extent(t->depth, level) * igi_device_pixel_bytes(texture);
}

uint64_t igi_cpu_capture_pixel_bytes(const ig_texture *texture) {
    uint64_t layer = 0;
    for (uint32_t i = 0; i < texture->shown.levels; i++) layer += bytes_of_level(texture, i);
    return layer * texture->shown.layers;
}

char *igi_cpu_capture_pixels(const ig_texture *texture) {
    char *pixels = igi_alloc(igi_cpu_capture_pixel_bytes(texture)), *at = pixels;
    for (uint32_t layer = 0; pixels && layer < texture->shown.layers; layer++)
        for (uint32_t level = 0; level < texture->shown.levels; level++) {
            (void)ig_texture_read(texture, &(ig_region){.level = level, .layer = layer}, at, 0, 0);
            at += bytes_of_level(texture, level);
        }
    return pixels;
}

// ---- Keeping ----

static cpu_capture_texture *entry_of(cpu_capture *capture, ig_texture *root) {
    size_t i = 0;
    while (i < capture->texture_count && capture->textures[i].texture != root) i++;
    if (i == capture->texture_count) capture->textures[capture->texture_count++].texture = root;
    return &capture->textures[i];
}

bool igi_cpu_capture_keep_texture(cpu_capture *capture, const igi_device_binding *binding) {
    ig_texture *root = igi_cpu_capture_root(binding->texture);
    const ig_argument *argument =
        igi_device_pipeline_argument(capture->dispatch->pipeline, binding->kind, binding->index);
    bool written = !argument || argument->access != IG_ACCESS_READ;
    cpu_capture_texture *entry = entry_of(capture, root);
    entry->written |= written;
    if (root->desc.buffer) return igi_cpu_capture_keep_buffer(capture, root->desc.buffer, IG_TYPE_U8, written);
    if (!entry->written || entry->before) return true;
    entry->before = igi_cpu_capture_pixels(root);
    return entry->before != NULL;
}

void igi_cpu_capture_free_textures(cpu_capture *capture) {
    for (size_t i = 0; i < capture->texture_count; i++) free(capture->textures[i].before);
    free(capture->textures);
}
