// SPDX-License-Identifier: Apache-2.0
// Response files: @FILE on a command line stands for the words in the file.
#include <ctype.h>
#include <string.h>

#include "console/output.h"
#include "core/file.h"
#include "tools.h"

enum { MAX_DEPTH = 16 };

// Cuts the next word off the text, in place: blanks separate, quotes group, a backslash takes the next character as it
// is, except between single quotes. NULL: there is none.
static char *next_word(char **text) {
    char *from = *text, quote = 0;
    while (isspace((unsigned char)*from)) from++;
    if (!*from) return NULL;
    char *word = from, *to = from;
    for (; *from && (quote || !isspace((unsigned char)*from)); from++) {
        if (*from == quote) {
            quote = 0;
        } else if (!quote && (*from == '"' || *from == '\'')) {
            quote = *from;
        } else {
            if (*from == '\\' && quote != '\'' && from[1]) from++;
            *to++ = *from;
        }
    }
    *text = *from ? from + 1 : from;
    *to = '\0';
    return word;
}

static bool expand(const char *argument, cli_list *arguments, int depth);

// The file's text stays: the words are parts of it.
static bool expand_file(const char *path, cli_list *arguments, int depth) {
    char *text = NULL;
    size_t length = 0;
    ig_error error = {0};
    if (depth > MAX_DEPTH) return tool_error("@%s: response files name each other without end", path), false;
    ig_status status = igi_file_read_stream(path, &text, &length, &error);
    if (status != IG_STATUS_OK) return tool_report(status, &error), false;
    bool ok = tool_keep(text);
    for (char *word; ok && (word = next_word(&text));) ok = expand(word, arguments, depth + 1);
    return ok;
}

// As with compilers, a name that is no file is an argument like any other.
static bool expand(const char *argument, cli_list *arguments, int depth) {
    if (argument[0] == '@' && igi_file_exists(argument + 1)) return expand_file(argument + 1, arguments, depth);
    cli_list_add(arguments, argument);
    return true;
}

bool tool_expand_arguments(int argc, char **argv, cli_list *arguments) {
    bool ok = true;
    for (int i = 1; ok && i < argc; i++) ok = expand(argv[i], arguments, 0);
    return ok;
}
