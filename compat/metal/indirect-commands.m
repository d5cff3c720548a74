// SPDX-License-Identifier: Apache-2.0
#include "indirect-commands.h"

#include "library.h"

enum { SLOTS = 31 };

static ig_size size_of(MTLSize size) {
    return (ig_size){size.width, size.height, size.depth};
}

// Metal's calls cannot fail: a command that is wrong keeps what it had.
static void note(ig_status status) {
    if (status == IG_STATUS_OK) return;
    ig_error error = {0};
    ig_last_error(&error);
    NSLog(@"Metal: %s", error.message ? error.message : ig_status_text(status));
    ig_error_clear(&error);
}

@implementation IGIndirectCommand
- (id)initWithOwner:(IGIndirectCommandBuffer *)owner index:(NSUInteger)index {
    if (!(self = [super init])) return nil;
    _owner = [owner retain];
    _index = (uint32_t)index;
    return self;
}

- (void)dealloc {
    [_owner release];
    [super dealloc];
}

- (void)reset {
    note(ig_indirect_commands_reset(_owner->_indirect, _index, 1));
}

- (void)setComputePipelineState:(id<MTLComputePipelineState>)pipelineState {
    IGPipeline *pipeline = (IGPipeline *)pipelineState;
    if (igi_metal_is_validating() && pipeline && !pipelineState.supportIndirectCommandBuffers)
        NSLog(@"Metal: a pipeline in an indirect command buffer needs supportIndirectCommandBuffers in its descriptor");
    note(ig_indirect_commands_set_pipeline(_owner->_indirect, _index, pipeline ? pipeline->_pipeline : NULL));
}

- (void)setKernelBuffer:(id<MTLBuffer>)buffer
                 offset:(NSUInteger)offset
        attributeStride:(NSUInteger)stride
                atIndex:(NSUInteger)index {
    [self setKernelBuffer:buffer offset:offset atIndex:index];
    uint32_t slot = (uint32_t)MIN(index, (NSUInteger)UINT32_MAX), bytes = (uint32_t)MIN(stride, (NSUInteger)UINT32_MAX);
    if (stride == MTLAttributeStrideStatic) bytes = 0;
    note(ig_indirect_commands_set_attribute_stride(_owner->_indirect, _index, bytes, slot));
}

- (void)setKernelBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index {
    uint32_t slot = (uint32_t)MIN(index, (NSUInteger)UINT32_MAX);
    note(ig_indirect_commands_set_buffer(_owner->_indirect, _index, igi_buffer_of(buffer), offset, slot));
}

- (void)setThreadgroupMemoryLength:(NSUInteger)length atIndex:(NSUInteger)index {
    uint32_t slot = (uint32_t)MIN(index, (NSUInteger)UINT32_MAX), bytes = (uint32_t)MIN(length, (NSUInteger)UINT32_MAX);
    note(ig_indirect_commands_set_threadgroup_memory(_owner->_indirect, _index, bytes, slot));
}

// A height or depth of 0 is an empty grid in Metal; Ingot would take it for 1.
static ig_size grid_of(MTLSize size) {
    return size.width && size.height && size.depth ? size_of(size) : (ig_size){0};
}

- (void)concurrentDispatchThreadgroups:(MTLSize)groups threadsPerThreadgroup:(MTLSize)group {
    note(ig_indirect_commands_dispatch_threadgroups(_owner->_indirect, _index, grid_of(groups), grid_of(group)));
}

- (void)concurrentDispatchThreads:(MTLSize)threads threadsPerThreadgroup:(MTLSize)group {
    note(ig_indirect_commands_dispatch_threads(_owner->_indirect, _index, grid_of(threads), grid_of(group)));
}

- (void)setBarrier {
    note(ig_indirect_commands_set_barrier(_owner->_indirect, _index, true));
}

- (void)clearBarrier {
    note(ig_indirect_commands_set_barrier(_owner->_indirect, _index, false));
}

- (void)setImageblockWidth:(NSUInteger)width height:(NSUInteger)height {
}

- (void)setStageInRegion:(MTLRegion)region {
    ig_size origin = {region.origin.x, region.origin.y, region.origin.z};
    note(ig_indirect_commands_set_stage_region(_owner->_indirect, _index, origin, size_of(region.size)));
}
@end

@implementation IGIndirectCommandBuffer
- (id)initWithDevice:(IGDevice *)device
          descriptor:(MTLIndirectCommandBufferDescriptor *)descriptor
               count:(NSUInteger)count
             options:(MTLResourceOptions)options {
    if (!(self = [super initWithDevice:device options:options])) return nil;
    ig_indirect_commands_desc desc = {
        .count = (uint32_t)count,
        .inherit_pipeline = descriptor.inheritPipelineState,
        .inherit_buffers = descriptor.inheritBuffers,
        .max_buffers = (uint32_t)MIN(descriptor.maxKernelBufferBindCount, (NSUInteger)SLOTS),
        .max_threadgroup_arguments = (uint32_t)MIN(descriptor.maxKernelThreadgroupMemoryBindCount, (NSUInteger)SLOTS),
        .unset_buffers_are_zero = !igi_metal_is_validating()};
    if (ig_indirect_commands_create(device->_device, &desc, &_indirect) == IG_STATUS_OK) return self;
    [self release];
    return nil;
}

- (void)dealloc {
    ig_indirect_commands_release(_indirect);
    [super dealloc];
}

- (NSUInteger)size {
    return ig_indirect_commands_count(_indirect);
}

- (BOOL)has:(NSRange)range {
    NSUInteger size = [self size];
    return range.location <= size && range.length <= size - range.location;
}

- (id<MTLIndirectComputeCommand>)indirectComputeCommandAtIndex:(NSUInteger)index {
    return index < [self size] ? igi_autoreleased([[IGIndirectCommand alloc] initWithOwner:self index:index]) : nil;
}

- (void)resetWithRange:(NSRange)range {
    NSUInteger size = [self size];
    if (range.location >= size) return;
    NSUInteger count = MIN(range.length, size - range.location);
    note(ig_indirect_commands_reset(_indirect, (uint32_t)range.location, (uint32_t)count));
}

- (MTLResourceID)gpuResourceID {
    return (MTLResourceID){ig_indirect_commands_device_address(_indirect)};
}

// ---- Resource ----

- (NSUInteger)allocatedSize {
    return ig_indirect_commands_bytes(_indirect);
}
@end
