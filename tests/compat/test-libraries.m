// SPDX-License-Identifier: Apache-2.0
// From MSL to pipelines: options, errors, constants, reflection, archives, and the forms with handlers.
#include <stdlib.h>
#include <unistd.h>

#include "helpers.h"

static const char shapes_source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "constant int factor [[function_constant(0)]];\n"
    "constant bool negate [[function_constant(3)]];\n"
    "constant float2 pair [[function_constant(4)]];\n"
    "struct shape { float4 color; uint count; };\n"
    "kernel void scale(device int *out [[buffer(0)]], const device int *in [[buffer(1)]],\n"
    "                  uint i [[thread_position_in_grid]]) { out[i] = (negate ? -factor : factor) * in[i]; }\n"
    "kernel void sum(device float4 *out [[buffer(2)]], constant shape &what [[buffer(5)]],\n"
    "                threadgroup float *scratch [[threadgroup(1)]], uint i [[thread_index_in_threadgroup]]) {\n"
    "    threadgroup float fixed[64]; fixed[i] = what.color.x; scratch[i] = fixed[i]; out[i] = scratch[i]; }\n"
    "kernel void pairs(device float *out [[buffer(0)]]) { out[0] = pair.x + 2 * pair.y; }\n";

static void source_becomes_a_library(void **state) {
    id<MTLLibrary> library = new_library(shapes_source);
    library.label = @"shapes";
    assert_text(library.label, "shapes");
    assert_ptr_equal(library.device, device);
    assert_int_equal(library.type, MTLLibraryTypeExecutable);
    assert_null(library.installName);
    NSArray *names = library.functionNames;
    assert_int_equal([names count], 3);
    assert_true([names containsObject:@"scale"] && [names containsObject:@"sum"]);
    assert_null([library newFunctionWithName:@"absent"]);
    assert_null([library newFunctionWithName:nil]);
    id<MTLFunction> function = [library newFunctionWithName:@"sum"];
    assert_text(function.name, "sum");
    assert_int_equal(function.functionType, MTLFunctionTypeKernel);
    assert_int_equal(function.patchType, MTLPatchTypeNone);
    assert_int_equal(function.patchControlPointCount, -1);
    assert_int_equal(function.options, MTLFunctionOptionNone);
    assert_null(function.vertexAttributes);
    assert_null(function.stageInputAttributes);
    assert_null([function newArgumentEncoderWithBufferIndex:0]);
    assert_ptr_equal(function.device, device);
    [library release];  // the function holds it
    assert_text(function.name, "sum");
    [function release];
}

// Programs look at errors that they have not initialised.
static void errors_are_nil_where_nothing_went_wrong(void **state) {
    NSError *error = (NSError *)@"left over";
    id<MTLLibrary> library = [device newLibraryWithSource:@(shapes_source) options:nil error:&error];
    assert_null(error);
    error = (NSError *)@"left over";
    id<MTLFunction> function = [library newFunctionWithName:@"pairs"
                                             constantValues:[[[MTLFunctionConstantValues alloc] init] autorelease]
                                                      error:&error];
    assert_null(error);
    error = (NSError *)@"left over";
    id<MTLComputePipelineState> pipeline = [device newComputePipelineStateWithFunction:function error:&error];
    assert_non_null(pipeline);
    assert_null(error);
    [pipeline release];
    [function release];
    [library release];
}

static void warnings_come_with_the_library(void **state) {
    NSError *error = nil;
    id<MTLLibrary> library = [device newLibraryWithSource:@"kernel void k(device int *x) { x[0] == 1; }"
                                                  options:nil
                                                    error:&error];
    assert_true([library.functionNames containsObject:@"k"]);
    assert_error(error, MTLLibraryErrorDomain, MTLLibraryErrorCompileWarning);
    [library release];
}

// They do not run here, and are not wrong.
static void functions_that_draw_are_no_warnings(void **state) {
    NSError *error = nil;
    id<MTLLibrary> library = [device newLibraryWithSource:@"vertex float4 v() { return float4(0); }\n"
                                                           "kernel void k(device int *x) { x[0] = 1; }"
                                                  options:nil
                                                    error:&error];
    assert_true([library.functionNames containsObject:@"k"]);
    assert_null(error);
    [library release];
}

