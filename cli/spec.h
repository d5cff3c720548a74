// SPDX-License-Identifier: Apache-2.0
// The SPEC of `ingot run --arg I=SPEC`: the initial value of a kernel argument.
//
//   FILE.npy              the array in the file
//   f32[64,32]            zeros
//   f32[1000]:random:7    random numbers from seed 7 (default 0); see elements.h
//   f32[1000]:iota        0, 1, 2, ...
//   f32[1000]:0.5         every element the same
//   f32[3]:1,2,3          each element
//   u32:7  f32:1,2,3      a constant, set as bytes
#ifndef INGOT_CLI_SPEC_H
#define INGOT_CLI_SPEC_H

#include "core/npy.h"

typedef enum cli_fill { CLI_FILL_ZEROS, CLI_FILL_RANDOM, CLI_FILL_IOTA, CLI_FILL_VALUES, CLI_FILL_FILE } cli_fill;

typedef struct cli_spec {
    cli_fill fill;
    bool is_constant;  // without a shape: set as bytes, cannot be read back
    ig_type type;
    uint32_t rank;
    uint64_t shape[IGI_NPY_MAX_RANK];
    uint64_t count, bytes;
    uint64_t seed;
    void *values;          // CLI_FILL_VALUES: one for all elements, or one for each
    uint64_t value_count;  //
    const char *path;      // CLI_FILL_FILE
    igi_npy file;
} cli_spec;

// Parses only the text; opens no file. owns: *spec is the caller's, to be freed with cli_spec_free. errors:
// INVALID_ARGUMENT, OVERFLOW.
ig_status cli_spec_parse(const char *text, cli_spec *spec, ig_error *error);
// Reads the file of a FILE.npy; does nothing for the others. errors: those of igi_npy_load; INVALID_ARGUMENT if empty.
ig_status cli_spec_load(cli_spec *spec, ig_error *error);
// Writes spec->bytes bytes. pre: loaded.
void cli_spec_fill(const cli_spec *spec, void *memory);
void cli_spec_free(cli_spec *spec);

// "TYPE:VALUE[,VALUE...]" only, as constants are written.
ig_status cli_constant_parse(const char *text, cli_spec *spec, ig_error *error);

// Splits "I=REST", where I is a number. Returns false if the text does not have that form.
bool cli_split_index(const char *text, uint32_t *index, const char **rest);

#endif
