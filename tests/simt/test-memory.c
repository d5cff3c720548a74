// SPDX-License-Identifier: Apache-2.0
// How a group of lanes reads and writes (widen-memory.c, widen-bundle.c, widen-guess.c): in rows, once for all,
// shuffled, or element by element; and that inactive lanes access nothing.
#include <llvm-c/Target.h>

#include "bench.h"

#define W 8

// A kernel of `parameters` and `body`, up to the check.
static bench *kernel(const char *parameters, const char *body) {
    char source[3000];
    snprintf(source, sizeof source,
             METAL
             "struct Mixed { float a; half b; short c; };\nstruct Block { half scale; uchar q[16]; };\n"
             "kernel void k(%s, uint i [[thread_position_in_grid]]) {\n%s\n}\n",
             parameters, body);
    return start_to(source, "k", igi_simt_pass_check);
}

// What became of the accesses in one copy of the kernel.
typedef struct accesses {
    size_t rows_loaded, rows_stored;  // plain, of a whole group of lanes
    size_t masked_loads, masked_stores;
    size_t gathers, scatters;
} accesses;

static accesses count_accesses_of(LLVMValueRef wide) {
    return (accesses){count_loads(wide, W),
                      count_stores(wide, W),
                      count_calls(wide, "llvm.masked.load."),
                      count_calls(wide, "llvm.masked.store."),
                      count_calls(wide, "llvm.masked.gather."),
                      count_calls(wide, "llvm.masked.scatter.")};
}

static accesses widened(const char *parameters, const char *body, bool full) {
    bench *b = kernel(parameters, body);
    accesses found = count_accesses_of(widen(b, W, full));
    end(b);
    return found;
}

static void expect(const char *what, accesses found, accesses wanted) {
    if (memcmp(&found, &wanted, sizeof found) == 0) return;
    fail_msg(
        "%s: rows %zu %zu, masked %zu %zu, gathers %zu, scatters %zu; expected rows %zu %zu, masked %zu %zu, "
        "gathers %zu, scatters %zu",
        what, found.rows_loaded, found.rows_stored, found.masked_loads, found.masked_stores, found.gathers,
        found.scatters, wanted.rows_loaded, wanted.rows_stored, wanted.masked_loads, wanted.masked_stores,
        wanted.gathers, wanted.scatters);
}

static void neighbours_are_read_and_written_in_rows(void **state) {
    (void)state;
    const char *parameters = "device const float *a, device const float *b, device float *out";
    const char *body = "out[i] = a[i] + b[i + 3];";
    expect("full", widened(parameters, body, true), (accesses){.rows_loaded = 2, .rows_stored = 1});
    expect("tail", widened(parameters, body, false), (accesses){.masked_loads = 2, .masked_stores = 1});
}

static void rows_may_begin_before_the_first_thread(void **state) {
    (void)state;
    expect("i - 1", widened("device const int *a, device int *out", "if (i > 0) out[i] = a[i - 1];", false),
           (accesses){.masked_loads = 1, .masked_stores = 1});
}

static void what_is_the_same_for_all_is_read_once(void **state) {
    (void)state;
    bench *b = kernel("device const float *a, constant float *s, constant uint &n, device float *out",
                      "out[i] = a[i] * s[3] + s[n];");
    LLVMValueRef wide = widen(b, W, true);
    expect("uniform", count_accesses_of(wide), (accesses){.rows_loaded = 1, .rows_stored = 1});
    // a, s, n, out, the origin, and three values.
    assert_true(count_loads(wide, 1) <= 8);
    end(b);
}

static void rows_promise_the_alignment_of_an_element(void **state) {
    (void)state;
    bench *b =
        kernel("device const float *a, device float4 *out", "out[i] = float4(a[i], a[i + 1], a[i + 2], a[i + 3]);");
    LLVMValueRef wide = widen(b, W, true);
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(wide); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
            LLVMTypeRef type = LLVMIsALoadInst(i)    ? LLVMTypeOf(i)
                               : LLVMIsAStoreInst(i) ? LLVMTypeOf(LLVMGetOperand(i, 0))
                                                     : NULL;
            if (!type || LLVMGetTypeKind(type) != LLVMVectorTypeKind) continue;
            assert_true(LLVMGetAlignment(i) <= 16);
            if (LLVMIsALoadInst(i)) assert_int_equal(LLVMGetAlignment(i), 4);
        }
    end(b);
}

static void lanes_that_are_off_touch_nothing(void **state) {
    (void)state;
    const char *parameters = "device const float *a, device float *out";
    accesses row = widened(parameters, "if (a[i] > 0) out[i] = a[i + 1];", false);
    assert_int_equal(row.masked_stores + row.scatters, 1);
    assert_int_equal(row.rows_stored, 0);
    // The same address for all: one of the active lanes writes.
    accesses same = widened(parameters, "if (a[i] > 0) out[5] = a[i];", false);
    assert_int_equal(same.scatters + same.masked_stores + same.rows_stored, 0);
    // Several elements each, far apart: the active lanes write them one after the other.
    accesses apart = widened("device const float *a, device float4 *out", "if (a[i] > 0) out[9 * i] = a[i];", false);
    assert_int_equal(apart.scatters + apart.masked_stores, 0);
}

