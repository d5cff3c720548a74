// SPDX-License-Identifier: Apache-2.0
// Descriptors of a function's inputs: values only.
#include "object.h"

@implementation MTLAttributeDescriptor
@synthesize format = _format, offset = _offset, bufferIndex = _bufferIndex;

- (id)copyWithZone:(NSZone *)zone {
    MTLAttributeDescriptor *copy = [[[self class] allocWithZone:zone] init];
    copy.format = _format;
    copy.offset = _offset;
    copy.bufferIndex = _bufferIndex;
    return copy;
}
@end

@implementation MTLBufferLayoutDescriptor
@synthesize stride = _stride, stepFunction = _stepFunction, stepRate = _stepRate;

- (id)init {
    if (!(self = [super init])) return nil;
    _stepFunction = MTLStepFunctionPerVertex;
    _stepRate = 1;
    return self;
}

- (id)copyWithZone:(NSZone *)zone {
    MTLBufferLayoutDescriptor *copy = [[[self class] allocWithZone:zone] init];
    copy.stride = _stride;
    copy.stepFunction = _stepFunction;
    copy.stepRate = _stepRate;
    return copy;
}
@end

@implementation MTLAttributeDescriptorArray
- (MTLAttributeDescriptor *)objectAtIndexedSubscript:(NSUInteger)index {
    return igi_element(&_descriptors, index, [MTLAttributeDescriptor class]);
}

- (void)setObject:(MTLAttributeDescriptor *)attributeDesc atIndexedSubscript:(NSUInteger)index {
    igi_set_element(&_descriptors, index, attributeDesc);
}

- (void)dealloc {
    [_descriptors release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    MTLAttributeDescriptorArray *copy = [[[self class] allocWithZone:zone] init];
    copy->_descriptors = igi_copy_elements(_descriptors);
    return copy;
}
@end

@implementation MTLBufferLayoutDescriptorArray
- (MTLBufferLayoutDescriptor *)objectAtIndexedSubscript:(NSUInteger)index {
    return igi_element(&_descriptors, index, [MTLBufferLayoutDescriptor class]);
}

- (void)setObject:(MTLBufferLayoutDescriptor *)bufferDesc atIndexedSubscript:(NSUInteger)index {
    igi_set_element(&_descriptors, index, bufferDesc);
}

- (void)dealloc {
    [_descriptors release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    MTLBufferLayoutDescriptorArray *copy = [[[self class] allocWithZone:zone] init];
    copy->_descriptors = igi_copy_elements(_descriptors);
    return copy;
}
@end

@implementation MTLStageInputOutputDescriptor
@synthesize layouts = _layouts, attributes = _attributes, indexType = _indexType, indexBufferIndex = _indexBufferIndex;

+ (MTLStageInputOutputDescriptor *)stageInputOutputDescriptor {
    return igi_autoreleased([[self alloc] init]);
}

- (id)init {
    if ((self = [super init])) [self reset];
    return self;
}

- (void)reset {
    [_layouts release];
    [_attributes release];
    _layouts = [[MTLBufferLayoutDescriptorArray alloc] init];
    _attributes = [[MTLAttributeDescriptorArray alloc] init];
    _indexType = MTLIndexTypeUInt16;
    _indexBufferIndex = 0;
}

- (void)dealloc {
    [_layouts release];
    [_attributes release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    MTLStageInputOutputDescriptor *copy = [[[self class] allocWithZone:zone] init];
    [copy->_layouts release];
    [copy->_attributes release];
    copy->_layouts = [_layouts copy];
    copy->_attributes = [_attributes copy];
    copy->_indexType = _indexType;
    copy->_indexBufferIndex = _indexBufferIndex;
    return copy;
}
@end
