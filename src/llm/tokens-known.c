// SPDX-License-Identifier: Apache-2.0
// Pieces of a text recur: the tokens of recent pieces are copied. Each piece has one slot, in which it replaces the
// piece that was there.
#include <string.h>
#include <xxhash.h>

#include "llm/tokenizer.h"

enum { KNOWN_PIECES = 8192, LONGEST_KNOWN = 32, WORTH_KNOWING = 4096 };

bool igi_llm_known_begin(igi_llm_encoder *encoder, size_t length) {
    encoder->uses_known = length >= WORTH_KNOWING;
    if (!encoder->uses_known) return true;
    if (encoder->known) return memset(encoder->known, 0, KNOWN_PIECES * sizeof *encoder->known), true;
    encoder->known = igi_calloc(KNOWN_PIECES, sizeof *encoder->known);
    if (!encoder->known) encoder->status = IG_STATUS_OUT_OF_MEMORY;
    return encoder->known;
}

static bool push_again(igi_llm_encoder *encoder, const igi_llm_known_piece *known) {
    for (uint32_t i = 0; i < known->count; i++)
        if (!igi_llm_encoder_push(encoder, encoder->tokens[known->begin + i])) return false;
    return true;
}

bool igi_llm_encode_known(igi_llm_encoder *encoder, const char *piece, size_t length, igi_llm_encode_piece *encode) {
    if (!encoder->uses_known || length > LONGEST_KNOWN) return encode(encoder, piece, length);
    igi_llm_known_piece *known = &encoder->known[XXH3_64bits(piece, length) % KNOWN_PIECES];
    if (known->length == length && !memcmp(known->piece, piece, length)) return push_again(encoder, known);
    size_t begin = encoder->count;
    if (!encode(encoder, piece, length)) return false;
    *known = (igi_llm_known_piece){piece, begin, (uint32_t)length, (uint32_t)(encoder->count - begin)};
    return true;
}
