// SPDX-License-Identifier: Apache-2.0
// Golden cases of the compiler: run-conformance [-v] [-d] [-t] [-n N] [-k PART-OF-NAME] FILE.expect|FILE.error|DIRECTORY...
//
// With -d command buffers have a deadline: kernels are compiled so that they can be stopped. With -t every case
// runs in both tiers, and all memory must be the same. With -n every Nth case runs. Prints a line for each failed case and ends with "N passed, N failed, N skipped". INGOT_* variables reach the
// device, so INGOT_SIMT_WIDTH=1 runs everything at that width. The disk cache is a new directory, or the one that
// INGOT_CACHE_DIR names: runs at other widths then find clang's results there.
#include "run-conformance.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/file.h"
#include "core/memory.h"

void report(session *s, const char *path, int line, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    printf("%s:%d: ", path, line);
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
    fflush(stdout);
    s->failed++;
}

bool begin_case(session *s, const char *path, int line, const char *name, const char *broken) {
    if (line <= s->after || (s->only && !strstr(name, s->only))) return false;
    if (s->every && s->seen++ % s->every != 0) return false;
    s->line = line;
    snprintf(s->broken, sizeof s->broken, "%s", broken ? broken : "");
    if (s->verbose) printf("%s:%d: %s\n", path, line, name), fflush(stdout);
    return true;
}

static bool ends_with(const char *text, const char *end) {
    size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

static int wanted(const struct dirent *entry) {
    return ends_with(entry->d_name, ".expect") || ends_with(entry->d_name, ".error");
}

static bool open_device(session *s) {
    ig_error error = {0};
    ig_device_desc desc = {.deadline_ns = s->deadline ? UINT64_C(60000000000) : 0};
    bool opened = ig_device_create(&desc, &s->device, &error) == IG_STATUS_OK &&
                  ig_queue_create(s->device, &s->queue) == IG_STATUS_OK;
    if (!opened) fprintf(stderr, "no device: %s\n", error.message ? error.message : "out of memory");
    ig_error_clear(&error);
    return opened;
}

// In the child: the cases of one file that have not run yet.
static int run_cases_of(session *s, const char *path) {
    if (!open_device(s)) return 3;
    if (ends_with(path, ".expect"))
        run_expect_file(s, path);
    else if (ends_with(path, ".error"))
        run_error_file(s, path);
    else
        report(s, path, 0, "is neither a .expect nor a .error file");
    ig_queue_release(s->queue);
    ig_device_release(s->device);
    return 0;
}

static void note_crash(session *s, const char *path, int status) {
    char how[40] = "ended early";
    if (WIFSIGNALED(status)) snprintf(how, sizeof how, "crashed with signal %d", WTERMSIG(status));
    s->after = s->line;
    if (!s->broken[0]) {
        report(s, path, s->line, "the case %s", how);
        return;
    }
    s->skipped++;
    printf("%s:%d: the case %s, known to be broken: %s\n", path, s->line, how, s->broken);
}

// A child process per file, and another one after a case has crashed it.
static void run_file(session *s, const char *path) {
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    s->after = 0;
    for (;;) {
        s->line = s->after;
        int status = 0;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            int code = run_cases_of(s, path);
            exit(code);
        }
        if (child < 0 || waitpid(child, &status, 0) < 0) report(s, path, 0, "no process: %s", strerror(errno));
        if (child < 0 || status == 0) break;
        bool moved = s->line > s->after;
        note_crash(s, path, status);
        if (!moved) break;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (s->verbose)
        printf("%s: %.2f s\n", path,
               (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) * 1e-9);
}

static void run_path(session *s, const char *path) {
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, wanted, alphasort);
    if (count < 0) {
        run_file(s, path);
        return;
    }
    for (int i = 0; i < count; i++) {
        char *inside = igi_path_join(path, entries[i]->d_name);
        if (inside) run_file(s, inside);
        free(inside), free(entries[i]);
    }
    free(entries);
}

int main(int count, char **arguments) {
    session *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int first = 1;
    if (s == MAP_FAILED) return 3;
    for (; first < count && arguments[first][0] == '-'; first++) {
        if (strcmp(arguments[first], "-v") == 0) s->verbose = true;
        if (strcmp(arguments[first], "-d") == 0) s->deadline = true;
        if (strcmp(arguments[first], "-t") == 0) s->tiers = true;
        if (strcmp(arguments[first], "-n") == 0 && first + 1 < count) s->every = (unsigned)atoi(arguments[++first]);
        if (strcmp(arguments[first], "-k") == 0 && first + 1 < count) s->only = arguments[++first];
    }
    if (first == count) {
        fprintf(stderr,
                "usage: run-conformance [-v] [-d] [-t] [-n N] [-k PART-OF-NAME] FILE.expect|FILE.error|DIRECTORY...\n");
        return 2;
    }
    if (s->tiers) unsetenv("INGOT_TIER");
    const char *shared = getenv("INGOT_CACHE_DIR");
    char *cache = shared ? strdup(shared) : igi_make_temp_dir();
    if (!cache || setenv("INGOT_CACHE_DIR", cache, 1) != 0) return 3;
    for (int i = first; i < count; i++) run_path(s, arguments[i]);
    if (!shared) igi_remove_tree(cache);
    free(cache);
    printf("%u passed, %u failed, %u skipped\n", s->passed, s->failed, s->skipped);
    int code = s->failed || !s->passed ? 1 : 0;
    munmap(s, sizeof *s);
    return code;
}
