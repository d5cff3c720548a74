// SPDX-License-Identifier: Apache-2.0
// The container's header, its list of functions, and their public metadata. All numbers are little-endian; lists are
// tags of four letters with a length, and end with ENDT.
#include "air/container.h"

#include <inttypes.h>
#include <string.h>

#include "air/macho.h"
#include "core/memory.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are copied as they lie in the file");

enum { HEADER_BYTES = 88, TAG_BYTES = 4, LEAST_FUNCTION = 8, SLICE_BYTES = 20, MOST_SLICES = 64 };

// ---- Pieces ----

// Bytes that are read in order. Past the end everything is zero, and `failed` stays set.
typedef struct cursor {
    const char *at, *end;
    bool failed;
} cursor;

static cursor cursor_over(const char *bytes, size_t length) {
    return (cursor){bytes, bytes + length, false};
}

static size_t left(const cursor *c) {
    return (size_t)(c->end - c->at);
}

static const char *take(cursor *c, size_t length) {
    if (c->failed || length > left(c)) {
        c->failed = true;
        return NULL;
    }
    const char *bytes = c->at;
    c->at += length;
    return bytes;
}

static void take_into(cursor *c, void *value, size_t size) {
    const char *bytes = take(c, size);
    if (bytes)
        memcpy(value, bytes, size);
    else
        memset(value, 0, size);
}

static uint8_t take_u8(cursor *c) {
    uint8_t value;
    take_into(c, &value, sizeof value);
    return value;
}

static uint16_t take_u16(cursor *c) {
    uint16_t value;
    take_into(c, &value, sizeof value);
    return value;
}

static uint32_t take_u32(cursor *c) {
    uint32_t value;
    take_into(c, &value, sizeof value);
    return value;
}

static uint64_t take_u64(cursor *c) {
    uint64_t value;
    take_into(c, &value, sizeof value);
    return value;
}

static igi_air_version take_version(cursor *c) {
    igi_air_version version = {take_u16(c), 0};
    version.minor = take_u16(c);
    return version;
}

typedef struct tag {
    char name[TAG_BYTES];
    const char *data;
    size_t length;
} tag;

static bool is_tag(const tag *t, const char *name) {
    return memcmp(t->name, name, TAG_BYTES) == 0;
}

// False at ENDT, or when the list is damaged, which sets c->failed.
static bool take_tag(cursor *c, tag *t) {
    take_into(c, t->name, TAG_BYTES);
    if (c->failed || is_tag(t, "ENDT")) return false;
    t->length = take_u16(c);
    t->data = take(c, t->length);
    return t->data != NULL;
}

// ---- Sections ----

typedef struct section {
    uint64_t offset, length;
} section;

static section take_section(cursor *c) {
    section s = {take_u64(c), 0};
    s.length = take_u64(c);
    return s;
}

typedef struct reader {
    igi_air_container *container;
    igi_air_part *part;  // the one at hand
    const char *name;
    ig_error *error;
    section functions, metadata, bitcode;
    size_t capacity;  // of the container's functions
} reader;

__attribute__((format(printf, 2, 3))) static ig_status fail(const reader *r, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *what = igi_vformat(format, arguments);
    va_end(arguments);
    igi_error_set(r->error, IG_STATUS_BAD_FORMAT, "%s is not a sound Metal library: %s", r->name, what ? what : "");
    free(what);
    return IG_STATUS_BAD_FORMAT;
}

static ig_status check_section(const reader *r, const char *what, section s) {
    if (igi_in_range(s.offset, s.length, r->part->length)) return IG_STATUS_OK;
    return fail(r, "its %s is said to be %" PRIu64 " bytes at %" PRIu64 ", but there are only %zu", what, s.length,
                s.offset, r->part->length);
}

