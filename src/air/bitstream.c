// SPDX-License-Identifier: Apache-2.0
// A stream is a sequence of blocks of records, of bits from the lowest of a byte on. How a record is spelled is said by an
// abbreviation, which the block itself or the block of information defines; without one, all its numbers are in chunks
// of six bits. https://llvm.org/docs/BitCodeFormat.html
#include "air/bitstream.h"

#include <string.h>

#include "core/memory.h"

enum {
    END_BLOCK = 0,
    ENTER_SUBBLOCK = 1,
    DEFINE_ABBREVIATION = 2,
    UNABBREVIATED = 3,
    FIRST_ABBREVIATION = 4,

    BLOCK_INFORMATION = 0,
    SET_BLOCK = 1,  // a record of it

    OUTERMOST_WIDTH = 2,
    WIDEST_ABBREVIATION = 32,
    DEEPEST = 32,
    CHUNK = 6,
};

// ---- Bits ----

typedef struct bits {
    const uint8_t *bytes;
    uint64_t at, end;  // in bits
    bool failed;
} bits;

static uint64_t read_fixed(bits *b, unsigned width) {
    if (width > 64 || b->end - b->at < width) {
        b->failed = true;
        return 0;
    }
    uint64_t value = 0;
    if (width <= 56 && b->end - b->at >= 64) {
        memcpy(&value, b->bytes + (b->at >> 3), sizeof value);
        value = value >> (b->at & 7) & ((1ull << width) - 1);
        b->at += width;
        return value;
    }
    for (unsigned i = 0; i < width; i++, b->at++) value |= (uint64_t)(b->bytes[b->at >> 3] >> (b->at & 7) & 1) << i;
    return value;
}

static uint64_t read_chunks(bits *b, unsigned width) {
    uint64_t value = 0, more = 1ull << (width - 1);
    for (unsigned shift = 0; !b->failed; shift += width - 1) {
        uint64_t chunk = read_fixed(b, width);
        if (shift < 64) value |= (chunk & (more - 1)) << shift;
        if (!(chunk & more)) return value;
    }
    return 0;
}

static void align(bits *b) {
    b->at = (b->at + 31) & ~31ull;
    if (b->at > b->end) b->failed = true, b->at = b->end;
}

// ---- Abbreviations ----

typedef enum encoding { LITERAL, FIXED = 1, CHUNKS = 2, ARRAY = 3, LETTER = 4, BLOB = 5 } encoding;

typedef struct part {
    encoding encoding;
    uint64_t value;  // of a literal, or the width
} part;

typedef struct abbreviation {
    uint64_t block;       // that it is for
    unsigned depth;       // of the block that has it; 0: it is for all blocks of its number
    size_t first, count;  // in `parts`
} abbreviation;

typedef struct walker {
    bits b;
    part *parts;
    size_t part_count, part_capacity;
    abbreviation *abbreviations;
    size_t count, capacity;
    unsigned depth;
    igi_air_record record;
    const igi_air_visitor *visitor;
} walker;

static bool read_part(walker *w) {
    part p = {.encoding = LITERAL};
    bool literal = read_fixed(&w->b, 1);
    if (!literal) p.encoding = (encoding)read_fixed(&w->b, 3);
    if (literal)
        p.value = read_chunks(&w->b, 8);
    else if (p.encoding == FIXED || p.encoding == CHUNKS)
        p.value = read_chunks(&w->b, 5);
    bool known = literal || (p.encoding >= FIXED && p.encoding <= BLOB);
    bool narrow = literal || p.value <= (p.encoding == CHUNKS ? 32 : 64);
    if (!literal && p.value == 0 && (p.encoding == FIXED || p.encoding == CHUNKS)) p.encoding = LITERAL;  // always 0
    if (p.encoding == CHUNKS && p.value < 2) narrow = false;
    if (w->b.failed || !known || !narrow ||
        !igi_grow((void **)&w->parts, &w->part_capacity, w->part_count + 1, sizeof p))
        return false;
    w->parts[w->part_count++] = p;
    return true;
}

