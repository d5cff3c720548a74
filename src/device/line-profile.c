// SPDX-License-Identifier: Apache-2.0
// Rows of source lines.
#include "device/line-profile.h"

#include <string.h>

typedef struct igi_device_line_profile {
    pthread_mutex_t lock;  // guards what follows
    ig_line_profile *rows;
    size_t count, capacity;
} igi_device_line_profile;

igi_device_line_profile *igi_device_line_profile_create(void) {
    igi_device_line_profile *made = igi_calloc(1, sizeof *made);
    if (made) pthread_mutex_init(&made->lock, NULL);
    return made;
}

static void free_row(ig_line_profile *row) {
    free((char *)row->kernel), free((char *)row->file), free((char *)row->source);
}

void igi_device_line_profile_destroy(igi_device_line_profile *profile) {
    if (!profile) return;
    for (size_t i = 0; i < profile->count; i++) free_row(&profile->rows[i]);
    free(profile->rows);
    pthread_mutex_destroy(&profile->lock);
    free(profile);
}

static bool is_of(const ig_line_profile *row, const char *kernel, const char *file, uint32_t line) {
    return row->line == line && strcmp(row->kernel, kernel) == 0 && strcmp(row->file, file) == 0;
}

void igi_device_line_profile_add(igi_device_line_profile *profile, const char *kernel, const char *file, uint32_t line,
                                 const char *source, size_t source_length, uint64_t samples) {
    pthread_mutex_lock(&profile->lock);
    size_t i = 0;
    while (i < profile->count && !is_of(&profile->rows[i], kernel, file, line)) i++;
    if (i == profile->count) {
        ig_line_profile row = {.kernel = igi_strdup(kernel),
                               .file = igi_strdup(file),
                               .line = line,
                               .source = igi_strndup(source, source_length)};
        bool complete = row.kernel && row.file && row.source;
        if (complete && igi_grow((void **)&profile->rows, &profile->capacity, i + 1, sizeof *profile->rows))
            profile->rows[profile->count++] = row;
        else
            free_row(&row);
    }
    if (i < profile->count) profile->rows[i].samples += samples;
    pthread_mutex_unlock(&profile->lock);
}

// ---- Public ----

static int by_samples(const void *a, const void *b) {
    const ig_line_profile *x = a, *y = b;
    if (x->samples != y->samples) return x->samples < y->samples ? 1 : -1;
    if (strcmp(x->file, y->file) != 0) return strcmp(x->file, y->file);
    return x->line < y->line ? -1 : x->line > y->line;
}

static const char *move_text(char **to, const char *text) {
    size_t length = strlen(text) + 1;
    const char *moved = memcpy(*to, text, length);
    *to += length;
    return moved;
}

// The rows, followed by their texts. Call with the lock held.
static ig_line_profile *copy_rows(const igi_device_line_profile *profile) {
    size_t bytes = 0;
    for (size_t i = 0; i < profile->count; i++) {
        const ig_line_profile *row = &profile->rows[i];
        bytes += strlen(row->kernel) + strlen(row->file) + strlen(row->source) + 3;
    }
    ig_line_profile *copy = igi_alloc(profile->count * sizeof *copy + bytes + 1);
    if (!copy) return NULL;
    char *text = (char *)(copy + profile->count);
    for (size_t i = 0; i < profile->count; i++) {
        copy[i] = profile->rows[i];
        copy[i].kernel = move_text(&text, copy[i].kernel);
        copy[i].file = move_text(&text, copy[i].file);
        copy[i].source = move_text(&text, copy[i].source);
    }
    if (profile->count) qsort(copy, profile->count, sizeof *copy, by_samples);
    return copy;
}

ig_status ig_device_get_line_profile(ig_device *device, ig_line_profile **rows, size_t *count) {
    if (!device || !rows || !count)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "get_line_profile: device, rows and count must not be NULL");
    if (igi_device_is_inherited(device)) return igi_device_fail_forked();
    igi_device_line_profile *profile = device->line_profile;
    if (!profile)
        return igi_fail_with(IG_STATUS_WRONG_STATE,
                             "get_line_profile: the device counts no lines; set `profile_lines` in its ig_device_desc");
    pthread_mutex_lock(&profile->lock);
    ig_line_profile *copy = copy_rows(profile);
    size_t found = profile->count;
    pthread_mutex_unlock(&profile->lock);
    if (!copy) return igi_fail_no_memory();
    *rows = copy;
    *count = found;
    return IG_STATUS_OK;
}
