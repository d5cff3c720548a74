// SPDX-License-Identifier: Apache-2.0
// ingot run: textures, samplers and function tables as arguments.
//
//   texture:photo.png             the picture, as rgba8_unorm
//   texture:r32_float[480,640]    zeros: height and width; one number for 1D, three (depth first) for 3D
//   sampler:linear,repeat         words in any order; none: nearest pixels, edges clamped
#include <stdlib.h>
#include <string.h>

#include "console/options.h"
#include "core/memory.h"
#include "picture.h"
#include "run.h"

static const char texture_mark[] = "texture:", sampler_mark[] = "sampler:", functions_mark[] = "functions:";

bool run_names_object(const char *spec) {
    return strncmp(spec, texture_mark, sizeof texture_mark - 1) == 0 ||
           strncmp(spec, sampler_mark, sizeof sampler_mark - 1) == 0 ||
           strncmp(spec, functions_mark, sizeof functions_mark - 1) == 0;
}

run_object *run_find_object(run_job *job, ig_argument_kind kind, uint32_t index) {
    for (size_t i = 0; i < job->object_count; i++)
        if (job->objects[i].kind == kind && job->objects[i].index == index) return &job->objects[i];
    return NULL;
}

// ---- Reading options ----

// "480,640]": the last is the width.
static bool read_sides(const char *text, ig_texture_desc *desc) {
    static const ig_texture_type types[] = {IG_TEXTURE_1D, IG_TEXTURE_2D, IG_TEXTURE_3D};
    uint32_t sides[3], count = 0;
    for (bool more = true; more && count < 3; count++) {
        size_t digits = strcspn(text, ",]");
        uint64_t side;
        if (!cli_parse_u64(text, digits, &side) || !side || side > UINT32_MAX) return false;
        sides[count] = (uint32_t)side;
        more = text[digits] == ',';
        if (!more && strcmp(text + digits, "]") != 0) return false;
        text += digits + 1;
        if (more && count == 2) return false;
    }
    desc->type = types[count - 1];
    desc->width = sides[count - 1];
    desc->height = count > 1 ? sides[count - 2] : 0;
    desc->depth = count > 2 ? sides[0] : 0;
    return true;
}

static int read_texture(const char *spec, run_object *object) {
    size_t length = strlen(spec), name = strcspn(spec, "[");
    if (length > 4 && strcmp(spec + length - 4, ".png") == 0) {
        object->path = spec;
        return CLI_CONTINUE;
    }
    char *format = igi_strndup(spec, name);
    object->desc.format = format ? ig_pixel_format_find(format) : IG_PIXEL_INVALID;
    free(format);
    if (object->desc.format != IG_PIXEL_INVALID && spec[name] == '[' && read_sides(spec + name + 1, &object->desc))
        return CLI_CONTINUE;
    return cli_usage_error("--arg %u: '%s' is neither FILE.png nor FORMAT[HEIGHT,WIDTH], like rgba8_unorm[480,640]",
                           object->index, spec);
}

static void set_addresses(ig_texture_sampler_desc *desc, ig_address_mode mode) {
    desc->s = desc->t = desc->r = mode;
}

static bool apply_word(ig_texture_sampler_desc *desc, const char *word, size_t length) {
    static const struct {
        const char *word;
        ig_address_mode mode;
    } modes[] = {{"clamp", IG_ADDRESS_CLAMP_TO_EDGE},
                 {"repeat", IG_ADDRESS_REPEAT},
                 {"mirror", IG_ADDRESS_MIRRORED_REPEAT},
                 {"zero", IG_ADDRESS_CLAMP_TO_ZERO},
                 {"border", IG_ADDRESS_CLAMP_TO_BORDER}};
#define IS(text) (strlen(text) == length && memcmp(word, text, length) == 0)
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (!IS(modes[i].word)) continue;
        set_addresses(desc, modes[i].mode);
        return true;
    }
    if (IS("linear")) desc->mag_filter = desc->min_filter = IG_FILTER_LINEAR;
    if (IS("mipmaps")) desc->mip_filter = IG_MIP_LINEAR;
    if (IS("pixel")) desc->pixel_coordinates = true;
    return IS("nearest") || IS("linear") || IS("mipmaps") || IS("pixel");
#undef IS
}

