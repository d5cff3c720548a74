// SPDX-License-Identifier: Apache-2.0
// Dispatches compared with a model on the host: positions and sizes in grids of every shape, indirect counts, huge
// grids, and the floating-point environment.
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "helpers.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

// ---- Positions and sizes ----

// Every built-in value, in this order, with its number of components.
#define BUILTINS(X)                           \
    X(thread_position_in_grid, 3)             \
    X(thread_position_in_threadgroup, 3)      \
    X(threadgroup_position_in_grid, 3)        \
    X(threads_per_grid, 3)                    \
    X(threads_per_threadgroup, 3)             \
    X(threadgroups_per_grid, 3)               \
    X(dispatch_threads_per_threadgroup, 3)    \
    X(grid_origin, 3)                         \
    X(grid_size, 3)                           \
    X(thread_index_in_threadgroup, 1)         \
    X(thread_index_in_simdgroup, 1)           \
    X(thread_index_in_quadgroup, 1)           \
    X(simdgroup_index_in_threadgroup, 1)      \
    X(quadgroup_index_in_threadgroup, 1)      \
    X(simdgroups_per_threadgroup, 1)          \
    X(quadgroups_per_threadgroup, 1)          \
    X(dispatch_simdgroups_per_threadgroup, 1) \
    X(dispatch_quadgroups_per_threadgroup, 1) \
    X(threads_per_simdgroup, 1)               \
    X(thread_execution_width, 1)

static const struct {
    const char *name;
    int components;
} builtins[] = {
#define BUILTIN(name, components) {#name, components},
    BUILTINS(BUILTIN)
#undef BUILTIN
};
enum { BUILTIN_COUNT = LENGTH(builtins), WORDS = 9 * 3 + 11 + 1 };  // the last word counts how often the thread ran

// Kernels of the three forms that code can take: no waiting, a barrier, a lane operation; and one whose threadgroups run
// in another order.
static char *kernel_source(void) {
    static const struct {
        const char *name, *wait;
    } kernels[] = {{"plain", ""},
                   {"barrier", "    threadgroup_barrier(mem_flags::mem_device);\n"},
                   {"lanes", "    if (simd_sum(1u) == 0) return;\n"},
                   {"product",
                    "    simdgroup_float8x8 m(1.0f);\n    simdgroup_multiply(m, m, m);\n"
                    "    if (m.thread_elements()[0] > 2) return;\n"}};
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    fprintf(out, "#include <metal_stdlib>\n#include <metal_simdgroup_matrix>\nusing namespace metal;\n");
    for (size_t k = 0; k < LENGTH(kernels); k++) {
        fprintf(out, "kernel void %s(device uint *out [[buffer(0)]]", kernels[k].name);
        for (size_t i = 0; i < BUILTIN_COUNT; i++)
            fprintf(out, ",\n    uint%s %s_ [[%s]]", builtins[i].components == 3 ? "3" : "", builtins[i].name,
                    builtins[i].name);
        fprintf(out, ") {\n%s    uint3 p = thread_position_in_grid_, g = threads_per_grid_;\n", kernels[k].wait);
        fprintf(out, "    device uint *o = out + ((ulong(p.z) * g.y + p.y) * g.x + p.x) * %d;\n    uint n = 0;\n",
                WORDS);
        for (size_t i = 0; i < BUILTIN_COUNT; i++) {
            if (builtins[i].components == 3)
                fprintf(out, "    o[n++] = %s_.x; o[n++] = %s_.y; o[n++] = %s_.z;\n", builtins[i].name,
                        builtins[i].name, builtins[i].name);
            else
                fprintf(out, "    o[n++] = %s_;\n", builtins[i].name);
        }
        fprintf(out, "    atomic_fetch_add_explicit((device atomic_uint *)(o + n), 1u, memory_order_relaxed);\n}\n");
    }
    fclose(out);
    return text;
}

typedef struct shape {
    uint32_t grid[3], group[3];
} shape;

static void put3(uint32_t **out, uint32_t x, uint32_t y, uint32_t z) {
    *(*out)++ = x, *(*out)++ = y, *(*out)++ = z;
}

