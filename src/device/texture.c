// SPDX-License-Identifier: Apache-2.0
// Creating textures and views of them.
#include "device/texture.h"

#include <string.h>

#include "device/backend.h"

enum { MAX_SIDE = 16384, MAX_DEPTH = 2048, MAX_LAYERS = 2048, MAX_TEXELS_OF_BUFFER = 1 << 28, ALIGNMENT = 64 };

static const char create_call[] = "texture_create", view_call[] = "texture_create_view";

__attribute__((format(printf, 2, 3))) static ig_status refuse(const char *call, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *why = igi_vformat(format, arguments);
    va_end(arguments);
    ig_status status = igi_fail(IG_STATUS_INVALID_ARGUMENT, "%s: %s", call, why ? why : "not enough memory");
    free(why);
    return status;
}

// ---- Types ----

static const struct {
    const char *name;
    uint32_t dimensions;
    bool is_array, is_cube, has_samples;
} types[] = {
    [IG_TEXTURE_1D] = {"1d", 1, false, false, false},
    [IG_TEXTURE_1D_ARRAY] = {"1d_array", 1, true, false, false},
    [IG_TEXTURE_2D] = {"2d", 2, false, false, false},
    [IG_TEXTURE_2D_ARRAY] = {"2d_array", 2, true, false, false},
    [IG_TEXTURE_2D_MULTISAMPLE] = {"2d_multisample", 2, false, false, true},
    [IG_TEXTURE_CUBE] = {"cube", 2, false, true, false},
    [IG_TEXTURE_CUBE_ARRAY] = {"cube_array", 2, true, true, false},
    [IG_TEXTURE_3D] = {"3d", 3, false, false, false},
    [IG_TEXTURE_2D_MULTISAMPLE_ARRAY] = {"2d_multisample_array", 2, true, false, true},
    [IG_TEXTURE_BUFFER] = {"buffer", 1, false, false, false},
};
_Static_assert(sizeof types / sizeof *types == IG_TEXTURE_TYPE_COUNT, "a row for each type");

const char *igi_device_texture_type_name(ig_texture_type type) {
    return types[type].name;
}

static uint32_t layers_of(const ig_texture_desc *desc) {
    return desc->array_length * (types[desc->type].is_cube ? 6 : 1);
}

uint32_t igi_device_pixel_bytes(const ig_texture *texture) {
    return ig_pixel_format_bytes(texture->desc.format) * texture->desc.samples;
}

uint32_t igi_device_level_extent(uint32_t whole, uint32_t level) {
    return whole >> level ? whole >> level : 1;
}

// ---- Descriptions ----

// Sizes that the type does not have, and zeros that stand for one, become 1.
static ig_texture_desc completed(const ig_texture_desc *desc) {
    ig_texture_desc full = *desc;
    if ((unsigned)full.type >= IG_TEXTURE_TYPE_COUNT) return full;
    if (types[full.type].dimensions < 2) full.height = 1;
    if (types[full.type].dimensions < 3) full.depth = 1;
    if (!full.array_length) full.array_length = 1;
    if (!full.levels) full.levels = 1;
    if (!full.samples) full.samples = 1;
    return full;
}

static uint32_t most_levels(const ig_texture_desc *desc) {
    uint32_t side = desc->width, levels = 1;
    if (desc->height > side) side = desc->height;
    if (desc->depth > side) side = desc->depth;
    if (types[desc->type].dimensions == 1) return 1;
    while (side >>= 1) levels++;
    return levels;
}

