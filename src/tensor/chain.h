// SPDX-License-Identifier: Apache-2.0
// Elementwise ops over the same elements that a stream defers, to run them together: intermediate results are never
// written to memory.
//
// A chain is run in one of three ways. On the host, block by block: every op processes a block before the next block is
// started, so that intermediate results stay in the cache (chain-blocks.c); the results are bit for bit those of
// separate ops. As one kernel, generated for its structure (chain-kernel.c). Or, on a device, op by op.
#ifndef INGOT_TENSOR_CHAIN_H
#define INGOT_TENSOR_CHAIN_H

#include "tensor/fusion.h"

enum { IGI_CHAIN_OPS = 24, IGI_CHAIN_VALUES = 48, IGI_CHAIN_BUFFERS = 28 };

// The elements of a chain are rows and columns. How operands are spread over them:
typedef enum igi_tensor_spread {
    IGI_SPREAD_EACH,     // one for each element
    IGI_SPREAD_ONE,      // one for all
    IGI_SPREAD_COLUMNS,  // one for each column
    IGI_SPREAD_ROWS,     // one for each row
} igi_tensor_spread;

typedef struct igi_tensor_chain_value {
    igi_tensor_storage *storage;  // one reference; NULL: nothing outside can see it any more
    uint64_t offset;              // in bytes
    ig_type type;
    igi_tensor_spread spread;
    bool made;     // by an op of the chain; other values come from outside
    bool current;  // no later op has overwritten it
    bool needed;   // set by igi_tensor_chain_plan: it is visible, or an op that is needed reads it
    bool visible;  // set by igi_tensor_chain_plan: made, and must be in memory afterwards
} igi_tensor_chain_value;

typedef struct igi_tensor_chain_op {
    ig_op op;
    uint32_t input_count;
    uint8_t in[IGI_MAX_INPUTS], out;  // values
    igi_tensor_parameters p;
    const igi_tensor_implementation *row;  // the implementation that would have run it
} igi_tensor_chain_op;

typedef struct igi_tensor_chain {
    igi_tensor_runtime *runtime;
    igi_tensor_fusion_mode mode;
    bool encodes;             // its ops would be device work on their own, too
    uint64_t count, columns;  // elements; those of a row, 0: no operand depends on it
    uint32_t op_count, value_count;
    igi_tensor_chain_op ops[IGI_CHAIN_OPS];
    igi_tensor_chain_value values[IGI_CHAIN_VALUES];
} igi_tensor_chain;

// NULL when memory is short.
igi_tensor_chain *igi_tensor_chain_create(igi_tensor_runtime *runtime, igi_tensor_fusion_mode mode, bool encodes);
void igi_tensor_chain_free(igi_tensor_chain *chain);

// Whether the call can be part of a chain, by op, types, layout and size.
bool igi_tensor_chain_takes(const igi_tensor_runtime *runtime, igi_tensor_fusion_mode mode,
                            const igi_tensor_call *call);
// Returns false if it cannot be combined with what is there; the chain is unchanged then.
// pre: igi_tensor_chain_takes
bool igi_tensor_chain_add(igi_tensor_chain *chain, const igi_tensor_call *call, const igi_tensor_implementation *row);
bool igi_tensor_chain_is_full(const igi_tensor_chain *chain);

// Determines what is needed; returns how many ops are. Call it before any of the following.
uint32_t igi_tensor_chain_plan(igi_tensor_chain *chain);
// The length of a row as stored.
uint64_t igi_tensor_chain_columns(const igi_tensor_chain *chain);
// Part of the elements.
typedef struct igi_tensor_chain_piece {
    uint64_t row, rows, column, columns;
} igi_tensor_chain_piece;
igi_tensor_view igi_tensor_chain_view(const igi_tensor_chain_value *value, uint64_t columns,
                                      const igi_tensor_chain_piece *piece);
// Runs on this thread and the workers. `failed` is the op that failed.
ig_status igi_tensor_chain_run_blocks(const igi_tensor_chain *chain, ig_op *failed, ig_error *error);
// Encodes op by op; `begin` is called before each. pre: chain->encodes
ig_status igi_tensor_chain_encode_ops(const igi_tensor_chain *chain, ig_commands *commands,
                                      ig_status (*begin)(void *user, const char *op), void *user, ig_error *error);

// The kernel's argument list, in this order: values from outside, values to write, parameters if there are any, the
// length of a row if it is needed.
typedef struct igi_tensor_chain_kernel {
    uint32_t input_count, output_count, parameter_count;
    uint8_t inputs[IGI_CHAIN_VALUES], outputs[IGI_CHAIN_VALUES];
    float parameters[2 * IGI_CHAIN_OPS];
    bool fits;  // within the number of buffers a kernel may have
} igi_tensor_chain_kernel;
igi_tensor_chain_kernel igi_tensor_chain_kernel_of(const igi_tensor_chain *chain);
// Equal for chains that differ only in size, parameters and memory.
igi_hash igi_tensor_chain_structure(const igi_tensor_chain *chain, const igi_tensor_chain_kernel *kernel);
// The MSL source of a kernel with this name; NULL when memory is short.
char *igi_tensor_chain_source(const igi_tensor_chain *chain, const igi_tensor_chain_kernel *kernel, const char *name);
ig_status igi_tensor_chain_encode_kernel(const igi_tensor_chain *chain, const igi_tensor_chain_kernel *kernel,
                                         ig_pipeline *pipeline, ig_commands *commands);
// ---- Trying it out ----

// The chain with samples as its operands and each value in separate memory. It has few elements.
ig_status igi_tensor_chain_make_sample(const igi_tensor_chain *chain, igi_tensor_chain **sample);
// Runs both kernels on the sample: one that writes only visible values, one that writes all. Returns false if any op
// differs from the reference on the same operands, or the two kernels differ; then `what` says so in 119 characters.
// errors: those of the device.
ig_status igi_tensor_chain_try(igi_tensor_chain *sample, const igi_tensor_chain_kernel *kernel, ig_pipeline *fused,
                               ig_pipeline *everything, bool *good, char *what);

// "mul, add, exp", cut off where there is no room.
void igi_tensor_chain_name(const igi_tensor_chain *chain, char *name, size_t size);

#endif