// What the thread at `at` must see (MSL specification, table of attributes for kernel inputs).
static void model(const shape *s, const uint32_t at[3], uint32_t words[WORDS]) {
    uint32_t *out = words, in[3], group[3], size[3], groups[3];
    for (int i = 0; i < 3; i++) {
        in[i] = at[i] % s->group[i];
        group[i] = at[i] / s->group[i];
        groups[i] = (s->grid[i] + s->group[i] - 1) / s->group[i];
        uint32_t left = s->grid[i] - group[i] * s->group[i];
        size[i] = left < s->group[i] ? left : s->group[i];
    }
    uint32_t index = (in[2] * size[1] + in[1]) * size[0] + in[0], threads = size[0] * size[1] * size[2];
    uint32_t full = s->group[0] * s->group[1] * s->group[2];
    put3(&out, at[0], at[1], at[2]);
    put3(&out, in[0], in[1], in[2]);
    put3(&out, group[0], group[1], group[2]);
    put3(&out, s->grid[0], s->grid[1], s->grid[2]);
    put3(&out, size[0], size[1], size[2]);
    put3(&out, groups[0], groups[1], groups[2]);
    put3(&out, s->group[0], s->group[1], s->group[2]);
    put3(&out, 0, 0, 0);
    put3(&out, s->grid[0], s->grid[1], s->grid[2]);
    *out++ = index, *out++ = index % 32, *out++ = index % 4, *out++ = index / 32, *out++ = index / 4;
    *out++ = (threads + 31) / 32, *out++ = (threads + 3) / 4, *out++ = (full + 31) / 32, *out++ = (full + 3) / 4;
    *out++ = 32, *out++ = 32, *out++ = 1;
}

static void explain(const shape *s, const char *kernel, const uint32_t at[3], const uint32_t *seen,
                    const uint32_t *wanted) {
    size_t word = 0;
    for (size_t i = 0; i < BUILTIN_COUNT; word += (size_t)builtins[i++].components) {
        if (memcmp(seen + word, wanted + word, 4 * (size_t)builtins[i].components) == 0) continue;
        print_error("%s: %u %u %u (wanted %u %u %u)\n", builtins[i].name, seen[word], seen[word + 1], seen[word + 2],
                    wanted[word], wanted[word + 1], wanted[word + 2]);
    }
    fail_msg("%s: grid %u %u %u, group %u %u %u, thread %u %u %u ran %u times", kernel, s->grid[0], s->grid[1],
             s->grid[2], s->group[0], s->group[1], s->group[2], at[0], at[1], at[2], seen[WORDS - 1]);
}

static void check_shape(const shape *s, const char *kernel, const uint32_t *words) {
    uint32_t at[3], wanted[WORDS];
    for (at[2] = 0; at[2] < s->grid[2]; at[2]++)
        for (at[1] = 0; at[1] < s->grid[1]; at[1]++)
            for (at[0] = 0; at[0] < s->grid[0]; at[0]++, words += WORDS) {
                model(s, at, wanted);
                if (memcmp(words, wanted, sizeof wanted) != 0) explain(s, kernel, at, words, wanted);
            }
}

enum { MAX_THREADS = 6000 };

static uint32_t random_side(random_state *random, uint64_t most) {
    if (most < 1) most = 1;
    uint64_t narrow = random_below(random, 3) ? most : (most > 40 ? 40 : most);
    return 1 + (uint32_t)random_below(random, narrow);
}

static shape random_shape(random_state *random, bool whole_groups) {
    shape s = {{1, 1, 1}, {1, 1, 1}};
    int dimensions = 1 + (int)random_below(random, 3);
    uint64_t threads = 1 + random_below(random, MAX_THREADS), group_threads = 1024;
    for (int i = 0; i < dimensions; i++) {
        int axis = (i + (int)random_below(random, 3)) % 3;
        if (s.group[axis] == 1) s.group[axis] = random_side(random, group_threads), group_threads /= s.group[axis];
        if (s.grid[axis] == 1) s.grid[axis] = random_side(random, threads), threads /= s.grid[axis];
    }
    if (whole_groups) {
        uint64_t total = (uint64_t)s.group[0] * s.group[1] * s.group[2];
        for (int i = 0; i < 3; i++) {
            uint32_t count = random_side(random, MAX_THREADS / total < 7 ? MAX_THREADS / total : 7);
            s.grid[i] = s.group[i] * count;
            total *= count;
        }
    }
    return s;
}

static void check_random_shapes(bool whole_groups, uint64_t seed, int count) {
    char *source = kernel_source();
    ig_library *library = compile(source);
    free(source);
    random_state random = {seed};
    static const char *const names[] = {"plain", "barrier", "lanes", "product"};
    for (size_t k = 0; k < LENGTH(names); k++) {
        ig_pipeline *pipeline = pipeline_of(library, names[k]);
        ig_buffer *buffer = make_buffer(4ull * WORDS * MAX_THREADS);
        for (int i = 0; i < count; i++) {
            shape s = random_shape(&random, whole_groups);
            memset(ig_buffer_contents(buffer), 0, 4ull * WORDS * s.grid[0] * s.grid[1] * s.grid[2]);
            ig_size group = {s.group[0], s.group[1], s.group[2]}, grid = {s.grid[0], s.grid[1], s.grid[2]};
            if (whole_groups) grid = (ig_size){grid.x / group.x, grid.y / group.y, grid.z / group.z};
            do_run(&(run){.pipeline = pipeline,
                          .buffers = &buffer,
                          .buffer_count = 1,
                          .grid = grid,
                          .group = group,
                          .groups = whole_groups});
            check_shape(&s, names[k], ig_buffer_contents(buffer));
        }
        ig_buffer_release(buffer);
        ig_pipeline_release(pipeline);
    }
    ig_library_release(library);
}

