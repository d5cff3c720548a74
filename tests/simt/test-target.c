// SPDX-License-Identifier: Apache-2.0
// Kernels are compiled for the machine that was chosen, here one of another architecture, and for nothing of this one.
#include "bench.h"
#include "codegen/codegen.h"
#include "codegen/work.h"

#if defined(__x86_64__)
static const igi_simt_target other = {"aarch64-unknown-linux-gnu", "generic", "+neon,+fp-armv8,+fullfp16"};
enum { OTHER_MACHINE = 183 };  // EM_AARCH64
static const char own_registers[] = "ymm", other_multiply_add[] = "fmla";
#else
static const igi_simt_target other = {"x86_64-unknown-linux-gnu", "x86-64", "+avx2,+avx,+fma,+f16c"};
enum { OTHER_MACHINE = 62 };  // EM_X86_64
static const char own_registers[] = ".4s", other_multiply_add[] = "vfmadd";
#endif

// With masks, so that the passes that know the instructions of the target run.
static const char source[] = METAL
    "kernel void k(device const float *a, device float *b, constant uint &n, uint i [[thread_position_in_grid]]) {\n"
    "    if (i < n && a[i] > 0) b[i] = a[i] * a[i] + b[n - i];\n"
    "}";

typedef ig_status generator(igi_codegen *codegen, const igi_simt_request *request, igi_simt_stage stage, char **output,
                            size_t *length, ig_error *error);

static ig_status here(igi_codegen *codegen, const igi_simt_request *request, igi_simt_stage stage, char **output,
                      size_t *length, ig_error *error) {
    (void)codegen;
    return igi_codegen_work(request, stage, output, length, error);
}

static ig_status there(igi_codegen *codegen, const igi_simt_request *request, igi_simt_stage stage, char **output,
                       size_t *length, ig_error *error) {
    return igi_codegen_compile(codegen, request, stage, 0, output, length, error);
}

static char *code(generator *generate, igi_simt_stage stage, size_t *length) {
    igi_msl_reflection reflection = {0};
    igi_simt_request request = {.name = "k", .fast_math = true};
    char *bitcode = NULL, *output = NULL;
    compile(source, &bitcode, &request.bitcode_length, &reflection);
    request.bitcode = bitcode;
    request.symbol = reflection.kernels[0].symbol;
    igi_codegen *codegen = NULL;
    assert_ok(igi_codegen_create(&codegen));
    ig_error error = {0};
    if (generate(codegen, &request, stage, &output, length, &error) != IG_STATUS_OK) fail_msg("%s", error.message);
    igi_codegen_destroy(codegen);
    igi_msl_reflection_free(&reflection);
    free(bitcode);
    return output;
}

static void objects_are_for_the_chosen_machine(void **state) {
    (void)state;
    size_t length;
    char *object = code(there, IGI_STAGE_OBJECT, &length);
    assert_true(length > 64);
    assert_memory_equal(object, "\177ELF", 4);
    assert_int_equal((unsigned char)object[18], OTHER_MACHINE);
    free(object);
}

static void instructions_are_those_of_the_chosen_machine(void **state) {
    (void)state;
    size_t length;
    char *text = code(there, IGI_STAGE_ASM, &length);
    assert_non_null(strstr(text, other_multiply_add));
    assert_null(strstr(text, own_registers));
    free(text);
}

static void every_process_makes_the_same_code(void **state) {
    (void)state;
    size_t length[2];
    char *mine = code(here, IGI_STAGE_OBJECT, &length[0]), *theirs = code(there, IGI_STAGE_OBJECT, &length[1]);
    assert_int_equal(length[0], length[1]);
    assert_memory_equal(mine, theirs, length[0]);
    free(mine), free(theirs);
}

// ---- Without registers for masks ----

static bool asks_all_lanes(const char *condition) {
    char text[1000];
    snprintf(text, sizeof text,
             METAL
             "kernel void k(device const float *a, device float *b, constant uint &n,\n"
             "              uint2 at [[thread_position_in_grid]]) {\n"
             "    uint i = at.x; if (%s) b[i] = a[i];\n}",
             condition);
    bench *b = start_to(text, "k", igi_simt_pass_check);
    LLVMValueRef wide = NULL;
    const char *declined = NULL;
    assert_ok(igi_simt_pass_prepare(&b->m));
    assert_ok(igi_simt_widen(&b->m, 8, true, "wide", &wide, &declined));
    assert_null(declined);
    verify(b, "widen");
    bool asks = has_block(wide, "all_lanes");
    end(b);
    return asks;
}

static void bounds_are_compared_for_all_lanes_at_once(void **state) {
    (void)state;
    assert_true(asks_all_lanes("i < n"));
    assert_true(asks_all_lanes("n <= i"));
    assert_true(asks_all_lanes("int(i) > int(n)"));
    assert_true(asks_all_lanes("i != n"));
    assert_true(asks_all_lanes("i > 0 & at.y < n & i < n - 1"));
    assert_true(asks_all_lanes("any(at == n - 1)"));
    assert_false(asks_all_lanes("a[i] > 0"));
    assert_false(asks_all_lanes("i * i < n"));
    assert_false(asks_all_lanes("at.y < n"));  // uniform
}

static int choose_other_target(void **state) {
    igi_simt_choose_target(other);
    igi_simt_warm_up();  // sets the options that ingot-codegen has
    return open_compiler(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_are_for_the_chosen_machine),
        cmocka_unit_test(instructions_are_those_of_the_chosen_machine),
        cmocka_unit_test(every_process_makes_the_same_code),
        cmocka_unit_test(bounds_are_compared_for_all_lanes_at_once),
    };
    return cmocka_run_group_tests(tests, choose_other_target, close_compiler);
}
