// SPDX-License-Identifier: Apache-2.0
// PNG pictures, by libpng.
#include "picture.h"

#include <png.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/status-internal.h"

ig_status cli_picture_save(const char *path, uint32_t width, uint32_t height, const void *rgba, ig_error *error) {
    png_image image = {.version = PNG_IMAGE_VERSION, .width = width, .height = height, .format = PNG_FORMAT_RGBA};
    bool written = png_image_write_to_file(&image, path, 0, rgba, 0, NULL) != 0;
    if (!written) igi_error_set(error, IG_STATUS_IO, "%s: cannot be written: %s", path, image.message);
    png_image_free(&image);
    return written ? IG_STATUS_OK : IG_STATUS_IO;
}

static ig_status fail_to_read(const char *path, png_image *image, ig_error *error) {
    ig_status status = igi_error_set(error, IG_STATUS_IO, "%s: cannot be read: %s", path, image->message);
    png_image_free(image);
    return status;
}

ig_status cli_picture_load(const char *path, uint32_t *width, uint32_t *height, void **rgba, ig_error *error) {
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_file(&image, path)) return fail_to_read(path, &image, error);
    image.format = PNG_FORMAT_RGBA;
    void *pixels = malloc((size_t)image.width * image.height * 4);
    if (!pixels) {
        png_image_free(&image);
        return igi_error_no_memory(error);
    }
    if (!png_image_finish_read(&image, NULL, pixels, 0, NULL)) {
        free(pixels);
        return fail_to_read(path, &image, error);
    }
    *width = image.width, *height = image.height;
    *rgba = pixels;
    return IG_STATUS_OK;
}
