// SPDX-License-Identifier: Apache-2.0
// Command-line options from a table: parsing, errors and the help text.
//
// Understands --name value, --name=value, -n value, -nvalue, -abc for flags, and -- before operands. "-name" for
// "--name" is an error that says so, and "-h" asks for help only when it stands alone.
// -h, --help and --color belong to every command and need no entry.
#ifndef INGOT_CONSOLE_OPTIONS_H
#define INGOT_CONSOLE_OPTIONS_H

#include <ingot/device.h>

typedef struct cli_list {
    const char **items;  // borrowed from argv
    size_t count, capacity;
} cli_list;
void cli_list_add(cli_list *list, const char *item);
void cli_list_free(cli_list *list);

typedef enum cli_option_kind {
    CLI_FLAG,     // bool
    CLI_TEXT,     // const char *
    CLI_TEXTS,    // cli_list; may be given again
    CLI_COUNT,    // uint64_t, at least 1
    CLI_WHOLE,    // uint64_t, from 0 on
    CLI_NUMBER,   // double, from 0 on
    CLI_SECONDS,  // uint64_t nanoseconds; fractions allowed
    CLI_SIZE,     // ig_size from X[,Y[,Z]], each at least 1
    CLI_CHOICE,   // int, index among the words of `metavar`
} cli_option_kind;

// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): in the order tables are read
typedef struct cli_option {
    char letter;  // 0: none
    const char *name;
    cli_option_kind kind;
    void *value;
    const char *metavar;  // the value's name in the help; for a choice, the words: "fast|safe"; NULL for a flag
    const char *help;
} cli_option;

// Another program's spelling: "-ngl", "--n-gpu-layers". Understood, but not in the help.
typedef struct cli_alias {
    const char *spelling;
    const char *option;   // the name of our option that it stands for; NULL: none
    const char *message;  // without an option: why it has no effect, which is printed, or
    bool refused;         // why it is not supported, which is an error
    bool takes_value;     // without an option: a value follows and is skipped,
    bool may_take_value;  // or one of on, off and auto, if it is there
} cli_alias;

typedef struct cli_syntax {
    const char *usage;    // what follows "ingot NAME "
    const char *purpose;  // one sentence
    const cli_option *options;
    size_t option_count;
    const cli_alias *aliases;
    size_t alias_count;
    const char *details;   // paragraphs between options and examples; NULL: none
    const char *examples;  // lines
    size_t min_operands, max_operands;
    const char *operand;  // what an operand is, for messages
} cli_syntax;

enum { CLI_CONTINUE = -1 };

// Returns CLI_CONTINUE, or the exit code: 0 after --help, 2 after an error. Operands may be NULL if none are allowed.
int cli_parse(const cli_syntax *syntax, int argc, char **argv, cli_list *operands);
void cli_print_help(const cli_syntax *syntax);

// Parses an unsigned decimal or 0x hexadecimal number and nothing else.
bool cli_parse_u64(const char *text, size_t length, uint64_t *value);

#define CLI_OPTION_JSON {0, "json", CLI_FLAG, &cli_json, NULL, "print JSON, one object per line"}

#endif