static void any_index_is_gathered_and_scattered(void **state) {
    (void)state;
    expect("gather",
           widened("device const uint *at, device const float *a, device float *out", "out[i] = a[at[i]];", true),
           (accesses){.rows_loaded = 1, .rows_stored = 1, .gathers = 1});
    expect("scatter",
           widened("device const uint *at, device const float *a, device float *out", "out[at[i]] = a[i];", true),
           (accesses){.rows_loaded = 2, .scatters = 1});
}

// ---- Adjacent accesses ----

// Neither a gather nor a scatter, with all lanes active and with some.
static void is_shuffled(const char *parameters, const char *body) {
    for (int full = 0; full < 2; full++) {
        accesses found = widened(parameters, body, full);
        if (found.gathers || found.scatters)
            fail_msg("%s (%s): %zu gathers, %zu scatters", body, full ? "full" : "tail", found.gathers, found.scatters);
    }
}

static void vectors_are_read_and_written_whole(void **state) {
    (void)state;
    is_shuffled("device const float2 *a, device float2 *out", "out[i] = a[i].yx + 1;");
    is_shuffled("device const float4 *a, device float4 *out", "out[i] = a[i].wzyx * 2;");
    is_shuffled("device const packed_float3 *a, device packed_float3 *out", "out[i] = float3(a[i]).zxy;");
    is_shuffled("device const half4 *a, device half4 *out", "out[i] = a[i] + a[i].yzwx;");
    is_shuffled("device const uchar4 *a, device uchar4 *out", "out[i] = a[i].wzyx + 1;");
    is_shuffled("device const uchar2 *a, device ushort2 *out", "out[i] = ushort2(a[i]) * 3;");
    is_shuffled("device const bfloat4 *a, device float4 *out", "out[i] = float4(a[i]);");
    is_shuffled("device const float4 *a, device float4 *out",
                "float4 s = 0; for (uint k = 0; k < 4; k++) s += a[i + k]; out[i] = s;");
}

static void pairs_and_triples_of_an_array_are_read_whole(void **state) {
    (void)state;
    is_shuffled("device const float *a, device float *out", "out[i] = a[2 * i] - a[2 * i + 1];");
    is_shuffled("device const float *a, device float *out", "out[i] = a[2 * i + 1] * 3 - a[2 * i];");
    is_shuffled("device const int *a, device int *out", "out[i] = a[3 * i] + a[3 * i + 1] - a[3 * i + 2];");
    is_shuffled(
        "device const float *a, device float *out",
        "float p = a[i], q = a[i + 1];\nout[4 * i + 3] = p, out[4 * i + 1] = 1, out[4 * i] = 2, out[4 * i + 2] = q;");
}

static void odd_numbers_of_elements_are_read_and_written_whole(void **state) {
    (void)state;
    static const unsigned sizes[] = {5, 6, 7, 9};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char body[200];
        snprintf(body, sizeof body,
                 "float v[%u]; for (uint k = 0; k < %u; k++) v[k] = a[%u * i + k];\n"
                 "for (uint k = 0; k < %u; k++) out[%u * i + k] = v[%u - k] + 1;",
                 sizes[i], sizes[i], sizes[i], sizes[i], sizes[i], sizes[i] - 1);
        is_shuffled("device const float *a, device float *out", body);
        is_shuffled("device const half *a, device half *out", body);
    }
    is_shuffled("device const packed_float3 *a, device float *out",
                "out[i] = a[2 * i].x + a[2 * i].z + a[2 * i + 1].y;");
}

static void lanes_at_a_distance_read_sixteen_bytes_at_a_time(void **state) {
    (void)state;
    bench *b = kernel("device const float *a, device float *out",
                      "float s = 0; for (uint k = 0; k < 32; k++) s += a[32 * i + k]; out[i] = s;");
    LLVMValueRef wide = widen(b, W, true);
    assert_int_equal(count_loads(wide, 4), 8 * W);
    expect("floats", count_accesses_of(wide), (accesses){.rows_stored = 1});
    end(b);
    // Bytes are read as words, too, and extracted by shifts.
    b = kernel("device const Block *a, device uint *out",
               "uint s = 0; for (uint k = 0; k < 16; k++) s = s * 3 + a[i].q[k]; out[i] = s;");
    wide = widen(b, W, true);
    assert_int_equal(count_loads(wide, 4), W);
    assert_int_equal(count_loads(wide, 16), 0);
    expect("bytes", count_accesses_of(wide), (accesses){.rows_stored = 1});
    end(b);
}

// Sorting eight elements of four lanes by shuffles of even and odd elements would take 24.
static void eight_words_of_a_few_lanes_are_read_in_two_parts(void **state) {
    (void)state;
    bench *b = kernel("device const float *a, device float *out",
                      "float s = 0; for (uint k = 0; k < 8; k++) s += a[20 * (i / 2) + 8 * (i % 2) + k]; out[i] = s;");
    LLVMValueRef wide = widen(b, 4, true);
    assert_int_equal(count_loads(wide, 4), 8);
    assert_int_equal(count_opcode(wide, LLVMShuffleVector), 16 + 2);  // two for addresses
    end(b);
}

