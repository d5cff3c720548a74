// SPDX-License-Identifier: Apache-2.0
// MTLTensor: slices, kernels that take tensors, reflection, and what is refused.
#include <string.h>
#include <unistd.h>

#include "helpers.h"

static MTLTensorExtents *extents(NSUInteger rank, const NSInteger *values) {
    return [[[MTLTensorExtents alloc] initWithRank:rank values:values] autorelease];
}

#define EXTENTS(...) extents(sizeof((NSInteger[]){__VA_ARGS__}) / sizeof(NSInteger), (NSInteger[]){__VA_ARGS__})

static MTLTensorDescriptor *shape(MTLTensorDataType type, MTLTensorExtents *dimensions, MTLTensorExtents *strides) {
    MTLTensorDescriptor *descriptor = [[[MTLTensorDescriptor alloc] init] autorelease];
    descriptor.dataType = type;
    descriptor.dimensions = dimensions;
    descriptor.strides = strides;
    descriptor.usage = MTLTensorUsageCompute;
    return descriptor;
}

static id<MTLTensor> new_tensor(MTLTensorDescriptor *descriptor, id<MTLBuffer> buffer, NSUInteger offset) {
    NSError *error = nil;
    id<MTLTensor> tensor = buffer ? [buffer newTensorWithDescriptor:descriptor offset:offset error:&error]
                                  : [device newTensorWithDescriptor:descriptor error:&error];
    if (!tensor) fail_msg("%s", [[error localizedDescription] UTF8String]);
    return tensor;
}

// ---- What they are ----

static void extents_hold_a_number_for_each_dimension(void **state) {
    const NSInteger values[17] = {2, 3, 5};
    MTLTensorExtents *three = extents(3, values), *copy = [[three copy] autorelease];
    assert_int_equal(three.rank, 3);
    assert_int_equal([copy extentAtDimensionIndex:2], 5);
    assert_int_equal([three extentAtDimensionIndex:3], -1);
    assert_true([copy isEqual:three] && ![copy isEqual:extents(2, values)]);
    assert_int_equal([extents(0, NULL) rank], 0);
    assert_null(extents(17, values));
    assert_null(extents(1, NULL));
}

static void tensors_know_what_they_were_made_of(void **state) {
    MTLTensorDescriptor *plain = [[[MTLTensorDescriptor alloc] init] autorelease];
    assert_true([plain.dimensions isEqual:EXTENTS(1)] && plain.dataType == MTLTensorDataTypeFloat32);
    assert_true(plain.usage == (MTLTensorUsageCompute | MTLTensorUsageRender) && !plain.strides);
    plain.storageMode = MTLStorageModePrivate;
    assert_int_equal(plain.resourceOptions, MTLResourceStorageModePrivate);
    id<MTLTensor> own = new_tensor(shape(MTLTensorDataTypeFloat16, EXTENTS(4, 3), nil), nil, 0);
    assert_true([own.dimensions isEqual:EXTENTS(4, 3)] && own.dataType == MTLTensorDataTypeFloat16);
    assert_true(!own.buffer && !own.strides && own.usage == MTLTensorUsageCompute && own.device == device);
    assert_true(own.allocatedSize >= 24 && own.gpuResourceID._impl);
    MTLSizeAndAlign size = [device tensorSizeAndAlignWithDescriptor:shape(MTLTensorDataTypeInt8, EXTENTS(5, 7), nil)];
    assert_true(size.size == 35 && size.align);
    id<MTLBuffer> words = new_words(64);
    id<MTLTensor> part = new_tensor(shape(MTLTensorDataTypeInt32, EXTENTS(4, 3), EXTENTS(1, 8)), words, 8);
    assert_true(part.buffer == words && part.bufferOffset == 8 && [part.strides isEqual:EXTENTS(1, 8)]);
    assert_int_equal(part.storageMode, MTLStorageModeShared);
    [own release];
    [part release];
    [words release];
}

static void expect_refused(MTLTensorDescriptor *descriptor, id<MTLBuffer> buffer, NSUInteger offset, const char *why) {
    NSError *error = nil;
    assert_null(buffer ? [buffer newTensorWithDescriptor:descriptor offset:offset error:&error]
                       : [device newTensorWithDescriptor:descriptor error:&error]);
    assert_error(error, MTLTensorDomain, MTLTensorErrorInvalidDescriptor);
    assert_contains([error localizedDescription], why);
}

