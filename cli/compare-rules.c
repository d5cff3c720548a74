// SPDX-License-Identifier: Apache-2.0
// ingot compare: the file of rules.
//
//   # a comment
//   [steel_gemm_*  gemv_*]     for kernels that match one of these patterns
//   groups 2,2,1               as the options of `ingot run`: grid, groups, group, constant, arg, threadgroup
//   group 32,2,2
//   value M=64                 arguments, members of structures and function constants of that name
//   skip REASON                do not compare them
#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "console/output.h"
#include "core/file.h"
#include "core/memory.h"

typedef struct reader {
    const char *path;
    size_t line;
    compare_rules *rules;
    size_t capacity;
} reader;

static int wrong(const reader *r, const char *what, const char *text) {
    return cli_error(CLI_BAD_INPUT, "%s:%zu: %s: '%s'", r->path, r->line, what, text);
}

static compare_section *add_section(reader *r) {
    compare_rules *rules = r->rules;
    if (rules->count == r->capacity) {
        r->capacity = r->capacity ? 2 * r->capacity : 16;
        rules->sections = cli_realloc(rules->sections, r->capacity * sizeof *rules->sections);
    }
    rules->sections[rules->count] = (compare_section){0};
    return &rules->sections[rules->count++];
}

static int read_heading(reader *r, char *text) {
    char *end = strchr(text, ']');
    if (!end || end[1]) return wrong(r, "a section begins with [PATTERN...]", text);
    *end = '\0';
    compare_section *section = add_section(r);
    char *state = NULL;
    for (char *word = strtok_r(text + 1, " \t", &state); word; word = strtok_r(NULL, " \t", &state))
        cli_list_add(&section->patterns, word);
    return section->patterns.count ? CLI_CONTINUE : wrong(r, "a section needs a pattern", "[]");
}

static bool read_size(const char *text, ig_size *size) {
    uint64_t sides[3] = {1, 1, 1};
    size_t count = 0;
    for (bool more = true; more; count++) {
        size_t digits = strcspn(text, ",");
        if (count == 3 || !cli_parse_u64(text, digits, &sides[count]) || !sides[count]) return false;
        more = text[digits] == ',';
        text += digits + 1;
    }
    *size = (ig_size){sides[0], sides[1], sides[2]};
    return true;
}

static bool check_argument(const char *text) {
    uint32_t index;
    const char *rest;
    cli_spec spec = {0};
    if (!cli_split_index(text, &index, &rest)) return false;
    igi_skip(&rest, "raw:");
    bool ok = cli_spec_parse(rest, &spec, NULL) == IG_STATUS_OK;
    cli_spec_free(&spec);
    return ok;
}

static bool check_threadgroup(const char *text) {
    uint32_t index;
    uint64_t bytes;
    const char *rest;
    return cli_split_index(text, &index, &rest) && cli_parse_u64(rest, strlen(rest), &bytes) && bytes;
}

static bool check_constant(const char *text) {
    cli_spec spec = {0};
    const char *value = strchr(text, '=');
    bool ok = value && value > text && cli_constant_parse(value + 1, &spec, NULL) == IG_STATUS_OK;
    cli_spec_free(&spec);
    return ok;
}

static bool check_value(const char *text) {
    const char *value = strchr(text, '=');
    return value && value > text && value[1];
}

static int read_rule(reader *r, const char *word, const char *rest) {
    compare_plan *plan = &r->rules->sections[r->rules->count - 1].plan;
    const struct {
        const char *word;
        ig_size *size;
    } sizes[] = {{"grid", &plan->grid}, {"groups", &plan->groups}, {"group", &plan->group}};
    const struct {
        const char *word;
        cli_list *list;
        bool (*check)(const char *text);
        const char *form;
    } lists[] = {
        {"value", &plan->values, check_value, "value takes NAME=VALUE[,VALUE...]"},
        {"constant", &plan->constants, check_constant, "constant takes ID=TYPE:VALUE"},
        {"arg", &plan->arguments, check_argument, "arg takes INDEX=SPEC, as ingot run --arg does for buffers"},
        {"threadgroup", &plan->threadgroup, check_threadgroup, "threadgroup takes INDEX=BYTES"},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (strcmp(word, sizes[i].word) == 0)
            return read_size(rest, sizes[i].size) ? CLI_CONTINUE : wrong(r, "a size is X[,Y[,Z]]", rest);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        if (strcmp(word, lists[i].word) != 0) continue;
        if (!lists[i].check(rest)) return wrong(r, lists[i].form, rest);
        cli_list_add(lists[i].list, rest);
        return CLI_CONTINUE;
    }
    if (strcmp(word, "skip") != 0)
        return wrong(r, "a rule is grid, groups, group, value, constant, arg, threadgroup or skip", word);
    plan->skip = rest;
    return CLI_CONTINUE;
}

