// SPDX-License-Identifier: Apache-2.0
// Runs the kernels of a .metal file under checking and compares the findings with those that their comments announce.
//
// A case is a kernel after a line "// case NAME: OPTION...":
//   grid=X[,Y] group=X[,Y]   threads, and threads of a threadgroup (default 64 and 64)
//   bN=BYTES  pN=BYTES       length of buffer N, shared (the default, 256 bytes) or private
//   oN=BYTES                 offset at which it is bound
//   uN=NUMBER                a uint as the bytes of argument N
//   tN=BYTES                 threadgroup argument N
//   aN=M                     buffer N holds the address of buffer M
//   rN=1                     buffer N is released before the kernel runs
//   twice                    dispatched twice
//   only=CHECKS              default all
// A finding is expected at each line that ends in "// finds KIND", for a race at both lines; no others are.
#include <ingot/ingot.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BUFFERS = 8, MOST_MARKS = 16 };

typedef struct mark {
    uint32_t line;
    char kind[40];
    bool met;
} mark;

typedef struct buffer_option {
    bool present, private, bytes, released;
    uint64_t length, offset, number;
    int points_to;  // -1: nowhere
} buffer_option;

typedef struct check_case {
    char name[64];
    uint32_t first_line, last_line;
    ig_size grid, group;
    buffer_option buffers[MOST_BUFFERS], threadgroup[MOST_BUFFERS];
    uint32_t checks;
    int dispatches;
    mark marks[MOST_MARKS];
    size_t mark_count;
} check_case;

static void *must(void *memory) {
    if (memory) return memory;
    fputs("out of memory\n", stderr);
    exit(2);
}

static void stop(const char *what, const ig_error *error) {
    printf("%s: %s\n", what, error && error->message ? error->message : "failed");
    exit(1);
}

// ---- Reading ----

static ig_size read_size(const char *text) {
    ig_size size = {strtoull(text, NULL, 10), 1, 1};
    const char *comma = strchr(text, ',');
    if (comma) size.y = strtoull(comma + 1, NULL, 10);
    return size;
}

static void read_option(check_case *c, const char *word) {
    const char *equals = strchr(word, '=');
    const char *value = equals ? equals + 1 : "";
    if (strncmp(word, "grid=", 5) == 0) {
        c->grid = read_size(value);
    } else if (strncmp(word, "group=", 6) == 0) {
        c->group = read_size(value);
    } else if (strncmp(word, "only=", 5) == 0) {
        ig_error error = {0};
        if (ig_check_parse(value, &c->checks, &error) != IG_STATUS_OK) stop(c->name, &error);
    } else if (strcmp(word, "twice") == 0) {
        c->dispatches = 2;
    } else if (equals && strchr("bpoutar", word[0]) && word[1] >= '0' && word[1] < '0' + MOST_BUFFERS) {
        buffer_option *option = word[0] == 't' ? &c->threadgroup[word[1] - '0'] : &c->buffers[word[1] - '0'];
        uint64_t number = strtoull(value, NULL, 10);
        option->present = true;
        if (word[0] == 'o')
            option->offset = number;
        else if (word[0] == 'u')
            option->bytes = true, option->number = number;
        else if (word[0] == 'a')
            option->points_to = (int)number;
        else if (word[0] == 'r')
            option->released = true;
        else
            option->length = number, option->private = word[0] == 'p';
    } else {
        printf("%s: what is '%s'?\n", c->name, word);
        exit(2);
    }
}

static bool begin_case(check_case *c, const char *line, uint32_t number) {
    char text[512], *state = NULL;
    if (strncmp(line, "// case ", 8) != 0) return false;
    line += 8;
    snprintf(text, sizeof text, "%.*s", (int)strcspn(line, "\n"), line);
    *c = (check_case){.first_line = number, .grid = {64, 1, 1}, .group = {64, 1, 1}, .checks = IG_CHECK_ALL};
    c->dispatches = 1;
    for (int i = 0; i < MOST_BUFFERS; i++) c->buffers[i].points_to = -1;
    char *colon = strchr(text, ':');
    if (colon) *colon = 0;
    snprintf(c->name, sizeof c->name, "%.60s", text);
    for (char *word = colon ? strtok_r(colon + 1, " \r", &state) : NULL; word; word = strtok_r(NULL, " \r", &state))
        read_option(c, word);
    return true;
}

