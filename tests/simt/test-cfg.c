// SPDX-License-Identifier: Apache-2.0
// Control-flow graphs: dominators, loops and block order, on graphs written by hand and random ones, against a naive
// model.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// cmocka last: it needs the first four headers.
#include <cmocka.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>

#include "core/memory.h"
#include "simt/cfg.h"

enum { MAX_BLOCKS = 32 };

// Blocks 0 (the entry) to count - 1 and their successors, in order; an edge may occur twice.
typedef struct graph {
    uint32_t count;
    uint32_t edges[MAX_BLOCKS][8];
    uint32_t edge_count[MAX_BLOCKS];
} graph;

static void add_edge(graph *g, uint32_t from, uint32_t to) {
    if (g->edge_count[from] < 8) g->edges[from][g->edge_count[from]++] = to;
}

// "0>1 2, 1>2, 2>": blocks and their successors.
static graph draw(const char *text) {
    graph g = {0};
    while (*text) {
        char *end;
        uint32_t from = (uint32_t)strtoul(text, &end, 10);
        text = end + 1;  // past >
        if (from >= g.count) g.count = from + 1;
        while (*text && *text != ',') {
            add_edge(&g, from, (uint32_t)strtoul(text, &end, 10));
            text = *end == ' ' ? end + 1 : end;
        }
        if (*text == ',') text += text[1] == ' ' ? 2 : 1;
    }
    return g;
}

// ---- As IR ----

static char *write_ir(const graph *g) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    fprintf(out, "define void @f(i1 %%c, i32 %%n) {\nentry:\n  br label %%b0\n");
    for (uint32_t i = 0; i < g->count; i++) {
        fprintf(out, "b%u:\n", i);
        switch (g->edge_count[i]) {
            case 0: fprintf(out, "  ret void\n"); break;
            case 1: fprintf(out, "  br label %%b%u\n", g->edges[i][0]); break;
            case 2: fprintf(out, "  br i1 %%c, label %%b%u, label %%b%u\n", g->edges[i][0], g->edges[i][1]); break;
            default:
                fprintf(out, "  switch i32 %%n, label %%b%u [", g->edges[i][0]);
                for (uint32_t k = 1; k < g->edge_count[i]; k++) fprintf(out, " i32 %u, label %%b%u", k, g->edges[i][k]);
                fprintf(out, " ]\n");
        }
    }
    fprintf(out, "}\n");
    fclose(out);
    return text;
}

typedef struct subject {
    graph g;
    LLVMContextRef context;
    LLVMModuleRef module;
    igi_simt_cfg cfg;
    uint32_t index[MAX_BLOCKS];      // of block b<i> in the cfg; IGI_NONE if unreachable
    uint32_t block[MAX_BLOCKS + 1];  // the reverse; MAX_BLOCKS for the entry in front
} subject;

static subject build(const graph *g) {
    subject s = {.g = *g, .context = LLVMContextCreate()};
    char *text = write_ir(g), *message = NULL;
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "graph");
    if (LLVMParseIRInContext(s.context, buffer, &s.module, &message)) fail_msg("%s\n%s", message, text);
    LLVMValueRef function = LLVMGetNamedFunction(s.module, "f");
    assert_true(igi_simt_cfg_build(function, &s.cfg));
    s.block[0] = MAX_BLOCKS;
    for (uint32_t i = 0; i < g->count; i++) s.index[i] = IGI_NONE;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        const char *name = LLVMGetBasicBlockName(b);
        uint32_t index = igi_simt_cfg_index(&s.cfg, b);
        if (name[0] != 'b') continue;
        s.index[strtoul(name + 1, NULL, 10)] = index;
        if (index != IGI_NONE) s.block[index] = (uint32_t)strtoul(name + 1, NULL, 10);
    }
    free(text);
    return s;
}

static void end(subject *s) {
    igi_simt_cfg_free(&s->cfg);
    igi_simt_cfg_free(&s->cfg);
    LLVMDisposeModule(s->module);
    LLVMContextDispose(s->context);
}

// ---- The model ----

// Blocks reachable from `from` without entering `without`.
static uint32_t reach(const graph *g, uint32_t from, uint32_t without) {
    uint32_t seen = from == without ? 0 : 1u << from;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < g->count; i++)
            for (uint32_t k = 0; seen >> i & 1 && k < g->edge_count[i]; k++) {
                uint32_t to = g->edges[i][k];
                if (to == without || seen >> to & 1) continue;
                seen |= 1u << to;
                changed = true;
            }
    }
    return seen;
}

static bool dominates(const graph *g, uint32_t a, uint32_t b) {
    return a == b || !(reach(g, 0, a) >> b & 1);
}

static bool is_back_edge(const graph *g, uint32_t from, uint32_t to) {
    return dominates(g, to, from);
}