// A function of each type that MTLFunctionType has.
static const char drawing[] =
    "#include <metal_stdlib>\n#include <metal_raytracing>\nusing namespace metal;\nusing namespace raytracing;\n"
    "struct In { float3 at [[attribute(0)]]; half2 uv [[attribute(7)]]; };\n"
    "struct Out { float4 at [[position]]; };\n"
    "vertex Out vertices(In in [[stage_in]]) { return {float4(in.at, 1)}; }\n"
    "fragment float4 fragments(Out in [[stage_in]]) { return in.at; }\n"
    "kernel void kernels(device int *x) { x[0] = 1; }\n"
    "[[visible]] float visibles(float x) { return x; }\n"
    "[[intersection(triangle)]] bool intersections() { return true; }\n"
    "[[mesh]] void meshes(metal::mesh<Out, void, 3, 1, topology::triangle> out) { out.set_primitive_count(0); }\n"
    "[[object]] void objects(mesh_grid_properties grid) { grid.set_threadgroups_per_grid(uint3(1)); }\n"
    "kernel void tiles(imageblock<float4> block) {}\n";

static void functions_have_their_types(void **state) {
    static const struct {
        const char *name;
        MTLFunctionType type;
    } expected[] = {
        {"vertices", MTLFunctionTypeVertex},
        {"fragments", MTLFunctionTypeFragment},
        {"kernels", MTLFunctionTypeKernel},
        {"visibles", MTLFunctionTypeVisible},
        {"intersections", MTLFunctionTypeIntersection},
        {"meshes", MTLFunctionTypeMesh},
        {"objects", MTLFunctionTypeObject},
        {"tiles", MTLFunctionTypeKernel},
    };
    enum { COUNT = sizeof expected / sizeof *expected };
    id<MTLLibrary> library = new_library(drawing);
    assert_int_equal([library.functionNames count], COUNT);
    for (int i = 0; i < COUNT; i++) {
        NSString *name = @(expected[i].name);
        assert_true([library.functionNames containsObject:name]);
        id<MTLFunction> function = [library newFunctionWithName:name];
        assert_text(function.name, expected[i].name);
        assert_int_equal(function.functionType, expected[i].type);
        [function release];
    }
    [library release];
}

static void vertex_functions_have_attributes(void **state) {
    id<MTLLibrary> library = new_library(drawing);
    id<MTLFunction> function = [library newFunctionWithName:@"vertices"];
    assert_int_equal([function.vertexAttributes count], 2);
    MTLVertexAttribute *uv = function.vertexAttributes[1];
    assert_text(uv.name, "uv");
    assert_int_equal(uv.attributeIndex, 7);
    assert_int_equal(uv.attributeType, MTLDataTypeHalf2);
    assert_true(uv.active);
    assert_int_equal([function.stageInputAttributes count], 2);
    [function release];
    function = [library newFunctionWithName:@"fragments"];
    assert_null(function.vertexAttributes);
    assert_null(function.stageInputAttributes);
    [function release];
    [library release];
}

static void refuse_pipeline(id<MTLLibrary> library, NSString *name, const char *message) {
    NSError *error = nil;
    id<MTLFunction> function = [library newFunctionWithName:name];
    assert_non_null(function);
    assert_null([device newComputePipelineStateWithFunction:function error:&error]);
    assert_error(error, MTLLibraryErrorDomain, MTLLibraryErrorUnsupported);
    assert_contains([error localizedDescription], message);
    [function release];
}

static void no_pipeline_is_made_of_functions_that_draw(void **state) {
    id<MTLLibrary> library = new_library(drawing);
    refuse_pipeline(library, @"vertices", "Ingot does not run vertex functions, and 'vertices' is one");
    refuse_pipeline(library, @"tiles", "Ingot does not run tile functions, and 'tiles' is one");
    refuse_pipeline(library, @"visibles", "'visibles' is a visible function, not a kernel");
    [library release];
}

