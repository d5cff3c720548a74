// SPDX-License-Identifier: Apache-2.0
// Libraries, functions and pipelines. Internal.
#ifndef INGOT_COMPAT_METAL_LIBRARY_H
#define INGOT_COMPAT_METAL_LIBRARY_H

#include "device.h"

@interface IGLibrary : IGObject <MTLLibrary> {
   @public
    ig_library *_library;

   @private
    IGDevice *_device;
    NSString *_installName;
    MTLLibraryType _type;
}
// Fills the error and returns nil if the text does not compile. `desc` says where the text is; options may be nil.
- (id)initWithDevice:(IGDevice *)device
                desc:(ig_library_desc)desc
             options:(MTLCompileOptions *)options
               error:(NSError **)error;
@end

@interface IGFunction : IGObject <MTLFunction> {
    IGLibrary *_library;
    const ig_kernel_info *_kernel;  // NULL: a visible function
    const char *_name;
    MTLFunctionOptions _options;
    MTLFunctionConstantValues *_values;  // nil: none
    ig_pipeline *_pipeline;              // created already if the function has constants
}
- (id)initWithLibrary:(IGLibrary *)library kernel:(const ig_kernel_info *)kernel options:(MTLFunctionOptions)options;
- (id)initWithLibrary:(IGLibrary *)library visible:(const char *)name;
- (BOOL)specialize:(MTLFunctionConstantValues *)values error:(NSError **)error;
// A reference for the caller, or NULL and an error. `linked` may be nil.
- (ig_pipeline *)newPipelineLabelled:(NSString *)label linked:(MTLLinkedFunctions *)linked error:(NSError **)error;
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
- (id)initWithKernel:(const ig_kernel_info *)kernel;
@end

#pragma GCC visibility push(hidden)

// Returns false if Ingot has no such type.
BOOL igi_type_of(MTLDataType data_type, ig_type *type, uint32_t *components);
MTLDataType igi_data_type(ig_type type, uint32_t components);

#pragma GCC visibility pop

#endif
