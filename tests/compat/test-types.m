// SPDX-License-Identifier: Apache-2.0
// Struct and array reflection, and argument encoders made from it.
#include <string.h>

#include "helpers.h"

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "enum { sum_id = 3 };\n"
    "struct Inner { float3 a; half2 h[3]; };\n"
    "struct Params { uint n; float4x4 m; Inner list[2]; packed_float3 p; bool flag; };\n"
    "struct Leaf { device uint *words [[id(0)]]; uint add [[id(1)]]; };\n"
    "struct Arguments {\n"
    "    texture2d<half, access::write> image [[id(8)]];\n"
    "    device uint *sum [[id(sum_id)]];\n"
    "    uint factor [[id(0)]];\n"
    "    array<device uint *, 2> parts [[id(1)]];\n"
    "    device Leaf *leaf [[id(9)]];\n"
    "    Leaf nested [[id(4)]];\n"
    "};\n"
    "kernel void total(device Arguments &arguments [[buffer(0)]], constant Params &params [[buffer(1)]],\n"
    "                  device const float2x3 *matrices [[buffer(2)]]) {\n"
    "    *arguments.sum = arguments.factor * (*arguments.parts[0] + *arguments.parts[1]) +\n"
    "        *arguments.leaf->words + arguments.leaf->add + *arguments.nested.words + arguments.nested.add + "
    "params.n;\n"
    "}\n";

static id<MTLBufferBinding> buffer_binding(id<MTLComputePipelineState> pipeline, NSUInteger index) {
    for (id<MTLBinding> binding in pipeline.reflection.bindings)
        if (binding.type == MTLBindingTypeBuffer && binding.index == index) return (id<MTLBufferBinding>)binding;
    return nil;
}

static void members_have_names_offsets_and_types(void **state) {
    id<MTLComputePipelineState> pipeline = new_pipeline(source, "total");
    id<MTLBufferBinding> binding = buffer_binding(pipeline, 1);
    assert_int_equal(binding.bufferDataType, MTLDataTypeStruct);
    assert_int_equal(binding.bufferAlignment, 16);
    MTLStructType *params = binding.bufferStructType;
    assert_int_equal([params.members count], 5);
    static const struct {
        const char *name;
        NSUInteger offset;
        MTLDataType type;
    } expected[] = {
        {"n", 0, MTLDataTypeUInt},     {"m", 16, MTLDataTypeFloat4x4}, {"list", 80, MTLDataTypeArray},
        {"p", 144, MTLDataTypeFloat3}, {"flag", 156, MTLDataTypeBool},
    };
    for (size_t i = 0; i < 5; i++) {
        MTLStructMember *member = [params.members objectAtIndex:i];
        assert_text(member.name, expected[i].name);
        assert_int_equal(member.offset, expected[i].offset);
        assert_int_equal(member.dataType, expected[i].type);
        assert_ptr_equal([params memberByName:member.name], member);
    }
    MTLArrayType *list = [params memberByName:@"list"].arrayType;
    assert_int_equal(list.arrayLength, 2);
    assert_int_equal(list.stride, 32);
    assert_int_equal(list.elementType, MTLDataTypeStruct);
    assert_null(list.elementArrayType);
    MTLArrayType *halves = [list.elementStructType memberByName:@"h"].arrayType;
    assert_int_equal(halves.elementType, MTLDataTypeHalf2);
    assert_int_equal(halves.arrayLength, 3);
    assert_null([params memberByName:@"other"]);
    assert_int_equal(buffer_binding(pipeline, 2).bufferDataType, MTLDataTypeFloat2x3);
    assert_null(buffer_binding(pipeline, 2).bufferStructType);
    assert_int_equal(buffer_binding(pipeline, 2).bufferPointerType.elementType, MTLDataTypeFloat2x3);
    [pipeline release];
}

static void argument_buffers_are_described(void **state) {
    id<MTLComputePipelineState> pipeline = new_pipeline(source, "total");
    id<MTLBufferBinding> binding = buffer_binding(pipeline, 0);
    MTLStructType *arguments = binding.bufferStructType;
    assert_true(binding.bufferPointerType.elementIsArgumentBuffer);
    assert_false(buffer_binding(pipeline, 1).bufferPointerType.elementIsArgumentBuffer);
    MTLTextureReferenceType *image = [arguments memberByName:@"image"].textureReferenceType;
    assert_int_equal(image.textureType, MTLTextureType2D);
    assert_int_equal(image.textureDataType, MTLDataTypeHalf);
    assert_int_equal(image.access, MTLBindingAccessWriteOnly);
    assert_int_equal([arguments memberByName:@"image"].argumentIndex, 8);
    assert_int_equal([arguments memberByName:@"sum"].argumentIndex, 3);
    MTLArrayType *parts = [arguments memberByName:@"parts"].arrayType;
    assert_int_equal(parts.argumentIndexStride, 1);
    assert_int_equal(parts.elementPointerType.elementType, MTLDataTypeUInt);
    MTLPointerType *leaf = [arguments memberByName:@"leaf"].pointerType;
    assert_int_equal(leaf.dataSize, 16);
    assert_int_equal([leaf.elementStructType.members count], 2);
    MTLArgument *older = [pipeline.reflection.arguments objectAtIndex:0];
    assert_ptr_equal(older.bufferStructType, arguments);
    [pipeline release];
}

