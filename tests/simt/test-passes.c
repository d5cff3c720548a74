// SPDX-License-Identifier: Apache-2.0
// What each pass of src/simt promises, checked in the IR that it leaves.
#include "bench.h"

// ---- Looking at IR ----

static bool is_division(LLVMValueRef instruction) {
    LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
    return opcode == LLVMSDiv || opcode == LLVMUDiv || opcode == LLVMSRem || opcode == LLVMURem;
}

// Its divisor is not a nonzero constant, nor selected to be nonzero.
static bool is_unguarded_division(LLVMValueRef instruction) {
    if (!is_division(instruction)) return false;
    LLVMValueRef divisor = LLVMGetOperand(instruction, 1);
    return LLVMIsConstant(divisor) ? LLVMIsNull(divisor) : LLVMIsASelectInst(divisor) == NULL;
}

static bool is_shift(LLVMValueRef instruction) {
    LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
    return opcode == LLVMShl || opcode == LLVMLShr || opcode == LLVMAShr;
}

static bool is_unmasked_shift(LLVMValueRef instruction) {
    if (!is_shift(instruction)) return false;
    LLVMValueRef distance = LLVMGetOperand(instruction, 1);
    bool masked = LLVMIsABinaryOperator(distance) && LLVMGetInstructionOpcode(distance) == LLVMAnd;
    return !LLVMIsConstant(distance) && !masked;
}

static bool is_bfloat_arithmetic(LLVMValueRef instruction) {
    switch (LLVMGetInstructionOpcode(instruction)) {
        case LLVMFAdd:
        case LLVMFSub:
        case LLVMFMul:
        case LLVMFDiv:
        case LLVMFNeg: return LLVMGetTypeKind(igi_simt_element_type(LLVMTypeOf(instruction))) == LLVMBFloatTypeKind;
        default: return false;
    }
}

static bool is_volatile_load(LLVMValueRef instruction) {
    return LLVMIsALoadInst(instruction) && LLVMGetVolatile(instruction);
}

static bool is_fma(LLVMValueRef instruction) {
    const char *name = igi_simt_callee_name(instruction);
    return strncmp(name, "llvm.fma", 8) == 0;
}

static bool is_choice(LLVMValueRef instruction) {
    return LLVMGetInstructionOpcode(instruction) == LLVMSelect;
}

static bool is_multiplication(LLVMValueRef instruction) {
    return LLVMGetInstructionOpcode(instruction) == LLVMFMul;
}

static bool calls_a_body(LLVMValueRef instruction) {
    if (!LLVMIsACallInst(instruction)) return false;
    LLVMValueRef callee = LLVMGetCalledValue(instruction);
    return LLVMIsAFunction(callee) && !LLVMIsDeclaration(callee);
}

// ---- extract ----

