// SPDX-License-Identifier: Apache-2.0
#include "expression.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "values.h"

enum { MAX_ARGUMENTS = 4, MAX_NAME = 24 };

typedef enum operation {
    OP_NUMBER,
    OP_SLOT,
    OP_ELEMENT,  // $name[a]
    OP_CALL,     // of a function of the list below
    OP_LET,      // of a definition
    OP_LOOP,
    OP_CAST,
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_QUOTIENT,
    OP_REMAINDER,
    OP_LESS,
    OP_LESS_EQUAL,
    OP_GREATER,
    OP_GREATER_EQUAL,
    OP_EQUAL,
    OP_NOT_EQUAL,
    OP_AND,
    OP_OR,
    OP_BIT_AND,
    OP_BIT_OR,
    OP_BIT_XOR,
    OP_SHIFT_LEFT,
    OP_SHIFT_RIGHT,
    OP_NEGATE,
    OP_NOT,
    OP_COMPLEMENT,
    OP_CHOOSE,
} operation;

typedef long double (*function1)(long double);
typedef long double (*function2)(long double, long double);

struct expression {
    operation op;
    long double number;
    int slot;      // SLOT and LOOP
    int function;  // CALL, LOOP (index of the kind) and CAST (type)
    char name[MAX_NAME];
    const struct definition *definition;
    const expression *a[MAX_ARGUMENTS];
};

typedef struct definition {
    struct definition *next;
    char name[MAX_NAME];
    int parameter_count, parameters[MAX_ARGUMENTS];  // slots
    char parameter_names[MAX_ARGUMENTS][MAX_NAME];
    const expression *body;
} definition;

// ---- Functions ----

static long double least(long double a, long double b) {
    return a < b ? a : b;
}
static long double most(long double a, long double b) {
    return a > b ? a : b;
}

static long double sign(long double a) {
    return a > 0 ? 1 : a < 0 ? -1 : 0;
}

// Two rounds of a 32-bit integer hash; 24 bits so that a float holds it exactly. generate.py has the same.
static long double pseudo_random(long double seed, long double index) {
    uint32_t h = (uint32_t)index * 0x9e3779b9u + (uint32_t)seed * 0x85ebca6bu;
    for (int round = 0; round < 2; round++) {
        h ^= h >> 16, h *= 0x7feb352du;
        h ^= h >> 15, h *= 0x846ca68bu;
        h ^= h >> 16;
    }
    return (long double)(h >> 8) / 0x1p23L - 1;
}

// Products modulo 2^64, which a long double cannot hold on its way there.
static long double multiply_64(long double a, long double b) {
    uint64_t x, y;
    value_write(IG_TYPE_U64, a, &x);
    value_write(IG_TYPE_U64, b, &y);
    return (long double)(x * y);
}

static long double gcd(long double a, long double b) {
    return b == 0 ? a : gcd(b, fmodl(a, b));
}

static const struct {
    const char *name;
    int count;
    function1 one;
    function2 two;
} functions[] = {
    {"floor", 1, floorl, NULL},      {"ceil", 1, ceill, NULL},         {"trunc", 1, truncl, NULL},
    {"round", 1, roundl, NULL},      {"rint", 1, rintl, NULL},         {"abs", 1, fabsl, NULL},
    {"sqrt", 1, sqrtl, NULL},        {"exp", 1, expl, NULL},           {"log", 1, logl, NULL},
    {"exp2", 1, exp2l, NULL},        {"log2", 1, log2l, NULL},         {"log10", 1, log10l, NULL},
    {"sin", 1, sinl, NULL},          {"cos", 1, cosl, NULL},           {"tan", 1, tanl, NULL},
    {"asin", 1, asinl, NULL},        {"acos", 1, acosl, NULL},         {"atan", 1, atanl, NULL},
    {"sinh", 1, sinhl, NULL},        {"cosh", 1, coshl, NULL},         {"tanh", 1, tanhl, NULL},
    {"erf", 1, erfl, NULL},          {"sign", 1, sign, NULL},          {"pow", 2, NULL, powl},
    {"fmod", 2, NULL, fmodl},        {"atan2", 2, NULL, atan2l},       {"min", 2, NULL, least},
    {"max", 2, NULL, most},          {"hypot", 2, NULL, hypotl},       {"gcd", 2, NULL, gcd},
    {"rnd", 2, NULL, pseudo_random}, {"copysign", 2, NULL, copysignl}, {"mul64", 2, NULL, multiply_64},
};
static const char *const loops[] = {"sum", "product", "least", "most", "count", "bit_and", "bit_or", "bit_xor"};
enum { LOOP_SUM, LOOP_PRODUCT, LOOP_LEAST, LOOP_MOST, LOOP_COUNT, LOOP_AND, LOOP_OR, LOOP_XOR, LOOP_KINDS };

