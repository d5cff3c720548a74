// SPDX-License-Identifier: Apache-2.0
#include "ring-helpers.h"

#include <string.h>

ig_ring_runtime *rings;

const way ways[] = {{"C, persistent", true, 1, IG_RING_PERSISTENT},
                    {"C, event-driven", true, 1, IG_RING_EVENT_DRIVEN},
                    {"one thread, persistent", false, 1, IG_RING_PERSISTENT},
                    {"one thread, event-driven", false, 1, IG_RING_EVENT_DRIVEN},
                    {"threadgroup, persistent", false, 48, IG_RING_PERSISTENT},
                    {"threadgroup, event-driven", false, 48, IG_RING_EVENT_DRIVEN}};
const size_t way_count = LENGTH(ways);

int open_runtime(void **state) {
    (void)state;
    return ig_ring_runtime_create(device, NULL, &rings) != IG_STATUS_OK;
}

int close_runtime(void **state) {
    (void)state;
    ig_status status = ig_ring_runtime_shutdown(rings);
    rings = NULL;
    return status != IG_STATUS_OK;
}

// ---- Handlers in MSL ----

static const char source[] =
    "#include <ingot/ring>\n"
    "using namespace metal;\n"
    "void misbehave(thread ring::context &context) {\n"
    "    if (context.type() == 99) while (true) context.state<uint>()[1] += 1;\n"
    "    if (context.type() == 98) *(device uint *)ulong(4096) = 1;\n"
    "}\n"
    "void echo(thread ring::context &context) {\n"
    "    misbehave(context);\n"
    "    device uchar *out = context.open_reply<uchar>(context.type(), context.size());\n"
    "    if (!out) return;\n"
    "    for (uint i = context.thread_index(); i < context.size(); i += context.thread_count())\n"
    "        out[i] = context.payload<uchar>()[i];\n"
    "}\n"
    "void add(thread ring::context &context) {\n"
    "    misbehave(context);\n"
    "    if (!context.leads()) return;\n"
    "    device ulong *sum = context.state<ulong>();\n"
    "    *sum += *context.payload<ulong>();\n"
    "    context.reply(context.type(), *sum);\n"
    "}\n"
    "void fail(thread ring::context &context) {\n"
    "    misbehave(context);\n"
    "    ulong code = *context.payload<ulong>();\n"
    "    if (code) context.fail(uint(code));\n"
    "    else context.reply(context.type(), code);\n"
    "}\n"
    "void relay(thread ring::context &context) {\n"
    "    ulong value = *context.payload<ulong>();\n"
    "    if (!context.route_count()) context.emit(context.type(), value);\n"
    "    else context.broadcast(context.type(), value);\n"
    "}\n"
    "void onward(thread ring::context &context) {\n"
    "    uint became = context.forward(context.route(0));\n"
    "    if (became >= ring::not_found) context.emit(1000 + became, ulong(context.message().hops));\n"
    "}\n"
    "void scatter(thread ring::context &context) {\n"
    "    ulong values[40], first = *context.payload<ulong>();\n"
    "    for (uint i = 0; i < 40; i++) values[i] = first + i;\n"
    "    if (context.send_batch(context.route(0), context.type(), values, 40) != 40) context.fail(256);\n"
    "}\n"
    "void tally(thread ring::context &context) {\n"
    "    misbehave(context);\n"
    "    if (!context.leads()) return;\n"
    "    device ulong *sum = context.state<ulong>();\n"
    "    for (uint i = 0; i < context.count(); i++) {\n"
    "        if (*context.payload<ulong>(i) == 1000) return context.fail(300);\n"
    "        *sum += *context.payload<ulong>(i);\n"
    "    }\n"
    "    context.emit(context.count(), *sum);\n"
    "}\n"
    "INGOT_RING_KERNEL(tally_kernel, tally)\n"
    "INGOT_RING_KERNEL(echo_kernel, echo)\n"
    "INGOT_RING_KERNEL(add_kernel, add)\n"
    "INGOT_RING_KERNEL(fail_kernel, fail)\n"
    "INGOT_RING_KERNEL(relay_kernel, relay)\n"
    "INGOT_RING_KERNEL(onward_kernel, onward)\n"
    "INGOT_RING_KERNEL(scatter_kernel, scatter)\n";

// ---- The same in C ----

static uint64_t type_of(const ig_ring_context *context) {
    return ig_ring_context_message(context)->message_type;
}

static uint64_t number_of(const ig_ring_context *context) {
    uint64_t value;
    memcpy(&value, ig_ring_context_payload(context), sizeof value);
    return value;
}

static void echo(ig_ring_context *context, void *user) {
    (void)user;
    ig_ring_context_reply(context, type_of(context), ig_ring_context_payload(context),
                          ig_ring_context_message(context)->payload_size);
}

static void add(ig_ring_context *context, void *user) {
    (void)user;
    uint64_t *sum = ig_ring_context_state(context, NULL);
    *sum += number_of(context);
    ig_ring_context_reply(context, type_of(context), sum, sizeof *sum);
}

static void fail_if_asked(ig_ring_context *context, void *user) {
    (void)user;
    uint64_t code = number_of(context);
    if (code)
        ig_ring_context_fail(context, (uint32_t)code);
    else
        ig_ring_context_reply(context, type_of(context), &code, sizeof code);
}

