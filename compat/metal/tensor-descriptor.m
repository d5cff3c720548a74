// SPDX-License-Identifier: Apache-2.0
// Sizes and descriptors of tensors, which only store what is put into them.
#include <string.h>

#include "tensor.h"

@implementation MTLTensorExtents
@synthesize rank = _rank;

- (id)initWithRank:(NSUInteger)rank values:(const NSInteger *)values {
    if (!(self = [super init])) return nil;
    if (rank > MTL_TENSOR_MAX_RANK || (rank && !values)) {
        [self release];
        return nil;
    }
    _rank = rank;
    if (rank) memcpy(_values, values, rank * sizeof *values);
    return self;
}

- (NSInteger)extentAtDimensionIndex:(NSUInteger)dimensionIndex {
    return dimensionIndex < _rank ? _values[dimensionIndex] : -1;
}

- (BOOL)isEqual:(id)other {
    if (![other isKindOfClass:[MTLTensorExtents class]]) return NO;
    const MTLTensorExtents *extents = other;
    return extents->_rank == _rank && memcmp(extents->_values, _values, _rank * sizeof *_values) == 0;
}

- (NSUInteger)hash {
    NSUInteger hash = _rank;
    for (NSUInteger i = 0; i < _rank; i++) hash = hash * 31 + (NSUInteger)_values[i];
    return hash;
}

- (id)copyWithZone:(NSZone *)zone {
    return [[[self class] allocWithZone:zone] initWithRank:_rank values:_values];
}
@end

@implementation MTLTensorDescriptor
@synthesize dimensions = _dimensions, strides = _strides, dataType = _dataType, usage = _usage,
            resourceOptions = _resourceOptions;

- (id)init {
    if (!(self = [super init])) return nil;
    _dimensions = [[MTLTensorExtents alloc] initWithRank:1 values:(const NSInteger[]){1}];
    _dataType = MTLTensorDataTypeFloat32;
    _usage = MTLTensorUsageCompute | MTLTensorUsageRender;
    return self;
}

- (void)dealloc {
    [_dimensions release];
    [_strides release];
    [super dealloc];
}

IGI_OPTION_PARTS

- (id)copyWithZone:(NSZone *)zone {
    MTLTensorDescriptor *copy = [[[self class] allocWithZone:zone] init];
    copy.dimensions = _dimensions;
    copy.strides = _strides;
    copy.dataType = _dataType;
    copy.usage = _usage;
    copy.resourceOptions = _resourceOptions;
    return copy;
}
@end
