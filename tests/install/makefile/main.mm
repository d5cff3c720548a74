// SPDX-License-Identifier: Apache-2.0
#import <Metal/Metal.h>
#include <iostream>
#include <vector>

extern "C" float first_number(void);

int main() {
    @autoreleasepool {
        id<MTLDevice> device = MTLCopyAllDevices()[0];
        NSError *error;  // Metal sets it
        id<MTLFunction> twice = [[device newDefaultLibrary] newFunctionWithName:@"twice"];
        id<MTLComputePipelineState> pipeline = [device newComputePipelineStateWithFunction:twice error:&error];
        if (error) return 1;
        std::vector<float> numbers{first_number()};
        id<MTLBuffer> buffer = [device newBufferWithBytes:numbers.data() length:sizeof(float) options:0];
        id<MTLCommandBuffer> commands = [[device newCommandQueue] commandBuffer];
        id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
        [encoder setComputePipelineState:pipeline];
        [encoder setBuffer:buffer offset:0 atIndex:0];
        [encoder dispatchThreads:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
        [encoder endEncoding];
        [commands commit];
        [commands waitUntilCompleted];
        std::cout << "twice " << numbers[0] << " is " << *(const float *)buffer.contents << "\n";
    }
}
