// SPDX-License-Identifier: Apache-2.0
// Textures: air.OPERATION_KIND[_grad][.i16].TYPE, where a KIND is texture_ or depth_, a shape, _ms and _array. Operands
// are brought into one order and one type, and functions of runtime.metal do the work, for arrays of any shape: a
// texture that is not an array has one layer. A texture is the address of what the host says of it.
#include <stdio.h>
#include <string.h>

#include "air/translator.h"

enum { MOST_OPERANDS = 24, LONGEST_NAME = 48 };

// ---- Names ----

typedef enum operation {
    READ,
    WRITE,
    SAMPLE,
    SAMPLE_COMPARE,
    GATHER,
    GATHER_COMPARE,
    ATOMIC,
    QUERY,  // of a size, or whether it is there
    GET_NULL,
    FENCE,
} operation;

typedef struct spelling {
    const char *text;
    operation operation;
    const char *function;  // of the runtime, if the operation has several
} spelling;

// A name that begins with another one comes before it.
static const spelling spellings[] = {
    {"read_", READ, NULL},
    {"write_", WRITE, NULL},
    {"sample_compare_", SAMPLE_COMPARE, NULL},
    {"sample_", SAMPLE, NULL},
    {"gather_compare_", GATHER_COMPARE, NULL},
    {"gather_", GATHER, NULL},
    {"get_width_", QUERY, "width"},
    {"get_height_", QUERY, "height"},
    {"get_depth_", QUERY, "depth"},
    {"get_array_size_", QUERY, "array_size"},
    {"get_num_mip_levels_", QUERY, "levels"},
    {"get_num_samples_", QUERY, "samples"},
    {"is_null_", QUERY, "is_null"},
    {"get_null_", GET_NULL, NULL},
    {"fence_", FENCE, NULL},
    {"atomic_load_explicit_", ATOMIC, "load"},
    {"atomic_store_explicit_", ATOMIC, "store"},
    {"atomic_exchange_explicit_", ATOMIC, "exchange"},
    {"atomic_compare_exchange_weak_explicit_", ATOMIC, "compare_exchange"},
    {"atomic_fetch_add_explicit_", ATOMIC, "add"},
    {"atomic_fetch_sub_explicit_", ATOMIC, "sub"},
    {"atomic_fetch_min_explicit_", ATOMIC, "min"},
    {"atomic_fetch_max_explicit_", ATOMIC, "max"},
    {"atomic_fetch_and_explicit_", ATOMIC, "and"},
    {"atomic_fetch_or_explicit_", ATOMIC, "or"},
    {"atomic_fetch_xor_explicit_", ATOMIC, "xor"},
    {"atomic_min_explicit_", ATOMIC, "min"},
    {"atomic_max_explicit_", ATOMIC, "max"},
};

typedef struct texture_call {
    air_translator *t;
    LLVMValueRef call;
    unsigned next;  // operand
    const spelling *what;
    unsigned dimensions;  // of coordinates to sample at
    bool depth, cube, array, samples, levels, gradient, is_signed;
    bool failed;
    LLVMValueRef operands[MOST_OPERANDS];  // for the runtime
    unsigned count;
} texture_call;

static bool read_operation(const char **name, texture_call *c) {
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings && !c->what; i++)
        if (igi_skip(name, spellings[i].text)) c->what = &spellings[i];
    return c->what != NULL;
}

static bool read_shape(const char **name, texture_call *c) {
    bool buffer = igi_skip(name, "buffer_1d");
    c->cube = !buffer && igi_skip(name, "cube");
    c->dimensions = buffer || igi_skip(name, "1d")    ? 1
                    : c->cube || igi_skip(name, "3d") ? 3
                    : igi_skip(name, "2d")            ? 2
                                                      : 0;
    c->samples = igi_skip(name, "_ms");
    c->array = igi_skip(name, "_array");
    c->gradient = igi_skip(name, "_grad");
    c->levels = !buffer && !c->samples;
    return c->dimensions != 0;
}

static bool read_name(const char *name, texture_call *c) {
    if (!igi_skip(&name, "air.") || !read_operation(&name, c)) return false;
    c->depth = igi_skip(&name, "depth_");
    if ((!c->depth && !igi_skip(&name, "texture_")) || !read_shape(&name, c)) return false;
    c->is_signed = strstr(name, ".s.") != NULL;
    return *name == 0 || *name == '.';
}

// ---- Operands ----

static LLVMTypeRef float_type(const texture_call *c) {
    return LLVMFloatTypeInContext(c->t->context);
}

static LLVMValueRef fail(texture_call *c) {
    c->failed = true;
    return LLVMGetPoison(c->t->i32);
}

static unsigned left(const texture_call *c) {
    return LLVMGetNumArgOperands(c->call) - c->next;
}

