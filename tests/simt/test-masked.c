// SPDX-License-Identifier: Apache-2.0
// Rows of memory of which not all lanes are active, next to pages that cannot be read (masked.c). What the passes make of
// them for ARM is in test-arm.c; here they run, on ARM and with INGOT_SIMT_ISA=sse4.2 without instructions for masks.
#include "bench.h"
#include "core/guarded.h"

enum { THREADS = 32, LANES = 16, CANARY = 77 };

static igi_simt_jit *jit;

static int open_both(void **state) {
    return igi_simt_jit_create(IGI_JIT_NOBODY, &jit, NULL) == IG_STATUS_OK ? open_compiler(state) : -1;
}

static int close_both(void **state) {
    igi_simt_jit_destroy(jit);
    return close_compiler(state);
}

// Threads from range[0] to range[1] copy an element and add 1.
static igi_simt_code copy_of(const char *type) {
    char source[1000];
    snprintf(source, sizeof source,
             METAL
             "kernel void k(device const %s *a, device %s *b, constant uint2 &range,\n"
             "              uint i [[thread_position_in_grid]]) {\n"
             "    if (i >= range.x && i < range.y) b[i] = a[i] + 1;\n}",
             type, type);
    return load_kernel(jit, source, LANES);
}

// Thread `first` reads from `from`.
static void check_range(const igi_simt_code *code, char *from, size_t size, uint32_t first, uint32_t end) {
    uint8_t to[THREADS * sizeof(uint32_t)];
    memset(to, CANARY, sizeof to);
    uint32_t range[] = {first, end};
    void *arguments[2 * IGI_MAX_SLOTS] = {(char *)((uintptr_t)from - first * size), to, range};
    run_grid(&(grid){{THREADS, 1, 1}, {THREADS, 1, 1}, arguments}, code, NULL);
    for (uint32_t i = 0; i < THREADS; i++)
        for (uint32_t byte = 0; byte < size; byte++) {
            bool active = i >= first && i < end;
            uint8_t expected = active ? (uint8_t)((uint8_t)from[(i - first) * size + byte] + !byte) : CANARY;
            assert_int_equal(to[i * size + byte], expected);
        }
}

static void check_type(const char *type, size_t size) {
    igi_simt_code code = copy_of(type);
    igi_guarded page;
    assert_true(igi_guarded_open(&page, 1, IGI_GUARD_LARGE));
    for (uint64_t i = 0; i < page.bytes; i++) page.memory[i] = (char)(i % 251);
    for (uint32_t first = 0; first < LANES; first++)
        for (uint32_t end = first; end <= THREADS; end += first % 2 ? 3 : 1) {
            check_range(&code, page.memory, size, first, end);
            check_range(&code, page.memory + page.bytes - (end - first) * size, size, first, end);
            check_range(&code, page.memory + page.bytes / 2, size, first, end);
        }
    igi_guarded_close(&page);
    igi_simt_jit_unload(jit, &code);
}

static void words_next_to_other_pages(void **state) {
    (void)state;
    check_type("uint", 4);
}

static void halves_and_bytes_next_to_other_pages(void **state) {
    (void)state;
    check_type("ushort", 2);
    check_type("uchar", 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_next_to_other_pages),
        cmocka_unit_test(halves_and_bytes_next_to_other_pages),
    };
    return cmocka_run_group_tests(tests, open_both, close_both);
}
