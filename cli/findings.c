// SPDX-License-Identifier: Apache-2.0
// Findings as clang prints diagnostics, as JSON rows, or as SARIF.
#include "findings.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "console/diagnostics.h"
#include "console/options.h"
#include "console/output.h"
#include "core/file.h"

enum { DEFAULT_LIMIT = 100 };

// ---- Rules ----

static bool matches(const char *pattern, const char *text) {
    return fnmatch(pattern, text, 0) == 0;
}

static bool rule_covers(char *rule, const ig_finding *finding) {
    char *state = NULL, line[16];
    snprintf(line, sizeof line, "%u", finding->sides[0].line);
    const char *values[] = {finding->kind, finding->kernel, finding->sides[0].file, line};
    bool covers = true, any = false;
    char *word = strtok_r(rule, " \t\r", &state);
    for (size_t i = 0; i < 4 && word && covers; i++, word = strtok_r(NULL, " \t\r", &state)) {
        any = true;
        covers = matches(word, values[i]);
    }
    return any && covers;
}

static bool is_suppressed(const cli_findings *findings, const ig_finding *finding) {
    for (const char *at = findings->rules_text; at && *at;) {
        size_t length = strcspn(at, "\n");
        char rule[512];
        if (*at != '#' && length < sizeof rule) {
            memcpy(rule, at, length);
            rule[length] = 0;
            if (rule_covers(rule, finding)) return true;
        }
        at += length + (at[length] == '\n');
    }
    return false;
}

// ---- For people ----

static void add_place(igi_text *text, const ig_finding_side *side) {
    igi_text_addf(text, "%s:%u:%u: ", *side->file ? side->file : "kernel", side->line, side->column);
}

static void add_snippet(igi_text *text, const ig_finding_side *side) {
    if (!*side->source) return;
    igi_text_addf(text, "%5u | %s\n      | ", side->line, side->source);
    for (uint32_t i = 1; i < side->column && side->source[i - 1]; i++)
        igi_text_append(text, side->source[i - 1] == '\t' ? "\t" : " ", 1);
    igi_text_add(text, "^\n");
}

static void add_thread(igi_text *text, const ig_finding_side *side) {
    if (!side->has_thread) {
        igi_text_add(text, "another thread");
        return;
    }
    igi_text_addf(text, "thread (%u, %u, %u) of threadgroup (%u, %u, %u), simdgroup %u, lane %u", side->thread[0],
                  side->thread[1], side->thread[2], side->group[0], side->group[1], side->group[2], side->simdgroup,
                  side->lane);
}

static void print_finding(const ig_finding *finding) {
    igi_text text = {0};
    const ig_finding_side *first = &finding->sides[0], *second = &finding->sides[1];
    add_place(&text, first);
    igi_text_addf(&text, "%s: %s: kernel '%s' %s\n", finding->warning ? "warning" : "error", finding->kind,
                  finding->kernel, finding->message);
    add_snippet(&text, first);
    add_place(&text, first);
    igi_text_add(&text, "note: ");
    add_thread(&text, first);
    if (finding->count > 1) igi_text_addf(&text, "; %" PRIu64 " times in all", finding->count);
    igi_text_add(&text, "\n");
    if (finding->side_count > 1) {
        add_place(&text, second);
        igi_text_addf(&text, "note: ");
        if (second->kernel) igi_text_addf(&text, "kernel '%s' of %s, ", second->kernel, second->queue);
        add_thread(&text, second);
        igi_text_addf(&text, " %s\n", second->action);
        add_snippet(&text, second);
    }
    if (*finding->advice) {
        add_place(&text, first);
        igi_text_addf(&text, "note: %s\n", finding->advice);
    }
    char *all = igi_text_take(&text);
    if (all) cli_print_diagnostics(stdout, all);
    free(all);
}

// ---- For programs ----

static void put_numbers(igi_json *json, const char *key, const uint32_t numbers[3]) {
    igi_json_key(json, key);
    igi_json_begin_array(json);
    for (int i = 0; i < 3; i++) igi_json_u64(json, numbers[i]);
    igi_json_end_array(json);
}

