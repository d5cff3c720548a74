// SPDX-License-Identifier: Apache-2.0
// The option parser.
#include "console/options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "console/output.h"
#include "core/nearest.h"

void cli_list_add(cli_list *list, const char *item) {
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? list->capacity * 2 : 8;
        list->items = cli_realloc(list->items, list->capacity * sizeof *list->items);
    }
    list->items[list->count++] = item;
}

void cli_list_free(cli_list *list) {
    free(list->items);
    *list = (cli_list){0};
}

bool cli_parse_u64(const char *text, size_t length, uint64_t *value) {
    bool hexadecimal = length > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *digits = hexadecimal ? "0123456789abcdef" : "0123456789";
    uint64_t base = hexadecimal ? 16 : 10, result = 0;
    if (length == 0) return false;
    for (size_t i = hexadecimal ? 2 : 0; i < length; i++) {
        char c = text[i] >= 'A' && text[i] <= 'F' ? (char)(text[i] - 'A' + 'a') : text[i];
        const char *digit = c ? strchr(digits, c) : NULL;
        if (!digit || __builtin_mul_overflow(result, base, &result) ||
            __builtin_add_overflow(result, (uint64_t)(digit - digits), &result))
            return false;
    }
    *value = result;
    return true;
}

static const cli_option common_options[] = {
    {0, "color", CLI_CHOICE, &cli_color_mode, "auto|always|never", "colours in the output (default auto)"},
    {'h', "help", CLI_FLAG, NULL, NULL, "show this help"},
};
enum { COMMON_COUNT = sizeof common_options / sizeof *common_options };

// The command's own options first, then the common ones; NULL past the end.
static const cli_option *option_at(const cli_syntax *syntax, size_t index) {
    if (index < syntax->option_count) return &syntax->options[index];
    index -= syntax->option_count;
    return index < COMMON_COUNT ? &common_options[index] : NULL;
}

static const cli_option *find_long(const cli_syntax *syntax, const char *name, size_t length) {
    for (size_t i = 0;; i++) {
        const cli_option *option = option_at(syntax, i);
        if (!option || (strlen(option->name) == length && memcmp(option->name, name, length) == 0)) return option;
    }
}

static const cli_option *find_short(const cli_syntax *syntax, char letter) {
    for (size_t i = 0;; i++) {
        const cli_option *option = option_at(syntax, i);
        if (!option || option->letter == letter) return option;
    }
}

static int unknown_long(const cli_syntax *syntax, const char *name, size_t length) {
    const char *names[64];
    size_t count = 0;
    for (const cli_option *option; count < 64 && (option = option_at(syntax, count)); count++)
        names[count] = option->name;
    char typed[64];
    snprintf(typed, sizeof typed, "%.*s", (int)length, name);
    const char *nearest = igi_nearest(typed, names, count);
    if (nearest) return cli_usage_error("unknown option '--%.*s'; did you mean '--%s'?", (int)length, name, nearest);
    return cli_usage_error("unknown option '--%.*s'", (int)length, name);
}

static int set_size(const cli_option *option, const char *text) {
    uint64_t parts[3] = {0, 0, 0};
    const char *at = text;
    for (int i = 0; i < 3; i++) {
        size_t length = strcspn(at, ",");
        if (!cli_parse_u64(at, length, &parts[i]) || parts[i] == 0) break;
        at += length;
        if (*at == '\0') {
            *(ig_size *)option->value = (ig_size){parts[0], parts[1] ? parts[1] : 1, parts[2] ? parts[2] : 1};
            return CLI_CONTINUE;
        }
        at++;
    }
    return cli_usage_error("--%s takes one to three sizes of at least 1, like 64 or 64,32,1, not '%s'", option->name,
                           text);
}

static int set_choice(const cli_option *option, const char *text) {
    size_t length = strlen(text);
    const char *word = option->metavar;
    for (int i = 0; *word; i++) {
        size_t end = strcspn(word, "|");
        if (end == length && memcmp(word, text, length) == 0) {
            *(int *)option->value = i;
            return CLI_CONTINUE;
        }
        word += end + (word[end] == '|');
    }
    return cli_usage_error("--%s takes %s, not '%s'", option->name, option->metavar, text);
}

static int set_seconds(const cli_option *option, const char *text) {
    char *end;
    double seconds = strtod(text, &end);
    if (end == text || *end || !isfinite(seconds) || seconds <= 0 || seconds > 1e9)
        return cli_usage_error("--%s takes a number of seconds above 0, not '%s'", option->name, text);
    *(uint64_t *)option->value = (uint64_t)ceil(seconds * 1e9);
    return CLI_CONTINUE;
}

