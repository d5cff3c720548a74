// SPDX-License-Identifier: Apache-2.0
// Which format a template writes.
//
// Templates are programs in Jinja. Nearly all write one of a few formats, which can be recognised by their markers;
// where members of a family differ only in spaces, the spaces are taken from the template.
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "core/status-internal.h"
#include "llm/chat.h"

// ---- Looking at templates ----

static const char *find(ig_text text, const char *mark) {
    return memmem(text.data, text.length, mark, strlen(mark));
}

static bool has(ig_text text, const char *mark) {
    return find(text, mark);
}

static bool has_either(ig_text text, const char *mark, const char *other) {
    return has(text, mark) || has(text, other);
}

static bool starts(ig_text text, const char *mark) {
    size_t length = strlen(mark);
    return text.length >= length && memcmp(text.data, mark, length) == 0;
}

uint64_t igi_llm_chat_line_end(ig_text text) {
    if (starts(text, "\n")) return 1;
    return starts(text, "\\n") ? 2 : 0;
}

static ig_text skip_spaces(ig_text text) {
    while (starts(text, " ")) text = igi_llm_chat_after(text, text.data + 1);
    return text;
}

// Whether the template writes this string, followed by the text of a message.
static bool writes_before_text(ig_text template, const char *string) {
    for (const char *at; (at = find(template, string));) {
        ig_text rest = skip_spaces(igi_llm_chat_after(template, at + strlen(string)));
        template = igi_llm_chat_after(template, at + 1);
        if (!starts(rest, "+")) continue;
        rest = skip_spaces(igi_llm_chat_after(rest, rest.data + 1));
        if (starts(rest, "message") || starts(rest, "content")) return true;
    }
    return false;
}

// ---- Families of templates ----

static void set(igi_llm_chat_turn *t, const char *before, const char *after) {
    assert(strlen(before) < sizeof t->before && strlen(after) < sizeof t->after);
    snprintf(t->before, sizeof t->before, "%s", before);
    snprintf(t->after, sizeof t->after, "%s", after);
}

static bool is_plain(ig_text text) {
    for (uint64_t i = 0; i < text.length; i++)
        if (strchr("'\"{}", text.data[i])) return false;
    return text.length > 0;
}

// Some templates have a default system message: a string that begins and ends the turn.
static void find_unasked(ig_text template, igi_llm_chat_style *s) {
    static const char begin[] = "<|im_start|>system";
    for (const char *at, *stop; (at = find(template, begin));) {
        template = igi_llm_chat_after(template, at + strlen(begin));
        uint64_t skipped = igi_llm_chat_line_end(template);
        stop = find(template, "<|");
        if (!skipped || !stop || !starts(igi_llm_chat_after(template, stop), "<|im_end|>")) continue;
        ig_text said = {template.data + skipped, (uint64_t)(stop - template.data) - skipped};
        if (!is_plain(said)) continue;
        s->always = true;
        s->unasked = said;
        return;
    }
}

static void chatml(ig_text template, igi_llm_chat_style *s) {
    set(&s->system, "<|im_start|>system\n", "<|im_end|>\n");
    set(&s->user, "<|im_start|>user\n", "<|im_end|>\n");
    set(&s->assistant, "<|im_start|>assistant\n", "<|im_end|>\n");
    find_unasked(template, s);
}

static void phi_4(ig_text template, igi_llm_chat_style *s) {
    (void)template;
    set(&s->system, "<|im_start|>system<|im_sep|>", "<|im_end|>");
    set(&s->user, "<|im_start|>user<|im_sep|>", "<|im_end|>");
    set(&s->assistant, "<|im_start|>assistant<|im_sep|>", "<|im_end|>");
}

static void llama_3(ig_text template, igi_llm_chat_style *s) {
    s->always = has(template, "Cutting Knowledge Date: December 2023");  // from 3.1 on
    set(&s->system,
        s->always ? "<|start_header_id|>system<|end_header_id|>\n\nCutting Knowledge Date: December 2023\n"
                    "Today Date: 26 Jul 2024\n\n"
                  : "<|start_header_id|>system<|end_header_id|>\n\n",
        "<|eot_id|>");
    set(&s->user, "<|start_header_id|>user<|end_header_id|>\n\n", "<|eot_id|>");
    set(&s->assistant, "<|start_header_id|>assistant<|end_header_id|>\n\n", "<|eot_id|>");
    s->trim_user = s->trim_assistant = has(template, "trim");
}