static void threads_see_their_place_in_grids_of_any_shape(void **state) {
    (void)state;
    check_random_shapes(false, 20240601, 150);
}

static void threads_see_their_place_in_whole_threadgroups(void **state) {
    (void)state;
    check_random_shapes(true, 20240602, 80);
}

static void chosen_groups_cover_the_grid_once(void **state) {
    (void)state;
    char *source = kernel_source();
    ig_pipeline *pipeline = make_pipeline(source, "barrier");
    free(source);
    ig_buffer *buffer = make_buffer(4ull * WORDS * MAX_THREADS);
    random_state random = {3};
    for (int i = 0; i < 60; i++) {
        shape s = random_shape(&random, false);
        ig_size grid = {s.grid[0], s.grid[1], s.grid[2]}, group = ig_pipeline_threadgroup_size(pipeline, grid);
        s.group[0] = (uint32_t)group.x, s.group[1] = (uint32_t)group.y, s.group[2] = (uint32_t)group.z;
        memset(ig_buffer_contents(buffer), 0, 4ull * WORDS * grid.x * grid.y * grid.z);
        do_run(&(run){.pipeline = pipeline, .buffers = &buffer, .buffer_count = 1, .grid = grid});
        check_shape(&s, "chosen", ig_buffer_contents(buffer));
    }
    ig_buffer_release(buffer);
    ig_pipeline_release(pipeline);
}

static void built_ins_come_in_every_type_msl_allows(void **state) {
    (void)state;
    static const char *const types[] = {"uint", "ushort", "uint2", "ushort2", "uint3", "ushort3"};
    for (size_t i = 0; i < LENGTH(types); i++) {
        char source[600];
        bool scalar = i < 2;
        snprintf(source, sizeof source,
                 "#include <metal_stdlib>\nusing namespace metal;\n"
                 "kernel void k(device uint *a [[buffer(0)]], %s p [[thread_position_in_grid]],\n"
                 "              %s s [[threads_per_threadgroup]], %s i [[thread_index_in_threadgroup]]) {\n"
                 "    a[%s] = %s * 1000 + uint(i);\n}\n",
                 types[i], types[i], i % 2 ? "ushort" : "uint", scalar ? "p" : "p.x", scalar ? "s" : "s.x");
        uint32_t words[100] = {0};
        run_on_words(source, "k", words, 100, 100);
        for (uint32_t k = 0; k < 100; k++) assert_int_equal(words[k], (k < 128 ? 100 : 128) * 1000 + k);
    }
}

// ---- Nothing to do ----