static const char two_kernels[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "uint twice(uint x) { return x * 2; }\n"
    "uint thrice(uint x) { return x * 3; }\n"
    "kernel void first(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]]) { a[i] = twice(i); }\n"
    "kernel void second(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]]) { a[i] = thrice(i); }\n";

static void extract_keeps_one_kernel_and_what_it_needs(void **state) {
    (void)state;
    bench *b = start_to(two_kernels, "first", igi_simt_pass_extract);
    assert_non_null(b->m.kernel);
    assert_true(module_has(&b->m, "twice"));
    assert_false(module_has(&b->m, "second"));
    assert_false(module_has(&b->m, "thrice"));
    end(b);
}

static void extract_retargets_to_this_machine(void **state) {
    (void)state;
    bench *b = start_to(two_kernels, "first", igi_simt_pass_extract);
    char *triple = LLVMGetDefaultTargetTriple();
    assert_string_equal(LLVMGetTarget(b->m.module), triple);
    LLVMDisposeMessage(triple);
    assert_false(module_has(&b->m, "\"target-cpu\"=\"generic\""));
    end(b);
}

static void extract_knows_no_other_kernel(void **state) {
    (void)state;
    bench *b = start(two_kernels, "third");
    assert_int_equal(igi_simt_pass_extract(&b->m), IG_STATUS_NOT_FOUND);
    assert_non_null(strstr(b->error.message, "third"));
    end(b);
}

static void damaged_bitcode_is_a_bad_format(void **state) {
    (void)state;
    char *bitcode = NULL, *output = NULL;
    size_t length = 0, output_length = 0;
    igi_msl_reflection reflection;
    compile(two_kernels, &bitcode, &length, &reflection);
    static const size_t lengths[] = {0, 3, 4, 100, 1000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        ig_error error = {0};
        igi_simt_request request = {.bitcode = bitcode, .bitcode_length = lengths[i], .symbol = "x", .name = "x"};
        ig_status status = igi_simt_compile(&request, IGI_STAGE_OBJECT, &output, &output_length, &error);
        assert_string_equal(ig_status_name(status), "IG_STATUS_BAD_FORMAT");
        ig_error_clear(&error);
    }
    igi_msl_reflection_free(&reflection);
    free(bitcode);
}

// ---- constants ----

static const char with_constant[] =
    "constant uint factor [[function_constant(4)]];\n"
    "constant uint derived = factor * 10 + 1;\n"
    "kernel void k(device uint *a [[buffer(0)]]) { a[0] = factor; a[1] = derived; }\n";

static void constants_become_numbers(void **state) {
    (void)state;
    const uint32_t value = 3141592;
    ig_function_constant constant = {.id = 4, .type = IG_TYPE_U32, .value = &value, .components = 1};
    bench *b = start(with_constant, "k");
    b->request.constants = &constant;
    b->request.constant_count = 1;
    assert_ok(run_to(b, igi_simt_pass_check));
    assert_true(module_has(&b->m, "3141592"));
    assert_true(module_has(&b->m, "31415921"));
    end(b);
}

static void constants_without_a_value_are_refused(void **state) {
    (void)state;
    bench *b = start(with_constant, "k");
    assert_int_equal(run_to(b, igi_simt_pass_check), IG_STATUS_WRONG_CONSTANT);
    assert_non_null(strstr(b->error.message, "factor"));
    end(b);
}

// ---- bind and inline ----

static void bind_makes_a_thread_of_the_kernel(void **state) {
    (void)state;
    bench *b = start_to(two_kernels, "first", igi_simt_pass_bind);
    assert_non_null(b->m.thread);
    assert_int_equal(LLVMCountParams(b->m.thread), 5);
    end(b);
}

static void inline_leaves_one_function(void **state) {
    (void)state;
    bench *b = start_to(two_kernels, "first", igi_simt_pass_inline);
    assert_int_equal(bodies(b->m.module), 1);
    assert_int_equal(count_if(b->m.thread, calls_a_body), 0);
    end(b);
}

static void threadgroup_variables_are_added_up(void **state) {
    (void)state;
    bench *b = start_to(
        "#include <metal_stdlib>\n"
        "using namespace metal;\n"
        "kernel void k(device uint *a [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {\n"
        "    threadgroup uint x[100]; threadgroup ulong y[3]; threadgroup uchar z;\n"
        "    x[i] = i; y[i % 3] = i; z = 1;\n"
        "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
        "    a[i] = x[99 - i] + uint(y[0]) + z;\n}\n",
        "k", igi_simt_pass_check);
    assert_true(b->m.info.threadgroup_bytes >= 425 && b->m.info.threadgroup_bytes <= 512);
    end(b);
}

// ---- define ----

static void define_guards_every_division(void **state) {
    (void)state;
    bench *b = start_to(
        "#include <metal_stdlib>\n"
        "using namespace metal;\n"
        "kernel void k(device int *a [[buffer(0)]], device uint *u [[buffer(1)]], device short4 *s [[buffer(2)]],\n"
        "              device long *l [[buffer(3)]], uint i [[thread_position_in_grid]]) {\n"
        "    a[i] = a[i] / a[i + 1] + a[i] % a[i + 2];\n"
        "    u[i] = u[i] / u[i + 1] + u[i] % u[i + 2] + u[i] / 7;\n"
        "    s[i] = s[i] / s[i + 1];\n"
        "    l[i] = l[i] % l[i + 1];\n}\n",
        "k", igi_simt_pass_define);
    assert_true(count_if(b->m.thread, is_division) >= 7);
    assert_int_equal(count_if(b->m.thread, is_unguarded_division), 0);
    end(b);
}

static void define_masks_every_shift(void **state) {
    (void)state;
    bench *b = start_to(
        "#include <metal_stdlib>\n"
        "using namespace metal;\n"
        "kernel void k(device int *a [[buffer(0)]], device uint4 *u [[buffer(1)]], uint i [[thread_position_in_grid]]) "
        "{\n"
        "    a[i] = (a[i] << a[i + 1]) + (a[i + 2] >> a[i + 3]);\n"
        "    u[i] = u[i] >> u[i + 1];\n}\n",
        "k", igi_simt_pass_define);
    assert_true(count_if(b->m.thread, is_shift) >= 3);
    assert_int_equal(count_if(b->m.thread, is_unmasked_shift), 0);
    end(b);
}

static void define_computes_bfloat_in_float(void **state) {
    (void)state;
    bench *b = start_to(
        "#include <metal_stdlib>\n"
        "using namespace metal;\n"
        "kernel void k(device bfloat *a [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
        "    a[i] = a[i] * a[i + 1] + a[i + 2] / a[i + 3] - (-a[i + 4]);\n}\n",
        "k", igi_simt_pass_define);
    assert_int_equal(count_if(b->m.thread, is_bfloat_arithmetic), 0);
    end(b);
}

// ---- contract ----

static void contract_fuses_products_into_sums(void **state) {
    (void)state;
    bench *b = start_to(
        "kernel void k(device float *a [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
        "    a[i] = a[i] * a[i + 1] + a[i + 2];\n}\n",
        "k", igi_simt_pass_contract);
    assert_int_equal(count_if(b->m.thread, is_fma), 1);
    assert_int_equal(count_if(b->m.thread, is_multiplication), 0);
    end(b);
}

// A float3 has a fourth element, which a loop hands on from round to round without anyone ever reading it.
static void contract_fuses_sums_of_triples_in_loops(void **state) {
    (void)state;
    bench *b = start_to(METAL
                        "kernel void k(device const float4 *a [[buffer(0)]], device float4 *out [[buffer(1)]],\n"
                        "              constant uint &n [[buffer(2)]], uint i [[thread_position_in_grid]]) {\n"
                        "    float3 here = a[i].xyz, total = 0;\n"
                        "    for (uint j = 0; j < n; j++) {\n"
                        "        float3 to = a[j].xyz - here;\n"
                        "        total += to * (a[j].w * a[j].w);\n    }\n"
                        "    out[i] = float4(total, 0);\n}\n",
                        "k", igi_simt_pass_contract);
    assert_int_equal(count_if(b->m.thread, is_fma), 1);
    assert_int_equal(count_if(b->m.thread, is_multiplication), 1);
    end(b);
}

static void contract_multiplies_by_bools_only_without_fast_math(void **state) {
    (void)state;
    for (int fast = 0; fast < 2; fast++) {
        bench *b = start(
            "kernel void k(device float *a [[buffer(0)]], device half4 *h [[buffer(1)]], constant uint &n "
            "[[buffer(2)]],\n"
            "              uint i [[thread_position_in_grid]]) {\n"
            "    a[i] = a[i] * (i < n) + a[i + 1];\n"
            "    h[i] = (i > n) * h[i];\n}\n",
            "k");
        b->request.fast_math = fast;
        assert_int_equal(run_to(b, igi_simt_pass_contract), IG_STATUS_OK);
        assert_int_equal(count_if(b->m.thread, is_choice), fast ? 2 : 0);
        assert_int_equal(count_if(b->m.thread, is_fma), !fast);
        end(b);
    }
}

static void contract_multiplies_where_a_pragma_says_safe(void **state) {
    (void)state;
    bench *b = start(
        "kernel void k(device float *a [[buffer(0)]], constant uint &n [[buffer(1)]],\n"
        "              uint i [[thread_position_in_grid]]) {\n"
        "    #pragma METAL fp math_mode(safe)\n"
        "    a[i] = a[i] * (i < n);\n}\n",
        "k");
    b->request.fast_math = true;
    assert_int_equal(run_to(b, igi_simt_pass_contract), IG_STATUS_OK);
    assert_int_equal(count_if(b->m.thread, is_multiplication), 1);
    end(b);
}

// ---- check ----

static void check_refuses_what_metal_does_not_have(void **state) {
    (void)state;
    static const struct {
        const char *source, *part;
    } cases[] = {
        {"uint f(uint n, device uint *a) { a[n] = n; return n ? f(n - 1, a) * 2 + a[n] : 1; }\n"
         "kernel void k(device uint *a [[buffer(0)]]) { a[0] = f(a[1], a); }\n",
         "recursively"},
        {"uint nowhere(uint n);\nkernel void k(device uint *a [[buffer(0)]]) { a[0] = nowhere(a[1]); }\n", "nowhere"},
        {"static uint counter = 0;\nkernel void k(device uint *a [[buffer(0)]]) { a[0] = counter++; }\n", "counter"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench *b = start(cases[i].source, "k");
        assert_int_equal(run_to(b, igi_simt_pass_check), IG_STATUS_UNSUPPORTED);
        if (!strstr(b->error.message, cases[i].part)) fail_msg("%s: %s", cases[i].part, b->error.message);
        end(b);
    }
}

// ---- abort ----

static size_t abort_checks(const char *body, bool abortable) {
    char source[600];
    snprintf(source, sizeof source, "kernel void k(device uint *a [[buffer(0)]]) { %s }\n", body);
    bench *b = start(source, "k");
    b->request.abortable = abortable;
    assert_ok(run_to(b, igi_simt_pass_abort));
    size_t count = count_if(b->m.thread, is_volatile_load);
    end(b);
    return count;
}

static void abort_checks_loops_that_may_not_end(void **state) {
    (void)state;
    assert_int_equal(abort_checks("for (;;) a[0]++;", true), 1);
    assert_int_equal(abort_checks("while (a[0] != 7) a[1]++;", true), 1);
    assert_true(abort_checks("for (uint i = 0; i < a[0]; i++) for (uint j = 0; j < a[1]; j++) a[i + j]++;", true) >= 2);
    assert_int_equal(abort_checks("for (;;) a[0]++;", false), 0);
    assert_int_equal(abort_checks("a[0] = 1;", true), 0);
}

// A thread does little between two checks of the flag: the product of nested trip counts, exactly.
static void abort_trusts_short_loops_only(void **state) {
    (void)state;
    static const struct {
        const char *body;
        size_t checks;
    } cases[] = {
        {"for (uint i = 0; i < 4096; i++) a[a[i & 7] & 7] += i;", 0},
        {"for (uint i = 0; i < 4097; i++) a[a[i & 7] & 7] += i;", 1},
        {"for (int i = 4096; i > 0; i--) a[a[i & 7] & 7] += i;", 0},
        {"for (int i = 4097; i > 0; i--) a[a[i & 7] & 7] += i;", 1},
        {"for (uint i = 0; i < 60; i++) for (uint k = 0; k < 60; k++) a[a[i & 7] & 7] += k;", 0},
        {"for (uint i = 0; i < 70; i++) for (uint k = 0; k < 70; k++) a[a[i & 7] & 7] += k;", 1},
        {"for (int i = 0; i < 4096; i++) for (int k = 0; k < 4096; k++) for (int l = 0; l < 4096; l++) "
         "a[a[i & 7] & 7] += k ^ l;",
         2},
        // A counter that steps over its bound wraps around.
        {"for (uint i = 1; i != 4096; i += 2) a[a[i & 7] & 7] += i;", 1},
        {"for (uint i = 0; i != 4096; i += 2) a[a[i & 7] & 7] += i;", 0},
        {"for (ushort i = 1; i != 4096; i += 6) a[a[i & 7] & 7] += i;", 1},
        // The start is not known: below an unsigned bound that does not matter, below a signed one it does.
        {"for (uint i = a[9]; i < 4000; i += 1) a[a[i & 7] & 7] += i;", 0},
        {"for (int i = a[9]; i < 4000; i += 1) a[a[i & 7] & 7] += i;", 1},
        {"for (uint i = a[9]; i < 0xfffffff0; i += 32) a[a[i & 7] & 7] += i;", 1},
        {"for (uint i = a[9]; i > 0; i >>= 1) a[a[i & 7] & 7] += i;", 0},
        {"for (uint i = a[9]; i > 0; i >>= 0) a[a[i & 7] & 7] += i;", 1},
        {"for (uint i = 1; i < 1000; i *= 2) a[a[i & 7] & 7] += i;", 0},
        {"for (uint i = 3; i != 0x40000000; i *= 3) a[a[i & 7] & 7] += i;", 1},
        // Memory of any size is filled in each iteration.
        {"for (uint i = 0; i < 1000; i++) { __builtin_memset(a, i, a[9]); a[a[10] & 7] = i; }", 1},
        // Fewer iterations if each does much work.
        {"for (uint i = 0; i < 4000; i++) { __builtin_memset(a, a[9], 4096); a[a[10] & 7] = i; }", 1},
        {"for (uint i = 0; i < 1000; i++) { __builtin_memset(a, a[9], 4096); a[a[10] & 7] = i; }", 0},
        // It starts again.
        {"uint s = a[0]; for (uint i = 0; i < 100;) { if (a[i & 7] & 1) { i = 0; a[1] ^= s; continue; } i++; }", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t checks = abort_checks(cases[i].body, true);
        if (checks != cases[i].checks) fail_msg("%zu checks, not %zu: %s", checks, cases[i].checks, cases[i].body);
    }
}

// ---- group ----

static const char waiting[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void loop(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]]) { a[i] = i + 1; }\n"
    "kernel void barrier(device uint *a [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {\n"
    "    threadgroup uint t[64];\n"
    "    uint kept = a[i] * 3;\n"
    "    t[i] = i;\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    a[i] = t[63 - i] + kept;\n"
    "}\n"
    "kernel void lanes(device uint *a [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) { a[i] = simd_sum(i); }\n";

static void group_makes_loops_and_coroutines(void **state) {
    (void)state;
    bench *b = start_to(waiting, "loop", igi_simt_pass_group);
    assert_non_null(LLVMGetNamedFunction(b->m.module, "ig.run"));
    assert_int_equal(b->m.info.form, IGI_FORM_LOOP);
    end(b);
    b = start_to(waiting, "barrier", igi_simt_pass_group);
    assert_non_null(LLVMGetNamedFunction(b->m.module, "ig.run"));
    assert_int_equal(b->m.info.form, IGI_FORM_LOOP);
    assert_true(b->m.info.context_bytes > 0);
    end(b);
    b = start_to(waiting, "barrier", igi_simt_pass_check);
    b->request.width = 1;
    assert_ok(igi_simt_pass_group(&b->m));
    assert_non_null(LLVMGetNamedFunction(b->m.module, "ig.start"));
    assert_non_null(LLVMGetNamedFunction(b->m.module, "ig.resume"));
    assert_int_equal(b->m.info.form, IGI_FORM_COROUTINE);
    end(b);
}

static size_t pointers_read_in(LLVMBasicBlockRef block) {
    size_t count = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
        count += LLVMIsALoadInst(i) && LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMPointerTypeKind;
    return count;
}

static const char branching[] =
    "kernel void k(device const uint *a [[buffer(0)]], device uint *b [[buffer(1)]], constant uint3 &n [[buffer(2)]],\n"
    "              uint i [[thread_position_in_grid]]) {\n"
    "    if (a[i] < 1000) b[i] = a[i] * n.y + n.z;\n}\n";

static void arguments_are_read_once_for_all_threads(void **state) {
    (void)state;
    bench *b = start_to(branching, "k", igi_simt_pass_hoist);
    assert_ok(igi_simt_run_passes(&b->m, "default<O2>"));
    LLVMValueRef run = LLVMGetNamedFunction(b->m.module, "ig.run");
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(run);
    assert_int_equal(pointers_read_in(entry), 3);
    for (LLVMBasicBlockRef at = LLVMGetNextBasicBlock(entry); at; at = LLVMGetNextBasicBlock(at))
        assert_int_equal(pointers_read_in(at), 0);
    end(b);
}

static size_t scalars_read_in(LLVMBasicBlockRef block) {
    size_t count = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
        count += LLVMIsALoadInst(i) && LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMIntegerTypeKind;
    return count;
}

static void constants_are_read_once_for_all_threads(void **state) {
    (void)state;
    bench *b = start_to(branching, "k", igi_simt_pass_hoist);
    assert_ok(igi_simt_run_passes(&b->m, "default<O2>"));
    LLVMValueRef run = LLVMGetNamedFunction(b->m.module, "ig.run");
    for (LLVMBasicBlockRef at = LLVMGetNextBasicBlock(LLVMGetEntryBasicBlock(run)); at; at = LLVMGetNextBasicBlock(at))
        assert_int_equal(scalars_read_in(at), 0);
    end(b);
}

static void info_is_exported(void **state) {
    (void)state;
    bench *b = start_to(waiting, "loop", igi_simt_pass_group);
    assert_ok(igi_simt_pass_info(&b->m));
    LLVMValueRef info = LLVMGetNamedGlobal(b->m.module, "ig.info");
    assert_non_null(info);
    assert_true(LLVMIsGlobalConstant(info));
    end(b);
}

static bool is_large_alloca(LLVMValueRef instruction) {
    if (!LLVMIsAAllocaInst(instruction)) return false;
    LLVMTypeRef type = LLVMGetAllocatedType(instruction);
    return LLVMGetTypeKind(type) == LLVMArrayTypeKind && LLVMGetArrayLength2(type) >= 100000;
}

static void private_moves_large_arrays_off_the_stack(void **state) {
    (void)state;
    bench *b = start_to(
        "kernel void k(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
        "    uint big[200000];\n"
        "    for (uint k = 0; k < 200000; k++) big[k] = a[k % 100] + k;\n"
        "    a[i] = big[a[i] % 200000];\n}\n",
        "k", igi_simt_pass_group);
    assert_ok(igi_simt_run_passes(&b->m, "default<O2>"));
    assert_ok(igi_simt_pass_private(&b->m));
    assert_true(b->m.info.private_bytes >= 800000);
    for (LLVMValueRef f = LLVMGetFirstFunction(b->m.module); f; f = LLVMGetNextFunction(f))
        assert_int_equal(count_if(f, is_large_alloca), 0);
    end(b);
}

// ---- All of it ----

static void load(igi_simt_jit *jit, const char *kernel, uint32_t width, igi_simt_code *code) {
    bench *b = start(waiting, kernel);
    char *object = NULL;
    size_t length = 0;
    b->request.width = width;
    assert_ok(igi_simt_compile(&b->request, IGI_STAGE_OBJECT, &object, &length, NULL));
    assert_ok(igi_simt_jit_load(jit, object, length, NULL, code, NULL));
    free(object);
    end(b);
}

static void run_group(const igi_simt_code *code, uint32_t *words) {
    igi_simt_scratch scratch = {0};
    uint32_t abort = 0;
    assert_ok(igi_simt_scratch_reserve(&scratch, code, 64, code->info.threadgroup_bytes));
    igi_simt_group group = {.arguments = {words},
                            .threadgroup_memory = igi_simt_scratch_threadgroup(&scratch),
                            .abort = &abort,
                            .size = {64, 1, 1},
                            .dispatch_size = {64, 1, 1},
                            .groups = {1, 1, 1},
                            .grid = {64, 1, 1}};
    igi_simt_run_group(code, &group, &scratch);
    igi_simt_scratch_free(&scratch);
}

static void code_runs_at_every_width(void **state) {
    (void)state;
    igi_simt_jit *jit = NULL;
    assert_ok(igi_simt_jit_create(IGI_JIT_NOBODY, &jit, NULL));
    static const char *const kernels[] = {"loop", "barrier", "lanes"};
    for (uint32_t width = 0; width < 2; width++)
        for (size_t k = 0; k < 3; k++) {
            igi_simt_code code;
            uint32_t words[64];
            load(jit, kernels[k], width, &code);
            assert_int_equal(code.info.version, IGI_CODE_VERSION);
            assert_true(width == 0 || code.info.width == 1);
            if (code.info.form == IGI_FORM_COROUTINE) assert_true(code.frame_bytes > 0);
            for (uint32_t i = 0; i < 64; i++) words[i] = i;
            run_group(&code, words);
            for (uint32_t i = 0; i < 64; i++) {
                const uint32_t expected[] = {i + 1, 63 - i + 3 * i, i < 32 ? 496 : 1520};
                assert_int_equal(words[i], expected[k]);
            }
            igi_simt_jit_unload(jit, &code);
        }
    igi_simt_jit_destroy(jit);
}

static void objects_that_are_none_are_refused(void **state) {
    (void)state;
    igi_simt_jit *jit = NULL;
    igi_simt_code code = {0};
    ig_error error = {0};
    assert_ok(igi_simt_jit_create(IGI_JIT_NOBODY, &jit, NULL));
    static const char *const texts[] = {"", "not an object", "\177ELF"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(igi_simt_jit_load(jit, texts[i], strlen(texts[i]), NULL, &code, &error), IG_STATUS_BAD_FORMAT);
        assert_non_null(error.message);
        assert_null(code.unit);
    }
    load(jit, "loop", 0, &code);  // and the JIT still works
    igi_simt_jit_unload(jit, &code);
    ig_error_clear(&error);
    igi_simt_jit_destroy(jit);
}

// An object as a damaged or forged cache could contain it: complete, but it needs a symbol of the process.
static LLVMMemoryBufferRef object_that_wants(const char *symbol, bool called) {
    char text[600], *message = NULL;
    snprintf(text, sizeof text,
             "@ig.info = constant [10 x i32] zeroinitializer\n"
             "declare i32 @%s(ptr)\n"
             "define ptr @thread(ptr %%p) {\n  %s\n  ret ptr %s%s\n}\n",
             symbol, called ? "%c = call i32 @wanted(ptr %p)" : "", called ? "%p" : "@", called ? "" : "wanted");
    char *wanted = strstr(text, "wanted"), full[800];
    snprintf(full, sizeof full, "%.*s%s%s", (int)(wanted - text), text, symbol, wanted + strlen("wanted"));
    bench *b = start_ir(full);
    LLVMMemoryBufferRef object = NULL;
    assert_false(LLVMTargetMachineEmitToMemoryBuffer(b->m.machine, b->m.module, LLVMObjectFile, &message, &object));
    end(b);
    return object;
}

static void no_symbol_of_the_process_can_be_had(void **state) {
    (void)state;
    static const char *const symbols[] = {"system",          "environ", "dlsym",
                                          "malloc",          "atexit",  "mprotect",
                                          "__dso_handle",    "printf",  "igi_simt_jit_destroy",
                                          "ig_device_create"};
    igi_simt_jit *jit = NULL;
    assert_ok(igi_simt_jit_create(IGI_JIT_NOBODY, &jit, NULL));
    for (size_t i = 0; i < 2 * sizeof symbols / sizeof *symbols; i++) {
        igi_simt_code code = {0};
        ig_error error = {0};
        LLVMMemoryBufferRef object = object_that_wants(symbols[i / 2], i % 2);
        ig_status status =
            igi_simt_jit_load(jit, LLVMGetBufferStart(object), LLVMGetBufferSize(object), NULL, &code, &error);
        if (status != IG_STATUS_BAD_FORMAT || !strstr(error.message, symbols[i / 2]))
            fail_msg("%s: %s %s", symbols[i / 2], ig_status_name(status), error.message ? error.message : "");
        assert_null(code.unit);
        ig_error_clear(&error);
        LLVMDisposeMemoryBuffer(object);
    }
    igi_simt_code code;
    load(jit, "loop", 0, &code);  // and the JIT still works
    igi_simt_jit_unload(jit, &code);
    igi_simt_jit_destroy(jit);
}

// Calls that LLVM itself generates are resolved: such an object fails later, because it has no version.
static void what_llvm_calls_by_itself_can_be_had(void **state) {
    (void)state;
    static const char *const symbols[] = {
        "memcpy", "memmove", "memset",       "ig.private",
#if defined(__x86_64__)
        "fmaf",   "floorf",  "__truncsfhf2",
#endif
    };
    igi_simt_jit *jit = NULL;
    assert_ok(igi_simt_jit_create(IGI_JIT_NOBODY, &jit, NULL));
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        igi_simt_code code = {0};
        ig_error error = {0};
        LLVMMemoryBufferRef object = object_that_wants(symbols[i], false);
        assert_int_equal(
            igi_simt_jit_load(jit, LLVMGetBufferStart(object), LLVMGetBufferSize(object), NULL, &code, &error),
            IG_STATUS_BAD_FORMAT);
        if (!strstr(error.message, "version")) fail_msg("%s: %s", symbols[i], error.message);
        ig_error_clear(&error);
        LLVMDisposeMemoryBuffer(object);
    }
    igi_simt_jit_destroy(jit);
}

static void text_stages_can_be_read(void **state) {
    (void)state;
    static const igi_simt_stage stages[] = {IGI_STAGE_LLVM, IGI_STAGE_SIMT, IGI_STAGE_ASM};
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        bench *b = start(waiting, "barrier");
        char *text = NULL;
        size_t length = 0;
        assert_ok(igi_simt_compile(&b->request, stages[i], &text, &length, NULL));
        assert_int_equal(strlen(text), length);
        assert_true(length > 100);
        free(text);
        end(b);
    }
}

