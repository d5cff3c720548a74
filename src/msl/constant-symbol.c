// SPDX-License-Identifier: Apache-2.0
// Symbols of function constants. A label cannot hold a computed number, so the sum is done here.
#include "msl/constant-symbol.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char prefix[] = "ig.fc.";

enum { MAX_DEPTH = 32 };

typedef struct reader {
    const char *at;
    int depth;
    bool wrong;
} reader;

static const struct {
    const char *text;
    int rank;  // higher binds tighter
} operators[] = {{"|", 1}, {"^", 2}, {"&", 3}, {"<<", 4}, {">>", 4}, {"+", 5}, {"-", 5}, {"*", 6}, {"/", 6}, {"%", 6}};
enum { OPERATOR_COUNT = sizeof operators / sizeof *operators, TIGHTEST = 6 };

static int64_t read_expression(reader *r, int rank);

static void skip_blanks(reader *r) {
    while (isspace((unsigned char)*r->at)) r->at++;
}

static int64_t read_number(reader *r) {
    char *end;
    uint64_t value = strtoull(r->at, &end, 0);
    if (!isdigit((unsigned char)*r->at) || value > INT32_MAX) r->wrong = true;
    while (*end && strchr("uUlL", *end)) end++;
    r->at = end;
    return (int64_t)value;
}

static int64_t read_operand(reader *r) {
    skip_blanks(r);
    if (*r->at != '(') return read_number(r);
    if (++r->depth > MAX_DEPTH) r->wrong = true;
    r->at++;
    int64_t value = r->wrong ? 0 : read_expression(r, 1);
    skip_blanks(r);
    if (*r->at == ')')
        r->at++;
    else
        r->wrong = true;
    r->depth--;
    return value;
}

static const char *read_operator(reader *r, int rank) {
    skip_blanks(r);
    for (size_t i = 0; i < OPERATOR_COUNT; i++) {
        size_t length = strlen(operators[i].text);
        if (operators[i].rank != rank || strncmp(r->at, operators[i].text, length) != 0) continue;
        r->at += length;
        return operators[i].text;
    }
    return NULL;
}

static int64_t combine(reader *r, char operation, int64_t a, int64_t b) {
    bool divides = operation == '/' || operation == '%', shifts = operation == '<' || operation == '>';
    if ((divides && b == 0) || (shifts && (b < 0 || b > 31))) {
        r->wrong = true;
        return 0;
    }
    int64_t result = 0;
    switch (operation) {
        case '|': return a | b;
        case '^': return a ^ b;
        case '&': return a & b;
        case '+': result = a + b; break;
        case '-': result = a - b; break;
        case '*': result = a * b; break;
        case '/': return a / b;
        case '%': return a % b;
        case '<': result = a * ((int64_t)1 << b); break;
        default: return a >> b;
    }
    // Operands stay within 32 bits, so the next step cannot overflow either.
    if (result > INT32_MAX || result < INT32_MIN) r->wrong = true;
    return r->wrong ? 0 : result;
}

static int64_t read_expression(reader *r, int rank) {
    if (rank > TIGHTEST) return read_operand(r);
    int64_t value = read_expression(r, rank + 1);
    for (const char *operation; !r->wrong && (operation = read_operator(r, rank));)
        value = combine(r, *operation, value, read_expression(r, rank + 1));
    return value;
}

bool igi_is_constant_symbol(const char *symbol) {
    return strncmp(symbol, prefix, strlen(prefix)) == 0;
}

bool igi_constant_symbol_read(const char *symbol, igi_constant_symbol *read) {
    if (!igi_is_constant_symbol(symbol)) return false;
    reader r = {.at = symbol + strlen(prefix)};
    int64_t id = read_expression(&r, 1);
    skip_blanks(&r);
    const char *name = strrchr(symbol, '.');
    if (r.wrong || *r.at != '.' || name <= r.at || id < 0 || id > UINT16_MAX) return false;
    *read = (igi_constant_symbol){(uint32_t)id, r.at + 1, (size_t)(name - r.at - 1), name + 1};
    return true;
}
