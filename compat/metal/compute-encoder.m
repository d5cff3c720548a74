// SPDX-License-Identifier: Apache-2.0
// Compute encoders. Ingot runs dispatches in order, which is correct for serial and concurrent encoders alike.
#include "commands.h"
#include "function-table.h"
#include "indirect-commands.h"
#include "resource.h"
#include "texture.h"

enum { SLOTS = 31, TEXTURES = 128, SAMPLERS = 16, LEAST_THREADGROUP_MEMORY = 16 };

static const char zeros[4096];

static ig_size size_of(MTLSize size) {
    return (ig_size){size.width, size.height, size.depth};
}

static BOOL is_empty(MTLSize size) {
    return size.width == 0 || size.height == 0 || size.depth == 0;
}

@implementation IGComputeEncoder
- (id)initWithCommandBuffer:(IGCommandBuffer *)owner type:(MTLDispatchType)type {
    if ((self = [super initWithCommandBuffer:owner])) _dispatchType = type;
    return self;
}

- (void)dealloc {
    [_pipeline release];
    [super dealloc];
}

- (MTLDispatchType)dispatchType {
    return _dispatchType;
}

- (void)endEncoding {
    if (_commands) {
        [_owner encoder:self endedWithBuffers:_boundBuffers threadgroups:_boundThreadgroups];
        [_owner encoderEndedWithTextures:_boundTextures samplers:_boundSamplers];
    }
    [super endEncoding];
}

// ---- State ----

- (void)setComputePipelineState:(id<MTLComputePipelineState>)state {
    if (![self isOpen]) return;
    if (!state) return [_owner fail:@"setComputePipelineState: the pipeline is nil"];
    if (_pipeline == state) return;
    [_pipeline release];
    _pipeline = [(id)state retain];
    (void)ig_commands_set_pipeline(_commands, ((IGPipeline *)state)->_pipeline);
}

- (void)bind:(ig_buffer *)buffer offset:(NSUInteger)offset index:(NSUInteger)index {
    (void)ig_commands_set_buffer(_commands, buffer, offset, (uint32_t)index);
    _buffers[index] = buffer;
    _boundBuffers |= 1u << index;
    _setBuffers = buffer ? _setBuffers | 1u << index : _setBuffers & ~(1u << index);
}

- (BOOL)mayBind:(NSUInteger)index {
    if (![self isOpen]) return NO;
    if (index < SLOTS) return YES;
    [_owner fail:[NSString stringWithFormat:@"index %lu is above the highest, %d", index, SLOTS - 1]];
    return NO;
}

- (void)setBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index {
    if ([self mayBind:index]) [self bind:igi_buffer_of(buffer) offset:offset index:index];
}

- (void)setBuffers:(const id<MTLBuffer>[])buffers offsets:(const NSUInteger[])offsets withRange:(NSRange)range {
    for (NSUInteger i = 0; i < range.length; i++)
        [self setBuffer:buffers[i] offset:offsets[i] atIndex:range.location + i];
}

// The command buffer retains what was bound, so the buffer still exists.
- (void)setBufferOffset:(NSUInteger)offset atIndex:(NSUInteger)index {
    if (![self mayBind:index]) return;
    if (_buffers[index])
        [self bind:_buffers[index] offset:offset index:index];
    else
        [_owner fail:[NSString stringWithFormat:@"setBufferOffset: there is no buffer at index %lu", index]];
}

- (void)setBytes:(const void *)bytes length:(NSUInteger)length atIndex:(NSUInteger)index {
    if (![self mayBind:index]) return;
    // Programs pass empty arrays for arguments that their kernels do not read.
    (void)ig_commands_set_bytes(_commands, length ? bytes : zeros, length ? length : sizeof zeros, (uint32_t)index);
    _buffers[index] = NULL;
    _boundBuffers |= 1u << index;
    _setBuffers |= 1u << index;
}

// For the layouts of [[stage_in]] that leave it open.
- (void)setStride:(NSUInteger)stride atIndex:(NSUInteger)index {
    if (![self mayBind:index]) return;
    if (stride == MTLAttributeStrideStatic) stride = 0;
    if (stride >= UINT32_MAX) return [_owner fail:@"attributeStride: a stride is at most 2^32 - 2 bytes"];
    (void)ig_commands_set_attribute_stride(_commands, (uint32_t)stride, (uint32_t)index);
}

