// SPDX-License-Identifier: Apache-2.0
// Reads the line table (DWARF 4, section 6.2) of an ELF object for this machine. Relocations of the table say where in
// which section a sequence of lines begins; the symbol of a function whose address is known says where that section is.
#include "simt/lines.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

typedef struct row {
    uint64_t begin;       // offset in the section; a row ends where the next begins
    uint32_t file, line;  // line 0: none
} row;

struct igi_simt_lines {
    uint64_t base, bytes;  // of the section with code
    row *rows;
    size_t row_count, row_capacity;
    char **files;  // from number 1 on
    size_t file_count, file_capacity;
};

void igi_simt_lines_free(igi_simt_lines *lines) {
    if (!lines) return;
    for (size_t i = 0; i < lines->file_count; i++) free(lines->files[i]);
    free(lines->files), free(lines->rows), free(lines);
}

#if defined(__ELF__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && __SIZEOF_POINTER__ == 8
#include <elf.h>

// ---- Bytes ----

typedef struct bytes {
    const uint8_t *at, *end;
    bool failed;  // the end was passed
} bytes;

static uint64_t take(bytes *b, size_t count) {
    uint64_t value = 0;
    if ((size_t)(b->end - b->at) < count) {
        b->failed = true;
        b->at = b->end;
        return 0;
    }
    memcpy(&value, b->at, count);
    b->at += count;
    return value;
}

static uint64_t take_leb(bytes *b, bool is_signed) {
    uint64_t value = 0;
    unsigned shift = 0, byte;
    do {
        byte = (unsigned)take(b, 1);
        if (shift < 64) value |= (uint64_t)(byte & 127) << shift;
        shift += 7;
    } while ((byte & 128) && !b->failed);
    if (is_signed && shift < 64 && (byte & 64)) value |= ~0ull << shift;
    return value;
}

static const char *take_text(bytes *b) {
    const char *text = (const char *)b->at;
    const uint8_t *end = memchr(b->at, 0, (size_t)(b->end - b->at));
    if (!end) b->failed = true;
    b->at = end ? end + 1 : b->end;
    return end ? text : "";
}

// ---- The object ----

typedef struct object {
    const char *data;
    size_t length;
    Elf64_Ehdr head;
    const char *names;  // of sections
    size_t names_length;
} object;

static bool section_at(const object *o, size_t index, Elf64_Shdr *section) {
    uint64_t at = o->head.e_shoff + index * sizeof *section;
    if (index >= o->head.e_shnum || !igi_in_range(at, sizeof *section, o->length)) return false;
    memcpy(section, o->data + at, sizeof *section);
    return igi_in_range(section->sh_offset, section->sh_size, o->length);
}

static bool open_object(object *o, const char *data, size_t length) {
    Elf64_Shdr names;
    *o = (object){.data = data, .length = length};
    if (length < sizeof o->head) return false;
    memcpy(&o->head, data, sizeof o->head);
    if (memcmp(o->head.e_ident, ELFMAG, SELFMAG) != 0 || o->head.e_ident[EI_CLASS] != ELFCLASS64) return false;
    if (o->head.e_shentsize != sizeof names || !section_at(o, o->head.e_shstrndx, &names)) return false;
    o->names = data + names.sh_offset;
    o->names_length = names.sh_size;
    return true;
}

// The text at an offset of a table that ends in NUL.
static const char *text_in(const char *table, size_t length, uint64_t offset) {
    return offset < length && memchr(table + offset, 0, length - offset) ? table + offset : "";
}

static bool find_section(const object *o, const char *name, Elf64_Shdr *section) {
    for (size_t i = 0; i < o->head.e_shnum; i++)
        if (section_at(o, i, section) && strcmp(text_in(o->names, o->names_length, section->sh_name), name) == 0)
            return true;
    return false;
}

static bool symbol_at(const object *o, const Elf64_Shdr *table, uint64_t index, Elf64_Sym *symbol) {
    if (index >= table->sh_size / sizeof *symbol) return false;
    memcpy(symbol, o->data + table->sh_offset + index * sizeof *symbol, sizeof *symbol);
    return true;
}