// Whether the edges that are not back edges form no cycle.
static bool is_reducible(const graph *g) {
    uint32_t left = reach(g, 0, IGI_NONE);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < g->count; i++) {
            bool leads_on = false;
            for (uint32_t k = 0; left >> i & 1 && k < g->edge_count[i]; k++) {
                uint32_t to = g->edges[i][k] % MAX_BLOCKS;
                leads_on = leads_on || (left >> to & 1 && !is_back_edge(g, i, to));
            }
            if (!(left >> i & 1) || leads_on) continue;
            left &= ~(1u << i);
            changed = true;
        }
    }
    return left == 0;
}

// Blocks of the loop with this header: those that reach a latch without passing the header. 0 if there is none.
static uint32_t loop_of(const graph *g, uint32_t header) {
    uint32_t members = 0, reachable = reach(g, 0, IGI_NONE);
    for (uint32_t i = 0; i < g->count; i++)
        for (uint32_t k = 0; reachable >> i & 1 && k < g->edge_count[i]; k++)
            if (g->edges[i][k] == header && is_back_edge(g, i, header)) members |= 1u << i | 1u << header;
    for (bool changed = members != 0; changed;) {
        changed = false;
        for (uint32_t i = 0; i < g->count; i++)
            for (uint32_t k = 0; reachable >> i & 1 && k < g->edge_count[i]; k++) {
                uint32_t to = g->edges[i][k];
                if (members >> i & 1 || to == header || !(members >> to & 1)) continue;
                members |= 1u << i;
                changed = true;
            }
    }
    return members;
}

// ---- Comparing ----

static void check_edges(const subject *s) {
    const igi_simt_cfg *cfg = &s->cfg;
    uint32_t reachable = reach(&s->g, 0, IGI_NONE), expected = 1;
    assert_int_equal(cfg->blocks[0].successor_count, 1);
    for (uint32_t i = 0; i < s->g.count; i++) {
        assert_int_equal(s->index[i] != IGI_NONE, reachable >> i & 1);
        if (s->index[i] == IGI_NONE) continue;
        expected++;
        const igi_simt_block *block = &cfg->blocks[s->index[i]];
        assert_int_equal(block->successor_count, s->g.edge_count[i]);
        for (uint32_t k = 0; k < block->successor_count; k++) {
            uint32_t to = block->successors[k], found = 0;
            assert_int_equal(to, s->index[s->g.edges[i][k]]);
            for (uint32_t p = 0; p < cfg->blocks[to].predecessor_count; p++)
                found += cfg->blocks[to].predecessors[p] == s->index[i];
            assert_true(found > 0);
        }
    }
    assert_int_equal(cfg->count, expected);
}

static void check_dominators(const subject *s) {
    for (uint32_t a = 0; a < s->g.count; a++)
        for (uint32_t b = 0; b < s->g.count; b++) {
            if (s->index[a] == IGI_NONE || s->index[b] == IGI_NONE) continue;
            assert_int_equal(igi_simt_cfg_dominates(&s->cfg, s->index[a], s->index[b]), dominates(&s->g, a, b));
        }
    assert_int_equal(s->cfg.blocks[0].dominator, 0);
    for (uint32_t i = 1; i < s->cfg.count; i++) {
        // The immediate dominator is dominated by all others.
        uint32_t immediate = s->cfg.blocks[i].dominator;
        assert_true(immediate != i && igi_simt_cfg_dominates(&s->cfg, immediate, i));
        for (uint32_t k = 0; k < s->cfg.count; k++)
            if (k != i && igi_simt_cfg_dominates(&s->cfg, k, i))
                assert_true(igi_simt_cfg_dominates(&s->cfg, k, immediate));
    }
}

static void check_loops(const subject *s) {
    uint32_t found = 0;
    for (uint32_t h = 0; h < s->g.count; h++) {
        uint32_t members = s->index[h] == IGI_NONE ? 0 : loop_of(&s->g, h), loop = IGI_NONE;
        for (uint32_t i = 0; i < s->cfg.loop_count; i++)
            if (s->cfg.loops[i].header == s->index[h]) loop = i;
        assert_int_equal(loop != IGI_NONE, members != 0);
        if (!members) continue;
        found++;
        uint32_t depth = 0;
        for (uint32_t i = 0; i < s->g.count; i++) {
            if (s->index[i] == IGI_NONE) continue;
            assert_int_equal(igi_simt_cfg_in_loop(&s->cfg, s->index[i], loop), members >> i & 1);
            depth += loop_of(&s->g, i) >> h & 1;
        }
        assert_int_equal(s->cfg.loops[loop].block_count, __builtin_popcount(members));
        assert_int_equal(s->cfg.loops[loop].depth, depth);
        uint32_t parent = s->cfg.loops[loop].parent;
        assert_int_equal(parent == IGI_NONE, depth == 1);
        if (parent != IGI_NONE) assert_int_equal(s->cfg.loops[parent].depth, depth - 1);
    }
    assert_int_equal(s->cfg.loop_count, found);
}

