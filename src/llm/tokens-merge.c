// SPDX-License-Identifier: Apache-2.0
// Merging neighbours, the best pair first, until no pair merges: a list of symbols and a heap of pairs, so that a long
// text takes n log n.
#include "llm/tokenizer.h"

static bool no_memory(igi_llm_encoder *encoder) {
    encoder->status = IG_STATUS_OUT_OF_MEMORY;
    return false;
}

bool igi_llm_encoder_push(igi_llm_encoder *encoder, int32_t token) {
    if (encoder->count == encoder->capacity &&
        !igi_grow((void **)&encoder->tokens, &encoder->capacity, encoder->count + 1, sizeof *encoder->tokens))
        return no_memory(encoder);
    encoder->tokens[encoder->count++] = token;
    return true;
}

bool igi_llm_encoder_add_symbol(igi_llm_encoder *encoder, uint32_t begin, uint32_t length, int32_t token) {
    size_t at = encoder->symbol_count;
    if (at == encoder->symbol_capacity &&
        !igi_grow((void **)&encoder->symbols, &encoder->symbol_capacity, at + 1, sizeof *encoder->symbols))
        return no_memory(encoder);
    encoder->symbols[at] = (igi_llm_symbol){begin, length, at ? (uint32_t)at - 1 : IGI_NO_SYMBOL, IGI_NO_SYMBOL, token};
    if (at) encoder->symbols[at - 1].next = (uint32_t)at;
    encoder->symbol_count++;
    return true;
}

// ---- The heap ----

static bool push_pair(igi_llm_encoder *encoder, igi_llm_pair pair) {
    if (encoder->pair_count == encoder->pair_capacity &&
        !igi_grow((void **)&encoder->pairs, &encoder->pair_capacity, encoder->pair_count + 1, sizeof *encoder->pairs))
        return no_memory(encoder);
    igi_llm_pair *pairs = encoder->pairs;
    size_t at = encoder->pair_count++;
    for (size_t parent; at && pairs[parent = (at - 1) / 2].order > pair.order; at = parent) pairs[at] = pairs[parent];
    pairs[at] = pair;
    return true;
}

static igi_llm_pair pop_pair(igi_llm_encoder *encoder) {
    igi_llm_pair *pairs = encoder->pairs, top = pairs[0], moved = pairs[--encoder->pair_count];
    size_t at = 0, count = encoder->pair_count;
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && pairs[child + 1].order < pairs[child].order) child++;
        if (pairs[child].order >= moved.order) break;
        pairs[at] = pairs[child];
    }
    pairs[at] = moved;
    return top;
}

// ---- Merging ----

// Adds the pair of a symbol and its successor, if they merge.
static bool add_pair(igi_llm_encoder *encoder, igi_llm_join *join, uint32_t left) {
    if (left == IGI_NO_SYMBOL || encoder->symbols[left].next == IGI_NO_SYMBOL) return true;
    const igi_llm_symbol *a = &encoder->symbols[left], *b = &encoder->symbols[a->next];
    int32_t token;
    uint32_t order;
    if (!join(encoder, a, b, &token, &order)) return true;
    return push_pair(encoder, (igi_llm_pair){(uint64_t)order << 32 | left, a->length + b->length, token});
}

static bool is_current(const igi_llm_encoder *encoder, igi_llm_pair pair) {
    const igi_llm_symbol *left = &encoder->symbols[(uint32_t)pair.order];
    return left->length && left->next != IGI_NO_SYMBOL &&
           left->length + encoder->symbols[left->next].length == pair.length;
}

static void merge_into(igi_llm_symbol *symbols, uint32_t at, int32_t token) {
    igi_llm_symbol *left = &symbols[at], *right = &symbols[left->next];
    left->length += right->length;
    left->token = token;
    left->next = right->next;
    right->length = 0;
    if (right->next != IGI_NO_SYMBOL) symbols[right->next].previous = at;
}

bool igi_llm_encoder_merge(igi_llm_encoder *encoder, igi_llm_join *join) {
    encoder->pair_count = 0;
    for (size_t i = 0; i + 1 < encoder->symbol_count; i++)
        if (!add_pair(encoder, join, (uint32_t)i)) return false;
    while (encoder->pair_count) {
        igi_llm_pair best = pop_pair(encoder);
        if (!is_current(encoder, best)) continue;
        uint32_t left = (uint32_t)best.order;
        merge_into(encoder->symbols, left, best.token);
        if (!add_pair(encoder, join, encoder->symbols[left].previous) || !add_pair(encoder, join, left)) return false;
    }
    return true;
}
