// SPDX-License-Identifier: Apache-2.0
// Runs the kernels of a .expect file and checks the memory that they wrote.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "core/file.h"
#include "core/memory.h"
#include "run-conformance.h"

enum { MAX_MEMORIES = 40, MESSAGE = 400 };

typedef struct live_memory {
    const memory *spec;
    ig_buffer *buffer;  // NULL for bytes
    char *before;       // what it held at the start
    uint64_t length;
} live_memory;

// One dispatch of one case.
typedef struct attempt {
    session *session;
    const run_case *test;
    ig_pipeline *pipeline;
    ig_size group, grid;  // in threads
    live_memory memories[MAX_MEMORIES];
    size_t memory_count;
    expression_scope scope;
    uint64_t digest;        // of all memory after each run
    int line;               // of what failed
    char message[MESSAGE];  // why; "" if nothing failed
} attempt;

#define FAIL(a, at, ...) ((a)->line = (at), snprintf((a)->message, MESSAGE, __VA_ARGS__), false)

// ---- Memory ----

static live_memory *find_memory(attempt *a, const char *name) {
    for (size_t i = 0; i < a->memory_count; i++)
        if (strcmp(a->memories[i].spec->name, name) == 0) return &a->memories[i];
    return NULL;
}

static long double element_before(void *user, const char *name, long double index) {
    live_memory *m = find_memory(user, name);
    uint64_t size = m ? ig_type_size(m->spec->type) : 1;
    if (!m || !(index >= 0) || (uint64_t)index >= m->length / size) return (long double)NAN;
    return value_read(m->spec->type, m->before + (uint64_t)index * size);
}

static void place(expression_scope *scope, const uint64_t shape[3], uint64_t count, uint64_t i) {
    scope->slots[VARIABLE_I] = (long double)i;
    scope->slots[VARIABLE_N] = (long double)count;
    scope->slots[VARIABLE_X] = (long double)(i % shape[0]);
    scope->slots[VARIABLE_Y] = (long double)(i / shape[0] % shape[1]);
    scope->slots[VARIABLE_Z] = (long double)(i / shape[0] / shape[1]);
}

static uint64_t piece_bytes(attempt *a, const piece *p) {
    if (p->kind == PIECE_ADDRESS) return sizeof(uint64_t);
    if (p->kind == PIECE_PADDING) return (uint64_t)expression_value(p->value, &a->scope);
    return p->repeat * ig_type_size(p->type);
}

static uint64_t memory_bytes(attempt *a, const memory *m) {
    uint64_t pieces = 0;
    for (size_t i = 0; i < m->initial.piece_count; i++) pieces += piece_bytes(a, &m->initial.pieces[i]);
    if (m->records) return m->count * pieces;
    return m->bytes && pieces ? pieces : m->count * ig_type_size(m->type);
}

static long double piece_value(attempt *a, const piece *p) {
    return p->value ? expression_value(p->value, &a->scope) : p->number;
}

static void write_piece(attempt *a, const piece *p, char **at) {
    if (p->kind == PIECE_ADDRESS) {
        live_memory *target = find_memory(a, p->buffer);
        uint64_t address = target && target->buffer ? ig_buffer_device_address(target->buffer) : 0;
        address += (uint64_t)expression_value(p->value, &a->scope);
        memcpy(*at, &address, sizeof address);
    }
    for (uint64_t k = 0; p->kind == PIECE_VALUE && k < p->repeat; k++)
        value_write(p->type, piece_value(a, p), *at + k * ig_type_size(p->type));
    *at += piece_bytes(a, p);
}

static void write_contents(attempt *a, live_memory *live) {
    const memory *m = live->spec;
    char *at = live->before;
    if (m->initial.formula) {
        for (uint64_t i = 0; i < m->count; i++, at += ig_type_size(m->type)) {
            place(&a->scope, m->shape, m->count, i);
            value_write(m->type, expression_value(m->initial.formula, &a->scope), at);
        }
        return;
    }
    for (uint64_t r = 0; r < (m->records ? m->count : 1); r++) {
        place(&a->scope, m->shape, m->count, r);
        for (size_t i = 0; i < m->initial.piece_count; i++) write_piece(a, &m->initial.pieces[i], &at);
    }
}

