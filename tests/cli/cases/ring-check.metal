#include <ingot/ring>
using namespace metal;

// Writes a word too far for the last thread.
void shift(thread ring::context &context) {
    uint i = context.thread_index();
    threadgroup uint *all = context.shared<uint>();
    all[i + *context.payload<uint>()] = i;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    context.reply(1, all[1]);
}
INGOT_RING_KERNEL(shift, shift)
