// SPDX-License-Identifier: Apache-2.0
// Halo exchange: creation, figures, release.
#include <stdio.h>
#include <string.h>

#include "halo/halo-internal.h"
#include "kernels/library.h"

// ---- Kernels ----

ig_status igi_halo_pipeline(ig_halo *halo, ig_library *library, const char *name, ig_pipeline **pipeline,
                            ig_error *error) {
    const igi_halo_plan *plan = &halo->plan;
    uint32_t tile[3], rim[3];
    for (uint32_t i = 0; i < IGI_HALO_AXES; i++) {
        uint32_t scale = i == 0 ? plan->layout.element_bytes / plan->unit_bytes : 1;
        tile[i] = (uint32_t)plan->axes[i].tile * scale;
        rim[i] = (uint32_t)plan->axes[i].halo * scale;
    }
    const ig_function_constant constants[] = {
        {.id = 1, .type = IG_TYPE_U32, .value = tile, .components = 3},
        {.id = 2, .type = IG_TYPE_U32, .value = rim, .components = 3},
    };
    char kernel[32];
    snprintf(kernel, sizeof kernel, "%s_%u", name, plan->unit_bytes);
    ig_pipeline_desc desc = {
        .kernel = kernel, .constants = constants, .constant_count = sizeof constants / sizeof *constants};
    return ig_pipeline_create(library, &desc, pipeline, error);
}

// As halo.metal divides the rims.
ig_size igi_halo_rim_grid(const igi_halo_plan *plan) {
    const ig_halo_layout *layout = &plan->layout;
    uint64_t scale = layout->element_bytes / plan->unit_bytes, width = layout->tile.x * scale;
    uint64_t halo_z = plan->axes[2].halo, side = layout->tile.y * layout->tile.z * layout->halo * scale;
    uint64_t face_rows = 2 * halo_z * layout->padded.y + layout->tile.z * 2 * layout->halo;
    uint64_t column_rows = (side + width - 1) / width;
    uint64_t corner_units = plan->neighbours == IG_NEIGHBOURS_FACES ? 0 : face_rows * 2 * layout->halo * scale;
    return (ig_size){width, face_rows + column_rows + (corner_units + width - 1) / width, plan->tile_count};
}

// ---- Making ----

static ig_status open_fields(ig_halo *halo, ig_error *error) {
    ig_status status = IG_STATUS_OK;
    for (uint32_t i = 0; i < halo->plan.layout.fields && status == IG_STATUS_OK; i++)
        status = ig_buffer_create(halo->device, &(ig_buffer_desc){.length = halo->plan.layout.field_bytes},
                                  &halo->fields[i]);
    if (status == IG_STATUS_OK) return status;
    return igi_error_set(error, status, "a field of %llu bytes: %s", (unsigned long long)halo->plan.layout.field_bytes,
                         ig_status_text(status));
}

static ig_status open_neighbours(ig_halo *halo, ig_error *error) {
    const igi_halo_plan *plan = &halo->plan;
    ig_buffer_desc desc = {.length = plan->tile_count * IGI_HALO_DIRECTIONS * sizeof(uint32_t)};
    ig_status status = ig_buffer_create(halo->device, &desc, &halo->neighbours);
    if (status != IG_STATUS_OK) return igi_error_set(error, status, "%s", ig_status_text(status));
    uint32_t *next = ig_buffer_contents(halo->neighbours);
    for (uint64_t tile = 0; tile < plan->tile_count; tile++)
        for (uint32_t direction = 0; direction < IGI_HALO_DIRECTIONS; direction++)
            *next++ = igi_halo_neighbour(plan, tile, direction);
    return IG_STATUS_OK;
}

