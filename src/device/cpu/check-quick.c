// SPDX-License-Identifier: Apache-2.0
// A quick look at a dispatch (simt/checked/quick.h): each thread of the host has cells of its own, which are compared at
// the end, and what kernels are about to write is copied, so that it can be undone.
#include <string.h>
#include <sys/mman.h>

#include "core/guarded.h"
#include "device/cpu/check-state.h"
#include "device/cpu/fault.h"

struct cpu_quick {
    cpu_checker *checker;
    const igi_device_dispatch *dispatch;
    uint32_t floor, threads, granules[2], unsaved;
    uint64_t threadgroup_bytes;
    atomic_bool suspicious, short_of_memory;
};

// What one thread of the host has while it runs threadgroups. The first member is what generated code knows.
typedef struct quick_worker {
    igi_simt_checked checked;
    igi_simt_quick quick;
    cpu_quick *of;
    uint32_t set;
    igi_simt_checked_object found[IGI_QUICK_FOUND];
} quick_worker;

// ---- Cells ----

static void free_cells(quick_cells *cells) {
    if (cells->memory) munmap(cells->memory, cells->bytes);
    *cells = (quick_cells){0};
}

void igi_cpu_quick_forget(checked_buffer *b) {
    for (size_t i = 0; i < b->set_count; i++) free_cells(&b->sets[i]);
    free(b->sets);
    if (b->saved) munmap(b->saved, b->saved_bytes);
    if (b->copy) munmap(b->copy, b->copy_bytes);
    b->sets = NULL;
    b->set_count = 0;
    b->saved = NULL;
    b->copy = NULL;
}

void igi_cpu_quick_free_sets(cpu_checker *checker) {
    for (size_t i = 0; i < QUICK_MOST_SETS; i++) free_cells(&checker->threadgroup_sets[i]);
}

// Old cells may go: they are of earlier dispatches.
static bool reserve_cells(quick_cells *cells, uint64_t granules) {
    if (cells->memory && cells->granules >= granules) return true;
    free_cells(cells);
    uint64_t padded = granules + 2ull * IGI_QUICK_PAD, touched = (granules >> IGI_QUICK_BLOCK_SHIFT) + 2;
    cells->bytes = padded * 2 * sizeof(uint32_t) + touched;
    cells->memory = igi_map_zeros(cells->bytes);
    if (!cells->memory) return false;
#ifdef MADV_HUGEPAGE
    madvise(cells->memory, cells->bytes, MADV_HUGEPAGE);
#endif
    uint32_t *all = cells->memory;
    cells->granules = granules;
    cells->at = (igi_simt_quick_cells){
        .owners = all + IGI_QUICK_PAD, .infos = all + padded + IGI_QUICK_PAD, .touched = (uint8_t *)(all + 2 * padded)};
    return true;
}

static bool add_set(checked_buffer *b, uint32_t set) {
    if (set < b->set_count) return true;
    quick_cells *more = realloc(b->sets, (set + 1ull) * sizeof *more);
    if (!more) return false;
    memset(more + b->set_count, 0, (set + 1ull - b->set_count) * sizeof *more);
    b->sets = more;
    b->set_count = set + 1ull;
    return true;
}

static bool reserve_copy(checked_buffer *b) {
    uint64_t pages = (b->buffer->capacity >> IGI_QUICK_PAGE_SHIFT) + 2;
    if (b->saved) return true;
    b->saved_bytes = pages;
    b->copy_bytes = pages << IGI_QUICK_PAGE_SHIFT;
    b->saved = igi_map_zeros(b->saved_bytes);
    b->copy = igi_map_zeros(b->copy_bytes);
    return b->saved && b->copy;
}

// The buffer as a worker sees it.
static bool prepare_buffer(quick_worker *worker, checked_buffer *b, igi_simt_checked_object *object) {
    cpu_checker *checker = worker->of->checker;
    bool cells = checker->checks & IG_CHECK_RACES;
    pthread_mutex_lock(&checker->lock);
    bool ok = reserve_copy(b) &&
              (!cells || (add_set(b, worker->set) &&
                          reserve_cells(&b->sets[worker->set], (b->buffer->capacity >> worker->of->granules[0]) + 2)));
    if (ok && cells) object->quick = b->sets[worker->set].at;
    if (ok) object->quick.saved = b->saved;
    b->tracked = true;
    pthread_mutex_unlock(&checker->lock);
    return ok;
}

