// SPDX-License-Identifier: Apache-2.0
// Adds to numbers and multiplies them, with kernels of the library that was built with the program.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

static void encode(id<MTLComputeCommandEncoder> encoder, id<MTLLibrary> library, NSString *name,
                   id<MTLBuffer> numbers) {
    NSError *error = nil;
    id<MTLFunction> function = [[library newFunctionWithName:name] autorelease];
    id<MTLComputePipelineState> pipeline = [[library.device newComputePipelineStateWithFunction:function
                                                                                          error:&error] autorelease];
    if (pipeline == nil) NSLog(@"%@: %@", name, error);
    [encoder setComputePipelineState:pipeline];
    [encoder setBuffer:numbers offset:0 atIndex:0];
    [encoder dispatchThreads:MTLSizeMake(numbers.length / sizeof(float), 1, 1)
        threadsPerThreadgroup:MTLSizeMake(4, 1, 1)];
}

int main(void) {
    @autoreleasepool {
        const float values[] = {1, 2, 3, 4, 5};
        id<MTLDevice> device = [MTLCreateSystemDefaultDevice() autorelease];
        id<MTLLibrary> library = [[device newDefaultLibrary] autorelease];
        if (library == nil) return 1;
        id<MTLBuffer> numbers = [[device newBufferWithBytes:values length:sizeof values options:0] autorelease];
        id<MTLCommandBuffer> commands = [[[device newCommandQueue] autorelease] commandBuffer];
        id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
        encode(encoder, library, @"add", numbers);
        encode(encoder, library, @"scale", numbers);
        [encoder endEncoding];
        [commands commit];
        [commands waitUntilCompleted];
        if (commands.error) return 1;
        const float *results = numbers.contents;
        printf("%g %g %g %g %g\n", results[0], results[1], results[2], results[3], results[4]);
    }
    return 0;
}
