// SPDX-License-Identifier: Apache-2.0
// Libraries and their contents.
#include "library.h"

#include <stdlib.h>

// ---- Options ----

static ig_define *new_defines(NSDictionary *macros, size_t *count) {
    ig_define *defines = calloc([macros count] + 1, sizeof *defines);
    *count = 0;
    if (!defines) return NULL;
    for (id name in macros) {
        NSString *value = [[macros objectForKey:name] description];
        defines[(*count)++] = (ig_define){igi_text([name description]), igi_text(value)};
    }
    return defines;
}

// 3 << 16 | 1 is Metal 3.1, which Ingot calls 310.
static uint32_t version_number(MTLLanguageVersion version) {
    return (uint32_t)(version >> 16) * 100 + (uint32_t)(version & 0xffff) * 10;
}

@implementation IGLibrary
- (id)initWithDevice:(IGDevice *)device
                desc:(ig_library_desc)desc
             options:(MTLCompileOptions *)options
               error:(NSError **)error {
    if (!(self = [super init])) return nil;
    igi_ensure_pool();
    _device = [device retain];
    _type = options.libraryType;
    _installName = [options.installName copy];
    ig_define *defines = new_defines(options.preprocessorMacros, &desc.define_count);
    desc.defines = defines;
    if (options) {
        desc.language_version = version_number(options.languageVersion);
        desc.math_mode = options.mathMode == MTLMathModeSafe ? IG_MATH_SAFE : IG_MATH_FAST;
    }
    ig_error why = {0};
    ig_status status = ig_library_create(device->_device, &desc, &_library, &why);
    free(defines);
    if (status != IG_STATUS_OK) {
        if (error) *error = igi_library_error(status, &why);
        [self release];
        self = nil;
    }
    ig_error_clear(&why);
    if (self && error && *ig_library_log(_library))
        *error = igi_error(MTLLibraryErrorDomain, MTLLibraryErrorCompileWarning,
                           [NSString stringWithUTF8String:ig_library_log(_library)]);
    return self;
}

- (void)dealloc {
    ig_library_release(_library);
    [_installName release];
    [_device release];
    [super dealloc];
}

- (id<MTLDevice>)device {
    return _device;
}

- (MTLLibraryType)type {
    return _type;
}

- (NSString *)installName {
    return _installName;
}

- (NSArray *)functionNames {
    NSMutableArray *names = [[NSMutableArray alloc] init];
    igi_ensure_pool();
    for (size_t i = 0; i < ig_library_kernel_count(_library); i++)
        [names addObject:[NSString stringWithUTF8String:ig_library_kernel(_library, i)->name]];
    return igi_autoreleased(names);
}

// ---- Functions ----

- (id<MTLFunction>)newFunctionWithName:(NSString *)name {
    const ig_kernel_info *kernel = name ? ig_library_find_kernel(_library, igi_text(name)) : NULL;
    if (!kernel) return nil;
    return [[IGFunction alloc] initWithLibrary:self kernel:kernel options:MTLFunctionOptionNone];
}

- (id<MTLFunction>)newFunctionWithName:(NSString *)name
                        constantValues:(MTLFunctionConstantValues *)constantValues
                                 error:(NSError **)error {
    igi_ensure_pool();
    IGFunction *function = (IGFunction *)[self newFunctionWithName:name];
    if (!function)
        return igi_refuse(error, MTLLibraryErrorDomain, MTLLibraryErrorFunctionNotFound,
                          [NSString stringWithFormat:@"the library has no function '%@'", name]);
    if (constantValues && ![function specialize:constantValues error:error]) {
        [function release];
        return nil;
    }
    return function;
}

- (void)newFunctionWithName:(NSString *)name
             constantValues:(MTLFunctionConstantValues *)constantValues
          completionHandler:(MTLFunctionCompletionHandler)completionHandler {
    MTLFunctionConstantValues *values = [constantValues copy];
    dispatch_async(dispatch_get_global_queue(0, 0), ^{
      NSError *error = nil;
      id<MTLFunction> function = [self newFunctionWithName:name constantValues:values error:&error];
      completionHandler(function, error);
      [function release];
      [values release];
    });
}