// ---- What generated code asks for ----

static void abandon(void *user) {
    quick_worker *worker = user;
    atomic_store(&worker->of->suspicious, true);
    igi_device_fault_leave();
}

static void save(void *user, const igi_simt_checked_object *object, uint64_t page) {
    quick_worker *worker = user;
    checked_buffer *b = object->home;
    pthread_mutex_t *lock = &worker->of->checker->saving[page % QUICK_LOCKS];
    uint64_t at = page << IGI_QUICK_PAGE_SHIFT, left = b->buffer->capacity - at, bytes = 1ull << IGI_QUICK_PAGE_SHIFT;
    if (__atomic_load_n(&b->saved[page], __ATOMIC_ACQUIRE)) return;
    pthread_mutex_lock(lock);
    if (!b->saved[page]) memcpy(b->copy + at, (const char *)b->buffer->memory + at, left < bytes ? left : bytes);
    __atomic_store_n(&b->saved[page], 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(lock);
}

static bool describe(void *user, uint64_t address, igi_simt_checked_object *object) {
    quick_worker *worker = user;
    checked_buffer *b = igi_cpu_find_checked_buffer(worker->of->checker, address);
    const igi_simt_checked_object *described = b ? NULL : igi_cpu_find_description(worker->of->checker, address);
    if (described) *object = *described;
    if (!b) return described;
    igi_cpu_refresh_checked_buffer(b);
    *object = b->object;
    if (!prepare_buffer(worker, b, object)) abandon(user);
    return true;
}

// ---- Workers ----

static bool take_set(quick_worker *worker) {
    cpu_checker *checker = worker->of->checker;
    pthread_mutex_lock(&checker->lock);
    for (worker->set = 0; worker->set < QUICK_MOST_SETS && checker->set_taken[worker->set];) worker->set++;
    bool found = worker->set < QUICK_MOST_SETS;
    if (found) checker->set_taken[worker->set] = true;
    pthread_mutex_unlock(&checker->lock);
    return found;
}

static bool equip_buffers(quick_worker *worker) {
    for (uint32_t i = 0; i < worker->of->dispatch->binding_count; i++) {
        const igi_device_binding *binding = &worker->of->dispatch->bindings[i];
        bool buffer = binding->kind == IG_ARGUMENT_BUFFER && binding->buffer && binding->index < IGI_MAX_SLOTS;
        if (!buffer || !igi_cpu_is_written(worker->of->dispatch, binding->buffer)) continue;
        igi_simt_checked_object *object = &worker->checked.objects[binding->index];
        if (object->home && !prepare_buffer(worker, object->home, object)) return false;
    }
    return true;
}

static bool equip_threadgroup(quick_worker *worker) {
    quick_cells *cells = &worker->of->checker->threadgroup_sets[worker->set];
    if (!reserve_cells(cells, (worker->of->threadgroup_bytes >> worker->of->granules[1]) + 2)) return false;
    for (size_t i = 0; i < IGI_CHECKED_OBJECTS; i++) {
        igi_simt_checked_object *object = &worker->checked.objects[i];
        if (!object->threadgroup) continue;
        object->quick = cells->at;
        object->quick.touched = NULL;
    }
    return true;
}

igi_simt_checked *igi_cpu_quick_enter(cpu_quick *quick, const igi_simt_group *group, uint32_t static_bytes) {
    quick_worker *worker = igi_calloc(1, sizeof *worker);
    cpu_checker *checker = quick->checker;
    if (!worker) return NULL;
    worker->of = quick;
    worker->quick = (igi_simt_quick){.floor = quick->floor,
                                     .group_threads = quick->threads,
                                     .checks = checker->checks,
                                     .found = worker->found,
                                     .give_up = abandon,
                                     .save = save,
                                     .describe = describe,
                                     .user = worker};
    igi_simt_checked_copy(&worker->checked, &checker->state);
    worker->checked.quick = &worker->quick;
    worker->checked.checks = IGI_CHECK_QUICK;
    igi_cpu_check_arguments(&worker->checked, quick->dispatch, group, static_bytes);
    bool taken = take_set(worker);
    if (taken && equip_buffers(worker) && equip_threadgroup(worker)) return &worker->checked;
    if (taken) checker->set_taken[worker->set] = false;
    free(worker);
    return NULL;
}

void igi_cpu_quick_leave(igi_simt_checked *checked) {
    quick_worker *worker = (quick_worker *)checked;
    cpu_checker *checker = worker->of->checker;
    pthread_mutex_lock(&checker->lock);
    checker->set_taken[worker->set] = false;
    pthread_mutex_unlock(&checker->lock);
    free(worker);
}

// ---- Threads of the host against each other ----

static bool conflict(uint32_t a, uint32_t b) {
    if (!a || !b) return false;
    if ((a | b) & IGI_QUICK_WRITE) return true;
    return ((a & IGI_QUICK_ATOMIC_WRITE) && (b & IGI_QUICK_READ)) ||
           ((b & IGI_QUICK_ATOMIC_WRITE) && (a & IGI_QUICK_READ));
}

static uint32_t accesses_at(const quick_cells *cells, uint64_t granule, uint32_t floor) {
    if (cells->at.owners[granule] < floor) return 0;
    return cells->at.infos[granule] >> IGI_QUICK_EVER_SHIFT & IGI_QUICK_NOW;
}

static bool is_clean_block(const checked_buffer *b, uint64_t block, uint32_t floor) {
    uint64_t first = block << IGI_QUICK_BLOCK_SHIFT;
    for (uint64_t i = first; i < first + (1 << IGI_QUICK_BLOCK_SHIFT); i++) {
        uint32_t before = 0;
        for (size_t k = 0; k < b->set_count; k++) {
            if (!b->sets[k].memory || i >= b->sets[k].granules) continue;
            uint32_t here = accesses_at(&b->sets[k], i, floor);
            if (conflict(before, here)) return false;
            before |= here;
        }
    }
    return true;
}

static unsigned count_touched(const checked_buffer *b, uint64_t block) {
    unsigned count = 0;
    for (size_t k = 0; k < b->set_count; k++)
        if (b->sets[k].memory && block <= b->sets[k].granules >> IGI_QUICK_BLOCK_SHIFT)
            count += b->sets[k].at.touched[block];
    return count;
}

static bool is_clean(const checked_buffer *b, uint32_t floor, uint32_t granule) {
    uint64_t blocks = (b->buffer->capacity >> granule >> IGI_QUICK_BLOCK_SHIFT) + 1;
    for (uint64_t i = 0; i < blocks; i++)
        if (count_touched(b, i) > 1 && !is_clean_block(b, i, floor)) return false;
    return true;
}

static void forget_touched(const checked_buffer *b) {
    for (size_t k = 0; k < b->set_count; k++)
        if (b->sets[k].memory) memset(b->sets[k].at.touched, 0, (b->sets[k].granules >> IGI_QUICK_BLOCK_SHIFT) + 2);
}

// ---- Undoing ----

static void settle_pages(const checked_buffer *b, bool undo) {
    for (uint64_t page = 0; page < b->saved_bytes; page++) {
        if (!b->saved[page]) continue;
        uint64_t at = page << IGI_QUICK_PAGE_SHIFT, left = b->buffer->capacity - at;
        uint64_t bytes = 1ull << IGI_QUICK_PAGE_SHIFT;
        if (undo) memcpy((char *)b->buffer->memory + at, b->copy + at, left < bytes ? left : bytes);
        b->saved[page] = 0;
    }
}

// ---- A dispatch ----

// Numbers of threads have run out.
static void start_anew(cpu_checker *checker) {
    pthread_mutex_lock(&checker->lock);
    for (size_t i = 0; i < checker->count; i++) igi_cpu_quick_forget(checker->buffers[i]);
    igi_cpu_quick_free_sets(checker);
    pthread_mutex_unlock(&checker->lock);
    checker->next_token = 1;
}

// Whether a kernel may read bytes of a buffer that nobody has written.
static bool reaches_unwritten(cpu_checker *checker, const igi_device_dispatch *dispatch) {
    bool reaches = false;
    if (!(checker->checks & IG_CHECK_INIT)) return false;
    pthread_mutex_lock(&checker->lock);
    for (size_t i = 0; i < checker->count && checker->shadowed; i++)
        reaches |= checker->buffers[i]->object.shadow && atomic_load(&checker->buffers[i]->buffer->addressed);
    pthread_mutex_unlock(&checker->lock);
    for (uint32_t i = 0; i < dispatch->binding_count; i++) {
        const ig_buffer *buffer = dispatch->bindings[i].buffer;
        checked_buffer *b = buffer ? igi_cpu_find_checked_buffer(checker, (uintptr_t)buffer->memory) : NULL;
        reaches |= b && b->object.shadow;
    }
    return reaches;
}

static bool is_bound_twice(const igi_device_dispatch *dispatch, const ig_buffer *buffer) {
    unsigned count = 0;
    for (uint32_t i = 0; i < dispatch->binding_count; i++) count += dispatch->bindings[i].buffer == buffer;
    return count > 1;
}

// Code that saves nothing of a buffer relies on its being read nowhere else.
static bool save_shared(cpu_quick *quick) {
    for (uint32_t i = 0; i < quick->dispatch->binding_count; i++) {
        const igi_device_binding *binding = &quick->dispatch->bindings[i];
        bool slot = binding->kind == IG_ARGUMENT_BUFFER && binding->buffer && binding->index < IGI_MAX_SLOTS;
        if (!slot || !(quick->unsaved >> binding->index & 1) || !is_bound_twice(quick->dispatch, binding->buffer))
            continue;
        checked_buffer *b = igi_cpu_find_checked_buffer(quick->checker, (uintptr_t)binding->buffer->memory);
        if (!b || !reserve_copy(b)) return false;
        memcpy(b->copy, b->buffer->memory, b->buffer->capacity);
        memset(b->saved, 1, (b->buffer->capacity + (1 << IGI_QUICK_PAGE_SHIFT) - 1) >> IGI_QUICK_PAGE_SHIFT);
        b->tracked = true;
    }
    return true;
}

bool igi_cpu_quick_begin(ig_device *device, const igi_device_dispatch *dispatch, const igi_simt_code *code,
                         uint32_t threads, uint64_t group_count, cpu_quick **made) {
    cpu_checker *checker = igi_cpu(device)->checker;
    uint64_t tokens = group_count * threads;
    if (group_count > UINT32_MAX || tokens >= UINT32_MAX / 2) return false;
    cpu_quick *quick = igi_calloc(1, sizeof *quick);
    if (!quick) return false;
    pthread_mutex_lock(&checker->dispatch);
    checker->quick = true;
    if (tokens > UINT32_MAX - checker->next_token) start_anew(checker);
    *quick =
        (cpu_quick){.checker = checker,
                    .dispatch = dispatch,
                    .floor = checker->next_token,
                    .threads = threads,
                    .granules = {code->info.granules[0], code->info.granules[1]},
                    .unsaved = code->info.unsaved,
                    .threadgroup_bytes = igi_round_up(code->info.threadgroup_bytes, 64) + dispatch->threadgroup_bytes};
    checker->next_token += (uint32_t)tokens;
    checker->state.user = checker;
    checker->state.find = NULL;
    checker->state.find_shadowed = NULL;
    *made = quick;
    bool possible = !reaches_unwritten(checker, dispatch) && igi_cpu_describe_arguments(checker, dispatch);
    if (possible && save_shared(quick)) return true;
    igi_cpu_quick_end(quick, true);
    return false;
}

bool igi_cpu_quick_end(cpu_quick *quick, bool undo) {
    cpu_checker *checker = quick->checker;
    bool suspicious = undo || atomic_load(&quick->suspicious);
    pthread_mutex_lock(&checker->lock);
    for (size_t i = 0; i < checker->count; i++) {
        checked_buffer *b = checker->buffers[i];
        if (b->tracked && !suspicious && (checker->checks & IG_CHECK_RACES))
            suspicious = !is_clean(b, quick->floor, quick->granules[0]);
    }
    for (size_t i = 0; i < checker->count; i++) {
        checked_buffer *b = checker->buffers[i];
        if (b->tracked) forget_touched(b);
        if (b->tracked && b->saved) settle_pages(b, suspicious);
        b->tracked = false;
    }
    pthread_mutex_unlock(&checker->lock);
    checker->quick = false;
    pthread_mutex_unlock(&checker->dispatch);
    free(quick);
    return !suspicious;
}
