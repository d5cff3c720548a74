// SPDX-License-Identifier: Apache-2.0
// What all resources have in common, buffers and heaps. Internal.
#ifndef INGOT_COMPAT_METAL_RESOURCE_H
#define INGOT_COMPAT_METAL_RESOURCE_H

#include <pthread.h>

#include "device.h"

@class IGHeap;

// A resource with memory of its own; those of a heap override what they must.
@interface IGResource : IGObject <MTLResource> {
   @protected
    IGDevice *_device;
    MTLResourceOptions _options;
    MTLPurgeableState _purgeable;
}
- (id)initWithDevice:(IGDevice *)device options:(MTLResourceOptions)options;
@end

@interface IGBuffer : IGResource <MTLBuffer> {
   @public
    ig_buffer *_buffer;

   @private
    struct igi_heap_place *_place;  // NULL: separate memory
}
// Takes the reference to `buffer`.
- (id)initWithBuffer:(ig_buffer *)buffer device:(IGDevice *)device options:(MTLResourceOptions)options;
@end

// A range of a heap. Lives until the last command buffer that uses its memory has ended.
typedef struct igi_heap_place {
    IGHeap *heap;  // retained
    NSUInteger offset, length;
    BOOL taken;  // from the heap's free memory; guarded by its lock
} igi_heap_place;

@interface IGHeap : IGObject <MTLHeap> {
    IGDevice *_device;
    ig_buffer *_memory;
    NSUInteger _size;
    MTLHeapType _type;
    MTLResourceOptions _options;
    MTLPurgeableState _purgeable;
    pthread_mutex_t _lock;  // guards what follows
    igi_heap_place **_taken;
    size_t _takenCount, _takenCapacity;
}
- (id)initWithDevice:(IGDevice *)device descriptor:(MTLHeapDescriptor *)descriptor;
- (void)giveBack:(igi_heap_place *)place;
- (ig_buffer *)memory;  // all of it
@end

@interface IGBuffer (Heap)
- (id)initWithBuffer:(ig_buffer *)buffer place:(igi_heap_place *)place options:(MTLResourceOptions)options;
@end

// The properties of a descriptor that are parts of its _resourceOptions.
#define IGI_OPTION_PART(name, setter, type, mask, shift)                                        \
    -(type)name {                                                                               \
        return (type)((_resourceOptions & (mask)) >> (shift));                                  \
    }                                                                                           \
    -(void)setter : (type)value {                                                               \
        _resourceOptions = (_resourceOptions & ~(mask)) | (MTLResourceOptions)value << (shift); \
    }
#define IGI_OPTION_PARTS                                                                         \
    IGI_OPTION_PART(cpuCacheMode, setCpuCacheMode, MTLCPUCacheMode, MTLResourceCPUCacheModeMask, \
                    MTLResourceCPUCacheModeShift)                                                \
    IGI_OPTION_PART(storageMode, setStorageMode, MTLStorageMode, MTLResourceStorageModeMask,     \
                    MTLResourceStorageModeShift)                                                 \
    IGI_OPTION_PART(hazardTrackingMode, setHazardTrackingMode, MTLHazardTrackingMode,            \
                    MTLResourceHazardTrackingModeMask, MTLResourceHazardTrackingModeShift)

#pragma GCC visibility push(hidden)

static inline MTLStorageMode igi_storage_mode(MTLResourceOptions options) {
    return (MTLStorageMode)((options & MTLResourceStorageModeMask) >> MTLResourceStorageModeShift);
}

// Returns the previous state, as Metal does.
MTLPurgeableState igi_set_purgeable(MTLPurgeableState *current, MTLPurgeableState next);
// The ig_buffer of an MTLBuffer; NULL for nil.
ig_buffer *igi_buffer_of(id<MTLBuffer> buffer);

enum { IGI_HEAP_ALIGNMENT = 256 };

#pragma GCC visibility pop

#endif