static const char count_source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void count(device atomic_uint *a [[buffer(0)]]) { atomic_fetch_add_explicit(a, 1u, memory_order_relaxed); "
    "}\n"
    "kernel void groups(device atomic_uint *a [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {\n"
    "    if (i == 0) atomic_fetch_add_explicit(a, 1u, memory_order_relaxed);\n"
    "}\n"
    "kernel void corners(device uint *a [[buffer(0)]], uint3 p [[thread_position_in_grid]],\n"
    "                    uint3 n [[threads_per_grid]]) {\n"
    "    if (p.x == n.x - 1 && p.y == n.y - 1) { a[0] = p.x; a[1] = p.y; a[2] = n.x; a[3] = n.y; }\n"
    "}\n"
    "kernel void write_counts(device uint *a [[buffer(0)]], constant uint3 &n [[buffer(1)]]) {\n"
    "    a[4] = n.x; a[5] = n.y; a[6] = n.z;\n"
    "}\n";

static uint32_t count_threads(ig_size grid, ig_size group, bool groups) {
    ig_pipeline *pipeline = make_pipeline(count_source, "count");
    ig_buffer *buffer = make_buffer(64);
    do_run(&(run){
        .pipeline = pipeline, .buffers = &buffer, .buffer_count = 1, .grid = grid, .group = group, .groups = groups});
    uint32_t count = *(uint32_t *)ig_buffer_contents(buffer);
    ig_buffer_release(buffer);
    ig_pipeline_release(pipeline);
    return count;
}

static void empty_grids_run_nothing(void **state) {
    (void)state;
    assert_int_equal(count_threads((ig_size){0, 0, 0}, line(32), false), 0);
    assert_int_equal(count_threads((ig_size){0, 5, 5}, line(32), false), 0);
    assert_int_equal(count_threads((ig_size){0, 0, 0}, (ig_size){0}, false), 0);
    assert_int_equal(count_threads((ig_size){0, 1, 1}, line(32), true), 0);
    assert_int_equal(count_threads((ig_size){0, 0, 0}, (ig_size){0}, true), 0);
}

static void missing_heights_and_depths_count_as_one(void **state) {
    (void)state;
    assert_int_equal(count_threads((ig_size){7, 0, 0}, (ig_size){2, 0, 0}, false), 7);
    assert_int_equal(count_threads((ig_size){7, 3, 0}, (ig_size){2, 2, 0}, false), 21);
    assert_int_equal(count_threads((ig_size){7, 0, 2}, (ig_size){2, 0, 1}, true), 28);
}

// ---- Indirect ----

static uint32_t count_indirect(const uint32_t counts[3], uint64_t offset, ig_size group) {
    ig_pipeline *pipeline = make_pipeline(count_source, "count");
    ig_buffer *buffer = make_buffer(64), *where = make_buffer(64);
    memcpy((char *)ig_buffer_contents(where) + offset, counts, 12);
    ig_queue *queue = make_queue();
    ig_commands *commands = make_commands(queue);
    ig_commands_set_pipeline(commands, pipeline);
    ig_commands_set_buffer(commands, buffer, 0, 0);
    assert_ok(ig_commands_dispatch_indirect(commands, where, offset, group));
    assert_ok(ig_commands_commit(commands));
    assert_ok(ig_commands_wait(commands, IG_FOREVER));
    uint32_t count = *(uint32_t *)ig_buffer_contents(buffer);
    ig_commands_release(commands);
    ig_queue_release(queue);
    ig_buffer_release(buffer), ig_buffer_release(where);
    ig_pipeline_release(pipeline);
    return count;
}

static void indirect_counts_are_read_from_the_buffer(void **state) {
    (void)state;
    assert_int_equal(count_indirect((uint32_t[]){3, 1, 1}, 0, line(32)), 96);
    assert_int_equal(count_indirect((uint32_t[]){3, 4, 5}, 52, (ig_size){2, 3, 1}), 360);
    assert_int_equal(count_indirect((uint32_t[]){2, 1, 1}, 8, (ig_size){0}), 512);  // groups of 256 are chosen
}

static void indirect_counts_of_zero_run_nothing(void **state) {
    (void)state;
    assert_int_equal(count_indirect((uint32_t[]){0, 0, 0}, 0, line(32)), 0);
    assert_int_equal(count_indirect((uint32_t[]){5, 0, 5}, 4, line(32)), 0);
}

static void indirect_counts_may_come_from_a_kernel_before(void **state) {
    (void)state;
    ig_library *library = compile(count_source);
    ig_pipeline *write = pipeline_of(library, "write_counts"), *count = pipeline_of(library, "count");
    ig_buffer *buffer = make_buffer(64);
    ig_queue *queue = make_queue();
    ig_commands *commands = make_commands(queue);
    uint32_t expected = 0;
    assert_ok(ig_commands_set_buffer(commands, buffer, 0, 0));
    for (uint32_t i = 0; i < 20; i++) {
        uint32_t n[4] = {i % 4, 1 + i % 3, 2};
        ig_commands_set_pipeline(commands, write);
        ig_commands_set_bytes(commands, n, 16, 1);
        ig_commands_dispatch_threads(commands, line(1), line(1));
        ig_commands_set_pipeline(commands, count);
        assert_ok(ig_commands_dispatch_indirect(commands, buffer, 16, line(8)));
        expected += n[0] * n[1] * n[2] * 8;
    }
    assert_ok(ig_commands_commit(commands));
    assert_ok(ig_commands_wait(commands, IG_FOREVER));
    assert_int_equal(*(uint32_t *)ig_buffer_contents(buffer), expected);
    ig_commands_release(commands);
    ig_queue_release(queue);
    ig_buffer_release(buffer);
    ig_pipeline_release(write), ig_pipeline_release(count);
    ig_library_release(library);
}

static ig_status run_indirect_threads(const uint32_t counts[6], uint64_t offset, uint32_t *ran, ig_error *error) {
    ig_pipeline *pipeline = make_pipeline(count_source, "count");
    ig_buffer *buffer = make_buffer(64), *where = make_buffer(64);
    memcpy((char *)ig_buffer_contents(where) + offset, counts, 24);
    ig_queue *queue = make_queue();
    ig_commands *commands = make_commands(queue);
    ig_commands_set_pipeline(commands, pipeline);
    ig_commands_set_buffer(commands, buffer, 0, 0);
    assert_ok(ig_commands_dispatch_threads_indirect(commands, where, offset));
    assert_ok(ig_commands_commit(commands));
    ig_status status = ig_commands_wait(commands, IG_FOREVER);
    if (status != IG_STATUS_OK) ig_commands_get_error(commands, error);
    *ran = *(uint32_t *)ig_buffer_contents(buffer);
    ig_commands_release(commands);
    ig_queue_release(queue);
    ig_buffer_release(buffer), ig_buffer_release(where);
    ig_pipeline_release(pipeline);
    return status;
}

static void grids_and_groups_are_read_from_the_buffer(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    static const uint32_t right[][6] = {
        {100, 1, 1, 32, 1, 1}, {7, 5, 3, 4, 2, 2}, {1, 1, 1, 256, 1, 1}, {0, 4, 4, 8, 1, 1}, {1000, 2, 1, 1, 2, 1}};
    static const struct {
        uint32_t counts[6];
        ig_status status;
        const char *text;
    } wrong[] = {
        {{8, 1, 1, 0, 1, 1}, IG_STATUS_INVALID_ARGUMENT, "'count'"},
        {{8, 1, 1, 8, 1, 0}, IG_STATUS_INVALID_ARGUMENT, "no threads"},
        {{8, 1, 1, 2048, 1, 1}, IG_STATUS_THREADGROUP_TOO_LARGE, "2048 x 1 x 1"},
        {{8, 1, 1, 0x10000, 0x10000, 0x10000}, IG_STATUS_THREADGROUP_TOO_LARGE, "65536"},
    };
    ig_error error = {0};
    uint32_t ran;
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        assert_ok(run_indirect_threads(right[i], 4 * i, &ran, &error));
        assert_int_equal(ran, right[i][0] * right[i][1] * right[i][2]);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_status(run_indirect_threads(wrong[i].counts, 40, &ran, &error), wrong[i].status);
        assert_contains(error.message, wrong[i].text);
        assert_int_equal(ran, 0);
        ig_error_clear(&error);
    }
}

