// SPDX-License-Identifier: Apache-2.0
// Making and verifying the precompiled header. One for the usual requests is installed with Ingot; for other language
// versions, or another clang, it is made when it is first needed and kept in the cache.
#include "msl/precompiled.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/file.h"
#include "core/program.h"
#include "installed.h"
#include "msl/headers.h"
#include "msl/overlay.h"

// ---- Where it is ----

static const char *mode_of(const igi_msl_request *request) {
    return request->math_mode == IG_MATH_FAST ? "fast" : "safe";
}

// "...-310-fast.pch": all that it depends on besides the headers.
static char *cached_path(const igi_msl_toolchain *tools, const igi_msl_request *request) {
    char hex[33];
    igi_hash_hex(tools->clang_identity, hex);
    return igi_format("%s/%s-%u-%s%s.pch", tools->directory, hex, request->language_version, mode_of(request),
                      igi_msl_needs_new_language(request) ? "-23" : "");
}

// The build makes those of precompile-headers.c.
static char *installed_path(const igi_msl_request *request) {
    if (request->language_version != IGI_MSL_DEFAULT_LANGUAGE || igi_msl_needs_new_language(request)) return NULL;
    char path[PATH_MAX], *name = igi_format("headers-%s.pch", mode_of(request));
    const igi_program header = {
        .name = name,
        .code = (const void *)(uintptr_t)igi_msl_find_pch,
        .places = igi_program_libexec,
        .installed = INGOT_LIBEXEC_DIR,
        .is_data = true,
    };
    bool found = name && igi_program_find(&header, path);
    free(name);
    return found ? igi_strdup(path) : NULL;
}

// ---- Whether it is sound ----

// Of its bytes, and of what it was made from.
static void hash_of_pch(const igi_msl_toolchain *tools, const char *bytes, size_t length, char hex[33]) {
    igi_hash content = igi_hash_bytes(bytes, length);
    igi_hasher *hasher = igi_hasher_create();
    igi_hasher_add(hasher, &content, sizeof content);
    igi_hasher_add(hasher, &tools->clang_identity, sizeof tools->clang_identity);
    igi_hasher_add(hasher, &tools->headers_identity, sizeof tools->headers_identity);
    igi_hash_hex(igi_hasher_finish(hasher), hex);
}

// A precompiled header that is damaged, or of other headers, could make clang compile something else: it is used only if
// its hash, stored next to it, matches.
static bool is_sound_pch(const igi_msl_toolchain *tools, const char *path) {
    char hex[33], *noted_path = igi_format("%s.hash", path), *noted = NULL, *bytes = NULL;
    size_t noted_length = 0, length = 0;
    bool sound =
        noted_path &&
        igi_file_read_within(noted_path, 100, IGI_FILE_NO_LINK, &noted, &noted_length, NULL) == IG_STATUS_OK &&
        igi_file_read_within(path, IGI_FILE_MAX_BYTES, IGI_FILE_NO_LINK, &bytes, &length, NULL) == IG_STATUS_OK;
    if (sound) hash_of_pch(tools, bytes, length, hex);
    sound = sound && noted_length == strlen(hex) && memcmp(noted, hex, noted_length) == 0;
    free(noted_path), free(noted), free(bytes);
    return sound;
}

// ---- Making it ----

static bool keep_pch(const igi_msl_toolchain *tools, const char *path, const char *bytes, size_t length) {
    char hex[33], *noted_path = igi_format("%s.hash", path);
    hash_of_pch(tools, bytes, length, hex);
    bool kept = noted_path && igi_file_write_atomic(path, bytes, length) == IG_STATUS_OK &&
                igi_file_write_atomic(noted_path, hex, strlen(hex)) == IG_STATUS_OK;
    if (!kept) igi_log(IG_LOG_WARNING, "precompiled Metal headers could not be written to %s", path);
    free(noted_path);
    return kept;
}

static void add_pch_arguments(igi_msl_arguments *list, const igi_msl_toolchain *tools, const igi_msl_request *request,
                              const char *overlay, const char *output) {
    igi_msl_add_argument(list, tools->clang);
    igi_msl_add_language(list, overlay, request);
    igi_msl_add_prelude(list, false);
    igi_msl_add_argument(list, "-Xclang"), igi_msl_add_argument(list, "-fno-pch-timestamp");
    // What the headers use of their own templates is made here, once, and not again in every run that includes them.
    igi_msl_add_argument(list, "-fpch-instantiate-templates");
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

bool igi_msl_make_pch(const igi_msl_toolchain *tools, const igi_msl_request *request, const char *path) {
    char *directory = igi_make_temp_dir(), *fresh = directory ? igi_path_join(directory, "pch") : NULL, *bytes = NULL;
    size_t length = 0;
    bool built = fresh && run_clang(tools, request, directory, fresh);
    bool kept =
        built && igi_file_read(fresh, &bytes, &length, NULL) == IG_STATUS_OK && keep_pch(tools, path, bytes, length);
    if (directory) igi_remove_tree(directory);
    free(directory), free(fresh), free(bytes);
    return kept;
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
static char *find_or_make(const igi_msl_toolchain *tools, const igi_msl_request *request) {
    char *path = cached_path(tools, request);
    bool sound = path && is_sound_pch(tools, path);
    int lock = path && !sound ? take_lock(tools) : -1;
    if (lock >= 0) {
        sound = is_sound_pch(tools, path);
        if (!sound) sound = igi_msl_make_pch(tools, request, path) && is_sound_pch(tools, path);
        close(lock);
    }
    if (sound) return path;
    free(path);
    return NULL;
}

char *igi_msl_find_pch(const igi_msl_toolchain *tools, const igi_msl_request *request) {
    char *installed = installed_path(request);
    if (installed && is_sound_pch(tools, installed)) return installed;
    free(installed);
    return find_or_make(tools, request);
}

void igi_msl_drop_pch(const igi_msl_toolchain *tools, const char *path) {
    bool cached = strncmp(path, tools->directory, strlen(tools->directory)) == 0;
    igi_log(IG_LOG_WARNING, "%s is damaged; %s", path, cached ? "it will be generated again" : "install Ingot again");
    if (cached) unlink(path);
}

bool igi_msl_blames_pch(const igi_process *process) {
    const char *text = process->exit == IGI_EXIT_CODE && process->code ? process->errors.data : NULL;
    return text && (strstr(text, "PCH file") || strstr(text, "AST file") || strstr(text, "precompiled header"));
}
