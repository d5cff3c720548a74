// SPDX-License-Identifier: Apache-2.0
// ingot replay: textures and samplers as they were captured.
#include <stdlib.h>

#include "console/options.h"
#include "console/output.h"
#include "core/memory.h"
#include "replay.h"

// ---- Pixels ----

static uint32_t extent(uint32_t whole, uint32_t level) {
    return whole >> level ? whole >> level : 1;
}

static uint64_t bytes_of_level(const ig_texture_desc *desc, uint32_t level) {
    return (uint64_t)extent(desc->width, level) * extent(desc->height, level) * extent(desc->depth, level) *
           ig_pixel_format_bytes(desc->format) * desc->samples;
}

static uint32_t layers_of(const ig_texture_desc *desc) {
    bool cube = desc->type == IG_TEXTURE_CUBE || desc->type == IG_TEXTURE_CUBE_ARRAY;
    return desc->array_length * (cube ? 6 : 1);
}

// Of a texture that exists, so that they fit into memory.
static uint64_t bytes_of(const ig_texture_desc *desc) {
    uint64_t layer = 0;
    for (uint32_t i = 0; i < desc->levels; i++) layer += bytes_of_level(desc, i);
    return layer * layers_of(desc);
}

// Between a texture and the levels of its first layer, then of the next.
static ig_status copy_pixels(ig_texture *texture, const ig_texture_desc *desc, char *pixels, bool into) {
    ig_status status = IG_STATUS_OK;
    for (uint32_t layer = 0; layer < layers_of(desc); layer++)
        for (uint32_t level = 0; level < desc->levels && status == IG_STATUS_OK; level++) {
            const ig_region region = {.level = level, .layer = layer};
            status = into ? ig_texture_write(texture, &region, pixels, 0, 0)
                          : ig_texture_read(texture, &region, pixels, 0, 0);
            pixels += bytes_of_level(desc, level);
        }
    return status;
}

void *replay_read_pixels(const replay_job *job, size_t texture) {
    ig_texture_desc desc;
    ig_texture_get_desc(job->textures[texture], &desc);
    char *pixels = igi_alloc(bytes_of(&desc));
    if (pixels) (void)copy_pixels(job->textures[texture], &desc, pixels, false);
    return pixels;
}

// ---- Making them ----

static int conclude(ig_status status) {
    ig_error error = {0};
    if (status == IG_STATUS_OK) return CLI_CONTINUE;
    ig_last_error(&error);
    return cli_report_and_clear(status, &error);
}

static int create_texture(replay_job *job, size_t index) {
    const capture_texture *captured = &job->captured.textures[index];
    ig_texture_desc desc = captured->desc;
    if (captured->in_buffer) desc.buffer = job->buffers[captured->buffer];
    ig_status status = ig_texture_create(job->device, &desc, &job->textures[index]);
    if (status != IG_STATUS_OK || captured->in_buffer) return conclude(status);
    ig_texture_get_desc(job->textures[index], &desc);
    if (bytes_of(&desc) != captured->before.bytes)
        return cli_error(CLI_BAD_INPUT, "the pixels of texture %zu have %llu bytes; the texture needs %llu", index,
                         (unsigned long long)captured->before.bytes, (unsigned long long)bytes_of(&desc));
    return conclude(copy_pixels(job->textures[index], &desc, captured->before.data, true));
}

static int create_argument(replay_job *job, size_t index) {
    const capture_argument *argument = &job->captured.arguments[index];
    ig_status status = IG_STATUS_OK;
    if (argument->kind == CAPTURE_SAMPLER)
        status = ig_texture_sampler_create(job->device, &argument->sampler, &job->samplers[index]);
    else if (argument->kind == CAPTURE_TEXTURE && argument->is_view)
        status = ig_texture_create_view(job->textures[argument->buffer], &argument->view, &job->views[index]);
    return conclude(status);
}

int replay_create_textures(replay_job *job) {
    int result = CLI_CONTINUE;
    for (size_t i = 0; i < job->captured.texture_count && result == CLI_CONTINUE; i++) result = create_texture(job, i);
    for (size_t i = 0; i < job->captured.argument_count && result == CLI_CONTINUE; i++)
        result = create_argument(job, i);
    return result;
}

void replay_free_textures(replay_job *job) {
    for (size_t i = 0; i < job->captured.argument_count; i++)
        ig_texture_release(job->views[i]), ig_texture_sampler_release(job->samplers[i]);
    for (size_t i = 0; i < job->captured.texture_count; i++) ig_texture_release(job->textures[i]);
}

void replay_bind_texture(const replay_job *job, ig_commands *commands, size_t argument) {
    const capture_argument *captured = &job->captured.arguments[argument];
    ig_texture *view = job->views[argument];
    ig_commands_set_texture(commands, view ? view : job->textures[captured->buffer], captured->index);
}
