// SPDX-License-Identifier: Apache-2.0
// Formulas of .expect files: C operators over long doubles.
//
//   + - * / %  // (quotient, rounded down)  < <= > >= == != && || !  & | ^ ~ << >>  ?:  ( )
//   i x y z    the element's index, and its place in the array's shape (x runs fastest)
//   n          number of elements of the array
//   gx gy gz   threads of a threadgroup;  nx ny nz  threads of the grid
//   $0[e]      element e of what argument 0 (or buffer NAME: $NAME[e]) held before the run
//   sum(k, from, to, e)  product  least  most  count  bit_and  bit_or  bit_xor   over k from `from` to below `to`
//   f32(e) f16(e) ... u8(e)    rounded or wrapped to that type
//   rnd(seed, e)    pseudo-random in [-1, 1), exact in 24 bits
//   min max floor ceil trunc round rint abs sqrt exp log exp2 log2 sin cos tan tanh pow fmod atan2 erf fma sat...
//   pi inf nan any (which everything matches)
#ifndef INGOT_TESTS_EXPRESSION_H
#define INGOT_TESTS_EXPRESSION_H

#include <stdbool.h>

#include "core/arena.h"

enum { EXPRESSION_SLOTS = 96 };

typedef enum expression_variable {
    VARIABLE_I,
    VARIABLE_X,
    VARIABLE_Y,
    VARIABLE_Z,
    VARIABLE_N,
    VARIABLE_GX,
    VARIABLE_GY,
    VARIABLE_GZ,
    VARIABLE_NX,
    VARIABLE_NY,
    VARIABLE_NZ,
    VARIABLE_COUNT,
} expression_variable;

typedef struct expression expression;

// Names of a file: `let name = e` and `let name(a, b) = e`, and the slots their arguments and loops use.
typedef struct expression_names {
    igi_arena *arena;
    struct definition *definitions;
    int slots;  // in use; starts at VARIABLE_COUNT
} expression_names;

typedef struct expression_scope {
    long double slots[EXPRESSION_SLOTS];
    // Element of an argument; NaN when there is none.
    long double (*element)(void *user, const char *name, long double index);
    void *user;
} expression_scope;

// owns: what comes back lives in the arena. NULL with *why set when the text is wrong.
const expression *expression_parse(expression_names *names, const char *text, const char **why);
// "name = e" or "name(a, b) = e". False with *why set when it is wrong.
bool expression_define(expression_names *names, const char *text, const char **why);
long double expression_value(const expression *e, expression_scope *scope);

#endif
