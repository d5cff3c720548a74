// SPDX-License-Identifier: Apache-2.0
// Captures: which dispatches are written, and what is in the directories. `ingot replay` is tested in tests/cli.
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"
#include "core/json-read.h"
#include "core/npy.h"
#include "helpers.h"

static const char source[] =
    "#include <metal_stdlib>\nusing namespace metal;\n"
    "constant int add [[function_constant(3)]];\n"
    "kernel void plus(device const int *in [[buffer(0)]], device int *out [[buffer(1)]], constant int &n "
    "[[buffer(2)]],\n"
    "                 threadgroup int *t [[threadgroup(0)]], uint i [[thread_position_in_grid]]) {\n"
    "    t[i % 4] = 0; out[i] = in[i] + n + add;\n}\n"
    "kernel void wild(device int *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
    "    out[0] = 7; out[i * 1000000000ul] = 1;\n}\n"
    "kernel void endless(device int *out [[buffer(0)]]) { while (out[0] == 0) out[1]++; }\n"
    "kernel void mix(texture2d<float> wide [[texture(0)]], texture2d<float, access::write> out [[texture(1)]],\n"
    "                texture_buffer<float, access::read_write> row [[texture(2)]], sampler s [[sampler(3)]],\n"
    "                device float *numbers [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
    "    float4 c = wide.sample(s, float2((i + 0.5f) / 2, 0.5f));\n"
    "    out.write(c, uint2(i, 0)); row.write(c.r + numbers[i], i);\n}\n"
    "kernel void past(device int *out [[buffer(0)]], uint i [[thread_position_in_grid]]) { out[i + 1] = 1; }\n";

typedef struct place {
    char *directory;
    ig_device *on;
    ig_library *library;
    ig_queue *queue;
} place;

static place open_place(const char *dispatches, uint32_t check) {
    place p = {.directory = make_temp_dir()};
    p.on = open_device(&(ig_device_desc){.capture_dir = p.directory, .capture_dispatch = dispatches, .check = check});
    p.library = compile_on(p.on, &(ig_library_desc){.source = source, .name = "plus.metal"});
    assert_ok(ig_queue_create(p.on, &p.queue));
    return p;
}

static void close_place(place *p) {
    ig_queue_release(p->queue);
    ig_library_release(p->library);
    ig_device_release(p->on);
    remove_temp_dir(p->directory);
}

static ig_pipeline *kernel_of(const place *p, const char *name) {
    const int add = 100;
    const ig_function_constant constant = {.id = 3, .type = IG_TYPE_I32, .value = &add};
    ig_pipeline *pipeline = NULL;
    assert_ok(ig_pipeline_create(
        p->library, &(ig_pipeline_desc){.kernel = name, .constants = &constant, .constant_count = 1}, &pipeline, NULL));
    return pipeline;
}

static ig_status run_on_one_buffer(const place *p, const char *kernel, uint64_t deadline_ns) {
    ig_pipeline *pipeline = kernel_of(p, kernel);
    ig_buffer *buffer = make_buffer_on(p->on, 64);
    ig_status status = try_run(&(run){.on = p->on,
                                      .pipeline = pipeline,
                                      .buffers = &buffer,
                                      .buffer_count = 1,
                                      .grid = line(16),
                                      .group = line(16),
                                      .deadline_ns = deadline_ns});
    ig_buffer_release(buffer);
    ig_pipeline_release(pipeline);
    return status;
}

static void run_plus(const place *p, uint64_t times) {
    ig_pipeline *pipeline = kernel_of(p, "plus");
    int in[16], n = 1000;
    for (int i = 0; i < 16; i++) in[i] = i;
    ig_buffer *input, *both = make_buffer_on(p->on, 128);
    assert_ok(ig_buffer_create(p->on, &(ig_buffer_desc){.length = sizeof in, .bytes = in, .label = "input"}, &input));
    ig_commands *commands = make_commands(p->queue);
    ig_commands_set_pipeline(commands, pipeline);
    ig_commands_set_buffer(commands, input, 0, 0);
    ig_commands_set_buffer(commands, both, 64, 1);
    ig_commands_set_bytes(commands, &n, sizeof n, 2);
    ig_commands_set_threadgroup_memory(commands, 16, 0);
    for (uint64_t i = 0; i < times; i++) ig_commands_dispatch_threads(commands, line(16), line(16));
    assert_ok(ig_commands_commit(commands));
    assert_ok(ig_commands_wait(commands, IG_FOREVER));
    ig_commands_release(commands);
    ig_buffer_release(input), ig_buffer_release(both);
    ig_pipeline_release(pipeline);
}