// All buffers first, because contents may hold their addresses.
static bool make_memories(attempt *a) {
    for (const memory *m = a->test->memories; m; m = m->next) {
        if (a->memory_count == MAX_MEMORIES) return FAIL(a, m->line, "too many arguments");
        live_memory *live = &a->memories[a->memory_count++];
        *live = (live_memory){.spec = m, .length = memory_bytes(a, m)};
        uint64_t given = 0;
        for (size_t i = 0; i < m->initial.piece_count; i++) given += piece_bytes(a, &m->initial.pieces[i]);
        if (!m->records && given > live->length) return FAIL(a, m->line, "more values than elements");
        live->before = calloc(1, live->length ? live->length : 1);
        if (m->bytes && m->bound) continue;
        ig_buffer_desc desc = {.length = live->length,
                               .storage = m->storage == IG_STORAGE_PRIVATE ? IG_STORAGE_SHARED : m->storage};
        ig_status status = ig_buffer_create(a->session->device, &desc, &live->buffer);
        if (status != IG_STATUS_OK) return FAIL(a, m->line, "ig_buffer_create: %s", ig_status_name(status));
    }
    for (size_t i = 0; i < a->memory_count; i++) {
        live_memory *live = &a->memories[i];
        write_contents(a, live);
        if (!live->buffer) continue;
        ig_buffer_write(live->buffer, 0, live->before, live->length);
        if (live->spec->storage == IG_STORAGE_MANAGED) ig_buffer_did_modify(live->buffer, 0, live->length);
        if (live->spec->storage != IG_STORAGE_PRIVATE) continue;
        ig_buffer_release(live->buffer);
        ig_buffer_desc desc = {.length = live->length, .storage = IG_STORAGE_PRIVATE, .bytes = live->before};
        live->buffer = NULL;
        if (ig_buffer_create(a->session->device, &desc, &live->buffer) != IG_STATUS_OK)
            return FAIL(a, live->spec->line, "no private buffer");
    }
    return true;
}

static void free_memories(attempt *a) {
    for (size_t i = 0; i < a->memory_count; i++) {
        ig_buffer_release(a->memories[i].buffer);
        free(a->memories[i].before);
    }
    a->memory_count = 0;
}

// ---- Running ----

static ig_status dispatch(attempt *a, ig_commands *commands, ig_buffer *counts) {
    const run_case *test = a->test;
    switch (test->dispatch) {
        case DISPATCH_THREADS: return ig_commands_dispatch_threads(commands, test->grid, a->group);
        case DISPATCH_GROUPS: return ig_commands_dispatch_threadgroups(commands, test->grid, a->group);
        case DISPATCH_INDIRECT: return ig_commands_dispatch_indirect(commands, counts, 0, a->group);
    }
    return IG_STATUS_INTERNAL;
}

static void bind_functions(attempt *a, ig_commands *commands, const function_table *spec) {
    ig_function_table *table = NULL;
    ig_function_table_create(a->pipeline, spec->count, &table);
    for (uint32_t i = 0; i < spec->count; i++) ig_function_table_set(table, i, spec->functions[i]);
    ig_commands_set_function_table(commands, table, spec->index);
    ig_function_table_release(table);
}

static void encode(attempt *a, ig_commands *commands, ig_buffer *counts) {
    ig_commands_set_pipeline(commands, a->pipeline);
    for (size_t i = 0; i < a->memory_count; i++) {
        const live_memory *live = &a->memories[i];
        if (!live->spec->bound) continue;
        if (live->buffer)
            ig_commands_set_buffer(commands, live->buffer, live->spec->offset, live->spec->index);
        else
            ig_commands_set_bytes(commands, live->before, live->length, live->spec->index);
    }
    for (const threadgroup_memory *t = a->test->threadgroup; t; t = t->next)
        ig_commands_set_threadgroup_memory(commands, t->length, t->index);
    for (const function_table *t = a->test->tables; t; t = t->next) bind_functions(a, commands, t);
    for (uint32_t i = 0; i < a->test->repeat; i++) dispatch(a, commands, counts);
}

static ig_status execute(attempt *a, ig_error *error) {
    ig_commands *commands = NULL;
    ig_buffer *counts = NULL;
    ig_status status = ig_commands_create(a->session->queue, NULL, &commands);
    if (status != IG_STATUS_OK) return status;
    if (a->test->dispatch == DISPATCH_INDIRECT) {
        uint32_t groups[3] = {(uint32_t)a->test->grid.x, (uint32_t)a->test->grid.y, (uint32_t)a->test->grid.z};
        ig_buffer_create(a->session->device, &(ig_buffer_desc){.length = sizeof groups, .bytes = groups}, &counts);
    }
    encode(a, commands, counts);
    status = ig_commands_commit(commands);
    if (status == IG_STATUS_OK) status = ig_commands_wait(commands, UINT64_C(60000000000));
    if (status != IG_STATUS_OK) ig_commands_get_error(commands, error);
    ig_commands_release(commands);
    ig_buffer_release(counts);
    return status;
}

