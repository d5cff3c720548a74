// SPDX-License-Identifier: Apache-2.0
// The software device: its properties, opening and closing it.
#include <llvm-c/Core.h>
#include <stdio.h>
#include <string.h>

#include "core/host.h"
#include "core/settings.h"
#include "device/cpu/capture.h"
#include "device/cpu/check.h"
#include "device/cpu/compiled.h"
#include "device/cpu/cpu.h"
#include "device/cpu/samples.h"
#include "device/cpu/tiers.h"
#include "device/line-profile.h"
#include "msl/clang-path.h"
#include "msl/contents.h"
#include "simt/launch.h"
#include "simt/target.h"

// ---- Properties ----

static size_t count(void) {
    return 1;
}

static uint32_t default_workers(void) {
    return (uint32_t)igi_setting_number(IGI_SETTING_WORKERS, igi_host_cores());
}

// The vector extensions among LLVM's feature list "+avx2,-avx512f,...".
static void list_features(char *text, size_t capacity) {
    static const char *const interesting[] = {"sse4.2",   "avx",      "avx2",       "fma",        "f16c",
                                              "avx512f",  "avx512bw", "avx512bf16", "avx512fp16", "neon",
                                              "fullfp16", "bf16",     "sve"};
    const char *all = igi_simt_features();
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < sizeof interesting / sizeof *interesting; i++) {
        char wanted[32];
        int length = snprintf(wanted, sizeof wanted, "+%s", interesting[i]);
        const char *found = strstr(all, wanted);
        while (found && found[length] != ',' && found[length]) found = strstr(found + 1, wanted);
        if (!found || used + (size_t)length + 1 >= capacity) continue;
        used += (size_t)snprintf(text + used, capacity - used, "%s%s", used ? " " : "", interesting[i]);
    }
}

static void name_compiler(char *text, size_t capacity) {
    unsigned major, minor, patch;
    LLVMGetVersion(&major, &minor, &patch);
    char *clang = igi_msl_find_clang();
    if (clang)
        snprintf(text, capacity, "LLVM %u.%u.%u, %.40s", major, minor, patch, clang);
    else
        snprintf(text, capacity, "LLVM %u.%u.%u, but clang is missing", major, minor, patch);
    free(clang);
}

static void properties(size_t index, ig_device_properties *p) {
    (void)index;
    char model[64];
    igi_host_cpu_name(model, sizeof model);
    uint32_t cores = igi_host_cores();
    uint64_t memory = igi_host_memory_bytes();
    *p = (ig_device_properties){
        .backend = "cpu",
        .memory_bytes = memory,
        .max_buffer_bytes = memory,
        .max_threads_per_threadgroup = IGI_MAX_GROUP_THREADS,
        .execution_width = IGI_SIMD_WIDTH,
        .max_threadgroup_memory = IGI_THREADGROUP_MEMORY,
        .max_buffer_arguments = IGI_MAX_SLOTS,
        .worker_count = default_workers(),
        .language_version = 410,
        .unified_memory = true,
    };
    snprintf(p->name, sizeof p->name, "Ingot software Metal device (%s, %u %s)", model, cores,
             cores == 1 ? "core" : "cores");
    snprintf(p->target, sizeof p->target, "%s", igi_simt_chosen_target().cpu);
    list_features(p->features, sizeof p->features);
    name_compiler(p->compiler, sizeof p->compiler);
}

// ---- Opening ----

// "gdb", "perf" and "variables", which is for gdb, separated by commas.
static ig_status choose_audience(const char *wanted, unsigned *audience, bool *variables, ig_error *error) {
    if (!wanted) wanted = igi_setting_text(IGI_SETTING_JIT_DEBUG);
    *audience = IGI_JIT_NOBODY;
    while (wanted && *wanted) {
        size_t length = strcspn(wanted, ",");
        if (length == 3 && memcmp(wanted, "gdb", 3) == 0)
            *audience |= IGI_JIT_GDB;
        else if (length == 4 && memcmp(wanted, "perf", 4) == 0)
            *audience |= IGI_JIT_PERF;
        else if (length == 9 && memcmp(wanted, "variables", 9) == 0)
            *audience |= IGI_JIT_GDB, *variables = true;
        else if (length)
            return igi_error_set(
                error, IG_STATUS_INVALID_ARGUMENT,
                "kernels can be shown to gdb and perf, or to gdb with variables (INGOT_JIT_DEBUG, jit_debug), "
                "not to '%.*s'",
                (int)length, wanted);
        wanted += length + (wanted[length] == ',');
    }
    return IG_STATUS_OK;
}

