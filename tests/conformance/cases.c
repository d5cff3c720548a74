// SPDX-License-Identifier: Apache-2.0
#include "cases.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
    case_file *file;
    const char *numbers;
    int line;
    char *at;  // rest of the line
    const compilation *compilation;
    run_case **last;
    run_case *current;
    memory **last_memory;
    expectation **last_expectation;
} reader;

static void *allocate(reader *r, size_t bytes) {
    void *fresh = igi_arena_alloc(&r->file->arena, bytes);
    if (!fresh) abort();
    return memset(fresh, 0, bytes);
}

__attribute__((format(printf, 2, 3))) static bool wrong(reader *r, const char *format, ...) {
    if (r->file->error[0]) return false;
    int used = snprintf(r->file->error, sizeof r->file->error, "%d: ", r->line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->file->error + used, sizeof r->file->error - (size_t)used, format, arguments);
    va_end(arguments);
    return false;
}

// ---- Words ----

// The next word, NUL-terminated in place; NULL at the end of the line.
static char *word(reader *r) {
    r->at += strspn(r->at, " \t");
    if (!*r->at) return NULL;
    char *start = r->at;
    r->at += strcspn(r->at, " \t");
    if (*r->at) *r->at++ = 0;
    return start;
}

static const char *peek(reader *r) {
    r->at += strspn(r->at, " \t");
    return r->at;
}

static bool next_is(reader *r, const char *expected) {
    size_t length = strlen(expected);
    const char *at = peek(r);
    if (strncmp(at, expected, length) != 0 || (at[length] && at[length] != ' ')) return false;
    r->at += length;
    return true;
}

static bool parse_size(const char *text, ig_size *size) {
    unsigned long long v[3] = {1, 1, 1};
    int used = 0;
    int count = text ? sscanf(text, "%llu%n,%llu%n,%llu%n", &v[0], &used, &v[1], &used, &v[2], &used) : 0;
    if (count < 1 || text[used]) return false;
    *size = (ig_size){v[0], v[1], v[2]};
    return true;
}

static const expression *formula(reader *r, const char *text) {
    const char *why = NULL;
    const expression *e = expression_parse(&r->file->names, text, &why);
    if (!e) wrong(r, "'%s': %s", text, why);
    return e;
}

static bool number(reader *r, const char *text, long double *value) {
    const expression *e = text ? formula(r, text) : NULL;
    expression_scope scope = {.element = NULL};
    if (!e) return wrong(r, "a number is missing");
    *value = expression_value(e, &scope);
    return true;
}

// ---- Contents ----

typedef struct piece_list {
    piece *items;
    size_t count, capacity;
} piece_list;

static piece *new_piece(reader *r, piece_list *list) {
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 16;
        piece *items = allocate(r, capacity * sizeof *items);
        if (list->count) memcpy(items, list->items, list->count * sizeof *items);
        list->items = items;
        list->capacity = capacity;
    }
    return &list->items[list->count++];
}

// "@name": the numbers after "name:" at the start of a line of the .values file, to the next empty line.
static bool add_numbers(reader *r, piece_list *list, ig_type type, const char *name) {
    size_t length = strlen(name);
    const char *at = r->numbers;
    while (at && (strncmp(at, name, length) != 0 || at[length] != ':')) at = (at = strchr(at, '\n')) ? at + 1 : NULL;
    if (!at) return wrong(r, "there are no values '%s'", name);
    const char *end = strstr(at, "\n\n");
    char *next;
    for (at += length + 1; !end || at < end; at = next) {
        long double value = strtold(at, &next);
        if (next == at) break;
        *new_piece(r, list) = (piece){.kind = PIECE_VALUE, .type = type, .number = value, .repeat = 1};
    }
    return true;
}

// "5@0" is five zeros.
static bool add_value(reader *r, piece_list *list, ig_type type, const char *text) {
    if (text[0] == '@') return add_numbers(r, list, type, text + 1);
    piece *p = new_piece(r, list);
    const char *at = strchr(text, '@');
    *p = (piece){.kind = PIECE_VALUE, .type = type, .repeat = at ? strtoull(text, NULL, 0) : 1};
    p->value = formula(r, at ? at + 1 : text);
    return p->value != NULL;
}

static bool values(reader *r, ig_type type, contents *c) {
    piece_list list = {0};
    for (char *text = word(r); text; text = word(r))
        if (!add_value(r, &list, type, text)) return false;
    c->pieces = list.items;
    c->piece_count = list.count;
    return true;
}

