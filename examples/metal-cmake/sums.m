// SPDX-License-Identifier: Apache-2.0
#include "sums.h"

#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

extern const char kernels_start[], kernels_end[];

static bool fail(NSString *what, NSError *error) {
    fprintf(stderr, "%s: %s\n", what.UTF8String, error.localizedDescription.UTF8String);
    return false;
}

static MTLCompileOptions *options(void) {
    MTLCompileOptions *chosen = [[MTLCompileOptions alloc] init];
    if (@available(macOS 15.0, iOS 18.0, *))
        chosen.mathMode = MTLMathModeSafe;
    else
        chosen.fastMathEnabled = NO;
    return [chosen autorelease];
}

static id<MTLComputePipelineState> new_pipeline(id<MTLDevice> device, NSError **error) {
    NSString *text = [[[NSString alloc] initWithBytes:kernels_start
                                               length:(NSUInteger)(kernels_end - kernels_start)
                                             encoding:NSUTF8StringEncoding] autorelease];
    id<MTLLibrary> library = [device newLibraryWithSource:text options:options() error:error];
    id<MTLFunction> function = [library newFunctionWithName:@"weigh"];
    id<MTLComputePipelineState> pipeline =
        function ? [device newComputePipelineStateWithFunction:function error:error] : nil;
    [function release];
    [library release];
    return pipeline;
}

bool weigh_points(const simd_float4 *points, size_t count, simd_float4 weights, float *out) {
    @autoreleasepool {
        NSError *error = nil;
        id<MTLDevice> device = [MTLCreateSystemDefaultDevice() autorelease];
        id<MTLComputePipelineState> pipeline = [new_pipeline(device, &error) autorelease];
        if (pipeline == nil) return fail(@"the kernel does not compile", error);
        id<MTLBuffer> in = [[device newBufferWithBytes:points length:count * sizeof *points options:0] autorelease];
        id<MTLBuffer> sums = [[device newBufferWithLength:count * sizeof *out options:0] autorelease];
        id<MTLCommandBuffer> commands = [[[device newCommandQueue] autorelease] commandBuffer];
        id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
        [encoder setComputePipelineState:pipeline];
        [encoder setBuffer:in offset:0 atIndex:0];
        [encoder setBytes:&weights length:sizeof weights atIndex:1];
        [encoder setBuffer:sums offset:0 atIndex:2];
        [encoder dispatchThreads:MTLSizeMake(count, 1, 1) threadsPerThreadgroup:MTLSizeMake(64, 1, 1)];
        [encoder endEncoding];
        [commands commit];
        [commands waitUntilCompleted];
        if (commands.error) return fail(@"the kernel failed", commands.error);
        memcpy(out, sums.contents, count * sizeof *out);
        return true;
    }
}
