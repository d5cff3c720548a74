// SPDX-License-Identifier: Apache-2.0
// ingot replay: what differs, and where.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "console/options.h"
#include "console/output.h"
#include "elements.h"
#include "replay.h"

// A buffer or a texture after the dispatch.
typedef struct result {
    const char *what;  // "buffer" or "texture"
    capture_kind kind;
    size_t index;
    ig_type type;
    uint64_t bytes;
    const char *now, *then;
} result;

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

static comparison compare(const replay_job *job, const result *r) {
    uint32_t size = ig_type_size(r->type);
    comparison found = {.elements = r->bytes / size};
    for (uint64_t i = 0; i < found.elements; i++) {
        double difference;
        if (is_close(job, r->type, r->now + i * size, r->then + i * size, &difference)) continue;
        if (!found.different++) found.first = i;
        if (difference > found.largest) found.largest = difference;
    }
    return found;
}

// The first argument that it is bound to.
static const capture_argument *argument_of(const capture *captured, const result *r) {
    for (size_t i = 0; i < captured->argument_count; i++) {
        const capture_argument *argument = &captured->arguments[i];
        if (argument->kind == r->kind && argument->buffer == r->index) return argument;
    }
    return NULL;
}

static void put_comparison(const replay_job *job, const result *r, const comparison *c) {
    const capture_argument *argument = argument_of(&job->captured, r);
    uint64_t at = c->first * ig_type_size(r->type);
    igi_json *row = cli_begin_row();
    igi_json_put_u64(row, r->what, r->index);
    if (argument) igi_json_put_u64(row, "argument", argument->index);
    if (argument) igi_json_put_string(row, "name", argument->name);
    igi_json_put_string(row, "type", ig_type_name(r->type));
    igi_json_put_u64(row, "elements", c->elements);
    igi_json_put_u64(row, "different", c->different);
    if (c->different) {
        igi_json_put_u64(row, "first", c->first);
        igi_json_key(row, "value");
        cli_element_json(r->type, r->now + at, row);
        igi_json_key(row, "captured");
        cli_element_json(r->type, r->then + at, row);
        if (cli_type_is_float(r->type)) igi_json_put_double(row, "largest_difference", c->largest);
    }
    cli_end_row();
}

static void print_comparison(const replay_job *job, const result *r, const comparison *c) {
    const capture_argument *argument = argument_of(&job->captured, r);
    uint64_t at = c->first * ig_type_size(r->type);
    char now[CLI_ELEMENT_TEXT], then[CLI_ELEMENT_TEXT];
    printf("argument %u '%s': ", argument ? argument->index : 0, argument ? cli_visible(argument->name) : "");
    if (!c->different) {
        printf("%" PRIu64 " elements of %s are the same\n", c->elements, ig_type_name(r->type));
        return;
    }
    cli_element_format(r->type, r->now + at, now);
    cli_element_format(r->type, r->then + at, then);
    printf("%" PRIu64 " of %" PRIu64 " elements of %s differ; the first is %" PRIu64 ": %s, captured %s", c->different,
           c->elements, ig_type_name(r->type), c->first, now, then);
    if (cli_type_is_float(r->type)) printf("; the largest difference is %g", c->largest);
    printf("\n");
}

static void show(const replay_job *job, const result *r, size_t *different, size_t *compared) {
    comparison c = compare(job, r);
    (cli_json ? put_comparison : print_comparison)(job, r, &c);
    *different += c.different != 0;
    ++*compared;
}

static void compare_buffers(const replay_job *job, size_t *different, size_t *compared) {
    for (size_t i = 0; i < job->captured.buffer_count; i++) {
        const capture_buffer *buffer = &job->captured.buffers[i];
        if (!buffer->after.data) continue;
        const result r = {"buffer",          CAPTURE_BUFFER,      i,
                          buffer->type,      buffer->after.bytes, ig_buffer_contents(job->buffers[i]),
                          buffer->after.data};
        show(job, &r, different, compared);
    }
}

static int compare_textures(const replay_job *job, size_t *different, size_t *compared) {
    for (size_t i = 0; i < job->captured.texture_count; i++) {
        const igi_npy *after = &job->captured.textures[i].after;
        if (!after->data) continue;
        void *now = replay_read_pixels(job, i);
        if (!now) return cli_report(IG_STATUS_OUT_OF_MEMORY, NULL);
        show(job, &(result){"texture", CAPTURE_TEXTURE, i, after->type, after->bytes, now, after->data}, different,
             compared);
        free(now);
    }
    return CLI_CONTINUE;
}

int replay_compare(const replay_job *job, size_t *different, size_t *compared) {
    compare_buffers(job, different, compared);
    return compare_textures(job, different, compared);
}