// ---- Comparing ----

// The current contents of the buffer; private ones through a copy.
static bool read_back(attempt *a, const live_memory *live, char *bytes) {
    ig_buffer *source = live->buffer, *copy = NULL;
    ig_commands *commands = NULL;
    if (live->spec->storage != IG_STORAGE_PRIVATE)
        return ig_buffer_read(source, 0, bytes, live->length) == IG_STATUS_OK;
    bool done =
        ig_buffer_create(a->session->device, &(ig_buffer_desc){.length = live->length}, &copy) == IG_STATUS_OK &&
        ig_commands_create(a->session->queue, NULL, &commands) == IG_STATUS_OK &&
        ig_commands_copy(commands, source, 0, copy, 0, live->length) == IG_STATUS_OK &&
        ig_commands_commit(commands) == IG_STATUS_OK &&
        ig_commands_wait(commands, UINT64_C(10000000000)) == IG_STATUS_OK &&
        ig_buffer_read(copy, 0, bytes, live->length) == IG_STATUS_OK;
    ig_commands_release(commands);
    ig_buffer_release(copy);
    return done;
}

static int by_value(const void *a, const void *b) {
    long double x = *(const long double *)a, y = *(const long double *)b;
    return (x > y) - (x < y);
}

static void show(ig_type type, long double value, char text[64]) {
    if (value_is_float(type))
        snprintf(text, 64, "%.9Lg", value);
    else
        snprintf(text, 64, "%.0Lf", value);
}

// Fills wanted[0..count) or reports why that is impossible.
static bool fill_wanted(attempt *a, const expectation *e, const live_memory *live, ig_type type, long double *wanted,
                        uint64_t count) {
    if (e->wanted.formula) {
        uint64_t flat[3] = {count, 1, 1};
        bool whole = e->start == 0 && e->every == 1 && live->spec->count == count && type == live->spec->type;
        for (uint64_t i = 0; i < count; i++) {
            place(&a->scope, whole ? live->spec->shape : flat, count, i);
            wanted[i] = expression_value(e->wanted.formula, &a->scope);
        }
        return true;
    }
    uint64_t filled = 0;
    for (size_t p = 0; p < e->wanted.piece_count; p++) {
        for (uint64_t k = 0; k < e->wanted.pieces[p].repeat; k++, filled++) {
            if (filled < count) wanted[filled] = piece_value(a, &e->wanted.pieces[p]);
        }
    }
    if (filled == count) return true;
    return FAIL(a, e->line, "argument %s has %" PRIu64 " elements, but %" PRIu64 " values are expected", e->name, count,
                filled);
}

static bool compare(attempt *a, const expectation *e, ig_type type, long double *got, long double *wanted,
                    uint64_t count) {
    if (e->unordered) {
        qsort(got, count, sizeof *got, by_value);
        qsort(wanted, count, sizeof *wanted, by_value);
    }
    uint64_t first = count, wrong = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (value_matches(type, got[i], wanted[i], e->allowed)) continue;
        if (!wrong++) first = i;
    }
    if (!wrong) return true;
    char is[64], should[64];
    show(type, got[first], is);
    show(type, wanted[first], should);
    return FAIL(a, e->line, "argument %s element %" PRIu64 " is %s, expected %s (%" PRIu64 " of %" PRIu64 " differ)",
                e->name, e->start + first * e->every, is, should, wrong, count);
}

static bool check(attempt *a, const expectation *e) {
    live_memory *live = find_memory(a, e->name);
    if (!live || !live->buffer) return FAIL(a, e->line, "there is no buffer '%s'", e->name);
    ig_type type = e->has_type ? e->type : live->spec->type;
    uint64_t size = ig_type_size(type), elements = live->length / size;
    uint64_t count = e->start < elements ? (elements - e->start + e->every - 1) / e->every : 0;
    if (e->count) count = e->count <= count ? e->count : 0;
    if (!count) return FAIL(a, e->line, "argument %s has no such elements", e->name);
    char *bytes = malloc(live->length);
    long double *got = calloc(count, sizeof *got), *wanted = calloc(count, sizeof *wanted);
    bool good = read_back(a, live, bytes) ? true : FAIL(a, e->line, "argument %s cannot be read", e->name);
    for (uint64_t i = 0; good && i < count; i++) got[i] = value_read(type, bytes + (e->start + i * e->every) * size);
    good = good && fill_wanted(a, e, live, type, wanted, count) && compare(a, e, type, got, wanted, count);
    free(bytes), free(got), free(wanted);
    return good;
}

