// SPDX-License-Identifier: Apache-2.0
// ingot bench: replaces this program by ingot-bench.
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "console/output.h"
#include "core/program.h"
#include "core/settings.h"
#include "installed.h"

// Relative to the directory of `ingot`: the same directory, installed under the same prefix, or in a build tree.
static const char *const places[] = {".", "../libexec/ingot", "../bench", NULL};

int cmd_bench(int argc, char **argv) {
    (void)argc;
    const igi_program bench = {
        .name = "ingot-bench",
        .named = igi_setting_named(IGI_SETTING_BENCH),
        .code = (const void *)(uintptr_t)cmd_bench,
        .places = places,
        .installed = INGOT_LIBEXEC_DIR,
    };
    char path[PATH_MAX];
    if (!igi_program_find(&bench, path))
        return cli_error(CLI_FAILED,
                         "ingot-bench was not found; 'make install' installs it with ingot, "
                         "'make' builds it, and INGOT_BENCH may name it");
    argv[0] = "ingot-bench";
    execv(path, argv);
    return cli_error(CLI_FAILED, "cannot start '%s': %s", path, strerror(errno));
}