static bool define(walker *w, uint64_t block, unsigned depth) {
    abbreviation a = {.block = block, .depth = depth, .first = w->part_count, .count = read_chunks(&w->b, 5)};
    for (size_t i = 0; i < a.count; i++)
        if (!read_part(w)) return false;
    if (!a.count || !igi_grow((void **)&w->abbreviations, &w->capacity, w->count + 1, sizeof a)) return false;
    w->abbreviations[w->count++] = a;
    return true;
}

// Those for all blocks of this number come first, in the order in which they were defined.
static const abbreviation *find(const walker *w, uint64_t block, uint64_t index) {
    for (int own = 0; own < 2; own++)
        for (size_t i = 0; i < w->count; i++) {
            const abbreviation *a = &w->abbreviations[i];
            bool fits = own ? a->depth == w->depth : a->depth == 0 && a->block == block;
            if (fits && index-- == 0) return a;
        }
    return NULL;
}

// ---- Records ----

// The first number of a record is its code.
static void add_number(walker *w, bool *has_code, igi_air_number number) {
    igi_air_record *r = &w->record;
    if (!*has_code) {
        r->code = number.value > UINT32_MAX ? UINT32_MAX : (uint32_t)number.value;
        *has_code = true;
        return;
    }
    if (r->count < IGI_AIR_RECORD_NUMBERS) r->numbers[r->count] = number;
    r->count++;
}

static void read_scalar(walker *w, bool *has_code, const part *p) {
    igi_air_number n = {.bit = w->b.at};
    if (p->encoding == LITERAL) {
        n.value = p->value;
    } else if (p->encoding == FIXED || p->encoding == LETTER) {
        n.width = p->encoding == FIXED ? (uint32_t)p->value : 6;
        n.value = read_fixed(&w->b, n.width);
    } else {
        n.width = (uint32_t)p->value;
        n.in_chunks = true;
        n.value = read_chunks(&w->b, n.width);
    }
    add_number(w, has_code, n);
}

static bool read_blob(walker *w) {
    uint64_t length = read_chunks(&w->b, CHUNK);
    align(&w->b);
    if (w->b.failed || length > (w->b.end - w->b.at) / 8) return false;
    w->b.at += length * 8;
    align(&w->b);
    return true;
}

static bool read_abbreviated(walker *w, const abbreviation *a, bool *has_code) {
    for (size_t i = 0; i < a->count && !w->b.failed; i++) {
        const part *p = &w->parts[a->first + i];
        if (p->encoding == ARRAY) {
            if (i + 2 != a->count || p[1].encoding == ARRAY || p[1].encoding == BLOB) return false;
            uint64_t count = read_chunks(&w->b, CHUNK);
            if (p[1].encoding == LITERAL && count > w->b.end) return false;
            for (uint64_t k = 0; k < count && !w->b.failed; k++) read_scalar(w, has_code, &p[1]);
            return !w->b.failed;
        }
        if (p->encoding == BLOB) return read_blob(w);
        read_scalar(w, has_code, p);
    }
    return !w->b.failed;
}

static bool read_unabbreviated(walker *w, bool *has_code) {
    static const part chunks = {CHUNKS, CHUNK};
    read_scalar(w, has_code, &chunks);
    uint64_t count = read_chunks(&w->b, CHUNK);
    for (uint64_t i = 0; i < count && !w->b.failed; i++) read_scalar(w, has_code, &chunks);
    return !w->b.failed;
}

static bool read_record(walker *w, uint64_t block, uint64_t id) {
    bool has_code = false;
    w->record.block = (uint32_t)block;
    w->record.count = 0;
    const abbreviation *a = id == UNABBREVIATED ? NULL : find(w, block, id - FIRST_ABBREVIATION);
    if (id != UNABBREVIATED && !a) return false;
    return (a ? read_abbreviated(w, a, &has_code) : read_unabbreviated(w, &has_code)) && has_code;
}

// ---- Blocks ----

static void leave(walker *w) {
    size_t kept = 0;
    for (size_t i = 0; i < w->count; i++)
        if (w->abbreviations[i].depth != w->depth) w->abbreviations[kept++] = w->abbreviations[i];
    w->count = kept;
    w->depth--;
}

static bool read_block(walker *w, uint64_t block, unsigned width);

