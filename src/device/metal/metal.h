// SPDX-License-Identifier: Apache-2.0
// Apple's Metal behind the device API. Objective-C with manual retain and release, so that it needs no ARC runtime;
// every call that makes autoreleased objects has its own pool.
#ifndef INGOT_DEVICE_METAL_H
#define INGOT_DEVICE_METAL_H

#import <Metal/Metal.h>
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#include "core/disk-cache.h"
#include "core/pool.h"
#include "core/watchdog.h"
#include "device/backend.h"
#include "device/texture.h"

typedef struct metal_buffer {
    id<MTLBuffer> buffer;
    uint64_t base;  // Metal wants whole pages of the host's memory; ours begins here
    ig_buffer *owner;
    struct metal_buffer *next, **link;
} metal_buffer;

typedef struct metal_device {
    id<MTLDevice> device;
    id<MTLBinaryArchive> archive;  // compiled pipelines on disk; nil when there is no cache
    bool archive_grew, capturing;
    char *cache_dir;
    igi_disk_cache *cache;
    igi_watchdog *watchdog;
    igi_pool *late;        // finishes command buffers whose deadline has passed
    pthread_mutex_t lock;  // guards what follows and the archive
    metal_buffer *buffers;
    id<MTLCommandQueue> uploads;                         // made when a private buffer first gets bytes
    id<MTLComputePipelineState> copy_bytes, fill_bytes;  // made when first needed
    MTLSharedEventListener *listener;                    // made with the first event
    MPSMatrixMultiplication *multiplication;             // the last one, and what it was made for
    igi_device_product multiplied;
} metal_device;

typedef struct metal_library {
    id<MTLLibrary> library;
    pthread_mutex_t lock;  // guards what follows
    bool *reflected;       // by kernel
} metal_library;

static inline metal_device *igi_metal(const ig_device *device) {
    return device->state;
}
static inline metal_buffer *igi_metal_buffer(const ig_buffer *buffer) {
    return buffer->state;
}
static inline id<MTLTexture> igi_metal_texture(const ig_texture *texture) {
    return (id)texture->state;
}
static inline id<MTLSamplerState> igi_metal_sampler(const ig_texture_sampler *sampler) {
    return (id)sampler->own;
}
static inline id<MTLComputePipelineState> igi_metal_pipeline(const ig_pipeline *pipeline) {
    return (id)pipeline->state;
}

// Never nil: bytes that are not UTF-8 are escaped like "\xff", which no name of Metal's contains.
NSString *igi_metal_string(const char *text);
NSString *igi_metal_exact_string(const char *text);  // nil: it is not UTF-8
NSURL *igi_metal_file(const char *path);             // nil: the path is not UTF-8

ig_status igi_metal_buffer_open(ig_buffer *buffer, const ig_buffer_desc *desc);
void igi_metal_buffer_close(ig_buffer *buffer);
void igi_metal_buffer_did_modify(ig_buffer *buffer, uint64_t offset, uint64_t length);
// Kernels may access these through addresses in other buffers.
void igi_metal_use_addressed_buffers(metal_device *metal, id<MTLComputeCommandEncoder> encoder);

bool igi_metal_texture_open(ig_texture *texture, const ig_texture *from, const ig_texture_view_desc *view);
void igi_metal_texture_close(ig_texture *texture);
void igi_metal_texture_write(ig_texture *texture, const ig_region *region, const void *bytes, uint64_t row_bytes,
                             uint64_t plane_bytes);
void igi_metal_texture_read(const ig_texture *texture, const ig_region *region, void *bytes, uint64_t row_bytes,
                            uint64_t plane_bytes);
uint64_t igi_metal_texture_resource_id(const ig_texture *texture);
bool igi_metal_sampler_open(ig_texture_sampler *sampler, const ig_texture_sampler_desc *desc);
void igi_metal_sampler_close(ig_texture_sampler *sampler);
uint64_t igi_metal_sampler_resource_id(const ig_texture_sampler *sampler);
void igi_metal_encode_pixels(id<MTLBlitCommandEncoder> blit, const igi_device_pixel_copy *copy);

ig_status igi_metal_library_open(ig_library *library, const ig_library_desc *desc, ig_error *error);
void igi_metal_library_close(ig_library *library);
void igi_metal_kernel_reflect(ig_library *library, igi_msl_kernel *kernel);
// The compiler's messages in the user's terms. `name` replaces Metal's name for a source without one.
ig_status igi_metal_read_problem(NSError *problem, const char *name, ig_error *error);

// Arguments as Metal reports them: without built-ins, and with "is it used" as the condition, because unused arguments may
// stay unbound.
// One block, strings included; NULL: no memory.
ig_argument *igi_metal_arguments(MTLComputePipelineReflection *reflection, size_t *count);
// Returns false if Metal's type has no name here.
bool igi_metal_type(MTLDataType type, ig_type *scalar, uint32_t *components);
MTLDataType igi_metal_data_type(ig_type type, uint32_t components);  // MTLDataTypeNone: there is none

ig_status igi_metal_pipeline_open(ig_pipeline *pipeline, const ig_pipeline_desc *desc, const igi_msl_kernel *kernel,
                                  ig_error *error);
void igi_metal_pipeline_close(ig_pipeline *pipeline);
// owns: a pipeline for one kernel of a library; from the archive if it is there.
id<MTLComputePipelineState> igi_metal_make_pipeline(metal_device *metal, id<MTLFunction> function, const char *label,
                                                    const ig_stage_input *input,
                                                    MTLComputePipelineReflection **reflection, NSError **problem);
MTLStageInputOutputDescriptor *igi_metal_stage_input(const ig_stage_input *input);
void igi_metal_archive_open(metal_device *metal);
void igi_metal_archive_close(metal_device *metal);

ig_status igi_metal_queue_open(ig_queue *queue);
void igi_metal_queue_close(ig_queue *queue);
ig_status igi_metal_commit(ig_commands *commands);
void igi_metal_assist(ig_commands *commands);
void igi_metal_refresh(ig_commands *commands);
// Encodes all commands. errors: OUT_OF_MEMORY.
ig_status igi_metal_encode(ig_commands *commands, id<MTLCommandBuffer> buffer);

ig_status igi_metal_event_open(ig_event *event);
void igi_metal_event_close(ig_event *event);
void igi_metal_event_signal(ig_event *event, uint64_t value);
void igi_metal_encode_wait(id<MTLCommandBuffer> buffer, ig_event *event, uint64_t value);
void igi_metal_encode_signal(id<MTLCommandBuffer> buffer, ig_event *event, uint64_t value);

bool igi_metal_has_products(ig_device *device);
// Uses a separate encoder, so no other may be open.
bool igi_metal_encode_product(metal_device *metal, id<MTLCommandBuffer> buffer, const igi_device_product *product);

// Copies and fills that Metal's own commands do not support: odd sizes and offsets.
id<MTLComputePipelineState> igi_metal_byte_kernel(metal_device *metal, const char *name);

// Records everything into the file that INGOT_CAPTURE names, for Xcode.
void igi_metal_capture_start(metal_device *metal);
void igi_metal_capture_stop(metal_device *metal);

#endif