static void wrong_tensors_are_refused(void **state) {
    const MTLTensorDataType f = MTLTensorDataTypeFloat32;
    id<MTLBuffer> words = new_words(16);
    expect_refused(nil, nil, 0, "nil");
    expect_refused(shape(f, nil, nil), nil, 0, "dimensions");
    expect_refused(shape(MTLTensorDataTypeNone, EXTENTS(2), nil), nil, 0, "data type");
    expect_refused(shape((MTLTensorDataType)140, EXTENTS(2), nil), nil, 0, "data type");
    expect_refused(shape(f, EXTENTS(2, 0), nil), nil, 0, "less than 1");
    expect_refused(shape(f, EXTENTS(2, 2), EXTENTS(1, 2)), nil, 0, "strides");
    expect_refused(shape(f, EXTENTS(NSIntegerMax, NSIntegerMax, 2), nil), nil, 0, "larger than any memory");
    expect_refused(shape(f, EXTENTS(NSIntegerMax / 2), nil), nil, 0, "larger than any memory");
    expect_refused(shape(f, EXTENTS(2, 2), EXTENTS(2, 4)), words, 0, "first stride");
    expect_refused(shape(f, EXTENTS(2, 2), EXTENTS(1)), words, 0, "each of its dimensions");
    expect_refused(shape(f, EXTENTS(2, 2), EXTENTS(1, -2)), words, 0, "less than 1");
    expect_refused(shape(f, EXTENTS(2, 2), EXTENTS(1, NSIntegerMax)), words, 0, "larger than any memory");
    expect_refused(shape(f, EXTENTS(4, 4), nil), words, 4, "not inside a buffer of 64 bytes");
    expect_refused(shape(f, EXTENTS(1), nil), words, 2, "multiple");
    NSError *error = nil;  // memory that no machine has
    assert_null([device newTensorWithDescriptor:shape(f, EXTENTS((NSInteger)1 << 58), nil) error:&error]);
    assert_error(error, MTLTensorDomain, MTLTensorErrorInternalError);
    [words release];
}

// ---- Slices ----

enum { X = 7, Y = 5, Z = 4, ROW = 9, PLANE = 50 };  // and the strides of a padded tensor

// A slice of a tensor of numbers, and of the program's memory, which has other strides: against a loop over all indices.
static void check_slice(id<MTLTensor> tensor, const NSInteger origin[3], const NSInteger size[3]) {
    uint16_t mine[512], all[X * Y * Z], read[512];
    const NSInteger strides[3] = {1, size[0] + 2, (size[0] + 2) * (size[1] + 1)};
    for (uint16_t i = 0; i < 512; i++) mine[i] = (uint16_t)(1000 + i), read[i] = 7;
    for (uint16_t i = 0; i < X * Y * Z; i++) all[i] = i;
    MTLTensorExtents *whole = EXTENTS(X, Y, Z), *zero = EXTENTS(0, 0, 0), *packed = EXTENTS(1, X, X * Y);
    [tensor replaceSliceOrigin:zero sliceDimensions:whole withBytes:all strides:packed];
    [tensor replaceSliceOrigin:extents(3, origin)
               sliceDimensions:extents(3, size)
                     withBytes:mine
                       strides:extents(3, strides)];
    memset(all, 0, sizeof all);
    [tensor getBytes:all strides:packed fromSliceOrigin:zero sliceDimensions:whole];
    [tensor getBytes:read
                strides:extents(3, strides)
        fromSliceOrigin:extents(3, origin)
        sliceDimensions:extents(3, size)];
    for (NSInteger z = 0; z < Z; z++)
        for (NSInteger y = 0; y < Y; y++)
            for (NSInteger x = 0; x < X; x++) {
                NSInteger i = x - origin[0], j = y - origin[1], k = z - origin[2], at = x + X * (y + Y * z);
                BOOL inside = i >= 0 && j >= 0 && k >= 0 && i < size[0] && j < size[1] && k < size[2];
                NSInteger own = inside ? i + j * strides[1] + k * strides[2] : 0;
                assert_int_equal(all[at], inside ? mine[own] : at);
                if (inside) assert_int_equal(read[own], mine[own]);
            }
    if (size[0] && size[1] > 1) assert_int_equal(read[size[0]], 7);  // between rows
}

