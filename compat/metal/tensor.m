// SPDX-License-Identifier: Apache-2.0
// Tensors: where their elements are, and what kernels read of them.
#include "tensor.h"

#include <string.h>

NSErrorDomain const MTLTensorDomain = @"MTLTensorDomain";

// As <metal_tensor> reads it.
typedef struct igi_mtl_tensor_bytes {
    uint64_t address, rank;
    int64_t extents[MTL_TENSOR_MAX_RANK], strides[MTL_TENSOR_MAX_RANK];
} igi_mtl_tensor_bytes;

NSUInteger igi_mtl_tensor_element_size(MTLTensorDataType type) {
    switch (type) {
        case MTLTensorDataTypeFloat32:
        case MTLTensorDataTypeInt32:
        case MTLTensorDataTypeUInt32: return 4;
        case MTLTensorDataTypeFloat16:
        case MTLTensorDataTypeBFloat16:
        case MTLTensorDataTypeInt16:
        case MTLTensorDataTypeUInt16: return 2;
        case MTLTensorDataTypeInt8:
        case MTLTensorDataTypeUInt8: return 1;
        default: return 0;
    }
}

// ---- Descriptors ----

static MTLTensorExtents *packed_strides(MTLTensorExtents *dimensions) {
    NSInteger strides[MTL_TENSOR_MAX_RANK] = {1};
    for (NSUInteger d = 1; d < dimensions.rank; d++)
        if (__builtin_mul_overflow(strides[d - 1], [dimensions extentAtDimensionIndex:d - 1], &strides[d])) return nil;
    return igi_autoreleased([[MTLTensorExtents alloc] initWithRank:dimensions.rank values:strides]);
}

// How many bytes the elements reach over; 0 if that is no number.
static NSUInteger bytes_of(MTLTensorExtents *dimensions, MTLTensorExtents *strides, NSUInteger element) {
    NSInteger last = 0, step;
    NSInteger bytes;
    for (NSUInteger d = 0; d < dimensions.rank; d++) {
        NSInteger count = [dimensions extentAtDimensionIndex:d];
        if (__builtin_mul_overflow(count - 1, [strides extentAtDimensionIndex:d], &step) ||
            __builtin_add_overflow(last, step, &last))
            return 0;
    }
    if (__builtin_add_overflow(last, 1, &last) || __builtin_mul_overflow(last, (NSInteger)element, &bytes)) return 0;
    return (NSUInteger)bytes;
}

static NSString *shape_mistake(MTLTensorExtents *dimensions, MTLTensorExtents *strides) {
    if (!dimensions) return @"a tensor needs dimensions";
    if (strides && strides.rank != dimensions.rank) return @"a tensor needs a stride for each of its dimensions";
    for (NSUInteger d = 0; d < dimensions.rank; d++) {
        if ([dimensions extentAtDimensionIndex:d] < 1) return @"a dimension of a tensor is less than 1";
        if (strides && [strides extentAtDimensionIndex:d] < 1) return @"a stride of a tensor is less than 1";
    }
    if (strides.rank && [strides extentAtDimensionIndex:0] != 1) return @"the first stride of a tensor is not 1";
    return nil;
}

// What is wrong with it, or nil.
static NSString *mistake_of(MTLTensorDescriptor *descriptor, IGBuffer *buffer, NSUInteger offset) {
    NSUInteger element = igi_mtl_tensor_element_size(descriptor.dataType);
    MTLTensorExtents *strides = descriptor.strides;
    NSString *text = shape_mistake(descriptor.dimensions, strides);
    if (text) return descriptor ? text : @"the descriptor of a tensor is nil";
    if (!element) return @"the software device has no tensors of this data type";
    if (!buffer && strides) return @"only a tensor in a buffer can have strides";
    if (!strides) strides = packed_strides(descriptor.dimensions);
    NSUInteger bytes = strides ? bytes_of(descriptor.dimensions, strides, element) : 0;
    if (!bytes) return @"a tensor of these dimensions is larger than any memory";
    if (!buffer) return nil;
    if (offset % element) return @"the offset of a tensor is not a multiple of its elements' size";
    if (offset > buffer.length || bytes > buffer.length - offset)
        return [NSString stringWithFormat:@"a tensor of %lu bytes from offset %lu is not inside a buffer of %lu bytes",
                                          bytes, offset, buffer.length];
    return nil;
}

enum { TENSOR_ALIGNMENT = 128 };

