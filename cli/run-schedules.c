// SPDX-License-Identifier: Apache-2.0
// ingot check --schedules: runs the same kernel with its threads in other orders and compares the results bit for bit.
#include <stdlib.h>
#include <string.h>

#include "run.h"

// Runs the job again, on a separate device. The caller frees with free_again.
static int run_again(const run_job *job, uint64_t schedule, run_job *again) {
    *again = *job;
    again->check = false;
    again->checks = 0;
    again->schedule = schedule;
    again->repeat = 1;
    again->time = false;
    again->device = NULL, again->library = NULL, again->pipeline = NULL, again->queue = NULL;
    again->nanoseconds = NULL;
    again->arguments = cli_alloc((job->argument_count + 1) * sizeof *again->arguments);
    for (size_t i = 0; i < job->argument_count; i++) {
        again->arguments[i] = job->arguments[i];
        again->arguments[i].buffer = NULL;
    }
    return run_prepare_and_run(again);
}

static void free_again(run_job *again) {
    for (size_t i = 0; i < again->argument_count; i++) ig_buffer_release(again->arguments[i].buffer);
    free(again->arguments), free(again->nanoseconds);
    ig_queue_release(again->queue);
    ig_pipeline_release(again->pipeline);
    ig_library_release(again->library);
    ig_device_release(again->device);
}

// The first byte in which they differ; `length` if there is none.
static uint64_t first_difference(const unsigned char *a, const unsigned char *b, uint64_t length) {
    uint64_t i = 0;
    while (i < length && a[i] == b[i]) i++;
    return i;
}

static void report(const run_job *other, const run_argument *argument, uint64_t element) {
    if (cli_json) {
        igi_json *row = cli_begin_row();
        igi_json_put_string(row, "finding", "order-dependent");
        igi_json_put_u64(row, "schedule", other->schedule);
        igi_json_put_u64(row, "argument", argument->index);
        igi_json_put_u64(row, "element", element);
        cli_end_row();
        return;
    }
    printf(
        "order-dependent: with schedule %llu, argument %u '%s' differs from element %llu on; "
        "`ingot run --schedule %llu` repeats it\n",
        (unsigned long long)other->schedule, argument->index, cli_visible(argument->reflection->name),
        (unsigned long long)element, (unsigned long long)other->schedule);
}

static bool compare(const run_job *first, const run_job *other) {
    bool same = true;
    for (size_t i = 0; i < first->argument_count && same; i++) {
        const run_argument *a = &first->arguments[i], *b = &other->arguments[i];
        if (!a->buffer || !b->buffer) continue;
        uint64_t length = ig_buffer_length(a->buffer);
        uint64_t at = first_difference(ig_buffer_contents(a->buffer), ig_buffer_contents(b->buffer), length);
        if (at == length) continue;
        same = false;
        report(other, a, at / ig_type_size(a->spec.type));
    }
    return same;
}

int run_compare_schedules(const run_job *job, size_t *different) {
    run_job first;
    int result = run_again(job, 0, &first);
    for (uint64_t seed = 1; seed <= job->schedules && result == CLI_CONTINUE; seed++) {
        run_job other;
        result = run_again(job, seed, &other);
        if (result == CLI_CONTINUE) *different += !compare(&first, &other);
        free_again(&other);
    }
    free_again(&first);
    return result;
}
