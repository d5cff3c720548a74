// SPDX-License-Identifier: Apache-2.0
// Metal 4: the compiler, over the device's own calls.
#include "mtl4-archive.h"

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
- (id)initWithDevice:(IGDevice *)device descriptor:(MTL4CompilerDescriptor *)descriptor {
    if (!(self = [super init])) return nil;
    _device = [device retain];
    _serializer = [(id)descriptor.pipelineDataSetSerializer retain];
    self.label = descriptor.label;
    return self;
}

- (void)dealloc {
    [(id)_serializer release];
    [_device release];
    [super dealloc];
}

- (id<MTLDevice>)device {
    return _device;
}

- (id<MTL4PipelineDataSetSerializer>)pipelineDataSetSerializer {
    return _serializer;
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

// ---- Pipelines ----

- (id<MTLComputePipelineState>)newPipeline:(MTL4ComputePipelineDescriptor *)descriptor
                                    linked:(MTLLinkedFunctions *)linked
                                     error:(NSError **)error {
    MTLComputePipelineDescriptor *older = [[[MTLComputePipelineDescriptor alloc] init] autorelease];
    id<MTLFunction> function = new_function(descriptor.computeFunctionDescriptor, nil, error);
    older.computeFunction = function;
    [function release];
    if (!function) return nil;
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
                                                (MTL4PipelineStageDynamicLinkingDescriptor *)dynamic
                                                 compilerTaskOptions:(MTL4CompilerTaskOptions *)compilerTaskOptions
                                                               error:(NSError **)error {
    igi_clear_error(error);
    igi_ensure_pool();
    MTLLinkedFunctions *linked = linked_by(descriptor.staticLinkingDescriptor, error);
    if (!linked) return nil;
    NSMutableArray *binaries = [NSMutableArray array];
    for (IGBinaryFunction *binary in dynamic.binaryLinkedFunctions) [binaries addObject:binary->_function];
    linked.binaryFunctions = binaries;
    id<MTLComputePipelineState> pipeline = [self newPipeline:descriptor linked:linked error:error];
    if (pipeline) [(IGSerializer *)_serializer add:descriptor key:igi_pipeline_key(descriptor, dynamic)];
    return pipeline;
}

- (id<MTLComputePipelineState>)newComputePipelineStateWithDescriptor:(MTL4ComputePipelineDescriptor *)descriptor
                                                 compilerTaskOptions:(MTL4CompilerTaskOptions *)compilerTaskOptions
                                                               error:(NSError **)error {
    return [self newComputePipelineStateWithDescriptor:descriptor
                              dynamicLinkingDescriptor:nil
                                   compilerTaskOptions:compilerTaskOptions
                                                 error:error];
}

- (id<MTL4CompilerTask>)newComputePipelineStateWithDescriptor:(MTL4ComputePipelineDescriptor *)descriptor
                                     dynamicLinkingDescriptor:(MTL4PipelineStageDynamicLinkingDescriptor *)dynamic
                                          compilerTaskOptions:(MTL4CompilerTaskOptions *)compilerTaskOptions
                                            completionHandler:
                                                (MTLNewComputePipelineStateCompletionHandler)completionHandler {
    MTL4ComputePipelineDescriptor *kept = [[descriptor copy] autorelease];
    MTL4PipelineStageDynamicLinkingDescriptor *linking = [[dynamic copy] autorelease];
    return [[IGCompilerTask alloc] initWithCompiler:self
                                               work:^{
                                                 NSError *error = nil;
                                                 id<MTLComputePipelineState> pipeline =
                                                     [self newComputePipelineStateWithDescriptor:kept
                                                                        dynamicLinkingDescriptor:linking
                                                                             compilerTaskOptions:nil
                                                                                           error:&error];
                                                 completionHandler(pipeline, error);
                                                 [pipeline release];
                                               }];
}

- (id<MTL4CompilerTask>)newComputePipelineStateWithDescriptor:(MTL4ComputePipelineDescriptor *)descriptor
                                          compilerTaskOptions:(MTL4CompilerTaskOptions *)compilerTaskOptions
                                            completionHandler:
                                                (MTLNewComputePipelineStateCompletionHandler)completionHandler {
    return [self newComputePipelineStateWithDescriptor:descriptor
                              dynamicLinkingDescriptor:nil
                                   compilerTaskOptions:compilerTaskOptions
                                     completionHandler:completionHandler];
}

// ---- Functions and dynamic libraries ----

- (id<MTL4BinaryFunction>)newBinaryFunctionWithDescriptor:(MTL4BinaryFunctionDescriptor *)descriptor
                                      compilerTaskOptions:(MTL4CompilerTaskOptions *)compilerTaskOptions
                                                    error:(NSError **)error {
    igi_clear_error(error);
    igi_ensure_pool();
    id<MTLFunction> function = new_function(descriptor.functionDescriptor, nil, error);
    if (!function) return nil;
    IGBinaryFunction *binary = [[IGBinaryFunction alloc] initWithFunction:function name:descriptor.name];
    [function release];
    [(IGSerializer *)_serializer addFunction:descriptor key:igi_function_key(descriptor.functionDescriptor)];
    return binary;
}

- (id<MTL4CompilerTask>)newBinaryFunctionWithDescriptor:(MTL4BinaryFunctionDescriptor *)descriptor
                                    compilerTaskOptions:(MTL4CompilerTaskOptions *)compilerTaskOptions
                                      completionHandler:(MTL4NewBinaryFunctionCompletionHandler)completionHandler {
    MTL4BinaryFunctionDescriptor *kept = [[descriptor copy] autorelease];
    return [[IGCompilerTask alloc] initWithCompiler:self
                                               work:^{
                                                 NSError *error = nil;
                                                 id<MTL4BinaryFunction> function =
                                                     [self newBinaryFunctionWithDescriptor:kept
                                                                       compilerTaskOptions:nil
                                                                                     error:&error];
                                                 completionHandler(function, error);
                                                 [function release];
                                               }];
}

- (id<MTL4CompilerTask>)newDynamicLibrary:(id<MTLLibrary>)library
                        completionHandler:(MTLNewDynamicLibraryCompletionHandler)completionHandler {
    return [[IGCompilerTask alloc] initWithCompiler:self
                                               work:^{
                                                 NSError *error = nil;
                                                 id<MTLDynamicLibrary> made = [self newDynamicLibrary:library
                                                                                                error:&error];
                                                 completionHandler(made, error);
                                                 [made release];
                                               }];
}

- (id<MTL4CompilerTask>)newDynamicLibraryWithURL:(NSURL *)url
                               completionHandler:(MTLNewDynamicLibraryCompletionHandler)completionHandler {
    return [[IGCompilerTask alloc] initWithCompiler:self
                                               work:^{
                                                 NSError *error = nil;
                                                 id<MTLDynamicLibrary> made = [self newDynamicLibraryWithURL:url
                                                                                                       error:&error];
                                                 completionHandler(made, error);
                                                 [made release];
                                               }];
}

- (id<MTLDynamicLibrary>)newDynamicLibrary:(id<MTLLibrary>)library error:(NSError **)error {
    return [_device newDynamicLibrary:library error:error];
}

- (id<MTLDynamicLibrary>)newDynamicLibraryWithURL:(NSURL *)url error:(NSError **)error {
    return [_device newDynamicLibraryWithURL:url error:error];
}
@end