static void gemma(ig_text template, igi_llm_chat_style *s) {
    set(&s->system, "", "\n\n");
    set(&s->user, "<start_of_turn>user\n", "<end_of_turn>\n");
    set(&s->assistant, "<start_of_turn>model\n", "<end_of_turn>\n");
    s->inside = true;
    s->trim_user = s->trim_assistant = has(template, "trim");
}

// Phi-4-mini's has no line breaks.
static void phi_3(ig_text template, igi_llm_chat_style *s) {
    ig_text rest = igi_llm_chat_after(template, find(template, "<|assistant|>"));
    const char *stop = find(rest, "}}");
    if (stop) rest.length = (uint64_t)(stop - rest.data);
    bool lines = has_either(rest, "\n", "\\n");
    const char *after = lines ? "<|end|>\n" : "<|end|>";
    set(&s->system, lines ? "<|system|>\n" : "<|system|>", after);
    set(&s->user, lines ? "<|user|>\n" : "<|user|>", after);
    set(&s->assistant, lines ? "<|assistant|>\n" : "<|assistant|>", after);
}

static void zephyr(ig_text template, igi_llm_chat_style *s) {
    (void)template;
    set(&s->system, "<|system|>\n", IGI_CHAT_LAST "\n");
    set(&s->user, "<|user|>\n", IGI_CHAT_LAST "\n");
    set(&s->assistant, "<|assistant|>\n", IGI_CHAT_LAST "\n");
}

// Mistral's formats without a separate system turn, and Llama 2's.
static void inst_system(ig_text template, igi_llm_chat_style *s) {
    s->inside = true;
    s->inside_last = has(template, "loop.last and system_message");
    if (has(template, "<<SYS>>"))
        set(&s->system, "<<SYS>>\n", "\n<</SYS>>\n\n");
    else
        set(&s->system, "", "\n\n");
}

static void inst(ig_text template, igi_llm_chat_style *s) {
    char before[64], after[32];
    snprintf(before, sizeof before, "%s%s[INST]%s",
             has_either(template, "bos_token + '[INST]", "bos_token + \"[INST]") ? IGI_CHAT_FIRST : "",
             has_either(template, "' [INST]", "\" [INST]") ? " " : "", has(template, "[INST] ") ? " " : "");
    set(&s->user, before, has(template, " [/INST]") ? " [/INST]" : "[/INST]");
    snprintf(after, sizeof after, "%s" IGI_CHAT_LAST "%s", has_either(template, "' ' + eos", "\" \" + eos") ? " " : "",
             has_either(template, "eos_token + ' '", "eos_token + \" \"") ? " " : "");
    set(&s->assistant, writes_before_text(template, "' '") || writes_before_text(template, "\" \"") ? " " : "", after);
    s->unmarked = true;
    s->trim_user = s->trim_together = has(template, "content.strip()");
    s->trim_assistant = s->trim_user || has_either(template, "|trim + eos", "| trim + eos");
    if (has(template, "[SYSTEM_PROMPT]"))
        set(&s->system, has(template, "[SYSTEM_PROMPT] ") ? "[SYSTEM_PROMPT] " : "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]");
    else
        inst_system(template, s);
}

// The first family whose markers are all present.
static const struct family {
    const char *marks[3];
    void (*describe)(ig_text template, igi_llm_chat_style *s);
} families[] = {
    {{"<|im_start|>", "<|im_sep|>"}, phi_4},
    {{"<|im_start|>", "<|im_end|>"}, chatml},
    {{"<|start_header_id|>", "<|eot_id|>"}, llama_3},
    {{"<start_of_turn>", "<end_of_turn>"}, gemma},
    {{"[INST]", "[/INST]", "eos_token"}, inst},
    {{"<|assistant|>", "'<|end|>"}, phi_3},
    {{"<|user|>", "<|assistant|>", "'content'] + eos_token"}, zephyr},
};

static bool matches(ig_text template, const struct family *family) {
    for (size_t i = 0; i < 3 && family->marks[i]; i++)
        if (!has(template, family->marks[i])) return false;
    return true;
}

ig_status igi_llm_chat_style_find(const ig_gguf *file, igi_llm_chat_style *s) {
    ig_gguf_value value;
    if (ig_gguf_find(file, "tokenizer.chat_template", &value) != IG_STATUS_OK || value.kind != IG_GGUF_STRING)
        return igi_fail_with(IG_STATUS_UNSUPPORTED, "the model has no chat template (tokenizer.chat_template)");
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        if (!matches(value.text, &families[i])) continue;
        *s = (igi_llm_chat_style){0};
        families[i].describe(value.text, s);
        return IG_STATUS_OK;
    }
    return igi_fail_with(IG_STATUS_UNSUPPORTED, "the model's chat template is in no known format");
}
