// SPDX-License-Identifier: Apache-2.0
#include "desk.h"

#include <stdlib.h>

const char desk_source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void add(device uint *a [[buffer(0)]], constant uint &n [[buffer(1)]],\n"
    "                uint i [[thread_position_in_grid]]) { a[i] += n; }\n"
    "kernel void affine(device uint *a [[buffer(0)]], constant uint2 &n [[buffer(1)]],\n"
    "                   uint i [[thread_position_in_grid]]) { a[i] = a[i] * n.x + n.y; }\n"
    "kernel void spin(device atomic_uint *flag [[buffer(0)]]) {\n"
    "    while (atomic_load_explicit(flag, memory_order_relaxed) == 0) {}\n"
    "    atomic_store_explicit(flag, 2, memory_order_relaxed);\n"
    "}\n"
    "kernel void shift(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]],\n"
    "                  uint n [[threads_per_grid]]) { a[n + i] = a[i] + 1; }\n"
    "kernel void fill_shared(device uint *a [[buffer(0)]], threadgroup uint *t [[threadgroup(0)]],\n"
    "                        uint i [[thread_index_in_threadgroup]]) {\n"
    "    t[i] = i;\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    a[i] = t[i ^ 1];\n"
    "}\n"
    "kernel void stray(device ulong *a [[buffer(0)]]) { *(device uint *)(a[0]) = 1; }\n";

int open_desk(void **state) {
    desk *d = calloc(1, sizeof *d);
    d->add = make_pipeline(desk_source, "add");
    d->affine = make_pipeline(desk_source, "affine");
    d->spin = make_pipeline(desk_source, "spin");
    d->queue = make_queue();
    d->buffer = make_buffer(4096);
    d->words = ig_buffer_contents(d->buffer);
    *state = d;
    return 0;
}

int close_desk(void **state) {
    desk *d = *state;
    ig_buffer_release(d->buffer);
    ig_queue_release(d->queue);
    ig_pipeline_release(d->add), ig_pipeline_release(d->affine), ig_pipeline_release(d->spin);
    free(d);
    return 0;
}

void encode_add(desk *d, ig_commands *commands, uint32_t n, uint32_t threads) {
    assert_ok(ig_commands_set_pipeline(commands, d->add));
    assert_ok(ig_commands_set_buffer(commands, d->buffer, 0, 0));
    assert_ok(ig_commands_set_bytes(commands, &n, sizeof n, 1));
    assert_ok(ig_commands_dispatch_threads(commands, line(threads), (ig_size){0}));
}

ig_commands *start_spinning(desk *d, ig_buffer **flag) {
    ig_commands *commands = make_commands(d->queue);
    *flag = make_buffer(64);
    assert_ok(ig_commands_set_pipeline(commands, d->spin));
    assert_ok(ig_commands_set_buffer(commands, *flag, 0, 0));
    assert_ok(ig_commands_dispatch_threads(commands, line(1), line(1)));
    assert_ok(ig_commands_commit(commands));
    return commands;
}

void stop(ig_buffer *flag) {
    __atomic_store_n((uint32_t *)ig_buffer_contents(flag), 1, __ATOMIC_SEQ_CST);
}

void finish(ig_commands *commands) {
    assert_ok(ig_commands_commit(commands));
    assert_ok(ig_commands_wait(commands, IG_FOREVER));
    ig_commands_release(commands);
}
