// SPDX-License-Identifier: Apache-2.0
// Libraries, functions and pipelines. Internal.
#ifndef INGOT_COMPAT_METAL_LIBRARY_H
#define INGOT_COMPAT_METAL_LIBRARY_H

#include "device.h"

// A type with its parts: the first of them is the type itself.
typedef struct igi_layout_range {
    const ig_layout *parts;
    size_t count;
} igi_layout_range;

@interface IGLibrary : IGObject <MTLLibrary> {
   @public
    ig_library *_library;

   @private
    IGDevice *_device;
    NSString *_installName;
    MTLLibraryType _type;
    ig_library *_described;  // the same with descriptions of types; NULL until they are asked for
    BOOL _wasDescribed;      // or it was tried in vain
    NSData *_source;         // of both, or the path
    NSString *_path;
    MTLCompileOptions *_options;
    ig_math_mode _mathMode;
}
// Fills the error and returns nil if the text does not compile. `desc` says where the text is; options may be nil.
- (id)initWithDevice:(IGDevice *)device
                desc:(ig_library_desc)desc
             options:(MTLCompileOptions *)options
               error:(NSError **)error;
- (NSData *)source;      // nil: it is not known
- (NSString *)identity;  // the same for the same source, or file, and options; nil: it is not known
// The type that the buffer of a kernel holds, for as long as the library lives; empty if it is not known. Compiles the
// source once more when it is first called.
- (igi_layout_range)layoutOfBuffer:(NSUInteger)index of:(NSString *)kernel;
@end

@interface IGFunction : IGObject <MTLFunction> {
    IGLibrary *_library;
    const ig_kernel_info *_kernel;  // NULL: it is none
    const char *_name;
    ig_function_kind _kind;
    MTLFunctionOptions _options;
    MTLFunctionConstantValues *_values;  // nil: none
    ig_pipeline *_pipeline;              // created already if the function has constants
}
- (id)initWithLibrary:(IGLibrary *)library kernel:(const ig_kernel_info *)kernel options:(MTLFunctionOptions)options;
- (id)initWithLibrary:(IGLibrary *)library name:(const char *)name kind:(ig_function_kind)kind;
- (IGLibrary *)library;
- (BOOL)specialize:(MTLFunctionConstantValues *)values error:(NSError **)error;
// A reference for the caller, or NULL and an error. `linked` and `stageInput` may be nil.
- (ig_pipeline *)newPipelineLabelled:(NSString *)label
                              linked:(MTLLinkedFunctions *)linked
                          stageInput:(MTLStageInputOutputDescriptor *)stageInput
                               error:(NSError **)error;
@end

@interface IGPipeline : IGObject <MTLComputePipelineState> {
   @public
    ig_pipeline *_pipeline;
    NSUInteger _maxThreads;
    MTLSize _requiredThreads;        // zeros: any
    uint32_t _threadgroupArguments;  // bit n: it takes threadgroup memory n
    _Atomic uint32_t _zeroBuffers;   // bit n: it was logged that buffer n reads as zeros

   @private
    IGDevice *_device;
    IGLibrary *_library;
    ig_pipeline_properties _properties;
    MTLLinkedFunctions *_linked;
    MTLComputePipelineReflection *_reflection;
    BOOL _supportIndirectCommandBuffers;
    MTLShaderValidation _shaderValidation;
}
- (id)initWithDevice:(IGDevice *)device descriptor:(MTLComputePipelineDescriptor *)descriptor error:(NSError **)error;
@end

// ---- Internals of public classes ----

@interface MTLFunctionConstantValues (Ingot)
// The values for which the library has constants; like Metal, it ignores the others. The array is the caller's, what it
// points to belongs to the receiver.
- (ig_function_constant *)newConstantsFor:(const ig_library *)library count:(size_t *)count;
- (BOOL)mustBeSet;
- (void)setMustBeSet;
- (NSString *)identity;  // the same for the same values
@end

// For Ingot's own Metal backend (device/metal/pipeline.m), whose users get an error where others get zeros.
__attribute__((visibility("default"))) void igi_metal_constants_must_be_set(MTLFunctionConstantValues *values);

@interface MTLLinkedFunctions (Ingot)
- (NSArray *)all;
@end

@interface MTLFunctionConstant (Ingot)
- (id)initWithInfo:(const ig_function_constant_info *)info;
@end

@interface MTLComputePipelineReflection (Ingot)
- (id)initWithKernel:(const ig_kernel_info *)kernel library:(IGLibrary *)library;
@end

#pragma GCC visibility push(hidden)

// Returns false if Ingot has no such type.
BOOL igi_type_of(MTLDataType data_type, ig_type *type, uint32_t *components);
MTLDataType igi_data_type(ig_type type, uint32_t components);
MTLArgument *igi_new_argument(IGLibrary *library, const ig_kernel_info *kernel, const ig_argument *argument);
id<MTLBinding> igi_new_binding(IGLibrary *library, const ig_kernel_info *kernel, const ig_argument *argument);

#pragma GCC visibility pop

#endif