MTLSizeAndAlign igi_mtl_tensor_size(MTLTensorDescriptor *descriptor) {
    igi_ensure_pool();
    if (mistake_of(descriptor, nil, 0)) return (MTLSizeAndAlign){0, 0};
    MTLTensorExtents *strides = packed_strides(descriptor.dimensions);
    return (MTLSizeAndAlign){bytes_of(descriptor.dimensions, strides, igi_mtl_tensor_element_size(descriptor.dataType)),
                             TENSOR_ALIGNMENT};
}

// ---- Making and finding ----

@interface IGTensor (Making)
- (id)initWithMemory:(IGBuffer *)memory descriptor:(MTLTensorDescriptor *)descriptor offset:(NSUInteger)offset;
- (IGTensor *)setIsInBuffer;
@end

IGTensor *igi_new_tensor(IGDevice *device, MTLTensorDescriptor *descriptor, IGBuffer *buffer, NSUInteger offset,
                         NSError **error) {
    igi_ensure_pool();
    igi_clear_error(error);
    NSString *mistake = mistake_of(descriptor, buffer, offset);
    if (mistake) return igi_refuse(error, MTLTensorDomain, MTLTensorErrorInvalidDescriptor, mistake);
    IGBuffer *memory = buffer ? [buffer retain]
                              : (IGBuffer *)[device newBufferWithLength:igi_mtl_tensor_size(descriptor).size
                                                                options:descriptor.resourceOptions];
    IGTensor *made = [[IGTensor alloc] initWithMemory:memory descriptor:descriptor offset:offset];
    [memory release];
    if (!made)
        return igi_refuse(error, MTLTensorDomain, MTLTensorErrorInternalError, @"there is no memory for a tensor");
    return buffer ? [made setIsInBuffer] : made;
}

@implementation IGTensor
- (id)initWithMemory:(IGBuffer *)memory descriptor:(MTLTensorDescriptor *)descriptor offset:(NSUInteger)offset {
    MTLResourceOptions options = memory ? memory.resourceOptions : descriptor.resourceOptions;
    if (!(self = [super initWithDevice:(IGDevice *)memory.device options:options])) return nil;
    _memory = [memory retain];
    _offset = offset;
    _dimensions = [descriptor.dimensions copy];
    _strides = [(descriptor.strides ? descriptor.strides : packed_strides(_dimensions)) copy];
    _dataType = descriptor.dataType;
    _usage = descriptor.usage;
    if (memory && [self describe]) return self;
    [self release];
    return nil;
}

- (IGTensor *)setIsInBuffer {
    _isInBuffer = YES;
    return self;
}

- (BOOL)describe {
    igi_mtl_tensor_bytes bytes = {.address = _memory.gpuAddress + _offset, .rank = _dimensions.rank};
    for (NSUInteger d = 0; d < _dimensions.rank; d++) {
        bytes.extents[d] = [_dimensions extentAtDimensionIndex:d];
        bytes.strides[d] = [_strides extentAtDimensionIndex:d];
    }
    _description = (IGBuffer *)[_device newBufferWithBytes:&bytes
                                                    length:sizeof bytes
                                                   options:MTLResourceStorageModeShared];
    if (_description) igi_living_add(&_living, _description.gpuAddress, self);
    return _description != nil;
}

- (void)dealloc {
    igi_living_remove(&_living);
    [_description release];
    [_memory release];
    [_dimensions release];
    [_strides release];
    [super dealloc];
}

IGBuffer *igi_mtl_tensor_of(MTLResourceID resource, IGBuffer **memory) {
    __block IGBuffer *description = nil, *elements = nil;
    igi_living_use(resource._impl, [IGTensor class], ^(id owner) {
      description = [((IGTensor *)owner)->_description retain];
      elements = [((IGTensor *)owner)->_memory retain];
    });
    *memory = elements ? igi_autoreleased(elements) : nil;
    return description ? igi_autoreleased(description) : nil;
}

// ---- What it is ----

- (MTLResourceID)gpuResourceID {
    return (MTLResourceID){_description.gpuAddress};
}

- (id<MTLBuffer>)buffer {
    return _isInBuffer ? _memory : nil;
}

- (NSUInteger)bufferOffset {
    return _isInBuffer ? _offset : 0;
}

- (MTLTensorExtents *)strides {
    return _isInBuffer ? _strides : nil;
}

- (MTLTensorExtents *)dimensions {
    return _dimensions;
}

- (MTLTensorDataType)dataType {
    return _dataType;
}

- (MTLTensorUsage)usage {
    return _usage;
}

- (NSUInteger)allocatedSize {
    return _isInBuffer ? 0 : _memory.allocatedSize;
}

- (id<MTLHeap>)heap {
    return _memory.heap;
}

// ---- Slices ----

