// SPDX-License-Identifier: Apache-2.0
// Findings of checked kernels: kept with the command buffer that ran them.
#include "device/findings.h"

#include <string.h>

#include "core/nearest.h"

// ---- Names of checks ----

static const struct {
    const char *name;
    uint32_t checks;
} names[] = {{"all", IG_CHECK_ALL},   {"memory", IG_CHECK_MEMORY}, {"races", IG_CHECK_RACES},
             {"init", IG_CHECK_INIT}, {"sync", IG_CHECK_SYNC},     {"arithmetic", IG_CHECK_ARITHMETIC}};

ig_status ig_check_parse(const char *text, uint32_t *checks, ig_error *error) {
    uint32_t found = 0;
    if (!text || !checks) return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "check_parse: an argument is NULL");
    while (*text) {
        size_t length = strcspn(text, ","), i = 0, count = sizeof names / sizeof *names;
        while (i < count && !(strlen(names[i].name) == length && memcmp(names[i].name, text, length) == 0)) i++;
        if (length && i == count)
            return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT,
                                 "unknown check '%.*s'; choose from all, memory, races, init, sync and arithmetic",
                                 (int)length, text);
        if (length) found |= names[i].checks;
        text += length + (text[length] == ',');
    }
    *checks = found;
    return IG_STATUS_OK;
}

// ---- The list ----

static void free_side(ig_finding_side *side) {
    free((char *)side->action), free((char *)side->file), free((char *)side->source);
    free((char *)side->kernel), free((char *)side->queue);
}

void igi_device_finding_free(ig_finding *finding) {
    free((char *)finding->kernel), free((char *)finding->message), free((char *)finding->object);
    for (size_t i = 0; i < 2; i++) free_side(&finding->sides[i]);
}

void igi_device_findings_free(igi_device_findings *findings) {
    for (size_t i = 0; i < findings->count; i++) igi_device_finding_free(&findings->items[i]);
    free(findings->items);
    *findings = (igi_device_findings){0};
}

static bool is_complete(const ig_finding *finding) {
    bool complete = finding->kernel && finding->message && finding->object;
    for (size_t i = 0; i < finding->side_count; i++)
        complete = complete && finding->sides[i].action && finding->sides[i].file && finding->sides[i].source;
    return complete;
}

static bool same_place(const ig_finding_side *a, const ig_finding_side *b) {
    return a->line == b->line && a->column == b->column && strcmp(a->file, b->file) == 0;
}

static bool same(const ig_finding *a, const ig_finding *b) {
    if (strcmp(a->kind, b->kind) != 0 || strcmp(a->kernel, b->kernel) != 0 || a->side_count != b->side_count)
        return false;
    for (size_t i = 0; i < a->side_count; i++)
        if (!same_place(&a->sides[i], &b->sides[i])) return false;
    return true;
}

void igi_device_findings_add(igi_device_findings *findings, ig_finding *finding) {
    if (!is_complete(finding)) {
        findings->failed = true;
        igi_device_finding_free(finding);
        return;
    }
    for (size_t i = 0; i < findings->count; i++) {
        if (!same(&findings->items[i], finding)) continue;
        findings->items[i].count += finding->count;
        igi_device_finding_free(finding);
        return;
    }
    if (!igi_grow((void **)&findings->items, &findings->capacity, findings->count + 1, sizeof *findings->items)) {
        findings->failed = true;
        igi_device_finding_free(finding);
        return;
    }
    findings->items[findings->count++] = *finding;
}

// ---- Public ----

size_t ig_commands_get_findings(const ig_commands *commands, const ig_finding **findings) {
    if (!commands || ig_commands_get_state(commands) < IG_COMMANDS_COMPLETED) {
        if (findings) *findings = NULL;
        return 0;
    }
    if (findings) *findings = commands->findings.items;
    return commands->findings.count;
}

static const ig_finding *first_error(const igi_device_findings *findings, size_t *errors) {
    const ig_finding *first = NULL;
    *errors = 0;
    for (size_t i = 0; i < findings->count; i++) {
        if (findings->items[i].warning) continue;
        if (!first) first = &findings->items[i];
        ++*errors;
    }
    return first;
}

ig_status igi_device_findings_status(const igi_device_findings *findings, ig_error *error) {
    size_t errors;
    const ig_finding *first = first_error(findings, &errors);
    if (findings->failed) return igi_error_no_memory(error);
    if (!first) return IG_STATUS_OK;
    const ig_finding_side *at = &first->sides[0];
    char more[64] = "";
    if (errors > 1) snprintf(more, sizeof more, " (and %zu more findings)", errors - 1);
    igi_error_set(error, IG_STATUS_CHECK_FAILED, "%s:%u:%u: %s: kernel '%s' %s%s", at->file, at->line, at->column,
                  first->kind, first->kernel, first->message, more);
    if (error) error->line = at->line, error->column = at->column;
    return IG_STATUS_CHECK_FAILED;
}
