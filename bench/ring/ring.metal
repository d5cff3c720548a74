// SPDX-License-Identifier: Apache-2.0
// Handlers of `ingot bench ring`. Every message carries a note of 16 bytes.
#include <ingot/ring>

struct note {
    ulong number, value;
};

// ---- From the host, and back ----

void take_note(thread ring::context &context) {
    device ulong *state = context.state<ulong>();
    state[0] += context.payload<note>()->number == state[0];
}
INGOT_RING_KERNEL(counter, take_note)

void take_notes(thread ring::context &context) {
    device ulong *state = context.state<ulong>();
    ulong arrived = state[0];
    for (uint i = 0; i < context.count(); i++) arrived += context.payload<note>(i)->number == arrived;
    state[0] = arrived;
}
INGOT_RING_KERNEL(batch_counter, take_notes)

void answer(thread ring::context &context) { context.reply(context.type(), *context.payload<note>()); }
INGOT_RING_KERNEL(echo, answer)

// ---- From kernel to kernel ----
// The source sends as long as few messages are under way, which the sink tells it now and then; the host hears from the
// sink when it has everything.

constant constexpr uint batch = 64, most_under_way = 24 * batch;

struct flow {
    ulong sent, arrived, total;
};

// A note of the host begins a flow of `value` messages. One from the sink says that `number` have arrived; late ones of
// the previous flow have numbers that this flow has not reached.
void learn(thread ring::context &context, device flow &f) {
    note got = *context.payload<note>();
    if (context.source() == ring::host)
        f = flow{0, 0, got.value};
    else if (got.number < f.sent)
        f.arrived = got.number + 1;
}

void pour(thread ring::context &context) {
    device flow &f = *context.state<flow>();
    learn(context, f);
    for (; f.sent < f.total && f.sent - f.arrived < most_under_way; f.sent++)
        if (context.send(context.route(0), 0, note{f.sent, f.total}) != ring::delivered) return context.fail(256);
}
INGOT_RING_KERNEL(source, pour)

void pour_batches(thread ring::context &context) {
    device flow &f = *context.state<flow>();
    learn(context, f);
    while (f.sent < f.total && f.sent - f.arrived + batch <= most_under_way) {
        note notes[batch];
        uint count = uint(metal::min(ulong(batch), f.total - f.sent));
        for (uint i = 0; i < count; i++) notes[i] = note{f.sent + i, f.total};
        if (context.send_batch(context.route(0), 0, notes, count) != count) return context.fail(256);
        f.sent += count;
    }
}
INGOT_RING_KERNEL(batch_source, pour_batches)

// Messages out of order are not counted, so the total is too small.
void drain(thread ring::context &context) {
    device ulong *state = context.state<ulong>();
    note got = *context.payload<note>();
    if (got.number == 0) state[0] = 0;
    state[0] += got.number == state[0];
    if (got.number % batch == batch - 1) context.send(context.source(), 0, got);
    if (got.number + 1 == got.value) context.emit(0, note{0, state[0]});
}
INGOT_RING_KERNEL(sink, drain)

void drain_batches(thread ring::context &context) {
    device ulong *state = context.state<ulong>();
    note last = *context.payload<note>(context.count() - 1);
    ulong first = context.payload<note>()->number, arrived = first == 0 ? 0 : state[0];
    for (uint i = 0; i < context.count(); i++) arrived += context.payload<note>(i)->number == arrived;
    state[0] = arrived;
    if (first / batch != (last.number + 1) / batch) context.send(context.source(), 0, last);
    if (last.number + 1 == last.value) context.emit(0, note{0, arrived});
}
INGOT_RING_KERNEL(batch_sink, drain_batches)
