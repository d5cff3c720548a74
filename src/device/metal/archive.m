// SPDX-License-Identifier: Apache-2.0
// Creating pipelines, and a binary archive that keeps what the GPU's compiler made of them between runs.
#include <stdlib.h>

#include "core/file.h"
#include "device/metal/metal.h"

// nil: there is no cache, or its name is not UTF-8.
static NSURL *place_of(const metal_device *metal) {
    char *path = metal->cache_dir ? igi_path_join(metal->cache_dir, "pipelines.metalarchive") : NULL;
    NSURL *place = path ? igi_metal_file(path) : nil;
    free(path);
    return place;
}

// An archive of another system or GPU is not opened; a new one takes its place.
void igi_metal_archive_open(metal_device *metal) {
    NSURL *place = place_of(metal);
    if (!place || ![metal->device respondsToSelector:@selector(newBinaryArchiveWithDescriptor:error:)]) return;
    MTLBinaryArchiveDescriptor *descriptor = [[[MTLBinaryArchiveDescriptor alloc] init] autorelease];
    if ([place checkResourceIsReachableAndReturnError:NULL]) [descriptor setUrl:place];
    metal->archive = [metal->device newBinaryArchiveWithDescriptor:descriptor error:NULL];
    if (metal->archive) return;
    [descriptor setUrl:nil];
    metal->archive = [metal->device newBinaryArchiveWithDescriptor:descriptor error:NULL];
}

// Best effort: if it cannot be written, the next run compiles again.
void igi_metal_archive_close(metal_device *metal) {
    NSURL *place = metal->archive_grew ? place_of(metal) : nil;
    if (place) [metal->archive serializeToURL:place error:NULL];
    [metal->archive release];
}

static void remember(metal_device *metal, MTLComputePipelineDescriptor *descriptor) {
    pthread_mutex_lock(&metal->lock);
    if ([metal->archive addComputePipelineFunctionsWithDescriptor:descriptor error:NULL]) metal->archive_grew = true;
    pthread_mutex_unlock(&metal->lock);
}

id<MTLComputePipelineState> igi_metal_make_pipeline(metal_device *metal, id<MTLFunction> function, const char *label,
                                                    const ig_stage_input *input,
                                                    MTLComputePipelineReflection **reflection, NSError **problem) {
    MTLComputePipelineDescriptor *descriptor = [[[MTLComputePipelineDescriptor alloc] init] autorelease];
    [descriptor setComputeFunction:function];
    if (label && *label) [descriptor setLabel:igi_metal_string(label)];
    if (input) [descriptor setStageInputDescriptor:igi_metal_stage_input(input)];
    MTLPipelineOption options = MTLPipelineOptionBindingInfo | MTLPipelineOptionBufferTypeInfo;
    id<MTLComputePipelineState> made = nil;
    if (metal->archive) {
        [descriptor setBinaryArchives:[NSArray arrayWithObject:metal->archive]];
        made = [metal->device newComputePipelineStateWithDescriptor:descriptor
                                                            options:options | MTLPipelineOptionFailOnBinaryArchiveMiss
                                                         reflection:reflection
                                                              error:NULL];
        if (made) return made;
    }
    made = [metal->device newComputePipelineStateWithDescriptor:descriptor
                                                        options:options
                                                     reflection:reflection
                                                          error:problem];
    if (made && metal->archive) remember(metal, descriptor);
    return made;
}
