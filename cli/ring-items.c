// SPDX-License-Identifier: Apache-2.0
// ingot ring: messages from --send and --file, and how answers are shown.
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/memory.h"
#include "elements.h"
#include "ring.h"
#include "spec.h"

static int check_size(const char *what, uint64_t bytes) {
    if (bytes <= IG_MESSAGE_MAX_PAYLOAD) return CLI_CONTINUE;
    return cli_error(CLI_BAD_INPUT, "%s has %llu bytes; a message carries %u at most", what, (unsigned long long)bytes,
                     IG_MESSAGE_MAX_PAYLOAD);
}

static int read_text(const char *text, ring_item *item) {
    *item = (ring_item){.data = igi_strdup(text), .bytes = strlen(text), .format = RING_TEXT};
    return check_size("a text", item->bytes);
}

static int read_spec(const char *text, ring_item *item) {
    cli_spec spec = {0};
    ig_error error = {0};
    if (cli_spec_parse(text, &spec, &error) != IG_STATUS_OK) {
        int result = cli_usage_error("--send: %s", error.message);
        ig_error_clear(&error);
        return result;
    }
    ig_status status = cli_spec_load(&spec, &error);
    int result = status == IG_STATUS_OK ? check_size(text, spec.bytes) : cli_report_and_clear(status, &error);
    if (result == CLI_CONTINUE) {
        *item =
            (ring_item){.data = cli_alloc(spec.bytes), .bytes = spec.bytes, .format = RING_ELEMENTS, .type = spec.type};
        cli_spec_fill(&spec, item->data);
    }
    cli_spec_free(&spec);
    return result;
}

static int read_send(const char *text, ring_item *item) {
    static const char prefix[] = "text:";
    bool is_text = strncmp(text, prefix, sizeof prefix - 1) == 0;
    return is_text ? read_text(text + sizeof prefix - 1, item) : read_spec(text, item);
}

static int read_file(const char *path, ring_item *item) {
    ig_error error = {0};
    char *data = NULL;
    size_t length = 0;
    ig_status status = igi_file_read_stream(path, &data, &length, &error);
    if (status != IG_STATUS_OK) return cli_report_and_clear(status, &error);
    *item = (ring_item){.data = data, .bytes = length, .format = RING_TEXT};
    return check_size(path, length);
}

// As --print says, else like the first message.
static int choose_format(ring_run *run) {
    run->format = run->item_count ? run->items[0].format : RING_TEXT;
    run->format_type = run->item_count ? run->items[0].type : IG_TYPE_F32;
    if (!run->print) return CLI_CONTINUE;
    run->format = RING_ELEMENTS;
    if (strcmp(run->print, "text") == 0)
        run->format = RING_TEXT;
    else if (strcmp(run->print, "hex") == 0)
        run->format = RING_HEX;
    else if (!cli_type_named(run->print, strlen(run->print), &run->format_type))
        return cli_usage_error("--print takes text, hex or a type (%s), not '%s'", cli_type_names(), run->print);
    return CLI_CONTINUE;
}

int ring_read_items(ring_run *run) {
    run->items = cli_alloc((run->sends.count + run->files.count + 1) * sizeof *run->items);
    int result = CLI_CONTINUE;
    for (size_t i = 0; i < run->sends.count && result == CLI_CONTINUE; i++) {
        run->items[run->item_count] = (ring_item){0};
        result = read_send(run->sends.items[i], &run->items[run->item_count++]);
    }
    for (size_t i = 0; i < run->files.count && result == CLI_CONTINUE; i++) {
        run->items[run->item_count] = (ring_item){0};
        result = read_file(run->files.items[i], &run->items[run->item_count++]);
    }
    return result == CLI_CONTINUE ? choose_format(run) : result;
}

void ring_free_items(ring_run *run) {
    for (size_t i = 0; i < run->item_count; i++) free(run->items[i].data);
    free(run->items);
}
