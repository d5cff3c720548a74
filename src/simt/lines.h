// SPDX-License-Identifier: Apache-2.0
// From addresses in compiled code to source lines, by the line table of the object file.
#ifndef INGOT_SIMT_LINES_H
#define INGOT_SIMT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simt/jit.h"

typedef struct igi_simt_lines igi_simt_lines;

// Of an object with line tables that was loaded as `code`. NULL: it has none that can be read, or memory is short.
igi_simt_lines *igi_simt_lines_read(const char *object, size_t length, const igi_simt_code *code);
void igi_simt_lines_free(igi_simt_lines *lines);

// Whether an address is in the code. *line is 0 where the table has none; *path is as clang was told.
bool igi_simt_lines_find(const igi_simt_lines *lines, uint64_t address, const char **path, uint32_t *line);

#endif
