// SPDX-License-Identifier: Apache-2.0
// Chains op by op: on the host a block of elements at a time, on the device all at once.
#include <assert.h>
#include <string.h>

#include "tensor/chain.h"

// Elements of a block: a few blocks fit into the second-level cache, and calls cost little compared with their work.
enum { BLOCK = 1 << 13 };

// Intermediate values are in slots, each of which holds one block; NOWHERE: in their own memory.
enum { NOWHERE = 0xff };
typedef struct slots {
    uint8_t of[IGI_CHAIN_VALUES];
    uint32_t count;
} slots;

typedef struct work {
    const igi_tensor_chain *chain;
    slots slots;
    uint64_t columns, parts, rows_each;  // of a row; blocks in a row; rows in a block if rows are short
    bool floods;                         // results are too large for the caches
    pthread_mutex_t lock;                // guards what follows
    ig_status status;
    ig_op failed;
    ig_error *error;
} work;

typedef igi_tensor_chain_piece piece;

// ---- Where values lie ----

static uint32_t last_use(const igi_tensor_chain *chain, uint8_t value) {
    uint32_t last = 0;
    for (uint32_t i = 0; i < chain->op_count; i++)
        for (uint32_t k = 0; k < chain->ops[i].input_count; k++)
            if (chain->ops[i].in[k] == value && chain->values[chain->ops[i].out].needed) last = i;
    return last;
}

// Frees the slots that op `i` is the last to read: those whose elements have this size, or the others.
static void free_slots(const igi_tensor_chain *chain, const slots *s, uint32_t i, bool same_size, bool *taken) {
    const igi_tensor_chain_op *op = &chain->ops[i];
    uint64_t size = ig_type_size(chain->values[op->out].type);
    for (uint32_t k = 0; k < op->input_count; k++) {
        uint8_t slot = s->of[op->in[k]];
        bool same = ig_type_size(chain->values[op->in[k]].type) == size;
        if (slot != NOWHERE && same == same_size && last_use(chain, op->in[k]) == i) taken[slot] = false;
    }
}

// An op may overwrite the last operand that only it still reads, element by element.
static slots share_slots(const igi_tensor_chain *chain) {
    slots s = {.count = 0};
    bool taken[IGI_CHAIN_VALUES] = {false};
    memset(s.of, NOWHERE, sizeof s.of);
    for (uint32_t i = 0; i < chain->op_count; i++) {
        const igi_tensor_chain_value *out = &chain->values[chain->ops[i].out];
        if (!out->needed) continue;
        free_slots(chain, &s, i, true, taken);
        uint8_t slot = 0;
        while (taken[slot]) slot++;
        taken[slot] = !out->visible;
        if (!out->visible) s.of[chain->ops[i].out] = slot;
        if (!out->visible && slot >= s.count) s.count = slot + 1u;
        free_slots(chain, &s, i, false, taken);
    }
    return s;
}

igi_tensor_view igi_tensor_chain_view(const igi_tensor_chain_value *value, uint64_t columns,
                                      const igi_tensor_chain_piece *p) {
    static const struct {
        bool down, along;  // varies from row to row, from column to column
    } steps[] = {[IGI_SPREAD_EACH] = {true, true},
                 [IGI_SPREAD_ONE] = {false, false},
                 [IGI_SPREAD_COLUMNS] = {false, true},
                 [IGI_SPREAD_ROWS] = {true, false}};
    int64_t along = steps[value->spread].along, down = steps[value->spread].down;
    if (value->spread == IGI_SPREAD_EACH) down = (int64_t)columns;
    uint64_t first = p->row * (uint64_t)down + p->column * (uint64_t)along;
    return (igi_tensor_view){.storage = value->storage,
                             .offset = value->offset + first * ig_type_size(value->type),
                             .type = value->type,
                             .rank = 2,
                             .shape = {p->rows, p->columns},
                             .strides = {down, along}};
}

// ---- Blocks ----

static igi_tensor_view view_in(const work *w, uint8_t index, const piece *p, igi_tensor_storage *scratch) {
    const igi_tensor_chain_value *value = &w->chain->values[index];
    if (w->slots.of[index] == NOWHERE) return igi_tensor_chain_view(value, w->columns, p);
    igi_tensor_chain_value between = {.storage = &scratch[w->slots.of[index]], .type = value->type};
    return igi_tensor_chain_view(&between, p->columns, &(piece){.rows = p->rows, .columns = p->columns});
}

static bool is_read(const igi_tensor_chain *chain, uint8_t value) {
    for (uint32_t i = 0; i < chain->op_count; i++)
        for (uint32_t k = 0; k < chain->ops[i].input_count; k++)
            if (chain->ops[i].in[k] == value) return true;
    return false;
}

