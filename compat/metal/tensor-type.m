// SPDX-License-Identifier: Apache-2.0
// Tensors as kernels declare them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "types.h"

// As they are written in MSL, and as clang describes them.
static const struct {
    const char *name;
    MTLTensorDataType tensor;
    MTLDataType data;
} elements[] = {
    {"float", MTLTensorDataTypeFloat32, MTLDataTypeFloat},
    {"half", MTLTensorDataTypeFloat16, MTLDataTypeHalf},
    {"_Float16", MTLTensorDataTypeFloat16, MTLDataTypeHalf},
    {"bfloat", MTLTensorDataTypeBFloat16, MTLDataTypeBFloat},
    {"__bf16", MTLTensorDataTypeBFloat16, MTLDataTypeBFloat},
    {"char", MTLTensorDataTypeInt8, MTLDataTypeChar},
    {"signed char", MTLTensorDataTypeInt8, MTLDataTypeChar},
    {"uchar", MTLTensorDataTypeUInt8, MTLDataTypeUChar},
    {"unsigned char", MTLTensorDataTypeUInt8, MTLDataTypeUChar},
    {"short", MTLTensorDataTypeInt16, MTLDataTypeShort},
    {"ushort", MTLTensorDataTypeUInt16, MTLDataTypeUShort},
    {"unsigned short", MTLTensorDataTypeUInt16, MTLDataTypeUShort},
    {"int", MTLTensorDataTypeInt32, MTLDataTypeInt},
    {"uint", MTLTensorDataTypeUInt32, MTLDataTypeUInt},
    {"unsigned int", MTLTensorDataTypeUInt32, MTLDataTypeUInt},
    // Of indices only.
    {"long", MTLTensorDataTypeNone, MTLDataTypeLong},
    {"ulong", MTLTensorDataTypeNone, MTLDataTypeULong},
    {"unsigned long", MTLTensorDataTypeNone, MTLDataTypeULong},
};

// Removes a word wherever it is; whether it was there.
static BOOL without(char *text, const char *word) {
    char *at = strstr(text, word);
    if (at) memmove(at, at + strlen(word), strlen(at + strlen(word)) + 1);
    return at != NULL;
}

// The next argument of a template, without spaces around it; where the one after it begins.
static const char *next_argument(const char *text, char argument[64]) {
    text += strspn(text, " ,");
    size_t length = strcspn(text, ",<>");
    snprintf(argument, 64, "%.*s", (int)length, text);
    return text + length;
}

static size_t element_of(const char *name) {
    size_t i = 0, count = sizeof elements / sizeof *elements;
    name += strspn(name, " ");
    while (i < count && strcmp(elements[i].name, name) != 0) i++;
    return i;
}

BOOL igi_is_tensor(const char *text) {
    return strncmp(text, "tensor<", 7) == 0;
}

// "tensor<float const, extents<int, 18446744073709551615ul, 4ul>, tensor_handle>"
igi_mtl_tensor_shape igi_mtl_tensor_shape_of(const char *text) {
    igi_mtl_tensor_shape shape = {.access = MTLBindingAccessReadWrite};
    char name[64];
    text = next_argument(text + strlen("tensor<"), name);
    // Constants are const, and the space is part of a described type.
    if (without(name, "const ") || without(name, " const")) shape.access = MTLBindingAccessReadOnly;
    if (without(name, "__constant ")) shape.access = MTLBindingAccessReadOnly;
    (void)without(name, "__global_device ");
    size_t i = element_of(name);
    if (i < sizeof elements / sizeof *elements) shape.element = elements[i].tensor;
    const char *extents = strstr(text, "extents<");
    if (!extents) return shape;
    text = next_argument(extents + strlen("extents<"), name);
    if ((i = element_of(name)) < sizeof elements / sizeof *elements) shape.index = elements[i].data;
    while (*text == ',' && shape.rank < MTL_TENSOR_MAX_RANK) {
        text = next_argument(text, name);
        unsigned long long size = strtoull(name, NULL, 10);
        shape.sizes[shape.rank++] = size > NSIntegerMax ? -1 : (NSInteger)size;
    }
    return shape;
}

MTLTensorExtents *igi_new_extents(const igi_mtl_tensor_shape *shape) {
    return [[MTLTensorExtents alloc] initWithRank:shape->rank values:shape->sizes];
}

@implementation MTLTensorReferenceType
@synthesize tensorDataType = _tensorDataType, indexType = _indexType, dimensions = _dimensions, access = _access;

- (id)initWithLayout:(igi_layout_range)range {
    if (!(self = [super initWithDataType:MTLDataTypeTensor])) return nil;
    igi_mtl_tensor_shape shape = igi_mtl_tensor_shape_of(range.parts->type);
    _tensorDataType = shape.element;
    _indexType = shape.index;
    _access = shape.access;
    _dimensions = igi_new_extents(&shape);
    return self;
}

- (void)dealloc {
    [_dimensions release];
    [super dealloc];
}
@end
