// SPDX-License-Identifier: Apache-2.0
// Compute pipelines.
#include <ingot/indirect.h>

#include "function-table.h"
#include "mtl4-archive.h"

@implementation MTLComputePipelineDescriptor
@synthesize label = _label, computeFunction = _computeFunction,
            threadGroupSizeIsMultipleOfThreadExecutionWidth = _threadGroupSizeIsMultipleOfThreadExecutionWidth,
            maxTotalThreadsPerThreadgroup = _maxTotalThreadsPerThreadgroup, maxCallStackDepth = _maxCallStackDepth,
            requiredThreadsPerThreadgroup = _requiredThreadsPerThreadgroup,
            supportIndirectCommandBuffers = _supportIndirectCommandBuffers,
            supportAddingBinaryFunctions = _supportAddingBinaryFunctions, insertLibraries = _insertLibraries,
            preloadedLibraries = _preloadedLibraries, binaryArchives = _binaryArchives,
            shaderValidation = _shaderValidation, buffers = _buffers, linkedFunctions = _linkedFunctions,
            stageInputDescriptor = _stageInputDescriptor;

- (id)init {
    if (!(self = [super init])) return nil;
    _buffers = [[MTLPipelineBufferDescriptorArray alloc] init];
    _maxCallStackDepth = 1;
    return self;
}

- (void)reset {
    self.label = nil;
    self.computeFunction = nil;
    self.insertLibraries = self.preloadedLibraries = nil;
    self.binaryArchives = nil;
    self.stageInputDescriptor = nil;
    self.linkedFunctions = nil;
    _threadGroupSizeIsMultipleOfThreadExecutionWidth = NO;
    _supportIndirectCommandBuffers = _supportAddingBinaryFunctions = NO;
    _maxTotalThreadsPerThreadgroup = 0;
    _maxCallStackDepth = 1;
    _requiredThreadsPerThreadgroup = MTLSizeMake(0, 0, 0);
    _shaderValidation = MTLShaderValidationDefault;
    [_buffers release];
    _buffers = [[MTLPipelineBufferDescriptorArray alloc] init];
}

