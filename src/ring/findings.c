// SPDX-License-Identifier: Apache-2.0
// What a checked device found in a ring kernel. The thread that runs the loop collects findings with the kernel's
// commands; when it leaves the loop they are moved to the kernel, where the program can read them.
#include "device/findings.h"

#include <string.h>

#include "ring/kernel.h"

// The user knows the kernel by another name than that of its function.
static void name_kernel(const ig_ring_kernel *kernel, ig_finding *finding) {
    const char *function = kernel->pipeline->kernel.name;
    char *name = strcmp(finding->kernel, function) == 0 ? igi_strdup(kernel->wanted) : NULL;
    if (!name) return;
    free((char *)finding->kernel);
    finding->kernel = name;
}

static void note_error(ig_ring_kernel *kernel) {
    ig_error error = {0};
    if (igi_device_findings_status(&kernel->findings, &error) == IG_STATUS_OK || kernel->error.status != IG_STATUS_OK) {
        ig_error_clear(&error);
        return;
    }
    igi_log(IG_LOG_ERROR, "ring kernel '%s': %s", kernel->name, error.message);
    kernel->error = error;
}

void igi_ring_take_findings(ig_ring_kernel *kernel) {
    assert(igi_ring_is_locked(&kernel->lock));
    igi_device_findings *made = kernel->commands ? &kernel->commands->findings : NULL;
    if (!made || (!made->count && !made->failed)) return;
    for (size_t i = 0; i < made->count; i++) {
        name_kernel(kernel, &made->items[i]);
        igi_device_findings_add(&kernel->findings, &made->items[i]);
    }
    kernel->findings.failed |= made->failed;
    free(made->items);
    *made = (igi_device_findings){0};
    note_error(kernel);
}

void igi_ring_free_findings(ig_ring_kernel *kernel) {
    igi_device_findings_free(&kernel->findings);
    free(kernel->shown_findings);
}

// The list may grow at any time, so that the caller gets a copy. Texts are never freed before the kernel.
size_t ig_ring_get_findings(ig_ring_kernel *kernel, const ig_finding **findings) {
    if (findings) *findings = NULL;
    if (!kernel || igi_ring_is_inherited(kernel)) return 0;
    pthread_mutex_lock(&kernel->lock);
    size_t count = kernel->findings.count;
    ig_finding *copy = count ? igi_alloc(count * sizeof *copy) : NULL;
    if (copy) memcpy(copy, kernel->findings.items, count * sizeof *copy);
    free(kernel->shown_findings);
    kernel->shown_findings = copy;
    if (findings) *findings = copy;
    pthread_mutex_unlock(&kernel->lock);
    return copy ? count : 0;
}
