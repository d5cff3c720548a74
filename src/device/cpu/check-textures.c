// SPDX-License-Identifier: Apache-2.0
// Checked kernels with textures. Pixels are in buffers, and checked like everything there. What describes a texture is in none:
// kernels get its address as an argument or from an argument buffer, and only read it.
#include <string.h>

#include "device/cpu/check-state.h"
#include "device/texture.h"

static uint64_t address_of(const ig_texture *texture) {
    return (uintptr_t)&texture->shown;
}

// The number of textures described at the address or before. Call with the lock held.
static size_t place_of(const cpu_checker *checker, uint64_t address) {
    size_t low = 0, high = checker->texture_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (address_of(checker->textures[middle]->texture) <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static igi_simt_checked_object read_only(uint64_t begin, uint64_t bytes) {
    return (igi_simt_checked_object){.base = begin, .begin = begin, .readable = bytes, .length = bytes};
}

bool igi_cpu_check_texture(ig_texture *texture) {
    cpu_checker *checker = igi_cpu(texture->device)->checker;
    if (!checker) return true;
    checked_texture *added = igi_calloc(1, sizeof *added);
    if (!added) return false;
    added->texture = texture;
    added->description = read_only(address_of(texture), sizeof texture->shown);
    pthread_mutex_lock(&checker->lock);
    bool ok = igi_grow((void **)&checker->textures, &checker->texture_capacity, checker->texture_count + 1,
                       sizeof *checker->textures);
    if (ok) {
        size_t at = place_of(checker, address_of(texture));
        checked_texture **place = &checker->textures[at];
        memmove(place + 1, place, (checker->texture_count++ - at) * sizeof *place);
        *place = added;
    }
    pthread_mutex_unlock(&checker->lock);
    if (!ok) free(added);
    return ok;
}

void igi_cpu_uncheck_texture(ig_texture *texture) {
    cpu_checker *checker = igi_cpu(texture->device)->checker;
    if (!checker) return;
    pthread_mutex_lock(&checker->lock);
    size_t after = place_of(checker, address_of(texture));
    checked_texture **place = after ? &checker->textures[after - 1] : NULL, *gone = NULL;
    if (place && (*place)->texture == texture) {
        gone = *place;
        memmove(place, place + 1, (checker->texture_count-- - after) * sizeof *place);
    }
    pthread_mutex_unlock(&checker->lock);
    free(gone);
}

static const igi_simt_checked_object *find_texture(cpu_checker *checker, uint64_t address) {
    pthread_mutex_lock(&checker->lock);
    size_t after = place_of(checker, address);
    const checked_texture *before = after ? checker->textures[after - 1] : NULL;
    bool inside = before && address - before->description.begin < before->description.length;
    pthread_mutex_unlock(&checker->lock);
    return inside ? &before->description : NULL;
}

const igi_simt_checked_object *igi_cpu_find_description(cpu_checker *checker, uint64_t address) {
    cpu_checker *of = igi_cpu_checker_of_device(checker);
    bool table = address - of->srgb.begin < of->srgb.length;
    return table ? &of->srgb : find_texture(of, address);
}

void igi_cpu_check_srgb(cpu_checker *checker) {
    checker->srgb = read_only((uintptr_t)igi_device_srgb_table(), IGI_SRGB_TABLE * sizeof(float));
}