// The count before the list of functions is not part of its length.
static ig_status read_header(reader *r) {
    igi_air_part *part = r->part;
    cursor c = cursor_over(part->bytes, part->length);
    take(&c, TAG_BYTES + sizeof(uint16_t));  // magic, platform
    part->format = take_version(&c);
    take(&c, 1);  // executable, or to be linked
    part->system_kind = take_u8(&c);
    part->system = take_version(&c);
    uint64_t size = take_u64(&c);
    r->functions = take_section(&c);
    r->metadata = take_section(&c);
    take_section(&c);  // private metadata
    r->bitcode = take_section(&c);
    if (c.failed) return fail(r, "it ends after %zu bytes, inside its header of %d", part->length, HEADER_BYTES);
    if (size > part->length)
        return fail(r, "it should have %" PRIu64 " bytes, and has %zu; it may have been cut off", size, part->length);
    if (!igi_add(r->functions.length, sizeof(uint32_t), &r->functions.length)) r->functions.length = UINT64_MAX;
    ig_status status = check_section(r, "list of functions", r->functions);
    if (status == IG_STATUS_OK) status = check_section(r, "metadata", r->metadata);
    if (status == IG_STATUS_OK) status = check_section(r, "bitcode", r->bitcode);
    return status;
}

// ---- Functions ----

// What the tags of a function say before it is checked.
typedef struct entry {
    igi_air_function function;
    uint64_t metadata_at, bitcode_at, bitcode_length;
    bool has_name, has_kind, has_place, has_length;
} entry;

static void read_name(entry *e, const tag *t) {
    e->has_name = t->length && t->data[t->length - 1] == '\0' && t->data[0];
    e->function.name = t->data;
}

static void read_place(entry *e, const tag *t) {
    cursor c = cursor_over(t->data, t->length);
    e->metadata_at = take_u64(&c);
    take_u64(&c);  // in the private metadata
    e->bitcode_at = take_u64(&c);
    e->has_place = !c.failed;
}

static void read_function_tag(entry *e, const tag *t) {
    cursor c = cursor_over(t->data, t->length);
    if (is_tag(t, "NAME")) {
        read_name(e, t);
    } else if (is_tag(t, "TYPE")) {
        uint8_t kind = take_u8(&c);
        e->function.kind = kind < IGI_AIR_OTHER_KIND ? (igi_air_function_kind)kind : IGI_AIR_OTHER_KIND;
        e->has_kind = !c.failed;
    } else if (is_tag(t, "OFFT")) {
        read_place(e, t);
    } else if (is_tag(t, "MDSZ")) {
        e->bitcode_length = take_u64(&c);
        e->has_length = !c.failed;
    } else if (is_tag(t, "VERS")) {
        e->function.air = take_version(&c);
        e->function.language = take_version(&c);
    }
}

// Metadata are their length, which counts itself, and tags. A function without any has no constants.
static ig_status find_constants(const reader *r, entry *e) {
    if (e->metadata_at >= r->metadata.length) return IG_STATUS_OK;
    cursor c = cursor_over(r->part->bytes + r->metadata.offset + e->metadata_at,
                           (size_t)(r->metadata.length - e->metadata_at));
    uint32_t length = take_u32(&c);
    if (length < sizeof length || length - sizeof length > left(&c)) c.failed = true;
    tag t;
    if (!c.failed) c.end = c.at + length - sizeof length;
    while (!c.failed && left(&c) && take_tag(&c, &t)) {
        if (!is_tag(&t, "CNST")) continue;
        e->function.constants = t.data;
        e->function.constants_length = t.length;
    }
    return c.failed ? fail(r, "the metadata of '%.200s' is damaged", e->function.name) : IG_STATUS_OK;
}

static ig_status find_parts(const reader *r, entry *e, size_t number) {
    if (!e->has_name) return fail(r, "function %zu has no name", number);
    if (!e->has_kind || !e->has_place || !e->has_length)
        return fail(r, "it does not say where function '%.200s' is", e->function.name);
    if (!igi_in_range(e->bitcode_at, e->bitcode_length, r->bitcode.length))
        return fail(r, "function '%.200s' is said to be %" PRIu64 " bytes at %" PRIu64 " of %" PRIu64, e->function.name,
                    e->bitcode_length, e->bitcode_at, r->bitcode.length);
    e->function.bitcode = r->part->bytes + r->bitcode.offset + e->bitcode_at;
    e->function.bitcode_length = (size_t)e->bitcode_length;
    return find_constants(r, e);
}

