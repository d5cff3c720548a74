// SPDX-License-Identifier: Apache-2.0
// Line tables, remarks, and the information for gdb and perf.
#include <ctype.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/objects.h"
#include "helpers.h"

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "uint pick(device const uint *from, uint i) {\n"
    "    return from[i];\n"
    "}\n"
    "kernel void chase(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
    "    a[i] = pick(a, a[i]) + popcount(i);\n"
    "}\n"
    "kernel void turn(device uint *a [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {\n"
    "    threadgroup uint t[64];\n"
    "    t[i] = a[i];\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    a[i] = t[63 - i];\n"
    "}\n";

static ig_pipeline *make(ig_device *on, const char *kernel, bool line_tables) {
    ig_library *library =
        compile_on(on, &(ig_library_desc){.source = source, .name = "chase.metal", .line_tables = line_tables});
    ig_pipeline *pipeline = pipeline_of(library, kernel);
    ig_library_release(library);
    return pipeline;
}

// ---- Remarks ----

static const ig_remark *find(const ig_remark *remarks, size_t count, const char *kind) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(remarks[i].kind, kind) == 0) return &remarks[i];
    fail_msg("there is no remark of kind %s", kind);
    return NULL;
}

static void remarks_point_at_the_source(void **state) {
    (void)state;
    ig_pipeline *pipeline = make(device, "chase", true);
    ig_remark *remarks = NULL;
    size_t count = 0;
    assert_ok(ig_pipeline_get_remarks(pipeline, &remarks, &count));
    assert_true(count >= 2);
    assert_string_equal(remarks[0].kind, "width");
    assert_string_equal(remarks[0].file, "chase.metal");
    assert_int_equal(remarks[0].line, 6);
    assert_int_equal(remarks[0].column, 13);
    const ig_remark *gather = find(remarks, count, "gather");
    assert_int_equal(gather->line, 4);
    assert_int_equal(gather->column, 12);
    assert_string_equal(gather->text, "the index is loaded from memory (line 7)");
    free(remarks);
    ig_pipeline_release(pipeline);
}

static void remarks_without_line_tables_have_no_place(void **state) {
    (void)state;
    ig_pipeline *pipeline = make(device, "chase", false);
    ig_remark *remarks = NULL;
    size_t count = 0;
    assert_ok(ig_pipeline_get_remarks(pipeline, &remarks, &count));
    const ig_remark *gather = find(remarks, count, "gather");
    assert_string_equal(gather->file, "");
    assert_int_equal(gather->line, 0);
    assert_string_equal(gather->text, "the index is loaded from memory");
    free(remarks);
    assert_status(ig_pipeline_get_remarks(pipeline, NULL, &count), IG_STATUS_INVALID_ARGUMENT);
    ig_pipeline_release(pipeline);
}

static void remarks_survive_any_shortage_of_memory(void **state) {
    (void)state;
    ig_pipeline *pipeline = make(device, "chase", true);
    ig_status status = IG_STATUS_OUT_OF_MEMORY;
    for (uint64_t n = 1; status == IG_STATUS_OUT_OF_MEMORY; n++) {
        ig_remark *remarks = NULL;
        size_t count = 0;
        igi_alloc_fail_at(n);
        status = ig_pipeline_get_remarks(pipeline, &remarks, &count);
        igi_alloc_fail_at(0);
        assert_true((status == IG_STATUS_OK) == (remarks != NULL));
        if (remarks) assert_int_equal(find(remarks, count, "gather")->line, 4);
        free(remarks);
    }
    assert_ok(status);
    ig_pipeline_release(pipeline);
}

// ---- Line tables ----

static char *emit(const char *kernel, bool line_tables, const char *stage) {
    ig_pipeline *pipeline = make(device, kernel, line_tables);
    char *text = NULL;
    assert_ok(ig_pipeline_emit(pipeline, stage, &text));
    ig_pipeline_release(pipeline);
    return text;
}

static void line_tables_reach_the_code_only_when_asked_for(void **state) {
    (void)state;
    char *with = emit("chase", true, "simt"), *without = emit("chase", false, "simt");
    assert_contains(with, "@chase.run(");
    assert_contains(with, "DILocation(line: 4, column: 12");
    assert_contains(with, "inlinedAt");
    assert_null(strstr(with, "metal_integer"));  // popcount belongs to the line that calls it
    assert_contains(without, "@ig.run(");
    assert_null(strstr(without, "!dbg"));
    free(with), free(without);
}

