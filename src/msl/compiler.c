// SPDX-License-Identifier: Apache-2.0
// Driving clang: finding it, giving it our headers (precompiled), reading its answer.
#include "msl/compiler.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/embedded.h"
#include "core/file.h"
#include "core/process.h"

static const uint64_t default_timeout_ns = 60ull * 1000000000u;
static const uint64_t memory_limit = 16ull << 30;
static const char prelude[] = "__ingot_prelude";

struct igi_msl_compiler {
    pthread_mutex_t lock;  // guards what follows
    char *cache_dir;
    char *directory;  // holds the headers; NULL until first needed
    bool temporary;
    char *clang;  // absolute path; NULL until found
    igi_hash clang_identity, stdlib_identity;
};

// clang reads MSL as C++17 for a target with clean vector calls and real half and bfloat arithmetic on any host
// (x86-64 would pass float2 as a double); src/simt retargets the module to the host.
static const char *const base_flags[] = {
    "-std=c++17",
    "-target",
    "aarch64-unknown-linux-gnu",
    "-march=armv8.2-a+fp16+bf16",
    // Swizzles are properties.
    "-fms-extensions",
    "-fdeclspec",
    "-nostdinc",
    "-ffreestanding",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-threadsafe-statics",
    "-fsigned-char",
    // What GPUs define and C++ does not: wrapping integers, saturating conversions, type punning.
    "-fwrapv",
    "-fno-strict-float-cast-overflow",
    "-fno-strict-aliasing",
    "-fno-delete-null-pointer-checks",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-finite-loops",
    "-ffp-contract=fast",
    "-Xclang",
    "-fbfloat16-excess-precision=none",
    // Newer manglings of template arguments are beyond the demanglers of today's C++ runtimes.
    "-fclang-abi-compat=17",
    // Annotations and value names must reach us; src/simt runs the passes.
    "-O1",
    "-Xclang",
    "-disable-llvm-passes",
    "-fno-discard-value-names",
    "-fno-ident",
    "-fno-color-diagnostics",
    "-fno-caret-diagnostics",
    "-ferror-limit=50",
    "-Werror=unknown-attributes",
    "-Werror=return-type",
    "-Wno-ignored-attributes",
    "-Wno-duplicate-decl-specifier",
    "-Wno-unknown-pragmas",
    "-Wno-user-defined-literals",
    "-Wno-undefined-internal",
    "-Wno-undefined-inline",
    "-Wno-c99-designator",
    "-Wno-reorder-init-list",
    "-Wno-unused-command-line-argument",
};
enum { BASE_FLAG_COUNT = sizeof base_flags / sizeof *base_flags };

// ---- Argument lists ----

typedef struct arguments {
    char **items;  // owned, NULL-terminated
    size_t count, capacity;
    bool failed;
} arguments;

static void add_owned(arguments *list, char *argument) {
    if (!argument || !igi_grow((void **)&list->items, &list->capacity, list->count + 2, sizeof *list->items)) {
        free(argument);
        list->failed = true;
        return;
    }
    list->items[list->count++] = argument;
    list->items[list->count] = NULL;
}

static void add(arguments *list, const char *argument) {
    add_owned(list, igi_strdup(argument));
}

static void free_arguments(arguments *list) {
    for (size_t i = 0; i < list->count; i++) free(list->items[i]);
    free(list->items);
}

static void add_language(arguments *list, const igi_msl_compiler *compiler, const igi_msl_request *request) {
    for (size_t i = 0; i < BASE_FLAG_COUNT; i++) add(list, base_flags[i]);
    uint32_t version = request->language_version;
    bool fast = request->math_mode == IG_MATH_FAST;
    add(list, "-D__METAL__=1");
    add_owned(list, igi_format("-D__METAL_VERSION__=%u", version));
    add(list, "-D__METAL_MACOS__=1");
    add(list, "-D__INGOT__=1");
    add_owned(list, igi_format("-D__INGOT_FAST_MATH__=%d", fast));
    if (fast) add(list, "-D__FAST_MATH__=1");
    add(list, "-isystem");
    add(list, compiler->directory);
}

// ---- Finding clang ----

static bool is_executable(const char *path, struct stat *info) {
    return access(path, X_OK) == 0 && stat(path, info) == 0 && S_ISREG(info->st_mode);
}