static void slices_go_in_and_out(void **state) {
    static const NSInteger slices[][2][3] = {
        {{0, 0, 0}, {X, Y, Z}}, {{1, 2, 1}, {3, 2, 2}}, {{0, 1, 0}, {X, 2, Z}}, {{0, 0, 2}, {X, Y, 1}},
        {{6, 4, 3}, {1, 1, 1}}, {{0, 0, 0}, {1, 1, Z}}, {{2, 2, 2}, {0, 2, 1}},
    };
    id<MTLBuffer> buffer = new_words(256);
    MTLTensorExtents *dimensions = EXTENTS(X, Y, Z);
    id<MTLTensor> own = new_tensor(shape(MTLTensorDataTypeUInt16, dimensions, nil), nil, 0);
    id<MTLTensor> padded =
        new_tensor(shape(MTLTensorDataTypeUInt16, dimensions, EXTENTS(1, ROW, PLANE)), buffer, 2 * sizeof(uint16_t));
    for (size_t i = 0; i < sizeof slices / sizeof *slices; i++) {
        check_slice(own, slices[i][0], slices[i][1]);
        check_slice(padded, slices[i][0], slices[i][1]);
    }
    const uint16_t *memory = buffer.contents;
    assert_int_equal(memory[2 + 3 + 2 * ROW + PLANE], 3 + X * (2 + Y));
    assert_int_equal(memory[2 + X], 0);  // what lies between rows was not written
    [own release];
    [padded release];
    [buffer release];
}

static void slices_outside_copy_nothing(void **state) {
    uint32_t one = 1, read = 5;
    id<MTLTensor> tensor = new_tensor(shape(MTLTensorDataTypeUInt32, EXTENTS(2, 2), nil), nil, 0);
    MTLTensorExtents *wrong[][2] = {
        {EXTENTS(2, 0), EXTENTS(1, 1)},  {EXTENTS(0, -1), EXTENTS(1, 1)},           {EXTENTS(0, 0), EXTENTS(1, 3)},
        {EXTENTS(0, 0), EXTENTS(1, -1)}, {EXTENTS(1, 0), EXTENTS(NSIntegerMax, 1)}, {EXTENTS(0), EXTENTS(1)},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        [tensor replaceSliceOrigin:wrong[i][0] sliceDimensions:wrong[i][1] withBytes:&one strides:EXTENTS(1, 1)];
        [tensor getBytes:&read strides:EXTENTS(1, 1) fromSliceOrigin:wrong[i][0] sliceDimensions:wrong[i][1]];
        assert_int_equal(read, 5);
    }
    [tensor getBytes:&read strides:nil fromSliceOrigin:EXTENTS(1, 1) sliceDimensions:EXTENTS(1, 1)];
    assert_int_equal(read, 0);
    [tensor release];
}

// ---- Kernels ----

static const char source[] =
    "#include <metal_stdlib>\n"
    "#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>\n"
    "using namespace metal;\n"
    "using namespace mpp::tensor_ops;\n"
    "kernel void product(tensor<device half, dextents<int, 2>> a [[buffer(0)]],\n"
    "                    tensor<device half, dextents<int, 2>> b [[buffer(1)]],\n"
    "                    tensor<device float, dextents<int, 2>> c [[buffer(2)]],\n"
    "                    uint2 group [[threadgroup_position_in_grid]]) {\n"
    "    constexpr auto how = matmul2d_descriptor(16, 8, dynamic_length_v<int>);\n"
    "    matmul2d<how, execution_simdgroup> op;\n"
    "    auto left = a.slice(0, group.y * 16), right = b.slice(group.x * 8, 0);\n"
    "    auto result = c.slice(group.x * 8, group.y * 16);\n"
    "    op.run(left, right, result);\n"
    "}\n"
    "struct pair {\n"
    "    tensor<device int, dextents<int, 3>> in;\n"
    "    float unused;\n"
    "    tensor<device int, dextents<int, 3>> out[2];\n"
    "};\n"
    "kernel void spread(constant pair &p [[buffer(0)]], uint3 at [[thread_position_in_grid]]) {\n"
    "    int value = p.in[at.x, at.y, at.z];\n"
    "    p.out[0][at.x, at.y, at.z] = value * p.in.extent(2);\n"
    "    p.out[1][at.z, at.y, at.x] = value;\n"
    "}\n"
    "kernel void declared(tensor<device const bfloat, dextents<uint, 3>> a [[buffer(1)]], device float *out "
    "[[buffer(0)]],\n"
    "                     tensor<device char, extents<long, 4, dynamic_extent>> b [[buffer(2)]]) {\n"
    "    b[0L, 0L] = char(a[0u, 0u, 0u] + out[0]);\n"
    "}\n";

