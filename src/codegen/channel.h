// SPDX-License-Identifier: Apache-2.0
// Sockets between libingot and ingot-codegen: one for each request, handed over through another that stays open.
#ifndef INGOT_CODEGEN_CHANNEL_H
#define INGOT_CODEGEN_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/memory.h"

enum { IGI_CODEGEN_CONTROL = 3 };  // the descriptor under which ingot-codegen finds the socket that stays open

// Two connected sockets that no other program inherits.
bool igi_channel_pair(int ends[2]);
// Hands `descriptor` over; the caller still closes its own copy. False when the other side is gone.
bool igi_channel_send_descriptor(int control, int descriptor);
// -1 once the other side is gone.
int igi_channel_receive_descriptor(int control);
// False when the other side is gone or the deadline passed. Never raises SIGPIPE.
bool igi_channel_write(int channel, const char *bytes, size_t length, uint64_t deadline_ns);
// Everything until the other side closes; at most `most` bytes. False when there is more, memory is short or the
// deadline passed.
bool igi_channel_read(int channel, size_t most, uint64_t deadline_ns, igi_text *bytes);

#endif