static void a_few_places_are_read_once_for_all_lanes(void **state) {
    (void)state;
    if (!strstr(igi_simt_features(), "+avx2")) return;
    for (int full = 0; full < 2; full++) {
        bench *b =
            start_to(METAL
                     "kernel void k(device const float *a, device float *out, uint i [[thread_position_in_grid]],\n"
                     "              uint lane [[thread_index_in_simdgroup]]) { out[i] = a[lane / 16]; }\n",
                     "k", igi_simt_pass_check);
        assert_int_equal(count_calls(widen(b, IGI_SIMD_WIDTH, full), "llvm.masked.gather."), 0);
        end(b);
    }
}

static bool shuffles_within_sixteen_bytes(LLVMValueRef i) {
    enum { WORDS = 4 };
    unsigned lanes = igi_simt_register_lanes();
    if (!LLVMIsAShuffleVectorInst(i) || LLVMGetNumMaskElements(i) != lanes) return false;
    for (unsigned k = 0; k < lanes; k++)
        if ((unsigned)LLVMGetMaskValue(i, k) % lanes / WORDS != k / WORDS) return false;
    return true;
}

// All steps but the last: that one puts the lanes in order.
static void words_are_sorted_within_sixteen_bytes_first(void **state) {
    (void)state;
    if (!strstr(igi_simt_features(), "+avx2")) return;
    const struct {
        const char *body;
        size_t within;
    } cases[] = {{"out[i] = a[2 * i] + a[2 * i + 1];", 0},
                 {"float s = 0; for (uint k = 0; k < 4; k++) s += a[4 * i + k]; out[i] = s;",
                  strstr(igi_simt_features(), "+avx512bw") ? 4 : 0},
                 {"float s = 0; for (uint k = 0; k < 8; k++) s += a[8 * i + k]; out[i] = s;", 16}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bench *b = kernel("device const float *a, device float *out", cases[k].body);
        assert_int_equal(count_if(widen(b, igi_simt_register_lanes(), true), shuffles_within_sixteen_bytes),
                         cases[k].within);
        end(b);
    }
}

static void places_that_lanes_share_are_read_once_each(void **state) {
    (void)state;
    if (!strstr(igi_simt_features(), "+avx2")) return;
    for (int full = 0; full < 2; full++) {
        bench *b =
            start_to(METAL
                     "kernel void k(device const long *a, device long *out, uint i [[thread_position_in_grid]],\n"
                     "              uint lane [[thread_index_in_simdgroup]]) { out[i] = a[lane / 4 * 3]; }\n",
                     "k", igi_simt_pass_check);
        LLVMValueRef wide = widen(b, IGI_SIMD_WIDTH, full);
        assert_int_equal(count_calls(wide, "llvm.masked.gather."), full ? 0 : 1);
        assert_int_equal(count_opcode(wide, LLVMInsertElement) >= 8, full);
        end(b);
    }
}

static size_t lines_ahead(const char *body) {
    char source[600];
    snprintf(source, sizeof source,
             METAL
             "kernel void k(device const float *a, device float *out, constant uint &n,\n"
             "              uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {\n%s\n}\n",
             body);
    bench *b = start_to(source, "k", igi_simt_pass_check);
    size_t count = count_calls(widen(b, IGI_SIMD_WIDTH, true), "llvm.prefetch.");
    end(b);
    return count;
}

static void rounds_over_rows_that_lanes_share_are_read_ahead(void **state) {
    (void)state;
    if (!strstr(igi_simt_features(), "+avx2")) return;
    // 16 blocks of 5 words, of which two lanes each read: 304 bytes from the first to the last word.
    assert_int_equal(
        lines_ahead("float s = 0; for (uint k = 0; k < n; k++) s += a[80 * k + lane / 2 * 5]; out[i] = s;"), 5);
    assert_int_equal(lines_ahead("out[i] = a[lane / 2 * 5];"), 0);
    assert_int_equal(lines_ahead("float s = 0; for (uint k = 0; k < n; k++) s += a[80 * k + lane / 2]; out[i] = s;"),
                     0);
}

static bool is_truncation_of_lanes(LLVMValueRef i) {
    return LLVMIsATruncInst(i) && LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMVectorTypeKind;
}

// Halves are packed as they become floats; integers stay where masks find them.
static void upper_halves_of_words_are_packed_by_shuffles(void **state) {
    (void)state;
    if (!strstr(igi_simt_features(), "+avx512bw")) return;
    bench *b = kernel("device const half4 *a, device float *out", "out[i] = dot(float4(a[i]), float4(1, 2, 3, 4));");
    assert_int_equal(count_if(widen(b, IGI_SIMD_WIDTH, true), is_truncation_of_lanes), 2);
    end(b);
    b = kernel("device const ushort4 *a, device uint *out", "out[i] = a[i].x + 2 * a[i].y + 3 * a[i].z + 4 * a[i].w;");
    assert_int_equal(count_if(widen(b, IGI_SIMD_WIDTH, true), is_truncation_of_lanes), 0);
    end(b);
}

static void fields_of_structs_are_read_whole(void **state) {
    (void)state;
    is_shuffled("device const Mixed *a, device float *out", "out[i] = a[i].a + a[i].b + a[i].c;");
    bench *b = kernel("device const Block *a, device float *out",
                      "float s = 0; for (int k = 0; k < 16; k++) s += a[i].q[k]; out[i] = s * a[i].scale;");
    accesses found = count_accesses_of(widen(b, W, true));
    assert_true(found.gathers <= 1);  // the scale, alone and 18 bytes from the next
    end(b);
}

