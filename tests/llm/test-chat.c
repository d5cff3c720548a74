// SPDX-License-Identifier: Apache-2.0
// Chats: each family of templates gives, to the byte, the result of Jinja with the template.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// cmocka last: it needs the first four headers.
#include <cmocka.h>

#include "model-file.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

// Goldens are Jinja's, with the blocks trimmed as transformers does, without the initial <s>.
static const struct golden {
    const char *name, *template, *with_system, *without;
} goldens[] = {
    {"chatml",
     "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>\\n' }}{% endfor %}{{ "
     "'<|im_start|>assistant\\n' }}",
     "<|im_start|>system\nRhyme.<|im_end|>\n<|im_start|>user\n Hi\n<|im_end|>\n<|im_start|>assistant\n Fly "
     "<|im_end|>\n<|im_start|>user\nWhy?<|im_end|>\n<|im_start|>assistant\n",
     "<|im_start|>user\n Hi\n<|im_end|>\n<|im_start|>assistant\n Fly "
     "<|im_end|>\n<|im_start|>user\nWhy?<|im_end|>\n<|im_start|>assistant\n"},
    {"chatml that speaks for the system",
     "{% if messages[0]['role'] == 'system' %}{{ '<|im_start|>system\\n' + messages[0]['content'] + '<|im_end|>\\n' "
     "}}{% set messages = messages[1:] %}{% else %}{{ '<|im_start|>system\\nBe kind.\\nBe brief.<|im_end|>\\n' }}{% "
     "endif %}{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>\\n' }}{% "
     "endfor %}{{ '<|im_start|>assistant\\n' }}",
     "<|im_start|>system\nRhyme.<|im_end|>\n<|im_start|>user\n Hi\n<|im_end|>\n<|im_start|>assistant\n Fly "
     "<|im_end|>\n<|im_start|>user\nWhy?<|im_end|>\n<|im_start|>assistant\n",
     "<|im_start|>system\nBe kind.\nBe brief.<|im_end|>\n<|im_start|>user\n Hi\n<|im_end|>\n<|im_start|>assistant\n "
     "Fly <|im_end|>\n<|im_start|>user\nWhy?<|im_end|>\n<|im_start|>assistant\n"},
    {"chatml with lines in strings",
     "{% if messages[0]['role'] == 'system' %}{{ '<|im_start|>system\n' + messages[0]['content'] + '<|im_end|>\n' }}{% "
     "set messages = messages[1:] %}{% else %}{{ '<|im_start|>system\nBe kind.\nBe brief.<|im_end|>\n' }}{% endif %}{% "
     "for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}{% endfor %}{{ "
     "'<|im_start|>assistant\n' }}",
     "<|im_start|>system\nRhyme.<|im_end|>\n<|im_start|>user\n Hi\n<|im_end|>\n<|im_start|>assistant\n Fly "
     "<|im_end|>\n<|im_start|>user\nWhy?<|im_end|>\n<|im_start|>assistant\n",
     "<|im_start|>system\nBe kind.\nBe brief.<|im_end|>\n<|im_start|>user\n Hi\n<|im_end|>\n<|im_start|>assistant\n "
     "Fly <|im_end|>\n<|im_start|>user\nWhy?<|im_end|>\n<|im_start|>assistant\n"},
    {"phi 4",
     "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '<|im_sep|>' + m['content'] + '<|im_end|>' }}{% endfor "
     "%}{{ '<|im_start|>assistant<|im_sep|>' }}",
     "<|im_start|>system<|im_sep|>Rhyme.<|im_end|><|im_start|>user<|im_sep|> "
     "Hi\n<|im_end|><|im_start|>assistant<|im_sep|> Fly "
     "<|im_end|><|im_start|>user<|im_sep|>Why?<|im_end|><|im_start|>assistant<|im_sep|>",
     "<|im_start|>user<|im_sep|> Hi\n<|im_end|><|im_start|>assistant<|im_sep|> Fly "
     "<|im_end|><|im_start|>user<|im_sep|>Why?<|im_end|><|im_start|>assistant<|im_sep|>"},
    {"llama 3",
     "{{ bos_token }}{% for m in messages %}{{ '<|start_header_id|>' + m['role'] + '<|end_header_id|>\\n\\n' + "
     "m['content'] | trim + '<|eot_id|>' }}{% endfor %}{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}",
     "<|start_header_id|>system<|end_header_id|>\n\nRhyme.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nHi<|"
     "eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nFly<|eot_id|><|start_header_id|>user<|end_header_id|>"
     "\n\nWhy?<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
     "<|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nFly<|"
     "eot_id|><|start_header_id|>user<|end_header_id|>\n\nWhy?<|eot_id|><|start_header_id|>assistant<|end_header_id|>"
     "\n\n"},
    {"llama 3 1",
     "{{ bos_token + '<|start_header_id|>system<|end_header_id|>\\n\\nCutting Knowledge Date: December 2023\\nToday "
     "Date: 26 Jul 2024\\n\\n' }}{% if messages[0]['role'] == 'system' %}{{ messages[0]['content'] | trim }}{% set "
     "messages = messages[1:] %}{% endif %}{{ '<|eot_id|>' }}{% for m in messages %}{{ '<|start_header_id|>' + "
     "m['role'] + '<|end_header_id|>\\n\\n' + m['content'] | trim + '<|eot_id|>' }}{% endfor %}{{ "
     "'<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}",
     "<|start_header_id|>system<|end_header_id|>\n\nCutting Knowledge Date: December 2023\nToday Date: 26 Jul "
     "2024\n\nRhyme.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|><|start_header_id|>assistant<|"
     "end_header_id|>\n\nFly<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nWhy?<|eot_id|><|start_header_id|>"
     "assistant<|end_header_id|>\n\n",
     "<|start_header_id|>system<|end_header_id|>\n\nCutting Knowledge Date: December 2023\nToday Date: 26 Jul "
     "2024\n\n<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|><|start_header_id|>assistant<|end_"
     "header_id|>\n\nFly<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nWhy?<|eot_id|><|start_header_id|>"
     "assistant<|end_header_id|>\n\n"},
    {"gemma",
     "{{ bos_token }}{% if messages[0]['role'] == 'system' %}{% set system_message = messages[0]['content'] %}{% set "
     "messages = messages[1:] %}{% endif %}{% for m in messages %}{{ '<start_of_turn>' + ('model' if m['role'] == "
     "'assistant' else 'user') + '\\n' + (system_message + '\\n\\n' if loop.first and system_message else '') + "
     "m['content'] | trim + '<end_of_turn>\\n' }}{% endfor %}{{ '<start_of_turn>model\\n' }}",
     "<start_of_turn>user\nRhyme.\n\nHi<end_of_turn>\n<start_of_turn>model\nFly<end_of_turn>\n<start_of_turn>user\nWhy?"
     "<end_of_turn>\n<start_of_turn>model\n",
     "<start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\nFly<end_of_turn>\n<start_of_turn>user\nWhy?<end_of_"
     "turn>\n<start_of_turn>model\n"},
    {"phi 3",
     "{% for m in messages %}{{ '<|' + m['role'] + '|>\\n' + m['content'] + '<|end|>\\n' }}{% endfor %}{{ "
     "'<|assistant|>\\n' }}",
     "<|system|>\nRhyme.<|end|>\n<|user|>\n Hi\n<|end|>\n<|assistant|>\n Fly "
     "<|end|>\n<|user|>\nWhy?<|end|>\n<|assistant|>\n",
     "<|user|>\n Hi\n<|end|>\n<|assistant|>\n Fly <|end|>\n<|user|>\nWhy?<|end|>\n<|assistant|>\n"},
    {"phi 4 mini",
     "{% for m in messages %}{{ '<|' + m['role'] + '|>' + m['content'] + '<|end|>' }}{% endfor %}{{ '<|assistant|>' }}",
     "<|system|>Rhyme.<|end|><|user|> Hi\n<|end|><|assistant|> Fly <|end|><|user|>Why?<|end|><|assistant|>",
     "<|user|> Hi\n<|end|><|assistant|> Fly <|end|><|user|>Why?<|end|><|assistant|>"},
    {"zephyr",
     "{% for m in messages %}\n{% if m['role'] == 'user' %}\n{{ '<|user|>\\n' + m['content'] + eos_token }}\n{% elif "
     "m['role'] == 'system' %}\n{{ '<|system|>\\n' + m['content'] + eos_token }}\n{% else %}\n{{ '<|assistant|>\\n' + "
     "m['content'] + eos_token }}\n{% endif %}\n{% if loop.last %}\n{{ '<|assistant|>' }}\n{% endif %}\n{% endfor %}",
     "<|system|>\nRhyme.</s>\n<|user|>\n Hi\n</s>\n<|assistant|>\n Fly </s>\n<|user|>\nWhy?</s>\n<|assistant|>\n",
     "<|user|>\n Hi\n</s>\n<|assistant|>\n Fly </s>\n<|user|>\nWhy?</s>\n<|assistant|>\n"},
    {"llama 2",
     "{% if messages[0]['role'] == 'system' %}{% set system_message = messages[0]['content'] %}{% set messages = "
     "messages[1:] %}{% endif %}{% for message in messages %}{% set content = ('<<SYS>>\\n' + system_message + "
     "'\\n<</SYS>>\\n\\n' if loop.first and system_message else '') + message['content'] %}{% if message['role'] == "
     "'user' %}{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}{% else %}{{ ' ' + content.strip() + ' ' + "
     "eos_token }}{% endif %}{% endfor %}",
     "[INST] <<SYS>>\nRhyme.\n<</SYS>>\n\n Hi [/INST] Fly </s><s>[INST] Why? [/INST]",
     "[INST] Hi [/INST] Fly </s><s>[INST] Why? [/INST]"},
    {"llama 2 without a system",
     "{% if messages[0]['role'] == 'system' %}{% set system_message = messages[0]['content'] %}{% set messages = "
     "messages[1:] %}{% endif %}{% for message in messages %}{% set content = (system_message + '\\n\\n' if loop.first "
     "and system_message else '') + message['content'] %}{% if message['role'] == 'user' %}{{ bos_token + '[INST] ' + "
     "content.strip() + ' [/INST]' }}{% else %}{{ ' ' + content.strip() + ' ' + eos_token }}{% endif %}{% endfor %}",
     "[INST] Rhyme.\n\n Hi [/INST] Fly </s><s>[INST] Why? [/INST]", "[INST] Hi [/INST] Fly </s><s>[INST] Why? [/INST]"},
    {"mistral 0 1",
     "{% if messages[0]['role'] == 'system' %}{% set system_message = messages[0]['content'] %}{% set messages = "
     "messages[1:] %}{% endif %}{{ bos_token }}{% for message in messages %}{% set content = (system_message + "
     "'\\n\\n' if loop.first and system_message else '') + message['content'] %}{% if message['role'] == 'user' %}{{ "
     "'[INST] ' + content + ' [/INST]' }}{% else %}{{ message['content'] + eos_token + ' ' }}{% endif %}{% endfor %}",
     "[INST] Rhyme.\n\n Hi\n [/INST] Fly </s> [INST] Why? [/INST]",
     "[INST]  Hi\n [/INST] Fly </s> [INST] Why? [/INST]"},
    {"mistral 1",
     "{% if messages[0]['role'] == 'system' %}{% set system_message = messages[0]['content'] %}{% set messages = "
     "messages[1:] %}{% endif %}{{ bos_token }}{% for message in messages %}{% set content = (system_message + "
     "'\\n\\n' if loop.first and system_message else '') + message['content'] %}{% if message['role'] == 'user' %}{{ ' "
     "[INST] ' + content + ' [/INST]' }}{% else %}{{ ' ' + message['content'] + eos_token }}{% endif %}{% endfor %}",
     " [INST] Rhyme.\n\n Hi\n [/INST]  Fly </s> [INST] Why? [/INST]",
     " [INST]  Hi\n [/INST]  Fly </s> [INST] Why? [/INST]"},
    {"mistral 3",
     "{% if messages[0]['role'] == 'system' %}{% set system_message = messages[0]['content'] %}{% set messages = "
     "messages[1:] %}{% endif %}{{ bos_token }}{% for message in messages %}{% set content = (system_message + "
     "'\\n\\n' if loop.last and system_message else '') + message['content'] %}{% if message['role'] == 'user' %}{{ "
     "\"[INST] \" + content + \"[/INST]\" }}{% else %}{{ \" \" + message['content']|trim + eos_token }}{% endif %}{% "
     "endfor %}",
     "[INST]  Hi\n[/INST] Fly</s>[INST] Rhyme.\n\nWhy?[/INST]", "[INST]  Hi\n[/INST] Fly</s>[INST] Why?[/INST]"},
    {"mistral 3 tekken",
     "{% if messages[0]['role'] == 'system' %}{% set system_message = messages[0]['content'] %}{% set messages = "
     "messages[1:] %}{% endif %}{{ bos_token }}{% for message in messages %}{% set content = (system_message + "
     "'\\n\\n' if loop.last and system_message else '') + message['content'] %}{% if message['role'] == 'user' %}{{ "
     "\"[INST]\" + content + \"[/INST]\" }}{% else %}{{ message['content'] + eos_token }}{% endif %}{% endfor %}",
     "[INST] Hi\n[/INST] Fly </s>[INST]Rhyme.\n\nWhy?[/INST]", "[INST] Hi\n[/INST] Fly </s>[INST]Why?[/INST]"},
    {"mistral 7",
     "{{ bos_token }}{% for message in messages %}{% if message['role'] == 'user' %}{{ '[INST] ' + message['content'] "
     "+ '[/INST]' }}{% elif message['role'] == 'system' %}{{ '[SYSTEM_PROMPT] ' + message['content'] + "
     "'[/SYSTEM_PROMPT]' }}{% else %}{{ ' ' + message['content'] + eos_token }}{% endif %}{% endfor %}",
     "[SYSTEM_PROMPT] Rhyme.[/SYSTEM_PROMPT][INST]  Hi\n[/INST]  Fly </s>[INST] Why?[/INST]",
     "[INST]  Hi\n[/INST]  Fly </s>[INST] Why?[/INST]"},
};