static ig_status check_sizes(const ig_texture_desc *desc) {
    uint32_t side = desc->type == IG_TEXTURE_BUFFER ? MAX_TEXELS_OF_BUFFER
                    : desc->type == IG_TEXTURE_3D   ? MAX_DEPTH
                                                    : MAX_SIDE;
    if (!desc->width || !desc->height || !desc->depth)
        return refuse(create_call, "a texture of type %s needs a width%s%s of at least 1", types[desc->type].name,
                      types[desc->type].dimensions > 1 ? ", height" : "",
                      types[desc->type].dimensions > 2 ? " and depth" : "");
    if (desc->width > side || desc->height > side || desc->depth > MAX_DEPTH)
        return refuse(create_call, "%u x %u x %u pixels are more than %u in a direction", desc->width, desc->height,
                      desc->depth, side);
    if (desc->array_length > 1 && !types[desc->type].is_array)
        return refuse(create_call, "a texture of type %s has one element, not %u", types[desc->type].name,
                      desc->array_length);
    if (desc->array_length > MAX_LAYERS)
        return refuse(create_call, "%u elements are more than %d", desc->array_length, MAX_LAYERS);
    if (types[desc->type].is_cube && desc->width != desc->height)
        return refuse(create_call, "the faces of a cube are square, not %u x %u", desc->width, desc->height);
    return IG_STATUS_OK;
}

static ig_status check_samples(const ig_texture_desc *desc) {
    bool several = types[desc->type].has_samples;
    if (!several && desc->samples == 1) return IG_STATUS_OK;
    if (!several) return refuse(create_call, "only multisample textures have %u samples", desc->samples);
    if (desc->levels != 1) return refuse(create_call, "multisample textures have no mipmaps");
    if (desc->samples == 2 || desc->samples == 4 || desc->samples == 8) return IG_STATUS_OK;
    return refuse(create_call, "a multisample texture has 2, 4 or 8 samples, not %u", desc->samples);
}

static ig_status check_buffer(const ig_device *device, const ig_texture_desc *desc) {
    if (!desc->buffer)
        return desc->type == IG_TEXTURE_BUFFER ? refuse(create_call, "a texture of type buffer needs a buffer")
                                               : IG_STATUS_OK;
    if (desc->buffer->device != device) return refuse(create_call, "the buffer belongs to another device");
    bool plain = desc->type == IG_TEXTURE_1D || desc->type == IG_TEXTURE_2D || desc->type == IG_TEXTURE_BUFFER;
    if (!plain || desc->levels != 1)
        return refuse(create_call, "only textures of type 1d, 2d and buffer, without mipmaps, can lie in a buffer");
    uint32_t pixel = ig_pixel_format_bytes(desc->format);
    uint64_t row = (uint64_t)desc->width * pixel, stride = desc->row_bytes ? desc->row_bytes : row;
    if (stride < row || stride % pixel || desc->offset % pixel || stride > UINT32_MAX)
        return refuse(create_call, "rows of %llu bytes from offset %llu do not hold %u pixels of %u bytes",
                      (unsigned long long)stride, (unsigned long long)desc->offset, desc->width, pixel);
    uint64_t bytes = stride * (desc->height - 1) + row;
    if (bytes <= UINT32_MAX && igi_in_range(desc->offset, bytes, desc->buffer->length)) return IG_STATUS_OK;
    return igi_fail(IG_STATUS_OUT_OF_RANGE,
                    "texture_create: %u x %u pixels need %llu bytes from offset %llu of a buffer of %llu bytes",
                    desc->width, desc->height, (unsigned long long)bytes, (unsigned long long)desc->offset,
                    (unsigned long long)desc->buffer->length);
}

static ig_status check(const ig_device *device, const ig_texture_desc *desc) {
    if ((unsigned)desc->type >= IG_TEXTURE_TYPE_COUNT)
        return refuse(create_call, "there is no texture type %d", (int)desc->type);
    if (!ig_pixel_format_bytes(desc->format))
        return refuse(create_call, "there is no pixel format %d", (int)desc->format);
    ig_status status = check_sizes(desc);
    if (status == IG_STATUS_OK) status = check_samples(desc);
    if (status != IG_STATUS_OK) return status;
    if (desc->levels > most_levels(desc))
        return refuse(create_call, "%u x %u x %u pixels have at most %u levels, not %u", desc->width, desc->height,
                      desc->depth, most_levels(desc), desc->levels);
    return check_buffer(device, desc);
}

// ---- Layout ----

// Pixels of one column, at a distance that is a multiple of a page, would all compete for the same few places of the
// caches. Some room after each row puts them into different ones.
static uint64_t padded(uint64_t row) {
    enum { ALIKE = 2048, ROOM = 128 };
    return row % ALIKE == 0 ? row + ROOM : row;
}

