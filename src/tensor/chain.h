// SPDX-License-Identifier: Apache-2.0
// Elementwise ops over the same elements that a stream puts off, to run them together: what only lies between them
// is never written to memory.
//
// A chain is run in one of three ways. On the host, block by block: every op goes over a block before the next block
// is looked at, so that what is between stays in the cache (chain-blocks.c); the bits are those of the ops one by one.
// As one kernel, made for its structure (chain-kernel.c). Or, on a device, op by op.
#ifndef INGOT_TENSOR_CHAIN_H
#define INGOT_TENSOR_CHAIN_H

#include "tensor/fusion.h"

enum { IGI_CHAIN_OPS = 24, IGI_CHAIN_VALUES = 48, IGI_CHAIN_BUFFERS = 28 };

// The elements of a chain are rows and columns. Where operands lie beside them:
typedef enum igi_tensor_spread {
    IGI_SPREAD_EACH,     // one for each element
    IGI_SPREAD_ONE,      // one for all
    IGI_SPREAD_COLUMNS,  // one for each column
    IGI_SPREAD_ROWS,     // one for each row
} igi_tensor_spread;

typedef struct igi_tensor_chain_value {
    igi_tensor_storage *storage;  // one reference; NULL: nobody outside can see it any more
    uint64_t offset;              // in bytes
    ig_type type;
    igi_tensor_spread spread;
    bool made;     // by an op of the chain; the others come from outside
    bool current;  // no later op has overwritten it
    bool needed;   // set by igi_tensor_chain_plan: somebody will look at it, or an op that is needed reads it
    bool visible;  // set by igi_tensor_chain_plan: made, and must be in memory afterwards
} igi_tensor_chain_value;

typedef struct igi_tensor_chain_op {
    ig_op op;
    uint32_t input_count;
    uint8_t in[IGI_MAX_INPUTS], out;  // values
    igi_tensor_parameters p;
    const igi_tensor_implementation *row;  // what would have run it
} igi_tensor_chain_op;

typedef struct igi_tensor_chain {
    igi_tensor_runtime *runtime;
    igi_tensor_fusion_mode mode;
    bool encodes;             // its ops are device work one by one, too
    uint64_t count, columns;  // elements; those of a row, 0: no operand cares
    uint32_t op_count, value_count;
    igi_tensor_chain_op ops[IGI_CHAIN_OPS];
    igi_tensor_chain_value values[IGI_CHAIN_VALUES];
} igi_tensor_chain;

// NULL when memory is short.
igi_tensor_chain *igi_tensor_chain_create(igi_tensor_runtime *runtime, igi_tensor_fusion_mode mode, bool encodes);
void igi_tensor_chain_free(igi_tensor_chain *chain);

// Whether the call can be part of a chain: by op, types, layout and size.
bool igi_tensor_chain_takes(const igi_tensor_runtime *runtime, igi_tensor_fusion_mode mode,
                            const igi_tensor_call *call);
// False when it does not go together with what is there; the chain is as it was.
// pre: igi_tensor_chain_takes
bool igi_tensor_chain_add(igi_tensor_chain *chain, const igi_tensor_call *call, const igi_tensor_implementation *row);
bool igi_tensor_chain_is_full(const igi_tensor_chain *chain);

// Finds out what is needed; returns how many ops are. Before any of the following.
uint32_t igi_tensor_chain_plan(igi_tensor_chain *chain);
// Of a row, as they are stored.
uint64_t igi_tensor_chain_columns(const igi_tensor_chain *chain);
// Part of the elements.
typedef struct igi_tensor_chain_piece {
    uint64_t row, rows, column, columns;
} igi_tensor_chain_piece;
igi_tensor_view igi_tensor_chain_view(const igi_tensor_chain_value *value, uint64_t columns,
                                      const igi_tensor_chain_piece *piece);
// Runs on this thread and the workers. `failed` is the op that did.
ig_status igi_tensor_chain_run_blocks(const igi_tensor_chain *chain, ig_op *failed, ig_error *error);
// Encodes op by op; `begin` is called before each. pre: chain->encodes
ig_status igi_tensor_chain_encode_ops(const igi_tensor_chain *chain, ig_commands *commands,
                                      ig_status (*begin)(void *user, const char *op), void *user, ig_error *error);

// The kernel's argument list, in this order: values from outside, values to write, parameters if there are any, the
// length of a row if that matters.
typedef struct igi_tensor_chain_kernel {
    uint32_t input_count, output_count, parameter_count;
    uint8_t inputs[IGI_CHAIN_VALUES], outputs[IGI_CHAIN_VALUES];
    float parameters[2 * IGI_CHAIN_OPS];
    bool fits;  // in the number of buffers a kernel may have
} igi_tensor_chain_kernel;
igi_tensor_chain_kernel igi_tensor_chain_kernel_of(const igi_tensor_chain *chain);
// The same for chains that differ only in size, parameters and memory.
igi_hash igi_tensor_chain_structure(const igi_tensor_chain *chain, const igi_tensor_chain_kernel *kernel);
// MSL of a kernel by this name; NULL when memory is short.
char *igi_tensor_chain_source(const igi_tensor_chain *chain, const igi_tensor_chain_kernel *kernel, const char *name);
ig_status igi_tensor_chain_encode_kernel(const igi_tensor_chain *chain, const igi_tensor_chain_kernel *kernel,
                                         ig_pipeline *pipeline, ig_commands *commands);
// ---- Trying it out ----

// The chain with samples as its operands and every value in memory of its own. Elements are few.
ig_status igi_tensor_chain_make_sample(const igi_tensor_chain *chain, igi_tensor_chain **sample);
// Runs both kernels on the sample: one that writes what somebody will look at, one that writes everything. False when
// any op is not what the reference makes of the same operands, or the two differ; then `what` says so in 119
// characters. errors: those of the device.
ig_status igi_tensor_chain_try(igi_tensor_chain *sample, const igi_tensor_chain_kernel *kernel, ig_pipeline *fused,
                               ig_pipeline *everything, bool *good, char *what);

// "mul, add, exp", cut off where there is no room.
void igi_tensor_chain_name(const igi_tensor_chain *chain, char *name, size_t size);

#endif