// Cuts off white space and a comment. The line is changed.
static char *trim(char *line) {
    line[strcspn(line, "#\r")] = '\0';
    while (isspace((unsigned char)*line)) line++;
    for (size_t length = strlen(line); length && isspace((unsigned char)line[length - 1]);) line[--length] = '\0';
    return line;
}

static int read_line(reader *r, char *line) {
    line = trim(line);
    if (!*line) return CLI_CONTINUE;
    if (*line == '[') return read_heading(r, line);
    if (!r->rules->count) return wrong(r, "a rule needs a section before it, like [*]", line);
    char *rest = line + strcspn(line, " \t");
    if (*rest) *rest++ = '\0';
    rest += strspn(rest, " \t");
    return read_rule(r, line, rest);
}

int compare_rules_load(const char *path, compare_rules *rules) {
    reader r = {.path = path, .rules = rules};
    ig_error error = {0};
    size_t length = 0;
    ig_status status = igi_file_read(path, &rules->text, &length, &error);
    if (status != IG_STATUS_OK) return cli_report_and_clear(status, &error);
    if (memchr(rules->text, 0, length)) return cli_error(CLI_BAD_INPUT, "%s is not a text file", path);
    int result = CLI_CONTINUE;
    for (char *line = rules->text; line && result == CLI_CONTINUE;) {
        char *end = strchr(line, '\n');
        if (end) *end = '\0';
        r.line++;
        result = read_line(&r, line);
        line = end ? end + 1 : NULL;
    }
    return result;
}

void compare_rules_free(compare_rules *rules) {
    for (size_t i = 0; i < rules->count; i++) {
        cli_list_free(&rules->sections[i].patterns);
        compare_plan_free(&rules->sections[i].plan);
    }
    free(rules->sections);
    free(rules->text);
    *rules = (compare_rules){0};
}

// ---- A kernel's ----

static bool matches(const compare_section *section, const char *kernel) {
    for (size_t i = 0; i < section->patterns.count; i++)
        if (fnmatch(section->patterns.items[i], kernel, 0) == 0) return true;
    return false;
}

static void append(cli_list *to, const cli_list *from) {
    for (size_t i = 0; i < from->count; i++) cli_list_add(to, from->items[i]);
}

void compare_plan_make(const compare_rules *rules, const char *kernel, compare_plan *plan) {
    *plan = (compare_plan){0};
    for (size_t i = 0; i < rules->count; i++) {
        const compare_plan *rule = &rules->sections[i].plan;
        if (!matches(&rules->sections[i], kernel)) continue;
        if (rule->grid.x) plan->grid = rule->grid, plan->groups = (ig_size){0};
        if (rule->groups.x) plan->groups = rule->groups, plan->grid = (ig_size){0};
        if (rule->group.x) plan->group = rule->group;
        if (rule->skip) plan->skip = rule->skip;
        append(&plan->values, &rule->values);
        append(&plan->constants, &rule->constants);
        append(&plan->arguments, &rule->arguments);
        append(&plan->threadgroup, &rule->threadgroup);
    }
}

void compare_plan_free(compare_plan *plan) {
    cli_list_free(&plan->values);
    cli_list_free(&plan->constants);
    cli_list_free(&plan->arguments);
    cli_list_free(&plan->threadgroup);
}

const char *compare_find(const cli_list *list, const char *name) {
    size_t length = strlen(name);
    for (size_t i = list->count; i-- > 0;)
        if (strncmp(list->items[i], name, length) == 0 && list->items[i][length] == '=')
            return list->items[i] + length + 1;
    return NULL;
}

const char *compare_find_index(const cli_list *list, uint32_t index) {
    for (size_t i = list->count; i-- > 0;) {
        uint32_t given;
        const char *rest;
        if (cli_split_index(list->items[i], &given, &rest) && given == index) return rest;
    }
    return NULL;
}