// TYPE v v ... | pad N | address NAME[+N]
static bool records(reader *r, contents *c) {
    piece_list list = {0};
    ig_type type = IG_TYPE_COUNT;
    for (char *text = word(r); text; text = word(r)) {
        bool padding = strcmp(text, "pad") == 0, address = strcmp(text, "address") == 0;
        if (padding || address) {
            char *operand = word(r);
            if (!operand) return wrong(r, "'%s' needs a word after it", text);
            char *plus = address ? strchr(operand, '+') : NULL;
            if (plus) *plus = 0;
            piece *p = new_piece(r, &list);
            *p = (piece){.kind = padding ? PIECE_PADDING : PIECE_ADDRESS, .buffer = operand};
            p->value = formula(r, padding ? operand : plus ? plus + 1 : "0");
            if (!p->value) return false;
        } else if (!value_type(text, &type) && (type == IG_TYPE_COUNT || !add_value(r, &list, type, text))) {
            return wrong(r, "'%s' has no type before it", text);
        }
    }
    c->pieces = list.items;
    c->piece_count = list.count;
    return true;
}

// "= formula", ": v v", "iota", "zero" or nothing.
static bool initial(reader *r, memory *m) {
    if (next_is(r, "offset")) {
        long double offset;
        if (!number(r, word(r), &offset)) return false;
        m->offset = (uint64_t)offset;
    }
    if (next_is(r, "private")) m->storage = IG_STORAGE_PRIVATE;
    if (next_is(r, "managed")) m->storage = IG_STORAGE_MANAGED;
    if (!*peek(r) || next_is(r, "zero")) return (m->initial.formula = formula(r, "0")) != NULL;
    if (next_is(r, "iota")) return (m->initial.formula = formula(r, "i")) != NULL;
    if (next_is(r, "=")) return (m->initial.formula = formula(r, r->at)) != NULL;
    if (next_is(r, ":")) return values(r, m->type, &m->initial);
    return wrong(r, "'%s': expected =, :, iota or zero", r->at);
}

// "f32[4,8]" has x below 8 and y below 4. True when there are brackets.
static bool shape(reader *r, char *text, memory *m) {
    char *bracket = strchr(text, '[');
    if (!bracket) return false;
    *bracket++ = 0;
    uint64_t sizes[3];
    int count = 0;
    for (;; bracket++) {
        if (count == 3) return wrong(r, "a shape has up to three sizes");
        sizes[count++] = strtoull(bracket, &bracket, 0);
        if (*bracket != ',') break;
    }
    m->count = 1;
    for (int d = 0; d < 3; d++) {
        m->shape[d] = d < count ? sizes[count - 1 - d] : 1;
        m->count *= m->shape[d];
    }
    return true;
}

static bool memory_contents(reader *r, memory *m) {
    char *type = word(r);
    if (!type) return wrong(r, "a type is missing");
    m->shape[0] = m->shape[1] = m->shape[2] = m->count = 1;
    if (strcmp(type, "struct") == 0 || strcmp(type, "records") == 0) {
        m->records = true;
        m->bytes = type[0] == 's';
        long double count = 1;
        if (!m->bytes && !number(r, word(r), &count)) return false;
        m->count = m->shape[0] = (uint64_t)count;
        m->type = IG_TYPE_U8;
        return records(r, &m->initial);
    }
    bool array = shape(r, type, m);
    if (!value_type(type, &m->type)) return wrong(r, "unknown type '%s'", type);
    if (array) return initial(r, m);
    m->bytes = true;
    if (!values(r, m->type, &m->initial)) return false;
    m->count = m->shape[0] = m->initial.piece_count;
    return m->count ? true : wrong(r, "a value is missing");
}

// ---- Lines ----

static bool read_compile(reader *r) {
    compilation *c = allocate(r, sizeof *c);
    for (char *option = word(r); option; option = word(r)) {
        char *value = word(r);
        if (!value) return wrong(r, "'%s' needs a word after it", option);
        if (strcmp(option, "math") == 0) {
            c->math = strcmp(value, "safe") == 0 ? IG_MATH_SAFE : IG_MATH_FAST;
        } else if (strcmp(option, "std") == 0) {
            c->language_version = (uint32_t)strtoul(value, NULL, 10);
        } else if (strcmp(option, "include") == 0) {
            c->include_dir = value;
        } else if (strcmp(option, "define") == 0 && c->define_count < MAX_DEFINES) {
            char *equals = strchr(value, '=');
            if (equals) *equals = 0;
            c->defines[c->define_count++] = (ig_define){value, equals ? equals + 1 : NULL};
        } else {
            return wrong(r, "unknown option '%s'", option);
        }
    }
    r->compilation = c;
    return true;
}

