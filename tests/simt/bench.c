// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of src/simt.
#include "bench.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Target.h>

#include "codegen/work.h"
#include "core/file.h"
#include "core/memory.h"
#include "msl/compiler.h"

static igi_msl_compiler *compiler;
static char *cache_dir;

int open_compiler(void **state) {
    (void)state;
    cache_dir = igi_make_temp_dir();
    return cache_dir && igi_msl_compiler_create(cache_dir, &compiler) == IG_STATUS_OK ? 0 : -1;
}

int close_compiler(void **state) {
    (void)state;
    igi_msl_compiler_destroy(compiler);
    igi_remove_tree(cache_dir);
    free(cache_dir);
    return 0;
}

void compile(const char *source, char **bitcode, size_t *length, igi_msl_reflection *reflection) {
    igi_msl_request request = {.language_version = 310};
    igi_msl_main_source main = {.text = source, .length = strlen(source), .name = "test.metal"};
    ig_error error = {0};
    assert_ok(igi_msl_sources_load(&request.sources, &main, NULL, 0, &error));
    igi_msl_diagnostics diagnostics = {.sources = &request.sources};
    ig_status status = igi_msl_compile(compiler, &request, &diagnostics, bitcode, length, &error);
    if (status == IG_STATUS_OK) status = igi_msl_reflect(*bitcode, *length, reflection, &diagnostics, &error);
    if (status != IG_STATUS_OK)
        fail_msg("%s %s\n%s", ig_status_name(status), error.message ? error.message : "",
                 diagnostics.log.data ? diagnostics.log.data : "");
    igi_msl_diagnostics_free(&diagnostics);
    igi_msl_sources_free(&request.sources);
}

// ---- A kernel on its way ----

static bench *make(const char *name) {
    bench *b = calloc(1, sizeof *b);
    assert_non_null(b);
    b->request.name = name;
    b->m = (igi_simt_module){.request = &b->request, .context = LLVMContextCreate(), .error = &b->error};
    b->m.machine = igi_simt_open_machine(LLVMCodeGenLevelDefault);
    assert_non_null(b->m.machine);
    return b;
}

bench *start(const char *source, const char *kernel) {
    bench *b = make(kernel);
    compile(source, &b->bitcode, &b->length, &b->reflection);
    const igi_msl_kernel *found = igi_msl_reflection_find(&b->reflection, kernel);
    b->request.bitcode = b->bitcode;
    b->request.bitcode_length = b->length;
    b->request.symbol = found ? found->symbol : kernel;
    return b;
}

bench *start_ir(const char *text) {
    bench *b = make("thread");
    char *message = NULL;
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "test");
    if (LLVMParseIRInContext(b->m.context, buffer, &b->m.module, &message)) fail_msg("%s", message);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(b->m.machine);
    LLVMSetModuleDataLayout(b->m.module, layout);
    LLVMDisposeTargetData(layout);
    b->m.thread = LLVMGetNamedFunction(b->m.module, "thread");
    assert_non_null(b->m.thread);
    verify(b, "the text");
    return b;
}

bench *start_body(const char *body) {
    static const char head[] = "define ptr @thread(ptr %group, i32 %x, i32 %y, i32 %z, ptr %lane) {\n";
    static const char tail[] =
        "}\n"
        "declare void @__ig_barrier(i32) convergent\n"
        "declare void @__ig_simd_barrier(i32) convergent\n"
        "declare i32 @__ig_reduce_add_u32(i32, i32) convergent\n"
        "declare float @__ig_reduce_add_f32(float, i32) convergent\n"
        "declare float @__ig_reduce_max_f32(float, i32) convergent\n"
        "declare i32 @__ig_scan_inclusive_add_u32(i32, i32) convergent\n"
        "declare i64 @__ig_ballot(i1, i32) convergent\n"
        "declare i32 @__ig_shuffle_u32(i32, i32, i32) convergent\n"
        "declare i32 @__ig_shuffle_xor_u32(i32, i32, i32) convergent\n"
        "declare i32 @__ig_simd_lane(i32)\n"
        "declare i32 @__ig_simd_index(i32)\n"
        "declare float @__ig_mma_even(float, float, float, float, float, float) convergent\n"
        "declare float @__ig_matrix_even_f32(ptr, ptr, ptr, i64, i1) convergent\n"
        "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n"
        "declare float @llvm.fma.f32(float, float, float)\n"
        "declare float @llvm.sin.f32(float)\n"
        "declare {i32, i1} @llvm.umul.with.overflow.i32(i32, i32)\n"
        "!0 = !{}\n";
    size_t length = sizeof head + sizeof tail + strlen(body);
    char *text = malloc(length);
    assert_non_null(text);
    snprintf(text, length, "%s%s%s", head, body, tail);
    bench *b = start_ir(text);
    free(text);
    return b;
}