static id<MTLComputePipelineState> compile(NSString *kernel, MTLComputePipelineReflection **reflection) {
    NSError *error = nil;
    MTLCompileOptions *options = [[[MTLCompileOptions alloc] init] autorelease];
    options.languageVersion = MTLLanguageVersion4_0;
    id<MTLLibrary> library = [device newLibraryWithSource:[NSString stringWithUTF8String:source]
                                                  options:options
                                                    error:&error];
    if (!library) fail_msg("%s", [[error localizedDescription] UTF8String]);
    id<MTLFunction> function = [library newFunctionWithName:kernel];
    id<MTLComputePipelineState> pipeline =
        [device newComputePipelineStateWithFunction:function
                                            options:MTLPipelineOptionBindingInfo | MTLPipelineOptionBufferTypeInfo
                                         reflection:reflection
                                              error:&error];
    if (!pipeline) fail_msg("%s", [[error localizedDescription] UTF8String]);
    [function release];
    [library release];
    return pipeline;
}

static id<MTL4ArgumentTable> table_of(NSArray *tensors) {
    MTL4ArgumentTableDescriptor *descriptor = [[[MTL4ArgumentTableDescriptor alloc] init] autorelease];
    descriptor.maxBufferBindCount = 4;
    id<MTL4ArgumentTable> table = [[device newArgumentTableWithDescriptor:descriptor error:NULL] autorelease];
    for (NSUInteger i = 0; i < [tensors count]; i++)
        [table setResource:[(id<MTLTensor>)[tensors objectAtIndex:i] gpuResourceID] atBufferIndex:i];
    return table;
}

enum { M = 32, N = 24, K = 20, LEFT_ROW = 28 };

// Small whole numbers, which half and any order of sums hold exactly.
static float left_at(int row, int k) {
    return (float)((row * 7 + k * 5) % 13 - 6);
}

static float right_at(int k, int column) {
    return (float)((k * 3 + column * 11) % 9 - 4);
}

// As IEEE 754 has it; for whole numbers of up to 2048.
static uint16_t half_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return value == 0 ? 0
                      : (uint16_t)((bits >> 16 & 0x8000) | (((bits >> 23 & 255) - 112) << 10) | (bits >> 13 & 0x3ff));
}

static void products_of_tensors_are_right(void **state) {
    id<MTLComputePipelineState> pipeline = compile(@"product", NULL);
    id<MTLBuffer> memory = [device newBufferWithLength:M * LEFT_ROW * 2 + 64 options:MTLResourceStorageModeShared];
    id<MTLTensor> a = new_tensor(shape(MTLTensorDataTypeFloat16, EXTENTS(K, M), EXTENTS(1, LEFT_ROW)), memory, 32);
    id<MTLTensor> b = new_tensor(shape(MTLTensorDataTypeFloat16, EXTENTS(N, K), nil), nil, 0);
    id<MTLTensor> c = new_tensor(shape(MTLTensorDataTypeFloat32, EXTENTS(N, M), nil), nil, 0);
    uint16_t left[M * K], right[K * N];
    float result[M * N];
    for (int i = 0; i < M * K; i++) left[i] = half_of(left_at(i / K, i % K));
    for (int i = 0; i < K * N; i++) right[i] = half_of(right_at(i / N, i % N));
    MTLTensorExtents *zero = EXTENTS(0, 0);
    [a replaceSliceOrigin:zero sliceDimensions:a.dimensions withBytes:left strides:EXTENTS(1, K)];
    [b replaceSliceOrigin:zero sliceDimensions:b.dimensions withBytes:right strides:EXTENTS(1, N)];
    // The first is resident with its buffer.
    NSString *wrong =
        run_metal4(@[ memory, b, c ], table_of(@[ a, b, c ]), pipeline, ^(id<MTL4ComputeCommandEncoder> encoder) {
          [encoder dispatchThreadgroups:MTLSizeMake(N / 8, M / 16, 1) threadsPerThreadgroup:MTLSizeMake(32, 1, 1)];
        });
    if (wrong) fail_msg("%s", [wrong UTF8String]);
    [c getBytes:result strides:EXTENTS(1, N) fromSliceOrigin:zero sliceDimensions:c.dimensions];
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < K; k++) sum += left_at(i, k) * right_at(k, j);
            assert_float_equal(result[i * N + j], sum, 0);
        }
    [a release];
    [b release];
    [c release];
    [memory release];
    [pipeline release];
}

