// SPDX-License-Identifier: Apache-2.0
// Pipelines of the software device: machine code by kernel, constants and variant, from memory, disk or LLVM.
#include <string.h>

#include "compiler-identity.h"
#include "core/clock.h"
#include "device/constants.h"
#include "device/cpu/bundle.h"
#include "device/cpu/compiled.h"
#include "device/cpu/tiers.h"
#include "device/pixel-format.h"
#include "device/profile.h"
#include "simt/checked/state.h"
#include "simt/compile.h"
#include "simt/lines.h"
#include "simt/target.h"

// ---- Keys ----

static void hash_constants(igi_hasher *hasher, const ig_function_constant *constants, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const ig_function_constant *constant = &constants[i];
        igi_hasher_add_string(hasher, constant->name);
        igi_hasher_add_u64(hasher, constant->name ? 0 : constant->id);
        igi_hasher_add_u64(hasher, constant->type);
        uint32_t components = constant->components ? constant->components : 1;
        igi_hasher_add(hasher, constant->value, (size_t)components * ig_type_size(constant->type));
    }
}

static void hash_linked(igi_hasher *hasher, const ig_pipeline *pipeline) {
    igi_hasher_add_u64(hasher, pipeline->function_count);
    for (size_t i = 0; i < pipeline->function_count; i++) {
        const cpu_module *module = igi_cpu_module_of_function(pipeline->libraries[i], pipeline->functions[i]);
        igi_hasher_add(hasher, &module->key, sizeof module->key);
        igi_hasher_add_string(hasher, pipeline->functions[i]->symbol);
    }
}

static igi_hash program_key(const ig_pipeline *pipeline, const igi_msl_kernel *kernel, const ig_pipeline_desc *desc) {
    const cpu_module *module = igi_cpu_module_of(pipeline->library, kernel);
    igi_hasher *hasher = igi_hasher_create();
    igi_hasher_add(hasher, &module->key, sizeof module->key);
    igi_hasher_add_string(hasher, kernel->symbol);
    hash_constants(hasher, desc->constants, desc->constant_count);
    igi_hasher_add_u64(hasher, desc->unset_constants_are_zero);
    hash_linked(hasher, pipeline);
    return igi_hasher_finish(hasher);
}

// What the machine code depends on besides the program.
static igi_hash code_key(const cpu_program *program, const igi_simt_request *request) {
    igi_hasher *hasher = igi_hasher_create();
    igi_hasher_add(hasher, &program->key, sizeof program->key);
    igi_simt_target target = igi_simt_chosen_target();
    igi_hasher_add_string(hasher, target.triple);
    igi_hasher_add_string(hasher, target.cpu);
    igi_hasher_add_string(hasher, target.features);
    igi_hasher_add_string(hasher, ig_version());
    igi_hasher_add_string(hasher, IGI_COMPILER_IDENTITY);
    igi_hasher_add_u64(hasher, IGI_CODE_VERSION);
    igi_hasher_add_u64(hasher, request->abortable);
    igi_hasher_add_u64(hasher, request->width);
    igi_hasher_add_u64(hasher, request->streaming);
    igi_hasher_add_u64(hasher, request->first_tier);
    igi_hasher_add_u64(hasher, request->check);
    igi_hasher_add_u64(hasher, request->scheduled);
    igi_hasher_add_u64(hasher, request->variables);
    for (int i = 0; i < 3; i++) igi_hasher_add_u64(hasher, request->group[i]);
    igi_hasher_add(hasher, request->layouts, sizeof request->layouts);
    return igi_hasher_finish(hasher);
}

// ---- Code ----

static bool is_narrow(const cpu_program *program, cpu_purpose purpose) {
    // Bounds are checked in the same way for a vector of threads; the other checks look at each thread, unless it is only
    // a quick look.
    bool each_thread = (purpose.check & ~(uint32_t)IG_CHECK_MEMORY) && !(purpose.check & IGI_CHECK_QUICK);
    return purpose.narrow || program->single || each_thread || purpose.scheduled;
}

