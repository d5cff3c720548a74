// SPDX-License-Identifier: Apache-2.0
// Metal 4: command buffers, their allocators, and queues.
#include "mtl4-archive.h"
#include "mtl4.h"
#include "texture-view-pool.h"

NSErrorDomain const MTL4CommandQueueErrorDomain = @"MTL4CommandQueueErrorDomain";

// ---- Allocators ----

@interface IGCommandAllocator : IGObject <MTL4CommandAllocator> {
    IGDevice *_device;
}
@end

@implementation IGCommandAllocator
- (id)initWithDevice:(IGDevice *)device label:(NSString *)label {
    if (!(self = [super init])) return nil;
    _device = [device retain];
    self.label = label;
    return self;
}

- (void)dealloc {
    [_device release];
    [super dealloc];
}

- (id<MTLDevice>)device {
    return _device;
}

- (uint64_t)allocatedSize {
    return 0;
}

- (void)reset {
}
@end

// ---- Descriptors ----

IG_DESCRIPTOR_OF_ONE(MTL4CommandAllocatorDescriptor, label)

IG_DESCRIPTOR_OF_ONE(MTL4CommandBufferOptions, logState)

@implementation MTL4CommandQueueDescriptor
@synthesize label = _label;

- (dispatch_queue_t)feedbackQueue {
    return _feedbackQueue;
}

- (void)setFeedbackQueue:(dispatch_queue_t)queue {
    if (queue) dispatch_retain(queue);
    if (_feedbackQueue) dispatch_release(_feedbackQueue);
    _feedbackQueue = queue;
}

