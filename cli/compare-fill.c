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

typedef struct field {
    uint64_t offset, end;
    ig_type type;
    bool known;
    char type_name[128], name[128];
} field;

// "0 int rows, " -> the field and what comes after it; false at "size 24".
static bool next_field(const char **text, field *f) {
    char *rest;
    f->offset = strtoull(*text, &rest, 10);
    if (rest == *text) return false;
    const char *type = rest + 1, *end = strstr(type, ", ");
    while (end && end[2] != 's' && (end[2] < '0' || end[2] > '9')) end = strstr(end + 2, ", ");
    if (!end) return false;
    const char *name = end;
    while (name > type && name[-1] != ' ') name--;
    snprintf(f->type_name, sizeof f->type_name, "%.*s", name > type ? (int)(name - type - 1) : 0, type);
    snprintf(f->name, sizeof f->name, "%.*s", (int)(end - name), name);
    char pointer[sizeof f->type_name + 1];
    snprintf(pointer, sizeof pointer, "%.*s*", (int)strcspn(f->type_name, "["), f->type_name);
    f->known = igi_msl_element_type(pointer, &f->type);
    *text = end + 2;
    const char *after = *text;
    igi_skip(&after, "size ");
    f->end = strtoull(after, NULL, 10);
    return true;
}

uint64_t compare_structure_size(const char *fields) {
    const char *size = fields ? strstr(fields, "size ") : NULL;
    for (const char *later = size; later; later = strstr(later + 1, "size ")) size = later;
    return size ? strtoull(size + 5, NULL, 10) : 0;
}

static bool fill_field(const compare_plan *plan, const field *f, compare_role role, uint64_t seed, char *memory) {
    uint64_t count = (f->end - f->offset) / ig_type_size(f->type);
    const char *values = compare_find(&plan->values, f->name);
    if (values) return compare_fill_values(f->type, values, memory, count);
    compare_fill(f->type, role, seed, memory, count);
    return true;
}

static void note_type(compare_argument *argument, const field *f, bool first) {
    if (first) argument->type = f->type;
    argument->typed = (first || argument->typed) && argument->type == f->type;
}

bool compare_fill_structures(const compare_plan *plan, const char *fields, compare_role role, uint64_t seed,
                             compare_argument *argument, char reason[COMPARE_REASON]) {
    uint64_t size = compare_structure_size(fields), number = 0;
    field f;
    for (const char *at = fields; size && next_field(&at, &f); number++) {
        if (!f.known || f.end > size || f.end < f.offset) {
            snprintf(reason, COMPARE_REASON, "member '%s' of argument %u is of type '%s'; give the argument by a rule",
                     f.name, argument->index, f.type_name);
            return false;
        }
        note_type(argument, &f, number == 0);
        for (uint64_t base = 0; base + size <= argument->bytes; base += size) {
            if (fill_field(plan, &f, role, compare_mix(seed, base + number), argument->contents + base + f.offset))
                continue;
            snprintf(reason, COMPARE_REASON, "the rules' value for '%s' is not of type '%s'", f.name, f.type_name);
            return false;
        }
    }
    return true;
}
