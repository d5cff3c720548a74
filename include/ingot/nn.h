// SPDX-License-Identifier: Apache-2.0
// Ops of transformers. They take streams, operands and options as those of ops.h do, and go through the same dispatch.
//
// Queries are [.., queries, heads, dim], keys and values [.., keys, key heads, dim]: any strides, so that a transposed
// view serves where heads come first, and a KV cache is read in place. `..` are batches, the same for all operands.
// There may be several query heads for each key head (grouped queries): heads is a multiple of key heads, and query
// head h goes with key head h / (heads / key heads).
#ifndef INGOT_NN_H
#define INGOT_NN_H

#include <ingot/ops.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

// ---- What a query sees ----

// Query i is at position query_position + i, key j at position j. A query that sees no key gives zeros.
typedef struct ig_attention_desc {
    double scale;             // q.k is multiplied by it; 0: 1 / sqrt(dim) for attention, 1 for softmax
    bool causal;              // later keys are masked
    uint64_t window;          // how many keys a query sees, up to and including its own position; 0: all
    uint64_t query_position;  // of the first query
} ig_attention_desc;

// Softmax of scale * x + mask over the last dimension of x [.., queries, keys]. mask broadcasts to x: a bool
// mask keeps keys where it is true, any other is added; NULL: no mask.
ig_status ig_tensor_masked_softmax(ig_stream *stream, const ig_tensor *x, const ig_tensor *mask,
                                   const ig_attention_desc *desc, const ig_op_options *options, ig_tensor **out);

// softmax(scale * q.k) v of every query over the keys it sees: [.., queries, heads, dim of v]. Scores are computed
// a few at a time and never stored. k and v may have another float type than q; the result has that of q. Values of
// masked keys must still be finite.
ig_status ig_tensor_attention(ig_stream *stream, const ig_tensor *q, const ig_tensor *k, const ig_tensor *v,
                              const ig_attention_desc *desc, const ig_op_options *options, ig_tensor **out);

// ---- Attention in steps ----

// scale * q.k of every query with every key: [.., heads, queries, keys]. scale 0: 1 / sqrt(dim).
ig_status ig_tensor_attention_scores(ig_stream *stream, const ig_tensor *q, const ig_tensor *k, double scale,
                                     const ig_op_options *options, ig_tensor **out);
// Sums of v with weights [.., heads, queries, keys]: [.., queries, heads, dim].
ig_status ig_tensor_weighted_sum(ig_stream *stream, const ig_tensor *weights, const ig_tensor *v,
                                 const ig_op_options *options, ig_tensor **out);

// ---- Positions and tokens ----

// Rotates pairs of elements by the angle position * base^(-2 i / dims). A pair is elements i and i + dims / 2, or 2 i and
// 2 i + 1 when interleaved. Elements from dims on are unchanged.
typedef struct ig_rope_desc {
    double base;    // 0: 10000
    double scale;   // positions are multiplied by it; 0: 1
    uint32_t dims;  // even; 0: all
    bool interleaved;
    const float *factors;        // each pair's angle is divided by its own, dims / 2 of them; NULL: 1
    uint64_t position;           // of the first of the sequence
    const ig_tensor *positions;  // instead of position, position + 1, ...: integers [sequence] or [.., sequence];
                                 // `position` is added to them
} ig_rope_desc;

// x [.., sequence, heads, dim]
ig_status ig_tensor_rope(ig_stream *stream, const ig_tensor *x, const ig_rope_desc *desc, const ig_op_options *options,
                         ig_tensor **out);

// Rows of table [vocabulary, dim] for tokens of any shape (i32 or i64): [.., dim].
ig_status ig_tensor_embedding(ig_stream *stream, const ig_tensor *table, const ig_tensor *tokens,
                              const ig_op_options *options, ig_tensor **out);

// ---- Weights ----

// Plain elements, or blocks in GGUF's layout (docs/transformers.md). A block has 32 weights with one scale and, in formats
// whose names end in 1, an offset. In formats that end in K it has 256 weights; each part of 16 or 32 of them has a small
// scale and, in some formats, a minimum.
#define IG_WEIGHT_TYPE_LIST(X) \
    X(F32, f32, 1, 4)          \
    X(F16, f16, 1, 2)          \
    X(BF16, bf16, 1, 2)        \
    X(Q8_0, q8_0, 32, 34)      \
    X(Q4_0, q4_0, 32, 18)      \
    X(Q4_1, q4_1, 32, 20)      \
    X(Q5_0, q5_0, 32, 22)      \
    X(Q5_1, q5_1, 32, 24)      \
    X(Q2_K, q2_k, 256, 84)     \
    X(Q3_K, q3_k, 256, 110)    \
    X(Q4_K, q4_k, 256, 144)    \
    X(Q5_K, q5_k, 256, 176)    \
    X(Q6_K, q6_k, 256, 210)
