// SPDX-License-Identifier: Apache-2.0
// Elements of structs and small vectors, from the order in memory to one vector for each element, and back.
#include "simt/transpose.h"

#include <assert.h>
#include <string.h>

#include "core/memory.h"
#include "simt/ir.h"
#include "simt/target.h"

enum { WORD_BITS = 32, WORD_LANES = 16 };  // of a register

// ---- By powers of two ----

static LLVMValueRef pick(igi_simt_widener *w, LLVMValueRef a, LLVMValueRef b, uint32_t first, uint32_t step) {
    uint32_t from[IGI_MAX_WIDTH];
    for (uint32_t i = 0; i < w->width; i++) from[i] = first + step * i;
    return LLVMBuildShuffleVector(w->builder, a, b, igi_simt_shuffle_mask(w, from, w->width), "");
}

static void unzip(igi_simt_widener *w, LLVMValueRef *pieces, uint32_t size, LLVMValueRef *elements, uint32_t step) {
    if (size == 1) {
        elements[0] = pieces[0];
        return;
    }
    LLVMValueRef even[IGI_SIMT_MOST_PIECES] = {0}, odd[IGI_SIMT_MOST_PIECES] = {0};
    for (size_t i = 0; i < size / 2; i++) {
        even[i] = pick(w, pieces[2 * i], pieces[2 * i + 1], 0, 2);
        odd[i] = pick(w, pieces[2 * i], pieces[2 * i + 1], 1, 2);
    }
    unzip(w, even, size / 2, elements, step * 2);
    unzip(w, odd, size / 2, elements + step, step * 2);
}

static LLVMValueRef interleave(igi_simt_widener *w, LLVMValueRef a, LLVMValueRef b, uint32_t half) {
    uint32_t from[IGI_MAX_WIDTH], width = w->width;
    for (uint32_t i = 0; i < width; i++) from[i] = half * width / 2 + i / 2 + (i % 2 ? width : 0);
    return LLVMBuildShuffleVector(w->builder, a, b, igi_simt_shuffle_mask(w, from, width), "");
}

static void zip(igi_simt_widener *w, LLVMValueRef *elements, uint32_t step, uint32_t size, LLVMValueRef *pieces) {
    if (size == 1) {
        pieces[0] = elements[0];
        return;
    }
    LLVMValueRef even[IGI_SIMT_MOST_PIECES] = {0}, odd[IGI_SIMT_MOST_PIECES] = {0};
    zip(w, elements, step * 2, size / 2, even);
    zip(w, elements + step, step * 2, size / 2, odd);
    for (size_t i = 0; i < size / 2; i++) {
        pieces[2 * i] = interleave(w, even[i], odd[i], 0);
        pieces[2 * i + 1] = interleave(w, even[i], odd[i], 1);
    }
}

// ---- Any number of elements ----

// A vector whose element i is element from[i] of the concatenation of all parts.
static LLVMValueRef pick_any(igi_simt_widener *w, LLVMValueRef *parts, uint32_t count, const uint32_t *from) {
    LLVMValueRef picked = NULL;
    for (uint32_t p = 0; p < count; p++) {
        uint32_t indices[IGI_MAX_WIDTH], width = w->width;
        bool any = false;
        for (uint32_t i = 0; i < width; i++) {
            bool here = from[i] / width == p;
            indices[i] = here ? from[i] % width + (picked ? width : 0) : i;
            any |= here;
        }
        LLVMValueRef rest = picked ? parts[p] : LLVMGetPoison(LLVMTypeOf(parts[p]));
        LLVMValueRef before = picked ? picked : parts[p];
        if (any)
            picked = LLVMBuildShuffleVector(w->builder, before, rest, igi_simt_shuffle_mask(w, indices, width), "");
    }
    return picked;
}

// Element `k` of all lanes, of which each has `size`.
static LLVMValueRef pick_element(igi_simt_widener *w, LLVMValueRef *pieces, uint32_t size, uint32_t k) {
    uint32_t from[IGI_MAX_WIDTH];
    for (uint32_t i = 0; i < w->width; i++) from[i] = size * i + k;
    return pick_any(w, pieces, size, from);
}

// Piece `p`, merged from the lanes' elements.
static LLVMValueRef merge_piece(igi_simt_widener *w, LLVMValueRef *elements, uint32_t size, uint32_t p) {
    uint32_t from[IGI_MAX_WIDTH];
    for (uint32_t i = 0; i < w->width; i++) {
        uint32_t at = p * w->width + i;
        from[i] = at % size * w->width + at / size;
    }
    return pick_any(w, elements, size, from);
}

// ---- Elements smaller than words ----

// <a..., b...>
static LLVMValueRef concatenate(igi_simt_widener *w, LLVMValueRef a, LLVMValueRef b) {
    uint32_t from[2 * IGI_MAX_WIDTH], count = 2 * LLVMGetVectorSize(LLVMTypeOf(a));
    for (uint32_t i = 0; i < count; i++) from[i] = i;
    return LLVMBuildShuffleVector(w->builder, a, b, igi_simt_shuffle_mask(w, from, count), "");
}