static void rows_of_each_lane_are_read_by_one_access_each(void **state) {
    (void)state;
    bench *b = kernel("device const uint *at, device const float4 *a, device float4 *out", "out[i] = a[at[i]];");
    LLVMValueRef wide = widen(b, W, true);
    assert_int_equal(count_calls(wide, "llvm.masked.gather."), 0);
    assert_int_equal(count_loads(wide, 4), W);
    end(b);
}

static void a_store_between_keeps_loads_apart(void **state) {
    (void)state;
    bench *b =
        kernel("device int *a, device int *c", "int x = a[2 * i]; c[2 * i] = x; c[2 * i + 1] = a[2 * i + 1] + x;");
    accesses found = count_accesses_of(widen(b, W, true));
    // The second half may have been written by c[2 * i]: it is read after it.
    assert_true(found.rows_loaded + found.gathers >= 2);
    end(b);
}

// ---- Checks at run time ----

static void indices_are_looked_at_rather_than_addresses(void **state) {
    (void)state;
    bench *b = kernel("device const float *a, constant uint &n, device float *out", "out[i] = a[i & n];");
    LLVMValueRef wide = widen(b, W, true);
    assert_int_equal(count_opcode(wide, LLVMPtrToInt), 0);
    end(b);
}

static void indices_that_may_turn_out_to_be_neighbours_are_looked_at(void **state) {
    (void)state;
    accesses found = widened("device const float *a, constant uint &n, device float *out", "out[i] = a[i & n];", true);
    assert_int_equal(found.gathers, 1);
    assert_int_equal(found.rows_loaded, 1);
    found = widened("device const float *a, constant uint &n, device float *out", "out[i ^ n] = a[i];", true);
    assert_int_equal(found.scatters, 1);
    assert_int_equal(found.rows_stored, 1);
    // An index read from memory: a check would be pointless.
    found = widened("device const float *a, device const uint *at, device float *out", "out[i] = a[at[i] & 7];", true);
    assert_int_equal(found.rows_loaded, 1);
}

static size_t bytes_shuffled(LLVMValueRef function) {
    size_t bytes = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (LLVMGetInstructionOpcode(i) == LLVMShuffleVector)
                bytes += LLVMABISizeOfType(LLVMGetModuleDataLayout(LLVMGetGlobalParent(function)), LLVMTypeOf(i));
    return bytes;
}

static size_t shuffled_by(uint32_t words, const char *change) {
    char source[1000];
    snprintf(source, sizeof source,
             METAL
             "kernel void k(device const float *a, threadgroup float *t [[threadgroup(0)]], constant uint &n,\n"
             "              uint i [[thread_index_in_threadgroup]]) {\n"
             "  device const float *from = a + i * n;\n  threadgroup float *to = t + i * (n & 63);\n"
             "  for (uint j = 0; j < %u; j++) to[j] = from[j]%s;\n}\n",
             words, change);
    bench *b = start(source, "k");
    b->request.width = W;
    assert_ok(run_to(b, igi_simt_pass_optimise));
    size_t bytes = bytes_shuffled(LLVMGetNamedFunction(b->m.module, "ig.run"));
    end(b);
    return bytes;
}

// What is only copied is not sorted by element and back.
static void rows_of_lanes_are_copied_as_they_are(void **state) {
    (void)state;
    for (uint32_t words = 4; words <= 8; words *= 2)
        assert_true(2 * shuffled_by(words, "") < shuffled_by(words, " + float(i)"));
}

// Eight elements of each lane, whose places are not known: one access for each lane, if nothing between them might be
// the same memory.
static void elements_are_copied_together_between_memory_that_does_not_overlap(void **state) {
    (void)state;
    static const char copy[] = "for (uint j = 0; j < 8; j++) to[j] = from[j];\n";
    static const struct {
        const char *to;
        bool together;
    } cases[] = {{"threadgroup float t[400]; threadgroup float *to = t + i / 2 * 20 + i % 2 * 8;", true},
                 {"device float *to = out + i / 2 * n + i % 2 * 8;", false}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char body[1000];
        snprintf(body, sizeof body,
                 "%s\ndevice const float *from = a + i / 2 * n + i %% 2 * 8;\n"
                 "for (uint k = 0; k < n; k += 16) { %s from += 16; out[k] = to[n & 7]; }",
                 cases[k].to, copy);
        accesses found = widened("device const float *a, device float *out, constant uint &n", body, true);
        assert_int_equal(found.scatters, cases[k].together ? 0 : 8);
        assert_int_equal(found.gathers, cases[k].together ? 1 : 9);  // one is of to[n & 7]
    }
}

