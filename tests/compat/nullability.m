// SPDX-License-Identifier: Apache-2.0
// What may be nil, as on a Mac: clang warns on the lines that say so, and on no others. Never run.
#import <Metal/Metal.h>
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

id<MTLDevice> _Nonnull a_device(id<MTLDevice> _Nonnull given);
id<MTLDevice> _Nonnull a_device(id<MTLDevice> _Nonnull given) {
    id<MTLDevice> _Nullable device = MTLCreateSystemDefaultDevice();
    id<MTLDevice> _Nonnull first = device;  // warns
    id<MTLDevice> _Nonnull all = [MTLCopyAllDevices() objectAtIndex:0];
    return given ? given : all ? all : first;
}

void devices(id<MTLDevice> _Nonnull device);
void devices(id<MTLDevice> _Nonnull device) {
    NSError *error = nil;
    NSString *_Nonnull name = device.name;
    id<MTLLibrary> _Nonnull library = [device newLibraryWithSource:@"" options:nil error:&error];  // warns
    (void)[device newLibraryWithSource:nil options:nil error:NULL];                                // warns
    id<MTLBuffer> _Nonnull buffer = [device newBufferWithLength:4 options:0];                      // warns
    (void)[device newBufferWithBytes:NULL length:4 options:0];                                     // warns
    (void)[device newBufferWithBytesNoCopy:(void *_Nonnull)name length:4 options:0 deallocator:nil];
    id<MTLCommandQueue> _Nonnull queue = [device newCommandQueue];  // warns
    id<MTLDevice> _Nonnull same = buffer.device;
    void *_Nonnull contents = buffer.contents;
    NSString *_Nonnull label = buffer.label;  // warns
    buffer.label = nil;
    id<MTLTensor> _Nonnull tensor = [device newTensorWithDescriptor:nil error:NULL];  // warns twice
    MTLTensorExtents *_Nonnull sizes = tensor.dimensions;
    MTLTensorExtents *_Nonnull strides = tensor.strides;  // warns
    (void)library, (void)queue, (void)same, (void)contents, (void)label, (void)sizes, (void)strides;
}

void commands(id<MTLCommandQueue> _Nonnull queue, id<MTLBuffer> _Nullable buffer);
void commands(id<MTLCommandQueue> _Nonnull queue, id<MTLBuffer> _Nullable buffer) {
    id<MTLCommandBuffer> _Nonnull commands = [queue commandBuffer];  // warns
    id<MTLComputeCommandEncoder> _Nonnull encoder = (id _Nonnull)[commands computeCommandEncoder];
    [encoder setBuffer:buffer offset:0 atIndex:0];
    [encoder setTexture:nil atIndex:0];
    [encoder setComputePipelineState:nil];                  // warns
    [encoder dispatchThreadgroupsWithIndirectBuffer:buffer  // warns
                               indirectBufferOffset:0
                              threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
    NSError *_Nonnull error = commands.error;  // warns
    [commands addCompletedHandler:nil];        // warns
    (void)error;
}

void functions(id<MTLLibrary> _Nonnull library);
void functions(id<MTLLibrary> _Nonnull library) {
    id<MTLFunction> _Nonnull function = [library newFunctionWithName:@"f"];  // warns
    NSArray<NSString *> *_Nonnull names = library.functionNames;
    MTLComputePipelineDescriptor *_Nonnull descriptor = [[MTLComputePipelineDescriptor alloc] init];
    descriptor.computeFunction = nil;
    descriptor.label = nil;
    [library newFunctionWithName:@"f"
                  constantValues:[[MTLFunctionConstantValues alloc] init]
               completionHandler:^(id<MTLFunction> _Nullable made, NSError *_Nullable error) {
                 id<MTLFunction> _Nonnull sure = made;  // warns
                 (void)sure;
               }];
    (void)function, (void)names;
}
