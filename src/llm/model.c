// SPDX-License-Identifier: Apache-2.0
// Models: weights that stay in the file's memory.
#include "llm/model.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

// ---- Loading ----

typedef struct loader {
    ig_model *model;
    char name[96];     // of the tensor at hand
    ig_status status;  // of the first failure
    ig_error *error;
} loader;

// Names are made from our own literals and a number.
__attribute__((format(printf, 2, 3))) static void set_name(loader *l, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(l->name, sizeof l->name, format, arguments);
    va_end(arguments);
    assert(length > 0 && (size_t)length < sizeof l->name);
    (void)length;
}

static bool find(loader *l, ig_gguf_tensor *tensor, bool optional) {
    if (l->status != IG_STATUS_OK) return false;
    if (ig_gguf_find_tensor(l->model->file, l->name, tensor) == IG_STATUS_OK) return true;
    if (!optional) l->status = igi_error_set(l->error, IG_STATUS_BAD_FORMAT, "tensor '%s' is missing", l->name);
    return false;
}

static void check_shape(loader *l, const ig_gguf_tensor *t, uint64_t rows, uint64_t columns) {
    bool vector = rows == 1;
    uint64_t has_rows = t->rank == 2 ? t->shape[0] : 1, has_columns = t->rank ? t->shape[t->rank - 1] : 0;
    if (t->rank == (vector ? 1 : 2) && has_rows == rows && has_columns == columns) return;
    l->status = igi_error_set(l->error, IG_STATUS_BAD_FORMAT, "tensor '%s' is not %llu x %llu but %llu x %llu", l->name,
                              (unsigned long long)rows, (unsigned long long)columns, (unsigned long long)has_rows,
                              (unsigned long long)has_columns);
}

static void fail_to_make(loader *l, ig_status status) {
    if (status != IG_STATUS_OK)
        l->status = igi_error_set(l->error, status, "tensor '%s': %s", l->name, ig_status_text(status));
}

static ig_weight *load_matrix(loader *l, uint64_t rows, uint64_t columns) {
    ig_gguf_tensor t;
    ig_weight *weight = NULL;
    ig_weight_desc desc = {.rows = rows, .columns = columns};
    if (!find(l, &t, false)) return NULL;
    check_shape(l, &t, rows, columns);
    if (l->status == IG_STATUS_OK && ig_gguf_weight_type(t.type, &desc.type) != IG_STATUS_OK)
        l->status = igi_error_set(l->error, IG_STATUS_UNSUPPORTED, "tensor '%s': weights of type %s are not supported",
                                  l->name, ig_gguf_type_name(t.type));
    desc.no_copy = (void *)t.data;
    if (l->status == IG_STATUS_OK) fail_to_make(l, ig_weight_create(l->model->device, &desc, &weight));
    return weight;
}

// As f32: there are few of them.
static ig_tensor *load_vector(loader *l, uint64_t length, bool optional) {
    ig_gguf_tensor t;
    ig_tensor *vector = NULL;
    ig_weight_type type = IG_WEIGHT_F32;
    if (!find(l, &t, optional)) return NULL;
    check_shape(l, &t, 1, length);
    if (l->status == IG_STATUS_OK && (ig_gguf_weight_type(t.type, &type) != IG_STATUS_OK || type != IG_WEIGHT_F32))
        l->status = igi_error_set(l->error, IG_STATUS_UNSUPPORTED, "tensor '%s' is %s, not F32", l->name,
                                  ig_gguf_type_name(t.type));
    const ig_tensor_desc desc = {.type = IG_TYPE_F32, .rank = 1, .shape = {length}, .no_copy = (void *)t.data};
    if (l->status == IG_STATUS_OK) fail_to_make(l, ig_tensor_create(l->model->device, &desc, &vector));
    return vector;
}

// ---- Layers ----

static uint64_t length_of(const igi_llm_model_config *c, igi_llm_length length) {
    const uint64_t lengths[IGI_LENGTH_COUNT] = {
        [IGI_LENGTH_ONE] = 1,
        [IGI_LENGTH_HIDDEN] = c->shape.hidden,
        [IGI_LENGTH_INNER] = c->shape.intermediate,
        [IGI_LENGTH_HEAD] = c->head_dim,
        [IGI_LENGTH_QUERIES] = c->shape.heads * c->head_dim,
        [IGI_LENGTH_KEYS] = c->shape.key_heads * c->head_dim,
    };
    return lengths[length];
}