LLVMValueRef igi_simt_concatenate(igi_simt_widener *w, LLVMValueRef *parts, uint32_t count) {
    if (count == 1) return parts[0];
    return concatenate(w, igi_simt_concatenate(w, parts, count / 2),
                       igi_simt_concatenate(w, parts + count / 2, count / 2));
}

static unsigned bits_of(const igi_simt_widener *w, LLVMTypeRef vector) {
    return 8 * (unsigned)LLVMABISizeOfType(w->s.layout, LLVMGetElementType(vector));
}

// ---- Within sixteen bytes ----

// A register of words, and which word of memory is where.
typedef struct word_register {
    LLVMValueRef value;
    uint32_t at[WORD_LANES];
} word_register;

static uint32_t words_of_register(const igi_simt_widener *w) {
    return w->mask_registers ? WORD_LANES : WORD_LANES / 2;
}

static word_register shuffle_words(igi_simt_widener *w, const word_register *a, const word_register *b,
                                   const uint32_t *from) {
    uint32_t count = words_of_register(w);
    word_register made = {.value = igi_simt_shuffle(w, a->value, b->value, from, count)};
    for (uint32_t i = 0; i < count; i++) made.at[i] = from[i] < count ? a->at[from[i]] : b->at[from[i] - count];
    return made;
}

// The even or odd words of each sixteen bytes of both.
static word_register pick_within(igi_simt_widener *w, const word_register *a, const word_register *b, uint32_t first) {
    uint32_t from[WORD_LANES], count = words_of_register(w);
    for (uint32_t i = 0; i < count; i++) from[i] = i - i % 4 + i % 2 * 2 + first + (i % 4 < 2 ? 0 : count);
    return shuffle_words(w, a, b, from);
}

// Those of one half of the elements, in the order of memory.
static word_register pick_across(igi_simt_widener *w, const word_register *a, const word_register *b, uint32_t element,
                                 uint32_t step) {
    uint32_t from[WORD_LANES], found = 0, lowest = 0, count = words_of_register(w);
    while (found < count) {
        uint32_t next = UINT32_MAX, place = 0;
        for (uint32_t i = 0; i < 2 * count; i++) {
            uint32_t at = i < count ? a->at[i] : b->at[i - count];
            if (at >= lowest && at < next && at % step == element) next = at, place = i;
        }
        assert(next != UINT32_MAX);
        from[found++] = place;
        lowest = next + 1;
    }
    return shuffle_words(w, a, b, from);
}

// Shuffles within sixteen bytes are the cheaper ones; the last step, across registers, leaves the lanes in order.
static void unzip_registers(igi_simt_widener *w, const word_register *from, uint32_t size, uint32_t element,
                            uint32_t step, LLVMValueRef *elements) {
    if (size == 1) {
        elements[element] = from[0].value;
        return;
    }
    word_register half[IGI_SIMT_MOST_PIECES / 2];
    for (uint32_t odd = 0; odd < 2; odd++) {
        for (size_t i = 0; i < size / 2; i++)
            half[i] = size > 2 && step < 4
                          ? pick_within(w, &from[2 * i], &from[2 * i + 1], odd)
                          : pick_across(w, &from[2 * i], &from[2 * i + 1], element + odd * step, 2 * step);
        unzip_registers(w, half, size / 2, element + odd * step, 2 * step, elements);
    }
}

// Without AVX-512, the last step must be one of sixteen bytes too: others take more than one instruction.
static bool are_registers_of_words(const igi_simt_widener *w, LLVMTypeRef type, uint32_t size) {
    bool wide = w->mask_registers || strstr(igi_simt_features(), "+avx2");
    return wide && w->width % words_of_register(w) == 0 && size >= (w->mask_registers ? 4 : 8) &&
           bits_of(w, type) == WORD_BITS;
}

static void unzip_lanes(igi_simt_widener *w, LLVMValueRef *pieces, uint32_t size, LLVMValueRef *elements) {
    LLVMValueRef parts[IGI_SIMT_MOST_PIECES][IGI_MAX_WIDTH / WORD_LANES * 2];
    uint32_t lanes = words_of_register(w), blocks = w->width / lanes;
    for (uint32_t block = 0; block < blocks; block++) {
        word_register memory[IGI_SIMT_MOST_PIECES];
        LLVMValueRef sorted[IGI_SIMT_MOST_PIECES];
        for (uint32_t i = 0; i < size; i++) {
            uint32_t first = (block * size + i) * lanes;
            memory[i].value = igi_simt_part(w, pieces[first / w->width], first % w->width, lanes);
            for (uint32_t k = 0; k < lanes; k++) memory[i].at[k] = i * lanes + k;
        }
        unzip_registers(w, memory, size, 0, 1, sorted);
        for (uint32_t i = 0; i < size; i++) parts[i][block] = sorted[i];
    }
    for (uint32_t i = 0; i < size; i++) elements[i] = igi_simt_concatenate(w, parts[i], blocks);
}

static void unzip_evenly(igi_simt_widener *w, LLVMValueRef *pieces, uint32_t size, LLVMValueRef *elements) {
    if (are_registers_of_words(w, LLVMTypeOf(pieces[0]), size))
        unzip_lanes(w, pieces, size, elements);
    else
        unzip(w, pieces, size, elements, 1);
}