static void functions_of_a_metallib_that_draw_are_listed(void **state) {
    NSError *error = nil;
    id<MTLLibrary> library = [device newLibraryWithURL:[NSURL fileURLWithPath:@(getenv("AIR_DRAWING"))] error:&error];
    assert_null(error);
    assert_int_equal([library.functionNames count], 4);
    id<MTLFunction> placed = [library newFunctionWithName:@"placed"], shaded = [library newFunctionWithName:@"shaded"];
    assert_int_equal(placed.functionType, MTLFunctionTypeVertex);
    assert_int_equal([placed.vertexAttributes count], 2);
    assert_int_equal([placed.vertexAttributes[1] attributeIndex], 3);
    assert_int_equal(shaded.functionType, MTLFunctionTypeFragment);
    refuse_pipeline(library, @"shaded", "Ingot does not run fragment functions, and 'shaded' is one");
    [placed release];
    [shaded release];
    [library release];
}

static void errors_of_the_compiler_name_their_place(void **state) {
    NSError *error = nil;
    assert_null([device newLibraryWithSource:@"kernel void k() { nonsense; }" options:nil error:&error]);
    assert_error(error, MTLLibraryErrorDomain, MTLLibraryErrorCompileFailure);
    assert_contains([error localizedDescription], "program_source:1:");
    assert_contains([error localizedDescription], "nonsense");
    assert_null([device newLibraryWithSource:@"kernel void k() { nonsense; }" options:nil error:NULL]);
    assert_null([device newLibraryWithSource:nil options:nil error:&error]);
    id<MTLLibrary> empty = [device newLibraryWithSource:@"" options:nil error:&error];
    assert_int_equal([empty.functionNames count], 0);
    [empty release];
}

static void options_reach_the_compiler(void **state) {
    MTLCompileOptions *options = [[[MTLCompileOptions alloc] init] autorelease];
    assert_true(options.fastMathEnabled);
    assert_int_equal(options.mathMode, MTLMathModeFast);
    options.fastMathEnabled = NO;
    assert_int_equal(options.mathMode, MTLMathModeSafe);
    options.languageVersion = MTLLanguageVersion3_0;
    options.preprocessorMacros = [NSDictionary
        dictionaryWithObjectsAndKeys:@"7", @"SEVEN", [NSNumber numberWithInt:5], @"FIVE", @"", @"NOTHING", nil];
    MTLCompileOptions *copy = [[options copy] autorelease];
    assert_int_equal(copy.languageVersion, MTLLanguageVersion3_0);
    NSString *source = @"kernel void k(device int *a [[buffer(0)]]) { NOTHING a[0] = SEVEN + FIVE;\n"
                        "a[1] = __METAL_VERSION__;\n"
                        "#ifdef __FAST_MATH__\n a[2] = 1;\n#endif\n}";
    NSError *error = nil;
    id<MTLLibrary> library = [device newLibraryWithSource:source options:copy error:&error];
    assert_non_null(library);
    id<MTLFunction> function = [library newFunctionWithName:@"k"];
    id<MTLComputePipelineState> pipeline = [device newComputePipelineStateWithFunction:function error:&error];
    id<MTLBuffer> buffer = new_words(4);
    run_one_thread(pipeline, buffer);
    assert_int_equal(words_of(buffer)[0], 12);
    assert_int_equal(words_of(buffer)[1], 300);
    assert_int_equal(words_of(buffer)[2], 0);
    [buffer release];
    [pipeline release];
    [function release];
    [library release];
}

static NSString *temporary_file(NSString *name, const void *bytes, NSUInteger length) {
    NSString *path = [NSString stringWithFormat:@"%@/ingot-compat-%d-%@", NSTemporaryDirectory(), (int)getpid(), name];
    assert_true([[NSData dataWithBytes:bytes length:length] writeToFile:path atomically:NO]);
    return path;
}

static void files_have_the_math_mode_of_the_environment(void **state) {
    static const char source[] = "#ifdef __FAST_MATH__\nkernel void fast() {}\n#else\nkernel void safe() {}\n#endif\n";
    NSString *path = temporary_file(@"modes.metal", source, strlen(source));
    static const char *const modes[] = {NULL, "fast", "safe"};
    for (size_t i = 0; i < 3; i++) {
        NSError *error = nil;
        if (modes[i]) setenv("INGOT_MATH_MODE", modes[i], 1);
        id<MTLLibrary> library = [device newLibraryWithFile:path error:&error];
        assert_non_null(library);
        assert_string_equal([[library.functionNames firstObject] UTF8String], i == 2 ? "safe" : "fast");
        [library release];
    }
    unsetenv("INGOT_MATH_MODE");
    unlink([path UTF8String]);
}

