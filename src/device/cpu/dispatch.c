// SPDX-License-Identifier: Apache-2.0
// One dispatch: threadgroups handed out to this thread and idle workers.
#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "device/cpu/check.h"
#include "device/cpu/cpu.h"
#include "device/cpu/fault-message.h"
#include "device/cpu/float-mode.h"
#include "device/cpu/log.h"
#include "device/cpu/samples.h"
#include "device/cpu/thread.h"
#include "device/cpu/tiers.h"
#include "device/texture.h"
#include "simt/checked/init.h"

// Checks that also work on vectors of threads.
static bool is_checked_wide(uint32_t checks) {
    return (checks & IGI_CHECK_QUICK) || !(checks & ~(uint32_t)IG_CHECK_MEMORY);
}

// What runs the groups of a dispatch.
typedef struct codes {
    const igi_simt_code *any;     // the groups it can run
    const igi_simt_code *narrow;  // the others; NULL if there are none
    const igi_simt_code *shaped;  // groups of full size; NULL when there is none
} codes;

enum { VARIANTS = 3 };
typedef struct launch {
    codes code;                          // that was there at the beginning
    cpu_variant *any, *narrow, *shaped;  // it belongs to
    cpu_variant *improvable[VARIANTS];   // of which better code would make this shorter; NULL: of none
    atomic_uint_fast64_t charged_ns;     // the time up to which they were charged for it
    const igi_device_dispatch *dispatch;
    _Atomic uint32_t *abort;
    ig_size group;  // threads of a full group: as dispatched, or more
    uint64_t groups[3];
    uint32_t threads;            // of a full group
    uint64_t threadgroup_bytes;  // static and arguments
    uint32_t static_bytes;       // of threadgroup variables
    uint64_t float_mode;
    void *arguments[2 * IGI_MAX_SLOTS];
    bool has_textures;  // or samplers
    uint64_t layouts[IGI_KNOWN_LAYOUTS];
    uint32_t checks;           // IG_CHECK_
    igi_simt_checked *check;   // NULL: not checked
    cpu_quick *quick;          // NULL: each thread by itself
    pthread_mutex_t findings;  // guards those of `check`
    cpu_samples *samples;      // NULL: lines are not counted
    uint64_t schedule;         // not 0: the order of groups and threads is made from it
    uint64_t step, shift;      // group n of that order is (n * step + shift) of all
    uint32_t *log;             // for messages; NULL: nobody reads them
    bool streaming;            // writes bypass the caches
    bool in_strips;            // groups run in strips of STRIP columns
    atomic_int failed;         // ig_status of the first failure
    cpu_fault fault;           // written by the first thread that fails, read when all have ended
} launch;

// ---- Groups ----

static void place_in_dimension(const launch *l, int i, uint64_t position, igi_simt_group *group) {
    const ig_size grid = l->dispatch->grid, size = l->group;
    const uint64_t extent[3] = {grid.x, grid.y, grid.z}, full[3] = {size.x, size.y, size.z};
    uint64_t origin = position * full[i], left = extent[i] - origin;
    group->position[i] = (uint32_t)position;
    group->origin[i] = (uint32_t)origin;
    group->size[i] = (uint32_t)(left < full[i] ? left : full[i]);
}

// Groups of a matrix product that are neighbours in x read the same rows of the left matrix, neighbours in y the same
// columns of the right one. Row by row, every row would read all of the right matrix again; a strip's part of it stays
// in the second-level cache.
enum { STRIP = 4 };

// From the position in the order of strips to that in the order of rows.
static uint64_t index_in_rows(const launch *l, uint64_t index) {
    uint64_t plane = l->groups[0] * l->groups[1], in_plane = index % plane;
    uint64_t first = in_plane / (STRIP * l->groups[1]) * STRIP, in_strip = in_plane - first * l->groups[1];
    uint64_t width = l->groups[0] - first < STRIP ? l->groups[0] - first : STRIP;
    return index - in_plane + in_strip / width * l->groups[0] + first + in_strip % width;
}

static void place_group(const launch *l, uint64_t index, igi_simt_group *group) {
    if (l->in_strips) index = index_in_rows(l, index);
    for (int i = 0; i < 3; i++) {
        place_in_dimension(l, i, index % l->groups[i], group);
        index /= l->groups[i];
    }
}

