// SPDX-License-Identifier: Apache-2.0
// MTL_SHADER_VALIDATION=1, as on a Mac: an error in a kernel fails its command buffer, with the line. INGOT_CAPTURE_DIR
// keeps the dispatch.
#include "helpers.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char captures[4096];

static const char source[] =
    "#include <metal_stdlib>\nusing namespace metal;\n"
    "kernel void shift(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
    "    a[i + 1] = i;\n"
    "}\n"
    "kernel void keep(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]]) { a[i] = i; }\n";

// One reference.
static id<MTLCommandBuffer> run(id<MTLCommandQueue> queue, const char *kernel) {
    id<MTLCommandBuffer> commands = [[queue commandBuffer] retain];
    run_on_words(commands, source, kernel);
    return commands;
}

static void validation_finds_what_is_wrong(void **state) {
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLCommandBuffer> wrong = run(queue, "shift"), right = run(queue, "keep");
    assert_int_equal(wrong.status, MTLCommandBufferStatusError);
    assert_contains(wrong.error.localizedDescription, "out-of-bounds");
    assert_contains(wrong.error.localizedDescription, ":4:");
    assert_int_equal(right.status, MTLCommandBufferStatusCompleted);
    [wrong release];
    [right release];
    [queue release];
}

static bool is_captured(const char *name) {
    NSString *path = [NSString stringWithFormat:@"%s/%s/capture.json", captures, name];
    return access([path UTF8String], R_OK) == 0;
}

static void what_is_wrong_is_captured(void **state) {
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLCommandBuffer> wrong = run(queue, "shift"), right = run(queue, "keep");
    assert_true(is_captured("0001-shift"));
    assert_false(is_captured("0002-keep"));
    [wrong release];
    [right release];
    [queue release];
    [[NSFileManager defaultManager] removeFileAtPath:[NSString stringWithUTF8String:captures] handler:nil];
}

int main(void) {
    const char *directory = getenv("TMPDIR");
    snprintf(captures, sizeof captures, "%s/ingot-captures.XXXXXX", directory ? directory : "/tmp");
    if (!mkdtemp(captures)) return 1;
    setenv("INGOT_CAPTURE_DIR", captures, 1);
    setenv("MTL_SHADER_VALIDATION", "1", 1);
    const struct CMUnitTest tests[] = {compat_test(validation_finds_what_is_wrong),
                                       compat_test(what_is_wrong_is_captured)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