static void files_and_data_hold_source_text(void **state) {
    NSError *error = nil;
    NSUInteger length = strlen(shapes_source);
    NSString *path = temporary_file(@"shapes.metal", shapes_source, length);
    id<MTLLibrary> library = [device newLibraryWithFile:path error:&error];
    assert_int_equal([library.functionNames count], 3);
    [library release];
    library = [device newLibraryWithURL:[NSURL fileURLWithPath:path] error:&error];
    assert_int_equal([library.functionNames count], 3);
    [library release];
    setenv("INGOT_DEFAULT_LIBRARY", [path UTF8String], 1);
    library = [device newDefaultLibraryWithBundle:[NSBundle mainBundle] error:&error];
    assert_int_equal([library.functionNames count], 3);
    [library release];
    unlink([path UTF8String]);
    dispatch_data_t data = dispatch_data_create(shapes_source, length, NULL, DISPATCH_DATA_DESTRUCTOR_DEFAULT);
    library = [device newLibraryWithData:data error:&error];
    assert_int_equal([library.functionNames count], 3);
    [library release];
    dispatch_release(data);
    assert_null([device newLibraryWithFile:path error:&error]);
    assert_error(error, MTLLibraryErrorDomain, MTLLibraryErrorFileNotFound);
    assert_null([device newLibraryWithURL:[NSURL URLWithString:@"http://example.org/a.metal"] error:&error]);
    assert_null([device newLibraryWithData:dispatch_data_empty error:&error]);
    assert_null([device newDefaultLibrary]);
    unsetenv("INGOT_DEFAULT_LIBRARY");
}

static float half_of(id<MTLLibrary> library, float x) {
    NSError *error = nil;
    id<MTLFunction> function = [library newFunctionWithName:@"denormals"];
    assert_non_null(function);
    id<MTLComputePipelineState> pipeline = [device newComputePipelineStateWithFunction:function error:&error];
    assert_non_null(pipeline);
    id<MTLBuffer> data = [device newBufferWithBytes:&x length:sizeof x options:0];
    run_one_thread(pipeline, data);
    float result = *(float *)[data contents];
    [data release], [pipeline release], [function release];
    return result;
}

static void load_everyhow(const char *name) {
    NSError *error = nil;
    NSString *path = [NSString stringWithUTF8String:name];
    NSData *bytes = [NSData dataWithContentsOfFile:path];
    dispatch_data_t data = dispatch_data_create([bytes bytes], [bytes length], NULL, DISPATCH_DATA_DESTRUCTOR_DEFAULT);
    setenv("INGOT_DEFAULT_LIBRARY", [path UTF8String], 1);
    id<MTLLibrary> libraries[] = {[device newLibraryWithFile:path error:&error],
                                  [device newLibraryWithURL:[NSURL fileURLWithPath:path] error:&error],
                                  [device newLibraryWithData:data error:&error], [device newDefaultLibrary]};
    unsetenv("INGOT_DEFAULT_LIBRARY");
    for (int i = 0; i < 4; i++) {
        assert_non_null(libraries[i]);
        assert_int_equal([[libraries[i] functionNames] count], 2);
        assert_true(half_of(libraries[i], 3) == 1.5f);
        [libraries[i] release];
    }
    dispatch_release(data);
}

static void a_metallib_is_loaded(void **state) {
    load_everyhow(getenv("AIR_LIBRARY"));
}

static void a_library_of_our_own_tools_is_loaded(void **state) {
    load_everyhow(getenv("TOOLS_LIBRARY"));
}

static void a_damaged_metallib_is_refused_with_a_reason(void **state) {
    static const char metallib[] = "MTLB\1\200\2\0and nothing else";
    NSError *error = nil;
    NSString *path = temporary_file(@"a.metallib", metallib, sizeof metallib);
    assert_null([device newLibraryWithFile:path error:&error]);
    assert_string_equal([[error domain] UTF8String], [MTLLibraryErrorDomain UTF8String]);
    assert_contains([error localizedDescription], "is not a sound Metal library");
    unlink([path UTF8String]);
    dispatch_data_t data = dispatch_data_create(metallib, sizeof metallib, NULL, DISPATCH_DATA_DESTRUCTOR_DEFAULT);
    error = nil;
    assert_null([device newLibraryWithData:data error:&error]);
    assert_contains([error localizedDescription], "is not a sound Metal library");
    dispatch_release(data);
}

