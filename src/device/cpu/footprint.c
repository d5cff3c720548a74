// SPDX-License-Identifier: Apache-2.0
// Whether a dispatch uses more memory than the caches hold. Then its results will be evicted before they are read, and
// their cache lines need not be fetched before they are written.
#include "device/cpu/cpu.h"

// The usual share of a last-level cache for each core. sysconf reports the cache of the whole machine, or of the host of
// a virtual machine.
enum { CACHE_BYTES = 32 << 20, FEWEST_THREADS = 1 << 18 };

static bool is_bound_before(const igi_device_dispatch *dispatch, uint32_t binding) {
    for (uint32_t i = 0; i < binding; i++)
        if (dispatch->bindings[i].buffer == dispatch->bindings[binding].buffer) return true;
    return false;
}

static uint64_t bytes_bound(const igi_device_dispatch *dispatch) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < dispatch->binding_count; i++) {
        const igi_device_binding *binding = &dispatch->bindings[i];
        if (binding->kind != IG_ARGUMENT_BUFFER || !binding->buffer || is_bound_before(dispatch, i)) continue;
        bytes += binding->buffer->length - binding->offset;
    }
    return bytes;
}

bool igi_cpu_exceeds_caches(const igi_device_dispatch *dispatch, uint64_t threads) {
    return threads >= FEWEST_THREADS && bytes_bound(dispatch) >= CACHE_BYTES;
}
