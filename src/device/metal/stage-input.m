// SPDX-License-Identifier: Apache-2.0
// [[stage_in]]: Ingot's description of attributes as Metal's.
#include "device/metal/metal.h"

// By type, and then by components.
static const MTLAttributeFormat numbers[IG_TYPE_COUNT][4] = {
    [IG_TYPE_I8] = {MTLAttributeFormatChar, MTLAttributeFormatChar2, MTLAttributeFormatChar3, MTLAttributeFormatChar4},
    [IG_TYPE_U8] = {MTLAttributeFormatUChar, MTLAttributeFormatUChar2, MTLAttributeFormatUChar3,
                    MTLAttributeFormatUChar4},
    [IG_TYPE_I16] = {MTLAttributeFormatShort, MTLAttributeFormatShort2, MTLAttributeFormatShort3,
                     MTLAttributeFormatShort4},
    [IG_TYPE_U16] = {MTLAttributeFormatUShort, MTLAttributeFormatUShort2, MTLAttributeFormatUShort3,
                     MTLAttributeFormatUShort4},
    [IG_TYPE_I32] = {MTLAttributeFormatInt, MTLAttributeFormatInt2, MTLAttributeFormatInt3, MTLAttributeFormatInt4},
    [IG_TYPE_U32] = {MTLAttributeFormatUInt, MTLAttributeFormatUInt2, MTLAttributeFormatUInt3, MTLAttributeFormatUInt4},
    [IG_TYPE_F16] = {MTLAttributeFormatHalf, MTLAttributeFormatHalf2, MTLAttributeFormatHalf3, MTLAttributeFormatHalf4},
    [IG_TYPE_F32] = {MTLAttributeFormatFloat, MTLAttributeFormatFloat2, MTLAttributeFormatFloat3,
                     MTLAttributeFormatFloat4},
};
static const MTLAttributeFormat normalized[IG_TYPE_COUNT][4] = {
    [IG_TYPE_I8] = {MTLAttributeFormatCharNormalized, MTLAttributeFormatChar2Normalized,
                    MTLAttributeFormatChar3Normalized, MTLAttributeFormatChar4Normalized},
    [IG_TYPE_U8] = {MTLAttributeFormatUCharNormalized, MTLAttributeFormatUChar2Normalized,
                    MTLAttributeFormatUChar3Normalized, MTLAttributeFormatUChar4Normalized},
    [IG_TYPE_I16] = {MTLAttributeFormatShortNormalized, MTLAttributeFormatShort2Normalized,
                     MTLAttributeFormatShort3Normalized, MTLAttributeFormatShort4Normalized},
    [IG_TYPE_U16] = {MTLAttributeFormatUShortNormalized, MTLAttributeFormatUShort2Normalized,
                     MTLAttributeFormatUShort3Normalized, MTLAttributeFormatUShort4Normalized},
};
static const MTLAttributeFormat packed[] = {[IG_PACKING_RGB10A2_UNORM] = MTLAttributeFormatUInt1010102Normalized,
                                            [IG_PACKING_RGB10A2_SNORM] = MTLAttributeFormatInt1010102Normalized,
                                            [IG_PACKING_BGRA8_UNORM] = MTLAttributeFormatUChar4Normalized_BGRA,
                                            [IG_PACKING_RG11B10_FLOAT] = MTLAttributeFormatFloatRG11B10,
                                            [IG_PACKING_RGB9E5_FLOAT] = MTLAttributeFormatFloatRGB9E5};
static const MTLStepFunction steps[] = {[IG_STEP_GRID_X] = MTLStepFunctionThreadPositionInGridX,
                                        [IG_STEP_GRID_Y] = MTLStepFunctionThreadPositionInGridY,
                                        [IG_STEP_GRID_X_INDEXED] = MTLStepFunctionThreadPositionInGridXIndexed,
                                        [IG_STEP_GRID_Y_INDEXED] = MTLStepFunctionThreadPositionInGridYIndexed,
                                        [IG_STEP_CONSTANT] = MTLStepFunctionConstant};

static MTLAttributeFormat format_of(const ig_stage_attribute *a) {
    if (a->packing) return packed[a->packing];
    return (a->normalized ? normalized : numbers)[a->type][a->components - 1];
}

MTLStageInputOutputDescriptor *igi_metal_stage_input(const ig_stage_input *input) {
    MTLStageInputOutputDescriptor *made = [MTLStageInputOutputDescriptor stageInputOutputDescriptor];
    for (size_t i = 0; i < input->attribute_count; i++) {
        MTLAttributeDescriptor *attribute = [made.attributes objectAtIndexedSubscript:input->attributes[i].index];
        attribute.format = format_of(&input->attributes[i]);
        attribute.offset = input->attributes[i].offset;
        attribute.bufferIndex = input->attributes[i].buffer;
    }
    for (size_t i = 0; i < input->layout_count; i++) {
        const ig_stage_layout *given = &input->layouts[i];
        MTLBufferLayoutDescriptor *layout = [made.layouts objectAtIndexedSubscript:given->buffer];
        layout.stride = given->stride == IG_STRIDE_DYNAMIC ? MTLBufferLayoutStrideDynamic : given->stride;
        layout.stepFunction = steps[given->step];
        layout.stepRate = given->step == IG_STEP_CONSTANT ? 0 : given->rate ? given->rate : 1;
    }
    made.indexBufferIndex = input->index_buffer;
    made.indexType = input->index_type == IG_TYPE_U32 ? MTLIndexTypeUInt32 : MTLIndexTypeUInt16;
    return made;
}