// ---- Constants ----

static int scaled(id<MTLLibrary> library, MTLFunctionConstantValues *values, int input) {
    NSError *error = nil;
    id<MTLFunction> function = [library newFunctionWithName:@"scale" constantValues:values error:&error];
    assert_non_null(function);
    id<MTLComputePipelineState> pipeline = [device newComputePipelineStateWithFunction:function error:&error];
    assert_non_null(pipeline);
    id<MTLBuffer> out = new_words(1), in = [device newBufferWithBytes:&input length:sizeof input options:0];
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:pipeline];
    [encoder setBuffer:out offset:0 atIndex:0];
    [encoder setBuffer:in offset:0 atIndex:1];
    [encoder dispatchThreads:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    int result = (int)words_of(out)[0];
    [queue release];
    [out release];
    [in release];
    [pipeline release];
    [function release];
    return result;
}

static void constants_go_by_index_name_and_range(void **state) {
    id<MTLLibrary> library = new_library(shapes_source);
    MTLFunctionConstantValues *values = [[[MTLFunctionConstantValues alloc] init] autorelease];
    int factor = 3;
    bool negate = true;
    [values setConstantValue:&factor type:MTLDataTypeInt atIndex:0];
    [values setConstantValue:&negate type:MTLDataTypeBool withName:@"negate"];
    [values setConstantValue:&factor type:MTLDataTypeInt atIndex:99];  // no such constant
    assert_int_equal(scaled(library, values, 7), -21);
    MTLFunctionConstantValues *copy = [[values copy] autorelease];
    [values reset];
    assert_int_equal(scaled(library, copy, 1), -3);
    int many[2] = {10, 20};
    [values setConstantValues:many type:MTLDataTypeInt withRange:NSMakeRange(0, 2)];
    negate = false;
    [values setConstantValue:&negate type:MTLDataTypeBool atIndex:3];
    assert_int_equal(scaled(library, values, 2), 20);
    [library release];
}

// Vectors of three take the space of four, as in a C array of them.
static void vectors_of_three_lie_sixteen_bytes_apart(void **state) {
    id<MTLLibrary> library = new_library("constant int3 first [[function_constant(0)]];\n"
                                         "constant int3 second [[function_constant(1)]];\n"
                                         "kernel void scale(device int *out [[buffer(0)]],\n"
                                         "                  const device int *in [[buffer(1)]]) {\n"
                                         "    out[0] = in[0] * (100 * first.z + 10 * second.x + second.z);\n"
                                         "}\n");
    MTLFunctionConstantValues *values = [[[MTLFunctionConstantValues alloc] init] autorelease];
    const int vectors[8] = {1, 2, 3, 99, 4, 5, 6, 99};
    [values setConstantValues:vectors type:MTLDataTypeInt3 withRange:NSMakeRange(0, 2)];
    assert_int_equal(scaled(library, values, 1), 346);
    [library release];
}

static void constants_that_are_not_set_are_zero(void **state) {
    id<MTLLibrary> library = new_library("constant bool first [[function_constant(0)]];\n"
                                         "constant int second [[function_constant(1)]];\n"
                                         "constant float3 third [[function_constant(2)]];\n"
                                         "kernel void scale(device int *out [[buffer(0)]]) {\n"
                                         "    out[0] = first ? 1 : is_function_constant_defined(second) ? 2\n"
                                         "           : 3 + second + int(third.z);\n"
                                         "}\n");
    MTLFunctionConstantValues *values = [[[MTLFunctionConstantValues alloc] init] autorelease];
    assert_int_equal(scaled(library, values, 1), 3);
    assert_int_equal(scaled(library, nil, 1), 3);
    const bool no = false;
    [values setConstantValue:&no type:MTLDataTypeBool atIndex:0];
    assert_int_equal(scaled(library, values, 1), 3);
    const int second = 5;
    [values setConstantValue:&second type:MTLDataTypeInt atIndex:1];
    assert_int_equal(scaled(library, values, 1), 2);
    [library release];
}

