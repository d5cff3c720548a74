// SPDX-License-Identifier: Apache-2.0
// Matrix products: panels of both operands are packed as floats, and tiles of the result are computed in registers
// (Goto and van de Geijn, 2008). Vectors are handled separately.
#include <string.h>

#include "tensor/iterate.h"
#include "tensor/simd/simd.h"

enum { MOST_INNER = 512, ROW_BLOCK = 1920, COLUMN_BLOCK = 2048 };

// One matrix with its strides, in elements.
typedef struct matrix {
    char *data;
    ig_type type;
    int64_t row, column;
} matrix;

typedef struct product {
    const igi_simd_kernels *k;
    const igi_tensor_runtime *runtime;  // NULL: this thread alone
    ig_device *device;
    ig_status status;  // of the last product
    uint64_t rows, inner, columns;
    matrix a, b, c, out;  // c.data NULL: none
    float alpha, beta;
    igi_tensor_storage *scratch;
    float *a_panels, *b_panels;
    // The current block.
    uint64_t row, rows_now, step, steps_now, column, columns_now;
    uint64_t row_panels, column_panels;
    uint64_t packers;  // tasks of packing
} product;

static char *at(const matrix *m, uint64_t row, uint64_t column) {
    return m->data + ((int64_t)row * m->row + (int64_t)column * m->column) * (int64_t)ig_type_size(m->type);
}

static int64_t bytes(const matrix *m, int64_t stride) {
    return stride * (int64_t)ig_type_size(m->type);
}

// What a fast core multiplies and adds, or copies, in a nanosecond.
enum { MULTIPLIED_PER_NS = 64, COPIED_PER_NS = 8 };