// From the last column of a strip to its first one, or to the next strip.
static void turn_in_strip(const launch *l, igi_simt_group *group) {
    uint64_t y = group->position[1] + 1ull, x = group->position[0];
    bool last = y == l->groups[1];
    place_in_dimension(l, 0, last ? (x + 1) % l->groups[0] : x / STRIP * STRIP, group);
    place_in_dimension(l, 1, last ? 0 : y, group);
    if (last && x + 1 == l->groups[0]) place_in_dimension(l, 2, (group->position[2] + 1ull) % l->groups[2], group);
}

// Advances to the next group; divisions would take longer than a small group.
static void place_next(const launch *l, igi_simt_group *group) {
    if (l->in_strips && (group->position[0] % STRIP == STRIP - 1 || group->position[0] + 1ull == l->groups[0])) {
        turn_in_strip(l, group);
        return;
    }
    for (int i = 0; i < 3; i++) {
        uint64_t position = group->position[i] + 1ull;
        bool carry = position == l->groups[i];
        place_in_dimension(l, i, carry ? 0 : position, group);
        if (!carry) return;
    }
}

static void describe_grid(const launch *l, igi_simt_group *group) {
    const ig_size grid = l->dispatch->grid, size = l->group;
    const uint64_t extent[3] = {grid.x, grid.y, grid.z}, full[3] = {size.x, size.y, size.z};
    for (int i = 0; i < 3; i++) {
        group->grid[i] = (uint32_t)extent[i];
        group->dispatch_size[i] = (uint32_t)full[i];
        group->groups[i] = (uint32_t)l->groups[i];
    }
    if (l->dispatch->stage_strides)
        memcpy(group->stage_strides, l->dispatch->stage_strides, sizeof group->stage_strides);
    const ig_size origin = l->dispatch->stage_origin, region = l->dispatch->stage_size;
    const uint64_t first[3] = {origin.x, origin.y, origin.z}, sizes[3] = {region.x, region.y, region.z};
    for (int i = 0; i < 3; i++) {
        group->stage_origin[i] = (uint32_t)first[i];
        group->stage_size[i] = region.x || l->dispatch->stage_region ? (uint32_t)sizes[i] : group->grid[i];
    }
}

// Threadgroup arguments follow the kernel's own variables.
static void place_threadgroup_arguments(const launch *l, char *memory, void **arguments) {
    uint64_t offset = igi_round_up(l->code.any->info.threadgroup_bytes, 64);
    for (uint32_t i = 0; i < l->dispatch->binding_count; i++) {
        const igi_device_binding *binding = &l->dispatch->bindings[i];
        if (binding->kind != IG_ARGUMENT_THREADGROUP) continue;
        if (!binding->length) continue;  // switched off by a function constant
        arguments[IGI_MAX_SLOTS + binding->index] = memory + offset;
        offset += igi_round_up(binding->length, 64);
    }
}

// True for the first.
static bool fail(launch *l, ig_status status) {
    int none = IG_STATUS_OK;
    return atomic_compare_exchange_strong(&l->failed, &none, status);
}

typedef struct range {
    launch *launch;
    igi_simt_scratch *scratch;
    igi_simt_checked *check;      // NULL: not checked
    volatile uint64_t at, batch;  // the current group, and the size of its batch
    uint64_t end;
    codes code;  // the best there is by now
    igi_simt_group group;
} range;

// The number of groups from this one on that the code for full groups runs in one call.
static uint64_t batch_at(const range *r) {
    const launch *l = r->launch;
    const igi_simt_group *group = &r->group;
    uint64_t batch = r->code.shaped ? r->code.shaped->info.batch : 1, behind = group->position[0] + batch;
    bool whole = behind * l->group.x <= l->dispatch->grid.x && group->size[1] == group->dispatch_size[1] &&
                 group->size[2] == group->dispatch_size[2];
    return batch <= r->end - r->at && whole ? batch : 1;
}

static const igi_simt_code *code_for(const codes *c, const igi_simt_group *group, uint64_t batch) {
    if (batch > 1) return c->shaped;
    if (c->shaped && c->shaped->info.batch == 1 && memcmp(group->size, group->dispatch_size, sizeof group->size) == 0)
        return c->shaped;
    return !c->narrow || igi_simt_can_run_group(c->any, group->size) ? c->any : c->narrow;
}

// Groups in the order of the schedule.
static uint64_t group_at(const launch *l, uint64_t at) {
    if (!l->schedule) return at;
    uint64_t total = l->groups[0] * l->groups[1] * l->groups[2];
    return (uint64_t)(((unsigned __int128)at * l->step + l->shift) % total);
}

