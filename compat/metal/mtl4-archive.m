// SPDX-License-Identifier: Apache-2.0
#include "mtl4-archive.h"

#include <stdio.h>

#include "library.h"

#define FIRST_LINE @"Ingot archive 2"

// ---- Keys ----

static NSString *hashed(NSString *text) {
    NSData *data = [text dataUsingEncoding:NSUTF8StringEncoding];
    return [NSString stringWithFormat:@"%016llx", (unsigned long long)igi_content_hash(data)];
}

static NSString *text_of_function(MTL4FunctionDescriptor *descriptor, MTLFunctionConstantValues *values) {
    if ([descriptor isKindOfClass:[MTL4SpecializedFunctionDescriptor class]]) {
        MTL4SpecializedFunctionDescriptor *special = (MTL4SpecializedFunctionDescriptor *)descriptor;
        return text_of_function(special.functionDescriptor, special.constantValues);
    }
    if (![descriptor isKindOfClass:[MTL4LibraryFunctionDescriptor class]]) return nil;
    MTL4LibraryFunctionDescriptor *plain = (MTL4LibraryFunctionDescriptor *)descriptor;
    NSString *library = [(IGLibrary *)plain.library identity];
    return library && plain.name
               ? [NSString stringWithFormat:@"%@ of %@ with %@", plain.name, library, values ? [values identity] : @"-"]
               : nil;
}

NSString *igi_function_key(MTL4FunctionDescriptor *descriptor) {
    igi_ensure_pool();
    NSString *text = text_of_function(descriptor, nil);
    return text ? hashed(text) : nil;
}

static BOOL append_functions(NSMutableString *text, NSArray *descriptors) {
    for (MTL4FunctionDescriptor *descriptor in descriptors) {
        NSString *function = text_of_function(descriptor, nil);
        if (!function) return NO;
        [text appendFormat:@"\nlinked %@", function];
    }
    return YES;
}

NSString *igi_pipeline_key(MTL4PipelineDescriptor *descriptor, MTL4PipelineStageDynamicLinkingDescriptor *dynamic) {
    igi_ensure_pool();
    MTL4ComputePipelineDescriptor *compute = (MTL4ComputePipelineDescriptor *)descriptor;
    NSString *function = text_of_function(compute.computeFunctionDescriptor, nil);
    if (!function) return nil;
    NSMutableString *text = [NSMutableString stringWithString:function];
    if (!append_functions(text, compute.staticLinkingDescriptor.functionDescriptors) ||
        !append_functions(text, compute.staticLinkingDescriptor.privateFunctionDescriptors))
        return nil;
    for (id<MTL4BinaryFunction> binary in dynamic.binaryLinkedFunctions)
        [text appendFormat:@"\nbinary %@", binary.name];
    MTLSize required = compute.requiredThreadsPerThreadgroup;
    [text appendFormat:@"\nthreads %lu %lu %lu %lu", compute.maxTotalThreadsPerThreadgroup, required.width,
                       required.height, required.depth];
    return hashed(text);
}

// ---- Functions ----

@implementation MTL4BinaryFunctionDescriptor
@synthesize name = _name, functionDescriptor = _functionDescriptor, options = _options;