static bool read_kernel(reader *r) {
    run_case *c = allocate(r, sizeof *c);
    char *name = word(r);
    if (!name) return wrong(r, "a kernel's name is missing");
    snprintf(c->kernel, sizeof c->kernel, "%s", name);
    c->line = r->line;
    c->compilation = r->compilation;
    c->repeat = 1;
    for (char *option = word(r); option; option = word(r)) {
        if (strcmp(option, "any-group") == 0) {
            c->any_group = true;
        } else if (strcmp(option, "group") == 0) {
            if (!parse_size(word(r), &c->group)) return wrong(r, "group needs X[,Y[,Z]]");
        } else if (strcmp(option, "grid") == 0 || strcmp(option, "groups") == 0 || strcmp(option, "indirect") == 0) {
            c->dispatch = option[0] == 'i' ? DISPATCH_INDIRECT : option[4] == 'p' ? DISPATCH_GROUPS : DISPATCH_THREADS;
            if (!parse_size(word(r), &c->grid)) return wrong(r, "%s needs X[,Y[,Z]]", option);
        } else if (strcmp(option, "repeat") == 0) {
            char *count = word(r);
            c->repeat = count ? (uint32_t)strtoul(count, NULL, 0) : 1;
        } else {
            return wrong(r, "unknown option '%s'", option);
        }
    }
    *r->last = r->current = c;
    r->last = &c->next;
    r->last_memory = &c->memories;
    r->last_expectation = &c->expectations;
    return true;
}

static bool read_memory(reader *r, bool bound) {
    memory *m = allocate(r, sizeof *m);
    char *name = word(r);
    if (!name) return wrong(r, "an index or name is missing");
    m->line = r->line;
    m->bound = bound;
    m->index = bound ? (uint32_t)strtoul(name, NULL, 0) : 0;
    snprintf(m->name, sizeof m->name, "%s", name);
    *r->last_memory = m;
    r->last_memory = &m->next;
    return memory_contents(r, m);
}

static bool read_threadgroup(reader *r) {
    threadgroup_memory *t = allocate(r, sizeof *t);
    long double index, length;
    if (!number(r, word(r), &index) || !number(r, word(r), &length)) return false;
    *t = (threadgroup_memory){r->current->threadgroup, (uint32_t)index, (uint64_t)length};
    r->current->threadgroup = t;
    return true;
}

static bool read_constant(reader *r) {
    run_case *c = r->current;
    char *name = word(r), *type = word(r), *end;
    if (!name || !type || c->constant_count == MAX_CONSTANTS) return wrong(r, "a constant is ID TYPE values");
    ig_function_constant *constant = &c->constants[c->constant_count++];
    constant->id = (uint32_t)strtoul(name, &end, 10);
    constant->name = *end ? name : NULL;
    if (!value_type(type, &constant->type)) return wrong(r, "unknown type '%s'", type);
    uint32_t size = ig_type_size(constant->type);
    char *bytes = allocate(r, 4 * sizeof(uint64_t));
    constant->value = bytes;
    for (char *text = word(r); text && constant->components < 4; text = word(r)) {
        long double value;
        if (!number(r, text, &value)) return false;
        value_write(constant->type, value, bytes + size * constant->components++);
    }
    return constant->components ? true : wrong(r, "a value is missing");
}

static bool read_link(reader *r) {
    run_case *c = r->current;
    for (char *name = word(r); name; name = word(r)) {
        if (c->linked_count == MAX_FUNCTIONS) return wrong(r, "too many linked functions");
        c->linked[c->linked_count++].name = name;
    }
    return true;
}

// INDEX NAME|- ...
static bool read_functions(reader *r) {
    function_table *t = allocate(r, sizeof *t);
    long double index;
    if (!number(r, word(r), &index)) return false;
    t->index = (uint32_t)index;
    t->next = r->current->tables;
    r->current->tables = t;
    for (char *name = word(r); name; name = word(r)) {
        if (t->count == MAX_FUNCTIONS) return wrong(r, "too many functions in a table");
        t->functions[t->count++] = strcmp(name, "-") == 0 ? NULL : name;
    }
    return true;
}