static void indirect_counts_that_overflow_fail_the_command_buffer(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    ig_pipeline *pipeline = make_pipeline(count_source, "count");
    const uint32_t counts[3] = {UINT32_MAX, 1, 1};
    ig_buffer *buffer = make_buffer(64), *where = NULL;
    assert_ok(ig_buffer_create(device, &(ig_buffer_desc){.length = 12, .bytes = counts}, &where));
    ig_queue *queue = make_queue();
    ig_commands *commands = make_commands(queue);
    ig_error error = {0};
    ig_commands_set_pipeline(commands, pipeline);
    ig_commands_set_buffer(commands, buffer, 0, 0);
    assert_ok(ig_commands_dispatch_indirect(commands, where, 0, line(2)));
    assert_ok(ig_commands_commit(commands));
    assert_status(ig_commands_wait(commands, IG_FOREVER), IG_STATUS_OVERFLOW);
    ig_commands_get_error(commands, &error);
    assert_contains(error.message, "4294967295");
    ig_error_clear(&error);
    ig_commands_release(commands);
    ig_queue_release(queue);
    ig_buffer_release(buffer), ig_buffer_release(where);
    ig_pipeline_release(pipeline);
}

// ---- Large grids ----

static void grids_of_more_than_2_to_the_32_threads_run_whole(void **state) {
    (void)state;
    ig_pipeline *pipeline = make_pipeline(count_source, "groups");
    ig_buffer *buffer = make_buffer(64);
    uint64_t start = now_ns();
    do_run(&(run){
        .pipeline = pipeline, .buffers = &buffer, .buffer_count = 1, .grid = {65536, 65537, 1}, .group = {1024, 1, 1}});
    print_message("2^32 threads in %.2f s\n", (double)(now_ns() - start) * 1e-9);
    assert_int_equal(*(uint32_t *)ig_buffer_contents(buffer), 64 * 65537);
    ig_buffer_release(buffer);
    ig_pipeline_release(pipeline);
}

