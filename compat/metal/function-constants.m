// SPDX-License-Identifier: Apache-2.0
// Function constants: their types and values.
#include <stdlib.h>

#include "library.h"

// Each is followed by the numbers of its vectors of 2 to 4 components.
static const struct {
    MTLDataType data_type;
    ig_type type;
} scalar_types[] = {
    {MTLDataTypeFloat, IG_TYPE_F32}, {MTLDataTypeHalf, IG_TYPE_F16},  {MTLDataTypeInt, IG_TYPE_I32},
    {MTLDataTypeUInt, IG_TYPE_U32},  {MTLDataTypeShort, IG_TYPE_I16}, {MTLDataTypeUShort, IG_TYPE_U16},
    {MTLDataTypeChar, IG_TYPE_I8},   {MTLDataTypeUChar, IG_TYPE_U8},  {MTLDataTypeBool, IG_TYPE_BOOL},
    {MTLDataTypeLong, IG_TYPE_I64},  {MTLDataTypeULong, IG_TYPE_U64}, {MTLDataTypeBFloat, IG_TYPE_BF16},
};
enum { SCALAR_TYPES = sizeof scalar_types / sizeof *scalar_types };

BOOL igi_type_of(MTLDataType data_type, ig_type *type, uint32_t *components) {
    for (size_t i = 0; i < SCALAR_TYPES; i++) {
        if (data_type < scalar_types[i].data_type || data_type > scalar_types[i].data_type + 3) continue;
        *type = scalar_types[i].type;
        *components = (uint32_t)(data_type - scalar_types[i].data_type) + 1;
        return YES;
    }
    return NO;
}

MTLDataType igi_data_type(ig_type type, uint32_t components) {
    for (size_t i = 0; i < SCALAR_TYPES; i++)
        if (scalar_types[i].type == type) return (MTLDataType)(scalar_types[i].data_type + components - 1);
    return MTLDataTypeNone;
}

@implementation MTLFunctionConstant
@synthesize name = _name, type = _type, index = _index, required = _required;

- (id)initWithInfo:(const ig_function_constant_info *)info {
    if (!(self = [super init])) return nil;
    _name = [[NSString alloc] initWithUTF8String:info->name];
    _type = igi_data_type(info->type, info->components);
    _index = info->id;
    _required = YES;
    return self;
}

- (void)dealloc {
    [_name release];
    [super dealloc];
}
@end

// ---- Values ----

@interface IGConstant : NSObject {
   @public
    ig_type type;
    uint32_t components;
    uint64_t value[4];  // large enough for four of the widest
}
@end

@implementation IGConstant
@end

static size_t size_of(ig_type type, uint32_t components) {
    return (size_t)ig_type_size(type) * components;
}

// nil for types that constants cannot have.
static IGConstant *new_constant(const void *value, MTLDataType data_type) {
    ig_type type;
    uint32_t components;
    if (!value || !igi_type_of(data_type, &type, &components)) return nil;
    IGConstant *constant = [[IGConstant alloc] init];
    constant->type = type;
    constant->components = components;
    memcpy(constant->value, value, size_of(type, components));
    return constant;
}

@implementation MTLFunctionConstantValues
- (id)init {
    if (!(self = [super init])) return nil;
    _byIndex = [[NSMutableDictionary alloc] init];
    _byName = [[NSMutableDictionary alloc] init];
    return self;
}

- (void)dealloc {
    [_byIndex release];
    [_byName release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    MTLFunctionConstantValues *copy = [[[self class] allocWithZone:zone] init];
    [copy->_byIndex addEntriesFromDictionary:_byIndex];
    [copy->_byName addEntriesFromDictionary:_byName];
    copy->_mustBeSet = _mustBeSet;
    return copy;
}

- (void)setConstantValue:(const void *)value type:(MTLDataType)type atIndex:(NSUInteger)index {
    igi_ensure_pool();
    IGConstant *constant = new_constant(value, type);
    if (constant) [_byIndex setObject:constant forKey:[NSNumber numberWithUnsignedLong:index]];
    [constant release];
}

- (void)setConstantValues:(const void *)values type:(MTLDataType)type withRange:(NSRange)range {
    ig_type scalar;
    uint32_t components;
    if (!values || !igi_type_of(type, &scalar, &components)) return;
    size_t stride = size_of(scalar, components == 3 ? 4 : components);
    for (NSUInteger i = 0; i < range.length; i++)
        [self setConstantValue:(const char *)values + i * stride type:type atIndex:range.location + i];
}

- (void)setConstantValue:(const void *)value type:(MTLDataType)type withName:(NSString *)name {
    IGConstant *constant = name ? new_constant(value, type) : nil;
    if (constant) [_byName setObject:constant forKey:name];
    [constant release];
}

- (void)reset {
    [_byIndex removeAllObjects];
    [_byName removeAllObjects];
}

- (BOOL)mustBeSet {
    return _mustBeSet;
}

- (void)setMustBeSet {
    _mustBeSet = YES;
}

static void append_constants(NSMutableString *text, NSDictionary *constants) {
    for (id key in [[constants allKeys] sortedArrayUsingSelector:@selector(compare:)]) {
        const IGConstant *constant = [constants objectForKey:key];
        [text appendFormat:@" %@:%d", key, (int)constant->type];
        const unsigned char *bytes = (const unsigned char *)constant->value;
        for (size_t i = 0; i < size_of(constant->type, constant->components); i++)
            [text appendFormat:@"%c%02x", i ? ',' : '=', bytes[i]];
    }
}

- (NSString *)identity {
    igi_ensure_pool();
    NSMutableString *text = [NSMutableString string];
    append_constants(text, _byIndex);
    append_constants(text, _byName);
    return text;
}

- (ig_function_constant *)newConstantsFor:(const ig_library *)library count:(size_t *)count {
    igi_ensure_pool();
    size_t most = ig_library_function_constant_count(library);
    ig_function_constant *constants = calloc(most + 1, sizeof *constants);
    *count = 0;
    for (size_t i = 0; constants && i < most; i++) {
        const ig_function_constant_info *info = ig_library_function_constant(library, i);
        IGConstant *named = [_byName objectForKey:[NSString stringWithUTF8String:info->name]],
                   *constant = named ? named : [_byIndex objectForKey:[NSNumber numberWithUnsignedLong:info->id]];
        if (!constant) continue;
        constants[(*count)++] = (ig_function_constant){.name = named ? info->name : NULL,
                                                       .id = info->id,
                                                       .type = constant->type,
                                                       .value = constant->value,
                                                       .components = constant->components};
    }
    return constants;
}
@end

void igi_metal_constants_must_be_set(MTLFunctionConstantValues *values) {
    [values setMustBeSet];
}
