// SPDX-License-Identifier: Apache-2.0
// From sources to bitcode, and the keys under which the result is kept.
#include "msl/compiler.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "msl/clang-path.h"
#include "msl/clang-run.h"
#include "msl/headers.h"
#include "msl/missing.h"
#include "msl/overlay.h"
#include "msl/precompiled.h"

struct igi_msl_compiler {
    pthread_mutex_t lock;  // guards what follows
    char *cache_dir;
    igi_msl_toolchain tools;
    bool temporary;  // tools.directory is this compiler's own, and is removed with it
};

// ---- Clang and its headers ----

static void find_clang(igi_msl_compiler *compiler) {
    free(compiler->tools.clang);
    compiler->tools.clang = igi_msl_identify_clang(&compiler->tools.clang_identity);
}

// Only headers of its own go with a compiler; those of a cache belong to all programs that use it.
static void leave_headers(igi_msl_compiler *compiler) {
    assert(!compiler->temporary || compiler->tools.directory);
    if (compiler->temporary) igi_remove_tree(compiler->tools.directory);
    free(compiler->tools.directory);
    compiler->tools.directory = NULL, compiler->temporary = false;
}

static ig_status prepare(igi_msl_compiler *compiler, ig_error *error) {
    igi_msl_toolchain *tools = &compiler->tools;
    if (!tools->clang) find_clang(compiler);
    if (!tools->clang) return igi_msl_missing_clang(error);
    if (tools->directory && igi_msl_repair_headers(tools->directory)) return IG_STATUS_OK;
    leave_headers(compiler);
    tools->directory =
        compiler->cache_dir ? igi_msl_cached_headers(compiler->cache_dir, tools->headers_identity) : NULL;
    if (tools->directory && igi_msl_repair_headers(tools->directory)) return IG_STATUS_OK;
    leave_headers(compiler);
    if (compiler->cache_dir)
        igi_log(IG_LOG_WARNING, "cache directory %s cannot be used; compiling without it", compiler->cache_dir);
    tools->directory = igi_msl_temporary_headers();
    compiler->temporary = tools->directory != NULL;
    if (tools->directory) return IG_STATUS_OK;
    return igi_error_set(error, IG_STATUS_IO, "cannot write the Metal headers below %s: is the disk full?",
                         getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
}

// ---- Compiling ----

static void compile_once(const igi_msl_toolchain *tools, const igi_msl_request *request, const char *directory,
                         const char *overlay, igi_process *process) {
    igi_msl_arguments list = {0};
    igi_msl_add_argument(&list, tools->clang);
    igi_msl_add_language(&list, overlay, request);
    if (!request->preprocess) igi_msl_add_prelude(&list, tools->pch);
    igi_msl_add_inputs(&list, request);
    igi_msl_run_clang(tools, &list, directory, request, process);
    igi_msl_free_arguments(&list);
}

// One run of clang on the current sources, in a separate directory.
static ig_status run_in_directory(const igi_msl_toolchain *tools, const igi_msl_request *request, igi_process *process,
                                  ig_error *error) {
    char *directory = igi_make_temp_dir(), *overlay = NULL;
    if (!directory)
        return igi_error_set(error, IG_STATUS_IO, "cannot make a temporary directory; set TMPDIR to a writable one");
    const igi_msl_overlay shown = {&request->sources, tools->directory, tools->pch, request->preprocess};
    ig_status status = igi_msl_overlay_write(&shown, directory, &overlay);
    if (status == IG_STATUS_OK)
        compile_once(tools, request, directory, overlay, process);
    else
        igi_error_set(error, status, "cannot write the sources to %s for clang: %s", directory, ig_status_text(status));
    igi_remove_tree(directory);
    free(directory), free(overlay);
    return status;
}

// A damaged precompiled header must cost time, not correctness: it is dropped, and clang runs without it.
static ig_status run(const igi_msl_toolchain *tools, const igi_msl_request *request, igi_process *process,
                     ig_error *error) {
    // The precompiled header was made for wrapping integers.
    bool precompiled = !request->marks_overflow && !request->preprocess;
    char *pch = precompiled ? igi_msl_find_pch(tools, request) : NULL;
    igi_msl_toolchain with_pch = *tools;
    with_pch.pch = pch;
    ig_status status = run_in_directory(&with_pch, request, process, error);
    if (status == IG_STATUS_OK && pch && (igi_msl_blames_pch(process) || igi_msl_clang_crashed(process))) {
        igi_msl_drop_pch(tools, pch);
        igi_text_free(&process->output), igi_text_free(&process->errors);
        status = run_in_directory(tools, request, process, error);
    }
    free(pch);
    return status;
}

// Each round is a run of clang.
enum { MAX_ROUNDS = 32 };

// Runs clang until it finds every file that it looks for, or requests one that does not exist.
static ig_status run_until_complete(const igi_msl_toolchain *tools, igi_msl_request *request,
                                    igi_msl_diagnostics *diagnostics, igi_process *process, ig_error *error) {
    size_t checked = 0, rounds = 0;
    for (bool again = true; again; rounds++) {
        if (rounds > MAX_ROUNDS)
            return igi_error_set(error, IG_STATUS_UNSUPPORTED,
                                 "%s: more than %d files are included by names that macros give; write the names out",
                                 request->sources.files[0].display, MAX_ROUNDS);
        igi_text_free(&process->output), igi_text_free(&process->errors);
        igi_msl_diagnostics_add_rewrite_errors(diagnostics, checked);
        if (diagnostics->error_count) return IG_STATUS_COMPILE_FAILED;
        checked = request->sources.count;
        ig_status status = run(tools, request, process, error);
        if (status == IG_STATUS_OK)
            status = igi_msl_add_missing(&request->sources, process->errors.data, &again, error);
        if (status != IG_STATUS_OK) return status;
    }
    return igi_msl_judge_clang(process, diagnostics, error);
}

// clang prints the path of each file that it reads on a line.
static void note_uses(igi_msl_sources *sources, const char *messages) {
    for (size_t i = 0; i < sources->count; i++) sources->files[i].used = i == 0 || sources->files[i].data;
    while (messages && *messages) {
        size_t length = strcspn(messages, "\n");
        for (size_t i = 0; i < sources->count; i++) {
            igi_msl_source *source = &sources->files[i];
            if (strncmp(source->path, messages, length) == 0 && !source->path[length]) source->used = true;
        }
        messages += length + (messages[length] == '\n');
    }
}

static ig_status compile_with(const igi_msl_toolchain *tools, igi_msl_request *request,
                              igi_msl_diagnostics *diagnostics, char **bitcode, size_t *length, ig_error *error) {
    igi_process process = {0};
    ig_status status = run_until_complete(tools, request, diagnostics, &process, error);
    if (request->notes_uses) note_uses(&request->sources, process.errors.data);
    if (status == IG_STATUS_OK) {
        *length = process.output.length;
        *bitcode = igi_text_take(&process.output);
        if (!*bitcode) status = igi_error_no_memory(error);
    }
    igi_text_free(&process.output), igi_text_free(&process.errors);
    return status;
}

ig_status igi_msl_compile(igi_msl_compiler *compiler, igi_msl_request *request, igi_msl_diagnostics *diagnostics,
                          char **bitcode, size_t *bitcode_length, ig_error *error) {
    pthread_mutex_lock(&compiler->lock);
    ig_status status = prepare(compiler, error);
    igi_msl_toolchain snapshot = {.clang_identity = compiler->tools.clang_identity,
                                  .headers_identity = compiler->tools.headers_identity};
    if (status == IG_STATUS_OK) {
        snapshot.directory = igi_strdup(compiler->tools.directory);
        snapshot.clang = igi_strdup(compiler->tools.clang);
        if (!request->preprocess) free(igi_msl_find_pch(&compiler->tools, request));
        if (!snapshot.directory || !snapshot.clang) status = igi_error_no_memory(error);
    }
    pthread_mutex_unlock(&compiler->lock);
    if (status == IG_STATUS_OK) {
        diagnostics->stdlib = igi_msl_stdlib;
        status = compile_with(&snapshot, request, diagnostics, bitcode, bitcode_length, error);
        diagnostics->stdlib = NULL;
    }
    free(snapshot.directory), free(snapshot.clang);
    return status;
}

ig_status igi_msl_precompile(igi_msl_compiler *compiler, const igi_msl_request *request, const char *path,
                             ig_error *error) {
    pthread_mutex_lock(&compiler->lock);
    ig_status status = prepare(compiler, error);
    if (status == IG_STATUS_OK && !igi_msl_make_pch(&compiler->tools, request, path))
        status = igi_error_set(error, IG_STATUS_IO, "cannot precompile the Metal headers to %s", path);
    pthread_mutex_unlock(&compiler->lock);
    return status;
}

// ---- Keys ----

igi_hash igi_msl_content_key(const igi_msl_compiler *compiler, const igi_msl_request *request) {
    igi_hasher *hasher = igi_hasher_create();
    igi_hasher_add(hasher, &compiler->tools.headers_identity, sizeof compiler->tools.headers_identity);
    igi_hasher_add_u64(hasher, request->language_version);
    igi_hasher_add_u64(hasher, (uint64_t)request->math_mode | (uint64_t)request->flush_denormals << 8);
    igi_hasher_add_u64(
        hasher, request->line_tables | request->marks_overflow << 1 | request->variables << 2 | request->types << 3);
    igi_hasher_add_u64(hasher, request->tensor_layout);
    for (size_t i = 0; i < request->define_count; i++) {
        igi_hasher_add_string(hasher, request->defines[i].name);
        igi_hasher_add_string(hasher, request->defines[i].value);
    }
    for (size_t i = 0; i < request->sources.include_dir_count; i++) {
        char *directory = igi_path_absolute(request->sources.include_dirs[i]);
        igi_hasher_add_string(hasher, directory);
        free(directory);
    }
    igi_msl_sources_hash(&request->sources, hasher);
    return igi_hasher_finish(hasher);
}

igi_hash igi_msl_key(igi_msl_compiler *compiler, const igi_msl_request *request) {
    pthread_mutex_lock(&compiler->lock);
    if (!compiler->tools.clang) find_clang(compiler);
    igi_hash clang = compiler->tools.clang_identity, content = igi_msl_content_key(compiler, request);
    pthread_mutex_unlock(&compiler->lock);
    igi_hasher *hasher = igi_hasher_create();
    igi_hasher_add(hasher, &clang, sizeof clang);
    igi_hasher_add(hasher, &content, sizeof content);
    return igi_hasher_finish(hasher);
}

// ---- Life ----

ig_status igi_msl_compiler_create(const char *cache_dir, igi_msl_compiler **compiler) {
    igi_msl_compiler *made = igi_calloc(1, sizeof *made);
    if (!made) return IG_STATUS_OUT_OF_MEMORY;
    made->cache_dir = igi_strdup(cache_dir);
    if (cache_dir && !made->cache_dir) {
        free(made);
        return IG_STATUS_OUT_OF_MEMORY;
    }
    pthread_mutex_init(&made->lock, NULL);
    made->tools.headers_identity = igi_msl_headers_identity();
    *compiler = made;
    return IG_STATUS_OK;
}

void igi_msl_compiler_destroy(igi_msl_compiler *compiler) {
    if (!compiler) return;
    leave_headers(compiler);
    free(compiler->cache_dir), free(compiler->tools.clang);
    pthread_mutex_destroy(&compiler->lock);
    free(compiler);
}