static void wrong_constants_are_errors_of_the_function(void **state) {
    id<MTLLibrary> library = new_library(shapes_source);
    MTLFunctionConstantValues *values = [[[MTLFunctionConstantValues alloc] init] autorelease];
    NSError *error = nil;
    float wrong = 1;
    [values setConstantValue:&wrong type:MTLDataTypeFloat atIndex:0];
    assert_null([library newFunctionWithName:@"scale" constantValues:values error:&error]);
    assert_error(error, MTLLibraryErrorDomain, MTLLibraryErrorCompileFailure);
    assert_null([library newFunctionWithName:@"absent" constantValues:values error:&error]);
    assert_error(error, MTLLibraryErrorDomain, MTLLibraryErrorFunctionNotFound);
    [library release];
}

static void a_function_lists_its_constants(void **state) {
    id<MTLLibrary> library = new_library(shapes_source);
    id<MTLFunction> function = [library newFunctionWithName:@"scale"];
    NSDictionary *constants = function.functionConstantsDictionary;
    MTLFunctionConstant *factor = [constants objectForKey:@"factor"], *pair = [constants objectForKey:@"pair"];
    assert_int_equal(factor.type, MTLDataTypeInt);
    assert_int_equal(factor.index, 0);
    assert_text(factor.name, "factor");
    assert_true(factor.required);
    assert_int_equal(pair.type, MTLDataTypeFloat2);
    [function release];
    MTLFunctionDescriptor *descriptor = [MTLFunctionDescriptor functionDescriptor];
    MTLFunctionConstantValues *values = [[[MTLFunctionConstantValues alloc] init] autorelease];
    float two[2] = {1, 2};
    [values setConstantValue:two type:MTLDataTypeFloat2 atIndex:4];
    descriptor.name = @"pairs";
    descriptor.specializedName = @"pairs-1-2";
    descriptor.constantValues = values;
    NSError *error = nil;
    function = [library newFunctionWithDescriptor:[[descriptor copy] autorelease] error:&error];
    assert_text(function.label, "pairs-1-2");
    [function release];
    [library release];
}

// ---- Pipelines ----

static void a_pipeline_knows_its_limits(void **state) {
    id<MTLComputePipelineState> pipeline = new_pipeline(shapes_source, "sum");
    assert_int_equal(pipeline.threadExecutionWidth, 32);
    assert_int_equal(pipeline.maxTotalThreadsPerThreadgroup, 1024);
    assert_int_equal(pipeline.staticThreadgroupMemoryLength, 256);
    assert_false(pipeline.supportIndirectCommandBuffers);
    assert_int_equal(pipeline.shaderValidation, MTLShaderValidationDefault);
    assert_int_equal(pipeline.requiredThreadsPerThreadgroup.width, 0);
    assert_int_equal([pipeline imageblockMemoryLengthForDimensions:MTLSizeMake(8, 8, 1)], 0);
    assert_true(pipeline.gpuResourceID._impl != 0);
    assert_int_equal(pipeline.allocatedSize, 0);
    assert_ptr_equal(pipeline.device, device);
    assert_int_equal([pipeline.reflection.bindings count], 3);
    [pipeline release];
}

static void a_descriptor_makes_a_pipeline(void **state) {
    id<MTLLibrary> library = new_library(increment_source);
    MTLComputePipelineDescriptor *descriptor = [[[MTLComputePipelineDescriptor alloc] init] autorelease];
    NSError *error = nil;
    assert_null([device newComputePipelineStateWithDescriptor:descriptor options:0 reflection:NULL error:&error]);
    assert_error(error, MTLLibraryErrorDomain, MTLLibraryErrorFunctionNotFound);
    id<MTLFunction> function = [library newFunctionWithName:@"increment"];
    descriptor.label = @"plus one";
    descriptor.computeFunction = function;
    descriptor.maxTotalThreadsPerThreadgroup = 128;
    descriptor.threadGroupSizeIsMultipleOfThreadExecutionWidth = YES;
    [descriptor.buffers objectAtIndexedSubscript:0].mutability = MTLMutabilityMutable;
    assert_int_equal([descriptor.buffers objectAtIndexedSubscript:0].mutability, MTLMutabilityMutable);
    [descriptor.buffers setObject:nil atIndexedSubscript:0];
    MTLComputePipelineDescriptor *copy = [[descriptor copy] autorelease];
    [descriptor reset];
    assert_null(descriptor.computeFunction);
    MTLComputePipelineReflection *reflection = nil;
    id<MTLComputePipelineState> pipeline = [device newComputePipelineStateWithDescriptor:copy
                                                                                 options:MTLPipelineOptionBindingInfo
                                                                              reflection:&reflection
                                                                                   error:&error];
    assert_text(pipeline.label, "plus one");
    assert_int_equal(pipeline.maxTotalThreadsPerThreadgroup, 128);
    assert_int_equal([reflection.bindings count], 1);
    [pipeline release];
    [function release];
    [library release];
}