static void relay(ig_ring_context *context, void *user) {
    ig_ring_kernel *self = *(ig_ring_kernel **)user;
    ig_k2k_routing_table routes;
    uint64_t value = number_of(context);
    ig_ring_get_routes(self, &routes);
    if (!routes.route_count)
        ig_ring_context_send(context, IG_RING_HOST, type_of(context), &value, sizeof value);
    else
        ig_ring_context_broadcast(context, type_of(context), &value, sizeof value);
}

static void onward(ig_ring_context *context, void *user) {
    ig_ring_kernel *self = *(ig_ring_kernel **)user;
    ig_k2k_routing_table routes;
    ig_ring_get_routes(self, &routes);
    uint32_t became = ig_ring_context_forward(context, routes.routes[0].dest);
    uint64_t hops = ig_ring_context_message(context)->hops;
    if (became >= IG_DELIVERY_NOT_FOUND) ig_ring_context_send(context, IG_RING_HOST, 1000 + became, &hops, sizeof hops);
}

static void tally(ig_ring_context *context, void *user) {
    (void)user;
    uint64_t *sum = ig_ring_context_state(context, NULL), count = ig_ring_context_count(context);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t value;
        memcpy(&value, ig_ring_context_payload_at(context, i), sizeof value);
        if (value == 1000) {
            ig_ring_context_fail(context, 300);
            return;
        }
        *sum += value;
    }
    ig_ring_context_send(context, IG_RING_HOST, count, sum, sizeof *sum);
}

static void scatter(ig_ring_context *context, void *user) {
    ig_ring_kernel *self = *(ig_ring_kernel **)user;
    ig_k2k_routing_table routes;
    uint64_t values[SCATTERED], first = number_of(context);
    for (uint64_t i = 0; i < SCATTERED; i++) values[i] = first + i;
    ig_ring_get_routes(self, &routes);
    if (ig_ring_context_send_batch(context, routes.routes[0].dest, type_of(context), values, sizeof *values,
                                   SCATTERED) != SCATTERED)
        ig_ring_context_fail(context, IG_RING_ERROR_USER);
}

static const struct {
    const char *name, *kernel;
    ig_ring_handler handler;
} handlers[] = {{"echo", "echo_kernel", echo},          {"add", "add_kernel", add},
                {"fail", "fail_kernel", fail_if_asked}, {"relay", "relay_kernel", relay},
                {"onward", "onward_kernel", onward},    {"scatter", "scatter_kernel", scatter},
                {"tally", "tally_kernel", tally}};

ig_ring_launch_desc desc_of(const way *w, const char *kernel) {
    ig_ring_launch_desc desc = {.name = kernel, .mode = w->mode, .block = w->block};
    for (size_t i = 0; i < LENGTH(handlers); i++) {
        if (strcmp(handlers[i].name, kernel) != 0) continue;
        desc.kernel = handlers[i].kernel;
        if (w->in_c)
            desc.handler = handlers[i].handler;
        else
            desc.source = source;
    }
    return desc;
}

// ---- Kernels ----

ig_ring_kernel *launch(const ig_ring_launch_desc *desc) {
    ig_ring_kernel *kernel = NULL;
    ig_error error = {0};
    ig_status status = ig_ring_launch(rings, desc, &kernel, &error);
    if (status != IG_STATUS_OK)
        fail_msg("launch of %s: %s %s\n%s", desc->name, ig_status_name(status), error.message ? error.message : "",
                 error.log ? error.log : "");
    return kernel;
}

ig_ring_kernel *launch_way(const way *w, const char *kernel) {
    ig_ring_launch_desc desc = desc_of(w, kernel);
    return launch(&desc);
}

void send_u64(ig_ring_kernel *kernel, uint64_t type, uint64_t value) {
    ig_message message = IG_MESSAGE(type, &value);
    assert_ok(ig_ring_send(kernel, &message, SECONDS(20), NULL));
}

void send_u64_within(ig_ring_kernel *kernel, uint64_t type, uint64_t value, uint64_t deadline_us) {
    ig_message message = IG_MESSAGE(type, &value);
    message.deadline_us = deadline_us;
    assert_ok(ig_ring_send(kernel, &message, 0, NULL));
}

uint64_t receive_u64(ig_ring_kernel *kernel) {
    ig_message message = {0};
    assert_ok(ig_ring_receive(kernel, &message, SECONDS(20)));
    assert_int_equal(message.header.payload_size, 8);
    uint64_t value = *(uint64_t *)message.payload;
    ig_message_clear(&message);
    return value;
}

void end_kernel(ig_ring_kernel *kernel) {
    assert_ok(ig_ring_terminate(kernel, IG_RING_DRAIN));
    assert_ok(ig_ring_wait(kernel, SECONDS(20)));
    ig_ring_kernel_release(kernel);
}

ig_ring_status status_of(const ig_ring_kernel *kernel) {
    ig_ring_status status;
    ig_ring_get_status(kernel, &status);
    return status;
}

void wait_processed(ig_ring_kernel *kernel, uint64_t count) {
    for (int i = 0; i < 20000 && status_of(kernel).processed < count; i++) sleep_ms(1);
    assert_int_equal(status_of(kernel).processed, count);
}
