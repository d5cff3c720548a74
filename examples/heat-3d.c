// SPDX-License-Identifier: Apache-2.0
// Heat in three dimensions, on 2 x 2 x 2 tiles that exchange their faces: a hot corner cools down.
#include <ingot/ingot.h>
#include <stdio.h>

enum { TILE = 16, TILES = 2, SIDE = TILE * TILES, STEPS = 200 };

// The rim is one cell wide: a padded tile has 18 cells along each axis.
static const char source[] =
    "kernel void heat(device const float *now, device float *next, uint3 at [[thread_position_in_grid]]) {\n"
    "    const int row = 18, plane = row * row;\n"
    "    uint tile = at.z / 16;\n"
    "    int i = int(tile) * row * plane + int(at.z % 16 + 1) * plane + int(at.y + 1) * row + int(at.x + 1);\n"
    "    float around = now[i - 1] + now[i + 1] + now[i - row] + now[i + row] + now[i - plane] + now[i + plane];\n"
    "    next[i] = now[i] + 0.15 * (around - 6 * now[i]);\n"
    "}\n";

static float cells[SIDE][SIDE][SIDE];

static void print_diagonal(const char *label) {
    printf("%-14s", label);
    for (int i = 0; i < SIDE; i += 4) printf(" %.3f", cells[i][i][i]);
    printf("\n");
}

// All steps in one command buffer: exchange the rims, compute, swap the fields.
static ig_status simulate(ig_halo *halo, ig_queue *queue, ig_pipeline *heat) {
    ig_commands *commands = NULL;
    ig_status status = ig_commands_create(queue, NULL, &commands);
    for (uint32_t step = 0, now = 0; step < STEPS && status == IG_STATUS_OK; step++, now = 1 - now) {
        status = ig_halo_encode_exchange(halo, commands, IG_HALO_FIELD(now));
        ig_commands_set_pipeline(commands, heat);
        ig_commands_set_buffer(commands, ig_halo_field(halo, now), 0, 0);
        ig_commands_set_buffer(commands, ig_halo_field(halo, 1 - now), 0, 1);
        ig_commands_dispatch_threads(commands, (ig_size){TILE, TILE, TILE * TILES * TILES * TILES}, (ig_size){0});
    }
    if (status == IG_STATUS_OK) status = ig_commands_commit(commands);
    if (status == IG_STATUS_OK) status = ig_commands_wait(commands, IG_FOREVER);
    ig_commands_release(commands);
    return status;
}

int main(void) {
    ig_device *device = NULL;
    ig_library *library = NULL;
    ig_pipeline *heat = NULL;
    ig_queue *queue = NULL;
    ig_halo *halo = NULL;
    ig_error error = {0};
    ig_halo_config config = ig_halo_config_3d((ig_size){TILES, TILES, TILES}, (ig_size){TILE, TILE, TILE}, 1);
    config.fields = 2;
    for (int i = 0; i < 8 * 8 * 8; i++) cells[i / 64][i / 8 % 8][i % 8] = 1;
    int failed = ig_device_create(NULL, &device, &error) ||
                 ig_library_create(device, &(ig_library_desc){.source = source}, &library, &error) ||
                 ig_pipeline_create(library, &(ig_pipeline_desc){.kernel = "heat"}, &heat, &error) ||
                 ig_halo_create(device, &config, &halo, &error) || ig_queue_create(device, &queue);
    if (!failed) {
        print_diagonal("at first");
        failed =
            ig_halo_scatter(halo, 0, cells) || simulate(halo, queue, heat) || ig_halo_gather(halo, STEPS % 2, cells);
        print_diagonal("200 steps on");
    }
    if (failed) fprintf(stderr, "%s\n", error.message ? error.message : "the simulation failed");
    ig_error_clear(&error);
    ig_halo_release(halo);
    ig_queue_release(queue);
    ig_pipeline_release(heat);
    ig_library_release(library);
    ig_device_release(device);
    return failed;
}
