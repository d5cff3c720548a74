// SPDX-License-Identifier: Apache-2.0
// Descriptors of a function's inputs, and what they mean for a pipeline.
#include "stage-input.h"

#include "types.h"

@implementation MTLAttributeDescriptor
@synthesize format = _format, offset = _offset, bufferIndex = _bufferIndex;

- (id)copyWithZone:(NSZone *)zone {
    MTLAttributeDescriptor *copy = [[[self class] allocWithZone:zone] init];
    copy.format = _format;
    copy.offset = _offset;
    copy.bufferIndex = _bufferIndex;
    return copy;
}
@end

@implementation MTLBufferLayoutDescriptor
@synthesize stride = _stride, stepFunction = _stepFunction, stepRate = _stepRate;

- (id)init {
    if (!(self = [super init])) return nil;
    _stepFunction = MTLStepFunctionPerVertex;
    _stepRate = 1;
    return self;
}

- (id)copyWithZone:(NSZone *)zone {
    MTLBufferLayoutDescriptor *copy = [[[self class] allocWithZone:zone] init];
    copy.stride = _stride;
    copy.stepFunction = _stepFunction;
    copy.stepRate = _stepRate;
    return copy;
}
@end

@implementation MTLAttributeDescriptorArray
- (MTLAttributeDescriptor *)objectAtIndexedSubscript:(NSUInteger)index {
    return igi_element(&_descriptors, index, [MTLAttributeDescriptor class]);
}

- (void)setObject:(MTLAttributeDescriptor *)attributeDesc atIndexedSubscript:(NSUInteger)index {
    igi_set_element(&_descriptors, index, attributeDesc);
}

