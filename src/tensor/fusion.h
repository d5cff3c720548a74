// SPDX-License-Identifier: Apache-2.0
// When chains of elementwise ops become one kernel: what a runtime has measured for each structure.
#ifndef INGOT_TENSOR_FUSION_H
#define INGOT_TENSOR_FUSION_H

#include "core/hash.h"
#include "tensor/runtime.h"

typedef enum igi_tensor_fusion_mode {
    IGI_FUSION_OFF,     // every op separately, at once
    IGI_FUSION_AUTO,    // whichever is faster
    IGI_FUSION_BLOCKS,  // in blocks on the host, whatever the size, but never as one kernel
    IGI_FUSION_ALWAYS,  // as one kernel, whatever the size
} igi_tensor_fusion_mode;

// As INGOT_FUSE says.
igi_tensor_fusion_mode igi_tensor_fusion_mode_wanted(void);

// NULL when memory is short: nothing is fused then.
typedef struct igi_tensor_fusion_table igi_tensor_fusion_table;
igi_tensor_fusion_table *igi_tensor_fusion_table_create(void);
void igi_tensor_fusion_table_destroy(igi_tensor_fusion_table *table);

struct igi_tensor_chain;

typedef enum igi_tensor_chain_outcome {
    IGI_CHAIN_DONE,     // nothing is left to do
    IGI_CHAIN_ENCODED,  // the commands must still run; see igi_tensor_fusion_measured
} igi_tensor_chain_outcome;

// What is known about a chain's structure at its size.
typedef struct igi_tensor_fusion_choice {
    struct igi_tensor_fusion_structure *structure;  // NULL: nothing is recorded
    uint32_t bucket;
} igi_tensor_fusion_choice;

// Runs the chain or encodes it; `begin` is called with the name of each op, which is valid as long as the runtime. On
// failure there may be a message in `error`.
ig_status igi_tensor_fusion_run(struct igi_tensor_chain *chain, ig_commands *commands,
                                ig_status (*begin)(void *user, const char *op), void *user,
                                igi_tensor_chain_outcome *outcome, igi_tensor_fusion_choice *choice, ig_error *error);
// Records how long the commands took that igi_tensor_fusion_run encoded.
void igi_tensor_fusion_measured(const struct igi_tensor_chain *chain, igi_tensor_fusion_choice choice, uint64_t ns);

#endif
