// SPDX-License-Identifier: Apache-2.0
// Visible functions: linked to a pipeline, by name and through tables.
#include "helpers.h"

static const char kernels[] =
    "#include <metal_stdlib>\nusing namespace metal;\n"
    "constant float factor [[function_constant(0)]];\n"
    "[[visible]] float twice(float x) { return 2 * x; }\n"
    "[[visible]] float square(float x);\n"
    "kernel void each(device float *x [[buffer(0)]], visible_function_table<float(float)> table [[buffer(1)]],\n"
    "                 uint i [[thread_position_in_grid]]) {\n"
    "    x[i] = factor * table[i % table.size()](x[i]);\n"
    "}\n"
    "kernel void by_name(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] = square(x[i]); }\n";
static const char others[] = "[[visible]] float square(float x) { return x * x; }\n";

static id<MTLLibrary> library, other;
static id<MTLBuffer> values;

static int open_functions(void **state) {
    if (open_device(state)) return -1;
    library = new_library(kernels);
    other = new_library(others);
    values = [device newBufferWithLength:4 * sizeof(float) options:0];
    for (int i = 0; i < 4; i++) ((float *)values.contents)[i] = (float)i + 1;
    return 0;
}

static int close_functions(void **state) {
    [library release];
    [other release];
    [values release];
    return close_device(state);
}

static id<MTLComputePipelineState> linked(id<MTLFunction> kernel, NSArray *functions) {
    NSError *error = nil;
    MTLComputePipelineDescriptor *descriptor = [[[MTLComputePipelineDescriptor alloc] init] autorelease];
    descriptor.computeFunction = kernel;
    descriptor.linkedFunctions = [MTLLinkedFunctions linkedFunctions];
    descriptor.linkedFunctions.functions = functions;
    MTLComputePipelineDescriptor *copy = [[descriptor copy] autorelease];
    id<MTLComputePipelineState> pipeline = [device newComputePipelineStateWithDescriptor:copy
                                                                                 options:0
                                                                              reflection:NULL
                                                                                   error:&error];
    if (!pipeline) print_error("%s\n", [[error localizedDescription] UTF8String]);
    assert_non_null(pipeline);
    return [pipeline autorelease];
}

static void run(id<MTLComputePipelineState> pipeline, id<MTLVisibleFunctionTable> table) {
    id<MTLCommandQueue> queue = [[device newCommandQueue] autorelease];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:pipeline];
    [encoder setBuffer:values offset:0 atIndex:0];
    if (table) [encoder setVisibleFunctionTable:table atBufferIndex:1];
    [encoder dispatchThreads:MTLSizeMake(4, 1, 1) threadsPerThreadgroup:MTLSizeMake(4, 1, 1)];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    assert_null(commands.error);
}

static void expect(float a, float b, float c, float d) {
    const float expected[4] = {a, b, c, d};
    assert_memory_equal(values.contents, expected, sizeof expected);
}

// Methods that Apple's headers do not have, but its objects.
@protocol Unlisted
- (id<MTLComputePipelineState>)newComputePipelineStateWithDescriptor:(MTLComputePipelineDescriptor *)descriptor
                                                               error:(NSError **)error;
- (NSString *)debugDescription;
@end

static void methods_that_only_bindings_know_are_there(void **state) {
    NSError *error = nil;
    id<Unlisted> unlisted = (id<Unlisted>)device;
    MTLComputePipelineDescriptor *descriptor = [[[MTLComputePipelineDescriptor alloc] init] autorelease];
    assert_null([unlisted newComputePipelineStateWithDescriptor:descriptor error:&error]);
    assert_non_null(error);
    descriptor.computeFunction = [[library newFunctionWithName:library.functionNames[0]] autorelease];
    id<MTLComputePipelineState> pipeline = [unlisted newComputePipelineStateWithDescriptor:descriptor error:&error];
    assert_non_null(pipeline);
    assert_null(error);
    [pipeline release];
    assert_text([unlisted debugDescription], [[(id)device description] UTF8String]);
}

static void libraries_list_visible_functions(void **state) {
    assert_int_equal([other.functionNames count], 1);
    assert_text(other.functionNames[0], "square");
    id<MTLFunction> square = [[other newFunctionWithName:@"square"] autorelease];
    assert_int_equal(square.functionType, MTLFunctionTypeVisible);
    assert_text(square.name, "square");
    NSError *error = nil;
    assert_null([device newComputePipelineStateWithFunction:square error:&error]);
    assert_contains([error localizedDescription], "not a kernel");
    assert_true(device.supportsFunctionPointers);
}

static void tables_hold_functions_of_two_libraries(void **state) {
    const float three = 3;
    NSError *error = nil;
    MTLFunctionConstantValues *constants = [[[MTLFunctionConstantValues alloc] init] autorelease];
    [constants setConstantValue:&three type:MTLDataTypeFloat atIndex:0];
    id<MTLFunction> each = [[library newFunctionWithName:@"each" constantValues:constants error:&error] autorelease];
    id<MTLFunction> twice = [[library newFunctionWithName:@"twice"] autorelease];
    id<MTLFunction> square = [[other newFunctionWithName:@"square"] autorelease];
    id<MTLComputePipelineState> pipeline = linked(each, @[ twice, square ]);
    MTLVisibleFunctionTableDescriptor *descriptor = [MTLVisibleFunctionTableDescriptor visibleFunctionTableDescriptor];
    descriptor.functionCount = 2;
    id<MTLVisibleFunctionTable> table = [[pipeline newVisibleFunctionTableWithDescriptor:descriptor] autorelease];
    id<MTLFunctionHandle> handle = [pipeline functionHandleWithFunction:square];
    assert_text(handle.name, "square");
    [table setFunction:[pipeline functionHandleWithFunction:twice] atIndex:0];
    [table setFunction:handle atIndex:1];
    assert_true(table.gpuResourceID._impl != 0 && table.allocatedSize > 0);
    run(pipeline, table);
    expect(6, 12, 18, 48);
    [table setFunctions:(const id<MTLFunctionHandle>[]){handle, nil} withRange:NSMakeRange(0, 2)];
    run(pipeline, table);
    expect(108, 0, 972, 0);
    [table setFunction:handle atIndex:9];  // nowhere
    assert_null([pipeline functionHandleWithFunction:each]);
}

static void functions_are_linked_by_name(void **state) {
    id<MTLFunction> by_name = [[library newFunctionWithName:@"by_name"] autorelease];
    NSError *error = nil;
    assert_null([device newComputePipelineStateWithFunction:by_name error:&error]);
    assert_contains([error localizedDescription], "square");
    run(linked(by_name, @[ [[other newFunctionWithName:@"square"] autorelease] ]), nil);
    expect(1, 4, 9, 16);
}

#define functions_test(function) cmocka_unit_test_setup_teardown(function, open_functions, close_functions)

int main(void) {
    const struct CMUnitTest tests[] = {
        functions_test(libraries_list_visible_functions),
        functions_test(methods_that_only_bindings_know_are_there),
        functions_test(tables_hold_functions_of_two_libraries),
        functions_test(functions_are_linked_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