static void name_part(loader *l, uint64_t layer, const igi_llm_part_desc *part, const char *what) {
    set_name(l, "blk.%llu.%s.%s", (unsigned long long)layer, part->name, what);
}

static igi_llm_part load_part(loader *l, uint64_t layer, const igi_llm_part_desc *desc) {
    const igi_llm_model_config *c = &l->model->config;
    uint64_t rows = length_of(c, desc->rows), columns = length_of(c, desc->columns);
    igi_llm_part part = {0};
    name_part(l, layer, desc, "weight");
    if (desc->rows == IGI_LENGTH_ONE) {
        part.vector = load_vector(l, columns, desc->presence == IGI_OPTIONAL);
        return part;
    }
    part.weight = load_matrix(l, rows, columns);
    if (desc->bias == IGI_UNUSED) return part;
    name_part(l, layer, desc, "bias");
    part.vector = load_vector(l, rows, desc->bias == IGI_OPTIONAL);
    return part;
}

static void load_layer(loader *l, uint64_t layer) {
    const igi_llm_architecture *architecture = l->model->config.architecture;
    for (size_t i = 0; i < architecture->part_count; i++) {
        const igi_llm_part_desc *desc = &architecture->parts[i];
        l->model->layers[layer].parts[desc->part] = load_part(l, layer, desc);
    }
}

static void load_ends(loader *l) {
    ig_model *m = l->model;
    uint64_t hidden = m->config.shape.hidden, vocabulary = m->config.shape.vocabulary;
    ig_gguf_tensor words;
    set_name(l, "token_embd.weight");
    m->embedding = load_matrix(l, vocabulary, hidden);
    set_name(l, "output_norm.weight");
    m->last_norm = load_vector(l, hidden, false);
    set_name(l, "output.weight");
    bool own_words = find(l, &words, true);
    m->words.weight = own_words ? load_matrix(l, vocabulary, hidden) : ig_weight_retain(m->embedding);
}

static ig_status load(ig_model *model, ig_error *error) {
    loader l = {.model = model, .error = error};
    l.status = igi_llm_model_configure(model->file, &model->config, error);
    if (l.status != IG_STATUS_OK) return l.status;
    model->layers = igi_calloc(model->config.shape.layers, sizeof *model->layers);
    if (!model->layers) return igi_error_no_memory(error);
    load_ends(&l);
    for (uint64_t i = 0; i < model->config.shape.layers && l.status == IG_STATUS_OK; i++) load_layer(&l, i);
    return l.status;
}

// ---- Life ----

static void release_part(const igi_llm_part *part) {
    ig_weight_release(part->weight);
    ig_tensor_release(part->vector);
}

static void release_layer(const igi_llm_layer *layer) {
    for (int i = 0; i < IGI_PART_COUNT; i++) release_part(&layer->parts[i]);
}

static void destroy(ig_model *model) {
    for (uint64_t i = 0; model->layers && i < model->config.shape.layers; i++) release_layer(&model->layers[i]);
    free(model->layers);
    ig_weight_release(model->embedding);
    release_part(&model->words);
    ig_tensor_release(model->last_norm);
    ig_gguf_release(model->file);
    ig_device_release(model->device);
    free(model);
}

ig_status ig_model_load(ig_device *device, ig_gguf *file, ig_model **model, ig_error *error) {
    if (!device || !file || !model)
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "device, file and model must not be NULL");
    ig_model *made = igi_calloc(1, sizeof *made);
    if (!made) return igi_error_no_memory(error);
    igi_ref_init(&made->references);
    made->device = ig_device_retain(device);
    made->file = ig_gguf_retain(file);
    ig_status status = load(made, error);
    if (status == IG_STATUS_OK)
        *model = made;
    else
        destroy(made);
    return status;
}

ig_model *ig_model_retain(ig_model *model) {
    if (model) igi_ref_take(&model->references);
    return model;
}

void ig_model_release(ig_model *model) {
    if (model && igi_ref_drop(&model->references)) destroy(model);
}

ig_model_shape ig_model_get_shape(const ig_model *model) {
    return model->config.shape;
}

uint64_t ig_model_context(const ig_model *model) {
    return model->config.context;
}
