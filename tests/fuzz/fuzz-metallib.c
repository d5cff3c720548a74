// SPDX-License-Identifier: Apache-2.0
// .metallib files: whatever they contain, what is read from them is inside of them.
#include <string.h>

#include "air/container.h"
#include "fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    return 0;
}

static void check_inside(const igi_air_container *c, const char *part, size_t length) {
    MUST(part >= c->file && length <= c->file_length && part <= c->file + (c->file_length - length));
}

static void check_function(const igi_air_container *c, const igi_air_function *f) {
    ig_function_constant_info constant;
    check_inside(c, f->bitcode, f->bitcode_length);
    check_inside(c, f->name, strlen(f->name) + 1);
    if (f->constants) check_inside(c, f->constants, f->constants_length);
    igi_air_constants list = igi_air_constants_of(f);
    while (igi_air_next_constant(&list, &constant)) {
        check_inside(c, constant.name, strlen(constant.name) + 1);
        MUST(constant.type < IG_TYPE_COUNT && constant.components >= 1 && constant.components <= 4);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    igi_air_container c;
    ig_error error = {0};
    ig_status status = igi_air_read((const char *)data, size, "fuzz", &c, &error);
    MUST(status == IG_STATUS_OK || error.message);
    if (status == IG_STATUS_OK) {
        for (size_t i = 0; i < c.count; i++) check_function(&c, &c.functions[i]);
        igi_air_close(&c);
    }
    ig_error_clear(&error);
    return 0;
}
