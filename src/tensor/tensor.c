// SPDX-License-Identifier: Apache-2.0
// Tensors: creation, properties, reading and writing from the host.
#include <string.h>

#include "core/npy.h"
#include "core/status-internal.h"
#include "tensor/iterate.h"
#include "tensor/view.h"

// ---- Making ----

ig_tensor *igi_tensor_of(const igi_tensor_view *view) {
    ig_tensor *tensor = igi_alloc(sizeof *tensor);
    if (!tensor) {
        igi_tensor_storage_release(view->storage);
        return NULL;
    }
    igi_ref_init(&tensor->references);
    tensor->view = *view;
    tensor->count = igi_tensor_view_count(view);
    tensor->contiguous = igi_tensor_view_is_contiguous(view);
    return tensor;
}

ig_status igi_tensor_make(ig_device *device, ig_type type, uint32_t rank, const uint64_t *shape, ig_tensor **tensor) {
    uint64_t count;
    if (!igi_tensor_shape_count(rank, shape, ig_type_size(type), &count))
        return igi_fail_with(IG_STATUS_OVERFLOW, "the tensor would have too many elements");
    // In place: every op creates a tensor, and copying views would be most of the cost.
    ig_tensor *made = igi_alloc(sizeof *made);
    if (!made) return igi_fail_no_memory();
    igi_tensor_view_lay_out(&made->view, type, rank, shape);
    ig_status status = igi_tensor_storage_make(device, count * ig_type_size(type), &made->view.storage);
    if (status != IG_STATUS_OK) {
        free(made);
        return status;
    }
    igi_ref_init(&made->references);
    made->count = count;
    made->contiguous = true;
    *tensor = made;
    return IG_STATUS_OK;
}

static ig_status refuse(ig_status status, const char *why) {
    return igi_fail(status, "tensor_create: %s", why);
}

static ig_status check_type(const char *call, ig_type type) {
    if (igi_tensor_type_in(type, IGI_ANY_TYPE)) return IG_STATUS_OK;
    return igi_fail(IG_STATUS_UNSUPPORTED,
                    "%s: tensors cannot have type %s; their types are bool, i8, u8, i32, i64, f16, bf16 and f32", call,
                    ig_type_name(type));
}

static ig_status check(const ig_tensor_desc *desc, uint64_t *bytes) {
    if (desc->rank > IG_MAX_RANK)
        return igi_fail(IG_STATUS_INVALID_ARGUMENT, "tensor_create: rank %u is more than %d", desc->rank, IG_MAX_RANK);
    ig_status status = check_type("tensor_create", desc->type);
    if (status != IG_STATUS_OK) return status;
    if ((desc->bytes != NULL) + (desc->no_copy != NULL) + (desc->buffer != NULL) > 1)
        return refuse(IG_STATUS_INVALID_ARGUMENT, "give at most one of bytes, no_copy and buffer");
    if (desc->deallocate && !desc->no_copy)
        return refuse(IG_STATUS_INVALID_ARGUMENT, "deallocate is for no_copy memory only");
    uint64_t size = ig_type_size(desc->type), count;
    if (!igi_tensor_shape_count(desc->rank, desc->shape, size, &count))
        return refuse(IG_STATUS_OVERFLOW, "the shape has too many elements");
    if (((uintptr_t)desc->no_copy | desc->offset) % size != 0)
        return igi_fail(IG_STATUS_INVALID_ARGUMENT, "tensor_create: the first element is not aligned to %llu bytes",
                        (unsigned long long)size);
    *bytes = count * size;
    return IG_STATUS_OK;
}

static ig_status check_buffer(const ig_tensor_desc *desc, uint64_t bytes) {
    if (ig_buffer_storage(desc->buffer) == IG_STORAGE_PRIVATE)
        return refuse(IG_STATUS_UNSUPPORTED, "the host has no access to a private buffer");
    uint64_t length = ig_buffer_length(desc->buffer);
    if (igi_in_range(desc->offset, bytes, length)) return IG_STATUS_OK;
    return igi_fail(IG_STATUS_OUT_OF_RANGE, "tensor_create: %llu bytes at offset %llu are outside a buffer of %llu",
                    (unsigned long long)bytes, (unsigned long long)desc->offset, (unsigned long long)length);
}

static ig_status wrap_buffer(ig_buffer *buffer, igi_tensor_storage **storage) {
    *storage = igi_tensor_storage_of(buffer);
    return *storage ? IG_STATUS_OK : igi_fail_no_memory();
}

