// SPDX-License-Identifier: Apache-2.0
// A ring kernel to begin with: a handler with state, an answer, and a message to the next kernel. Launch it with
// ig_ring_launch (name "accumulator") or try it from the shell:
//
//   ingot ring ring-kernel.metal --send f32:1 --send f32:2.5 --type 1
//
// which answers with the total after each message: 1 and 3.5.
//
// The handler is called once for every message, by all threads of the block; the same code runs persistently, with the
// loop inside the kernel, and event-driven, with the loop entered by the host.
#include <ingot/ring>

// Sender and handler agree on what messages mean; types distinguish them.
enum message_type : uint { add_value = 1, read_total = 2, total_changed = 3 };

// State that is kept between messages: zero at first, as large as `state_bytes` at launch (64 by default).
struct accumulator_state {
    float total;
    uint count;
};

// A payload is a number or any structure with the same layout on both sides: this one is for the next kernel.
struct total_message {
    float total;
    uint count;
};

void accumulate(thread ring::context &context) {
    device accumulator_state &state = *context.state<accumulator_state>();

    // A message this kernel does not understand becomes a dead letter, and the host decides about a restart.
    bool is_value = context.type() == add_value && context.size() == sizeof(float);
    if (!is_value && context.type() != read_total) return context.fail(IG_RING_ERROR_INVALID_MESSAGE);

    // One thread changes the state. Work on large payloads is shared instead:
    //   for (uint i = context.thread_index(); i < n; i += context.thread_count()) ...
    if (!context.leads()) return;
    if (is_value) {
        state.total += *context.payload<float>();
        state.count++;
    }

    // To the sender, the host or another kernel. Only the leading thread's answer counts.
    context.reply(context.type(), state.total);

    // To other kernels, along routes that the host has set up. If the receiver's inbox is full, the message waits here
    // (ring::pending); ring::queue_full means that it was not taken.
    total_message now = {state.total, state.count};
    if (context.route_count() > 0 && context.send(context.route(0), total_changed, now) > ring::pending)
        context.fail(IG_RING_ERROR_OUTPUT_OVERFLOW);
}

INGOT_RING_KERNEL(accumulator, accumulate)