BOOL igi_mtl_tensor_slice(IGTensor *tensor, MTLTensorExtents *origin, MTLTensorExtents *counts, NSUInteger *start,
                          NSUInteger strides[MTL_TENSOR_MAX_RANK]) {
    NSUInteger rank = tensor->_dimensions.rank;
    if (origin.rank != rank || counts.rank != rank) return NO;
    *start = 0;
    for (NSUInteger d = 0; d < rank; d++) {
        NSInteger at = [origin extentAtDimensionIndex:d], count = [counts extentAtDimensionIndex:d];
        NSInteger extent = [tensor->_dimensions extentAtDimensionIndex:d];
        if (at < 0 || count < 0 || at > extent || count > extent - at) return NO;
        strides[d] = (NSUInteger)[tensor->_strides extentAtDimensionIndex:d];
        *start += (NSUInteger)at * strides[d];
    }
    return YES;
}

// The innermost dimensions that follow each other in both places are one run.
static NSUInteger run_of(const igi_slice *slice, NSUInteger *dimensions) {
    NSUInteger run = 1, d = 0;
    for (; d < slice->rank && slice->from[d] == run && slice->to[d] == run; d++) run *= slice->counts[d];
    *dimensions = d;
    return run;
}

void igi_slice_copy(const igi_slice *slice, void (^copy)(NSUInteger from, NSUInteger to, NSUInteger count)) {
    NSUInteger first, run = run_of(slice, &first), at[MTL_TENSOR_MAX_RANK] = {0};
    for (NSUInteger d = 0; d < slice->rank; d++)
        if (!slice->counts[d]) return;
    for (NSUInteger d = first;;) {
        NSUInteger from = slice->from_start, to = slice->to_start;
        for (NSUInteger i = first; i < slice->rank; i++) from += at[i] * slice->from[i], to += at[i] * slice->to[i];
        copy(from, to, run);
        for (d = first; d < slice->rank && ++at[d] == slice->counts[d]; d++) at[d] = 0;
        if (d == slice->rank) return;
    }
}

// The strides of the program's memory; nil: packed.
static BOOL set_strides(NSUInteger *strides, MTLTensorExtents *given, MTLTensorExtents *counts) {
    MTLTensorExtents *used = given ? given : packed_strides(counts);
    if (used.rank != counts.rank) return NO;
    for (NSUInteger d = 0; d < used.rank; d++) {
        if ([used extentAtDimensionIndex:d] < 0) return NO;
        strides[d] = (NSUInteger)[used extentAtDimensionIndex:d];
    }
    return YES;
}

static void set_counts(igi_slice *slice, MTLTensorExtents *counts) {
    slice->rank = counts.rank;
    for (NSUInteger d = 0; d < counts.rank; d++) slice->counts[d] = (NSUInteger)[counts extentAtDimensionIndex:d];
}

// As for buffers, what the host may not see is not copied.
- (char *)elements {
    return _memory.contents ? (char *)_memory.contents + _offset : NULL;
}

- (void)replaceSliceOrigin:(MTLTensorExtents *)sliceOrigin
           sliceDimensions:(MTLTensorExtents *)sliceDimensions
                 withBytes:(const void *)bytes
                   strides:(MTLTensorExtents *)strides {
    igi_slice slice = {0};
    char *elements = [self elements];
    NSUInteger size = igi_mtl_tensor_element_size(_dataType);
    if (!bytes || !elements || !igi_mtl_tensor_slice(self, sliceOrigin, sliceDimensions, &slice.to_start, slice.to) ||
        !set_strides(slice.from, strides, sliceDimensions))
        return;
    set_counts(&slice, sliceDimensions);
    igi_slice_copy(&slice, ^(NSUInteger from, NSUInteger to, NSUInteger count) {
      memcpy(elements + to * size, (const char *)bytes + from * size, count * size);
    });
}

- (void)getBytes:(void *)bytes
            strides:(MTLTensorExtents *)strides
    fromSliceOrigin:(MTLTensorExtents *)sliceOrigin
    sliceDimensions:(MTLTensorExtents *)sliceDimensions {
    igi_slice slice = {0};
    const char *elements = [self elements];
    NSUInteger size = igi_mtl_tensor_element_size(_dataType);
    if (!bytes || !elements ||
        !igi_mtl_tensor_slice(self, sliceOrigin, sliceDimensions, &slice.from_start, slice.from) ||
        !set_strides(slice.to, strides, sliceDimensions))
        return;
    set_counts(&slice, sliceDimensions);
    igi_slice_copy(&slice, ^(NSUInteger from, NSUInteger to, NSUInteger count) {
      memcpy((char *)bytes + to * size, elements + from * size, count * size);
    });
}
@end
