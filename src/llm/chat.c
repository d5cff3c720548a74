// SPDX-License-Identifier: Apache-2.0
// Chats: messages as text.
#include "llm/chat.h"

#include <string.h>

#include "core/status-internal.h"

// ---- Writing ----

typedef struct writer {
    const igi_llm_chat_style *style;
    ig_text first, last;  // texts of tokens
    char *text;           // NULL: only the length is computed
    uint64_t length;
} writer;

static ig_text token_text(const ig_gguf *file, const char *key, const char *otherwise) {
    ig_gguf_value id, tokens, token;
    bool known = ig_gguf_find(file, key, &id) == IG_STATUS_OK && id.kind == IG_GGUF_U32 &&
                 ig_gguf_find(file, "tokenizer.ggml.tokens", &tokens) == IG_STATUS_OK &&
                 ig_gguf_element(&tokens, id.u, &token) == IG_STATUS_OK && token.kind == IG_GGUF_STRING;
    return known ? token.text : (ig_text){otherwise, strlen(otherwise)};
}

static void put(writer *w, ig_text text) {
    if (w->text && text.length) memcpy(w->text + w->length, text.data, text.length);
    w->length += text.length;
}

// A piece of a style. The BOS token at the very beginning is left to the tokenizer.
static void put_piece(writer *w, const char *piece) {
    for (; *piece; piece++) {
        if (*piece == *IGI_CHAT_FIRST && w->length)
            put(w, w->first);
        else if (*piece == *IGI_CHAT_LAST)
            put(w, w->last);
        else if (*piece != *IGI_CHAT_FIRST)
            put(w, (ig_text){piece, 1});
    }
}

static void put_unasked(writer *w, ig_text text) {
    while (text.length) {
        uint64_t skipped = igi_llm_chat_line_end(text);
        put(w, skipped ? (ig_text){"\n", 1} : (ig_text){text.data, 1});
        text = igi_llm_chat_after(text, text.data + (skipped ? skipped : 1));
    }
}

static bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void put_text(writer *w, const char *string, bool trim_begin, bool trim_end) {
    ig_text text = {string, strlen(string)};
    while (trim_begin && text.length && is_space(*text.data)) text = igi_llm_chat_after(text, text.data + 1);
    while (trim_end && text.length && is_space(text.data[text.length - 1])) text.length--;
    put(w, text);
}

static bool is(const ig_chat_message *message, const char *role) {
    return strcmp(message->role, role) == 0;
}

static void put_system(writer *w, const ig_chat_message *message) {
    const igi_llm_chat_style *s = w->style;
    put_piece(w, s->system.before);
    if (message)
        put_text(w, message->text, s->trim_user && !s->inside, s->trim_user && !s->inside);
    else
        put_unasked(w, s->unasked);
    put_piece(w, s->system.after);
}

static void put_user(writer *w, const ig_chat_message *message, const ig_chat_message *system) {
    const igi_llm_chat_style *s = w->style;
    put_piece(w, s->user.before);
    if (system) put_system(w, system);
    put_text(w, message->text, s->trim_user && !(system && s->trim_together), s->trim_user);
    put_piece(w, s->user.after);
}

static void put_assistant(writer *w, const ig_chat_message *message) {
    const igi_llm_chat_style *s = w->style;
    put_piece(w, s->assistant.before);
    put_text(w, message->text, s->trim_assistant, s->trim_assistant);
    put_piece(w, s->assistant.after);
}

static void put_all(writer *w, const ig_chat_message *messages, uint64_t count) {
    const igi_llm_chat_style *s = w->style;
    bool from_system = count && is(&messages[0], "system");
    uint64_t with_system = !s->inside || !from_system ? UINT64_MAX : s->inside_last ? count - 1 : 1;
    if (s->always && count && !from_system) put_system(w, NULL);
    for (uint64_t i = 0; i < count; i++) {
        if (is(&messages[i], "user"))
            put_user(w, &messages[i], i == with_system ? &messages[0] : NULL);
        else if (is(&messages[i], "assistant"))
            put_assistant(w, &messages[i]);
        else if (!s->inside)
            put_system(w, &messages[i]);
    }
    if (!s->unmarked) put_piece(w, s->assistant.before);
}

static ig_status check(const igi_llm_chat_style *s, const ig_chat_message *messages, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        const ig_chat_message *message = &messages[i];
        if (!message->role || !message->text)
            return igi_fail(IG_STATUS_INVALID_ARGUMENT, "chat_format: message %llu has no role or no text",
                            (unsigned long long)i);
        bool system = is(message, "system");
        if (!system && !is(message, "user") && !is(message, "assistant"))
            return igi_fail(IG_STATUS_INVALID_ARGUMENT,
                            "chat_format: unknown role '%.40s'; choose system, user or assistant", message->role);
        if (!system || !s->inside) continue;
        const ig_chat_message *host = &messages[s->inside_last ? count - 1 : 1];
        if (i > 0 || count < 2 || !host->role || !is(host, "user"))
            return igi_fail_with(IG_STATUS_INVALID_ARGUMENT,
                                 "chat_format: this model takes its system message within a user's; put it first, "
                                 "before a user's message");
    }
    return IG_STATUS_OK;
}

ig_status ig_chat_format(const ig_gguf *file, const ig_chat_message *messages, uint64_t count, char *text,
                         uint64_t capacity, uint64_t *length) {
    igi_llm_chat_style s;
    if (!file || (count && !messages) || !length || (capacity && !text))
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT,
                             "chat_format: file, messages, text and length must not be NULL");
    ig_status status = igi_llm_chat_style_find(file, &s);
    if (status == IG_STATUS_OK) status = check(&s, messages, count);
    if (status != IG_STATUS_OK) return status;
    writer w = {.style = &s,
                .first = token_text(file, "tokenizer.ggml.bos_token_id", "<s>"),
                .last = token_text(file, "tokenizer.ggml.eos_token_id", "</s>")};
    put_all(&w, messages, count);
    *length = w.length;
    if (w.length >= capacity)
        return igi_fail(IG_STATUS_OUT_OF_RANGE, "chat_format: %llu bytes and a NUL do not fit into %llu",
                        (unsigned long long)w.length, (unsigned long long)capacity);
    w.text = text;
    w.length = 0;
    put_all(&w, messages, count);
    text[w.length] = 0;
    return IG_STATUS_OK;
}
