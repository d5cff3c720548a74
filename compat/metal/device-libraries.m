// SPDX-License-Identifier: Apache-2.0
// Libraries and pipelines, created by the device.
#include <stdlib.h>
#include <unistd.h>

#include "library.h"

// A library that was compiled on a Mac, for one or several architectures, or by Ingot's own `metal`.
static BOOL is_metallib(const void *bytes, size_t length) {
    return (length >= 4 && (memcmp(bytes, "MTLB", 4) == 0 || memcmp(bytes, "\xcb\xfe\xba\xbe", 4) == 0)) ||
           (length >= 8 && memcmp(bytes, "INGOTLIB", 8) == 0);
}

// The source, if a directory has both a source and a library of this name; nil if it has neither.
static NSString *default_library_in(NSString *directory) {
    for (NSString *name in @[ @"default.metal", @"default.metallib" ]) {
        NSString *path = [directory stringByAppendingPathComponent:name];
        if ([[NSFileManager defaultManager] isReadableFileAtPath:path]) return path;
    }
    return nil;
}

// Programs for a Mac have their kernels built in; here they are found next to the program, or where the user says.
static NSString *default_library_path(void) {
    const char *named = getenv("INGOT_DEFAULT_LIBRARY");
    if (named) return [NSString stringWithUTF8String:named];
    char program[4096];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program);
    if (length <= 0) return nil;
    NSString *path = [[[NSString alloc] initWithBytes:program length:(NSUInteger)length
                                             encoding:NSUTF8StringEncoding] autorelease];
    NSString *directory = [path stringByDeletingLastPathComponent], *found = default_library_in(directory);
    return found ? found : [directory stringByAppendingPathComponent:@"default.metal"];
}

// The math mode of sources. On a Mac they are compiled beforehand, in a mode that is chosen then.
static ig_math_mode mode_of_files(void) {
    const char *mode = getenv("INGOT_MATH_MODE");
    return mode && strcmp(mode, "safe") == 0 ? IG_MATH_SAFE : IG_MATH_FAST;
}

@implementation IGDevice (Libraries)

// ---- Libraries ----

- (id<MTLLibrary>)newLibraryWithDesc:(ig_library_desc)desc
                             options:(MTLCompileOptions *)options
                               error:(NSError **)error {
    return [[IGLibrary alloc] initWithDevice:self desc:desc options:options error:error];
}

- (id<MTLLibrary>)newLibraryWithSource:(NSString *)source options:(MTLCompileOptions *)options error:(NSError **)error {
    igi_clear_error(error);
    const char *text = igi_text(source);
    if (!text)
        return igi_refuse(error, MTLLibraryErrorDomain, MTLLibraryErrorCompileFailure, @"there is no source text");
    ig_library_desc desc = {.source = text, .source_length = strlen(text)};
    if (desc.source_length == 0) desc.source = "\n", desc.source_length = 1;
    return [self newLibraryWithDesc:desc options:options error:error];
}

- (void)newLibraryWithSource:(NSString *)source
                     options:(MTLCompileOptions *)options
           completionHandler:(MTLNewLibraryCompletionHandler)completionHandler {
    MTLCompileOptions *kept = [options copy];
    dispatch_async(dispatch_get_global_queue(0, 0), ^{
      NSError *error = nil;
      id<MTLLibrary> library = [self newLibraryWithSource:source options:kept error:&error];
      completionHandler(library, error);
      [library release];
      [kept release];
    });
}

- (id<MTLLibrary>)newLibraryWithFile:(NSString *)filepath error:(NSError **)error {
    igi_clear_error(error);
    igi_ensure_pool();
    if (!filepath || ![[NSFileManager defaultManager] isReadableFileAtPath:filepath])
        return igi_refuse(error, MTLLibraryErrorDomain, MTLLibraryErrorFileNotFound,
                          [NSString stringWithFormat:@"'%@' cannot be read", filepath]);
    ig_library_desc desc = {.path = igi_text(filepath), .math_mode = mode_of_files()};
    return [self newLibraryWithDesc:desc options:nil error:error];
}

- (id<MTLLibrary>)newLibraryWithURL:(NSURL *)url error:(NSError **)error {
    igi_clear_error(error);
    if (![url isFileURL])
        return igi_refuse(error, MTLLibraryErrorDomain, MTLLibraryErrorFileNotFound,
                          [NSString stringWithFormat:@"'%@' is not a file", url]);
    return [self newLibraryWithFile:[url path] error:error];
}

- (id<MTLLibrary>)newLibraryWithData:(dispatch_data_t)data error:(NSError **)error {
    igi_clear_error(error);
    const void *bytes = NULL;
    size_t length = 0;
    dispatch_data_t map = data ? dispatch_data_create_map(data, &bytes, &length) : NULL;
    id<MTLLibrary> library = nil;
    if (length == 0)
        igi_refuse(error, MTLLibraryErrorDomain, MTLLibraryErrorCompileFailure, @"there is no source text");
    else if (is_metallib(bytes, length))
        library = [self newLibraryWithDesc:(ig_library_desc){.data = bytes, .data_length = length}
                                   options:nil
                                     error:error];
    else
        library = [self
            newLibraryWithDesc:(ig_library_desc){.source = bytes, .source_length = length, .math_mode = mode_of_files()}
                       options:nil
                         error:error];
    dispatch_release(map);
    return library;
}