static char *search_path(const char *name, struct stat *info) {
    if (strchr(name, '/')) return is_executable(name, info) ? igi_strdup(name) : NULL;
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t length = strcspn(path, ":");
        char *candidate = length ? igi_format("%.*s/%s", (int)length, path, name) : NULL;
        if (candidate && is_executable(candidate, info)) return candidate;
        free(candidate);
        path += length + (path[length] == ':');
    }
    return NULL;
}

static char *locate_clang(struct stat *info) {
    static const char *const names[] = {"clang-19", "/usr/lib/llvm-19/bin/clang"};
    const char *chosen = getenv("INGOT_CLANG");
    if (chosen && *chosen) return search_path(chosen, info);
    char *found = NULL;
    for (size_t i = 0; !found && i < sizeof names / sizeof *names; i++) found = search_path(names[i], info);
    return found;
}

char *igi_msl_find_clang(void) {
    struct stat info;
    return locate_clang(&info);
}

static void find_clang(igi_msl_compiler *compiler) {
    struct stat info;
    char *found = locate_clang(&info);
    free(compiler->clang);
    compiler->clang = found;
    compiler->clang_identity = (igi_hash){0};
    if (!found) return;
    igi_hasher *hasher = igi_hasher_create();
    igi_hasher_add_string(hasher, found);
    igi_hasher_add_u64(hasher, (uint64_t)info.st_size);
    igi_hasher_add_u64(hasher, (uint64_t)info.st_mtime);
    compiler->clang_identity = igi_hasher_finish(hasher);
}

static ig_status missing_clang(ig_error *error) {
    const char *chosen = getenv("INGOT_CLANG");
    if (chosen && *chosen)
        return igi_error_set(error, IG_STATUS_COMPILER_MISSING, "INGOT_CLANG names '%s', which cannot be executed",
                             chosen);
    return igi_error_set(error, IG_STATUS_COMPILER_MISSING,
                         "clang-19 was not found; install it (Debian: apt-get install clang-19) or set INGOT_CLANG to "
                         "its path");
}

// ---- Headers on disk ----

static void hash_stdlib(igi_msl_compiler *compiler) {
    igi_hasher *hasher = igi_hasher_create();
    for (size_t i = 0; i < igi_stdlib_files_count; i++) {
        igi_hasher_add_string(hasher, igi_stdlib_files[i].name);
        igi_hasher_add(hasher, igi_stdlib_files[i].data, igi_stdlib_files[i].length);
    }
    for (size_t i = 0; i < BASE_FLAG_COUNT; i++) igi_hasher_add_string(hasher, base_flags[i]);
    compiler->stdlib_identity = igi_hasher_finish(hasher);
}

static bool write_headers(const char *directory) {
    bool written = true;
    for (size_t i = 0; i < igi_stdlib_files_count && written; i++) {
        const igi_embedded *file = &igi_stdlib_files[i];
        char *path = igi_path_join(directory, file->name);
        written = path && igi_file_write_atomic(path, file->data, file->length) == IG_STATUS_OK;
        free(path);
    }
    char *path = igi_path_join(directory, prelude);
    static const char text[] = "#include <metal_stdlib>\n";
    written = written && path && igi_file_write_atomic(path, text, sizeof text - 1) == IG_STATUS_OK;
    free(path);
    return written;
}

// The directory appears whole or not at all, whoever else is making it.
static char *cached_headers(const igi_msl_compiler *compiler) {
    char hex[33];
    igi_hash_hex(compiler->stdlib_identity, hex);
    char *final = igi_format("%s/stdlib-%s", compiler->cache_dir, hex);
    char *fresh = igi_format("%s/stdlib-new-XXXXXX", compiler->cache_dir);
    bool ready = final && igi_file_exists(final);
    if (!ready && final && fresh && igi_make_dirs(compiler->cache_dir) && mkdtemp(fresh)) {
        if (write_headers(fresh)) rename(fresh, final);
        igi_remove_tree(fresh);
        ready = igi_file_exists(final);
    }
    free(fresh);
    if (ready) return final;
    free(final);
    return NULL;
}

static char *temporary_headers(void) {
    char *directory = igi_make_temp_dir();
    if (directory && write_headers(directory)) return directory;
    if (directory) igi_remove_tree(directory);
    free(directory);
    return NULL;
}

