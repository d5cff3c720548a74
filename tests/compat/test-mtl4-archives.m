// SPDX-License-Identifier: Apache-2.0
// Metal 4: archives, serializers, binary functions.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helpers.h"

static const char source[] =
    "#include <metal_stdlib>\nusing namespace metal;\n"
    "constant uint factor [[function_constant(0)]];\n"
    "kernel void scale(device uint *a [[buffer(0)]]) { a[0] = 7 * factor; }\n"
    "kernel void plain(device uint *a [[buffer(0)]]) { a[0] = 9; }\n"
    "[[visible]] uint add_one(uint x) { return x + 1; }\n"
    "kernel void call(device uint *a [[buffer(0)]],\n"
    "                 visible_function_table<uint(uint)> t [[buffer(1)]]) { a[0] = t[0](a[0]); }\n";

static MTL4FunctionDescriptor *function_of(id<MTLLibrary> library, NSString *name, uint32_t factor) {
    MTL4LibraryFunctionDescriptor *plain = [[[MTL4LibraryFunctionDescriptor alloc] init] autorelease];
    plain.library = library;
    plain.name = name;
    if (!factor) return plain;
    MTL4SpecializedFunctionDescriptor *special = [[[MTL4SpecializedFunctionDescriptor alloc] init] autorelease];
    MTLFunctionConstantValues *values = [[[MTLFunctionConstantValues alloc] init] autorelease];
    [values setConstantValue:&factor type:MTLDataTypeUInt atIndex:0];
    special.functionDescriptor = plain;
    special.constantValues = values;
    return special;
}

static MTL4ComputePipelineDescriptor *pipeline_of(id<MTLLibrary> library, NSString *name, uint32_t factor) {
    MTL4ComputePipelineDescriptor *descriptor = [[[MTL4ComputePipelineDescriptor alloc] init] autorelease];
    descriptor.computeFunctionDescriptor = function_of(library, name, factor);
    return descriptor;
}

static id<MTL4Compiler> new_compiler(id<MTL4PipelineDataSetSerializer> serializer) {
    MTL4CompilerDescriptor *descriptor = [[[MTL4CompilerDescriptor alloc] init] autorelease];
    descriptor.label = @"ours";
    descriptor.pipelineDataSetSerializer = serializer;
    id<MTL4Compiler> compiler = [device newCompilerWithDescriptor:descriptor error:NULL];
    assert_text(compiler.label, "ours");
    assert_ptr_equal(compiler.pipelineDataSetSerializer, serializer);
    return compiler;
}

static id<MTL4PipelineDataSetSerializer> new_serializer(MTL4PipelineDataSetSerializerConfiguration configuration) {
    MTL4PipelineDataSetSerializerDescriptor *descriptor =
        [[[MTL4PipelineDataSetSerializerDescriptor alloc] init] autorelease];
    assert_int_equal(descriptor.configuration, MTL4PipelineDataSetSerializerConfigurationCaptureDescriptors);
    descriptor.configuration = configuration;
    return [device newPipelineDataSetSerializerWithDescriptor:descriptor];
}

static id<MTLComputePipelineState> compiled(id<MTL4Compiler> compiler, MTL4ComputePipelineDescriptor *descriptor) {
    NSError *error = nil;
    id<MTLComputePipelineState> pipeline = [compiler newComputePipelineStateWithDescriptor:descriptor
                                                                       compilerTaskOptions:nil
                                                                                     error:&error];
    if (!pipeline) fail_msg("%s", [[error localizedDescription] UTF8String]);
    return [pipeline autorelease];
}

static uint32_t result_of(id<MTLComputePipelineState> pipeline) {
    id<MTLBuffer> word = new_words(1);
    run_one_thread(pipeline, word);
    uint32_t result = words_of(word)[0];
    [word release];
    return result;
}