// ---- Parsing ----

typedef struct parser {
    expression_names *names;
    const definition *inside;  // definition being parsed: its parameters are names
    const char *at;
    const char *why;
    char loop_names[8][MAX_NAME];
    int loop_slots[8], loop_depth;
} parser;

static const expression *parse_choice(parser *p);

static expression *make(parser *p, operation op) {
    expression *e = igi_arena_alloc(p->names->arena, sizeof *e);
    if (!e) abort();
    memset(e, 0, sizeof *e);
    e->op = op;
    return e;
}

static const expression *wrong(parser *p, const char *why) {
    if (!p->why) p->why = why;
    return make(p, OP_NUMBER);
}

static void skip_space(parser *p) {
    while (isspace((unsigned char)*p->at)) p->at++;
}

static bool take(parser *p, const char *token) {
    skip_space(p);
    size_t length = strlen(token);
    if (strncmp(p->at, token, length) != 0) return false;
    p->at += length;
    return true;
}

static bool take_name(parser *p, char *name) {
    skip_space(p);
    size_t length = 0;
    while (isalnum((unsigned char)p->at[length]) || p->at[length] == '_') length++;
    if (length == 0 || length >= MAX_NAME) return false;
    memcpy(name, p->at, length);
    name[length] = 0;
    p->at += length;
    return true;
}

static const expression *parse_number(parser *p) {
    expression *e = make(p, OP_NUMBER);
    char *end, *integer_end;
    e->number = strtold(p->at, &end);
    // On machines where long double is a double, only this keeps all 64 bits of an integer.
    uint64_t integer = strtoull(p->at, &integer_end, 0);
    if (integer_end == end) e->number = (long double)integer;
    p->at = end;
    return e;
}

static int parse_arguments(parser *p, const expression **a, int limit) {
    int count = 0;
    if (take(p, ")")) return 0;
    do {
        const expression *e = parse_choice(p);
        if (count < limit) a[count] = e;
        count++;
    } while (take(p, ","));
    if (!take(p, ")")) wrong(p, "')' is missing");
    return count;
}

static int new_slot(parser *p) {
    if (p->names->slots < EXPRESSION_SLOTS) return p->names->slots++;
    wrong(p, "too many loops and parameters in one file");
    return EXPRESSION_SLOTS - 1;
}

// kind(k, from, to, e)
static const expression *parse_loop(parser *p, int kind) {
    expression *e = make(p, OP_LOOP);
    e->function = kind;
    if (p->loop_depth == 8) return wrong(p, "loops are nested too deep");
    char *name = p->loop_names[p->loop_depth];
    if (!take_name(p, name) || !take(p, ",")) return wrong(p, "a loop is kind(k, from, to, e)");
    e->a[0] = parse_choice(p);
    if (!take(p, ",")) return wrong(p, "a loop is kind(k, from, to, e)");
    e->a[1] = parse_choice(p);
    if (!take(p, ",")) return wrong(p, "a loop is kind(k, from, to, e)");
    e->slot = p->loop_slots[p->loop_depth++] = new_slot(p);
    e->a[2] = parse_choice(p);
    p->loop_depth--;
    if (!take(p, ")")) return wrong(p, "')' is missing");
    return e;
}

