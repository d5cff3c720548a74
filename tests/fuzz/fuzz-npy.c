// SPDX-License-Identifier: Apache-2.0
// .npy files: whatever they contain, loading ends, and what loads can be saved and loaded again.
#include <string.h>
#include <unistd.h>

#include "core/npy-header.h"
#include "core/npy.h"
#include "fuzz.h"
#include "scratch.h"

static char saved_path[64];
static int file;

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    file = open_scratch_file();
    snprintf(saved_path, sizeof saved_path, "/tmp/ingot-fuzz-%d.npy", (int)getpid());
    return 0;
}

static void check_header(const uint8_t *data, size_t size) {
    igi_npy_header header;
    ig_error error = {0};
    ig_status status = igi_npy_header_parse("fuzz", (const char *)data, size, &header, &error);
    MUST(status == IG_STATUS_OK || error.message);
    if (status == IG_STATUS_OK) {
        char preamble[IGI_NPY_PREAMBLE_MAX];
        size_t length = igi_npy_header_format(&header, preamble);
        MUST(length <= sizeof preamble && length % 64 == 0);
    }
    ig_error_clear(&error);
}

static void check_array(const igi_npy *array) {
    uint64_t bytes = 0;
    MUST(array->rank <= IGI_NPY_MAX_RANK && array->data);
    MUST(igi_npy_array_bytes(array->type, array->rank, array->shape, &bytes) && bytes == array->bytes);
    igi_npy again = {0};
    MUST(igi_npy_save(saved_path, array->type, array->rank, array->shape, array->data, NULL) == IG_STATUS_OK);
    MUST(igi_npy_load(saved_path, &again, NULL) == IG_STATUS_OK);
    MUST(again.type == array->type && again.rank == array->rank && again.bytes == array->bytes);
    MUST(memcmp(again.shape, array->shape, array->rank * sizeof *again.shape) == 0);
    MUST(memcmp(again.data, array->data, again.bytes) == 0);
    igi_npy_free(&again);
    unlink(saved_path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    check_header(data, size);
    MUST(ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == (ssize_t)size);
    igi_npy array = {0};
    ig_error error = {0};
    ig_status status = igi_npy_load(scratch_path, &array, &error);
    MUST(status == IG_STATUS_OK || (error.message && !array.data));
    if (status == IG_STATUS_OK) {
        check_array(&array);
        igi_npy_free(&array);
    }
    ig_error_clear(&error);
    return 0;
}