static const ig_chat_message chat[] = {
    {"system", "Rhyme."}, {"user", " Hi\n"}, {"assistant", " Fly "}, {"user", "Why?"}};

static void assert_status(ig_status got, ig_status wanted) {
    assert_string_equal(ig_status_name(got), ig_status_name(wanted));
}

static ig_gguf *file_with(const char *template) {
    gguf_writer w = {0};
    if (template) gguf_add_string(&w, "tokenizer.chat_template", template);
    return save_and_open(&w);
}

static ig_gguf *file_of(const char *name) {
    for (size_t i = 0; i < LENGTH(goldens); i++)
        if (strcmp(goldens[i].name, name) == 0) return file_with(goldens[i].template);
    fail_msg("there is no golden '%s'", name);
    return NULL;
}

static void expect(const ig_gguf *file, const ig_chat_message *messages, uint64_t count, const char *wanted) {
    char text[1024];
    uint64_t length = 0;
    assert_status(ig_chat_format(file, messages, count, text, sizeof text, &length), IG_STATUS_OK);
    assert_string_equal(text, wanted);
    assert_int_equal(length, strlen(wanted));
}

static void each_family_is_written_as_its_template_does(void **state) {
    (void)state;
    for (size_t i = 0; i < LENGTH(goldens); i++) {
        print_message("%s\n", goldens[i].name);
        ig_gguf *file = file_with(goldens[i].template);
        expect(file, chat, 4, goldens[i].with_system);
        expect(file, chat + 1, 3, goldens[i].without);
        ig_gguf_release(file);
    }
}