// ---- Cases ----

static ig_size threads_of(const run_case *test, ig_size group) {
    if (test->dispatch == DISPATCH_THREADS) return test->grid;
    return (ig_size){test->grid.x * group.x, test->grid.y * group.y, test->grid.z * group.z};
}

static bool expected_failure(attempt *a, ig_status status, const ig_error *error) {
    const run_case *test = a->test;
    const char *name = ig_status_name(status) + strlen("IG_STATUS_"), *text = error->message ? error->message : "";
    if (test->fails && strcmp(name, test->fails) == 0 && strstr(text, test->fails_text)) return true;
    if (test->fails)
        return FAIL(a, test->line, "fails with %s '%s', expected %s '%s'", name, text, test->fails, test->fails_text);
    return FAIL(a, test->line, "%s: %s", name, text);
}

static void add_to_digest(attempt *a) {
    for (size_t i = 0; i < a->memory_count; i++) {
        if (!a->memories[i].buffer) continue;
        const unsigned char *bytes = ig_buffer_contents(a->memories[i].buffer);
        for (uint64_t k = 0; bytes && k < a->memories[i].length; k++)
            a->digest = (a->digest ^ bytes[k]) * UINT64_C(1099511628211);
    }
}

static bool run_shape(attempt *a, ig_size group) {
    ig_error error = {0};
    a->group = group;
    a->message[0] = 0;
    ig_size real = group.x ? group : ig_pipeline_threadgroup_size(a->pipeline, a->test->grid);
    a->grid = threads_of(a->test, real);
    const uint64_t known[] = {real.x, real.y, real.z, a->grid.x, a->grid.y, a->grid.z};
    for (int i = 0; i < 6; i++) a->scope.slots[VARIABLE_GX + i] = (long double)known[i];
    bool good = make_memories(a);
    ig_status status = good ? execute(a, &error) : IG_STATUS_OK;
    if (good && status != IG_STATUS_OK)
        good = expected_failure(a, status, &error);
    else if (good && a->test->fails)
        good = FAIL(a, a->test->line, "succeeds, expected %s", a->test->fails);
    for (const expectation *e = a->test->expectations; good && status == IG_STATUS_OK && e; e = e->next)
        good = check(a, e);
    add_to_digest(a);
    free_memories(a);
    ig_error_clear(&error);
    return good;
}

static bool run_shapes(attempt *a) {
    static const ig_size lines[] = {{1, 1, 1},  {7, 1, 1},  {31, 1, 1},  {32, 1, 1},
                                    {33, 1, 1}, {64, 1, 1}, {100, 1, 1}, {256, 1, 1}};
    static const ig_size planes[] = {{1, 1, 1}, {7, 3, 1},  {32, 2, 1},  {5, 8, 1},
                                     {8, 8, 1}, {1, 64, 1}, {16, 16, 1}, {64, 1, 1}};
    static const ig_size boxes[] = {{1, 1, 1}, {2, 3, 2}, {1, 1, 5}, {8, 1, 4},
                                    {5, 7, 3}, {7, 5, 3}, {1, 4, 4}, {32, 2, 2}};
    enum { SHAPES = 8 };
    const run_case *test = a->test;
    if (!run_shape(a, test->group)) return false;
    if (!test->any_group) return true;
    const ig_size *shapes = test->grid.z > 1 ? boxes : test->grid.y > 1 ? planes : lines;
    for (size_t i = 0; i < SHAPES; i++)
        if (!run_shape(a, shapes[i])) return false;
    return true;
}

static bool run_case_in_tier(session *s, ig_library *library, const run_case *test, uint32_t tier, attempt *a) {
    *a = (attempt){.session = s, .test = test, .scope.element = element_before};
    a->scope.user = a;
    ig_error error = {0};
    ig_pipeline_desc desc = {.kernel = test->kernel,
                             .constants = test->constants,
                             .constant_count = test->constant_count,
                             .linked_functions = test->linked,
                             .linked_function_count = test->linked_count,
                             .tier = tier};
    ig_status status = ig_pipeline_create(library, &desc, &a->pipeline, &error);
    bool good = status == IG_STATUS_OK ? run_shapes(a) : expected_failure(a, status, &error);
    if (a->pipeline) ig_pipeline_release(a->pipeline);
    ig_error_clear(&error);
    return good;
}

