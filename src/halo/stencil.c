// SPDX-License-Identifier: Apache-2.0
// Stencils on tiles. With a halo of several cells, several steps follow one exchange: each computes a box that is
// smaller by one cell on every side; the last one computes the tiles themselves.
#include "halo/stencil.h"

#include <string.h>

#include "core/clock.h"
#include "core/memory.h"
#include "core/status-internal.h"
#include "halo/halo-internal.h"
#include "kernels/library.h"

enum { AXES = 3, SPEED = 2, REGION_SLOT = 3, ENDS_SLOT = 4, NEIGHBOURS_SLOT = 5, GROUPS_PER_BUFFER = 32 };
enum { MARGINS = 4 };  // margins that have their own pipelines
enum { NARROW = 96 };  // cells along x: tiles for which several rows at once are faster

struct igi_halo_stencil {
    igi_halo_stencil_config config;
    ig_halo *halo;
    ig_halo_layout layout;
    ig_queue *queue;
    ig_pipeline *margins[MARGINS];  // for the tile and this many cells of its rim
    ig_pipeline *boxed[2];  // for any box inside the tile, and for boxes that extend into the rim; made when needed
    ig_buffer *ends;        // which sides of each tile are ends of the domain, in the form of stencil.metal
    uint32_t now;           // the field of the current step; the other one is the previous or next step
    uint32_t rows;          // that a thread computes
    bool pushes;            // steps fill the rims of the next one
    bool rims_ready;        // of the present step
    bool backwards;         // the order of tiles of the next dispatch
    igi_halo_stencil_times times;
};

// Matches stencil.metal: vectors of three take the space of four.
typedef struct region {
    uint32_t start[4], size[4];
    uint32_t backwards;
    float coefficient;
    uint32_t unused[2];
} region;

typedef struct box {
    int64_t start[AXES], size[AXES];  // in the padded tile
} box;

static uint64_t tile_count(const igi_halo_stencil *stencil) {
    return stencil->layout.block.x * stencil->layout.block.y * stencil->layout.block.z;
}

// ---- Making ----

static ig_status make_pipeline(const igi_halo_stencil *stencil, ig_library *library, uint32_t margin, bool boxed,
                               ig_pipeline **pipeline, ig_error *error) {
    const ig_halo_layout *layout = &stencil->layout;
    bool three = layout->dimensions == 3, clips = margin > 0;
    uint32_t tile[] = {(uint32_t)layout->tile.x, (uint32_t)layout->tile.y, (uint32_t)layout->tile.z};
    uint32_t rim[] = {layout->halo, layout->halo, three ? layout->halo : 0};
    const ig_function_constant constants[] = {
        {.id = 1, .type = IG_TYPE_U32, .value = tile, .components = 3},
        {.id = 2, .type = IG_TYPE_U32, .value = rim, .components = 3},
        {.id = 3, .type = IG_TYPE_BOOL, .value = &three},
        {.id = 4, .type = IG_TYPE_U32, .value = &margin},
        {.id = 5, .type = IG_TYPE_BOOL, .value = &boxed},
        {.id = 6, .type = IG_TYPE_BOOL, .value = &clips},
        {.id = 7, .type = IG_TYPE_BOOL, .value = &stencil->pushes},
        {.id = 8, .type = IG_TYPE_U32, .value = &stencil->rows},
    };
    const ig_pipeline_desc desc = {.kernel = stencil->config.kind == IGI_STENCIL_HEAT ? "heat" : "wave",
                                   .constants = constants,
                                   .constant_count = sizeof constants / sizeof *constants};
    return ig_pipeline_create(library, &desc, pipeline, error);
}

static ig_status make_pipelines(igi_halo_stencil *stencil, ig_device *device, ig_error *error) {
    uint32_t every = stencil->config.every;
    ig_library *library = NULL;
    ig_status status = igi_kernels_kernel_library_create(device, "stencil", &library, error);
    for (uint32_t i = 0; i < MARGINS && i < every && status == IG_STATUS_OK; i++)
        status = make_pipeline(stencil, library, i, false, &stencil->margins[i], error);
    bool any_box = stencil->config.overlaps || every > MARGINS;
    for (uint32_t i = 0; i < 2 && any_box && i < every && status == IG_STATUS_OK; i++)
        status = make_pipeline(stencil, library, i, true, &stencil->boxed[i], error);
    ig_library_release(library);
    return status;
}

