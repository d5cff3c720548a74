// SPDX-License-Identifier: Apache-2.0
// Sockets between libingot and ingot-codegen: one for each worker, passed through the one that connects to
// ingot-codegen itself.
#ifndef INGOT_CODEGEN_CHANNEL_H
#define INGOT_CODEGEN_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/memory.h"

enum { IGI_CODEGEN_CONTROL = 3 };  // the descriptor of ingot-codegen's control socket

// Passes `descriptor` on; the caller still closes its own copy. Returns false if the other side is gone.
bool igi_codegen_channel_send_descriptor(int control, int descriptor);
// -1 once the other side is gone.
int igi_codegen_channel_receive_descriptor(int control);
// Sends a message: its length, then its bytes. Returns false if the other side is gone or the deadline passed. Never
// raises SIGPIPE, and allocates nothing.
bool igi_codegen_channel_write(int channel, const char *bytes, size_t length, uint64_t deadline_ns);

typedef enum igi_codegen_channel_end {
    IGI_CHANNEL_MESSAGE,  // a whole message was read
    IGI_CHANNEL_CLOSED,   // the other side went away before it sent a message
    IGI_CHANNEL_LATE,     // the deadline passed
    IGI_CHANNEL_BROKEN,   // longer than `most`, or memory is short (then bytes->failed)
} igi_codegen_channel_end;
igi_codegen_channel_end igi_codegen_channel_read(int channel, size_t most, uint64_t deadline_ns, igi_text *bytes);

#endif