static char *assembly(bool first_tier, uint32_t stack_bytes) {
    bench *b = start(waiting, "barrier");
    char *text = NULL;
    size_t length = 0;
    b->request.first_tier = first_tier;
    b->request.stack_bytes = stack_bytes;
    assert_ok(igi_simt_compile(&b->request, IGI_STAGE_ASM, &text, &length, NULL));
    end(b);
    return text;
}

static void quick_code_that_needs_too_much_stack_is_optimised(void **state) {
    (void)state;
    char *quick = assembly(true, 0), *optimised = assembly(false, 0), *tight = assembly(true, 64);
    assert_string_not_equal(quick, optimised);
    assert_string_equal(tight, optimised);
    free(quick), free(optimised), free(tight);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(extract_keeps_one_kernel_and_what_it_needs),
        cmocka_unit_test(extract_retargets_to_this_machine),
        cmocka_unit_test(extract_knows_no_other_kernel),
        cmocka_unit_test(damaged_bitcode_is_a_bad_format),
        cmocka_unit_test(constants_become_numbers),
        cmocka_unit_test(constants_without_a_value_are_refused),
        cmocka_unit_test(bind_makes_a_thread_of_the_kernel),
        cmocka_unit_test(inline_leaves_one_function),
        cmocka_unit_test(threadgroup_variables_are_added_up),
        cmocka_unit_test(define_guards_every_division),
        cmocka_unit_test(define_masks_every_shift),
        cmocka_unit_test(define_computes_bfloat_in_float),
        cmocka_unit_test(contract_fuses_products_into_sums),
        cmocka_unit_test(contract_fuses_sums_of_triples_in_loops),
        cmocka_unit_test(contract_multiplies_by_bools_only_without_fast_math),
        cmocka_unit_test(contract_multiplies_where_a_pragma_says_safe),
        cmocka_unit_test(check_refuses_what_metal_does_not_have),
        cmocka_unit_test(abort_checks_loops_that_may_not_end),
        cmocka_unit_test(abort_trusts_short_loops_only),
        cmocka_unit_test(group_makes_loops_and_coroutines),
        cmocka_unit_test(arguments_are_read_once_for_all_threads),
        cmocka_unit_test(constants_are_read_once_for_all_threads),
        cmocka_unit_test(info_is_exported),
        cmocka_unit_test(private_moves_large_arrays_off_the_stack),
        cmocka_unit_test(code_runs_at_every_width),
        cmocka_unit_test(objects_that_are_none_are_refused),
        cmocka_unit_test(no_symbol_of_the_process_can_be_had),
        cmocka_unit_test(what_llvm_calls_by_itself_can_be_had),
        cmocka_unit_test(text_stages_can_be_read),
        cmocka_unit_test(quick_code_that_needs_too_much_stack_is_optimised),
    };
    return cmocka_run_group_tests_name("passes", tests, open_compiler, close_compiler);
}