- (void)setBuffer:(id<MTLBuffer>)buffer
             offset:(NSUInteger)offset
    attributeStride:(NSUInteger)stride
            atIndex:(NSUInteger)index {
    [self setBuffer:buffer offset:offset atIndex:index];
    [self setStride:stride atIndex:index];
}

- (void)setBuffers:(const id<MTLBuffer>[])buffers
             offsets:(const NSUInteger[])offsets
    attributeStrides:(const NSUInteger[])strides
           withRange:(NSRange)range {
    for (NSUInteger i = 0; i < range.length; i++)
        [self setBuffer:buffers[i] offset:offsets[i] attributeStride:strides[i] atIndex:range.location + i];
}

- (void)setBufferOffset:(NSUInteger)offset attributeStride:(NSUInteger)stride atIndex:(NSUInteger)index {
    [self setBufferOffset:offset atIndex:index];
    [self setStride:stride atIndex:index];
}

- (void)setBytes:(const void *)bytes
             length:(NSUInteger)length
    attributeStride:(NSUInteger)stride
            atIndex:(NSUInteger)index {
    [self setBytes:bytes length:length atIndex:index];
    [self setStride:stride atIndex:index];
}

- (void)setStageInRegion:(MTLRegion)region {
    if (![self isOpen]) return;
    ig_size origin = {region.origin.x, region.origin.y, region.origin.z};
    (void)ig_commands_set_stage_region(_commands, origin, size_of(region.size));
}

- (void)setStageInRegionWithIndirectBuffer:(id<MTLBuffer>)buffer indirectBufferOffset:(NSUInteger)offset {
    if ([self isOpen]) (void)ig_commands_set_stage_region_indirect(_commands, igi_buffer_of(buffer), offset);
}

- (void)setVisibleFunctionTable:(id<MTLVisibleFunctionTable>)table atBufferIndex:(NSUInteger)index {
    if (![self mayBind:index]) return;
    ig_function_table *inner = table ? ((IGVisibleFunctionTable *)table)->_table : NULL;
    (void)ig_commands_set_function_table(_commands, inner, (uint32_t)index);
    _buffers[index] = NULL;
    _boundBuffers |= 1u << index;
    _setBuffers = table ? _setBuffers | 1u << index : _setBuffers & ~(1u << index);
}

- (void)setVisibleFunctionTables:(const id<MTLVisibleFunctionTable>[])tables withBufferRange:(NSRange)range {
    for (NSUInteger i = 0; i < range.length; i++)
        [self setVisibleFunctionTable:tables[i] atBufferIndex:range.location + i];
}

- (void)setThreadgroupMemoryLength:(NSUInteger)length atIndex:(NSUInteger)index {
    if (![self mayBind:index]) return;
    // Kernels may declare memory that they do not use; programs then set no length for it.
    (void)ig_commands_set_threadgroup_memory(_commands, length ? length : LEAST_THREADGROUP_MEMORY, (uint32_t)index);
    _boundThreadgroups |= 1u << index;
}

// ---- Textures and samplers ----

- (BOOL)mayBind:(NSString *)what at:(NSUInteger)index below:(NSUInteger)count {
    if (![self isOpen]) return NO;
    if (index < count) return YES;
    [_owner fail:[NSString stringWithFormat:@"%@ index %lu is above the highest, %lu", what, index, count - 1]];
    return NO;
}

- (void)setTexture:(id<MTLTexture>)texture atIndex:(NSUInteger)index {
    if (![self mayBind:@"texture" at:index below:TEXTURES]) return;
    (void)ig_commands_set_texture(_commands, igi_texture_of(texture), (uint32_t)index);
    _boundTextures = MAX(_boundTextures, (uint32_t)index + 1);
}

- (void)setTextures:(const id<MTLTexture>[])textures withRange:(NSRange)range {
    for (NSUInteger i = 0; i < range.length; i++) [self setTexture:textures[i] atIndex:range.location + i];
}

- (void)setSamplerState:(id<MTLSamplerState>)sampler atIndex:(NSUInteger)index {
    if (![self mayBind:@"sampler" at:index below:SAMPLERS]) return;
    (void)ig_commands_set_sampler(_commands, sampler ? ((IGSamplerState *)sampler)->_sampler : NULL, (uint32_t)index);
    _boundSamplers = MAX(_boundSamplers, (uint32_t)index + 1);
}

