// SPDX-License-Identifier: Apache-2.0
// Every method that a protocol of Metal declares exists, on an object of every class.
#include <objc/runtime.h>
#include <stdio.h>
#include <stdlib.h>

#include "helpers.h"

static int missing;

static void check_methods(id object, Protocol *protocol, BOOL required) {
    unsigned count = 0;
    struct objc_method_description *methods = protocol_copyMethodDescriptionList(protocol, required, YES, &count);
    for (unsigned i = 0; i < count; i++) {
        if ([object respondsToSelector:methods[i].name]) continue;
        fprintf(stderr, "%s lacks %s of %s\n", class_getName([object class]), sel_getName(methods[i].name),
                protocol_getName(protocol));
        missing++;
    }
    free(methods);
}

// By name, which gives the library's own: the runtime knows the selectors of its methods.
static void check(id object, const char *name) {
    Protocol *protocol = objc_getProtocol(name);
    assert_non_null(protocol);
    assert_non_null(object);
    if (![object conformsToProtocol:protocol]) {
        fprintf(stderr, "%s does not claim %s\n", class_getName([object class]), protocol_getName(protocol));
        missing++;
    }
    check_methods(object, protocol, YES);
    unsigned count = 0;
    Protocol **parents = protocol_copyProtocolList(protocol, &count);
    for (unsigned i = 0; i < count; i++) check_methods(object, parents[i], YES);
    free(parents);
}

static id kept(NSMutableArray *objects, id object) {
    if (object) [objects addObject:object];
    [object release];
    return object;
}

static MTLArgumentDescriptor *pointer_argument(void) {
    MTLArgumentDescriptor *descriptor = [MTLArgumentDescriptor argumentDescriptor];
    descriptor.dataType = MTLDataTypePointer;
    return descriptor;
}

static void every_protocol_is_implemented(void **state) {
    NSMutableArray *objects = [NSMutableArray array];
    NSError *error = nil;
    check(device, "MTLDevice");
    id<MTLCommandQueue> queue = kept(objects, [device newCommandQueue]);
    check(queue, "MTLCommandQueue");
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    check(commands, "MTLCommandBuffer");
    id<MTLComputeCommandEncoder> compute = [commands computeCommandEncoder];
    check(compute, "MTLComputeCommandEncoder");
    check(compute, "MTLCommandEncoder");
    [compute endEncoding];
    id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
    check(blit, "MTLBlitCommandEncoder");
    [blit endEncoding];
    id<MTLLibrary> library = kept(objects, new_library(increment_source));
    check(library, "MTLLibrary");
    id<MTLFunction> function = kept(objects, [library newFunctionWithName:@"increment"]);
    check(function, "MTLFunction");
    id<MTLComputePipelineState> pipeline = kept(objects, [device newComputePipelineStateWithFunction:function
                                                                                               error:&error]);
    check(pipeline, "MTLComputePipelineState");
    check([pipeline.reflection.bindings objectAtIndex:0], "MTLBufferBinding");
    check([pipeline.reflection.bindings objectAtIndex:0], "MTLThreadgroupBinding");
    check(kept(objects, new_words(1)), "MTLBuffer");
    check(kept(objects, new_words(1)), "MTLResource");
    MTLHeapDescriptor *heap = [[[MTLHeapDescriptor alloc] init] autorelease];
    heap.size = 256;
    check(kept(objects, [device newHeapWithDescriptor:heap]), "MTLHeap");
    check(kept(objects, [device newFence]), "MTLFence");
    check(kept(objects, [device newEvent]), "MTLEvent");
    check(kept(objects, [device newSharedEvent]), "MTLSharedEvent");
    check(kept(objects, [device newResidencySetWithDescriptor:nil error:&error]), "MTLResidencySet");
    check(kept(objects, [device newBinaryArchiveWithDescriptor:nil error:&error]), "MTLBinaryArchive");
    check(kept(objects, [[MTLCaptureManager sharedCaptureManager] newCaptureScopeWithDevice:device]),
          "MTLCaptureScope");
    id<MTLIOCommandQueue> files = kept(objects, [device newIOCommandQueueWithDescriptor:nil error:&error]);
    check(files, "MTLIOCommandQueue");
    check([files commandBuffer], "MTLIOCommandBuffer");
    MTLCounterSampleBufferDescriptor *samples = [[[MTLCounterSampleBufferDescriptor alloc] init] autorelease];
    samples.counterSet = [device.counterSets objectAtIndex:0];
    samples.sampleCount = 1;
    check(samples.counterSet, "MTLCounterSet");
    check([samples.counterSet.counters objectAtIndex:0], "MTLCounter");
    check(kept(objects, [device newCounterSampleBufferWithDescriptor:samples error:&error]), "MTLCounterSampleBuffer");
    check(kept(objects, [device newMTL4CommandQueue]), "MTL4CommandQueue");
    check(kept(objects, [device newCommandAllocator]), "MTL4CommandAllocator");
    id<MTL4CommandBuffer> newer = kept(objects, [device newCommandBuffer]);
    check(newer, "MTL4CommandBuffer");
    check([newer computeCommandEncoder], "MTL4ComputeCommandEncoder");
    check(kept(objects, [device newArgumentTableWithDescriptor:nil error:&error]), "MTL4ArgumentTable");
    MTL4CounterHeapDescriptor *counters = [[[MTL4CounterHeapDescriptor alloc] init] autorelease];
    counters.type = MTL4CounterHeapTypeTimestamp;
    counters.count = 1;
    check(kept(objects, [device newCounterHeapWithDescriptor:counters error:&error]), "MTL4CounterHeap");
    MTLResourceViewPoolDescriptor *views = [[[MTLResourceViewPoolDescriptor alloc] init] autorelease];
    views.resourceViewCount = 1;
    check(kept(objects, [device newTextureViewPoolWithDescriptor:views error:&error]), "MTLTextureViewPool");
    check(kept(objects, [device newPipelineDataSetSerializerWithDescriptor:nil]), "MTL4PipelineDataSetSerializer");
    MTLTensorDescriptor *tensor = [[[MTLTensorDescriptor alloc] init] autorelease];
    check(kept(objects, [device newTensorWithDescriptor:tensor error:&error]), "MTLTensor");
    check([pipeline.reflection.bindings objectAtIndex:0], "MTLTensorBinding");
    check(kept(objects, [device newCompilerWithDescriptor:nil error:&error]), "MTL4Compiler");
    check(kept(objects, [device newArgumentEncoderWithArguments:@[ pointer_argument() ]]), "MTLArgumentEncoder");
    assert_int_equal(missing, 0);
}