static void check_order(const subject *s) {
    const igi_simt_cfg *cfg = &s->cfg;
    uint32_t place[MAX_BLOCKS + 1];
    for (uint32_t i = 0; i <= MAX_BLOCKS; i++) place[i] = IGI_NONE;
    for (uint32_t n = 0; n < cfg->count; n++) {
        assert_true(cfg->order[n] < cfg->count && place[cfg->order[n]] == IGI_NONE);
        place[cfg->order[n]] = n;
    }
    assert_int_equal(place[0], 0);
    if (cfg->irreducible) return;
    for (uint32_t i = 0; i < cfg->count; i++)
        for (uint32_t k = 0; k < cfg->blocks[i].successor_count; k++) {
            uint32_t to = cfg->blocks[i].successors[k];
            assert_true(igi_simt_cfg_is_back_edge(cfg, i, to) ? place[to] <= place[i] : place[to] > place[i]);
        }
    for (uint32_t loop = 0; loop < cfg->loop_count; loop++) {
        uint32_t first = place[cfg->loops[loop].header];
        for (uint32_t n = 0; n < cfg->count; n++) {
            bool inside = n >= first && n < first + cfg->loops[loop].block_count;
            assert_int_equal(igi_simt_cfg_in_loop(cfg, cfg->order[n], loop), inside);
        }
    }
}

static void check(const graph *g) {
    subject s = build(g);
    check_edges(&s);
    check_dominators(&s);
    assert_int_equal(s.cfg.irreducible, !is_reducible(g));
    if (!s.cfg.irreducible) check_loops(&s);
    check_order(&s);
    end(&s);
}

// ---- Written by hand ----

static void graphs_of_every_kind_match_the_model(void **state) {
    (void)state;
    static const char *const graphs[] = {
        "0>",                                                // nothing
        "0>0",                                               // a block that is its own loop, and no way out
        "0>1 2, 1>3, 2>3, 3>",                               // if and else
        "0>1 1, 1>",                                         // an edge twice
        "0>1, 1>2 3, 2>1, 3>",                               // while
        "0>1, 1>2, 2>1 3, 3>",                               // do
        "0>1, 1>2 5, 2>3 4, 3>2, 4>1, 5>",                   // nested
        "0>1, 1>2 3, 2>1 4, 3>1 4, 4>",                      // two latches, two exits
        "0>1, 1>2 6, 2>3 6, 3>4 5, 4>1, 5>1, 6>",            // break and continue
        "0>1, 1>2 3, 2>1 3, 3>4 5, 4>3, 5>",                 // one loop after another
        "0>1, 1>2, 2>3 1, 3>2 4, 4>",                        // headers that share blocks
        "0>1, 1>2 1 3, 2>1 2 3, 3>",                         // a loop inside, with the same latch twice
        "0>1 2, 1>2, 2>1 3, 3>",                             // irreducible
        "0>1 2 3 4, 1>5, 2>5, 3>5, 4>5, 5>",                 // switch
        "0>1, 1>2 3 4, 2>1, 3>1, 4>",                        // switch in a loop
        "0>2, 1>2, 2>",                                      // unreachable
        "0>1, 1>2 3, 2>4 5, 3>6 7, 4>1, 5>8, 6>1, 7>8, 8>",  // exits in the middle
        "0>1 2, 1>3 4, 2>3 4, 3>5, 4>5, 5>0 6, 6>",          // back to the first block
        "0>1, 1>2, 2>3 7, 3>4, 4>5 6, 5>4, 6>2, 7>1 8, 8>",  // three deep
    };
    for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++) {
        graph g = draw(graphs[i]);
        check(&g);
    }
}

static void a_nest_has_the_expected_loops(void **state) {
    (void)state;
    graph g = draw("0>1, 1>2 5, 2>3 4, 3>2, 4>1, 5>");
    subject s = build(&g);
    assert_int_equal(s.cfg.loop_count, 2);
    uint32_t inner = s.cfg.blocks[s.index[3]].loop, outer = s.cfg.blocks[s.index[4]].loop;
    assert_int_equal(s.cfg.loops[inner].header, s.index[2]);
    assert_int_equal(s.cfg.loops[inner].parent, outer);
    assert_int_equal(s.cfg.loops[inner].depth, 2);
    assert_int_equal(s.cfg.loops[inner].block_count, 2);
    assert_int_equal(s.cfg.loops[outer].header, s.index[1]);
    assert_int_equal(s.cfg.loops[outer].block_count, 4);
    assert_int_equal(s.cfg.blocks[s.index[5]].loop, IGI_NONE);
    assert_true(igi_simt_cfg_is_back_edge(&s.cfg, s.index[4], s.index[1]));
    assert_false(igi_simt_cfg_is_back_edge(&s.cfg, s.index[1], s.index[2]));
    end(&s);
}