static int read_sampler(const char *spec, run_object *object) {
    for (const char *word = spec; *word; word += strcspn(word, ","), word += *word == ',') {
        size_t length = strcspn(word, ",");
        if (!apply_word(&object->sampler_desc, word, length))
            return cli_usage_error(
                "--arg %u: a sampler is made of nearest, linear, mipmaps, pixel, clamp, repeat, "
                "mirror, zero and border, not '%.*s'",
                object->index, (int)length, word);
    }
    return CLI_CONTINUE;
}

static int read_functions(run_job *job, uint32_t index, const char *names) {
    if (run_find_object(job, IG_ARGUMENT_FUNCTION_TABLE, index))
        return cli_usage_error("--arg %u is given twice as a function table", index);
    job->objects[job->object_count++] =
        (run_object){.kind = IG_ARGUMENT_FUNCTION_TABLE, .index = index, .functions = names};
    return CLI_CONTINUE;
}

int run_read_object(run_job *job, uint32_t index, const char *spec) {
    if (strncmp(spec, functions_mark, sizeof functions_mark - 1) == 0)
        return read_functions(job, index, spec + sizeof functions_mark - 1);
    bool texture = strncmp(spec, texture_mark, sizeof texture_mark - 1) == 0;
    run_object object = {.kind = texture ? IG_ARGUMENT_TEXTURE : IG_ARGUMENT_SAMPLER, .index = index};
    if (run_find_object(job, object.kind, index))
        return cli_usage_error("--arg %u is given twice as a %s", index, texture ? "texture" : "sampler");
    int result = texture ? read_texture(spec + sizeof texture_mark - 1, &object)
                         : read_sampler(spec + sizeof sampler_mark - 1, &object);
    if (result == CLI_CONTINUE) job->objects[job->object_count++] = object;
    return result;
}

// ---- Making them ----

static int create_texture(run_job *job, run_object *object) {
    ig_error error = {0};
    if (object->path) {
        ig_status status =
            cli_picture_load(object->path, &object->desc.width, &object->desc.height, &object->pixels, &error);
        if (status != IG_STATUS_OK) return cli_report_and_clear(status, &error);
        object->desc.type = IG_TEXTURE_2D;
        object->desc.format = IG_PIXEL_RGBA8_UNORM;
    }
    ig_status status = ig_texture_create(job->device, &object->desc, &object->texture);
    if (status == IG_STATUS_OK && object->pixels)
        status = ig_texture_write(object->texture, NULL, object->pixels, 0, 0);
    if (status == IG_STATUS_OK) return CLI_CONTINUE;
    ig_last_error(&error);
    return cli_report_and_clear(status, &error);
}

static int create_sampler(run_job *job, run_object *object) {
    ig_status status = ig_texture_sampler_create(job->device, &object->sampler_desc, &object->sampler);
    if (status == IG_STATUS_OK) return CLI_CONTINUE;
    ig_error error = {0};
    ig_last_error(&error);
    return cli_report_and_clear(status, &error);
}

// "-" is an empty place.
static ig_status fill_table(ig_function_table *table, const char *names) {
    ig_status status = IG_STATUS_OK;
    uint32_t index = 0;
    for (const char *name = names; *name && status == IG_STATUS_OK; name += strcspn(name, ","), name += *name == ',') {
        char *copy = igi_strndup(name, strcspn(name, ","));
        if (!copy) return IG_STATUS_OUT_OF_MEMORY;
        status = ig_function_table_set(table, index++, strcmp(copy, "-") == 0 ? NULL : copy);
        free(copy);
    }
    return status;
}

static int create_table(run_job *job, run_object *object) {
    uint32_t count = *object->functions != 0;
    for (const char *at = object->functions; *at; at++) count += *at == ',';
    ig_status status = ig_function_table_create(job->pipeline, count, &object->table);
    if (status == IG_STATUS_OK) status = fill_table(object->table, object->functions);
    if (status == IG_STATUS_OK) return CLI_CONTINUE;
    ig_error error = {0};
    ig_last_error(&error);
    return cli_report_and_clear(status, &error);
}

static int create_object(run_job *job, run_object *object) {
    switch (object->kind) {
        case IG_ARGUMENT_TEXTURE: return create_texture(job, object);
        case IG_ARGUMENT_SAMPLER: return create_sampler(job, object);
        default: return create_table(job, object);
    }
}