- (void)dealloc {
    [self setFeedbackQueue:NULL];
    [_label release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    MTL4CommandQueueDescriptor *copy = [[[self class] allocWithZone:zone] init];
    copy.label = _label;
    copy.feedbackQueue = _feedbackQueue;
    return copy;
}
@end

@implementation MTL4CommitOptions
- (void)addFeedbackHandler:(MTL4CommitFeedbackHandler)block {
    id copy = [block copy];
    if (!_handlers) _handlers = [[NSMutableArray alloc] init];
    if (copy) [_handlers addObject:copy];
    [copy release];
}

- (NSArray *)handlers {
    return [[_handlers copy] autorelease];
}

- (void)dealloc {
    [_handlers release];
    [super dealloc];
}
@end

// ---- Command buffers ----

@implementation IGMTL4CommandBuffer
- (id)initWithDevice:(IGDevice *)device {
    if (!(self = [super init])) return nil;
    _device = [device retain];
    _commands = [[NSMutableArray alloc] init];
    _residencySets = [[NSMutableArray alloc] init];
    return self;
}

- (void)dealloc {
    [_commands release];
    [_residencySets release];
    [_options release];
    [_mistake release];
    [_device release];
    [super dealloc];
}

- (id<MTLDevice>)device {
    return _device;
}

- (void)mistake:(NSString *)text {
    if (!_mistake) _mistake = [text copy];
}

- (void)beginCommandBufferWithAllocator:(id<MTL4CommandAllocator>)allocator {
    [self beginCommandBufferWithAllocator:allocator options:nil];
}

- (void)beginCommandBufferWithAllocator:(id<MTL4CommandAllocator>)allocator
                                options:(MTL4CommandBufferOptions *)options {
    [_commands removeAllObjects];
    [_residencySets removeAllObjects];
    [_options release];
    _options = [options copy];
    [_mistake release];
    _mistake = nil;
    _open = YES;
    if (!allocator) [self mistake:@"beginCommandBufferWithAllocator: the allocator is nil"];
}

- (void)endCommandBuffer {
    if (!_open) [self mistake:@"endCommandBuffer came without beginCommandBufferWithAllocator"];
    if (_encoding) [self mistake:@"endCommandBuffer came before endEncoding of an encoder"];
    _open = NO;
}

- (void)record:(igi_mtl4_command)command {
    if (!_open) return [self mistake:@"a command was encoded outside of begin and end of its command buffer"];
    id copy = [command copy];
    [_commands addObject:copy];
    [copy release];
}

- (void)encoderEnded {
    _encoding = NO;
}

- (id<MTL4ComputeCommandEncoder>)computeCommandEncoder {
    if (!_open) [self mistake:@"an encoder was made outside of begin and end of its command buffer"];
    if (_encoding) [self mistake:@"a new encoder was made before endEncoding of the one before it"];
    _encoding = YES;
    return igi_autoreleased([[IGMTL4Encoder alloc] initWithOwner:self]);
}

- (void)useResidencySet:(id<MTLResidencySet>)residencySet {
    if (residencySet) [_residencySets addObject:residencySet];
}

- (void)useResidencySets:(const id<MTLResidencySet>[])residencySets count:(NSUInteger)count {
    for (NSUInteger i = 0; i < count; i++) [self useResidencySet:residencySets[i]];
}

- (void)pushDebugGroup:(NSString *)string {
}

- (void)popDebugGroup {
}

- (IGCommandBuffer *)commandsFor:(IGQueue *)queue residencySets:(NSArray *)sets {
    MTLCommandBufferDescriptor *descriptor = [[[MTLCommandBufferDescriptor alloc] init] autorelease];
    descriptor.logState = _options.logState;
    IGCommandBuffer *made = (IGCommandBuffer *)[queue commandBufferWithDescriptor:descriptor];
    made.label = self.label;
    IGReplay *replay = [[IGReplay alloc] initWithCommands:made
                                            residencySets:[sets arrayByAddingObjectsFromArray:_residencySets]];
    if (_open) [self mistake:@"commit came before endCommandBuffer"];
    if (_mistake) [made fail:_mistake];
    for (igi_mtl4_command command in _commands) command(replay);
    [replay end];
    [replay release];
    return made;
}
@end

// ---- Feedback ----

@interface IGCommitFeedback : IGObject <MTL4CommitFeedback> {
    NSArray *_commands;
}
@end

static NSInteger queue_error(NSInteger code) {
    switch (code) {
        case MTLCommandBufferErrorTimeout: return MTL4CommandQueueErrorTimeout;
        case MTLCommandBufferErrorOutOfMemory: return MTL4CommandQueueErrorOutOfMemory;
        case MTLCommandBufferErrorNotPermitted: return MTL4CommandQueueErrorNotPermitted;
        default: return MTL4CommandQueueErrorInternal;
    }
}

@implementation IGCommitFeedback
- (id)initWithCommands:(NSArray *)commands {
    if ((self = [super init])) _commands = [commands retain];
    return self;
}

- (void)dealloc {
    [_commands release];
    [super dealloc];
}

- (NSError *)error {
    for (IGCommandBuffer *commands in _commands) {
        NSError *error = commands.error;
        if (error)
            return igi_error(MTL4CommandQueueErrorDomain, queue_error([error code]), [error localizedDescription]);
    }
    return nil;
}

- (CFTimeInterval)GPUStartTime {
    return [[_commands objectAtIndex:0] GPUStartTime];
}

- (CFTimeInterval)GPUEndTime {
    return [[_commands lastObject] GPUEndTime];
}
@end

// ---- Queues ----

@implementation IGMTL4Queue
- (id)initWithDevice:(IGDevice *)device descriptor:(MTL4CommandQueueDescriptor *)descriptor {
    if (!(self = [super init])) return nil;
    _queue = [[IGQueue alloc] initWithDevice:device logState:nil most:0];
    _residencySets = [[NSMutableArray alloc] init];
    _feedbackQueue = descriptor.feedbackQueue;
    if (_feedbackQueue) dispatch_retain(_feedbackQueue);
    self.label = descriptor.label;
    if (_queue) return self;
    [self release];
    return nil;
}

- (void)dealloc {
    if (_feedbackQueue) dispatch_release(_feedbackQueue);
    [_residencySets release];
    [_queue release];
    [super dealloc];
}

- (id<MTLDevice>)device {
    return [_queue device];
}

- (NSArray *)residencySets {
    @synchronized(_residencySets) {
        return igi_autoreleased([_residencySets copy]);
    }
}

- (void)commit:(const id<MTL4CommandBuffer>[])commandBuffers count:(NSUInteger)count {
    [self commit:commandBuffers count:count options:nil];
}

// Handlers run when the last command buffer has completed, which is after the others.
- (void)give:(NSArray *)handlers feedbackOf:(NSArray *)commands {
    dispatch_queue_t queue = _feedbackQueue;
    [(IGCommandBuffer *)[commands lastObject] addCompletedHandler:^(id<MTLCommandBuffer> last) {
      IGCommitFeedback *feedback = [[IGCommitFeedback alloc] initWithCommands:commands];
      dispatch_block_t call = ^{
        for (MTL4CommitFeedbackHandler handler in handlers) handler(feedback);
      };
      if (queue)
          dispatch_async(queue, call);
      else
          call();
      [feedback release];
    }];
}

- (void)commit:(const id<MTL4CommandBuffer>[])commandBuffers
         count:(NSUInteger)count
       options:(MTL4CommitOptions *)options {
    igi_ensure_pool();
    NSArray *sets = [self residencySets], *handlers = [options handlers];
    NSMutableArray *commands = [NSMutableArray array];
    for (NSUInteger i = 0; i < count; i++) {
        IGCommandBuffer *made = [(IGMTL4CommandBuffer *)commandBuffers[i] commandsFor:_queue residencySets:sets];
        if (made) [commands addObject:made];
    }
    if (![commands count]) [commands addObject:[_queue commandBuffer]];
    if ([handlers count]) [self give:handlers feedbackOf:commands];
    for (IGCommandBuffer *made in commands) [made commit];
}

- (void)signalEvent:(id<MTLEvent>)event value:(uint64_t)value {
    id<MTLCommandBuffer> commands = [_queue commandBuffer];
    [commands encodeSignalEvent:event value:value];
    [commands commit];
}

- (void)waitForEvent:(id<MTLEvent>)event value:(uint64_t)value {
    id<MTLCommandBuffer> commands = [_queue commandBuffer];
    [commands encodeWaitForEvent:event value:value];
    [commands commit];
}

- (void)addResidencySet:(id<MTLResidencySet>)residencySet {
    @synchronized(_residencySets) {
        if (residencySet && ![_residencySets containsObject:residencySet]) [_residencySets addObject:residencySet];
    }
}

- (void)addResidencySets:(const id<MTLResidencySet>[])residencySets count:(NSUInteger)count {
    for (NSUInteger i = 0; i < count; i++) [self addResidencySet:residencySets[i]];
}

- (void)removeResidencySet:(id<MTLResidencySet>)residencySet {
    @synchronized(_residencySets) {
        [_residencySets removeObject:residencySet];
    }
}

- (void)removeResidencySets:(const id<MTLResidencySet>[])residencySets count:(NSUInteger)count {
    for (NSUInteger i = 0; i < count; i++) [self removeResidencySet:residencySets[i]];
}
@end

// ---- The device's calls ----

@implementation IGDevice (Metal4)
- (id<MTL4CommandQueue>)newMTL4CommandQueue {
    return [self newMTL4CommandQueueWithDescriptor:nil error:NULL];
}

- (id<MTL4CommandQueue>)newMTL4CommandQueueWithDescriptor:(MTL4CommandQueueDescriptor *)descriptor
                                                    error:(NSError **)error {
    igi_clear_error(error);
    return [[IGMTL4Queue alloc] initWithDevice:self descriptor:descriptor];
}

- (id<MTL4CommandAllocator>)newCommandAllocator {
    return [[IGCommandAllocator alloc] initWithDevice:self label:nil];
}

- (id<MTL4CommandAllocator>)newCommandAllocatorWithDescriptor:(MTL4CommandAllocatorDescriptor *)descriptor
                                                        error:(NSError **)error {
    igi_clear_error(error);
    return [[IGCommandAllocator alloc] initWithDevice:self label:descriptor.label];
}

- (id<MTL4CommandBuffer>)newCommandBuffer {
    return [[IGMTL4CommandBuffer alloc] initWithDevice:self];
}

- (id<MTL4ArgumentTable>)newArgumentTableWithDescriptor:(MTL4ArgumentTableDescriptor *)descriptor
                                                  error:(NSError **)error {
    igi_clear_error(error);
    return [[IGArgumentTable alloc] initWithDevice:self descriptor:descriptor];
}

- (id<MTL4CounterHeap>)newCounterHeapWithDescriptor:(MTL4CounterHeapDescriptor *)descriptor error:(NSError **)error {
    return [[IGCounterHeap alloc] initWithDevice:self descriptor:descriptor error:error];
}

- (NSUInteger)sizeOfCounterHeapEntry:(MTL4CounterHeapType)type {
    return type == MTL4CounterHeapTypeTimestamp ? sizeof(MTL4TimestampHeapEntry) : 0;
}

- (uint64_t)queryTimestampFrequency {
    return 1000000000;  // they are nanoseconds
}

- (id<MTLTextureViewPool>)newTextureViewPoolWithDescriptor:(MTLResourceViewPoolDescriptor *)descriptor
                                                     error:(NSError **)error {
    return [[IGTextureViewPool alloc] initWithDevice:self descriptor:descriptor error:error];
}

- (id<MTL4Compiler>)newCompilerWithDescriptor:(MTL4CompilerDescriptor *)descriptor error:(NSError **)error {
    igi_clear_error(error);
    return [[IGCompiler alloc] initWithDevice:self descriptor:descriptor];
}

- (id<MTL4PipelineDataSetSerializer>)newPipelineDataSetSerializerWithDescriptor:
    (MTL4PipelineDataSetSerializerDescriptor *)descriptor {
    return [[IGSerializer alloc] initWithDescriptor:descriptor];
}

- (id<MTL4Archive>)newArchiveWithURL:(NSURL *)url error:(NSError **)error {
    return [[IGArchive alloc] initWithDevice:self url:url error:error];
}
@end
