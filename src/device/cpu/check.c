// SPDX-License-Identifier: Apache-2.0
// What a checked kernel may access. Races are tracked per buffer, from one dispatch to the next, by threadgroups with
// consecutive numbers: a lower number is an earlier dispatch.
#include "device/cpu/check.h"

#include "device/cpu/check-state.h"

#include <string.h>
#include <sys/mman.h>

#include "core/guarded.h"
#include "simt/checked/init.h"

static uint64_t words_of(uint64_t bytes) {
    return bytes / IGI_CHECKED_WORD + 2;
}

static uint64_t cell_bytes_of(const ig_buffer *buffer) {
    return words_of(buffer->capacity) * sizeof(igi_simt_checked_cell);
}

cpu_checker *igi_cpu_checker_create(uint32_t checks) {
    cpu_checker *made = igi_calloc(1, sizeof *made);
    if (!made) return NULL;
    made->checks = checks;
    made->next_group = made->next_token = 1;
    igi_cpu_check_srgb(made);
    pthread_mutex_init(&made->dispatch, NULL);
    pthread_mutex_init(&made->lock, NULL);
    for (size_t i = 0; i < QUICK_LOCKS; i++) pthread_mutex_init(&made->saving[i], NULL);
    return made;
}

void igi_cpu_checker_destroy(cpu_checker *checker) {
    if (!checker) return;
    free(checker->buffers), free(checker->textures);
    for (size_t i = 0; i < checker->found_count; i++)
        if (checker->found[i].cells) munmap(checker->found[i].cells, cell_bytes_of(checker->found[i].home));
    free(checker->found);
    if (checker->threadgroup_cells) munmap(checker->threadgroup_cells, checker->threadgroup_cell_bytes);
    igi_simt_checked_free(&checker->state);
    igi_cpu_quick_free_sets(checker);
    pthread_mutex_destroy(&checker->dispatch);
    pthread_mutex_destroy(&checker->lock);
    for (size_t i = 0; i < QUICK_LOCKS; i++) pthread_mutex_destroy(&checker->saving[i]);
    free(checker);
}

// ---- Buffers ----

static void free_buffer(checked_buffer *b) {
    if (b->object.cells) munmap(b->object.cells, b->cell_bytes);
    if (b->object.shadow) munmap(b->object.shadow, b->shadow_bytes);
    if (b->object.origins) munmap(b->object.origins, b->shadow_bytes);
    igi_cpu_quick_forget(b);
    igi_cpu_queues_forget_marks(b);
    free(b);
}

// Shadow for memory that the host cannot write: uninitialised until a kernel writes it.
static bool add_shadow(checked_buffer *b) {
    b->shadow_bytes = igi_round_up(b->buffer->capacity + 8, 8);
    b->object.shadow = igi_map_zeros(b->shadow_bytes);
    b->object.origins = igi_map_zeros(b->shadow_bytes);
    if (!b->object.shadow || !b->object.origins) return false;
    memset(b->object.shadow, 0xff, b->shadow_bytes);
    for (uint64_t i = 0; i < b->shadow_bytes / 4; i++) b->object.origins[i] = IGI_ORIGIN_BUFFER;
    return true;
}

