// SPDX-License-Identifier: Apache-2.0
// Metal from plain C: only the Objective-C runtime's functions and objc_msgSend.
#include <math.h>
#include <objc/objc.h>
#include <objc/runtime.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
// cmocka last: it needs the four above.
#include <cmocka.h>

extern id MTLCreateSystemDefaultDevice(void);
extern void objc_msgSend(void);
extern void objc_msgSend_stret(void);
extern long igi_metal_live_objects(void);

typedef struct size {
    unsigned long width, height, depth;
} size;

// As values: compilers refuse to call a function that they see through another type.
static void (*volatile message_send)(void) = objc_msgSend;
static void (*volatile message_send_large)(void) = objc_msgSend_stret;

#define SEL_OF(name) sel_registerName(name)
#define send(result, ...) ((result(*)(id, SEL, ##__VA_ARGS__))message_send)

static id string(const char *text) {
    return send(id, const char *)((id)objc_getClass("NSString"), SEL_OF("stringWithUTF8String:"), text);
}

static id plain(id object, const char *selector) {
    return send(id)(object, SEL_OF(selector));
}

static const char source[] =
    "kernel void halve(device float *a [[buffer(0)]], uint i [[thread_position_in_grid]]) { a[i] *= 0.5f; }";

static id make_pipeline(id device) {
    id error = NULL;
    id library =
        send(id, id, id, id *)(device, SEL_OF("newLibraryWithSource:options:error:"), string(source), NULL, &error);
    assert_non_null(library);
    id function = send(id, id)(library, SEL_OF("newFunctionWithName:"), string("halve"));
    id pipeline = send(id, id, id *)(device, SEL_OF("newComputePipelineStateWithFunction:error:"), function, &error);
    assert_non_null(pipeline);
    plain(function, "release");
    plain(library, "release");
    return pipeline;
}

static size max_threads(id device) {
    SEL selector = SEL_OF("maxThreadsPerThreadgroup");
#if defined(__x86_64__)
    size result;
    ((void (*)(size *, id, SEL))message_send_large)(&result, device, selector);
    return result;
#else
    return send(size)(device, selector);
#endif
}

static void encode(id commands, id pipeline, id buffer) {
    size grid = {64, 1, 1}, group = {32, 1, 1};
    id encoder = plain(commands, "computeCommandEncoder");
    send(void, id)(encoder, SEL_OF("setComputePipelineState:"), pipeline);
    send(void, id, unsigned long, unsigned long)(encoder, SEL_OF("setBuffer:offset:atIndex:"), buffer, 0, 0);
    send(void, size, size)(encoder, SEL_OF("dispatchThreads:threadsPerThreadgroup:"), grid, group);
    plain(encoder, "endEncoding");
}

static void c_programs_run_kernels(void **state) {
    (void)state;
    id device = MTLCreateSystemDefaultDevice();  // there is no pool: the framework makes one
    id pool = plain(plain((id)objc_getClass("NSAutoreleasePool"), "alloc"), "init");
    assert_int_equal(max_threads(device).height, 1024);
    id pipeline = make_pipeline(device);
    id queue = plain(device, "newCommandQueue");
    id buffer =
        send(id, unsigned long, unsigned long)(device, SEL_OF("newBufferWithLength:options:"), 64 * sizeof(float), 0);
    float *values = send(void *)(buffer, SEL_OF("contents"));
    for (int i = 0; i < 64; i++) values[i] = (float)i;
    id commands = plain(queue, "commandBuffer");
    encode(commands, pipeline, buffer);
    plain(commands, "commit");
    plain(commands, "waitUntilCompleted");
    assert_int_equal(send(unsigned long)(commands, SEL_OF("status")), 4);
    assert_true(send(double)(commands, SEL_OF("GPUEndTime")) > 0);
    for (int i = 0; i < 64; i++) assert_true(fabsf(values[i] - (float)i / 2) < 1e-6f);
    plain(buffer, "release");
    plain(queue, "release");
    plain(pipeline, "release");
    plain(pool, "drain");
    plain(device, "release");
    assert_int_equal(igi_metal_live_objects(), 0);
    assert_null(plain(NULL, "release"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(c_programs_run_kernels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