// Levels follow each other within a layer. Kernels count in 32 bits within a plane. False on overflow.
static bool lay_out(ig_texture *texture, uint64_t *bytes) {
    const ig_texture_desc *desc = &texture->desc;
    uint64_t at = 0, plane, level_bytes;
    for (uint32_t i = 0; i < desc->levels; i++) {
        igi_texture_level *level = &texture->shown.level[i];
        uint64_t row = (uint64_t)igi_device_level_extent(desc->width, i) * igi_device_pixel_bytes(texture);
        if (desc->buffer && desc->row_bytes) row = desc->row_bytes;
        if (!desc->buffer && desc->height > 1) row = padded(row);
        if (!igi_mul(row, igi_device_level_extent(desc->height, i), &plane) || plane > UINT32_MAX) return false;
        *level = (igi_texture_level){.offset = at, .plane_bytes = plane, .row_bytes = (uint32_t)row};
        if (!igi_mul(plane, igi_device_level_extent(desc->depth, i), &level_bytes)) return false;
        if (!igi_add(at, igi_round_up(level_bytes, ALIGNMENT), &at)) return false;
    }
    texture->shown.layer_bytes = at;
    return igi_mul(at, layers_of(desc), bytes);
}

static void show(ig_texture *texture, char *data) {
    const ig_texture_desc *desc = &texture->desc;
    igi_texture *shown = &texture->shown;
    shown->data = data;
    shown->srgb = igi_device_srgb_table();
    shown->layout = igi_device_pixel_layout(desc->format);
    shown->width = desc->width, shown->height = desc->height, shown->depth = desc->depth;
    shown->layers = layers_of(desc);
    shown->levels = desc->levels, shown->samples = desc->samples;
}

static ig_status open_own(ig_texture *texture, const ig_texture *from, const ig_texture_view_desc *view) {
    const ig_texture_desc *desc = &texture->desc;
    if (texture->device->backend->texture_open(texture, from, view)) return IG_STATUS_OK;
    return igi_fail(IG_STATUS_UNSUPPORTED,
                    "%s: this device does not support textures of type %s with %u x %u pixels of %s",
                    from ? view_call : create_call, types[desc->type].name, desc->width, desc->height,
                    ig_pixel_format_name(desc->format));
}

static ig_status open_memory(ig_texture *texture) {
    ig_texture_desc *desc = &texture->desc;
    uint64_t bytes;
    if (!lay_out(texture, &bytes))
        return igi_fail(IG_STATUS_OUT_OF_MEMORY, "texture_create: %u x %u pixels of %u bytes are more than 4 GiB",
                        desc->width, desc->height, igi_device_pixel_bytes(texture));
    if (desc->buffer) {
        texture->buffer = ig_buffer_retain(desc->buffer);
    } else if (!igi_device_has_own_pixels(texture->device)) {
        ig_status status = ig_buffer_create(texture->device, &(ig_buffer_desc){.length = bytes, .label = desc->label},
                                            &texture->buffer);
        if (status != IG_STATUS_OK) return status;
    }
    if (igi_device_has_own_pixels(texture->device)) {
        show(texture, NULL);
        return open_own(texture, NULL, NULL);
    }
    show(texture, (char *)texture->buffer->memory + (desc->buffer ? desc->offset : 0));
    return IG_STATUS_OK;
}

static ig_status add(ig_texture *texture) {
    const igi_device_backend *backend = texture->device->backend;
    return !backend->texture_added || backend->texture_added(texture) ? IG_STATUS_OK : igi_fail_no_memory();
}

static ig_texture *allocate(ig_device *device, const ig_texture_desc *desc) {
    ig_texture *made = igi_calloc(1, sizeof *made);
    char *label = desc->label ? igi_strdup(desc->label) : NULL;
    if (!made || (desc->label && !label)) {
        free(made), free(label);
        return NULL;
    }
    igi_ref_init(&made->references);
    made->device = device;
    made->desc = *desc;
    made->desc.label = made->label = label;
    return made;
}