static ig_status find_ends(igi_halo_stencil *stencil, ig_device *device, ig_error *error) {
    static const int faces[] = {1, 2, 3, 6, 9, 18};
    uint64_t tiles = tile_count(stencil);
    ig_status status = ig_buffer_create(device, &(ig_buffer_desc){.length = tiles * sizeof(uint32_t)}, &stencil->ends);
    if (status != IG_STATUS_OK) return igi_error_set(error, status, "%s", ig_status_text(status));
    const uint32_t *neighbours = ig_buffer_contents(ig_halo_neighbours_buffer(stencil->halo));
    uint32_t *ends = ig_buffer_contents(stencil->ends);
    for (uint64_t tile = 0; tile < tiles; tile++, neighbours += IGI_HALO_DIRECTIONS)
        for (uint32_t i = 0; i < 2 * stencil->layout.dimensions; i++)
            ends[tile] |= (uint32_t)(neighbours[faces[i]] == IG_HALO_NOTHING) << i;
    return IG_STATUS_OK;
}

static ig_status complete_config(igi_halo_stencil_config *config, ig_error *error) {
    uint32_t halo = config->halo.halo ? config->halo.halo : 1;
    if (config->every == 0) config->every = halo;
    if (config->every > halo)
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT,
                             "every is %u, but a halo of %u cells lasts for no more than %u steps", config->every, halo,
                             halo);
    config->halo.element_bytes = sizeof(float);
    config->halo.fields = config->kind == IGI_STENCIL_WAVE ? 3 : 2;
    config->halo.neighbours = config->every > 1 ? IG_NEIGHBOURS_ALL : IG_NEIGHBOURS_FACES;
    if (config->halo.transport && config->halo.transport->rank_count > 1) config->overlaps = true;
    if (config->every > 1 || config->overlaps) config->separate = true;
    return IG_STATUS_OK;
}

static ig_status open_parts(igi_halo_stencil *stencil, ig_device *device, ig_error *error) {
    ig_status status = complete_config(&stencil->config, error);
    if (status == IG_STATUS_OK) status = ig_halo_create(device, &stencil->config.halo, &stencil->halo, error);
    if (status != IG_STATUS_OK) return status;
    ig_halo_get_layout(stencil->halo, &stencil->layout);
    bool narrow = stencil->layout.tile.x <= NARROW;
    stencil->rows = narrow ? 4 : 1;
    stencil->pushes = narrow && !stencil->config.separate;
    if (ig_queue_create(device, &stencil->queue) != IG_STATUS_OK) return igi_error_no_memory(error);
    status = find_ends(stencil, device, error);
    return status == IG_STATUS_OK ? make_pipelines(stencil, device, error) : status;
}

ig_status igi_halo_stencil_create(ig_device *device, const igi_halo_stencil_config *config, igi_halo_stencil **stencil,
                                  ig_error *error) {
    igi_halo_stencil *made = igi_calloc(1, sizeof *made);
    if (!made) return igi_error_no_memory(error);
    made->config = *config;
    ig_status status = open_parts(made, device, error);
    if (status == IG_STATUS_OK)
        *stencil = made;
    else
        igi_halo_stencil_release(made);
    return status;
}

void igi_halo_stencil_release(igi_halo_stencil *stencil) {
    if (!stencil) return;
    for (int i = 0; i < MARGINS; i++) ig_pipeline_release(stencil->margins[i]);
    for (int i = 0; i < 2; i++) ig_pipeline_release(stencil->boxed[i]);
    ig_buffer_release(stencil->ends);
    ig_queue_release(stencil->queue);
    ig_halo_release(stencil->halo);
    free(stencil);
}

ig_halo *igi_halo_stencil_halo(const igi_halo_stencil *stencil) {
    return stencil->halo;
}

igi_halo_stencil_times igi_halo_stencil_get_times(const igi_halo_stencil *stencil) {
    return stencil->times;
}

// ---- Cells ----

