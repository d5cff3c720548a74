// SPDX-License-Identifier: Apache-2.0
// Devices and buffers: choice, properties, storage modes, ranges, statistics, lifetimes.
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helpers.h"

static const char increment[] =
    "kernel void increment(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]]) { a[i]++; }\n";

// ---- Devices ----

static void the_software_device_is_enumerated(void **state) {
    (void)state;
    size_t count = 0;
    assert_ok(ig_device_enumerate(NULL, 0, &count));
    ig_device_properties all[16];
    assert_true(count >= 1 && count <= LENGTH(all));
    assert_ok(ig_device_enumerate(all, LENGTH(all), &count));
    bool found = false;
    for (size_t i = 0; i < count; i++) found = found || strcmp(all[i].backend, "cpu") == 0;
    assert_true(found);
    assert_status(ig_device_enumerate(NULL, 1, &count), IG_STATUS_INVALID_ARGUMENT);
}

static void properties_are_those_of_metal(void **state) {
    (void)state;
    ig_device_properties p;
    ig_device_get_properties(device, &p);
    assert_string_equal(p.backend, on_software_device() ? "cpu" : "metal");
    assert_contains(p.name, "Ingot software Metal device (");
    assert_true(strlen(p.target) > 0);
    assert_int_equal(p.max_threads_per_threadgroup, 1024);
    assert_int_equal(p.execution_width, 32);
    assert_int_equal(p.max_threadgroup_memory, 32768);
    assert_int_equal(p.max_buffer_arguments, 31);
    assert_int_equal(p.language_version, on_software_device() ? 410 : 320);
    assert_true(p.unified_memory);
    assert_int_equal(p.worker_count > 0, on_software_device());
    assert_true(p.memory_bytes >= 1u << 28);
    assert_true(p.max_buffer_bytes >= 1u << 28 && p.max_buffer_bytes <= p.memory_bytes);
}

static void expect_choice(const char *name, ig_status expected) {
    ig_device *chosen = NULL;
    ig_error error = {0};
    ig_status status = ig_device_create(&(ig_device_desc){.name = name, .cache_dir = cache_dir}, &chosen, &error);
    if (status != expected) fail_msg("'%s': %s", name, ig_status_name(status));
    assert_true((status == IG_STATUS_OK) == (chosen != NULL));
    if (status != IG_STATUS_OK) {
        assert_contains(error.message, name);
        assert_contains(error.message, "ingot info");
    }
    ig_error_clear(&error);
    ig_device_release(chosen);
}

static void devices_are_chosen_by_name_or_index(void **state) {
    (void)state;
    expect_choice("cpu", IG_STATUS_OK);
    expect_choice("0", IG_STATUS_OK);
    expect_choice("", IG_STATUS_OK);
    expect_choice("99", IG_STATUS_DEVICE_UNAVAILABLE);
    expect_choice("99999999999999999999999", IG_STATUS_DEVICE_UNAVAILABLE);
    expect_choice("toaster", IG_STATUS_DEVICE_UNAVAILABLE);
    expect_choice("CPU", IG_STATUS_DEVICE_UNAVAILABLE);
    expect_choice("0cpu", IG_STATUS_DEVICE_UNAVAILABLE);
    expect_choice("-1", IG_STATUS_DEVICE_UNAVAILABLE);
}

static void the_environment_names_the_device(void **state) {
    (void)state;
    ig_device *chosen = NULL;
    ig_error error = {0};
    setenv("INGOT_DEVICE", "cpu", 1);
    assert_ok(ig_device_create(NULL, &chosen, NULL));
    ig_device_release(chosen);
    setenv("INGOT_DEVICE", "nothing", 1);
    assert_status(ig_device_create(NULL, &chosen, &error), IG_STATUS_DEVICE_UNAVAILABLE);
    assert_contains(error.message, "nothing");
    expect_choice("cpu", IG_STATUS_OK);  // the descriptor has priority over the environment
    unsetenv("INGOT_DEVICE");
    ig_error_clear(&error);
}

