// SPDX-License-Identifier: Apache-2.0
// Making and verifying the precompiled header.
#include "msl/precompiled.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/file.h"
#include "msl/headers.h"
#include "msl/overlay.h"

static char *pch_path(const igi_msl_toolchain *tools, const igi_msl_request *request) {
    char hex[33];
    igi_hash_hex(tools->clang_identity, hex);
    return igi_format("%s/%s-%u-%s.pch", tools->directory, hex, request->language_version,
                      request->math_mode == IG_MATH_FAST ? "fast" : "safe");
}

// A damaged precompiled header could make clang compile something else: it is used only if its hash, stored next to it,
// matches.
static bool is_sound_pch(const char *path) {
    char hex[33], *noted_path = igi_format("%s.hash", path), *noted = NULL, *bytes = NULL;
    size_t noted_length = 0, length = 0;
    bool sound =
        noted_path &&
        igi_file_read_within(noted_path, 100, IGI_FILE_NO_LINK, &noted, &noted_length, NULL) == IG_STATUS_OK &&
        igi_file_read_within(path, IGI_FILE_MAX_BYTES, IGI_FILE_NO_LINK, &bytes, &length, NULL) == IG_STATUS_OK;
    if (sound) igi_hash_hex(igi_hash_bytes(bytes, length), hex);
    sound = sound && noted_length == strlen(hex) && memcmp(noted, hex, noted_length) == 0;
    free(noted_path), free(noted), free(bytes);
    return sound;
}

static void keep_pch(const char *path, const char *bytes, size_t length) {
    char hex[33], *noted_path = igi_format("%s.hash", path);
    igi_hash_hex(igi_hash_bytes(bytes, length), hex);
    if (!noted_path || igi_file_write_atomic(path, bytes, length) != IG_STATUS_OK ||
        igi_file_write_atomic(noted_path, hex, strlen(hex)) != IG_STATUS_OK)
        igi_log(IG_LOG_WARNING, "precompiled Metal headers could not be written to %s", path);
    free(noted_path);
}

static void add_pch_arguments(igi_msl_arguments *list, const igi_msl_toolchain *tools, const igi_msl_request *request,
                              const char *overlay, const char *output) {
    igi_msl_add_argument(list, tools->clang);
    igi_msl_add_language(list, overlay, request);
    igi_msl_add_prelude(list, false);
    igi_msl_add_argument(list, "-Xclang"), igi_msl_add_argument(list, "-fno-pch-timestamp");
    igi_msl_add_argument(list, "-x"), igi_msl_add_argument(list, "c++-header"), igi_msl_add_argument(list, "/dev/null");
    igi_msl_add_argument(list, "-o"), igi_msl_add_argument(list, output);
}

// It contains only names of the overlay, so a precompiled header is also valid in a copy of the cache.
static bool run_clang(const igi_msl_toolchain *tools, const igi_msl_request *request, const char *directory,
                      const char *output) {
    igi_msl_arguments list = {0};
    igi_process process = {.exit = IGI_EXIT_SYSTEM};
    char *overlay = NULL;
    const igi_msl_overlay shown = {.headers = tools->directory};
    if (igi_msl_overlay_write(&shown, directory, &overlay) == IG_STATUS_OK) {
        add_pch_arguments(&list, tools, request, overlay, output);
        igi_msl_run_clang(tools, &list, directory, request, &process);
    }
    bool built = process.exit == IGI_EXIT_CODE && process.code == 0;
    if (!built)
        igi_log(IG_LOG_WARNING, "precompiled Metal headers could not be generated: %s",
                process.errors.data ? process.errors.data : "clang did not run");
    igi_text_free(&process.output), igi_text_free(&process.errors);
    igi_msl_free_arguments(&list);
    free(overlay);
    return built;
}

static void build_pch(const igi_msl_toolchain *tools, const igi_msl_request *request, const char *path) {
    char *directory = igi_make_temp_dir(), *fresh = directory ? igi_path_join(directory, "pch") : NULL, *bytes = NULL;
    size_t length = 0;
    bool built = fresh && run_clang(tools, request, directory, fresh);
    if (built && igi_file_read(fresh, &bytes, &length, NULL) == IG_STATUS_OK) keep_pch(path, bytes, length);
    if (directory) igi_remove_tree(directory);
    free(directory), free(fresh), free(bytes);
}

// ---- One maker at a time ----

static const uint64_t patience_ns = UINT64_C(10) * 1000000000;

// Holds the lock until the file is closed or this process ends; -1 if it is not available.
static int take_lock(const igi_msl_toolchain *tools) {
    static const struct timespec pause = {.tv_nsec = 5000000};
    char *path = igi_path_join(tools->directory, "lock");
    int file = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600) : -1;
    uint64_t deadline = igi_deadline_ns(patience_ns);
    free(path);
    while (file >= 0 && flock(file, LOCK_EX | LOCK_NB) != 0) {
        bool busy = errno == EWOULDBLOCK || errno == EINTR;
        if (busy && igi_now_ns() < deadline) {
            nanosleep(&pause, NULL);
            continue;
        }
        close(file);
        return -1;
    }
    return file;
}

// Many processes may start on an empty cache at once: one makes the header, the others wait for it, or do without.
char *igi_msl_find_pch(const igi_msl_toolchain *tools, const igi_msl_request *request) {
    char *path = pch_path(tools, request);
    bool sound = path && is_sound_pch(path);
    int lock = path && !sound ? take_lock(tools) : -1;
    if (lock >= 0) {
        sound = is_sound_pch(path);
        if (!sound) build_pch(tools, request, path);
        sound = sound || is_sound_pch(path);
        close(lock);
    }
    if (sound) return path;
    free(path);
    return NULL;
}

bool igi_msl_blames_pch(const igi_process *process) {
    const char *text = process->exit == IGI_EXIT_CODE && process->code ? process->errors.data : NULL;
    return text && (strstr(text, "PCH file") || strstr(text, "AST file") || strstr(text, "precompiled header"));
}
