// SPDX-License-Identifier: Apache-2.0
// Immutable bytes.
#include <stdlib.h>
#include <string.h>

#include "object.h"

struct dispatch_data_s {
    igi_dispatch_object head;
    const void *bytes;
    size_t size;
    dispatch_queue_t queue;
    dispatch_block_t destructor;  // NULL: the bytes are ours
};

struct dispatch_data_s _dispatch_data_empty = {.head = {.references = IGI_IMMORTAL}};

// Never called: its address means that the bytes came from malloc.
const dispatch_block_t _dispatch_data_destructor_free = ^{
};

static void destroy_data(void *object) {
    dispatch_data_t data = object;
    if (!data->destructor || data->destructor == DISPATCH_DATA_DESTRUCTOR_FREE) {
        free((void *)data->bytes);
        return;
    }
    dispatch_async(data->queue ? data->queue : dispatch_get_global_queue(0, 0), data->destructor);
    Block_release(data->destructor);
    dispatch_release(data->queue);
}

static dispatch_data_t own(void *bytes, size_t size) {
    dispatch_data_t data = igi_dispatch_create(sizeof *data, destroy_data);
    data->bytes = bytes;
    data->size = size;
    return data;
}

static void *reserve(size_t size) {
    void *bytes = malloc(size ? size : 1);
    if (!bytes) abort();
    return bytes;
}

dispatch_data_t dispatch_data_create(const void *buffer, size_t size, dispatch_queue_t queue,
                                     dispatch_block_t destructor) {
    if (destructor == DISPATCH_DATA_DESTRUCTOR_DEFAULT) {
        if (size == 0) return dispatch_data_empty;
        return own(memcpy(reserve(size), buffer, size), size);
    }
    dispatch_data_t data = own((void *)buffer, size);
    bool frees = destructor == DISPATCH_DATA_DESTRUCTOR_FREE;
    data->destructor = frees ? destructor : Block_copy(destructor);
    data->queue = queue;
    dispatch_retain(queue);
    return data;
}

size_t dispatch_data_get_size(dispatch_data_t data) {
    return data->size;
}

dispatch_data_t dispatch_data_create_map(dispatch_data_t data, const void **buffer, size_t *size) {
    if (buffer) *buffer = data->bytes;
    if (size) *size = data->size;
    dispatch_retain(data);
    return data;
}

dispatch_data_t dispatch_data_create_concat(dispatch_data_t first, dispatch_data_t second) {
    char *bytes = reserve(first->size + second->size);
    if (first->size) memcpy(bytes, first->bytes, first->size);
    if (second->size) memcpy(bytes + first->size, second->bytes, second->size);
    return own(bytes, first->size + second->size);
}

bool dispatch_data_apply(dispatch_data_t data, dispatch_data_applier_t applier) {
    return data->size == 0 || applier(data, 0, data->bytes, data->size);
}