static uint32_t workers_of(uint32_t wanted) {
    ig_device *made = open_device(&(ig_device_desc){.worker_count = wanted});
    ig_device_properties p;
    ig_device_get_properties(made, &p);
    ig_device_release(made);
    return p.worker_count;
}

static void the_number_of_workers_can_be_chosen(void **state) {
    (void)state;
    assert_int_equal(workers_of(1), 1);
    assert_int_equal(workers_of(17), 17);
    setenv("INGOT_WORKERS", "5", 1);
    assert_int_equal(workers_of(0), 5);
    assert_int_equal(workers_of(3), 3);
    setenv("INGOT_WORKERS", "", 1);
    assert_in_range(workers_of(0), 1, 1024);
    unsetenv("INGOT_WORKERS");
}

static void check_refused_setting(const char *name, const char *value, const char *sentence) {
    ig_device *made = NULL;
    ig_error error = {0};
    setenv(name, value, 1);
    assert_int_equal(ig_device_create(NULL, &made, &error), IG_STATUS_INVALID_ARGUMENT);
    assert_null(made);
    assert_string_equal(error.message, sentence);
    ig_error_clear(&error);
    unsetenv(name);
}

static void a_setting_that_is_not_accepted_is_named(void **state) {
    (void)state;
    static const char *const nonsense[] = {"0", "many", "-3", "99999999999", "5x", " 5"};
    for (size_t i = 0; i < LENGTH(nonsense); i++) {
        char sentence[128];
        snprintf(sentence, sizeof sentence,
                 "the environment variable INGOT_WORKERS is '%s'; it takes a number from 1 to 1024", nonsense[i]);
        check_refused_setting("INGOT_WORKERS", nonsense[i], sentence);
    }
    check_refused_setting("INGOT_SIMT_WIDTH", "7",
                          "the environment variable INGOT_SIMT_WIDTH is '7'; it takes one of 0|1|4|8|16|32");
    check_refused_setting("INGOT_SIMT_SHAPE", "alway",
                          "the environment variable INGOT_SIMT_SHAPE is 'alway'; it takes one of always|never|auto");
}

static void every_number_of_workers_gives_the_same_result(void **state) {
    (void)state;
    for (uint32_t workers = 1; workers <= 9; workers += 2) {
        ig_device *made = open_device(&(ig_device_desc){.worker_count = workers});
        ig_pipeline *pipeline = make_pipeline_on(made, increment, "increment");
        ig_buffer *buffer = make_buffer_on(made, 400000);
        for (int i = 0; i < 5; i++)
            do_run(
                &(run){.on = made, .pipeline = pipeline, .buffers = &buffer, .buffer_count = 1, .grid = line(100000)});
        for (int i = 0; i < 100000; i++) assert_int_equal(((uint32_t *)ig_buffer_contents(buffer))[i], 5);
        ig_buffer_release(buffer);
        ig_pipeline_release(pipeline);
        ig_device_release(made);
    }
}

// ---- Buffers ----

static ig_status try_buffer(const ig_buffer_desc *desc) {
    ig_buffer *buffer = (ig_buffer *)1;
    ig_status status = ig_buffer_create(device, desc, &buffer);
    if (status != IG_STATUS_OK) assert_ptr_equal(buffer, (ig_buffer *)1);
    if (status == IG_STATUS_OK) ig_buffer_release(buffer);
    return status;
}

static void descriptors_that_make_no_sense_are_refused(void **state) {
    (void)state;
    char bytes[16];
    assert_status(try_buffer(&(ig_buffer_desc){.length = 0}), IG_STATUS_INVALID_ARGUMENT);
    ig_buffer_desc strange = {.length = 4};
    memset(&strange.storage, 0x7f, sizeof strange.storage);
    assert_status(try_buffer(&strange), IG_STATUS_INVALID_ARGUMENT);
    memset(&strange.storage, 0xff, sizeof strange.storage);
    assert_status(try_buffer(&strange), IG_STATUS_INVALID_ARGUMENT);
    assert_status(try_buffer(&(ig_buffer_desc){.length = 4, .bytes = bytes, .no_copy = bytes}),
                  IG_STATUS_INVALID_ARGUMENT);
    assert_status(try_buffer(&(ig_buffer_desc){.length = 4, .no_copy = bytes, .storage = IG_STORAGE_PRIVATE}),
                  IG_STATUS_INVALID_ARGUMENT);
    assert_status(try_buffer(&(ig_buffer_desc){.length = 4, .deallocate = (void (*)(void *, uint64_t, void *))abort}),
                  IG_STATUS_INVALID_ARGUMENT);
}