static void each(const product *p, uint64_t count, uint64_t nanoseconds, igi_loop_body body) {
    if (p->runtime)
        igi_tensor_parallel_lasting(p->runtime, count, 1, nanoseconds, body, (void *)p);
    else if (count)
        body((void *)p, 0, count);
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

// ---- Packing ----

// Lines of `width` elements across, one after the other along, with zeros where the matrix ends.
static void pack_slowly(const product *p, const matrix *m, const char *from, int64_t along, int64_t across,
                        uint64_t here, uint64_t width, uint64_t length, float *panel) {
    float line[MOST_INNER];
    int64_t size = (int64_t)ig_type_size(m->type);
    if (across == 1) {
        for (uint64_t i = 0; i < length; i++, panel += width) {
            igi_simd_load(p->k, m->type, from + (int64_t)i * along * size, size, here, panel);
            for (uint64_t j = here; j < width; j++) panel[j] = 0;
        }
        return;
    }
    for (uint64_t j = 0; j < width; j++) {
        if (j < here) igi_simd_load(p->k, m->type, from + (int64_t)j * across * size, along * size, length, line);
        for (uint64_t i = 0; i < length; i++) panel[i * width + j] = j < here ? line[i] : 0;
    }
}

static void pack_panel(const product *p, const matrix *m, const char *from, bool across_rows, uint64_t here,
                       uint64_t width, float *panel) {
    int64_t along = across_rows ? m->column : m->row, across = across_rows ? m->row : m->column;
    bool whole = m->type == IG_TYPE_F32 && here == width;
    if (whole && across == 1)
        p->k->pack_lines(p->steps_now, width, (const float *)from, along, panel);
    else if (whole && along == 1)
        p->k->pack_turned(p->steps_now, width, (const float *)from, across, panel);
    else
        pack_slowly(p, m, from, along, across, here, width, p->steps_now, panel);
}

static void pack_a_panels(const product *p, uint64_t begin, uint64_t end) {
    uint64_t width = p->k->tile_rows;
    for (uint64_t i = begin; i < end; i++)
        pack_panel(p, &p->a, at(&p->a, p->row + i * width, p->step), true, least(p->rows_now - i * width, width), width,
                   p->a_panels + i * width * p->steps_now);
}

static void pack_b_panels(const product *p, uint64_t begin, uint64_t end) {
    uint64_t width = p->k->tile_columns;
    for (uint64_t i = begin; i < end; i++)
        pack_panel(p, &p->b, at(&p->b, p->step, p->column + i * width), false, least(p->columns_now - i * width, width),
                   width, p->b_panels + i * width * p->steps_now);
}

// Each task packs its share of both operands; later row blocks find b packed.
static void pack(void *user, uint64_t begin, uint64_t end) {
    const product *p = user;
    pack_a_panels(p, begin * p->row_panels / p->packers, end * p->row_panels / p->packers);
    if (p->row == 0) pack_b_panels(p, begin * p->column_panels / p->packers, end * p->column_panels / p->packers);
}

// ---- Tiles ----

// Writes one row of a tile into the result: on the first step with the addend, later adding to what is there.
static void put_row(const product *p, uint64_t row, uint64_t column, uint64_t count, float *sums) {
    float others[64];
    char *target = at(&p->out, row, column);
    int64_t stride = bytes(&p->out, p->out.column);
    for (uint64_t i = 0; i < count && p->alpha != 1; i++) sums[i] *= p->alpha;
    if (p->step > 0 || p->c.data) {
        const matrix *before = p->step > 0 ? &p->out : &p->c;
        float scale = p->step > 0 ? 1 : p->beta;
        igi_simd_load(p->k, before->type, at(before, row, column), bytes(before, before->column), count, others);
        for (uint64_t i = 0; i < count; i++) sums[i] += scale * others[i];
    }
    igi_simd_store(p->k, p->out.type, sums, target, stride, count);
}

static void make_tile(const product *p, uint64_t i, uint64_t j) {
    float sums[16 * 64] __attribute__((aligned(64)));
    uint64_t height = p->k->tile_rows, width = p->k->tile_columns;
    uint64_t rows = least(p->rows_now - i * height, height), columns = least(p->columns_now - j * width, width);
    const float *a = p->a_panels + i * height * p->steps_now, *b = p->b_panels + j * width * p->steps_now;
    bool adds = p->step > 0, plain = p->alpha == 1 && (adds || !p->c.data);
    if (plain && columns == width && igi_simd_is_packed(p->out.type, bytes(&p->out, p->out.column))) {
        float *out = (float *)at(&p->out, p->row + i * height, p->column + j * width);
        p->k->tile(p->steps_now, a, b, out, p->out.row, rows, adds);
        return;
    }
    p->k->tile(p->steps_now, a, b, sums, (int64_t)width, rows, false);
    for (uint64_t r = 0; r < rows; r++)
        put_row(p, p->row + i * height + r, p->column + j * width, columns, sums + r * width);
}

// Tiles of one panel of b with a few panels of a: both stay in the caches.
enum { PANELS_TOGETHER = 8 };

static void make_tiles(void *user, uint64_t begin, uint64_t end) {
    const product *p = user;
    for (uint64_t task = begin; task < end; task++) {
        uint64_t first = task / p->column_panels * PANELS_TOGETHER, j = task % p->column_panels;
        for (uint64_t i = first; i < first + PANELS_TOGETHER && i < p->row_panels; i++) make_tile(p, i, j);
    }
}

static uint64_t parts_of(uint64_t whole, uint64_t part) {
    return (whole + part - 1) / part;
}

static void do_block(product *p) {
    p->row_panels = parts_of(p->rows_now, p->k->tile_rows);
    p->column_panels = parts_of(p->columns_now, p->k->tile_columns);
    p->packers = parts_of(p->row_panels > p->column_panels ? p->row_panels : p->column_panels, 2);
    uint64_t packed = (p->rows_now + (p->row ? 0 : p->columns_now)) * p->steps_now;
    each(p, p->packers, packed / COPIED_PER_NS, pack);
    each(p, parts_of(p->row_panels, PANELS_TOGETHER) * p->column_panels,
         p->rows_now * p->columns_now * p->steps_now / MULTIPLIED_PER_NS, make_tiles);
}

// Blocks of the inner length are almost equal.
static uint64_t inner_block(const product *p) {
    return parts_of(p->inner, parts_of(p->inner, p->k->tile_inner));
}

static void multiply_blocks(product *p) {
    for (p->column = 0; p->column < p->columns; p->column += COLUMN_BLOCK) {
        p->columns_now = least(p->columns - p->column, COLUMN_BLOCK);
        for (p->step = 0; p->step < p->inner; p->step += p->steps_now) {
            p->steps_now = least(p->inner - p->step, inner_block(p));
            for (p->row = 0; p->row < p->rows; p->row += ROW_BLOCK) {
                p->rows_now = least(p->rows - p->row, ROW_BLOCK);
                do_block(p);
            }
        }
    }
}

static uint64_t round_to(uint64_t value, uint64_t unit) {
    return (value + unit - 1) / unit * unit;
}

static ig_status make_panels(product *p) {
    uint64_t steps = inner_block(p);
    uint64_t a = round_to(least(p->rows, ROW_BLOCK), p->k->tile_rows) * steps;
    uint64_t b = round_to(least(p->columns, COLUMN_BLOCK), p->k->tile_columns) * steps;
    ig_status status = igi_tensor_storage_make(p->device, (round_to(a, 16) + b) * sizeof(float), &p->scratch);
    if (status != IG_STATUS_OK) return status;
    p->a_panels = (float *)p->scratch->memory;
    p->b_panels = p->a_panels + round_to(a, 16);
    return IG_STATUS_OK;
}

// ---- Vectors ----

static float addend(const product *p, uint64_t row, uint64_t column) {
    float value = 0;
    if (p->c.data) igi_simd_load(p->k, p->c.type, at(&p->c, row, column), 0, 1, &value);
    return value * p->beta;
}

static double dot(const product *p, uint64_t row, uint64_t column) {
    float as[IGI_SIMD_CHUNK], bs[IGI_SIMD_CHUNK];
    double sum = 0;
    int64_t a_stride = bytes(&p->a, p->a.column), b_stride = bytes(&p->b, p->b.row);
    bool a_packed = igi_simd_is_packed(p->a.type, a_stride), b_packed = igi_simd_is_packed(p->b.type, b_stride);
    uint64_t most = a_packed && b_packed ? p->inner : IGI_SIMD_CHUNK;
    for (uint64_t i = 0, now; i < p->inner; i += now) {
        now = least(p->inner - i, most);
        const char *a = at(&p->a, row, i), *b = at(&p->b, i, column);
        if (!a_packed) igi_simd_load(p->k, p->a.type, a, a_stride, now, as);
        if (!b_packed) igi_simd_load(p->k, p->b.type, b, b_stride, now, bs);
        sum += p->k->dot(now, a_packed ? (const float *)a : as, b_packed ? (const float *)b : bs);
    }
    return sum;
}

static void put(const product *p, uint64_t i, double sum) {
    uint64_t row = p->columns == 1 ? i : 0, column = p->columns == 1 ? 0 : i;
    float value = p->alpha * (float)sum + addend(p, row, column);
    igi_simd_store(p->k, p->out.type, &value, at(&p->out, row, column), 0, 1);
}

// Whether rows of the matrix and the vector can be read in place.
static bool all_packed(const product *p) {
    return igi_simd_is_packed(p->a.type, bytes(&p->a, p->a.column)) &&
           igi_simd_is_packed(p->b.type, bytes(&p->b, p->b.row));
}

static void four_dots(const product *p, uint64_t i) {
    bool tall = p->columns == 1;
    const float *rows[4], *vector = (const float *)(tall ? p->b.data : p->a.data);
    double sums[4];
    for (uint64_t r = 0; r < 4; r++) rows[r] = (const float *)(tall ? at(&p->a, i + r, 0) : at(&p->b, 0, i + r));
    p->k->dot_rows(p->inner, rows, vector, sums);
    for (uint64_t r = 0; r < 4; r++) put(p, i + r, sums[r]);
}

// Each element of the result is a dot product; `begin` and `end` count them along the longer side.
static void dot_part(void *user, uint64_t begin, uint64_t end) {
    const product *p = user;
    uint64_t i = begin;
    for (; all_packed(p) && i + 4 <= end; i += 4) four_dots(p, i);
    for (; i < end; i++) put(p, i, p->columns == 1 ? dot(p, i, 0) : dot(p, 0, i));
}

// One long dot product: pieces in parallel, added in order.
enum { PIECE = 1 << 15, MOST_PIECES = 512 };

typedef struct long_dot {
    const product *p;
    uint64_t length;  // of a piece
    double sums[MOST_PIECES];
} long_dot;

static void dot_pieces(void *user, uint64_t begin, uint64_t end) {
    long_dot *d = user;
    for (uint64_t i = begin; i < end; i++) {
        product part = *d->p;
        part.a.data = at(&part.a, 0, i * d->length), part.b.data = at(&part.b, i * d->length, 0);
        part.inner = least(d->p->inner - i * d->length, d->length);
        d->sums[i] = dot(&part, 0, 0);
    }
}

static void multiply_long_vectors(const product *p) {
    long_dot d = {.p = p, .length = p->inner / MOST_PIECES + 1};
    if (d.length < PIECE) d.length = PIECE;
    uint64_t pieces = (p->inner + d.length - 1) / d.length;
    double sum = 0;
    igi_tensor_parallel(p->runtime, pieces, 1, dot_pieces, &d);
    for (uint64_t i = 0; i < pieces; i++) sum += d.sums[i];
    put(p, 0, sum);
}

// A row times a matrix whose rows are packed (or a column times one whose columns are): rows are scaled and added.
enum { WIDE_PART = IGI_SIMD_CHUNK };

static void add_rows_part(void *user, uint64_t begin, uint64_t end) {
    const product *p = user;
    float sums[WIDE_PART], buffer[WIDE_PART];
    bool tall = p->columns == 1;  // the matrix is a, seen from its columns
    const matrix *m = tall ? &p->a : &p->b, *v = tall ? &p->b : &p->a;
    uint64_t total = tall ? p->rows : p->columns;
    for (uint64_t part = begin; part < end; part++) {
        uint64_t first = part * WIDE_PART, count = least(total - first, WIDE_PART);
        memset(sums, 0, count * sizeof *sums);
        for (uint64_t i = 0; i < p->inner; i++) {
            float scale;
            const char *row = tall ? at(m, first, i) : at(m, i, first);
            igi_simd_load(p->k, v->type, tall ? at(v, i, 0) : at(v, 0, i), 0, 1, &scale);
            if (m->type != IG_TYPE_F32) igi_simd_load(p->k, m->type, row, ig_type_size(m->type), count, buffer);
            p->k->add_scaled_row(count, scale, m->type == IG_TYPE_F32 ? (const float *)row : buffer, sums);
        }
        for (uint64_t i = 0; i < count; i++) {
            uint64_t r = tall ? first + i : 0, c = tall ? 0 : first + i;
            float value = p->alpha * sums[i] + addend(p, r, c);
            igi_simd_store(p->k, p->out.type, &value, at(&p->out, r, c), 0, 1);
        }
    }
}

static void multiply_vector(const product *p) {
    bool tall = p->columns == 1;
    uint64_t count = tall ? p->rows : p->columns;
    int64_t matrix_stride = tall ? p->a.row : p->b.column, inner_stride = tall ? p->a.column : p->b.row;
    bool add_rows = matrix_stride == 1 && inner_stride != 1 && count >= 32;
    if (add_rows)
        each(p, parts_of(count, WIDE_PART), p->inner * count / COPIED_PER_NS, add_rows_part);
    else if (count == 1 && p->runtime && p->inner / 2 > PIECE)
        multiply_long_vectors(p);
    else if (p->runtime)
        igi_tensor_parallel(p->runtime, count, p->inner < IGI_SIMD_GRAIN ? IGI_SIMD_GRAIN / (p->inner + 1) + 1 : 1,
                            dot_part, (void *)p);
    else
        dot_part((void *)p, 0, count);
}

// ---- Small products: straight from the matrices ----

// b stays in the second-level cache, so packing it gains nothing.
enum { SMALL_BYTES = 256 << 10 };

static bool is_small(const product *p) {
    uint64_t b_bytes;
    bool fits = igi_mul(p->inner * sizeof(float), p->columns, &b_bytes) && b_bytes <= SMALL_BYTES;
    return fits && p->a.type == IG_TYPE_F32 && igi_simd_is_packed(p->b.type, bytes(&p->b, p->b.column)) &&
           igi_simd_is_packed(p->out.type, bytes(&p->out, p->out.column)) && p->alpha == 1 && !p->c.data;
}

// Rows of a task: those of the tiles that cover most columns.
static uint64_t rows_together(const product *p) {
    return p->columns % p->k->wide_columns == 0 ? p->k->wide_rows : p->k->tile_rows;
}

static void small_part(void *user, uint64_t begin, uint64_t end) {
    const product *p = user;
    uint64_t first = begin * rows_together(p), last = least(end * rows_together(p), p->rows);
    igi_simd_direct d = {.inner = p->inner,
                         .a = (const float *)at(&p->a, first, 0),
                         .b = (const float *)p->b.data,
                         .out = (float *)at(&p->out, first, 0),
                         .a_row = p->a.row,
                         .a_step = p->a.column,
                         .b_row = p->b.row,
                         .out_row = p->out.row};
    p->k->direct(&d, last - first, p->columns);
}

// ---- Batches ----

// Less work is done before another thread has started, even one that is awake: a product of 64 x 64 takes 2 to 5
// microseconds alone, and twice as long with a second core that is far away. For several products, one thread per
// product is better up to a larger size.
enum { SHARED_WORK = 1 << 19, SHARED_IN_BATCH = 1 << 22 };

static ig_status multiply(product *p) {
    if (p->rows == 1 || p->columns == 1) {
        multiply_vector(p);
    } else if (is_small(p)) {
        each(p, parts_of(p->rows, rows_together(p)), p->rows * p->columns * p->inner / MULTIPLIED_PER_NS, small_part);
    } else {
        ig_status status = p->scratch ? IG_STATUS_OK : make_panels(p);
        if (status != IG_STATUS_OK) return status;
        multiply_blocks(p);
    }
    return IG_STATUS_OK;
}

typedef struct batch {
    const igi_tensor_call *call;
    product model;         // strides and lengths of every product
    igi_tensor_walk walk;  // first elements: out, a, b, c
    bool alone;            // products are small: each on one thread
    atomic_int status;
} batch;

static void product_row(void *user, uint64_t count, char *const *data, const int64_t *strides) {
    product *p = user;
    for (uint64_t i = 0; i < count; i++) {
        int64_t n = (int64_t)i;
        p->out.data = data[0] + n * strides[0];
        p->a.data = data[1] + n * strides[1];
        p->b.data = data[2] + n * strides[2];
        if (p->c.data) p->c.data = data[3] + n * strides[3];
        if (p->status == IG_STATUS_OK) p->status = multiply(p);
    }
}

static void batch_part(void *user, uint64_t begin, uint64_t end) {
    batch *b = user;
    product p = b->model;
    if (b->alone) p.runtime = NULL;
    igi_tensor_walk_range(&b->walk, begin, end, product_row, &p);
    if (p.status != IG_STATUS_OK) atomic_store(&b->status, p.status);
    igi_tensor_storage_release(p.scratch);
}

// The first matrix of a view: its last two dimensions.
static matrix matrix_of(const igi_tensor_view *view) {
    uint32_t last = view->rank - 1;
    return (matrix){igi_tensor_view_data(view), view->type, view->strides[last - 1], view->strides[last]};
}

static void prepare(const igi_tensor_call *call, const igi_tensor_view *out, product *p) {
    const igi_tensor_view *a = &call->in[0], *b = &call->in[1], *c = &call->in[2];
    uint32_t last = out->rank - 1;
    p->k = igi_simd();
    p->runtime = call->runtime;
    p->device = call->runtime->device;
    p->status = IG_STATUS_OK;
    p->rows = out->shape[last - 1], p->inner = a->shape[last], p->columns = out->shape[last];
    p->alpha = (float)call->p.matmul.alpha, p->beta = (float)call->p.matmul.beta;
    p->out = matrix_of(out), p->a = matrix_of(a), p->b = matrix_of(b);
    p->c = c->storage ? matrix_of(c) : (matrix){0};
    p->scratch = NULL;
}

static uint64_t work_of(const product *p) {
    return p->rows * p->columns * (p->inner + 1);
}

// One product; it may be so small that iterating over batches would be noticeable.
static ig_status run_single(const igi_tensor_call *call, const igi_tensor_view *out) {
    product p;
    prepare(call, out, &p);
    if (work_of(&p) < SHARED_WORK) p.runtime = NULL;
    ig_status status = multiply(&p);
    igi_tensor_storage_release(p.scratch);
    return status;
}

static ig_status run_batch(const igi_tensor_call *call, const igi_tensor_view *out) {
    batch work = {.call = call};
    prepare(call, out, &work.model);
    igi_tensor_view starts[4] = {igi_tensor_view_first_of_each(out), igi_tensor_view_first_of_each(&call->in[0]),
                                 igi_tensor_view_first_of_each(&call->in[1])};
    bool adds = call->in[2].storage != NULL;
    if (adds) starts[3] = igi_tensor_view_first_of_each(&call->in[2]);
    work.walk =
        igi_tensor_walk_of(adds ? 4 : 3, (const igi_tensor_view *[]){&starts[0], &starts[1], &starts[2], &starts[3]});
    uint64_t each_work = work_of(&work.model);
    work.alone = each_work < (work.walk.count > 1 ? SHARED_IN_BATCH : SHARED_WORK);
    if (work.alone)
        igi_tensor_parallel(call->runtime, work.walk.count, each_work < 1 << 18 ? (1 << 18) / (each_work + 1) + 1 : 1,
                            batch_part, &work);
    else
        batch_part(&work, 0, work.walk.count);
    return (ig_status)atomic_load(&work.status);
}

static ig_status run(const igi_tensor_call *call, const igi_tensor_view *out) {
    return out->rank == 2 ? run_single(call, out) : run_batch(call, out);
}

// Sums over several blocks are kept in floats, in separate memory if the result has another type.
static ig_status run_aside(const igi_tensor_call *call) {
    const igi_tensor_view *out = &call->out[0];
    igi_tensor_view floats = igi_tensor_view_contiguous(IG_TYPE_F32, out->rank, out->shape);
    ig_status status =
        igi_tensor_storage_make(call->runtime->device, igi_tensor_view_count(out) * sizeof(float), &floats.storage);
    if (status != IG_STATUS_OK) return status;
    status = run(call, &floats);
    igi_tensor_call cast = {.op = IG_OP_CAST, .input_count = 1, .output_count = 1, .runtime = call->runtime};
    cast.in[0] = floats, cast.out[0] = *out;
    if (status == IG_STATUS_OK) status = igi_simd_cast(&cast);
    igi_tensor_storage_release(floats.storage);
    return status;
}

bool igi_simd_accepts_matmul(const igi_tensor_call *call) {
    return call->in[0].shape[call->in[0].rank - 1] > 0;
}

ig_status igi_simd_matmul(const igi_tensor_call *call) {
    const igi_tensor_view *out = &call->out[0];
    if (!igi_tensor_view_count(out)) return IG_STATUS_OK;
    bool several_blocks = call->in[0].shape[call->in[0].rank - 1] > igi_simd()->tile_inner && out->type != IG_TYPE_F32;
    return several_blocks ? run_aside(call) : run(call, out);
}
