// SPDX-License-Identifier: Apache-2.0
// Queues, command buffers and encoders. Internal.
#ifndef INGOT_COMPAT_METAL_COMMANDS_H
#define INGOT_COMPAT_METAL_COMMANDS_H

#include <pthread.h>

#include "device.h"

@class IGCommandBuffer, IGEncoder, IGSampling;

@interface IGQueue : IGObject <MTLCommandQueue> {
   @public
    ig_queue *_queue;
    IGDevice *_device;
    id<MTLLogState> _logState;  // of command buffers that have none of their own; may be nil
    // The order is that of enqueue; a command buffer that is committed before an earlier one waits for it.
    pthread_mutex_t _lock;
    pthread_cond_t _submitted;
    IGCommandBuffer *_first, *_last;  // enqueued and not submitted to Ingot yet; not retained
    // Command buffers that may not have completed, the oldest first; not retained. Guarded by the lock.
    IGCommandBuffer *_oldest, *_newest;
    NSUInteger _count, _most;
    unsigned _waiting;  // threads that wait for one to be submitted or released
}
// No more than `most` command buffers exist at a time that have not completed; 0: any number.
- (id)initWithDevice:(IGDevice *)device logState:(id<MTLLogState>)logState most:(NSUInteger)most;
- (void)enqueue:(IGCommandBuffer *)buffer;
- (void)commit:(IGCommandBuffer *)buffer;
- (void)forget:(IGCommandBuffer *)buffer;
- (void)count:(IGCommandBuffer *)buffer;    // waits until there may be one more
- (void)uncount:(IGCommandBuffer *)buffer;  // when it is released
@end

typedef enum igi_llm_stage {
    IGI_NOT_ENQUEUED,
    IGI_ENQUEUED,
    IGI_COMMITTED,  // but an earlier one is not
    IGI_SUBMITTED,  // submitted to Ingot
} igi_llm_stage;

@interface IGCommandBuffer : IGObject <MTLCommandBuffer> {
   @public
    IGCommandBuffer *_next;  // in its queue
    igi_llm_stage _stage;    // guarded by the queue's lock
    ig_commands *_commands;
    ig_commands *_submitted;           // _commands, or an empty one if they cannot run; NULL before
    IGCommandBuffer *_older, *_newer;  // that the queue counts
    BOOL _isCounted;

   @private
    IGQueue *_queue;
    IGEncoder *_encoder;  // the open one, not retained
    NSError *_failure;    // of encoding
    NSMutableArray *_scheduledHandlers, *_completedHandlers;
    BOOL _retainedReferences;
    MTLCommandBufferErrorOption _errorOptions;
    double _commitTime, _scheduledTime;
    uint32_t _boundBuffers, _boundThreadgroups;  // slots that the last encoder left bound
    uint32_t _boundTextures, _boundSamplers;     // how many
    NSMutableArray *_kept;                       // what kernels access through pointers; nil: nothing
    IGSampling *_sampling;                       // nil: no times are sampled
}
- (id)initWithQueue:(IGQueue *)queue retained:(BOOL)retained logState:(id<MTLLogState>)logState;
// Mistakes for which Metal's validation would stop the program: the first such text becomes the error.
- (void)fail:(NSString *)text;
- (void)refuse:(NSString *)text;  // the same, for features that the software device lacks
- (void)keep:(id)resource;        // until completed
- (IGSampling *)sampling;
- (void)waitBriefly;  // until completed, if it has been submitted, and for no more than ten seconds
- (void)encoderEndedWithTextures:(uint32_t)textures samplers:(uint32_t)samplers;
- (void)encoder:(IGEncoder *)encoder endedWithBuffers:(uint32_t)buffers threadgroups:(uint32_t)threadgroups;
- (void)submit;  // with the queue's lock held
@end

// Base class of the encoders. Holds its command buffer until it ends.
@interface IGEncoder : IGObject <MTLCommandEncoder> {
    IGCommandBuffer *_owner;
    ig_commands *_commands;  // the owner's; NULL once ended
    NSUInteger _debugDepth;
    NSArray *_attachments;  // where the time of its end is sampled; nil: nowhere
}
- (id)initWithCommandBuffer:(IGCommandBuffer *)owner;
- (void)sampleAttachments:(MTLComputePassSampleBufferAttachmentDescriptorArray *)attachments;  // its begin, now
- (void)sampleCounters:(id<MTLCounterSampleBuffer>)buffer at:(NSUInteger)index;
- (BOOL)isOpen;  // records a failure if it is not
@end

@interface IGComputeEncoder : IGEncoder <MTLComputeCommandEncoder> {
    MTLDispatchType _dispatchType;
    id _pipeline;  // the command buffer keeps its pipelines; this one is used for limits
    ig_buffer *_buffers[31];
    uint32_t _boundBuffers, _boundThreadgroups;
    uint32_t _setBuffers;                     // of them, those that are not nil
    uint32_t _boundTextures, _boundSamplers;  // how many
}
- (id)initWithCommandBuffer:(IGCommandBuffer *)owner type:(MTLDispatchType)type;
// MTLDispatchThreadsIndirectArguments are in the buffer.
- (void)dispatchThreadsWithIndirectBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset;
@end

@interface IGBlitEncoder : IGEncoder <MTLBlitCommandEncoder>
@end

#pragma GCC visibility push(hidden)
double igi_seconds_now(void);
bool igi_in_completed_handler(void);  // on this thread
#pragma GCC visibility pop

#endif
