// SPDX-License-Identifier: Apache-2.0
// Buffers are kept in a list, which costs little when they come and go; it is sorted when an address is looked up.
#include "device/addresses.h"

#include "device/objects.h"

// The memory of a buffer.
typedef struct igi_device_span {
    uint64_t begin, end, last;  // last: the highest end so far
    ig_buffer *buffer;
} igi_device_span;

// Of a pipeline. An id is the number of a place, from 1 on, and how often the place was used before.
typedef struct igi_device_place {
    ig_pipeline *pipeline;  // NULL: none, or no longer
    uint32_t turn;
} igi_device_place;

void igi_device_addresses_init(igi_device_addresses *addresses) {
    *addresses = (igi_device_addresses){0};
    pthread_mutex_init(&addresses->lock, NULL);
}

void igi_device_addresses_destroy(igi_device_addresses *addresses) {
    free(addresses->spans), free(addresses->places);
    pthread_mutex_destroy(&addresses->lock);
}

// ---- Buffers ----

void igi_device_addresses_add(ig_buffer *buffer) {
    igi_device_addresses *a = &buffer->device->addresses;
    pthread_mutex_lock(&a->lock);
    buffer->next = a->buffers;
    buffer->link = &a->buffers;
    if (buffer->next) buffer->next->link = &buffer->next;
    a->buffers = buffer;
    a->buffer_count++;
    a->sorted = false;
    pthread_mutex_unlock(&a->lock);
}

void igi_device_addresses_remove(ig_buffer *buffer) {
    igi_device_addresses *a = &buffer->device->addresses;
    pthread_mutex_lock(&a->lock);
    *buffer->link = buffer->next;
    if (buffer->next) buffer->next->link = buffer->link;
    a->buffer_count--;
    a->sorted = false;
    pthread_mutex_unlock(&a->lock);
}

static int by_begin(const void *left, const void *right) {
    const igi_device_span *a = left, *b = right;
    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

// Call with the lock held.
static bool sort(igi_device_addresses *a) {
    if (a->sorted) return true;
    if (!igi_grow((void **)&a->spans, &a->span_capacity, a->buffer_count, sizeof *a->spans)) return false;
    a->span_count = 0;
    for (ig_buffer *b = a->buffers; b; b = b->next)
        a->spans[a->span_count++] =
            (igi_device_span){.begin = b->address, .end = b->address + b->capacity, .buffer = b};
    if (a->span_count) qsort(a->spans, a->span_count, sizeof *a->spans, by_begin);
    uint64_t last = 0;
    for (size_t i = 0; i < a->span_count; i++) {
        last = last > a->spans[i].end ? last : a->spans[i].end;
        a->spans[i].last = last;
    }
    return a->sorted = true;
}

// The number of spans that begin at the address or before.
static size_t count_before(const igi_device_addresses *a, uint64_t address) {
    size_t low = 0, high = a->span_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (a->spans[middle].begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Memory of the caller may be in several buffers: the one that begins last is meant. Call with the lock held; the buffer is
// taken, and may be shorter than its memory.
static ig_buffer *find(const igi_device_addresses *a, uint64_t address) {
    for (size_t i = count_before(a, address); i > 0 && a->spans[i - 1].last > address; i--) {
        const igi_device_span *span = &a->spans[i - 1];
        if (address < span->end && igi_ref_try_take(&span->buffer->references)) return span->buffer;
    }
    return NULL;
}

ig_status igi_device_find_buffer(ig_device *device, uint64_t address, ig_buffer **buffer, uint64_t *offset) {
    igi_device_addresses *a = &device->addresses;
    pthread_mutex_lock(&a->lock);
    bool sorted = sort(a);
    ig_buffer *found = sorted ? find(a, address) : NULL;
    pthread_mutex_unlock(&a->lock);  // before a release, which may need it
    *buffer = NULL;
    if (!sorted) return IG_STATUS_OUT_OF_MEMORY;
    if (!found) return IG_STATUS_OK;
    *offset = address - found->address;
    if (*offset < found->length)
        *buffer = found;
    else
        ig_buffer_release(found);
    return IG_STATUS_OK;
}

// ---- Pipelines ----

// Call with the lock held. 0 when memory is short.
static uint64_t give_id(igi_device_addresses *a, ig_pipeline *pipeline) {
    size_t i = 0;
    while (i < a->place_count && (a->places[i].pipeline || a->places[i].turn == UINT32_MAX)) i++;
    if (i == UINT32_MAX) return 0;
    if (i == a->place_count) {
        if (!igi_grow((void **)&a->places, &a->place_capacity, a->place_count + 1, sizeof *a->places)) return 0;
        a->places[a->place_count++] = (igi_device_place){0};
    }
    a->places[i].pipeline = pipeline;
    return (uint64_t)++a->places[i].turn << 32 | (i + 1);
}

ig_status ig_pipeline_resource_id(ig_pipeline *pipeline, uint64_t *id) {
    if (!pipeline || !id)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "pipeline_resource_id: pipeline and id must not be NULL");
    ig_device *device = pipeline->library->device;
    if (igi_device_is_inherited(device)) return igi_device_fail_forked();
    pthread_mutex_lock(&device->addresses.lock);
    if (!pipeline->resource_id) pipeline->resource_id = give_id(&device->addresses, pipeline);
    *id = pipeline->resource_id;
    pthread_mutex_unlock(&device->addresses.lock);
    return *id ? IG_STATUS_OK : igi_fail_no_memory();
}

// Call with the lock held.
static igi_device_place *place_of(igi_device_addresses *a, uint64_t id) {
    uint64_t number = id & UINT32_MAX;
    if (!number || number > a->place_count) return NULL;
    igi_device_place *place = &a->places[number - 1];
    return place->turn == id >> 32 ? place : NULL;
}

ig_pipeline *igi_device_find_pipeline(ig_device *device, uint64_t id) {
    igi_device_addresses *a = &device->addresses;
    pthread_mutex_lock(&a->lock);
    igi_device_place *place = place_of(a, id);
    ig_pipeline *found = place ? place->pipeline : NULL;
    if (found && !igi_ref_try_take(&found->references)) found = NULL;
    pthread_mutex_unlock(&a->lock);
    return found;
}

void igi_device_forget_pipeline(ig_pipeline *pipeline) {
    igi_device_addresses *a = &pipeline->library->device->addresses;
    if (!pipeline->resource_id) return;
    pthread_mutex_lock(&a->lock);
    igi_device_place *place = place_of(a, pipeline->resource_id);
    if (place) place->pipeline = NULL;
    pthread_mutex_unlock(&a->lock);
}
