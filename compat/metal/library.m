// SPDX-License-Identifier: Apache-2.0
// Libraries and their contents.
#include "library.h"

#include "argument-encoder.h"
#include "dynamic-library.h"
#include "stage-input.h"

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

// Remarks are about Ingot, not about the source: Apple's compiler would have nothing to say.
static BOOL has_warnings(const ig_library *library) {
    return strstr(ig_library_log(library), ": warning: ") != NULL;
}

@implementation IGLibrary
- (ig_status)compile:(ig_library_desc)desc library:(ig_library **)library error:(ig_error *)error {
    ig_define *defines = new_defines(_options.preprocessorMacros, &desc.define_count);
    desc.defines = defines;
    if (_options) {
        desc.language_version = version_number(_options.languageVersion);
        desc.math_mode = _options.mathMode == MTLMathModeSafe ? IG_MATH_SAFE : IG_MATH_FAST;
    }
    ig_status status = ig_library_create(_device->_device, &desc, library, error);
    free(defines);
    return status;
}

- (id)initWithDevice:(IGDevice *)device
                desc:(ig_library_desc)desc
             options:(MTLCompileOptions *)options
               error:(NSError **)error {
    igi_clear_error(error);
    if (!(self = [super init])) return nil;
    igi_ensure_pool();
    _device = [device retain];
    _type = options.libraryType;
    _installName = [options.installName copy];
    _options = [options copy];
    _mathMode = desc.math_mode;
    if (desc.source) {
        _source = [igi_linked_source(desc.source, desc.source_length, options.libraries) retain];
        desc.source = [_source bytes];
        desc.source_length = [_source length];
    }
    if (desc.path) _path = [[NSString alloc] initWithUTF8String:desc.path];
    ig_error why = {0};
    ig_status status = [self compile:desc library:&_library error:&why];
    if (status != IG_STATUS_OK) {
        if (error) *error = igi_library_error(status, &why);
        [self release];
        self = nil;
    }
    ig_error_clear(&why);
    if (self && error && has_warnings(_library))
        *error = igi_error(MTLLibraryErrorDomain, MTLLibraryErrorCompileWarning,
                           [NSString stringWithUTF8String:ig_library_log(_library)]);
    return self;
}

- (void)dealloc {
    ig_library_release(_library);
    ig_library_release(_described);
    [_source release];
    [_path release];
    [_options release];
    [_installName release];
    [_device release];
    [super dealloc];
}

// A file that has changed since, or is a .metallib, describes nothing.
- (const ig_library *)described {
    @synchronized(self) {
        if (!_wasDescribed && (_source || _path)) {
            ig_library_desc desc = {.source = [_source bytes],
                                    .source_length = [_source length],
                                    .path = igi_text(_path),
                                    .math_mode = _mathMode,
                                    .describe_types = true};
            (void)[self compile:desc library:&_described error:NULL];
        }
        _wasDescribed = YES;
    }
    return _described;
}

- (igi_layout_range)layoutOfBuffer:(NSUInteger)index of:(NSString *)kernel {
    const ig_library *described = [self described];
    const ig_kernel_info *info = described ? ig_library_find_kernel(described, igi_text(kernel)) : NULL;
    for (size_t i = 0; info && i < info->argument_count; i++) {
        const ig_argument *argument = &info->arguments[i];
        if (argument->kind == IG_ARGUMENT_BUFFER && argument->index == index)
            return (igi_layout_range){argument->layout, argument->layout_count};
    }
    return (igi_layout_range){0};
}

- (NSData *)source {
    return _source;
}

