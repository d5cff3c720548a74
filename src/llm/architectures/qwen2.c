// SPDX-License-Identifier: Apache-2.0
// Qwen 2 and 2.5: queries, keys and values have biases.
#include "llm/decoder.h"

static const igi_llm_part_desc parts[] = {
    {IGI_PART_ATTENTION_NORM, "attn_norm", IGI_LENGTH_ONE, IGI_LENGTH_HIDDEN, IGI_REQUIRED, IGI_UNUSED},
    {IGI_PART_QUERY, "attn_q", IGI_LENGTH_QUERIES, IGI_LENGTH_HIDDEN, IGI_REQUIRED, IGI_REQUIRED},
    {IGI_PART_KEY, "attn_k", IGI_LENGTH_KEYS, IGI_LENGTH_HIDDEN, IGI_REQUIRED, IGI_REQUIRED},
    {IGI_PART_VALUE, "attn_v", IGI_LENGTH_KEYS, IGI_LENGTH_HIDDEN, IGI_REQUIRED, IGI_REQUIRED},
    {IGI_PART_OUTPUT, "attn_output", IGI_LENGTH_HIDDEN, IGI_LENGTH_QUERIES, IGI_REQUIRED, IGI_OPTIONAL},
    {IGI_PART_FEED_NORM, "ffn_norm", IGI_LENGTH_ONE, IGI_LENGTH_HIDDEN, IGI_REQUIRED, IGI_UNUSED},
    {IGI_PART_GATE, "ffn_gate", IGI_LENGTH_INNER, IGI_LENGTH_HIDDEN, IGI_REQUIRED, IGI_OPTIONAL},
    {IGI_PART_UP, "ffn_up", IGI_LENGTH_INNER, IGI_LENGTH_HIDDEN, IGI_REQUIRED, IGI_OPTIONAL},
    {IGI_PART_DOWN, "ffn_down", IGI_LENGTH_HIDDEN, IGI_LENGTH_INNER, IGI_REQUIRED, IGI_OPTIONAL},
};

const igi_llm_architecture igi_llm_architecture_qwen2 = {
    .name = "qwen2",
    .parts = parts,
    .part_count = sizeof parts / sizeof *parts,
    .run_layer = igi_llm_decoder_run_layer,
};
