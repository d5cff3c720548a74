// SPDX-License-Identifier: Apache-2.0
// Products with weights: few tokens at the speed of memory, in integers; many as matrix products, for which one block
// of the weight at a time is converted to floats.
#include <assert.h>
#include <string.h>

#include "tensor/nn/simd/kernels.h"
#include "tensor/nn/weight.h"
#include "tensor/scalar/scalar.h"

// Rows and columns of the weight that are converted to floats at a time, tokens whose sums are kept, and tokens of a
// panel: whole tiles of vectors at every level.
enum { BLOCK_ROWS = 64, BLOCK_COLUMNS = 512, MANY = 12, BATCH = 768, PANEL = 96 };
enum { ROWS_KEPT = 64, EXPECTED = 4096, CACHE_LINE = 64 };

typedef struct job {
    const igi_tensor_call *call;
    const igi_simd_kernels *k;
    const igi_nn_kernels *n;
    uint32_t type;
    uint64_t columns;
    uint64_t first, tokens;  // of this batch
    float *x;                // few: by token. many: panels of PANEL tokens, [column][token]
    int16_t *numbers;        // few, blocks: in the form of igi_nn_kernels.narrow
    float *scales, *part_sums;
    atomic_int status;
} job;

static const uint8_t *row_at(const job *j, uint64_t row) {
    return (const uint8_t *)igi_tensor_weight_row(&j->call->in[1], row);
}

// `count` weights of a row from `column` on. pre: both are whole blocks
static void to_floats(const job *j, uint64_t row, uint64_t column, uint64_t count, float *to) {
    assert(column % igi_tensor_weight_formats[j->type].weights == 0 &&
           count % igi_tensor_weight_formats[j->type].weights == 0);
    const uint8_t *from = row_at(j, row) + igi_tensor_weight_row_bytes(j->type, column);
    if (j->n->dequantize[j->type])
        j->n->dequantize[j->type](count / igi_tensor_weight_formats[j->type].weights, from, to);
    else
        igi_simd_load_all(j->k, j->call->in[1].type, (const char *)from, 2, count, to);
}

static void put(const job *j, uint64_t token, uint64_t row, uint64_t count, const float *values) {
    const igi_tensor_view *out = &j->call->out[0];
    int64_t step = igi_tensor_view_stride_bytes(out, 1);
    igi_simd_store_all(j->k, out->type, values, igi_tensor_weight_row(out, j->first + token) + (int64_t)row * step,
                       step, count);
}

// ---- Few tokens ----

// How many scales and sums a token has.
static uint64_t parts_of(const job *j) {
    return j->columns / IGI_GROUP * 2;
}

// Four rows at a time are four short streams, which CPUs do not prefetch. For long ones the beginning is enough.
static void expect_rows(const uint8_t *first, uint64_t bytes) {
    for (uint64_t at = 0; at < bytes && at < EXPECTED; at += CACHE_LINE) __builtin_prefetch(first + at);
}

// Sums of up to four rows with every token, [token][ROWS_KEPT].
static void four_rows(const job *j, const uint8_t *const rows[4], uint64_t count, float *sums) {
    uint64_t blocks = j->columns / igi_tensor_weight_formats[j->type].weights, parts = parts_of(j);
    for (uint64_t t = 0; t < j->tokens; t++, sums += ROWS_KEPT) {
        float four[4];
        igi_nn_narrow x = {j->numbers + t * j->columns, j->scales + t * parts, j->part_sums + t * parts};
        if (j->n->block_dots[j->type])
            j->n->block_dots[j->type](blocks, rows, &x, four);
        else
            j->n->half_dots[j->type](j->columns, (const uint16_t *const *)rows, j->x + t * j->columns, four);
        memcpy(sums, four, count * sizeof *sums);
    }
}

static void few_rows(void *user, uint64_t begin, uint64_t end) {
    const job *j = user;
    float sums[MANY * ROWS_KEPT];
    uint64_t bytes = igi_tensor_weight_row_bytes(j->type, j->columns), kept;
    int64_t stride = igi_tensor_view_stride_bytes(&j->call->in[1], 0);
    for (uint64_t row = begin; row < end; row += kept) {
        kept = end - row < ROWS_KEPT ? end - row : ROWS_KEPT;
        const uint8_t *first = row_at(j, row);
        for (uint64_t at = 0; at < kept; at += 4, first += 4 * stride) {
            uint64_t count = kept - at < 4 ? kept - at : 4, left = end - row - at - count;
            const uint8_t *rows[4];
            for (uint64_t i = 0; i < 4; i++) rows[i] = first + (i < count ? (int64_t)i * stride : 0);
            expect_rows(first + 4 * stride, bytes * (left < 4 ? left : 4));
            four_rows(j, rows, count, sums + at);
        }
        for (uint64_t t = 0; t < j->tokens; t++) put(j, t, row, kept, sums + t * ROWS_KEPT);
    }
}

static void load_tokens(const job *j, uint64_t token, float *to) {
    const igi_tensor_view *x = &j->call->in[0];
    igi_simd_load_all(j->k, x->type, igi_tensor_weight_row(x, j->first + token), igi_tensor_view_stride_bytes(x, 1),
                      j->columns, to);
}

