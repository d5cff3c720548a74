// SPDX-License-Identifier: Apache-2.0
// Making and trusting the precompiled header.
#include "msl/precompiled.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "msl/headers.h"

static char *pch_path(const igi_msl_toolchain *tools, const igi_msl_request *request) {
    char hex[33];
    igi_hash_hex(tools->clang_identity, hex);
    return igi_format("%s/%s-%u-%s.pch", tools->directory, hex, request->language_version,
                      request->math_mode == IG_MATH_FAST ? "fast" : "safe");
}

// A damaged precompiled header could make clang compile something else: it is used only when its hash, kept beside
// it, agrees.
static bool read_pch_hash(const char *path, char hex[33]) {
    char *bytes = NULL;
    size_t length = 0;
    if (igi_file_read(path, &bytes, &length, NULL) != IG_STATUS_OK) return false;
    igi_hash_hex(igi_hash_bytes(bytes, length), hex);
    free(bytes);
    return true;
}

static bool is_sound_pch(const char *path) {
    char hex[33], *noted_path = igi_format("%s.hash", path), *noted = NULL;
    size_t length = 0;
    bool sound = noted_path && igi_file_read(noted_path, &noted, &length, NULL) == IG_STATUS_OK &&
                 read_pch_hash(path, hex) && length == strlen(hex) && memcmp(noted, hex, length) == 0;
    free(noted_path), free(noted);
    return sound;
}

static void note_pch_hash(const char *path) {
    char hex[33], *noted_path = igi_format("%s.hash", path);
    if (noted_path && read_pch_hash(path, hex)) igi_file_write_atomic(noted_path, hex, strlen(hex));
    free(noted_path);
}

static void add_pch_arguments(igi_msl_arguments *list, const igi_msl_toolchain *tools, const igi_msl_request *request,
                              const char *output) {
    igi_msl_add_argument(list, tools->clang);
    igi_msl_add_language(list, tools->directory, request);
    igi_msl_add_argument(list, "-Xclang"), igi_msl_add_argument(list, "-fno-pch-timestamp");
    igi_msl_add_argument(list, "-x"), igi_msl_add_argument(list, "c++-header");
    igi_msl_add_owned_argument(list, igi_path_join(tools->directory, igi_msl_prelude));
    igi_msl_add_argument(list, "-o"), igi_msl_add_argument(list, output);
}

static void build_pch(const igi_msl_toolchain *tools, const igi_msl_request *request, const char *path) {
    char *fresh = igi_format("%s.XXXXXX", path);
    int file = fresh ? mkstemp(fresh) : -1;
    if (file < 0) {
        free(fresh);
        return;
    }
    close(file);
    igi_msl_arguments list = {0};
    igi_process process;
    add_pch_arguments(&list, tools, request, fresh);
    igi_msl_run_clang(&list, request, &process);
    bool built = process.exit == IGI_EXIT_CODE && process.code == 0;
    if (!built || rename(fresh, path) != 0) {
        igi_log(IG_LOG_WARNING, "precompiled Metal headers could not be made: %s",
                process.errors.data ? process.errors.data : "clang did not run");
        unlink(fresh);
    } else {
        note_pch_hash(path);
    }
    igi_text_free(&process.output), igi_text_free(&process.errors);
    igi_msl_free_arguments(&list);
    free(fresh);
}

char *igi_msl_find_pch(const igi_msl_toolchain *tools, const igi_msl_request *request) {
    char *path = pch_path(tools, request);
    if (path && !is_sound_pch(path)) build_pch(tools, request, path);
    if (path && igi_file_exists(path)) return path;
    free(path);
    return NULL;
}

bool igi_msl_blames_pch(const igi_process *process) {
    const char *text = process->exit == IGI_EXIT_CODE && process->code ? process->errors.data : NULL;
    return text && (strstr(text, "PCH file") || strstr(text, "AST file") || strstr(text, "precompiled header"));
}
