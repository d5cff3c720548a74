// SPDX-License-Identifier: Apache-2.0
// The header of a .npy file: a Python dictionary as text.
#ifndef INGOT_CORE_NPY_HEADER_H
#define INGOT_CORE_NPY_HEADER_H

#include "core/npy.h"

typedef struct igi_npy_header {
    ig_type type;
    bool fortran_order;
    uint32_t rank;
    uint64_t shape[IGI_NPY_MAX_RANK];
} igi_npy_header;

// `path` is for messages. errors: BAD_FORMAT, UNSUPPORTED, OVERFLOW.
ig_status igi_npy_header_parse(const char *path, const char *text, size_t length, igi_npy_header *header,
                               ig_error *error);

// The whole preamble, magic to padding, of a version 1.0 file. Returns its length.
enum { IGI_NPY_PREAMBLE_MAX = 1024 };
size_t igi_npy_header_format(const igi_npy_header *header, char preamble[IGI_NPY_PREAMBLE_MAX]);

#endif