int run_create_objects(run_job *job) {
    int result = CLI_CONTINUE;
    for (size_t i = 0; i < job->object_count && result == CLI_CONTINUE; i++)
        result = create_object(job, &job->objects[i]);
    return result;
}

void run_encode_objects(const run_job *job, ig_commands *commands) {
    for (size_t i = 0; i < job->object_count; i++) {
        const run_object *object = &job->objects[i];
        if (object->texture) ig_commands_set_texture(commands, object->texture, object->index);
        if (object->sampler) ig_commands_set_sampler(commands, object->sampler, object->index);
        if (object->table) ig_commands_set_function_table(commands, object->table, object->index);
    }
}

void run_free_objects(run_job *job) {
    for (size_t i = 0; i < job->object_count; i++) {
        ig_texture_release(job->objects[i].texture);
        ig_texture_sampler_release(job->objects[i].sampler);
        ig_function_table_release(job->objects[i].table);
        free(job->objects[i].pixels);
    }
    free(job->objects);
}

// ---- Running again ----

static uint64_t bytes_of(const ig_texture_desc *desc) {
    return (uint64_t)desc->width * (desc->height ? desc->height : 1) * (desc->depth ? desc->depth : 1) *
           ig_pixel_format_bytes(desc->format);
}

void run_refill_textures(run_job *job) {
    for (size_t i = 0; i < job->object_count; i++) {
        run_object *object = &job->objects[i];
        if (!object->texture || object->reflection->access != IG_ACCESS_READ_WRITE) continue;
        if (!object->pixels) {
            object->pixels = cli_alloc(bytes_of(&object->desc));
            memset(object->pixels, 0, bytes_of(&object->desc));
        }
        ig_texture_write(object->texture, NULL, object->pixels, 0, 0);
    }
}

// ---- Saving ----

static void put_picture(const run_object *object, const char *path) {
    igi_json *row = cli_begin_row();
    igi_json_put_u64(row, "argument", object->index);
    igi_json_put_string(row, "name", object->reflection->name);
    igi_json_put_string(row, "type", ig_pixel_format_name(object->desc.format));
    igi_json_key(row, "shape");
    igi_json_begin_array(row);
    igi_json_u64(row, object->desc.height);
    igi_json_u64(row, object->desc.width);
    igi_json_end_array(row);
    igi_json_put_string(row, "file", path);
    cli_end_row();
}

static void swap_red_and_blue(unsigned char *pixels, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        unsigned char red = pixels[4 * i];
        pixels[4 * i] = pixels[4 * i + 2];
        pixels[4 * i + 2] = red;
    }
}

static void spread_grey(unsigned char *pixels, uint64_t count) {
    for (uint64_t i = count; i-- > 0;) {
        unsigned char grey = pixels[i];
        memset(pixels + 4 * i, grey, 3);
        pixels[4 * i + 3] = 255;
    }
}

int run_save_picture(run_object *object, const char *path) {
    const ig_texture_desc *desc = &object->desc;
    ig_pixel_format format = desc->format;
    bool grey = format == IG_PIXEL_R8_UNORM || format == IG_PIXEL_R8_UNORM_SRGB,
         swapped = format == IG_PIXEL_BGRA8_UNORM || format == IG_PIXEL_BGRA8_UNORM_SRGB,
         plain = format == IG_PIXEL_RGBA8_UNORM || format == IG_PIXEL_RGBA8_UNORM_SRGB;
    if (desc->type != IG_TEXTURE_2D || !(grey || swapped || plain))
        return cli_error(CLI_BAD_INPUT,
                         "--out %u: a picture has 8 bits for each colour: use a 2D texture of rgba8_unorm, bgra8_unorm "
                         "or r8_unorm, not %s",
                         object->index, ig_pixel_format_name(format));
    uint64_t count = (uint64_t)desc->width * desc->height;
    unsigned char *pixels = cli_alloc(4 * count);
    ig_texture_read(object->texture, NULL, pixels, 0, 0);
    if (grey) spread_grey(pixels, count);
    if (swapped) swap_red_and_blue(pixels, count);
    ig_error error = {0};
    ig_status status = cli_picture_save(path, desc->width, desc->height, pixels, &error);
    free(pixels);
    if (status != IG_STATUS_OK) return cli_report_and_clear(status, &error);
    if (cli_json) put_picture(object, path);
    return CLI_CONTINUE;
}