- (void)dealloc {
    [_descriptors release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    MTLAttributeDescriptorArray *copy = [[[self class] allocWithZone:zone] init];
    copy->_descriptors = igi_copy_elements(_descriptors);
    return copy;
}
@end

@implementation MTLBufferLayoutDescriptorArray
- (MTLBufferLayoutDescriptor *)objectAtIndexedSubscript:(NSUInteger)index {
    return igi_element(&_descriptors, index, [MTLBufferLayoutDescriptor class]);
}

- (void)setObject:(MTLBufferLayoutDescriptor *)bufferDesc atIndexedSubscript:(NSUInteger)index {
    igi_set_element(&_descriptors, index, bufferDesc);
}

- (void)dealloc {
    [_descriptors release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    MTLBufferLayoutDescriptorArray *copy = [[[self class] allocWithZone:zone] init];
    copy->_descriptors = igi_copy_elements(_descriptors);
    return copy;
}
@end

@implementation MTLStageInputOutputDescriptor
@synthesize layouts = _layouts, attributes = _attributes, indexType = _indexType, indexBufferIndex = _indexBufferIndex;

+ (MTLStageInputOutputDescriptor *)stageInputOutputDescriptor {
    return igi_autoreleased([[self alloc] init]);
}

- (id)init {
    if ((self = [super init])) [self reset];
    return self;
}

- (void)reset {
    [_layouts release];
    [_attributes release];
    _layouts = [[MTLBufferLayoutDescriptorArray alloc] init];
    _attributes = [[MTLAttributeDescriptorArray alloc] init];
    _indexType = MTLIndexTypeUInt16;
    _indexBufferIndex = 0;
}

- (void)dealloc {
    [_layouts release];
    [_attributes release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    MTLStageInputOutputDescriptor *copy = [[[self class] allocWithZone:zone] init];
    [copy->_layouts release];
    [copy->_attributes release];
    copy->_layouts = [_layouts copy];
    copy->_attributes = [_attributes copy];
    copy->_indexType = _indexType;
    copy->_indexBufferIndex = _indexBufferIndex;
    return copy;
}
@end

// ---- Attributes of a kernel ----

@implementation MTLAttribute
@synthesize name = _name, attributeIndex = _attributeIndex, attributeType = _attributeType;

- (id)initWithArgument:(const ig_argument *)argument {
    if (!(self = [super init])) return nil;
    _name = [[NSString alloc] initWithUTF8String:argument->name];
    _attributeIndex = argument->index;
    _attributeType = igi_element_type(argument->type);
    return self;
}

- (void)dealloc {
    [_name release];
    [super dealloc];
}

- (BOOL)isActive {
    return YES;
}

- (BOOL)isPatchData {
    return NO;
}

- (BOOL)isPatchControlPointData {
    return NO;
}
@end

@implementation MTLVertexAttribute
@end

BOOL igi_has_stage_input(const ig_kernel_info *kernel) {
    for (size_t i = 0; i < kernel->argument_count; i++)
        if (kernel->arguments[i].kind == IG_ARGUMENT_STAGE_INPUT) return YES;
    return NO;
}

NSArray *igi_stage_input_attributes(const ig_kernel_info *kernel, Class class) {
    igi_ensure_pool();
    NSMutableArray *attributes = [NSMutableArray array];
    for (size_t i = 0; i < kernel->argument_count; i++) {
        if (kernel->arguments[i].kind != IG_ARGUMENT_STAGE_INPUT) continue;
        MTLAttribute *attribute = [[class alloc] initWithArgument:&kernel->arguments[i]];
        [attributes addObject:attribute];
        [attribute release];
    }
    return [attributes count] ? attributes : nil;
}

// ---- For a pipeline ----

typedef struct format {
    ig_type type;
    uint8_t components;
    bool normalized;
    ig_attribute_packing packing;
} format;

#define VECTORS(name, type, normal)                                                         \
    [MTLAttributeFormat##name##2##normal] = {type, 2, sizeof #normal > 1, IG_PACKING_NONE}, \
    [MTLAttributeFormat##name##3##normal] = {type, 3, sizeof #normal > 1, IG_PACKING_NONE}, \
    [MTLAttributeFormat##name##4##normal] = {type, 4, sizeof #normal > 1, IG_PACKING_NONE}, \
    [MTLAttributeFormat##name##normal] = {type, 1, sizeof #normal > 1, IG_PACKING_NONE}
static const format formats[] = {
    VECTORS(UChar, IG_TYPE_U8, ),
    VECTORS(Char, IG_TYPE_I8, ),
    VECTORS(UShort, IG_TYPE_U16, ),
    VECTORS(Short, IG_TYPE_I16, ),
    VECTORS(UInt, IG_TYPE_U32, ),
    VECTORS(Int, IG_TYPE_I32, ),
    VECTORS(Half, IG_TYPE_F16, ),
    VECTORS(Float, IG_TYPE_F32, ),
    VECTORS(UChar, IG_TYPE_U8, Normalized),
    VECTORS(Char, IG_TYPE_I8, Normalized),
    VECTORS(UShort, IG_TYPE_U16, Normalized),
    VECTORS(Short, IG_TYPE_I16, Normalized),
    [MTLAttributeFormatInt1010102Normalized] = {.packing = IG_PACKING_RGB10A2_SNORM},
    [MTLAttributeFormatUInt1010102Normalized] = {.packing = IG_PACKING_RGB10A2_UNORM},
    [MTLAttributeFormatUChar4Normalized_BGRA] = {.packing = IG_PACKING_BGRA8_UNORM},
    [MTLAttributeFormatFloatRG11B10] = {.packing = IG_PACKING_RG11B10_FLOAT},
    [MTLAttributeFormatFloatRGB9E5] = {.packing = IG_PACKING_RGB9E5_FLOAT},
};
#undef VECTORS

static BOOL read_attribute(MTLAttributeDescriptor *given, const ig_argument *argument, ig_stage_attribute *attribute) {
    format f = given.format < sizeof formats / sizeof *formats ? formats[given.format] : (format){0};
    *attribute = (ig_stage_attribute){.index = argument->index,
                                      .type = f.type,
                                      .components = f.components,
                                      .normalized = f.normalized,
                                      .packing = f.packing,
                                      .offset = (uint32_t)given.offset,
                                      .buffer = (uint32_t)given.bufferIndex};
    return (f.components || f.packing) && given.offset <= UINT32_MAX && given.bufferIndex <= UINT32_MAX;
}

static BOOL read_layout(MTLBufferLayoutDescriptor *given, NSUInteger buffer, ig_stage_layout *layout) {
    static const ig_step steps[] = {[MTLStepFunctionConstant] = IG_STEP_CONSTANT,
                                    [MTLStepFunctionThreadPositionInGridX] = IG_STEP_GRID_X,
                                    [MTLStepFunctionThreadPositionInGridY] = IG_STEP_GRID_Y,
                                    [MTLStepFunctionThreadPositionInGridXIndexed] = IG_STEP_GRID_X_INDEXED,
                                    [MTLStepFunctionThreadPositionInGridYIndexed] = IG_STEP_GRID_Y_INDEXED};
    MTLStepFunction step = given.stepFunction;
    bool of_grid = step >= MTLStepFunctionThreadPositionInGridX && step <= MTLStepFunctionThreadPositionInGridYIndexed;
    BOOL dynamic = given.stride == MTLBufferLayoutStrideDynamic;
    if ((!of_grid && step != MTLStepFunctionConstant) || (!dynamic && given.stride >= UINT32_MAX)) return NO;
    uint32_t stride = dynamic ? IG_STRIDE_DYNAMIC : (uint32_t)given.stride;
    *layout = (ig_stage_layout){(uint32_t)buffer, stride, steps[step], (uint32_t)given.stepRate};
    return YES;
}

static ig_stage_input *refuse_input(ig_stage_input *input, NSError **error, const char *name, const char *what) {
    free(input);
    igi_refuse(
        error, MTLLibraryErrorDomain, MTLLibraryErrorCompileFailure,
        [NSString stringWithFormat:@"stageInputDescriptor: %s of attribute '%s' is none that kernels can have here",
                                   what, name]);
    return NULL;
}

ig_stage_input *igi_new_stage_input(MTLStageInputOutputDescriptor *descriptor, const ig_kernel_info *kernel,
                                    NSError **error) {
    if (!descriptor || !igi_has_stage_input(kernel)) return NULL;
    size_t most = kernel->argument_count;
    ig_stage_input *input = calloc(1, sizeof *input + most * (sizeof *input->attributes + sizeof *input->layouts));
    if (!input) return NULL;
    ig_stage_attribute *attributes = (ig_stage_attribute *)(input + 1);
    ig_stage_layout *layouts = (ig_stage_layout *)(attributes + most);
    *input = (ig_stage_input){.attributes = attributes,
                              .layouts = layouts,
                              .index_buffer = (uint32_t)descriptor.indexBufferIndex,
                              .index_type = descriptor.indexType == MTLIndexTypeUInt32 ? IG_TYPE_U32 : IG_TYPE_U16};
    for (size_t i = 0; i < most; i++) {
        const ig_argument *argument = &kernel->arguments[i];
        if (argument->kind != IG_ARGUMENT_STAGE_INPUT) continue;
        MTLAttributeDescriptor *given = [descriptor.attributes objectAtIndexedSubscript:argument->index];
        if (!read_attribute(given, argument, &attributes[input->attribute_count++]))
            return refuse_input(input, error, argument->name, "the format");
        MTLBufferLayoutDescriptor *layout = [descriptor.layouts objectAtIndexedSubscript:given.bufferIndex];
        if (!read_layout(layout, given.bufferIndex, &layouts[input->layout_count++]))
            return refuse_input(input, error, argument->name, "the step function or stride of the layout");
    }
    return input;
}
