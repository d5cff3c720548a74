// SPDX-License-Identifier: Apache-2.0
// ingot ring: answers, dead letters and status, for people and as JSON.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "elements.h"
#include "format.h"
#include "ring.h"

// ---- Payloads ----

// A payload that is not a whole number of elements is shown as bytes.
static ring_format fitting_format(const ring_run *run, const ig_message *message) {
    bool whole = run->format == RING_ELEMENTS && message->header.payload_size % ig_type_size(run->format_type) == 0;
    return run->format == RING_ELEMENTS && !whole ? RING_HEX : run->format;
}

static void print_hex(const unsigned char *bytes, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) printf("%s%02x", i ? " " : "", bytes[i]);
}

static void print_elements(ig_type type, const char *elements, uint64_t bytes) {
    size_t size = ig_type_size(type);
    for (uint64_t at = 0; at < bytes; at += size) {
        char text[CLI_ELEMENT_TEXT];
        cli_element_format(type, elements + at, text);
        printf("%s%s", at ? " " : "", text);
    }
}

static void print_payload(const ring_run *run, const ig_message *message) {
    uint64_t bytes = message->header.payload_size;
    switch (fitting_format(run, message)) {
        case RING_TEXT: cli_write_data(stdout, (const char *)message->payload, bytes); break;
        case RING_HEX: print_hex(message->payload, bytes); break;
        case RING_ELEMENTS: print_elements(run->format_type, message->payload, bytes); break;
    }
    printf("\n");
}

static void put_payload(const ring_run *run, const ig_message *message, igi_json *row) {
    const char *payload = message->payload;
    uint64_t bytes = message->header.payload_size;
    ring_format format = fitting_format(run, message);
    size_t size = format == RING_ELEMENTS ? ig_type_size(run->format_type) : 1;
    ig_type type = format == RING_ELEMENTS ? run->format_type : IG_TYPE_U8;
    if (format == RING_TEXT) {
        char text[IG_MESSAGE_MAX_PAYLOAD + 1];
        snprintf(text, sizeof text, "%.*s", (int)bytes, bytes ? payload : "");
        igi_json_put_string(row, "text", text);
        return;
    }
    igi_json_put_string(row, "format", ig_type_name(type));
    igi_json_key(row, "values");
    igi_json_begin_array(row);
    for (uint64_t at = 0; at < bytes; at += size) cli_element_json(type, payload + at, row);
    igi_json_end_array(row);
}

// ---- Messages ----

static igi_json *begin_message(const char *kind, const ring_actor *actor, const ig_message *message) {
    igi_json *row = cli_begin_row();
    igi_json_put_string(row, "row", kind);
    igi_json_put_string(row, "kernel", actor->name);
    igi_json_put_u64(row, "type", message->header.message_type);
    igi_json_put_u64(row, "id", message->header.message_id);
    igi_json_put_u64(row, "answers", message->header.correlation_id);
    igi_json_put_u64(row, "size", message->header.payload_size);
    return row;
}

void ring_show_answer(ring_run *run, const ring_actor *actor, const ig_message *answer) {
    run->answers++;
    if (cli_json) {
        put_payload(run, answer, begin_message("answer", actor, answer));
        cli_end_row();
        return;
    }
    if (run->actor_count > 1)
        printf("%s%s:%s ", cli_escape(stdout, CLI_DIM), cli_visible(actor->name), cli_escape(stdout, CLI_PLAIN));
    print_payload(run, answer);
}

void ring_show_dead_letter(ring_run *run, const ring_actor *actor, const ig_message *letter) {
    const char *reason = ig_dead_reason_text((ig_dead_reason)letter->header.dead_reason);
    run->dead++;
    if (cli_json) {
        igi_json *row = begin_message("dead-letter", actor, letter);
        igi_json_put_string(row, "reason", reason);
        put_payload(run, letter, row);
        cli_end_row();
    } else {
        cli_note("%s: message %" PRIu64 " of %" PRIu64 " bytes was not handled: %s", actor->name,
                 letter->header.message_id, letter->header.payload_size, reason);
    }
}

// ---- Status ----

static const char *mode_name(ig_ring_mode mode) {
    return mode == IG_RING_PERSISTENT ? "persistent" : "event";
}

static void put_status(const ring_actor *actor, const ig_ring_status *status) {
    igi_json *row = cli_begin_row();
    igi_json_put_string(row, "row", "status");
    igi_json_put_string(row, "kernel", actor->name);
    igi_json_put_string(row, "state", ig_ring_state_name(status->state));
    igi_json_put_string(row, "mode", mode_name(status->mode));
    const struct {
        const char *name;
        uint64_t value;
    } counts[] = {{"processed", status->processed},
                  {"in_flight", status->in_flight},
                  {"errors", status->errors},
                  {"restarts", status->restarts},
                  {"expired", status->expired},
                  {"invalid", status->invalid},
                  {"failed", status->failed},
                  {"stopped", status->stopped},
                  {"dropped", status->dropped},
                  {"sent", status->sent},
                  {"undelivered", status->undelivered},
                  {"refused", status->refused},
                  {"dead_lost", status->dead_lost},
                  {"dead_letters", status->dead_letters},
                  {"dispatches", status->dispatches},
                  {"input_depth", status->input_depth},
                  {"output_depth", status->output_depth},
                  {"inbox_depth", status->inbox_depth},
                  {"outbox_depth", status->outbox_depth},
                  {"uptime_ns", status->uptime_ns},
                  {"latency_p50_ns", ig_ring_latency_quantile(status, 0.5)},
                  {"latency_p99_ns", ig_ring_latency_quantile(status, 0.99)}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) igi_json_put_u64(row, counts[i].name, counts[i].value);
    cli_end_row();
}

static void add_latency(cli_table *table, const ig_ring_status *status, double fraction) {
    char text[CLI_FORMAT_TEXT];
    uint64_t ns = ig_ring_latency_quantile(status, fraction);
    cli_table_add(table, "%s", ns ? cli_format_time((double)ns, text) : "-");
}

static void add_status(cli_table *table, const ring_actor *actor, const ig_ring_status *status) {
    const uint64_t counts[] = {status->processed, status->errors, status->restarts, status->dead_letters,
                               status->dispatches};
    cli_table_add(table, "%s", actor->name);
    cli_table_add(table, "%s", ig_ring_state_name(status->state));
    cli_table_add(table, "%s", mode_name(status->mode));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) cli_table_add(table, "%" PRIu64, counts[i]);
    add_latency(table, status, 0.5);
    add_latency(table, status, 0.99);
}

void ring_show_status(const ring_run *run) {
    static const char *const headings[] = {"kernel",   "state", "mode",       "processed", "errors",
                                           "restarts", "dead",  "dispatches", "p50 <",     "p99 <"};
    enum { COLUMNS = sizeof headings / sizeof *headings };
    cli_table table = {.columns = COLUMNS, .right_aligned = 0x3f8};
    for (size_t i = 0; i < COLUMNS && !cli_json; i++) cli_table_add(&table, "%s", headings[i]);
    for (size_t i = 0; i < run->actor_count; i++) {
        ig_ring_status status;
        ig_ring_get_status(run->actors[i].handle, &status);
        if (cli_json)
            put_status(&run->actors[i], &status);
        else
            add_status(&table, &run->actors[i], &status);
    }
    if (!cli_json) cli_table_print(&table, 0);
}