// For debugging and measuring the compiler.
static void read_compiler_settings(cpu_device *cpu) {
    cpu->width = (uint32_t)igi_setting_number(IGI_SETTING_SIMT_WIDTH, 0);
    cpu->shaping = igi_setting_is(IGI_SETTING_SIMT_SHAPE, "always")  ? CPU_SHAPE_ALWAYS
                   : igi_setting_is(IGI_SETTING_SIMT_SHAPE, "never") ? CPU_SHAPE_NEVER
                                                                     : CPU_SHAPE_LARGE;
    cpu->tier = igi_setting_is(IGI_SETTING_TIER, "both") ? CPU_TIER_BOTH
                                                         : (cpu_tier)igi_setting_number(IGI_SETTING_TIER, CPU_TIER_ANY);
}

static ig_status choose_checks(cpu_device *cpu, uint32_t wanted, ig_error *error) {
    const char *names = igi_setting_named(IGI_SETTING_CHECK);
    ig_status status = IG_STATUS_OK;
    cpu->checks = wanted;
    if (!wanted && names) status = ig_check_parse(names, &cpu->checks, error);
    if (status != IG_STATUS_OK || !cpu->checks) return status;
    cpu->checker = igi_cpu_checker_create(cpu->checks);
    return cpu->checker ? IG_STATUS_OK : igi_error_no_memory(error);
}

static ig_status choose_captures(cpu_device *cpu, const ig_device_desc *desc, ig_error *error) {
    const char *directory = desc->capture_dir ? desc->capture_dir : igi_setting_named(IGI_SETTING_CAPTURE_DIR);
    const char *choice =
        desc->capture_dispatch ? desc->capture_dispatch : igi_setting_named(IGI_SETTING_CAPTURE_DISPATCH);
    ig_status status = igi_cpu_captures_create(directory, choice, &cpu->captures, error);
    cpu->keeps_origins = cpu->captures || desc->capturable;
    return status;
}

static uint64_t choose_schedule(uint64_t wanted) {
    return wanted ? wanted : igi_setting_number(IGI_SETTING_SCHEDULE, 0);
}

static ig_status count_lines(ig_device *device, cpu_device *cpu, ig_error *error) {
    device->line_profile = igi_device_line_profile_create();
    if (!device->line_profile) return igi_error_no_memory(error);
    return igi_cpu_samples_create(&cpu->samples, error);
}

static void close_parts(cpu_device *cpu) {
    igi_cpu_tiers_close(cpu);
    igi_pool_destroy(cpu->pool);
    igi_cpu_samples_destroy(cpu->samples);
    igi_watchdog_destroy(cpu->watchdog);
    igi_msl_compiler_destroy(cpu->compiler);
    igi_disk_cache_destroy(cpu->cache);
    igi_codegen_destroy(cpu->codegen);
    igi_cpu_queues_close(cpu, cpu->checker);
    igi_simt_jit_destroy(cpu->jit);
    igi_cpu_checker_destroy(cpu->checker);
    igi_cpu_captures_release(cpu->captures);
    igi_device_slabs_destroy(&cpu->slabs);
    free(cpu->cache_dir);
    pthread_mutex_destroy(&cpu->lock);
    free(cpu);
}

