// SPDX-License-Identifier: Apache-2.0
// Finding names of tokens in texts. Names are sorted, so those that share a prefix with the text are adjacent, and
// every further byte narrows the range.
#include <string.h>

#include "llm/tokenizer.h"

static bool is_special(const igi_llm_token *token) {
    return token->bytes.length && (token->type == IGI_TOKEN_CONTROL || token->type == IGI_TOKEN_UNKNOWN ||
                                   token->type == IGI_TOKEN_USER_DEFINED);
}

static int by_name(const void *left, const void *right) {
    const ig_text *a = &((const igi_llm_special *)left)->name, *b = &((const igi_llm_special *)right)->name;
    int order = memcmp(a->data, b->data, a->length < b->length ? a->length : b->length);
    return order ? order : (a->length > b->length) - (a->length < b->length);
}

static void index_first_bytes(igi_llm_specials *specials) {
    uint32_t at = 0;
    for (uint32_t byte = 0; byte < 256; byte++) {
        specials->first[byte] = at;
        while (at < specials->count && (uint8_t)specials->items[at].name.data[0] == byte) at++;
    }
    specials->first[256] = at;
}

bool igi_llm_specials_make(igi_llm_specials *specials, const igi_llm_token *tokens, uint32_t count) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) found += is_special(&tokens[i]);
    specials->items = igi_calloc(found, sizeof *specials->items);
    if (!specials->items) return false;
    for (uint32_t i = 0; i < count; i++)
        if (is_special(&tokens[i]))
            specials->items[specials->count++] =
                (igi_llm_special){tokens[i].bytes, (int32_t)i, tokens[i].type == IGI_TOKEN_USER_DEFINED};
    qsort(specials->items, specials->count, sizeof *specials->items, by_name);
    index_first_bytes(specials);
    return true;
}

// The first of [low, high) whose byte at `depth` is at least `byte`.
static uint32_t lower_bound(const igi_llm_specials *specials, uint32_t low, uint32_t high, size_t depth,
                            uint32_t byte) {
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if ((uint8_t)specials->items[middle].name.data[depth] < byte)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const igi_llm_special *longest_at(const igi_llm_specials *specials, const char *text, size_t length, bool all) {
    const igi_llm_special *longest = NULL;
    uint32_t low = specials->first[(uint8_t)*text], high = specials->first[(uint8_t)*text + 1];
    // Names in [low, high) begin with the first `depth` bytes of the text.
    for (size_t depth = 1; low < high; depth++) {
        const igi_llm_special *shortest = &specials->items[low];
        if (shortest->name.length == depth) {
            if (all || shortest->always) longest = shortest;
            low++;
        }
        if (depth == length) break;
        uint32_t byte = (uint8_t)text[depth];
        low = lower_bound(specials, low, high, depth, byte);
        high = lower_bound(specials, low, high, depth, byte + 1);
    }
    return longest;
}

const igi_llm_special *igi_llm_special_find(const igi_llm_specials *specials, const char *text, size_t length, bool all,
                                            size_t *offset) {
    for (size_t at = 0; at < length && specials->count; at++) {
        uint8_t byte = (uint8_t)text[at];
        if (specials->first[byte] == specials->first[byte + 1]) continue;
        const igi_llm_special *found = longest_at(specials, text + at, length - at, all);
        if (!found) continue;
        *offset = at;
        return found;
    }
    return NULL;
}