static void read_marks(check_case *c, const char *line, uint32_t number) {
    static const char sign[] = "// finds ";
    char text[256], *state = NULL;
    snprintf(text, sizeof text, "%.*s", (int)strcspn(line, "\n"), line);
    char *found = strstr(text, sign);
    if (!found) return;
    for (char *word = strtok_r(found + sizeof sign - 1, ", \r", &state); word; word = strtok_r(NULL, ", \r", &state)) {
        if (c->mark_count == MOST_MARKS) exit(2);
        mark *m = &c->marks[c->mark_count++];
        m->line = number;
        snprintf(m->kind, sizeof m->kind, "%s", word);
    }
}

static check_case *read_cases(const char *text, size_t *count) {
    check_case *cases = NULL;
    uint32_t number = 1;
    *count = 0;
    for (const char *line = text; *line; number++) {
        check_case next;
        if (begin_case(&next, line, number)) {
            cases = must(realloc(cases, (*count + 1) * sizeof *cases));
            cases[(*count)++] = next;
        } else if (*count) {
            read_marks(&cases[*count - 1], line, number);
        }
        if (*count) cases[*count - 1].last_line = number;
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    return cases;
}

// ---- Running ----

typedef struct runner {
    const char *path;
    ig_device *devices[IG_CHECK_ARITHMETIC * 2];  // by checks
    ig_library *libraries[IG_CHECK_ARITHMETIC * 2];
    ig_queue *queues[IG_CHECK_ARITHMETIC * 2];
} runner;

static void open_device(runner *r, uint32_t checks) {
    ig_error error = {0};
    if (r->devices[checks]) return;
    ig_device_desc desc = {.name = "cpu", .check = checks};
    ig_library_desc source = {.path = r->path};
    if (ig_device_create(&desc, &r->devices[checks], &error) != IG_STATUS_OK) stop("device", &error);
    if (ig_library_create(r->devices[checks], &source, &r->libraries[checks], &error) != IG_STATUS_OK) {
        printf("%s\n", error.log ? error.log : "");
        stop("library", &error);
    }
    if (ig_queue_create(r->devices[checks], &r->queues[checks]) != IG_STATUS_OK) stop("queue", NULL);
}

static ig_buffer *make_buffer(ig_device *device, const buffer_option *option, const char *name) {
    ig_buffer_desc desc = {.length = option->length ? option->length : 256,
                           .storage = option->private ? IG_STORAGE_PRIVATE : IG_STORAGE_SHARED,
                           .label = name};
    ig_buffer *buffer;
    if (ig_buffer_create(device, &desc, &buffer) != IG_STATUS_OK) stop("buffer", NULL);
    return buffer;
}

static void bind(const check_case *c, ig_commands *commands, ig_buffer **buffers, const ig_kernel_info *kernel) {
    for (size_t i = 0; i < kernel->argument_count; i++) {
        const ig_argument *argument = &kernel->arguments[i];
        const buffer_option *option = &c->buffers[argument->index % MOST_BUFFERS];
        uint32_t number = (uint32_t)option->number;
        if (argument->kind == IG_ARGUMENT_THREADGROUP)
            ig_commands_set_threadgroup_memory(commands, c->threadgroup[argument->index % MOST_BUFFERS].length,
                                               argument->index);
        else if (argument->kind == IG_ARGUMENT_BUFFER && option->bytes)
            ig_commands_set_bytes(commands, &number, sizeof number, argument->index);
        else if (argument->kind == IG_ARGUMENT_BUFFER)
            ig_commands_set_buffer(commands, buffers[argument->index % MOST_BUFFERS], option->offset, argument->index);
    }
}

static void make_buffers(const check_case *c, ig_device *device, ig_buffer **buffers) {
    for (int i = 0; i < MOST_BUFFERS; i++) {
        char name[16];
        snprintf(name, sizeof name, "buffer%d", i);
        buffers[i] = make_buffer(device, &c->buffers[i], name);
    }
    for (int i = 0; i < MOST_BUFFERS; i++) {
        int to = c->buffers[i].points_to;
        uint64_t address = to >= 0 && to < MOST_BUFFERS ? ig_buffer_device_address(buffers[to]) : 0;
        if (to >= 0) ig_buffer_write(buffers[i], 0, &address, sizeof address);
    }
    for (int i = 0; i < MOST_BUFFERS; i++) {
        if (!c->buffers[i].released) continue;
        ig_buffer_release(buffers[i]);
        buffers[i] = NULL;
    }
}

// ---- Judging ----

static bool meets(check_case *c, const ig_finding *finding, const ig_finding_side *side) {
    for (size_t i = 0; i < c->mark_count; i++) {
        if (c->marks[i].line != side->line || strcmp(c->marks[i].kind, finding->kind) != 0) continue;
        c->marks[i].met = true;
        return true;
    }
    return false;
}

static int judge(check_case *c, const ig_commands *commands) {
    const ig_finding *all;
    size_t count = ig_commands_get_findings(commands, &all);
    int wrong = 0;
    for (size_t i = 0; i < count; i++) {
        bool expected = true;
        for (size_t k = 0; k < all[i].side_count; k++) expected &= meets(c, &all[i], &all[i].sides[k]);
        if (expected) continue;
        wrong++;
        printf("%s: not expected: line %u column %u: %s: %s", c->name, all[i].sides[0].line, all[i].sides[0].column,
               all[i].kind, all[i].message);
        if (all[i].side_count > 1) printf(" (with line %u)", all[i].sides[1].line);
        printf("\n");
    }
    for (size_t i = 0; i < c->mark_count; i++) {
        if (c->marks[i].met) continue;
        wrong++;
        printf("%s: line %u: not found: %s\n", c->name, c->marks[i].line, c->marks[i].kind);
    }
    return wrong;
}

static int run_case(runner *r, check_case *c) {
    open_device(r, c->checks);
    ig_error error = {0};
    ig_pipeline *pipeline;
    ig_pipeline_desc desc = {.kernel = c->name};
    ig_device *device = r->devices[c->checks];
    if (ig_pipeline_create(r->libraries[c->checks], &desc, &pipeline, &error) != IG_STATUS_OK) stop(c->name, &error);
    ig_buffer *buffers[MOST_BUFFERS];
    make_buffers(c, device, buffers);
    ig_commands *commands;
    if (ig_commands_create(r->queues[c->checks], NULL, &commands) != IG_STATUS_OK) stop(c->name, NULL);
    ig_commands_set_pipeline(commands, pipeline);
    bind(c, commands, buffers, ig_pipeline_kernel(pipeline));
    for (int i = 0; i < c->dispatches; i++) ig_commands_dispatch_threads(commands, c->grid, c->group);
    ig_status status = ig_commands_commit(commands);
    if (status == IG_STATUS_OK) status = ig_commands_wait(commands, IG_FOREVER);
    int wrong = 0;
    if (status != IG_STATUS_OK && status != IG_STATUS_CHECK_FAILED) {
        ig_commands_get_error(commands, &error);
        printf("%s: %s\n", c->name, error.message);
        ig_error_clear(&error);
        wrong = 1;
    }
    wrong += judge(c, commands);
    ig_commands_release(commands);
    for (int i = 0; i < MOST_BUFFERS; i++) ig_buffer_release(buffers[i]);
    ig_pipeline_release(pipeline);
    return wrong;
}

static char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) stop(path, NULL);
    char *text = must(calloc(1, 1 << 20));
    if (fread(text, 1, (1 << 20) - 1, file) == 0) stop(path, NULL);
    fclose(file);
    return text;
}

