// SPDX-License-Identifier: Apache-2.0
// Loading and saving .npy files.
#include "core/npy.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/memory.h"
#include "core/npy-header.h"
#include "core/status-internal.h"

void igi_npy_free(igi_npy *array) {
    free(array->data);
    *array = (igi_npy){0};
}

bool igi_npy_array_bytes(ig_type type, uint32_t rank, const uint64_t *shape, uint64_t *bytes) {
    uint64_t product = ig_type_size(type);
    bool empty = false, fits = true;
    for (uint32_t i = 0; i < rank; i++) {
        if (shape[i] == 0) empty = true;
        if (!igi_mul(product, shape[i], &product)) fits = false;
    }
    *bytes = empty ? 0 : product;
    return (fits || empty) && *bytes <= SIZE_MAX / 2;
}

// ---- Loading ----

typedef struct reader {
    FILE *file;
    const char *path;
    ig_error *error;
    uint64_t position;
} reader;

static ig_status bad_format(reader *r, const char *what) {
    return igi_error_set(r->error, IG_STATUS_BAD_FORMAT, "%s: %s", r->path, what);
}

static ig_status read_bytes(reader *r, void *bytes, size_t length) {
    size_t got = fread(bytes, 1, length, r->file);
    r->position += got;
    if (got == length) return IG_STATUS_OK;
    if (ferror(r->file)) return igi_error_set(r->error, IG_STATUS_IO, "%s: %s", r->path, strerror(errno));
    return igi_error_set(r->error, IG_STATUS_BAD_FORMAT, "%s: the file is cut off after %" PRIu64 " bytes", r->path,
                         r->position);
}

static ig_status read_header_length(reader *r, uint32_t *length) {
    unsigned char start[8], size[4] = {0};
    ig_status status = read_bytes(r, start, sizeof start);
    if (status != IG_STATUS_OK && status != IG_STATUS_BAD_FORMAT) return status;
    if (r->position < 6 || memcmp(start, "\x93NUMPY", 6) != 0) return bad_format(r, "this is not a .npy file");
    if (status != IG_STATUS_OK) return status;
    if (start[6] < 1 || start[6] > 3 || start[7] != 0)
        return igi_error_set(r->error, IG_STATUS_UNSUPPORTED, "%s: .npy format version %u.%u is not supported", r->path,
                             start[6], start[7]);
    status = read_bytes(r, size, start[6] == 1 ? 2 : 4);
    if (status != IG_STATUS_OK) return status;
    *length = size[0] | (uint32_t)size[1] << 8 | (uint32_t)size[2] << 16 | (uint32_t)size[3] << 24;
    enum { MAX_HEADER = 1 << 20 };
    return *length <= MAX_HEADER ? IG_STATUS_OK : bad_format(r, "the .npy header claims more than a megabyte");
}

static ig_status read_header(reader *r, igi_npy_header *header) {
    uint32_t length = 0;
    ig_status status = read_header_length(r, &length);
    if (status != IG_STATUS_OK) return status;
    char *text = igi_alloc(length);
    if (!text) return igi_error_no_memory(r->error);
    status = read_bytes(r, text, length);
    if (status == IG_STATUS_OK) status = igi_npy_header_parse(r->path, text, length, header, r->error);
    free(text);
    return status;
}

// Refuses a file whose size contradicts its header before any memory is allocated.
static ig_status check_file_size(reader *r, uint64_t bytes, bool *known) {
    struct stat info;
    *known = fstat(fileno(r->file), &info) == 0 && S_ISREG(info.st_mode);
    if (!*known) return IG_STATUS_OK;
    uint64_t present = (uint64_t)info.st_size > r->position ? (uint64_t)info.st_size - r->position : 0;
    if (present == bytes) return IG_STATUS_OK;
    return igi_error_set(r->error, IG_STATUS_BAD_FORMAT,
                         "%s: the header promises %" PRIu64 " bytes of data but the file has %" PRIu64, r->path, bytes,
                         present);
}

// The header of a pipe may claim any size, so memory grows with what actually arrives.
static ig_status read_data(reader *r, uint64_t bytes, void **data) {
    bool known;
    ig_status status = check_file_size(r, bytes, &known);
    if (status != IG_STATUS_OK) return status;
    enum { FIRST_CHUNK = 1 << 20 };
    uint64_t capacity = known || bytes < FIRST_CHUNK ? bytes : FIRST_CHUNK, used = 0;
    char *memory = NULL;
    do {
        char *grown = igi_realloc(memory, capacity);
        if (!grown) {
            free(memory);
            return igi_error_no_memory(r->error);
        }
        memory = grown;
        status = read_bytes(r, memory + used, capacity - used);
        used = capacity;
        capacity = bytes - capacity < capacity ? bytes : capacity * 2;
    } while (status == IG_STATUS_OK && used < bytes);
    if (status == IG_STATUS_OK) {
        *data = memory;
    } else {
        free(memory);
    }
    return status;
}

