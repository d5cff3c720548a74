// SPDX-License-Identifier: Apache-2.0
// Command queues, and the order of their command buffers.
#include "commands.h"

@implementation MTLCommandQueueDescriptor
@synthesize maxCommandBufferCount = _maxCommandBufferCount, logState = _logState;

- (id)init {
    if ((self = [super init])) _maxCommandBufferCount = 64;
    return self;
}

- (void)dealloc {
    [_logState release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    MTLCommandQueueDescriptor *copy = [[[self class] allocWithZone:zone] init];
    copy.maxCommandBufferCount = _maxCommandBufferCount;
    copy.logState = _logState;
    return copy;
}
@end

@implementation IGQueue
- (id)initWithDevice:(IGDevice *)device logState:(id<MTLLogState>)logState most:(NSUInteger)most {
    if (!(self = [super init])) return nil;
    _most = most;
    pthread_mutex_init(&_lock, NULL);
    pthread_cond_init(&_submitted, NULL);
    _device = [device retain];
    _logState = [logState retain];
    if (ig_queue_create(device->_device, &_queue) != IG_STATUS_OK) {
        [self release];
        return nil;
    }
    return self;
}

- (void)dealloc {
    ig_queue_release(_queue);
    pthread_mutex_destroy(&_lock);
    pthread_cond_destroy(&_submitted);
    [_logState release];
    [_device release];
    [super dealloc];
}

- (id<MTLDevice>)device {
    return _device;
}

- (void)setLabel:(NSString *)label {
    [super setLabel:label];
    (void)ig_queue_set_label(_queue, [label UTF8String]);
}

// ---- Order ----

static void append(IGQueue *queue, IGCommandBuffer *buffer, igi_llm_stage stage) {
    buffer->_stage = stage;
    buffer->_next = nil;
    if (queue->_last)
        queue->_last->_next = buffer;
    else
        queue->_first = buffer;
    queue->_last = buffer;
}

static void remove_first(IGQueue *queue) {
    queue->_first = queue->_first->_next;
    if (!queue->_first) queue->_last = nil;
}

// Submits committed command buffers up to the first that is not committed.
static void submit_ready(IGQueue *queue) {
    while (queue->_first && queue->_first->_stage == IGI_COMMITTED) {
        IGCommandBuffer *buffer = queue->_first;
        remove_first(queue);
        buffer->_stage = IGI_SUBMITTED;
        [buffer submit];
        [buffer release];  // retained while it waited
    }
    pthread_cond_broadcast(&queue->_submitted);
}

- (void)enqueue:(IGCommandBuffer *)buffer {
    pthread_mutex_lock(&_lock);
    if (buffer->_stage == IGI_NOT_ENQUEUED) append(self, buffer, IGI_ENQUEUED);
    pthread_mutex_unlock(&_lock);
}

- (void)commit:(IGCommandBuffer *)buffer {
    pthread_mutex_lock(&_lock);
    if (buffer->_stage == IGI_NOT_ENQUEUED && !_first) {
        buffer->_stage = IGI_SUBMITTED;
        [buffer submit];
        if (_waiting) pthread_cond_broadcast(&_submitted);
    } else if (buffer->_stage <= IGI_ENQUEUED) {
        if (buffer->_stage == IGI_NOT_ENQUEUED) append(self, buffer, IGI_COMMITTED);
        buffer->_stage = IGI_COMMITTED;
        [buffer retain];
        submit_ready(self);
    }
    pthread_mutex_unlock(&_lock);
}

// An enqueued command buffer that is released must not hold up the others.
- (void)forget:(IGCommandBuffer *)buffer {
    pthread_mutex_lock(&_lock);
    IGCommandBuffer *before = nil, *at = _first;
    while (at && at != buffer) before = at, at = at->_next;
    if (at == buffer && at) {
        if (before)
            before->_next = buffer->_next;
        else
            _first = buffer->_next;
        if (_last == buffer) _last = before;
        submit_ready(self);
    }
    pthread_mutex_unlock(&_lock);
}

// ---- How many there are ----

static void uncount(IGQueue *queue, IGCommandBuffer *buffer) {
    *(buffer->_older ? &buffer->_older->_newer : &queue->_oldest) = buffer->_newer;
    *(buffer->_newer ? &buffer->_newer->_older : &queue->_newest) = buffer->_older;
    buffer->_isCounted = NO;
    queue->_count--;
}

static BOOL has_completed(const IGCommandBuffer *buffer) {
    if (buffer->_stage != IGI_SUBMITTED) return NO;
    return !buffer->_submitted || ig_commands_get_state(buffer->_submitted) >= IG_COMMANDS_COMPLETED;
}

// Nobody tells the queue what has completed: it looks when it must know.
static void uncount_completed(IGQueue *queue) {
    for (IGCommandBuffer *at = queue->_oldest, *next; at; at = next) {
        next = at->_newer;
        if (has_completed(at)) uncount(queue, at);
    }
}

// Releases the lock while it waits: for the oldest that runs, or until one is committed or released.
static void wait_for_one(IGQueue *queue) {
    IGCommandBuffer *running = queue->_oldest;
    while (running && running->_stage != IGI_SUBMITTED) running = running->_newer;
    if (!running) {
        queue->_waiting++;
        pthread_cond_wait(&queue->_submitted, &queue->_lock);
        queue->_waiting--;
        return;
    }
    ig_commands *commands = ig_commands_retain(running->_submitted);
    pthread_mutex_unlock(&queue->_lock);
    (void)ig_commands_wait(commands, IG_FOREVER);
    ig_commands_release(commands);
    pthread_mutex_lock(&queue->_lock);
}

// A handler would wait for what runs on its own thread after it.
- (void)count:(IGCommandBuffer *)buffer {
    if (!_most) return;
    pthread_mutex_lock(&_lock);
    while (_count >= _most) {
        uncount_completed(self);
        if (_count < _most || igi_in_completed_handler()) break;
        wait_for_one(self);
    }
    buffer->_older = _newest;
    *(_newest ? &_newest->_newer : &_oldest) = buffer;
    _newest = buffer;
    buffer->_isCounted = YES;
    _count++;
    pthread_mutex_unlock(&_lock);
}

- (void)uncount:(IGCommandBuffer *)buffer {
    if (!_most) return;
    pthread_mutex_lock(&_lock);
    if (buffer->_isCounted) uncount(self, buffer);
    if (_waiting) pthread_cond_broadcast(&_submitted);
    pthread_mutex_unlock(&_lock);
}

// ---- Command buffers ----

- (id<MTLCommandBuffer>)commandBuffer {
    return igi_autoreleased([[IGCommandBuffer alloc] initWithQueue:self retained:YES logState:_logState]);
}

- (id<MTLCommandBuffer>)commandBufferWithUnretainedReferences {
    return igi_autoreleased([[IGCommandBuffer alloc] initWithQueue:self retained:NO logState:_logState]);
}

- (id<MTLCommandBuffer>)commandBufferWithDescriptor:(MTLCommandBufferDescriptor *)descriptor {
    BOOL retained = descriptor ? descriptor.retainedReferences : YES;
    id<MTLLogState> log = descriptor.logState ? descriptor.logState : _logState;
    return igi_autoreleased([[IGCommandBuffer alloc] initWithQueue:self retained:retained logState:log]);
}

- (void)insertDebugCaptureBoundary {
}

- (void)addResidencySet:(id<MTLResidencySet>)residencySet {
}

- (void)addResidencySets:(const id<MTLResidencySet>[])residencySets count:(NSUInteger)count {
}

- (void)removeResidencySet:(id<MTLResidencySet>)residencySet {
}

- (void)removeResidencySets:(const id<MTLResidencySet>[])residencySets count:(NSUInteger)count {
}
@end
