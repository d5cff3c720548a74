// SPDX-License-Identifier: Apache-2.0
// GGUF files: opening, and looking things up.
#include "llm/gguf.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/status-internal.h"

// ---- Opening ----

static void free_file(ig_gguf *file) {
    for (uint64_t i = 0; i < file->pair_count; i++) {
        const ig_gguf_value *value = &file->pairs[i].value;
        if (value->kind == IG_GGUF_ARRAY && value->array.kind == IG_GGUF_STRING) free((void *)value->array.data);
    }
    free(file->keys.sorted);
    free(file->tensors.sorted);
    free(file->pairs);
    free(file->entries);
    free(file->path);
    if (file->size) munmap((void *)file->bytes, file->size);
    free(file);
}

static ig_status system_error(ig_error *error, const char *path) {
    ig_status status = errno == ENOENT || errno == ENOTDIR ? IG_STATUS_NOT_FOUND : IG_STATUS_IO;
    return igi_error_set(error, status, "%s: %s", path, strerror(errno));
}

static ig_status map_descriptor(ig_gguf *file, int descriptor, ig_error *error) {
    struct stat info;
    if (fstat(descriptor, &info) != 0) return system_error(error, file->path);
    if (!S_ISREG(info.st_mode)) return igi_error_set(error, IG_STATUS_IO, "%s: not a regular file", file->path);
    if (info.st_size == 0) return IG_STATUS_OK;
    void *bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (bytes == MAP_FAILED) return system_error(error, file->path);
    file->bytes = bytes;
    file->size = (uint64_t)info.st_size;
    return IG_STATUS_OK;
}

static ig_status map_file(ig_gguf *file, ig_error *error) {
    // Otherwise open would block on a pipe without a writer.
    int descriptor = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return system_error(error, file->path);
    ig_status status = map_descriptor(file, descriptor, error);
    close(descriptor);
    return status;
}

ig_status ig_gguf_open(const char *path, ig_gguf **file, ig_error *error) {
    if (!path || !file) return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "path and file must not be NULL");
    ig_gguf *made = igi_calloc(1, sizeof *made);
    if (!made) return igi_error_no_memory(error);
    igi_ref_init(&made->references);
    made->path = igi_strdup(path);
    ig_status status = made->path ? map_file(made, error) : igi_error_no_memory(error);
    if (status == IG_STATUS_OK) status = igi_llm_gguf_read(made, error);
    if (status == IG_STATUS_OK)
        *file = made;
    else
        free_file(made);
    return status;
}

ig_gguf *ig_gguf_retain(ig_gguf *file) {
    if (file) igi_ref_take(&file->references);
    return file;
}

void ig_gguf_release(ig_gguf *file) {
    if (file && igi_ref_drop(&file->references)) free_file(file);
}

// ---- Names ----

static int compare_texts(const ig_text *a, const ig_text *b) {
    uint64_t common = a->length < b->length ? a->length : b->length;
    int order = common ? memcmp(a->data, b->data, common) : 0;
    return order ? order : (a->length > b->length) - (a->length < b->length);
}

static int compare_names(const void *a, const void *b) {
    return compare_texts(*(const ig_text *const *)a, *(const ig_text *const *)b);
}

bool igi_llm_gguf_names_make(igi_llm_gguf_names *names, const void *first, size_t stride, uint64_t count) {
    names->sorted = igi_calloc(count, sizeof *names->sorted);
    if (!names->sorted) return false;
    for (uint64_t i = 0; i < count; i++) names->sorted[i] = (const ig_text *)((const char *)first + i * stride);
    names->count = count;
    qsort(names->sorted, count, sizeof *names->sorted, compare_names);
    return true;
}

const ig_text *igi_llm_gguf_names_twice(const igi_llm_gguf_names *names) {
    for (uint64_t i = 1; i < names->count; i++)
        if (compare_texts(names->sorted[i - 1], names->sorted[i]) == 0) return names->sorted[i];
    return NULL;
}

const ig_text *igi_llm_gguf_names_find(const igi_llm_gguf_names *names, const char *name) {
    const ig_text wanted = {name, strlen(name)}, *key = &wanted;
    const ig_text **found = bsearch(&key, names->sorted, names->count, sizeof *names->sorted, compare_names);
    return found ? *found : NULL;
}

// ---- Values ----