igi_simt_request igi_cpu_simt_request(const cpu_device *cpu, const cpu_program *program, cpu_purpose purpose) {
    igi_simt_request request = {.bitcode = program->module->bitcode,
                                .bitcode_length = program->module->bitcode_length,
                                .symbol = program->symbol,
                                .name = program->name,
                                .constants = program->constants,
                                .constant_count = program->constant_count,
                                .unset_constants_are_zero = program->unset_constants_are_zero,
                                .fast_math = program->module->math_mode == IG_MATH_FAST,
                                .linked = program->linked,
                                .linked_count = program->linked_count,
                                .abortable = purpose.abortable,
                                .width = is_narrow(program, purpose) || cpu->variables ? 1 : cpu->width,
                                .variables = cpu->variables,
                                .scheduled = purpose.scheduled,
                                .check = purpose.check,
                                .batches = purpose.group[0] != 0 && !purpose.check,
                                .streaming = purpose.streaming,
                                .first_tier = purpose.first_tier && !cpu->variables,
                                .group = {purpose.group[0], purpose.group[1], purpose.group[2]},
                                .line_tables = program->module->line_tables};
    memcpy(request.layouts, purpose.layouts, sizeof request.layouts);
    return request;
}

static ig_status load(cpu_device *cpu, const cpu_program *program, const char *object, size_t length,
                      igi_simt_code *code, ig_error *error) {
    ig_status status =
        igi_simt_jit_load(cpu->jit, object, length, program->module->line_tables ? program->name : NULL, code, error);
    if (status == IG_STATUS_OK && cpu->samples) code->lines = igi_simt_lines_read(object, length, code);
    return status;
}

static bool load_cached(ig_device *device, const cpu_program *program, igi_hash key, igi_simt_code *code) {
    cpu_device *cpu = igi_cpu(device);
    char *object = NULL;
    size_t length = 0;
    if (!igi_disk_cache_get(cpu->cache, key, &object, &length)) return false;
    bool loaded = load(cpu, program, object, length, code, NULL) == IG_STATUS_OK;
    free(object);
    if (loaded) atomic_fetch_add(&device->disk_hits, 1);
    return loaded;
}

ig_status igi_cpu_generate(ig_device *device, const cpu_program *program, const igi_simt_request *request,
                           igi_simt_stage stage, char **output, size_t *length, ig_error *error) {
    return igi_codegen_compile(igi_cpu(device)->codegen, request, stage, program->module->timeout_ns, output, length,
                               error);
}

static ig_status load_or_compile(ig_device *device, const cpu_program *program, cpu_purpose purpose,
                                 igi_simt_code *code, const char **how, ig_error *error) {
    cpu_device *cpu = igi_cpu(device);
    igi_simt_request request = igi_cpu_simt_request(cpu, program, purpose);
    igi_hash key = code_key(program, &request);
    *how = "cache";
    if (load_cached(device, program, key, code)) return IG_STATUS_OK;
    *how = "LLVM";
    char *object = NULL;
    size_t length = 0;
    ig_status status = igi_cpu_generate(device, program, &request, IGI_STAGE_OBJECT, &object, &length, error);
    if (status != IG_STATUS_OK) return status;
    status = load(cpu, program, object, length, code, error);
    if (status == IG_STATUS_OK) igi_disk_cache_put(cpu->cache, key, object, length);
    free(object);
    return status;
}

static _Thread_local uint64_t codes_made;

uint64_t igi_cpu_codes_made(void) {
    return codes_made;
}

static void note_made(ig_device *device, const cpu_program *program, const igi_simt_code *code, const char *how,
                      uint64_t start) {
    if (device->profile) igi_device_profile_compiled(device, program->name, how, code->info.width, start);
}

ig_status igi_cpu_make_code(ig_device *device, const cpu_program *program, cpu_purpose purpose, igi_simt_code *code,
                            ig_error *error) {
    const char *how;
    codes_made++;
    uint64_t start = device->profile ? igi_now_ns() : 0;
    ig_status status = load_or_compile(device, program, purpose, code, &how, error);
    if (status == IG_STATUS_OK) note_made(device, program, code, how, start);
    return status;
}

bool igi_cpu_load_cached(ig_device *device, const cpu_program *program, cpu_purpose purpose, igi_simt_code *code) {
    uint64_t start = device->profile ? igi_now_ns() : 0;
    igi_simt_request request = igi_cpu_simt_request(igi_cpu(device), program, purpose);
    bool loaded = load_cached(device, program, code_key(program, &request), code);
    if (loaded) codes_made++, note_made(device, program, code, "cache", start);
    return loaded;
}