static void new_buffers_are_zero_and_as_described(void **state) {
    (void)state;
    for (int storage = IG_STORAGE_SHARED; storage <= IG_STORAGE_MANAGED; storage++)
        for (uint64_t length = 1; length < 20000; length = length * 3 + 1) {
            ig_buffer *buffer = NULL;
            ig_buffer_desc desc = {.length = length, .storage = (ig_storage)storage};
            assert_ok(ig_buffer_create(device, &desc, &buffer));
            assert_int_equal(ig_buffer_length(buffer), length);
            assert_int_equal(ig_buffer_storage(buffer), storage);
            assert_string_equal(ig_buffer_label(buffer), "");
            assert_true(ig_buffer_device_address(buffer) != 0);
            const char *contents = ig_buffer_contents(buffer);
            assert_true((contents == NULL) == (storage == IG_STORAGE_PRIVATE));
            for (uint64_t i = 0; contents && i < length; i++) assert_int_equal(contents[i], 0);
            ig_buffer_release(buffer);
        }
}

static void labels_are_kept(void **state) {
    (void)state;
    char label[] = "weights";
    ig_buffer *buffer = NULL;
    assert_ok(ig_buffer_create(device, &(ig_buffer_desc){.length = 4, .label = label}, &buffer));
    label[0] = 'X';
    assert_string_equal(ig_buffer_label(buffer), "weights");
    ig_buffer_release(buffer);
}

static void ids_are_unique_and_never_used_again(void **state) {
    (void)state;
    ig_device *other = open_device(NULL);
    uint64_t last = 0;
    for (int i = 0; i < 100; i++) {
        ig_buffer *buffer = make_buffer_on(i % 2 ? other : device, 8);
        assert_true(ig_buffer_id(buffer) > last);
        last = ig_buffer_id(buffer);
        ig_buffer_release(buffer);
    }
    ig_device_release(other);
}

// Copies the buffer into a shared one by a command buffer.
static void read_by_copy(ig_buffer *buffer, void *bytes, uint64_t length) {
    ig_buffer *visible = make_buffer(length);
    ig_queue *queue = make_queue();
    ig_commands *commands = make_commands(queue);
    assert_ok(ig_commands_copy(commands, buffer, 0, visible, 0, length));
    assert_ok(ig_commands_commit(commands));
    assert_ok(ig_commands_wait(commands, IG_FOREVER));
    memcpy(bytes, ig_buffer_contents(visible), length);
    ig_commands_release(commands);
    ig_queue_release(queue);
    ig_buffer_release(visible);
}

static void bytes_are_copied_into_every_storage(void **state) {
    (void)state;
    for (int storage = IG_STORAGE_SHARED; storage <= IG_STORAGE_MANAGED; storage++) {
        uint32_t words[1000], seen[1000];
        for (uint32_t i = 0; i < 1000; i++) words[i] = i * 2654435761u;
        ig_buffer *buffer = NULL;
        ig_buffer_desc desc = {.length = sizeof words, .storage = (ig_storage)storage, .bytes = words};
        assert_ok(ig_buffer_create(device, &desc, &buffer));
        memset(words, 0, sizeof words);
        read_by_copy(buffer, seen, sizeof seen);
        for (uint32_t i = 0; i < 1000; i++) assert_int_equal(seen[i], i * 2654435761u);
        ig_buffer_release(buffer);
    }
}

