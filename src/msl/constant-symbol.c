// SPDX-License-Identifier: Apache-2.0
// Reading the symbols of function constants.
#include "msl/constant-symbol.h"

#include <stdlib.h>
#include <string.h>

typedef struct reader {
    const char *at;
    int depth;
    bool failed;
} reader;

static void skip_blanks(reader *r) {
    while (*r->at == ' ') r->at++;
}

static int64_t sum(reader *r);

static int64_t atom(reader *r) {
    skip_blanks(r);
    if (*r->at == '(' && r->depth < 64) {
        r->at++, r->depth++;
        int64_t value = sum(r);
        skip_blanks(r);
        if (*r->at == ')')
            r->at++;
        else
            r->failed = true;
        r->depth--;
        return value;
    }
    char *end;
    int64_t value = (int64_t)strtoull(r->at, &end, 0);
    if (end == r->at) r->failed = true;
    r->at = end;
    while (*r->at && strchr("uUlL", *r->at)) r->at++;
    return value;
}

static int64_t product(reader *r) {
    int64_t value = atom(r);
    for (skip_blanks(r); *r->at == '*' && !r->failed; skip_blanks(r)) {
        r->at++;
        value = (int64_t)((uint64_t)value * (uint64_t)atom(r));
    }
    return value;
}

static int64_t sum(reader *r) {
    int64_t value = product(r);
    for (skip_blanks(r); (*r->at == '+' || *r->at == '-') && !r->failed; skip_blanks(r)) {
        bool minus = *r->at++ == '-';
        int64_t next = product(r);
        value = (int64_t)(minus ? (uint64_t)value - (uint64_t)next : (uint64_t)value + (uint64_t)next);
    }
    return value;
}

bool igi_msl_constant_symbol_read(const char *symbol, igi_msl_constant_symbol *constant) {
    static const char prefix[] = "ig.fc.";
    if (strncmp(symbol, prefix, strlen(prefix)) != 0) return false;
    reader r = {.at = symbol + strlen(prefix)};
    int64_t id = sum(&r);
    const char *name = strrchr(symbol, '.');
    if (r.failed || *r.at != '.' || name <= r.at || id < 0 || id > UINT32_MAX) return false;
    *constant = (igi_msl_constant_symbol){(uint32_t)id, r.at + 1, (size_t)(name - r.at - 1), name + 1};
    return true;
}
