// SPDX-License-Identifier: Apache-2.0
// PNG pictures, written by libpng.
#include "picture.h"

#include <png.h>
#include <stdbool.h>

#include "core/status-internal.h"

ig_status cli_picture_save(const char *path, uint32_t width, uint32_t height, const void *rgba, ig_error *error) {
    png_image image = {.version = PNG_IMAGE_VERSION, .width = width, .height = height, .format = PNG_FORMAT_RGBA};
    bool written = png_image_write_to_file(&image, path, 0, rgba, 0, NULL) != 0;
    if (!written) igi_error_set(error, IG_STATUS_IO, "%s: cannot be written: %s", path, image.message);
    png_image_free(&image);
    return written ? IG_STATUS_OK : IG_STATUS_IO;
}
