// SPDX-License-Identifier: Apache-2.0
// Loads whose lanes are at known distances from each other, such as the words of quantised blocks of which each lane
// reads a part: the memory from the first lane to the last is read in whole registers, and every element of the result
// is picked from these by shuffles.
//
// Memory between two lanes that both read is mapped if they are less than a page apart, so that it may be read too. Under
// masks, what is read begins at the first active lane and ends with the last.
#include <string.h>

#include "simt/ir.h"
#include "simt/target.h"
#include "simt/transpose.h"
#include "simt/widen.h"

enum { PAGE_BYTES = 4096, MOST_REGISTERS = PAGE_BYTES / 32, WORD = 4 };

bool igi_simt_is_spread(const igi_simt_widener *w, LLVMValueRef address) {
    igi_simt_shape_kind kind = igi_simt_shape_of(&w->s, address).kind;
    return w->s.patterns && (kind == IGI_SHAPE_LINEAR || kind == IGI_SHAPE_PATTERN) &&
           (w->mask_registers || strstr(igi_simt_features(), "+avx2"));
}

static int64_t offset_of(const igi_simt_widener *w, LLVMValueRef address, uint32_t lane) {
    return igi_simt_lane_offset(&w->s, igi_simt_shape_of(&w->s, address), lane);
}

// Whether no lane reads before another one with a lower number.
static bool is_rising(const igi_simt_widener *w, LLVMValueRef address) {
    for (uint32_t i = 1; i < w->width; i++)
        if (offset_of(w, address, i) < offset_of(w, address, i - 1)) return false;
    return true;
}

bool igi_simt_has_near_lanes(const igi_simt_widener *w, LLVMValueRef address, uint64_t bytes) {
    int64_t first = 0, last = 0;
    for (uint32_t i = 0; i < w->width; i++) {
        int64_t offset = offset_of(w, address, i);
        first = offset < first ? offset : first;
        last = offset > last ? offset : last;
    }
    bool masked = w->mask_slot[w->block] || !w->full;
    return last - first + (int64_t)bytes <= PAGE_BYTES && (!masked || is_rising(w, address));
}

// ---- What may be read ----

static LLVMValueRef offset_in_lane(igi_simt_widener *w, LLVMValueRef address, LLVMValueRef lane) {
    LLVMValueRef items[IGI_MAX_WIDTH];
    for (uint32_t i = 0; i < w->width; i++) items[i] = LLVMConstInt(w->i32, (uint64_t)offset_of(w, address, i), 1);
    return LLVMBuildExtractElement(w->builder, LLVMConstVector(items, w->width), lane, "");
}

igi_simt_span igi_simt_active_span(igi_simt_widener *w, LLVMValueRef address, int64_t back, uint64_t bytes) {
    igi_simt_span span = {igi_simt_widen_scalar(w, address), back, NULL, NULL};
    if (igi_simt_has_all_lanes(w)) return span;
    LLVMTypeRef bits = LLVMIntTypeInContext(w->m->context, w->width);
    LLVMValueRef arguments[] = {LLVMBuildBitCast(w->builder, w->mask, bits, ""), LLVMConstInt(w->i1, 0, 0)};
    LLVMValueRef lowest = igi_simt_call_intrinsic(w->builder, "llvm.cttz", &bits, 1, arguments, 2);
    LLVMValueRef above = igi_simt_call_intrinsic(w->builder, "llvm.ctlz", &bits, 1, arguments, 2);
    LLVMValueRef highest = LLVMBuildSub(w->builder, LLVMConstInt(bits, w->width - 1, 0), above, "");
    span.first = offset_in_lane(w, address, lowest);
    span.end = LLVMBuildAdd(w->builder, offset_in_lane(w, address, highest), LLVMConstInt(w->i32, bytes, 0), "");
    return span;
}

static LLVMValueRef places(const igi_simt_widener *w, int64_t first, uint32_t count, uint64_t bytes) {
    LLVMValueRef items[IGI_MAX_WIDTH];
    for (uint32_t i = 0; i < count; i++) items[i] = LLVMConstInt(w->i32, (uint64_t)(first + (int64_t)(i * bytes)), 1);
    return LLVMConstVector(items, count);
}

static LLVMValueRef repeat(igi_simt_widener *w, LLVMValueRef scalar, uint32_t count) {
    LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(scalar), count);
    LLVMValueRef one = LLVMBuildInsertElement(w->builder, LLVMGetPoison(type), scalar, LLVMConstInt(w->i32, 0, 0), "");
    return LLVMBuildShuffleVector(w->builder, one, LLVMGetPoison(type), LLVMConstNull(LLVMVectorType(w->i32, count)),
                                  "");
}

