// SPDX-License-Identifier: Apache-2.0
// Metal 4: compiling libraries and pipelines.
#ifndef INGOT_METAL_MTL4_COMPILER_H
#define INGOT_METAL_MTL4_COMPILER_H

#import <Metal/MTL4BinaryFunction.h>
#import <Metal/MTLDevice.h>
#import <Metal/MTLPipeline.h>

NS_ASSUME_NONNULL_BEGIN

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
@property (nullable, nonatomic, copy) NSString *source;
@property (nullable, nonatomic, copy) MTLCompileOptions *options;
@property (nullable, nonatomic, copy) NSString *name;
@end

MTL_EXPORT
@interface MTL4FunctionDescriptor : NSObject <NSCopying>
@end

MTL_EXPORT
@interface MTL4LibraryFunctionDescriptor : MTL4FunctionDescriptor {
    NSString *_name;
    id<MTLLibrary> _library;
}
@property (nullable, nonatomic, copy) NSString *name;
@property (nullable, nonatomic, retain) id<MTLLibrary> library;
@end

MTL_EXPORT
@interface MTL4SpecializedFunctionDescriptor : MTL4FunctionDescriptor {
    MTL4FunctionDescriptor *_functionDescriptor;
    NSString *_specializedName;
    MTLFunctionConstantValues *_constantValues;
}
@property (nullable, nonatomic, copy) MTL4FunctionDescriptor *functionDescriptor;
@property (nullable, nonatomic, copy) NSString *specializedName;
@property (nullable, nonatomic, copy) MTLFunctionConstantValues *constantValues;
@end

// Functions that a kernel may call by pointer.
MTL_EXPORT
@interface MTL4StaticLinkingDescriptor : NSObject <NSCopying> {
    NSArray<MTL4FunctionDescriptor *> *_functionDescriptors, *_privateFunctionDescriptors;
    NSDictionary *_groups;
}
@property (nullable, nonatomic, copy) NSArray<MTL4FunctionDescriptor *> *functionDescriptors;
@property (nullable, nonatomic, copy) NSArray<MTL4FunctionDescriptor *> *privateFunctionDescriptors;
@property (nullable, nonatomic, copy) NSDictionary<NSString *, NSArray<MTL4FunctionDescriptor *> *> *groups;
@end

// Libraries are stored without effect: dynamic libraries are part of the libraries that name them.
MTL_EXPORT
@interface MTL4PipelineStageDynamicLinkingDescriptor : NSObject <NSCopying> {
    NSUInteger _maxCallStackDepth;
    NSArray<id<MTL4BinaryFunction>> *_binaryLinkedFunctions;
    NSArray<id<MTLDynamicLibrary>> *_preloadedLibraries;
}
@property (nonatomic) NSUInteger maxCallStackDepth;
@property (nullable, nonatomic, copy) NSArray<id<MTL4BinaryFunction>> *binaryLinkedFunctions;
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
@property (nullable, nonatomic, copy) NSString *label;
@property (nullable, nonatomic, copy) MTL4PipelineOptions *options;
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
@property (nullable, nonatomic, copy) MTL4FunctionDescriptor *computeFunctionDescriptor;
@property (nonatomic) BOOL threadGroupSizeIsMultipleOfThreadExecutionWidth;
@property (nonatomic) NSUInteger maxTotalThreadsPerThreadgroup;
@property (nonatomic) MTLSize requiredThreadsPerThreadgroup;
@property (nonatomic) BOOL supportBinaryLinking;
@property (nullable, nonatomic, copy) MTL4StaticLinkingDescriptor *staticLinkingDescriptor;
@property (nonatomic) MTL4IndirectCommandBufferSupportState supportIndirectCommandBuffers;
- (void)reset;
@end

// ---- The compiler ----

MTL_EXPORT
@interface MTL4CompilerDescriptor : NSObject <NSCopying> {
    NSString *_label;
    id<MTL4PipelineDataSetSerializer> _pipelineDataSetSerializer;
}
@property (nullable, nonatomic, copy) NSString *label;
@property (nullable, nonatomic, retain) id<MTL4PipelineDataSetSerializer> pipelineDataSetSerializer;
@end

