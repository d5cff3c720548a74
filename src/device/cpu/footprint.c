// SPDX-License-Identifier: Apache-2.0
// Whether a dispatch uses more memory than the caches hold. Then its results will be evicted before they are read, and
// their cache lines need not be fetched before they are written.
#include "device/cpu/cpu.h"
#include "device/profile.h"

// The usual share of a last-level cache for each core. sysconf reports the cache of the whole machine, or of the host of
// a virtual machine.
enum { CACHE_BYTES = 32 << 20, FEWEST_THREADS = 1 << 18 };

bool igi_cpu_exceeds_caches(const igi_device_dispatch *dispatch, uint64_t threads) {
    return threads >= FEWEST_THREADS && igi_device_dispatch_bytes(dispatch) >= CACHE_BYTES;
}
