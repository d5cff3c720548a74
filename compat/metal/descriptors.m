// SPDX-License-Identifier: Apache-2.0
// Descriptors, which only store what is put into them.
#include "object.h"

@implementation MTLFunctionDescriptor
@synthesize name = _name, specializedName = _specializedName, constantValues = _constantValues, options = _options,
            binaryArchives = _binaryArchives;

+ (MTLFunctionDescriptor *)functionDescriptor {
    return igi_autoreleased([[self alloc] init]);
}

- (void)dealloc {
    [_name release];
    [_specializedName release];
    [_constantValues release];
    [_binaryArchives release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    MTLFunctionDescriptor *copy = [[[self class] allocWithZone:zone] init];
    copy.name = _name;
    copy.specializedName = _specializedName;
    copy.constantValues = _constantValues;
    copy.options = _options;
    copy.binaryArchives = _binaryArchives;
    return copy;
}
@end

@implementation MTLPipelineBufferDescriptor
@synthesize mutability = _mutability;

- (id)copyWithZone:(NSZone *)zone {
    MTLPipelineBufferDescriptor *copy = [[[self class] allocWithZone:zone] init];
    copy.mutability = _mutability;
    return copy;
}
@end

@implementation MTLPipelineBufferDescriptorArray
- (MTLPipelineBufferDescriptor *)objectAtIndexedSubscript:(NSUInteger)index {
    return igi_element(&_descriptors, index, [MTLPipelineBufferDescriptor class]);
}

- (void)setObject:(MTLPipelineBufferDescriptor *)buffer atIndexedSubscript:(NSUInteger)index {
    igi_set_element(&_descriptors, index, buffer);
}

- (void)dealloc {
    [_descriptors release];
    [super dealloc];
}
@end

@implementation MTLComputePassSampleBufferAttachmentDescriptor
@synthesize sampleBuffer = _sampleBuffer, startOfEncoderSampleIndex = _startOfEncoderSampleIndex,
            endOfEncoderSampleIndex = _endOfEncoderSampleIndex;

- (void)dealloc {
    [_sampleBuffer release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    MTLComputePassSampleBufferAttachmentDescriptor *copy = [[[self class] allocWithZone:zone] init];
    copy.sampleBuffer = _sampleBuffer;
    copy.startOfEncoderSampleIndex = _startOfEncoderSampleIndex;
    copy.endOfEncoderSampleIndex = _endOfEncoderSampleIndex;
    return copy;
}
@end

@implementation MTLComputePassSampleBufferAttachmentDescriptorArray
- (MTLComputePassSampleBufferAttachmentDescriptor *)objectAtIndexedSubscript:(NSUInteger)index {
    return igi_element(&_attachments, index, [MTLComputePassSampleBufferAttachmentDescriptor class]);
}

- (void)setObject:(MTLComputePassSampleBufferAttachmentDescriptor *)attachment atIndexedSubscript:(NSUInteger)index {
    igi_set_element(&_attachments, index, attachment);
}

- (NSArray *)all {
    return [_attachments allValues];
}

- (id)copyWithZone:(NSZone *)zone {
    MTLComputePassSampleBufferAttachmentDescriptorArray *copy = [[[self class] allocWithZone:zone] init];
    copy->_attachments = igi_copy_elements(_attachments);
    return copy;
}

- (void)dealloc {
    [_attachments release];
    [super dealloc];
}
@end

@implementation MTLComputePassDescriptor
@synthesize dispatchType = _dispatchType, sampleBufferAttachments = _sampleBufferAttachments;

+ (MTLComputePassDescriptor *)computePassDescriptor {
    return igi_autoreleased([[self alloc] init]);
}

- (id)init {
    if ((self = [super init]))
        _sampleBufferAttachments = [[MTLComputePassSampleBufferAttachmentDescriptorArray alloc] init];
    return self;
}

- (void)dealloc {
    [_sampleBufferAttachments release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    MTLComputePassDescriptor *copy = [[[self class] allocWithZone:zone] init];
    copy.dispatchType = _dispatchType;
    [copy->_sampleBufferAttachments release];
    copy->_sampleBufferAttachments = [_sampleBufferAttachments copy];
    return copy;
}
@end

@implementation MTLBlitPassDescriptor
@synthesize sampleBufferAttachments = _sampleBufferAttachments;

+ (MTLBlitPassDescriptor *)blitPassDescriptor {
    return igi_autoreleased([[self alloc] init]);
}

- (id)init {
    if ((self = [super init]))
        _sampleBufferAttachments = [[MTLBlitPassSampleBufferAttachmentDescriptorArray alloc] init];
    return self;
}

- (void)dealloc {
    [_sampleBufferAttachments release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    MTLBlitPassDescriptor *copy = [[[self class] allocWithZone:zone] init];
    [copy->_sampleBufferAttachments release];
    copy->_sampleBufferAttachments = [_sampleBufferAttachments copy];
    return copy;
}
@end

@implementation MTLCounterSampleBufferDescriptor
@synthesize counterSet = _counterSet, label = _label, storageMode = _storageMode, sampleCount = _sampleCount;

- (void)dealloc {
    [_counterSet release];
    [_label release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    MTLCounterSampleBufferDescriptor *copy = [[[self class] allocWithZone:zone] init];
    copy.counterSet = _counterSet;
    copy.label = _label;
    copy.storageMode = _storageMode;
    copy.sampleCount = _sampleCount;
    return copy;
}
@end

@implementation MTLIndirectCommandBufferDescriptor
@synthesize commandTypes = _commandTypes, inheritPipelineState = _inheritPipelineState,
            inheritBuffers = _inheritBuffers, maxKernelBufferBindCount = _maxKernelBufferBindCount,
            maxKernelThreadgroupMemoryBindCount = _maxKernelThreadgroupMemoryBindCount,
            inheritDepthStencilState = _inheritDepthStencilState, inheritDepthBias = _inheritDepthBias,
            inheritDepthClipMode = _inheritDepthClipMode, inheritCullMode = _inheritCullMode,
            inheritFrontFacingWinding = _inheritFrontFacingWinding, inheritTriangleFillMode = _inheritTriangleFillMode,
            supportRayTracing = _supportRayTracing, supportDynamicAttributeStride = _supportDynamicAttributeStride,
            maxVertexBufferBindCount = _maxVertexBufferBindCount,
            maxFragmentBufferBindCount = _maxFragmentBufferBindCount,
            maxObjectBufferBindCount = _maxObjectBufferBindCount, maxMeshBufferBindCount = _maxMeshBufferBindCount,
            maxObjectThreadgroupMemoryBindCount = _maxObjectThreadgroupMemoryBindCount;

// All members are plain numbers.
- (id)copyWithZone:(NSZone *)zone {
    return NSCopyObject(self, 0, zone);
}
@end