// Archives are not needed: Ingot has a cache.
MTL_EXPORT
@interface MTL4CompilerTaskOptions : NSObject <NSCopying> {
    NSArray<id<MTL4Archive>> *_lookupArchives;
}
@property (nullable, nonatomic, copy) NSArray<id<MTL4Archive>> *lookupArchives;
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

typedef void (^MTL4NewBinaryFunctionCompletionHandler)(id<MTL4BinaryFunction> _Nullable function,
                                                       NSError *_Nullable error);
typedef void (^MTLNewDynamicLibraryCompletionHandler)(id<MTLDynamicLibrary> _Nullable library,
                                                      NSError *_Nullable error);

@protocol MTL4Compiler <NSObject>
@property (readonly) id<MTLDevice> device;
@property (nullable, readonly) NSString *label;
@property (nullable, readonly) id<MTL4PipelineDataSetSerializer> pipelineDataSetSerializer;
- (nullable id<MTLLibrary>)newLibraryWithDescriptor:(MTL4LibraryDescriptor *)descriptor error:(NSError **)error;
- (id<MTL4CompilerTask>)newLibraryWithDescriptor:(MTL4LibraryDescriptor *)descriptor
                               completionHandler:(MTLNewLibraryCompletionHandler)completionHandler;
- (nullable id<MTLComputePipelineState>)
    newComputePipelineStateWithDescriptor:(MTL4ComputePipelineDescriptor *)descriptor
                      compilerTaskOptions:(nullable MTL4CompilerTaskOptions *)compilerTaskOptions
                                    error:(NSError **)error;
- (nullable id<MTLComputePipelineState>)
    newComputePipelineStateWithDescriptor:(MTL4ComputePipelineDescriptor *)descriptor
                 dynamicLinkingDescriptor:(nullable MTL4PipelineStageDynamicLinkingDescriptor *)dynamicLinkingDescriptor
                      compilerTaskOptions:(nullable MTL4CompilerTaskOptions *)compilerTaskOptions
                                    error:(NSError **)error;
- (id<MTL4CompilerTask>)newComputePipelineStateWithDescriptor:(MTL4ComputePipelineDescriptor *)descriptor
                                          compilerTaskOptions:(nullable MTL4CompilerTaskOptions *)compilerTaskOptions
                                            completionHandler:
                                                (MTLNewComputePipelineStateCompletionHandler)completionHandler;
- (id<MTL4CompilerTask>)
    newComputePipelineStateWithDescriptor:(MTL4ComputePipelineDescriptor *)descriptor
                 dynamicLinkingDescriptor:(nullable MTL4PipelineStageDynamicLinkingDescriptor *)dynamicLinkingDescriptor
                      compilerTaskOptions:(nullable MTL4CompilerTaskOptions *)compilerTaskOptions
                        completionHandler:(MTLNewComputePipelineStateCompletionHandler)completionHandler;
- (nullable id<MTL4BinaryFunction>)newBinaryFunctionWithDescriptor:(MTL4BinaryFunctionDescriptor *)descriptor
                                               compilerTaskOptions:
                                                   (nullable MTL4CompilerTaskOptions *)compilerTaskOptions
                                                             error:(NSError **)error;
- (id<MTL4CompilerTask>)newBinaryFunctionWithDescriptor:(MTL4BinaryFunctionDescriptor *)descriptor
                                    compilerTaskOptions:(nullable MTL4CompilerTaskOptions *)compilerTaskOptions
                                      completionHandler:(MTL4NewBinaryFunctionCompletionHandler)completionHandler;
- (id<MTL4CompilerTask>)newDynamicLibrary:(id<MTLLibrary>)library
                        completionHandler:(MTLNewDynamicLibraryCompletionHandler)completionHandler;
- (id<MTL4CompilerTask>)newDynamicLibraryWithURL:(NSURL *)url
                               completionHandler:(MTLNewDynamicLibraryCompletionHandler)completionHandler;
- (nullable id<MTLDynamicLibrary>)newDynamicLibrary:(id<MTLLibrary>)library error:(NSError **)error;
- (nullable id<MTLDynamicLibrary>)newDynamicLibraryWithURL:(NSURL *)url error:(NSError **)error;
@end

NS_ASSUME_NONNULL_END

#endif
