// SPDX-License-Identifier: Apache-2.0
// Descriptors that no child process inherits unless it is given them: pipes, pairs of sockets, files without a name.
#ifndef INGOT_CORE_DESCRIPTORS_H
#define INGOT_CORE_DESCRIPTORS_H

#include <stdbool.h>
#include <sys/socket.h>

// For send and sendmsg on sockets made here: a peer that is gone is an error, not a signal.
#ifdef MSG_NOSIGNAL
enum { IGI_SEND_FLAGS = MSG_NOSIGNAL };
#else
enum { IGI_SEND_FLAGS = 0 };
#endif

// Where the system cannot create them closed on exec, another thread that forks in between may leak them.
bool igi_pipe(int ends[2]);
bool igi_socket_pair(int ends[2]);  // local stream sockets

// For a descriptor that came from elsewhere.
void igi_socket_keep_private(int socket);

// A new, empty file that other processes can be given to share memory; -1: it cannot be made, and errno says why.
int igi_memory_file(const char *name);

#endif
