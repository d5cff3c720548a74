// SPDX-License-Identifier: Apache-2.0
// The memory into which kernels log: whatever is in it, reading ends, and texts are bounded.
#include <string.h>

#include "device/message-format.h"
#include "device/messages.h"
#include "fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    return 0;
}

static void check(const ig_kernel_log_entry *entry, void *user) {
    MUST(entry->level <= IG_KERNEL_LOG_FAULT && strlen(entry->text) <= IGI_MESSAGE_LONGEST);
    MUST(strlen(entry->subsystem) <= IGI_LOG_LONGEST_TEXT && strlen(entry->category) <= IGI_LOG_LONGEST_TEXT);
    ++*(size_t *)user;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t words = size / 4 < IGI_LOG_HEADER ? IGI_LOG_HEADER : size / 4, count = 0;
    uint32_t *log = calloc(words, 4);
    MUST(log);
    memcpy(log, data, size / 4 * 4);
    igi_device_messages_deliver(log, words * 4, "k", &(ig_kernel_log_desc){.callback = check, .user = &count});
    MUST(count <= words);
    free(log);
    return 0;
}