- (NSString *)identity {
    igi_ensure_pool();
    NSData *contents = _source ? _source : [[NSFileHandle fileHandleForReadingAtPath:_path] readDataToEndOfFile];
    if (!contents) return nil;
    NSMutableString *text =
        [NSMutableString stringWithFormat:@"%lx %d", (unsigned long)_options.languageVersion, _mathMode];
    [text appendFormat:@" %ld", (long)_options.mathMode];
    for (id name in [[_options.preprocessorMacros allKeys] sortedArrayUsingSelector:@selector(compare:)])
        [text appendFormat:@" %@=%@", name, [_options.preprocessorMacros objectForKey:name]];
    return [NSString stringWithFormat:@"%016llx %@", (unsigned long long)igi_content_hash(contents), text];
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
        [names addObject:[NSString stringWithUTF8String:ig_library_kernel_name(_library, i)]];
    for (size_t i = 0; i < ig_library_function_count(_library); i++)
        [names addObject:[NSString stringWithUTF8String:ig_library_function(_library, i)]];
    for (size_t i = 0; i < ig_library_other_count(_library); i++)
        [names addObject:[NSString stringWithUTF8String:ig_library_other_name(_library, i)]];
    return igi_autoreleased(names);
}

// ---- Functions ----

// Of those that are no kernels.
- (IGFunction *)newOtherFunctionNamed:(const char *)name {
    for (size_t i = 0; i < ig_library_function_count(_library); i++)
        if (strcmp(ig_library_function(_library, i), name) == 0)
            return [[IGFunction alloc] initWithLibrary:self
                                                  name:ig_library_function(_library, i)
                                                  kind:IG_FUNCTION_VISIBLE];
    for (size_t i = 0; i < ig_library_other_count(_library); i++)
        if (strcmp(ig_library_other_name(_library, i), name) == 0)
            return [[IGFunction alloc] initWithLibrary:self
                                                  name:ig_library_other_name(_library, i)
                                                  kind:ig_library_other_kind(_library, i)];
    return nil;
}

- (id<MTLFunction>)newFunctionWithName:(NSString *)name {
    if (!name) return nil;
    const ig_kernel_info *kernel = ig_library_find_kernel(_library, igi_text(name));
    if (kernel) return [[IGFunction alloc] initWithLibrary:self kernel:kernel options:MTLFunctionOptionNone];
    return [self newOtherFunctionNamed:igi_text(name)];
}

- (id<MTLFunction>)newFunctionWithName:(NSString *)name
                        constantValues:(MTLFunctionConstantValues *)constantValues
                                 error:(NSError **)error {
    igi_clear_error(error);
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
    igi_clear_error(error);
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
    _name = kernel ? kernel->name : NULL;
    _options = options;
    return self;
}

- (id)initWithLibrary:(IGLibrary *)library name:(const char *)name kind:(ig_function_kind)kind {
    if (!(self = [self initWithLibrary:library kernel:NULL options:MTLFunctionOptionNone])) return nil;
    _name = name;
    _kind = kind;
    return self;
}

- (void)dealloc {
    ig_pipeline_release(_pipeline);
    [_values release];
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
    size_t count = 0;
    ig_function_constant *constants = [_values newConstantsFor:_library->_library count:&count];
    desc.kernel = _name;
    desc.constants = constants;
    desc.constant_count = count;
    ig_status status = ig_pipeline_create(_library->_library, &desc, &pipeline, &why);
    if (status == IG_STATUS_WRONG_CONSTANT && ![_values mustBeSet] &&
        [self createWithZeros:desc pipeline:&pipeline because:&why])
        status = IG_STATUS_OK;
    if (status != IG_STATUS_OK && error) *error = igi_library_error(status, &why);
    ig_error_clear(&why);
    free(constants);
    return pipeline;
}

// Like Metal, compiles a function when its constants are known. Those of visible functions are the kernel's.
- (BOOL)specialize:(MTLFunctionConstantValues *)values error:(NSError **)error {
    igi_clear_error(error);
    [_values release];
    _values = [values copy];
    if (!_kernel || igi_has_stage_input(_kernel)) return YES;  // a pipeline with [[stage_in]] needs its descriptor
    _pipeline = [self newPipeline:(ig_pipeline_desc){0} error:error];
    return _pipeline != NULL;
}