static ig_status do_few(job *j) {
    igi_tensor_storage *scratch = NULL;
    uint64_t parts = parts_of(j);
    bool quantized = j->n->block_dots[j->type] != NULL;
    uint64_t each = j->columns * (sizeof(float) + sizeof(int16_t)) + 2 * parts * sizeof(float);
    ig_status status = igi_tensor_storage_make(j->call->runtime->device, j->tokens * each, &scratch);
    if (status != IG_STATUS_OK) return status;
    j->x = (float *)scratch->memory;
    j->scales = j->x + j->tokens * j->columns;
    j->part_sums = j->scales + j->tokens * parts;
    j->numbers = (int16_t *)(j->part_sums + j->tokens * parts);
    for (uint64_t t = 0; t < j->tokens; t++) {
        float *x = j->x + t * j->columns;
        load_tokens(j, t, x);
        if (quantized)
            j->n->narrow(j->columns / IGI_GROUP, x, j->numbers + t * j->columns, j->scales + t * parts,
                         j->part_sums + t * parts);
    }
    uint64_t grain = igi_round_up(UINT64_C(2) * IGI_SIMD_GRAIN / (j->columns * j->tokens + 1) + 1, 4);
    igi_tensor_parallel(j->call->runtime, j->call->in[1].shape[0], grain, few_rows, j);
    igi_tensor_storage_release(scratch);
    return (ig_status)atomic_load(&j->status);
}

// ---- Many tokens ----

static uint64_t padded(const job *j) {
    return (j->tokens + PANEL - 1) / PANEL * PANEL;
}

// One panel of x, with its tokens side by side.
static void load_panels(void *user, uint64_t begin, uint64_t end) {
    const job *j = user;
    float row[IGI_SIMD_CHUNK];
    const igi_tensor_view *x = &j->call->in[0];
    int64_t step = igi_tensor_view_stride_bytes(x, 1);
    for (uint64_t panel = begin; panel < end; panel++) {
        float *to = j->x + panel * PANEL * j->columns;
        memset(to, 0, PANEL * j->columns * sizeof *to);
        for (uint64_t t = 0; t < PANEL && panel * PANEL + t < j->tokens; t++)
            for (uint64_t at = 0; at < j->columns; at += IGI_SIMD_CHUNK) {
                uint64_t count = j->columns - at < IGI_SIMD_CHUNK ? j->columns - at : IGI_SIMD_CHUNK;
                const char *from = igi_tensor_weight_row(x, j->first + panel * PANEL + t) + (int64_t)at * step;
                igi_simd_load(j->k, x->type, from, step, count, row);
                for (uint64_t i = 0; i < count; i++) to[(at + i) * PANEL + t] = row[i];
            }
    }
}

// sums[row][token] of a block of rows.
static void multiply(const job *j, uint64_t row, uint64_t rows, float *weights, const float *ones, float *sums) {
    uint64_t width = padded(j);
    for (uint64_t column = 0; column < j->columns; column += BLOCK_COLUMNS) {
        uint64_t count = j->columns - column < BLOCK_COLUMNS ? j->columns - column : BLOCK_COLUMNS;
        for (uint64_t r = 0; r < rows; r++) to_floats(j, row + r, column, count, weights + r * count);
        for (uint64_t panel = 0; panel < width / PANEL; panel++)
            j->n->product(&(igi_nn_product){.inner = count,
                                            .a = weights,
                                            .a_row = (int64_t)count,
                                            .a_step = 1,
                                            .b = j->x + (panel * j->columns + column) * PANEL,
                                            .b_row = PANEL,
                                            .out = sums + panel * PANEL,
                                            .out_row = (int64_t)width,
                                            .rescale = column ? ones : NULL},
                          rows, PANEL);
    }
}

static void many_rows(void *user, uint64_t begin, uint64_t end) {
    job *j = user;
    igi_tensor_storage *scratch = NULL;
    uint64_t width = padded(j), rows_of_all = j->call->in[1].shape[0];
    uint64_t floats = BLOCK_ROWS * BLOCK_COLUMNS + PANEL + BLOCK_ROWS * width;
    ig_status status = igi_tensor_storage_make(j->call->runtime->device, floats * sizeof(float), &scratch);
    if (status != IG_STATUS_OK) {
        atomic_store(&j->status, status);
        return;
    }
    float *weights = (float *)scratch->memory, *ones = weights + (size_t)BLOCK_ROWS * BLOCK_COLUMNS,
          *sums = ones + PANEL;
    for (int i = 0; i < PANEL; i++) ones[i] = 1;
    for (uint64_t block = begin; block < end; block++) {
        uint64_t row = block * BLOCK_ROWS, rows = rows_of_all - row < BLOCK_ROWS ? rows_of_all - row : BLOCK_ROWS;
        multiply(j, row, rows, weights, ones, sums);
        for (uint64_t t = 0; t < j->tokens; t++) {
            float line[BLOCK_ROWS];
            for (uint64_t r = 0; r < rows; r++) line[r] = sums[r * width + t];
            put(j, t, row, rows, line);
        }
    }
    igi_tensor_storage_release(scratch);
}

