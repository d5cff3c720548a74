// SPDX-License-Identifier: Apache-2.0
// Finding ingot-codegen.
#include <stddef.h>
#include <stdint.h>

#include "codegen/codegen.h"
#include "core/program.h"
#include "core/settings.h"
#include "installed.h"

bool igi_codegen_find(char path[PATH_MAX]) {
    const igi_program codegen = {
        .name = "ingot-codegen",
        .named = igi_setting_named(IGI_SETTING_CODEGEN),
        .code = (const void *)(uintptr_t)igi_codegen_find,
        .places = igi_program_libexec,
        .installed = INGOT_LIBEXEC_DIR,
    };
    return igi_program_find(&codegen, path);
}