static void reflection_tells_what_a_kernel_takes(void **state) {
    id<MTLLibrary> library = new_library(shapes_source);
    id<MTLFunction> function = [library newFunctionWithName:@"sum"];
    MTLComputePipelineReflection *reflection = nil;
    NSError *error = nil;
    id<MTLComputePipelineState> pipeline = [device newComputePipelineStateWithFunction:function
                                                                               options:MTLPipelineOptionArgumentInfo
                                                                            reflection:&reflection
                                                                                 error:&error];
    id<MTLBufferBinding> out = (id<MTLBufferBinding>)[reflection.bindings objectAtIndex:0];
    assert_text(out.name, "out");
    assert_int_equal(out.type, MTLBindingTypeBuffer);
    assert_int_equal(out.index, 2);
    assert_true(out.isUsed && out.isArgument);
    assert_int_equal(out.bufferDataType, MTLDataTypeFloat4);
    assert_int_equal(out.bufferAlignment, 16);
    assert_int_equal(out.bufferDataSize, 16);
    assert_int_equal(out.bufferPointerType.dataType, MTLDataTypePointer);
    assert_int_equal(out.bufferPointerType.elementType, MTLDataTypeFloat4);
    assert_int_equal(out.bufferPointerType.dataSize, 16);
    id<MTLBufferBinding> what = (id<MTLBufferBinding>)[reflection.bindings objectAtIndex:1];
    assert_int_equal(what.access, MTLBindingAccessReadOnly);
    assert_int_equal(what.bufferDataType, MTLDataTypeStruct);
    assert_in_range(what.bufferDataSize, 20, 32);  // with or without its padding
    assert_true([what.bufferStructType.members count] > 0);
    id<MTLThreadgroupBinding> scratch = (id<MTLThreadgroupBinding>)[reflection.bindings objectAtIndex:2];
    assert_int_equal(scratch.type, MTLBindingTypeThreadgroupMemory);
    assert_int_equal(scratch.index, 1);
    assert_int_equal(scratch.threadgroupMemoryAlignment, 4);
    MTLArgument *older = [reflection.arguments objectAtIndex:1];
    assert_text(older.name, "what");
    assert_int_equal(older.type, MTLArgumentTypeBuffer);
    assert_int_equal(older.index, 5);
    assert_int_equal(older.bufferDataSize, what.bufferDataSize);
    assert_int_equal(older.arrayLength, 1);
    assert_true(older.isActive);
    [pipeline release];
    [function release];
    [library release];
}

// ---- Forms with handlers ----

static void libraries_and_pipelines_come_on_other_threads(void **state) {
    dispatch_semaphore_t done = dispatch_semaphore_create(0);
    __block id<MTLLibrary> library = nil;
    [device newLibraryWithSource:[NSString stringWithUTF8String:increment_source]
                         options:nil
               completionHandler:^(id<MTLLibrary> made, NSError *error) {
                 library = [made retain];
                 dispatch_semaphore_signal(done);
               }];
    dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
    assert_non_null(library);
    __block id<MTLFunction> function = nil;
    [library newFunctionWithName:@"increment"
                  constantValues:[[[MTLFunctionConstantValues alloc] init] autorelease]
               completionHandler:^(id<MTLFunction> made, NSError *error) {
                 function = [made retain];
                 dispatch_semaphore_signal(done);
               }];
    dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
    assert_non_null(function);
    __block id<MTLComputePipelineState> pipeline = nil;
    [device newComputePipelineStateWithFunction:function
                              completionHandler:^(id<MTLComputePipelineState> made, NSError *error) {
                                pipeline = [made retain];
                                dispatch_semaphore_signal(done);
                              }];
    dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
    assert_non_null(pipeline);
    __block NSUInteger bindings = 0;
    [device newComputePipelineStateWithFunction:function
                                        options:MTLPipelineOptionBindingInfo
                              completionHandler:^(id<MTLComputePipelineState> made,
                                                  MTLComputePipelineReflection *reflection, NSError *error) {
                                bindings = [reflection.bindings count];
                                dispatch_semaphore_signal(done);
                              }];
    dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
    assert_int_equal(bindings, 1);
    __block NSInteger code = 0;
    [device newLibraryWithSource:@"kernel"
                         options:nil
               completionHandler:^(id<MTLLibrary> made, NSError *error) {
                 code = made ? -1 : [error code];
                 dispatch_semaphore_signal(done);
               }];
    dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
    assert_int_equal(code, MTLLibraryErrorCompileFailure);
    dispatch_release(done);
    [pipeline release];
    [function release];
    [library release];
}