static void tokens_that_begin_and_end_texts_are_the_file_s(void **state) {
    (void)state;
    gguf_writer w = {0};
    gguf_add_string(&w, "tokenizer.chat_template", "bos_token + '[INST] ' ' [/INST]' ' ' + content + ' ' + eos_token");
    gguf_add_strings(&w, "tokenizer.ggml.tokens", 2, (const char *const[]){"<begin>", "<end>"});
    gguf_add_u32(&w, "tokenizer.ggml.bos_token_id", 0);
    gguf_add_u32(&w, "tokenizer.ggml.eos_token_id", 1);
    ig_gguf *file = save_and_open(&w);
    const ig_chat_message messages[] = {{"user", "a"}, {"assistant", "b"}, {"user", "c"}};
    expect(file, messages, 3, "[INST] a [/INST] b <end><begin>[INST] c [/INST]");
    ig_gguf_release(file);
}

static void tokens_that_are_not_there_are_not_read(void **state) {
    (void)state;
    gguf_writer w = {0};
    gguf_add_string(&w, "tokenizer.chat_template", "'[INST]' '[/INST]' + eos_token");
    gguf_add_strings(&w, "tokenizer.ggml.tokens", 2, (const char *const[]){"<begin>", "<end>"});
    gguf_add_u32(&w, "tokenizer.ggml.eos_token_id", 2);
    ig_gguf *file = save_and_open(&w);
    expect(file, &(ig_chat_message){"assistant", "b"}, 1, "b</s>");
    ig_gguf_release(file);
}