static void archives_have_what_was_captured(void **state) {
    const MTL4PipelineDataSetSerializerConfiguration all =
        MTL4PipelineDataSetSerializerConfigurationCaptureDescriptors |
        MTL4PipelineDataSetSerializerConfigurationCaptureBinaries;
    char path[] = "/tmp/ingot-archive-XXXXXX";
    close(mkstemp(path));
    NSURL *url = [NSURL fileURLWithPath:[NSString stringWithUTF8String:path]];
    id<MTLLibrary> library = new_library(source);
    id<MTL4PipelineDataSetSerializer> serializer = new_serializer(all);
    id<MTL4Compiler> compiler = new_compiler(serializer);
    assert_int_equal(result_of(compiled(compiler, pipeline_of(library, @"scale", 6))), 42);
    NSError *error = nil;
    assert_true([serializer serializeAsArchiveAndFlushToURL:url error:&error]);
    id<MTL4Archive> archive = [device newArchiveWithURL:url error:&error];
    assert_non_null(archive);
    // The library is compiled again from the same text.
    id<MTLLibrary> again = new_library(source);
    id<MTLComputePipelineState> found = [archive newComputePipelineStateWithDescriptor:pipeline_of(again, @"scale", 6)
                                                                                 error:&error];
    assert_non_null(found);
    assert_int_equal(result_of(found), 42);
    id<MTLLibrary> other = new_library("kernel void plain(device uint *a [[buffer(0)]]) { a[0] = 8; }\n");
    MTL4ComputePipelineDescriptor *absent[] = {pipeline_of(again, @"scale", 5), pipeline_of(again, @"plain", 0),
                                               pipeline_of(other, @"plain", 0), nil};
    for (int i = 0; i < 4; i++) {
        assert_null([archive newComputePipelineStateWithDescriptor:absent[i] error:&error]);
        assert_error(error, MTLBinaryArchiveDomain, MTLBinaryArchiveErrorInternalError);
    }
    // It was flushed.
    assert_true([serializer serializeAsArchiveAndFlushToURL:url error:&error]);
    id<MTL4Archive> empty = [device newArchiveWithURL:url error:&error];
    assert_null([empty newComputePipelineStateWithDescriptor:pipeline_of(again, @"scale", 6) error:&error]);
    unlink(path);
    assert_null([device newArchiveWithURL:url error:&error]);
    assert_error(error, MTLBinaryArchiveDomain, MTLBinaryArchiveErrorInvalidFile);
    [empty release];
    [found release];
    [archive release];
    [compiler release];
    [serializer release];
    [other release];
    [again release];
    [library release];
}

static void scripts_name_what_was_captured(void **state) {
    id<MTLLibrary> library = new_library(source);
    id<MTL4PipelineDataSetSerializer> serializer =
        new_serializer(MTL4PipelineDataSetSerializerConfigurationCaptureDescriptors);
    id<MTL4Compiler> compiler = new_compiler(serializer);
    MTL4ComputePipelineDescriptor *descriptor = pipeline_of(library, @"plain", 0);
    descriptor.label = @"nine";
    descriptor.maxTotalThreadsPerThreadgroup = 64;
    compiled(compiler, descriptor);
    compiled(compiler, pipeline_of(library, @"scale", 3));
    NSError *error = nil;
    NSDictionary *script =
        [NSJSONSerialization JSONObjectWithData:[serializer serializeAsPipelinesScriptWithError:&error]
                                        options:0
                                          error:&error];
    NSArray *pipelines = [[script objectForKey:@"pipelines"] objectForKey:@"compute_pipelines"];
    assert_int_equal([pipelines count], 2);
    int named = 0;
    for (NSDictionary *pipeline in pipelines) {
        if (![[pipeline objectForKey:@"compute_function"] isEqual:@"plain"]) continue;
        assert_text([pipeline objectForKey:@"label"], "nine");
        assert_int_equal([[pipeline objectForKey:@"max_total_threads_per_threadgroup"] intValue], 64);
        named++;
    }
    assert_int_equal(named, 1);
    assert_false([serializer serializeAsArchiveAndFlushToURL:[NSURL fileURLWithPath:@"/tmp"] error:&error]);
    assert_contains([error localizedDescription], "binaries");
    id<MTL4PipelineDataSetSerializer> binaries =
        new_serializer(MTL4PipelineDataSetSerializerConfigurationCaptureBinaries);
    assert_null([binaries serializeAsPipelinesScriptWithError:&error]);
    assert_contains([error localizedDescription], "descriptors");
    assert_false([binaries serializeAsArchiveAndFlushToURL:[NSURL fileURLWithPath:@"/no/such/place"] error:&error]);
    assert_contains([error localizedDescription], "written");
    [binaries release];
    [compiler release];
    [serializer release];
    [library release];
}