static void every_graph_of_three_blocks_matches_the_model(void **state) {
    (void)state;
    // Each block may lead to any subset of the three.
    for (uint32_t choice = 0; choice < 512; choice++) {
        graph g = {.count = 3};
        for (uint32_t i = 0; i < 3; i++)
            for (uint32_t k = 0; k < 3; k++)
                if (choice >> (3 * i + k) & 1 && k != 3) add_edge(&g, i, k);
        check(&g);
    }
}

// ---- At random ----

static uint64_t state_of_random;
static uint32_t below(uint32_t bound) {
    uint64_t z = state_of_random += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (uint32_t)((z ^ (z >> 31)) % bound);
}

static graph random_graph(void) {
    graph g = {.count = 1 + below(MAX_BLOCKS - 1)};
    for (uint32_t i = 0; i < g.count; i++)
        for (uint32_t k = below(4); k-- > 0;) add_edge(&g, i, below(g.count));
    return g;
}

// Forward edges, then back edges to blocks that dominate.
static graph random_reducible(void) {
    graph g = {.count = 1 + below(MAX_BLOCKS - 1)}, with_back;
    for (uint32_t i = 0; i + 1 < g.count; i++) {
        if (below(8)) add_edge(&g, i, i + 1);
        for (uint32_t k = below(3); k-- > 0;) add_edge(&g, i, i + 1 + below(g.count - i - 1));
    }
    with_back = g;
    for (uint32_t n = below(g.count + 1); n-- > 0;) {
        uint32_t from = below(g.count), to = below(from + 1);
        if (reach(&g, 0, IGI_NONE) >> from & 1 && dominates(&g, to, from)) add_edge(&with_back, from, to);
    }
    return with_back;
}

static void random_graphs_match_the_model(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        state_of_random = seed;
        graph g = random_graph();
        check(&g);
    }
}

static void random_reducible_graphs_match_the_model(void **state) {
    (void)state;
    uint32_t loops = 0;
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        state_of_random = seed << 20;
        graph g = random_reducible();
        assert_true(is_reducible(&g));
        check(&g);
        for (uint32_t i = 0; i < g.count; i++) loops += loop_of(&g, i) != 0;
    }
    assert_true(loops > 1000);  // otherwise this proves little
}

static void a_graph_short_of_memory_is_not_built(void **state) {
    (void)state;
    graph g = draw("0>1, 1>2 5, 2>3 4, 3>2, 4>1, 5>");
    subject s = build(&g);
    LLVMValueRef function = LLVMGetNamedFunction(s.module, "f");
    for (uint64_t n = 1;; n++) {
        igi_simt_cfg cfg;
        igi_alloc_fail_at(n);
        bool built = igi_simt_cfg_build(function, &cfg);
        uint64_t asked = igi_alloc_fail_at(0);
        if (built) igi_simt_cfg_free(&cfg);
        assert_int_equal(built, asked < n);
        if (built) break;
    }
    end(&s);
}

static void long_chains_need_no_deep_stack(void **state) {
    (void)state;
    enum { COUNT = 20000 };
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext("chain", context);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(context), NULL, 0, 0);
    LLVMValueRef function = LLVMAddFunction(module, "f", type);
    LLVMBasicBlockRef block = LLVMAppendBasicBlockInContext(context, function, "");
    for (int i = 0; i < COUNT; i++) {
        LLVMBasicBlockRef next = LLVMAppendBasicBlockInContext(context, function, "");
        LLVMPositionBuilderAtEnd(builder, block);
        LLVMBuildBr(builder, next);
        block = next;
    }
    LLVMPositionBuilderAtEnd(builder, block);
    LLVMBuildRetVoid(builder);
    igi_simt_cfg cfg;
    assert_true(igi_simt_cfg_build(function, &cfg));
    assert_int_equal(cfg.count, COUNT + 1);
    assert_int_equal(cfg.order[COUNT], COUNT);
    igi_simt_cfg_free(&cfg);
    LLVMDisposeBuilder(builder);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs_of_every_kind_match_the_model),
        cmocka_unit_test(a_nest_has_the_expected_loops),
        cmocka_unit_test(every_graph_of_three_blocks_matches_the_model),
        cmocka_unit_test(random_graphs_match_the_model),
        cmocka_unit_test(random_reducible_graphs_match_the_model),
        cmocka_unit_test(a_graph_short_of_memory_is_not_built),
        cmocka_unit_test(long_chains_need_no_deep_stack),
    };
    return cmocka_run_group_tests_name("cfg", tests, NULL, NULL);
}
