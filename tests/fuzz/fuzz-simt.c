// SPDX-License-Identifier: Apache-2.0
// What the author of MSL and of a request for a pipeline controls after clang: requests to src/simt on bitcode that was
// stored when the library was built, with any kernel, function constants, widths, sizes and options, in process; and
// the reflection of that bitcode. Each compiles or is refused with a message, and two compilations give the same bytes.
#include <llvm-c/Analysis.h>
#include <string.h>

#include "core/embedded.h"
#include "core/memory.h"
#include "fuzz.h"
#include "msl/llvm-context.h"
#include "msl/packed.h"
#include "simt/passes.h"
#include "simt/target.h"

enum { MOST_LIBRARIES = 64, MOST_CONSTANTS = 24 };

static LLVMTargetMachineRef machine;
static igi_msl_packed libraries[MOST_LIBRARIES];
static size_t library_count;

// ---- Bytes of the input, zeros after its end ----

typedef struct reader {
    const uint8_t *at;
    size_t left;
} reader;

static uint32_t take(reader *r, size_t bytes) {
    uint32_t number = 0;
    size_t there = bytes < r->left ? bytes : r->left;
    if (there) memcpy(&number, r->at, there);
    r->at += there, r->left -= there;
    return number;
}

static uint32_t take_below(reader *r, uint32_t bound) {
    return take(r, 1) % bound;
}

// ---- Libraries ----

static void open_machine(void) {
    machine = igi_simt_open_machine(LLVMCodeGenLevelDefault);
    MUST(machine);
}