ig_status igi_halo_stencil_start(igi_halo_stencil *stencil, const float *now, const float *before, const float *speed,
                                 ig_error *error) {
    bool waves = stencil->config.kind == IGI_STENCIL_WAVE;
    if (!now || (waves && (!before || !speed)))
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "the initial cells must not be NULL");
    ig_status status = ig_halo_reset(stencil->halo);
    stencil->now = 0;
    stencil->rims_ready = false;
    stencil->times = (igi_halo_stencil_times){0};
    if (status == IG_STATUS_OK) status = ig_halo_scatter(stencil->halo, 0, now);
    if (status == IG_STATUS_OK && waves) status = ig_halo_scatter(stencil->halo, 1, before);
    if (status == IG_STATUS_OK && waves) status = ig_halo_scatter(stencil->halo, SPEED, speed);
    if (status != IG_STATUS_OK) return igi_error_set(error, status, "%s", ig_status_text(status));
    // Steps that compute cells in the rim need the speeds there, which never change.
    return waves && stencil->config.every > 1 ? ig_halo_exchange(stencil->halo, IG_HALO_FIELD(SPEED), error) : status;
}

ig_status igi_halo_stencil_read(const igi_halo_stencil *stencil, float *cells) {
    return ig_halo_gather(stencil->halo, stencil->now, cells);
}

// ---- Boxes ----

static int64_t rim_along(const igi_halo_stencil *stencil, int axis) {
    return axis < (int)stencil->layout.dimensions ? stencil->layout.halo : 0;
}

// The tile, larger by `margin` on every side, or smaller when that is negative.
static box tile_box(const igi_halo_stencil *stencil, int64_t margin) {
    box made;
    for (int i = 0; i < AXES; i++) {
        int64_t grown = i < (int)stencil->layout.dimensions ? margin : 0;
        made.start[i] = rim_along(stencil, i) - grown;
        made.size[i] = (int64_t)igi_halo_along(stencil->layout.tile, (uint32_t)i) + 2 * grown;
    }
    return made;
}

static bool is_empty(const box *b) {
    return b->size[0] <= 0 || b->size[1] <= 0 || b->size[2] <= 0;
}

// ---- Encoding ----

// Each dispatch begins where the previous one ended, with the data that is still in the caches, on every core.
static region describe(igi_halo_stencil *stencil, const box *cells) {
    region described = {.backwards = stencil->backwards ? igi_halo_share(stencil->halo) : 0,
                        .coefficient = stencil->config.coefficient};
    for (int i = 0; i < AXES; i++) {
        described.start[i] = (uint32_t)cells->start[i];
        described.size[i] = (uint32_t)cells->size[i];
    }
    stencil->backwards = !stencil->backwards;
    return described;
}

static ig_status encode_box_with(igi_halo_stencil *stencil, ig_commands *commands, const box *cells,
                                 ig_pipeline *pipeline) {
    region described = describe(stencil, cells);
    ig_halo *halo = stencil->halo;
    ig_status status = ig_commands_set_pipeline(commands, pipeline);
    if (status == IG_STATUS_OK) status = ig_commands_set_buffer(commands, ig_halo_field(halo, stencil->now), 0, 0);
    if (status == IG_STATUS_OK) status = ig_commands_set_buffer(commands, ig_halo_field(halo, 1 - stencil->now), 0, 1);
    if (status == IG_STATUS_OK && stencil->config.kind == IGI_STENCIL_WAVE)
        status = ig_commands_set_buffer(commands, ig_halo_field(halo, SPEED), 0, SPEED);
    if (status == IG_STATUS_OK) status = ig_commands_set_bytes(commands, &described, sizeof described, REGION_SLOT);
    if (status == IG_STATUS_OK) status = ig_commands_set_buffer(commands, stencil->ends, 0, ENDS_SLOT);
    if (status == IG_STATUS_OK)
        status = ig_commands_set_buffer(commands, ig_halo_neighbours_buffer(halo), 0, NEIGHBOURS_SLOT);
    if (status != IG_STATUS_OK) return status;
    ig_size grid = {(uint64_t)cells->size[0], ((uint64_t)cells->size[1] + stencil->rows - 1) / stencil->rows,
                    (uint64_t)cells->size[2] * tile_count(stencil)};
    return ig_commands_dispatch_threads(commands, grid, (ig_size){0});
}