static void lanes_that_lie_together_share_registers_of_memory(void **state) {
    (void)state;
    if (!strstr(igi_simt_features(), "+avx512bw")) return;
    const char *parameters = "device const float *a, constant uint &n, device float *out";
    for (uint32_t width = 8; width <= 32; width *= 2) {
        size_t registers = width / 16;  // none of eight lanes
        bench *b = kernel(parameters, "out[i] = a[i & n] + a[(i & n) + n];");
        assert_int_equal(count_calls(widen(b, width, true), "llvm.x86.avx512.vpermi2var."), 2 * registers);
        end(b);
        b = kernel(parameters, "if (a[i] > 0) out[i & n] = a[i];");
        assert_int_equal(count_calls(widen(b, width, true), "llvm.x86.avx512.mask.expand."), 2 * registers);
        end(b);
    }
    // Elements of other sizes, and indices of 64 bits.
    bench *b = kernel("device const half *a, device const float *b, constant ulong &n, device float *out",
                      "out[i] = a[i & uint(n)] + b[i & n];");
    assert_int_equal(count_calls(widen(b, 16, true), "llvm.x86.avx512."), 0);
    end(b);
}

// Registers of memory that are permuted.
static size_t count_permutations(const char *body) {
    bench *b = kernel("device int *a, device atomic_int *count, constant uint &n, device int *out", body);
    LLVMValueRef wide = widen(b, 16, true);
    size_t found = count_calls(wide, "llvm.x86.avx512.vpermi2var.") + count_calls(wide, "llvm.x86.avx2.permd");
    end(b);
    return found;
}

#define EXCHANGE(between)                                                                  \
    "uint low = i & (n - 1), k = 2 * (i - low) + low; int x = a[k], y = a[k + n];" between \
    "if (x > y) { a[k] = y; a[k + n] = x; }"

static void pairs_that_are_exchanged_share_registers_of_memory(void **state) {
    (void)state;
    bool has_masks = strstr(igi_simt_features(), "+avx512bw");
    if (!strstr(igi_simt_features(), "+avx2")) return;
    // Two registers are read and written: a permutation each, and of the mask; without mask registers for each half of
    // the lanes, of both registers, in the copy for when all lanes are active too.
    assert_int_equal(count_permutations(EXCHANGE("")), has_masks ? 2 + 2 * 2 : 8 + 2 * 8);
    size_t windows = has_masks ? 2 : 0;  // of each access by itself
    // Other threads may be waited for between reading and writing, or the elements be another thread's.
    assert_int_equal(count_permutations(EXCHANGE("atomic_fetch_add_explicit(count, 1, memory_order_relaxed);")),
                     windows);
    assert_int_equal(count_permutations(EXCHANGE("out[i] = x; y = a[k + n];")), windows);
}

// ---- Lane by lane ----

static bool is_volatile_access(LLVMValueRef i) {
    return (LLVMIsALoadInst(i) || LLVMIsAStoreInst(i)) && LLVMGetVolatile(i);
}

static void volatile_accesses_are_done_by_each_lane(void **state) {
    (void)state;
    bench *b = kernel("volatile device int *a", "a[i] = a[i] + 1;");
    assert_int_equal(count_if(widen(b, W, true), is_volatile_access), 2 * W);
    end(b);
    b = kernel("volatile device int *a", "a[i] = a[i] + 1;");
    assert_int_equal(count_if(widen(b, W, false), is_volatile_access), 2);  // in a loop over the active lanes
    end(b);
}

static void atomics_are_done_by_each_lane(void **state) {
    (void)state;
    const char *parameters = "device atomic_uint *a, device uint *out";
    bench *b = kernel(parameters, "out[i] = atomic_fetch_add_explicit(&a[i], 2, memory_order_relaxed);");
    assert_int_equal(count_opcode(widen(b, W, true), LLVMAtomicRMW), W);
    end(b);
    b = kernel(parameters, "out[i] = atomic_fetch_add_explicit(&a[i], 2, memory_order_relaxed);");
    assert_int_equal(count_opcode(widen(b, W, false), LLVMAtomicRMW), 1);
    end(b);
}

static size_t exchanges(const char *body, bool full) {
    bench *b = kernel("device atomic_uint *a, threadgroup atomic_uint *t [[threadgroup(0)]], device uint *out", body);
    assert_ok(igi_simt_pass_relax(&b->m));
    size_t count = count_opcode(widen(b, W, full), LLVMAtomicCmpXchg);
    end(b);
    return count;
}

static void rows_of_atomics_change_several_elements_at_once(void **state) {
    (void)state;
    assert_int_equal(exchanges("atomic_fetch_add_explicit(&a[i], out[i], memory_order_relaxed);", true), 1);
    assert_int_equal(exchanges("atomic_fetch_min_explicit(&a[i + 3], out[i], memory_order_relaxed);", true), 1);
    // Some lanes may be inactive; elements are apart; somebody needs the result; nobody else is there.
    assert_int_equal(exchanges("atomic_fetch_add_explicit(&a[i], out[i], memory_order_relaxed);", false), 0);
    assert_int_equal(exchanges("atomic_fetch_add_explicit(&a[2 * i], 1, memory_order_relaxed);", true), 0);
    assert_int_equal(exchanges("out[i] = atomic_fetch_add_explicit(&a[i], 1, memory_order_relaxed);", true), 0);
    assert_int_equal(exchanges("atomic_fetch_add_explicit(&t[i], 1, memory_order_relaxed);", true), 0);
}

