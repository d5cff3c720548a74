// SPDX-License-Identifier: Apache-2.0
// The peer `nng` of `ingot bench ring`: two threads with a pair of in-process sockets.
#define RING_PEER_IS_LINK
#include "peer.h"

#include <nng/nng.h>
#include <nng/protocol/pair0/pair.h>

static nng_socket ends[2];

static void link_send(int end, const void *message, size_t size) {
    if (nng_send(ends[end], (void *)message, size, 0) != 0) exit(1);
}

static void link_receive(int end, void *message, size_t size) {
    size_t got = size;
    if (nng_recv(ends[end], message, &got, 0) != 0 || got != size) exit(1);
}

int main(int count, char **arguments) {
    for (int i = 0; i < 2; i++) {
        if (nng_pair0_open(&ends[i]) != 0) return 1;
        nng_socket_set_int(ends[i], NNG_OPT_SENDBUF, 512);
        nng_socket_set_int(ends[i], NNG_OPT_RECVBUF, 512);
    }
    if (count < 5 || nng_listen(ends[0], "inproc://link", NULL, 0) != 0) return 1;
    if (nng_dial(ends[1], "inproc://link", NULL, 0) != 0) return 1;
    return run_link(arguments);
}
