// SPDX-License-Identifier: Apache-2.0
// ingot bench simt: the cases, and how their kernels are launched.
#include "simt.h"

enum { GROUP = 256 };
#define FLOAT sizeof(float)

#define BUFFER(which) {.kind = SIMT_BUFFER, .number = (which)}
#define TEXTURE(which) {.kind = SIMT_TEXTURE, .number = (which)}
#define UINT(value) {.kind = SIMT_UINT, .number = (value)}
#define FLOATING(value) {.kind = SIMT_FLOAT, .real = (value)}
#define ARGUMENTS(...) \
    .argument_count = sizeof((simt_argument[]){__VA_ARGS__}) / sizeof(simt_argument), .arguments = {__VA_ARGS__}

static void send(const simt_sink *sink, simt_launch launch) {
    sink->launch(sink->target, &launch);
}

// ---- Streams and rows ----

static void encode_saxpy(const simt_sink *sink) {
    send(sink,
         (simt_launch){
             "saxpy", {SIMT_STREAM, 1, 1}, {GROUP, 1, 1}, ARGUMENTS(BUFFER(0), BUFFER(1), FLOATING(SIMT_FACTOR))});
}

static void encode_add(const simt_sink *sink) {
    send(sink, (simt_launch){"add", {SIMT_STREAM, 1, 1}, {GROUP, 1, 1}, ARGUMENTS(BUFFER(0), BUFFER(1), BUFFER(2))});
}

static void encode_softmax(const simt_sink *sink) {
    send(sink, (simt_launch){"softmax",
                             {(size_t)SIMT_ROWS * GROUP, 1, 1},
                             {GROUP, 1, 1},
                             ARGUMENTS(BUFFER(0), BUFFER(1), UINT(SIMT_COLUMNS))});
}

static void encode_rmsnorm(const simt_sink *sink) {
    send(sink, (simt_launch){"rmsnorm",
                             {(size_t)SIMT_ROWS * GROUP, 1, 1},
                             {GROUP, 1, 1},
                             ARGUMENTS(BUFFER(0), BUFFER(1), BUFFER(2), UINT(SIMT_COLUMNS))});
}

// ---- Reductions ----

enum { SUM_EACH = 16 * GROUP, SUMS = SIMT_STREAM / SUM_EACH };

static void encode_sum(const simt_sink *sink) {
    _Static_assert(SUMS <= SUM_EACH, "one threadgroup sums the sums");
    send(sink,
         (simt_launch){
             "sum", {(size_t)SUMS * GROUP, 1, 1}, {GROUP, 1, 1}, ARGUMENTS(BUFFER(0), BUFFER(1), UINT(SIMT_STREAM))});
    send(sink, (simt_launch){"sum", {GROUP, 1, 1}, {GROUP, 1, 1}, ARGUMENTS(BUFFER(1), BUFFER(2), UINT(SUMS))});
}

enum { SCAN_1 = SIMT_STREAM / GROUP, SCAN_2 = SCAN_1 / GROUP };

// Buffers: in, out, totals of its groups, totals of their groups, and one grand total.
static void encode_scan(const simt_sink *sink) {
    _Static_assert((int)SCAN_2 == (int)GROUP, "three levels");
    const size_t counts[] = {SIMT_STREAM, SCAN_1, SCAN_2};
    for (uint32_t level = 0; level < 3; level++)
        send(sink, (simt_launch){"scan",
                                 {counts[level], 1, 1},
                                 {GROUP, 1, 1},
                                 ARGUMENTS(BUFFER(level ? level + 1 : 0), BUFFER(level + 1), BUFFER(level + 2))});
    for (uint32_t level = 2; level-- > 0;)
        send(sink,
             (simt_launch){
                 "scan_add", {counts[level], 1, 1}, {GROUP, 1, 1}, ARGUMENTS(BUFFER(level + 1), BUFFER(level + 2))});
}

static void encode_histogram(const simt_sink *sink) {
    enum { GROUPS = 1024 };
    send(sink, (simt_launch){"clear", {SIMT_BINS, 1, 1}, {GROUP, 1, 1}, ARGUMENTS(BUFFER(1))});
    send(sink, (simt_launch){"histogram",
                             {(size_t)GROUPS * GROUP, 1, 1},
                             {GROUP, 1, 1},
                             ARGUMENTS(BUFFER(0), BUFFER(1), UINT(SIMT_STREAM))});
}

// ---- Matrices ----

static void encode_transpose(const simt_sink *sink) {
    send(sink, (simt_launch){"transpose",
                             {SIMT_TRANSPOSE, SIMT_TRANSPOSE, 1},
                             {16, 16, 1},
                             ARGUMENTS(BUFFER(0), BUFFER(1), UINT(SIMT_TRANSPOSE))});
}