// An entry is its length, which counts itself, and tags.
static ig_status read_function(const reader *r, cursor *c, size_t number) {
    uint32_t length = take_u32(c);
    const char *bytes = length >= sizeof length ? take(c, length - sizeof length) : NULL;
    if (!bytes) return fail(r, "function %zu is cut off", number);
    cursor tags = cursor_over(bytes, length - sizeof length);
    entry e = {.function.part = (size_t)(r->part - r->container->parts)};
    tag t;
    while (take_tag(&tags, &t)) read_function_tag(&e, &t);
    if (tags.failed) return fail(r, "the entry of function %zu is damaged", number);
    ig_status status = find_parts(r, &e, number);
    if (status == IG_STATUS_OK) r->container->functions[r->container->count++] = e.function;
    return status;
}

static ig_status read_functions(reader *r) {
    cursor c = cursor_over(r->part->bytes + r->functions.offset, (size_t)r->functions.length);
    uint32_t count = take_u32(&c);
    if (count > left(&c) / LEAST_FUNCTION) return fail(r, "it cannot have %u functions in %zu bytes", count, left(&c));
    if (!igi_grow((void **)&r->container->functions, &r->capacity, r->container->count + count,
                  sizeof *r->container->functions))
        return igi_error_no_memory(r->error);
    r->part->count = count;
    ig_status status = IG_STATUS_OK;
    for (uint32_t i = 0; i < count && status == IG_STATUS_OK; i++) status = read_function(r, &c, i + 1);
    return status;
}

// ---- Several architectures in one file ----

static bool has_magic(const char *bytes, size_t length, const char *magic) {
    return length >= TAG_BYTES && memcmp(bytes, magic, TAG_BYTES) == 0;
}

static bool is_universal(const char *bytes, size_t length) {
    return has_magic(bytes, length, "\xcb\xfe\xba\xbe") || has_magic(bytes, length, "\xbe\xba\xfe\xcb");
}

static uint32_t turned(uint32_t value, bool other_order) {
    return other_order ? __builtin_bswap32(value) : value;
}

// All hold the same functions, for older and newer systems: the newest is used.
static ig_status choose_slice(const reader *r) {
    igi_air_part whole = *r->part, *chosen = r->part;
    bool other = has_magic(whole.bytes, whole.length, "\xcb\xfe\xba\xbe"), found = false;
    cursor c = cursor_over(whole.bytes + TAG_BYTES, whole.length - TAG_BYTES);
    uint32_t count = turned(take_u32(&c), other), best = 0;
    if (count > MOST_SLICES || count > left(&c) / SLICE_BYTES) return fail(r, "its list of architectures is damaged");
    for (uint32_t i = 0; i < count; i++) {
        take_u32(&c);  // processor
        uint32_t kind = turned(take_u32(&c), other), offset = turned(take_u32(&c), other);
        uint32_t length = turned(take_u32(&c), other);
        take_u32(&c);  // alignment
        if (!igi_in_range(offset, length, whole.length)) return fail(r, "architecture %u is cut off", i + 1);
        if (!has_magic(whole.bytes + offset, length, "MTLB") || (found && kind < best)) continue;
        best = kind, found = true;
        chosen->bytes = whole.bytes + offset;
        chosen->length = length;
    }
    return found ? IG_STATUS_OK : fail(r, "none of its %u architectures is one", count);
}

// ---- The parts of a file ----

static bool is_library(const char *bytes, size_t length) {
    return has_magic(bytes, length, "MTLB") || is_universal(bytes, length);
}

bool igi_air_is_container(const char *bytes, size_t length) {
    return is_library(bytes, length) || igi_air_is_macho(bytes, length);
}

static ig_status find_parts_of_file(reader *r) {
    igi_air_container *container = r->container;
    if (is_library(container->file, container->file_length)) {
        container->parts[0] = (igi_air_part){.bytes = container->file, .length = container->file_length};
        container->part_count = 1;
        return IG_STATUS_OK;
    }
    if (!igi_air_is_macho(container->file, container->file_length)) return fail(r, "it does not begin with MTLB");
    igi_air_macho macho = igi_air_macho_open(container->file, container->file_length);
    igi_air_part part;
    while (igi_air_macho_next(&macho, &part)) {
        if (!is_library(part.bytes, part.length)) continue;
        if (container->part_count == IGI_AIR_MOST_PARTS)
            return fail(r, "it has more than %d libraries in it", IGI_AIR_MOST_PARTS);
        container->parts[container->part_count++] = part;
    }
    if (macho.failed) return fail(r, "its list of sections is damaged");
    return container->part_count ? IG_STATUS_OK : fail(r, "none of its sections is one");
}

