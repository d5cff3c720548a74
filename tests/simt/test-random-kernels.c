// SPDX-License-Identifier: Apache-2.0
// Randomly generated kernels compute the same at every width, in groups of any shape. With arguments, to search for
// bugs: test-random-kernels FIRST-SEED COUNT [FEATURES] prints the kernels that differ.
#include "bench.h"
#include "core/memory.h"
#include "random-kernel.h"

enum { MAX_THREADS = 4096, SHAPES = 3 };

static igi_simt_jit *jit;

typedef struct memory {
    uint8_t records[MAX_THREADS * RECORD];
    uint32_t table[TABLE], cells[CELLS], out[MAX_THREADS * WORDS];
} memory;

static void fill(memory *m, uint64_t seed) {
    random_numbers r = {seed};
    memset(m, 0, sizeof *m);
    for (size_t i = 0; i < sizeof m->records; i++) m->records[i] = (uint8_t)random_below(&r, 256);
    for (int i = 0; i < TABLE; i++) m->table[i] = random_below(&r, i % 2 ? 64 : UINT32_MAX);
    m->table[0] = random_below(&r, 4);
}

// One that is a single row, a plane or a box.
static grid random_grid(random_numbers *r) {
    static const uint32_t sizes[] = {1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 32, 33, 40, 63, 64, 65, 100, 128};
    grid g = {.threads = {1, 1, 1}, .group = {1, 1, 1}};
    uint32_t dimensions = 1 + random_below(r, 5) / 2, room = 256;
    for (uint32_t i = 0; i < dimensions && i < 3; i++) {
        uint32_t size = sizes[random_below(r, sizeof sizes / sizeof *sizes)];
        while (size > room) size /= 2;
        g.group[i] = size;
        room /= size;
    }
    room = 1024;
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t most = dimensions > i ? 1 + random_below(r, 3) : 1;
        g.threads[i] = g.group[i] * most - random_below(r, g.group[i]);
        if (g.threads[i] > room) g.threads[i] = room;
        room = room / g.threads[i] ? room / g.threads[i] : 1;
    }
    return g;
}

// `size`: of the groups it is compiled for; NULL: of any.
static bool make_code(const char *text, uint32_t width, const uint32_t *size, igi_simt_code *code) {
    bench *b = start_ir(text);
    b->request.width = width;
    if (size) memcpy(b->request.group, size, sizeof b->request.group);
    assert_ok(igi_simt_run_passes(&b->m, "function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>)"));
    if (width != 1) assert_ok(igi_simt_pass_unroll(&b->m));
    assert_ok(igi_simt_pass_define(&b->m));
    assert_ok(igi_simt_pass_contract(&b->m));
    verify(b, "contract");
    bool made = load_code(b, jit, code);
    end(b);
    return made;
}

static memory *run(const grid *shape, uint64_t seed, const igi_simt_code *code, const igi_simt_code *narrow) {
    memory *m = malloc(sizeof *m);
    assert_non_null(m);
    fill(m, seed);
    void *arguments[2 * IGI_MAX_SLOTS] = {m->records, m->table, m->cells, m->out};
    grid g = *shape;
    g.arguments = arguments;
    run_grid(&g, code, narrow);
    return m;
}

// The first word or byte that differs, or NULL.
static const char *difference(const memory *a, const memory *b) {
    static char text[100];
    for (size_t i = 0; i < MAX_THREADS * WORDS; i++)
        if (a->out[i] != b->out[i]) {
            snprintf(text, sizeof text, "word %zu of thread %zu is %x, not %x", i % WORDS, i / WORDS, b->out[i],
                     a->out[i]);
            return text;
        }
    for (size_t i = 0; i < CELLS; i++)
        if (a->cells[i] != b->cells[i]) return "a cell differs";
    return memcmp(a->records, b->records, sizeof a->records) ? "a record differs" : NULL;
}

typedef struct trial {
    const char *text;
    uint64_t seed;
    unsigned features;
    igi_simt_code narrow;
} trial;

static bool same_as_narrow(const trial *t, const igi_simt_code *code, const grid *g, uint64_t seed) {
    memory *expected = run(g, seed, &t->narrow, NULL), *got = run(g, seed, code, &t->narrow);
    const char *what = difference(expected, got);
    if (what)
        print_error("seed %d, features %u, width %u, grid %u,%u,%u, group %u,%u,%u: %s\n", (int)t->seed, t->features,
                    code->info.width, g->threads[0], g->threads[1], g->threads[2], g->group[0], g->group[1],
                    g->group[2], what);
    free(expected), free(got);
    return !what;
}