static void atomics_on_one_address_are_combined_first(void **state) {
    (void)state;
    const char *parameters = "device atomic_int *a, device int *out";
    for (int full = 0; full < 2; full++) {
        bench *b = kernel(parameters, "atomic_fetch_max_explicit(&a[3], out[i], memory_order_relaxed);");
        LLVMValueRef wide = widen(b, W, full != 0);
        assert_int_equal(count_opcode(wide, LLVMAtomicRMW), 1);
        assert_int_equal(count_calls(wide, "llvm.vector.reduce.smax"), 1);
        end(b);
        b = kernel(parameters, "out[i] = atomic_fetch_sub_explicit(a, out[i], memory_order_relaxed);");
        wide = widen(b, W, full != 0);
        assert_int_equal(count_opcode(wide, LLVMAtomicRMW), 1);
        assert_int_equal(count_opcode(wide, LLVMShuffleVector) > 3, 1);
        end(b);
    }
    // The order of float additions matters, and an exchange has nothing to combine.
    bench *b = kernel("device atomic_float *a, device float *out",
                      "atomic_fetch_add_explicit(a, out[i], memory_order_relaxed);");
    assert_int_equal(count_opcode(widen(b, W, true), LLVMAtomicRMW), W);
    end(b);
    b = kernel(parameters, "out[i] = atomic_exchange_explicit(a, out[i], memory_order_relaxed);");
    assert_int_equal(count_opcode(widen(b, W, true), LLVMAtomicRMW), W);
    end(b);
}

static bool goes_past_the_cache(LLVMValueRef i) {
    unsigned kind = LLVMGetMDKindIDInContext(LLVMGetTypeContext(LLVMTypeOf(i)), "nontemporal", 11);
    return LLVMIsAStoreInst(i) && LLVMGetMetadata(i, kind);
}

static size_t stores_past_the_cache(const char *body, bool streaming) {
    bench *b = kernel("device float *a, device float *out", body);
    b->request.streaming = streaming;
    size_t count = count_if(widen(b, 16, true), goes_past_the_cache);
    end(b);
    return count;
}

static void floods_of_results_go_past_the_cache(void **state) {
    (void)state;
    assert_int_equal(stores_past_the_cache("out[i] = 2 * a[i];", true), 1);
    assert_int_equal(stores_past_the_cache("out[i] = 2 * a[i];", false), 0);
    // What is also read is in the cache already; and only whole lines can be written past it.
    assert_int_equal(stores_past_the_cache("out[i] += a[i];", true), 0);
    assert_int_equal(stores_past_the_cache("out[2 * i] = a[i];", true), 0);
    // Not all lanes are active, but there is a copy for when they are.
    assert_int_equal(stores_past_the_cache("if (a[i] > 0) out[i] = a[i];", true), 1);
}

static void what_is_written_again_or_watched_stays_in_the_cache(void **state) {
    (void)state;
    const char *rows = "for (uint k = 0; k < uint(a[0]); k++) out[i + k * 1024] = a[i];";
    assert_int_equal(stores_past_the_cache(rows, true), 1);
    assert_int_equal(stores_past_the_cache("for (uint k = 0; k < uint(a[0]); k++) out[i] = a[k];", true), 0);
    const char *counted =
        "out[i] = a[i]; atomic_fetch_add_explicit((device atomic_uint *)a, 1u, memory_order_relaxed);";
    assert_int_equal(stores_past_the_cache(counted, true), 0);
    assert_int_equal(stores_past_the_cache("out[i] = a[i]; *(volatile device float *)a = 1;", true), 0);
}

static size_t prefetches(const char *body, uint32_t lanes) {
    bench *b = kernel("device uchar *in, threadgroup atomic_uint *bins [[threadgroup(0)]]", body);
    size_t count = count_calls(widen(b, lanes, true), "llvm.prefetch");
    end(b);
    return count;
}

static void loops_that_change_memory_lane_by_lane_read_ahead(void **state) {
    (void)state;
    const char *counts =
        "for (uint k = 0; k < 1000; k++)\n"
        "    atomic_fetch_add_explicit(&bins[in[k * 4096 + i]], 1, memory_order_relaxed);";
    assert_int_equal(prefetches(counts, W), 1);
    assert_int_equal(prefetches(counts, 256), 4);  // every line of the row
    assert_int_equal(prefetches("atomic_fetch_add_explicit(&bins[in[i]], 1, memory_order_relaxed);", W), 0);
    assert_int_equal(prefetches("uint s = 0; for (uint k = 0; k < 1000; k++) s += in[k * 4096 + i]; in[i] = s;", W), 0);
}

static void short_loops_down_columns_read_ahead(void **state) {
    (void)state;
    bench *b = start_body(
        "entry:\n  %p = load ptr, ptr %group\n  br label %loop\n"
        "loop:\n  %k = phi i32 [0, %entry], [%next, %loop]\n  %sum = phi i32 [0, %entry], [%more, %loop]\n"
        "  %row = mul i32 %k, 4096\n  %at = add i32 %row, %x\n  %i = zext i32 %at to i64\n"
        "  %here = getelementptr i32, ptr %p, i64 %i\n  %one = load i32, ptr %here\n"
        "  %there = getelementptr i8, ptr %here, i64 4\n  %two = load i32, ptr %there\n"
        "  %both = add i32 %one, %two\n  %more = add i32 %sum, %both\n  %next = add i32 %k, 1\n"
        "  %c = icmp ult i32 %next, 16\n  br i1 %c, label %loop, label %end\n"
        "end:\n  %last = phi i32 [%more, %loop]\n  %j = zext i32 %x to i64\n"
        "  %out = getelementptr i32, ptr %p, i64 %j\n  store i32 %last, ptr %out\n  ret ptr null\n");
    assert_int_equal(count_calls(widen(b, 8, true), "llvm.prefetch"), 1);
    end(b);
}