static ig_status borrow_memory(ig_device *device, const ig_tensor_desc *desc, uint64_t bytes,
                               igi_tensor_storage **storage) {
    ig_buffer *buffer = NULL;
    ig_buffer_desc borrowed = {
        .length = bytes ? bytes : 1, .no_copy = desc->no_copy, .deallocate = desc->deallocate, .user = desc->user};
    ig_status status = ig_buffer_create(device, &borrowed, &buffer);
    return status == IG_STATUS_OK ? wrap_buffer(buffer, storage) : status;
}

static ig_status make_storage(ig_device *device, const ig_tensor_desc *desc, uint64_t bytes,
                              igi_tensor_storage **storage) {
    if (desc->no_copy) return borrow_memory(device, desc, bytes, storage);
    if (desc->buffer) {
        ig_status status = check_buffer(desc, bytes);
        return status == IG_STATUS_OK ? wrap_buffer(ig_buffer_retain(desc->buffer), storage) : status;
    }
    ig_status status = igi_tensor_storage_make(device, bytes, storage);
    if (status != IG_STATUS_OK) return status;
    if (desc->bytes)
        memcpy((*storage)->memory, desc->bytes, bytes);
    else if (!desc->uninitialized)
        memset((*storage)->memory, 0, bytes);
    return IG_STATUS_OK;
}

ig_status ig_tensor_create(ig_device *device, const ig_tensor_desc *desc, ig_tensor **tensor) {
    if (!device || !desc || !tensor)
        return refuse(IG_STATUS_INVALID_ARGUMENT, "device, desc and tensor must not be NULL");
    uint64_t bytes = 0;
    ig_status status = check(desc, &bytes);
    if (status != IG_STATUS_OK) return status;
    igi_tensor_view view = igi_tensor_view_contiguous(desc->type, desc->rank, desc->shape);
    view.offset = desc->buffer ? desc->offset : 0;
    status = make_storage(device, desc, bytes, &view.storage);
    if (status != IG_STATUS_OK) return status;
    view.storage->device = device;
    ig_tensor *made = igi_tensor_of(&view);
    if (!made) return igi_fail_no_memory();
    *tensor = made;
    return IG_STATUS_OK;
}

ig_status ig_tensor_create_scalar(ig_device *device, ig_type type, double value, ig_tensor **tensor) {
    ig_status status = check_type("create_scalar", type);
    if (status != IG_STATUS_OK) return status;
    char element[8];
    igi_tensor_store_doubles(type, element, 0, 1, &value);
    return ig_tensor_create(device, &(ig_tensor_desc){.type = type, .bytes = element}, tensor);
}

ig_tensor *ig_tensor_retain(ig_tensor *tensor) {
    if (tensor) igi_ref_take(&tensor->references);
    return tensor;
}

void ig_tensor_release(ig_tensor *tensor) {
    if (!tensor || !igi_ref_drop(&tensor->references)) return;
    igi_tensor_storage_release(tensor->view.storage);
    free(tensor);
}

// ---- Asking ----

ig_type ig_tensor_type(const ig_tensor *tensor) {
    return tensor->view.type;
}

uint32_t ig_tensor_rank(const ig_tensor *tensor) {
    return tensor->view.rank;
}

const uint64_t *ig_tensor_shape(const ig_tensor *tensor) {
    return tensor->view.shape;
}

const int64_t *ig_tensor_strides(const ig_tensor *tensor) {
    return tensor->view.strides;
}

uint64_t ig_tensor_count(const ig_tensor *tensor) {
    return tensor->count;
}

bool ig_tensor_is_contiguous(const ig_tensor *tensor) {
    return tensor->contiguous;
}

ig_buffer *ig_tensor_buffer(const ig_tensor *tensor) {
    return tensor->view.storage->buffer;
}

uint64_t ig_tensor_offset(const ig_tensor *tensor) {
    return tensor->view.offset;
}

// ---- Host access ----

ig_status ig_tensor_map(const ig_tensor *tensor, const void **elements) {
    if (!tensor || !elements)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "map: tensor and elements must not be NULL");
    ig_status status = igi_tensor_storage_wait_to_read(tensor->view.storage);
    if (status == IG_STATUS_OK) *elements = igi_tensor_view_data(&tensor->view);
    return status;
}