static size_t place_of(const cpu_checker *checker, uint64_t address) {
    size_t low = 0, high = checker->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (checker->buffers[middle]->object.begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool igi_cpu_check_buffer(ig_buffer *buffer, bool written) {
    cpu_checker *checker = igi_cpu(buffer->device)->checker;
    if (!checker) return true;
    checked_buffer *b = igi_calloc(1, sizeof *b);
    if (!b) return false;
    uint64_t begin = (uintptr_t)buffer->memory;
    b->buffer = buffer;
    b->object = (igi_simt_checked_object){.base = begin, .begin = begin, .cells_base = begin / 4 * 4, .home = b};
    bool shadow = (checker->checks & IG_CHECK_INIT) && !written && buffer->storage == IG_STORAGE_PRIVATE;
    bool ok = !shadow || add_shadow(b);
    pthread_mutex_lock(&checker->lock);
    ok = ok && igi_grow((void **)&checker->buffers, &checker->capacity, checker->count + 1, sizeof *checker->buffers);
    if (ok) {
        size_t at = place_of(checker, begin);
        memmove(checker->buffers + at + 1, checker->buffers + at, (checker->count - at) * sizeof *checker->buffers);
        checker->buffers[at] = b;
        checker->count++;
        checker->shadowed += shadow;
    }
    pthread_mutex_unlock(&checker->lock);
    if (!ok) free_buffer(b);
    return ok;
}

void igi_cpu_uncheck_buffer(ig_buffer *buffer) {
    cpu_checker *checker = igi_cpu(buffer->device)->checker;
    if (!checker) return;
    checked_buffer *found = NULL;
    pthread_mutex_lock(&checker->lock);
    for (size_t i = 0; i < checker->count && !found; i++) {
        if (checker->buffers[i]->buffer != buffer) continue;
        found = checker->buffers[i];
        checker->released[checker->released_count++ % RELEASED_COUNT] =
            (cpu_released){found->object.begin, buffer->length};
        checker->shadowed -= found->object.shadow != NULL;
        checker->count--;
        memmove(checker->buffers + i, checker->buffers + i + 1, (checker->count - i) * sizeof *checker->buffers);
    }
    pthread_mutex_unlock(&checker->lock);
    if (found) free_buffer(found);
}

// Call with the lock held.
static checked_buffer *buffer_at(const cpu_checker *checker, uint64_t address) {
    size_t at = place_of(checker, address);
    if (!at) return NULL;
    checked_buffer *b = checker->buffers[at - 1];
    return address - b->object.begin < b->buffer->length ? b : NULL;
}

cpu_checker *igi_cpu_checker_of_device(cpu_checker *checker) {
    return checker->device ? checker->device : checker;
}

checked_buffer *igi_cpu_find_checked_buffer(cpu_checker *checker, uint64_t address) {
    checker = igi_cpu_checker_of_device(checker);
    pthread_mutex_lock(&checker->lock);
    checked_buffer *found = buffer_at(checker, address);
    pthread_mutex_unlock(&checker->lock);
    return found;
}

void igi_cpu_check_written(ig_buffer *buffer, uint64_t offset, uint64_t length) {
    cpu_checker *checker = igi_cpu(buffer->device)->checker;
    checked_buffer *b = checker ? igi_cpu_find_checked_buffer(checker, (uintptr_t)buffer->memory) : NULL;
    if (b && b->object.shadow) memset(b->object.shadow + (b->object.begin - b->object.cells_base) + offset, 0, length);
}

// ---- A dispatch ----

uint32_t igi_cpu_check_flags(ig_device *device) {
    cpu_checker *checker = igi_cpu(device)->checker;
    if (!checker) return 0;
    pthread_mutex_lock(&checker->lock);
    uint32_t flags = checker->checks | (checker->shadowed ? IGI_CHECK_BUFFERS : 0);
    pthread_mutex_unlock(&checker->lock);
    return flags;
}

void igi_cpu_refresh_checked_buffer(checked_buffer *b) {
    b->object.length = b->object.readable = b->object.writable = b->buffer->length;
    b->object.name = b->buffer->label;
    b->object.id = b->buffer->id;
}

static bool track(checked_buffer *b) {
    if (b->object.cells) return true;
    b->cell_bytes = cell_bytes_of(b->buffer);
    b->object.cells = igi_map_zeros(b->cell_bytes);
#ifdef MADV_HUGEPAGE
    if (b->object.cells) madvise(b->object.cells, b->cell_bytes, MADV_HUGEPAGE);
#endif
    return b->object.cells != NULL;
}

// A buffer with cells of its own instead of those that dispatches of queues use.
static igi_simt_checked_object lone_object(const cpu_checker *checker, ig_buffer *buffer) {
    uint64_t begin = (uintptr_t)buffer->memory;
    bool races = checker->checks & IG_CHECK_RACES;
    return (igi_simt_checked_object){.base = begin,
                                     .home = buffer,
                                     .cells = races ? igi_map_zeros(cell_bytes_of(buffer)) : NULL,
                                     .begin = begin,
                                     .cells_base = begin / IGI_CHECKED_WORD * IGI_CHECKED_WORD,
                                     .readable = buffer->length,
                                     .writable = buffer->length,
                                     .length = buffer->length,
                                     .name = buffer->label,
                                     .id = buffer->id};
}

static const igi_simt_checked_object *find_alone(void *user, uint64_t address) {
    cpu_checker *checker = user;
    for (size_t i = 0; i < checker->found_count; i++)
        if (address - checker->found[i].begin < checker->found[i].length) return &checker->found[i];
    checked_buffer *b = igi_cpu_find_checked_buffer(checker, address);
    if (!b) return igi_cpu_find_description(checker, address);
    // Findings refer to objects: the list does not move.
    if (checker->found_count == checker->found_capacity) return NULL;
    checker->found[checker->found_count] = lone_object(checker, b->buffer);
    return &checker->found[checker->found_count++];
}

static const igi_simt_checked_object *find_object(void *user, uint64_t address) {
    cpu_checker *checker = user;
    checked_buffer *b = igi_cpu_find_checked_buffer(checker, address);
    if (!b) return igi_cpu_find_description(checker, address);
    igi_cpu_refresh_checked_buffer(b);
    if ((checker->checks & IG_CHECK_RACES) && track(b)) igi_cpu_queues_mark(checker, b);
    return &b->object;
}

static bool is_released(void *user, uint64_t address) {
    cpu_checker *checker = igi_cpu_checker_of_device(user);
    bool released = false;
    pthread_mutex_lock(&checker->lock);
    for (size_t i = 0; i < RELEASED_COUNT; i++)
        released |= address - checker->released[i].begin < checker->released[i].length;
    pthread_mutex_unlock(&checker->lock);
    return released;
}

static const igi_simt_checked_object *find_shadowed(void *user, uint64_t address) {
    cpu_checker *checker = user;
    checked_buffer *b = checker->shadowed ? igi_cpu_find_checked_buffer(checker, address) : NULL;
    if (b) igi_cpu_refresh_checked_buffer(b);
    return b ? &b->object : NULL;
}

// Numbers of threadgroups have run out: everything recorded so far is forgotten.
static void start_numbers_anew(cpu_checker *checker) {
    for (size_t i = 0; i < checker->count; i++) {
        checked_buffer *b = checker->buffers[i];
        if (b->object.cells) munmap(b->object.cells, b->cell_bytes);
        b->object.cells = NULL;
    }
    if (checker->threadgroup_cells) memset(checker->threadgroup_cells, 0, checker->threadgroup_cell_bytes);
    checker->next_group = 1;
}

bool igi_cpu_is_written(const igi_device_dispatch *dispatch, const ig_buffer *buffer) {
    if (atomic_load(&((ig_buffer *)buffer)->addressed)) return true;
    for (uint32_t i = 0; i < dispatch->binding_count; i++) {
        const igi_device_binding *binding = &dispatch->bindings[i];
        if (binding->buffer != buffer) continue;
        const ig_argument *argument = igi_device_pipeline_argument(dispatch->pipeline, binding->kind, binding->index);
        if (!argument || argument->access != IG_ACCESS_READ) return true;
    }
    return false;
}

static bool is_read_only(const igi_device_dispatch *dispatch, const igi_device_binding *binding) {
    const ig_argument *argument = igi_device_pipeline_argument(dispatch->pipeline, binding->kind, binding->index);
    return argument && argument->access == IG_ACCESS_READ;
}

static bool describe_buffer(cpu_checker *checker, const igi_device_dispatch *dispatch,
                            const igi_device_binding *binding, igi_simt_checked_object *object) {
    checked_buffer *b = igi_cpu_find_checked_buffer(checker, (uintptr_t)binding->buffer->memory);
    bool races = checker->checks & IG_CHECK_RACES;
    if (!b) return true;
    if (!checker->device) igi_cpu_refresh_checked_buffer(b);
    bool cells = races && !checker->quick && !checker->device, several = cells && checker->state.queue.number;
    // Other queues may write what this dispatch reads.
    bool wanted = several || igi_cpu_is_written(dispatch, binding->buffer);
    if (cells && wanted && !(track(b) && igi_cpu_queues_mark(checker, b))) return false;
    const igi_simt_checked_object *alone =
        checker->device ? find_alone(checker, (uintptr_t)binding->buffer->memory) : NULL;
    *object = alone ? *alone : b->object;
    if (!wanted) object->cells = NULL;
    object->base += binding->offset;
    object->readable = object->writable = binding->buffer->length - binding->offset;
    return true;
}

bool igi_cpu_describe_arguments(cpu_checker *checker, const igi_device_dispatch *dispatch) {
    igi_simt_checked *state = &checker->state;
    memset(state->objects, 0, sizeof state->objects);
    for (uint32_t i = 0; i < dispatch->binding_count; i++) {
        const igi_device_binding *binding = &dispatch->bindings[i];
        if (binding->kind != IG_ARGUMENT_BUFFER || binding->index >= IGI_MAX_SLOTS) continue;
        igi_simt_checked_object *object = &state->objects[binding->index];
        if (binding->buffer && !describe_buffer(checker, dispatch, binding, object)) return false;
        if (binding->bytes) object->readable = object->writable = object->length = binding->length;
        if (is_read_only(dispatch, binding)) object->writable = 0;
        object->index = binding->index;
    }
    return true;
}

static bool reserve_threadgroup_cells(cpu_checker *checker, uint64_t bytes) {
    uint64_t wanted = words_of(bytes) * sizeof(igi_simt_checked_cell);
    if (!(checker->checks & IG_CHECK_RACES) || wanted <= checker->threadgroup_cell_bytes) return true;
    if (checker->threadgroup_cells) munmap(checker->threadgroup_cells, checker->threadgroup_cell_bytes);
    checker->threadgroup_cells = igi_map_zeros(wanted);
    checker->threadgroup_cell_bytes = checker->threadgroup_cells ? wanted : 0;
    return checker->threadgroup_cells != NULL;
}

static uint64_t threadgroup_bytes_of(const igi_device_dispatch *dispatch, const igi_simt_code *code) {
    return igi_round_up(code->info.threadgroup_bytes, 64) + dispatch->threadgroup_bytes;
}

igi_simt_checked *igi_cpu_check_begin(const ig_commands *commands, const igi_device_dispatch *dispatch,
                                      const igi_simt_code *code, const uint64_t groups[3], uint64_t group_count) {
    cpu_checker *checker = igi_cpu(commands->queue->device)->checker;
    pthread_mutex_lock(&checker->dispatch);
    igi_simt_checked *state = &checker->state;
    if (group_count > UINT32_MAX - checker->next_group) start_numbers_anew(checker);
    state->checks = checker->checks;
    state->sites = code->sites;
    state->first_group = checker->next_group;
    checker->next_group += group_count > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)group_count;
    state->find = find_object;
    state->find_shadowed = find_shadowed;
    state->is_released = is_released;
    state->user = checker;
    if (state->releases) memset(state->releases, 0, state->release_capacity * sizeof *state->releases);
    if (igi_cpu_queues_begin(checker, commands, dispatch, code, groups) &&
        igi_cpu_describe_arguments(checker, dispatch) &&
        reserve_threadgroup_cells(checker, threadgroup_bytes_of(dispatch, code)))
        return state;
    pthread_mutex_unlock(&checker->dispatch);
    return NULL;
}

// ---- Past all queues ----

static void count_as_written(const igi_device_dispatch *dispatch) {
    for (uint32_t i = 0; i < dispatch->binding_count; i++) {
        ig_buffer *buffer = dispatch->bindings[i].buffer;
        if (buffer && igi_cpu_is_written(dispatch, buffer)) igi_cpu_check_written(buffer, 0, buffer->length);
    }
}

igi_simt_checked *igi_cpu_check_begin_alone(ig_device *device, const igi_device_dispatch *dispatch,
                                            const igi_simt_code *code) {
    cpu_checker *of = igi_cpu(device)->checker, *alone = igi_cpu_checker_create(of->checks);
    enum { MOST_FOUND = 64 };
    if (!alone) return NULL;
    alone->device = of;
    igi_simt_checked *state = &alone->state;
    *state = (igi_simt_checked){.checks = of->checks,
                                .sites = code->sites,
                                .first_group = 1,
                                .find = find_alone,
                                .is_released = is_released,
                                .user = alone};
    count_as_written(dispatch);
    alone->found = igi_calloc(MOST_FOUND, sizeof *alone->found);
    alone->found_capacity = alone->found ? MOST_FOUND : 0;
    if (alone->found && igi_cpu_describe_arguments(alone, dispatch) &&
        reserve_threadgroup_cells(alone, threadgroup_bytes_of(dispatch, code)))
        return state;
    igi_cpu_checker_destroy(alone);
    return NULL;
}

static igi_simt_checked_object threadgroup_object(const cpu_checker *checker, const igi_simt_group *group,
                                                  const void *at, uint64_t bytes) {
    uint64_t base = (uintptr_t)at;
    return (igi_simt_checked_object){.base = base,
                                     .begin = base,
                                     .length = bytes,
                                     .readable = bytes,
                                     .writable = bytes,
                                     .cells = checker->threadgroup_cells,
                                     .cells_base = (uintptr_t)group->threadgroup_memory,
                                     .threadgroup = true};
}

void igi_cpu_check_arguments(igi_simt_checked *checked, const igi_device_dispatch *dispatch,
                             const igi_simt_group *group, uint32_t static_bytes) {
    const cpu_checker *checker = checked->user;
    checked->objects[IGI_CHECKED_STATICS] = threadgroup_object(checker, group, group->threadgroup_memory, static_bytes);
    for (uint32_t i = 0; i < dispatch->binding_count; i++) {
        const igi_device_binding *binding = &dispatch->bindings[i];
        if (binding->index >= IGI_MAX_SLOTS) continue;
        if (binding->kind == IG_ARGUMENT_THREADGROUP) {
            uint32_t slot = IGI_MAX_SLOTS + binding->index;
            checked->objects[slot] = threadgroup_object(checker, group, group->arguments[slot], binding->length);
            checked->objects[slot].index = binding->index;
        } else if (binding->bytes) {
            igi_simt_checked_object *object = &checked->objects[binding->index];
            object->base = object->begin = (uintptr_t)group->arguments[binding->index];
        }
    }
}

void igi_cpu_check_end(ig_commands *commands, const igi_device_dispatch *dispatch, igi_simt_checked *checked,
                       ig_size group, const uint64_t groups[3]) {
    cpu_checker *checker = checked->user;
    igi_cpu_check_describe(commands, dispatch, checked, group, groups);
    if (checker->device)
        igi_cpu_checker_destroy(checker);
    else
        pthread_mutex_unlock(&checker->dispatch);
}