// After a failure, all operands are poison.
static LLVMValueRef take(texture_call *c) {
    return c->failed || !left(c) ? fail(c) : LLVMGetOperand(c->call, c->next++);
}

static void give(texture_call *c, LLVMValueRef operand) {
    if (c->count == MOST_OPERANDS)
        fail(c);
    else
        c->operands[c->count++] = operand;
}

static void give_number(texture_call *c, unsigned number) {
    give(c, LLVMConstInt(c->t->i32, number, 0));
}

static bool is_pointer(LLVMValueRef value) {
    return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind;
}

static bool is_integer(LLVMTypeRef type) {
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind;
}

static void move_pointer(texture_call *c) {
    LLVMValueRef value = take(c);
    if (!is_pointer(value)) fail(c);
    give(c, value);
}

// As an int or a float: indices of 16 bits have no sign.
static LLVMValueRef widened(texture_call *c, LLVMValueRef value, bool number) {
    if (number)
        return is_integer(LLVMTypeOf(value)) ? LLVMBuildIntCast2(c->t->builder, value, c->t->i32, 0, "") : fail(c);
    return LLVMTypeOf(value) == float_type(c) ? value : fail(c);
}

static void move_scalar(texture_call *c, bool number) {
    give(c, widened(c, take(c), number));
}

static LLVMValueRef element(texture_call *c, LLVMValueRef vector, unsigned index) {
    return LLVMBuildExtractElement(c->t->builder, vector, LLVMConstInt(c->t->i32, index, 0), "");
}

// Three components, those past `count` zero.
static void split(texture_call *c, LLVMValueRef value, unsigned count, bool numbers, LLVMValueRef parts[3]) {
    LLVMTypeRef type = LLVMTypeOf(value);
    bool vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
    if ((vector ? LLVMGetVectorSize(type) : 1) != count) fail(c);
    for (unsigned i = 0; i < 3; i++)
        parts[i] = i >= count || c->failed ? LLVMConstNull(numbers ? c->t->i32 : float_type(c))
                                           : widened(c, vector ? element(c, value, i) : value, numbers);
}

static void move_vector(texture_call *c, unsigned count, bool numbers) {
    LLVMValueRef parts[3];
    split(c, take(c), count, numbers, parts);
    for (unsigned i = 0; i < 3; i++) give(c, parts[i]);
}

// The state of a sampler is what its address says.
static void move_sampler(texture_call *c) {
    LLVMValueRef value = take(c);
    give(c, is_pointer(value) ? LLVMBuildPtrToInt(c->t->builder, value, c->t->i64, "sampler") : fail(c));
}

// A flag, which is ignored, and the offset in texels.
static void move_offset(texture_call *c) {
    if (c->cube) return;
    take(c);
    move_vector(c, c->dimensions, true);
}

static void move_layer(texture_call *c) {
    if (c->array)
        move_scalar(c, true);
    else
        give_number(c, 0);
}

// The place of a pixel: x, y, z and layer. `after` operands follow; one more than that is an offset, since AIR 2.8.
static void move_place(texture_call *c, unsigned after) {
    LLVMBuilderRef b = c->t->builder;
    unsigned count = c->cube ? 2 : c->dimensions;
    LLVMValueRef place[3], offset[3], layer = LLVMConstNull(c->t->i32);
    split(c, take(c), count, true, place);
    LLVMValueRef face = c->cube ? widened(c, take(c), true) : NULL;
    if (c->array) layer = widened(c, take(c), true);
    if (face) layer = LLVMBuildAdd(b, LLVMBuildMul(b, layer, LLVMConstInt(c->t->i32, 6, 0), ""), face, "");
    if (left(c) == after + 1) {
        split(c, take(c), count, true, offset);
        for (unsigned i = 0; i < count && !c->failed; i++) place[i] = LLVMBuildAdd(b, place[i], offset[i], "");
    }
    for (unsigned i = 0; i < 3; i++) give(c, place[i]);
    give(c, layer);
}

// ---- Results and values ----

static LLVMTypeRef scalar_of(LLVMTypeRef type) {
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
}

static bool is_float(LLVMTypeRef type) {
    LLVMTypeKind kind = LLVMGetTypeKind(scalar_of(type));
    return kind == LLVMFloatTypeKind || kind == LLVMHalfTypeKind;
}

static bool is_texel(LLVMTypeRef type) {
    bool vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
    if (vector && LLVMGetVectorSize(type) != 4) return false;
    return is_float(type) || (is_integer(scalar_of(type)) && LLVMGetIntTypeWidth(scalar_of(type)) <= 32);
}