// The instructions of an assembly text, without directives, labels and comments, and without calls, because names
// differ.
static char *instructions_of(const char *text) {
    char *kept = malloc(strlen(text) + 1), *end = kept;
    while (*text) {
        size_t length = strcspn(text, "\n"), code = strcspn(text, "#\n");
        while (code && isspace((unsigned char)text[code - 1])) code--;
        if (code > 1 && text[0] == '\t' && text[1] != '.' && text[1] != '#' && strncmp(text, "\tcall", 5) != 0) {
            memcpy(end, text, code);
            end += code;
            *end++ = '\n';
        }
        text += length + (text[length] == '\n');
    }
    *end = 0;
    return kept;
}

// Labels are numbered consecutively, and those of line tables count.
static void forget_labels(char *text) {
    char *to = text;
    for (const char *from = text; *from; *to++ = *from++) {
        if (from[0] != '.' || from[1] != 'L') continue;
        while (isalnum((unsigned char)*from) || *from == '.' || *from == '_') from++;
        *to++ = '@';
        if (!*from) break;
    }
    *to = 0;
}

static void line_tables_change_no_instruction(void **state) {
    (void)state;
    static const char *const kernels[] = {"chase", "turn"};
    for (size_t i = 0; i < LENGTH(kernels); i++) {
        char *with = emit(kernels[i], true, "asm"), *without = emit(kernels[i], false, "asm");
        char *a = instructions_of(with), *b = instructions_of(without);
        forget_labels(a), forget_labels(b);
        assert_true(strlen(b) > 100);
        assert_string_equal(a, b);
        free(with), free(without), free(a), free(b);
    }
}

// ---- gdb ----

// The interface gdb documents ("JIT Compilation Interface"); LLVM keeps the list.
typedef struct jit_entry {
    struct jit_entry *next, *previous;
    const char *object;
    uint64_t length;
} jit_entry;
typedef struct jit_descriptor {
    uint32_t version, action;
    jit_entry *relevant, *first;
} jit_descriptor;
extern jit_descriptor __jit_debug_descriptor;

static size_t entries_with(const char *part) {
    size_t found = 0;
    for (const jit_entry *entry = __jit_debug_descriptor.first; entry; entry = entry->next)
        found += memmem(entry->object, entry->length, part, strlen(part)) != NULL;
    return found;
}

static void run_words(ig_device *on, ig_pipeline *pipeline, uint32_t words[64]) {
    ig_buffer *buffer = make_buffer_on(on, 256);
    memcpy(ig_buffer_contents(buffer), words, 256);
    do_run(&(run){
        .on = on, .pipeline = pipeline, .buffers = &buffer, .buffer_count = 1, .grid = line(64), .group = line(64)});
    memcpy(words, ig_buffer_contents(buffer), 256);
    ig_buffer_release(buffer);
}

static void check_kernels_on(ig_device *on) {
    ig_pipeline *chase = make(on, "chase", false), *turn = make(on, "turn", false);
    uint32_t words[64];
    for (uint32_t i = 0; i < 64; i++) words[i] = 63 - i;
    run_words(on, turn, words);
    for (uint32_t i = 0; i < 64; i++) assert_int_equal(words[i], i);
    run_words(on, chase, words);
    for (uint32_t i = 0; i < 64; i++) assert_int_equal(words[i], i + (uint32_t)__builtin_popcount(i));
    ig_pipeline_release(chase), ig_pipeline_release(turn);
}

// The thread that ran commands lets go of them, and of their device, a moment after those who wait have gone on.
static void close_device(ig_device *used) {
    while (atomic_load(&used->references.count) > 1) sched_yield();
    ig_device_release(used);
}

static void gdb_is_told_of_kernels_while_they_live(void **state) {
    (void)state;
    // The same cache holds code without line tables, which gdb must not get.
    ig_pipeline_release(make(device, "chase", false));
    ig_device *debugged = open_device(&(ig_device_desc){.jit_debug = "gdb"});
    assert_int_equal(entries_with("chase.run"), 0);
    ig_pipeline *pipeline = make(debugged, "chase", false);
    assert_int_equal(entries_with("chase.run"), 1);
    assert_int_equal(entries_with(".debug_line"), 1);
    ig_pipeline_release(pipeline);
    assert_int_equal(entries_with("chase.run"), 0);
    check_kernels_on(debugged);
    close_device(debugged);
    assert_int_equal(entries_with(".debug_line"), 0);
}

