// SPDX-License-Identifier: Apache-2.0
// Reading a .metallib: the functions in it, and for each the place of its bitcode (AIR). A file may also be a Mach-O
// program or library with some of them in its sections, as linkers embed them (macho.h).
//
// Nothing in the file is trusted. Each offset, length and count is compared with the bytes that are there before it is
// used, and nothing is allocated but one entry for each function that the file has room for. Bitcode is not looked at:
// LLVM reads it in another process (src/codegen).
#ifndef INGOT_AIR_CONTAINER_H
#define INGOT_AIR_CONTAINER_H

#include <ingot/device.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status-internal.h"

// As the file numbers them.
typedef enum igi_air_function_kind {
    IGI_AIR_VERTEX,
    IGI_AIR_FRAGMENT,
    IGI_AIR_KERNEL,
    IGI_AIR_UNQUALIFIED,
    IGI_AIR_VISIBLE,
    IGI_AIR_EXTERN,
    IGI_AIR_INTERSECTION,
    IGI_AIR_MESH,
    IGI_AIR_OBJECT,
    IGI_AIR_OTHER_KIND,
} igi_air_function_kind;

typedef struct igi_air_version {
    uint16_t major, minor;
} igi_air_version;

// A library in the file.
typedef struct igi_air_part {
    char name[17];  // of its section; "" if the file is the library
    const char *bytes;
    size_t length;
    igi_air_version format, system;
    uint8_t system_kind;
    size_t count;  // of its functions
} igi_air_part;

// Pointers lead into the file.
typedef struct igi_air_function {
    const char *name;
    size_t part;
    igi_air_function_kind kind;
    igi_air_version air, language;
    const char *bitcode;
    size_t bitcode_length;
    const char *constants;  // the list of its function constants
    size_t constants_length;
} igi_air_function;

enum { IGI_AIR_MOST_PARTS = 16 };

typedef struct igi_air_container {
    igi_air_part parts[IGI_AIR_MOST_PARTS];  // those for newer systems first
    size_t part_count;
    igi_air_function *functions;  // a name that several parts have is the first one's
    size_t count;
    // The whole file
    const char *file;
    size_t file_length;
    bool mapped, copied;
} igi_air_container;

// Whether the bytes begin as a .metallib does, for one or for several architectures, or as a Mach-O file.
bool igi_air_is_container(const char *bytes, size_t length);
// The same for a file; false if it cannot be read.
bool igi_air_is_container_file(const char *path);

// Maps the file, which must not be changed while it is open. errors: NOT_FOUND, IO, BAD_FORMAT, OUT_OF_MEMORY.
ig_status igi_air_open_file(const char *path, igi_air_container *container, ig_error *error);
// Copies the bytes. `name` is for messages.
ig_status igi_air_open_copy(const char *bytes, size_t length, const char *name, igi_air_container *container,
                            ig_error *error);
// Borrows the bytes.
ig_status igi_air_read(const char *bytes, size_t length, const char *name, igi_air_container *container,
                       ig_error *error);
void igi_air_close(igi_air_container *container);

const char *igi_air_kind_name(igi_air_function_kind kind);
// "macOS"; "unknown system" for any other value.
const char *igi_air_system_name(uint8_t kind);

// ---- Function constants ----

typedef struct igi_air_constants {
    const char *at, *end;
    uint32_t left;
} igi_air_constants;

igi_air_constants igi_air_constants_of(const igi_air_function *function);
// False after the last one, and at one that is damaged or of a type that no constant has. The name is the file's.
bool igi_air_next_constant(igi_air_constants *constants, ig_function_constant_info *constant);

#endif
