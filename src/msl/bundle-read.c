// SPDX-License-Identifier: Apache-2.0
// Reading a bundle: a header with a checksum, and units of two blocks each. Numbers are little-endian, lengths have 32
// bits; strings end with a zero, which is part of their length.
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/bytes.h"
#include "msl/bundle-format.h"
#include "msl/bundle.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are copied as they lie in the file");

bool igi_msl_is_bundle(const char *bytes, size_t length) {
    return length >= IGI_BUNDLE_MAGIC_BYTES && memcmp(bytes, IGI_BUNDLE_MAGIC, IGI_BUNDLE_MAGIC_BYTES) == 0;
}

// Opened without waiting: the name may be that of a pipe.
bool igi_msl_is_bundle_file(const char *path) {
    char start[IGI_BUNDLE_MAGIC_BYTES];
    struct stat info;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is = file >= 0 && fstat(file, &info) == 0 && S_ISREG(info.st_mode) &&
              read(file, start, sizeof start) == (ssize_t)sizeof start && igi_msl_is_bundle(start, sizeof start);
    if (file >= 0) close(file);
    return is;
}

// ---- Pieces ----

static const char *get_string(igi_reader *r) {
    size_t length;
    const char *string = igi_get_block(r, &length);
    bool formed = string && length && memchr(string, '\0', length) == string + length - 1;
    if (!formed) r->failed = true;
    return formed ? string : "";
}

static void *get_array(igi_reader *r, size_t least_bytes, size_t item_bytes, size_t *count) {
    *count = igi_get_count(r, least_bytes);
    void *items = igi_calloc(*count, item_bytes);
    igi_reader_needs(r, items);
    if (!items) *count = 0;
    return items;
}

// None of them stands for one of Ingot's own or of the machine's.
static bool is_stored_path(const char *path) {
    static const char *const reserved[] = {"/ingot-stdlib", "/ingot-include", "/dev/"};
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (strncmp(path, reserved[i], strlen(reserved[i])) == 0) return false;
    return path[0] == '/' && !strstr(path, "/../") && !strstr(path, "/./") && !strstr(path, "//");
}

static const char *get_path(igi_reader *r) {
    const char *path = get_string(r);
    if (!is_stored_path(path)) r->failed = true;
    return path;
}

// ---- The description ----

static void read_defines(igi_reader *r, igi_msl_unit *unit) {
    unit->defines = get_array(r, 2 * sizeof(uint32_t), sizeof *unit->defines, &unit->define_count);
    for (size_t i = 0; i < unit->define_count && !r->failed; i++) {
        unit->defines[i].name = get_string(r);
        unit->defines[i].value = get_string(r);
        if (!*unit->defines[i].name) r->failed = true;
    }
}

static void read_directories(igi_reader *r, igi_msl_unit *unit) {
    unit->include_dirs = get_array(r, sizeof(uint32_t), sizeof *unit->include_dirs, &unit->include_dir_count);
    for (size_t i = 0; i < unit->include_dir_count && !r->failed; i++) unit->include_dirs[i] = get_path(r);
}

static void read_files(igi_reader *r, igi_msl_unit *unit) {
    unit->files = get_array(r, 4 * sizeof(uint32_t), sizeof *unit->files, &unit->file_count);
    for (size_t i = 0; i < unit->file_count && !r->failed; i++) {
        igi_msl_stored_source *file = &unit->files[i];
        file->path = get_path(r);
        file->display = get_string(r);
        uint32_t flags = igi_get_u32(r);
        file->data = flags & IGI_BUNDLE_DATA;
        file->before = flags & IGI_BUNDLE_BEFORE;
        file->text = igi_get_block(r, &file->length);
    }
    if (!unit->file_count || (!r->failed && unit->files[0].data)) r->failed = true;
}

static bool is_language_version(uint32_t version) {
    bool between = version > 320 && version < 400;
    return version >= 100 && version <= 410 && !between && version % 10 == 0;
}

static void read_description(igi_reader *r, igi_msl_unit *unit) {
    unit->name = get_string(r);
    unit->language_version = igi_get_u32(r);
    uint32_t mode = igi_get_u32(r);
    unit->math_mode = mode == IG_MATH_FAST ? IG_MATH_FAST : IG_MATH_SAFE;
    if (mode > IG_MATH_SAFE || !is_language_version(unit->language_version)) r->failed = true;
    read_defines(r, unit);
    read_directories(r, unit);
    read_files(r, unit);
    if (igi_bytes_left(r)) r->failed = true;
}

// ---- The product ----

static void read_symbols(igi_reader *r, igi_msl_unit *unit) {
    unit->symbols = get_array(r, 2 * sizeof(uint32_t), sizeof *unit->symbols, &unit->symbol_count);
    for (size_t i = 0; i < unit->symbol_count && !r->failed; i++) {
        uint32_t kind = igi_get_u32(r);
        unit->symbols[i].kind = kind < IG_FUNCTION_KIND_COUNT ? (ig_function_kind)kind : IG_FUNCTION_KERNEL;
        unit->symbols[i].name = get_string(r);
        if (kind >= IG_FUNCTION_KIND_COUNT || !*unit->symbols[i].name) r->failed = true;
    }
}

static void read_product(igi_reader *r, igi_msl_unit *unit) {
    unit->compiler = get_string(r);
    unit->key.low = igi_get_u64(r);
    unit->key.high = igi_get_u64(r);
    read_symbols(r, unit);
    unit->packed = igi_get_block(r, &unit->packed_length);
    if (igi_bytes_left(r)) r->failed = true;
}

