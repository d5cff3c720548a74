// SPDX-License-Identifier: Apache-2.0
// JSON texts: whatever they hold, reading ends, and what was read is a tree of bounded depth.
#include <string.h>

#include "core/json-read.h"
#include "core/json.h"
#include "fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    return 0;
}

static void check(const igi_json_value *value, unsigned depth) {
    size_t count = 0;
    MUST(depth <= IGI_JSON_MAX_DEPTH);
    bool text = value->kind == IGI_JSON_STRING || value->kind == IGI_JSON_NUMBER;
    MUST(!text || strlen(value->text) < SIZE_MAX);
    for (const igi_json_value *item = value->first; item; item = item->next, count++) {
        MUST((item->key != NULL) == (value->kind == IGI_JSON_OBJECT));
        if (item->key) MUST(igi_json_member(value, item->key));
        check(item, depth + 1);
    }
    MUST(count == value->count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    igi_json_document document;
    ig_error error = {0};
    ig_status status = igi_json_parse("fuzz", (const char *)data, size, &document, &error);
    MUST(status == IG_STATUS_OK || error.message);
    if (status == IG_STATUS_OK) {
        check(document.root, 0);
        igi_json_document_free(&document);
    }
    ig_error_clear(&error);
    return 0;
}
