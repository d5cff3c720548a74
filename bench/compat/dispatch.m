// SPDX-License-Identifier: Apache-2.0
// What Metal's API costs above Ingot's: a command buffer with one empty dispatch, waited for, through both.
#import <Metal/Metal.h>

#include <ingot/device.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 20, RUNS = 2000 };

static const char source[] = "kernel void nothing(device uint *a [[buffer(0)]]) { }";

static double now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static int compare(const void *a, const void *b) {
    double difference = *(const double *)a - *(const double *)b;
    return (difference > 0) - (difference < 0);
}

typedef struct figures {
    double times[ROUNDS * RUNS];
    size_t count;
} figures;

static void add(figures *figures, double start) {
    figures->times[figures->count++] = now_us() - start;
}

// ---- Through the C API ----

typedef struct c_setup {
    ig_device *device;
    ig_pipeline *pipeline;
    ig_queue *queue;
    ig_buffer *buffer;
} c_setup;

static int open_c(c_setup *c) {
    ig_library *library = NULL;
    int failed = ig_device_create(&(ig_device_desc){.name = "cpu"}, &c->device, NULL) ||
                 ig_library_create(c->device, &(ig_library_desc){.source = source}, &library, NULL) ||
                 ig_pipeline_create(library, &(ig_pipeline_desc){.kernel = "nothing", .tier = 2}, &c->pipeline, NULL) ||
                 ig_queue_create(c->device, &c->queue) ||
                 ig_buffer_create(c->device, &(ig_buffer_desc){.length = 256}, &c->buffer);
    ig_library_release(library);
    return failed;
}

static void run_c(const c_setup *c) {
    ig_commands *commands = NULL;
    ig_commands_create(c->queue, NULL, &commands);
    ig_commands_set_pipeline(commands, c->pipeline);
    ig_commands_set_buffer(commands, c->buffer, 0, 0);
    ig_commands_dispatch_threads(commands, (ig_size){1, 1, 1}, (ig_size){1, 1, 1});
    ig_commands_commit(commands);
    ig_commands_wait(commands, IG_FOREVER);
    ig_commands_release(commands);
}

static void close_c(c_setup *c) {
    ig_buffer_release(c->buffer);
    ig_queue_release(c->queue);
    ig_pipeline_release(c->pipeline);
    ig_device_release(c->device);
}

// ---- Through Metal's ----

typedef struct metal_setup {
    id<MTLDevice> device;
    id<MTLComputePipelineState> pipeline;
    id<MTLCommandQueue> queue;
    id<MTLBuffer> buffer;
} metal_setup;

static int open_metal(metal_setup *metal) {
    metal->device = MTLCreateSystemDefaultDevice();
    NSString *text = [NSString stringWithUTF8String:source];
    id<MTLLibrary> library = [metal->device newLibraryWithSource:text options:nil error:NULL];
    id<MTLFunction> function = [library newFunctionWithName:@"nothing"];
    metal->pipeline = [metal->device newComputePipelineStateWithFunction:function error:NULL];
    metal->queue = [metal->device newCommandQueue];
    metal->buffer = [metal->device newBufferWithLength:256 options:0];
    [function release];
    [library release];
    return !metal->pipeline || !metal->queue || !metal->buffer;
}

static void run_metal(const metal_setup *metal) {
    @autoreleasepool {
        id<MTLCommandBuffer> commands = [metal->queue commandBuffer];
        id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
        [encoder setComputePipelineState:metal->pipeline];
        [encoder setBuffer:metal->buffer offset:0 atIndex:0];
        [encoder dispatchThreads:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
        [encoder endEncoding];
        [commands commit];
        [commands waitUntilCompleted];
    }
}

static void close_metal(metal_setup *metal) {
    [metal->buffer release];
    [metal->queue release];
    [metal->pipeline release];
    [metal->device release];
}

// ---- Figures ----

static double report(const char *name, figures *figures) {
    qsort(figures->times, figures->count, sizeof *figures->times, compare);
    double median = figures->times[figures->count / 2];
    printf("%-6s best %6.3f us, median %6.3f us\n", name, figures->times[0], median);
    return median;
}

int main(void) {
    @autoreleasepool {
        static figures c_figures, metal_figures;
        c_setup c = {0};
        metal_setup metal = {0};
        if (open_c(&c) || open_metal(&metal)) return 1;
        // In turns, so that whatever else the machine does hits both.
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = 0; i < RUNS; i++) {
                double start = now_us();
                run_c(&c);
                add(&c_figures, start);
                start = now_us();
                run_metal(&metal);
                add(&metal_figures, start);
            }
        }
        double difference = -report("C API", &c_figures) + report("Metal", &metal_figures);
        printf("Metal costs %.3f us more\n", difference);
        close_metal(&metal);
        close_c(&c);
    }
    return 0;
}
