// SPDX-License-Identifier: Apache-2.0
#include "assemble.h"

#include <llvm-c/BitWriter.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <stdio.h>
#include <string.h>

#include "air/container.h"
#include "writer.h"

enum { MOST_KERNELS = 8 };

// NULL after having said what is wrong.
static LLVMMemoryBufferRef assemble(const char *directory, const char *name) {
    char path[512], *message = NULL;
    snprintf(path, sizeof path, "%s/%s.ll", directory, name);
    LLVMContextRef context = LLVMContextCreate();
    LLVMMemoryBufferRef text, bitcode = NULL;
    LLVMModuleRef module;
    if (!LLVMCreateMemoryBufferWithContentsOfFile(path, &text, &message) &&
        !LLVMParseIRInContext(context, text, &module, &message)) {
        bitcode = LLVMWriteBitcodeToMemoryBuffer(module);
        LLVMDisposeModule(module);
    } else {
        fprintf(stderr, "%s: %s\n", path, message);
        LLVMDisposeMessage(message);
    }
    LLVMContextDispose(context);
    return bitcode;
}

bool assemble_bitcode(const char *directory, const char *name, igi_text *bitcode) {
    LLVMMemoryBufferRef made = assemble(directory, name);
    if (!made) return false;
    igi_text_append(bitcode, LLVMGetBufferStart(made), LLVMGetBufferSize(made));
    LLVMDisposeMemoryBuffer(made);
    return !bitcode->failed;
}

// The function constants of kernels that have some.
static const struct {
    const char *kernel;
    written_constant constants[2];
    size_t count;
} lists[] = {{"constants", {{"count", 29, 3}, {"extra", 53, 7}}, 2}, {"conditions", {{"has_mask", 53, 20}}, 1}};

static uint8_t kind_of(const char *name) {
    static const struct {
        const char *name;
        igi_air_function_kind kind;
    } others[] = {{"negated", IGI_AIR_VISIBLE}, {"doubled", IGI_AIR_VISIBLE},  {"rooted", IGI_AIR_VISIBLE},
                  {"placed", IGI_AIR_VERTEX},   {"hoarding", IGI_AIR_VISIBLE}, {"shaded", IGI_AIR_FRAGMENT},
                  {"spread", IGI_AIR_OBJECT}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(name, others[i].name) == 0) return (uint8_t)others[i].kind;
    return IGI_AIR_KERNEL;
}

static void add_constants(written_function *function) {
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        if (strcmp(function->name, lists[i].kernel) != 0) continue;
        function->constants = lists[i].constants;
        function->constant_count = lists[i].count;
    }
}

bool assemble_metallib(const char *directory, const char *const *names, size_t count, igi_text *file) {
    written_function functions[MOST_KERNELS] = {0};
    LLVMMemoryBufferRef bitcode[MOST_KERNELS];
    size_t made = 0;
    for (; made < count && made < MOST_KERNELS; made++) {
        bitcode[made] = assemble(directory, names[made]);
        if (!bitcode[made]) break;
        functions[made] = (written_function){.name = names[made],
                                             .kind = kind_of(names[made]),
                                             .bitcode = LLVMGetBufferStart(bitcode[made]),
                                             .bitcode_length = LLVMGetBufferSize(bitcode[made])};
        add_constants(&functions[made]);
    }
    if (made == count) write_metallib(functions, count, file);
    for (size_t i = 0; i < made; i++) LLVMDisposeMemoryBuffer(bitcode[i]);
    return made == count && !file->failed;
}
