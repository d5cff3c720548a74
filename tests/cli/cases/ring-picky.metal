// SPDX-License-Identifier: Apache-2.0
#include <ingot/ring>

void double_it(thread ring::context &context) {
    uint value = *context.payload<uint>();
    if (value == 13) return context.fail(300);
    for (uint spins = 0; value == 99 && spins < 0xffffffff; spins += *context.payload<uint>() - 99) {
    }
    context.reply(0, value * 2);
}
INGOT_RING_KERNEL(picky, double_it)