static igi_tensor_call call_of(const work *w, const igi_tensor_chain_op *op, const piece *p,
                               igi_tensor_storage *scratch) {
    igi_tensor_call call = {.op = op->op, .input_count = op->input_count, .output_count = 1, .p = op->p};
    for (uint32_t i = 0; i < op->input_count; i++) call.in[i] = view_in(w, op->in[i], p, scratch);
    call.out[0] = view_in(w, op->out, p, scratch);
    call.runtime = w->chain->runtime;
    call.past_caches = w->floods && w->slots.of[op->out] == NOWHERE && !is_read(w->chain, op->out);
    return call;
}

static void note_failure(work *w, ig_op op, ig_status status, ig_error *why) {
    pthread_mutex_lock(&w->lock);
    if (w->status == IG_STATUS_OK) {
        w->status = status;
        w->failed = op;
        if (w->error) *w->error = *why, *why = (ig_error){0};
    }
    pthread_mutex_unlock(&w->lock);
    ig_error_clear(why);
}

static void run_piece(work *w, const piece *p, igi_tensor_storage *scratch) {
    for (uint32_t i = 0; i < w->chain->op_count; i++) {
        const igi_tensor_chain_op *op = &w->chain->ops[i];
        if (!w->chain->values[op->out].needed) continue;
        ig_error why = {0};
        igi_tensor_call call = call_of(w, op, p, scratch);
        call.error = &why;
        ig_status status = op->row->run(&call);
        if (status != IG_STATUS_OK) {
            note_failure(w, op->op, status, &why);
            return;
        }
    }
}

static piece piece_at(const work *w, uint64_t block) {
    uint64_t rows = w->chain->count / w->columns, row = block / w->parts * w->rows_each;
    uint64_t column = block % w->parts * BLOCK;
    return (piece){.row = row,
                   .rows = rows - row < w->rows_each ? rows - row : w->rows_each,
                   .column = column,
                   .columns = w->columns - column < BLOCK ? w->columns - column : BLOCK};
}

static void run_some(void *context, uint64_t begin, uint64_t end) {
    work *w = context;
    igi_tensor_storage scratch[IGI_CHAIN_OPS];
    uint64_t each = BLOCK * sizeof(int64_t);
    char *memory = w->slots.count ? igi_aligned_alloc(64, w->slots.count * each) : NULL;
    if (w->slots.count && !memory) {
        note_failure(w, w->chain->ops[0].op, IG_STATUS_OUT_OF_MEMORY, &(ig_error){0});
        return;
    }
    for (uint32_t i = 0; i < w->slots.count; i++) scratch[i].memory = memory + i * each;
    for (uint64_t block = begin; block < end; block++) {
        piece p = piece_at(w, block);
        run_piece(w, &p, scratch);
    }
    free(memory);
}

// A single op is run as if there were no chain.
static bool has_one_op(const igi_tensor_chain *chain) {
    uint32_t needed = 0;
    for (uint32_t i = 0; i < chain->op_count; i++) needed += chain->values[chain->ops[i].out].needed;
    return needed == 1;
}

ig_status igi_tensor_chain_run_blocks(const igi_tensor_chain *chain, ig_op *failed, ig_error *error) {
    enum { FLOOD = 8 << 20 };
    work w = {.chain = chain, .columns = igi_tensor_chain_columns(chain), .parts = 1, .rows_each = 1, .error = error};
    uint64_t rows = chain->count / w.columns;
    pthread_mutex_init(&w.lock, NULL);
    w.slots = share_slots(chain);
    if (has_one_op(chain)) {
        run_piece(&w, &(piece){.rows = rows, .columns = w.columns}, NULL);
    } else {
        w.floods = chain->count >= FLOOD / sizeof(float);
        if (w.columns >= BLOCK)
            w.parts = (w.columns + BLOCK - 1) / BLOCK;
        else
            w.rows_each = BLOCK / w.columns;
        igi_tensor_parallel(chain->runtime, (rows + w.rows_each - 1) / w.rows_each * w.parts, 1, run_some, &w);
    }
    pthread_mutex_destroy(&w.lock);
    *failed = w.failed;
    return w.status;
}

// ---- On the device ----

ig_status igi_tensor_chain_encode_ops(const igi_tensor_chain *chain, ig_commands *commands,
                                      ig_status (*begin)(void *user, const char *op), void *user, ig_error *error) {
    assert(chain->encodes);
    work w = {.chain = chain, .columns = igi_tensor_chain_columns(chain)};
    memset(w.slots.of, NOWHERE, sizeof w.slots.of);
    piece whole = {.rows = chain->count / w.columns, .columns = w.columns};
    ig_status status = IG_STATUS_OK;
    for (uint32_t i = 0; i < chain->op_count && status == IG_STATUS_OK; i++) {
        const igi_tensor_chain_op *op = &chain->ops[i];
        if (!chain->values[op->out].needed) continue;
        igi_tensor_call call = call_of(&w, op, &whole, NULL);
        call.commands = commands;
        call.error = error;
        status = begin(user, ig_op_name(op->op));
        if (status == IG_STATUS_OK) status = op->row->run(&call);
    }
    return status;
}