static cpu_variant *find_variant(const cpu_program *program, const cpu_purpose *purpose) {
    for (cpu_variant *v = program->variants; v; v = v->next) {
        bool same = v->purpose.abortable == purpose->abortable && v->purpose.narrow == purpose->narrow &&
                    v->purpose.streaming == purpose->streaming && v->purpose.check == purpose->check &&
                    v->purpose.scheduled == purpose->scheduled;
        if (same && memcmp(v->purpose.group, purpose->group, sizeof purpose->group) == 0 &&
            memcmp(v->purpose.layouts, purpose->layouts, sizeof purpose->layouts) == 0)
            return v;
    }
    return NULL;
}

static cpu_variant *add_variant(cpu_program *program, cpu_purpose purpose) {
    cpu_variant *made = igi_calloc(1, sizeof *made);
    if (!made) return NULL;
    made->purpose = purpose;
    made->next = program->variants;
    return program->variants = made;
}

// Call with the lock held. *variant stays NULL, or is marked as failed, if the code cannot be made.
static ig_status get_variant(ig_device *device, cpu_program *program, cpu_purpose purpose, cpu_variant **variant,
                             ig_error *error) {
    *variant = find_variant(program, &purpose);
    if (*variant && atomic_load(&(*variant)->current)) return IG_STATUS_OK;
    if (!*variant) *variant = add_variant(program, purpose);
    if (!*variant) return igi_error_no_memory(error);
    ig_status status = igi_cpu_variant_open(device, program, *variant, error);
    atomic_store(&(*variant)->failed, status != IG_STATUS_OK);
    return status;
}

ig_status igi_cpu_program_variant(ig_device *device, cpu_program *program, cpu_purpose purpose, cpu_variant **variant,
                                  ig_error *error) {
    pthread_mutex_lock(&program->lock);
    ig_status status = get_variant(device, program, purpose, variant, error);
    pthread_mutex_unlock(&program->lock);
    return status;
}

// ---- Code for one size of threadgroup ----

enum { WORTH_SHAPING = 1 << 15, MAX_SHAPES = 16 };

static size_t count_shapes(const cpu_program *program) {
    size_t count = 0;
    for (const cpu_variant *v = program->variants; v; v = v->next) count += v->purpose.group[0] != 0;
    return count;
}

bool igi_cpu_is_worth_shaping(const cpu_device *cpu, uint64_t threads) {
    return cpu->shaping == CPU_SHAPE_ALWAYS || (cpu->shaping == CPU_SHAPE_LARGE && threads >= WORTH_SHAPING);
}

// Where both tiers are made, the general code of the first runs until this is ready.
static bool can_wait(const cpu_device *cpu, const cpu_program *program, const cpu_purpose *purpose) {
    return program->tier != CPU_TIER_SECOND && cpu->shaping != CPU_SHAPE_ALWAYS && !purpose->check;
}

cpu_variant *igi_cpu_shaped_variant(ig_device *device, cpu_program *program, cpu_purpose purpose) {
    pthread_mutex_lock(&program->lock);
    cpu_variant *variant = find_variant(program, &purpose);
    // A compilation that failed, for lack of memory for instance, is not repeated: there is other code.
    if (!variant && count_shapes(program) < MAX_SHAPES) {
        if (!can_wait(igi_cpu(device), program, &purpose))
            get_variant(device, program, purpose, &variant, NULL);
        else if ((variant = add_variant(program, purpose)))
            igi_cpu_variant_open_later(device, program, variant);
    }
    pthread_mutex_unlock(&program->lock);
    return variant;
}

// ---- Programs alive ----

static void free_program(cpu_device *cpu, cpu_program *program) {
    for (cpu_variant *v = program->variants, *next; v; v = next) {
        next = v->next;
        igi_cpu_variant_close(cpu, v);
    }
    igi_device_constants_free(program->constants, program->constant_count);
    for (size_t i = 0; i < program->linked_count; i++) free((char *)program->linked[i].symbol);
    pthread_mutex_destroy(&program->lock);
    free(program->linked), free(program->linked_modules);
    free(program->symbol), free(program->name), free(program);
}