static void place_scheduled(range *r) {
    uint64_t group = group_at(r->launch, r->at);
    place_group(r->launch, group, &r->group);
    r->group.schedule = igi_simt_schedule_mix(r->launch->schedule, group);
    // Data of an earlier threadgroup could hide a missing barrier.
    if (r->launch->threadgroup_bytes)
        memset(r->group.threadgroup_memory, (int)(r->group.schedule & 0xff), r->launch->threadgroup_bytes);
}

static bool enter_check(range *r) {
    const uint32_t *size = r->group.size;
    if (!r->check) return true;
    if (r->check->quick)
        igi_simt_quick_begin_group(r->check->quick, (uint32_t)r->at, size[0] * size[1] * size[2]);
    else
        igi_simt_checked_begin_group(r->check, (uint32_t)group_at(r->launch, r->at), size[0] * size[1] * size[2]);
    return igi_simt_checked_enter(r->check, r->scratch, &r->group, r->launch->threadgroup_bytes);
}

static void run_each(range *r) {
    launch *l = r->launch;
    while (r->at < r->end) {
        if (l->schedule) place_scheduled(r);
        if (atomic_load_explicit(l->abort, memory_order_relaxed) || atomic_load(&l->failed)) return;
        uint64_t batch = r->batch = batch_at(r);
        if (!enter_check(r)) {
            fail(l, IG_STATUS_OUT_OF_MEMORY);
            return;
        }
        igi_simt_run_group(code_for(&r->code, &r->group, batch), &r->group, r->scratch);
        if (r->check && r->check->quick) igi_simt_quick_end_group(r->check->quick);
        r->at += batch;
        for (uint64_t i = 0; i < batch; i++) place_next(l, &r->group);
    }
}

static void run_range(range *r) {
    enum { ENOUGH_TO_WAIT = 4 };
    place_group(r->launch, r->at, &r->group);
    if (r->end - r->at >= ENOUGH_TO_WAIT) igi_simt_late_begin(r->scratch->late);
    run_each(r);
    igi_simt_late_end();
}

static void note_fault(range *r, const igi_device_fault_guard *guard) {
    cpu_fault *fault = &r->launch->fault;
    if (!fail(r->launch, IG_STATUS_KERNEL_FAULT)) return;
    *fault = (cpu_fault){.signal = guard->signal,
                         .has_address = guard->has_address,
                         .address = guard->address,
                         .group = r->at,
                         .batch = r->batch};
    fault->memory = guard->has_address ? igi_simt_scratch_name(r->scratch, guard->address) : NULL;
    if (!igi_simt_scratch_is_threadgroup(r->scratch, guard->address)) return;
    fault->begin = (uintptr_t)r->group.threadgroup_memory;
    fault->end = fault->begin + r->launch->threadgroup_bytes;
}

// The guard is on the host's stack; kernels run on another.
static void run_guarded(range *r) {
    igi_device_fault_guard guard;
    if (sigsetjmp(guard.back, 0) == 0) {
        igi_device_fault_set(&guard);
        run_range(r);
        igi_device_fault_set(NULL);
        return;
    }
    igi_simt_scratch_abandon_stack(r->scratch);
    igi_simt_late_forget();
    note_fault(r, &guard);
}

// Each thread of the host has its own state, a copy of the dispatch's.
static bool open_check(launch *l, range *r) {
    if (l->quick) r->check = igi_cpu_quick_enter(l->quick, &r->group, l->static_bytes);
    if (l->quick) return r->check != NULL;
    if (!l->check) return true;
    r->check = igi_alloc(sizeof *r->check);
    if (!r->check) return false;
    // Others may have ended already, and merge what they found into it.
    pthread_mutex_lock(&l->findings);
    igi_simt_checked_copy(r->check, l->check);
    pthread_mutex_unlock(&l->findings);
    return true;
}

static void close_check(launch *l, range *r) {
    if (!r->check) return;
    if (l->quick) {
        igi_cpu_quick_leave(r->check);
        return;
    }
    igi_simt_checked_leave();
    pthread_mutex_lock(&l->findings);
    igi_simt_checked_merge(l->check, r->check);
    pthread_mutex_unlock(&l->findings);
    free(r->check);
}

static void place_textures(const igi_device_dispatch *dispatch, igi_simt_group *group) {
    memset(group->textures, 0, sizeof group->textures);
    memset(group->samplers, 0, sizeof group->samplers);
    for (uint32_t i = 0; i < dispatch->binding_count; i++) {
        const igi_device_binding *binding = &dispatch->bindings[i];
        if (binding->texture) group->textures[binding->index] = &binding->texture->shown;
        if (binding->sampler) group->samplers[binding->index] = binding->sampler->state;
    }
}