LLVMValueRef igi_simt_load_span(igi_simt_widener *w, const igi_simt_span *span, int64_t at, LLVMTypeRef vector,
                                unsigned alignment) {
    uint32_t count = LLVMGetVectorSize(vector);
    uint64_t bytes = LLVMABISizeOfType(w->s.layout, LLVMGetElementType(vector));
    LLVMValueRef distance = LLVMConstInt(w->i64, (uint64_t)(at + span->back), 1), mask = NULL;
    LLVMValueRef address = LLVMBuildGEP2(w->builder, w->i8, span->base, &distance, 1, "");
    if (span->first) {
        LLVMValueRef here = places(w, at, count, bytes);
        mask = LLVMBuildAnd(w->builder, LLVMBuildICmp(w->builder, LLVMIntSGE, here, repeat(w, span->first, count), ""),
                            LLVMBuildICmp(w->builder, LLVMIntSLT, here, repeat(w, span->end, count), ""), "");
    }
    return igi_simt_load_masked(w, vector, address, alignment, mask);
}

// Lanes that share what they read walk through several rows at once, each for a few cache lines: too short for the
// processor to notice before the next lanes go on behind them. A program that reads all its weights once waits for each.
static void read_ahead(igi_simt_widener *w, LLVMValueRef base, int64_t low, int64_t high) {
    enum { CACHE_LINE = 64, FEW_BYTES = 2 * CACHE_LINE, AHEAD = 2048 };
    bool is_round = w->s.cfg.blocks[w->block].loop != IGI_NONE && igi_simt_has_all_lanes(w);
    if (!is_round || w->m->request->first_tier || high - low < FEW_BYTES) return;
    for (int64_t at = low; at < high; at += CACHE_LINE) {
        LLVMValueRef distance = LLVMConstInt(w->i64, (uint64_t)(at + AHEAD), 1);
        LLVMValueRef next = LLVMBuildGEP2(w->builder, w->i8, base, &distance, 1, "");
        LLVMValueRef arguments[] = {next, LLVMConstInt(w->i32, 0, 0), LLVMConstInt(w->i32, 3, 0),
                                    LLVMConstInt(w->i32, 1, 0)};
        igi_simt_call_intrinsic(w->builder, "llvm.prefetch", &w->pointer, 1, arguments, 4);
    }
}

// ---- Registers of memory ----

// What the lanes of one register of the result read: `count` grains each, at neighbouring places.
typedef struct spread {
    LLVMValueRef address;
    uint32_t grain;         // bytes that are shuffled as one
    uint32_t count;         // of them, in each lane
    uint32_t per_register;  // grains, and lanes of the result
    int64_t bytes;          // of a register
    int64_t low, high;      // of all lanes, in bytes from the first one
} spread;

typedef struct registers {
    int64_t first[MOST_REGISTERS];
    uint32_t count;
} registers;

static uint32_t register_bytes(const igi_simt_widener *w) {
    return w->mask_registers ? 64 : 32;
}

// Grains of words are best; of halves, if lanes are not whole words apart.
static uint32_t choose_grain(const igi_simt_widener *w, LLVMValueRef address, uint64_t bytes, uint32_t *run) {
    bool words = true, halves = w->mask_registers && bytes <= 2;
    for (uint32_t i = 0; i < w->width; i++) {
        words &= offset_of(w, address, i) % 4 == 0;
        halves &= offset_of(w, address, i) % 2 == 0;
    }
    uint32_t per_word = (uint32_t)(WORD / bytes), per_half = (uint32_t)(bytes <= 2 ? 2 / bytes : 1);
    if (words && *run >= per_word) {
        *run -= *run % per_word;
        return 4;
    }
    if (!halves || *run < per_half) return 0;
    *run -= *run % per_half;
    return 2;
}

static bool describe(const igi_simt_widener *w, LLVMValueRef address, uint64_t bytes, uint32_t *run, spread *s) {
    *s = (spread){.address = address, .grain = choose_grain(w, address, bytes, run)};
    if (!s->grain) return false;
    s->count = (uint32_t)(*run * bytes / s->grain);
    s->per_register = register_bytes(w) / s->grain;
    if (s->per_register > w->width) s->per_register = w->width;
    s->bytes = (int64_t)s->per_register * s->grain;
    s->high = *run * (int64_t)bytes;
    for (uint32_t i = 0; i < w->width; i++) {
        int64_t offset = offset_of(w, address, i), end = offset + *run * (int64_t)bytes;
        s->low = offset < s->low ? offset : s->low;
        s->high = end > s->high ? end : s->high;
    }
    return true;
}

static int64_t place_of_grain(const igi_simt_widener *w, const spread *s, uint32_t lane, uint32_t grain) {
    return offset_of(w, s->address, lane) + (int64_t)grain * s->grain;
}