static ig_status prepare(igi_msl_compiler *compiler, ig_error *error) {
    if (!compiler->clang) find_clang(compiler);
    if (!compiler->clang) return missing_clang(error);
    if (compiler->directory && igi_file_exists(compiler->directory)) return IG_STATUS_OK;
    free(compiler->directory);
    compiler->directory = compiler->cache_dir ? cached_headers(compiler) : NULL;
    if (compiler->directory) return IG_STATUS_OK;
    if (compiler->cache_dir)
        igi_log(IG_LOG_WARNING, "cache directory %s cannot be used; compiling without it", compiler->cache_dir);
    compiler->directory = temporary_headers();
    compiler->temporary = true;
    if (compiler->directory) return IG_STATUS_OK;
    return igi_error_set(error, IG_STATUS_IO, "cannot write the Metal headers below %s: is the disk full?",
                         getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
}

// ---- Precompiled header ----

static char *pch_path(const igi_msl_compiler *compiler, const igi_msl_request *request) {
    char hex[33];
    igi_hash_hex(compiler->clang_identity, hex);
    return igi_format("%s/%s-%u-%s.pch", compiler->directory, hex, request->language_version,
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

static uint64_t time_limit(const igi_msl_request *request) {
    return request->timeout_ns ? request->timeout_ns : default_timeout_ns;
}

static void build_pch(const igi_msl_compiler *compiler, const igi_msl_request *request, const char *path) {
    char *fresh = igi_format("%s.XXXXXX", path);
    int file = fresh ? mkstemp(fresh) : -1;
    if (file < 0) {
        free(fresh);
        return;
    }
    close(file);
    arguments list = {0};
    add(&list, compiler->clang);
    add_language(&list, compiler, request);
    add(&list, "-Xclang"), add(&list, "-fno-pch-timestamp");
    add(&list, "-x"), add(&list, "c++-header");
    add_owned(&list, igi_path_join(compiler->directory, prelude));
    add(&list, "-o"), add(&list, fresh);
    igi_process process = {.arguments = list.items, .timeout_ns = time_limit(request), .memory_limit = memory_limit};
    if (!list.failed) igi_process_run(&process);
    bool built = !list.failed && process.exit == IGI_EXIT_CODE && process.code == 0;
    if (!built || rename(fresh, path) != 0) {
        igi_log(IG_LOG_WARNING, "precompiled Metal headers could not be made: %s",
                process.errors.data ? process.errors.data : "clang did not run");
        unlink(fresh);
    } else {
        note_pch_hash(path);
    }
    igi_text_free(&process.output), igi_text_free(&process.errors);
    free_arguments(&list);
    free(fresh);
}

// Path of the precompiled header, made if missing; NULL when it cannot be had.
static char *find_pch(const igi_msl_compiler *compiler, const igi_msl_request *request) {
    char *path = pch_path(compiler, request);
    if (path && !is_sound_pch(path)) build_pch(compiler, request, path);
    if (path && igi_file_exists(path)) return path;
    free(path);
    return NULL;
}

// ---- Compiling ----

static void add_inputs(arguments *list, const igi_msl_request *request, const char *overlay) {
    for (size_t i = 0; i < request->define_count; i++) {
        const ig_define *define = &request->defines[i];
        add_owned(list, igi_format("-D%s=%s", define->name, define->value ? define->value : "1"));
    }
    for (size_t i = 0; i < request->sources.include_dir_count; i++) {
        add(list, "-I");
        add_owned(list, igi_path_absolute(request->sources.include_dirs[i]));
    }
    add(list, "-idirafter"), add(list, igi_own_includes);
    // Paths in the line tables are absolute: where the process happens to be is no part of the cache's key.
    // gdb finds nothing through the indices of DWARF 5 in code that is made at run time.
    if (request->line_tables)
        add(list, "-gdwarf-4"), add(list, "-gline-tables-only"), add(list, "-fdebug-compilation-dir=/");
    add(list, "-ivfsoverlay"), add(list, overlay);
    // Included, because the driver itself does not look into the overlay for its input.
    add(list, "-include"), add(list, request->sources.files[0].path);
    add(list, "-x"), add(list, "c++"), add(list, "/dev/null");
    if (request->syntax_of) {
        add(list, "-fsyntax-only"), add(list, "-Xclang"), add(list, "-ast-dump"), add(list, "-Xclang");
        add_owned(list, igi_format("-ast-dump-filter=%s", request->syntax_of));
    } else {
        add(list, "-c"), add(list, "-emit-llvm"), add(list, "-o"), add(list, "-");
    }
}

static void run_clang(const igi_msl_compiler *compiler, const igi_msl_request *request, const char *overlay,
                      const char *pch, igi_process *process) {
    arguments list = {0};
    add(&list, compiler->clang);
    add_language(&list, compiler, request);
    if (pch) {
        add(&list, "-include-pch"), add(&list, pch);
    } else {
        add(&list, "-include"), add_owned(&list, igi_path_join(compiler->directory, prelude));
    }
    add_inputs(&list, request, overlay);
    *process = (igi_process){.arguments = list.items,
                             .timeout_ns = time_limit(request),
                             .memory_limit = memory_limit,
                             .exit = IGI_EXIT_SYSTEM};
    if (!list.failed) igi_process_run(process);
    process->arguments = NULL;
    free_arguments(&list);
}

static bool crashed(const igi_process *process) {
    const char *text = process->errors.data;
    return process->exit == IGI_EXIT_SIGNAL ||
           (process->exit == IGI_EXIT_CODE && process->code && text && strstr(text, "frontend command failed"));
}

static bool blames_pch(const igi_process *process) {
    const char *text = process->exit == IGI_EXIT_CODE && process->code ? process->errors.data : NULL;
    return text && (strstr(text, "PCH file") || strstr(text, "AST file") || strstr(text, "precompiled header"));
}

static ig_status judge(const igi_process *process, igi_diagnostics *diagnostics, ig_error *error) {
    if (process->errors.failed || process->output.failed) return igi_error_no_memory(error);
    switch (process->exit) {
        case IGI_EXIT_NOT_FOUND: return missing_clang(error);
        case IGI_EXIT_TIMEOUT:
            return igi_error_set(error, IG_STATUS_COMPILER_TIMEOUT,
                                 "clang was stopped because it took longer than the time allowed; simplify the source "
                                 "or raise timeout_ns");
        case IGI_EXIT_SIGNAL:
            return igi_error_set(error, IG_STATUS_COMPILER_CRASHED, "clang ended with signal %d (%s)", process->code,
                                 strsignal(process->code));
        case IGI_EXIT_SYSTEM: return igi_error_set(error, IG_STATUS_SYSTEM, "cannot start clang");
        case IGI_EXIT_CODE: break;
    }
    if (crashed(process))
        return igi_error_set(error, IG_STATUS_COMPILER_CRASHED,
                             "clang crashed on this source; it may be a bug of clang: try to simplify the source");
    if (process->errors.data) igi_diagnostics_add_clang(diagnostics, process->errors.data);
    if (diagnostics->error_count) return IG_STATUS_COMPILE_FAILED;
    if (process->code)
        return igi_error_set(error, IG_STATUS_COMPILER_CRASHED, "clang failed with code %d: %.300s", process->code,
                             process->errors.data ? process->errors.data : "no message");
    return IG_STATUS_OK;
}

// A damaged precompiled header must cost time, not correctness: drop it and go without.
static void compile_in(const igi_msl_compiler *compiler, const igi_msl_request *request, const char *overlay,
                       igi_process *process) {
    char *pch = find_pch(compiler, request);
    run_clang(compiler, request, overlay, pch, process);
    if (pch && (blames_pch(process) || crashed(process))) {
        igi_log(IG_LOG_WARNING, "%s is damaged; it will be made again", pch);
        unlink(pch);
        igi_text_free(&process->output), igi_text_free(&process->errors);
        run_clang(compiler, request, overlay, NULL, process);
    }
    free(pch);
}

static ig_status compile_with_overlay(const igi_msl_compiler *compiler, const igi_msl_request *request,
                                      igi_diagnostics *diagnostics, char **bitcode, size_t *length, ig_error *error) {
    char *directory = igi_make_temp_dir(), *overlay = NULL;
    if (!directory)
        return igi_error_set(error, IG_STATUS_IO, "cannot make a temporary directory; set TMPDIR to a writable one");
    igi_process process = {0};
    ig_status status = igi_sources_write_overlay(&request->sources, directory, &overlay);
    if (status != IG_STATUS_OK) {
        igi_error_set(error, status, "cannot write the sources to %s for clang: %s", directory, ig_status_text(status));
    } else {
        compile_in(compiler, request, overlay, &process);
        status = judge(&process, diagnostics, error);
    }
    if (status == IG_STATUS_OK) {
        *length = process.output.length;
        *bitcode = igi_text_take(&process.output);
        if (!*bitcode) status = igi_error_no_memory(error);
    }
    igi_text_free(&process.output), igi_text_free(&process.errors);
    igi_remove_tree(directory);
    free(directory), free(overlay);
    return status;
}

ig_status igi_msl_compile(igi_msl_compiler *compiler, const igi_msl_request *request, igi_diagnostics *diagnostics,
                          char **bitcode, size_t *bitcode_length, ig_error *error) {
    pthread_mutex_lock(&compiler->lock);
    ig_status status = prepare(compiler, error);
    igi_msl_compiler snapshot = {.clang_identity = compiler->clang_identity};
    if (status == IG_STATUS_OK) {
        snapshot.directory = igi_strdup(compiler->directory);
        snapshot.clang = igi_strdup(compiler->clang);
        free(find_pch(compiler, request));
        if (!snapshot.directory || !snapshot.clang) status = igi_error_no_memory(error);
    }
    pthread_mutex_unlock(&compiler->lock);
    if (status == IG_STATUS_OK) {
        diagnostics->stdlib = snapshot.directory;
        igi_diagnostics_add_rewrite_errors(diagnostics);
        status = diagnostics->error_count
                     ? IG_STATUS_COMPILE_FAILED
                     : compile_with_overlay(&snapshot, request, diagnostics, bitcode, bitcode_length, error);
        diagnostics->stdlib = NULL;
    }
    free(snapshot.directory), free(snapshot.clang);
    return status;
}

igi_hash igi_msl_content_key(const igi_msl_compiler *compiler, const igi_msl_request *request) {
    igi_hasher *hasher = igi_hasher_create();
    igi_hasher_add(hasher, &compiler->stdlib_identity, sizeof compiler->stdlib_identity);
    igi_hasher_add_u64(hasher, request->language_version);
    igi_hasher_add_u64(hasher, request->math_mode);
    igi_hasher_add_u64(hasher, request->line_tables);
    for (size_t i = 0; i < request->define_count; i++) {
        igi_hasher_add_string(hasher, request->defines[i].name);
        igi_hasher_add_string(hasher, request->defines[i].value);
    }
    for (size_t i = 0; i < request->sources.include_dir_count; i++)
        igi_hasher_add_string(hasher, request->sources.include_dirs[i]);
    igi_sources_hash(&request->sources, hasher);
    return igi_hasher_finish(hasher);
}

igi_hash igi_msl_key(igi_msl_compiler *compiler, const igi_msl_request *request) {
    pthread_mutex_lock(&compiler->lock);
    if (!compiler->clang) find_clang(compiler);
    igi_hash clang = compiler->clang_identity, content = igi_msl_content_key(compiler, request);
    pthread_mutex_unlock(&compiler->lock);
    igi_hasher *hasher = igi_hasher_create();
    igi_hasher_add(hasher, &clang, sizeof clang);
    igi_hasher_add(hasher, &content, sizeof content);
    return igi_hasher_finish(hasher);
}

ig_status igi_msl_compiler_create(const char *cache_dir, igi_msl_compiler **compiler) {
    igi_msl_compiler *made = igi_calloc(1, sizeof *made);
    if (!made) return IG_STATUS_OUT_OF_MEMORY;
    made->cache_dir = igi_strdup(cache_dir);
    if (cache_dir && !made->cache_dir) {
        free(made);
        return IG_STATUS_OUT_OF_MEMORY;
    }
    pthread_mutex_init(&made->lock, NULL);
    hash_stdlib(made);
    *compiler = made;
    return IG_STATUS_OK;
}

void igi_msl_compiler_destroy(igi_msl_compiler *compiler) {
    if (!compiler) return;
    if (compiler->temporary && compiler->directory) igi_remove_tree(compiler->directory);
    free(compiler->directory), free(compiler->cache_dir), free(compiler->clang);
    pthread_mutex_destroy(&compiler->lock);
    free(compiler);
}
