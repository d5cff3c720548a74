// SPDX-License-Identifier: Apache-2.0
// ingot compare: what arguments hold, made from their types and the seed.
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "core/memory.h"
#include "elements.h"
#include "msl/element-type.h"
#include "tensor/types.h"

uint64_t compare_mix(uint64_t seed, uint64_t number) {
    uint64_t mixed;
    cli_fill_random(IG_TYPE_U64, &mixed, 1, seed ^ (number + 1) * UINT64_C(0x9e3779b97f4a7c15));
    return mixed;
}

// ---- Numbers ----

// A size that most kernels can be run with: threads reach no further than the buffers, and there is something to do.
enum { USUAL_SIZE = 8, INDEX_LIMIT = 64 };

static void fill_integers(ig_type type, compare_role role, uint64_t seed, char *memory, uint64_t count) {
    uint32_t size = ig_type_size(type);
    for (uint64_t i = 0; i < count; i++, memory += size) {
        uint64_t value = role == COMPARE_PARAMETER ? USUAL_SIZE : compare_mix(seed, i) % INDEX_LIMIT;
        memcpy(memory, &value, size);
    }
}

// Both signs; parameters such as an epsilon stay positive.
static void stretch(ig_type type, char *memory, uint64_t count) {
    uint32_t size = ig_type_size(type);
    for (uint64_t i = 0; i < count; i++, memory += size) {
        double value = 4 * cli_element_value(type, memory) - 2;
        cli_element_store(type, value, memory);
    }
}

void compare_fill(ig_type type, compare_role role, uint64_t seed, void *memory, uint64_t count) {
    bool real = cli_type_is_float(type);
    if (!real && type != IG_TYPE_BOOL && (role == COMPARE_PARAMETER || ig_type_size(type) >= 4)) {
        fill_integers(type, role, seed, memory, count);
        return;
    }
    cli_fill_random(type, memory, count, seed);
    if (real && role == COMPARE_DATA) stretch(type, memory, count);
}

bool compare_fill_values(ig_type type, const char *values, void *memory, uint64_t count) {
    uint32_t size = ig_type_size(type);
    char *at = memory;
    for (uint64_t i = 0; i < count; i++, at += size) {
        size_t length = strcspn(values, ",");
        if (cli_element_parse(type, values, length, at) != CLI_ELEMENT_OK) return false;
        if (values[length]) values += length + 1;
    }
    return true;
}

// ---- Structures ----

typedef struct filler {
    const compare_plan *plan;
    compare_role role;
    uint64_t seed;
    compare_argument *argument;
    char *reason;  // COMPARE_REASON
    const ig_layout *parts;
    size_t part_count;
    uint64_t number;  // of numbers filled so far
} filler;

static bool refuse_member(const filler *f, const ig_layout *member) {
    snprintf(f->reason, COMPARE_REASON, "member '%s' of argument %u is of type '%s'; give the argument by a rule",
             member->name, f->argument->index, member->type);
    return false;
}

static void note_type(filler *f, ig_type type) {
    compare_argument *argument = f->argument;
    if (f->number == 0) argument->type = type;
    argument->typed = (f->number == 0 || argument->typed) && argument->type == type;
}

// A number, a vector, or an array of them; `named` has the member's name.
static bool fill_numbers(filler *f, const ig_layout *named, ig_type type, uint64_t offset) {
    uint64_t count = named->size / ig_type_size(type);
    char *memory = f->argument->contents + offset;
    const char *values = compare_find(&f->plan->values, named->name);
    note_type(f, type);
    uint64_t seed = compare_mix(f->seed, f->number++);
    if (!values)
        compare_fill(type, f->role, seed, memory, count);
    else if (!compare_fill_values(type, values, memory, count)) {
        snprintf(f->reason, COMPARE_REASON, "the rules' value for '%s' is not of type '%s'", named->name, named->type);
        return false;
    }
    return true;
}

// The part after this one and all that it consists of.
static size_t after_part(const filler *f, size_t at) {
    size_t next = at + 1;
    while (next < f->part_count && f->parts[next].depth > f->parts[at].depth) next++;
    return next;
}

// pre: the part is inside of the argument when it begins at `offset`. Parts that claim to be larger are refused.
static bool fill_part(filler *f, size_t at, uint64_t offset, uint64_t limit) {
    const ig_layout *part = &f->parts[at], *element = part + 1;
    if (!igi_in_range(offset, part->size, limit)) return refuse_member(f, part);
    switch (part->kind) {
        case IG_LAYOUT_SCALAR: return fill_numbers(f, part, part->scalar, offset);
        case IG_LAYOUT_ARRAY:
            if (element->kind == IG_LAYOUT_SCALAR) return fill_numbers(f, part, element->scalar, offset);
            if (!part->stride) return refuse_member(f, part);
            for (uint32_t i = 0; i < part->count; i++)
                if (!fill_part(f, at + 1, offset + (uint64_t)i * part->stride, limit)) return false;
            return true;
        case IG_LAYOUT_STRUCT:
            for (size_t i = at + 1; i < after_part(f, at); i = after_part(f, i))
                if (!fill_part(f, i, offset + f->parts[i].offset, limit)) return false;
            return true;
        default: return refuse_member(f, part);
    }
}

bool compare_fill_structures(const compare_plan *plan, const ig_argument *known, compare_role role, uint64_t seed,
                             compare_argument *argument, char reason[COMPARE_REASON]) {
    filler f = {.plan = plan,
                .role = role,
                .seed = seed,
                .argument = argument,
                .reason = reason,
                .parts = known->layout,
                .part_count = known->layout_count};
    uint64_t size = known->layout->size;
    for (uint64_t base = 0; size && base + size <= argument->bytes; base += size)
        if (!fill_part(&f, 0, base, base + size)) return false;
    return true;
}