// How weights are stored.
typedef enum ig_weight_type {
#define IG_WEIGHT_ENUM(id, name, weights, bytes) IG_WEIGHT_##id,
    IG_WEIGHT_TYPE_LIST(IG_WEIGHT_ENUM)
#undef IG_WEIGHT_ENUM
        IG_WEIGHT_TYPE_COUNT
} ig_weight_type;
const char *ig_weight_type_name(ig_weight_type type);  // "q4_0"; "unknown" for any other value

// Bytes of a matrix. errors: INVALID_ARGUMENT (columns are not whole blocks, unknown type), OVERFLOW.
ig_status ig_weight_size(ig_weight_type type, uint64_t rows, uint64_t columns, uint64_t *bytes);

// A matrix [rows, columns] of weights. One of `bytes`, `no_copy` and `buffer`, as in ig_tensor_desc, holds it row by
// row.
typedef struct ig_weight ig_weight;
// Describes a matrix of weights; exactly one of `bytes`, `no_copy` and `buffer` is set.
typedef struct ig_weight_desc {
    ig_weight_type type;
    uint64_t rows, columns;
    const void *bytes;
    void *no_copy;
    void (*deallocate)(void *memory, uint64_t length, void *user);
    void *user;
    ig_buffer *buffer;
    uint64_t offset;
} ig_weight_desc;

// Creates a matrix of weights. errors: INVALID_ARGUMENT, OVERFLOW, OUT_OF_RANGE (buffer too short), OUT_OF_MEMORY.
ig_status ig_weight_create(ig_device *device, const ig_weight_desc *desc, ig_weight **weight);
// From a float matrix; each block gets its scales, and weights are rounded to nearest. Elements must be finite.
ig_status ig_weight_quantize(ig_stream *stream, const ig_tensor *matrix, ig_weight_type type,
                             const ig_op_options *options, ig_weight **weight);
ig_weight *ig_weight_retain(ig_weight *weight);
void ig_weight_release(ig_weight *weight);
ig_weight_type ig_weight_get_type(const ig_weight *weight);  // how they are stored
uint64_t ig_weight_rows(const ig_weight *weight);            // length of a result
uint64_t ig_weight_columns(const ig_weight *weight);         // length of an operand
// The memory: elements [rows, columns], or u8 [rows, bytes of a row] for blocks. Borrowed from the weight.
const ig_tensor *ig_weight_tensor(const ig_weight *weight);

// All weights as floats of `type`: [rows, columns].
ig_status ig_weight_dequantize(ig_stream *stream, const ig_weight *weight, ig_type type, const ig_op_options *options,
                               ig_tensor **out);
// x [.., columns] times the weight, transposed: [.., rows], of the type of x, which must be finite.
ig_status ig_weight_matmul(ig_stream *stream, const ig_weight *weight, const ig_tensor *x, const ig_op_options *options,
                           ig_tensor **out);
// Rows of the weight for tokens of any shape, as `type`: [.., columns].
ig_status ig_weight_embedding(ig_stream *stream, const ig_weight *weight, const ig_tensor *tokens, ig_type type,
                              const ig_op_options *options, ig_tensor **out);

// ---- Products with tensors as weights ----

// x [.., columns] times weight [rows, columns], transposed: [.., rows].
ig_status ig_tensor_linear(ig_stream *stream, const ig_tensor *x, const ig_tensor *weight, const ig_op_options *options,
                           ig_tensor **out);

// ---- KV cache ----

// Keys and values of the positions so far, [layer, sequence, position, key head, dim] each. With a window it is a ring:
// old positions make room for new ones.
//
// Sequences are a batch: each has its own length in each layer, so that they may begin and end at different times. With
// `sequences` 0 there is one, and operands have no dimension for it.
typedef struct ig_kv_cache ig_kv_cache;
// Sizes of a KV cache.
typedef struct ig_kv_cache_desc {
    ig_type type;  // f32, f16 or bf16
    uint32_t layers;
    uint64_t heads, dim;  // of keys
    uint64_t capacity;    // positions there is room for; with a window, at least window + largest append - 1
    uint64_t window;      // positions that a query sees; 0: all
    uint64_t sequences;   // operands are [sequences, ..]; 0: one, without that dimension
} ig_kv_cache_desc;

