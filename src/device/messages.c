// SPDX-License-Identifier: Apache-2.0
// Records of messages. Kernels can write anything into their memory: every length is compared with what is left.
#include "device/messages.h"

#include <string.h>

#include "device/message-format.h"

typedef struct reader {
    const uint32_t *at, *end;
} reader;

// ---- Reading ----

static bool read_word(reader *r, uint32_t *word) {
    if (r->at == r->end) return false;
    *word = *r->at++;
    return true;
}

static bool read_text(reader *r, const char **text, size_t *length) {
    uint32_t bytes;
    if (!read_word(r, &bytes) || bytes > IGI_LOG_LONGEST_TEXT) return false;
    size_t words = ((size_t)bytes + 3) / 4;
    if (words > (size_t)(r->end - r->at)) return false;
    *text = (const char *)r->at;
    *length = bytes;
    r->at += words;
    return true;
}

static bool read_elements(reader *r, igi_device_message_argument *argument) {
    for (uint32_t i = 0; i < argument->count; i++) {
        uint32_t low, high;
        if (!read_word(r, &low) || !read_word(r, &high)) return false;
        argument->elements[i] = low | (uint64_t)high << 32;
    }
    return true;
}

static bool read_argument(reader *r, igi_device_message_argument *argument) {
    uint32_t tag;
    if (!read_word(r, &tag)) return false;
    *argument = (igi_device_message_argument){
        .kind = (igi_log_kind)(tag & 0xff), .element_bytes = tag >> 8 & 0xff, .count = tag >> 16};
    if (argument->kind == IGI_LOG_TEXT) return read_text(r, &argument->text, &argument->text_length);
    bool known = argument->kind >= IGI_LOG_SIGNED && argument->kind <= IGI_LOG_POINTER;
    bool sized = argument->element_bytes >= 1 && argument->element_bytes <= 8;
    return known && sized && argument->count <= IGI_MESSAGE_MOST_ELEMENTS && read_elements(r, argument);
}

// ---- Handing over ----

static void log_message(const ig_kernel_log_entry *message) {
    static const ig_log_level levels[] = {IG_LOG_DEBUG, IG_LOG_INFO, IG_LOG_INFO, IG_LOG_ERROR, IG_LOG_ERROR};
    bool named = *message->subsystem || *message->category;
    igi_log(levels[message->level], "kernel '%s'%s%s%s%s%s: %s", message->kernel, named ? " [" : "", message->subsystem,
            named ? ":" : "", message->category, named ? "]" : "", message->text);
}

static void deliver(const ig_kernel_log_entry *message, const ig_kernel_log_desc *desc) {
    if (message->level < desc->level) return;
    if (desc->callback)
        desc->callback(message, desc->user);
    else
        log_message(message);
}

// False when the record makes no sense.
static bool deliver_record(reader r, const char *kernel, const ig_kernel_log_desc *desc) {
    uint32_t head;
    const char *texts[3];
    size_t lengths[3];
    igi_device_message_argument arguments[IGI_MESSAGE_MOST_ARGUMENTS];
    if (!read_word(&r, &head)) return false;
    uint32_t level = head & 0xff, count = head >> 8;
    if (level > IG_KERNEL_LOG_FAULT || count > IGI_MESSAGE_MOST_ARGUMENTS) return false;
    for (int i = 0; i < 3; i++)
        if (!read_text(&r, &texts[i], &lengths[i])) return false;
    for (uint32_t i = 0; i < count; i++)
        if (!read_argument(&r, &arguments[i])) return false;
    igi_text text = {0};
    igi_device_message_format(&text, texts[2], lengths[2], arguments, count);
    char *subsystem = igi_strndup(texts[0], lengths[0]), *category = igi_strndup(texts[1], lengths[1]);
    char *message = igi_text_take(&text);
    bool ok = subsystem && category && message;
    if (ok) deliver(&(ig_kernel_log_entry){(ig_kernel_log_level)level, kernel, subsystem, category, message}, desc);
    free(subsystem), free(category), free(message);
    return ok;
}

uint64_t igi_device_messages_deliver(uint32_t *log, uint64_t bytes, const char *kernel,
                                     const ig_kernel_log_desc *desc) {
    uint64_t capacity = bytes / 4 - IGI_LOG_HEADER, lost = log[IGI_LOG_LOST];
    uint64_t used = log[IGI_LOG_USED] < capacity ? log[IGI_LOG_USED] : capacity;
    const uint32_t *at = log + IGI_LOG_HEADER, *end = at + used;
    while (at < end && *at) {
        size_t words = *at < (size_t)(end - at) ? *at : (size_t)(end - at);
        lost += !deliver_record((reader){at + 1, at + words}, kernel, desc);
        at += words;
    }
    memset(log, 0, (IGI_LOG_HEADER + used) * 4);
    return lost;
}

void igi_device_messages_begin(uint32_t *log, uint64_t bytes) {
    log[IGI_LOG_CAPACITY] = (uint32_t)(bytes / 4 - IGI_LOG_HEADER);
}

uint64_t igi_device_messages_bytes(const ig_kernel_log_desc *desc) {
    uint64_t wanted = desc->buffer_bytes ? desc->buffer_bytes : IGI_MESSAGES_DEFAULT_BYTES;
    if (wanted < IGI_MESSAGES_LEAST_BYTES) wanted = IGI_MESSAGES_LEAST_BYTES;
    return wanted > IGI_MESSAGES_MOST_BYTES ? IGI_MESSAGES_MOST_BYTES : wanted / 4 * 4;
}

uint64_t ig_commands_get_lost_log_entries(const ig_commands *commands) {
    return atomic_load(&((ig_commands *)commands)->lost_messages);
}