static const expression *parse_call(parser *p, const char *name) {
    for (int kind = 0; kind < LOOP_KINDS; kind++)
        if (strcmp(loops[kind], name) == 0) return parse_loop(p, kind);
    expression *e = make(p, OP_CALL);
    int count = parse_arguments(p, e->a, MAX_ARGUMENTS);
    ig_type type;
    if (value_type(name, &type) && count == 1) {
        e->op = OP_CAST;
        e->function = (int)type;
        return e;
    }
    for (const definition *d = p->names->definitions; d; d = d->next) {
        if (strcmp(d->name, name) != 0 || d->parameter_count != count) continue;
        e->op = OP_LET;
        e->definition = d;
        return e;
    }
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        if (strcmp(functions[f].name, name) != 0 || functions[f].count != count) continue;
        e->function = (int)f;
        return e;
    }
    return wrong(p, "unknown function, or wrong number of arguments");
}

static const expression *parse_variable(parser *p, const char *name) {
    static const char *const variables[VARIABLE_COUNT] = {"i", "x", "y", "z", "n", "gx", "gy", "gz", "nx", "ny", "nz"};
    expression *e = make(p, OP_SLOT);
    for (int d = p->loop_depth - 1; d >= 0; d--)
        if (strcmp(p->loop_names[d], name) == 0) return e->slot = p->loop_slots[d], e;
    for (int k = 0; p->inside && k < p->inside->parameter_count; k++)
        if (strcmp(p->inside->parameter_names[k], name) == 0) return e->slot = p->inside->parameters[k], e;
    for (int v = 0; v < VARIABLE_COUNT; v++)
        if (strcmp(variables[v], name) == 0) return e->slot = v, e;
    for (const definition *d = p->names->definitions; d; d = d->next)
        if (strcmp(d->name, name) == 0 && d->parameter_count == 0) return e->op = OP_LET, e->definition = d, e;
    e->op = OP_NUMBER;
    if (strcmp(name, "pi") == 0) return e->number = 3.14159265358979323846264338327950288L, e;
    if (strcmp(name, "inf") == 0) return e->number = (long double)INFINITY, e;
    if (strcmp(name, "nan") == 0) return e->number = (long double)NAN, e;
    if (strcmp(name, "any") == 0) return e->number = VALUE_ANY, e;
    return wrong(p, "unknown name");
}

static const expression *parse_primary(parser *p) {
    char name[MAX_NAME];
    skip_space(p);
    if (isdigit((unsigned char)*p->at) || *p->at == '.') return parse_number(p);
    if (take(p, "(")) {
        const expression *e = parse_choice(p);
        return take(p, ")") ? e : wrong(p, "')' is missing");
    }
    if (take(p, "$")) {
        expression *e = make(p, OP_ELEMENT);
        if (!take_name(p, e->name) || !take(p, "[")) return wrong(p, "$name[index] is how arguments are read");
        e->a[0] = parse_choice(p);
        return take(p, "]") ? e : wrong(p, "']' is missing");
    }
    if (!take_name(p, name)) return wrong(p, "a value is missing");
    return take(p, "(") ? parse_call(p, name) : parse_variable(p, name);
}

static const expression *parse_unary(parser *p) {
    static const struct {
        const char *token;
        operation op;
    } prefixes[] = {{"-", OP_NEGATE}, {"!", OP_NOT}, {"~", OP_COMPLEMENT}};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (!take(p, prefixes[i].token)) continue;
        expression *e = make(p, prefixes[i].op);
        e->a[0] = parse_unary(p);
        return e;
    }
    return parse_primary(p);
}

