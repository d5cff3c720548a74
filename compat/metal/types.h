// SPDX-License-Identifier: Apache-2.0
// Types of arguments, from Ingot's layouts. Internal.
#ifndef INGOT_COMPAT_METAL_TYPES_H
#define INGOT_COMPAT_METAL_TYPES_H

#include "library.h"

@interface MTLPointerType (Ingot)
// `element` may be nil: of a type that is not described.
- (id)initWithElement:(MTLType *)element
          elementType:(MTLDataType)elementType
               access:(MTLBindingAccess)access
                 size:(NSUInteger)size
            alignment:(NSUInteger)alignment;
@end

@interface MTLType (Ingot)
- (id)initWithDataType:(MTLDataType)dataType;
@end

@interface MTLTensorReferenceType (Ingot)
- (id)initWithLayout:(igi_layout_range)range;
@end

// What a kernel says of a tensor: sizes are -1 where they are not constant.
typedef struct igi_mtl_tensor_shape {
    MTLTensorDataType element;
    MTLDataType index;
    MTLBindingAccess access;
    NSUInteger rank;
    NSInteger sizes[MTL_TENSOR_MAX_RANK];
} igi_mtl_tensor_shape;

#pragma GCC visibility push(hidden)

// One reference for the caller; nil for an empty range.
MTLType *igi_new_type(igi_layout_range range);
// The part at `index` with everything below it.
igi_layout_range igi_layout_below(igi_layout_range range, size_t index);
// How many ids of an argument buffer it takes.
NSUInteger igi_layout_ids(igi_layout_range range);
MTLDataType igi_layout_data_type(const ig_layout *part);
MTLBindingAccess igi_binding_access(ig_access access);
// "texture2d<float, access::sample>", "array<depthcube<float>, 4>": the type, what it holds, and whether it is of depth.
MTLTextureType igi_texture_type(const char *text, BOOL *depth, MTLDataType *data);
BOOL igi_is_tensor(const char *text);
igi_mtl_tensor_shape igi_mtl_tensor_shape_of(const char *text);  // pre: it is one
MTLTensorExtents *igi_new_extents(const igi_mtl_tensor_shape *shape);
// "const float *", "uint3 &": the type pointed to. Anything but a scalar, vector or matrix counts as a struct.
MTLDataType igi_element_type(const char *text);

#pragma GCC visibility pop

#endif