void end(bench *b) {
    if (b->m.module) LLVMDisposeModule(b->m.module);
    LLVMDisposeTargetMachine(b->m.machine);
    LLVMContextDispose(b->m.context);
    igi_msl_reflection_free(&b->reflection);
    ig_error_clear(&b->error);
    free(b->bitcode);
    free(b);
}

void verify(const bench *b, const char *what) {
    char *message = NULL;
    if (LLVMVerifyModule(b->m.module, LLVMReturnStatusAction, &message)) fail_msg("%s: %s", what, message);
    LLVMDisposeMessage(message);
}

ig_status run_to(bench *b, pass last) {
    static const struct {
        const char *name;
        pass run;
    } passes[] = {
        {"extract", igi_simt_pass_extract},   {"constants", igi_simt_pass_constants}, {"bind", igi_simt_pass_bind},
        {"inline", igi_simt_pass_inline},     {"invariant", igi_simt_pass_invariant}, {"define", igi_simt_pass_define},
        {"contract", igi_simt_pass_contract}, {"check", igi_simt_pass_check},         {"abort", igi_simt_pass_abort},
        {"relax", igi_simt_pass_relax},       {"coarsen", igi_simt_pass_coarsen},     {"group", igi_simt_pass_group},
        {"unlock", igi_simt_pass_unlock},     {"hoist", igi_simt_pass_hoist},
    };
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        ig_status status = passes[i].run(&b->m);
        if (status != IG_STATUS_OK) return status;
        verify(b, passes[i].name);
        if (passes[i].run == last) return IG_STATUS_OK;
    }
    return IG_STATUS_OK;
}

bench *start_to(const char *source, const char *kernel, pass last) {
    bench *b = start(source, kernel);
    ig_status status = run_to(b, last);
    if (status != IG_STATUS_OK) fail_msg("%s: %s", ig_status_name(status), b->error.message);
    return b;
}

const char *why_declined(bench *b, uint32_t width) {
    LLVMValueRef widened = NULL;
    const char *declined = NULL;
    assert_ok(igi_simt_pass_prepare(&b->m));
    verify(b, "prepare");
    assert_ok(igi_simt_widen(&b->m, width, true, "wide", &widened, &declined));
    verify(b, "widen");
    assert_true((widened == NULL) == (declined != NULL));
    return declined;
}

// As in group, and simplified a little as there: the code then contains only what was meant.
LLVMValueRef widen(bench *b, uint32_t width, bool full) {
    LLVMValueRef widened = NULL;
    const char *declined = NULL;
    assert_ok(igi_simt_pass_prepare(&b->m));
    verify(b, "prepare");
    assert_ok(igi_simt_widen(&b->m, width, full, "wide", &widened, &declined));
    if (declined) fail_msg("declined: %s", declined);
    verify(b, "widen");
    assert_ok(igi_simt_run_passes(&b->m, "function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,adce)"));
    return widened;
}

// ---- Running it ----

bool load_code(bench *b, igi_simt_jit *jit, igi_simt_code *code) {
    static const pass passes[] = {igi_simt_pass_relax, igi_simt_pass_coarsen, igi_simt_pass_group, igi_simt_pass_unlock,
                                  igi_simt_pass_hoist};
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        ig_status status = passes[i](&b->m);
        if (b->m.declined) return false;
        assert_ok(status);
        verify(b, "the way to a group");
    }
    assert_ok(igi_simt_run_passes(&b->m, "default<O2>"));
    static const pass last[] = {igi_simt_pass_private,    igi_simt_pass_split, igi_simt_pass_forward,
                                igi_simt_pass_wide_masks, igi_simt_pass_info,  igi_simt_pass_masked};
    for (size_t i = 0; i < sizeof last / sizeof *last; i++) {
        assert_ok(last[i](&b->m));
        verify(b, "the way to machine code");
    }
    char *message = NULL;
    LLVMMemoryBufferRef object = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(b->m.machine, b->m.module, LLVMObjectFile, &message, &object))
        fail_msg("%s", message);
    ig_error error = {0};
    ig_status status =
        igi_simt_jit_load(jit, LLVMGetBufferStart(object), LLVMGetBufferSize(object), NULL, code, &error);
    if (status != IG_STATUS_OK) fail_msg("%s", error.message);
    LLVMDisposeMemoryBuffer(object);
    return true;
}

