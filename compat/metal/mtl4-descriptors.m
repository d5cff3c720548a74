// SPDX-License-Identifier: Apache-2.0
// Metal 4: descriptors for the compiler, which only store what is put into them.
#include "mtl4.h"

@implementation MTL4LibraryDescriptor
@synthesize source = _source, options = _options, name = _name;

- (void)dealloc {
    [_source release];
    [_options release];
    [_name release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    MTL4LibraryDescriptor *copy = [[[self class] allocWithZone:zone] init];
    copy.source = _source;
    copy.options = _options;
    copy.name = _name;
    return copy;
}
@end

@implementation MTL4FunctionDescriptor
- (id)copyWithZone:(NSZone *)zone {
    return [[[self class] allocWithZone:zone] init];
}
@end

@implementation MTL4LibraryFunctionDescriptor
@synthesize name = _name, library = _library;

- (void)dealloc {
    [_name release];
    [_library release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    MTL4LibraryFunctionDescriptor *copy = [super copyWithZone:zone];
    copy.name = _name;
    copy.library = _library;
    return copy;
}
@end

@implementation MTL4SpecializedFunctionDescriptor
@synthesize functionDescriptor = _functionDescriptor, specializedName = _specializedName,
            constantValues = _constantValues;

- (void)dealloc {
    [_functionDescriptor release];
    [_specializedName release];
    [_constantValues release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    MTL4SpecializedFunctionDescriptor *copy = [super copyWithZone:zone];
    copy.functionDescriptor = _functionDescriptor;
    copy.specializedName = _specializedName;
    copy.constantValues = _constantValues;
    return copy;
}
@end

@implementation MTL4StaticLinkingDescriptor
@synthesize functionDescriptors = _functionDescriptors, privateFunctionDescriptors = _privateFunctionDescriptors,
            groups = _groups;

- (void)dealloc {
    [_functionDescriptors release];
    [_privateFunctionDescriptors release];
    [_groups release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    MTL4StaticLinkingDescriptor *copy = [[[self class] allocWithZone:zone] init];
    copy.functionDescriptors = _functionDescriptors;
    copy.privateFunctionDescriptors = _privateFunctionDescriptors;
    copy.groups = _groups;
    return copy;
}
@end

@implementation MTL4PipelineStageDynamicLinkingDescriptor
@synthesize maxCallStackDepth = _maxCallStackDepth, binaryLinkedFunctions = _binaryLinkedFunctions,
            preloadedLibraries = _preloadedLibraries;

- (void)dealloc {
    [_binaryLinkedFunctions release];
    [_preloadedLibraries release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    MTL4PipelineStageDynamicLinkingDescriptor *copy = [[[self class] allocWithZone:zone] init];
    copy.maxCallStackDepth = _maxCallStackDepth;
    copy.binaryLinkedFunctions = _binaryLinkedFunctions;
    copy.preloadedLibraries = _preloadedLibraries;
    return copy;
}
@end

@implementation MTL4PipelineOptions
@synthesize shaderValidation = _shaderValidation, shaderReflection = _shaderReflection;

- (id)copyWithZone:(NSZone *)zone {
    MTL4PipelineOptions *copy = [[[self class] allocWithZone:zone] init];
    copy.shaderValidation = _shaderValidation;
    copy.shaderReflection = _shaderReflection;
    return copy;
}
@end

@implementation MTL4PipelineDescriptor
@synthesize label = _label, options = _options;

- (void)dealloc {
    [_label release];
    [_options release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    MTL4PipelineDescriptor *copy = [[[self class] allocWithZone:zone] init];
    copy.label = _label;
    copy.options = _options;
    return copy;
}
@end

@implementation MTL4ComputePipelineDescriptor
@synthesize computeFunctionDescriptor = _computeFunctionDescriptor,
            threadGroupSizeIsMultipleOfThreadExecutionWidth = _threadGroupSizeIsMultipleOfThreadExecutionWidth,
            maxTotalThreadsPerThreadgroup = _maxTotalThreadsPerThreadgroup,
            requiredThreadsPerThreadgroup = _requiredThreadsPerThreadgroup,
            supportBinaryLinking = _supportBinaryLinking, staticLinkingDescriptor = _staticLinkingDescriptor,
            supportIndirectCommandBuffers = _supportIndirectCommandBuffers;

- (void)reset {
    self.label = nil;
    self.options = nil;
    self.computeFunctionDescriptor = nil;
    self.staticLinkingDescriptor = nil;
    _threadGroupSizeIsMultipleOfThreadExecutionWidth = _supportBinaryLinking = NO;
    _maxTotalThreadsPerThreadgroup = 0;
    _requiredThreadsPerThreadgroup = MTLSizeMake(0, 0, 0);
    _supportIndirectCommandBuffers = MTL4IndirectCommandBufferSupportStateDisabled;
}

- (void)dealloc {
    [_computeFunctionDescriptor release];
    [_staticLinkingDescriptor release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    MTL4ComputePipelineDescriptor *copy = [super copyWithZone:zone];
    copy.computeFunctionDescriptor = _computeFunctionDescriptor;
    copy.staticLinkingDescriptor = _staticLinkingDescriptor;
    copy->_threadGroupSizeIsMultipleOfThreadExecutionWidth = _threadGroupSizeIsMultipleOfThreadExecutionWidth;
    copy->_supportBinaryLinking = _supportBinaryLinking;
    copy->_maxTotalThreadsPerThreadgroup = _maxTotalThreadsPerThreadgroup;
    copy->_requiredThreadsPerThreadgroup = _requiredThreadsPerThreadgroup;
    copy->_supportIndirectCommandBuffers = _supportIndirectCommandBuffers;
    return copy;
}
@end

@implementation MTL4CompilerDescriptor
@synthesize label = _label, pipelineDataSetSerializer = _pipelineDataSetSerializer;

- (void)dealloc {
    [_label release];
    [_pipelineDataSetSerializer release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    MTL4CompilerDescriptor *copy = [[[self class] allocWithZone:zone] init];
    copy.label = _label;
    copy.pipelineDataSetSerializer = _pipelineDataSetSerializer;
    return copy;
}
@end

IG_DESCRIPTOR_OF_ONE(MTL4CompilerTaskOptions, lookupArchives)
