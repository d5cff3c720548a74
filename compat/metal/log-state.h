// SPDX-License-Identifier: Apache-2.0
// Log states: handlers for what kernels log. Internal.
#ifndef INGOT_COMPAT_METAL_LOG_STATE_H
#define INGOT_COMPAT_METAL_LOG_STATE_H

#include "object.h"

@interface IGLogState : IGObject <MTLLogState> {
    MTLLogLevel _level;
    NSUInteger _bufferSize;
    NSMutableArray *_handlers;  // guarded by @synchronized
}
- (id)initWithDescriptor:(MTLLogStateDescriptor *)descriptor;
// For command buffers that keep the log state until they are done.
- (ig_kernel_log_desc)desc;
@end

#pragma GCC visibility push(hidden)
// Without a log state: as MTL_LOG_TO_STDERR, MTL_LOG_LEVEL and MTL_LOG_BUFFER_SIZE say.
ig_kernel_log_desc igi_metal_default_log(void);
#pragma GCC visibility pop

#endif
