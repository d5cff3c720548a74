// SPDX-License-Identifier: Apache-2.0
// Handlers in MSL that write where they must not, or never return: the kernel fails; the process continues.
#include <stdlib.h>

#include "core/memory.h"
#include "ring-helpers.h"
#include "ring/kernel.h"

typedef struct misdeed {
    const char *name, *body;
} misdeed;

// `words` is the handler's state, 16 words; `first` the message's payload, and `before` the words between
// the arena's beginning and that.
static const misdeed misdeeds[] = {
    {"past the state", "for (uint i = 16; i < 4096; i++) words[i] = 0xffffffff;"},
    {"one past the state", "words[16] = 1;"},
    {"before the state", "for (int i = 1; i < 4096; i++) words[-i] = 0xffffffff;"},
    {"far past the state", "for (uint i = 16; i < 400000; i++) words[i] = 0x7fffffff;"},
    {"address 8", "*(device uint *)8 = 1;"},
    {"no end", "for (;;) words[0]++;"},
    {"its queues as ones", "for (int i = 1; i <= before; i++) first[-i] = 0xffffffff;"},
    {"its queues as noise", "for (int i = 1; i <= before; i++) first[-i] = i * 2654435761u;"},
    {"its queues as zeros", "for (int i = 1; i <= before; i++) first[-i] = 0;"},
    {"its queues, and no end", "for (int i = 1; i <= before; i++) first[-i] = 0;\n for (;;) words[0]++;"},
};

static const uint32_t blocks[] = {1, 48};

enum { GOOD = 1000 };

// One handler for all of them, by the message's type.
static char *write_source(void) {
    igi_text source = {0};
    igi_text_addf(&source,
                  "#include <ingot/ring>\n"
                  "void misbehave(thread ring::context &context) {\n"
                  "    device uint *words = context.state<uint>();\n"
                  "    device uint *first = (device uint *)context.payload<uint>();\n"
                  "    int before = int(*first);\n"
                  "    if (context.leads()) switch (context.type()) {\n");
    for (size_t i = 0; i < LENGTH(misdeeds); i++)
        igi_text_addf(&source, "    case %zu: %s break;\n", i, misdeeds[i].body);
    igi_text_addf(&source,
                  "    }\n"
                  "    context.reply(context.type(), words[0]);\n"
                  "}\n"
                  "INGOT_RING_KERNEL(bad, misbehave)\n");
    return igi_text_take(&source);
}

static ig_ring_kernel *launch_bad(ig_ring_runtime *runtime, const char *source, uint32_t block, ig_ring_mode mode,
                                  ig_restart_policy restart) {
    ig_ring_kernel *kernel;
    ig_error error = {0};
    ig_ring_launch_desc desc = {.name = "bad",
                                .source = source,
                                .block = block,
                                .mode = mode,
                                .restart = restart,
                                .deadline_ns = 50000000,
                                .input_capacity = 64,
                                .output_capacity = 64,
                                .max_payload = 64};
    ig_status status = ig_ring_launch(runtime, &desc, &kernel, &error);
    if (status != IG_STATUS_OK) fail_msg("%s", error.log ? error.log : error.message);
    return kernel;
}

static ig_status ask(ig_ring_kernel *kernel, uint64_t type, uint64_t timeout_ns) {
    // From the payload of the second message back to the beginning of the arena.
    uint32_t before = kernel->places[IGI_RING_INPUT].slots + kernel->places[IGI_RING_INPUT].stride;
    before = (before + (uint32_t)sizeof(ig_message_header)) / 4;
    ig_message question = IG_MESSAGE(type, &before), answer = {0};
    ig_status status = ig_ring_request(kernel, &question, &answer, timeout_ns);
    ig_message_clear(&answer);
    return status;
}

static void check(const char *source, size_t which, uint32_t block, ig_ring_mode mode) {
    ig_ring_runtime *runtime;
    const char *name = misdeeds[which].name;
    assert_ok(ig_ring_runtime_create(device, NULL, &runtime));
    ig_restart_policy restart = which & 1 ? IG_RESTART_NEVER : IG_RESTART_ON_FAILURE;
    ig_ring_kernel *kernel = launch_bad(runtime, source, block, mode, restart);
    assert_ok(ask(kernel, GOOD, SECONDS(60)));  // compiles it
    if (ask(kernel, which, SECONDS(1) / 2) == IG_STATUS_OK)
        fail_msg("%s, block %u, mode %d: it worked", name, block, mode);
    ask(kernel, which, SECONDS(1) / 20);
    if (!status_of(kernel).errors) fail_msg("%s, block %u, mode %d: not an error", name, block, mode);
    ig_message dead = {0};
    for (int i = 0; i < 200 && ig_ring_receive_dead(kernel, &dead) == IG_STATUS_OK; i++);
    ig_message_clear(&dead);
    assert_ok(ig_ring_runtime_shutdown(runtime));
    ig_ring_kernel_release(kernel);
}

static void handlers_that_misbehave_fail_and_nothing_else_does(void **state) {
    (void)state;
    use_fault_handlers();
    char *source = write_source();
    assert_non_null(source);
    for (size_t i = 0; i < LENGTH(misdeeds); i++)
        for (size_t b = 0; b < LENGTH(blocks); b++)
            for (int mode = IG_RING_PERSISTENT; mode <= IG_RING_EVENT_DRIVEN; mode++)
                check(source, i, blocks[b], (ig_ring_mode)mode);
    free(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(handlers_that_misbehave_fail_and_nothing_else_does)};
    return cmocka_run_group_tests_name("damage", tests, open_test_device, close_test_device);
}