static void free_texture(ig_texture *texture) {
    if (texture->state) texture->device->backend->texture_close(texture);
    if (texture->device->backend->texture_removed) texture->device->backend->texture_removed(texture);
    ig_texture_release(texture->root);
    ig_buffer_release(texture->buffer);
    free(texture->label), free(texture);
}

bool igi_device_has_own_pixels(const ig_device *device) {
    return device->backend->texture_open;
}

ig_status ig_texture_create(ig_device *device, const ig_texture_desc *desc, ig_texture **texture) {
    if (!device || !desc || !texture) return refuse(create_call, "device, desc and texture must not be NULL");
    if (igi_device_is_inherited(device)) return igi_device_fail_forked();
    ig_texture_desc full = completed(desc);
    ig_status status = check(device, &full);
    if (status != IG_STATUS_OK) return status;
    ig_texture *made = allocate(device, &full);
    if (!made) return igi_fail_no_memory();
    status = open_memory(made);
    if (status == IG_STATUS_OK) status = add(made);
    if (status != IG_STATUS_OK) {
        free_texture(made);
        return status;
    }
    ig_device_retain(device);
    *texture = made;
    return IG_STATUS_OK;
}

ig_texture *ig_texture_retain(ig_texture *texture) {
    if (texture) igi_ref_take(&texture->references);
    return texture;
}

void ig_texture_release(ig_texture *texture) {
    if (!texture || igi_device_is_inherited(texture->device) || !igi_ref_drop(&texture->references)) return;
    ig_device *device = texture->device;
    free_texture(texture);
    ig_device_release(device);
}

void ig_texture_get_desc(const ig_texture *texture, ig_texture_desc *desc) {
    *desc = texture->desc;
}

uint64_t ig_texture_resource_id(const ig_texture *texture) {
    const igi_device_backend *backend = texture->device->backend;
    return backend->texture_resource_id ? backend->texture_resource_id(texture) : (uint64_t)(uintptr_t)&texture->shown;
}

// ---- Arguments ----

// The name of a type up to '<', without "array<".
static const char *element_type(const char *type) {
    return strncmp(type, "array<", 6) == 0 ? type + 6 : type;
}

static bool has_type(const char *type, const char *name) {
    size_t length = strlen(name);
    return strncmp(type, name, length) == 0 && type[length] == '<';
}

static const char *name_in_msl(ig_texture_type type) {
    static const char *const names[] = {"1d",   "1d_array",   "2d", "2d_array",    "2d_ms",
                                        "cube", "cube_array", "3d", "2d_ms_array", "_buffer"};
    return names[type];
}

const char *igi_device_texture_mismatch(const ig_texture *texture, const char *argument_type) {
    const char *type = element_type(argument_type), *name = name_in_msl(texture->desc.type);
    bool depth = strncmp(type, "depth", 5) == 0, colour = strncmp(type, "texture", 7) == 0;
    if (!depth && !colour) return NULL;  // a name of the user's for one
    if (!has_type(type + (depth ? 5 : 7), name)) return "has another type than the texture";
    if (depth && !igi_device_is_depth(texture->desc.format)) return "holds depths";
    igi_device_pixel_class class = igi_device_pixel_class_of(texture->desc.format);
    const char *element = strchr(type, '<') + 1;
    bool real = strncmp(element, "float", 5) == 0 || strncmp(element, "half", 4) == 0;
    bool is_unsigned = element[0] == 'u';
    if (real && class != IGI_PIXELS_REAL) return "holds floating-point numbers";
    if (!real && is_unsigned && class != IGI_PIXELS_UNSIGNED) return "holds unsigned integers";
    if (!real && !is_unsigned && class != IGI_PIXELS_SIGNED) return "holds signed integers";
    return NULL;
}

// ---- Views ----