static void one_thread_at_a_time_can_be_debugged_too(void **state) {
    (void)state;
    setenv("INGOT_SIMT_WIDTH", "1", 1);
    ig_device *debugged = open_device(&(ig_device_desc){.jit_debug = "gdb"});
    check_kernels_on(debugged);
    ig_pipeline *pipeline = make(debugged, "turn", false);
    assert_int_equal(entries_with("turn.start"), 1);
    assert_int_equal(entries_with("turn.resume"), 1);
    ig_pipeline_release(pipeline);
    close_device(debugged);
    unsetenv("INGOT_SIMT_WIDTH");
}

static void kernels_with_variables_compute_the_same(void **state) {
    (void)state;
    ig_device *debugged = open_device(&(ig_device_desc){.jit_debug = "variables"});
    check_kernels_on(debugged);
    ig_pipeline *pipeline = make(debugged, "chase", false);
    ig_pipeline_properties properties;
    ig_pipeline_get_properties(pipeline, &properties);
    assert_int_equal(properties.simt_width, 1);
    assert_int_equal(entries_with("from"), 1);  // a parameter of a function
    ig_pipeline_release(pipeline);
    close_device(debugged);
}

static void the_environment_names_who_is_told(void **state) {
    (void)state;
    setenv("INGOT_JIT_DEBUG", "gdb", 1);
    ig_device *debugged = open_device(&(ig_device_desc){0});
    ig_device *plain = open_device(&(ig_device_desc){.jit_debug = ""});
    ig_pipeline *pipeline = make(debugged, "chase", false), *other = make(plain, "chase", false);
    assert_int_equal(entries_with("chase.run"), 1);
    ig_pipeline_release(pipeline), ig_pipeline_release(other);
    close_device(debugged), close_device(plain);
    unsetenv("INGOT_JIT_DEBUG");
}

static void nobody_else_can_be_told(void **state) {
    (void)state;
    static const char *const names[] = {"gbd", "gdb,", "perf ", "gdb,vtune"};
    static const bool fine[] = {false, true, false, false};
    for (size_t i = 0; i < LENGTH(names); i++) {
        ig_device *made = NULL;
        ig_error error = {0};
        ig_status status = ig_device_create(&(ig_device_desc){.jit_debug = names[i]}, &made, &error);
        assert_status(status, fine[i] ? IG_STATUS_OK : IG_STATUS_INVALID_ARGUMENT);
        if (!fine[i]) assert_contains(error.message, "gdb and perf");
        ig_error_clear(&error);
        ig_device_release(made);
    }
}

// ---- perf ----

static bool dump_has(const char *directory, const char *part) {
    char command[512];
    snprintf(command, sizeof command, "grep -qr '%s' '%s'", part, directory);
    return system(command) == 0;
}

static void perf_is_told_of_kernels_and_lines(void **state) {
    (void)state;
    ig_device *profiled = NULL;
    ig_error error = {0};
    char *dump = make_temp_dir();
    setenv("JITDUMPDIR", dump, 1);
    ig_status status =
        ig_device_create(&(ig_device_desc){.jit_debug = "perf", .cache_dir = cache_dir}, &profiled, &error);
    unsetenv("JITDUMPDIR");
    if (status == IG_STATUS_UNSUPPORTED) {
        assert_contains(error.message, "perf");
        ig_error_clear(&error);
        remove_temp_dir(dump);
        skip();
    }
    assert_ok(status);
    check_kernels_on(profiled);
    assert_true(dump_has(dump, "chase.run"));
    assert_true(dump_has(dump, "chase.metal"));
    close_device(profiled);
    remove_temp_dir(dump);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(remarks_point_at_the_source),
        cmocka_unit_test(remarks_without_line_tables_have_no_place),
        cmocka_unit_test(remarks_survive_any_shortage_of_memory),
        cmocka_unit_test(line_tables_reach_the_code_only_when_asked_for),
        cmocka_unit_test(line_tables_change_no_instruction),
        cmocka_unit_test(gdb_is_told_of_kernels_while_they_live),
        cmocka_unit_test(one_thread_at_a_time_can_be_debugged_too),
        cmocka_unit_test(kernels_with_variables_compute_the_same),
        cmocka_unit_test(the_environment_names_who_is_told),
        cmocka_unit_test(nobody_else_can_be_told),
        cmocka_unit_test(perf_is_told_of_kernels_and_lines),
    };
    return cmocka_run_group_tests_name("debug", tests, open_test_device, close_test_device);
}