// A value, or a value and whether its memory is there, which it always is.
static LLVMTypeRef texel_type(const texture_call *c) {
    LLVMTypeRef type = LLVMTypeOf(c->call);
    if (LLVMGetTypeKind(type) != LLVMStructTypeKind) return type;
    return LLVMCountStructElementTypes(type) == 2 ? LLVMStructGetTypeAtIndex(type, 0) : type;
}

static LLVMTypeRef four(LLVMTypeRef type) {
    return LLVMVectorType(type, 4);
}

static LLVMValueRef narrowed(texture_call *c, LLVMValueRef value, LLVMTypeRef to) {
    if (LLVMTypeOf(value) == to) return value;
    return is_float(to) ? LLVMBuildFPTrunc(c->t->builder, value, to, "") : LLVMBuildTrunc(c->t->builder, value, to, "");
}

// What the runtime gave, four floats or ints, as the call has it.
static LLVMValueRef result(texture_call *c, LLVMValueRef value) {
    LLVMTypeRef whole = LLVMTypeOf(c->call), type = texel_type(c);
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) value = element(c, value, 0);
    value = narrowed(c, value, type);
    return whole == type ? value : LLVMBuildInsertValue(c->t->builder, LLVMConstNull(whole), value, 0, "");
}

static LLVMValueRef call_runtime(texture_call *c, const char *what, const char *type, LLVMTypeRef result) {
    char symbol[LONGEST_NAME];
    snprintf(symbol, sizeof symbol, "air_texture_%s%s", what, type);
    if (c->failed || left(c)) return NULL;
    return igi_air_call_runtime(c->t, symbol, result, c->operands, c->count);
}

static LLVMValueRef call_for_texel(texture_call *c, const char *what) {
    LLVMTypeRef type = texel_type(c);
    if (!is_texel(type)) return NULL;
    bool real = is_float(type);
    LLVMValueRef value = call_runtime(c, what, real ? "_f" : "_i", four(real ? float_type(c) : c->t->i32));
    return value ? result(c, value) : NULL;
}

// ---- Operations ----

static LLVMValueRef lower_read(texture_call *c) {
    if (left(c) && is_pointer(LLVMGetOperand(c->call, c->next))) take(c);  // a sampler, since AIR 2.8
    if (c->depth) take(c);
    move_place(c, 2u - (!c->samples && !c->levels));
    if (c->samples || c->levels)
        move_scalar(c, true);
    else
        give_number(c, 0);
    take(c);  // access
    return call_for_texel(c, c->samples ? "read_sample" : "read");
}

// Of four ints or floats of any size.
static void move_texel(texture_call *c) {
    LLVMValueRef value = take(c);
    LLVMTypeRef type = LLVMTypeOf(value);
    if (c->failed || !is_texel(type) || scalar_of(type) == type)
        fail(c);
    else if (is_float(type))
        give(c, LLVMBuildFPCast(c->t->builder, value, four(float_type(c)), ""));
    else
        give(c, LLVMBuildIntCast2(c->t->builder, value, four(c->t->i32), c->is_signed, ""));
}

static LLVMValueRef lower_write(texture_call *c) {
    move_place(c, 2u + c->levels);
    move_texel(c);
    if (c->levels)
        move_scalar(c, true);
    else
        give_number(c, 0);
    take(c);  // access
    if (c->failed || c->depth || c->samples) return NULL;
    bool real = is_float(LLVMTypeOf(c->operands[5]));
    return call_runtime(c, "write", real ? "_f" : c->is_signed ? "_s" : "_u", LLVMVoidTypeInContext(c->t->context));
}

static void move_gradient(texture_call *c) {
    move_vector(c, c->dimensions, false);
    move_vector(c, c->dimensions, false);
    move_scalar(c, false);
}

// Whether the first number is a level or a bias does not matter: kernels have no derivatives.
static void move_level(texture_call *c) {
    take(c);
    move_scalar(c, false);
    move_scalar(c, false);
}

static void move_coordinates(texture_call *c) {
    move_sampler(c);
    if (c->depth) take(c);
    move_vector(c, c->dimensions, false);
    move_layer(c);
}

// A gradient comes before the offset, a level after it; the runtime has the offset first.
static LLVMValueRef lower_sample(texture_call *c, bool compares) {
    move_coordinates(c);
    if (compares) move_scalar(c, false);
    if (!c->cube) give_number(c, c->dimensions);
    if (c->gradient) move_gradient(c);
    move_offset(c);
    if (!c->gradient) move_level(c);
    take(c);  // access
    if (c->samples || (c->gradient && c->dimensions == 1)) return NULL;
    char name[LONGEST_NAME];
    snprintf(name, sizeof name, "%s%s%s", c->gradient ? "gradient" : "sample", c->cube ? "_cube" : "",
             compares ? "_compare" : "");
    return call_for_texel(c, name);
}