// Most kernels have no textures: copying their table, which is the end of the struct, would take long for a small dispatch.
static_assert(offsetof(igi_simt_group, arguments) < offsetof(igi_simt_group, textures), "what follows is set here");
static void prepare_range(range *r, launch *l, igi_simt_scratch *scratch, uint64_t begin, uint64_t end) {
    memset(r, 0, offsetof(range, group) + offsetof(igi_simt_group, arguments));
    r->launch = l;
    r->scratch = scratch;
    r->at = begin;
    r->end = end;
    memcpy(r->group.arguments, l->arguments, sizeof l->arguments);
    if (l->has_textures) place_textures(l->dispatch, &r->group);
    r->group.threadgroup_memory = igi_simt_scratch_threadgroup(scratch);
    place_threadgroup_arguments(l, r->group.threadgroup_memory, r->group.arguments);
    r->group.abort = (const volatile uint32_t *)l->abort;
    r->group.log = l->log;
    describe_grid(l, &r->group);
}

static bool may_run_full_groups(const launch *l, const igi_simt_code *code) {
    const uint32_t full[3] = {(uint32_t)l->group.x, (uint32_t)l->group.y, (uint32_t)l->group.z};
    return igi_simt_can_run_group(code, full) && (!l->in_strips || code->info.batch == 1);
}

static const igi_simt_code *newest(cpu_variant *variant, const igi_simt_code *first) {
    const igi_simt_code *current = variant && first ? igi_cpu_variant_code(variant) : NULL;
    return current ? current : first;
}

// Better code may have come since the dispatch began, which needs memory of its own.
static bool find_codes(const launch *l, igi_simt_scratch *scratch, codes *c) {
    const igi_simt_code *shaped = l->shaped ? igi_cpu_variant_code(l->shaped) : NULL;
    *c = (codes){newest(l->any, l->code.any), newest(l->narrow, l->code.narrow),
                 shaped && may_run_full_groups(l, shaped) ? shaped : l->code.shaped};
    assert(c->any->info.threadgroup_bytes == l->static_bytes);
    const igi_simt_code *all[] = {c->any, c->narrow, c->shaped};
    for (int i = 0; i < 3; i++)
        if (all[i] && igi_simt_scratch_reserve(scratch, all[i], l->threads, l->threadgroup_bytes) != IG_STATUS_OK)
            return false;
    return true;
}

// The time that has passed counts for better code: a dispatch that takes long may get it before it ends.
static void charge(launch *l) {
    const ig_pipeline *pipeline = l->dispatch->pipeline;
    bool any = false;
    for (int i = 0; i < VARIANTS; i++) any |= igi_cpu_variant_can_improve(l->improvable[i]);
    if (!any) return;
    uint64_t now = igi_now_ns(), before = atomic_exchange(&l->charged_ns, now);
    for (int i = 0; i < VARIANTS && now > before; i++)
        if (igi_cpu_variant_can_improve(l->improvable[i]))
            igi_cpu_variant_charge(pipeline->library->device, pipeline->state, l->improvable[i], now - before);
}

static void run_groups(void *context, uint64_t begin, uint64_t end) {
    launch *l = context;
    cpu_thread *thread = igi_cpu_this_thread();
    igi_simt_scratch *scratch = thread ? &thread->scratch : NULL;
    codes code;
    if (!scratch || !find_codes(l, scratch, &code)) {
        fail(l, IG_STATUS_OUT_OF_MEMORY);
        return;
    }
    range r;
    prepare_range(&r, l, scratch, begin, end);
    r.code = code;
    if (!open_check(l, &r)) {
        fail(l, IG_STATUS_OUT_OF_MEMORY);
        return;
    }
    r.group.check = r.check;
    if (r.check && !l->quick) igi_cpu_check_arguments(r.check, l->dispatch, &r.group, l->static_bytes);
    uint64_t host_mode = igi_device_float_mode_get();
    igi_device_float_mode_set(l->float_mode);
    igi_device_fault_stack_enter(&thread->handlers);
    igi_cpu_samples_enter(l->samples);
    run_guarded(&r);
    igi_cpu_samples_leave(l->samples, l->dispatch->pipeline->library->device, l->dispatch->pipeline->state);
    close_check(l, &r);
    igi_device_fault_stack_leave(&thread->handlers);
    igi_device_float_mode_set(host_mode);
    // Non-temporal stores are not ordered with others until this.
    if (l->streaming) atomic_thread_fence(memory_order_seq_cst);
    charge(l);
}