static void private_buffers_can_be_computed_on(void **state) {
    (void)state;
    uint32_t words[500];
    for (uint32_t i = 0; i < 500; i++) words[i] = i;
    ig_buffer *buffer = NULL;
    ig_buffer_desc desc = {.length = sizeof words, .storage = IG_STORAGE_PRIVATE, .bytes = words};
    assert_ok(ig_buffer_create(device, &desc, &buffer));
    ig_pipeline *pipeline = make_pipeline(increment, "increment");
    do_run(&(run){.pipeline = pipeline, .buffers = &buffer, .buffer_count = 1, .grid = line(500)});
    read_by_copy(buffer, words, sizeof words);
    for (uint32_t i = 0; i < 500; i++) assert_int_equal(words[i], i + 1);
    ig_pipeline_release(pipeline);
    ig_buffer_release(buffer);
}

typedef struct ending {
    void *memory;
    uint64_t length;
    atomic_int count;
} ending;

static void note_end(void *memory, uint64_t length, void *user) {
    ending *end = user;
    end->memory = memory;
    end->length = length;
    end->count++;
}

static void memory_of_the_caller_is_used_in_place_and_given_back_once(void **state) {
    (void)state;
    uint32_t *words = malloc(4000);
    for (uint32_t i = 0; i < 1000; i++) words[i] = i;
    ending end = {0};
    ig_buffer *buffer = NULL;
    ig_buffer_desc desc = {.length = 4000, .no_copy = words, .deallocate = note_end, .user = &end};
    assert_ok(ig_buffer_create(device, &desc, &buffer));
    assert_ptr_equal(ig_buffer_contents(buffer), words);
    ig_pipeline *pipeline = make_pipeline(increment, "increment");
    do_run(&(run){.pipeline = pipeline, .buffers = &buffer, .buffer_count = 1, .grid = line(1000)});
    for (uint32_t i = 0; i < 1000; i++) assert_int_equal(words[i], i + 1);
    assert_int_equal(end.count, 0);
    ig_buffer_retain(buffer);
    ig_buffer_release(buffer);
    assert_int_equal(end.count, 0);
    ig_buffer_release(buffer);
    // Metal releases what a command buffer used a moment after it has completed.
    for (int i = 0; i < 10000 && atomic_load(&end.count) == 0; i++) usleep(1000);
    assert_int_equal(end.count, 1);
    assert_ptr_equal(end.memory, words);
    assert_int_equal(end.length, 4000);
    ig_pipeline_release(pipeline);
    free(words);
}

static void memory_of_the_caller_may_start_anywhere(void **state) {
    (void)state;
    ig_pipeline *pipeline = make_pipeline(increment, "increment");
    for (int offset = 0; offset < 64; offset += 4) {
        _Alignas(64) char bytes[512] = {0};
        ig_buffer *buffer = NULL;
        ig_buffer_desc desc = {.length = 400, .no_copy = bytes + offset};
        assert_ok(ig_buffer_create(device, &desc, &buffer));
        do_run(&(run){.pipeline = pipeline, .buffers = &buffer, .buffer_count = 1, .grid = line(100)});
        for (int i = 0; i < 512; i++)
            assert_int_equal(bytes[i], i >= offset && i < offset + 400 && (i - offset) % 4 == 0);
        ig_buffer_release(buffer);
    }
    ig_pipeline_release(pipeline);
}

static void a_buffer_that_could_not_be_made_gives_nothing_back(void **state) {
    (void)state;
    ending end = {0};
    char bytes[4];
    ig_buffer_desc desc = {.length = UINT64_MAX, .no_copy = bytes, .deallocate = note_end, .user = &end};
    assert_int_not_equal(try_buffer(&desc), IG_STATUS_OK);
    assert_int_equal(end.count, 0);
}

