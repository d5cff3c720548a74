// SPDX-License-Identifier: Apache-2.0
// ingot halo: the initial state of a simulation.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "console/options.h"
#include "console/output.h"
#include "core/npy.h"
#include "halo.h"

// The position of a cell in the domain, 0 to 1 along each axis.
typedef struct place {
    double x, y, z;
} place;

static double square(double value) {
    return value * value;
}

static double distance(place a, place b) {
    return sqrt(square(a.x - b.x) + square(a.y - b.y) + square(a.z - b.z));
}

// ---- Heat: hot balls ----

static float heat_at(place at) {
    static const struct {
        place middle;
        double radius;
        float heat;
    } balls[] = {{{0.3, 0.35, 0.5}, 0.16, 1}, {{0.68, 0.6, 0.5}, 0.1, 0.8f}, {{0.4, 0.75, 0.5}, 0.07, 0.6f}};
    for (size_t i = 0; i < sizeof balls / sizeof *balls; i++)
        if (distance(at, balls[i].middle) < balls[i].radius) return balls[i].heat;
    return 0;
}

// ---- Waves: a drop, and obstacles ----

static float drop_at(place at) {
    return (float)exp(-square(distance(at, (place){0.22, 0.5, 0.5})) / square(0.025));
}

// A wall with two slits.
static bool in_slits(place at) {
    if (at.x < 0.44 || at.x > 0.46) return false;
    return !(fabs(at.y - 0.4) < 0.03 || fabs(at.y - 0.6) < 0.03);
}

static bool in_pillars(place at) {
    static const place pillars[] = {{0.45, 0.3, 0.5}, {0.5, 0.55, 0.5}, {0.62, 0.75, 0.5}, {0.72, 0.4, 0.5}};
    for (size_t i = 0; i < sizeof pillars / sizeof *pillars; i++)
        if (distance((place){at.x, at.y, 0.5}, pillars[i]) < 0.06) return true;
    return false;
}

static bool is_blocked(const halo_options *options, place at) {
    return options->obstacles == HALO_SLITS ? in_slits(at) : options->obstacles == HALO_PILLARS && in_pillars(at);
}

static void set_cell(const halo_options *options, halo_cells *cells, uint64_t index, place at) {
    if (!cells->before || !cells->speed) {
        cells->now[index] = heat_at(at);
        return;
    }
    bool blocked = is_blocked(options, at);
    cells->now[index] = cells->before[index] = blocked ? 0 : drop_at(at);
    cells->speed[index] = blocked ? 0 : 0.25f;
}

// ---- All cells ----

static void set_cells(const halo_options *options, halo_cells *cells) {
    ig_size size = cells->size;
    uint64_t index = 0;
    for (uint64_t z = 0; z < size.z; z++)
        for (uint64_t y = 0; y < size.y; y++)
            for (uint64_t x = 0; x < size.x; x++, index++) {
                place at = {((double)x + 0.5) / (double)size.x, ((double)y + 0.5) / (double)size.y,
                            ((double)z + 0.5) / (double)size.z};
                set_cell(options, cells, index, at);
            }
}

// Shapes are written z, y, x; two dimensions have no z.
static bool has_shape(const igi_npy *array, const ig_halo_layout *layout) {
    uint64_t shape[] = {layout->domain.z, layout->domain.y, layout->domain.x};
    return array->rank == layout->dimensions &&
           memcmp(array->shape, shape + 3 - array->rank, array->rank * sizeof *shape) == 0;
}

static int read_cells(const char *path, const ig_halo_layout *layout, halo_cells *cells) {
    igi_npy array = {0};
    ig_error error = {0};
    ig_status status = igi_npy_load(path, &array, &error);
    if (status != IG_STATUS_OK) return cli_report_and_clear(status, &error);
    bool fits = array.type == IG_TYPE_F32 && has_shape(&array, layout);
    if (fits) memcpy(cells->now, array.data, cells->count * sizeof *cells->now);
    if (fits && cells->before) memcpy(cells->before, array.data, cells->count * sizeof *cells->now);
    igi_npy_free(&array);
    if (fits) return CLI_CONTINUE;
    char depth[24] = "";
    if (layout->dimensions == 3) snprintf(depth, sizeof depth, "%llu,", (unsigned long long)layout->domain.z);
    return cli_error(CLI_BAD_INPUT, "%s: the array must be f32[%s%llu,%llu], the size of the domain", path, depth,
                     (unsigned long long)layout->domain.y, (unsigned long long)layout->domain.x);
}

int halo_make_cells(const halo_options *options, const ig_halo_layout *layout, halo_cells *cells) {
    bool waves = options->stencil.kind == IGI_STENCIL_WAVE;
    *cells = (halo_cells){.size = layout->domain, .count = layout->domain.x * layout->domain.y * layout->domain.z};
    size_t bytes = cells->count * sizeof(float);
    cells->now = cli_alloc(bytes);
    if (waves) cells->before = cli_alloc(bytes), cells->speed = cli_alloc(bytes);
    set_cells(options, cells);
    return options->in ? read_cells(options->in, layout, cells) : CLI_CONTINUE;
}

void halo_free_cells(halo_cells *cells) {
    free(cells->now), free(cells->before), free(cells->speed);
}

float *halo_cut_block(const ig_halo_layout *layout, const float *domain) {
    if (!domain) return NULL;
    float *block = cli_alloc(layout->block_bytes), *next = block;
    for (uint64_t z = 0; z < layout->cells.z; z++)
        for (uint64_t y = 0; y < layout->cells.y; y++, next += layout->cells.x) {
            uint64_t plane = layout->first.z * layout->tile.z + z, row = layout->first.y * layout->tile.y + y;
            const float *from = domain + (plane * layout->domain.y + row) * layout->domain.x;
            memcpy(next, from + layout->first.x * layout->tile.x, layout->cells.x * sizeof *next);
        }
    return block;
}