static void coordinates_in_floats_are_read_together(void **state) {
    (void)state;
    uint32_t lanes = igi_simt_register_lanes();
    if (!strstr(igi_simt_features(), "+avx2")) skip();
    bench *b = kernel("device float *a, device float *out", "out[i] = a[uint(max(float(i) * 0.4f, 0.0f))];");
    LLVMValueRef wide = widen(b, lanes, true);
    assert_int_equal(count_calls(wide, lanes == 16 ? "llvm.x86.avx512.permvar" : "llvm.x86.avx2.permd"), 1);
    assert_int_equal(count_calls(wide, "llvm.masked.gather."), 1);  // for lanes that turn out to be far from each other
    end(b);
}

static void functions_without_a_vector_form_are_called_by_each_lane(void **state) {
    (void)state;
    bench *b = start_body(
        "  %p = load ptr, ptr %group\n  %i = zext i32 %x to i64\n  %at = getelementptr float, ptr %p, i64 %i\n"
        "  %v = load float, ptr %at\n  %s = call float @llvm.sin.f32(float %v)\n  store float %s, ptr %at\n"
        "  ret ptr null\n");
    LLVMValueRef wide = widen(b, W, true);
    assert_int_equal(count_calls(wide, "llvm.sin.f32"), W);
    expect("rows", count_accesses_of(wide), (accesses){.rows_loaded = 1, .rows_stored = 1});
    end(b);
}

// ---- Quick code ----

// Transposing makes chains of shuffles, which the code generator would search for shorter ones.
static size_t fences_of_rows(bool quick) {
    bench *b = start_body(
        "  %p = load ptr, ptr %group\n  %a = load <32 x float>, ptr %p\n"
        "  %b = shufflevector <32 x float> %a, <32 x float> poison, <32 x i32> zeroinitializer\n"
        "  %c = shufflevector <32 x float> %b, <32 x float> %a, <32 x i32> zeroinitializer\n"
        "  store <32 x float> %c, ptr %p\n  ret ptr null\n");
    b->request.first_tier = quick;
    assert_ok(igi_simt_pass_separate(&b->m));
    verify(b, "separate");
    size_t fences = count_calls(b->m.thread, "llvm.arithmetic.fence.");
    end(b);
    return fences;
}

static void shuffles_of_shuffles_are_fenced_in_quick_code(void **state) {
    (void)state;
    if (!igi_simt_is_for_x86()) skip();
    assert_int_equal(fences_of_rows(true), 1);
    assert_int_equal(fences_of_rows(false), 0);
}

// ---- What cannot be widened ----

static bool is_extract(LLVMValueRef i) {
    return LLVMIsAExtractElementInst(i) != NULL;
}

static void bytes_that_are_indices_leave_a_vector_together(void **state) {
    (void)state;
    bench *b = kernel("device const uchar *a, device atomic_uint *bins",
                      "atomic_fetch_add_explicit(&bins[a[i]], 1, memory_order_relaxed);");
    LLVMValueRef wide = widen(b, W, true);
    assert_int_equal(count_opcode(wide, LLVMAtomicRMW), W);
    assert_true(count_if(wide, is_extract) <= W / 8);
    end(b);
}

static void odd_types_are_declined(void **state) {
    (void)state;
    bench *b = start_body(
        "  %pair = call {i32, i1} @llvm.umul.with.overflow.i32(i32 %x, i32 %x)\n"
        "  %low = extractvalue {i32, i1} %pair, 0\n  %p = load ptr, ptr %group\n  store i32 %low, ptr %p\n"
        "  ret ptr null\n");
    assert_non_null(why_declined(b, W));
    end(b);
}

static void operations_among_lanes_need_a_whole_simdgroup(void **state) {
    (void)state;
    const char *body =
        "  %s = call i32 @__ig_scan_inclusive_add_u32(i32 %x, i32 32)\n  %p = load ptr, ptr %group\n"
        "  store i32 %s, ptr %p\n  ret ptr null\n";
    bench *b = start_body(body);
    assert_non_null(why_declined(b, 8));
    end(b);
    b = start_body(body);
    assert_null(why_declined(b, 32));
    end(b);
}

static bool divides_unguarded(LLVMValueRef i) {
    LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
    if (opcode != LLVMUDiv && opcode != LLVMSDiv && opcode != LLVMURem && opcode != LLVMSRem) return false;
    LLVMValueRef divisor = LLVMGetOperand(i, 1);
    return !LLVMIsConstant(divisor) && !LLVMIsASelectInst(divisor) && !igi_simt_calls(divisor, "llvm.umax.v8i32");
}