static void reads_and_writes_are_checked(void **state) {
    (void)state;
    char bytes[101] = "abc", seen[101];
    ig_buffer *buffer = make_buffer(100), *hidden = NULL;
    assert_ok(ig_buffer_write(buffer, 0, bytes, 100));
    assert_ok(ig_buffer_write(buffer, 97, "xyz", 3));
    assert_ok(ig_buffer_read(buffer, 97, seen, 3));
    assert_memory_equal(seen, "xyz", 3);
    assert_ok(ig_buffer_write(buffer, 100, bytes, 0));
    assert_ok(ig_buffer_read(buffer, 100, NULL, 0));
    assert_status(ig_buffer_write(buffer, 0, bytes, 101), IG_STATUS_OUT_OF_RANGE);
    assert_status(ig_buffer_write(buffer, 98, bytes, 3), IG_STATUS_OUT_OF_RANGE);
    assert_status(ig_buffer_write(buffer, 101, bytes, 0), IG_STATUS_OUT_OF_RANGE);
    assert_status(ig_buffer_write(buffer, UINT64_MAX, bytes, 2), IG_STATUS_OUT_OF_RANGE);
    assert_status(ig_buffer_read(buffer, 1, seen, UINT64_MAX), IG_STATUS_OUT_OF_RANGE);
    assert_ok(ig_buffer_create(device, &(ig_buffer_desc){.length = 4, .storage = IG_STORAGE_PRIVATE}, &hidden));
    assert_status(ig_buffer_write(hidden, 0, bytes, 4), IG_STATUS_WRONG_STATE);
    assert_status(ig_buffer_read(hidden, 0, seen, 4), IG_STATUS_WRONG_STATE);
    ig_buffer_release(hidden);
    ig_buffer_release(buffer);
}

static void did_modify_is_for_managed_buffers_and_checked(void **state) {
    (void)state;
    ig_buffer *buffers[3];
    for (int i = 0; i < 3; i++)
        assert_ok(ig_buffer_create(device, &(ig_buffer_desc){.length = 64, .storage = (ig_storage)i}, &buffers[i]));
    assert_status(ig_buffer_did_modify(buffers[IG_STORAGE_SHARED], 0, 64), IG_STATUS_WRONG_STATE);
    assert_status(ig_buffer_did_modify(buffers[IG_STORAGE_PRIVATE], 0, 64), IG_STATUS_WRONG_STATE);
    ig_buffer *managed = buffers[IG_STORAGE_MANAGED];
    assert_ok(ig_buffer_did_modify(managed, 0, 64));
    assert_ok(ig_buffer_did_modify(managed, 64, 0));
    assert_status(ig_buffer_did_modify(managed, 1, 64), IG_STATUS_OUT_OF_RANGE);
    assert_status(ig_buffer_did_modify(managed, UINT64_MAX, 1), IG_STATUS_OUT_OF_RANGE);
    assert_ok(ig_buffer_write(managed, 60, "last", 4));
    for (int i = 0; i < 3; i++) ig_buffer_release(buffers[i]);
}

static void statistics_follow_the_buffers(void **state) {
    (void)state;
    ig_device *made = open_device(NULL);
    ig_device_stats stats;
    ig_buffer *a = make_buffer_on(made, 1000), *b = make_buffer_on(made, 500);
    ig_device_get_stats(made, &stats);
    assert_int_equal(stats.buffer_count, 2);
    assert_int_equal(stats.buffer_bytes, 1500);
    ig_buffer_release(a);
    ig_buffer *c = make_buffer_on(made, 200);
    ig_device_get_stats(made, &stats);
    assert_int_equal(stats.buffer_count, 2);
    assert_int_equal(stats.buffer_bytes, 700);
    assert_int_equal(stats.peak_buffer_bytes, 1500);
    ig_buffer_release(b), ig_buffer_release(c);
    ig_device_get_stats(made, &stats);
    assert_int_equal(stats.buffer_count, 0);
    assert_int_equal(stats.buffer_bytes, 0);
    assert_int_equal(stats.dispatches, 0);
    ig_device_release(made);
}

static void addresses_inside_buffers_work_as_pointers(void **state) {
    (void)state;
    ig_pipeline *pipeline = make_pipeline(
        "struct table { device uint *data; ulong count; };\n"
        "kernel void follow(constant table &t [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
        "    if (i < t.count) t.data[i] = i + 7;\n}\n",
        "follow");
    ig_buffer *data = make_buffer(400), *table = make_buffer(16);
    uint64_t fields[2] = {ig_buffer_device_address(data), 100};
    memcpy(ig_buffer_contents(table), fields, sizeof fields);
    do_run(&(run){.pipeline = pipeline, .buffers = &table, .buffer_count = 1, .grid = line(128)});
    for (uint32_t i = 0; i < 100; i++) assert_int_equal(((uint32_t *)ig_buffer_contents(data))[i], i + 7);
    ig_buffer_release(data), ig_buffer_release(table);
    ig_pipeline_release(pipeline);
}

