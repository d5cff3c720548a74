// SPDX-License-Identifier: Apache-2.0
// Metal 4 over the older objects: a command buffer remembers its commands, and becomes one of Metal 3 when a queue commits
// it. Internal.
#ifndef INGOT_COMPAT_METAL_MTL4_H
#define INGOT_COMPAT_METAL_MTL4_H

#include "commands.h"

enum { IGI_MTL4_BUFFERS = 31, IGI_MTL4_TEXTURES = 128, IGI_MTL4_SAMPLERS = 16 };

@interface IGArgumentTable : IGObject <MTL4ArgumentTable, NSCopying> {
   @public
    struct igi_bindings {
        // A slot for a buffer has an address, or the id of a tensor or a function table; 0: nothing.
        uint64_t addresses[IGI_MTL4_BUFFERS], resources[IGI_MTL4_BUFFERS];
        NSUInteger strides[IGI_MTL4_BUFFERS];  // of attributes
        uint64_t textures[IGI_MTL4_TEXTURES], samplers[IGI_MTL4_SAMPLERS];
    } _bindings;

   @private
    IGDevice *_device;
    NSUInteger _bufferCount, _textureCount, _samplerCount;
}
- (id)initWithDevice:(IGDevice *)device descriptor:(MTL4ArgumentTableDescriptor *)descriptor;
@end

// A command buffer of Metal 3 while commands are encoded into it.
@interface IGReplay : IGObject {
   @public
    IGCommandBuffer *_commands;

   @private
    id<MTLComputeCommandEncoder> _compute;
    id<MTLBlitCommandEncoder> _blit;
    NSArray *_residencySets;
}
- (id)initWithCommands:(IGCommandBuffer *)commands residencySets:(NSArray *)sets;
- (id<MTLComputeCommandEncoder>)compute;
- (id<MTLBlitCommandEncoder>)blit;
- (void)end;
// Every failure of these is one of the command buffer. nil if the address is in no buffer that is resident.
- (id<MTLBuffer>)bufferAt:(uint64_t)address offset:(NSUInteger *)offset;
- (void)bind:(IGArgumentTable *)table;
@end
typedef void (^igi_mtl4_command)(IGReplay *replay);

@class IGCounterSampleBuffer;

@interface IGCounterHeap : IGObject <MTL4CounterHeap> {
   @public
    IGCounterSampleBuffer *_samples;
}
- (id)initWithDevice:(IGDevice *)device descriptor:(MTL4CounterHeapDescriptor *)descriptor error:(NSError **)error;
@end

@interface IGMTL4CommandBuffer : IGObject <MTL4CommandBuffer> {
    IGDevice *_device;
    NSMutableArray *_commands, *_residencySets;
    MTL4CommandBufferOptions *_options;
    BOOL _open, _encoding;
    NSString *_mistake;
}
- (id)initWithDevice:(IGDevice *)device;
- (void)record:(igi_mtl4_command)command;
- (void)encoderEnded;
- (void)mistake:(NSString *)text;
// Everything between begin and end, encoded for the queue.
- (IGCommandBuffer *)commandsFor:(IGQueue *)queue residencySets:(NSArray *)sets;
@end

@interface IGMTL4Encoder : IGObject <MTL4ComputeCommandEncoder> {
    IGMTL4CommandBuffer *_owner;
    id<MTLComputePipelineState> _pipeline;
    IGArgumentTable *_table;
    NSUInteger _threadgroupLengths[IGI_MTL4_BUFFERS];
    BOOL _ended;
}
- (id)initWithOwner:(IGMTL4CommandBuffer *)owner;
- (void)record:(igi_mtl4_command)command;
@end

@interface IGMTL4Queue : IGObject <MTL4CommandQueue> {
    IGQueue *_queue;
    NSMutableArray *_residencySets;
    dispatch_queue_t _feedbackQueue;
}
- (id)initWithDevice:(IGDevice *)device descriptor:(MTL4CommandQueueDescriptor *)descriptor;
@end

@interface MTL4CommitOptions (Ingot)
- (NSArray *)handlers;
@end

@interface IGCompiler : IGObject <MTL4Compiler> {
    IGDevice *_device;
    id<MTL4PipelineDataSetSerializer> _serializer;
}
- (id)initWithDevice:(IGDevice *)device descriptor:(MTL4CompilerDescriptor *)descriptor;
@end

// A descriptor that stores one object.
#define IG_DESCRIPTOR_OF_ONE(name, property)                   \
    @implementation name                                       \
    @synthesize property = _##property;                        \
                                                               \
    -(void)dealloc {                                           \
        [_##property release];                                 \
        [super dealloc];                                       \
    }                                                          \
                                                               \
    -(id)copyWithZone : (NSZone *)zone {                       \
        name *copy = [[[self class] allocWithZone:zone] init]; \
        copy.property = _##property;                           \
        return copy;                                           \
    }                                                          \
    @end

#endif
