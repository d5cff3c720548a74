// SPDX-License-Identifier: Apache-2.0
// Kernels of every kind with random grids and threadgroups: every width gives the same bits as one thread at a time.
#include "bench.h"
#include "random-kernel.h"

enum { MAX_THREADS = 2048, PER_THREAD = 4, SHAPES = 200, WIDTHS = 3 };

// Arguments of all: words to read, words to write (4 for each thread), 64 cells that are added to. Only sums of
// integers depend on several threads, and these not on their order.
static const char source[] = MATRIX
    "#define PARAMETERS device const uint *in, device uint *out, device atomic_uint *cells, \\\n"
    "  uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]], uint3 lp [[thread_position_in_threadgroup]], "
    "\\\n"
    "  uint3 size [[threads_per_threadgroup]], uint l [[thread_index_in_threadgroup]]\n"
    "#define GID ((p.z * n.y + p.y) * n.x + p.x)\n"
    "#define THREADS (size.x * size.y * size.z)\n"
    "#define WAIT threadgroup_barrier(mem_flags::mem_threadgroup)\n"
    "kernel void positions(PARAMETERS, uint3 group [[threadgroup_position_in_grid]], uint3 groups "
    "[[threadgroups_per_grid]],\n"
    "    uint3 full [[dispatch_threads_per_threadgroup]], uint warps [[simdgroups_per_threadgroup]], uint quad "
    "[[thread_index_in_quadgroup]]) {\n"
    "  uint4 v = uint4(lp.x + 10 * lp.y + 100 * lp.z, group.x + 10 * group.y + 100 * group.z, size.x + 1000 * size.y + "
    "100000 * size.z,\n"
    "    groups.x * 7 + groups.y * 70 + full.x * 3 + full.y * 5 + full.z + warps * 1000 + quad);\n"
    "  *(device uint4 *)(out + 4 * GID) = v;\n"
    "}\n"
    "kernel void divergent(PARAMETERS) {\n"
    "  uint v = in[GID], steps = 0;\n"
    "  while (v != 1 && steps < 40) {\n"
    "    if (v % 2) { v = 3 * v + 1; if (v % 7 == 3) continue; }\n"
    "    else v /= 2;\n"
    "    steps++;\n"
    "    if (v > 1000000) break;\n"
    "  }\n"
    "  out[4 * GID] = v; out[4 * GID + 1] = steps;\n"
    "  if (steps > 20) return;\n"
    "  out[4 * GID + 2] = in[(v + steps) % 64] + in[p.x];\n"
    "}\n"
    "struct Item { packed_float3 at; half w; short k; };\n"
    "kernel void records(PARAMETERS) {\n"
    "  device Item *items = (device Item *)out;\n"
    "  Item i = items[GID];\n"
    "  if (p.x % 3 != 1) { i.at = float3(i.at) + float3(1, 2, p.x); i.k += short(p.y); }\n"
    "  if (in[GID] & 1) i.w = half(in[GID] & 255) * 0.5h;\n"
    "  items[GID] = i;\n"
    "}\n"
    "kernel void waiting(PARAMETERS) {\n"
    "  threadgroup uint t[256];\n"
    "  uint v = in[GID], sum = 0;\n"
    "  if (v % 11 == 3) return;\n"
    "  t[l] = v;\n"
    "  for (uint r = 0; r < 3 + in[0] % 3; r++) {\n"
    "    WAIT;\n"
    "    uint other = t[(l + r + 1) % THREADS];\n"
    "    for (uint k = 0; k < v % 3; k++) sum += other >> k;\n"
    "    WAIT;\n"
    "    t[l] = sum + r;\n"
    "  }\n"
    "  out[4 * GID] = sum; out[4 * GID + 1] = v;\n"
    "}\n"
    "kernel void scan(PARAMETERS) {\n"
    "  threadgroup uint t[256];\n"
    "  t[l] = in[GID];\n"
    "  for (uint d = 1; d < THREADS; d *= 2) {\n"
    "    WAIT;\n"
    "    uint v = l >= d ? t[l - d] : 0;\n"
    "    WAIT;\n"
    "    t[l] += v;\n"
    "  }\n"
    "  out[4 * GID] = t[l];\n"
    "}\n"
    "kernel void lanes(PARAMETERS, uint lane [[thread_index_in_simdgroup]], uint warp "
    "[[simdgroup_index_in_threadgroup]]) {\n"
    "  uint v = in[GID];\n"
    "  uint4 r = uint4(simd_sum(v), simd_prefix_inclusive_sum(v), simd_max(v) ^ simd_min(v), lane + 100 * warp);\n"
    "  if (v % 3) {\n"
    "    r.x += simd_or(v) + simd_prefix_exclusive_sum(1u);\n"
    "    r.y += quad_sum(v) + uint(simd_vote::vote_t(simd_ballot(v % 2 == 0)));\n"
    "  } else if (simd_any(v > 1000)) {\n"
    "    r.z += simd_broadcast_first(v);\n"
    "  }\n"
    "  for (uint k = 0; k < v % 4; k++) r.w += simd_sum(k + 1);\n"
    "  for (uint k = 0; k < 4; k++) out[4 * GID + k] = r[k];\n"
    "}\n"
    "kernel void lanes_and_barriers(PARAMETERS, uint lane [[thread_index_in_simdgroup]], uint warp "
    "[[simdgroup_index_in_threadgroup]]) {\n"
    "  threadgroup uint t[256];\n"
    "  uint s = simd_sum(in[GID]);\n"
    "  if (lane == 0) t[warp] = s;\n"
    "  WAIT;\n"
    "  uint total = 0;\n"
    "  for (uint w = 0; w * 32 < THREADS; w++) total += t[w];\n"
    "  out[4 * GID] = total; out[4 * GID + 1] = simd_prefix_exclusive_sum(total);\n"
    "}\n"
    "kernel void histogram(PARAMETERS) {\n"
    "  threadgroup atomic_uint bins[16];\n"
    "  for (uint k = l; k < 16; k += THREADS) atomic_store_explicit(&bins[k], 0, memory_order_relaxed);\n"
    "  WAIT;\n"
    "  uint v = in[GID];\n"
    "  atomic_fetch_add_explicit(&bins[v % 16], 1, memory_order_relaxed);\n"
    "  if (v & 32) atomic_fetch_max_explicit(&bins[15 - v % 16], 3, memory_order_relaxed);\n"
    "  atomic_fetch_add_explicit(&cells[v % 64], v, memory_order_relaxed);\n"
    "  atomic_fetch_xor_explicit(&cells[63], 0, memory_order_relaxed);\n"
    "}\n"
    "kernel void sums(PARAMETERS) {\n"
    "  threadgroup atomic_uint bins[4];\n"
    "  if (l == 0) for (int k = 0; k < 4; k++) atomic_store_explicit(&bins[k], k, memory_order_relaxed);\n"
    "  WAIT;\n"
    "  atomic_fetch_add_explicit(&bins[in[GID] % 4], in[GID] + 1, memory_order_relaxed);\n"
    "  WAIT;\n"
    "  for (int k = 0; k < 4; k++) out[4 * GID + k] = atomic_load_explicit(&bins[k], memory_order_relaxed);\n"
    "}\n"
    "kernel void private_arrays(PARAMETERS) {\n"
    "  uint a[12]; half h[5];\n"
    "  uint rounds = 8 + in[1] % 4;\n"
    "  for (uint k = 0; k < rounds; k++) a[(k * 5 + p.x) % 12] = in[k] ^ GID;\n"
    "  for (uint k = rounds; k < 12; k++) a[(k * 5 + p.x) % 12] = k;\n"
    "  for (int k = 0; k < 5; k++) h[k] = half(k + lp.y);\n"
    "  WAIT;\n"
    "  h[in[GID] % 5] += 3;\n"
    "  uint s = 0;\n"
    "  for (uint k = 0; k < 12; k++) s = s * 3 + a[(k + in[GID]) % 12];\n"
    "  out[4 * GID] = s; out[4 * GID + 1] = uint(h[in[GID] % 4]) + uint(h[4]);\n"
    "}\n"
    "kernel void floats(PARAMETERS) {\n"
    "  float x = float(in[GID] % 1000) * 0.01f + 0.5f;\n"
    "  half h = half(x); bfloat b = bfloat(x);\n"
    "  float r = sin(x) * cos(x * 2) + exp(-x) + sqrt(x) * rsqrt(x + 1) + log(x) * pow(x, 1.25f);\n"
    "  h = h * h + half(0.25); b = b * bfloat(1.5f) + b;\n"
    "  out[4 * GID] = as_type<uint>(r); out[4 * GID + 1] = as_type<ushort>(h); out[4 * GID + 2] = as_type<ushort>(b);\n"
    "  out[4 * GID + 3] = as_type<uint>(dot(float4(x, r, 1, 2), float4(r, x, x, x)));\n"
    "}\n"
    "kernel void wide_integers(PARAMETERS) {\n"
    "  ulong v = ulong(in[GID]) * 0x100000001b3ul + GID;\n"
    "  v ^= v >> 29; v *= in[p.y] | 1;\n"
    "  long s = long(v) / (long(in[2]) - 7);\n"
    "  out[4 * GID] = uint(v); out[4 * GID + 1] = uint(v >> 32); out[4 * GID + 2] = uint(s >> 5); out[4 * GID + 3] = "
    "popcount(v) + clz(v);\n"
    "}\n"
    "kernel void tiles(PARAMETERS) {\n"
    "  threadgroup float t[256];\n"
    "  float s = 0;\n"
    "  for (uint k = 0; k < 3; k++) {\n"
    "    t[l] = float(in[(GID + k) % 64] % 100);\n"
    "    WAIT;\n"
    "    for (uint j = 0; j < size.x; j++) s += t[(lp.z * size.y + lp.y) * size.x + j] * float(in[j * 7 % 64 + lp.x % "
    "3] % 10);\n"
    "    WAIT;\n"
    "  }\n"
    "  out[4 * GID] = as_type<uint>(s);\n"
    "}\n"
    "kernel void columns(PARAMETERS) {\n"
    "  float s = 0, t = 1;\n"
    "  for (uint k = 0; k < 16; k++) { s += float(in[p.y % 8 * 16 + k] % 50) * float(in[k * 4 + p.x % 4] % 50); t += s "
    "* 0.125f; }\n"
    "  out[4 * GID] = as_type<uint>(s); out[4 * GID + 1] = as_type<uint>(t);\n"
    "}\n"
    "kernel void matrices(PARAMETERS, uint warp [[simdgroup_index_in_threadgroup]]) {\n"
    "  if (warp * 32 + 32 > THREADS) return;\n"
    "  simdgroup_float8x8 a, b, c = make_filled_simdgroup_matrix<float, 8, 8>(1.0f);\n"
    "  simdgroup_load(a, (device const float *)in + 64, 8);\n"
    "  simdgroup_load(b, (device const float *)in + 64, 8, ulong2(0), true);\n"
    "  for (int k = 0; k < 2; k++) { simdgroup_multiply_accumulate(c, a, b, c); c.thread_elements()[k] += 0.5f; }\n"
    "  out[4 * GID] = as_type<uint>(c.thread_elements()[0]); out[4 * GID + 1] = "
    "as_type<uint>(c.thread_elements()[1]);\n"
    "}\n";

