// SPDX-License-Identifier: Apache-2.0
// ingot replay: what differs, and where.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "console/output.h"
#include "elements.h"
#include "replay.h"

typedef struct comparison {
    uint64_t elements, different, first;
    double largest;  // of the differences of floats
} comparison;

// Bit for bit, unless a tolerance was given for floats. Two NaN are the same.
static bool is_close(const replay_job *job, ig_type type, const void *now, const void *then, double *difference) {
    *difference = 0;
    if (memcmp(now, then, ig_type_size(type)) == 0) return true;
    if (!cli_type_is_float(type)) return false;
    double a = cli_element_value(type, now), b = cli_element_value(type, then);
    if (isnan(a) && isnan(b)) return job->tolerance > 0;
    *difference = fabs(a - b);
    return *difference <= job->tolerance * fmax(1, fabs(b)) && job->tolerance > 0;
}

static comparison compare(const replay_job *job, size_t index) {
    const capture_buffer *buffer = &job->captured.buffers[index];
    const char *now = ig_buffer_contents(job->buffers[index]), *then = buffer->after.data;
    uint32_t size = ig_type_size(buffer->type);
    comparison result = {.elements = buffer->after.bytes / size};
    for (uint64_t i = 0; i < result.elements; i++) {
        double difference;
        if (is_close(job, buffer->type, now + i * size, then + i * size, &difference)) continue;
        if (!result.different++) result.first = i;
        if (difference > result.largest) result.largest = difference;
    }
    return result;
}

// The first argument that the buffer is bound to.
static const capture_argument *argument_of(const capture *captured, size_t buffer) {
    for (size_t i = 0; i < captured->argument_count; i++) {
        const capture_argument *argument = &captured->arguments[i];
        if (argument->kind == CAPTURE_BUFFER && argument->buffer == buffer) return argument;
    }
    return NULL;
}

static void put_comparison(const replay_job *job, size_t index, const comparison *c) {
    const capture_buffer *buffer = &job->captured.buffers[index];
    const capture_argument *argument = argument_of(&job->captured, index);
    uint64_t at = c->first * ig_type_size(buffer->type);
    igi_json *row = cli_begin_row();
    igi_json_put_u64(row, "buffer", index);
    if (argument) igi_json_put_u64(row, "argument", argument->index);
    if (argument) igi_json_put_string(row, "name", argument->name);
    igi_json_put_string(row, "type", ig_type_name(buffer->type));
    igi_json_put_u64(row, "elements", c->elements);
    igi_json_put_u64(row, "different", c->different);
    if (c->different) {
        igi_json_put_u64(row, "first", c->first);
        igi_json_key(row, "value");
        cli_element_json(buffer->type, (const char *)ig_buffer_contents(job->buffers[index]) + at, row);
        igi_json_key(row, "captured");
        cli_element_json(buffer->type, (const char *)buffer->after.data + at, row);
        if (cli_type_is_float(buffer->type)) igi_json_put_double(row, "largest_difference", c->largest);
    }
    cli_end_row();
}

static void print_comparison(const replay_job *job, size_t index, const comparison *c) {
    const capture_buffer *buffer = &job->captured.buffers[index];
    const capture_argument *argument = argument_of(&job->captured, index);
    uint64_t at = c->first * ig_type_size(buffer->type);
    char now[CLI_ELEMENT_TEXT], then[CLI_ELEMENT_TEXT];
    printf("argument %u '%s': ", argument ? argument->index : 0, argument ? cli_visible(argument->name) : "");
    if (!c->different) {
        printf("%" PRIu64 " elements of %s are the same\n", c->elements, ig_type_name(buffer->type));
        return;
    }
    cli_element_format(buffer->type, (const char *)ig_buffer_contents(job->buffers[index]) + at, now);
    cli_element_format(buffer->type, (const char *)buffer->after.data + at, then);
    printf("%" PRIu64 " of %" PRIu64 " elements of %s differ; the first is %" PRIu64 ": %s, captured %s", c->different,
           c->elements, ig_type_name(buffer->type), c->first, now, then);
    if (cli_type_is_float(buffer->type)) printf("; the largest difference is %g", c->largest);
    printf("\n");
}

void replay_compare(const replay_job *job, size_t *different, size_t *compared) {
    for (size_t i = 0; i < job->captured.buffer_count; i++) {
        if (!job->captured.buffers[i].after.data) continue;
        comparison c = compare(job, i);
        (cli_json ? put_comparison : print_comparison)(job, i, &c);
        *different += c.different != 0;
        ++*compared;
    }
}