- (ig_pipeline *)newPipelineLabelled:(NSString *)label
                              linked:(MTLLinkedFunctions *)linked
                          stageInput:(MTLStageInputOutputDescriptor *)stageInput
                               error:(NSError **)error {
    if (!_kernel) {
        // Ingot says why.
        ig_error why = {0};
        ig_pipeline *made = NULL;
        ig_status status = ig_pipeline_create(_library->_library, &(ig_pipeline_desc){.kernel = _name}, &made, &why);
        igi_refuse(error, MTLLibraryErrorDomain, MTLLibraryErrorUnsupported,
                   [NSString stringWithUTF8String:why.message ? why.message : ig_status_text(status)]);
        ig_error_clear(&why);
        ig_pipeline_release(made);
        return NULL;
    }
    NSArray *functions = [linked all];
    if (_pipeline && ![functions count]) return ig_pipeline_retain(_pipeline);
    NSError *wrong = nil;
    ig_stage_input *input = igi_new_stage_input(stageInput, _kernel, &wrong);
    if (wrong) {
        if (error) *error = wrong;
        return NULL;
    }
    ig_linked_function *list = calloc([functions count] + 1, sizeof *list);
    ig_pipeline_desc desc = {.label = igi_text(label), .linked_functions = list, .stage_input = input};
    for (IGFunction *function in functions)
        if (list)
            list[desc.linked_function_count++] = (ig_linked_function){function->_library->_library, function->_name};
    ig_pipeline *pipeline = [self newPipeline:desc error:error];
    free(list), free(input);
    return pipeline;
}

- (id<MTLDevice>)device {
    return [_library device];
}

- (NSString *)name {
    igi_ensure_pool();
    return [NSString stringWithUTF8String:_name];
}

- (MTLFunctionType)functionType {
    static const MTLFunctionType types[IG_FUNCTION_KIND_COUNT] = {
        [IG_FUNCTION_KERNEL] = MTLFunctionTypeKernel,      [IG_FUNCTION_VISIBLE] = MTLFunctionTypeVisible,
        [IG_FUNCTION_VERTEX] = MTLFunctionTypeVertex,      [IG_FUNCTION_FRAGMENT] = MTLFunctionTypeFragment,
        [IG_FUNCTION_OBJECT] = MTLFunctionTypeObject,      [IG_FUNCTION_MESH] = MTLFunctionTypeMesh,
        [IG_FUNCTION_TILE] = MTLFunctionTypeKernel,        [IG_FUNCTION_INTERSECTION] = MTLFunctionTypeIntersection,
        [IG_FUNCTION_RAY_TRACING] = MTLFunctionTypeKernel,
    };
    return types[_kind];
}

// Known to the library, which the function keeps; NULL of a visible function.
- (const ig_kernel_info *)described {
    return _kernel ? _kernel : ig_library_find_other(_library->_library, _name);
}

- (MTLPatchType)patchType {
    return MTLPatchTypeNone;
}

- (NSInteger)patchControlPointCount {
    return -1;
}

- (NSArray *)vertexAttributes {
    if (_kind != IG_FUNCTION_VERTEX) return nil;
    return igi_stage_input_attributes([self described], [MTLVertexAttribute class]);
}

- (NSArray *)stageInputAttributes {
    const ig_kernel_info *described = [self described];
    return described ? igi_stage_input_attributes(described, [MTLAttribute class]) : nil;
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

// ---- Argument buffers ----

- (IGLibrary *)library {
    return _library;
}

- (id<MTLArgumentEncoder>)newArgumentEncoderWithBufferIndex:(NSUInteger)bufferIndex {
    if (!_kernel) return nil;
    igi_layout_range layout = [_library layoutOfBuffer:bufferIndex of:[self name]];
    return [[IGArgumentEncoder alloc] initWithLayout:layout library:_library];
}

- (id<MTLArgumentEncoder>)newArgumentEncoderWithBufferIndex:(NSUInteger)bufferIndex
                                                 reflection:(MTLAutoreleasedArgument *)reflection {
    for (size_t i = 0; reflection && _kernel && i < _kernel->argument_count; i++) {
        const ig_argument *argument = &_kernel->arguments[i];
        if (argument->kind == IG_ARGUMENT_BUFFER && argument->index == bufferIndex)
            *reflection = igi_autoreleased(igi_new_argument(_library, _kernel, argument));
    }
    return [self newArgumentEncoderWithBufferIndex:bufferIndex];
}
@end