// exact | ulp N | abs E | rel E
static bool read_tolerance(reader *r, expectation *e) {
    static const struct {
        const char *name;
        tolerance_kind kind;
    } kinds[] = {{"ulp", TOLERANCE_ULP}, {"abs", TOLERANCE_ABSOLUTE}, {"rel", TOLERANCE_RELATIVE}};
    if (next_is(r, "exact")) return true;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!next_is(r, kinds[i].name)) continue;
        long double amount;
        if (!number(r, word(r), &amount)) return false;
        e->allowed = (tolerance){kinds[i].kind, (double)amount};
        return true;
    }
    return wrong(r, "'%s': expected exact, ulp, abs or rel", r->at);
}

static bool read_expectation(reader *r) {
    expectation *e = allocate(r, sizeof *e);
    char *name = word(r);
    if (!name) return wrong(r, "an argument's index is missing");
    snprintf(e->name, sizeof e->name, "%s", name);
    e->line = r->line;
    e->every = 1;
    *r->last_expectation = e;
    r->last_expectation = &e->next;
    char type[8] = "";
    size_t length = strcspn(peek(r), " ");
    if (length < sizeof type) memcpy(type, r->at, length);
    if (value_type(type, &e->type)) {
        r->at += length;
        e->has_type = true;
    }
    if (*peek(r) == '@') {  // @start or @start+count
        char *range = word(r) + 1;
        e->start = strtoull(range, &range, 0);
        e->count = *range == '+' ? strtoull(range + 1, NULL, 0) : 0;
    }
    if (next_is(r, "every")) {  // N+first
        char *range = word(r);
        e->every = range ? strtoull(range, &range, 0) : 0;
        if (!e->every) return wrong(r, "every needs N or N+FIRST");
        if (*range == '+') e->start = strtoull(range + 1, NULL, 0);
    }
    if (!read_tolerance(r, e)) return false;
    e->unordered = next_is(r, "unordered");
    if (next_is(r, "=")) return (e->wanted.formula = formula(r, r->at)) != NULL;
    if (next_is(r, ":")) return values(r, IG_TYPE_U8, &e->wanted);
    return wrong(r, "'%s': expected = or :", r->at);
}

static bool read_fails(reader *r) {
    r->current->fails = word(r);
    r->current->fails_text = peek(r);
    return r->current->fails ? true : wrong(r, "a status is missing");
}

static bool read_line(reader *r) {
    const char *why = NULL;
    char *first = word(r);
    if (!first || first[0] == '#') return true;
    if (strcmp(first, "compile") == 0) return read_compile(r);
    if (strcmp(first, "software") == 0) return r->file->software_only = true;
    if (strcmp(first, "kernel") == 0) return read_kernel(r);
    if (strcmp(first, "let") == 0)
        return expression_define(&r->file->names, r->at, &why) ? true : wrong(r, "'%s': %s", r->at, why);
    if (!r->current) return wrong(r, "'%s' before the first kernel", first);
    if (strcmp(first, "arg") == 0 || strcmp(first, "buffer") == 0) return read_memory(r, first[0] == 'a');
    if (strcmp(first, "threadgroup") == 0) return read_threadgroup(r);
    if (strcmp(first, "constant") == 0) return read_constant(r);
    if (strcmp(first, "link") == 0) return read_link(r);
    if (strcmp(first, "functions") == 0) return read_functions(r);
    if (strcmp(first, "expect") == 0) return read_expectation(r);
    if (strcmp(first, "fails") == 0) return read_fails(r);
    if (strcmp(first, "broken") == 0) return (r->current->broken = peek(r)) != NULL;
    return wrong(r, "unknown line '%s'", first);
}

// A line that ends in a backslash goes on in the next; both become one with spaces between.
static char *logical_line(char **text, int *lines) {
    char *line = *text, *at = line;
    *lines = 1;
    for (;;) {
        char *newline = strchr(at, '\n');
        if (!newline) {
            *text = at + strlen(at);
            return line;
        }
        if (newline == line || newline[-1] != '\\') {
            *newline = 0;
            *text = newline + 1;
            return line;
        }
        newline[-1] = newline[0] = ' ';
        at = newline + 1;
        ++*lines;
    }
}

bool case_file_parse(char *text, const char *numbers, case_file *file) {
    static const compilation plain = {.math = IG_MATH_FAST};
    *file = (case_file){.names.slots = VARIABLE_COUNT};
    file->names.arena = &file->arena;
    reader r = {.file = file, .numbers = numbers, .line = 1, .compilation = &plain, .last = &file->cases};
    while (*text && !file->error[0]) {
        int lines;
        r.at = logical_line(&text, &lines);
        read_line(&r);
        r.line += lines;
    }
    return !file->error[0];
}

void case_file_free(case_file *file) {
    igi_arena_free(&file->arena);
}