static bool run_case_once(session *s, ig_library *library, const run_case *test, attempt *a) {
    bool good = run_case_in_tier(s, library, test, 2, a);
    if (!good || !s->tiers) return good;
    uint64_t digest = a->digest;
    if (!run_case_in_tier(s, library, test, 1, a)) return false;
    return a->digest == digest || FAIL(a, test->line, "the tiers differ");
}

// A case that is known to be broken may work at widths other than the compiler's own choice.
static bool at_chosen_width(void) {
    const char *width = getenv("INGOT_SIMT_WIDTH");
    return width && atoi(width) > 0;
}

static void judge(session *s, const char *path, const attempt *a, bool good) {
    const run_case *test = a->test;
    if (!good && test->broken) {
        s->skipped++;
        printf("%s:%d: kernel %s is known to be broken: %s\n", path, test->line, test->kernel, test->broken);
    } else if (good && test->broken && !at_chosen_width()) {
        report(s, path, test->line, "kernel %s works, but is said to be broken", test->kernel);
    } else if (!good) {
        char shape[80] = "";
        if (a->group.x)
            snprintf(shape, sizeof shape, " (group %d,%d,%d)", (int)a->group.x, (int)a->group.y, (int)a->group.z);
        report(s, path, a->line, "kernel %s%s: %s", test->kernel, shape, a->message);
    } else {
        s->passed++;
    }
}

static ig_library *make_library(session *s, const char *source, const compilation *c, ig_error *error) {
    char *directory = igi_path_dirname(source);
    char *include_dir = c->include_dir ? igi_path_join(directory, c->include_dir) : NULL;
    const char *include_dirs[] = {include_dir};
    ig_library_desc desc = {.path = source,
                            .math_mode = c->math,
                            .language_version = c->language_version,
                            .defines = c->defines,
                            .define_count = c->define_count,
                            .include_dirs = include_dirs,
                            .include_dir_count = include_dir ? 1 : 0};
    ig_library *library = NULL;
    ig_library_create(s->device, &desc, &library, error);
    free(include_dir), free(directory);
    return library;
}

static void say_why(const char *path, int line, const ig_error *error) {
    const char *log = error->log ? error->log : error->message ? error->message : "no message";
    printf("%s:%d: the library does not compile, nor do its cases run:\n%.2000s%s\n", path, line, log,
           strlen(log) > 2000 ? "..." : "");
}

static void run_all(session *s, const char *path, const char *source, const case_file *file) {
    const compilation *compiled = NULL;
    ig_library *library = NULL;
    ig_error error = {0};
    ig_device_properties device;
    ig_device_get_properties(s->device, &device);
    bool can_run = !file->software_only || strcmp(device.backend, "cpu") == 0;
    for (const run_case *test = file->cases; test; test = test->next) {
        if (!begin_case(s, path, test->line, test->kernel, test->broken)) continue;
        if (!can_run) {
            s->skipped++;
            continue;
        }
        if (compiled != test->compilation) {
            ig_library_release(library);
            ig_error_clear(&error);
            library = make_library(s, source, test->compilation, &error);
            compiled = test->compilation;
            if (!library && !test->broken) say_why(path, test->line, &error);
        }
        if (!library) {
            judge(s, path, &(attempt){.test = test, .line = test->line, .message = "the library does not compile"},
                  false);
            continue;
        }
        attempt a;
        bool good = run_case_once(s, library, test, &a);
        judge(s, path, &a, good);
    }
    ig_library_release(library);
    ig_error_clear(&error);
}

void run_expect_file(session *s, const char *path) {
    char *text = NULL, *numbers = NULL;
    size_t length = 0;
    case_file file;
    int stem = (int)(strlen(path) - strlen(".expect"));
    char *source = igi_format("%.*s.metal", stem, path), *numbers_path = igi_format("%.*s.values", stem, path);
    igi_file_read(numbers_path, &numbers, &length, NULL);
    if (igi_file_read(path, &text, &length, NULL) != IG_STATUS_OK) {
        report(s, path, 0, "cannot be read");
    } else {
        if (case_file_parse(text, numbers ? numbers : "", &file))
            run_all(s, path, source, &file);
        else
            report(s, path, atoi(file.error), "%s", strchr(file.error, ' ') + 1);
        case_file_free(&file);
    }
    free(text), free(numbers), free(source), free(numbers_path);
}
