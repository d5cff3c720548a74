// SPDX-License-Identifier: Apache-2.0
// Command buffers: an ig_commands, its encoders and its handlers.
#include <time.h>

#include "capture.h"
#include "commands.h"
#include "counters.h"
#include "event.h"
#include "function-log.h"
#include "log-state.h"
#include "texture.h"

double igi_seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

@implementation MTLCommandBufferDescriptor
@synthesize retainedReferences = _retainedReferences, errorOptions = _errorOptions, logState = _logState;

- (id)init {
    if ((self = [super init])) _retainedReferences = YES;
    return self;
}

- (void)dealloc {
    [_logState release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    MTLCommandBufferDescriptor *copy = [[[self class] allocWithZone:zone] init];
    copy.retainedReferences = _retainedReferences;
    copy.errorOptions = _errorOptions;
    copy.logState = _logState;
    return copy;
}
@end

@implementation IGCommandBuffer

// ---- Life ----

- (id)initWithQueue:(IGQueue *)queue retained:(BOOL)retained logState:(id<MTLLogState>)logState {
    if (!(self = [super init])) return nil;
    _queue = [queue retain];
    _retainedReferences = retained;
    ig_commands_desc desc = {0};
    if (logState) desc.kernel_log = [(IGLogState *)logState desc];
    if (ig_commands_create(queue->_queue, &desc, &_commands) != IG_STATUS_OK) {
        [self release];
        return nil;
    }
    if (logState) [self keep:logState];
    [_queue count:self];
    return self;
}

- (void)dealloc {
    if (_stage == IGI_ENQUEUED) [_queue forget:self];
    [_queue uncount:self];
    ig_commands_release(_submitted);
    ig_commands_release(_commands);
    [_failure release];
    [_scheduledHandlers release];
    [_completedHandlers release];
    [_kept release];
    [_sampling release];
    [_queue release];
    [super dealloc];
}

- (id<MTLDevice>)device {
    return _queue->_device;
}

- (id<MTLCommandQueue>)commandQueue {
    return _queue;
}

- (BOOL)retainedReferences {
    return _retainedReferences;
}

- (MTLCommandBufferErrorOption)errorOptions {
    return _errorOptions;
}

// What validation found; empty while it runs, and without validation.
- (id<MTLLogContainer>)logs {
    return igi_autoreleased([[IGLogContainer alloc] initWithCommands:_submitted]);
}

// ---- Failures of encoding ----

- (void)note:(NSString *)text code:(MTLCommandBufferError)code {
    if (!_failure) _failure = [igi_error(MTLCommandBufferErrorDomain, (NSInteger)code, text) retain];
}

- (void)fail:(NSString *)text {
    [self note:text code:MTLCommandBufferErrorInvalidResource];
}

- (void)refuse:(NSString *)text {
    [self note:text code:MTLCommandBufferErrorNotPermitted];
}

- (void)noteEncodingError {
    ig_error error = {0};
    ig_status status = ig_commands_get_error(_commands, &error);
    if (status != IG_STATUS_OK && !_failure) _failure = [igi_command_error(status, &error) retain];
    ig_error_clear(&error);
}

// ---- Encoders ----

- (BOOL)mayEncode {
    if (_stage >= IGI_COMMITTED) return NO;
    if (_encoder) [self fail:@"a new encoder was made before endEncoding of the one before it"];
    return YES;
}

// Every encoder starts with nothing bound.
- (void)clearBindings {
    for (uint32_t i = 0; _boundBuffers >> i; i++)
        if (_boundBuffers >> i & 1) {
            (void)ig_commands_set_buffer(_commands, NULL, 0, i);
            (void)ig_commands_set_attribute_stride(_commands, 0, i);
        }
    for (uint32_t i = 0; _boundThreadgroups >> i; i++)
        if (_boundThreadgroups >> i & 1) (void)ig_commands_set_threadgroup_memory(_commands, 0, i);
    for (uint32_t i = 0; i < _boundTextures; i++) (void)ig_commands_set_texture(_commands, NULL, i);
    for (uint32_t i = 0; i < _boundSamplers; i++) (void)ig_commands_set_sampler(_commands, NULL, i);
    (void)ig_commands_set_stage_region(_commands, (ig_size){0}, (ig_size){0});
    _boundBuffers = _boundThreadgroups = _boundTextures = _boundSamplers = 0;
}

- (void)encoderEndedWithTextures:(uint32_t)textures samplers:(uint32_t)samplers {
    _boundTextures = MAX(_boundTextures, textures);
    _boundSamplers = MAX(_boundSamplers, samplers);
}

- (void)encoder:(IGEncoder *)encoder endedWithBuffers:(uint32_t)buffers threadgroups:(uint32_t)threadgroups {
    if (_encoder == encoder) _encoder = nil;
    _boundBuffers |= buffers;
    _boundThreadgroups |= threadgroups;
}

- (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDispatchType:(MTLDispatchType)dispatchType {
    if (![self mayEncode]) return nil;
    [self clearBindings];
    _encoder = [[IGComputeEncoder alloc] initWithCommandBuffer:self type:dispatchType];
    return igi_autoreleased(_encoder);
}

- (id<MTLComputeCommandEncoder>)computeCommandEncoder {
    return [self computeCommandEncoderWithDispatchType:MTLDispatchTypeSerial];
}

- (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDescriptor:(MTLComputePassDescriptor *)descriptor {
    id encoder = [self computeCommandEncoderWithDispatchType:descriptor.dispatchType];
    [encoder sampleAttachments:descriptor.sampleBufferAttachments];
    return encoder;
}

- (id<MTLBlitCommandEncoder>)blitCommandEncoder {
    if (![self mayEncode]) return nil;
    _encoder = [[IGBlitEncoder alloc] initWithCommandBuffer:self];
    return igi_autoreleased(_encoder);
}

- (id<MTLBlitCommandEncoder>)blitCommandEncoderWithDescriptor:(MTLBlitPassDescriptor *)descriptor {
    id encoder = [self blitCommandEncoder];
    [encoder sampleAttachments:descriptor.sampleBufferAttachments];
    return encoder;
}

- (BOOL)maySignal:(id<MTLEvent>)event {
    if (_stage >= IGI_COMMITTED) return NO;
    if (!event) [self fail:@"an event to encode is nil"];
    if (_encoder) [self fail:@"events are encoded between encoders, and one is open"];
    return event != nil;
}

- (void)encodeWaitForEvent:(id<MTLEvent>)event value:(uint64_t)value {
    if ([self maySignal:event]) (void)ig_commands_wait_event(_commands, ((IGEvent *)event)->_event, value);
}

- (void)encodeSignalEvent:(id<MTLEvent>)event value:(uint64_t)value {
    if ([self maySignal:event]) (void)ig_commands_signal_event(_commands, ((IGEvent *)event)->_event, value);
}

- (void)pushDebugGroup:(NSString *)string {
}

- (void)popDebugGroup {
}

- (void)useResidencySet:(id<MTLResidencySet>)residencySet {
}

- (void)useResidencySets:(const id<MTLResidencySet>[])residencySets count:(NSUInteger)count {
}

- (void)keep:(id)resource {
    if (!_kept) _kept = [[NSMutableArray alloc] init];
    if (resource && [_kept lastObject] != resource) [_kept addObject:resource];
}

- (IGSampling *)sampling {
    if (!_sampling) _sampling = [[IGSampling alloc] init];
    return _sampling;
}

// ---- Handlers ----

static void add_handler(NSMutableArray **handlers, MTLCommandBufferHandler block) {
    id copy = [block copy];
    if (!*handlers) *handlers = [[NSMutableArray alloc] init];
    if (copy) [*handlers addObject:copy];
    [copy release];
}

static void call_handlers(NSArray *handlers, IGCommandBuffer *buffer) {
    for (id handler in handlers) ((MTLCommandBufferHandler)handler)(buffer);
}

- (void)addScheduledHandler:(MTLCommandBufferHandler)block {
    if (_stage >= IGI_COMMITTED) return;
    add_handler(&_scheduledHandlers, block);
}

- (void)addCompletedHandler:(MTLCommandBufferHandler)block {
    if (_stage >= IGI_COMMITTED) return;
    add_handler(&_completedHandlers, block);
}

static _Thread_local bool in_handler;

bool igi_in_completed_handler(void) {
    return in_handler;
}

// Called on a thread of Ingot, or on the thread that waits.
static void completed(ig_commands *commands, ig_status status, void *user) {
    @autoreleasepool {
        IGCommandBuffer *buffer = user;
        bool was_in_handler = in_handler;
        in_handler = true;
        [buffer->_sampling fillFrom:commands];
        NSArray *handlers = buffer->_completedHandlers;
        buffer->_completedHandlers = nil;  // and with them what they captured
        call_handlers(handlers, buffer);
        [handlers release];
        in_handler = was_in_handler;
        [buffer->_kept release];
        buffer->_kept = nil;
        [buffer release];
    }
}

static dispatch_queue_t scheduled_queue(void) {
    static dispatch_once_t once;
    static dispatch_queue_t queue;
    dispatch_once(&once, ^{
      queue = dispatch_queue_create("ingot.metal.scheduled", DISPATCH_QUEUE_SERIAL);
    });
    return queue;
}

// ---- Running ----

- (void)enqueue {
    [_queue enqueue:self];
}

- (void)commit {
    if (_encoder && _stage < IGI_COMMITTED) [self fail:@"commit came before endEncoding of an encoder"];
    _commitTime = igi_seconds_now();
    if (_queue->_device->_capturable) igi_capture_note(self);
    [_queue commit:self];
}

// If commands cannot run, an empty command buffer replaces them: order, waiting and handlers stay the same.
- (void)chooseSubmitted {
    [self noteEncodingError];
    _submitted = _failure ? NULL : ig_commands_retain(_commands);
    if (!_submitted) (void)ig_commands_create(_queue->_queue, NULL, &_submitted);
    if (_submitted && (_completedHandlers || _kept || _sampling)) {
        [self retain];  // until completed
        if (ig_commands_on_completed(_submitted, completed, self) != IG_STATUS_OK) [self release];
    }
}

- (void)submit {
    [self chooseSubmitted];
    if (_submitted) (void)ig_commands_commit(_submitted);
    _scheduledTime = igi_seconds_now();
    if (!_scheduledHandlers) return;
    NSArray *handlers = _scheduledHandlers;
    _scheduledHandlers = nil;
    dispatch_async(scheduled_queue(), ^{
      call_handlers(handlers, self);
      [handlers release];
    });
}

- (igi_llm_stage)waitForSubmission {
    pthread_mutex_lock(&_queue->_lock);
    while (_stage == IGI_COMMITTED) pthread_cond_wait(&_queue->_submitted, &_queue->_lock);
    igi_llm_stage stage = _stage;
    pthread_mutex_unlock(&_queue->_lock);
    return stage;
}

- (void)waitUntilScheduled {
    [self waitForSubmission];
}

- (void)waitUntilCompleted {
    if ([self waitForSubmission] == IGI_SUBMITTED && _submitted) (void)ig_commands_wait(_submitted, IG_FOREVER);
}

- (void)waitBriefly {
    pthread_mutex_lock(&_queue->_lock);
    BOOL submitted = _stage == IGI_SUBMITTED;
    pthread_mutex_unlock(&_queue->_lock);
    if (submitted && _submitted) (void)ig_commands_wait(_submitted, 10000000000u);
}

// ---- What became of it ----

static MTLCommandBufferStatus status_of(ig_commands_state state, BOOL failed) {
    switch (state) {
        case IG_COMMANDS_ENCODING:
        case IG_COMMANDS_COMMITTED: return MTLCommandBufferStatusCommitted;
        case IG_COMMANDS_RUNNING: return MTLCommandBufferStatusScheduled;
        case IG_COMMANDS_COMPLETED: return failed ? MTLCommandBufferStatusError : MTLCommandBufferStatusCompleted;
        default: return MTLCommandBufferStatusError;
    }
}

- (MTLCommandBufferStatus)status {
    pthread_mutex_lock(&_queue->_lock);
    igi_llm_stage stage = _stage;
    pthread_mutex_unlock(&_queue->_lock);
    switch (stage) {
        case IGI_NOT_ENQUEUED: return MTLCommandBufferStatusNotEnqueued;
        case IGI_ENQUEUED: return MTLCommandBufferStatusEnqueued;
        case IGI_COMMITTED: return MTLCommandBufferStatusCommitted;
        default: break;
    }
    if (!_submitted) return MTLCommandBufferStatusError;
    return status_of(ig_commands_get_state(_submitted), _failure != nil);
}

- (NSError *)error {
    if ([self status] != MTLCommandBufferStatusError) return nil;
    if (_failure) return igi_autoreleased([_failure retain]);
    ig_error why = {0};
    ig_status status = _submitted ? ig_commands_get_error(_submitted, &why) : IG_STATUS_OUT_OF_MEMORY;
    NSError *error = igi_command_error(status, &why);
    ig_error_clear(&why);
    return error;
}

- (ig_timing)timing {
    ig_timing timing = {0};
    if (_submitted) ig_commands_get_timing(_submitted, &timing);
    return timing;
}

- (CFTimeInterval)GPUStartTime {
    return (double)[self timing].start_ns * 1e-9;
}

- (CFTimeInterval)GPUEndTime {
    return (double)[self timing].end_ns * 1e-9;
}

- (CFTimeInterval)kernelStartTime {
    return _commitTime;
}

- (CFTimeInterval)kernelEndTime {
    return _scheduledTime;
}
@end
