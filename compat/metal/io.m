// SPDX-License-Identifier: Apache-2.0
#include "io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

NSErrorDomain const MTLIOErrorDomain = @"MTLIOErrorDomain";

// The result of a command: nil, or the reason why it failed.
typedef NSString * (^io_command)(void);

@implementation MTLIOCommandQueueDescriptor
@synthesize maxCommandBufferCount = _maxCommandBufferCount, priority = _priority, type = _type,
            maxCommandsInFlight = _maxCommandsInFlight, scratchBufferAllocator = _scratchBufferAllocator;

- (void)dealloc {
    [_scratchBufferAllocator release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    MTLIOCommandQueueDescriptor *copy = [[[self class] allocWithZone:zone] init];
    copy.maxCommandBufferCount = _maxCommandBufferCount;
    copy.priority = _priority;
    copy.type = _type;
    copy.maxCommandsInFlight = _maxCommandsInFlight;
    copy.scratchBufferAllocator = _scratchBufferAllocator;
    return copy;
}
@end

// ---- Files ----

@implementation IGIOFileHandle
- (id)initWithURL:(NSURL *)url error:(NSError **)error {
    igi_clear_error(error);
    if (!(self = [super init])) return nil;
    igi_ensure_pool();
    NSString *path = [url isFileURL] ? [url path] : nil;
    _file = path ? open([path fileSystemRepresentation], O_RDONLY | O_CLOEXEC) : -1;
    if (_file >= 0) return self;
    NSString *why = path ? [NSString stringWithUTF8String:strerror(errno)] : @"it is not a file";
    igi_refuse(error, MTLIOErrorDomain, MTLIOErrorURLInvalid,
               [NSString stringWithFormat:@"'%@' cannot be read: %@", url, why]);
    [self release];
    return nil;
}

- (void)dealloc {
    if (_file >= 0) close(_file);
    [super dealloc];
}

// nil, or the reason why not all bytes could be read.
- (NSString *)read:(NSUInteger)size at:(NSUInteger)offset into:(char *)target {
    while (size) {
        ssize_t got = pread(_file, target, size, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return [NSString stringWithFormat:@"a file cannot be read: %s", strerror(errno)];
        if (got == 0) return [NSString stringWithFormat:@"a file ends %lu bytes too early", size];
        target += got;
        offset += (NSUInteger)got;
        size -= (NSUInteger)got;
    }
    return nil;
}
@end

// ---- Queues ----

@implementation IGIOCommandQueue
- (id)initWithDescriptor:(MTLIOCommandQueueDescriptor *)descriptor {
    if (!(self = [super init])) return nil;
    BOOL serial = descriptor.type == MTLIOCommandQueueTypeSerial;
    _queue = dispatch_queue_create("ingot.metal.io", serial ? DISPATCH_QUEUE_SERIAL : DISPATCH_QUEUE_CONCURRENT);
    return self;
}

- (void)dealloc {
    dispatch_release(_queue);
    [super dealloc];
}

- (void)enqueueBarrier {
    dispatch_barrier_async(_queue, ^{
                           });
}

- (id<MTLIOCommandBuffer>)commandBuffer {
    return igi_autoreleased([[IGIOCommandBuffer alloc] initWithQueue:self]);
}

- (id<MTLIOCommandBuffer>)commandBufferWithUnretainedReferences {
    return [self commandBuffer];
}
@end

// ---- Command buffers ----

static BOOL fits(NSUInteger offset, NSUInteger size, NSUInteger length) {
    return offset <= length && size <= length - offset;
}

// Memory is unified: private buffers have an address too.
static char *memory_of(id<MTLBuffer> buffer) {
    return (char *)(uintptr_t)buffer.gpuAddress;
}

@implementation IGIOCommandBuffer
- (id)initWithQueue:(IGIOCommandQueue *)owner {
    if (!(self = [super init])) return nil;
    _owner = [owner retain];
    _commands = [[NSMutableArray alloc] init];
    _handlers = [[NSMutableArray alloc] init];
    _statusCopies = [[NSMutableArray alloc] init];
    pthread_mutex_init(&_lock, NULL);
    pthread_cond_init(&_ended, NULL);
    return self;
}

- (void)dealloc {
    [_commands release];
    [_handlers release];
    [_statusCopies release];
    [_error release];
    [_owner release];
    pthread_cond_destroy(&_ended);
    pthread_mutex_destroy(&_lock);
    [super dealloc];
}

- (void)add:(id)block to:(NSMutableArray *)list {
    id copy = [block copy];
    pthread_mutex_lock(&_lock);
    if (copy && !_committed) [list addObject:copy];
    pthread_mutex_unlock(&_lock);
    [copy release];
}

- (void)loadBytes:(void *)pointer
                  size:(NSUInteger)size
          sourceHandle:(id<MTLIOFileHandle>)sourceHandle
    sourceHandleOffset:(NSUInteger)sourceHandleOffset {
    IGIOFileHandle *file = (IGIOFileHandle *)sourceHandle;
    [self
        add:^NSString * {
          if (!file || !pointer) return @"loadBytes: there is no file, or no memory";
          return [file read:size at:sourceHandleOffset into:pointer];
        }
         to:_commands];
}

- (void)loadBuffer:(id<MTLBuffer>)buffer
                offset:(NSUInteger)offset
                  size:(NSUInteger)size
          sourceHandle:(id<MTLIOFileHandle>)sourceHandle
    sourceHandleOffset:(NSUInteger)sourceHandleOffset {
    IGIOFileHandle *file = (IGIOFileHandle *)sourceHandle;
    [self
        add:^NSString * {
          if (!file || !buffer) return @"loadBuffer: there is no file, or no buffer";
          if (!fits(offset, size, buffer.length)) return @"loadBuffer: the range is outside of the buffer";
          return [file read:size at:sourceHandleOffset into:memory_of(buffer) + offset];
        }
         to:_commands];
}

- (void)loadTexture:(id<MTLTexture>)texture
                  slice:(NSUInteger)slice
                  level:(NSUInteger)level
                   size:(MTLSize)size
      sourceBytesPerRow:(NSUInteger)sourceBytesPerRow
    sourceBytesPerImage:(NSUInteger)sourceBytesPerImage
      destinationOrigin:(MTLOrigin)destinationOrigin
           sourceHandle:(id<MTLIOFileHandle>)sourceHandle
     sourceHandleOffset:(NSUInteger)sourceHandleOffset {
    IGIOFileHandle *file = (IGIOFileHandle *)sourceHandle;
    [self
        add:^NSString * {
          if (!file || !texture) return @"loadTexture: there is no file, or no texture";
          NSUInteger image = sourceBytesPerImage, bytes;
          if (!image && __builtin_mul_overflow(sourceBytesPerRow, size.height, &image))
              return @"loadTexture: too large";
          if (__builtin_mul_overflow(image, size.depth ? size.depth : 1, &bytes)) return @"loadTexture: too large";
          char *pixels = bytes ? malloc(bytes) : NULL;
          if (!pixels) return @"loadTexture: there is no memory for the pixels, or there are none";
          NSString *wrong = [file read:bytes at:sourceHandleOffset into:pixels];
          if (!wrong)
              [texture replaceRegion:(MTLRegion){destinationOrigin, size}
                         mipmapLevel:level
                               slice:slice
                           withBytes:pixels
                         bytesPerRow:sourceBytesPerRow
                       bytesPerImage:sourceBytesPerImage];
          free(pixels);
          return wrong;
        }
         to:_commands];
}

- (void)copyStatusToBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset {
    if (!buffer || !fits(offset, sizeof(MTLIOStatus), buffer.length)) return;
    void (^copy)(MTLIOStatus) = ^(MTLIOStatus status) {
      memcpy(memory_of(buffer) + offset, &status, sizeof status);
    };
    [self add:copy to:_statusCopies];
}

- (void)waitForEvent:(id<MTLSharedEvent>)event value:(uint64_t)value {
    __block IGIOCommandBuffer *this = self;  // not retained: it holds the block
    [self
        add:^NSString * {
          while (![event waitUntilSignaledValue:value timeoutMS:1000] && ![this wasCancelled]) continue;
          return nil;
        }
         to:_commands];
}

- (void)signalEvent:(id<MTLSharedEvent>)event value:(uint64_t)value {
    [self
        add:^NSString * {
          event.signaledValue = value;
          return nil;
        }
         to:_commands];
}

// Commands of a buffer run one after the other.
- (void)addBarrier {
}

- (void)enqueue {
}

- (void)pushDebugGroup:(NSString *)string {
}

- (void)popDebugGroup {
}

- (void)addCompletedHandler:(MTLIOCommandBufferHandler)block {
    [self add:block to:_handlers];
}

// ---- Running ----

- (BOOL)wasCancelled {
    pthread_mutex_lock(&_lock);
    BOOL cancelled = _cancelled;
    pthread_mutex_unlock(&_lock);
    return cancelled;
}

- (void)endWith:(MTLIOStatus)status because:(NSString *)wrong {
    for (void (^copy)(MTLIOStatus) in _statusCopies) copy(status);
    pthread_mutex_lock(&_lock);
    _status = status;
    if (wrong) _error = [igi_error(MTLIOErrorDomain, MTLIOErrorInternal, wrong) retain];
    pthread_mutex_unlock(&_lock);
    for (MTLIOCommandBufferHandler handler in _handlers) handler(self);
    pthread_mutex_lock(&_lock);
    [_handlers removeAllObjects];
    [_commands removeAllObjects];
    pthread_cond_broadcast(&_ended);
    pthread_mutex_unlock(&_lock);
}

- (void)run {
    NSString *wrong = nil;
    for (io_command command in _commands) {
        if (wrong || [self wasCancelled]) break;
        wrong = command();
    }
    MTLIOStatus status = wrong ? MTLIOStatusError : [self wasCancelled] ? MTLIOStatusCancelled : MTLIOStatusComplete;
    [self endWith:status because:wrong];
}

- (void)commit {
    pthread_mutex_lock(&_lock);
    BOOL again = _committed;
    _committed = YES;
    pthread_mutex_unlock(&_lock);
    if (again) return;
    dispatch_async(_owner->_queue, ^{
      @autoreleasepool {
          [self run];
      }
    });
}

- (void)tryCancel {
    pthread_mutex_lock(&_lock);
    _cancelled = YES;
    pthread_mutex_unlock(&_lock);
}

// Handlers have run when this returns, so they are removed.
- (void)waitUntilCompleted {
    pthread_mutex_lock(&_lock);
    while (_committed && (_status == MTLIOStatusPending || [_handlers count])) pthread_cond_wait(&_ended, &_lock);
    pthread_mutex_unlock(&_lock);
}

- (MTLIOStatus)status {
    pthread_mutex_lock(&_lock);
    MTLIOStatus status = _status;
    pthread_mutex_unlock(&_lock);
    return status;
}

- (NSError *)error {
    pthread_mutex_lock(&_lock);
    NSError *error = [_error retain];
    pthread_mutex_unlock(&_lock);
    return igi_autoreleased(error);
}
@end

// ---- The device's calls ----

@implementation IGDevice (Files)
- (id<MTLIOFileHandle>)newIOFileHandleWithURL:(NSURL *)url error:(NSError **)error {
    return [[IGIOFileHandle alloc] initWithURL:url error:error];
}

- (id<MTLIOFileHandle>)newIOFileHandleWithURL:(NSURL *)url
                            compressionMethod:(MTLIOCompressionMethod)compressionMethod
                                        error:(NSError **)error {
    igi_clear_error(error);
    return igi_refuse(error, MTLIOErrorDomain, MTLIOErrorInternal, @"compressed files are not supported");
}

- (id<MTLIOFileHandle>)newIOHandleWithURL:(NSURL *)url error:(NSError **)error {
    return [self newIOFileHandleWithURL:url error:error];
}

- (id<MTLIOFileHandle>)newIOHandleWithURL:(NSURL *)url
                        compressionMethod:(MTLIOCompressionMethod)compressionMethod
                                    error:(NSError **)error {
    return [self newIOFileHandleWithURL:url compressionMethod:compressionMethod error:error];
}

- (id<MTLIOCommandQueue>)newIOCommandQueueWithDescriptor:(MTLIOCommandQueueDescriptor *)descriptor
                                                   error:(NSError **)error {
    igi_clear_error(error);
    return [[IGIOCommandQueue alloc] initWithDescriptor:descriptor];
}
@end
