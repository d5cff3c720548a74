// SPDX-License-Identifier: Apache-2.0
// Takes the place of ingot-codegen and misbehaves as FAKE_CODEGEN says.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codegen/channel.h"
#include "codegen/message.h"

static void misbehave(const char *how, int channel) {
    igi_text request = {0};
    if (strcmp(how, "deaf") != 0) igi_codegen_channel_read(channel, UINT32_MAX, UINT64_MAX, &request);
    if (strcmp(how, "garbage") == 0) igi_codegen_channel_write(channel, "nonsense", 8, UINT64_MAX);
    if (strcmp(how, "dies") == 0) _exit(1);
    igi_text_free(&request);
}

int main(void) {
    const char *how = getenv("FAKE_CODEGEN");
    if (!how || strcmp(how, "exits") == 0) return 1;
    int channel;
    while ((channel = igi_codegen_channel_receive_descriptor(IGI_CODEGEN_CONTROL)) >= 0) {
        misbehave(how, channel);
        close(channel);
    }
    return 0;
}
