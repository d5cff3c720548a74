// SPDX-License-Identifier: Apache-2.0
// Archives of metal-ar: members are inside the file, and what is written is read again.
#include <string.h>

#include "archive.h"
#include "fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    return 0;
}

static void check_again(const tool_archive *archive) {
    igi_text bytes = {0};
    tool_archive again;
    for (size_t i = 0; i < archive->count; i++)
        if (strchr(archive->members[i].name, '\n') || archive->members[i].name[0] == '/') return;
    tool_archive_write(archive, &bytes);
    MUST(!bytes.failed && tool_archive_read(bytes.data, bytes.length, "again", &again, NULL) == IG_STATUS_OK);
    tool_archive_free(&again);
    igi_text_free(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tool_archive archive;
    ig_error error = {0};
    const char *bytes = (const char *)data;
    ig_status status = tool_archive_read(bytes, size, "fuzz", &archive, &error);
    MUST(status == IG_STATUS_OK || error.message);
    for (size_t i = 0; i < archive.count; i++) {
        const tool_member *member = &archive.members[i];
        MUST(*member->name && member->bytes >= bytes && member->length <= size);
        MUST(member->bytes <= bytes + (size - member->length));
    }
    if (status == IG_STATUS_OK) check_again(&archive);
    tool_archive_free(&archive);
    ig_error_clear(&error);
    return 0;
}
