// SPDX-License-Identifier: Apache-2.0
// Commands into Metal's encoders. One encoder lives as long as commands of its kind follow each other; Metal keeps
// dispatches of one serial encoder, and encoders of one command buffer, in order.
#include "device/metal/metal.h"
#include "device/stage-input.h"

typedef struct encoding {
    ig_commands *commands;
    metal_device *metal;
    id<MTLCommandBuffer> buffer;
    id<MTLComputeCommandEncoder> compute;
    id<MTLBlitCommandEncoder> blit;
    const ig_pipeline *pipeline;  // set in `compute`
} encoding;

// ---- Encoders ----

static void end_encoders(encoding *e) {
    [e->compute endEncoding];
    [e->blit endEncoding];
    e->compute = nil;
    e->blit = nil;
    e->pipeline = NULL;
}

static id<MTLComputeCommandEncoder> compute(encoding *e) {
    if (e->compute) return e->compute;
    end_encoders(e);
    e->compute = [e->buffer computeCommandEncoder];
    igi_metal_use_addressed_buffers(e->metal, e->compute);
    return e->compute;
}

static id<MTLBlitCommandEncoder> blit(encoding *e) {
    if (e->blit) return e->blit;
    end_encoders(e);
    e->blit = [e->buffer blitCommandEncoder];
    return e->blit;
}

// 0: Metal allows none, because the pipeline knows it.
static uint32_t stride_at(const igi_device_dispatch *dispatch, uint32_t index) {
    const igi_device_stage *stage = dispatch->pipeline->stage;
    for (size_t i = 0; dispatch->stage_strides && i < stage->count; i++)
        if (stage->items[i].attribute.buffer == index && stage->items[i].layout.stride == IG_STRIDE_DYNAMIC)
            return dispatch->stage_strides[index];
    return 0;
}

static void set_buffer(encoding *e, id<MTLBuffer> buffer, uint64_t offset, uint32_t index, uint32_t stride) {
    if (stride)
        [e->compute setBuffer:buffer offset:offset attributeStride:stride atIndex:index];
    else
        [e->compute setBuffer:buffer offset:offset atIndex:index];
}

// ---- Dispatches ----

enum { MOST_INLINE_BYTES = 4096 };  // what setBytes takes

// The command buffer keeps the copy alive.
static bool set_bytes(encoding *e, const igi_device_binding *binding, uint32_t stride) {
    if (binding->length <= MOST_INLINE_BYTES && stride) {
        [e->compute setBytes:binding->bytes length:binding->length attributeStride:stride atIndex:binding->index];
        return true;
    }
    if (binding->length <= MOST_INLINE_BYTES) {
        [e->compute setBytes:binding->bytes length:binding->length atIndex:binding->index];
        return true;
    }
    id<MTLBuffer> copy = [e->metal->device newBufferWithBytes:binding->bytes
                                                       length:binding->length
                                                      options:MTLResourceStorageModeShared];
    set_buffer(e, copy, 0, binding->index, stride);
    [copy release];
    return copy != nil;
}

static bool bind_argument(encoding *e, const igi_device_dispatch *dispatch, const igi_device_binding *binding) {
    uint32_t stride = binding->kind == IG_ARGUMENT_BUFFER ? stride_at(dispatch, binding->index) : 0;
    const metal_buffer *made = binding->buffer ? igi_metal_buffer(binding->buffer) : NULL;
    if (binding->kind == IG_ARGUMENT_THREADGROUP)
        [e->compute setThreadgroupMemoryLength:igi_round_up(binding->length, 16) atIndex:binding->index];
    else if (binding->texture)
        [e->compute setTexture:igi_metal_texture(binding->texture) atIndex:binding->index];
    else if (binding->sampler)
        [e->compute setSamplerState:igi_metal_sampler(binding->sampler) atIndex:binding->index];
    else if (made)
        set_buffer(e, made->buffer, made->base + binding->offset, binding->index, stride);
    else if (binding->bytes)
        return set_bytes(e, binding, stride);
    return true;
}

static MTLSize size_of(ig_size size) {
    return MTLSizeMake(size.x, size.y, size.z);
}

static MTLSize groups_of(const igi_device_dispatch *dispatch) {
    return MTLSizeMake(dispatch->grid.x / dispatch->group.x, dispatch->grid.y / dispatch->group.y,
                       dispatch->grid.z / dispatch->group.z);
}