static void descriptors_can_be_made_and_copied(void **state) {
    static const char *const names[] = {
        "MTLCompileOptions",
        "MTLComputePipelineDescriptor",
        "MTLFunctionConstantValues",
        "MTLFunctionDescriptor",
        "MTLHeapDescriptor",
        "MTLCommandQueueDescriptor",
        "MTLCommandBufferDescriptor",
        "MTLComputePassDescriptor",
        "MTLBlitPassDescriptor",
        "MTLComputePassSampleBufferAttachmentDescriptor",
        "MTLPipelineBufferDescriptor",
        "MTLResidencySetDescriptor",
        "MTLBinaryArchiveDescriptor",
        "MTLCaptureDescriptor",
        "MTLCounterSampleBufferDescriptor",
        "MTLIndirectCommandBufferDescriptor",
        "MTLIOCommandQueueDescriptor",
        "MTLStageInputOutputDescriptor",
        "MTLAttributeDescriptor",
        "MTLBufferLayoutDescriptor",
        "MTLArgumentDescriptor",
        "MTLResourceViewPoolDescriptor",
        "MTLTensorDescriptor",
        "MTLTextureViewDescriptor",
        "MTL4BinaryFunctionDescriptor",
        "MTL4CounterHeapDescriptor",
        "MTL4PipelineDataSetSerializerDescriptor",
        "MTLTensorExtents",
        "MTL4ArgumentTableDescriptor",
        "MTL4CommandAllocatorDescriptor",
        "MTL4CommandBufferOptions",
        "MTL4CommandQueueDescriptor",
        "MTL4CompilerDescriptor",
        "MTL4CompilerTaskOptions",
        "MTL4ComputePipelineDescriptor",
        "MTL4LibraryDescriptor",
        "MTL4LibraryFunctionDescriptor",
        "MTL4PipelineOptions",
        "MTL4PipelineStageDynamicLinkingDescriptor",
        "MTL4SpecializedFunctionDescriptor",
        "MTL4StaticLinkingDescriptor",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        id made = [[NSClassFromString([NSString stringWithUTF8String:names[i]]) alloc] init];
        assert_non_null(made);
        id copy = [made copy];
        assert_ptr_equal([copy class], [made class]);
        [copy release];
        [made release];
    }
    MTLComputePassDescriptor *pass = [MTLComputePassDescriptor computePassDescriptor];
    MTLComputePassSampleBufferAttachmentDescriptor *sample = [pass.sampleBufferAttachments objectAtIndexedSubscript:0];
    sample.endOfEncoderSampleIndex = 2;
    [pass.sampleBufferAttachments setObject:sample atIndexedSubscript:1];
    assert_int_equal([pass.sampleBufferAttachments objectAtIndexedSubscript:1].endOfEncoderSampleIndex, 2);
}

// new, alloc and copy give one reference; everything else belongs to the pool.
static void references_are_as_on_a_mac(void **state) {
    id<MTLCommandQueue> queue = [device newCommandQueue];
    assert_int_equal([queue retainCount], 1);
    NSAutoreleasePool *inner = [[NSAutoreleasePool alloc] init];
    id<MTLCommandBuffer> commands = [[queue commandBuffer] retain];
    assert_int_equal([commands retainCount], 2);
    assert_int_equal([queue retainCount], 2);
    id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
    assert_int_equal([blit retainCount], 1);
    [blit endEncoding];
    [inner drain];
    assert_int_equal([commands retainCount], 1);
    [commands release];
    assert_int_equal([queue retainCount], 1);
    [queue release];
}

int main(void) {
    const struct CMUnitTest tests[] = {
        compat_test(every_protocol_is_implemented),
        compat_test(descriptors_can_be_made_and_copied),
        compat_test(references_are_as_on_a_mac),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
