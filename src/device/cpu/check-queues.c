// SPDX-License-Identifier: Apache-2.0
// Races between queues: each queue leaves marks of its last accesses, which other queues meet. The dispatches that marks
// refer to are remembered, the last ones of each queue, with their programs.
#include <sys/mman.h>

#include "core/guarded.h"
#include "device/cpu/check-state.h"

_Static_assert(IGI_CHECKED_QUEUES == (int)IGI_ORDER_QUEUES, "marks and clocks are of the same queues");

// ---- Dispatches ----

static void forget(cpu_device *cpu, cpu_checked_launch *launch) {
    if (launch->program) igi_cpu_program_release(cpu, launch->program);
    free(launch->queue);
    *launch = (cpu_checked_launch){0};
}

void igi_cpu_queues_close(cpu_device *cpu, cpu_checker *checker) {
    for (size_t i = 0; checker && i < IGI_CHECKED_QUEUES; i++) {
        for (size_t k = 0; checker->launches[i] && k < QUEUE_LAUNCHES; k++) forget(cpu, &checker->launches[i][k]);
        free(checker->launches[i]);
        checker->launches[i] = NULL;
    }
}

static char *name_of(const ig_queue *queue) {
    return queue->label ? igi_format("queue '%s'", queue->label)
                        : igi_format("queue %llu", (unsigned long long)queue->number);
}

static bool remember(cpu_checker *checker, const ig_commands *commands, const igi_device_dispatch *dispatch,
                     const igi_simt_code *code, const uint64_t groups[3]) {
    const igi_simt_checked_queue *queue = &checker->state.queue;
    cpu_checked_launch **all = &checker->launches[queue->place];
    if (!*all && !(*all = igi_calloc(QUEUE_LAUNCHES, sizeof **all))) return false;
    cpu_checked_launch *launch = &(*all)[queue->number % QUEUE_LAUNCHES];
    cpu_device *cpu = igi_cpu(commands->queue->device);
    forget(cpu, launch);
    *launch = (cpu_checked_launch){.number = queue->number,
                                   .program = igi_cpu_program_retain(cpu, dispatch->pipeline->state),
                                   .sites = code->sites,
                                   .grid = dispatch->grid,
                                   .group = dispatch->group,
                                   .groups = {groups[0], groups[1], groups[2]},
                                   .queue = name_of(commands->queue)};
    return launch->queue != NULL;
}

const cpu_checked_launch *igi_cpu_queues_launch(const cpu_checker *checker, uint32_t place, uint32_t number) {
    const cpu_checked_launch *all = checker->launches[place];
    const cpu_checked_launch *launch = all ? &all[number % QUEUE_LAUNCHES] : NULL;
    return launch && launch->number == number ? launch : NULL;
}

bool igi_cpu_queues_begin(cpu_checker *checker, const ig_commands *commands, const igi_device_dispatch *dispatch,
                          const igi_simt_code *code, const uint64_t groups[3]) {
    igi_simt_checked_queue *queue = &checker->state.queue;
    igi_device_clock before;
    queue->number = 0;
    if (!igi_device_order_has_several(commands->queue->device)) return true;
    uint64_t number = igi_device_order_number(commands, &before);
    if (!number || number > UINT32_MAX) return true;
    queue->place = commands->queue->place - 1;
    queue->number = (uint32_t)number;
    for (size_t i = 0; i < IGI_CHECKED_QUEUES; i++) queue->before[i] = before.at[i];
    return remember(checker, commands, dispatch, code, groups);
}

// ---- Marks ----

void igi_cpu_queues_forget_marks(checked_buffer *b) {
    for (size_t i = 0; i < IGI_CHECKED_QUEUES; i++) {
        if (b->marks[i]) munmap(b->marks[i], b->mark_bytes);
        b->marks[i] = NULL;
    }
}

// Memory from the pool is another buffer each time.
bool igi_cpu_queues_mark(const cpu_checker *checker, checked_buffer *b) {
    uint32_t own = checker->state.queue.place;
    b->object.marks = NULL;
    if (!checker->state.queue.number) return true;
    if (b->marks_of != b->buffer->id) igi_cpu_queues_forget_marks(b);
    b->marks_of = b->buffer->id;
    b->mark_bytes = (b->buffer->capacity / IGI_CHECKED_WORD + 2) * sizeof **b->marks;
    if (!b->marks[own]) b->marks[own] = igi_map_zeros(b->mark_bytes);
    b->object.marks = b->marks;
    return b->marks[own] != NULL;
}
