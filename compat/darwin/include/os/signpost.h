// SPDX-License-Identifier: Apache-2.0
// Marks for Apple's Instruments, which have no effect here; INGOT_PROFILE records what kernels do.
#ifndef INGOT_OS_SIGNPOST_H
#define INGOT_OS_SIGNPOST_H

#include <os/log.h>

typedef uint64_t os_signpost_id_t;
#define OS_SIGNPOST_ID_NULL ((os_signpost_id_t)0)
#define OS_SIGNPOST_ID_EXCLUSIVE ((os_signpost_id_t)0xEEEEB0B5B2B2EEEEull)
#define os_signpost_id_generate(log) ((void)(log), OS_SIGNPOST_ID_EXCLUSIVE)
#define os_signpost_id_make_with_pointer(log, pointer) ((void)(log), (os_signpost_id_t)(uintptr_t)(pointer))
#define os_signpost_enabled(log) ((void)(log), false)
#define os_signpost_interval_begin(log, id, ...) ((void)(log), (void)(id))
#define os_signpost_interval_end(log, id, ...) ((void)(log), (void)(id))
#define os_signpost_event_emit(log, id, ...) ((void)(log), (void)(id))

#endif
