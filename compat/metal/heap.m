// SPDX-License-Identifier: Apache-2.0
// Heaps: one block of memory, and which ranges of it are taken, in order of their offsets.
#include "resource.h"
#include "texture.h"

#include <stdlib.h>

static NSUInteger round_up(NSUInteger value, NSUInteger alignment) {
    return (value + alignment - 1) / alignment * alignment;
}

@implementation MTLHeapDescriptor
@synthesize size = _size, type = _type, resourceOptions = _resourceOptions, sparsePageSize = _sparsePageSize;

- (id)init {
    if (!(self = [super init])) return nil;
    _resourceOptions = MTLResourceStorageModePrivate;
    _sparsePageSize = MTLSparsePageSize16;
    return self;
}

- (id)copyWithZone:(NSZone *)zone {
    MTLHeapDescriptor *copy = [[[self class] allocWithZone:zone] init];
    copy->_size = _size;
    copy->_type = _type;
    copy->_resourceOptions = _resourceOptions;
    copy->_sparsePageSize = _sparsePageSize;
    return copy;
}

- (void)setField:(NSUInteger)value mask:(NSUInteger)mask shift:(int)shift {
    _resourceOptions = (MTLResourceOptions)((_resourceOptions & ~mask) | ((value << shift) & mask));
}

- (MTLStorageMode)storageMode {
    return igi_storage_mode(_resourceOptions);
}

- (void)setStorageMode:(MTLStorageMode)mode {
    [self setField:mode mask:MTLResourceStorageModeMask shift:MTLResourceStorageModeShift];
}

- (MTLCPUCacheMode)cpuCacheMode {
    return (MTLCPUCacheMode)((_resourceOptions & MTLResourceCPUCacheModeMask) >> MTLResourceCPUCacheModeShift);
}

- (void)setCpuCacheMode:(MTLCPUCacheMode)mode {
    [self setField:mode mask:MTLResourceCPUCacheModeMask shift:MTLResourceCPUCacheModeShift];
}

- (MTLHazardTrackingMode)hazardTrackingMode {
    return (MTLHazardTrackingMode)((_resourceOptions & MTLResourceHazardTrackingModeMask) >>
                                   MTLResourceHazardTrackingModeShift);
}

- (void)setHazardTrackingMode:(MTLHazardTrackingMode)mode {
    [self setField:mode mask:MTLResourceHazardTrackingModeMask shift:MTLResourceHazardTrackingModeShift];
}
@end

@implementation IGHeap
- (id)initWithDevice:(IGDevice *)device descriptor:(MTLHeapDescriptor *)descriptor {
    if (!(self = [super init])) return nil;
    pthread_mutex_init(&_lock, NULL);
    _device = [device retain];
    _type = descriptor.type;
    _options = descriptor.resourceOptions;
    _size = round_up(descriptor.size, IGI_HEAP_ALIGNMENT);
    _purgeable = MTLPurgeableStateNonVolatile;
    BOOL possible = descriptor.size > 0 && _size >= descriptor.size && _type != MTLHeapTypeSparse &&
                    igi_storage_mode(_options) != MTLStorageModeMemoryless;
    if (!possible || ig_buffer_create(device->_device, &(ig_buffer_desc){.length = _size}, &_memory) != IG_STATUS_OK) {
        [self release];
        return nil;
    }
    return self;
}

- (void)dealloc {
    ig_buffer_release(_memory);
    free(_taken);
    pthread_mutex_destroy(&_lock);
    [_device release];
    [super dealloc];
}

// ---- Ranges ----

// Call with the lock held. Calls `visit` with every free range; the walk ends when it returns NO.
- (void)walkFreeRanges:(BOOL (^)(size_t before, NSUInteger start, NSUInteger end))visit {
    NSUInteger start = 0;
    for (size_t i = 0; i <= _takenCount; i++) {
        NSUInteger end = i < _takenCount ? _taken[i]->offset : _size;
        if (end > start && !visit(i, start, end)) return;
        if (i < _takenCount && _taken[i]->offset + _taken[i]->length > start)
            start = _taken[i]->offset + _taken[i]->length;
    }
}

- (BOOL)insert:(igi_heap_place *)place at:(size_t)index {
    if (_takenCount == _takenCapacity) {
        size_t capacity = _takenCapacity ? 2 * _takenCapacity : 8;
        igi_heap_place **grown = realloc(_taken, capacity * sizeof *grown);
        if (!grown) return NO;
        _taken = grown;
        _takenCapacity = capacity;
    }
    for (size_t i = _takenCount++; i > index; i--) _taken[i] = _taken[i - 1];
    _taken[index] = place;
    place->taken = YES;
    return YES;
}

