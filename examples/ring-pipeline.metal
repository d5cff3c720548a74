// SPDX-License-Identifier: Apache-2.0
// Ring kernels that work on text, each alone or in a row: the result of a kernel goes to the next one if there is a
// route, else back to the sender.
#include <ingot/ring>

// Room for a text of the same length, filled by all threads together.
static device uchar *open_next(thread ring::context &context) {
    if (context.route_count()) return context.open_send<uchar>(context.route(0), context.type(), context.size());
    if (context.source() == ring::host) return context.open_reply<uchar>(context.type(), context.size());
    return context.open_send<uchar>(ring::host, context.type(), context.size());
}

void to_upper_case(thread ring::context &context) {
    device const uchar *text = context.payload<uchar>();
    device uchar *out = open_next(context);
    if (!out) return;
    for (uint i = context.thread_index(); i < context.size(); i += context.thread_count())
        out[i] = text[i] >= 'a' && text[i] <= 'z' ? text[i] - 32 : text[i];
}
INGOT_RING_KERNEL(upper, to_upper_case)

void turn_around(thread ring::context &context) {
    device const uchar *text = context.payload<uchar>();
    device uchar *out = open_next(context);
    if (!out) return;
    for (uint i = context.thread_index(); i < context.size(); i += context.thread_count())
        out[i] = text[context.size() - 1 - i];
}
INGOT_RING_KERNEL(reverse, turn_around)

// The number of messages and bytes so far: state is kept between messages.
struct totals {
    uint messages, bytes;
};

void add_up(thread ring::context &context) {
    if (!context.leads()) return;
    device totals &t = *context.state<totals>();
    t.messages++;
    t.bytes += context.size();
    context.reply(context.type(), t);
}
INGOT_RING_KERNEL(count, add_up)
