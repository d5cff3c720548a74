// SPDX-License-Identifier: Apache-2.0
// Logs of functions. Command buffers have none here.
#ifndef INGOT_METAL_FUNCTION_LOG_H
#define INGOT_METAL_FUNCTION_LOG_H

#import <Metal/MTLDefines.h>

@protocol MTLLogContainer <NSFastEnumeration>
@end

#endif