static void send_matmul(const simt_sink *sink, simt_launch launch) {
    launch.argument_count = 4;
    for (uint32_t i = 0; i < 3; i++) launch.arguments[i] = (simt_argument)BUFFER(i);
    launch.arguments[3] = (simt_argument)UINT(SIMT_MATMUL);
    send(sink, launch);
}

static void encode_matmul_naive(const simt_sink *sink) {
    send_matmul(sink,
                (simt_launch){.kernel = "matmul_naive", .grid = {SIMT_MATMUL, SIMT_MATMUL, 1}, .group = {16, 16, 1}});
}

static void encode_matmul_tiled(const simt_sink *sink) {
    send_matmul(sink,
                (simt_launch){.kernel = "matmul_tiled", .grid = {SIMT_MATMUL, SIMT_MATMUL, 1}, .group = {16, 16, 1}});
}

// One simdgroup per threadgroup, 32x32 elements each.
static void encode_matmul_simdgroup(const simt_sink *sink) {
    send_matmul(
        sink,
        (simt_launch){.kernel = "matmul_simdgroup", .grid = {SIMT_MATMUL, SIMT_MATMUL / 32, 1}, .group = {32, 1, 1}});
}

// Four simdgroups per threadgroup, 64x64 elements.
static void encode_matmul_staged(const simt_sink *sink) {
    send_matmul(sink, (simt_launch){.kernel = "matmul_staged",
                                    .grid = {(size_t)2 * SIMT_MATMUL, SIMT_MATMUL / 64, 1},
                                    .group = {128, 1, 1}});
}

static void encode_q4_matvec(const simt_sink *sink) {
    send(sink, (simt_launch){"q4_matvec",
                             {(size_t)SIMT_MATVEC * 32, 1, 1},
                             {32, 1, 1},
                             ARGUMENTS(BUFFER(0), BUFFER(1), BUFFER(2), UINT(SIMT_MATVEC))});
}

// ---- Simulation and divergence ----

static void encode_stencil(const simt_sink *sink) {
    send(sink, (simt_launch){"stencil",
                             {SIMT_GRID, SIMT_GRID, SIMT_GRID},
                             {32, 4, 2},
                             ARGUMENTS(BUFFER(0), BUFFER(1), UINT(SIMT_GRID))});
}

static void encode_nbody(const simt_sink *sink) {
    send(sink, (simt_launch){
                   "nbody", {SIMT_BODIES, 1, 1}, {GROUP, 1, 1}, ARGUMENTS(BUFFER(0), BUFFER(1), UINT(SIMT_BODIES))});
}

static void encode_mandelbrot(const simt_sink *sink) {
    send(sink,
         (simt_launch){"mandelbrot", {SIMT_IMAGE, SIMT_IMAGE, 1}, {16, 16, 1}, ARGUMENTS(BUFFER(0), UINT(SIMT_IMAGE))});
}

static void encode_bitonic(const simt_sink *sink) {
    for (uint32_t run = 2; run <= SIMT_KEYS; run *= 2)
        for (uint32_t distance = run / 2; distance > 0; distance /= 2)
            send(sink,
                 (simt_launch){
                     "bitonic", {SIMT_KEYS / 2, 1, 1}, {GROUP, 1, 1}, ARGUMENTS(BUFFER(0), UINT(distance), UINT(run))});
}

// ---- Textures ----

static void encode_texture_blur(const simt_sink *sink) {
    send(sink, (simt_launch){"texture_blur",
                             {SIMT_TEXTURE_SIDE, SIMT_TEXTURE_SIDE / SIMT_BLUR_ROWS, 1},
                             {GROUP, 1, 1},
                             ARGUMENTS(TEXTURE(0), TEXTURE(1))});
}

static void encode_texture_resize(const simt_sink *sink) {
    send(sink, (simt_launch){"texture_resize",
                             {SIMT_TEXTURE_SIDE, SIMT_TEXTURE_SIDE, 1},
                             {GROUP, 1, 1},
                             ARGUMENTS(TEXTURE(0), TEXTURE(1))});
}

static void encode_texture_histogram(const simt_sink *sink) {
    send(sink, (simt_launch){"clear", {SIMT_BINS, 1, 1}, {GROUP, 1, 1}, ARGUMENTS(BUFFER(1))});
    send(sink, (simt_launch){"texture_histogram",
                             {SIMT_TEXTURE_SIDE, SIMT_TEXTURE_SIDE / SIMT_HISTOGRAM_ROWS, 1},
                             {GROUP, 1, 1},
                             ARGUMENTS(TEXTURE(0), BUFFER(1))});
}

// ---- The table ----

