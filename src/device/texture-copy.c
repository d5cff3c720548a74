// SPDX-License-Identifier: Apache-2.0
// Copies of pixels: between host memory, buffers and textures.
#include <string.h>

#include "device/backend.h"
#include "device/encode.h"
#include "device/texture.h"

void igi_device_copy_pixels(const igi_device_pixel_copy *copy) {
    for (uint64_t z = 0; z < copy->planes; z++)
        for (uint64_t y = 0; y < copy->rows; y++)
            memmove(copy->to.first + z * copy->to.plane_bytes + y * copy->to.row_bytes,
                    copy->from.first + z * copy->from.plane_bytes + y * copy->from.row_bytes, copy->bytes);
}

// ---- Regions ----

static const ig_region everything;

// Sizes of 0 become what is left of the level. False when the region is not in the texture.
static bool complete(const ig_texture *texture, ig_region *region) {
    const igi_texture *t = &texture->shown;
    if (region->level >= t->levels || region->layer >= t->layers) return false;
    uint32_t width = igi_device_level_extent(t->width, region->level),
             height = igi_device_level_extent(t->height, region->level),
             depth = igi_device_level_extent(t->depth, region->level);
    if (region->x >= width || region->y >= height || region->z >= depth) return false;
    if (!region->width) region->width = width - region->x;
    if (!region->height) region->height = height - region->y;
    if (!region->depth) region->depth = depth - region->z;
    return igi_in_range(region->x, region->width, width) && igi_in_range(region->y, region->height, height) &&
           igi_in_range(region->z, region->depth, depth);
}

static ig_status fail_region(const char *call, const ig_texture *texture, const ig_region *r) {
    return igi_fail(
        IG_STATUS_OUT_OF_RANGE,
        "%s: %u x %u x %u pixels at (%u, %u, %u), level %u, layer %u, are not all in a texture of %u x %u x "
        "%u with %u levels and %u layers",
        call, r->width, r->height, r->depth, r->x, r->y, r->z, r->level, r->layer, texture->shown.width,
        texture->shown.height, texture->shown.depth, texture->shown.levels, texture->shown.layers);
}

static igi_device_pixels pixels_of(const ig_texture *texture, const ig_region *region) {
    const igi_texture *t = &texture->shown;
    const igi_texture_level *level = &t->level[region->level];
    if (!t->data) return (igi_device_pixels){0};
    char *first = t->data + level->offset + region->layer * t->layer_bytes + region->z * level->plane_bytes +
                  (uint64_t)region->y * level->row_bytes + (uint64_t)region->x * igi_device_pixel_bytes(texture);
    return (igi_device_pixels){first, level->row_bytes, level->plane_bytes};
}

static igi_device_pixel_copy sized(const ig_texture *texture, const ig_region *region) {
    return (igi_device_pixel_copy){.bytes = (uint64_t)region->width * igi_device_pixel_bytes(texture),
                                   .rows = region->height,
                                   .planes = region->depth};
}

// Distances in linear memory, and how much of it the copy takes. False when rows overlap or sizes overflow.
static bool lay_out(const igi_device_pixel_copy *copy, igi_device_pixels *linear, uint64_t *length) {
    uint64_t planes, rows;
    if (!linear->row_bytes) linear->row_bytes = copy->bytes;
    if (linear->row_bytes < copy->bytes || !igi_mul(linear->row_bytes, copy->rows, &rows)) return false;
    if (!linear->plane_bytes) linear->plane_bytes = rows;
    if (copy->planes > 1 && linear->plane_bytes < rows) return false;
    if (!igi_mul(linear->plane_bytes, copy->planes - 1, &planes)) return false;
    return igi_add(planes, linear->row_bytes * (copy->rows - 1) + copy->bytes, length);
}

static ig_status fail_rows(const char *call, uint64_t row_bytes, uint64_t plane_bytes,
                           const igi_device_pixel_copy *copy) {
    return igi_fail(IG_STATUS_INVALID_ARGUMENT,
                    "%s: rows %llu bytes apart and planes %llu bytes apart do not hold %llu rows of %llu bytes", call,
                    (unsigned long long)row_bytes, (unsigned long long)plane_bytes, (unsigned long long)copy->rows,
                    (unsigned long long)copy->bytes);
}

// ---- Host memory ----

