// SPDX-License-Identifier: Apache-2.0
// Metal 4: the compiler, over the device's own calls.
#include "mtl4.h"

// ---- Descriptors ----

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

IG_DESCRIPTOR_OF_ONE(MTL4CompilerDescriptor, label)

IG_DESCRIPTOR_OF_ONE(MTL4CompilerTaskOptions, lookupArchives)

// ---- Tasks ----

@interface IGCompilerTask : IGObject <MTL4CompilerTask> {
    IGCompiler *_compiler;
    dispatch_group_t _group;
    _Atomic NSInteger _status;
}
@end

@implementation IGCompilerTask
- (id)initWithCompiler:(IGCompiler *)compiler work:(dispatch_block_t)work {
    if (!(self = [super init])) return nil;
    _compiler = [compiler retain];
    _group = dispatch_group_create();
    atomic_init(&_status, MTL4CompilerTaskStatusScheduled);
    dispatch_group_async(_group, dispatch_get_global_queue(0, 0), ^{
      @autoreleasepool {
          atomic_store(&self->_status, MTL4CompilerTaskStatusCompiling);
          work();
          atomic_store(&self->_status, MTL4CompilerTaskStatusFinished);
      }
    });
    return self;
}

- (void)dealloc {
    dispatch_release(_group);
    [_compiler release];
    [super dealloc];
}

- (id<MTL4Compiler>)compiler {
    return _compiler;
}

- (MTL4CompilerTaskStatus)status {
    return (MTL4CompilerTaskStatus)atomic_load(&_status);
}

- (void)waitUntilCompleted {
    dispatch_group_wait(_group, DISPATCH_TIME_FOREVER);
}
@end

// ---- The compiler ----

// One reference; nil and an error.
static id<MTLFunction> new_function(MTL4FunctionDescriptor *descriptor, MTLFunctionConstantValues *values,
                                    NSError **error) {
    if ([descriptor isKindOfClass:[MTL4SpecializedFunctionDescriptor class]]) {
        MTL4SpecializedFunctionDescriptor *special = (MTL4SpecializedFunctionDescriptor *)descriptor;
        return new_function(special.functionDescriptor, special.constantValues, error);
    }
    BOOL known = [descriptor isKindOfClass:[MTL4LibraryFunctionDescriptor class]];
    MTL4LibraryFunctionDescriptor *plain = known ? (MTL4LibraryFunctionDescriptor *)descriptor : nil;
    if (!plain.library || !plain.name)
        return igi_refuse(error, MTLLibraryErrorDomain, MTLLibraryErrorFunctionNotFound,
                          @"a function descriptor needs a library and a name");
    return [plain.library newFunctionWithName:plain.name constantValues:values error:error];
}

// nil and an error if one of them cannot be made.
static NSArray *functions_of(NSArray *descriptors, NSError **error) {
    NSMutableArray *functions = [NSMutableArray array];
    for (MTL4FunctionDescriptor *descriptor in descriptors) {
        id<MTLFunction> function = new_function(descriptor, nil, error);
        if (!function) return nil;
        [functions addObject:function];
        [function release];
    }
    return functions;
}

static MTLLinkedFunctions *linked_by(MTL4StaticLinkingDescriptor *descriptor, NSError **error) {
    MTLLinkedFunctions *linked = [[[MTLLinkedFunctions alloc] init] autorelease];
    NSArray *shared = functions_of(descriptor.functionDescriptors, error);
    NSArray *hidden = shared ? functions_of(descriptor.privateFunctionDescriptors, error) : nil;
    linked.functions = shared;
    linked.privateFunctions = hidden;
    return hidden ? linked : nil;
}

@implementation IGCompiler
- (id)initWithDevice:(IGDevice *)device label:(NSString *)label {
    if (!(self = [super init])) return nil;
    _device = [device retain];
    self.label = label;
    return self;
}

- (void)dealloc {
    [_device release];
    [super dealloc];
}

- (id<MTLDevice>)device {
    return _device;
}