// Bytes and operations are those that the algorithm needs, not what an implementation moves: GB/s count each element
// read or written once, as STREAM does.
#define STREAM_BYTES ((size_t)SIMT_STREAM * FLOAT)
#define ROW_BYTES ((size_t)SIMT_ROWS * SIMT_COLUMNS * FLOAT)
#define MATRIX_BYTES ((size_t)SIMT_MATMUL * SIMT_MATMUL * FLOAT)
#define GRID_POINTS ((size_t)SIMT_GRID * SIMT_GRID * SIMT_GRID)
#define SQUARE(n) ((size_t)(n) * (n))
#define Q4_BYTES ((size_t)SIMT_MATVEC * SIMT_Q4_BLOCKS * sizeof(simt_q4_block))
#define LARGE_PIXELS SQUARE(SIMT_TEXTURE_SIDE)
#define SMALL_PIXELS SQUARE(SIMT_SMALL_SIDE)
#define IMAGE(form, side) {IG_PIXEL_##form, (side), (side)}
#define FOUR_BYTES(form, from, from_pixels)                                                                          \
    .size = "4096^2", .unit = "Mpixel/s", .work = 1e-6 * LARGE_PIXELS, BUFFERS((from_pixels) * 4, LARGE_PIXELS * 4), \
    .images = {IMAGE(form, from), IMAGE(form, SIMT_TEXTURE_SIDE)}, RESULT(1, LARGE_PIXELS * 4)
#define DATA(name) .fill = simt_fill_##name, .reference = simt_reference_##name
#define BUFFERS(...) .buffer_count = sizeof((size_t[]){__VA_ARGS__}) / sizeof(size_t), .bytes = {__VA_ARGS__}
#define RESULT(which, length) .result = (which), .result_bytes = (length)
#define MATMUL                                                                                                    \
    .size = "1024", .unit = "GFLOPS", .work = 2e-9 * SIMT_MATMUL * SQUARE(SIMT_MATMUL),                           \
    BUFFERS(MATRIX_BYTES, MATRIX_BYTES, MATRIX_BYTES), RESULT(2, MATRIX_BYTES), DATA(matmul), .multiplies = true, \
    .tolerance = 1e-4