static int set_count(const cli_option *option, const char *text) {
    uint64_t value;
    if (!cli_parse_u64(text, strlen(text), &value) || value == 0)
        return cli_usage_error("--%s takes a whole number of at least 1, not '%s'", option->name, text);
    *(uint64_t *)option->value = value;
    return CLI_CONTINUE;
}

static int set_whole(const cli_option *option, const char *text) {
    if (cli_parse_u64(text, strlen(text), option->value)) return CLI_CONTINUE;
    return cli_usage_error("--%s takes a whole number, not '%s'", option->name, text);
}

static int set_number(const cli_option *option, const char *text) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !isfinite(value) || value < 0)
        return cli_usage_error("--%s takes a number of at least 0, not '%s'", option->name, text);
    *(double *)option->value = value;
    return CLI_CONTINUE;
}

static int set_value(const cli_option *option, const char *text) {
    switch (option->kind) {
        case CLI_TEXT: *(const char **)option->value = text; return CLI_CONTINUE;
        case CLI_TEXTS: cli_list_add(option->value, text); return CLI_CONTINUE;
        case CLI_COUNT: return set_count(option, text);
        case CLI_WHOLE: return set_whole(option, text);
        case CLI_NUMBER: return set_number(option, text);
        case CLI_SECONDS: return set_seconds(option, text);
        case CLI_SIZE: return set_size(option, text);
        case CLI_CHOICE: return set_choice(option, text);
        case CLI_FLAG: break;
    }
    return cli_usage_error("--%s takes no value", option->name);
}

static int set_flag(const cli_syntax *syntax, const cli_option *option) {
    if (option->value) {
        *(bool *)option->value = true;
        return CLI_CONTINUE;
    }
    cli_print_help(syntax);
    return CLI_OK;
}

typedef struct cursor {
    int argc, at;
    char **argv;
} cursor;

static int take_value(const cli_option *option, cursor *arguments) {
    if (arguments->at + 1 >= arguments->argc)
        return cli_usage_error("--%s needs a value: --%s %s", option->name, option->name, option->metavar);
    return set_value(option, arguments->argv[++arguments->at]);
}

static int parse_long(const cli_syntax *syntax, cursor *arguments) {
    const char *name = arguments->argv[arguments->at] + 2;
    size_t length = strcspn(name, "=");
    const cli_option *option = find_long(syntax, name, length);
    if (!option) return unknown_long(syntax, name, length);
    if (name[length] == '=') return set_value(option, name + length + 1);
    return option->kind == CLI_FLAG ? set_flag(syntax, option) : take_value(option, arguments);
}

// "-hf": letters that are not options together, perhaps the spelling of another program.
static int unknown_short(const cli_syntax *syntax, const char *argument) {
    const char *names[64];
    size_t count = 0;
    for (; count < syntax->alias_count && count < 64; count++) names[count] = syntax->aliases[count].spelling;
    const char *nearest = argument[2] ? igi_nearest(argument, names, count) : NULL;
    if (nearest) return cli_usage_error("unknown option '%s'; did you mean '%s'?", argument, nearest);
    return cli_usage_error("unknown option '%s'", argument);
}

// "-n64" gives a number; "-ngl" is something else.
static bool may_be_value(const cli_option *option, char first) {
    bool number = option->kind == CLI_COUNT || option->kind == CLI_WHOLE || option->kind == CLI_NUMBER ||
                  option->kind == CLI_SECONDS || option->kind == CLI_SIZE;
    return !number || (first && strchr("0123456789.-", first));
}

// Whether every letter is an option, up to the one that takes the rest as its value. -h must be alone.
static bool are_letters(const cli_syntax *syntax, const char *letters) {
    for (const char *letter = letters; *letter; letter++) {
        const cli_option *option = find_short(syntax, *letter);
        if (!option || (!option->value && letters[1])) return false;
        if (option->kind != CLI_FLAG) return !letter[1] || may_be_value(option, letter[1]);
    }
    return true;
}

static int parse_short(const cli_syntax *syntax, cursor *arguments) {
    const char *letters = arguments->argv[arguments->at] + 1;
    if (letters[1] && find_long(syntax, letters, strlen(letters)))
        return cli_usage_error("unknown option '-%s'; did you mean '--%s'?", letters, letters);
    if (!are_letters(syntax, letters)) return unknown_short(syntax, letters - 1);
    for (; *letters; letters++) {
        const cli_option *option = find_short(syntax, *letters);
        if (option->kind != CLI_FLAG)
            return letters[1] ? set_value(option, letters + 1) : take_value(option, arguments);
        int result = set_flag(syntax, option);
        if (result != CLI_CONTINUE) return result;
    }
    return CLI_CONTINUE;
}

static const cli_alias *find_alias(const cli_syntax *syntax, const char *argument) {
    size_t length = argument[1] == '-' ? strcspn(argument, "=") : strlen(argument);
    for (size_t i = 0; i < syntax->alias_count; i++) {
        const char *spelling = syntax->aliases[i].spelling;
        if (strlen(spelling) == length && memcmp(spelling, argument, length) == 0) return &syntax->aliases[i];
    }
    return NULL;
}

