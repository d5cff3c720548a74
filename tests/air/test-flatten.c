// SPDX-License-Identifier: Apache-2.0
// Address spaces in bitcode: all of them are found and changed, in what LLVM writes today and in typed pointers, which
// Apple's compiler writes and LLVM no longer does.
#include <llvm-c/BitReader.h>
#include <llvm-c/Core.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
//
#include <cmocka.h>

#include "air/bitstream.h"
#include "air/flatten.h"
#include "assemble.h"

enum { MODULE = 8, TYPES = 17, VERSION = 1, POINTER = 8, CONSTANT = 11, CAST = 11 };

// ---- A stream of our own ----

typedef struct stream {
    uint8_t bytes[512];
    size_t at;                 // in bits
    size_t lengths[4], depth;  // where the lengths of open blocks are, in bytes
} stream;

static void put(stream *s, unsigned width, uint64_t value) {
    for (unsigned i = 0; i < width; i++, s->at++) s->bytes[s->at / 8] |= (uint8_t)((value >> i & 1) << s->at % 8);
}

static void put_chunks(stream *s, unsigned width, uint64_t value) {
    uint64_t more = 1ull << (width - 1);
    for (; value >= more; value >>= width - 1) put(s, width, (value & (more - 1)) | more);
    put(s, width, value);
}

static void align(stream *s) {
    s->at = (s->at + 31) / 32 * 32;
}

static void begin_block(stream *s, unsigned outer_width, unsigned block) {
    put(s, outer_width, 1);
    put_chunks(s, 8, block);
    put_chunks(s, 4, 3);  // the width of what follows
    align(s);
    s->lengths[s->depth++] = s->at / 8;
    s->at += 32;
}

static void end_block(stream *s) {
    put(s, 3, 0);
    align(s);
    size_t length = s->lengths[--s->depth];
    uint32_t words = (uint32_t)((s->at / 8 - length) / 4 - 1);
    memcpy(s->bytes + length, &words, sizeof words);
}

static void put_record(stream *s, unsigned code, const uint64_t *numbers, size_t count) {
    put(s, 3, 3);
    put_chunks(s, 6, code);
    put_chunks(s, 6, count);
    for (size_t i = 0; i < count; i++) put_chunks(s, 6, numbers[i]);
}

// A module with a pointer to type 0 in space 3, one in space 41, whose number has two chunks, and a cast of a constant.
static stream typed_pointers(void) {
    stream s = {.at = 0};
    put(&s, 32, 0xdec04342);
    begin_block(&s, 2, MODULE);
    put_record(&s, VERSION, (uint64_t[]){2}, 1);
    begin_block(&s, 3, TYPES);
    put_record(&s, POINTER, (uint64_t[]){0, 3}, 2);
    put_record(&s, POINTER, (uint64_t[]){70, 41}, 2);
    end_block(&s);
    begin_block(&s, 3, CONSTANT);
    put_record(&s, CAST, (uint64_t[]){12, 1, 2}, 3);
    put_record(&s, CAST, (uint64_t[]){9, 12, 12}, 3);
    end_block(&s);
    end_block(&s);
    return s;
}

static bool want_all(uint32_t block) {
    return block < 100;
}

typedef struct seen {
    uint64_t numbers[16];
    size_t count;
} seen;

static bool collect(igi_air_record *record, void *context) {
    seen *s = context;
    for (size_t i = 0; i < record->count; i++) s->numbers[s->count++] = record->numbers[i].value;
    return true;
}

static void check_numbers(const stream *s, const uint64_t *expected, size_t count) {
    seen found = {.count = 0};
    const igi_air_visitor visitor = {want_all, collect, &found};
    assert_true(igi_air_walk_records((const char *)s->bytes, s->at / 8, &visitor));
    assert_int_equal(found.count, count);
    assert_memory_equal(found.numbers, expected, count * sizeof *expected);
}

static void typed_pointers_and_casts_lose_their_space(void **state) {
    (void)state;
    stream s = typed_pointers();
    igi_air_spaces spaces = {0};
    check_numbers(&s, (uint64_t[]){2, 0, 3, 70, 41, 12, 1, 2, 9, 12, 12}, 11);
    assert_true(igi_air_flatten((char *)s.bytes, s.at / 8, &spaces));
    check_numbers(&s, (uint64_t[]){2, 0, 0, 70, 0, 11, 1, 2, 9, 12, 12}, 11);
    free(spaces.of_variables);
}

// LLVM may skip a block by its length, so that what is behind its end would count.
static void a_block_ends_where_its_length_says(void **state) {
    (void)state;
    stream s = typed_pointers();
    igi_air_spaces spaces = {0};
    uint32_t words;
    memcpy(&words, s.bytes + 8, sizeof words);
    words--;
    memcpy(s.bytes + 8, &words, sizeof words);
    assert_false(igi_air_flatten((char *)s.bytes, s.at / 8, &spaces));
    free(spaces.of_variables);
}

// ---- LLVM's ----

static char *copy_of(const igi_text *bitcode, size_t length) {
    char *copy = malloc(length ? length : 1);
    memcpy(copy, bitcode->data, length);
    return copy;
}

static void every_space_of_a_kernel_is_gone(void **state) {
    (void)state;
    static const char *const names[] = {"threadgroup", "constants", "structures", "matrices", "written"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        igi_text bitcode = {0};
        igi_air_spaces spaces = {0};
        LLVMModuleRef module;
        assert_true(assemble_bitcode(getenv("AIR_KERNELS"), names[i], &bitcode));
        assert_true(igi_air_flatten(bitcode.data, bitcode.length, &spaces));
        LLVMContextRef context = LLVMContextCreate();
        LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRange(bitcode.data, bitcode.length, "x", 0);
        assert_false(LLVMParseBitcodeInContext2(context, buffer, &module));
        char *text = LLVMPrintModuleToString(module);
        assert_null(strstr(text, "addrspace"));
        if (i == 0) assert_int_equal(spaces.count, 1), assert_int_equal(spaces.of_variables[0], 3);
        LLVMDisposeMessage(text), LLVMDisposeMemoryBuffer(buffer), LLVMDisposeModule(module);
        LLVMContextDispose(context);
        free(spaces.of_variables), igi_text_free(&bitcode);
    }
}

// Blocks of exactly their size, so that the address sanitizer sees the first byte past them.
static void bitcode_that_ends_early_is_refused(void **state) {
    (void)state;
    igi_text bitcode = {0};
    assert_true(assemble_bitcode(getenv("AIR_KERNELS"), "threadgroup", &bitcode));
    for (size_t length = 5; length < bitcode.length; length++) {
        igi_air_spaces spaces = {0};
        char *copy = copy_of(&bitcode, length);
        igi_air_flatten(copy, length, &spaces);
        free(copy), free(spaces.of_variables);
    }
    igi_air_spaces spaces = {0};
    char *half = copy_of(&bitcode, bitcode.length / 2);
    assert_false(igi_air_flatten(half, bitcode.length / 2, &spaces));
    free(half), free(spaces.of_variables), igi_text_free(&bitcode);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(typed_pointers_and_casts_lose_their_space),
        cmocka_unit_test(a_block_ends_where_its_length_says),
        cmocka_unit_test(every_space_of_a_kernel_is_gone),
        cmocka_unit_test(bitcode_that_ends_early_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
