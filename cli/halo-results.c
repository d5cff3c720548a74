// SPDX-License-Identifier: Apache-2.0
// ingot halo: results as .npy files and pictures.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "console/options.h"
#include "console/output.h"
#include "core/file.h"
#include "core/memory.h"
#include "core/npy.h"
#include "halo.h"
#include "picture.h"

typedef struct rgba {
    unsigned char red, green, blue, opacity;
} rgba;

static unsigned char to_byte(double value) {
    return (unsigned char)(255 * fmin(fmax(value, 0), 1) + 0.5);
}

// Black, red, yellow, white.
static rgba heat_colour(double value) {
    return (rgba){to_byte(3 * value), to_byte(3 * value - 1), to_byte(3 * value - 2), 255};
}

// Blue below, dark at rest, orange above.
static rgba wave_colour(double value) {
    double height = fabs(value), strength = sqrt(height);
    if (value < 0) return (rgba){to_byte(0.1 * height), to_byte(0.55 * strength), to_byte(0.1 + strength), 255};
    return (rgba){to_byte(0.05 + strength), to_byte(0.05 + 0.65 * strength), to_byte(0.1 + 0.25 * height), 255};
}

static rgba colour(const halo_options *options, const halo_cells *cells, uint64_t index, float value) {
    if (options->stencil.kind == IGI_STENCIL_HEAT) return heat_colour(value);
    if (cells->speed[index] == 0) return (rgba){110, 110, 118, 255};
    return wave_colour(4 * value);
}

int halo_save_picture(const halo_options *options, const char *path, const halo_cells *cells, const float *domain) {
    uint64_t pixels = cells->size.x * cells->size.y, start = cells->size.z / 2 * pixels;
    if (cells->size.x > UINT32_MAX / 4 || cells->size.y > UINT32_MAX / 4)
        return cli_error(CLI_BAD_INPUT, "%s: the domain is too large for a picture", path);
    rgba *picture = cli_alloc(pixels * sizeof *picture);
    for (uint64_t i = 0; i < pixels; i++) picture[i] = colour(options, cells, start + i, domain[start + i]);
    ig_error error = {0};
    ig_status status = cli_picture_save(path, (uint32_t)cells->size.x, (uint32_t)cells->size.y, picture, &error);
    free(picture);
    return status == IG_STATUS_OK ? CLI_CONTINUE : cli_report_and_clear(status, &error);
}

int halo_save_result(const halo_options *options, const halo_cells *cells, const float *domain) {
    if (igi_ends_with(options->out, ".png")) return halo_save_picture(options, options->out, cells, domain);
    const uint64_t shape[] = {cells->size.z, cells->size.y, cells->size.x};
    uint32_t rank = options->stencil.halo.dimensions;
    ig_error error = {0};
    ig_status status = igi_npy_save(options->out, IG_TYPE_F32, rank, shape + 3 - rank, domain, &error);
    return status == IG_STATUS_OK ? CLI_CONTINUE : cli_report_and_clear(status, &error);
}

int halo_save_frame(const halo_options *options, const halo_cells *cells, const float *domain, uint64_t step) {
    char name[64];
    snprintf(name, sizeof name, "step-%08llu.png", (unsigned long long)step);
    char *path = igi_path_join(options->frames, name);
    if (!path) return cli_report(IG_STATUS_OUT_OF_MEMORY, NULL);
    int result = halo_save_picture(options, path, cells, domain);
    free(path);
    return result;
}