static ig_status open(ig_device *device, size_t index, const ig_device_desc *desc, ig_error *error) {
    (void)index;
    cpu_device *cpu = igi_calloc(1, sizeof *cpu);
    if (!cpu) return igi_error_no_memory(error);
    pthread_mutex_init(&cpu->lock, NULL);
    igi_device_slabs_init(&cpu->slabs);
    read_compiler_settings(cpu);
    if (desc->worker_count) device->properties.worker_count = desc->worker_count;
    cpu->cache_dir = igi_cache_dir(desc->cache_dir);
    cpu->cache = igi_disk_cache_create(cpu->cache_dir, desc->cache_bytes);
    ig_status status = igi_msl_compiler_create(cpu->cache_dir, &cpu->compiler);
    if (status == IG_STATUS_OK) status = igi_codegen_create(&cpu->codegen);
    if (status != IG_STATUS_OK) igi_error_no_memory(error);
    unsigned audience = IGI_JIT_NOBODY;
    if (status == IG_STATUS_OK) status = choose_audience(desc->jit_debug, &audience, &cpu->variables, error);
    if (status == IG_STATUS_OK) status = igi_simt_jit_create(audience, &cpu->jit, error);
    if (status == IG_STATUS_OK) status = choose_checks(cpu, desc->check, error);
    if (status == IG_STATUS_OK) status = choose_captures(cpu, desc, error);
    cpu->line_tables = audience != IGI_JIT_NOBODY || cpu->checks || desc->profile_lines;
    if (status == IG_STATUS_OK && desc->profile_lines) status = count_lines(device, cpu, error);
    device->checked = cpu->checks;
    if (status == IG_STATUS_OK && (cpu->checks & IG_CHECK_RACES) && !(device->order = igi_device_order_create()))
        status = igi_error_no_memory(error);
    cpu->schedule = choose_schedule(desc->schedule);
    if (cpu->variables) cpu->shaping = CPU_SHAPE_NEVER;
    // Lines are counted in the code that is to be made faster.
    if (cpu->samples) cpu->tier = CPU_TIER_SECOND;
    if (status == IG_STATUS_OK && !(cpu->watchdog = igi_watchdog_create())) status = igi_error_no_memory(error);
    if (status == IG_STATUS_OK && !(cpu->pool = igi_pool_create(device->properties.worker_count)))
        status =
            igi_error_set(error, IG_STATUS_SYSTEM, "cannot start %u worker threads", device->properties.worker_count);
    if (status == IG_STATUS_OK) {
        device->state = cpu;
        device->cache_dir = cpu->cache_dir;
        device->cache = cpu->cache;
    } else {
        close_parts(cpu);
    }
    return status;
}

static void close_device(ig_device *device) {
    close_parts(igi_cpu(device));
}

static igi_pool *workers(ig_device *device) {
    return igi_cpu(device)->pool;
}

const igi_device_backend igi_device_backend_cpu = {
    .name = "cpu",
    .device_count = count,
    .device_properties = properties,
    .device_open = open,
    .device_close = close_device,
    .buffer_open = igi_cpu_buffer_open,
    .buffer_close = igi_cpu_buffer_close,
    .texture_added = igi_cpu_check_texture,
    .texture_removed = igi_cpu_uncheck_texture,
    .library_open = igi_cpu_library_open,
    .library_close = igi_cpu_library_close,
    .kernel_prepare = igi_cpu_kernel_prepare,
    .kernel_reflect = igi_cpu_kernel_reflect,
    .capture_start = igi_cpu_capture_start,
    .capture_stop = igi_cpu_capture_stop,
    .pipeline_open = igi_cpu_pipeline_open,
    .pipeline_close = igi_cpu_pipeline_close,
    .pipeline_tier = igi_cpu_pipeline_tier,
    .run_later = igi_cpu_create_later,
    .links_functions = true,
    .has_tensors = true,
    .executes_indirect = true,
    .has_indirect_threads = true,
    .lowers_stage_inputs = true,
    .pipeline_emit = igi_cpu_pipeline_emit,
    .pipeline_remarks = igi_cpu_pipeline_remarks,
    .queue_open = igi_cpu_queue_open,
    .queue_close = igi_cpu_queue_close,
    .commit = igi_cpu_commit,
    .assist = igi_cpu_assist,
    .run_here = igi_cpu_run_here,
    .workers = workers,
};