// LLVM may go by the length of a block or by its end: they must agree.
static bool enter(walker *w) {
    uint64_t block = read_chunks(&w->b, 8);
    uint64_t width = read_chunks(&w->b, 4);
    align(&w->b);
    uint64_t length = read_fixed(&w->b, 32) * 32, start = w->b.at;
    if (w->b.failed || block > UINT32_MAX || width < 2 || width > WIDEST_ABBREVIATION || w->depth == DEEPEST ||
        length > w->b.end - start)
        return false;
    if (block != BLOCK_INFORMATION && !w->visitor->wants((uint32_t)block)) {
        w->b.at += length;
        return true;
    }
    w->depth++;
    bool ok = read_block(w, block, (unsigned)width);
    leave(w);
    return ok && w->b.at - start == length;
}

// Abbreviations of the block of information are for the block that was set last.
static bool read_block(walker *w, uint64_t block, unsigned width) {
    uint64_t described = UINT64_MAX;
    while (!w->b.failed) {
        uint64_t id = read_fixed(&w->b, width);
        if (w->b.failed) return false;
        if (id == END_BLOCK) {
            align(&w->b);
            return !w->b.failed;
        }
        bool informs = block == BLOCK_INFORMATION;
        bool ok = id == ENTER_SUBBLOCK        ? enter(w)
                  : id == DEFINE_ABBREVIATION ? define(w, informs ? described : block, informs ? 0 : w->depth)
                                              : read_record(w, block, id);
        if (!ok) return false;
        if (id < UNABBREVIATED) continue;
        if (informs && w->record.code == SET_BLOCK && w->record.count) described = w->record.numbers[0].value;
        if (!informs && !w->visitor->visit(&w->record, w->visitor->context)) return false;
    }
    return false;
}

static uint32_t word_at(const char *bytes) {
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

// A wrapper says where the stream is.
static bool find_stream(const char *bitcode, size_t length, bits *b) {
    enum { WRAPPER = 0x0b17c0de, MAGIC = 0xdec04342, WRAPPER_BYTES = 20 };
    size_t from = 0, bytes = length;
    if (length >= WRAPPER_BYTES && word_at(bitcode) == (uint32_t)WRAPPER) {
        from = word_at(bitcode + 8), bytes = word_at(bitcode + 12);
        if (from % 4 || !igi_in_range(from, bytes, length)) return false;
    }
    if (bytes < 4 || word_at(bitcode + from) != (uint32_t)MAGIC) return false;
    *b = (bits){.bytes = (const uint8_t *)bitcode, .at = from * 8ull + 32, .end = (from + (uint64_t)bytes) * 8};
    return true;
}

bool igi_air_walk_records(const char *bitcode, size_t length, const igi_air_visitor *visitor) {
    walker w = {.visitor = visitor};
    bool ok = find_stream(bitcode, length, &w.b);
    while (ok && w.b.end - w.b.at >= 32) ok = read_fixed(&w.b, OUTERMOST_WIDTH) == ENTER_SUBBLOCK && enter(&w);
    free(w.parts), free(w.abbreviations);
    return ok;
}

// ---- Changes ----

static void write_fixed(uint8_t *bytes, uint64_t at, unsigned width, uint64_t value) {
    for (unsigned done = 0; done < width; done++, at++) {
        unsigned bit = 1u << (at & 7);
        bytes[at >> 3] = (uint8_t)(value >> done & 1 ? bytes[at >> 3] | bit : bytes[at >> 3] & ~bit);
    }
}

// Chunks keep their bits that say that another one follows.
bool igi_air_change_number(char *bitcode, const igi_air_number *number, uint64_t value) {
    uint8_t *bytes = (uint8_t *)bitcode;
    if (value == number->value) return true;
    if (!number->width) return false;
    if (!number->in_chunks) {
        write_fixed(bytes, number->bit, number->width, value);
        return true;
    }
    unsigned payload = number->width - 1;
    uint64_t at = number->bit;
    for (bool more = true; more; at += number->width) {
        write_fixed(bytes, at, payload, value & ((1ull << payload) - 1));
        value >>= payload;
        more = bytes[(at + payload) >> 3] >> ((at + payload) & 7) & 1;
    }
    return value == 0;
}
