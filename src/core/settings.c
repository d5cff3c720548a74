// SPDX-License-Identifier: Apache-2.0
#include "core/settings.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/status-internal.h"

typedef struct description {
    const char *name, *values;
} description;

static const description descriptions[] = {
#define X(name, values, standard, meaning) {"INGOT_" #name, values},
    IGI_SETTING_LIST(X)
#undef X
};

const char *igi_setting_text(igi_setting setting) {
    assert(setting < IGI_SETTING_COUNT);
    return getenv(descriptions[setting].name);
}

const char *igi_setting_named(igi_setting setting) {
    const char *text = igi_setting_text(setting);
    return text && *text ? text : NULL;
}

bool igi_setting_is(igi_setting setting, const char *value) {
    const char *text = igi_setting_text(setting);
    return text && strcmp(text, value) == 0;
}

// ---- Accepted values ----

static bool read_number(const char *text, uint64_t *number) {
    char *end = NULL;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && !*end && errno == 0;
}

static bool read_range(const char *values, uint64_t *least, uint64_t *most) {
    return sscanf(values, "%" SCNu64 "..%" SCNu64, least, most) == 2;
}

static bool is_one_of(const char *text, const char *words) {
    size_t length = strlen(text);
    while (*words) {
        size_t word = strcspn(words, "|");
        if (word == length && memcmp(words, text, length) == 0) return true;
        words += word + (words[word] == '|');
    }
    return false;
}

static bool accepts(const char *values, const char *text) {
    uint64_t number, least, most;
    if (!*values || !*text) return true;
    if (!read_range(values, &least, &most)) return is_one_of(text, values);
    return read_number(text, &number) && number >= least && number <= most;
}

uint64_t igi_setting_number(igi_setting setting, uint64_t otherwise) {
    const char *text = igi_setting_named(setting);
    uint64_t number;
    bool good = text && accepts(descriptions[setting].values, text) && read_number(text, &number);
    return good ? number : otherwise;
}

static ig_status refuse(const description *d, const char *text, ig_error *error) {
    uint64_t least, most;
    if (read_range(d->values, &least, &most))
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT,
                             "the environment variable %s is '%.40s'; it takes a number from %" PRIu64 " to %" PRIu64,
                             d->name, text, least, most);
    return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT,
                         "the environment variable %s is '%.40s'; it takes one of %s", d->name, text, d->values);
}

ig_status igi_settings_check(ig_error *error) {
    for (size_t i = 0; i < IGI_SETTING_COUNT; i++) {
        const char *text = igi_setting_text((igi_setting)i);
        if (text && !accepts(descriptions[i].values, text)) return refuse(&descriptions[i], text, error);
    }
    return IG_STATUS_OK;
}