// The same elements with the last index running fastest instead of the first.
static void *reorder(const char *source, const igi_npy *array) {
    char *target = igi_alloc(array->bytes);
    if (!target) return NULL;
    size_t size = ig_type_size(array->type);
    uint64_t index[IGI_NPY_MAX_RANK] = {0}, stride[IGI_NPY_MAX_RANK], offset = 0, step = size;
    for (uint32_t i = 0; i < array->rank; i++) {
        stride[i] = step;
        step *= array->shape[i];
    }
    for (uint64_t at = 0; at < array->bytes; at += size) {
        memcpy(target + at, source + offset, size);
        for (uint32_t i = array->rank; i-- > 0;) {
            offset += stride[i];
            if (++index[i] < array->shape[i]) break;
            offset -= stride[i] * array->shape[i];
            index[i] = 0;
        }
    }
    return target;
}

static ig_status read_array(reader *r, igi_npy *array) {
    igi_npy_header header = {0};
    ig_status status = read_header(r, &header);
    if (status != IG_STATUS_OK) return status;
    array->type = header.type;
    array->rank = header.rank;
    memcpy(array->shape, header.shape, sizeof array->shape);
    if (!igi_npy_array_bytes(header.type, header.rank, header.shape, &array->bytes))
        return igi_error_set(r->error, IG_STATUS_OVERFLOW, "%s: the shape has more elements than memory can hold",
                             r->path);
    status = read_data(r, array->bytes, &array->data);
    if (status != IG_STATUS_OK || !header.fortran_order || header.rank < 2) return status;
    void *reordered = reorder(array->data, array);
    free(array->data);
    array->data = reordered;
    return reordered ? IG_STATUS_OK : igi_error_no_memory(r->error);
}

ig_status igi_npy_load(const char *path, igi_npy *array, ig_error *error) {
    reader r = {.file = fopen(path, "rbe"), .path = path, .error = error};
    if (!r.file) {
        ig_status status = errno == ENOENT || errno == ENOTDIR ? IG_STATUS_NOT_FOUND : IG_STATUS_IO;
        return igi_error_set(error, status, "%s: %s", path, strerror(errno));
    }
    igi_npy loaded = {0};
    ig_status status = read_array(&r, &loaded);
    fclose(r.file);
    if (status == IG_STATUS_OK) {
        *array = loaded;
    } else {
        igi_npy_free(&loaded);
    }
    return status;
}

// ---- Saving ----

typedef struct writer {
    char preamble[IGI_NPY_PREAMBLE_MAX];
    size_t preamble_length;
    const void *data;
    size_t bytes;
} writer;

// Returns false with errno set. Takes over the descriptor.
static bool write_and_close(const writer *w, int descriptor) {
    FILE *file = fdopen(descriptor, "wb");
    if (!file) {
        close(descriptor);
        return false;
    }
    bool written = fwrite(w->preamble, 1, w->preamble_length, file) == w->preamble_length &&
                   (w->bytes == 0 || fwrite(w->data, 1, w->bytes, file) == w->bytes);
    int reason = errno;
    bool closed = fclose(file) == 0;
    if (!written) errno = reason;
    return written && closed;
}

// Pipes, terminals and /dev/null are written to; only regular files are replaced.
static bool write_in_place(const writer *w, const char *path) {
    int descriptor = open(path, O_WRONLY | O_CLOEXEC);
    return descriptor >= 0 && write_and_close(w, descriptor);
}

static bool write_by_rename(const writer *w, const char *path) {
    char *resolved = realpath(path, NULL);  // so that a symbolic link stays one
    const char *target = resolved ? resolved : path;
    static atomic_uint serial;
    char *temporary = igi_format("%s.%ld-%u.tmp", target, (long)getpid(), atomic_fetch_add(&serial, 1));
    if (!temporary) errno = ENOMEM;
    int descriptor = temporary ? open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
    bool written = descriptor >= 0 && write_and_close(w, descriptor) && rename(temporary, target) == 0;
    int reason = errno;
    if (descriptor >= 0 && !written) unlink(temporary);
    free(temporary);
    free(resolved);
    errno = reason;
    return written;
}

ig_status igi_npy_save(const char *path, ig_type type, uint32_t rank, const uint64_t *shape, const void *data,
                       ig_error *error) {
    if ((unsigned)type >= IG_TYPE_COUNT || rank > IGI_NPY_MAX_RANK)
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "%s: no such type, or more than %d dimensions", path,
                             IGI_NPY_MAX_RANK);
    uint64_t bytes;
    if (!igi_npy_array_bytes(type, rank, shape, &bytes))
        return igi_error_set(error, IG_STATUS_OVERFLOW, "%s: the shape has more elements than memory can hold", path);
    igi_npy_header header = {.type = type, .rank = rank};
    if (rank) memcpy(header.shape, shape, rank * sizeof *shape);
    writer w = {.data = data, .bytes = (size_t)bytes};
    w.preamble_length = igi_npy_header_format(&header, w.preamble);
    struct stat info;
    bool in_place = stat(path, &info) == 0 && !S_ISREG(info.st_mode);
    bool written = in_place ? write_in_place(&w, path) : write_by_rename(&w, path);
    if (written) return IG_STATUS_OK;
    return igi_error_set(error, IG_STATUS_IO, "%s: cannot be written: %s", path, strerror(errno));
}
