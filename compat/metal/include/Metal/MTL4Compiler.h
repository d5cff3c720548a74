// SPDX-License-Identifier: Apache-2.0
// Metal 4: compiling libraries and pipelines.
#ifndef INGOT_METAL_MTL4_COMPILER_H
#define INGOT_METAL_MTL4_COMPILER_H

#import <Metal/MTL4BinaryFunction.h>
#import <Metal/MTLDevice.h>
#import <Metal/MTLPipeline.h>

@class MTLCompileOptions, MTLFunctionConstantValues;
@protocol MTL4Compiler;
@protocol MTL4Archive;
@protocol MTL4PipelineDataSetSerializer;
@protocol MTLDynamicLibrary;

// ---- What to compile ----

MTL_EXPORT
@interface MTL4LibraryDescriptor : NSObject <NSCopying> {
    NSString *_source, *_name;
    MTLCompileOptions *_options;
}
@property (nonatomic, copy) NSString *source;
@property (nonatomic, copy) MTLCompileOptions *options;
@property (nonatomic, copy) NSString *name;
@end

MTL_EXPORT
@interface MTL4FunctionDescriptor : NSObject <NSCopying>
@end

MTL_EXPORT
@interface MTL4LibraryFunctionDescriptor : MTL4FunctionDescriptor {
    NSString *_name;
    id<MTLLibrary> _library;
}
@property (nonatomic, copy) NSString *name;
@property (nonatomic, retain) id<MTLLibrary> library;
@end

MTL_EXPORT
@interface MTL4SpecializedFunctionDescriptor : MTL4FunctionDescriptor {
    MTL4FunctionDescriptor *_functionDescriptor;
    NSString *_specializedName;
    MTLFunctionConstantValues *_constantValues;
}
@property (nonatomic, copy) MTL4FunctionDescriptor *functionDescriptor;
@property (nonatomic, copy) NSString *specializedName;
@property (nonatomic, copy) MTLFunctionConstantValues *constantValues;
@end

// Functions that a kernel may call by pointer.
MTL_EXPORT
@interface MTL4StaticLinkingDescriptor : NSObject <NSCopying> {
    NSArray<MTL4FunctionDescriptor *> *_functionDescriptors, *_privateFunctionDescriptors;
    NSDictionary *_groups;
}
@property (nonatomic, copy) NSArray<MTL4FunctionDescriptor *> *functionDescriptors;
@property (nonatomic, copy) NSArray<MTL4FunctionDescriptor *> *privateFunctionDescriptors;
@property (nonatomic, copy) NSDictionary<NSString *, NSArray<MTL4FunctionDescriptor *> *> *groups;
@end

// Libraries are stored without effect: dynamic libraries are part of the libraries that name them.
MTL_EXPORT
@interface MTL4PipelineStageDynamicLinkingDescriptor : NSObject <NSCopying> {
    NSUInteger _maxCallStackDepth;
    NSArray<id<MTL4BinaryFunction>> *_binaryLinkedFunctions;
    NSArray<id<MTLDynamicLibrary>> *_preloadedLibraries;
}
@property (nonatomic) NSUInteger maxCallStackDepth;
@property (nonatomic, copy) NSArray<id<MTL4BinaryFunction>> *binaryLinkedFunctions;
@property (nonatomic, copy) NSArray<id<MTLDynamicLibrary>> *preloadedLibraries;
@end

typedef NS_OPTIONS(NSUInteger, MTL4ShaderReflection) {
    MTL4ShaderReflectionNone = 0,
    MTL4ShaderReflectionBindingInfo = 1,
    MTL4ShaderReflectionBufferTypeInfo = 1 << 1,
};

typedef NS_ENUM(NSInteger, MTL4IndirectCommandBufferSupportState) {
    MTL4IndirectCommandBufferSupportStateDisabled = 0,
    MTL4IndirectCommandBufferSupportStateEnabled = 1,
};

MTL_EXPORT
@interface MTL4PipelineOptions : NSObject <NSCopying> {
    MTLShaderValidation _shaderValidation;
    MTL4ShaderReflection _shaderReflection;
}
@property (nonatomic) MTLShaderValidation shaderValidation;
@property (nonatomic) MTL4ShaderReflection shaderReflection;
@end

MTL_EXPORT
@interface MTL4PipelineDescriptor : NSObject <NSCopying> {
    NSString *_label;
    MTL4PipelineOptions *_options;
}
@property (nonatomic, copy) NSString *label;
@property (nonatomic, copy) MTL4PipelineOptions *options;
@end

MTL_EXPORT
@interface MTL4ComputePipelineDescriptor : MTL4PipelineDescriptor {
    MTL4FunctionDescriptor *_computeFunctionDescriptor;
    BOOL _threadGroupSizeIsMultipleOfThreadExecutionWidth, _supportBinaryLinking;
    NSUInteger _maxTotalThreadsPerThreadgroup;
    MTLSize _requiredThreadsPerThreadgroup;
    MTL4StaticLinkingDescriptor *_staticLinkingDescriptor;
    MTL4IndirectCommandBufferSupportState _supportIndirectCommandBuffers;
}
@property (nonatomic, copy) MTL4FunctionDescriptor *computeFunctionDescriptor;
@property (nonatomic) BOOL threadGroupSizeIsMultipleOfThreadExecutionWidth;
@property (nonatomic) NSUInteger maxTotalThreadsPerThreadgroup;
@property (nonatomic) MTLSize requiredThreadsPerThreadgroup;
@property (nonatomic) BOOL supportBinaryLinking;
@property (nonatomic, copy) MTL4StaticLinkingDescriptor *staticLinkingDescriptor;
@property (nonatomic) MTL4IndirectCommandBufferSupportState supportIndirectCommandBuffers;
- (void)reset;
@end