static void lanes_that_are_off_divide_by_nothing(void **state) {
    (void)state;
    bench *b = kernel("device uint *a, device const uint *d", "if (d[i] > 3) a[i] = a[i] / d[i] + a[i] % d[i];");
    assert_int_equal(count_if(widen(b, W, false), divides_unguarded), 0);
    end(b);
}

static void pieces_of_loads_that_overlap_are_loaded(void **state) {
    (void)state;
    bench *b = start_body(
        "  %a = load ptr, ptr %group\n"
        "  %whole = load <8 x i32>, ptr %a, align 4\n"
        "  %bits = bitcast <8 x i32> %whole to i256\n"
        "  %far = lshr i256 %bits, 96\n"
        "  %piece = trunc i256 %far to i128\n"
        "  %halves = bitcast i128 %piece to <8 x i16>\n"
        "  %low = trunc i256 %bits to i64\n"
        "  %odd = lshr i256 %bits, 4\n"
        "  %uneven = trunc i256 %odd to i32\n"
        "  store <8 x i16> %halves, ptr %lane\n"
        "  store i64 %low, ptr %lane\n"
        "  store i32 %uneven, ptr %lane\n"
        "  ret ptr null\n");
    LLVMValueRef thread = LLVMGetNamedFunction(b->m.module, "thread");
    assert_ok(igi_simt_pass_reload(&b->m));
    verify(b, "reload");
    // Four bits are no bytes.
    assert_int_equal(count_opcode(thread, LLVMLShr), 1);
    assert_int_equal(count_opcode(thread, LLVMTrunc), 1);
    assert_int_equal(count_loads(thread, 8), 2);
    assert_int_equal(count_loads(thread, 1), 2);
    for (LLVMValueRef i = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(thread)); i; i = LLVMGetNextInstruction(i))
        if (LLVMIsAStoreInst(i) && LLVMIsALoadInst(LLVMGetOperand(i, 0)))
            assert_int_equal(LLVMGetAlignment(LLVMGetOperand(i, 0)), 4);
    end(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_are_read_and_written_in_rows),
        cmocka_unit_test(rows_may_begin_before_the_first_thread),
        cmocka_unit_test(what_is_the_same_for_all_is_read_once),
        cmocka_unit_test(rows_promise_the_alignment_of_an_element),
        cmocka_unit_test(lanes_that_are_off_touch_nothing),
        cmocka_unit_test(any_index_is_gathered_and_scattered),
        cmocka_unit_test(vectors_are_read_and_written_whole),
        cmocka_unit_test(pairs_and_triples_of_an_array_are_read_whole),
        cmocka_unit_test(odd_numbers_of_elements_are_read_and_written_whole),
        cmocka_unit_test(lanes_at_a_distance_read_sixteen_bytes_at_a_time),
        cmocka_unit_test(eight_words_of_a_few_lanes_are_read_in_two_parts),
        cmocka_unit_test(a_few_places_are_read_once_for_all_lanes),
        cmocka_unit_test(words_are_sorted_within_sixteen_bytes_first),
        cmocka_unit_test(places_that_lanes_share_are_read_once_each),
        cmocka_unit_test(rounds_over_rows_that_lanes_share_are_read_ahead),
        cmocka_unit_test(upper_halves_of_words_are_packed_by_shuffles),
        cmocka_unit_test(fields_of_structs_are_read_whole),
        cmocka_unit_test(rows_of_each_lane_are_read_by_one_access_each),
        cmocka_unit_test(a_store_between_keeps_loads_apart),
        cmocka_unit_test(indices_are_looked_at_rather_than_addresses),
        cmocka_unit_test(indices_that_may_turn_out_to_be_neighbours_are_looked_at),
        cmocka_unit_test(rows_of_lanes_are_copied_as_they_are),
        cmocka_unit_test(elements_are_copied_together_between_memory_that_does_not_overlap),
        cmocka_unit_test(lanes_that_lie_together_share_registers_of_memory),
        cmocka_unit_test(pairs_that_are_exchanged_share_registers_of_memory),
        cmocka_unit_test(volatile_accesses_are_done_by_each_lane),
        cmocka_unit_test(atomics_are_done_by_each_lane),
        cmocka_unit_test(rows_of_atomics_change_several_elements_at_once),
        cmocka_unit_test(atomics_on_one_address_are_combined_first),
        cmocka_unit_test(floods_of_results_go_past_the_cache),
        cmocka_unit_test(what_is_written_again_or_watched_stays_in_the_cache),
        cmocka_unit_test(loops_that_change_memory_lane_by_lane_read_ahead),
        cmocka_unit_test(short_loops_down_columns_read_ahead),
        cmocka_unit_test(coordinates_in_floats_are_read_together),
        cmocka_unit_test(functions_without_a_vector_form_are_called_by_each_lane),
        cmocka_unit_test(shuffles_of_shuffles_are_fenced_in_quick_code),
        cmocka_unit_test(bytes_that_are_indices_leave_a_vector_together),
        cmocka_unit_test(odd_types_are_declined),
        cmocka_unit_test(operations_among_lanes_need_a_whole_simdgroup),
        cmocka_unit_test(lanes_that_are_off_divide_by_nothing),
        cmocka_unit_test(pieces_of_loads_that_overlap_are_loaded),
    };
    return cmocka_run_group_tests_name("memory", tests, open_compiler, close_compiler);
}