static void set_region(id<MTLComputeCommandEncoder> encoder, const igi_device_dispatch *dispatch) {
    if (dispatch->stage_region) {
        const metal_buffer *region = igi_metal_buffer(dispatch->stage_region);
        [encoder setStageInRegionWithIndirectBuffer:region->buffer
                               indirectBufferOffset:region->base + dispatch->stage_region_offset];
        return;
    }
    ig_size origin = dispatch->stage_origin;
    ig_size size = dispatch->stage_size.x ? dispatch->stage_size : dispatch->grid;
    [encoder setStageInRegion:MTLRegionMake3D(origin.x, origin.y, origin.z, size.x, size.y, size.z)];
}

static bool encode_dispatch(encoding *e, const igi_device_dispatch *dispatch) {
    if (!dispatch->grid.x || !dispatch->grid.y || !dispatch->grid.z) return true;
    id<MTLComputeCommandEncoder> encoder = compute(e);
    if (e->pipeline != dispatch->pipeline) [encoder setComputePipelineState:igi_metal_pipeline(dispatch->pipeline)];
    e->pipeline = dispatch->pipeline;
    if (dispatch->pipeline->stage) set_region(encoder, dispatch);
    for (uint32_t i = 0; i < dispatch->binding_count; i++)
        if (!bind_argument(e, dispatch, &dispatch->bindings[i])) return false;
    if (dispatch->indirect) {
        const metal_buffer *indirect = igi_metal_buffer(dispatch->indirect);
        [encoder dispatchThreadgroupsWithIndirectBuffer:indirect->buffer
                                   indirectBufferOffset:indirect->base + dispatch->indirect_offset
                                  threadsPerThreadgroup:size_of(dispatch->group)];
    } else if (dispatch->whole_groups) {
        [encoder dispatchThreadgroups:groups_of(dispatch) threadsPerThreadgroup:size_of(dispatch->group)];
    } else {
        [encoder dispatchThreads:size_of(dispatch->grid) threadsPerThreadgroup:size_of(dispatch->group)];
    }
    return true;
}

// ---- Copies and fills ----

// Byte by byte, because Metal's own commands need multiples of four.
static bool dispatch_bytes(encoding *e, const char *kernel, uint64_t length) {
    id<MTLComputePipelineState> pipeline = igi_metal_byte_kernel(e->metal, kernel);
    if (!pipeline) return false;
    [e->compute setComputePipelineState:pipeline];
    e->pipeline = NULL;
    [e->compute dispatchThreads:MTLSizeMake(length, 1, 1)
          threadsPerThreadgroup:MTLSizeMake([pipeline threadExecutionWidth], 1, 1)];
    return true;
}

enum { MOST_THREADS = 1u << 30 };  // of one dispatch: a grid counts in 32 bits

static bool copy_odd(encoding *e, id<MTLBuffer> source, uint64_t from, id<MTLBuffer> target, uint64_t to,
                     uint64_t length) {
    bool done = true;
    compute(e);
    for (uint64_t at = 0; done && at < length; at += MOST_THREADS) {
        [e->compute setBuffer:source offset:from + at atIndex:0];
        [e->compute setBuffer:target offset:to + at atIndex:1];
        done = dispatch_bytes(e, "copy_bytes", length - at < MOST_THREADS ? length - at : MOST_THREADS);
    }
    return done;
}

static bool fill_odd(encoding *e, const ig_buffer *target, uint64_t to, uint64_t length, uint8_t value) {
    bool done = true;
    const metal_buffer *made = igi_metal_buffer(target);
    compute(e);
    [e->compute setBytes:&value length:sizeof value atIndex:1];
    for (uint64_t at = 0; done && at < length; at += MOST_THREADS) {
        [e->compute setBuffer:made->buffer offset:made->base + to + at atIndex:0];
        done = dispatch_bytes(e, "fill_bytes", length - at < MOST_THREADS ? length - at : MOST_THREADS);
    }
    return done;
}

// Overlapping ranges are copied through a temporary buffer: Metal does not define the result of copying them.
static bool copy_overlapping(encoding *e, id<MTLBuffer> buffer, uint64_t from, uint64_t to, uint64_t length) {
    id<MTLBuffer> between = [e->metal->device newBufferWithLength:length options:MTLResourceStorageModePrivate];
    bool done = between && copy_odd(e, buffer, from, between, 0, length) && copy_odd(e, between, 0, buffer, to, length);
    [between release];
    return done;
}

