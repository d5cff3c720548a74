// SPDX-License-Identifier: Apache-2.0
// Samplers that the source has: AIR keeps their state in two words, here it is one (__ingot_texture_layout). The fields
// of the first word, from its lowest bit: three address modes of 3 bits each, the filters for magnified, reduced and
// mipmapped textures of 2 bits each, whether coordinates are pixels, the comparison of 4 bits, the anisotropy less one of
// 4 bits, the least and the largest level as halves, the border colour of 2 bits, and how texels are combined of 2 bits.
// The second word is a bias of levels.
#include "air/translator.h"
#include "msl/stdlib/__ingot_texture_layout"

typedef struct fields {
    uint64_t word;
    unsigned at;
} fields;

static uint64_t take(fields *f, unsigned bits) {
    uint64_t value = f->word >> f->at & ((1ull << bits) - 1);
    f->at += bits;
    return value;
}

// One number stands for clamp_to_zero and clamp_to_border, whose colour the border then is.
static uint64_t address(uint64_t mode, uint64_t border) {
    return mode == IGI_ADDRESS_CLAMP_TO_ZERO && border != IGI_BORDER_TRANSPARENT_BLACK ? IGI_ADDRESS_CLAMP_TO_BORDER
                                                                                       : mode;
}

bool igi_air_read_sampler(air_translator *t, const uint64_t words[2], uint64_t *state) {
    enum { REPEATS_MIRRORED = 3, LINEAR = 1, MIPS_LINEAR = 2, NEVER = 8, WHITE = 2 };
    fields f = {.word = words[0]};
    uint64_t s = take(&f, 3), t_ = take(&f, 3), r = take(&f, 3);
    uint64_t magnified = take(&f, 2), reduced = take(&f, 2), mip = take(&f, 2), pixels = take(&f, 1);
    uint64_t comparison = take(&f, 4), anisotropy = take(&f, 4), least = take(&f, 16), most = take(&f, 16);
    uint64_t border = take(&f, 2), combination = take(&f, 2);
    if (magnified > LINEAR || reduced > LINEAR) return igi_air_fail_unknown(t, "a sampler with a bicubic filter");
    if (combination || words[1]) return igi_air_fail_unknown(t, "a sampler with a reduction or a bias");
    if (s > REPEATS_MIRRORED || t_ > REPEATS_MIRRORED || r > REPEATS_MIRRORED || mip > MIPS_LINEAR ||
        comparison > NEVER || border > WHITE)
        return igi_air_fail_unknown(t, "a sampler of an unknown kind");
    *state = address(s, border) << IGI_SAMPLER_S | address(t_, border) << IGI_SAMPLER_T |
             address(r, border) << IGI_SAMPLER_R | magnified << IGI_SAMPLER_MAG | reduced << IGI_SAMPLER_MIN |
             mip << IGI_SAMPLER_MIP | pixels << IGI_SAMPLER_PIXEL | comparison % NEVER << IGI_SAMPLER_COMPARE |
             border << IGI_SAMPLER_BORDER | anisotropy << IGI_SAMPLER_ANISOTROPY | least << IGI_SAMPLER_LOD_MIN |
             most << IGI_SAMPLER_LOD_MAX;
    return true;
}