static const uint32_t kind_bytes[IG_GGUF_KIND_COUNT] = {
#define BYTES(id, name, bytes) [IG_GGUF_##id] = (bytes),
    IG_GGUF_KIND_LIST(BYTES)
#undef BYTES
};

uint32_t igi_llm_gguf_kind_bytes(ig_gguf_kind kind) {
    return kind_bytes[kind];
}

static int64_t sign_extend(uint64_t bits, uint32_t bytes) {
    uint32_t unused = 64 - 8 * bytes;
    return (int64_t)(bits << unused) >> unused;
}

ig_gguf_value igi_llm_gguf_scalar(ig_gguf_kind kind, const void *bytes) {
    ig_gguf_value value = {.kind = kind};
    uint64_t bits = 0;
    float single;
    assert(kind < IG_GGUF_KIND_COUNT && kind_bytes[kind] && kind_bytes[kind] <= sizeof bits);
    memcpy(&bits, bytes, kind_bytes[kind]);
    switch (kind) {
        case IG_GGUF_I8:
        case IG_GGUF_I16:
        case IG_GGUF_I32:
        case IG_GGUF_I64: value.i = sign_extend(bits, kind_bytes[kind]); break;
        case IG_GGUF_F32:
            memcpy(&single, bytes, sizeof single);
            value.f = (double)single;
            break;
        case IG_GGUF_F64: memcpy(&value.f, bytes, sizeof value.f); break;
        case IG_GGUF_BOOL: value.b = bits != 0; break;
        default: value.u = bits; break;
    }
    return value;
}

uint64_t ig_gguf_value_count(const ig_gguf *file) {
    return file->pair_count;
}

ig_text ig_gguf_key(const ig_gguf *file, uint64_t index) {
    return index < file->pair_count ? file->pairs[index].key : (ig_text){"", 0};
}

ig_status ig_gguf_find(const ig_gguf *file, const char *key, ig_gguf_value *value) {
    if (!file || !key || !value)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "gguf_find: file, key and value must not be NULL");
    const ig_text *name = igi_llm_gguf_names_find(&file->keys, key);
    if (!name) return igi_fail(IG_STATUS_NOT_FOUND, "gguf_find: the file has no key '%.80s'", key);
    *value = ((const igi_llm_gguf_pair *)name)->value;
    return IG_STATUS_OK;
}

ig_status ig_gguf_element(const ig_gguf_value *array, uint64_t index, ig_gguf_value *element) {
    if (!array || !element || array->kind != IG_GGUF_ARRAY)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "gguf_element: the value is not an array, or element is NULL");
    if (index >= array->array.count)
        return igi_fail(IG_STATUS_OUT_OF_RANGE, "gguf_element: the array has %llu elements, none at %llu",
                        (unsigned long long)array->array.count, (unsigned long long)index);
    ig_gguf_kind kind = array->array.kind;
    if (kind == IG_GGUF_STRING)
        *element = (ig_gguf_value){.kind = kind, .text = ((const ig_text *)array->array.data)[index]};
    else
        *element = igi_llm_gguf_scalar(kind, (const char *)array->array.data + index * kind_bytes[kind]);
    return IG_STATUS_OK;
}

// ---- Tensors ----

uint64_t ig_gguf_tensor_count(const ig_gguf *file) {
    return file->entry_count;
}

ig_status ig_gguf_tensor_at(const ig_gguf *file, uint64_t index, ig_gguf_tensor *tensor) {
    if (!file || !tensor)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "gguf_tensor_at: file and tensor must not be NULL");
    if (index >= file->entry_count)
        return igi_fail(IG_STATUS_OUT_OF_RANGE, "gguf_tensor_at: the file has %llu tensors, none at %llu",
                        (unsigned long long)file->entry_count, (unsigned long long)index);
    *tensor = file->entries[index].tensor;
    return IG_STATUS_OK;
}

ig_status ig_gguf_find_tensor(const ig_gguf *file, const char *name, ig_gguf_tensor *tensor) {
    if (!file || !name || !tensor)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "gguf_find_tensor: file, name and tensor must not be NULL");
    const ig_text *found = igi_llm_gguf_names_find(&file->tensors, name);
    if (!found) return igi_fail(IG_STATUS_NOT_FOUND, "gguf_find_tensor: the file has no tensor '%.80s'", name);
    *tensor = ((const igi_llm_gguf_entry *)found)->tensor;
    return IG_STATUS_OK;
}
