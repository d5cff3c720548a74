// SPDX-License-Identifier: Apache-2.0
// LLVM contexts that report to our log.
#include "msl/llvm-context.h"

#include <stddef.h>

#include "core/status-internal.h"

static void report(LLVMDiagnosticInfoRef info, void *user) {
    (void)user;
    char *text = LLVMGetDiagInfoDescription(info);
    ig_log_level level = LLVMGetDiagInfoSeverity(info) == LLVMDSError ? IG_LOG_WARNING : IG_LOG_DEBUG;
    igi_log(level, "LLVM: %s", text);
    LLVMDisposeMessage(text);
}

LLVMContextRef igi_msl_llvm_context_create(void) {
    LLVMContextRef context = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(context, report, NULL);
    return context;
}
