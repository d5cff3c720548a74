// SPDX-License-Identifier: Apache-2.0
// Mach-O: a header, load commands with their lengths, and in those of segments a list of sections. A file for several
// processors begins with a list of such files, in big-endian numbers.
#include "air/macho.h"

#include <string.h>

enum {
    MAGIC_BYTES = 4,
    SEGMENT_64 = 0x19,
    COMMAND_BYTES = 8,
    NAME_BYTES = 16,
    SECTION_BYTES = 80,
    MOST_PROCESSORS = 64,
};

static const char magic_64[] = "\xcf\xfa\xed\xfe", magic_fat[] = "\xca\xfe\xba\xbe",
                  magic_fat_64[] = "\xca\xfe\xba\xbf";

static bool has_magic(const char *bytes, size_t length, const char *magic) {
    return length >= MAGIC_BYTES && memcmp(bytes, magic, MAGIC_BYTES) == 0;
}

bool igi_air_is_macho(const char *bytes, size_t length) {
    return has_magic(bytes, length, magic_64) || has_magic(bytes, length, magic_fat) ||
           has_magic(bytes, length, magic_fat_64);
}

static void skip(igi_reader *r, size_t length) {
    if (length > igi_bytes_left(r)) r->failed = true;
    if (!r->failed) r->at += length;
}

// ---- Processors ----

static uint64_t big_endian(igi_reader *r, bool wide) {
    return wide ? __builtin_bswap64(igi_get_u64(r)) : __builtin_bswap32(igi_get_u32(r));
}

static bool choose_processor(igi_air_macho *m) {
    bool wide = has_magic(m->bytes, m->length, magic_fat_64);
    igi_reader r = igi_read_from(m->bytes, m->length);
    skip(&r, MAGIC_BYTES);
    uint64_t count = big_endian(&r, false);
    if (count > MOST_PROCESSORS) return false;
    for (uint64_t i = 0; i < count; i++) {
        skip(&r, 8);  // which processor
        uint64_t offset = big_endian(&r, wide), length = big_endian(&r, wide);
        skip(&r, wide ? 8 : 4);  // alignment
        if (r.failed || !igi_in_range(offset, length, m->length)) return false;
        if (!has_magic(m->bytes + offset, (size_t)length, magic_64)) continue;
        m->bytes += offset;
        m->length = (size_t)length;
        return true;
    }
    return false;
}

// ---- Commands and sections ----

igi_air_macho igi_air_macho_open(const char *bytes, size_t length) {
    igi_air_macho m = {.bytes = bytes, .length = length};
    if (!has_magic(bytes, length, magic_64) && !choose_processor(&m)) {
        m.failed = true;
        return m;
    }
    m.commands = igi_read_from(m.bytes, m.length);
    skip(&m.commands, 16);  // magic, processor, kind of file
    m.commands_left = igi_get_u32(&m.commands);
    uint32_t command_bytes = igi_get_u32(&m.commands);
    skip(&m.commands, 8);  // flags
    m.failed = m.commands.failed || command_bytes > igi_bytes_left(&m.commands);
    if (!m.failed) m.commands.end = m.commands.at + command_bytes;
    return m;
}

// Its sections come next; those of other commands are none.
static bool next_command(igi_air_macho *m) {
    igi_reader *r = &m->commands;
    uint32_t command = igi_get_u32(r), length = igi_get_u32(r);
    if (r->failed || length < COMMAND_BYTES || length - COMMAND_BYTES > igi_bytes_left(r)) return false;
    m->sections = igi_read_from(r->at, length - COMMAND_BYTES);
    r->at += length - COMMAND_BYTES;
    m->commands_left--;
    m->sections_left = 0;
    if (command != SEGMENT_64) return true;
    skip(&m->sections, NAME_BYTES + 40);  // its name, places and protections
    m->sections_left = igi_get_u32(&m->sections);
    skip(&m->sections, 4);  // flags
    return !m->sections.failed && m->sections_left <= igi_bytes_left(&m->sections) / SECTION_BYTES;
}

static bool read_section(igi_air_macho *m, igi_air_part *section, bool *in_file) {
    igi_reader *r = &m->sections;
    m->sections_left--;
    *section = (igi_air_part){0};
    memcpy(section->name, r->at, NAME_BYTES);
    skip(r, 2 * NAME_BYTES + 8);  // and the segment's name, and its address
    uint64_t length = igi_get_u64(r);
    uint32_t offset = igi_get_u32(r);
    skip(r, 12);  // alignment, relocations
    enum { KIND = 0xff, ZERO_FILL = 1, LARGE_ZERO_FILL = 0xc, THREAD_ZERO_FILL = 0x12 };
    uint32_t kind = igi_get_u32(r) & KIND;
    skip(r, 12);
    *in_file = kind != ZERO_FILL && kind != LARGE_ZERO_FILL && kind != THREAD_ZERO_FILL;
    if (!*in_file) return true;
    if (!igi_in_range(offset, length, m->length)) return false;
    section->bytes = m->bytes + offset;
    section->length = (size_t)length;
    return true;
}

bool igi_air_macho_next(igi_air_macho *m, igi_air_part *section) {
    bool found = false;
    while (!m->failed && !found && (m->sections_left || m->commands_left)) {
        if (m->sections_left)
            m->failed = !read_section(m, section, &found);
        else
            m->failed = !next_command(m);
    }
    return found && !m->failed;
}
