// SPDX-License-Identifier: Apache-2.0
// Everything that a device creates except libraries and pipelines.
#include "argument-encoder.h"
#include "commands.h"
#include "counters.h"
#include "event.h"
#include "indirect-commands.h"
#include "log-state.h"
#include "residency-set.h"
#include "resource.h"
#include "tensor.h"
#include "texture.h"

typedef void (^deallocator_block)(void *pointer, NSUInteger length);

static ig_storage storage_of(MTLResourceOptions options) {
    switch (igi_storage_mode(options)) {
        case MTLStorageModePrivate: return IG_STORAGE_PRIVATE;
        case MTLStorageModeManaged: return IG_STORAGE_MANAGED;
        default: return IG_STORAGE_SHARED;
    }
}

static void call_deallocator(void *memory, uint64_t length, void *user) {
    deallocator_block block = user;
    @autoreleasepool {
        block(memory, length);
    }
    Block_release(block);
}

// A GPU lets kernels read past a buffer, on which programs rely without knowing: the last tile of a matrix reaches over its
// end, by up to as many rows as it has. Pages that nobody touches cost nothing; only small buffers share theirs with others.
enum { IGI_SMALL_TAIL = 4 << 10, IGI_SMALL_BUFFER = (32 << 10) - IGI_SMALL_TAIL };
enum { IGI_LEAST_TAIL = 64 << 10, IGI_MOST_TAIL = 16 << 20 };

static uint32_t tail_of(const ig_buffer_desc *desc) {
    if (desc->no_copy) return 0;
    if (desc->pooled) return IGI_SMALL_TAIL;
    if (desc->length < IGI_LEAST_TAIL) return IGI_LEAST_TAIL;
    return desc->length < IGI_MOST_TAIL ? (uint32_t)desc->length : IGI_MOST_TAIL;
}

enum { IGI_MAX_INDIRECT_COMMANDS = 16384, IGI_COMMAND_BUFFERS = 64 };

@implementation IGDevice (Resources)

// ---- Queues ----

- (id<MTLCommandQueue>)newCommandQueue {
    return [self newCommandQueueWithMaxCommandBufferCount:IGI_COMMAND_BUFFERS];
}

- (id<MTLCommandQueue>)newCommandQueueWithMaxCommandBufferCount:(NSUInteger)maxCommandBufferCount {
    return [[IGQueue alloc] initWithDevice:self logState:nil most:MAX(maxCommandBufferCount, 1u)];
}

- (id<MTLCommandQueue>)newCommandQueueWithDescriptor:(MTLCommandQueueDescriptor *)descriptor {
    NSUInteger most = descriptor ? MAX(descriptor.maxCommandBufferCount, 1u) : IGI_COMMAND_BUFFERS;
    return [[IGQueue alloc] initWithDevice:self logState:descriptor.logState most:most];
}

// ---- Buffers and heaps ----

- (id<MTLBuffer>)newBufferWithDesc:(ig_buffer_desc)desc options:(MTLResourceOptions)options {
    ig_buffer *buffer = NULL;
    if (igi_storage_mode(options) == MTLStorageModeMemoryless) return nil;
    desc.storage = storage_of(options);
    // A separate mapping for every small buffer would soon exceed the system's limit.
    desc.pooled = desc.length <= IGI_SMALL_BUFFER && desc.storage == IG_STORAGE_SHARED && !desc.no_copy;
    desc.tail = tail_of(&desc);
    if (ig_buffer_create(_device, &desc, &buffer) != IG_STATUS_OK) return nil;
    if (desc.pooled && !desc.bytes) memset(ig_buffer_contents(buffer), 0, desc.length);
    return [[IGBuffer alloc] initWithBuffer:buffer device:self options:options];
}

- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options {
    return [self newBufferWithDesc:(ig_buffer_desc){.length = length} options:options];
}

- (id<MTLBuffer>)newBufferWithBytes:(const void *)pointer
                             length:(NSUInteger)length
                            options:(MTLResourceOptions)options {
    if (!pointer) return nil;
    return [self newBufferWithDesc:(ig_buffer_desc){.length = length, .bytes = pointer} options:options];
}

- (id<MTLBuffer>)newBufferWithBytesNoCopy:(void *)pointer
                                   length:(NSUInteger)length
                                  options:(MTLResourceOptions)options
                              deallocator:(void (^)(void *pointer, NSUInteger length))deallocator {
    if (!pointer) return nil;
    deallocator_block block = deallocator ? Block_copy(deallocator) : NULL;
    ig_buffer_desc desc = {
        .length = length, .no_copy = pointer, .deallocate = block ? call_deallocator : NULL, .user = block};
    id<MTLBuffer> buffer = [self newBufferWithDesc:desc options:options];
    if (!buffer && block) Block_release(block);
    return buffer;
}

