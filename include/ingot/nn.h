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

// ---- What a query sees ----------------------------------------------------------------------------------------------

// Query i stands at query_position + i, key j at j. A query that sees no key gives zeros.
typedef struct ig_attention_desc {
    double scale;             // of q.k; 0: 1 / sqrt(dim) for attention, 1 for softmax
    bool causal;              // keys behind the query are not seen
    uint64_t window;          // only this many keys up to the query's position are seen; 0: all
    uint64_t query_position;  // of the first query
} ig_attention_desc;

// Softmax of scale * x + mask over the last dimension of x [.., queries, keys]. mask broadcasts to x: bool keeps where
// true, others are added; NULL: none.
ig_status ig_tensor_masked_softmax(ig_stream *stream, const ig_tensor *x, const ig_tensor *mask,
                                   const ig_attention_desc *desc, const ig_op_options *options, ig_tensor **out);

// softmax(scale * q.k) v of every query over the keys it sees: [.., queries, heads, dim of v]. The scores exist a few
// at a time and are never kept. k and v may be of another float type than q, which decides the result's. Values of keys
// that are not seen must still be finite.
ig_status ig_tensor_attention(ig_stream *stream, const ig_tensor *q, const ig_tensor *k, const ig_tensor *v,
                              const ig_attention_desc *desc, const ig_op_options *options, ig_tensor **out);

// ---- Attention in steps ---------------------------------------------------------------------------------------------

// scale * q.k of every query with every key: [.., heads, queries, keys]. scale 0: 1 / sqrt(dim).
ig_status ig_tensor_attention_scores(ig_stream *stream, const ig_tensor *q, const ig_tensor *k, double scale,
                                     const ig_op_options *options, ig_tensor **out);
// Sums of v with weights [.., heads, queries, keys]: [.., queries, heads, dim].
ig_status ig_tensor_weighted_sum(ig_stream *stream, const ig_tensor *weights, const ig_tensor *v,
                                 const ig_op_options *options, ig_tensor **out);

// ---- Positions and tokens -------------------------------------------------------------------------------------------

// Turns pairs of elements by position * base^(-2 i / dims). A pair is elements i and i + dims / 2, or 2 i and 2 i + 1
// when interleaved. Elements from dims on stay.
typedef struct ig_rope_desc {
    double base;    // 0: 10000
    double scale;   // positions are multiplied by it; 0: 1
    uint32_t dims;  // even; 0: all
    bool interleaved;
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

// ---- Products with weights ------------------------------------------------------------------------------------------

// x [.., columns] times weight [rows, columns], transposed: [.., rows].
ig_status ig_tensor_linear(ig_stream *stream, const ig_tensor *x, const ig_tensor *weight, const ig_op_options *options,
                           ig_tensor **out);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