static ig_status host_copy(const char *call, const ig_texture *texture, const ig_region *region, char *bytes,
                           uint64_t row_bytes, uint64_t plane_bytes, igi_device_pixel_copy *copy,
                           igi_device_pixels *inside, igi_device_pixels *outside) {
    if (!texture || !bytes) return igi_fail(IG_STATUS_INVALID_ARGUMENT, "%s: texture and bytes must not be NULL", call);
    ig_region r = region ? *region : everything;
    uint64_t length;
    if (!complete(texture, &r)) return fail_region(call, texture, &r);
    *copy = sized(texture, &r);
    copy->read = copy->written = r;
    *inside = pixels_of(texture, &r);
    *outside = (igi_device_pixels){bytes, row_bytes, plane_bytes};
    return lay_out(copy, outside, &length) ? IG_STATUS_OK : fail_rows(call, row_bytes, plane_bytes, copy);
}

ig_status ig_texture_write(ig_texture *texture, const ig_region *region, const void *bytes, uint64_t row_bytes,
                           uint64_t plane_bytes) {
    igi_device_pixel_copy copy;
    igi_device_pixels inside, outside;
    ig_status status =
        host_copy("texture_write", texture, region, (char *)bytes, row_bytes, plane_bytes, &copy, &inside, &outside);
    if (status != IG_STATUS_OK) return status;
    if (igi_device_has_own_pixels(texture->device)) {
        texture->device->backend->texture_write(texture, &copy.written, bytes, outside.row_bytes, outside.plane_bytes);
        return IG_STATUS_OK;
    }
    copy.from = outside, copy.to = inside;
    igi_device_copy_pixels(&copy);
    return IG_STATUS_OK;
}

ig_status ig_texture_read(const ig_texture *texture, const ig_region *region, void *bytes, uint64_t row_bytes,
                          uint64_t plane_bytes) {
    igi_device_pixel_copy copy;
    igi_device_pixels inside, outside;
    ig_status status =
        host_copy("texture_read", texture, region, bytes, row_bytes, plane_bytes, &copy, &inside, &outside);
    if (status != IG_STATUS_OK) return status;
    if (igi_device_has_own_pixels(texture->device)) {
        texture->device->backend->texture_read(texture, &copy.read, bytes, outside.row_bytes, outside.plane_bytes);
        return IG_STATUS_OK;
    }
    copy.from = inside, copy.to = outside;
    igi_device_copy_pixels(&copy);
    return IG_STATUS_OK;
}

// ---- Commands ----

static ig_status check_texture(ig_commands *commands, const ig_texture *texture, const char *call) {
    if (!texture) return igi_device_encode_fail(commands, IG_STATUS_INVALID_ARGUMENT, "%s: the texture is NULL", call);
    if (texture->device == commands->queue->device) return IG_STATUS_OK;
    return igi_device_encode_fail(commands, IG_STATUS_INVALID_ARGUMENT, "%s: the texture belongs to another device",
                                  call);
}

// The sentence that a failed call left becomes the command buffer's.
static ig_status pass_on(ig_commands *commands, ig_status status) {
    ig_error error = {0};
    ig_last_error(&error);
    igi_device_encode_fail(commands, status, "%s", error.message);
    ig_error_clear(&error);
    return status;
}

static ig_status add_copy(ig_commands *commands, const igi_device_pixel_copy *copy, ig_texture *a, ig_texture *b,
                          ig_buffer *buffer) {
    igi_device_pixel_copy *kept = igi_arena_alloc(&commands->arena, sizeof *kept);
    igi_device_command *command = kept ? igi_device_encode_add(commands, IGI_COMMAND_PIXELS) : NULL;
    if (!command) return igi_device_encode_fail(commands, IG_STATUS_OUT_OF_MEMORY, "not enough memory");
    *kept = *copy;
    command->pixels = kept;
    bool retained = igi_device_encode_keep(commands, (igi_device_retained){IGI_RETAINED_TEXTURE, a}) &&
                    (!b || igi_device_encode_keep(commands, (igi_device_retained){IGI_RETAINED_TEXTURE, b})) &&
                    (!buffer || igi_device_encode_keep(commands, (igi_device_retained){IGI_RETAINED_BUFFER, buffer}));
    return retained ? IG_STATUS_OK : igi_device_encode_fail(commands, IG_STATUS_OUT_OF_MEMORY, "not enough memory");
}