static void memory_past_four_gigabytes_is_reached(void **state) {
    (void)state;
    const uint64_t length = (5ull << 30) + 64;
    ig_device_properties p;
    ig_device_get_properties(device, &p);
    if (p.max_buffer_bytes < length) skip();
    ig_buffer *big = NULL;
    // Lazily backed: only the pages that are touched cost memory.
    assert_ok(ig_buffer_create(device, &(ig_buffer_desc){.length = length}, &big));
    ig_pipeline *pipeline = make_pipeline(
        "kernel void far(device uchar *a [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
        "    a[ulong(i) * 1073741824ul + i] = uchar(i + 1);\n"
        "    if (i == 0) a[5368709120ul + 63ul] = 99;\n}\n",
        "far");
    do_run(&(run){.pipeline = pipeline, .buffers = &big, .buffer_count = 1, .grid = line(6)});
    const unsigned char *bytes = ig_buffer_contents(big);
    for (uint64_t i = 0; i < 6; i++) assert_int_equal(bytes[(i << 30) + i], i + 1);
    assert_int_equal(bytes[length - 1], 99);
    ig_queue *queue = make_queue();
    ig_commands *commands = make_commands(queue);
    assert_ok(ig_commands_fill(commands, big, (4ull << 30) + 100, 50, 0xab));
    assert_ok(ig_commands_copy(commands, big, (4ull << 30) + 100, big, 10, 20));
    assert_ok(ig_commands_set_pipeline(commands, pipeline));
    assert_ok(ig_commands_set_buffer(commands, big, (5ull << 30) + 60, 0));
    assert_ok(ig_commands_commit(commands));
    assert_ok(ig_commands_wait(commands, IG_FOREVER));
    assert_int_equal(bytes[29], 0xab);
    assert_int_equal(bytes[(4ull << 30) + 149], 0xab);
    assert_int_equal(bytes[(4ull << 30) + 150], 0);
    ig_commands_release(commands);
    ig_queue_release(queue);
    ig_pipeline_release(pipeline);
    ig_buffer_release(big);
}

// ---- Lifetimes ----

enum { OBJECTS = 7 };
typedef struct family {
    ig_device *device;
    ig_library *library;
    ig_pipeline *pipeline;
    ig_buffer *buffer;
    ig_queue *queue;
    ig_commands *commands;
    ig_event *event;
} family;

static void release_one(family *f, int which) {
    switch (which) {
        case 0: ig_device_release(f->device); break;
        case 1: ig_library_release(f->library); break;
        case 2: ig_pipeline_release(f->pipeline); break;
        case 3: ig_buffer_release(f->buffer); break;
        case 4: ig_queue_release(f->queue); break;
        case 5: ig_commands_release(f->commands); break;
        case 6: ig_event_release(f->event); break;
        default: break;
    }
}

static family make_family(void) {
    family f = {.device = open_device(&(ig_device_desc){.worker_count = 2})};
    f.library = compile_on(f.device, &(ig_library_desc){.source = increment});
    f.pipeline = pipeline_of(f.library, "increment");
    f.buffer = make_buffer_on(f.device, 4096);
    assert_ok(ig_queue_create(f.device, &f.queue));
    assert_ok(ig_commands_create(f.queue, NULL, &f.commands));
    assert_ok(ig_event_create(f.device, &f.event));
    ig_commands_set_pipeline(f.commands, f.pipeline);
    ig_commands_set_buffer(f.commands, f.buffer, 0, 0);
    assert_ok(ig_commands_dispatch_threads(f.commands, line(1000), (ig_size){0}));
    assert_ok(ig_commands_signal_event(f.commands, f.event, 1));
    return f;
}

