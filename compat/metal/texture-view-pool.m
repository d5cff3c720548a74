// SPDX-License-Identifier: Apache-2.0
// Pools of texture views. Ids of views are addresses, which do not follow each other; those from baseResourceID on are
// numbers of slots.
#include "texture-view-pool.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { MOST_VIEWS = 1 << 20 };

// Above every address.
static atomic_ullong next_base = 1ull << 62;

typedef struct igi_view_slot {
    id<MTLTexture> view;  // retained
    igi_living number, address;
} igi_view_slot;

@implementation MTLResourceViewPoolDescriptor
@synthesize resourceViewCount = _resourceViewCount, label = _label;

- (void)dealloc {
    [_label release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    MTLResourceViewPoolDescriptor *copy = [[[self class] allocWithZone:zone] init];
    copy.resourceViewCount = _resourceViewCount;
    copy.label = _label;
    return copy;
}
@end

@implementation IGTextureViewPool
- (id)initWithDevice:(IGDevice *)device descriptor:(MTLResourceViewPoolDescriptor *)descriptor error:(NSError **)error {
    igi_clear_error(error);
    if (!(self = [super init])) return nil;
    pthread_mutex_init(&_lock, NULL);
    _device = [device retain];
    NSUInteger count = descriptor.resourceViewCount;
    if (count && count <= MOST_VIEWS) _slots = calloc(count, sizeof *_slots);
    if (!_slots) {
        igi_refuse(error, MTLCommandBufferErrorDomain, MTLCommandBufferErrorInvalidResource,
                   @"a pool has 1 to 1048576 views");
        [self release];
        return nil;
    }
    _count = count;
    _base = atomic_fetch_add(&next_base, count);
    self.label = descriptor.label;
    for (NSUInteger i = 0; i < count; i++) igi_living_add(&_slots[i].number, _base + i, self);
    return self;
}

- (void)dealloc {
    for (NSUInteger i = 0; i < _count; i++) {
        igi_living_remove(&_slots[i].number);
        igi_living_remove(&_slots[i].address);
        [(id)_slots[i].view release];
    }
    free(_slots);
    pthread_mutex_destroy(&_lock);
    [_device release];
    [super dealloc];
}

- (id<MTLDevice>)device {
    return _device;
}

- (NSUInteger)resourceViewCount {
    return _count;
}

- (MTLResourceID)baseResourceID {
    return (MTLResourceID){_base};
}

// One reference, or nil.
- (id<MTLTexture>)newViewWithIdentity:(uint64_t)identity {
    id<MTLTexture> found = nil;
    pthread_mutex_lock(&_lock);
    if (identity >= _base && identity - _base < _count) found = _slots[identity - _base].view;
    for (NSUInteger i = 0; !found && identity < _base && i < _count; i++)
        if (_slots[i].view && _slots[i].view.gpuResourceID._impl == identity) found = _slots[i].view;
    [(id)found retain];
    pthread_mutex_unlock(&_lock);
    return found;
}

id<MTLTexture> igi_pooled_view(MTLResourceID resource) {
    __block id<MTLTexture> view = nil;
    igi_living_use(resource._impl, [IGTextureViewPool class], ^(id owner) {
      view = [(IGTextureViewPool *)owner newViewWithIdentity:resource._impl];
    });
    return view ? igi_autoreleased(view) : nil;
}

// Takes the reference to the view. The lock of what lives is never taken inside of the pool's.
- (MTLResourceID)put:(id<MTLTexture>)view at:(NSUInteger)index {
    if (!view || index >= _count) {
        [(id)view release];
        return (MTLResourceID){0};
    }
    igi_view_slot *slot = &_slots[index];
    igi_living_remove(&slot->address);
    pthread_mutex_lock(&_lock);
    id<MTLTexture> before = slot->view;
    slot->view = view;
    pthread_mutex_unlock(&_lock);
    igi_living_add(&slot->address, view.gpuResourceID._impl, self);
    [(id)before release];
    return view.gpuResourceID;
}

// A view of its own, so that the id is that of the slot.
- (MTLResourceID)setTextureView:(id<MTLTexture>)texture atIndex:(NSUInteger)index {
    return [self put:[texture newTextureViewWithPixelFormat:texture.pixelFormat] at:index];
}

- (MTLResourceID)setTextureView:(id<MTLTexture>)texture
                     descriptor:(MTLTextureViewDescriptor *)descriptor
                        atIndex:(NSUInteger)index {
    return [self put:[texture newTextureViewWithDescriptor:descriptor] at:index];
}

- (MTLResourceID)setTextureViewFromBuffer:(id<MTLBuffer>)buffer
                               descriptor:(MTLTextureDescriptor *)descriptor
                                   offset:(NSUInteger)offset
                              bytesPerRow:(NSUInteger)bytesPerRow
                                  atIndex:(NSUInteger)index {
    return [self put:[buffer newTextureWithDescriptor:descriptor offset:offset bytesPerRow:bytesPerRow] at:index];
}

- (MTLResourceID)copyResourceViewsFromPool:(id<MTLResourceViewPool>)sourcePool
                               sourceRange:(NSRange)range
                          destinationIndex:(NSUInteger)destinationIndex {
    IGTextureViewPool *source = (IGTextureViewPool *)sourcePool;
    MTLResourceID first = {0};
    if (!source || range.location > source->_count || range.length > source->_count - range.location ||
        destinationIndex > _count || range.length > _count - destinationIndex)
        return first;
    for (NSUInteger i = 0; i < range.length; i++) {
        id<MTLTexture> view = [source newViewWithIdentity:source->_base + range.location + i];
        MTLResourceID copied = [self put:[view newTextureViewWithPixelFormat:view.pixelFormat] at:destinationIndex + i];
        if (i == 0) first = copied;
        [(id)view release];
    }
    return first;
}
@end