- (id<MTLLibrary>)newDefaultLibrary {
    igi_ensure_pool();
    return [self newLibraryWithFile:default_library_path() error:NULL];
}

- (id<MTLLibrary>)newDefaultLibraryWithBundle:(NSBundle *)bundle error:(NSError **)error {
    igi_clear_error(error);
    igi_ensure_pool();
    NSString *path = [bundle pathForResource:@"default" ofType:@"metal"];
    if (!path) path = [bundle pathForResource:@"default" ofType:@"metallib"];
    return [self newLibraryWithFile:path ? path : default_library_path() error:error];
}

// ---- Pipelines ----

- (id<MTLComputePipelineState>)newComputePipelineStateWithDescriptor:(MTLComputePipelineDescriptor *)descriptor
                                                             options:(MTLPipelineOption)options
                                                          reflection:
                                                              (MTLAutoreleasedComputePipelineReflection *)reflection
                                                               error:(NSError **)error {
    igi_clear_error(error);
    IGPipeline *pipeline = [[IGPipeline alloc] initWithDevice:self descriptor:descriptor error:error];
    if (reflection) *reflection = igi_autoreleased([[pipeline reflection] retain]);
    return pipeline;
}

// Not in Apple's headers, but on its devices: bindings for other languages send it.
- (id<MTLComputePipelineState>)newComputePipelineStateWithDescriptor:(MTLComputePipelineDescriptor *)descriptor
                                                               error:(NSError **)error {
    return [self newComputePipelineStateWithDescriptor:descriptor
                                               options:MTLPipelineOptionNone
                                            reflection:NULL
                                                 error:error];
}

- (id<MTLComputePipelineState>)newComputePipelineStateWithFunction:(id<MTLFunction>)computeFunction
                                                           options:(MTLPipelineOption)options
                                                        reflection:
                                                            (MTLAutoreleasedComputePipelineReflection *)reflection
                                                             error:(NSError **)error {
    igi_clear_error(error);
    MTLComputePipelineDescriptor *descriptor = [[MTLComputePipelineDescriptor alloc] init];
    descriptor.computeFunction = computeFunction;
    descriptor.label = computeFunction.label;
    id<MTLComputePipelineState> pipeline = [self newComputePipelineStateWithDescriptor:descriptor
                                                                               options:options
                                                                            reflection:reflection
                                                                                 error:error];
    [descriptor release];
    return pipeline;
}

- (id<MTLComputePipelineState>)newComputePipelineStateWithFunction:(id<MTLFunction>)computeFunction
                                                             error:(NSError **)error {
    return [self newComputePipelineStateWithFunction:computeFunction
                                             options:MTLPipelineOptionNone
                                          reflection:NULL
                                               error:error];
}

- (void)newComputePipelineStateWithDescriptor:(MTLComputePipelineDescriptor *)descriptor
                                      options:(MTLPipelineOption)options
                            completionHandler:
                                (MTLNewComputePipelineStateWithReflectionCompletionHandler)completionHandler {
    MTLComputePipelineDescriptor *kept = [descriptor copy];
    dispatch_async(dispatch_get_global_queue(0, 0), ^{
      NSError *error = nil;
      MTLComputePipelineReflection *reflection = nil;
      id<MTLComputePipelineState> pipeline = [self newComputePipelineStateWithDescriptor:kept
                                                                                 options:options
                                                                              reflection:&reflection
                                                                                   error:&error];
      completionHandler(pipeline, reflection, error);
      [pipeline release];
      [kept release];
    });
}

- (void)newComputePipelineStateWithFunction:(id<MTLFunction>)computeFunction
                                    options:(MTLPipelineOption)options
                          completionHandler:
                              (MTLNewComputePipelineStateWithReflectionCompletionHandler)completionHandler {
    MTLComputePipelineDescriptor *descriptor = [[MTLComputePipelineDescriptor alloc] init];
    descriptor.computeFunction = computeFunction;
    descriptor.label = computeFunction.label;
    [self newComputePipelineStateWithDescriptor:descriptor options:options completionHandler:completionHandler];
    [descriptor release];
}

- (void)newComputePipelineStateWithFunction:(id<MTLFunction>)computeFunction
                          completionHandler:(MTLNewComputePipelineStateCompletionHandler)completionHandler {
    [self newComputePipelineStateWithFunction:computeFunction
                                      options:MTLPipelineOptionNone
                            completionHandler:^(id<MTLComputePipelineState> pipeline,
                                                MTLComputePipelineReflection *reflection, NSError *error) {
                              completionHandler(pipeline, error);
                            }];
}
@end
