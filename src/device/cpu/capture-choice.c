// SPDX-License-Identifier: Apache-2.0
// Choosing dispatches.
#include "device/cpu/capture-choice.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "core/memory.h"

static bool read_number(const char **at, uint64_t *number) {
    char *end;
    if (**at < '0' || **at > '9') return false;
    errno = 0;
    *number = strtoull(*at, &end, 10);
    *at = end;
    return errno == 0;
}

// FIRST or FIRST-LAST, and nothing else.
static bool read_range(const char *text, cpu_capture_rule *rule) {
    if (!read_number(&text, &rule->first)) return false;
    rule->last = rule->first;
    if (*text == '-') {
        text++;
        if (!read_number(&text, &rule->last)) return false;
    }
    return *text == '\0' && rule->first <= rule->last;
}

static ig_status parse_rule(const char *text, size_t length, cpu_capture_rule *rule, ig_error *error) {
    rule->pattern = igi_strndup(text, length);
    if (!rule->pattern) return igi_error_no_memory(error);
    rule->last = UINT64_MAX;
    char *colon = strrchr(rule->pattern, ':');
    bool number_only = rule->pattern[0] >= '0' && rule->pattern[0] <= '9';
    bool formed = number_only ? read_range(rule->pattern, rule) : !colon || read_range(colon + 1, rule);
    if (!formed || colon == rule->pattern)
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT,
                             "'%s' chooses no dispatches (INGOT_CAPTURE_DISPATCH, capture_dispatch); write a kernel, "
                             "'sum*', its dispatches, 'sum*:3' or 'sum*:0-9', or dispatches of any kernel, '17'",
                             rule->pattern);
    if (number_only) memcpy(rule->pattern, "*", 2);  // it has a digit
    if (!number_only && colon) *colon = '\0';
    return IG_STATUS_OK;
}

ig_status igi_cpu_capture_choice_parse(const char *text, cpu_capture_choice *choice, ig_error *error) {
    size_t most = 1;
    for (const char *c = text ? text : ""; *c; c++) most += *c == ',';
    cpu_capture_choice made = {.rules = igi_calloc(most, sizeof *made.rules)};
    if (!made.rules) return igi_error_no_memory(error);
    ig_status status = IG_STATUS_OK;
    while (text && *text && status == IG_STATUS_OK) {
        size_t length = strcspn(text, ",");
        if (length) status = parse_rule(text, length, &made.rules[made.count++], error);
        text += length + (text[length] == ',');
    }
    if (status == IG_STATUS_OK)
        *choice = made;
    else
        igi_cpu_capture_choice_free(&made);
    return status;
}

void igi_cpu_capture_choice_free(cpu_capture_choice *choice) {
    for (size_t i = 0; i < choice->count; i++) free(choice->rules[i].pattern);
    free(choice->rules);
    *choice = (cpu_capture_choice){0};
}

bool igi_cpu_capture_choose(cpu_capture_choice *choice, const char *kernel) {
    bool chosen = false;
    for (size_t i = 0; i < choice->count; i++) {
        cpu_capture_rule *rule = &choice->rules[i];
        if (fnmatch(rule->pattern, kernel, 0) != 0) continue;
        uint64_t number = atomic_fetch_add(&rule->seen, 1);
        chosen |= number >= rule->first && number <= rule->last;
    }
    return chosen;
}