- (id<MTLFunction>)newFunctionWithDescriptor:(MTLFunctionDescriptor *)descriptor error:(NSError **)error {
    IGFunction *function = (IGFunction *)[self newFunctionWithName:descriptor.name
                                                    constantValues:descriptor.constantValues
                                                             error:error];
    function.label = descriptor.specializedName;
    return function;
}

- (void)newFunctionWithDescriptor:(MTLFunctionDescriptor *)descriptor
                completionHandler:(MTLFunctionCompletionHandler)completionHandler {
    [self newFunctionWithName:descriptor.name
               constantValues:descriptor.constantValues
            completionHandler:completionHandler];
}
@end

@implementation IGFunction
- (id)initWithLibrary:(IGLibrary *)library kernel:(const ig_kernel_info *)kernel options:(MTLFunctionOptions)options {
    if (!(self = [super init])) return nil;
    _library = [library retain];
    _kernel = kernel;
    _options = options;
    return self;
}

- (void)dealloc {
    ig_pipeline_release(_pipeline);
    [_library release];
    [super dealloc];
}

// As on a GPU, constants that the kernel reads and that were not set are zero.
- (BOOL)createWithZeros:(ig_pipeline_desc)desc pipeline:(ig_pipeline **)pipeline because:(const ig_error *)why {
    desc.unset_constants_are_zero = true;
    if (ig_pipeline_create(_library->_library, &desc, pipeline, NULL) != IG_STATUS_OK) return NO;
    NSLog(@"Metal: %s, which was not set: it and any other that was not set read as zero", why->message);
    return YES;
}

- (ig_pipeline *)newPipeline:(ig_pipeline_desc)desc error:(NSError **)error {
    igi_ensure_pool();
    ig_error why = {0};
    ig_pipeline *pipeline = NULL;
    desc.kernel = _kernel->name;
    ig_status status = ig_pipeline_create(_library->_library, &desc, &pipeline, &why);
    if (status == IG_STATUS_WRONG_CONSTANT && !_constantsMustBeSet &&
        [self createWithZeros:desc pipeline:&pipeline because:&why])
        status = IG_STATUS_OK;
    if (status != IG_STATUS_OK && error) *error = igi_library_error(status, &why);
    ig_error_clear(&why);
    return pipeline;
}

// Like Metal, compiles a function when its constants are known.
- (BOOL)specialize:(MTLFunctionConstantValues *)values error:(NSError **)error {
    size_t count = 0;
    ig_function_constant *constants = [values newConstantsFor:_library->_library count:&count];
    _constantsMustBeSet = [values mustBeSet];
    _pipeline = [self newPipeline:(ig_pipeline_desc){.constants = constants, .constant_count = count} error:error];
    free(constants);
    return _pipeline != NULL;
}

- (ig_pipeline *)newPipelineLabelled:(NSString *)label error:(NSError **)error {
    if (_pipeline) return ig_pipeline_retain(_pipeline);
    return [self newPipeline:(ig_pipeline_desc){.label = igi_text(label)} error:error];
}

- (id<MTLDevice>)device {
    return [_library device];
}

- (NSString *)name {
    igi_ensure_pool();
    return [NSString stringWithUTF8String:_kernel->name];
}

- (MTLFunctionType)functionType {
    return MTLFunctionTypeKernel;
}

- (MTLPatchType)patchType {
    return MTLPatchTypeNone;
}

- (NSInteger)patchControlPointCount {
    return -1;
}

- (NSArray *)vertexAttributes {
    return nil;
}

- (NSArray *)stageInputAttributes {
    return nil;
}

- (MTLFunctionOptions)options {
    return _options;
}

- (NSDictionary *)functionConstantsDictionary {
    NSMutableDictionary *constants = [[NSMutableDictionary alloc] init];
    for (size_t i = 0; i < ig_library_function_constant_count(_library->_library); i++) {
        MTLFunctionConstant *constant =
            [[MTLFunctionConstant alloc] initWithInfo:ig_library_function_constant(_library->_library, i)];
        [constants setObject:constant forKey:constant.name];
        [constant release];
    }
    return igi_autoreleased(constants);
}

- (id<MTLArgumentEncoder>)newArgumentEncoderWithBufferIndex:(NSUInteger)bufferIndex {
    return nil;
}
@end
