// SPDX-License-Identifier: Apache-2.0
// ingot ring: sending, and showing answers.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "ring.h"

static const uint64_t patience_ns = 2000000, typing_ns = 50000000;

// ---- Receiving ----

static void show_dead_letters(ring_run *run) {
    ig_message letter = {0};
    for (size_t i = 0; i < run->actor_count; i++)
        while (ig_ring_receive_dead(run->actors[i].handle, &letter) == IG_STATUS_OK)
            ring_show_dead_letter(run, &run->actors[i], &letter);
    ig_message_clear(&letter);
}

// Waits a while for each kernel's first answer.
static void show_answers(ring_run *run, uint64_t timeout_ns) {
    ig_message answer = {0};
    for (size_t i = 0; i < run->actor_count; i++)
        for (uint64_t wait = timeout_ns; ig_ring_receive(run->actors[i].handle, &answer, wait) == IG_STATUS_OK;
             wait = 0)
            ring_show_answer(run, &run->actors[i], &answer);
    ig_message_clear(&answer);
}

// ---- Sending ----

static int report_failure(const ring_actor *actor) {
    ig_error error = {0};
    ig_status status = ig_ring_get_error(actor->handle, &error);
    if (status == IG_STATUS_OK) return CLI_CONTINUE;
    return cli_report_and_clear(status, &error);
}

// While the kernel's output is full it takes no input, so answers are received meanwhile.
static int send_payload(ring_run *run, void *data, uint64_t bytes) {
    const ring_actor *first = &run->actors[0];
    ig_message message = {.header = {.message_type = run->message_type, .payload_size = bytes}, .payload = data};
    for (uint64_t give_up_ns = igi_deadline_ns(run->timeout_ns);;) {
        ig_status status = ig_ring_send(first->handle, &message, patience_ns, NULL);
        if (status == IG_STATUS_OK) break;
        if (status == IG_STATUS_WRONG_STATE) return report_failure(first);
        if (status != IG_STATUS_QUEUE_FULL) return cli_report(status, NULL);
        if (igi_now_ns() > give_up_ns) return cli_error(CLI_FAILED, "'%s' takes no more messages", first->name);
        show_answers(run, 0);
    }
    run->sent++;
    show_answers(run, 0);
    return CLI_CONTINUE;
}

static int send_items(ring_run *run) {
    int result = CLI_CONTINUE;
    for (uint64_t turn = 0; turn < run->repeat; turn++)
        for (size_t i = 0; i < run->item_count && result == CLI_CONTINUE; i++)
            result = send_payload(run, run->items[i].data, run->items[i].bytes);
    return result;
}

static int send_lines(ring_run *run) {
    bool typed = isatty(STDIN_FILENO);
    char *line = NULL;
    size_t capacity = 0;
    int result = CLI_CONTINUE;
    for (ssize_t length; result == CLI_CONTINUE && (length = getline(&line, &capacity, stdin)) >= 0;) {
        if (length > 0 && line[length - 1] == '\n') length--;
        if (length > (ssize_t)IG_MESSAGE_MAX_PAYLOAD)
            result = cli_error(CLI_BAD_INPUT, "a line has %zd bytes; a message carries %u at most", length,
                               IG_MESSAGE_MAX_PAYLOAD);
        else
            result = send_payload(run, line, (uint64_t)length);
        if (typed) {
            show_answers(run, typing_ns);
            fflush(stdout);
        }
    }
    free(line);
    return result;
}

// ---- The end ----

// The amount of work that kernels have done so far; *idle if none has anything left to do.
static uint64_t count_work(const ring_run *run, bool *idle) {
    uint64_t work = 0;
    *idle = true;
    for (size_t i = 0; i < run->actor_count; i++) {
        ig_ring_status status;
        ig_ring_get_status(run->actors[i].handle, &status);
        bool can_work = status.state == IG_RING_ACTIVE;
        work += status.processed + status.errors + status.expired + status.invalid;
        if (can_work && (status.input_depth || status.inbox_depth || status.in_flight)) *idle = false;
        if (status.output_depth) *idle = false;
    }
    return work;
}

// Two checks some time apart, between which nothing happened.
static int wait_until_idle(ring_run *run) {
    bool idle = false, was_idle;
    uint64_t give_up_ns = igi_deadline_ns(run->timeout_ns);
    uint64_t before, work = count_work(run, &idle);
    do {
        before = work, was_idle = idle;
        show_answers(run, patience_ns);
        work = count_work(run, &idle);
        if (igi_now_ns() > give_up_ns)
            return cli_error(CLI_FAILED, "kernels are still busy after %.3g s; --timeout allows more",
                             (double)run->timeout_ns * 1e-9);
    } while (!idle || !was_idle || work != before);
    return CLI_CONTINUE;
}

static int find_failure(const ring_run *run) {
    int result = CLI_CONTINUE;
    for (size_t i = 0; i < run->actor_count && result == CLI_CONTINUE; i++) {
        ig_ring_status status;
        ig_ring_get_status(run->actors[i].handle, &status);
        if (status.state == IG_RING_FAILED) result = report_failure(&run->actors[i]);
    }
    return result;
}

static void end_actors(ring_run *run) {
    for (size_t i = 0; i < run->actor_count; i++) {
        if (!run->actors[i].handle) continue;
        ig_ring_terminate(run->actors[i].handle, IG_RING_DROP);
        ig_ring_wait(run->actors[i].handle, patience_ns);
    }
}

static void show_findings(ring_run *run) {
    for (size_t i = 0; i < run->actor_count; i++) {
        const ig_finding *all;
        size_t count = ig_ring_get_findings(run->actors[i].handle, &all);
        cli_findings_show(&run->findings, all, count);
    }
}

int ring_exchange(ring_run *run) {
    int result = send_items(run);
    if (result == CLI_CONTINUE && run->lines) result = send_lines(run);
    if (result == CLI_CONTINUE) result = wait_until_idle(run);
    if (result == CLI_CONTINUE) result = find_failure(run);
    show_answers(run, 0);
    if (run->status) ring_show_status(run);
    end_actors(run);
    if (run->check) show_findings(run);
    show_dead_letters(run);
    return result == CLI_CONTINUE && run->dead ? CLI_BAD_INPUT : result;
}
