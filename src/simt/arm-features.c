// SPDX-License-Identifier: Apache-2.0
// The extensions of a 64-bit ARM CPU. LLVM takes them from its list of CPUs, which has gaps: a CPU that it does not
// know counts as the first generation. The kernel knows them all.
#include "core/memory.h"
#include "simt/target.h"

#if defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <llvm-c/Core.h>
#include <stdlib.h>
#include <sys/auxv.h>

static const struct {
    unsigned long first, second;  // bits of AT_HWCAP and AT_HWCAP2, all of which are needed
    const char *name;
} extensions[] = {
    {HWCAP_CRC32, 0, "crc"},       {HWCAP_ATOMICS, 0, "lse"},      {HWCAP_FPHP | HWCAP_ASIMDHP, 0, "fullfp16"},
    {HWCAP_ASIMDRDM, 0, "rdm"},    {HWCAP_FCMA, 0, "complxnum"},   {HWCAP_LRCPC, 0, "rcpc"},
    {HWCAP_ASIMDDP, 0, "dotprod"}, {HWCAP_ASIMDFHM, 0, "fp16fml"}, {0, HWCAP2_I8MM, "i8mm"},
    {0, HWCAP2_BF16, "bf16"},
};

static char *with(char *features, char sign, const char *name) {
    char *more = features && *features ? igi_format("%s,%c%s", features, sign, name) : igi_format("%c%s", sign, name);
    if (!more) return features;
    LLVMDisposeMessage(features);
    return more;
}

char *igi_simt_with_arm_features(char *features) {
    unsigned long first = getauxval(AT_HWCAP), second = getauxval(AT_HWCAP2);
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++)
        if ((first & extensions[i].first) == extensions[i].first &&
            (second & extensions[i].second) == extensions[i].second)
            features = with(features, '+', extensions[i].name);
    return features;
}
#else
char *igi_simt_with_arm_features(char *features) {
    return features;
}
#endif
