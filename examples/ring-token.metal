// SPDX-License-Identifier: Apache-2.0
// A token that goes around a ring of kernels: each passes it to the next, the last one to the host.
#include <ingot/ring>

struct token {
    uint hops_left, hops;
};

void hand_on(thread ring::context &context) {
    token t = *context.payload<token>();
    t.hops++;
    if (t.hops_left-- > 1)
        context.send(context.route(0), context.type(), t);
    else
        context.emit(context.type(), t);
}
INGOT_RING_KERNEL(hand_on_token, hand_on)