// Bytes of keys and values. errors: INVALID_ARGUMENT, OVERFLOW.
ig_status ig_kv_cache_size(const ig_kv_cache_desc *desc, uint64_t *bytes);
// Creates an empty cache. errors: INVALID_ARGUMENT, OVERFLOW, OUT_OF_MEMORY.
ig_status ig_kv_cache_create(ig_device *device, const ig_kv_cache_desc *desc, ig_kv_cache **cache);
ig_kv_cache *ig_kv_cache_retain(ig_kv_cache *cache);
void ig_kv_cache_release(ig_kv_cache *cache);
// The next position of the first sequence.
uint64_t ig_kv_cache_length(const ig_kv_cache *cache, uint32_t layer);
// The oldest position that the cache still holds, of the first sequence.
uint64_t ig_kv_cache_first(const ig_kv_cache *cache, uint32_t layer);
// The next position of any sequence.
uint64_t ig_kv_cache_sequence_length(const ig_kv_cache *cache, uint32_t layer, uint64_t sequence);
// The oldest position that the cache still holds, of any sequence.
uint64_t ig_kv_cache_sequence_first(const ig_kv_cache *cache, uint32_t layer, uint64_t sequence);
// Memory of a layer, [slot, head, dim] or [sequences, slot, head, dim]; position p is in slot p % capacity.
ig_status ig_kv_cache_view(const ig_kv_cache *cache, uint32_t layer, ig_tensor **keys, ig_tensor **values);

// k and v [positions, heads, dim], or [sequences, positions, heads, dim] with as many positions for each; converted to
// the cache's type. errors: OUT_OF_RANGE when they do not fit.
ig_status ig_kv_cache_append(ig_stream *stream, ig_kv_cache *cache, uint32_t layer, const ig_tensor *k,
                             const ig_tensor *v);
// The same for one sequence: k and v [positions, heads, dim].
ig_status ig_kv_cache_append_sequence(ig_stream *stream, ig_kv_cache *cache, uint32_t layer, uint64_t sequence,
                                      const ig_tensor *k, const ig_tensor *v);
// Drops positions from `length` on, in all layers, of all sequences or of one; 0 empties them. errors: OUT_OF_RANGE
// when a ring has overwritten what the next position would see.
ig_status ig_kv_cache_truncate(ig_kv_cache *cache, uint64_t length);
ig_status ig_kv_cache_truncate_sequence(ig_kv_cache *cache, uint64_t sequence, uint64_t length);
// Causal attention of the last positions: q is [positions, heads, dim] or [sequences, positions, heads, dim], and the
// cache is read in place. One op serves all sequences if they have the same length; otherwise each takes an op of its
// own. scale 0: 1 / sqrt(dim).
ig_status ig_kv_cache_attention(ig_stream *stream, const ig_kv_cache *cache, uint32_t layer, const ig_tensor *q,
                                double scale, const ig_op_options *options, ig_tensor **out);
// The same for one sequence: q [positions, heads, dim].
ig_status ig_kv_cache_attention_sequence(ig_stream *stream, const ig_kv_cache *cache, uint32_t layer, uint64_t sequence,
                                         const ig_tensor *q, double scale, const ig_op_options *options,
                                         ig_tensor **out);

// ---- Estimates ----

// A decoder of the Llama kind: two norms, grouped-query attention and a gated feed-forward network in each layer;
// embedding and output have separate weights.
typedef struct ig_model_shape {
    uint64_t layers, hidden, heads, key_heads, intermediate, vocabulary;
} ig_model_shape;

// The number of parameters of a model. errors: INVALID_ARGUMENT if hidden is not a multiple of heads, OVERFLOW.
ig_status ig_model_parameters(const ig_model_shape *shape, uint64_t *count);
// The bytes of its weights if all are of one type. errors: the same.
ig_status ig_model_size(const ig_model_shape *shape, ig_weight_type type, uint64_t *bytes);
// Whether `needed` is less than the free memory or, if that is not known (0), less than 80% of the total.
bool ig_memory_fits(uint64_t needed, uint64_t free_bytes, uint64_t total_bytes);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