// Longer tokens come before their prefixes.
static const struct {
    const char *token;
    int level;
    operation op;
} operators[] = {
    {"||", 1, OP_OR},          {"&&", 2, OP_AND},        {"|", 3, OP_BIT_OR},         {"^", 4, OP_BIT_XOR},
    {"&", 5, OP_BIT_AND},      {"==", 6, OP_EQUAL},      {"!=", 6, OP_NOT_EQUAL},     {"<<", 8, OP_SHIFT_LEFT},
    {">>", 8, OP_SHIFT_RIGHT}, {"<=", 7, OP_LESS_EQUAL}, {">=", 7, OP_GREATER_EQUAL}, {"<", 7, OP_LESS},
    {">", 7, OP_GREATER},      {"+", 9, OP_ADD},         {"-", 9, OP_SUBTRACT},       {"//", 10, OP_QUOTIENT},
    {"*", 10, OP_MULTIPLY},    {"/", 10, OP_DIVIDE},     {"%", 10, OP_REMAINDER},
};

static int find_operator(parser *p) {
    skip_space(p);
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (strncmp(p->at, operators[i].token, strlen(operators[i].token)) == 0) return (int)i;
    return -1;
}

static const expression *parse_binary(parser *p, int level) {
    const expression *left = parse_unary(p);
    for (;;) {
        int found = find_operator(p);
        if (found < 0 || operators[found].level < level) return left;
        p->at += strlen(operators[found].token);
        expression *e = make(p, operators[found].op);
        e->a[0] = left;
        e->a[1] = parse_binary(p, operators[found].level + 1);
        left = e;
    }
}

static const expression *parse_choice(parser *p) {
    const expression *condition = parse_binary(p, 1);
    if (!take(p, "?")) return condition;
    expression *e = make(p, OP_CHOOSE);
    e->a[0] = condition;
    e->a[1] = parse_choice(p);
    if (!take(p, ":")) return wrong(p, "':' is missing");
    e->a[2] = parse_choice(p);
    return e;
}

static const expression *parse_all(parser *p, const char **why) {
    const expression *e = parse_choice(p);
    skip_space(p);
    if (*p->at) wrong(p, "the formula goes on where it should end");
    *why = p->why;
    return p->why ? NULL : e;
}

const expression *expression_parse(expression_names *names, const char *text, const char **why) {
    parser p = {.names = names, .at = text};
    int slots = names->slots;
    const expression *e = parse_all(&p, why);
    names->slots = slots;  // definitions that follow are not called from here, so they may share them
    return e;
}

bool expression_define(expression_names *names, const char *text, const char **why) {
    definition *d = igi_arena_alloc(names->arena, sizeof *d);
    if (!d) abort();
    memset(d, 0, sizeof *d);
    parser p = {.names = names, .inside = d, .at = text};
    *why = "a definition is name = e or name(a, b) = e";
    if (!take_name(&p, d->name)) return false;
    if (take(&p, "(")) {
        do {
            int k = d->parameter_count++;
            if (k == MAX_ARGUMENTS || !take_name(&p, d->parameter_names[k])) return false;
            d->parameters[k] = new_slot(&p);
        } while (take(&p, ","));
        if (!take(&p, ")")) return false;
    }
    if (!take(&p, "=")) return false;
    d->body = parse_all(&p, why);
    d->next = names->definitions;
    names->definitions = d;
    return d->body != NULL;
}

// ---- Values ----

static uint64_t bits_of(long double v) {
    uint64_t bits;
    value_write(IG_TYPE_U64, v, &bits);
    return bits;
}