// The registers that hold what some lanes read; none reaches beyond what all lanes read.
static registers registers_for(const igi_simt_widener *w, const spread *s, uint32_t lane) {
    registers r = {.count = 0};
    int64_t low = INT64_MAX, high = INT64_MIN, bytes = s->bytes;
    for (uint32_t i = lane; i < lane + s->per_register; i++) {
        int64_t at = place_of_grain(w, s, i, 0), end = place_of_grain(w, s, i, s->count);
        low = at < low ? at : low;
        high = end > high ? end : high;
    }
    bool less = s->high - s->low < bytes;  // than a register: limit_to_read
    for (int64_t at = low; at < high; at += bytes)
        r.first[r.count++] = at + bytes > s->high && !less ? s->high - bytes : at;
    return r;
}

// The register in which a grain is.
static uint32_t register_of(const spread *s, const registers *r, int64_t place) {
    uint32_t k = 0;
    while (k + 1 < r->count && place + s->grain > r->first[k] + s->bytes) k++;
    return k;
}

static uint32_t registers_used(const igi_simt_widener *w, const spread *s, const registers *r, uint32_t lane,
                               uint32_t grain) {
    bool used[MOST_REGISTERS] = {0};
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->per_register; i++)
        used[register_of(s, r, place_of_grain(w, s, lane + i, grain))] = true;
    for (uint32_t k = 0; k < r->count; k++) count += used[k];
    return count;
}

// ---- Whether it pays ----

// Shuffles of two registers of words are one instruction with AVX-512, those of halves three; with AVX2, each register
// is permuted, and the results are blended.
static uint32_t cost_of_spread(const igi_simt_widener *w, const spread *s) {
    uint32_t cost = 0;
    for (uint32_t lane = 0; lane < w->width; lane += s->per_register) {
        registers r = registers_for(w, s, lane);
        for (uint32_t grain = 0; grain < s->count; grain++) {
            uint32_t used = registers_used(w, s, &r, lane, grain), shuffles = used > 1 ? used - 1 : 1;
            cost += !w->mask_registers ? 2 * used - 1 : s->grain == 2 ? 3 * shuffles : shuffles;
        }
    }
    return cost;
}

uint32_t igi_simt_lanes_in_row(const igi_simt_widener *w, LLVMValueRef address, uint64_t bytes, uint32_t most) {
    uint32_t lanes = 1;
    for (uint32_t next = 2; next <= most && next <= w->width; next *= 2) {
        for (uint32_t i = 1; i < w->width; i++)
            if (i % next && offset_of(w, address, i) != offset_of(w, address, i - 1) + (int64_t)bytes) return lanes;
        lanes = next;
    }
    return lanes;
}

// Reading each lane's elements by itself: loads and insertions, then shuffles that sort them by element; gathers if there
// is only one.
static uint32_t cost_of_rows(const igi_simt_widener *w, LLVMValueRef address, uint32_t run, uint64_t bytes) {
    enum { INSERT_SMALL = 2, GATHER = 2 };
    uint32_t words = (uint32_t)(run * bytes / WORD), sorting = 0;
    if (run == 1) return GATHER * w->width;
    if (words <= 1) return INSERT_SMALL * w->width;
    for (uint32_t size = words; size > 1; size /= 2) sorting += words;
    uint32_t loads = w->width / igi_simt_lanes_in_row(w, address, run * bytes, 64), pieces = words * w->width / 16;
    return (loads > pieces ? loads - pieces : 0) + sorting * w->width / (register_bytes(w) / WORD);
}

uint32_t igi_simt_spread_run(const igi_simt_widener *w, LLVMValueRef address, uint32_t run, uint64_t bytes) {
    spread s;
    if (!igi_simt_is_spread(w, address) || bytes > WORD || run * bytes > 64) return 0;
    if (!igi_simt_has_near_lanes(w, address, run * bytes) || !describe(w, address, bytes, &run, &s)) return 0;
    uint32_t other = run;
    while (other & (other - 1)) other &= other - 1;
    return cost_of_spread(w, &s) < cost_of_rows(w, address, other, bytes) ? run : 0;
}

// ---- Picking ----

static LLVMValueRef pick(igi_simt_widener *w, const spread *s, const registers *r, LLVMValueRef *memory, uint32_t lane,
                         uint32_t grain) {
    LLVMValueRef picked = NULL;
    uint32_t n = s->per_register;
    for (uint32_t k = 0; k < r->count; k++) {
        uint32_t from[IGI_MAX_WIDTH];
        bool any = false;
        for (uint32_t i = 0; i < n; i++) {
            int64_t place = place_of_grain(w, s, lane + i, grain);
            bool here = register_of(s, r, place) == k;
            from[i] = here ? (uint32_t)((place - r->first[k]) / s->grain) + (picked ? n : 0) : i;
            any |= here;
        }
        if (!any) continue;
        LLVMValueRef before = picked ? picked : memory[k],
                     rest = picked ? memory[k] : LLVMGetPoison(LLVMTypeOf(memory[k]));
        picked = LLVMBuildShuffleVector(w->builder, before, rest, igi_simt_shuffle_mask(w, from, n), "");
    }
    return picked;
}