static id<MTLBuffer> new_word(uint32_t value) {
    id<MTLBuffer> word = new_words(1);
    words_of(word)[0] = value;
    return word;
}

// 7 * (1 + 2) + (30 + 400) + (5000 + 60000) + n
static void fill(id<MTLArgumentEncoder> encoder, id<MTLBuffer> memory, const id<MTLBuffer> *words) {
    id<MTLArgumentEncoder> inner = [encoder newArgumentEncoderForBufferAtIndex:9];
    assert_non_null(inner);
    assert_null([encoder newArgumentEncoderForBufferAtIndex:3]);
    assert_int_equal(inner.encodedLength, 16);
    [inner setArgumentBuffer:words[4] offset:0];
    [inner setBuffer:words[2] offset:0 atIndex:0];
    *(uint32_t *)[inner constantDataAtIndex:1] = 400;
    [inner release];
    [encoder setArgumentBuffer:memory offset:0];
    *(uint32_t *)[encoder constantDataAtIndex:0] = 7;
    [encoder setBuffers:words offsets:(NSUInteger[]){0, 0} withRange:NSMakeRange(1, 2)];
    [encoder setBuffer:words[5] offset:0 atIndex:3];
    [encoder setBuffer:words[4] offset:0 atIndex:9];
    [encoder setBuffer:words[3] offset:0 atIndex:4];
    *(uint32_t *)[encoder constantDataAtIndex:5] = 60000;
    assert_null([encoder constantDataAtIndex:3]);
    assert_null([encoder constantDataAtIndex:77]);
}

static uint32_t total_with(id<MTLComputePipelineState> pipeline, id<MTLArgumentEncoder> encoder) {
    id<MTLBuffer> words[] = {new_word(1), new_word(2), new_word(30), new_word(5000), new_words(4), new_word(0)};
    id<MTLBuffer> memory = [device newBufferWithLength:encoder.encodedLength options:MTLResourceStorageModeShared];
    fill(encoder, memory, words);
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> compute = [commands computeCommandEncoder];
    char params[176] = {9};
    [compute setComputePipelineState:pipeline];
    [compute setBuffer:memory offset:0 atIndex:0];
    [compute setBytes:params length:sizeof params atIndex:1];
    for (size_t i = 0; i < 6; i++) [compute useResource:words[i] usage:MTLResourceUsageRead | MTLResourceUsageWrite];
    [compute dispatchThreads:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
    [compute endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    assert_int_equal(commands.status, MTLCommandBufferStatusCompleted);
    uint32_t total = words_of(words[5])[0];
    [queue release];
    [memory release];
    for (size_t i = 0; i < 6; i++) [words[i] release];
    return total;
}

static void an_encoder_of_a_function_fills_its_struct(void **state) {
    id<MTLLibrary> library = new_library(source);
    id<MTLFunction> function = [library newFunctionWithName:@"total"];
    id<MTLComputePipelineState> pipeline = [device newComputePipelineStateWithFunction:function error:NULL];
    MTLAutoreleasedArgument argument = nil;
    id<MTLArgumentEncoder> encoder = [function newArgumentEncoderWithBufferIndex:0 reflection:&argument];
    assert_text(argument.name, "arguments");
    assert_int_equal(encoder.encodedLength, 64);
    assert_int_equal(encoder.alignment, 8);
    assert_int_equal(total_with(pipeline, encoder), 7 * 3 + 430 + 65000 + 9);
    id<MTLArgumentEncoder> bound = [device newArgumentEncoderWithBufferBinding:buffer_binding(pipeline, 0)];
    assert_int_equal(total_with(pipeline, bound), 7 * 3 + 430 + 65000 + 9);
    assert_null([function newArgumentEncoderWithBufferIndex:2]);  // no struct
    assert_null([function newArgumentEncoderWithBufferIndex:5]);  // no buffer
    [bound release];
    [encoder release];
    [pipeline release];
    [function release];
    [library release];
}

int main(void) {
    const struct CMUnitTest tests[] = {
        compat_test(members_have_names_offsets_and_types),
        compat_test(argument_buffers_are_described),
        compat_test(an_encoder_of_a_function_fills_its_struct),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
