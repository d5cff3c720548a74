// SPDX-License-Identifier: Apache-2.0
#include "model-file.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/file.h"

char model_path[4096];
static char *directory;

int make_model_directory(void **state) {
    (void)state;
    directory = igi_make_temp_dir();
    if (!directory) return -1;
    snprintf(model_path, sizeof model_path, "%s/model.gguf", directory);
    return 0;
}

int remove_model_directory(void **state) {
    (void)state;
    igi_remove_tree(directory);
    free(directory);
    return 0;
}

ig_gguf *save_and_open(gguf_writer *writer) {
    ig_gguf *file = NULL;
    ig_error error = {0};
    gguf_save(writer, model_path);
    gguf_free(writer);
    if (ig_gguf_open(model_path, &file, &error) == IG_STATUS_OK) return file;
    fprintf(stderr, "%s\n", error.message);
    abort();
}