static ig_status do_many(job *j) {
    igi_tensor_storage *scratch = NULL;
    uint64_t blocks = (j->call->in[1].shape[0] + BLOCK_ROWS - 1) / BLOCK_ROWS;
    ig_status status =
        igi_tensor_storage_make(j->call->runtime->device, padded(j) * j->columns * sizeof(float), &scratch);
    if (status != IG_STATUS_OK) return status;
    j->x = (float *)scratch->memory;
    igi_tensor_parallel(j->call->runtime, padded(j) / PANEL, 1, load_panels, j);
    igi_tensor_parallel(j->call->runtime, blocks, 1, many_rows, j);
    igi_tensor_storage_release(scratch);
    return (ig_status)atomic_load(&j->status);
}

// ---- All ----

ig_status igi_simd_weight_matmul(const igi_tensor_call *call) {
    job j = {.call = call, .k = igi_simd(), .n = igi_nn_simd(), .type = call->p.weight.type};
    uint64_t tokens = call->in[0].shape[0];
    ig_status status = IG_STATUS_OK;
    j.columns = call->in[0].shape[1];
    if (igi_tensor_view_count(&call->out[0]) == 0) return IG_STATUS_OK;
    if (j.columns == 0) return igi_scalar_weight_matmul(call);
    for (; j.first < tokens && status == IG_STATUS_OK; j.first += j.tokens) {
        j.tokens = tokens - j.first < BATCH ? tokens - j.first : BATCH;
        status = (j.tokens < MANY ? do_few : do_many)(&j);
    }
    return status;
}

static void dequantize_rows(void *user, uint64_t begin, uint64_t end) {
    const job *j = user;
    const igi_tensor_view *weight = &j->call->in[0], *out = &j->call->out[0];
    uint64_t weights = igi_tensor_weight_formats[j->type].weights, columns = out->shape[1];
    int64_t step = igi_tensor_view_stride_bytes(out, 1);
    float chunk[IGI_SIMD_CHUNK];
    for (uint64_t row = begin; row < end; row++)
        for (uint64_t at = 0; at < columns; at += IGI_SIMD_CHUNK) {
            uint64_t count = columns - at < IGI_SIMD_CHUNK ? columns - at : IGI_SIMD_CHUNK;
            const char *from = igi_tensor_weight_row(weight, row) + igi_tensor_weight_row_bytes(j->type, at);
            j->n->dequantize[j->type](count / weights, (const uint8_t *)from, chunk);
            igi_simd_store(j->k, out->type, chunk, igi_tensor_weight_row(out, row) + (int64_t)at * step, step, count);
        }
}

ig_status igi_simd_dequantize(const igi_tensor_call *call) {
    job j = {.call = call, .k = igi_simd(), .n = igi_nn_simd(), .type = call->p.weight.type};
    const igi_tensor_view *out = &call->out[0];
    if (igi_tensor_view_count(out) == 0) return IG_STATUS_OK;
    igi_tensor_parallel(call->runtime, out->shape[0], IGI_SIMD_GRAIN / out->shape[1] + 1, dequantize_rows, &j);
    return IG_STATUS_OK;
}

static void quantize_rows(void *user, uint64_t begin, uint64_t end) {
    const job *j = user;
    const igi_tensor_view *x = &j->call->in[0], *out = &j->call->out[0];
    uint64_t weights = igi_tensor_weight_formats[j->type].weights, columns = x->shape[1];
    int64_t step = igi_tensor_view_stride_bytes(x, 1);
    float chunk[IGI_SIMD_CHUNK];
    for (uint64_t row = begin; row < end; row++)
        for (uint64_t at = 0; at < columns; at += IGI_SIMD_CHUNK) {
            uint64_t count = columns - at < IGI_SIMD_CHUNK ? columns - at : IGI_SIMD_CHUNK;
            igi_simd_load(j->k, x->type, igi_tensor_weight_row(x, row) + (int64_t)at * step, step, count, chunk);
            uint8_t *to = (uint8_t *)igi_tensor_weight_row(out, row) + igi_tensor_weight_row_bytes(j->type, at);
            j->n->quantize[j->type](count / weights, chunk, to);
        }
}

static void quantize_rows_plainly(void *user, uint64_t begin, uint64_t end) {
    igi_tensor_quantize_rows(((const job *)user)->call, begin, end);
}

ig_status igi_simd_quantize(const igi_tensor_call *call) {
    job j = {.call = call, .k = igi_simd(), .n = igi_nn_simd(), .type = call->p.weight.type};
    const igi_tensor_view *x = &call->in[0];
    if (igi_tensor_view_count(x) == 0) return IG_STATUS_OK;
    igi_loop_body body = j.n->quantize[j.type] ? quantize_rows : quantize_rows_plainly;
    igi_tensor_parallel(call->runtime, x->shape[0], IGI_SIMD_GRAIN / 2 / x->shape[1] + 1, body, &j);
    return IG_STATUS_OK;
}