// Where the section with the kernel's code is. *section gets its number.
static bool find_code(const object *o, const Elf64_Shdr *symbols, const igi_simt_code *code, igi_simt_lines *lines,
                      uint32_t *section) {
    const char *end = code->run ? ".run" : ".start";
    uint64_t address = code->run ? (uintptr_t)code->run : (uintptr_t)code->start;
    Elf64_Shdr strings, text;
    Elf64_Sym symbol;
    if (!section_at(o, symbols->sh_link, &strings)) return false;
    for (uint64_t i = 0; symbol_at(o, symbols, i, &symbol); i++) {
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
        if (!igi_ends_with(text_in(o->data + strings.sh_offset, strings.sh_size, symbol.st_name), end)) continue;
        *section = symbol.st_shndx;
        lines->base = address - symbol.st_value;
        lines->bytes = section_at(o, symbol.st_shndx, &text) ? text.sh_size : 0;
        return true;
    }
    return false;
}

// ---- The table ----

typedef struct program {
    const object *o;
    Elf64_Shdr symbols, table, relocations;
    uint32_t section;  // of the code
    igi_simt_lines *lines;
    bytes b;
    const uint8_t *begin;  // of the whole table
    uint8_t least_bytes, line_range, opcode_base, lengths[256];
    int8_t line_base;
    size_t first_file;  // files of earlier units come before
    // State
    uint64_t address;
    uint32_t file, line, last_line;
    bool foreign;  // the sequence is in another section
} program;

static bool add_file(igi_simt_lines *lines, const char *directory, const char *name) {
    if (!igi_grow((void **)&lines->files, &lines->file_capacity, lines->file_count + 1, sizeof *lines->files))
        return false;
    char *path = name[0] == '/' || !*directory ? igi_strdup(name) : igi_format("%s/%s", directory, name);
    if (!path) return false;
    lines->files[lines->file_count++] = path;
    return true;
}

static void read_files(program *p) {
    enum { MOST_DIRECTORIES = 1024 };
    const char *directories[MOST_DIRECTORIES] = {""};
    size_t count = 1;
    for (const char *name; *(name = take_text(&p->b));)
        if (count < MOST_DIRECTORIES) directories[count++] = name;
    p->first_file = p->lines->file_count;
    for (const char *name; *(name = take_text(&p->b)) && !p->b.failed;) {
        uint64_t directory = take_leb(&p->b, false);
        take_leb(&p->b, false), take_leb(&p->b, false);
        if (!add_file(p->lines, directory < count ? directories[directory] : "", name)) p->b.failed = true;
    }
}

static void add_row(program *p, bool is_end) {
    igi_simt_lines *lines = p->lines;
    // Code without a line belongs to what is before it.
    if (p->line) p->last_line = p->line;
    if (p->foreign) return;
    if (!igi_grow((void **)&lines->rows, &lines->row_capacity, lines->row_count + 1, sizeof *lines->rows)) {
        p->b.failed = true;
        return;
    }
    uint64_t file = p->first_file + p->file;
    lines->rows[lines->row_count++] =
        (row){p->address, file <= lines->file_count && !is_end ? (uint32_t)file : 0, is_end ? 0 : p->last_line};
}

static void begin_sequence(program *p) {
    p->address = 0;
    p->file = p->line = 1;
    p->last_line = 0;
    p->foreign = true;  // until its address is set
}

// The operand is zero in the object; its relocation has the value.
static void set_address(program *p) {
    uint64_t at = (uint64_t)(p->b.at - p->begin);
    Elf64_Rela relocation;
    Elf64_Sym symbol;
    take(&p->b, 8);
    for (uint64_t i = 0; i < p->relocations.sh_size / sizeof relocation; i++) {
        memcpy(&relocation, p->o->data + p->relocations.sh_offset + i * sizeof relocation, sizeof relocation);
        if (relocation.r_offset != at) continue;
        if (!symbol_at(p->o, &p->symbols, ELF64_R_SYM(relocation.r_info), &symbol)) continue;
        p->foreign = symbol.st_shndx != p->section;
        p->address = symbol.st_value + (uint64_t)relocation.r_addend;
    }
}

static void do_extended(program *p) {
    enum { END_SEQUENCE = 1, SET_ADDRESS = 2 };
    uint64_t length = take_leb(&p->b, false);
    if (!length || length > (uint64_t)(p->b.end - p->b.at)) {
        p->b.failed = true;
        return;
    }
    const uint8_t *next = p->b.at + length;
    uint64_t opcode = take(&p->b, 1);
    if (opcode == END_SEQUENCE) {
        add_row(p, true);
        begin_sequence(p);
    } else if (opcode == SET_ADDRESS && length == 9) {
        set_address(p);
    }
    p->b.at = next;
}