- (void)dealloc {
    [_label release];
    [_computeFunction release];
    [_buffers release];
    [_insertLibraries release];
    [_preloadedLibraries release];
    [_binaryArchives release];
    [_stageInputDescriptor release];
    [_linkedFunctions release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    MTLComputePipelineDescriptor *copy = [[[self class] allocWithZone:zone] init];
    copy.label = _label;
    copy.computeFunction = _computeFunction;
    copy.insertLibraries = _insertLibraries;
    copy.preloadedLibraries = _preloadedLibraries;
    copy.binaryArchives = _binaryArchives;
    copy.stageInputDescriptor = _stageInputDescriptor;
    copy.linkedFunctions = _linkedFunctions;
    copy->_threadGroupSizeIsMultipleOfThreadExecutionWidth = _threadGroupSizeIsMultipleOfThreadExecutionWidth;
    copy->_supportIndirectCommandBuffers = _supportIndirectCommandBuffers;
    copy->_supportAddingBinaryFunctions = _supportAddingBinaryFunctions;
    copy->_maxTotalThreadsPerThreadgroup = _maxTotalThreadsPerThreadgroup;
    copy->_maxCallStackDepth = _maxCallStackDepth;
    copy->_requiredThreadsPerThreadgroup = _requiredThreadsPerThreadgroup;
    copy->_shaderValidation = _shaderValidation;
    return copy;
}
@end

static uint32_t threadgroup_arguments(const ig_kernel_info *kernel) {
    uint32_t mask = 0;
    for (size_t i = 0; i < kernel->argument_count; i++)
        if (kernel->arguments[i].kind == IG_ARGUMENT_THREADGROUP) mask |= 1u << kernel->arguments[i].index;
    return mask;
}

@implementation IGPipeline
- (id)initWithDevice:(IGDevice *)device descriptor:(MTLComputePipelineDescriptor *)descriptor error:(NSError **)error {
    igi_clear_error(error);
    if (!(self = [super init])) return nil;
    IGFunction *function = (IGFunction *)descriptor.computeFunction;
    if (!function)
        igi_refuse(error, MTLLibraryErrorDomain, MTLLibraryErrorFunctionNotFound,
                   @"a compute pipeline needs a function, and computeFunction is nil");
    else
        _pipeline = [function newPipelineLabelled:descriptor.label
                                           linked:descriptor.linkedFunctions
                                       stageInput:descriptor.stageInputDescriptor
                                            error:error];
    if (!_pipeline) {
        [self release];
        return nil;
    }
    _device = [device retain];
    _library = [[function library] retain];
    _linked = [descriptor.linkedFunctions copy];
    self.label = descriptor.label;
    ig_pipeline_get_properties(_pipeline, &_properties);
    _threadgroupArguments = threadgroup_arguments(ig_pipeline_kernel(_pipeline));
    _maxThreads = _properties.max_threads_per_threadgroup;
    NSUInteger wanted = descriptor.maxTotalThreadsPerThreadgroup;
    if (wanted > 0 && wanted < _maxThreads) _maxThreads = wanted;
    _requiredThreads = descriptor.requiredThreadsPerThreadgroup;
    _supportIndirectCommandBuffers = descriptor.supportIndirectCommandBuffers;
    _shaderValidation = descriptor.shaderValidation;
    return self;
}

- (void)dealloc {
    ig_pipeline_release(_pipeline);
    [_reflection release];
    [_linked release];
    [_library release];
    [_device release];
    [super dealloc];
}

- (id<MTLDevice>)device {
    return _device;
}

- (MTLComputePipelineReflection *)reflection {
    @synchronized(self) {
        if (!_reflection)
            _reflection = [[MTLComputePipelineReflection alloc] initWithKernel:ig_pipeline_kernel(_pipeline)
                                                                       library:_library];
    }
    return _reflection;
}

- (NSUInteger)maxTotalThreadsPerThreadgroup {
    return _maxThreads;
}

- (NSUInteger)threadExecutionWidth {
    return _properties.execution_width;
}

- (NSUInteger)staticThreadgroupMemoryLength {
    return _properties.static_threadgroup_memory;
}

- (BOOL)supportIndirectCommandBuffers {
    return _supportIndirectCommandBuffers;
}

- (MTLShaderValidation)shaderValidation {
    return _shaderValidation;
}

- (MTLSize)requiredThreadsPerThreadgroup {
    return _requiredThreads;
}

- (MTLResourceID)gpuResourceID {
    uint64_t number = 0;  // which is of no pipeline
    (void)ig_pipeline_resource_id(_pipeline, &number);
    return (MTLResourceID){number};
}

- (NSUInteger)allocatedSize {
    return 0;
}

// ---- Visible functions ----

- (id<MTLFunctionHandle>)functionHandleWithFunction:(id<MTLFunction>)function {
    for (id<MTLFunction> linked in [_linked all])
        if ([linked.name isEqual:function.name])
            return igi_autoreleased([[IGFunctionHandle alloc] initWithPipeline:self name:function.name]);
    return nil;
}

- (id<MTLFunctionHandle>)functionHandleWithBinaryFunction:(id<MTL4BinaryFunction>)function {
    return function ? [self functionHandleWithFunction:((IGBinaryFunction *)function)->_function] : nil;
}

- (id<MTLVisibleFunctionTable>)newVisibleFunctionTableWithDescriptor:(MTLVisibleFunctionTableDescriptor *)descriptor {
    return [[IGVisibleFunctionTable alloc] initWithPipeline:self count:descriptor.functionCount];
}

- (NSUInteger)imageblockMemoryLengthForDimensions:(MTLSize)imageblockDimensions {
    return 0;
}
@end