static ig_status read_part_header(reader *r, size_t index) {
    r->part = &r->container->parts[index];
    ig_status status = is_universal(r->part->bytes, r->part->length) ? choose_slice(r) : IG_STATUS_OK;
    return status == IG_STATUS_OK ? read_header(r) : status;
}

static uint32_t age(const igi_air_part *part) {
    return (uint32_t)part->system.major << 16 | part->system.minor;
}

static void put_newest_first(igi_air_container *container) {
    for (size_t i = 1; i < container->part_count; i++)
        for (size_t k = i; k && age(&container->parts[k - 1]) < age(&container->parts[k]); k--) {
            igi_air_part moved = container->parts[k];
            container->parts[k] = container->parts[k - 1];
            container->parts[k - 1] = moved;
        }
}

static int by_name(const void *a, const void *b) {
    const igi_air_function *left = *(igi_air_function *const *)a, *right = *(igi_air_function *const *)b;
    int order = strcmp(left->name, right->name);
    return order ? order : left < right ? -1 : left > right;
}

// Programs embed one library for each system that they run on, with mostly the same functions.
static ig_status drop_repeated(const reader *r) {
    igi_air_container *container = r->container;
    igi_air_function **sorted = igi_calloc(container->count, sizeof *sorted);
    if (!sorted) return igi_error_no_memory(r->error);
    for (size_t i = 0; i < container->count; i++) sorted[i] = &container->functions[i];
    qsort(sorted, container->count, sizeof *sorted, by_name);
    const char *last = NULL;
    for (size_t i = 0; i < container->count; i++) {
        const char *name = sorted[i]->name;
        if (last && strcmp(last, name) == 0) sorted[i]->name = NULL;
        last = name;
    }
    free(sorted);
    size_t kept = 0;
    for (size_t i = 0; i < container->count; i++)
        if (container->functions[i].name) container->functions[kept++] = container->functions[i];
    container->count = kept;
    return IG_STATUS_OK;
}

// ---- The whole ----

static ig_status read_parts(reader *r) {
    igi_air_container *container = r->container;
    ig_status status = find_parts_of_file(r);
    for (size_t i = 0; i < container->part_count && status == IG_STATUS_OK; i++) status = read_part_header(r, i);
    put_newest_first(container);
    for (size_t i = 0; i < container->part_count && status == IG_STATUS_OK; i++) {
        status = read_part_header(r, i);
        if (status == IG_STATUS_OK) status = read_functions(r);
    }
    return status == IG_STATUS_OK && container->part_count > 1 ? drop_repeated(r) : status;
}

ig_status igi_air_read(const char *bytes, size_t length, const char *name, igi_air_container *container,
                       ig_error *error) {
    *container = (igi_air_container){.file = bytes, .file_length = length};
    reader r = {.container = container, .name = name, .error = error};
    ig_status status = read_parts(&r);
    if (status == IG_STATUS_OK) return IG_STATUS_OK;
    free(container->functions);
    *container = (igi_air_container){0};
    return status;
}

const char *igi_air_kind_name(igi_air_function_kind kind) {
    static const char *const names[] = {"vertex", "fragment",     "kernel", "unqualified", "visible",
                                        "extern", "intersection", "mesh",   "object"};
    return (size_t)kind < sizeof names / sizeof *names ? names[kind] : "other";
}

const char *igi_air_system_name(uint8_t kind) {
    static const char *const names[] = {
        "macOS",       "iOS",           "tvOS",           "watchOS",          "bridgeOS",
        "macCatalyst", "iOS simulator", "tvOS simulator", "watchOS simulator"};
    enum { FIRST = 0x81 };
    bool known = kind >= FIRST && kind - FIRST < (int)(sizeof names / sizeof *names);
    return known ? names[kind - FIRST] : "unknown system";
}