const simt_case simt_cases[] = {
    {.name = "saxpy",
     .size = "16M",
     .unit = "GB/s",
     .work = 3e-9 * STREAM_BYTES,
     BUFFERS(STREAM_BYTES, STREAM_BYTES),
     RESULT(0, STREAM_BYTES),
     DATA(saxpy),
     .streams = true,
     .tolerance = 1e-6,
     .encode = encode_saxpy},
    {.name = "add",
     .size = "16M",
     .unit = "GB/s",
     .work = 3e-9 * STREAM_BYTES,
     BUFFERS(STREAM_BYTES, STREAM_BYTES, STREAM_BYTES),
     RESULT(2, STREAM_BYTES),
     DATA(add),
     .streams = true,
     .tolerance = 1e-6,
     .encode = encode_add},
    {.name = "softmax",
     .size = "1024x4096",
     .unit = "GB/s",
     .work = 2e-9 * ROW_BYTES,
     BUFFERS(ROW_BYTES, ROW_BYTES),
     RESULT(1, ROW_BYTES),
     DATA(softmax),
     .streams = true,
     .tolerance = 1e-3,
     .encode = encode_softmax},
    {.name = "rmsnorm",
     .size = "1024x4096",
     .unit = "GB/s",
     .work = 2e-9 * ROW_BYTES,
     BUFFERS(ROW_BYTES, SIMT_COLUMNS *FLOAT, ROW_BYTES),
     RESULT(2, ROW_BYTES),
     DATA(rmsnorm),
     .streams = true,
     .tolerance = 1e-3,
     .encode = encode_rmsnorm},
    {.name = "sum",
     .size = "16M",
     .unit = "GB/s",
     .work = 1e-9 * STREAM_BYTES,
     BUFFERS(STREAM_BYTES, SUMS *FLOAT, FLOAT),
     RESULT(2, FLOAT),
     DATA(sum),
     .tolerance = 1e-4,
     .encode = encode_sum},
    {.name = "scan",
     .size = "16M",
     .unit = "GB/s",
     .work = 2e-9 * STREAM_BYTES,
     BUFFERS(STREAM_BYTES, STREAM_BYTES, SCAN_1 *FLOAT, SCAN_2 *FLOAT, FLOAT),
     RESULT(1, STREAM_BYTES),
     DATA(scan),
     .scalar_in_c = true,
     .encode = encode_scan},
    {.name = "histogram",
     .size = "16M",
     .unit = "GB/s",
     .work = 1e-9 * SIMT_STREAM,
     BUFFERS(SIMT_STREAM, SIMT_BINS * sizeof(uint32_t)),
     RESULT(1, SIMT_BINS * sizeof(uint32_t)),
     DATA(histogram),
     .scalar_in_c = true,
     .encode = encode_histogram},
    {.name = "transpose",
     .size = "2048",
     .unit = "GB/s",
     .work = 2e-9 * FLOAT * SQUARE(SIMT_TRANSPOSE),
     BUFFERS(SQUARE(SIMT_TRANSPOSE) * FLOAT, SQUARE(SIMT_TRANSPOSE) * FLOAT),
     RESULT(1, SQUARE(SIMT_TRANSPOSE) * FLOAT),
     DATA(transpose),
     .encode = encode_transpose},
    {.name = "matmul-naive", MATMUL, .encode = encode_matmul_naive},
    {.name = "matmul-tiled", MATMUL, .encode = encode_matmul_tiled},
    {.name = "matmul-simdgroup", MATMUL, .metal_only = true, .encode = encode_matmul_simdgroup},
    {.name = "matmul-staged", MATMUL, .metal_only = true, .encode = encode_matmul_staged},
    {.name = "stencil",
     .size = "256^3",
     .unit = "GB/s",
     .work = 2e-9 * FLOAT * GRID_POINTS,
     BUFFERS(GRID_POINTS *FLOAT, GRID_POINTS *FLOAT),
     RESULT(1, GRID_POINTS *FLOAT),
     DATA(stencil),
     .tolerance = 1e-5,
     .encode = encode_stencil},
    {.name = "nbody",
     .size = "8192",
     .unit = "GFLOPS",
     .work = 20e-9 * SQUARE(SIMT_BODIES),  // by convention, the force of one body on another counts as 20 operations
     BUFFERS(SIMT_BODIES * sizeof(simt_body), SIMT_BODIES * sizeof(simt_body)),
     RESULT(1, SIMT_BODIES * sizeof(simt_body)),
     DATA(nbody),
     .tolerance = 1e-3,
     .encode = encode_nbody},
    {.name = "mandelbrot",
     .size = "1024^2",
     .unit = "Mpixel/s",
     .work = 1e-6 * SQUARE(SIMT_IMAGE),
     BUFFERS(SQUARE(SIMT_IMAGE) * sizeof(uint32_t)),
     RESULT(0, SQUARE(SIMT_IMAGE) * sizeof(uint32_t)),
     DATA(mandelbrot),
     .may_differ = 0.01,  // the last bit decides at the border of the set
     .scalar_in_c = true,
     .encode = encode_mandelbrot},
    {.name = "bitonic",
     .size = "1M",
     .unit = "Mkey/s",
     .work = 1e-6 * SIMT_KEYS,
     BUFFERS(SIMT_KEYS * sizeof(uint32_t)),
     RESULT(0, SIMT_KEYS * sizeof(uint32_t)),
     DATA(bitonic),
     .restore = true,
     .encode = encode_bitonic},
    {.name = "q4-matvec",
     .size = "4096",
     .unit = "GB/s",
     .work = 1e-9 * Q4_BYTES,
     BUFFERS(Q4_BYTES, SIMT_MATVEC *FLOAT, SIMT_MATVEC *FLOAT),
     RESULT(2, SIMT_MATVEC *FLOAT),
     DATA(q4_matvec),
     .tolerance = 1e-4,
     .encode = encode_q4_matvec},
    {.name = "texture-blur",
     FOUR_BYTES(R32_FLOAT, SIMT_TEXTURE_SIDE, LARGE_PIXELS),
     DATA(texture_blur),
     .tolerance = 1e-5,
     .encode = encode_texture_blur},
    {.name = "texture-resize",
     FOUR_BYTES(R32_FLOAT, SIMT_SMALL_SIDE, SMALL_PIXELS),
     DATA(texture_resize),
     .tolerance = 1e-3,
     .encode = encode_texture_resize},
    {.name = "texture-blur-rgba8",
     FOUR_BYTES(RGBA8_UNORM, SIMT_TEXTURE_SIDE, LARGE_PIXELS),
     DATA(texture_blur8),
     .nearly = true,
     .encode = encode_texture_blur},
    {.name = "texture-resize-rgba8",
     FOUR_BYTES(RGBA8_UNORM, SIMT_SMALL_SIDE, SMALL_PIXELS),
     DATA(texture_resize8),
     .nearly = true,
     .encode = encode_texture_resize},
    {.name = "texture-histogram",
     .size = "4096^2",
     .unit = "Mpixel/s",
     .work = 1e-6 * LARGE_PIXELS,
     BUFFERS(LARGE_PIXELS, SIMT_BINS * sizeof(uint32_t)),
     .images = {IMAGE(R8_UINT, SIMT_TEXTURE_SIDE)},
     RESULT(1, SIMT_BINS * sizeof(uint32_t)),
     DATA(texture_histogram),
     .scalar_in_c = true,
     .encode = encode_texture_histogram},
};
const size_t simt_case_count = sizeof simt_cases / sizeof *simt_cases;
