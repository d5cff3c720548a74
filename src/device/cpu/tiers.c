// SPDX-License-Identifier: Apache-2.0
// Code of the second tier is made in the background, by threads of their own: they wait for the compiler, and those that
// run kernels must not. Code that was replaced stays until its program goes, because dispatches may still run it.
#include "device/cpu/tiers.h"

#include <stdlib.h>

#include "core/clock.h"
#include "core/memory.h"

// A kernel that has run this long, and for a part of the time that its first code took to make, will run for longer.
static const uint64_t least_worth_ns = 5000000;
enum { PART_OF_COMPILING = 2 };

cpu_tier igi_cpu_choose_tier(const cpu_device *cpu, uint32_t wanted) {
    if (cpu->tier != CPU_TIER_ANY) return cpu->tier;
    return wanted == CPU_TIER_FIRST || wanted == CPU_TIER_SECOND ? (cpu_tier)wanted : CPU_TIER_BOTH;
}

// ---- Variants ----

static void publish(cpu_variant *variant, const igi_simt_code *code) {
    atomic_store_explicit(&variant->current, code, memory_order_release);
}

static ig_status open_only(ig_device *device, const cpu_program *program, cpu_variant *variant, ig_error *error) {
    atomic_store(&variant->settled, true);
    variant->purpose.first_tier = program->tier == CPU_TIER_FIRST;
    ig_status status = igi_cpu_make_code(device, program, variant->purpose, &variant->code, error);
    if (status == IG_STATUS_OK) publish(variant, &variant->code);
    return status;
}

// Better code may be there already, of an earlier run.
static bool open_cached(ig_device *device, const cpu_program *program, cpu_variant *variant) {
    variant->purpose.first_tier = false;
    if (!igi_cpu_load_cached(device, program, variant->purpose, &variant->code)) return false;
    atomic_store(&variant->settled, true);
    publish(variant, &variant->code);
    return true;
}

ig_status igi_cpu_variant_open(ig_device *device, const cpu_program *program, cpu_variant *variant, ig_error *error) {
    // What checks find in checked code is of interest, not how soon.
    if (program->tier != CPU_TIER_BOTH || variant->purpose.check) return open_only(device, program, variant, error);
    if (open_cached(device, program, variant)) return IG_STATUS_OK;
    variant->purpose.first_tier = true;
    uint64_t start = igi_now_ns();
    ig_status status = igi_cpu_make_code(device, program, variant->purpose, &variant->code, error);
    if (status != IG_STATUS_OK) return status;
    uint64_t part = (igi_now_ns() - start) / PART_OF_COMPILING;
    variant->worth_ns = part > least_worth_ns ? part : least_worth_ns;
    publish(variant, &variant->code);
    return status;
}

void igi_cpu_variant_open_later(ig_device *device, const cpu_program *program, cpu_variant *variant) {
    variant->worth_ns = least_worth_ns;
    if (program->tier == CPU_TIER_FIRST || open_cached(device, program, variant)) atomic_store(&variant->settled, true);
}

void igi_cpu_variant_close(cpu_device *cpu, cpu_variant *variant) {
    if (variant->code.unit) igi_simt_jit_unload(cpu->jit, &variant->code);
    if (variant->better.unit) igi_simt_jit_unload(cpu->jit, &variant->better);
    free(variant);
}

static bool is_of_second_tier(cpu_variant *variant) {
    const igi_simt_code *code = atomic_load(&variant->current);
    return code && (code == &variant->better || !variant->purpose.first_tier);
}

uint32_t igi_cpu_pipeline_tier(const ig_pipeline *pipeline) {
    cpu_program *program = pipeline->state;
    bool second = false;
    pthread_mutex_lock(&program->lock);
    for (cpu_variant *v = program->variants; v; v = v->next) second |= is_of_second_tier(v);
    pthread_mutex_unlock(&program->lock);
    return second ? 2 : 1;
}

// ---- In the background ----

typedef struct improvement {
    igi_task task;
    ig_device *device;
    cpu_program *program;  // referenced
    cpu_variant *variant;
} improvement;

// Nobody else needs the program any more, or the device is being closed.
static bool is_pointless(cpu_device *cpu, const cpu_program *program) {
    pthread_mutex_lock(&cpu->lock);
    bool pointless = program->references == 1;
    pthread_mutex_unlock(&cpu->lock);
    return pointless;
}

static void improve(igi_task *task) {
    improvement *job = (improvement *)task;
    cpu_device *cpu = igi_cpu(job->device);
    cpu_purpose purpose = job->variant->purpose;
    purpose.first_tier = false;
    // If it fails, the kernel goes on as it is.
    if (is_pointless(cpu, job->program) ||
        igi_cpu_make_code(job->device, job->program, purpose, &job->variant->better, NULL) != IG_STATUS_OK)
        atomic_store(&job->variant->failed, true);
    else
        publish(job->variant, &job->variant->better);
    igi_cpu_program_release(cpu, job->program);
    free(job);
}

// With the device's lock held.
static igi_pool *open_pool(igi_pool **pool, uint32_t threads) {
    if (!*pool) *pool = igi_pool_create(threads ? threads : 1);
    return *pool;
}

static igi_pool *background(ig_device *device) {
    cpu_device *cpu = igi_cpu(device);
    pthread_mutex_lock(&cpu->lock);
    igi_pool *pool = open_pool(&cpu->background, device->properties.worker_count / 2);
    pthread_mutex_unlock(&cpu->lock);
    return pool;
}

void igi_cpu_variant_charge(ig_device *device, cpu_program *program, cpu_variant *variant, uint64_t ns) {
    if (atomic_fetch_add(&variant->spent_ns, ns) + ns < variant->worth_ns) return;
    if (atomic_exchange(&variant->settled, true)) return;
    igi_pool *pool = background(device);
    improvement *job = pool ? igi_calloc(1, sizeof *job) : NULL;
    if (!job) return;
    igi_cpu_program_retain(igi_cpu(device), program);
    *job = (improvement){.task.run = improve, .device = device, .program = program, .variant = variant};
    igi_pool_submit(pool, &job->task);
}

bool igi_cpu_create_later(ig_device *device, igi_task *task) {
    cpu_device *cpu = igi_cpu(device);
    pthread_mutex_lock(&cpu->lock);
    igi_pool *pool = open_pool(&cpu->creators, device->properties.worker_count);
    pthread_mutex_unlock(&cpu->lock);
    if (pool) igi_pool_submit(pool, task);
    return pool != NULL;
}

void igi_cpu_tiers_close(cpu_device *cpu) {
    igi_codegen_cancel(cpu->codegen);
    igi_pool_destroy(cpu->background);
    igi_pool_destroy(cpu->creators);
}