// How many captures there are; *first is the path of the first, for the caller to free.
static size_t list_captures(const place *p, char **first) {
    struct dirent **entries;
    int count = scandir(p->directory, &entries, NULL, alphasort);
    size_t found = 0;
    if (first) *first = NULL;
    for (int i = 0; i < count; i++) {
        bool own = entries[i]->d_name[0] != '.';
        if (own && !found && first) *first = igi_path_join(p->directory, entries[i]->d_name);
        found += own;
        free(entries[i]);
    }
    free(entries);
    return found;
}

static igi_json_document read_description(const char *capture) {
    char *path = igi_path_join(capture, "capture.json"), *text;
    size_t length;
    igi_json_document document;
    assert_ok(igi_file_read(path, &text, &length, NULL));
    assert_ok(igi_json_parse(path, text, length, &document, NULL));
    free(text), free(path);
    return document;
}

static void expect_reason(const place *p, const char *kernel, const char *reason) {
    char *capture;
    assert_int_equal(list_captures(p, &capture), 1);
    igi_json_document d = read_description(capture);
    assert_string_equal(igi_json_get_string(igi_json_member(d.root, "kernel")), kernel);
    assert_string_equal(igi_json_get_string(igi_json_member(d.root, "reason")), reason);
    igi_json_document_free(&d);
    free(capture);
}

static void expect_words(const char *capture, const char *name, ig_type type, uint64_t count, int index, int value) {
    char *path = igi_path_join(capture, name);
    igi_npy array;
    assert_ok(igi_npy_load(path, &array, NULL));
    assert_int_equal(array.type, type);
    assert_int_equal(array.shape[0], count);
    assert_int_equal(((const int *)array.data)[index], value);
    igi_npy_free(&array);
    free(path);
}

// ---- Tests ----

static void a_chosen_dispatch_is_written_with_what_it_read_and_computed(void **state) {
    (void)state;
    place p = open_place("pl?s", 0);
    run_plus(&p, 1);
    char *capture;
    assert_int_equal(list_captures(&p, &capture), 1);
    expect_words(capture, "buffer-0.npy", IG_TYPE_I32, 16, 5, 5);
    expect_words(capture, "buffer-1.npy", IG_TYPE_I32, 32, 16, 0);
    expect_words(capture, "buffer-1-after.npy", IG_TYPE_I32, 32, 16 + 5, 1105);
    expect_words(capture, "bytes-2.npy", IG_TYPE_U8, 4, 0, 1000);
    igi_json_document d = read_description(capture);
    const igi_json_value *argument = igi_json_member(d.root, "arguments")->first->next;
    uint64_t offset = 0, bytes = 0;
    assert_true(igi_json_get_u64(igi_json_member(argument, "offset"), &offset) && offset == 64);
    assert_true(igi_json_get_u64(igi_json_member(argument->next->next, "threadgroup"), &bytes) && bytes == 16);
    const igi_json_value *constant = igi_json_member(d.root, "constants")->first;
    assert_string_equal(igi_json_get_string(igi_json_member(constant, "bytes")), "64000000");
    assert_string_equal(igi_json_get_string(igi_json_member(igi_json_member(d.root, "buffers")->first, "label")),
                        "input");
    igi_json_document_free(&d);
    char *kernel = igi_path_join(capture, "kernel.metal"), *text;
    size_t length;
    assert_ok(igi_file_read(kernel, &text, &length, NULL));
    assert_string_equal(text, source);
    free(kernel), free(text), free(capture);
    close_place(&p);
}

static void dispatches_are_chosen_by_kernel_and_number(void **state) {
    (void)state;
    static const struct {
        const char *choice;
        size_t expected;
    } cases[] = {{"plus", 4},         {"plus:2", 1}, {"p*:1-2", 2}, {"3", 1},
                 {"0-1,plus:1-2", 3}, {"minus", 0},  {"9", 0},      {"", 0}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        place p = open_place(cases[i].choice, 0);
        run_plus(&p, 4);
        if (list_captures(&p, NULL) != cases[i].expected) fail_msg("'%s'", cases[i].choice);
        close_place(&p);
    }
}