static LLVMValueRef lower_gather(texture_call *c, bool compares) {
    move_coordinates(c);
    if (compares) move_scalar(c, false);
    move_offset(c);
    if (!c->depth) move_scalar(c, true);
    if (c->depth && !compares) give_number(c, 0);
    take(c);  // access
    if (c->samples || (!c->cube && c->dimensions != 2)) return NULL;
    char name[LONGEST_NAME];
    bool by_sign = c->cube && !is_float(texel_type(c));  // see runtime.metal
    snprintf(name, sizeof name, "gather%s%s%s", c->cube ? "_cube" : "", compares ? "_compare" : "",
             by_sign && c->is_signed ? "_signed" : "");
    return call_for_texel(c, name);
}

static LLVMValueRef lower_query(texture_call *c) {
    const char *what = c->what->function;
    bool of_level = strcmp(what, "width") == 0 || strcmp(what, "height") == 0 || strcmp(what, "depth") == 0;
    bool of_cubes = c->cube && strcmp(what, "array_size") == 0;
    if (of_level && c->levels)
        move_scalar(c, true);
    else if (of_level)
        give_number(c, 0);
    LLVMTypeRef type = LLVMTypeOf(c->call);
    return is_integer(type) ? call_runtime(c, what, of_cubes ? "_of_cubes" : "", type) : NULL;
}

// ---- Atomics: the first component of a texel ----

static void move_first(texture_call *c) {
    LLVMValueRef value = take(c);
    LLVMTypeRef type = LLVMTypeOf(value);
    bool known = !c->failed && LLVMGetTypeKind(type) == LLVMVectorTypeKind && LLVMGetVectorSize(type) == 4 &&
                 is_integer(LLVMGetElementType(type));
    give(c, known ? element(c, value, 0) : fail(c));
}

static LLVMValueRef first_of_four(texture_call *c, LLVMValueRef value) {
    LLVMValueRef none = LLVMConstNull(LLVMTypeOf(c->call));
    return LLVMBuildInsertElement(c->t->builder, none, value, LLVMConstInt(c->t->i32, 0, 0), "");
}

static const char *atomic_type(const texture_call *c, LLVMTypeRef value) {
    return LLVMGetIntTypeWidth(value) == 64 ? "_u64" : c->is_signed ? "_s" : "_u";
}

// Before the place the value to store, after it other values; then orders and the access.
static LLVMValueRef lower_atomic(texture_call *c) {
    const char *what = c->what->function;
    bool stores = strcmp(what, "store") == 0, loads = strcmp(what, "load") == 0;
    bool exchanges = strcmp(what, "compare_exchange") == 0;
    if (stores) move_first(c);
    move_place(c, exchanges ? 5 : stores || loads ? 2 : 3);
    if (exchanges) move_pointer(c);
    if (!stores && !loads) move_first(c);
    take(c), take(c);
    if (exchanges) take(c);
    if (c->failed) return NULL;
    LLVMTypeRef type = LLVMTypeOf(c->call), value = stores ? LLVMTypeOf(c->operands[1]) : NULL;
    if (!stores && !loads) value = LLVMTypeOf(c->operands[c->count - 1]);
    bool four_of = LLVMGetTypeKind(type) == LLVMVectorTypeKind && LLVMGetVectorSize(type) == 4;
    if (loads && four_of) value = LLVMGetElementType(type);
    if (!value || !is_integer(value)) return NULL;
    LLVMValueRef made = call_runtime(c, what, atomic_type(c, value), four_of ? value : type);
    return made && four_of ? first_of_four(c, made) : made;
}

// ---- One call ----

static LLVMValueRef lower(texture_call *c) {
    if (c->what->operation == GET_NULL) {
        LLVMTypeRef type = LLVMTypeOf(c->call);
        return LLVMGetTypeKind(type) == LLVMPointerTypeKind && !left(c) ? LLVMConstNull(type) : NULL;
    }
    move_pointer(c);
    switch (c->what->operation) {
        case READ: return lower_read(c);
        case WRITE: return lower_write(c);
        case SAMPLE: return lower_sample(c, false);
        case SAMPLE_COMPARE: return lower_sample(c, true);
        case GATHER: return lower_gather(c, false);
        case GATHER_COMPARE: return lower_gather(c, true);
        case ATOMIC: return lower_atomic(c);
        case QUERY: return lower_query(c);
        case FENCE: return call_runtime(c, "fence", "", LLVMTypeOf(c->call));
        default: return NULL;
    }
}

bool igi_air_is_texture_call(const char *name) {
    texture_call c = {0};
    return read_name(name, &c);
}

LLVMValueRef igi_air_lower_texture_call(air_translator *t, const char *name, LLVMValueRef call) {
    texture_call c = {.t = t, .call = call};
    return read_name(name, &c) ? lower(&c) : NULL;
}
