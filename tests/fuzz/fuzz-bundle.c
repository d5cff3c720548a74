// SPDX-License-Identifier: Apache-2.0
// Libraries of Ingot's own tools: whatever they contain, what is read from them is inside of them, and their sources and
// reflections are read or refused. The checksum is made right, because nothing else would be reached.
#include <string.h>

#include "core/hash.h"
#include "fuzz.h"
#include "msl/bundle.h"
#include "msl/packed.h"

enum { HASH_AT = 16, HEADER = 32 };

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    return 0;
}

typedef struct bytes {
    const char *start;
    size_t length;
} bytes;

static void check_inside(bytes file, const char *part, size_t length) {
    MUST(part >= file.start && length <= file.length && part <= file.start + (file.length - length));
}

static void check_string(bytes file, const char *string) {
    check_inside(file, string, strlen(string) + 1);
}

static void check_parts(bytes file, const igi_msl_unit *unit) {
    check_inside(file, unit->description, unit->description_length);
    check_inside(file, unit->product, unit->product_length);
    check_inside(file, unit->packed, unit->packed_length);
    check_string(file, unit->name), check_string(file, unit->compiler);
    for (size_t i = 0; i < unit->define_count; i++)
        check_string(file, unit->defines[i].name), check_string(file, unit->defines[i].value);
    for (size_t i = 0; i < unit->include_dir_count; i++) check_string(file, unit->include_dirs[i]);
    for (size_t i = 0; i < unit->symbol_count; i++) check_string(file, unit->symbols[i].name);
    for (size_t i = 0; i < unit->file_count; i++) {
        check_string(file, unit->files[i].path), check_string(file, unit->files[i].display);
        check_inside(file, unit->files[i].text, unit->files[i].length);
    }
}

static void open_unit(const igi_msl_unit *unit) {
    igi_msl_request request;
    igi_msl_packed packed;
    ig_error error = {0};
    ig_status status = igi_msl_unit_request(unit, &request, &error);
    MUST(status == IG_STATUS_OK || error.message);
    if (status == IG_STATUS_OK) igi_msl_sources_free(&request.sources);
    ig_error_clear(&error);
    if (!igi_msl_packed_read(unit->packed, unit->packed_length, &packed)) return;
    free(packed.log), free(packed.bitcode);
    igi_msl_reflection_free(&packed.reflection);
}

static void read_file(bytes file) {
    igi_msl_bundle bundle;
    ig_error error = {0};
    ig_status status = igi_msl_bundle_read(file.start, file.length, "fuzz", &bundle, &error);
    MUST(status == IG_STATUS_OK || error.message);
    for (size_t i = 0; i < bundle.count; i++) {
        check_parts(file, &bundle.units[i]);
        open_unit(&bundle.units[i]);
    }
    igi_msl_bundle_free(&bundle);
    ig_error_clear(&error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *copy = malloc(size ? size : 1);
    MUST(copy);
    memcpy(copy, data, size);
    if (size >= HEADER) {
        igi_hash hash = igi_hash_bytes(copy + HEADER, size - HEADER);
        memcpy(copy + HASH_AT, &hash, sizeof hash);
    }
    read_file((bytes){copy, size});
    free(copy);
    return 0;
}
