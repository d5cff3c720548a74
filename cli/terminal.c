// SPDX-License-Identifier: Apache-2.0
// What only a terminal shows: coloured compiler diagnostics and the progress bar.
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "output.h"

static const struct {
    const char *word;
    cli_style style;
} severities[] = {
    {": fatal error: ", CLI_RED},
    {": error: ", CLI_RED},
    {": warning: ", CLI_YELLOW},
    {": note: ", CLI_CYAN},
};

static const char *find_in_line(const char *line, size_t length, const char *word) {
    return memmem(line, length, word, strlen(word));
}

// "file:3:7: error: text" in bold, the severity in its colour. False when the line is not of that form.
static bool print_heading(FILE *stream, const char *line, size_t length) {
    const char *plain = cli_escape(stream, CLI_PLAIN), *bold = cli_escape(stream, CLI_BOLD);
    for (size_t i = 0; i < sizeof severities / sizeof *severities; i++) {
        const char *found = find_in_line(line, length, severities[i].word);
        if (!found) continue;
        int place = (int)(found - line) + 2, word = (int)strlen(severities[i].word) - 2;
        int rest = (int)length - place - word;
        fprintf(stream, "%s%.*s%s%s%.*s%s%s%.*s%s\n", bold, place, line, plain, cli_escape(stream, severities[i].style),
                word, line + place, plain, bold, rest, line + place + word, plain);
        return true;
    }
    return false;
}

// Clang's caret lines: "      |      ^~~~" or, without line numbers, "     ^~~~".
static bool is_caret_line(const char *line, size_t length) {
    return length && strspn(line, " |^~-\t") >= length && memchr(line, '^', length);
}

void cli_print_diagnostics(FILE *stream, const char *log) {
    while (*log) {
        size_t length = strcspn(log, "\n");
        if (is_caret_line(log, length)) {
            fprintf(stream, "%s%.*s%s\n", cli_escape(stream, CLI_GREEN), (int)length, log,
                    cli_escape(stream, CLI_PLAIN));
        } else if (!print_heading(stream, log, length)) {
            fprintf(stream, "%.*s\n", (int)length, log);
        }
        log += length + (log[length] == '\n');
    }
}

void cli_progress_update(cli_progress *progress, uint64_t done) {
    enum { BAR = 24, INTERVAL_NS = 100000000 };
    uint64_t now = igi_now_ns();
    if (now - progress->drawn_ns < INTERVAL_NS || !isatty(fileno(stderr)) || progress->total == 0) return;
    progress->drawn_ns = now;
    progress->shown = true;
    int filled = (int)(done * BAR / progress->total);
    fprintf(stderr, "\r%s [%.*s%*s] %llu/%llu", progress->label, filled, "########################", BAR - filled, "",
            (unsigned long long)done, (unsigned long long)progress->total);
    fflush(stderr);
}

void cli_progress_end(cli_progress *progress) {
    if (progress->shown) fputs("\r\033[K", stderr);
    progress->shown = false;
}