static void put_side(igi_json *json, const ig_finding_side *side) {
    igi_json_begin_object(json);
    igi_json_put_string(json, "action", side->action);
    igi_json_put_string(json, "file", side->file);
    igi_json_put_u64(json, "line", side->line);
    igi_json_put_u64(json, "column", side->column);
    if (side->has_thread) {
        put_numbers(json, "thread", side->thread);
        put_numbers(json, "threadgroup", side->group);
        igi_json_put_u64(json, "simdgroup", side->simdgroup);
        igi_json_put_u64(json, "lane", side->lane);
    }
    if (side->kernel) igi_json_put_string(json, "kernel", side->kernel);
    if (side->queue) igi_json_put_string(json, "queue", side->queue);
    igi_json_end_object(json);
}

static void put_finding(const ig_finding *finding) {
    igi_json *row = cli_begin_row();
    igi_json_put_string(row, "finding", finding->kind);
    igi_json_put_string(row, "severity", finding->warning ? "warning" : "error");
    igi_json_put_string(row, "kernel", finding->kernel);
    igi_json_put_string(row, "message", finding->message);
    igi_json_put_string(row, "advice", finding->advice);
    igi_json_put_string(row, "object", finding->object);
    igi_json_key(row, "offset");
    igi_json_i64(row, finding->offset);
    igi_json_put_u64(row, "bytes", finding->bytes);
    igi_json_put_u64(row, "object_bytes", finding->object_bytes);
    igi_json_put_u64(row, "count", finding->count);
    igi_json_key(row, "sides");
    igi_json_begin_array(row);
    for (size_t i = 0; i < finding->side_count; i++) put_side(row, &finding->sides[i]);
    igi_json_end_array(row);
    cli_end_row();
}

// ---- SARIF 2.1.0 ----

typedef struct sarif {
    FILE *file;
    igi_json json;
} sarif;