static void a_malformed_choice_is_refused(void **state) {
    (void)state;
    static const char *const choices[] = {"plus:", ":3", "3-", "5-4", "plus:1-x", "3x", "plus:99999999999999999999"};
    char *directory = make_temp_dir();
    for (size_t i = 0; i < LENGTH(choices); i++) {
        ig_device *none = NULL;
        ig_error error = {0};
        ig_device_desc desc = {.capture_dir = directory, .capture_dispatch = choices[i]};
        assert_status(ig_device_create(&desc, &none, &error), IG_STATUS_INVALID_ARGUMENT);
        assert_contains(error.message, choices[i]);
        ig_error_clear(&error);
    }
    remove_temp_dir(directory);
    ig_device *none = NULL;
    assert_status(ig_device_create(&(ig_device_desc){.capture_dispatch = "plus"}, &none, NULL),
                  IG_STATUS_INVALID_ARGUMENT);
}

static void a_fault_is_captured_as_it_was_before(void **state) {
    (void)state;
    use_fault_handlers();
    place p = open_place(NULL, 0);
    assert_status(run_on_one_buffer(&p, "wild", 0), IG_STATUS_KERNEL_FAULT);
    expect_reason(&p, "wild", "fault");
    char *capture;
    list_captures(&p, &capture);
    expect_words(capture, "buffer-0.npy", IG_TYPE_I32, 16, 0, 0);
    char *after = igi_path_join(capture, "buffer-0-after.npy");
    assert_false(igi_file_exists(after));
    free(after), free(capture);
    close_place(&p);
}

static void a_timeout_is_captured(void **state) {
    (void)state;
    place p = open_place(NULL, 0);
    assert_status(run_on_one_buffer(&p, "endless", SECONDS(0.05)), IG_STATUS_TIMEOUT);
    expect_reason(&p, "endless", "timeout");
    close_place(&p);
}

static void findings_are_captured(void **state) {
    (void)state;
    place p = open_place(NULL, IG_CHECK_MEMORY);
    assert_status(run_on_one_buffer(&p, "past", 0), IG_STATUS_CHECK_FAILED);
    expect_reason(&p, "past", "check");
    close_place(&p);
}

static void what_succeeds_is_not_captured(void **state) {
    (void)state;
    place p = open_place(NULL, 0);
    run_plus(&p, 2);
    assert_int_equal(list_captures(&p, NULL), 0);
    close_place(&p);
}

static void no_more_than_a_hundred_are_written(void **state) {
    (void)state;
    place p = open_place("*", 0);
    run_plus(&p, 130);
    assert_int_equal(list_captures(&p, NULL), 100);
    close_place(&p);
}

static void a_capture_starts_and_stops_when_asked(void **state) {
    (void)state;
    place p = {.directory = make_temp_dir()};
    p.on = open_device(&(ig_device_desc){.capturable = true});
    p.library = compile_on(p.on, &(ig_library_desc){.source = source, .name = "plus.metal"});
    assert_ok(ig_queue_create(p.on, &p.queue));
    run_plus(&p, 1);
    assert_ok(ig_device_start_capture(p.on, &(ig_capture_desc){.directory = p.directory}, NULL));
    assert_status(ig_device_start_capture(p.on, &(ig_capture_desc){.directory = p.directory}, NULL),
                  IG_STATUS_WRONG_STATE);
    run_plus(&p, 3);
    assert_int_equal(ig_device_stop_capture(p.on), 3);
    run_plus(&p, 2);
    assert_int_equal(list_captures(&p, NULL), 3);
    ig_queue *other;
    assert_ok(ig_queue_create(p.on, &other));
    assert_ok(ig_device_start_capture(p.on, &(ig_capture_desc){.directory = p.directory, .queue = other}, NULL));
    run_plus(&p, 2);
    assert_int_equal(ig_device_stop_capture(p.on), 0);
    assert_int_equal(ig_device_stop_capture(p.on), 0);
    ig_queue_release(other);
    close_place(&p);
}

static void a_capture_that_cannot_be_made_is_refused(void **state) {
    (void)state;
    ig_device *plain = open_device(&(ig_device_desc){0});
    assert_status(ig_device_start_capture(plain, &(ig_capture_desc){.directory = "/tmp"}, NULL), IG_STATUS_WRONG_STATE);
    assert_status(ig_device_start_capture(plain, &(ig_capture_desc){0}, NULL), IG_STATUS_INVALID_ARGUMENT);
    ig_device_release(plain);
}

static size_t warnings;
static void count_warning(ig_log_level level, const char *message, void *user) {
    (void)user;
    warnings += level == IG_LOG_WARNING && strstr(message, "INGOT_CAPTURE_DIR") != NULL;
}