- (void)setSamplerStates:(const id<MTLSamplerState>[])samplers withRange:(NSRange)range {
    for (NSUInteger i = 0; i < range.length; i++) [self setSamplerState:samplers[i] atIndex:range.location + i];
}

- (void)setSamplerState:(id<MTLSamplerState>)sampler
            lodMinClamp:(float)lodMinClamp
            lodMaxClamp:(float)lodMaxClamp
                atIndex:(NSUInteger)index {
    id<MTLSamplerState> clamped = igi_sampler_clamped(sampler, lodMinClamp, lodMaxClamp);
    if (sampler && !clamped) return [_owner fail:@"setSamplerState: a lod clamp is negative or not a number"];
    [self setSamplerState:clamped atIndex:index];
}

- (void)setSamplerStates:(const id<MTLSamplerState>[])samplers
            lodMinClamps:(const float[])lodMinClamps
            lodMaxClamps:(const float[])lodMaxClamps
               withRange:(NSRange)range {
    for (NSUInteger i = 0; i < range.length; i++)
        [self setSamplerState:samplers[i]
                  lodMinClamp:lodMinClamps[i]
                  lodMaxClamp:lodMaxClamps[i]
                      atIndex:range.location + i];
}

// ---- Dispatches ----

- (BOOL)mayDispatch {
    if (![self isOpen]) return NO;
    if (!_pipeline) [_owner fail:@"a dispatch came before setComputePipelineState"];
    return _pipeline != nil;
}

- (BOOL)mayDispatch:(MTLSize)group {
    if (![self mayDispatch]) return NO;
    IGPipeline *pipeline = _pipeline;
    if (is_empty(group)) {
        [_owner fail:@"a dispatch has a threadgroup without threads"];
        return NO;
    }
    MTLSize required = pipeline->_requiredThreads;
    if (required.width &&
        (group.width != required.width || group.height != required.height || group.depth != required.depth)) {
        [_owner fail:@"threadsPerThreadgroup is not what the pipeline requires"];
        return NO;
    }
    if (group.width * group.height * group.depth > pipeline->_maxThreads) {
        [_owner
            fail:[NSString stringWithFormat:@"a threadgroup of %lu x %lu x %lu is more than the pipeline's %lu threads",
                                            group.width, group.height, group.depth, pipeline->_maxThreads]];
        return NO;
    }
    return YES;
}

- (void)fillBuffer:(const ig_argument *)argument {
    IGPipeline *pipeline = _pipeline;
    uint32_t bit = 1u << argument->index;
    if (!(atomic_fetch_or(&pipeline->_zeroBuffers, bit) & bit))
        NSLog(@"Metal: kernel '%s': argument '%s' (buffer %u) was not set and reads as zeros",
              ig_pipeline_kernel(pipeline->_pipeline)->name, argument->name, argument->index);
    [self setBytes:zeros length:sizeof zeros atIndex:argument->index];
}

// What a kernel uses and nobody has set reads as zeros, as on a GPU. Under validation it stays an error.
- (void)fillBuffers {
    const ig_kernel_info *kernel = ig_pipeline_kernel(((IGPipeline *)_pipeline)->_pipeline);
    for (size_t i = 0; i < kernel->argument_count; i++) {
        const ig_argument *argument = &kernel->arguments[i];
        bool used = argument->kind == IG_ARGUMENT_BUFFER && argument->access != IG_ACCESS_NONE && !*argument->condition;
        if (!used || _setBuffers >> argument->index & 1 || argument->min_bytes > sizeof zeros) continue;
        if (!igi_metal_is_validating()) [self fillBuffer:argument];
    }
}

- (void)fillThreadgroupMemory {
    uint32_t missing = ((IGPipeline *)_pipeline)->_threadgroupArguments & ~_boundThreadgroups;
    for (uint32_t i = 0; missing >> i; i++)
        if (missing >> i & 1) [self setThreadgroupMemoryLength:LEAST_THREADGROUP_MEMORY atIndex:i];
}