static uint32_t call_through_table(id<MTLComputePipelineState> pipeline, id<MTL4BinaryFunction> function) {
    id<MTLFunctionHandle> handle = [pipeline functionHandleWithBinaryFunction:function];
    assert_text(handle.name, "add_one");
    MTLVisibleFunctionTableDescriptor *shape = [MTLVisibleFunctionTableDescriptor visibleFunctionTableDescriptor];
    shape.functionCount = 1;
    id<MTLVisibleFunctionTable> functions = [pipeline newVisibleFunctionTableWithDescriptor:shape];
    [functions setFunction:handle atIndex:0];
    id<MTLBuffer> word = new_words(1);
    words_of(word)[0] = 41;
    MTL4ArgumentTableDescriptor *slots = [[[MTL4ArgumentTableDescriptor alloc] init] autorelease];
    slots.maxBufferBindCount = 2;
    id<MTL4ArgumentTable> table = [device newArgumentTableWithDescriptor:slots error:NULL];
    [table setAddress:word.gpuAddress atIndex:0];
    [table setResource:functions.gpuResourceID atBufferIndex:1];
    NSString *wrong = run_metal4(@[ word, functions ], table, pipeline, ^(id<MTL4ComputeCommandEncoder> encoder) {
      [encoder dispatchThreads:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
    });
    assert_null(wrong);
    uint32_t result = words_of(word)[0];
    [table release];
    [word release];
    [functions release];
    return result;
}

static void binary_functions_are_linked(void **state) {
    id<MTLLibrary> library = new_library(source);
    id<MTL4Compiler> compiler = new_compiler(nil);
    MTL4BinaryFunctionDescriptor *descriptor = [[[MTL4BinaryFunctionDescriptor alloc] init] autorelease];
    descriptor.name = @"plus";
    descriptor.functionDescriptor = function_of(library, @"add_one", 0);
    __block id<MTL4BinaryFunction> function = nil;
    id<MTL4CompilerTask> task =
        [compiler newBinaryFunctionWithDescriptor:descriptor
                              compilerTaskOptions:nil
                                completionHandler:^(id<MTL4BinaryFunction> made, NSError *error) {
                                  function = [(id)made retain];
                                }];
    [task waitUntilCompleted];
    assert_text(function.name, "plus");
    assert_int_equal(function.functionType, MTLFunctionTypeVisible);
    MTL4PipelineStageDynamicLinkingDescriptor *linking =
        [[[MTL4PipelineStageDynamicLinkingDescriptor alloc] init] autorelease];
    linking.binaryLinkedFunctions = @[ function ];
    NSError *error = nil;
    id<MTLComputePipelineState> pipeline =
        [compiler newComputePipelineStateWithDescriptor:pipeline_of(library, @"call", 0)
                               dynamicLinkingDescriptor:linking
                                    compilerTaskOptions:nil
                                                  error:&error];
    assert_non_null(pipeline);
    assert_int_equal(call_through_table(pipeline, function), 42);
    descriptor.functionDescriptor = function_of(library, @"nobody", 0);
    assert_null([compiler newBinaryFunctionWithDescriptor:descriptor compilerTaskOptions:nil error:&error]);
    assert_error(error, MTLLibraryErrorDomain, MTLLibraryErrorFunctionNotFound);
    [pipeline release];
    [(id)function release];
    [task release];
    [compiler release];
    [library release];
}

int main(void) {
    const struct CMUnitTest tests[] = {
        compat_test(archives_have_what_was_captured),
        compat_test(scripts_name_what_was_captured),
        compat_test(binary_functions_are_linked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