static bool copy_linked(cpu_program *program, const ig_pipeline *pipeline) {
    size_t count = pipeline->function_count;
    program->linked = igi_calloc(count, sizeof *program->linked);
    program->linked_modules = igi_calloc(count, sizeof *program->linked_modules);
    if (!program->linked || !program->linked_modules) return false;
    for (size_t i = 0; i < count; i++) {
        cpu_module *module = igi_cpu_module_of_function(pipeline->libraries[i], pipeline->functions[i]);
        bool own = module == program->module;
        char *symbol = igi_strdup(pipeline->functions[i]->symbol);
        if (!symbol) return false;
        program->linked_modules[i] = module;
        program->linked[program->linked_count++] =
            (igi_simt_linked){own ? NULL : module->bitcode, own ? 0 : module->bitcode_length, symbol};
    }
    return true;
}

static cpu_program *make_program(const ig_pipeline *pipeline, const igi_msl_kernel *kernel,
                                 const ig_pipeline_desc *desc, igi_hash key) {
    cpu_module *module = igi_cpu_module_of(pipeline->library, kernel);
    cpu_program *program = igi_calloc(1, sizeof *program);
    if (!program) return NULL;
    program->references = 1;
    program->key = key;
    program->module = module;
    program->single = kernel->info.max_total_threads == 1;
    program->unset_constants_are_zero = desc->unset_constants_are_zero;
    program->tier = igi_cpu_choose_tier(igi_cpu(pipeline->library->device), desc->tier);
    pthread_mutex_init(&program->lock, NULL);
    program->symbol = igi_strdup(kernel->symbol);
    program->name = igi_strdup(kernel->info.name);
    program->constants = igi_device_constants_copy(desc->constants, desc->constant_count);
    program->constant_count = program->constants ? desc->constant_count : 0;
    if (program->symbol && program->name && program->constants && copy_linked(program, pipeline)) return program;
    free_program(igi_cpu(pipeline->library->device), program);
    return NULL;
}

// The program of this key, existing or new, with a reference for the caller; *fresh says which.
static cpu_program *get_program(ig_pipeline *pipeline, const igi_msl_kernel *kernel, const ig_pipeline_desc *desc,
                                bool *fresh) {
    cpu_device *cpu = igi_cpu(pipeline->library->device);
    cpu_module *module = igi_cpu_module_of(pipeline->library, kernel);
    igi_hash key = program_key(pipeline, kernel, desc);
    cpu_tier tier = igi_cpu_choose_tier(cpu, desc->tier);
    pthread_mutex_lock(&cpu->lock);
    cpu_program *program = cpu->programs;
    while (program && !(igi_hash_equal(program->key, key) && igi_hash_valid(key) && program->tier == tier))
        program = program->next;
    *fresh = !program;
    if (program) {
        program->references++;
    } else if ((program = make_program(pipeline, kernel, desc, key))) {
        module->references++;
        for (size_t i = 0; i < program->linked_count; i++) program->linked_modules[i]->references++;
        program->next = cpu->programs;
        cpu->programs = program;
    }
    pthread_mutex_unlock(&cpu->lock);
    return program;
}

cpu_program *igi_cpu_program_retain(cpu_device *cpu, cpu_program *program) {
    pthread_mutex_lock(&cpu->lock);
    program->references++;
    pthread_mutex_unlock(&cpu->lock);
    return program;
}

void igi_cpu_program_release(cpu_device *cpu, cpu_program *program) {
    pthread_mutex_lock(&cpu->lock);
    bool last = --program->references == 0;
    for (cpu_program **link = &cpu->programs; last && *link; link = &(*link)->next) {
        if (*link != program) continue;
        *link = program->next;
        break;
    }
    pthread_mutex_unlock(&cpu->lock);
    if (!last) return;
    igi_cpu_module_release(cpu, program->module);
    for (size_t i = 0; i < program->linked_count; i++) igi_cpu_module_release(cpu, program->linked_modules[i]);
    free_program(cpu, program);
}

// ---- The backend's calls ----

// Code is made for the formats that are bound. Until they are known, for those that most programs bind.
static ig_pixel_format usual_format(const char *type) {
    const char *element = strchr(type, '<');
    if (!element || strncmp(type, "array<", 6) == 0) return IG_PIXEL_INVALID;
    if (strncmp(type, "depth", 5) == 0) return IG_PIXEL_DEPTH32_FLOAT;
    bool real = strncmp(element, "<float", 6) == 0 || strncmp(element, "<half", 5) == 0;
    return real ? IG_PIXEL_RGBA8_UNORM : element[1] == 'u' ? IG_PIXEL_R32_UINT : IG_PIXEL_R32_SINT;
}

