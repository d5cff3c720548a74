// SPDX-License-Identifier: Apache-2.0
// The parts of `ingot ring`: making messages, sending them, receiving answers, showing results.
#ifndef INGOT_CLI_RING_H
#define INGOT_CLI_RING_H

#include <ingot/ring.h>

#include "console/options.h"
#include "console/output.h"
#include "findings.h"

// How payloads are shown.
typedef enum ring_format { RING_TEXT, RING_HEX, RING_ELEMENTS } ring_format;

typedef struct ring_item {
    void *data;
    uint64_t bytes;
    ring_format format;
    ig_type type;  // of RING_ELEMENTS
} ring_item;

typedef struct ring_actor {
    char *name;          // unique
    const char *kernel;  // of the source
    ig_ring_kernel *handle;
} ring_actor;

typedef struct ring_run {
    // As given by the options:
    const char *path, *print;
    cli_list kernel_texts, connections, sends, files;
    int mode;  // an ig_ring_mode
    uint64_t block, message_type, repeat, restarts, deadline_ns, timeout_ns;
    uint64_t shared_memory;
    bool lines, status, check;
    // As read:
    ring_item *items;
    size_t item_count;
    ring_format format;  // of answers
    ig_type format_type;
    // While running:
    cli_findings findings;  // what checking found
    ig_device *device;
    ig_ring_runtime *runtime;
    ring_actor *actors;  // messages go to the first
    size_t actor_count;
    uint64_t sent, answers, dead;
} ring_run;

// All return CLI_CONTINUE, or the exit code after printing an error.

// ---- ring-actors.c ----
int ring_launch_actors(ring_run *run);
void ring_free_actors(ring_run *run);

// ---- ring-items.c ----
int ring_read_items(ring_run *run);
void ring_free_items(ring_run *run);

// ---- ring-traffic.c ----
// Sends everything and shows answers until no more arrive; then ends the kernels.
int ring_exchange(ring_run *run);

// ---- ring-results.c ----
void ring_show_answer(ring_run *run, const ring_actor *actor, const ig_message *answer);
void ring_show_dead_letter(ring_run *run, const ring_actor *actor, const ig_message *letter);
void ring_show_status(const ring_run *run);

#endif