static void archives_remember_and_are_read_again(void **state) {
    NSError *error = nil;
    id<MTLLibrary> library = new_library(increment_source);
    id<MTLFunction> function = [library newFunctionWithName:@"increment"];
    MTLBinaryArchiveDescriptor *descriptor = [[[MTLBinaryArchiveDescriptor alloc] init] autorelease];
    id<MTLBinaryArchive> archive = [device newBinaryArchiveWithDescriptor:descriptor error:&error];
    archive.label = @"archive";
    assert_ptr_equal(archive.device, device);
    MTLComputePipelineDescriptor *pipeline = [[[MTLComputePipelineDescriptor alloc] init] autorelease];
    assert_false([archive addComputePipelineFunctionsWithDescriptor:pipeline error:&error]);
    assert_error(error, MTLBinaryArchiveDomain, MTLBinaryArchiveErrorCompilationFailure);
    pipeline.computeFunction = function;
    assert_true([archive addComputePipelineFunctionsWithDescriptor:pipeline error:&error]);
    MTLFunctionDescriptor *named = [MTLFunctionDescriptor functionDescriptor];
    named.name = @"increment";
    assert_true([archive addFunctionWithDescriptor:named library:library error:&error]);
    NSString *path = temporary_file(@"archive", "", 0);
    assert_true([archive serializeToURL:[NSURL fileURLWithPath:path] error:&error]);
    [archive release];
    descriptor.url = [NSURL fileURLWithPath:path];
    archive = [device newBinaryArchiveWithDescriptor:descriptor error:&error];
    assert_non_null(archive);
    assert_false([archive serializeToURL:[NSURL fileURLWithPath:@"/nowhere/at/all"] error:&error]);
    [archive release];
    path = temporary_file(@"archive", "no archive", 10);
    assert_null([device newBinaryArchiveWithDescriptor:descriptor error:&error]);
    assert_error(error, MTLBinaryArchiveDomain, MTLBinaryArchiveErrorInvalidFile);
    unlink([path UTF8String]);
    [function release];
    [library release];
}

int main(void) {
    const struct CMUnitTest tests[] = {
        compat_test(source_becomes_a_library),
        compat_test(errors_are_nil_where_nothing_went_wrong),
        compat_test(warnings_come_with_the_library),
        compat_test(functions_that_draw_are_no_warnings),
        compat_test(functions_have_their_types),
        compat_test(vertex_functions_have_attributes),
        compat_test(no_pipeline_is_made_of_functions_that_draw),
        compat_test(functions_of_a_metallib_that_draw_are_listed),
        compat_test(errors_of_the_compiler_name_their_place),
        compat_test(options_reach_the_compiler),
        compat_test(files_have_the_math_mode_of_the_environment),
        compat_test(files_and_data_hold_source_text),
        compat_test(a_metallib_is_loaded),
        compat_test(a_library_of_our_own_tools_is_loaded),
        compat_test(a_damaged_metallib_is_refused_with_a_reason),
        compat_test(constants_go_by_index_name_and_range),
        compat_test(vectors_of_three_lie_sixteen_bytes_apart),
        compat_test(constants_that_are_not_set_are_zero),
        compat_test(wrong_constants_are_errors_of_the_function),
        compat_test(a_function_lists_its_constants),
        compat_test(a_pipeline_knows_its_limits),
        compat_test(a_descriptor_makes_a_pipeline),
        compat_test(reflection_tells_what_a_kernel_takes),
        compat_test(libraries_and_pipelines_come_on_other_threads),
        compat_test(archives_remember_and_are_read_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