// ---- Dispatch ----

// Grid and group of an indirect dispatch of threads.
static ig_status read_threads(igi_device_dispatch *dispatch, const uint32_t counts[6], ig_error *error) {
    const char *kernel = dispatch->pipeline->kernel.name;
    uint32_t most = dispatch->pipeline->properties.max_threads_per_threadgroup;
    uint64_t threads;
    dispatch->grid = (ig_size){counts[0], counts[1], counts[2]};
    dispatch->group = (ig_size){counts[3], counts[4], counts[5]};
    if (!counts[3] || !counts[4] || !counts[5])
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT,
                             "kernel '%s': the threadgroup of an indirect dispatch has no threads", kernel);
    if (igi_mul((uint64_t)counts[3] * counts[4], counts[5], &threads) && threads <= most) return IG_STATUS_OK;
    return igi_error_set(
        error, IG_STATUS_THREADGROUP_TOO_LARGE,
        "kernel '%s': a threadgroup of %u x %u x %u, of an indirect dispatch, is more than the %u threads allowed",
        kernel, counts[3], counts[4], counts[5], most);
}

static void read_region(igi_device_dispatch *dispatch) {
    uint32_t region[6];
    memcpy(region, (const char *)dispatch->stage_region->memory + dispatch->stage_region_offset, sizeof region);
    dispatch->stage_origin = (ig_size){region[0], region[1], region[2]};
    dispatch->stage_size = (ig_size){region[3], region[4], region[5]};
}

// Fills the grid of an indirect dispatch, and the region of its attributes, from their buffers.
static ig_status read_indirect(igi_device_dispatch *dispatch, ig_error *error) {
    uint32_t counts[6];
    if (dispatch->stage_region) read_region(dispatch);
    if (!dispatch->indirect) return IG_STATUS_OK;
    memcpy(counts, (const char *)dispatch->indirect->memory + dispatch->indirect_offset,
           (dispatch->whole_groups ? 3 : 6) * sizeof *counts);
    if (!dispatch->whole_groups) return read_threads(dispatch, counts, error);
    dispatch->grid =
        (ig_size){counts[0] * dispatch->group.x, counts[1] * dispatch->group.y, counts[2] * dispatch->group.z};
    if (dispatch->grid.x <= UINT32_MAX && dispatch->grid.y <= UINT32_MAX && dispatch->grid.z <= UINT32_MAX)
        return IG_STATUS_OK;
    return igi_error_set(error, IG_STATUS_OVERFLOW, "indirect dispatch of %u x %u x %u threadgroups is too large",
                         counts[0], counts[1], counts[2]);
}

// Argument bytes are in the host's memory: kernels get a copy, in memory of this thread, with each argument at a
// separate place that is aligned for any type.
static ig_status copy_bytes(launch *l, ig_error *error) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < l->dispatch->binding_count; i++)
        if (l->dispatch->bindings[i].bytes) total += igi_round_up(l->dispatch->bindings[i].length, 64);
    if (!total) return IG_STATUS_OK;
    cpu_thread *thread = igi_cpu_this_thread();
    char *copy = thread ? igi_simt_scratch_bytes(&thread->scratch, total) : NULL;
    if (!copy) return igi_error_no_memory(error);
    for (uint32_t i = 0; i < l->dispatch->binding_count; i++) {
        const igi_device_binding *binding = &l->dispatch->bindings[i];
        if (!binding->bytes) continue;
        l->arguments[binding->index] = memcpy(copy, binding->bytes, binding->length);
        copy += igi_round_up(binding->length, 64);
    }
    return IG_STATUS_OK;
}

// Also those that nobody has set, which the kernel sees as NULL.
static bool takes_textures(const ig_kernel_info *kernel) {
    for (uint32_t i = 0; i < kernel->argument_count; i++) {
        ig_argument_kind kind = kernel->arguments[i].kind;
        if (kind == IG_ARGUMENT_TEXTURE || kind == IG_ARGUMENT_SAMPLER) return true;
    }
    return false;
}

static ig_status bind(launch *l, ig_error *error) {
    for (uint32_t i = 0; i < l->dispatch->binding_count; i++) {
        const igi_device_binding *binding = &l->dispatch->bindings[i];
        if (binding->buffer) l->arguments[binding->index] = (char *)binding->buffer->memory + binding->offset;
        if (binding->texture && binding->index < IGI_KNOWN_LAYOUTS)
            l->layouts[binding->index] = binding->texture->shown.layout;
    }
    l->has_textures = takes_textures(&l->dispatch->pipeline->kernel);
    return copy_bytes(l, error);
}