static const char *const kernels[] = {"positions", "divergent",          "records",   "waiting", "scan",
                                      "lanes",     "lanes_and_barriers", "histogram", "sums",    "private_arrays",
                                      "floats",    "wide_integers",      "tiles",     "columns", "matrices"};

// ---- Memory ----

typedef struct memory {
    uint32_t in[MAX_THREADS], out[MAX_THREADS * PER_THREAD], cells[64];
} memory;

static void fill(memory *m, uint64_t seed) {
    random_numbers r = {seed};
    for (int i = 0; i < MAX_THREADS; i++) m->in[i] = random_below(&r, i % 3 ? 4096 : 100000);
    // Words that are also read as floats.
    for (int i = 64; i < 128; i++) {
        float value = (float)random_below(&r, 64) / 8;
        memcpy(&m->in[i], &value, sizeof value);
    }
    for (int i = 0; i < MAX_THREADS * PER_THREAD; i++) m->out[i] = random_below(&r, 1u << 30);
    memset(m->cells, 0, sizeof m->cells);
}

static grid random_grid(random_numbers *r) {
    static const uint32_t usual[] = {1, 7, 8, 16, 31, 32, 33, 64, 100, 256};
    grid g = {.threads = {1, 1, 1}, .group = {1, 1, 1}};
    uint32_t dimensions = 1 + random_below(r, 3), room = 256, left = MAX_THREADS;
    for (uint32_t i = 0; i < dimensions; i++) {
        uint32_t size = random_below(r, 2) ? usual[random_below(r, 10)] : 1 + random_below(r, 40);
        g.group[i] = size < room ? size : room;
        room /= g.group[i];
    }
    for (uint32_t i = 0; i < dimensions; i++) {
        uint32_t most = g.group[i] * (1 + random_below(r, 3));
        g.threads[i] = random_below(r, 2) ? most : 1 + random_below(r, most);
        if (g.threads[i] > left) g.threads[i] = left;
        left /= g.threads[i];
    }
    return g;
}