static bool is_switch(const char *text) {
    return strcmp(text, "on") == 0 || strcmp(text, "off") == 0 || strcmp(text, "auto") == 0;
}

static int parse_alias(const cli_syntax *syntax, const cli_alias *alias, cursor *arguments) {
    const char *argument = arguments->argv[arguments->at], *value = strchr(argument, '=');
    if (alias->option) {
        const cli_option *option = find_long(syntax, alias->option, strlen(alias->option));
        if (option->kind == CLI_FLAG) return set_flag(syntax, option);
        return value ? set_value(option, value + 1) : take_value(option, arguments);
    }
    if (alias->refused) return cli_usage_error("%s: %s", alias->spelling, alias->message);
    const char *next = arguments->at + 1 < arguments->argc ? arguments->argv[arguments->at + 1] : NULL;
    bool takes = alias->takes_value || (alias->may_take_value && next && is_switch(next));
    if (takes && !value && next) arguments->at++;
    cli_note("%s is ignored: %s", alias->spelling, alias->message);
    return CLI_CONTINUE;
}

static int parse_option(const cli_syntax *syntax, cursor *arguments) {
    const char *argument = arguments->argv[arguments->at];
    const cli_alias *alias = find_alias(syntax, argument);
    if (alias) return parse_alias(syntax, alias, arguments);
    return argument[1] == '-' ? parse_long(syntax, arguments) : parse_short(syntax, arguments);
}

static int check_operands(const cli_syntax *syntax, const cli_list *operands) {
    if (operands->count < syntax->min_operands) return cli_usage_error("%s is missing", syntax->operand);
    if (operands->count > syntax->max_operands)
        return cli_usage_error("unexpected argument '%s'", operands->items[syntax->max_operands]);
    return CLI_CONTINUE;
}

int cli_parse(const cli_syntax *syntax, int argc, char **argv, cli_list *operands) {
    cli_list none = {0};
    if (!operands) operands = &none;
    bool options_ended = false;
    int result = CLI_CONTINUE;
    for (cursor at = {argc, 1, argv}; at.at < argc && result == CLI_CONTINUE; at.at++) {
        const char *argument = argv[at.at];
        if (options_ended || argument[0] != '-' || argument[1] == '\0') {
            cli_list_add(operands, argument);
        } else if (strcmp(argument, "--") == 0) {
            options_ended = true;
        } else {
            result = parse_option(syntax, &at);
        }
    }
    if (result == CLI_CONTINUE) result = check_operands(syntax, operands);
    cli_list_free(&none);
    return result;
}

// ---- Help ----

static void print_indented(const char *lines) {
    while (*lines) {
        size_t length = strcspn(lines, "\n");
        printf("%s%.*s\n", length ? "  " : "", (int)length, lines);
        lines += length + (lines[length] == '\n');
    }
}

// Lines longer than the page are broken at blanks.
static void print_wrapped(const char *lines) {
    enum { PAGE = 100 };
    while (*lines) {
        size_t length = strcspn(lines, "\n");
        if (length > PAGE)
            for (length = PAGE; length && lines[length] != ' '; length--) continue;
        printf("%.*s\n", (int)length, lines);
        lines += length + (lines[length] != '\0');
    }
}

static void print_option(const cli_option *option) {
    enum { HELP_COLUMN = 30 };
    char left[128], letter[8] = "    ";
    if (option->letter) snprintf(letter, sizeof letter, "-%c, ", option->letter);
    int width = snprintf(left, sizeof left, "  %s--%s%s%s", letter, option->name, option->metavar ? " " : "",
                         option->metavar ? option->metavar : "");
    if (width >= HELP_COLUMN - 1) {
        printf("%s\n%*s%s\n", left, HELP_COLUMN, "", option->help);
    } else {
        printf("%-*s%s\n", HELP_COLUMN, left, option->help);
    }
}

static void print_section(const char *title) {
    printf("\n%s%s%s\n", cli_escape(stdout, CLI_BOLD), title, cli_escape(stdout, CLI_PLAIN));
}

void cli_print_help(const cli_syntax *syntax) {
    printf("%sUsage:%s ingot %s %s\n", cli_escape(stdout, CLI_BOLD), cli_escape(stdout, CLI_PLAIN), cli_command_name(),
           syntax->usage);
    printf("%s\n", syntax->purpose);
    print_section("Options");
    const cli_option *option;
    for (size_t i = 0; (option = option_at(syntax, i)); i++) print_option(option);
    if (syntax->details) {
        printf("\n");
        print_wrapped(syntax->details);
    }
    print_section("Examples");
    print_indented(syntax->examples);
}
