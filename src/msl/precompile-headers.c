// SPDX-License-Identifier: Apache-2.0
// Part of the build: precompile-headers FAST.pch SAFE.pch writes the precompiled headers that are installed, for the
// default language version. If clang is missing here they are empty, and made when they are first needed.
#include <stdio.h>

#include "core/file.h"
#include "core/status-internal.h"
#include "msl/compiler.h"

static ig_status write_header(igi_msl_compiler *compiler, ig_math_mode mode, const char *path, ig_error *error) {
    char noted[4096];
    const igi_msl_request request = {.language_version = IGI_MSL_DEFAULT_LANGUAGE, .math_mode = mode};
    ig_status status = igi_msl_precompile(compiler, &request, path, error);
    if (status != IG_STATUS_COMPILER_MISSING) return status;
    if (snprintf(noted, sizeof noted, "%s.hash", path) >= (int)sizeof noted) return IG_STATUS_INVALID_ARGUMENT;
    status = igi_file_write_atomic(path, "", 0);
    return status == IG_STATUS_OK ? igi_file_write_atomic(noted, "", 0) : status;
}

int main(int argc, char **argv) {
    igi_msl_compiler *compiler = NULL;
    ig_error error = {0};
    if (argc != 3) return 2;
    ig_status status = igi_msl_compiler_create(NULL, &compiler);
    if (status == IG_STATUS_OK) status = write_header(compiler, IG_MATH_FAST, argv[1], &error);
    if (status == IG_STATUS_OK) status = write_header(compiler, IG_MATH_SAFE, argv[2], &error);
    if (status != IG_STATUS_OK)
        fprintf(stderr, "precompile-headers: %s\n", error.message ? error.message : ig_status_text(status));
    ig_error_clear(&error);
    igi_msl_compiler_destroy(compiler);
    return status == IG_STATUS_OK ? 0 : 1;
}
