// SPDX-License-Identifier: Apache-2.0
// Requests to the code generator's process and its replies: read back as written, refused when damaged.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
// cmocka last: it needs the first four headers.
#include <cmocka.h>

#include "codegen/message.h"
#include "core/bytes.h"

static const float values[] = {1, 2, 3};
static const ig_function_constant constants[] = {
    {.id = 4, .type = IG_TYPE_F32, .components = 3, .value = values},
    {.name = "wide", .type = IG_TYPE_U8, .components = 1, .value = "\7"},
};
static const char other[] = "BC\0\2";
static const igi_simt_linked linked[] = {{NULL, 0, "_Z1av"}, {other, 4, "_Z1bv"}, {other, 4, "_Z1cv"}};
static igi_msl_source file = {.path = "/a/b.metal", .display = "b.metal", .text = "kernel void k() {}", .length = 18};
static const igi_msl_sources sources = {.files = &file, .count = 1};
static igi_simt_remarks remarks = {.sources = &sources, .name = "k"};

static const igi_simt_request request = {.bitcode = "BC\0\1",
                                         .bitcode_length = 4,
                                         .symbol = "_Z1kv",
                                         .name = "k",
                                         .constants = constants,
                                         .constant_count = 2,
                                         .unset_constants_are_zero = true,
                                         .fast_math = true,
                                         .linked = linked,
                                         .linked_count = 3,
                                         .abortable = true,
                                         .width = 8,
                                         .group = {64, 2, 1},
                                         .streaming = true,
                                         .remarks = &remarks};

static igi_text write_request(void) {
    igi_text bytes = {0};
    igi_codegen_write_job(&request, IGI_STAGE_ASM, (igi_codegen_limits){5, 40, 1 << 30}, &bytes);
    assert_false(bytes.failed);
    return bytes;
}

static void expect_constants(const igi_simt_request *read) {
    assert_int_equal(read->constant_count, 2);
    assert_null(read->constants[0].name);
    assert_int_equal(read->constants[0].id, 4);
    assert_memory_equal(read->constants[0].value, values, sizeof values);
    assert_string_equal(read->constants[1].name, "wide");
    assert_int_equal(*(const char *)read->constants[1].value, 7);
}

static void expect_linked(const igi_simt_request *read) {
    assert_int_equal(read->linked_count, 3);
    assert_string_equal(read->linked[0].symbol, "_Z1av");
    assert_null(read->linked[0].bitcode);
    assert_memory_equal(read->linked[1].bitcode, other, 4);
    assert_string_equal(read->linked[2].symbol, "_Z1cv");
    assert_ptr_equal(read->linked[1].bitcode, read->linked[2].bitcode);
}

static void a_request_is_read_as_it_was_written(void **state) {
    (void)state;
    igi_text bytes = write_request();
    igi_codegen_job job;
    assert_int_equal(igi_codegen_read_job(bytes.data, bytes.length, &job, NULL), IG_STATUS_OK);
    assert_int_equal(job.stage, IGI_STAGE_ASM);
    assert_int_equal(job.limits.cpu_seconds, 5);
    assert_int_equal(job.limits.wall_seconds, 40);
    assert_int_equal(job.limits.memory_bytes, 1 << 30);
    assert_string_equal(job.request.symbol, "_Z1kv");
    assert_string_equal(job.request.name, "k");
    assert_true(job.request.abortable && job.request.streaming && !job.request.batches && !job.request.line_tables);
    assert_true(job.request.unset_constants_are_zero && job.request.fast_math && !job.request.scheduled);
    assert_int_equal(job.request.width, 8);
    assert_memory_equal(job.request.group, request.group, sizeof request.group);
    assert_memory_equal(job.request.bitcode, "BC\0\1", 4);
    expect_constants(&job.request);
    expect_linked(&job.request);
    assert_string_equal(job.request.remarks->sources->files[0].display, "b.metal");
    igi_codegen_job_free(&job);
    igi_text_free(&bytes);
}

static void a_request_cut_short_is_refused(void **state) {
    (void)state;
    igi_text bytes = write_request();
    for (size_t length = 0; length < bytes.length; length++) {
        igi_codegen_job job;
        assert_int_equal(igi_codegen_read_job(bytes.data, length, &job, NULL), IG_STATUS_BAD_FORMAT);
        igi_codegen_job_free(&job);
    }
    igi_text_free(&bytes);
}

// Its code would be cached under the key of this build.
static void a_request_of_another_build_is_refused(void **state) {
    (void)state;
    igi_text bytes = write_request();
    bytes.data[4] ^= 1;
    igi_codegen_job job;
    ig_error error = {0};
    assert_int_equal(igi_codegen_read_job(bytes.data, bytes.length, &job, &error), IG_STATUS_BAD_FORMAT);
    assert_non_null(strstr(error.message, "another build"));
    ig_error_clear(&error);
    igi_codegen_job_free(&job);
    igi_text_free(&bytes);
}

static igi_text write_reply(void) {
    igi_text bytes = {0};
    igi_simt_remark remark = {IGI_REMARK_GATHER, "b.metal", 7, 3, "the index is loaded from memory"};
    igi_codegen_write_reply(IG_STATUS_OK, NULL, "code", 4, &(igi_simt_remarks){.items = &remark, .count = 1}, &bytes);
    return bytes;
}

static void a_reply_is_read_as_it_was_written(void **state) {
    (void)state;
    igi_text bytes = write_reply();
    igi_simt_remarks read = {0};
    char *output;
    size_t length;
    assert_int_equal(igi_codegen_read_reply(bytes.data, bytes.length, &read, &output, &length, NULL), IG_STATUS_OK);
    assert_int_equal(length, 4);
    assert_string_equal(output, "code");
    assert_int_equal(read.count, 1);
    assert_int_equal(read.items[0].line, 7);
    assert_string_equal(read.items[0].file, "b.metal");
    igi_simt_remarks_free(&read);
    free(output);
    igi_text_free(&bytes);
}

static void a_reply_cut_short_is_refused(void **state) {
    (void)state;
    igi_text bytes = write_reply();
    for (size_t length = 0; length < bytes.length; length++) {
        igi_simt_remarks read = {0};
        char *output = NULL;
        size_t made;
        assert_int_equal(igi_codegen_read_reply(bytes.data, length, &read, &output, &made, NULL), IG_STATUS_BAD_FORMAT);
        assert_null(output);
        igi_simt_remarks_free(&read);
    }
    igi_text_free(&bytes);
}

static void a_reply_may_be_a_failure(void **state) {
    (void)state;
    igi_text bytes = {0};
    ig_error error = {0};
    igi_codegen_write_reply(IG_STATUS_UNSUPPORTED, "kernel 'k' is recursive", NULL, 0, NULL, &bytes);
    assert_int_equal(igi_codegen_read_reply(bytes.data, bytes.length, NULL, NULL, NULL, &error), IG_STATUS_UNSUPPORTED);
    assert_string_equal(error.message, "kernel 'k' is recursive");
    ig_error_clear(&error);
    igi_text_free(&bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_is_read_as_it_was_written),   cmocka_unit_test(a_request_cut_short_is_refused),
        cmocka_unit_test(a_request_of_another_build_is_refused), cmocka_unit_test(a_reply_is_read_as_it_was_written),
        cmocka_unit_test(a_reply_cut_short_is_refused),          cmocka_unit_test(a_reply_may_be_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