static ig_status check_view(const ig_texture *texture, const ig_texture_view_desc *v) {
    const ig_texture_desc *desc = &texture->desc;
    if ((unsigned)v->type >= IG_TEXTURE_TYPE_COUNT || types[v->type].dimensions != types[desc->type].dimensions ||
        types[v->type].has_samples != types[desc->type].has_samples)
        return refuse(view_call, "a texture of type %s cannot be viewed as type %d", types[desc->type].name,
                      (int)v->type);
    if (ig_pixel_format_bytes(v->format) != ig_pixel_format_bytes(desc->format))
        return refuse(view_call, "pixels of %s and %s differ in size", ig_pixel_format_name(desc->format),
                      ig_pixel_format_name(v->format));
    if (!v->levels || !igi_in_range(v->level, v->levels, desc->levels))
        return refuse(view_call, "levels %u to %u are not among the texture's %u", v->level, v->level + v->levels,
                      desc->levels);
    if (!v->layers || !igi_in_range(v->layer, v->layers, layers_of(desc)))
        return refuse(view_call, "layers %u to %u are not among the texture's %u", v->layer, v->layer + v->layers,
                      layers_of(desc));
    if (types[v->type].is_cube && v->layers % 6)
        return refuse(view_call, "a cube has 6 faces; %u layers are not whole cubes", v->layers);
    if (!types[v->type].is_array && v->layers != (types[v->type].is_cube ? 6 : 1))
        return refuse(view_call, "a texture of type %s does not have %u layers", types[v->type].name, v->layers);
    return types[v->type].is_cube && desc->width != desc->height ? refuse(view_call, "the faces of a cube are square")
                                                                 : IG_STATUS_OK;
}

static void show_view(ig_texture *view, const ig_texture *texture, const ig_texture_view_desc *v) {
    igi_texture *shown = &view->shown;
    *shown = texture->shown;
    if (shown->data) shown->data += v->layer * texture->shown.layer_bytes;
    shown->layout = igi_device_swizzled(igi_device_pixel_layout(v->format), v->swizzle);
    for (uint32_t i = 0; i < v->levels; i++) shown->level[i] = texture->shown.level[v->level + i];
    shown->width = view->desc.width, shown->height = view->desc.height, shown->depth = view->desc.depth;
    shown->layers = v->layers;
    shown->levels = v->levels;
}

ig_status ig_texture_create_view(ig_texture *texture, const ig_texture_view_desc *desc, ig_texture **view) {
    if (!texture || !desc || !view) return refuse(view_call, "texture, desc and view must not be NULL");
    if (igi_device_is_inherited(texture->device)) return igi_device_fail_forked();
    ig_texture_view_desc v = *desc;
    if (v.format == IG_PIXEL_INVALID) v.format = texture->desc.format;
    if (!v.levels && v.level < texture->desc.levels) v.levels = texture->desc.levels - v.level;
    if (!v.layers && v.layer < layers_of(&texture->desc)) v.layers = layers_of(&texture->desc) - v.layer;
    for (int c = 0; c < 4; c++)
        if ((unsigned)v.swizzle[c] > IG_SWIZZLE_ALPHA)
            return refuse(view_call, "there is no swizzle %d", (int)v.swizzle[c]);
    ig_status status = check_view(texture, &v);
    if (status != IG_STATUS_OK) return status;
    ig_texture *made = allocate(texture->device, &texture->desc);
    if (!made) return igi_fail_no_memory();
    made->buffer = ig_buffer_retain(texture->buffer);
    made->root = ig_texture_retain(texture->root ? texture->root : texture);
    made->view = v;
    if (texture->root) made->view.level += texture->view.level, made->view.layer += texture->view.layer;
    made->desc.type = v.type, made->desc.format = v.format;
    made->desc.levels = v.levels;
    made->desc.array_length = v.layers / (types[v.type].is_cube ? 6 : 1);
    made->desc.width = igi_device_level_extent(texture->desc.width, v.level);
    made->desc.height = igi_device_level_extent(texture->desc.height, v.level);
    made->desc.depth = igi_device_level_extent(texture->desc.depth, v.level);
    show_view(made, texture, &v);
    if (igi_device_has_own_pixels(made->device)) status = open_own(made, texture, &v);
    if (status == IG_STATUS_OK) status = add(made);
    if (status != IG_STATUS_OK) {
        free_texture(made);
        return status;
    }
    ig_device_retain(made->device);
    *view = made;
    return IG_STATUS_OK;
}