static NSString *run_product(NSArray *resident, id<MTL4ArgumentTable> table, id<MTLComputePipelineState> pipeline) {
    return run_metal4(resident, table, pipeline, ^(id<MTL4ComputeCommandEncoder> encoder) {
      [encoder dispatchThreadgroups:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(32, 1, 1)];
    });
}

static void tensors_in_tables_are_resident_and_alive(void **state) {
    id<MTLComputePipelineState> pipeline = compile(@"product", NULL);
    id<MTLBuffer> memory = new_words(16 * 16);
    id<MTLTensor> a = new_tensor(shape(MTLTensorDataTypeFloat16, EXTENTS(16, 16), nil), memory, 0);
    id<MTLTensor> c = new_tensor(shape(MTLTensorDataTypeFloat32, EXTENTS(8, 16), nil), nil, 0);
    NSAutoreleasePool *inner = [[NSAutoreleasePool alloc] init];
    id<MTL4ArgumentTable> table = [table_of(@[ a, a, c ]) retain];
    assert_null(run_product(@[ a, c ], table, pipeline));
    assert_contains(run_product(@[ a ], table, pipeline), "residency set");
    assert_contains(run_product(@[ c ], table, pipeline), "residency set");
    [inner drain];
    [c release];
    NSString *wrong = nil;  // command buffers release what they used soon after they have reported
    for (int i = 0; i < 1000 && ![wrong hasPrefix:@"a resource"]; i++, usleep(1000))
        wrong = run_product(@[ memory ], table, pipeline);
    assert_contains(wrong, "no tensor");
    [a release];
    [table release];
    [memory release];
    [pipeline release];
}

enum { SIDE = 6 };

// Ids in an argument buffer, with the encoders of Metal 3.
static void argument_buffers_hold_tensors(void **state) {
    struct {
        MTLResourceID in;
        float unused;
        MTLResourceID out[2];
    } arguments;
    id<MTLComputePipelineState> pipeline = compile(@"spread", NULL);
    id<MTLBuffer> memory = new_words(2 * SIDE * 20);
    MTLTensorExtents *cube = EXTENTS(SIDE, 3, SIDE), *zero = EXTENTS(0, 0, 0);
    id<MTLTensor> in = new_tensor(shape(MTLTensorDataTypeInt32, cube, nil), nil, 0);
    id<MTLTensor> first = new_tensor(shape(MTLTensorDataTypeInt32, cube, EXTENTS(1, 7, 22)), memory, 16);
    id<MTLTensor> second = new_tensor(shape(MTLTensorDataTypeInt32, cube, nil), nil, 0);
    int32_t numbers[SIDE * 3 * SIDE], turned[SIDE * 3 * SIDE];
    for (int i = 0; i < SIDE * 3 * SIDE; i++) numbers[i] = i * i;
    [in replaceSliceOrigin:zero sliceDimensions:cube withBytes:numbers strides:nil];
    arguments.in = in.gpuResourceID;
    arguments.out[0] = first.gpuResourceID, arguments.out[1] = second.gpuResourceID;
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:pipeline];
    [encoder setBytes:&arguments length:sizeof arguments atIndex:0];
    [encoder useResources:(const id<MTLResource>[]){in, first, second} count:3 usage:MTLResourceUsageWrite];
    [encoder dispatchThreads:MTLSizeMake(SIDE, 3, SIDE) threadsPerThreadgroup:MTLSizeMake(SIDE, 1, 1)];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    assert_int_equal(commands.status, MTLCommandBufferStatusCompleted);
    [second getBytes:turned strides:nil fromSliceOrigin:zero sliceDimensions:cube];
    for (int z = 0; z < SIDE; z++)
        for (int y = 0; y < 3; y++)
            for (int x = 0; x < SIDE; x++) {
                int value = numbers[x + SIDE * (y + 3 * z)];
                assert_int_equal(((int32_t *)memory.contents)[4 + x + 7 * y + 22 * z], value * SIDE);
                assert_int_equal(turned[z + SIDE * (y + 3 * x)], value);
            }
    [queue release];
    [in release];
    [first release];
    [second release];
    [memory release];
    [pipeline release];
}