static long double binary_value(operation op, long double a, long double b) {
    switch (op) {
        case OP_ADD: return a + b;
        case OP_SUBTRACT: return a - b;
        case OP_MULTIPLY: return a * b;
        case OP_DIVIDE: return a / b;
        case OP_QUOTIENT: return floorl(a / b);
        case OP_REMAINDER: return fmodl(a, b);
        case OP_LESS: return a < b;
        case OP_LESS_EQUAL: return a <= b;
        case OP_GREATER: return a > b;
        case OP_GREATER_EQUAL: return a >= b;
        case OP_EQUAL: return a == b;
        case OP_NOT_EQUAL: return a != b;
        case OP_BIT_AND: return bits_of(a) & bits_of(b);
        case OP_BIT_OR: return bits_of(a) | bits_of(b);
        case OP_BIT_XOR: return bits_of(a) ^ bits_of(b);
        case OP_SHIFT_LEFT: return bits_of(a) << (bits_of(b) & 63);
        case OP_SHIFT_RIGHT: return floorl(ldexpl(a, -(int)b));
        default: return (long double)NAN;
    }
}

static long double loop_value(const expression *e, expression_scope *s) {
    static const long double start[LOOP_KINDS] = {0, 1, (long double)INFINITY, -(long double)INFINITY, 0, -1, 0, 0};
    long double from = expression_value(e->a[0], s), to = expression_value(e->a[1], s), total = start[e->function];
    for (long double k = from; k < to; k++) {
        s->slots[e->slot] = k;
        long double v = expression_value(e->a[2], s);
        switch (e->function) {
            case LOOP_SUM: total += v; break;
            case LOOP_PRODUCT: total *= v; break;
            case LOOP_LEAST: total = least(v, total); break;
            case LOOP_MOST: total = most(v, total); break;
            case LOOP_AND: total = binary_value(OP_BIT_AND, total, v); break;
            case LOOP_OR: total = binary_value(OP_BIT_OR, total, v); break;
            case LOOP_XOR: total = binary_value(OP_BIT_XOR, total, v); break;
            default: total += v != 0; break;
        }
    }
    return total;
}

static long double let_value(const expression *e, expression_scope *s) {
    const definition *d = e->definition;
    long double given[MAX_ARGUMENTS], kept[MAX_ARGUMENTS];
    for (int k = 0; k < d->parameter_count; k++) given[k] = expression_value(e->a[k], s);
    for (int k = 0; k < d->parameter_count; k++)
        kept[k] = s->slots[d->parameters[k]], s->slots[d->parameters[k]] = given[k];
    long double value = expression_value(d->body, s);
    for (int k = 0; k < d->parameter_count; k++) s->slots[d->parameters[k]] = kept[k];
    return value;
}

static long double call_value(const expression *e, expression_scope *s) {
    long double a = expression_value(e->a[0], s);
    if (functions[e->function].count == 1) return functions[e->function].one(a);
    return functions[e->function].two(a, expression_value(e->a[1], s));
}

long double expression_value(const expression *e, expression_scope *s) {
    switch (e->op) {
        case OP_NUMBER: return e->number;
        case OP_SLOT: return s->slots[e->slot];
        case OP_ELEMENT:
            return s->element ? s->element(s->user, e->name, expression_value(e->a[0], s)) : (long double)NAN;
        case OP_CALL: return call_value(e, s);
        case OP_LET: return let_value(e, s);
        case OP_LOOP: return loop_value(e, s);
        case OP_CAST: return value_round((ig_type)e->function, expression_value(e->a[0], s));
        case OP_AND: return expression_value(e->a[0], s) != 0 && expression_value(e->a[1], s) != 0;
        case OP_OR: return expression_value(e->a[0], s) != 0 || expression_value(e->a[1], s) != 0;
        case OP_NEGATE: return -expression_value(e->a[0], s);
        case OP_NOT: return expression_value(e->a[0], s) == 0;
        case OP_COMPLEMENT: return ~bits_of(expression_value(e->a[0], s));
        case OP_CHOOSE: return expression_value(expression_value(e->a[0], s) != 0 ? e->a[1] : e->a[2], s);
        default: {
            long double a = expression_value(e->a[0], s);
            return binary_value(e->op, a, expression_value(e->a[1], s));
        }
    }
}