igi_simt_code load_kernel(igi_simt_jit *jit, const char *source, uint32_t width) {
    char *bitcode = NULL, *object = NULL;
    igi_msl_reflection reflection = {0};
    igi_simt_request request = {.name = "k", .width = width};
    compile(source, &bitcode, &request.bitcode_length, &reflection);
    request.bitcode = bitcode;
    request.symbol = reflection.kernels[0].symbol;
    ig_error error = {0};
    igi_simt_code code;
    size_t length;
    assert_ok(igi_codegen_work(&request, IGI_STAGE_OBJECT, &object, &length, &error));
    assert_ok(igi_simt_jit_load(jit, object, length, NULL, &code, &error));
    free(object), free(bitcode);
    igi_msl_reflection_free(&reflection);
    return code;
}

static void run_group_at(const grid *g, const uint32_t at[3], igi_simt_group *group, const igi_simt_code *code,
                         const igi_simt_code *narrow, igi_simt_scratch *scratch) {
    for (int i = 0; i < 3; i++) {
        uint32_t left = g->threads[i] - at[i];
        group->position[i] = at[i] / g->group[i];
        group->origin[i] = at[i];
        group->size[i] = left < g->group[i] ? left : g->group[i];
    }
    igi_simt_run_group(igi_simt_can_run_group(code, group->size) ? code : narrow, group, scratch);
}

void run_grid(const grid *g, const igi_simt_code *code, const igi_simt_code *narrow) {
    igi_simt_scratch scratch = {0};
    uint32_t abort = 0, threads = g->group[0] * g->group[1] * g->group[2], at[3];
    uint64_t bytes = 16384 + (uint64_t)code->info.threadgroup_bytes;
    assert_ok(igi_simt_scratch_reserve(&scratch, code, threads, bytes));
    if (narrow) assert_ok(igi_simt_scratch_reserve(&scratch, narrow, threads, bytes));
    igi_simt_group group = {.threadgroup_memory = igi_simt_scratch_threadgroup(&scratch), .abort = &abort};
    for (int i = 0; i < 3; i++) {
        group.dispatch_size[i] = g->group[i];
        group.groups[i] = (g->threads[i] + g->group[i] - 1) / g->group[i];
        group.grid[i] = g->threads[i];
    }
    memcpy(group.arguments, g->arguments, sizeof group.arguments);
    memset(group.threadgroup_memory, 0, bytes);
    for (at[2] = 0; at[2] < g->threads[2]; at[2] += g->group[2])
        for (at[1] = 0; at[1] < g->threads[1]; at[1] += g->group[1])
            for (at[0] = 0; at[0] < g->threads[0]; at[0] += g->group[0])
                run_group_at(g, at, &group, code, narrow, &scratch);
    igi_simt_scratch_free(&scratch);
}

// ---- Looking at IR ----

LLVMValueRef value_named(LLVMValueRef function, const char *name) {
    size_t length;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (strcmp(LLVMGetValueName2(i, &length), name) == 0) return i;
    fail_msg("there is no value %%%s", name);
    return NULL;
}

bool has_block(LLVMValueRef function, const char *name) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        if (strcmp(LLVMGetBasicBlockName(b), name) == 0) return true;
    return false;
}

size_t count_if(LLVMValueRef function, bool (*wanted)(LLVMValueRef instruction)) {
    size_t count = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) count += wanted(i);
    return count;
}

size_t count_opcode(LLVMValueRef function, LLVMOpcode opcode) {
    size_t count = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            count += LLVMGetInstructionOpcode(i) == opcode;
    return count;
}

size_t count_calls(LLVMValueRef function, const char *prefix) {
    size_t count = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            count += LLVMIsACallInst(i) && strncmp(igi_simt_callee_name(i), prefix, strlen(prefix)) == 0;
    return count;
}

static size_t count_accesses(LLVMValueRef function, bool store, unsigned elements) {
    size_t count = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (store ? !LLVMIsAStoreInst(i) : !LLVMIsALoadInst(i)) continue;
            LLVMTypeRef type = LLVMTypeOf(store ? LLVMGetOperand(i, 0) : i);
            unsigned size = LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetVectorSize(type) : 1;
            count += size == elements;
        }
    return count;
}

size_t count_loads(LLVMValueRef function, unsigned elements) {
    return count_accesses(function, false, elements);
}

size_t count_stores(LLVMValueRef function, unsigned elements) {
    return count_accesses(function, true, elements);
}

size_t bodies(LLVMModuleRef module) {
    size_t count = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) count += !LLVMIsDeclaration(f);
    return count;
}

bool module_has(const igi_simt_module *m, const char *part) {
    char *text = LLVMPrintModuleToString(m->module);
    bool found = strstr(text, part) != NULL;
    LLVMDisposeMessage(text);
    return found;
}