// Rows may have been longer than dispatched.
static void describe_fault_group(const launch *l, char *text, size_t length) {
    const ig_size dispatched = l->dispatch->group;
    igi_simt_group group;
    place_group(l, l->fault.group, &group);
    uint64_t first = group.origin[0] / dispatched.x, last = (group.origin[0] + group.size[0] - 1ull) / dispatched.x;
    last += l->fault.batch - 1;
    uint64_t y = group.origin[1] / dispatched.y, z = group.origin[2] / dispatched.z;
    if (first == last)
        snprintf(text, length, "threadgroup (%" PRIu64 ", %" PRIu64 ", %" PRIu64 ")", first, y, z);
    else
        snprintf(text, length, "one of threadgroups (%" PRIu64 " to %" PRIu64 ", %" PRIu64 ", %" PRIu64 ")", first,
                 last, y, z);
}

static ig_status status_of_launch(launch *l, const ig_commands *commands, ig_error *error) {
    char where[256];
    igi_device_commands_describe(commands, l->dispatch->pipeline, where, sizeof where);
    ig_status status = (ig_status)atomic_load(&l->failed);
    if (status == IG_STATUS_KERNEL_FAULT) {
        char group[80], what[400];
        describe_fault_group(l, group, sizeof group);
        igi_cpu_describe_fault(&l->fault, l->dispatch, what, sizeof what);
        return igi_error_set(error, status, "%s %s, in %s", where, what, group);
    }
    if (status != IG_STATUS_OK) return igi_error_set(error, status, "%s: %s", where, ig_status_text(status));
    if (!atomic_load(l->abort)) return IG_STATUS_OK;
    return igi_error_set(error, IG_STATUS_TIMEOUT, "%s was stopped: it ran past the deadline of %.3f s", where,
                         (double)commands->deadline_ns * 1e-9);
}

static bool count_groups(launch *l, uint64_t *total) {
    const ig_size grid = l->dispatch->grid, size = l->group;
    const uint64_t extent[3] = {grid.x, grid.y, grid.z}, full[3] = {size.x, size.y, size.z};
    *total = 1;
    for (int i = 0; i < 3; i++) {
        l->groups[i] = extent[i] / full[i] + (extent[i] % full[i] != 0);
        if (!igi_mul(*total, l->groups[i], total)) return false;
    }
    return true;
}

// Groups in the middle and at the edge may differ in width.
static bool needs_narrow(const launch *l) {
    const ig_size grid = l->dispatch->grid, size = l->group;
    const uint32_t full[3] = {(uint32_t)size.x, (uint32_t)size.y, (uint32_t)size.z};
    const uint32_t edge[3] = {(uint32_t)(grid.x % size.x), full[1], full[2]};
    return !igi_simt_can_run_group(l->code.any, full) || (edge[0] && !igi_simt_can_run_group(l->code.any, edge));
}

enum { LONGEST_ROW = 1024, MOST_THREADS = 4096, FEWEST_GROUPS = 64, COMMON_ROWS = 8 };

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

// Threads that do not use their threadgroup run in long rows, so that memory is accessed in order; a GPU programmer has
// no reason to choose such threadgroups. *total is updated.
static void lengthen_rows(launch *l, uint64_t *total) {
    const ig_size dispatched = l->group;
    uint64_t rows = l->code.any->info.columns ? least(l->dispatch->grid.y, COMMON_ROWS) : 1;
    uint64_t x = least(l->dispatch->grid.x, least(LONGEST_ROW, MOST_THREADS / rows));
    if (!l->code.any->info.any_groups || l->dispatch->threadgroup_bytes) return;
    if (x <= dispatched.x && rows <= dispatched.y) return;
    uint64_t y = rows > 1 ? rows : least(dispatched.y, MOST_THREADS / x),
             z = least(dispatched.z, MOST_THREADS / (x * y));
    l->group = (ig_size){x, y, z};
    if (count_groups(l, total) && *total >= FEWEST_GROUPS) return;
    l->group = dispatched;
    count_groups(l, total);
}