static bool same_at(const trial *t, uint32_t width) {
    igi_simt_code wide;
    random_numbers r = {t->seed};
    bool same = true;
    if (!make_code(t->text, width, NULL, &wide)) {
        print_message("seed %d, features %u: cannot be widened\n", (int)t->seed, t->features);
        return true;
    }
    for (uint64_t s = 0; s < SHAPES && same; s++) {
        grid g = random_grid(&r);
        same = same_as_narrow(t, &wide, &g, t->seed + s);
    }
    igi_simt_jit_unload(jit, &wide);
    return same;
}

// Code for one size of group, of a width that suits it.
static bool same_for_one_size(const trial *t) {
    igi_simt_code wide;
    random_numbers r = {t->seed};
    grid g = random_grid(&r);
    for (int i = 0; i < 3; i++) g.threads[i] = g.group[i] * (i < 2 ? 1 + random_below(&r, 3) : 1);
    if (!make_code(t->text, 0, g.group, &wide)) return true;
    bool same = !igi_simt_can_run_group(&wide, g.group) || same_as_narrow(t, &wide, &g, t->seed);
    igi_simt_jit_unload(jit, &wide);
    return same;
}

// All widths, or two of them that vary from kernel to kernel.
static bool widths_agree(uint64_t seed, unsigned features, bool all) {
    static const uint32_t widths[] = {8, 16, 32};
    char *text = random_kernel(seed, features);
    trial t = {.text = text, .seed = seed, .features = features};
    assert_true(make_code(text, 1, NULL, &t.narrow));
    bool same = same_at(&t, widths[seed % 3]) && (all || seed % 2 ? same_for_one_size(&t) : true);
    for (uint64_t w = 1; w < 3 && all && same; w++) same = same_at(&t, widths[(seed + w) % 3]);
    if (!same && all) puts(text);
    igi_simt_jit_unload(jit, &t.narrow);
    free(text);
    return same;
}

static int open_jit(void **state) {
    (void)state;
    return igi_simt_jit_create(IGI_JIT_NOBODY, &jit, NULL) == IG_STATUS_OK ? 0 : -1;
}

static int close_jit(void **state) {
    (void)state;
    igi_simt_jit_destroy(jit);
    return 0;
}

static void agree(uint64_t first, uint64_t count, unsigned features) {
    for (uint64_t seed = first; seed < first + count; seed++) assert_true(widths_agree(seed, features, false));
}

static void branches_and_loops(void **state) {
    (void)state;
    agree(1, 8, KERNEL_RETURNS | KERNEL_ATOMICS);
}

static void graphs(void **state) {
    (void)state;
    agree(1, 8, KERNEL_GRAPH | KERNEL_ATOMICS);
}

static void records(void **state) {
    (void)state;
    agree(1, 8, KERNEL_RECORDS | KERNEL_RETURNS);
}

static void barriers(void **state) {
    (void)state;
    agree(1, 8, KERNEL_BARRIERS | KERNEL_RETURNS | KERNEL_ATOMICS);
}

static void lanes(void **state) {
    (void)state;
    agree(1, 8, KERNEL_LANES);
}

static void say(ig_log_level level, const char *message, void *user) {
    (void)level, (void)user;
    puts(message);
}

static int hunt(uint64_t first, uint64_t count, unsigned only) {
    static const unsigned all[] = {KERNEL_RETURNS | KERNEL_ATOMICS,
                                   KERNEL_RECORDS | KERNEL_RETURNS,
                                   KERNEL_BARRIERS | KERNEL_RETURNS | KERNEL_ATOMICS,
                                   KERNEL_LANES,
                                   KERNEL_LANES | KERNEL_BARRIERS | KERNEL_RECORDS,
                                   KERNEL_GRAPH | KERNEL_ATOMICS};
    unsigned tried = 0, differ = 0;
    ig_set_log(say, NULL);
    if (open_jit(NULL)) return 2;
    for (uint64_t seed = first; seed < first + count; seed++)
        for (size_t f = 0; f < sizeof all / sizeof *all; f++) {
            if (only && all[f] != only) continue;
            differ += !widths_agree(seed, all[f], true);
            tried++;
        }
    close_jit(NULL);
    printf("%u of %u kernels differ\n", differ, tried);
    return differ != 0;
}

int main(int count, char **arguments) {
    if (count > 2)
        return hunt(strtoull(arguments[1], NULL, 10), strtoull(arguments[2], NULL, 10),
                    count > 3 ? (unsigned)atoi(arguments[3]) : 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(branches_and_loops), cmocka_unit_test(graphs), cmocka_unit_test(records),
        cmocka_unit_test(barriers),           cmocka_unit_test(lanes),
    };
    return cmocka_run_group_tests_name("random-kernels", tests, open_jit, close_jit);
}