- (void)dispatchThreadgroups:(MTLSize)groups threadsPerThreadgroup:(MTLSize)group {
    if (![self mayDispatch:group] || is_empty(groups)) return;
    [self fillBuffers];
    [self fillThreadgroupMemory];
    (void)ig_commands_dispatch_threadgroups(_commands, size_of(groups), size_of(group));
}

- (void)dispatchThreads:(MTLSize)threads threadsPerThreadgroup:(MTLSize)group {
    if (![self mayDispatch:group] || is_empty(threads)) return;
    [self fillBuffers];
    [self fillThreadgroupMemory];
    (void)ig_commands_dispatch_threads(_commands, size_of(threads), size_of(group));
}

- (void)dispatchThreadgroupsWithIndirectBuffer:(id<MTLBuffer>)buffer
                          indirectBufferOffset:(NSUInteger)offset
                         threadsPerThreadgroup:(MTLSize)group {
    if (![self mayDispatch:group]) return;
    [self fillBuffers];
    [self fillThreadgroupMemory];
    (void)ig_commands_dispatch_indirect(_commands, igi_buffer_of(buffer), offset, size_of(group));
}

// What the buffer has of the threadgroup is checked when the dispatch runs.
- (void)dispatchThreadsWithIndirectBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset {
    if (![self mayDispatch]) return;
    [self fillBuffers];
    [self fillThreadgroupMemory];
    (void)ig_commands_dispatch_threads_indirect(_commands, igi_buffer_of(buffer), offset);
}

- (void)executeCommandsInBuffer:(id<MTLIndirectCommandBuffer>)buffer withRange:(NSRange)range {
    if (![self isOpen]) return;
    IGIndirectCommandBuffer *indirect = (IGIndirectCommandBuffer *)buffer;
    if (!indirect || ![indirect has:range])
        return [_owner fail:@"executeCommandsInBuffer: the range is outside the indirect command buffer"];
    (void)ig_commands_execute(_commands, indirect->_indirect, (uint32_t)range.location, (uint32_t)range.length);
}

- (void)executeCommandsInBuffer:(id<MTLIndirectCommandBuffer>)buffer
                 indirectBuffer:(id<MTLBuffer>)rangeBuffer
           indirectBufferOffset:(NSUInteger)offset {
    if (![self isOpen]) return;
    if (!buffer || !rangeBuffer) return [_owner fail:@"executeCommandsInBuffer: a buffer is nil"];
    (void)ig_commands_execute_indirect(_commands, ((IGIndirectCommandBuffer *)buffer)->_indirect,
                                       igi_buffer_of(rangeBuffer), offset);
}

// ---- Order and residency: always guaranteed ----

- (void)memoryBarrierWithScope:(MTLBarrierScope)scope {
    if ([self isOpen]) (void)ig_commands_barrier(_commands);
}

- (void)memoryBarrierWithResources:(const id<MTLResource>[])resources count:(NSUInteger)count {
    if ([self isOpen]) (void)ig_commands_barrier(_commands);
}

- (void)updateFence:(id<MTLFence>)fence {
    [self isOpen];
}

- (void)waitForFence:(id<MTLFence>)fence {
    [self isOpen];
}

- (void)useResource:(id<MTLResource>)resource usage:(MTLResourceUsage)usage {
    [self useResources:&resource count:1 usage:usage];
}

// Kernels may access these through pointers: the command buffer must retain them.
- (void)useResources:(const id<MTLResource>[])resources count:(NSUInteger)count usage:(MTLResourceUsage)usage {
    if (![self isOpen]) return;
    for (NSUInteger i = 0; i < count; i++) [_owner keep:resources[i]];
}

- (void)useHeap:(id<MTLHeap>)heap {
    [self useHeaps:&heap count:1];
}

- (void)useHeaps:(const id<MTLHeap>[])heaps count:(NSUInteger)count {
    if (![self isOpen]) return;
    for (NSUInteger i = 0; i < count; i++) [_owner keep:heaps[i]];
}

// ---- What the software device lacks ----

- (void)setImageblockWidth:(NSUInteger)width height:(NSUInteger)height {
    [_owner refuse:@"the software device has no imageblocks"];
}

- (void)sampleCountersInBuffer:(id<MTLCounterSampleBuffer>)sampleBuffer
                 atSampleIndex:(NSUInteger)sampleIndex
                   withBarrier:(BOOL)barrier {
    [self sampleCounters:sampleBuffer at:sampleIndex];
}
@end