static void run(const grid *shape, memory *m, uint64_t seed, const igi_simt_code *code, const igi_simt_code *narrow) {
    fill(m, seed);
    void *arguments[2 * IGI_MAX_SLOTS] = {m->in, m->out, m->cells};
    grid g = *shape;
    g.arguments = arguments;
    run_grid(&g, code, narrow);
}

// ---- Code ----

typedef struct library {
    igi_simt_jit *jit;
    char *bitcode;
    size_t length;
    igi_msl_reflection reflection;
} library;

static library all;

static int open_library(void **state) {
    if (open_compiler(state)) return -1;
    compile(source, &all.bitcode, &all.length, &all.reflection);
    return igi_simt_jit_create(IGI_JIT_NOBODY, &all.jit, NULL) == IG_STATUS_OK ? 0 : -1;
}

static int close_library(void **state) {
    igi_simt_jit_destroy(all.jit);
    igi_msl_reflection_free(&all.reflection);
    free(all.bitcode);
    return close_compiler(state);
}

static void make(const char *kernel, uint32_t width, const uint32_t *size, igi_simt_code *code) {
    const igi_msl_kernel *found = igi_msl_reflection_find(&all.reflection, kernel);
    assert_non_null(found);
    igi_simt_request request = {
        .bitcode = all.bitcode, .bitcode_length = all.length, .symbol = found->symbol, .name = kernel, .width = width};
    if (size) memcpy(request.group, size, sizeof request.group);
    char *object = NULL;
    size_t length = 0;
    assert_ok(igi_simt_compile(&request, IGI_STAGE_OBJECT, &object, &length, NULL));
    assert_ok(igi_simt_jit_load(all.jit, object, length, NULL, code, NULL));
    free(object);
}