// ---- The compiler ----

MTL_EXPORT
@interface MTL4CompilerDescriptor : NSObject <NSCopying> {
    NSString *_label;
    id<MTL4PipelineDataSetSerializer> _pipelineDataSetSerializer;
}
@property (nonatomic, copy) NSString *label;
@property (nonatomic, retain) id<MTL4PipelineDataSetSerializer> pipelineDataSetSerializer;
@end

// Archives are not needed: Ingot has a cache.
MTL_EXPORT
@interface MTL4CompilerTaskOptions : NSObject <NSCopying> {
    NSArray<id<MTL4Archive>> *_lookupArchives;
}
@property (nonatomic, copy) NSArray<id<MTL4Archive>> *lookupArchives;
@end

typedef NS_ENUM(NSInteger, MTL4CompilerTaskStatus) {
    MTL4CompilerTaskStatusNone = 0,
    MTL4CompilerTaskStatusScheduled = 1,
    MTL4CompilerTaskStatusCompiling = 2,
    MTL4CompilerTaskStatusFinished = 3,
};

@protocol MTL4CompilerTask <NSObject>
@property (readonly) id<MTL4Compiler> compiler;
@property (readonly) MTL4CompilerTaskStatus status;
- (void)waitUntilCompleted;
@end

typedef void (^MTL4NewBinaryFunctionCompletionHandler)(id<MTL4BinaryFunction> function, NSError *error);
typedef void (^MTLNewDynamicLibraryCompletionHandler)(id<MTLDynamicLibrary> library, NSError *error);

@protocol MTL4Compiler <NSObject>
@property (readonly) id<MTLDevice> device;
@property (readonly) NSString *label;
@property (readonly) id<MTL4PipelineDataSetSerializer> pipelineDataSetSerializer;
- (id<MTLLibrary>)newLibraryWithDescriptor:(MTL4LibraryDescriptor *)descriptor error:(NSError **)error;
- (id<MTL4CompilerTask>)newLibraryWithDescriptor:(MTL4LibraryDescriptor *)descriptor
                               completionHandler:(MTLNewLibraryCompletionHandler)completionHandler;
- (id<MTLComputePipelineState>)newComputePipelineStateWithDescriptor:(MTL4ComputePipelineDescriptor *)descriptor
                                                 compilerTaskOptions:(MTL4CompilerTaskOptions *)compilerTaskOptions
                                                               error:(NSError **)error;
- (id<MTLComputePipelineState>)newComputePipelineStateWithDescriptor:(MTL4ComputePipelineDescriptor *)descriptor
                                            dynamicLinkingDescriptor:
                                                (MTL4PipelineStageDynamicLinkingDescriptor *)dynamicLinkingDescriptor
                                                 compilerTaskOptions:(MTL4CompilerTaskOptions *)compilerTaskOptions
                                                               error:(NSError **)error;
- (id<MTL4CompilerTask>)newComputePipelineStateWithDescriptor:(MTL4ComputePipelineDescriptor *)descriptor
                                          compilerTaskOptions:(MTL4CompilerTaskOptions *)compilerTaskOptions
                                            completionHandler:
                                                (MTLNewComputePipelineStateCompletionHandler)completionHandler;
- (id<MTL4CompilerTask>)
    newComputePipelineStateWithDescriptor:(MTL4ComputePipelineDescriptor *)descriptor
                 dynamicLinkingDescriptor:(MTL4PipelineStageDynamicLinkingDescriptor *)dynamicLinkingDescriptor
                      compilerTaskOptions:(MTL4CompilerTaskOptions *)compilerTaskOptions
                        completionHandler:(MTLNewComputePipelineStateCompletionHandler)completionHandler;
- (id<MTL4BinaryFunction>)newBinaryFunctionWithDescriptor:(MTL4BinaryFunctionDescriptor *)descriptor
                                      compilerTaskOptions:(MTL4CompilerTaskOptions *)compilerTaskOptions
                                                    error:(NSError **)error;
- (id<MTL4CompilerTask>)newBinaryFunctionWithDescriptor:(MTL4BinaryFunctionDescriptor *)descriptor
                                    compilerTaskOptions:(MTL4CompilerTaskOptions *)compilerTaskOptions
                                      completionHandler:(MTL4NewBinaryFunctionCompletionHandler)completionHandler;
- (id<MTL4CompilerTask>)newDynamicLibrary:(id<MTLLibrary>)library
                        completionHandler:(MTLNewDynamicLibraryCompletionHandler)completionHandler;
- (id<MTL4CompilerTask>)newDynamicLibraryWithURL:(NSURL *)url
                               completionHandler:(MTLNewDynamicLibraryCompletionHandler)completionHandler;
- (id<MTLDynamicLibrary>)newDynamicLibrary:(id<MTLLibrary>)library error:(NSError **)error;
- (id<MTLDynamicLibrary>)newDynamicLibraryWithURL:(NSURL *)url error:(NSError **)error;
@end

#endif
