// SPDX-License-Identifier: Apache-2.0
// Indirect command buffers: dispatches that are recorded once and executed often. Internal.
#ifndef INGOT_COMPAT_METAL_INDIRECT_COMMANDS_H
#define INGOT_COMPAT_METAL_INDIRECT_COMMANDS_H

#include "resource.h"

@class IGComputeEncoder;

@interface IGIndirectCommand : IGObject <MTLIndirectComputeCommand> {
    id<MTLComputePipelineState> _pipeline;
    id<MTLBuffer> _buffers[31];
    NSUInteger _offsets[31], _threadgroupLengths[31];
    MTLSize _grid, _group;
    MTLRegion _stageIn;  // of zeros: the grid
    enum { IGI_NO_DISPATCH, IGI_DISPATCH_GROUPS, IGI_DISPATCH_THREADS } _kind;
    BOOL _hasBarrier;
}
@end

@interface IGIndirectCommandBuffer : IGResource <MTLIndirectCommandBuffer> {
    NSMutableArray *_commands;
    BOOL _inheritsPipeline, _inheritsBuffers;
}
- (id)initWithDevice:(IGDevice *)device
          descriptor:(MTLIndirectCommandBufferDescriptor *)descriptor
               count:(NSUInteger)count
             options:(MTLResourceOptions)options;
// Encodes what is recorded in the range, which must be inside.
- (void)encodeRange:(NSRange)range into:(id<MTLComputeCommandEncoder>)encoder;
@end

#endif