ig_status ig_commands_copy_texture(ig_commands *commands, ig_texture *source, const ig_region *from, ig_texture *target,
                                   const ig_region *to) {
    static const char call[] = "copy_texture";
    ig_status status = igi_device_encode_check(commands);
    if (status == IG_STATUS_OK) status = check_texture(commands, source, call);
    if (status == IG_STATUS_OK) status = check_texture(commands, target, call);
    if (status != IG_STATUS_OK) return status;
    ig_region read = from ? *from : everything, written = to ? *to : everything;
    if (!complete(source, &read)) return pass_on(commands, fail_region(call, source, &read));
    written.width = read.width, written.height = read.height, written.depth = read.depth;
    if (!complete(target, &written)) return pass_on(commands, fail_region(call, target, &written));
    if (igi_device_pixel_bytes(source) != igi_device_pixel_bytes(target))
        return igi_device_encode_fail(commands, IG_STATUS_INVALID_ARGUMENT, "%s: pixels of %s and %s differ in size",
                                      call, ig_pixel_format_name(source->desc.format),
                                      ig_pixel_format_name(target->desc.format));
    igi_device_pixel_copy copy = sized(source, &read);
    copy.from = pixels_of(source, &read), copy.to = pixels_of(target, &written);
    copy.source = source, copy.target = target;
    copy.read = read, copy.written = written;
    return add_copy(commands, &copy, source, target, NULL);
}

// Both directions; `linear` describes the buffer's side.
static ig_status buffer_copy(ig_commands *commands, const char *call, ig_buffer *buffer, uint64_t offset,
                             igi_device_pixels linear, ig_texture *texture, const ig_region *region, bool to_texture) {
    ig_status status = igi_device_encode_check(commands);
    if (status == IG_STATUS_OK) status = check_texture(commands, texture, call);
    if (status != IG_STATUS_OK) return status;
    if (!buffer || buffer->device != commands->queue->device)
        return igi_device_encode_fail(commands, IG_STATUS_INVALID_ARGUMENT,
                                      "%s: the buffer is NULL or of another device", call);
    ig_region r = region ? *region : everything;
    uint64_t length, row_bytes = linear.row_bytes, plane_bytes = linear.plane_bytes;
    if (!complete(texture, &r)) return pass_on(commands, fail_region(call, texture, &r));
    igi_device_pixel_copy copy = sized(texture, &r);
    if (!lay_out(&copy, &linear, &length)) return pass_on(commands, fail_rows(call, row_bytes, plane_bytes, &copy));
    if (!igi_in_range(offset, length, buffer->length))
        return igi_device_encode_fail(
            commands, IG_STATUS_OUT_OF_RANGE, "%s: %llu bytes at offset %llu are outside a buffer of %llu bytes", call,
            (unsigned long long)length, (unsigned long long)offset, (unsigned long long)buffer->length);
    if (buffer->memory) linear.first = (char *)buffer->memory + offset;
    igi_device_pixels inside = pixels_of(texture, &r);
    copy.from = to_texture ? linear : inside, copy.to = to_texture ? inside : linear;
    copy.buffer = buffer, copy.offset = offset;
    copy.read = copy.written = r;
    *(to_texture ? &copy.target : &copy.source) = texture;
    return add_copy(commands, &copy, texture, NULL, buffer);
}

ig_status ig_commands_copy_to_texture(ig_commands *commands, ig_buffer *source, uint64_t offset, uint64_t row_bytes,
                                      uint64_t plane_bytes, ig_texture *target, const ig_region *to) {
    igi_device_pixels linear = {NULL, row_bytes, plane_bytes};
    return buffer_copy(commands, "copy_to_texture", source, offset, linear, target, to, true);
}

ig_status ig_commands_copy_from_texture(ig_commands *commands, ig_texture *source, const ig_region *from,
                                        ig_buffer *target, uint64_t offset, uint64_t row_bytes, uint64_t plane_bytes) {
    igi_device_pixels linear = {NULL, row_bytes, plane_bytes};
    return buffer_copy(commands, "copy_from_texture", target, offset, linear, source, from, false);
}

ig_status ig_commands_generate_mipmaps(ig_commands *commands, ig_texture *texture) {
    static const char call[] = "generate_mipmaps";
    ig_status status = igi_device_encode_check(commands);
    if (status == IG_STATUS_OK) status = check_texture(commands, texture, call);
    if (status != IG_STATUS_OK) return status;
    if (igi_device_pixel_class_of(texture->desc.format) != IGI_PIXELS_REAL)
        return igi_device_encode_fail(commands, IG_STATUS_UNSUPPORTED,
                                      "%s: pixels of %s are integers, which are not averaged", call,
                                      ig_pixel_format_name(texture->desc.format));
    igi_device_command *command = igi_device_encode_add(commands, IGI_COMMAND_MIPMAPS);
    if (!command || !igi_device_encode_keep(commands, (igi_device_retained){IGI_RETAINED_TEXTURE, texture}))
        return igi_device_encode_fail(commands, IG_STATUS_OUT_OF_MEMORY, "not enough memory");
    command->mipmaps = texture;
    return IG_STATUS_OK;
}
