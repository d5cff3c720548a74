// SPDX-License-Identifier: Apache-2.0
#include "simt/target.h"

#include <assert.h>
#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <pthread.h>
#include <string.h>

#include "core/memory.h"
#include "core/settings.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static igi_simt_target chosen;
static LLVMTargetRef generator;

// ---- The host ----

static void disable(char *features, const char *prefix) {
    for (char *at = features; (at = strstr(at, prefix)) != NULL; at++) *at = '-';
}

// INGOT_SIMT_ISA=avx2 disables AVX-512, and sse4.2 all of AVX, to see what another machine would run.
static void limit_features(char *features) {
    static const char *const avx512[] = {"+avx512", "+avx10", "+evex512"};
    static const char *const avx[] = {"+avx", "+fma", "+f16c", "+vaes",  "+vpclmulqdq",
                                      "+xop", "+sm3", "+sm4",  "+sha512"};
    bool baseline = igi_setting_is(IGI_SETTING_SIMT_ISA, "sse4.2");
    if (!baseline && !igi_setting_is(IGI_SETTING_SIMT_ISA, "avx2")) return;
    for (size_t i = 0; i < sizeof avx512 / sizeof *avx512; i++) disable(features, avx512[i]);
    for (size_t i = 0; baseline && i < sizeof avx / sizeof *avx; i++) disable(features, avx[i]);
}

// LLVM avoids the gathers of some processors, which take as long as loads one by one. Jumps around each of these, for
// lanes that are not active, take longer, and far longer to compile.
static char *with_gathers(char *features) {
    if (!strstr(features, "+avx2")) return features;
    char *more = igi_format("%s,+fast-gather", features);
    if (!more) return features;
    LLVMDisposeMessage(features);
    return more;
}

static char *host_features(void) {
    char *features = igi_simt_with_arm_features(LLVMGetHostCPUFeatures());
    limit_features(features);
    return with_gathers(features);
}

static igi_simt_target find_host(void) {
    return (igi_simt_target){LLVMGetDefaultTargetTriple(), LLVMGetHostCPUName(), host_features()};
}

// ---- What was chosen ----

static void initialise_native(void) {
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    LLVMInitializeNativeAsmParser();
}

// Takes longer than the native one alone.
static void initialise_all(void) {
    LLVMInitializeAllTargetInfos();
    LLVMInitializeAllTargets();
    LLVMInitializeAllTargetMCs();
    LLVMInitializeAllAsmPrinters();
    LLVMInitializeAllAsmParsers();
}

static bool has_generator(void) {
    char *message = NULL;
    bool found = !LLVMGetTargetFromTriple(chosen.triple, &generator, &message);
    if (!found) LLVMDisposeMessage(message);
    return found;
}

static void find_target(void) {
    if (!chosen.triple) chosen = find_host();
    initialise_native();
    if (has_generator()) return;
    initialise_all();
    if (!has_generator()) generator = NULL;
}

void igi_simt_choose_target(igi_simt_target target) {
    assert(!chosen.triple && target.triple && target.cpu && target.features);
    chosen = target;
}

igi_simt_target igi_simt_chosen_target(void) {
    pthread_once(&once, find_target);
    return chosen;
}

const char *igi_simt_features(void) {
    return igi_simt_chosen_target().features;
}

static bool is_for(const char *architecture) {
    return strncmp(igi_simt_chosen_target().triple, architecture, strlen(architecture)) == 0;
}

bool igi_simt_is_for_x86(void) {
    return is_for("x86_64");
}

bool igi_simt_has_fused_multiply_add(void) {
    return !igi_simt_is_for_x86() || strstr(igi_simt_features(), "+fma,");
}

bool igi_simt_is_for_arm(void) {
    return is_for("aarch64") || is_for("arm64");
}

LLVMTargetMachineRef igi_simt_open_machine(LLVMCodeGenOptLevel level) {
    igi_simt_target target = igi_simt_chosen_target();
    if (!generator) return NULL;
    return LLVMCreateTargetMachine(generator, target.triple, target.cpu, target.features, level, LLVMRelocPIC,
                                   LLVMCodeModelSmall);
}
