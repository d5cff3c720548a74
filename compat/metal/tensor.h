// SPDX-License-Identifier: Apache-2.0
// Tensors. Internal.
#ifndef INGOT_COMPAT_METAL_TENSOR_H
#define INGOT_COMPAT_METAL_TENSOR_H

#include "living.h"
#include "resource.h"

@interface IGTensor : IGResource <MTLTensor> {
   @public
    IGBuffer *_memory;       // of the elements
    IGBuffer *_description;  // what kernels read of it; its address is the tensor's id
    NSUInteger _offset;      // of the first element, in bytes

   @private
    BOOL _isInBuffer;  // of the program
    MTLTensorExtents *_dimensions, *_strides;
    MTLTensorDataType _dataType;
    MTLTensorUsage _usage;
    igi_living _living;
}
@end

// Elements that two tensors, or a tensor and memory, have in other places: counts and strides, in elements.
typedef struct igi_slice {
    NSUInteger rank, counts[MTL_TENSOR_MAX_RANK], from[MTL_TENSOR_MAX_RANK], to[MTL_TENSOR_MAX_RANK];
    NSUInteger from_start, to_start;
} igi_slice;

#pragma GCC visibility push(hidden)

// `buffer` is nil for a tensor with memory of its own. One reference, or nil and an error.
IGTensor *igi_new_tensor(IGDevice *device, MTLTensorDescriptor *descriptor, IGBuffer *buffer, NSUInteger offset,
                         NSError **error);
// What kernels read of the tensor of that id, and where its elements are; nil if there is no such tensor.
IGBuffer *igi_mtl_tensor_of(MTLResourceID resource, IGBuffer **memory);
NSUInteger igi_mtl_tensor_element_size(MTLTensorDataType type);  // in bytes; 0: there is no such type
// Whether a slice lies in the tensor, and where its first element is.
BOOL igi_mtl_tensor_slice(IGTensor *tensor, MTLTensorExtents *origin, MTLTensorExtents *counts, NSUInteger *start,
                          NSUInteger strides[MTL_TENSOR_MAX_RANK]);
// Calls `copy` for each run of elements that follow each other in both places.
void igi_slice_copy(const igi_slice *slice, void (^copy)(NSUInteger from, NSUInteger to, NSUInteger count));
MTLSizeAndAlign igi_mtl_tensor_size(MTLTensorDescriptor *descriptor);

#pragma GCC visibility pop

#endif