static void do_standard(program *p, unsigned opcode) {
    enum { COPY = 1, ADVANCE_PC, ADVANCE_LINE, SET_FILE, CONST_ADD_PC = 8, FIXED_ADVANCE_PC };
    switch (opcode) {
        case COPY: add_row(p, false); break;
        case ADVANCE_PC: p->address += take_leb(&p->b, false) * p->least_bytes; break;
        case ADVANCE_LINE: p->line += (uint32_t)take_leb(&p->b, true); break;
        case SET_FILE: p->file = (uint32_t)take_leb(&p->b, false); break;
        case CONST_ADD_PC: p->address += (uint64_t)((255 - p->opcode_base) / p->line_range) * p->least_bytes; break;
        case FIXED_ADVANCE_PC: p->address += take(&p->b, 2); break;
        default:
            for (unsigned i = 0; i < p->lengths[opcode]; i++) take_leb(&p->b, false);
    }
}

static void do_special(program *p, unsigned opcode) {
    unsigned adjusted = opcode - p->opcode_base;
    p->address += (uint64_t)(adjusted / p->line_range) * p->least_bytes;
    p->line += (uint32_t)(p->line_base + (int)(adjusted % p->line_range));
    add_row(p, false);
}

static bool read_head(program *p) {
    enum { VERSION = 4 };
    uint64_t version = take(&p->b, 2), head = take(&p->b, 4);
    if (version != VERSION || head > (uint64_t)(p->b.end - p->b.at)) return false;
    const uint8_t *after = p->b.at + head;
    p->least_bytes = (uint8_t)take(&p->b, 1);
    take(&p->b, 2);  // operations of an instruction, whether lines are statements
    p->line_base = (int8_t)take(&p->b, 1);
    p->line_range = (uint8_t)take(&p->b, 1);
    p->opcode_base = (uint8_t)take(&p->b, 1);
    for (unsigned i = 1; i < p->opcode_base; i++) p->lengths[i] = (uint8_t)take(&p->b, 1);
    read_files(p);
    p->b.at = after;
    return !p->b.failed && p->line_range && p->opcode_base;
}

// One unit of the table. False: nothing that follows can be read.
static bool read_unit(program *p) {
    bytes all = p->b;
    uint64_t length = take(&all, 4);
    if (all.failed || length > (uint64_t)(all.end - all.at)) return false;
    p->b = (bytes){.at = all.at, .end = all.at + length};
    all.at += length;
    bool readable = read_head(p);
    begin_sequence(p);
    while (readable && p->b.at < p->b.end && !p->b.failed) {
        unsigned opcode = (unsigned)take(&p->b, 1);
        if (opcode >= p->opcode_base)
            do_special(p, opcode);
        else if (opcode)
            do_standard(p, opcode);
        else
            do_extended(p);
    }
    bool failed = p->b.failed;
    p->b = all;
    return !failed;
}

static int by_address(const void *a, const void *b) {
    const row *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return (x->line != 0) - (y->line != 0);  // the end of a sequence is before the beginning of another
}

igi_simt_lines *igi_simt_lines_read(const char *data, size_t length, const igi_simt_code *code) {
    object o;
    igi_simt_lines *lines = igi_calloc(1, sizeof *lines);
    program p = {.o = &o, .lines = lines};
    bool found = lines && open_object(&o, data, length) && find_section(&o, ".symtab", &p.symbols) &&
                 find_section(&o, ".debug_line", &p.table) && find_section(&o, ".rela.debug_line", &p.relocations) &&
                 find_code(&o, &p.symbols, code, lines, &p.section);
    if (!found) {
        igi_simt_lines_free(lines);
        return NULL;
    }
    p.begin = (const uint8_t *)data + p.table.sh_offset;
    p.b = (bytes){.at = p.begin, .end = p.begin + p.table.sh_size};
    while (p.b.at < p.b.end && read_unit(&p)) continue;
    if (lines->row_count) qsort(lines->rows, lines->row_count, sizeof *lines->rows, by_address);
    return lines;
}

#else
igi_simt_lines *igi_simt_lines_read(const char *object, size_t length, const igi_simt_code *code) {
    (void)object, (void)length, (void)code;
    return NULL;
}
#endif

bool igi_simt_lines_find(const igi_simt_lines *lines, uint64_t address, const char **path, uint32_t *line) {
    uint64_t offset = address - lines->base;
    size_t low = 0, high = lines->row_count;
    *path = "";
    *line = 0;
    if (offset >= lines->bytes) return false;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (lines->rows[middle].begin <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    const row *found = low ? &lines->rows[low - 1] : NULL;
    if (!found || !found->file || !found->line) return true;
    *path = lines->files[found->file - 1];
    *line = found->line;
    return true;
}