// A few lanes may read less than a register holds.
static void limit_to_read(igi_simt_widener *w, const spread *s, igi_simt_span *span) {
    if (span->first || s->high - s->low >= s->bytes) return;
    span->first = LLVMConstInt(w->i32, (uint64_t)s->low, 1);
    span->end = LLVMConstInt(w->i32, (uint64_t)s->high, 1);
}

void igi_simt_load_spread(igi_simt_widener *w, LLVMValueRef address, int64_t back, LLVMTypeRef type, uint32_t run,
                          unsigned alignment, LLVMValueRef *elements) {
    spread s;
    uint64_t bytes = LLVMABISizeOfType(w->s.layout, type);
    LLVMValueRef parts[IGI_SIMT_MOST_PIECES][IGI_MAX_WIDTH / 8];
    describe(w, address, bytes, &run, &s);
    igi_simt_span span = igi_simt_active_span(w, address, back, run * bytes);
    limit_to_read(w, &s, &span);
    read_ahead(w, span.base, s.low + back, s.high + back);
    LLVMTypeRef vector = LLVMVectorType(LLVMIntTypeInContext(w->m->context, 8 * s.grain), s.per_register);
    uint32_t part_count = w->width / s.per_register;
    for (uint32_t p = 0; p < part_count; p++) {
        LLVMValueRef memory[MOST_REGISTERS];
        uint32_t lane = p * s.per_register;
        registers r = registers_for(w, &s, lane);
        for (uint32_t k = 0; k < r.count; k++) memory[k] = igi_simt_load_span(w, &span, r.first[k], vector, alignment);
        for (uint32_t g = 0; g < s.count; g++) parts[g][p] = pick(w, &s, &r, memory, lane, g);
    }
    uint32_t per_grain = (uint32_t)(s.grain / bytes);
    LLVMTypeRef wide = igi_simt_widen_type(w, type);
    for (uint32_t i = 0; i < run; i++) {
        LLVMValueRef grains = igi_simt_concatenate(w, parts[i / per_grain], part_count);
        elements[i] = igi_simt_part_of_word(w, grains, i % per_grain, wide);
    }
}

// ---- Places that several lanes share ----

// The lanes that read a place which no lane before them does; *from: by lane, which of these it shares with.
static uint32_t find_readers(const igi_simt_widener *w, LLVMValueRef address, uint32_t *readers, uint32_t *from) {
    uint32_t count = 0;
    for (uint32_t lane = 0; lane < w->width; lane++) {
        uint32_t k = 0;
        while (k < count && offset_of(w, address, readers[k]) != offset_of(w, address, lane)) k++;
        if (k == count) readers[count++] = lane;
        from[lane] = k;
    }
    return count;
}

bool igi_simt_is_shared(const igi_simt_widener *w, LLVMValueRef address) {
    uint32_t readers[IGI_MAX_WIDTH], from[IGI_MAX_WIDTH];
    if (!igi_simt_is_spread(w, address) || !igi_simt_has_all_lanes(w)) return false;
    return find_readers(w, address, readers, from) <= w->width / 2;
}

LLVMValueRef igi_simt_load_shared(igi_simt_widener *w, LLVMValueRef address, LLVMTypeRef type, unsigned alignment) {
    uint32_t readers[IGI_MAX_WIDTH], from[IGI_MAX_WIDTH], count = find_readers(w, address, readers, from);
    LLVMValueRef base = igi_simt_widen_scalar(w, address), all = LLVMGetPoison(igi_simt_widen_type(w, type));
    for (uint32_t k = 0; k < count; k++) {
        LLVMValueRef distance = LLVMConstInt(w->i64, (uint64_t)offset_of(w, address, readers[k]), 1);
        LLVMValueRef place = LLVMBuildGEP2(w->builder, w->i8, base, &distance, 1, "");
        LLVMValueRef value = LLVMBuildLoad2(w->builder, type, place, "");
        LLVMSetAlignment(value, alignment);
        all = LLVMBuildInsertElement(w->builder, all, value, LLVMConstInt(w->i32, k, 0), "");
    }
    read_ahead(w, base, 0, offset_of(w, address, readers[count - 1]));
    return igi_simt_shuffle(w, all, NULL, from, w->width);
}
