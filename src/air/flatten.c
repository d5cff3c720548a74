// SPDX-License-Identifier: Apache-2.0
// Address spaces: AIR numbers them (1 device, 2 constant, 3 threadgroup), here there is one.
//
// The type of a value cannot be changed through LLVM's C API, and a module that goes through its text takes longer than
// everything else. So the numbers of address spaces are changed in the bitcode, before LLVM reads it: where types,
// variables and functions have them. A cast from one space to another becomes one that does nothing.
#include "air/flatten.h"

#include "air/bitstream.h"
#include "core/memory.h"

// Of LLVM's bitcode (llvm/Bitcode/LLVMBitCodes.h).
enum {
    MODULE_BLOCK = 8,
    CONSTANTS_BLOCK = 11,
    FUNCTION_BLOCK = 12,
    TYPE_BLOCK = 17,

    MODULE_VERSION = 1,
    MODULE_VARIABLE = 7,
    MODULE_FUNCTION = 8,
    MODULE_ALIAS = 14,
    MODULE_IFUNC = 15,

    TYPE_POINTER = 8,
    TYPE_OPAQUE_POINTER = 25,
    CONSTANT_CAST = 11,
    INSTRUCTION_CAST = 3,
    INSTRUCTION_ALLOCA = 19,

    CAST_BITS = 11,
    CAST_SPACE = 12,
};

typedef struct flattening {
    char *bitcode;
    igi_air_spaces *spaces;
} flattening;

static bool change(flattening *f, const igi_air_record *r, size_t index, uint64_t value) {
    return index >= r->count ||
           (index < IGI_AIR_RECORD_NUMBERS && igi_air_change_number(f->bitcode, &r->numbers[index], value));
}

static bool flatten_type(flattening *f, const igi_air_record *r) {
    if (r->code == TYPE_POINTER) return change(f, r, 1, 0);
    return r->code != TYPE_OPAQUE_POINTER || change(f, r, 0, 0);
}

// The place of its name comes first. The number with the space also says whether it is constant, and
// whether its type is the one that it holds.
static bool flatten_variable(flattening *f, const igi_air_record *r) {
    enum { FLAGS = 3, TYPE_IS_EXPLICIT = 2, SPACE_SHIFT = 2 };
    igi_air_spaces *s = f->spaces;
    if (r->count <= FLAGS || !igi_grow((void **)&s->of_variables, &s->capacity, s->count + 1, 1)) return false;
    uint64_t flags = r->numbers[FLAGS].value, space = flags >> SPACE_SHIFT;
    if (!(flags & TYPE_IS_EXPLICIT) || space > UINT8_MAX) return false;
    s->of_variables[s->count++] = (uint8_t)space;
    return change(f, r, FLAGS, flags & ((1u << SPACE_SHIFT) - 1));
}

static bool flatten_global(flattening *f, const igi_air_record *r) {
    enum { SPACE_OF_ALIAS = 3, SPACE_OF_FUNCTION = 18, NAMES_IN_TABLE = 2 };
    switch (r->code) {
        case MODULE_VERSION: return r->count && r->numbers[0].value == NAMES_IN_TABLE;
        case MODULE_VARIABLE: return flatten_variable(f, r);
        case MODULE_FUNCTION: return change(f, r, SPACE_OF_FUNCTION, 0);
        case MODULE_ALIAS:
        case MODULE_IFUNC: return change(f, r, SPACE_OF_ALIAS, 0);
        default: return true;
    }
}

// The operand, its type if it is defined later, the type of the result, and what kind of a cast it is.
static bool flatten_cast(flattening *f, const igi_air_record *r) {
    bool later = r->count && (uint32_t)r->numbers[0].value >> 31;
    size_t kind = later ? 3 : 2;
    bool moves = r->count > kind && r->numbers[kind].value == CAST_SPACE;
    return !moves || change(f, r, kind, CAST_BITS);
}

static bool flatten_instruction(flattening *f, const igi_air_record *r) {
    enum { SPACE_OF_ALLOCA = 4 };
    if (r->code == INSTRUCTION_CAST) return flatten_cast(f, r);
    return r->code != INSTRUCTION_ALLOCA || change(f, r, SPACE_OF_ALLOCA, 0);
}

static bool flatten_constant(flattening *f, const igi_air_record *r) {
    bool moves = r->code == CONSTANT_CAST && r->count && r->numbers[0].value == CAST_SPACE;
    return !moves || change(f, r, 0, CAST_BITS);
}

static bool flatten_record(igi_air_record *record, void *context) {
    flattening *f = context;
    switch (record->block) {
        case MODULE_BLOCK: return flatten_global(f, record);
        case TYPE_BLOCK: return flatten_type(f, record);
        case CONSTANTS_BLOCK: return flatten_constant(f, record);
        case FUNCTION_BLOCK: return flatten_instruction(f, record);
        default: return true;
    }
}

static bool has_spaces(uint32_t block) {
    return block == MODULE_BLOCK || block == TYPE_BLOCK || block == CONSTANTS_BLOCK || block == FUNCTION_BLOCK;
}

bool igi_air_flatten(char *bitcode, size_t length, igi_air_spaces *spaces) {
    flattening f = {.bitcode = bitcode, .spaces = spaces};
    const igi_air_visitor visitor = {.wants = has_spaces, .visit = flatten_record, .context = &f};
    return igi_air_walk_records(bitcode, length, &visitor);
}
