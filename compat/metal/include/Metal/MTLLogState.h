// SPDX-License-Identifier: Apache-2.0
// Where logs of kernels would go.
#ifndef INGOT_METAL_LOG_STATE_H
#define INGOT_METAL_LOG_STATE_H

#import <Metal/MTLDefines.h>

@protocol MTLLogState <NSObject>
@end

#endif