static void encoders_copy_slices(void **state) {
    id<MTLBuffer> memory = new_words(64);
    id<MTLTensor> from = new_tensor(shape(MTLTensorDataTypeInt8, EXTENTS(5, 4, 3), nil), nil, 0);
    id<MTLTensor> to = new_tensor(shape(MTLTensorDataTypeInt8, EXTENTS(6, 3, 4), EXTENTS(1, 8, 32)), memory, 3);
    int8_t numbers[60];
    for (int8_t i = 0; i < 60; i++) numbers[i] = i;
    [from replaceSliceOrigin:EXTENTS(0, 0, 0) sliceDimensions:from.dimensions withBytes:numbers strides:nil];
    NSString *wrong = run_metal4(@[ from, to ], nil, nil, ^(id<MTL4ComputeCommandEncoder> encoder) {
      [encoder copyFromTensor:from
                   sourceOrigin:EXTENTS(1, 2, 0)
               sourceDimensions:EXTENTS(4, 2, 3)
                       toTensor:to
              destinationOrigin:EXTENTS(2, 1, 1)
          destinationDimensions:EXTENTS(4, 2, 3)];
    });
    assert_null(wrong);
    for (int z = 0; z < 4; z++)
        for (int y = 0; y < 3; y++)
            for (int x = 0; x < 6; x++) {
                BOOL copied = x >= 2 && y >= 1 && z >= 1;
                assert_int_equal(((int8_t *)memory.contents)[3 + x + 8 * y + 32 * z],
                                 copied ? (x - 1) + 5 * ((y + 1) + 4 * (z - 1)) : 0);
            }
    wrong = run_metal4(@[ from, to ], nil, nil, ^(id<MTL4ComputeCommandEncoder> encoder) {
      [encoder copyFromTensor:from
                   sourceOrigin:EXTENTS(2, 0, 0)
               sourceDimensions:EXTENTS(4, 2, 3)
                       toTensor:to
              destinationOrigin:EXTENTS(0, 0, 0)
          destinationDimensions:EXTENTS(4, 2, 3)];
    });
    assert_contains(wrong, "copyFromTensor");
    [from release];
    [to release];
    [memory release];
}

// ---- Reflection ----

static void reflection_describes_tensors(void **state) {
    MTLComputePipelineReflection *reflection = nil;
    id<MTLComputePipelineState> pipeline = compile(@"declared", &reflection);
    id<MTLTensorBinding> a = (id)[reflection.bindings objectAtIndex:0], b = (id)[reflection.bindings objectAtIndex:2];
    assert_true(a.type == MTLBindingTypeTensor && a.index == 1 && a.access == MTLBindingAccessReadOnly);
    assert_true(a.tensorDataType == MTLTensorDataTypeBFloat16 && a.indexType == MTLDataTypeUInt);
    assert_true([a.dimensions isEqual:EXTENTS(-1, -1, -1)]);
    assert_true(b.tensorDataType == MTLTensorDataTypeInt8 && b.indexType == MTLDataTypeLong);
    assert_true([b.dimensions isEqual:EXTENTS(4, -1)] && b.access == MTLBindingAccessReadWrite);
    assert_int_equal([(id<MTLBinding>)[reflection.bindings objectAtIndex:1] type], MTLBindingTypeBuffer);
    [pipeline release];
    pipeline = compile(@"spread", &reflection);
    id<MTLBufferBinding> pair = (id)[reflection.bindings objectAtIndex:0];
    MTLStructType *type = pair.bufferStructType;
    MTLTensorReferenceType *in = [[type memberByName:@"in"] tensorReferenceType];
    MTLTensorReferenceType *out = [[[type memberByName:@"out"] arrayType] elementTensorReferenceType];
    assert_true(in.dataType == MTLDataTypeTensor && in.tensorDataType == MTLTensorDataTypeInt32);
    assert_true(in.indexType == MTLDataTypeInt && in.dimensions.rank == 3 && in.access == MTLBindingAccessReadWrite);
    assert_int_equal(out.tensorDataType, MTLTensorDataTypeInt32);
    assert_null([[type memberByName:@"unused"] tensorReferenceType]);
    assert_true(pair.bufferPointerType.elementIsArgumentBuffer);
    [pipeline release];
}

int main(void) {
    const struct CMUnitTest tests[] = {
        compat_test(extents_hold_a_number_for_each_dimension),
        compat_test(tensors_know_what_they_were_made_of),
        compat_test(wrong_tensors_are_refused),
        compat_test(slices_go_in_and_out),
        compat_test(slices_outside_copy_nothing),
        compat_test(products_of_tensors_are_right),
        compat_test(tensors_in_tables_are_resident_and_alive),
        compat_test(argument_buffers_hold_tensors),
        compat_test(encoders_copy_slices),
        compat_test(reflection_describes_tensors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
