// SPDX-License-Identifier: Apache-2.0
// A GGUF file in a separate directory, which exists while a group of tests runs.
#ifndef INGOT_TESTS_MODEL_FILE_H
#define INGOT_TESTS_MODEL_FILE_H

#include "gguf-writer.h"

extern char model_path[4096];

// Before and after the group.
int make_model_directory(void **state);
int remove_model_directory(void **state);
// Saves the file at model_path, frees the writer and opens it.
ig_gguf *save_and_open(gguf_writer *writer);

#endif