static void free_libraries(void) {
    LLVMDisposeTargetMachine(machine);
    for (size_t i = 0; i < library_count; i++) {
        igi_msl_reflection_free(&libraries[i].reflection);
        free(libraries[i].bitcode), free(libraries[i].log);
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    for (size_t i = 0; i < igi_builtin_libraries_count && library_count < MOST_LIBRARIES; i++) {
        igi_msl_packed *packed = &libraries[library_count];
        const igi_embedded *file = &igi_builtin_libraries[i];
        if (igi_msl_packed_read(file->data, file->length, packed)) library_count++;
    }
    open_machine();
    atexit(free_libraries);
    return 0;
}

static void check_reflection(const igi_msl_packed *library) {
    igi_msl_reflection again = {0};
    igi_msl_sources sources = {0};
    igi_msl_diagnostics diagnostics = {.sources = &sources};
    ig_error error = {0};
    MUST(igi_msl_reflect(library->bitcode, library->bitcode_length, &again, &diagnostics, &error) == IG_STATUS_OK);
    MUST(again.kernel_count == library->reflection.kernel_count);
    igi_msl_reflection_free(&again);
    igi_msl_diagnostics_free(&diagnostics);
}

// ---- Requests ----

typedef struct constants {
    ig_function_constant items[MOST_CONSTANTS];
    uint64_t values[MOST_CONSTANTS][4];
    size_t count;
} constants;

// Mostly existing ones, of their type; sometimes of another type, duplicated, or unknown.
static void take_constants(reader *r, const igi_msl_reflection *reflection, constants *c) {
    size_t known = reflection->constant_count;
    uint32_t odd = take_below(r, 8);
    c->count = odd == 1 ? take_below(r, MOST_CONSTANTS) : known < MOST_CONSTANTS ? known : MOST_CONSTANTS;
    for (size_t i = 0; i < c->count; i++) {
        const ig_function_constant_info *info = known ? &reflection->constants[odd == 2 ? 0 : i % known] : NULL;
        for (int k = 0; k < 4; k++) c->values[i][k] = take(r, 1) * (take_below(r, 4) ? 1 : 0x0101010101010101u);
        c->items[i] =
            (ig_function_constant){.name = info && odd != 3 ? info->name : NULL,
                                   .id = info && odd != 4 ? info->id : take(r, 2),
                                   .type = info && odd != 5 ? info->type : (ig_type)take_below(r, IG_TYPE_COUNT),
                                   .value = c->values[i],
                                   .components = info && odd != 6 ? info->components : 1 + take_below(r, 4)};
    }
}

static uint32_t take_width(reader *r) {
    static const uint32_t widths[] = {0, 1, 8, 16, 32, 0, 0, 64};
    return widths[take_below(r, 8)];
}

static void take_group(reader *r, uint32_t group[3]) {
    static const uint32_t sizes[] = {0, 1, 2, 3, 7, 8, 16, 31, 32, 33, 64, 128, 256, 1000, 1024};
    if (take_below(r, 2)) return;
    group[0] = sizes[take_below(r, sizeof sizes / sizeof *sizes)];
    group[1] = group[2] = group[0] ? 1 : 0;
    if (group[0] && group[0] <= 32 && take_below(r, 2)) group[1] = 1 + take_below(r, 1024 / group[0]);
}

static igi_simt_stage take_stage(reader *r) {
    // Generating machine code is most of the work, and LLVM's, not ours.
    static const igi_simt_stage stages[] = {IGI_STAGE_LLVM, IGI_STAGE_LLVM, IGI_STAGE_LLVM,   IGI_STAGE_SIMT,
                                            IGI_STAGE_SIMT, IGI_STAGE_ASM,  IGI_STAGE_OBJECT, IGI_STAGE_REMARKS};
    return stages[take_below(r, 8)];
}

static bool is_allowed(ig_status status) {
    return status == IG_STATUS_OK || status == IG_STATUS_WRONG_CONSTANT || status == IG_STATUS_UNSUPPORTED ||
           status == IG_STATUS_NOT_FOUND || status == IG_STATUS_OVERFLOW || status == IG_STATUS_THREADGROUP_TOO_LARGE ||
           status == IG_STATUS_COMPILE_FAILED || status == IG_STATUS_INVALID_ARGUMENT;
}

static void check_status(const igi_simt_request *request, ig_status status, const ig_error *error) {
    if (status == IG_STATUS_OK || (is_allowed(status) && error->message)) return;
    fprintf(stderr, "kernel %s: %s: %s\n", request->name, ig_status_name(status), error->message ? error->message : "");
    abort();
}

// Only as far as kernels get their constants and arguments: what follows reads only the kernel itself, and takes a
// hundred times as long.
static void compile_front(const igi_simt_request *request) {
    static ig_status (*const passes[])(igi_simt_module *) = {igi_simt_pass_extract, igi_simt_pass_align,
                                                             igi_simt_pass_constants, igi_simt_pass_bind};
    ig_error error = {0};
    igi_simt_module m = {
        .request = request, .context = igi_msl_llvm_context_create(), .error = &error, .machine = machine};
    ig_status status = IG_STATUS_OK;
    for (size_t i = 0; i < sizeof passes / sizeof *passes && status == IG_STATUS_OK; i++) status = passes[i](&m);
    check_status(request, status, &error);
    char *broken = NULL;
    if (status == IG_STATUS_OK) MUST(!LLVMVerifyModule(m.module, LLVMReturnStatusAction, &broken));
    LLVMDisposeMessage(broken);
    if (m.module) LLVMDisposeModule(m.module);
    LLVMContextDispose(m.context);
    ig_error_clear(&error);
}

static char *compile(const igi_simt_request *request, igi_simt_stage stage, size_t *length) {
    char *output = NULL;
    ig_error error = {0};
    igi_simt_remarks remarks = {0};
    igi_simt_request own = *request;
    if (stage == IGI_STAGE_REMARKS) own.remarks = &remarks;
    *length = 0;
    ig_status status = igi_simt_compile(&own, stage, &output, length, &error);
    check_status(request, status, &error);
    igi_simt_remarks_free(&remarks);
    ig_error_clear(&error);
    return output;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!library_count || !size) return 0;
    reader r = {data, size};
    const igi_msl_packed *library = &libraries[take(&r, 1) % library_count];
    const igi_msl_reflection *reflection = &library->reflection;
    if (!reflection->kernel_count) return 0;
    const igi_msl_kernel *kernel = &reflection->kernels[take(&r, 2) % reflection->kernel_count];
    constants c;
    take_constants(&r, reflection, &c);
    uint32_t flags = take(&r, 1);
    igi_simt_request request = {.bitcode = library->bitcode,
                                .bitcode_length = library->bitcode_length,
                                .symbol = kernel->symbol,
                                .name = kernel->info.name,
                                .constants = c.items,
                                .constant_count = c.count,
                                .abortable = flags & 1,
                                .batches = flags & 2,
                                .streaming = flags & 4,
                                .line_tables = flags & 8,
                                .width = take_width(&r)};
    take_group(&r, request.group);
    compile_front(&request);
    if (take_below(&r, 64)) return 0;
    igi_simt_stage stage = take_stage(&r);
    size_t length, length_again;
    char *output = compile(&request, stage, &length);
    if (output && flags >> 4 == 0) {
        char *again = compile(&request, stage, &length_again);
        MUST(again && length == length_again && memcmp(output, again, length) == 0);
        free(again);
    }
    free(output);
    if (flags >> 4 == 1) check_reflection(library);
    return 0;
}