- (void)dealloc {
    [_name release];
    [_functionDescriptor release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    MTL4BinaryFunctionDescriptor *copy = [[[self class] allocWithZone:zone] init];
    copy.name = _name;
    copy.functionDescriptor = _functionDescriptor;
    copy.options = _options;
    return copy;
}
@end

@implementation IGBinaryFunction
- (id)initWithFunction:(id<MTLFunction>)function name:(NSString *)name {
    if (!(self = [super init])) return nil;
    _function = [(id)function retain];
    self.label = name ? name : function.name;
    return self;
}

- (void)dealloc {
    [(id)_function release];
    [super dealloc];
}

- (NSString *)name {
    return self.label;
}

- (MTLFunctionType)functionType {
    return _function.functionType;
}
@end

// ---- Serializers ----

@implementation MTL4PipelineDataSetSerializerDescriptor
@synthesize configuration = _configuration;

- (id)init {
    if ((self = [super init])) _configuration = MTL4PipelineDataSetSerializerConfigurationCaptureDescriptors;
    return self;
}

- (id)copyWithZone:(NSZone *)zone {
    MTL4PipelineDataSetSerializerDescriptor *copy = [[[self class] allocWithZone:zone] init];
    copy.configuration = _configuration;
    return copy;
}
@end

static NSString *name_of(MTL4FunctionDescriptor *descriptor) {
    if ([descriptor isKindOfClass:[MTL4SpecializedFunctionDescriptor class]])
        return name_of([(MTL4SpecializedFunctionDescriptor *)descriptor functionDescriptor]);
    NSString *name = [(MTL4LibraryFunctionDescriptor *)descriptor name];
    return name ? name : @"";
}

static BOOL write_file(const char *path, NSData *data) {
    FILE *file = path ? fopen(path, "wb") : NULL;
    if (!file) return NO;
    BOOL written = fwrite([data bytes], 1, [data length], file) == [data length];
    return fclose(file) == 0 && written;
}

@implementation IGSerializer
- (id)initWithDescriptor:(MTL4PipelineDataSetSerializerDescriptor *)descriptor {
    if (!(self = [super init])) return nil;
    _configuration =
        descriptor ? descriptor.configuration : MTL4PipelineDataSetSerializerConfigurationCaptureDescriptors;
    _entries = [[NSMutableDictionary alloc] init];
    return self;
}

- (void)dealloc {
    [_entries release];
    [super dealloc];
}

- (void)put:(NSDictionary *)entry key:(NSString *)key {
    @synchronized(self) {
        if (key) [_entries setObject:entry forKey:key];
    }
}

- (void)add:(MTL4PipelineDescriptor *)descriptor key:(NSString *)key {
    igi_ensure_pool();
    MTL4ComputePipelineDescriptor *compute = (MTL4ComputePipelineDescriptor *)descriptor;
    NSMutableDictionary *entry = [NSMutableDictionary dictionary];
    [entry setObject:name_of(compute.computeFunctionDescriptor) forKey:@"compute_function"];
    if (descriptor.label) [entry setObject:descriptor.label forKey:@"label"];
    if (compute.maxTotalThreadsPerThreadgroup)
        [entry setObject:[NSNumber numberWithUnsignedLong:compute.maxTotalThreadsPerThreadgroup]
                  forKey:@"max_total_threads_per_threadgroup"];
    [self put:entry key:key];
}

- (void)addFunction:(MTL4BinaryFunctionDescriptor *)descriptor key:(NSString *)key {
    igi_ensure_pool();
    [self put:[NSDictionary dictionaryWithObject:name_of(descriptor.functionDescriptor) forKey:@"binary_function"]
          key:key];
}

- (NSArray *)sortedKeys {
    return [[_entries allKeys] sortedArrayUsingSelector:@selector(compare:)];
}

- (NSData *)serializeAsPipelinesScriptWithError:(NSError **)error {
    igi_clear_error(error);
    igi_ensure_pool();
    if (!(_configuration & MTL4PipelineDataSetSerializerConfigurationCaptureDescriptors))
        return igi_refuse(error, MTLBinaryArchiveDomain, MTLBinaryArchiveErrorInternalError,
                          @"the serializer was not asked to capture descriptors");
    NSMutableArray *pipelines = [NSMutableArray array];
    @synchronized(self) {
        for (NSString *key in [self sortedKeys]) {
            NSDictionary *entry = [_entries objectForKey:key];
            if ([entry objectForKey:@"compute_function"]) [pipelines addObject:entry];
        }
    }
    NSDictionary *kinds = [NSDictionary dictionaryWithObject:pipelines forKey:@"compute_pipelines"];
    return [NSJSONSerialization dataWithJSONObject:[NSDictionary dictionaryWithObject:kinds forKey:@"pipelines"]
                                           options:0
                                             error:error];
}

- (BOOL)serializeAsArchiveAndFlushToURL:(NSURL *)url error:(NSError **)error {
    igi_clear_error(error);
    igi_ensure_pool();
    if (!(_configuration & MTL4PipelineDataSetSerializerConfigurationCaptureBinaries)) {
        igi_refuse(error, MTLBinaryArchiveDomain, MTLBinaryArchiveErrorInternalError,
                   @"the serializer was not asked to capture binaries");
        return NO;
    }
    NSMutableString *text = [NSMutableString stringWithString:FIRST_LINE @"\n"];
    @synchronized(self) {
        for (NSString *key in [self sortedKeys]) [text appendFormat:@"%@\n", key];
        if ([url isFileURL] && write_file(igi_text([url path]), [text dataUsingEncoding:NSUTF8StringEncoding])) {
            [_entries removeAllObjects];
            return YES;
        }
    }
    igi_refuse(error, MTLBinaryArchiveDomain, MTLBinaryArchiveErrorInternalError,
               [NSString stringWithFormat:@"'%@' cannot be written", url]);
    return NO;
}
@end

// ---- Archives ----

@implementation IGArchive
- (id)initWithDevice:(IGDevice *)device url:(NSURL *)url error:(NSError **)error {
    igi_clear_error(error);
    if (!(self = [super init])) return nil;
    igi_ensure_pool();
    _compiler = [[IGCompiler alloc] initWithDevice:device descriptor:nil];
    // Foundation's own functions for files log errors.
    NSData *data = [url isFileURL] ? [[NSFileHandle fileHandleForReadingAtPath:[url path]] readDataToEndOfFile] : nil;
    NSString *text = data ? [[[NSString alloc] initWithData:data encoding:NSUTF8StringEncoding] autorelease] : nil;
    NSArray *lines = [text componentsSeparatedByString:@"\n"];
    if ([[lines firstObject] isEqual:FIRST_LINE]) {
        _keys = [[NSSet alloc] initWithArray:lines];
        return self;
    }
    igi_refuse(error, MTLBinaryArchiveDomain, MTLBinaryArchiveErrorInvalidFile,
               [NSString stringWithFormat:@"'%@' is not an archive of Ingot", [url path]]);
    [self release];
    return nil;
}

- (void)dealloc {
    [_compiler release];
    [_keys release];
    [super dealloc];
}

- (BOOL)has:(NSString *)key error:(NSError **)error {
    igi_clear_error(error);
    if (key && [_keys containsObject:key]) return YES;
    igi_refuse(error, MTLBinaryArchiveDomain, MTLBinaryArchiveErrorInternalError, @"the archive does not contain it");
    return NO;
}

- (id<MTLComputePipelineState>)newComputePipelineStateWithDescriptor:(MTL4ComputePipelineDescriptor *)descriptor
                                                               error:(NSError **)error {
    return [self newComputePipelineStateWithDescriptor:descriptor dynamicLinkingDescriptor:nil error:error];
}

- (id<MTLComputePipelineState>)newComputePipelineStateWithDescriptor:(MTL4ComputePipelineDescriptor *)descriptor
                                            dynamicLinkingDescriptor:
                                                (MTL4PipelineStageDynamicLinkingDescriptor *)dynamic
                                                               error:(NSError **)error {
    if (![self has:igi_pipeline_key(descriptor, dynamic) error:error]) return nil;
    return [_compiler newComputePipelineStateWithDescriptor:descriptor
                                   dynamicLinkingDescriptor:dynamic
                                        compilerTaskOptions:nil
                                                      error:error];
}

- (id<MTL4BinaryFunction>)newBinaryFunctionWithDescriptor:(MTL4BinaryFunctionDescriptor *)descriptor
                                                    error:(NSError **)error {
    if (![self has:igi_function_key(descriptor.functionDescriptor) error:error]) return nil;
    return [_compiler newBinaryFunctionWithDescriptor:descriptor compilerTaskOptions:nil error:error];
}
@end