// Where code for the size of the threadgroups is to come, other code is only for the edges.
static void note_improvable(launch *l) {
    const ig_size grid = l->dispatch->grid, size = l->group;
    bool edges = grid.x % size.x || grid.y % size.y || grid.z % size.z;
    bool sized = l->shaped && !atomic_load(&l->shaped->failed) && (l->code.shaped || !igi_cpu_variant_code(l->shaped));
    l->improvable[0] = sized && !edges ? NULL : l->any;
    l->improvable[1] = l->narrow;
    l->improvable[2] = l->shaped;
}

static ig_status choose_code(ig_device *device, cpu_program *program, bool abortable, uint64_t *groups, launch *l,
                             ig_error *error) {
    cpu_purpose any = {.abortable = abortable, .check = l->checks, .scheduled = l->schedule != 0},
                narrow = {.abortable = abortable, .check = l->checks, .narrow = true};
    memcpy(any.layouts, l->layouts, sizeof any.layouts);
    memcpy(narrow.layouts, l->layouts, sizeof narrow.layouts);
    uint64_t threads = *groups * l->group.x * l->group.y * l->group.z;
    bool large = igi_cpu_is_worth_shaping(igi_cpu(device), threads) && !l->schedule && is_checked_wide(l->checks);
    ig_status status = igi_cpu_program_variant(device, program, any, &l->any, error);
    l->code.any = status == IG_STATUS_OK ? igi_cpu_variant_code(l->any) : NULL;
    bool alike = !l->checks || (l->checks & IGI_CHECK_QUICK);
    if (status == IG_STATUS_OK && large && alike) lengthen_rows(l, groups);
    if (status == IG_STATUS_OK && !l->schedule && needs_narrow(l))
        status = igi_cpu_program_variant(device, program, narrow, &l->narrow, error);
    if (status != IG_STATUS_OK) return status;
    if (l->narrow) l->code.narrow = igi_cpu_variant_code(l->narrow);
    const ig_size size = l->group;
    l->streaming = igi_cpu_exceeds_caches(l->dispatch, threads);
    cpu_purpose of_size = {.abortable = abortable,
                           .check = l->checks,
                           .streaming = l->streaming,
                           .group = {(uint32_t)size.x, (uint32_t)size.y, (uint32_t)size.z}};
    memcpy(of_size.layouts, l->layouts, sizeof of_size.layouts);
    l->threads = (uint32_t)(size.x * size.y * size.z);
    // Compiling a large kernel once more takes seconds.
    if (large && l->code.any->info.instructions <= IGI_LARGE_KERNEL)
        l->shaped = igi_cpu_shaped_variant(device, program, of_size);
    const igi_simt_code *shaped = l->shaped ? igi_cpu_variant_code(l->shaped) : NULL;
    if (shaped && may_run_full_groups(l, shaped)) l->code.shaped = shaped;
    note_improvable(l);
    return IG_STATUS_OK;
}

// Kernels that run outside of all queues may run as long as their owner exists.
static bool is_endless(const ig_commands *commands) {
    return atomic_load(&((ig_commands *)commands)->state) == IG_COMMANDS_ENCODING;
}

// Races are checked by one thread of the host at a time, because their shadow memory is shared.
static ig_status run_checked(launch *l, ig_commands *commands, const igi_device_dispatch *dispatch, uint64_t total,
                             ig_error *error) {
    ig_device *device = commands->queue->device;
    l->check = is_endless(commands) ? igi_cpu_check_begin_alone(device, dispatch, l->code.any)
                                    : igi_cpu_check_begin(commands, dispatch, l->code.any, l->groups, total);
    if (!l->check) return igi_error_no_memory(error);
    pthread_mutex_init(&l->findings, NULL);
    if (l->checks & IG_CHECK_RACES || l->schedule)
        run_groups(l, 0, total);
    else
        igi_pool_loop(igi_cpu(device)->pool, total, run_groups, l);
    pthread_mutex_destroy(&l->findings);
    igi_cpu_check_end(commands, dispatch, l->check, dispatch->group, l->groups);
    return status_of_launch(l, commands, error);
}

// What a second run would write twice: messages, and pixels, which are not saved before.
static bool leaves_traces(const launch *l) {
    for (uint32_t i = 0; i < l->dispatch->binding_count; i++)
        if (l->dispatch->bindings[i].texture) return true;
    return l->code.any->info.logs;
}