- (MTLSizeAndAlign)heapBufferSizeAndAlignWithLength:(NSUInteger)length options:(MTLResourceOptions)options {
    NSUInteger size = (length + IGI_HEAP_ALIGNMENT - 1) / IGI_HEAP_ALIGNMENT * IGI_HEAP_ALIGNMENT;
    return (MTLSizeAndAlign){size, IGI_HEAP_ALIGNMENT};
}

- (id<MTLHeap>)newHeapWithDescriptor:(MTLHeapDescriptor *)descriptor {
    return [[IGHeap alloc] initWithDevice:self descriptor:descriptor];
}

// ---- Tensors ----

- (id<MTLTensor>)newTensorWithDescriptor:(MTLTensorDescriptor *)descriptor error:(NSError **)error {
    return igi_new_tensor(self, descriptor, nil, 0, error);
}

- (MTLSizeAndAlign)tensorSizeAndAlignWithDescriptor:(MTLTensorDescriptor *)descriptor {
    return igi_mtl_tensor_size(descriptor);
}

// ---- Order ----

- (id<MTLFence>)newFence {
    return [[IGFence alloc] initWithDevice:self];
}

- (id<MTLEvent>)newEvent {
    return [[IGEvent alloc] initWithDevice:self];
}

- (id<MTLSharedEvent>)newSharedEvent {
    return [[IGSharedEvent alloc] initWithDevice:self];
}

- (id<MTLSharedEvent>)newSharedEventWithHandle:(MTLSharedEventHandle *)handle {
    return [[handle event] retain];
}

// ---- Residency, archives, and what is not supported ----

- (id<MTLResidencySet>)newResidencySetWithDescriptor:(MTLResidencySetDescriptor *)descriptor error:(NSError **)error {
    igi_clear_error(error);
    return [[IGResidencySet alloc] initWithDevice:self label:descriptor.label];
}

- (id<MTLLogState>)newLogStateWithDescriptor:(MTLLogStateDescriptor *)descriptor error:(NSError **)error {
    igi_clear_error(error);
    NSInteger size = descriptor.bufferSize;
    if (size != 0 && (size < 1024 || size > 1 << 30))
        return igi_refuse(error, MTLLogStateErrorDomain, MTLLogStateErrorInvalidSize,
                          @"bufferSize of a log state must be from 1 KiB to 1 GiB");
    return [[IGLogState alloc] initWithDescriptor:descriptor];
}

- (id<MTLBinaryArchive>)newBinaryArchiveWithDescriptor:(MTLBinaryArchiveDescriptor *)descriptor
                                                 error:(NSError **)error {
    return [[IGBinaryArchive alloc] initWithDevice:self url:descriptor.url error:error];
}

- (id<MTLIndirectCommandBuffer>)newIndirectCommandBufferWithDescriptor:(MTLIndirectCommandBufferDescriptor *)descriptor
                                                       maxCommandCount:(NSUInteger)maxCount
                                                               options:(MTLResourceOptions)options {
    const MTLIndirectCommandType dispatches =
        MTLIndirectCommandTypeConcurrentDispatch | MTLIndirectCommandTypeConcurrentDispatchThreads;
    if (!descriptor || descriptor.commandTypes & ~dispatches || maxCount > IGI_MAX_INDIRECT_COMMANDS) return nil;
    if (!maxCount) return nil;
    return [[IGIndirectCommandBuffer alloc] initWithDevice:self descriptor:descriptor count:maxCount options:options];
}

- (id<MTLCounterSampleBuffer>)newCounterSampleBufferWithDescriptor:(MTLCounterSampleBufferDescriptor *)descriptor
                                                             error:(NSError **)error {
    return [[IGCounterSampleBuffer alloc] initWithDevice:self descriptor:descriptor error:error];
}

- (id<MTLTexture>)newTextureWithDescriptor:(MTLTextureDescriptor *)descriptor {
    return igi_new_texture(self, descriptor, nil, 0, 0);
}

- (id<MTLSamplerState>)newSamplerStateWithDescriptor:(MTLSamplerDescriptor *)descriptor {
    return igi_new_sampler(self, descriptor);
}

// Rows of pixels of every format begin at multiples of 16 bytes or less.
- (NSUInteger)minimumLinearTextureAlignmentForPixelFormat:(MTLPixelFormat)format {
    return 16;
}

- (NSUInteger)minimumTextureBufferAlignmentForPixelFormat:(MTLPixelFormat)format {
    return 16;
}

- (id<MTLArgumentEncoder>)newArgumentEncoderWithArguments:(NSArray *)arguments {
    return [[IGArgumentEncoder alloc] initWithDevice:self arguments:arguments];
}

- (id<MTLArgumentEncoder>)newArgumentEncoderWithBufferBinding:(id<MTLBufferBinding>)bufferBinding {
    return igi_new_encoder_of_binding(bufferBinding);
}
@end