static ig_status open_parts(ig_halo *halo, const ig_halo_config *config, ig_error *error) {
    ig_library *library = NULL;
    ig_status status = igi_halo_plan_make(config, &halo->plan, error);
    if (status == IG_STATUS_OK) status = open_fields(halo, error);
    if (status == IG_STATUS_OK) status = open_neighbours(halo, error);
    if (status == IG_STATUS_OK && ig_queue_create(halo->device, &halo->queue) != IG_STATUS_OK)
        status = igi_error_no_memory(error);
    if (status == IG_STATUS_OK) status = igi_kernels_kernel_library_create(halo->device, "halo", &library, error);
    if (status == IG_STATUS_OK) status = igi_halo_pipeline(halo, library, "halo_pull", &halo->pull, error);
    if (status == IG_STATUS_OK && config->transport && config->transport->rank_count > 1)
        status = igi_halo_remote_open(halo, config, library, error);
    ig_library_release(library);
    return status;
}

ig_status ig_halo_create(ig_device *device, const ig_halo_config *config, ig_halo **halo, ig_error *error) {
    if (!device || !config || !halo)
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "ig_halo_create needs a device and a configuration");
    ig_halo *made = igi_calloc(1, sizeof *made);
    if (!made) return igi_error_no_memory(error);
    igi_ref_init(&made->references);
    pthread_mutex_init(&made->lock, NULL);
    made->device = ig_device_retain(device);
    ig_status status = open_parts(made, config, error);
    if (status == IG_STATUS_OK)
        *halo = made;
    else
        ig_halo_release(made);
    return status;
}

ig_halo *ig_halo_retain(ig_halo *halo) {
    if (halo) igi_ref_take(&halo->references);
    return halo;
}

void ig_halo_release(ig_halo *halo) {
    if (!halo || !igi_ref_drop(&halo->references)) return;
    if (halo->pending_fields && !halo->broken) ig_halo_exchange_finish(halo, NULL);
    for (uint32_t i = 0; i < IG_HALO_MAX_FIELDS; i++) ig_buffer_release(halo->fields[i]);
    ig_buffer_release(halo->neighbours);
    igi_halo_remote_close(halo->remote, halo->broken);
    ig_commands_release(halo->commands);
    ig_pipeline_release(halo->pull);
    ig_queue_release(halo->queue);
    ig_device_release(halo->device);
    pthread_mutex_destroy(&halo->lock);
    free(halo);
}

// ---- Looking ----

void ig_halo_get_layout(const ig_halo *halo, ig_halo_layout *layout) {
    *layout = halo->plan.layout;
}

ig_buffer *ig_halo_field(const ig_halo *halo, uint32_t field) {
    return field < IG_HALO_MAX_FIELDS ? halo->fields[field] : NULL;
}

ig_buffer *ig_halo_neighbours_buffer(const ig_halo *halo) {
    return halo->neighbours;
}

void ig_halo_get_stats(const ig_halo *halo, ig_halo_stats *stats) {
    ig_halo *open = (ig_halo *)halo;  // only its lock changes
    pthread_mutex_lock(&open->lock);
    uint64_t exchanges = halo->exchanges, time_ns = halo->time_ns;
    pthread_mutex_unlock(&open->lock);
    const igi_halo_plan *plan = &halo->plan;
    *stats = (ig_halo_stats){.exchanges = exchanges,
                             .messages = exchanges * plan->messages,
                             .bytes = exchanges * plan->bytes,
                             .tiles = plan->tile_count,
                             .grid = plan->layout.grid,
                             .time_ns = time_ns};
    if (!halo->remote) return;
    stats->remote_messages = exchanges * halo->remote->link_count;
    stats->remote_bytes = exchanges * halo->remote->field_bytes;
}

ig_status ig_halo_reset(ig_halo *halo) {
    if (!halo) return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "halo_reset: the halo must not be NULL");
    if (halo->pending_fields)
        return igi_fail_with(IG_STATUS_WRONG_STATE,
                             "halo_reset: an exchange has begun; call ig_halo_exchange_finish first");
    for (uint32_t i = 0; i < halo->plan.layout.fields; i++)
        memset(ig_buffer_contents(halo->fields[i]), 0, halo->plan.layout.field_bytes);
    pthread_mutex_lock(&halo->lock);
    halo->exchanges = halo->time_ns = 0;
    pthread_mutex_unlock(&halo->lock);
    return IG_STATUS_OK;
}
