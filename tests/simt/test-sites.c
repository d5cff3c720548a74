// SPDX-License-Identifier: Apache-2.0
// Places that are checked have numbers of 16 bits in shadow memory: a kernel with more of them is refused.
#include <ingot/check.h>

#include "bench.h"
#include "simt/checked/state.h"

// So many stores to a variable, at places that the compiler does not know.
static bench *start_stores(size_t count) {
    static const char store[] = "store volatile i32 %x, ptr %at\n";
    igi_text body = {0};
    igi_text_add(&body, "%array = alloca [64 x i32]\n%at = getelementptr i32, ptr %array, i32 %x\n");
    for (size_t i = 0; i < count; i++) igi_text_add(&body, store);
    igi_text_add(&body, "ret ptr null\n");
    char *text = igi_text_take(&body);
    bench *b = start_body(text);
    free(text);
    return b;
}

static ig_status instrument(size_t count, uint32_t checks, ig_error *error) {
    bench *b = start_stores(count);
    b->request.check = checks;
    b->request.name = "many";
    b->m.request = &b->request;
    b->m.error = error;
    ig_status status = igi_simt_pass_instrument(&b->m);
    end(b);
    return status;
}

static void expect_refused(uint32_t checks) {
    ig_error error = {0};
    assert_string_equal(ig_status_name(instrument(IGI_CHECKED_MAX_SITES + 1, checks, &error)), "IG_STATUS_UNSUPPORTED");
    assert_string_equal(error.message,
                        "kernel 'many' has more than 65535 places to check; check fewer things at once, "
                        "or make it smaller");
    ig_error_clear(&error);
}

static void a_kernel_with_too_many_places_is_refused(void **state) {
    (void)state;
    expect_refused(IG_CHECK_MEMORY);
    expect_refused(IG_CHECK_MEMORY | IGI_CHECK_QUICK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_with_too_many_places_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
