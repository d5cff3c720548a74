// SPDX-License-Identifier: Apache-2.0
// The directives of a format, one at a time.
#include "device/message-format.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { WIDEST = 256, MOST_PRECISE = 64, LONGEST_PIECE = 512 };

typedef struct directive {
    char flags[6];
    uint32_t width, precision;
    bool has_precision;
    uint32_t size;  // of an integer, as the length modifier says; 0: by its type
    char conversion;
} directive;

// ---- Reading ----

static bool read_number(const char **at, const char *end, uint32_t most, uint32_t *number) {
    *number = 0;
    for (; *at < end && **at >= '0' && **at <= '9'; ++*at) {
        *number = *number * 10 + (uint32_t)(**at - '0');
        if (*number > most) return false;
    }
    return true;
}

static void read_flags(const char **at, const char *end, directive *d) {
    size_t count = 0;
    for (; *at < end && **at && strchr("-+ #0", **at); ++*at)
        if (!memchr(d->flags, **at, count)) d->flags[count++] = **at;
    d->flags[count] = '\0';
}

static bool read_text(const char **at, const char *end, const char *wanted) {
    size_t length = strlen(wanted);
    if ((size_t)(end - *at) < length || memcmp(*at, wanted, length) != 0) return false;
    *at += length;
    return true;
}

// "v2", "v3", "v4" (and the longer ones of other languages): how many elements there are is known already.
static bool read_vector(const char **at, const char *end) {
    if (!read_text(at, end, "v")) return true;
    uint32_t elements;
    const char *start = *at;
    return read_number(at, end, 16, &elements) && *at > start;
}

static void read_length(const char **at, const char *end, directive *d) {
    static const struct {
        const char *text;
        uint32_t size;
    } lengths[] = {{"hh", 1}, {"hl", 4}, {"h", 2}, {"ll", 8}, {"l", 8}, {"j", 8}, {"z", 8}, {"t", 8}};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        if (!read_text(at, end, lengths[i].text)) continue;
        d->size = lengths[i].size;
        return;
    }
}

// From after the '%'. False when it is of another form.
static bool read_directive(const char **at, const char *end, directive *d) {
    *d = (directive){0};
    read_flags(at, end, d);
    if (!read_number(at, end, WIDEST, &d->width)) return false;
    d->has_precision = read_text(at, end, ".");
    if (d->has_precision && !read_number(at, end, MOST_PRECISE, &d->precision)) return false;
    if (!read_vector(at, end)) return false;
    read_length(at, end, d);
    if (*at == end || !**at || !strchr("diuoxXcpsfFeEgGaA", **at)) return false;
    d->conversion = *(*at)++;
    return true;
}

// ---- Values ----

static double as_double(const igi_device_message_argument *argument, uint64_t element) {
    float single;
    uint32_t bits = (uint32_t)element;
    memcpy(&single, &bits, sizeof single);
    if (argument->kind == IGI_LOG_FLOAT) return (double)single;
    return argument->kind == IGI_LOG_SIGNED ? (double)(int64_t)element : (double)element;
}

// A float outside of the range of an integer is the nearest one, as MSL converts it.
static uint64_t as_integer(const igi_device_message_argument *argument, uint64_t element) {
    if (argument->kind != IGI_LOG_FLOAT) return element;
    double value = as_double(argument, element);
    if (!(value > -9.2e18)) return value < 0 ? (uint64_t)INT64_MIN : 0;
    return value < 9.2e18 ? (uint64_t)(int64_t)value : (uint64_t)INT64_MAX;
}

// Small integers are promoted to int unless the directive says otherwise.
static uint32_t size_of(const directive *d, const igi_device_message_argument *argument) {
    if (d->size) return d->size;
    if (argument->kind == IGI_LOG_FLOAT) return 8;
    return argument->element_bytes < 4 && argument->count == 1 ? 4 : argument->element_bytes;
}

static uint64_t cut(uint64_t value, uint32_t size, bool is_signed) {
    unsigned shift = size >= 8 ? 0 : 64 - 8 * size;
    return is_signed ? (uint64_t)((int64_t)(value << shift) >> shift) : value << shift >> shift;
}

// ---- Printing ----

// A format for the host, of parts that were read.
static void host_format(const directive *d, const char *length, char conversion, char format[32]) {
    int used = snprintf(format, 32, "%%%s", d->flags);
    if (d->width) used += snprintf(format + used, 32 - (size_t)used, "%u", d->width);
    if (d->has_precision) used += snprintf(format + used, 32 - (size_t)used, ".%u", d->precision);
    snprintf(format + used, 32 - (size_t)used, "%s%c", length, conversion);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void print_element(igi_text *text, const directive *d, const igi_device_message_argument *argument,
                          uint64_t element) {
    char format[32], piece[LONGEST_PIECE];
    bool is_signed = d->conversion == 'd' || d->conversion == 'i';
    uint64_t value = cut(as_integer(argument, element), size_of(d, argument), is_signed);
    switch (d->conversion) {
        case 'd':
        case 'i':
            host_format(d, "ll", d->conversion, format);
            snprintf(piece, sizeof piece, format, (long long)value);
            break;
        case 'u':
        case 'o':
        case 'x':
        case 'X':
            host_format(d, "ll", d->conversion, format);
            snprintf(piece, sizeof piece, format, (unsigned long long)value);
            break;
        case 'p': snprintf(piece, sizeof piece, "0x%llx", (unsigned long long)as_integer(argument, element)); break;
        case 'c': snprintf(piece, sizeof piece, "%c", value > 0 && value < 0x80 ? (int)value : '?'); break;
        default:
            host_format(d, "", d->conversion == 's' ? 'g' : d->conversion, format);
            snprintf(piece, sizeof piece, format, as_double(argument, element));
            break;
    }
    igi_text_add(text, piece);
}
#pragma GCC diagnostic pop

static void print_text(igi_text *text, const directive *d, const igi_device_message_argument *argument) {
    size_t length = argument->text_length;
    if (d->has_precision && d->precision < length) length = d->precision;
    size_t padding = d->width > length ? d->width - length : 0;
    bool left = strchr(d->flags, '-') != NULL;
    for (size_t i = 0; !left && i < padding; i++) igi_text_append(text, " ", 1);
    igi_text_append(text, argument->text, length);
    for (size_t i = 0; left && i < padding; i++) igi_text_append(text, " ", 1);
}

static void print_argument(igi_text *text, const directive *d, const igi_device_message_argument *argument) {
    if (argument->kind == IGI_LOG_TEXT) {
        print_text(text, d, argument);
        return;
    }
    for (uint32_t i = 0; i < argument->count; i++) {
        if (i) igi_text_append(text, ",", 1);
        print_element(text, d, argument, argument->elements[i]);
    }
}

void igi_device_message_format(igi_text *text, const char *format, size_t length,
                               const igi_device_message_argument *arguments, size_t count) {
    const char *at = format, *end = format + length;
    size_t used = 0;
    while (at < end && text->length < IGI_MESSAGE_LONGEST && !text->failed) {
        const char *start = at;
        directive d;
        while (at < end && *at != '%') at++;
        igi_text_append(text, start, (size_t)(at - start));
        if (at == end) break;
        start = at++;
        if (read_text(&at, end, "%"))
            igi_text_append(text, "%", 1);
        else if (read_directive(&at, end, &d) && used < count)
            print_argument(text, &d, &arguments[used++]);
        else
            igi_text_append(text, start, (size_t)(at - start));
    }
    if (text->length <= IGI_MESSAGE_LONGEST) return;
    text->length = IGI_MESSAGE_LONGEST;
    text->data[text->length] = '\0';
}
