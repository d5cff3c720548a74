// SPDX-License-Identifier: Apache-2.0
// PNG pictures.
#ifndef INGOT_CLI_PICTURE_H
#define INGOT_CLI_PICTURE_H

#include <ingot/status.h>

// Rows from top to bottom, four bytes per pixel: red, green, blue, opacity. errors: IO.
ig_status cli_picture_save(const char *path, uint32_t width, uint32_t height, const void *rgba, ig_error *error);

// The same, from a file. owns: the caller frees *rgba. errors: IO, BAD_FORMAT, OUT_OF_MEMORY.
ig_status cli_picture_load(const char *path, uint32_t *width, uint32_t *height, void **rgba, ig_error *error);

#endif