static void too_little_room_is_said_and_nothing_written(void **state) {
    (void)state;
    ig_gguf *file = file_of("phi 3");
    char text[64] = "as before";
    uint64_t length = 0;
    const ig_chat_message message = {"user", "Hi"};
    static const char wanted[] = "<|user|>\nHi<|end|>\n<|assistant|>\n";
    assert_status(ig_chat_format(file, &message, 1, NULL, 0, &length), IG_STATUS_OUT_OF_RANGE);
    assert_int_equal(length, strlen(wanted));
    assert_status(ig_chat_format(file, &message, 1, text, length, &length), IG_STATUS_OUT_OF_RANGE);
    assert_string_equal(text, "as before");
    assert_status(ig_chat_format(file, &message, 1, text, length + 1, &length), IG_STATUS_OK);
    assert_string_equal(text, wanted);
    ig_gguf_release(file);
}

static void templates_of_no_family_are_refused(void **state) {
    (void)state;
    static const char *const strange[] = {NULL, "", "{{ messages }}", "<|im_start|>", "[gMASK]<|user|><|assistant|>"};
    for (size_t i = 0; i < LENGTH(strange); i++) {
        uint64_t length = 7;
        ig_gguf *file = file_with(strange[i]);
        assert_status(ig_chat_format(file, chat, 4, NULL, 0, &length), IG_STATUS_UNSUPPORTED);
        assert_int_equal(length, 7);
        ig_gguf_release(file);
    }
}

