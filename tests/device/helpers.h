// SPDX-License-Identifier: Apache-2.0
// Shared by the device tests: one device on a temporary cache, compiling, binding, running, waiting.
#ifndef INGOT_TESTS_DEVICE_HELPERS_H
#define INGOT_TESTS_DEVICE_HELPERS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka last: it needs the four above.
#include <cmocka.h>
#include <ingot/ingot.h>
#include <stdbool.h>

// Group fixtures: every test of the program has `device` and `cache_dir`, a temporary directory.
extern ig_device *device;
extern char *cache_dir;
int open_test_device(void **state);
int close_test_device(void **state);
bool on_software_device(void);
// For tests of features that only the software device has: its compiler, its cache, its threads.
#define SOFTWARE_DEVICE_ONLY() \
    if (!on_software_device()) skip()

#define assert_status(call, expected) assert_string_equal(ig_status_name(call), ig_status_name(expected))
#define assert_ok(call) assert_status(call, IG_STATUS_OK)
#define assert_contains(text, part) expect_contains(text, part, __FILE__, __LINE__)
#define SECONDS(n) ((uint64_t)((n) * 1e9))
#define LENGTH(array) (sizeof(array) / sizeof *(array))

static inline ig_size line(uint64_t length) {
    return (ig_size){length, 1, 1};
}

void expect_contains(const char *text, const char *part, const char *file, int line);

// All of these fail the test, showing the compiler's log, if they fail.
ig_device *open_device(const ig_device_desc *desc);  // NULL cache_dir: that of `device`
ig_library *compile_on(ig_device *on, const ig_library_desc *desc);
ig_library *compile(const char *source);
ig_pipeline *pipeline_of(ig_library *library, const char *kernel);
ig_pipeline *make_pipeline_on(ig_device *on, const char *source, const char *kernel);
ig_pipeline *make_pipeline(const char *source, const char *kernel);
ig_buffer *make_buffer_on(ig_device *on, uint64_t length);
ig_buffer *make_buffer(uint64_t length);
ig_queue *make_queue(void);
ig_commands *make_commands(ig_queue *queue);

// One dispatch of whole threads with the buffers in slots 0, 1, ...
typedef struct run {
    ig_device *on;  // NULL: the program's
    ig_pipeline *pipeline;
    ig_buffer *const *buffers;
    size_t buffer_count;
    ig_size grid, group;
    bool groups;  // grid counts threadgroups
    uint64_t deadline_ns;
    uint64_t threadgroup_bytes;  // of threadgroup argument 0
    ig_error *error;             // gets the command buffer's error
} run;
// The status of the first call that failed: encoding, commit or the run itself. Never fails the test itself.
ig_status try_run(const run *r);
void do_run(const run *r);

// Compiles the source, runs `threads` threads of the kernel on one buffer of uint32_t.
void run_on_words(const char *source, const char *kernel, uint32_t *words, size_t count, uint64_t threads);

uint64_t now_ns(void);
void sleep_ms(unsigned milliseconds);

// Reinstalls the library's fault handlers: cmocka installs its own at the start of each test.
void use_fault_handlers(void);

// A small generator with a seed that failure messages can name.
typedef struct random_state {
    uint64_t state;
} random_state;
uint64_t random_u64(random_state *random);
uint64_t random_below(random_state *random, uint64_t bound);

// Files. Paths are made with printf formats and are valid until the eighth call after.
__attribute__((format(printf, 1, 2))) const char *path_of(const char *format, ...);
void write_text(const char *path, const char *text);
void write_script(const char *path, const char *body);
char *make_temp_dir(void);         // free with remove_temp_dir
void remove_temp_dir(char *path);  // and frees the name
// Names of the entries of a directory that end in `suffix`, sorted; free each and the list.
size_t list_files(const char *directory, const char *suffix, char ***names);
void free_names(char **names, size_t count);

#endif
