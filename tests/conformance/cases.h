// SPDX-License-Identifier: Apache-2.0
// The contents of a .expect file. README.md describes the format.
#ifndef INGOT_TESTS_CASES_H
#define INGOT_TESTS_CASES_H

#include "expression.h"
#include "values.h"

enum { MAX_DEFINES = 8, MAX_CONSTANTS = 16, MAX_FUNCTIONS = 16, NAME_LENGTH = 64 };

// Options of the library that the following cases use.
typedef struct compilation {
    ig_math_mode math;
    uint32_t language_version;
    ig_define defines[MAX_DEFINES];
    size_t define_count;
    const char *include_dir;  // NULL: none
} compilation;

typedef enum piece_kind { PIECE_VALUE, PIECE_PADDING, PIECE_ADDRESS } piece_kind;
typedef struct piece {
    piece_kind kind;
    ig_type type;             // VALUE
    const expression *value;  // VALUE; PADDING: bytes; ADDRESS: bytes after the start of the buffer
    long double number;       // VALUE without an expression
    uint64_t repeat;          // VALUE
    const char *buffer;       // ADDRESS
} piece;

// The contents of a buffer before the run, or the expected ones after it.
typedef struct contents {
    const expression *formula;  // else the pieces
    const piece *pieces;
    size_t piece_count;
} contents;

typedef struct memory {
    struct memory *next;
    char name[NAME_LENGTH];  // of an argument: its index
    int line;
    bool bound;  // an argument, otherwise only a buffer that others point to
    bool bytes;  // set_bytes
    uint32_t index;
    uint64_t offset;  // in bytes, where the binding starts
    ig_storage storage;
    ig_type type;
    uint64_t shape[3], count;  // shape[0] is x
    bool records;              // `count` times all pieces
    contents initial;
} memory;

typedef struct expectation {
    struct expectation *next;
    int line;
    char name[NAME_LENGTH];
    bool has_type;
    ig_type type;
    uint64_t start, count;  // elements; count 0: to the end
    uint64_t every;         // distance between compared elements
    bool unordered;
    tolerance allowed;
    contents wanted;
} expectation;

typedef struct threadgroup_memory {
    struct threadgroup_memory *next;
    uint32_t index;
    uint64_t length;
} threadgroup_memory;

typedef struct function_table {
    struct function_table *next;
    uint32_t index;
    const char *functions[MAX_FUNCTIONS];  // NULL: none
    uint32_t count;
} function_table;

typedef enum dispatch_kind { DISPATCH_THREADS, DISPATCH_GROUPS, DISPATCH_INDIRECT } dispatch_kind;

typedef struct run_case {
    struct run_case *next;
    int line;
    char kernel[128];
    const compilation *compilation;
    dispatch_kind dispatch;
    ig_size grid, group;  // grid counts threadgroups unless THREADS
    bool any_group;
    uint32_t repeat;  // dispatches in one command buffer
    ig_function_constant constants[MAX_CONSTANTS];
    size_t constant_count;
    threadgroup_memory *threadgroup;
    ig_linked_function linked[MAX_FUNCTIONS];
    size_t linked_count;
    function_table *tables;
    memory *memories;
    expectation *expectations;
    const char *fails;       // name of the status, NULL if it must succeed
    const char *fails_text;  // part of the message
    const char *broken;      // why it is known to fail, NULL if it is not
} run_case;

typedef struct case_file {
    igi_arena arena;
    expression_names names;
    run_case *cases;
    bool software_only;  // "software": what GPUs cannot do yet
    char error[300];     // "line: what is wrong", "" if nothing is
} case_file;

// `numbers` is the text of the .values file, or "". Returns false with the reason in file->error. The text is changed.
bool case_file_parse(char *text, const char *numbers, case_file *file);
void case_file_free(case_file *file);

#endif
