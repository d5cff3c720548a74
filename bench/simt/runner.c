// SPDX-License-Identifier: Apache-2.0
// What all runners share.
#include <stdarg.h>
#include <stdio.h>

#include "simt.h"

bool simt_fail(simt_runner *runner, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(runner->error, sizeof runner->error, format, arguments);
    va_end(arguments);
    return false;
}