static bool overlaps(const igi_device_command *command) {
    uint64_t from = command->blit.source_offset, to = command->blit.target_offset, length = command->blit.length;
    return command->blit.source == command->blit.target && from < to + length && to < from + length;
}

static bool encode_copy(encoding *e, const igi_device_command *command) {
    const metal_buffer *source = igi_metal_buffer(command->blit.source);
    const metal_buffer *target = igi_metal_buffer(command->blit.target);
    uint64_t from = source->base + command->blit.source_offset, to = target->base + command->blit.target_offset;
    uint64_t length = command->blit.length;
    if (!length) return true;
    if (overlaps(command)) return copy_overlapping(e, source->buffer, from, to, length);
    if (from % 4 || to % 4 || length % 4) return copy_odd(e, source->buffer, from, target->buffer, to, length);
    [blit(e) copyFromBuffer:source->buffer sourceOffset:from toBuffer:target->buffer destinationOffset:to size:length];
    return true;
}

static bool encode_fill(encoding *e, const igi_device_command *command) {
    const metal_buffer *target = igi_metal_buffer(command->blit.target);
    uint64_t to = command->blit.target_offset, length = command->blit.length;
    if (!length) return true;
    if ((target->base + to) % 4 || length % 4)
        return fill_odd(e, command->blit.target, to, length, command->blit.value);
    [blit(e) fillBuffer:target->buffer range:NSMakeRange(target->base + to, length) value:command->blit.value];
    return true;
}

// The host must see what kernels wrote to managed memory when the command buffer has completed.
static void synchronize_managed(encoding *e) {
    for (size_t i = 0; i < e->commands->retained_count; i++) {
        const igi_device_retained *retained = &e->commands->retained[i];
        const ig_buffer *buffer = retained->kind == IGI_RETAINED_BUFFER ? retained->object : NULL;
        const ig_texture *texture = retained->kind == IGI_RETAINED_TEXTURE ? retained->object : NULL;
        if (buffer && buffer->storage == IG_STORAGE_MANAGED)
            [blit(e) synchronizeResource:igi_metal_buffer(buffer)->buffer];
        if (texture && [igi_metal_texture(texture) storageMode] == MTLStorageModeManaged)
            [blit(e) synchronizeResource:igi_metal_texture(texture)];
    }
}

// ---- All of them ----

static bool encode_command(encoding *e, const igi_device_command *command) {
    switch (command->kind) {
        case IGI_COMMAND_DISPATCH: return encode_dispatch(e, &command->dispatch);
        case IGI_COMMAND_COPY: return encode_copy(e, command);
        case IGI_COMMAND_FILL: return encode_fill(e, command);
        case IGI_COMMAND_BARRIER:
            [e->compute memoryBarrierWithScope:MTLBarrierScopeBuffers | MTLBarrierScopeTextures];
            return true;
        case IGI_COMMAND_WAIT_EVENT:
            end_encoders(e);
            igi_metal_encode_wait(e->buffer, command->event.event, command->event.value);
            return true;
        case IGI_COMMAND_SIGNAL_EVENT:
            end_encoders(e);
            igi_metal_encode_signal(e->buffer, command->event.event, command->event.value);
            return true;
        case IGI_COMMAND_PIXELS: igi_metal_encode_pixels(blit(e), command->pixels); return true;
        case IGI_COMMAND_MIPMAPS:
            if (command->mipmaps->desc.levels > 1)
                [blit(e) generateMipmapsForTexture:igi_metal_texture(command->mipmaps)];
            return true;
        case IGI_COMMAND_PRODUCT:
            end_encoders(e);
            return igi_metal_encode_product(e->metal, e->buffer, command->product);
        case IGI_COMMAND_EXECUTE: break;  // of devices with indirect command buffers of ours
    }
    return true;
}

ig_status igi_metal_encode(ig_commands *commands, id<MTLCommandBuffer> buffer) {
    encoding e = {.commands = commands, .metal = igi_metal(commands->queue->device), .buffer = buffer};
    bool done = true;
    for (size_t i = 0; done && i < commands->command_count; i++) done = encode_command(&e, &commands->commands[i]);
    if (done) synchronize_managed(&e);
    end_encoders(&e);
    return done ? IG_STATUS_OK : IG_STATUS_OUT_OF_MEMORY;
}