- (id<MTLLibrary>)newLibraryWithDescriptor:(MTL4LibraryDescriptor *)descriptor error:(NSError **)error {
    igi_clear_error(error);
    id<MTLLibrary> library = [_device newLibraryWithSource:descriptor.source options:descriptor.options error:error];
    library.label = descriptor.name;
    return library;
}

- (id<MTL4CompilerTask>)newLibraryWithDescriptor:(MTL4LibraryDescriptor *)descriptor
                               completionHandler:(MTLNewLibraryCompletionHandler)completionHandler {
    MTL4LibraryDescriptor *kept = [[descriptor copy] autorelease];
    return [[IGCompilerTask alloc] initWithCompiler:self
                                               work:^{
                                                 NSError *error = nil;
                                                 id<MTLLibrary> library = [self newLibraryWithDescriptor:kept
                                                                                                   error:&error];
                                                 completionHandler(library, error);
                                                 [library release];
                                               }];
}

- (id<MTLComputePipelineState>)newComputePipelineStateWithDescriptor:(MTL4ComputePipelineDescriptor *)descriptor
                                                 compilerTaskOptions:(MTL4CompilerTaskOptions *)compilerTaskOptions
                                                               error:(NSError **)error {
    igi_clear_error(error);
    igi_ensure_pool();
    MTLComputePipelineDescriptor *older = [[[MTLComputePipelineDescriptor alloc] init] autorelease];
    id<MTLFunction> function = new_function(descriptor.computeFunctionDescriptor, nil, error);
    MTLLinkedFunctions *linked = function ? linked_by(descriptor.staticLinkingDescriptor, error) : nil;
    older.computeFunction = function;
    [function release];
    if (!linked) return nil;
    older.linkedFunctions = linked;
    older.label = descriptor.label;
    older.maxTotalThreadsPerThreadgroup = descriptor.maxTotalThreadsPerThreadgroup;
    older.requiredThreadsPerThreadgroup = descriptor.requiredThreadsPerThreadgroup;
    older.threadGroupSizeIsMultipleOfThreadExecutionWidth = descriptor.threadGroupSizeIsMultipleOfThreadExecutionWidth;
    older.supportIndirectCommandBuffers =
        descriptor.supportIndirectCommandBuffers == MTL4IndirectCommandBufferSupportStateEnabled;
    older.shaderValidation = descriptor.options.shaderValidation;
    return [_device newComputePipelineStateWithDescriptor:older options:0 reflection:NULL error:error];
}

- (id<MTLComputePipelineState>)newComputePipelineStateWithDescriptor:(MTL4ComputePipelineDescriptor *)descriptor
                                            dynamicLinkingDescriptor:
                                                (MTL4PipelineStageDynamicLinkingDescriptor *)dynamicLinkingDescriptor
                                                 compilerTaskOptions:(MTL4CompilerTaskOptions *)compilerTaskOptions
                                                               error:(NSError **)error {
    return [self newComputePipelineStateWithDescriptor:descriptor compilerTaskOptions:compilerTaskOptions error:error];
}

- (id<MTL4CompilerTask>)newComputePipelineStateWithDescriptor:(MTL4ComputePipelineDescriptor *)descriptor
                                          compilerTaskOptions:(MTL4CompilerTaskOptions *)compilerTaskOptions
                                            completionHandler:
                                                (MTLNewComputePipelineStateCompletionHandler)completionHandler {
    MTL4ComputePipelineDescriptor *kept = [[descriptor copy] autorelease];
    return [[IGCompilerTask alloc] initWithCompiler:self
                                               work:^{
                                                 NSError *error = nil;
                                                 id<MTLComputePipelineState> pipeline =
                                                     [self newComputePipelineStateWithDescriptor:kept
                                                                             compilerTaskOptions:nil
                                                                                           error:&error];
                                                 completionHandler(pipeline, error);
                                                 [pipeline release];
                                               }];
}

- (id<MTLDynamicLibrary>)newDynamicLibrary:(id<MTLLibrary>)library error:(NSError **)error {
    return [_device newDynamicLibrary:library error:error];
}

- (id<MTLDynamicLibrary>)newDynamicLibraryWithURL:(NSURL *)url error:(NSError **)error {
    return [_device newDynamicLibraryWithURL:url error:error];
}
@end