static void the_last_thread_of_the_longest_side_is_reached(void **state) {
    (void)state;
    ig_pipeline *pipeline = make_pipeline(count_source, "corners");
    ig_buffer *buffer = make_buffer(64);
    do_run(&(run){.pipeline = pipeline,
                  .buffers = &buffer,
                  .buffer_count = 1,
                  .grid = {UINT32_MAX, 1, 1},
                  .group = {1024, 1, 1}});
    const uint32_t *words = ig_buffer_contents(buffer);
    assert_int_equal(words[0], UINT32_MAX - 1);
    assert_int_equal(words[2], UINT32_MAX);
    ig_buffer_release(buffer);
    ig_pipeline_release(pipeline);
}

// ---- Rows longer than dispatched ----

static const char free_source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void where(device uint *out [[buffer(0)]], uint3 at [[thread_position_in_grid]],\n"
    "                  uint3 size [[threads_per_grid]]) {\n"
    "    uint i = (at.z * size.y + at.y) * size.x + at.x;\n"
    "    out[i] += i * 3 + at.x;\n"
    "}\n"
    "kernel void where_in_group(device uint *out [[buffer(0)]], uint3 at [[thread_position_in_grid]],\n"
    "                           uint3 size [[threads_per_grid]], uint3 group [[threadgroup_position_in_grid]]) {\n"
    "    uint i = (at.z * size.y + at.y) * size.x + at.x;\n"
    "    out[i] += i * 3 + at.x + 1000 * group.x;\n"
    "}\n";

// Threads that do not use their threadgroup may run in other groups, but each runs exactly once.
static void threads_of_large_grids_run_once_in_groups_of_any_shape(void **state) {
    (void)state;
    static const ig_size grids[] = {{1100, 37, 5}, {256, 64, 8}, {70001, 1, 1}, {3, 50000, 1}, {1024, 100, 1}};
    static const ig_size groups[] = {{7, 3, 2}, {32, 4, 1}, {256, 1, 1}, {1, 1, 1}, {16, 16, 4}};
    static const char *const kernels[] = {"where", "where_in_group"};
    for (size_t k = 0; k < 2; k++) {
        ig_pipeline *pipeline = make_pipeline(free_source, kernels[k]);
        for (size_t g = 0; g < LENGTH(grids) * LENGTH(groups); g++) {
            ig_size grid = grids[g / LENGTH(groups)], group = groups[g % LENGTH(groups)];
            uint64_t count = grid.x * grid.y * grid.z;
            ig_buffer *buffer = make_buffer(count * 4);
            do_run(&(run){.pipeline = pipeline, .buffers = &buffer, .buffer_count = 1, .grid = grid, .group = group});
            const uint32_t *out = ig_buffer_contents(buffer);
            for (uint32_t i = 0; i < count; i++) {
                uint32_t x = i % (uint32_t)grid.x, expected = i * 3 + x + (k ? 1000 * (x / (uint32_t)group.x) : 0);
                if (out[i] != expected) fail_msg("%s: element %u is %u, not %u", kernels[k], i, out[i], expected);
            }
            ig_buffer_release(buffer);
        }
        ig_pipeline_release(pipeline);
    }
}

// ---- Large kernels ----

// Beyond a thousand instructions, other passes are used.
static void large_kernels_keep_their_barriers(void **state) {
    (void)state;
    enum { STEPS = 400, THREADS = 100 };
    char *source = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&source, &length);
    fprintf(out,
            "#include <metal_stdlib>\nusing namespace metal;\n"
            "kernel void k(device uint *a [[buffer(0)]], uint i [[thread_index_in_threadgroup]],\n"
            "              uint n [[threads_per_threadgroup]]) {\n    threadgroup uint t[%d];\n    uint x = a[i];\n",
            THREADS);
    for (int s = 0; s < STEPS; s++)
        fprintf(out, "    x = (x ^ %uu) * %uu + (x >> %d);\n", s * 77u, 2 * s + 3u, s % 13 + 1);
    fprintf(out, "    t[i] = x;\n    threadgroup_barrier(mem_flags::mem_threadgroup);\n    a[i] = t[n - 1 - i];\n}\n");
    fclose(out);
    ig_pipeline *pipeline = make_pipeline(source, "k");
    ig_buffer *buffer = make_buffer(THREADS * 4);
    uint32_t *words = ig_buffer_contents(buffer), expected[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        uint32_t x = words[i] = i * 12345;
        for (uint32_t s = 0; s < STEPS; s++) x = (x ^ (s * 77u)) * (2 * s + 3u) + (x >> (s % 13 + 1));
        expected[THREADS - 1 - i] = x;
    }
    do_run(&(run){
        .pipeline = pipeline, .buffers = &buffer, .buffer_count = 1, .grid = line(THREADS), .group = line(THREADS)});
    assert_memory_equal(words, expected, sizeof expected);
    ig_buffer_release(buffer);
    ig_pipeline_release(pipeline);
    free(source);
}