// ---- The whole ----

typedef struct bundle_reader {
    igi_reader bytes;
    const char *name;
    ig_error *error;
} bundle_reader;

__attribute__((format(printf, 2, 3))) static ig_status fail(const bundle_reader *b, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *what = igi_vformat(format, arguments);
    va_end(arguments);
    igi_error_set(b->error, IG_STATUS_BAD_FORMAT, "%s is not a sound Metal library: %s", b->name, what ? what : "");
    free(what);
    return IG_STATUS_BAD_FORMAT;
}

static ig_status read_part(const bundle_reader *b, const char *part, size_t length, igi_msl_unit *unit, size_t number,
                           void (*read)(igi_reader *, igi_msl_unit *)) {
    igi_reader r = igi_read_from(part, length);
    read(&r, unit);
    if (r.no_memory) return igi_error_no_memory(b->error);
    return r.failed ? fail(b, "unit %zu is damaged", number) : IG_STATUS_OK;
}

static ig_status read_unit(bundle_reader *b, igi_msl_unit *unit, size_t number) {
    unit->description = igi_get_block(&b->bytes, &unit->description_length);
    unit->product = igi_get_block(&b->bytes, &unit->product_length);
    if (b->bytes.failed) return fail(b, "unit %zu is cut off", number);
    ig_status status = read_part(b, unit->description, unit->description_length, unit, number, read_description);
    if (status == IG_STATUS_OK) status = read_part(b, unit->product, unit->product_length, unit, number, read_product);
    return status;
}

static ig_status read_header(bundle_reader *b, size_t *count) {
    igi_reader *r = &b->bytes;
    size_t length = igi_bytes_left(r);
    if (length < IGI_BUNDLE_HEADER_BYTES) return fail(b, "it ends after %zu bytes, inside its header", length);
    r->at += IGI_BUNDLE_MAGIC_BYTES;
    uint32_t format = igi_get_u32(r);
    if (format != IGI_BUNDLE_FORMAT)
        return fail(b, "it has version %u of the format, and this Ingot reads version %d", format, IGI_BUNDLE_FORMAT);
    uint32_t units = igi_get_u32(r);
    igi_hash hash = {igi_get_u64(r), 0};
    hash.high = igi_get_u64(r);
    if (!igi_hash_equal(hash, igi_hash_bytes(r->at, igi_bytes_left(r))))
        return fail(b, "its checksum is wrong; it may have been cut off or changed");
    if (units > igi_bytes_left(r) / IGI_BUNDLE_LEAST_UNIT)
        return fail(b, "it cannot have %u units in %zu bytes", units, igi_bytes_left(r));
    *count = units;
    return IG_STATUS_OK;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Names are unique: `metallib` sees to it.
static ig_status check_symbols(const bundle_reader *b, const igi_msl_bundle *bundle) {
    size_t count = 0, at = 0;
    for (size_t i = 0; i < bundle->count; i++) count += bundle->units[i].symbol_count;
    const char **names = igi_calloc(count, sizeof *names);
    if (!names) return igi_error_no_memory(b->error);
    for (size_t i = 0; i < bundle->count; i++)
        for (size_t k = 0; k < bundle->units[i].symbol_count; k++) names[at++] = bundle->units[i].symbols[k].name;
    qsort((void *)names, count, sizeof *names, by_name);
    ig_status status = IG_STATUS_OK;
    for (size_t i = 1; i < count && status == IG_STATUS_OK; i++)
        if (strcmp(names[i - 1], names[i]) == 0) status = fail(b, "it has two functions named '%.200s'", names[i]);
    free((void *)names);
    return status;
}

static ig_status read_units(bundle_reader *b, igi_msl_bundle *bundle) {
    size_t count = 0;
    ig_status status = read_header(b, &count);
    if (status != IG_STATUS_OK) return status;
    bundle->units = igi_calloc(count, sizeof *bundle->units);
    if (!bundle->units) return igi_error_no_memory(b->error);
    for (size_t i = 0; i < count && status == IG_STATUS_OK; i++) {
        bundle->count = i + 1;
        status = read_unit(b, &bundle->units[i], i + 1);
    }
    if (status == IG_STATUS_OK && igi_bytes_left(&b->bytes))
        status = fail(b, "%zu bytes follow its last unit", igi_bytes_left(&b->bytes));
    return status == IG_STATUS_OK ? check_symbols(b, bundle) : status;
}

ig_status igi_msl_bundle_read(const char *bytes, size_t length, const char *name, igi_msl_bundle *bundle,
                              ig_error *error) {
    *bundle = (igi_msl_bundle){0};
    bundle_reader b = {igi_read_from(bytes, length), name, error};
    ig_status status =
        igi_msl_is_bundle(bytes, length) ? read_units(&b, bundle) : fail(&b, "it does not begin with INGOTLIB");
    if (status != IG_STATUS_OK) igi_msl_bundle_free(bundle);
    return status;
}

void igi_msl_bundle_free(igi_msl_bundle *bundle) {
    for (size_t i = 0; i < bundle->count; i++) {
        igi_msl_unit *unit = &bundle->units[i];
        free(unit->defines), free((void *)unit->include_dirs), free(unit->files), free(unit->symbols);
    }
    free(bundle->units);
    *bundle = (igi_msl_bundle){0};
}