static void objects_may_be_released_in_any_order(void **state) {
    (void)state;
    random_state random = {7};
    for (int trial = 0; trial < 60; trial++) {
        family f = make_family();
        int order[OBJECTS];
        for (int i = 0; i < OBJECTS; i++) order[i] = i;
        for (int i = OBJECTS - 1; i > 0; i--) {
            int k = (int)random_below(&random, (uint64_t)i + 1), kept = order[i];
            order[i] = order[k], order[k] = kept;
        }
        // At a random point, the commands are committed, if they still exist.
        int commit_after = (int)random_below(&random, OBJECTS + 1);
        bool there = true;
        for (int i = 0; i < OBJECTS; i++) {
            if (i == commit_after && there) assert_ok(ig_commands_commit(f.commands));
            release_one(&f, order[i]);
            if (order[i] == 5) there = false;
        }
    }
}

static void children_keep_their_parents_alive(void **state) {
    (void)state;
    family f = make_family();
    ig_device_release(f.device);
    ig_library_release(f.library);
    ig_queue_release(f.queue);
    ig_buffer *buffer = f.buffer;
    assert_ok(ig_commands_commit(f.commands));
    assert_ok(ig_commands_wait(f.commands, IG_FOREVER));
    assert_int_equal(((uint32_t *)ig_buffer_contents(buffer))[999], 1);
    assert_int_equal(ig_event_value(f.event), 1);
    assert_string_equal(ig_pipeline_kernel(f.pipeline)->name, "increment");
    ig_commands_release(f.commands);
    ig_pipeline_release(f.pipeline);
    ig_event_release(f.event);
    ig_buffer_release(buffer);
}

static void retained_objects_need_as_many_releases(void **state) {
    (void)state;
    family f = make_family();
    assert_ptr_equal(ig_device_retain(f.device), f.device);
    assert_ptr_equal(ig_library_retain(f.library), f.library);
    assert_ptr_equal(ig_pipeline_retain(f.pipeline), f.pipeline);
    assert_ptr_equal(ig_buffer_retain(f.buffer), f.buffer);
    assert_ptr_equal(ig_queue_retain(f.queue), f.queue);
    assert_ptr_equal(ig_commands_retain(f.commands), f.commands);
    assert_ptr_equal(ig_event_retain(f.event), f.event);
    for (int i = 0; i < OBJECTS; i++) release_one(&f, i);
    assert_ok(ig_commands_commit(f.commands));
    assert_ok(ig_commands_wait(f.commands, IG_FOREVER));
    for (int i = 0; i < OBJECTS; i++) release_one(&f, i);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_software_device_is_enumerated),
        cmocka_unit_test(properties_are_those_of_metal),
        cmocka_unit_test(devices_are_chosen_by_name_or_index),
        cmocka_unit_test(the_environment_names_the_device),
        cmocka_unit_test(the_number_of_workers_can_be_chosen),
        cmocka_unit_test(a_setting_that_is_not_accepted_is_named),
        cmocka_unit_test(every_number_of_workers_gives_the_same_result),
        cmocka_unit_test(descriptors_that_make_no_sense_are_refused),
        cmocka_unit_test(new_buffers_are_zero_and_as_described),
        cmocka_unit_test(labels_are_kept),
        cmocka_unit_test(ids_are_unique_and_never_used_again),
        cmocka_unit_test(bytes_are_copied_into_every_storage),
        cmocka_unit_test(private_buffers_can_be_computed_on),
        cmocka_unit_test(memory_of_the_caller_is_used_in_place_and_given_back_once),
        cmocka_unit_test(memory_of_the_caller_may_start_anywhere),
        cmocka_unit_test(a_buffer_that_could_not_be_made_gives_nothing_back),
        cmocka_unit_test(reads_and_writes_are_checked),
        cmocka_unit_test(did_modify_is_for_managed_buffers_and_checked),
        cmocka_unit_test(statistics_follow_the_buffers),
        cmocka_unit_test(addresses_inside_buffers_work_as_pointers),
        cmocka_unit_test(memory_past_four_gigabytes_is_reached),
        cmocka_unit_test(objects_may_be_released_in_any_order),
        cmocka_unit_test(children_keep_their_parents_alive),
        cmocka_unit_test(retained_objects_need_as_many_releases),
    };
    return cmocka_run_group_tests_name("buffers", tests, open_test_device, close_test_device);
}