static ig_status encode_box(igi_halo_stencil *stencil, ig_commands *commands, const box *cells, bool clips) {
    return is_empty(cells) ? IG_STATUS_OK : encode_box_with(stencil, commands, cells, stencil->boxed[clips]);
}

static ig_status encode_tiles(igi_halo_stencil *stencil, ig_commands *commands, uint64_t margin) {
    box cells = tile_box(stencil, (int64_t)margin);
    ig_pipeline *pipeline = margin < MARGINS ? stencil->margins[margin] : stencil->boxed[1];
    return encode_box_with(stencil, commands, &cells, pipeline);
}

// The part of `outer` around `inner`: for each axis, from the last, the slabs on both sides.
static ig_status encode_around(igi_halo_stencil *stencil, ig_commands *commands, const box *outer, const box *inner,
                               bool clips) {
    box left = *outer;
    ig_status status = IG_STATUS_OK;
    for (int i = (int)stencil->layout.dimensions; i-- > 0 && status == IG_STATUS_OK;) {
        box low = left, high = left;
        int64_t inner_end = inner->start[i] + inner->size[i];
        low.size[i] = inner->start[i] - left.start[i];
        high.start[i] = inner_end;
        high.size[i] = left.start[i] + left.size[i] - inner_end;
        status = encode_box(stencil, commands, &low, clips);
        if (status == IG_STATUS_OK) status = encode_box(stencil, commands, &high, clips);
        left.start[i] = inner->start[i], left.size[i] = inner->size[i];
    }
    return status;
}

static uint32_t exchanged_fields(const igi_halo_stencil *stencil) {
    bool both = stencil->config.kind == IGI_STENCIL_WAVE && stencil->config.every > 1;
    return both ? IG_HALO_FIELD(0) | IG_HALO_FIELD(1) : IG_HALO_FIELD(stencil->now);
}

// The steps of a group from `first` on.
static ig_status encode_steps(igi_halo_stencil *stencil, ig_commands *commands, uint64_t first, uint64_t count) {
    ig_status status = IG_STATUS_OK;
    for (uint64_t i = first; i < count && status == IG_STATUS_OK; i++) {
        status = encode_tiles(stencil, commands, count - 1 - i);
        stencil->now = 1 - stencil->now;
    }
    return status;
}

// ---- Running, many steps in one command buffer ----

static ig_status encode_group(igi_halo_stencil *stencil, ig_commands *commands, uint64_t count) {
    if (stencil->pushes && stencil->rims_ready) {
        igi_halo_count(stencil->halo, exchanged_fields(stencil));
        return encode_steps(stencil, commands, 0, count);
    }
    stencil->rims_ready = true;
    ig_status status = igi_halo_encode(stencil->halo, commands, exchanged_fields(stencil), stencil->backwards);
    stencil->backwards = !stencil->backwards;
    return status == IG_STATUS_OK ? encode_steps(stencil, commands, 0, count) : status;
}

static ig_status wait_for(ig_commands *commands, ig_error *error) {
    ig_status status = ig_commands_commit(commands);
    if (status == IG_STATUS_OK) status = ig_commands_wait(commands, IG_FOREVER);
    if (status != IG_STATUS_OK && error) ig_commands_get_error(commands, error);
    return status;
}

// Groups begin with their exchange.
static void add_times(igi_halo_stencil *stencil, const ig_commands *commands, uint64_t exchanges, uint64_t period) {
    size_t count = stencil->pushes ? 0 : ig_commands_dispatch_count(commands);
    for (size_t i = 0; i < count; i++) {
        ig_timing timing;
        if (ig_commands_get_dispatch_timing(commands, i, &timing) != IG_STATUS_OK) return;
        *(i % period < exchanges ? &stencil->times.exchange_ns : &stencil->times.step_ns) +=
            timing.end_ns - timing.start_ns;
    }
}

