// SPDX-License-Identifier: Apache-2.0
// ingot generate --chat: messages in the model's own format.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "generate.h"

typedef struct chat {
    ig_chat_message *messages;  // owns their texts
    uint64_t count, capacity;
} chat;

// Takes the text.
static void add_message(chat *c, const char *role, char *text) {
    if (c->count == c->capacity) {
        c->capacity = 2 * c->capacity + 8;
        c->messages = cli_realloc(c->messages, c->capacity * sizeof *c->messages);
    }
    c->messages[c->count++] = (ig_chat_message){role, text};
}

static void free_chat(chat *c) {
    for (uint64_t i = 0; i < c->count; i++) free((char *)c->messages[i].text);
    free(c->messages);
}

static char *copy(const char *text, size_t length) {
    char *made = cli_alloc(length + 1);
    memcpy(made, text, length);
    made[length] = '\0';
    return made;
}

static int format(const generation *g, const chat *c, char **text, uint64_t *length) {
    ig_status status = ig_chat_format(g->file, c->messages, c->count, NULL, 0, length);
    if (status != IG_STATUS_OUT_OF_RANGE)
        return cli_error(cli_exit_code(status), "%s: its chat template is not known; try without --chat",
                         g->model_path);
    *text = cli_alloc(*length + 1);
    status = ig_chat_format(g->file, c->messages, c->count, *text, *length + 1, length);
    return status == IG_STATUS_OK ? CLI_CONTINUE : cli_report(status, NULL);
}

// Both the message and the answer become part of the chat.
static int exchange(generation *g, chat *c, char *message) {
    char *text = NULL;
    uint64_t length = 0;
    answer a = {0};
    add_message(c, "user", message);
    int result = format(g, c, &text, &length);
    if (result == CLI_CONTINUE) result = generate_answer(g, text, length, true, false, &a);
    if (result == CLI_CONTINUE) {
        generate_forget_interrupt();
        generate_report(g, &a);
        add_message(c, "assistant", copy(a.text.data ? a.text.data : "", a.text.length));
    }
    generate_free_answer(&a);
    free(text);
    return result;
}

static int answer_lines(generation *g, chat *c) {
    bool terminal = isatty(STDIN_FILENO);
    char *line = NULL;
    size_t capacity = 0;
    int result = CLI_CONTINUE;
    while (result == CLI_CONTINUE) {
        if (terminal) fprintf(stderr, "%s> %s", cli_escape(stderr, CLI_GREEN), cli_escape(stderr, CLI_PLAIN));
        ssize_t length = getline(&line, &capacity, stdin);
        if (length < 0 && terminal) fputc('\n', stderr);  // after the "^C" or "^D"
        if (length < 0) break;
        if (length && line[length - 1] == '\n') length--;
        if (length) result = exchange(g, c, copy(line, (size_t)length));
    }
    free(line);
    return result;
}

int generate_chat(generation *g) {
    chat c = {0};
    if (g->system) add_message(&c, "system", copy(g->system, strlen(g->system)));
    int result = g->prompt ? exchange(g, &c, copy(g->prompt, strlen(g->prompt))) : answer_lines(g, &c);
    free_chat(&c);
    return result;
}
