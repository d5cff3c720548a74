// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of Metal for Linux. Every test runs in its own autorelease pool, and fails if an object of the
// framework is left afterwards.
#ifndef INGOT_TESTS_COMPAT_HELPERS_H
#define INGOT_TESTS_COMPAT_HELPERS_H

#import <Metal/Metal.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
// cmocka last: it needs the four above.
#include <cmocka.h>

extern id<MTLDevice> device;  // created before each test, released after it
int open_device(void **state);
int close_device(void **state);
long igi_metal_live_objects(void);

#define compat_test(function) cmocka_unit_test_setup_teardown(function, open_device, close_device)
#define assert_contains(text, part) expect_contains([(text) UTF8String], part, __FILE__, __LINE__)
#define assert_text(string, expected) assert_string_equal([(string) UTF8String], expected)
#define assert_error(error, domain_, code_)                       \
    do {                                                          \
        assert_non_null(error);                                   \
        assert_true([[(error) domain] isEqual:domain_]);          \
        assert_int_equal([(error) code], code_);                  \
        assert_true([[(error) localizedDescription] length] > 0); \
    } while (0)

void expect_contains(const char *text, const char *part, const char *file, int line);

// These fail the test if they fail. All return one reference.
id<MTLLibrary> new_library(const char *source);
id<MTLComputePipelineState> new_pipeline(const char *source, const char *kernel);
id<MTLBuffer> new_words(NSUInteger count);  // of uint32_t, shared, zero
uint32_t *words_of(id<MTLBuffer> buffer);
// Runs the kernel on one thread, with the buffer as buffer 0, and waits.
void run_one_thread(id<MTLComputePipelineState> pipeline, id<MTLBuffer> buffer);
// Runs the kernel on 64 threads, with 64 new words as buffer 0, and waits; it may fail.
void run_on_words(id<MTLCommandBuffer> commands, const char *source, const char *kernel);

// Runs what `encode` encodes with Metal 4, with the resident allocations, and waits; what went wrong, or nil. The pipeline
// and the table may be nil.
NSString *run_metal4(NSArray *resident, id<MTL4ArgumentTable> table, id<MTLComputePipelineState> pipeline,
                     void (^encode)(id<MTL4ComputeCommandEncoder> encoder));

// a[i] += 1, as kernel "increment".
extern const char increment_source[];

#ifdef __cplusplus
}
#endif
#endif