ig_status ig_tensor_map_mutable(ig_tensor *tensor, void **elements) {
    if (!tensor || !elements)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "map_mutable: tensor and elements must not be NULL");
    ig_status status = igi_tensor_storage_wait_to_write(tensor->view.storage);
    if (status == IG_STATUS_OK) *elements = igi_tensor_view_data(&tensor->view);
    return status;
}

static ig_status check_length(const char *call, const ig_tensor *tensor, const void *bytes, uint64_t length) {
    if (!tensor || (length && !bytes))
        return igi_fail(IG_STATUS_INVALID_ARGUMENT, "%s: tensor and bytes must not be NULL", call);
    uint64_t needed = tensor->count * ig_type_size(tensor->view.type);
    if (length == needed) return IG_STATUS_OK;
    return igi_fail(IG_STATUS_OUT_OF_RANGE, "%s: the tensor has %llu bytes, but the length given is %llu", call,
                    (unsigned long long)needed, (unsigned long long)length);
}

ig_status ig_tensor_read(const ig_tensor *tensor, void *bytes, uint64_t length) {
    ig_status status = check_length("read", tensor, bytes, length);
    if (status == IG_STATUS_OK) status = igi_tensor_storage_wait_to_read(tensor->view.storage);
    if (status == IG_STATUS_OK && length) igi_tensor_copy_to_memory(&tensor->view, bytes);
    return status;
}

ig_status ig_tensor_write(ig_tensor *tensor, const void *bytes, uint64_t length) {
    ig_status status = check_length("write", tensor, bytes, length);
    if (status == IG_STATUS_OK) status = igi_tensor_storage_wait_to_write(tensor->view.storage);
    if (status == IG_STATUS_OK && length) igi_tensor_copy_from_memory(&tensor->view, bytes);
    return status;
}

ig_status ig_tensor_item(const ig_tensor *tensor, double *value) {
    if (!tensor || !value) return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "item: tensor and value must not be NULL");
    if (tensor->count != 1)
        return igi_fail(IG_STATUS_INVALID_ARGUMENT, "item: the tensor has %llu elements, not one",
                        (unsigned long long)tensor->count);
    ig_status status = igi_tensor_storage_wait_to_read(tensor->view.storage);
    if (status == IG_STATUS_OK)
        igi_tensor_load_doubles(tensor->view.type, igi_tensor_view_data(&tensor->view), 0, 1, value);
    return status;
}

// ---- Files ----

ig_status ig_tensor_load(ig_device *device, const char *path, ig_tensor **tensor, ig_error *error) {
    if (!device || !path || !tensor)
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "device, path and tensor must not be NULL");
    igi_npy array;
    ig_status status = igi_npy_load(path, &array, error);
    if (status != IG_STATUS_OK) return status;
    ig_tensor_desc desc = {.type = array.type, .rank = array.rank, .bytes = array.data};
    if (array.rank <= IG_MAX_RANK) memcpy(desc.shape, array.shape, array.rank * sizeof *desc.shape);
    if (array.rank > IG_MAX_RANK)
        status = igi_error_set(error, IG_STATUS_UNSUPPORTED, "%s: %u dimensions are more than the %d a tensor has",
                               path, array.rank, IG_MAX_RANK);
    else if (!igi_tensor_type_in(array.type, IGI_ANY_TYPE))
        status = igi_error_set(error, IG_STATUS_UNSUPPORTED, "%s: tensors cannot have type %s", path,
                               ig_type_name(array.type));
    else if ((status = ig_tensor_create(device, &desc, tensor)) != IG_STATUS_OK)
        igi_error_set(error, status, "%s: %s", path, ig_status_text(status));
    igi_npy_free(&array);
    return status;
}

ig_status ig_tensor_save(const ig_tensor *tensor, const char *path, ig_error *error) {
    if (!tensor || !path) return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "tensor and path must not be NULL");
    const igi_tensor_view *view = &tensor->view;
    ig_status status = igi_tensor_storage_wait_to_read(view->storage);
    if (status != IG_STATUS_OK)
        return igi_error_set(error, status, "%s: the tensor's contents could not be computed: %s", path,
                             ig_status_text(status));
    char *packed = tensor->contiguous ? NULL : igi_alloc(tensor->count * ig_type_size(view->type));
    if (!tensor->contiguous && !packed) return igi_error_no_memory(error);
    if (packed) igi_tensor_copy_to_memory(view, packed);
    const char *elements = packed ? packed : igi_tensor_view_data(view);
    status = igi_npy_save(path, view->type, view->rank, view->shape, elements, error);
    free(packed);
    return status;
}
