// SPDX-License-Identifier: Apache-2.0
// Members and files of a captured dispatch, as the parts that read one ask for them.
#ifndef INGOT_CLI_CAPTURE_FIELDS_H
#define INGOT_CLI_CAPTURE_FIELDS_H

#include "capture.h"

typedef struct capture_loader {
    const char *directory;
    char *path;  // of the description
    capture *read;
    ig_error *error;
} capture_loader;

// errors of all: BAD_FORMAT, naming the member; of files also NOT_FOUND, IO, OUT_OF_MEMORY.
ig_status capture_wrong(const capture_loader *l, const char *key, const char *what);
ig_status capture_get_text(const capture_loader *l, const igi_json_value *object, const char *key, const char **text);
// From 0 to `most`.
ig_status capture_get_number(const capture_loader *l, const igi_json_value *object, const char *key, uint64_t most,
                             uint64_t *number);
ig_status capture_get_array(const capture_loader *l, const igi_json_value *object, const char *key, size_t most,
                            const igi_json_value **array);
// Three numbers of at least `least`.
ig_status capture_get_size(const capture_loader *l, const igi_json_value *object, const char *key, uint64_t least,
                           ig_size *size);
ig_status capture_get_type(const capture_loader *l, const igi_json_value *object, ig_type *type);

// Numbers of 32 bits, from 0 to `most`.
typedef struct capture_number {
    const char *key;
    uint64_t most;
    uint32_t *number;
} capture_number;
ig_status capture_get_numbers(const capture_loader *l, const igi_json_value *object, const capture_number *numbers,
                              size_t count);

// The path of a file of the directory itself, and no link: nothing outside of it is read. The caller frees it.
ig_status capture_get_file(const capture_loader *l, const char *name, char **path);
ig_status capture_load_array(const capture_loader *l, const char *name, igi_npy *array);

// capture-stage.c: of the member "stage_input", if there is one.
ig_status capture_read_stage(const capture_loader *l);
// capture-textures.c: an element of "textures", and what an argument says of one or of a sampler.
ig_status capture_read_texture(const capture_loader *l, const igi_json_value *item);
ig_status capture_read_view(const capture_loader *l, const igi_json_value *item, capture_argument *argument);
ig_status capture_read_sampler(const capture_loader *l, const igi_json_value *item, capture_argument *argument);

#endif