static void compare(const char *kernel, const igi_simt_code *code, const grid *g, const memory *got,
                    const memory *wanted) {
    if (memcmp(got, wanted, sizeof *got) == 0) return;
    size_t at = 0;
    while (at < sizeof got->out / 4 && got->out[at] == wanted->out[at]) at++;
    fail_msg("%s, width %u, grid %u,%u,%u, group %u,%u,%u: word %zu of thread %zu differs", kernel, code->info.width,
             g->threads[0], g->threads[1], g->threads[2], g->group[0], g->group[1], g->group[2], at % PER_THREAD,
             at / PER_THREAD);
}

// With this shape, all widths and, now and then, code for exactly that size.
static void try_shape(const char *kernel, const igi_simt_code *narrow, const igi_simt_code *wide, const grid *g,
                      uint64_t seed, bool made_for_it) {
    static memory wanted, got;
    run(g, &wanted, seed, narrow, NULL);
    for (int w = 0; w < WIDTHS; w++) {
        run(g, &got, seed, &wide[w], narrow);
        compare(kernel, &wide[w], g, &got, &wanted);
    }
    if (!made_for_it) return;
    grid even = *g;
    for (int i = 0; i < 3; i++) even.threads[i] -= g->threads[i] % g->group[i];
    if (!even.threads[0] || !even.threads[1] || !even.threads[2]) return;
    igi_simt_code code;
    make(kernel, 0, g->group, &code);
    run(&even, &wanted, seed, narrow, NULL);
    if (igi_simt_can_run_group(&code, g->group)) {
        run(&even, &got, seed, &code, narrow);
        compare(kernel, &code, &even, &got, &wanted);
    }
    igi_simt_jit_unload(all.jit, &code);
}

static void every_kernel_gives_the_same_bits_in_every_shape(void **state) {
    (void)state;
    static const uint32_t widths[WIDTHS] = {8, 16, 32};
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        igi_simt_code narrow, wide[WIDTHS];
        random_numbers r = {k + 1};
        make(kernels[k], 1, NULL, &narrow);
        for (int w = 0; w < WIDTHS; w++) {
            make(kernels[k], widths[w], NULL, &wide[w]);
            assert_true(wide[w].info.width > 1);  // otherwise this proves little
        }
        for (uint64_t s = 0; s < SHAPES; s++) {
            grid g = random_grid(&r);
            try_shape(kernels[k], &narrow, wide, &g, s, s % 50 == 7);
        }
        for (int w = 0; w < WIDTHS; w++) igi_simt_jit_unload(all.jit, &wide[w]);
        igi_simt_jit_unload(all.jit, &narrow);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_gives_the_same_bits_in_every_shape),
    };
    return cmocka_run_group_tests_name("random-shapes", tests, open_library, close_library);
}