void igi_cpu_guess_layouts(const ig_kernel_info *kernel, uint64_t layouts[IGI_KNOWN_LAYOUTS]) {
    for (size_t i = 0; i < kernel->argument_count; i++) {
        const ig_argument *argument = &kernel->arguments[i];
        if (argument->kind == IG_ARGUMENT_TEXTURE && argument->index < IGI_KNOWN_LAYOUTS)
            layouts[argument->index] = igi_device_pixel_layout(usual_format(argument->type));
    }
}

// What the kernel does not use need not be set.
static void note_unused(ig_pipeline *pipeline, const igi_simt_code *code) {
    ig_argument *arguments = (ig_argument *)pipeline->kernel.arguments;
    for (size_t i = 0; i < pipeline->kernel.argument_count; i++)
        if (arguments[i].kind == IG_ARGUMENT_BUFFER && !(code->info.slots >> arguments[i].index & 1))
            arguments[i].access = IG_ACCESS_NONE;
}

ig_status igi_cpu_pipeline_open(ig_pipeline *pipeline, const ig_pipeline_desc *desc, const igi_msl_kernel *kernel,
                                ig_error *error) {
    ig_device *device = pipeline->library->device;
    bool fresh, abortable = device->deadline_ns != 0;
    ig_status status = igi_cpu_functions_prepare(pipeline, error);
    if (status != IG_STATUS_OK) return status;
    cpu_program *program = get_program(pipeline, kernel, desc, &fresh);
    if (!program) return igi_error_no_memory(error);
    cpu_variant *made;
    uint32_t checks = igi_cpu(device)->checks;
    bool scheduled = igi_cpu(device)->schedule != 0;
    cpu_purpose purpose = {.abortable = abortable, .check = checks, .scheduled = scheduled};
    if (checks && !scheduled) purpose.check |= IGI_CHECK_QUICK;
    igi_cpu_guess_layouts(&kernel->info, purpose.layouts);
    status = igi_cpu_program_variant(device, program, purpose, &made, error);
    if (status != IG_STATUS_OK) {
        igi_cpu_program_release(igi_cpu(device), program);
        return status;
    }
    if (!fresh) atomic_fetch_add(&device->memory_hits, 1);
    pipeline->state = program;
    const igi_simt_code *code = igi_cpu_variant_code(made);
    note_unused(pipeline, code);
    pipeline->properties.static_threadgroup_memory = code->info.threadgroup_bytes;
    pipeline->properties.simt_width = code->info.width;
    return IG_STATUS_OK;
}

void igi_cpu_pipeline_close(ig_pipeline *pipeline) {
    igi_cpu_program_release(igi_cpu(pipeline->library->device), pipeline->state);
}

ig_status igi_cpu_pipeline_emit(ig_pipeline *pipeline, const char *stage, char **text) {
    const cpu_device *cpu = igi_cpu(pipeline->library->device);
    static const struct {
        const char *name;
        igi_simt_stage stage;
    } stages[] = {{"llvm", IGI_STAGE_LLVM}, {"simt", IGI_STAGE_SIMT}, {"asm", IGI_STAGE_ASM}};
    // The code of a checked kernel that runs first.
    cpu_purpose purpose = {.check = cpu->checks ? cpu->checks | IGI_CHECK_QUICK : 0,
                           .first_tier = cpu->tier == CPU_TIER_FIRST};
    igi_cpu_guess_layouts(&pipeline->kernel, purpose.layouts);
    igi_simt_request request = igi_cpu_simt_request(cpu, pipeline->state, purpose);
    size_t length;
    if (strcmp(stage, "air") == 0) return igi_cpu_compiled_print(pipeline->library, pipeline->kernel.name, text);
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        if (strcmp(stages[i].name, stage) == 0)
            return igi_cpu_generate(pipeline->library->device, pipeline->state, &request, stages[i].stage, text,
                                    &length, NULL);
    return IG_STATUS_INVALID_ARGUMENT;
}
