// SPDX-License-Identifier: Apache-2.0
// ingot compare: textures and samplers as arguments.
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "console/output.h"
#include "core/memory.h"

enum { SIDE = 32, SIDE_3D = 8, COMPONENTS = 4 };

static const struct {
    const char *start;
    ig_texture_type type;
    uint32_t width, height, depth;
} shapes[] = {
    {"texture1d<", IG_TEXTURE_1D, SIDE, 0, 0},
    {"texture2d<", IG_TEXTURE_2D, SIDE, SIDE, 0},
    {"texture3d<", IG_TEXTURE_3D, SIDE_3D, SIDE_3D, SIDE_3D},
};
static const struct {
    const char *name;
    ig_type type;
    ig_pixel_format format;
} formats[] = {
    {"float", IG_TYPE_F32, IG_PIXEL_RGBA32_FLOAT}, {"half", IG_TYPE_F16, IG_PIXEL_RGBA16_FLOAT},
    {"int", IG_TYPE_I32, IG_PIXEL_RGBA32_SINT},    {"uint", IG_TYPE_U32, IG_PIXEL_RGBA32_UINT},
    {"short", IG_TYPE_I16, IG_PIXEL_RGBA16_SINT},  {"ushort", IG_TYPE_U16, IG_PIXEL_RGBA16_UINT},
};

// "texture2d<float, access::write>"
static bool describe(const char *type, compare_object *object) {
    const char *rest = NULL;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes && !rest; i++) {
        rest = type;
        if (!igi_skip(&rest, shapes[i].start)) {
            rest = NULL;
            continue;
        }
        object->desc = (ig_texture_desc){
            .type = shapes[i].type, .width = shapes[i].width, .height = shapes[i].height, .depth = shapes[i].depth};
    }
    for (size_t i = 0; i < sizeof formats / sizeof *formats && rest; i++) {
        size_t length = strlen(formats[i].name);
        if (strncmp(rest, formats[i].name, length) != 0 || !strchr(",> ", rest[length])) continue;
        object->type = formats[i].type;
        object->desc.format = formats[i].format;
        return true;
    }
    return false;
}

static uint64_t pixels_of(const ig_texture_desc *desc) {
    return (uint64_t)desc->width * (desc->height ? desc->height : 1) * (desc->depth ? desc->depth : 1);
}

bool compare_objects_add(const compare_job *job, const ig_argument *argument, compare_inputs *inputs,
                         char reason[COMPARE_REASON]) {
    bool written = argument->kind == IG_ARGUMENT_TEXTURE && argument->access != IG_ACCESS_READ;
    for (size_t i = 0; i < inputs->object_count; i++) {
        const ig_argument *known = inputs->objects[i].reflection;
        if (known->kind != argument->kind || known->index != argument->index) continue;
        inputs->objects[i].written |= written;
        return true;
    }
    compare_object object = {.reflection = argument, .written = written};
    bool texture = argument->kind == IG_ARGUMENT_TEXTURE;
    if (inputs->object_count == COMPARE_MAX_OBJECTS || argument->array_length > 1 ||
        (texture && !describe(argument->type, &object))) {
        snprintf(reason, COMPARE_REASON, "no texture is made for argument '%.100s' of type '%.200s'", argument->name,
                 argument->type);
        return false;
    }
    if (texture) {
        uint64_t count = pixels_of(&object.desc) * COMPONENTS;
        object.bytes = count * ig_type_size(object.type);
        object.contents = cli_alloc(object.bytes);
        compare_fill(object.type, COMPARE_DATA, compare_mix(job->seed, argument->index + 1000), object.contents, count);
    }
    inputs->objects[inputs->object_count++] = object;
    return true;
}

bool compare_objects_create(ig_device *device, compare_inputs *inputs) {
    for (size_t i = 0; i < inputs->object_count; i++) {
        compare_object *object = &inputs->objects[i];
        bool texture = object->reflection->kind == IG_ARGUMENT_TEXTURE;
        ig_status status = texture ? ig_texture_create(device, &object->desc, &object->texture)
                                   : ig_texture_sampler_create(device, &(ig_texture_sampler_desc){0}, &object->sampler);
        if (status != IG_STATUS_OK) return false;
    }
    return true;
}

void compare_objects_release(compare_inputs *inputs) {
    for (size_t i = 0; i < inputs->object_count; i++) {
        ig_texture_release(inputs->objects[i].texture);
        ig_texture_sampler_release(inputs->objects[i].sampler);
        inputs->objects[i].texture = NULL;
        inputs->objects[i].sampler = NULL;
    }
}

void compare_objects_refill(compare_inputs *inputs) {
    for (size_t i = 0; i < inputs->object_count; i++)
        if (inputs->objects[i].texture)
            ig_texture_write(inputs->objects[i].texture, NULL, inputs->objects[i].contents, 0, 0);
}

void compare_objects_keep(compare_inputs *inputs, int side) {
    for (size_t i = 0; i < inputs->object_count; i++) {
        compare_object *object = &inputs->objects[i];
        if (!object->texture || !object->written) continue;
        if (!object->results[side]) object->results[side] = cli_alloc(object->bytes);
        ig_texture_read(object->texture, NULL, object->results[side], 0, 0);
    }
}

void compare_objects_encode(const compare_inputs *inputs, ig_commands *commands) {
    for (size_t i = 0; i < inputs->object_count; i++) {
        const compare_object *object = &inputs->objects[i];
        if (object->texture) ig_commands_set_texture(commands, object->texture, object->reflection->index);
        if (object->sampler) ig_commands_set_sampler(commands, object->sampler, object->reflection->index);
    }
}