static void a_directory_that_vanishes_fails_no_dispatch(void **state) {
    (void)state;
    place p = open_place("*", 0);
    warnings = 0;
    ig_set_log(count_warning, NULL);
    assert_int_equal(rmdir(p.directory), 0);
    run_plus(&p, 3);
    ig_set_log(NULL, NULL);
    assert_int_equal(warnings, 1);
    assert_int_equal(mkdir(p.directory, 0700), 0);
    close_place(&p);
}

// ---- Textures ----

static ig_texture *make_texture(const place *p, const ig_texture_desc *desc) {
    ig_texture *made = NULL;
    assert_ok(ig_texture_create(p->on, desc, &made));
    return made;
}

// One level of a picture, with red and alpha exchanged, a new picture, and pixels in a buffer that the kernel has too.
static void run_mix(const place *p) {
    ig_texture *picture = make_texture(p, &(ig_texture_desc){.type = IG_TEXTURE_2D,
                                                             .format = IG_PIXEL_RGBA8_UNORM,
                                                             .width = 4,
                                                             .height = 2,
                                                             .levels = 2,
                                                             .label = "picture"}),
               *view,
               *out = make_texture(
                   p, &(ig_texture_desc){.type = IG_TEXTURE_2D, .format = IG_PIXEL_R32_FLOAT, .width = 2, .height = 1});
    const unsigned char second[8] = {51, 0, 0, 255, 102, 0, 0, 0};
    assert_ok(ig_texture_write(picture, &(ig_region){.level = 1}, second, 0, 0));
    assert_ok(ig_texture_create_view(
        picture,
        &(ig_texture_view_desc){.type = IG_TEXTURE_2D,
                                .level = 1,
                                .swizzle = {IG_SWIZZLE_ALPHA, IG_SWIZZLE_SAME, IG_SWIZZLE_SAME, IG_SWIZZLE_RED}},
        &view));
    ig_buffer *numbers = make_buffer_on(p->on, 16);
    ((float *)ig_buffer_contents(numbers))[1] = 10;
    ig_texture *row = make_texture(
        p, &(ig_texture_desc){
               .type = IG_TEXTURE_BUFFER, .format = IG_PIXEL_R32_FLOAT, .width = 2, .buffer = numbers, .offset = 8});
    ig_texture_sampler *sampler = NULL;
    assert_ok(ig_texture_sampler_create(p->on, &(ig_texture_sampler_desc){.s = IG_ADDRESS_REPEAT, .lod_min = 0.25f},
                                        &sampler));
    ig_pipeline *pipeline = kernel_of(p, "mix");
    ig_commands *commands = make_commands(p->queue);
    ig_commands_set_pipeline(commands, pipeline);
    ig_commands_set_texture(commands, view, 0), ig_commands_set_texture(commands, out, 1);
    ig_commands_set_texture(commands, row, 2), ig_commands_set_sampler(commands, sampler, 3);
    ig_commands_set_buffer(commands, numbers, 0, 0);
    ig_commands_dispatch_threads(commands, line(2), line(2));
    assert_ok(ig_commands_commit(commands));
    assert_ok(ig_commands_wait(commands, IG_FOREVER));
    ig_commands_release(commands);
    ig_pipeline_release(pipeline), ig_texture_sampler_release(sampler), ig_buffer_release(numbers);
    ig_texture_release(picture), ig_texture_release(view), ig_texture_release(out), ig_texture_release(row);
}

static uint64_t number_in(const igi_json_value *object, const char *key) {
    uint64_t number = UINT64_MAX;
    assert_true(igi_json_get_u64(igi_json_member(object, key), &number));
    return number;
}

static void expect_floats(const char *capture, const char *name, ig_type type, uint64_t bytes, uint64_t first,
                          const float values[2]) {
    char *path = igi_path_join(capture, name);
    igi_npy array;
    assert_ok(igi_npy_load(path, &array, NULL));
    assert_int_equal(array.type, type);
    assert_int_equal(array.bytes, bytes);
    assert_memory_equal((const char *)array.data + first, values, 8);
    igi_npy_free(&array);
    free(path);
}