static ig_status run_encoded(igi_halo_stencil *stencil, uint64_t steps, ig_error *error) {
    uint64_t every = stencil->config.every, exchanges = (uint64_t)__builtin_popcount(exchanged_fields(stencil));
    ig_status status = IG_STATUS_OK;
    while (steps > 0 && status == IG_STATUS_OK) {
        ig_commands *commands = NULL;
        if (ig_commands_create(stencil->queue, NULL, &commands) != IG_STATUS_OK) return igi_error_no_memory(error);
        for (int group = 0; group < GROUPS_PER_BUFFER && steps > 0 && status == IG_STATUS_OK; group++) {
            uint64_t count = steps < every ? steps : every;
            status = encode_group(stencil, commands, count);
            steps -= count;
        }
        if (status == IG_STATUS_OK)
            status = wait_for(commands, error);
        else
            igi_error_set(error, status, "%s", ig_status_text(status));
        if (status == IG_STATUS_OK) add_times(stencil, commands, exchanges, exchanges + every);
        ig_commands_release(commands);
    }
    return status;
}

// ---- Running with exchange and computation side by side ----

static ig_status run_around(igi_halo_stencil *stencil, const box *inner, uint64_t count, ig_error *error) {
    ig_commands *commands = NULL;
    if (ig_commands_create(stencil->queue, NULL, &commands) != IG_STATUS_OK) return igi_error_no_memory(error);
    box outer = tile_box(stencil, (int64_t)count - 1);
    ig_status status = is_empty(inner) ? encode_tiles(stencil, commands, count - 1)
                                       : encode_around(stencil, commands, &outer, inner, count > 1);
    stencil->now = 1 - stencil->now;
    if (status == IG_STATUS_OK) status = encode_steps(stencil, commands, 1, count);
    if (status == IG_STATUS_OK)
        status = wait_for(commands, error);
    else
        igi_error_set(error, status, "%s", ig_status_text(status));
    ig_commands_release(commands);
    return status;
}

// Cells that need nothing from the rim.
static ig_status start_inner(igi_halo_stencil *stencil, const box *inner, ig_commands **commands) {
    ig_status status = ig_commands_create(stencil->queue, NULL, commands);
    if (status == IG_STATUS_OK) status = encode_box(stencil, *commands, inner, false);
    return status == IG_STATUS_OK ? ig_commands_commit(*commands) : status;
}

// Waves overwrite the previous step: if that is exchanged too, cells that neighbours fetch must be kept until they have
// them.
static box inner_box(const igi_halo_stencil *stencil) {
    bool overwrites = exchanged_fields(stencil) & IG_HALO_FIELD(1 - stencil->now);
    return tile_box(stencil, overwrites ? -(int64_t)stencil->layout.halo : -1);
}

static ig_status run_group_overlapping(igi_halo_stencil *stencil, uint64_t count, ig_error *error) {
    box inner = inner_box(stencil);
    ig_commands *commands = NULL;
    uint64_t start = igi_now_ns();
    ig_status status = ig_halo_exchange_begin(stencil->halo, exchanged_fields(stencil), error);
    if (status != IG_STATUS_OK) return status;
    ig_status computed = is_empty(&inner) ? IG_STATUS_OK : start_inner(stencil, &inner, &commands);
    status = ig_halo_exchange_finish(stencil->halo, error);
    stencil->times.exchange_ns += igi_now_ns() - start;
    start = igi_now_ns();
    if (commands && computed == IG_STATUS_OK) computed = ig_commands_wait(commands, IG_FOREVER);
    if (status == IG_STATUS_OK && computed != IG_STATUS_OK)
        status = igi_error_set(error, computed, "%s", ig_status_text(computed));
    ig_commands_release(commands);
    if (status == IG_STATUS_OK) status = run_around(stencil, &inner, count, error);
    stencil->times.step_ns += igi_now_ns() - start;
    return status;
}

static ig_status run_overlapping(igi_halo_stencil *stencil, uint64_t steps, ig_error *error) {
    ig_status status = IG_STATUS_OK;
    while (steps > 0 && status == IG_STATUS_OK) {
        uint64_t count = steps < stencil->config.every ? steps : stencil->config.every;
        status = run_group_overlapping(stencil, count, error);
        steps -= count;
    }
    return status;
}

ig_status igi_halo_stencil_run(igi_halo_stencil *stencil, uint64_t steps, ig_error *error) {
    return stencil->config.overlaps ? run_overlapping(stencil, steps, error) : run_encoded(stencil, steps, error);
}