// By vectors of threads, on all cores: only whether something may be wrong. *done: nothing is, and it has run.
static ig_status look_quickly(launch *l, ig_commands *commands, uint64_t total, bool *done, ig_error *error) {
    ig_device *device = commands->queue->device;
    *done = false;
    if (l->code.any->info.width == 1 || l->narrow || leaves_traces(l)) return IG_STATUS_OK;
    if (!igi_cpu_quick_begin(device, l->dispatch, l->code.any, l->threads, total, &l->quick)) return IG_STATUS_OK;
    igi_pool_loop(igi_cpu(device)->pool, total, run_groups, l);
    bool stopped = atomic_load(l->abort), failed = atomic_load(&l->failed) != IG_STATUS_OK;
    *done = igi_cpu_quick_end(l->quick, failed && !stopped) || stopped;
    if (!*done)
        igi_log(IG_LOG_INFO, "kernel '%s' may be wrong: it is run again, one thread at a time",
                l->dispatch->pipeline->kernel.name);
    return *done ? status_of_launch(l, commands, error) : IG_STATUS_OK;
}

// A step without a common divisor with the number of groups reaches each of them.
static void choose_order(launch *l, uint64_t total) {
    l->shift = igi_simt_schedule_mix(l->schedule, total) % total;
    l->step = igi_simt_schedule_mix(l->schedule, total + 1) % total;
    while (igi_common_divisor(l->step, total) != 1) l->step = (l->step + 1) % total;
}

// Code, groups and arguments for what `l` says so far.
static ig_status prepare(launch *l, const ig_commands *commands, uint64_t *total, ig_error *error) {
    cpu_program *program = l->dispatch->pipeline->state;
    if (!count_groups(l, total))
        return igi_error_set(error, IG_STATUS_OVERFLOW, "a dispatch has more than 2^64 threadgroups");
    if (!*total) return IG_STATUS_OK;
    ig_status status = bind(l, error);
    if (status == IG_STATUS_OK)
        status = choose_code(commands->queue->device, program, commands->deadline_ns != 0, total, l, error);
    if (status != IG_STATUS_OK) return status;
    l->static_bytes = l->code.any->info.threadgroup_bytes;
    l->threadgroup_bytes = igi_round_up(l->static_bytes, 64) + l->dispatch->threadgroup_bytes;
    l->float_mode = igi_device_float_mode_kernel(program->module->flushes_denormals);
    return IG_STATUS_OK;
}

ig_status igi_cpu_dispatch(ig_commands *commands, igi_device_dispatch *dispatch, ig_error *error) {
    ig_device *device = commands->queue->device;
    ig_status status = read_indirect(dispatch, error);
    if (status != IG_STATUS_OK) return status;
    launch l = {.dispatch = dispatch,
                .abort = &commands->abort,
                .group = dispatch->group,
                .checks = igi_cpu_check_flags(device) & (is_endless(commands) ? ~(uint32_t)IGI_CHECK_BUFFERS : ~0u),
                .schedule = is_endless(commands) ? 0 : igi_cpu(device)->schedule,
                .samples = igi_cpu(device)->samples,
                .step = 1};
    uint64_t total, made = igi_cpu_codes_made();
    igi_device_fault_install();
    // Others access the buffers of an endless kernel meanwhile: what it wrote could not be undone. Where there are
    // several queues, accesses are remembered for dispatches of the others.
    bool others = is_endless(commands) || igi_device_order_has_several(device);
    if (l.checks && !l.schedule && !others) {
        launch quick = l;
        bool done;
        quick.checks = (l.checks & ~(uint32_t)IGI_CHECK_BUFFERS) | IGI_CHECK_QUICK;
        // Where this fails, what follows says why.
        if (prepare(&quick, commands, &total, NULL) == IG_STATUS_OK && total) {
            status = look_quickly(&quick, commands, total, &done, error);
            if (done) return status;
        }
    }
    status = prepare(&l, commands, &total, error);
    if (status != IG_STATUS_OK || !total) return status;
    if (igi_cpu_codes_made() != made) dispatch->timing.start_ns = igi_now_ns();  // compiling is not running
    if (l.code.any->info.logs && !is_endless(commands) && !(l.log = igi_cpu_log_begin(commands)))
        return igi_error_no_memory(error);
    if (l.schedule) choose_order(&l, total);
    if (l.checks) return run_checked(&l, commands, dispatch, total, error);
    if (l.schedule || igi_cpu(device)->variables) {
        run_groups(&l, 0, total);
        return status_of_launch(&l, commands, error);
    }
    l.in_strips = l.code.any->info.multiplies && (!l.code.shaped || l.code.shaped->info.batch == 1);
    atomic_store(&l.charged_ns, dispatch->timing.start_ns);
    igi_pool_loop(igi_cpu(device)->pool, total, run_groups, &l);
    return status_of_launch(&l, commands, error);
}