static void expect_refusal(const ig_gguf *file, const ig_chat_message *messages, uint64_t count) {
    uint64_t length;
    assert_status(ig_chat_format(file, messages, count, NULL, 0, &length), IG_STATUS_INVALID_ARGUMENT);
}

static void messages_that_no_format_has_a_place_for_are_refused(void **state) {
    (void)state;
    ig_gguf *file = file_of("chatml");
    expect_refusal(file, &(ig_chat_message){"tool", "Hi"}, 1);
    expect_refusal(file, &(ig_chat_message){"user", NULL}, 1);
    expect_refusal(file, &(ig_chat_message){NULL, "Hi"}, 1);
    expect_refusal(file, NULL, 1);
    ig_gguf_release(file);
    file = file_of("llama 2");
    expect_refusal(file, chat, 1);
    expect_refusal(file, (ig_chat_message[]){{"user", "Hi"}, {"system", "Rhyme."}}, 2);
    expect_refusal(file, (ig_chat_message[]){{"system", "Rhyme."}, {NULL, NULL}}, 2);
    expect_refusal(file, (ig_chat_message[]){{"system", "Rhyme."}, {"assistant", "Hi"}}, 2);
    ig_gguf_release(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_family_is_written_as_its_template_does),
        cmocka_unit_test(tokens_that_begin_and_end_texts_are_the_file_s),
        cmocka_unit_test(tokens_that_are_not_there_are_not_read),
        cmocka_unit_test(too_little_room_is_said_and_nothing_written),
        cmocka_unit_test(templates_of_no_family_are_refused),
        cmocka_unit_test(messages_that_no_format_has_a_place_for_are_refused),
    };
    return cmocka_run_group_tests_name("chat", tests, make_model_directory, remove_model_directory);
}
