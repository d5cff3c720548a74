// SPDX-License-Identifier: Apache-2.0
// A wave among obstacles, on 4 x 2 tiles: inner cells are computed while borders are being exchanged. Drawn with
// letters.
#include <ingot/ingot.h>
#include <math.h>
#include <stdio.h>

enum { TILE = 32, TILES_X = 4, TILES_Y = 2, WIDTH = TILE * TILES_X, HEIGHT = TILE * TILES_Y, STEPS = 110 };
enum { FIRST, SECOND, SPEED, FIELDS };

// `box` is the part of each tile to compute: first and size along x and y. Tiles have a rim of one cell.
static const char source[] =
    "kernel void wave(device const float *now, device float *other, device const float *speed, constant int4 &box,\n"
    "                 uint3 at [[thread_position_in_grid]]) {\n"
    "    const int row = 34;\n"
    "    int i = int(at.z) * row * row + (int(at.y) + box.y + 1) * row + int(at.x) + box.x + 1;\n"
    "    float around = now[i - 1] + now[i + 1] + now[i - row] + now[i + row];\n"
    "    other[i] = 2 * now[i] - other[i] + speed[i] * (around - 4 * now[i]);\n"
    "}\n";

static float height[HEIGHT][WIDTH], speed[HEIGHT][WIDTH];

static void start(void) {
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            float dx = (float)(x - 24), dy = (float)(y - HEIGHT / 2);
            height[y][x] = expf(-(dx * dx + dy * dy) / 12);
            speed[y][x] = x / 6 == 9 && y / 8 % 2 == 0 ? 0 : 0.3f;  // a wall with gaps
        }
}

static void draw(void) {
    for (int y = 0; y < HEIGHT; y += 4) {
        for (int x = 0; x < WIDTH; x += 2) {
            float value = height[y][x];
            putchar(speed[y][x] == 0 ? '#' : value > 0.03f ? '+' : value < -0.03f ? '-' : ' ');
        }
        putchar('\n');
    }
}

typedef struct simulation {
    ig_halo *halo;
    ig_queue *queue;
    ig_pipeline *wave;
} simulation;

static ig_status encode(const simulation *s, ig_commands *commands, uint32_t now, int x, int y, int w, int h) {
    const int32_t box[] = {x, y, w, h};
    ig_commands_set_pipeline(commands, s->wave);
    ig_commands_set_buffer(commands, ig_halo_field(s->halo, now), 0, 0);
    ig_commands_set_buffer(commands, ig_halo_field(s->halo, 1 - now), 0, 1);
    ig_commands_set_buffer(commands, ig_halo_field(s->halo, SPEED), 0, 2);
    ig_commands_set_bytes(commands, box, sizeof box, 3);
    return ig_commands_dispatch_threads(commands, (ig_size){(uint64_t)w, (uint64_t)h, TILES_X * TILES_Y}, (ig_size){0});
}

static ig_status step(const simulation *s, uint32_t now, ig_error *error) {
    ig_commands *inner = NULL, *border = NULL;
    ig_status status = ig_halo_exchange_begin(s->halo, IG_HALO_FIELD(now), error);
    if (status != IG_STATUS_OK) return status;
    if (ig_commands_create(s->queue, NULL, &inner) == IG_STATUS_OK) {
        encode(s, inner, now, 1, 1, TILE - 2, TILE - 2);
        status = ig_commands_commit(inner);
    }
    ig_status exchanged = ig_halo_exchange_finish(s->halo, error);
    if (ig_commands_create(s->queue, NULL, &border) == IG_STATUS_OK) {
        encode(s, border, now, 0, 0, TILE, 1);
        encode(s, border, now, 0, TILE - 1, TILE, 1);
        encode(s, border, now, 0, 1, 1, TILE - 2);
        encode(s, border, now, TILE - 1, 1, 1, TILE - 2);
        if (status == IG_STATUS_OK) status = ig_commands_commit(border);
        if (status == IG_STATUS_OK) status = ig_commands_wait(border, IG_FOREVER);
    }
    ig_commands_release(inner);
    ig_commands_release(border);
    return exchanged != IG_STATUS_OK ? exchanged : status;
}

int main(void) {
    ig_device *device = NULL;
    ig_library *library = NULL;
    simulation s = {0};
    ig_error error = {0};
    ig_halo_config config = ig_halo_config_2d(TILES_X, TILES_Y, TILE, TILE, 1);
    config.fields = FIELDS;
    int failed = ig_device_create(NULL, &device, &error) ||
                 ig_library_create(device, &(ig_library_desc){.source = source}, &library, &error) ||
                 ig_pipeline_create(library, &(ig_pipeline_desc){.kernel = "wave"}, &s.wave, &error) ||
                 ig_halo_create(device, &config, &s.halo, &error) || ig_queue_create(device, &s.queue);
    if (!failed) {
        start();
        failed = ig_halo_scatter(s.halo, FIRST, height) || ig_halo_scatter(s.halo, SECOND, height) ||
                 ig_halo_scatter(s.halo, SPEED, speed);
        for (uint32_t i = 0; i < STEPS && !failed; i++) failed = step(&s, i % 2, &error) != IG_STATUS_OK;
        if (!failed) failed = ig_halo_gather(s.halo, STEPS % 2, height) != IG_STATUS_OK;
    }
    if (failed)
        fprintf(stderr, "%s\n", error.message ? error.message : "the simulation failed");
    else
        draw();
    ig_error_clear(&error);
    ig_halo_release(s.halo);
    ig_queue_release(s.queue);
    ig_pipeline_release(s.wave);
    ig_library_release(library);
    ig_device_release(device);
    return failed;
}
