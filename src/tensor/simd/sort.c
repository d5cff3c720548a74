// SPDX-License-Identifier: Apache-2.0
// Sorting: elements become keys with the same order as unsigned numbers, and are radix-sorted with their positions.
// Each pass is stable, so equal elements keep their order.
#include <string.h>

#include "tensor/lines.h"
#include "tensor/simd/simd.h"

typedef struct item {
    uint32_t key, index;
} item;

typedef struct job {
    const igi_tensor_call *call;
    igi_tensor_lines lines;
    uint64_t length, wanted;
    uint32_t flip;  // all ones to sort downwards
    atomic_int status;
} job;

// ---- Keys ----

// Below zero all bits are inverted, above only the sign: then floats are in the order of their bits.
static uint32_t ordered(uint32_t bits, uint32_t sign) {
    return bits & sign ? ~bits & (sign | (sign - 1)) : bits | sign;
}

static uint32_t float_key(uint32_t bits, uint32_t sign, uint32_t infinity) {
    uint32_t magnitude = bits & (sign - 1);
    if (magnitude > infinity) return sign | (sign - 1);  // NaN, whatever its bits, is largest
    return ordered(magnitude ? bits : 0, sign);          // both zeros are the same
}

static uint32_t key_of(ig_type type, const char *element) {
    uint32_t word = 0;
    memcpy(&word, element, ig_type_size(type));
    switch (type) {
        case IG_TYPE_F32: return float_key(word, 0x80000000u, 0x7f800000u);
        case IG_TYPE_F16: return float_key(word, 0x8000, 0x7c00);
        case IG_TYPE_BF16: return float_key(word, 0x8000, 0x7f80);
        case IG_TYPE_I32: return word ^ 0x80000000u;
        case IG_TYPE_I8: return word ^ 0x80;
        default: return word;  // u8, bool
    }
}

static uint32_t key_bytes(ig_type type) {
    return ig_type_size(type);
}

// ---- Sorting ----

// One pass by the byte at `shift`. Returns false if all have the same byte, so that nothing moved.
static bool pass(const item *from, item *to, uint64_t length, uint32_t shift) {
    uint64_t starts[257] = {0};
    for (uint64_t i = 0; i < length; i++) starts[(from[i].key >> shift & 0xff) + 1]++;
    if (starts[(from[0].key >> shift & 0xff) + 1] == length) return false;
    for (int digit = 0; digit < 256; digit++) starts[digit + 1] += starts[digit];
    for (uint64_t i = 0; i < length; i++) to[starts[from[i].key >> shift & 0xff]++] = from[i];
    return true;
}

// Insertion sort for few elements.
static void insert_all(item *items, uint64_t length) {
    for (uint64_t i = 1; i < length; i++) {
        item moved = items[i];
        uint64_t at = i;
        for (; at > 0 && items[at - 1].key > moved.key; at--) items[at] = items[at - 1];
        items[at] = moved;
    }
}

enum { FEW = 48 };

static const item *sort(item *items, item *spare, uint64_t length, uint32_t bytes) {
    if (length <= FEW) {
        insert_all(items, length);
        return items;
    }
    for (uint32_t byte = 0; byte < bytes; byte++)
        if (pass(items, spare, length, 8 * byte)) {
            item *swap = items;
            items = spare, spare = swap;
        }
    return items;
}

typedef struct worker {
    const job *j;
    item *items;
} worker;

static void sort_line(void *user, const igi_tensor_lines *lines, char *const *starts) {
    const worker *w = user;
    const job *j = w->j;
    ig_type type = j->call->in[0].type;
    uint64_t size = ig_type_size(type);
    for (uint64_t i = 0; i < j->length; i++)
        w->items[i] = (item){key_of(type, starts[0] + (int64_t)i * lines->strides[0]) ^ j->flip, (uint32_t)i};
    const item *sorted = sort(w->items, w->items + j->length, j->length, key_bytes(type));
    for (uint64_t i = 0; i < j->wanted; i++) {
        int64_t index = sorted[i].index;
        memcpy(starts[1] + (int64_t)i * lines->strides[1], starts[0] + index * lines->strides[0], size);
        memcpy(starts[2] + (int64_t)i * lines->strides[2], &index, sizeof index);
    }
}

static void sort_part(void *user, uint64_t begin, uint64_t end) {
    job *j = user;
    igi_tensor_storage *scratch = NULL;
    ig_status status = igi_tensor_storage_make(j->call->runtime->device, 2 * j->length * sizeof(item), &scratch);
    if (status != IG_STATUS_OK) {
        atomic_store(&j->status, status);
        return;
    }
    worker w = {j, (item *)scratch->memory};
    igi_tensor_lines_visit(&j->lines, begin, end, sort_line, &w);
    igi_tensor_storage_release(scratch);
}

bool igi_simd_accepts_sort(const igi_tensor_call *call) {
    return call->in[0].shape[call->p.sort.axis] <= UINT32_MAX;
}

ig_status igi_simd_sort(const igi_tensor_call *call) {
    uint32_t axis = call->p.sort.axis;
    const igi_tensor_view *x = &call->in[0];
    job j = {.call = call, .length = x->shape[axis], .wanted = call->out[0].shape[axis]};
    uint32_t bits = 8 * key_bytes(x->type);
    if (call->p.sort.descending) j.flip = bits == 32 ? UINT32_MAX : (1u << bits) - 1;
    if (!j.length) return IG_STATUS_OK;
    j.lines = igi_tensor_lines_of(3, (const igi_tensor_view *[]){x, &call->out[0], &call->out[1]}, axis);
    igi_tensor_parallel(call->runtime, j.lines.count, j.length < 1024 ? 1024 / j.length + 1 : 1, sort_part, &j);
    return (ig_status)atomic_load(&j.status);
}