static void textures_are_written_whole_with_the_views_of_them(void **state) {
    (void)state;
    place p = open_place("mix", 0);
    run_mix(&p);
    char *capture;
    assert_int_equal(list_captures(&p, &capture), 1);
    igi_json_document d = read_description(capture);
    const igi_json_value *texture = igi_json_member(d.root, "textures")->first;
    assert_string_equal(igi_json_get_string(igi_json_member(texture, "label")), "picture");
    assert_string_equal(igi_json_get_string(igi_json_member(texture, "format")), "rgba8_unorm");
    assert_int_equal(number_in(texture, "levels"), 2);
    assert_null(igi_json_member(texture, "after"));  // which the kernel only reads
    expect_words(capture, "texture-0.npy", IG_TYPE_U8, 4 * 2 * 4 + 2 * 4, 8, (int)0xff000033);
    expect_floats(capture, "texture-1.npy", IG_TYPE_F32, 8, 0, (float[2]){0, 0});
    expect_floats(capture, "texture-1-after.npy", IG_TYPE_F32, 8, 0, (float[2]){1, 0});
    const igi_json_value *row = texture->next->next;
    assert_int_equal(number_in(row, "buffer"), 0);
    assert_int_equal(number_in(row, "offset"), 8);
    expect_floats(capture, "buffer-0.npy", IG_TYPE_U8, 16, 8, (float[2]){0, 0});
    expect_floats(capture, "buffer-0-after.npy", IG_TYPE_U8, 16, 8, (float[2]){1, 10});
    const igi_json_value *argument = igi_json_member(d.root, "arguments")->first;
    while (!igi_json_member(argument, "view")) argument = argument->next;
    const igi_json_value *view = igi_json_member(argument, "view");
    assert_int_equal(number_in(argument, "texture"), 0);
    assert_int_equal(number_in(view, "level"), 1);
    uint64_t red = 0;
    assert_true(igi_json_get_u64(igi_json_member(view, "swizzle")->first, &red) && red == IG_SWIZZLE_ALPHA);
    while (!igi_json_member(argument, "sampler")) argument = argument->next;
    const igi_json_value *sampler = igi_json_member(argument, "sampler");
    assert_int_equal(number_in(argument, "index"), 3);
    assert_int_equal(number_in(sampler, "s"), IG_ADDRESS_REPEAT);
    assert_int_equal(number_in(sampler, "lod_min_bits"), 0x3e800000);
    igi_json_document_free(&d);
    free(capture);
    close_place(&p);
}

static void included_files_become_one_text(void **state) {
    (void)state;
    place p = {.directory = make_temp_dir()};
    char *files = make_temp_dir();
    char *header = igi_path_join(files, "seven.h"), *main = igi_path_join(files, "main.metal");
    write_text(header, "#pragma once\nconstant int seven = 7;\n");
    write_text(main, "#include \"seven.h\"\nkernel void k(device int *out [[buffer(0)]]) { out[0] = seven + N; }\n");
    p.on = open_device(&(ig_device_desc){.capture_dir = p.directory, .capture_dispatch = "k"});
    p.library =
        compile_on(p.on, &(ig_library_desc){.path = main, .defines = &(ig_define){"N", "2"}, .define_count = 1});
    assert_ok(ig_queue_create(p.on, &p.queue));
    assert_ok(run_on_one_buffer(&p, "k", 0));
    char *capture, *text;
    size_t length;
    assert_int_equal(list_captures(&p, &capture), 1);
    char *kernel = igi_path_join(capture, "kernel.metal");
    assert_ok(igi_file_read(kernel, &text, &length, NULL));
    assert_contains(text, "seven = 7");
    free(text), free(kernel), free(capture), free(header), free(main);
    remove_temp_dir(files);
    close_place(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chosen_dispatch_is_written_with_what_it_read_and_computed),
        cmocka_unit_test(dispatches_are_chosen_by_kernel_and_number),
        cmocka_unit_test(a_malformed_choice_is_refused),
        cmocka_unit_test(a_fault_is_captured_as_it_was_before),
        cmocka_unit_test(a_timeout_is_captured),
        cmocka_unit_test(findings_are_captured),
        cmocka_unit_test(what_succeeds_is_not_captured),
        cmocka_unit_test(no_more_than_a_hundred_are_written),
        cmocka_unit_test(a_capture_starts_and_stops_when_asked),
        cmocka_unit_test(a_capture_that_cannot_be_made_is_refused),
        cmocka_unit_test(a_directory_that_vanishes_fails_no_dispatch),
        cmocka_unit_test(textures_are_written_whole_with_the_views_of_them),
        cmocka_unit_test(included_files_become_one_text),
    };
    return cmocka_run_group_tests(tests, open_test_device, close_test_device);
}
