// SPDX-License-Identifier: Apache-2.0
// The types of tensors in GGUF files, by number.
#include "llm/gguf.h"

#include "core/status-internal.h"

enum { NONE = -1 };

static const igi_llm_gguf_type types[] = {
    [0] = {"F32", 1, 4, IG_WEIGHT_F32},
    [1] = {"F16", 1, 2, IG_WEIGHT_F16},
    [2] = {"Q4_0", 32, 18, IG_WEIGHT_Q4_0},
    [3] = {"Q4_1", 32, 20, IG_WEIGHT_Q4_1},
    [6] = {"Q5_0", 32, 22, IG_WEIGHT_Q5_0},
    [7] = {"Q5_1", 32, 24, IG_WEIGHT_Q5_1},
    [8] = {"Q8_0", 32, 34, IG_WEIGHT_Q8_0},
    [9] = {"Q8_1", 32, 40, NONE},
    [10] = {"Q2_K", 256, 84, IG_WEIGHT_Q2_K},
    [11] = {"Q3_K", 256, 110, IG_WEIGHT_Q3_K},
    [12] = {"Q4_K", 256, 144, IG_WEIGHT_Q4_K},
    [13] = {"Q5_K", 256, 176, IG_WEIGHT_Q5_K},
    [14] = {"Q6_K", 256, 210, IG_WEIGHT_Q6_K},
    [15] = {"Q8_K", 256, 292, NONE},
    [16] = {"IQ2_XXS", 256, 66, NONE},
    [17] = {"IQ2_XS", 256, 74, NONE},
    [18] = {"IQ3_XXS", 256, 98, NONE},
    [19] = {"IQ1_S", 256, 50, NONE},
    [20] = {"IQ4_NL", 32, 18, NONE},
    [21] = {"IQ3_S", 256, 110, NONE},
    [22] = {"IQ2_S", 256, 82, NONE},
    [23] = {"IQ4_XS", 256, 136, NONE},
    [24] = {"I8", 1, 1, NONE},
    [25] = {"I16", 1, 2, NONE},
    [26] = {"I32", 1, 4, NONE},
    [27] = {"I64", 1, 8, NONE},
    [28] = {"F64", 1, 8, NONE},
    [29] = {"IQ1_M", 256, 56, NONE},
    [30] = {"BF16", 1, 2, IG_WEIGHT_BF16},
    [34] = {"TQ1_0", 256, 54, NONE},
    [35] = {"TQ2_0", 256, 66, NONE},
    [39] = {"MXFP4", 32, 17, NONE},
    [40] = {"NVFP4", 64, 36, NONE},
    [41] = {"Q1_0", 128, 18, NONE},
};

const igi_llm_gguf_type *igi_llm_gguf_type_of(uint32_t type) {
    return type < sizeof types / sizeof *types && types[type].name ? &types[type] : NULL;
}

const char *ig_gguf_type_name(uint32_t type) {
    const igi_llm_gguf_type *known = igi_llm_gguf_type_of(type);
    return known ? known->name : "unknown";
}

ig_status ig_gguf_weight_type(uint32_t type, ig_weight_type *weight_type) {
    const igi_llm_gguf_type *known = igi_llm_gguf_type_of(type);
    if (!weight_type) return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "gguf_weight_type: weight_type is NULL");
    if (!known || known->weight_type == NONE)
        return igi_fail(IG_STATUS_UNSUPPORTED, "gguf_weight_type: weights of type %u (%s) are not supported", type,
                        ig_gguf_type_name(type));
    *weight_type = (ig_weight_type)known->weight_type;
    return IG_STATUS_OK;
}
