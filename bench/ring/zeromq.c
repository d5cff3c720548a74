// SPDX-License-Identifier: Apache-2.0
// The peer `zeromq` of `ingot bench ring`: two threads with a pair of in-process sockets.
#define RING_PEER_IS_LINK
#include "peer.h"

#include <zmq.h>

static void *ends[2];

static void link_send(int end, const void *message, size_t size) {
    if (zmq_send(ends[end], message, size, 0) != (int)size) exit(1);
}

static void link_receive(int end, void *message, size_t size) {
    if (zmq_recv(ends[end], message, size, 0) != (int)size) exit(1);
}

int main(int count, char **arguments) {
    void *context = zmq_ctx_new();
    for (int i = 0; i < 2; i++) ends[i] = zmq_socket(context, ZMQ_PAIR);
    if (count < 5 || zmq_bind(ends[0], "inproc://link") != 0 || zmq_connect(ends[1], "inproc://link") != 0) return 1;
    return run_link(arguments);
}
