// SPDX-License-Identifier: Apache-2.0
// Logs of functions, from what checking found. Internal.
#ifndef INGOT_COMPAT_METAL_FUNCTION_LOG_H
#define INGOT_COMPAT_METAL_FUNCTION_LOG_H

#include "object.h"

@interface IGLogContainer : IGObject <MTLLogContainer> {
    NSArray *_logs;
}
- (id)initWithCommands:(const ig_commands *)commands;  // NULL: an empty one
@end

#endif
