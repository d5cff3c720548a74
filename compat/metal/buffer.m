// SPDX-License-Identifier: Apache-2.0
#include "resource.h"

#include "tensor.h"
#include "texture.h"

ig_buffer *igi_buffer_of(id<MTLBuffer> buffer) {
    return buffer ? ((IGBuffer *)buffer)->_buffer : NULL;
}

@implementation IGBuffer
- (id)initWithBuffer:(ig_buffer *)buffer device:(IGDevice *)device options:(MTLResourceOptions)options {
    if ((self = [super initWithDevice:device options:options])) _buffer = buffer;
    return self;
}

- (id)initWithBuffer:(ig_buffer *)buffer place:(igi_heap_place *)place options:(MTLResourceOptions)options {
    if ((self = [self initWithBuffer:buffer device:(IGDevice *)[place->heap device] options:options])) _place = place;
    return self;
}

- (void)dealloc {
    ig_buffer_release(_buffer);  // and with it the place, once no commands use it
    [super dealloc];
}

- (NSUInteger)length {
    return ig_buffer_length(_buffer);
}

- (NSUInteger)allocatedSize {
    return _place ? _place->length : ig_buffer_length(_buffer);
}

// A private buffer in a heap is shared memory underneath.
- (void *)contents {
    return igi_storage_mode(_options) == MTLStorageModePrivate ? NULL : ig_buffer_contents(_buffer);
}

- (uint64_t)gpuAddress {
    return ig_buffer_device_address(_buffer);
}

- (void)didModifyRange:(NSRange)range {
    (void)ig_buffer_did_modify(_buffer, range.location, range.length);
}

- (void)addDebugMarker:(NSString *)marker range:(NSRange)range {
}

- (void)removeAllDebugMarkers {
}

- (id<MTLBuffer>)remoteStorageBuffer {
    return nil;
}

- (id<MTLBuffer>)newRemoteBufferViewForDevice:(id<MTLDevice>)device {
    return nil;
}

- (id<MTLTexture>)newTextureWithDescriptor:(MTLTextureDescriptor *)descriptor
                                    offset:(NSUInteger)offset
                               bytesPerRow:(NSUInteger)bytesPerRow {
    return igi_new_texture(_device, descriptor, self, offset, bytesPerRow);
}

- (id<MTLTensor>)newTensorWithDescriptor:(MTLTensorDescriptor *)descriptor
                                  offset:(NSUInteger)offset
                                   error:(NSError **)error {
    return igi_new_tensor(_device, descriptor, self, offset, error);
}

// ---- Resource ----

- (MTLHazardTrackingMode)hazardTrackingMode {
    BOOL isDefault = (_options & MTLResourceHazardTrackingModeMask) == MTLResourceHazardTrackingModeDefault;
    return _place && isDefault ? MTLHazardTrackingModeUntracked : [super hazardTrackingMode];
}

- (id<MTLHeap>)heap {
    return _place ? (id<MTLHeap>)_place->heap : nil;
}

- (NSUInteger)heapOffset {
    return _place ? _place->offset : 0;
}

- (void)makeAliasable {
    if (_place) [_place->heap giveBack:_place];
}

- (BOOL)isAliasable {
    return _place && !_place->taken;
}
@end