static sarif *begin_sarif(const char *path) {
    sarif *s = cli_alloc(sizeof *s);
    *s = (sarif){.file = fopen(path, "w")};
    if (!s->file) {
        free(s);
        return NULL;
    }
    igi_json *json = &s->json;
    igi_json_to_file(json, s->file);
    igi_json_begin_object(json);
    igi_json_put_string(json, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    igi_json_put_string(json, "version", "2.1.0");
    igi_json_key(json, "runs"), igi_json_begin_array(json), igi_json_begin_object(json);
    igi_json_key(json, "tool"), igi_json_begin_object(json);
    igi_json_key(json, "driver"), igi_json_begin_object(json);
    igi_json_put_string(json, "name", "ingot check");
    igi_json_put_string(json, "version", ig_version());
    igi_json_end_object(json), igi_json_end_object(json);
    igi_json_key(json, "results"), igi_json_begin_array(json);
    return s;
}

static void put_text(igi_json *json, const char *key, const char *text) {
    igi_json_key(json, key), igi_json_begin_object(json);
    igi_json_put_string(json, "text", text);
    igi_json_end_object(json);
}

static void put_location(igi_json *json, const ig_finding_side *side, const char *message) {
    igi_json_begin_object(json);
    igi_json_key(json, "physicalLocation"), igi_json_begin_object(json);
    igi_json_key(json, "artifactLocation"), igi_json_begin_object(json);
    igi_json_put_string(json, "uri", side->file);
    igi_json_end_object(json);
    igi_json_key(json, "region"), igi_json_begin_object(json);
    igi_json_put_u64(json, "startLine", side->line ? side->line : 1);
    igi_json_put_u64(json, "startColumn", side->column ? side->column : 1);
    igi_json_end_object(json), igi_json_end_object(json);
    if (message) put_text(json, "message", message);
    igi_json_end_object(json);
}

static void put_sarif(sarif *s, const ig_finding *finding) {
    igi_json *json = &s->json;
    char text[1024];
    snprintf(text, sizeof text, "kernel '%s' %s", finding->kernel, finding->message);
    igi_json_begin_object(json);
    igi_json_put_string(json, "ruleId", finding->kind);
    igi_json_put_string(json, "level", finding->warning ? "warning" : "error");
    put_text(json, "message", text);
    igi_json_key(json, "locations"), igi_json_begin_array(json);
    put_location(json, &finding->sides[0], NULL);
    igi_json_end_array(json);
    if (finding->side_count > 1) {
        igi_json_key(json, "relatedLocations"), igi_json_begin_array(json);
        put_location(json, &finding->sides[1], finding->sides[1].action);
        igi_json_end_array(json);
    }
    igi_json_end_object(json);
}

static int end_sarif(sarif *s, const char *path) {
    igi_json *json = &s->json;
    igi_json_end_array(json), igi_json_end_object(json), igi_json_end_array(json), igi_json_end_object(json);
    bool written = igi_json_end_row(json);
    written = fclose(s->file) == 0 && written;
    free(s);
    return written ? CLI_OK : cli_error(CLI_FAILED, "cannot write '%s'", cli_visible(path));
}

// ---- All ----

int cli_findings_open(cli_findings *findings, uint32_t *checks) {
    ig_error error = {0};
    *checks = IG_CHECK_ALL;
    if (findings->only && ig_check_parse(findings->only, checks, &error) != IG_STATUS_OK) {
        int result = cli_usage_error("--only: %s", error.message);
        ig_error_clear(&error);
        return result;
    }
    size_t length;
    if (findings->suppress_path) {
        ig_status status = igi_file_read(findings->suppress_path, &findings->rules_text, &length, &error);
        if (status != IG_STATUS_OK) return cli_report_and_clear(status, &error);
    }
    if (findings->sarif_path && !(findings->sarif = begin_sarif(findings->sarif_path)))
        return cli_error(CLI_FAILED, "cannot write '%s'", cli_visible(findings->sarif_path));
    return CLI_CONTINUE;
}

void cli_findings_show(cli_findings *findings, const ig_finding *all, size_t count) {
    uint64_t limit = findings->limit ? findings->limit : DEFAULT_LIMIT;
    for (size_t i = 0; i < count; i++) {
        if (is_suppressed(findings, &all[i])) {
            findings->suppressed++;
            continue;
        }
        bool shown = findings->errors + findings->warnings < limit;
        findings->errors += !all[i].warning;
        findings->warnings += all[i].warning;
        findings->left_out += !shown;
        if (shown && findings->sarif) put_sarif(findings->sarif, &all[i]);
        if (shown && cli_json)
            put_finding(&all[i]);
        else if (shown)
            print_finding(&all[i]);
    }
}

ig_status cli_findings_run(cli_findings *findings, bool check, ig_commands *commands) {
    ig_status status = ig_commands_commit(commands);
    if (status == IG_STATUS_OK) status = ig_commands_wait(commands, IG_FOREVER);
    if (!check) return status;
    const ig_finding *all;
    size_t count = ig_commands_get_findings(commands, &all);
    cli_findings_show(findings, all, count);
    return status == IG_STATUS_CHECK_FAILED ? IG_STATUS_OK : status;
}

int cli_findings_close(cli_findings *findings) {
    int result = findings->sarif ? end_sarif(findings->sarif, findings->sarif_path) : CLI_OK;
    size_t found = findings->errors + findings->warnings;
    char suppressed[48] = "", hidden[48] = "";
    if (findings->suppressed) snprintf(suppressed, sizeof suppressed, ", %zu suppressed", findings->suppressed);
    if (findings->left_out) snprintf(hidden, sizeof hidden, ", %zu not shown (--limit)", findings->left_out);
    if (!cli_json && (found || findings->suppressed))
        printf("%zu error%s, %zu warning%s%s%s\n", findings->errors, findings->errors == 1 ? "" : "s",
               findings->warnings, findings->warnings == 1 ? "" : "s", suppressed, hidden);
    else if (!cli_json)
        printf("nothing found\n");
    free(findings->rules_text);
    findings->rules_text = NULL;
    if (result != CLI_OK) return result;
    return found ? CLI_BAD_INPUT : CLI_OK;
}