// Findings of the memory check, which can run alone.
static bool is_of_memory(const char *kind) {
    static const char *const kinds[] = {"out-of-bounds", "null-pointer", "use-after-release", "misaligned",
                                        "write-to-const"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i], kind) == 0) return true;
    return false;
}

static void keep_memory_only(check_case *c) {
    size_t kept = 0;
    for (size_t i = 0; i < c->mark_count; i++)
        if (is_of_memory(c->marks[i].kind)) c->marks[kept++] = c->marks[i];
    c->mark_count = kept;
    c->checks = IG_CHECK_MEMORY;
}

// run-check FILE.metal [CASE]; run-check -m FILE.metal: the memory check alone, which runs on vectors of threads
int main(int argc, char **argv) {
    bool memory_only = argc > 1 && strcmp(argv[1], "-m") == 0;
    argc -= memory_only, argv += memory_only;
    if (argc < 2) return 2;
    char *text = read_file(argv[1]);
    size_t count, faulty = 0, right = 0;
    check_case *cases = read_cases(text, &count);
    runner r = {.path = argv[1]};
    for (size_t i = 0; i < count; i++) {
        if (argc > 2 && strcmp(argv[2], cases[i].name) != 0) continue;
        if (memory_only) keep_memory_only(&cases[i]);
        faulty += run_case(&r, &cases[i]) != 0;
        right += cases[i].mark_count == 0;
    }
    printf("%zu kernels, %zu without mistakes; %zu judged wrongly\n", count, right, faulty);
    for (size_t i = 0; i < sizeof r.devices / sizeof *r.devices; i++) {
        ig_queue_release(r.queues[i]);
        ig_library_release(r.libraries[i]);
        ig_device_release(r.devices[i]);
    }
    free(cases), free(text);
    return faulty != 0;
}