// The first free range that is large enough.
- (BOOL)take:(igi_heap_place *)place {
    __block BOOL found = NO;
    __block size_t index = 0;
    pthread_mutex_lock(&_lock);
    [self walkFreeRanges:^BOOL(size_t before, NSUInteger start, NSUInteger end) {
      found = end - start >= place->length;
      if (!found) return YES;
      place->offset = start;
      index = before;
      return NO;
    }];
    found = found && [self insert:place at:index];
    pthread_mutex_unlock(&_lock);
    return found;
}

- (ig_buffer *)memory {
    return _memory;
}

- (void)giveBack:(igi_heap_place *)place {
    pthread_mutex_lock(&_lock);
    for (size_t i = 0; place->taken && i < _takenCount; i++) {
        if (_taken[i] != place) continue;
        for (_takenCount--; i < _takenCount; i++) _taken[i] = _taken[i + 1];
        place->taken = NO;
    }
    pthread_mutex_unlock(&_lock);
}

- (NSUInteger)maxAvailableSizeWithAlignment:(NSUInteger)alignment {
    if (_type == MTLHeapTypePlacement) return _size;
    __block NSUInteger most = 0;
    pthread_mutex_lock(&_lock);
    [self walkFreeRanges:^BOOL(size_t before, NSUInteger start, NSUInteger end) {
      NSUInteger aligned = alignment > 1 ? round_up(start, alignment) : start;
      if (aligned < end && end - aligned > most) most = end - aligned;
      return YES;
    }];
    pthread_mutex_unlock(&_lock);
    return most;
}

- (NSUInteger)usedSize {
    NSUInteger used = 0;
    pthread_mutex_lock(&_lock);
    for (size_t i = 0; i < _takenCount; i++) used += _taken[i]->length;
    pthread_mutex_unlock(&_lock);
    return used;
}

// ---- Buffers ----

static void end_place(void *memory, uint64_t length, void *user) {
    igi_heap_place *place = user;
    IGHeap *heap = place->heap;
    [heap giveBack:place];
    [heap release];
    free(place);
}

- (id<MTLBuffer>)newBufferAt:(igi_heap_place *)place length:(NSUInteger)length options:(MTLResourceOptions)options {
    ig_buffer *buffer = NULL;
    ig_buffer_desc desc = {.length = length,
                           .no_copy = (char *)ig_buffer_contents(_memory) + place->offset,
                           .deallocate = end_place,
                           .user = place};
    place->heap = [self retain];
    if (ig_buffer_create(_device->_device, &desc, &buffer) != IG_STATUS_OK) {
        end_place(NULL, 0, place);
        return nil;
    }
    return [[IGBuffer alloc] initWithBuffer:buffer place:place options:options];
}

- (BOOL)accepts:(MTLResourceOptions)options length:(NSUInteger)length {
    return length > 0 && length <= _size && igi_storage_mode(options) == igi_storage_mode(_options);
}

- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options {
    if (_type != MTLHeapTypeAutomatic || ![self accepts:options length:length]) return nil;
    igi_heap_place *place = calloc(1, sizeof *place);
    if (!place) return nil;
    place->length = round_up(length, IGI_HEAP_ALIGNMENT);
    if ([self take:place]) return [self newBufferAt:place length:length options:options];
    free(place);
    return nil;
}

- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options offset:(NSUInteger)offset {
    BOOL possible = _type == MTLHeapTypePlacement && [self accepts:options length:length] &&
                    offset % IGI_HEAP_ALIGNMENT == 0 && offset <= _size - length;
    igi_heap_place *place = possible ? calloc(1, sizeof *place) : NULL;
    if (!place) return nil;
    place->offset = offset;
    place->length = length;
    return [self newBufferAt:place length:length options:options];
}

// Textures of a heap have memory of their own. Programs notice only if they make them alias.
- (id<MTLTexture>)newTextureWithDescriptor:(MTLTextureDescriptor *)descriptor {
    return igi_new_texture(_device, descriptor, nil, 0, 0);
}

// ---- Properties ----

- (id<MTLDevice>)device {
    return _device;
}

- (NSUInteger)size {
    return _size;
}

- (NSUInteger)allocatedSize {
    return _size;
}

- (NSUInteger)currentAllocatedSize {
    return _size;
}

- (MTLHeapType)type {
    return _type;
}

- (MTLResourceOptions)resourceOptions {
    return _options;
}

- (MTLStorageMode)storageMode {
    return igi_storage_mode(_options);
}

- (MTLCPUCacheMode)cpuCacheMode {
    return (MTLCPUCacheMode)((_options & MTLResourceCPUCacheModeMask) >> MTLResourceCPUCacheModeShift);
}

- (MTLHazardTrackingMode)hazardTrackingMode {
    NSUInteger mode = (_options & MTLResourceHazardTrackingModeMask) >> MTLResourceHazardTrackingModeShift;
    return mode ? (MTLHazardTrackingMode)mode : MTLHazardTrackingModeUntracked;
}

- (MTLPurgeableState)setPurgeableState:(MTLPurgeableState)state {
    return igi_set_purgeable(&_purgeable, state);
}
@end