// ---- Floating point ----

static const char float_source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void k(device float *a [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
    "    float x = a[2 * i], y = a[2 * i + 1];\n"
    "    a[2 * i] = x + y;\n"
    "    a[2 * i + 1] = x / y;\n"
    "}\n";

enum { PAIRS = 5000, FLOATS = 2 * PAIRS, BYTES = 4 * FLOATS };

static void run_floats(ig_pipeline *pipeline, float *values) {
    ig_buffer *buffer = make_buffer(BYTES);
    memcpy(ig_buffer_contents(buffer), values, BYTES);
    do_run(&(run){.pipeline = pipeline, .buffers = &buffer, .buffer_count = 1, .grid = line(PAIRS)});
    memcpy(values, ig_buffer_contents(buffer), BYTES);
    ig_buffer_release(buffer);
}

static ig_pipeline *make_safe(const char *source) {
    ig_library *library = compile_on(device, &(ig_library_desc){.source = source, .math_mode = IG_MATH_SAFE});
    ig_pipeline *pipeline = pipeline_of(library, "k");
    ig_library_release(library);
    return pipeline;
}

static void kernels_round_to_nearest_whatever_the_host_does(void **state) {
    (void)state;
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    ig_pipeline *pipeline = make_safe(float_source);
    float given[FLOATS], expected[FLOATS], seen[FLOATS];
    random_state random = {17};
    for (int i = 0; i < FLOATS; i++) given[i] = (float)(random_u64(&random) % 1000003) / 7919.0f + 0.001f;
    for (size_t i = 0; i < PAIRS; i++) {
        volatile float x = given[2 * i], y = given[2 * i + 1];
        expected[2 * i] = x + y, expected[2 * i + 1] = x / y;
    }
    for (size_t m = 0; m < LENGTH(modes); m++) {
        memcpy(seen, given, sizeof seen);
        fesetround(modes[m]);
        run_floats(pipeline, seen);
        int mode = fegetround();
        fesetround(FE_TONEAREST);
        assert_int_equal(mode, modes[m]);
        assert_memory_equal(seen, expected, sizeof seen);
    }
    ig_pipeline_release(pipeline);
}

static void safe_mode_keeps_denormals(void **state) {
    (void)state;
    ig_pipeline *pipeline = make_safe(float_source);
    float values[FLOATS];
    for (size_t i = 0; i < PAIRS; i++) values[2 * i] = 1e-40f, values[2 * i + 1] = 2e-40f;
    run_floats(pipeline, values);
    for (size_t i = 0; i < PAIRS; i++) {
        assert_true(values[2 * i] == 1e-40f + 2e-40f);
        assert_true(values[2 * i + 1] > 0.49f && values[2 * i + 1] < 0.51f);
    }
    ig_pipeline_release(pipeline);
}

#if defined(__x86_64__)
static void the_hosts_float_mode_is_left_alone(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    ig_pipeline *pipelines[2] = {make_pipeline(float_source, "k"), make_safe(float_source)};
    static const unsigned modes[] = {0x1f80, 0x9fc0, 0x7f80, 0x1fbf, 0x1f80 | 0x3f};
    unsigned kept = _mm_getcsr();
    for (size_t m = 0; m < LENGTH(modes); m++)
        for (int p = 0; p < 2; p++) {
            float values[FLOATS];
            for (size_t i = 0; i < PAIRS; i++) values[2 * i] = 1e-40f, values[2 * i + 1] = i % 2 ? 0.0f : 3.0f;
            _mm_setcsr(modes[m]);
            run_floats(pipelines[p], values);
            unsigned after = _mm_getcsr();
            _mm_setcsr(kept);
            assert_int_equal(after, modes[m]);
        }
    for (int p = 0; p < 2; p++) ig_pipeline_release(pipelines[p]);
}

static void traps_of_the_host_do_not_reach_kernels(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    ig_pipeline *pipeline = make_safe(float_source);
    float values[FLOATS];
    for (size_t i = 0; i < PAIRS; i++) values[2 * i] = 1, values[2 * i + 1] = 0;
    unsigned kept = _mm_getcsr();
    _mm_setcsr(0x0000);  // every exception traps
    ig_buffer *buffer = make_buffer(BYTES);
    memcpy(ig_buffer_contents(buffer), values, sizeof values);
    ig_status status =
        try_run(&(run){.pipeline = pipeline, .buffers = &buffer, .buffer_count = 1, .grid = line(PAIRS)});
    _mm_setcsr(kept);
    assert_ok(status);
    assert_true(((float *)ig_buffer_contents(buffer))[1] > 3e38f);
    ig_buffer_release(buffer);
    ig_pipeline_release(pipeline);
}
#endif

// ---- Large private memory ----

static void private_arrays_of_a_megabyte_work(void **state) {
    (void)state;
    static const char *const kernels[] = {"alone", "together"};
    for (size_t k = 0; k < LENGTH(kernels); k++) {
        uint32_t words[64];
        for (uint32_t i = 0; i < 64; i++) words[i] = i;
        run_on_words(
            "#include <metal_stdlib>\n"
            "using namespace metal;\n"
            "uint fill(thread uint *big, uint seed) {\n"
            "    for (uint k = 0; k < 262144; k++) big[k] = (k * 2654435761u) ^ seed;\n"
            "    uint sum = 0;\n"
            "    for (uint k = 0; k < 1000; k++) sum += big[(k * 7919u + seed) % 262144];\n"
            "    return sum;\n"
            "}\n"
            "kernel void alone(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
            "    uint big[262144];\n"
            "    a[i] = fill(big, a[i]);\n"
            "}\n"
            "kernel void together(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
            "    uint big[262144];\n"
            "    a[i] = fill(big, a[i]);\n"
            "    threadgroup_barrier(mem_flags::mem_device);\n"
            "    a[i] ^= big[i] ^ big[i];\n"
            "}\n",
            kernels[k], words, 64, 64);
        for (uint32_t i = 0; i < 64; i++) {
            uint32_t sum = 0;
            for (uint32_t n = 0; n < 1000; n++) sum += ((n * 7919u + i) % 262144 * 2654435761u) ^ i;
            assert_int_equal(words[i], sum);
        }
    }
}

// ---- bfloat ----

// The float of these bits rounded to nearest even, computed by hand.
static uint32_t rounded_to_bfloat(uint32_t bits) {
    if ((bits & 0x7fffffff) > 0x7f800000) return bits | 0x400000;
    uint32_t up = bits & 0x8000 && (bits & 0x1ffff) != 0x8000 ? 0x10000 : 0;
    return (bits & 0xffff0000) + up;
}

static void bfloats_are_rounded_to_nearest_even(void **state) {
    (void)state;
    static const char source[] =
        "#include <metal_stdlib>\nusing namespace metal;\n"
        "kernel void k(device uint *w, uint i [[thread_position_in_grid]]) {"
        "    bfloat b = bfloat(as_type<float>(w[i]));"
        "    w[i] = as_type<uint>(float(b));"
        "}";
    static const uint32_t low[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff},
                          high[] = {0x3f80, 0x3f81, 0xbf80, 0x4049, 0x7f7f};
    uint32_t words[30], given[30];
    for (int i = 0; i < 30; i++) given[i] = words[i] = high[i / 6] << 16 | low[i % 6];
    run_on_words(source, "k", words, 30, 30);
    for (int i = 0; i < 30; i++) assert_int_equal(words[i], rounded_to_bfloat(given[i]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bfloats_are_rounded_to_nearest_even),
        cmocka_unit_test(threads_see_their_place_in_grids_of_any_shape),
        cmocka_unit_test(threads_see_their_place_in_whole_threadgroups),
        cmocka_unit_test(chosen_groups_cover_the_grid_once),
        cmocka_unit_test(built_ins_come_in_every_type_msl_allows),
        cmocka_unit_test(empty_grids_run_nothing),
        cmocka_unit_test(missing_heights_and_depths_count_as_one),
        cmocka_unit_test(indirect_counts_are_read_from_the_buffer),
        cmocka_unit_test(indirect_counts_of_zero_run_nothing),
        cmocka_unit_test(indirect_counts_may_come_from_a_kernel_before),
        cmocka_unit_test(grids_and_groups_are_read_from_the_buffer),
        cmocka_unit_test(indirect_counts_that_overflow_fail_the_command_buffer),
        cmocka_unit_test(grids_of_more_than_2_to_the_32_threads_run_whole),
        cmocka_unit_test(the_last_thread_of_the_longest_side_is_reached),
        cmocka_unit_test(threads_of_large_grids_run_once_in_groups_of_any_shape),
        cmocka_unit_test(large_kernels_keep_their_barriers),
        cmocka_unit_test(kernels_round_to_nearest_whatever_the_host_does),
        cmocka_unit_test(safe_mode_keeps_denormals),
#if defined(__x86_64__)
        cmocka_unit_test(the_hosts_float_mode_is_left_alone),
        cmocka_unit_test(traps_of_the_host_do_not_reach_kernels),
#endif
        cmocka_unit_test(private_arrays_of_a_megabyte_work),
    };
    return cmocka_run_group_tests_name("dispatch", tests, open_test_device, close_test_device);
}