// Halves become floats once they are packed. For the upper halves of words that is one shuffle instead of a shift and a
// truncation; of the lower ones LLVM makes truncations. Integers stay in their words, where masks and shifts find them.
static bool is_packed_by_shuffle(const igi_simt_widener *w, LLVMTypeRef word, uint32_t part, LLVMTypeRef type) {
    return part && w->mask_registers && LLVMGetTypeKind(LLVMGetElementType(type)) == LLVMHalfTypeKind &&
           bits_of(w, word) == WORD_BITS && LLVMGetVectorSize(word) >= WORD_LANES;
}

static LLVMValueRef packed_halves(igi_simt_widener *w, LLVMValueRef word, uint32_t part) {
    uint32_t from[IGI_MAX_WIDTH], count = LLVMGetVectorSize(LLVMTypeOf(word));
    LLVMTypeRef i16 = LLVMInt16TypeInContext(w->m->context);
    LLVMValueRef halves = LLVMBuildBitCast(w->builder, word, LLVMVectorType(i16, 2 * count), "");
    for (uint32_t i = 0; i < count; i++) from[i] = 2 * i + part;
    return LLVMBuildShuffleVector(w->builder, halves, LLVMGetPoison(LLVMTypeOf(halves)),
                                  igi_simt_shuffle_mask(w, from, count), "");
}

LLVMValueRef igi_simt_part_of_word(igi_simt_widener *w, LLVMValueRef word, uint32_t part, LLVMTypeRef type) {
    unsigned bits = bits_of(w, type);
    assert(part < bits_of(w, LLVMTypeOf(word)) / bits);
    if (bits == bits_of(w, LLVMTypeOf(word))) return LLVMBuildBitCast(w->builder, word, type, "");
    if (is_packed_by_shuffle(w, LLVMTypeOf(word), part, type))
        return LLVMBuildBitCast(w->builder, packed_halves(w, word, part), type, "");
    LLVMValueRef distance = igi_simt_splat(LLVMTypeOf(word), (uint64_t)part * bits, false);
    LLVMTypeRef narrow = igi_simt_integers_like(LLVMTypeOf(word), bits);
    LLVMValueRef value = LLVMBuildTrunc(w->builder, LLVMBuildLShr(w->builder, word, distance, ""), narrow, "");
    return LLVMBuildBitCast(w->builder, value, type, "");
}

// How many of a lane's elements one word holds.
static uint32_t parts_of_word(const igi_simt_widener *w, LLVMTypeRef type, uint32_t size) {
    unsigned bits = bits_of(w, type);
    uint32_t parts = 1;
    if (!igi_is_power_of_two(size)) return parts;
    while (2 * parts <= size && 2 * parts * bits <= WORD_BITS && w->width % (2 * parts) == 0) parts *= 2;
    return parts;
}

// Shuffles of words are cheap on every machine. Those of bytes and halves are not, and LLVM takes long to choose them.
static void unzip_words(igi_simt_widener *w, LLVMValueRef *pieces, uint32_t size, uint32_t parts,
                        LLVMValueRef *elements) {
    LLVMTypeRef type = LLVMTypeOf(pieces[0]);
    LLVMTypeRef word = LLVMIntTypeInContext(w->m->context, parts * bits_of(w, type));
    LLVMValueRef cast[IGI_SIMT_MOST_PIECES], words[IGI_SIMT_MOST_PIECES], sorted[IGI_SIMT_MOST_PIECES];
    for (uint32_t i = 0; i < size; i++)
        cast[i] = LLVMBuildBitCast(w->builder, pieces[i], LLVMVectorType(word, w->width / parts), "");
    for (uint32_t i = 0; i < size / parts; i++) words[i] = igi_simt_concatenate(w, cast + (size_t)i * parts, parts);
    unzip_evenly(w, words, size / parts, sorted);
    for (uint32_t i = 0; i < size; i++) elements[i] = igi_simt_part_of_word(w, sorted[i / parts], i % parts, type);
}

// ---- The whole ----

void igi_simt_sort_by_element(igi_simt_widener *w, LLVMValueRef *pieces, uint32_t size, LLVMValueRef *elements) {
    assert(size && size <= IGI_SIMT_MOST_PIECES);
    uint32_t parts = parts_of_word(w, LLVMTypeOf(pieces[0]), size);
    if (!igi_is_power_of_two(size))
        for (uint32_t k = 0; k < size; k++) elements[k] = pick_element(w, pieces, size, k);
    else if (parts > 1)
        unzip_words(w, pieces, size, parts, elements);
    else
        unzip_evenly(w, pieces, size, elements);
}

void igi_simt_sort_by_lane(igi_simt_widener *w, LLVMValueRef *elements, uint32_t size, LLVMValueRef *pieces) {
    assert(size && size <= IGI_SIMT_MOST_PIECES);
    if (!igi_is_power_of_two(size))
        for (uint32_t p = 0; p < size; p++) pieces[p] = merge_piece(w, elements, size, p);
    else
        zip(w, elements, 1, size, pieces);
}
