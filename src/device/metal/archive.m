// SPDX-License-Identifier: Apache-2.0
// Creating pipelines, and a binary archive that keeps what the GPU's compiler made of them between runs.
#include "device/metal/metal.h"

static NSURL *place_of(const metal_device *metal) {
    NSString *directory = [NSString stringWithUTF8String:metal->cache_dir];
    return [NSURL fileURLWithPath:[directory stringByAppendingPathComponent:@"pipelines.metalarchive"]];
}

// An archive of another system or GPU is not opened; a new one takes its place.
void igi_metal_archive_open(metal_device *metal) {
    if (!metal->cache_dir || ![metal->device respondsToSelector:@selector(newBinaryArchiveWithDescriptor:error:)])
        return;
    MTLBinaryArchiveDescriptor *descriptor = [[[MTLBinaryArchiveDescriptor alloc] init] autorelease];
    if ([place_of(metal) checkResourceIsReachableAndReturnError:NULL]) [descriptor setUrl:place_of(metal)];
    metal->archive = [metal->device newBinaryArchiveWithDescriptor:descriptor error:NULL];
    if (metal->archive) return;
    [descriptor setUrl:nil];
    metal->archive = [metal->device newBinaryArchiveWithDescriptor:descriptor error:NULL];
}

// Best effort: if it cannot be written, the next run compiles again.
void igi_metal_archive_close(metal_device *metal) {
    if (metal->archive_grew) [metal->archive serializeToURL:place_of(metal) error:NULL];
    [metal->archive release];
}

static void remember(metal_device *metal, MTLComputePipelineDescriptor *descriptor) {
    pthread_mutex_lock(&metal->lock);
    if ([metal->archive addComputePipelineFunctionsWithDescriptor:descriptor error:NULL]) metal->archive_grew = true;
    pthread_mutex_unlock(&metal->lock);
}

id<MTLComputePipelineState> igi_metal_make_pipeline(metal_device *metal, id<MTLFunction> function, const char *label,
                                                    MTLComputePipelineReflection **reflection, NSError **problem) {
    MTLComputePipelineDescriptor *descriptor = [[[MTLComputePipelineDescriptor alloc] init] autorelease];
    [descriptor setComputeFunction:function];
    if (label && *label) [descriptor setLabel:[NSString stringWithUTF8String:label]];
    MTLPipelineOption options = MTLPipelineOptionArgumentInfo | MTLPipelineOptionBufferTypeInfo;
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
