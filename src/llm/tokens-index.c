// SPDX-License-Identifier: Apache-2.0
// A hash table from texts to tokens, which stores no texts itself.
#include <string.h>
#include <xxhash.h>

#include "llm/tokenizer.h"

static uint64_t power_of_two_above(uint64_t count) {
    uint64_t size = 16;
    while (size < count) size *= 2;
    return size;
}

bool igi_llm_text_index_make(igi_llm_text_index *index, uint32_t count, const ig_text *texts, size_t stride) {
    uint64_t size = power_of_two_above((uint64_t)count * 2);
    *index = (igi_llm_text_index){.mask = size - 1, .texts = (const char *)texts, .stride = stride};
    index->slots = igi_alloc(size * sizeof *index->slots);
    if (!index->slots) return false;
    for (uint64_t i = 0; i < size; i++) index->slots[i].token = -1;
    return true;
}

void igi_llm_text_index_free(igi_llm_text_index *index) {
    free(index->slots);
    *index = (igi_llm_text_index){0};
}

static ig_text text_of(const igi_llm_text_index *index, int32_t token) {
    return *(const ig_text *)(index->texts + (size_t)token * index->stride);
}

// The slot of the text, or the free slot for it.
static igi_llm_text_slot *slot_of(const igi_llm_text_index *index, uint32_t hash, const char *text, size_t length) {
    for (uint64_t at = hash;; at++) {
        igi_llm_text_slot *slot = &index->slots[at & index->mask];
        if (slot->token < 0) return slot;
        if (slot->hash != hash) continue;
        ig_text there = text_of(index, slot->token);
        if (there.length == length && !memcmp(there.data, text, length)) return slot;
    }
}

int32_t igi_llm_text_index_find(const igi_llm_text_index *index, const char *text, size_t length) {
    return length ? slot_of(index, (uint32_t)XXH3_64bits(text, length), text, length)->token : -1;
}

int32_t igi_llm_text_index_add(igi_llm_text_index *index, int32_t token) {
    ig_text text = text_of(index, token);
    if (!text.length) return -1;
    uint32_t hash = (uint32_t)XXH3_64bits(text.data, text.length);
    igi_llm_text_slot *slot = slot_of(index, hash, text.data, text.length);
    if (slot->token >= 0) return slot->token;
    *slot = (igi_llm_text_slot){hash, token};
    return -1;
}
