// SPDX-License-Identifier: Apache-2.0
// Indirect command buffers: dispatches that the host or kernels record once, and that are executed often. Internal.
#ifndef INGOT_COMPAT_METAL_INDIRECT_COMMANDS_H
#define INGOT_COMPAT_METAL_INDIRECT_COMMANDS_H

#include <ingot/indirect.h>

#include "resource.h"

@interface IGIndirectCommandBuffer : IGResource <MTLIndirectCommandBuffer> {
   @public
    ig_indirect_commands *_indirect;
}
// nil if there is no memory, or the count is 0.
- (id)initWithDevice:(IGDevice *)device
          descriptor:(MTLIndirectCommandBufferDescriptor *)descriptor
               count:(NSUInteger)count
             options:(MTLResourceOptions)options;
// Whether the range is inside.
- (BOOL)has:(NSRange)range;
@end

// One of its commands, which holds it.
@interface IGIndirectCommand : IGObject <MTLIndirectComputeCommand> {
    IGIndirectCommandBuffer *_owner;
    uint32_t _index;
}
- (id)initWithOwner:(IGIndirectCommandBuffer *)owner index:(NSUInteger)index;
@end

#endif
