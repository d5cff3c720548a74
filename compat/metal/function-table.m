// SPDX-License-Identifier: Apache-2.0
#include "function-table.h"

#include "resource.h"

@implementation MTLLinkedFunctions
@synthesize functions = _functions, binaryFunctions = _binaryFunctions, privateFunctions = _privateFunctions,
            groups = _groups;

+ (MTLLinkedFunctions *)linkedFunctions {
    return igi_autoreleased([[self alloc] init]);
}

- (void)dealloc {
    [_functions release];
    [_binaryFunctions release];
    [_privateFunctions release];
    [_groups release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    MTLLinkedFunctions *copy = [[[self class] allocWithZone:zone] init];
    copy.functions = _functions;
    copy.binaryFunctions = _binaryFunctions;
    copy.privateFunctions = _privateFunctions;
    copy.groups = _groups;
    return copy;
}

- (NSArray *)all {
    NSMutableArray *all = [[NSMutableArray alloc] init];
    if (_functions) [all addObjectsFromArray:_functions];
    if (_binaryFunctions) [all addObjectsFromArray:_binaryFunctions];
    if (_privateFunctions) [all addObjectsFromArray:_privateFunctions];
    return igi_autoreleased(all);
}
@end

@implementation MTLVisibleFunctionTableDescriptor
@synthesize functionCount = _functionCount;

+ (MTLVisibleFunctionTableDescriptor *)visibleFunctionTableDescriptor {
    return igi_autoreleased([[self alloc] init]);
}

- (id)copyWithZone:(NSZone *)zone {
    MTLVisibleFunctionTableDescriptor *copy = [[[self class] allocWithZone:zone] init];
    copy.functionCount = _functionCount;
    return copy;
}
@end

// ---- Handles ----

@implementation IGFunctionHandle
- (id)initWithPipeline:(IGPipeline *)pipeline name:(NSString *)name {
    if (!(self = [super init])) return nil;
    _pipeline = [pipeline retain];
    _name = [name copy];
    return self;
}

- (void)dealloc {
    [_pipeline release];
    [_name release];
    [super dealloc];
}

- (MTLFunctionType)functionType {
    return MTLFunctionTypeVisible;
}

- (NSString *)name {
    return _name;
}

- (id<MTLDevice>)device {
    return [_pipeline device];
}
@end

// ---- Tables ----

@implementation IGVisibleFunctionTable
- (id)initWithPipeline:(IGPipeline *)pipeline count:(NSUInteger)count {
    MTLResourceOptions options = MTLResourceStorageModePrivate | MTLResourceHazardTrackingModeUntracked;
    if (!(self = [super initWithDevice:(IGDevice *)[pipeline device] options:options])) return nil;
    _pipeline = [pipeline retain];
    if (count <= UINT32_MAX && ig_function_table_create(pipeline->_pipeline, (uint32_t)count, &_table) == IG_STATUS_OK)
        return self;
    [self release];
    return nil;
}

- (void)dealloc {
    ig_function_table_release(_table);
    [_pipeline release];
    [super dealloc];
}

// A handle of another pipeline, or an index too high, changes nothing.
- (void)setFunction:(id<MTLFunctionHandle>)function atIndex:(NSUInteger)index {
    if (index < ig_function_table_count(_table))
        (void)ig_function_table_set(_table, (uint32_t)index, igi_text(function.name));
}

- (void)setFunctions:(const id<MTLFunctionHandle>[])functions withRange:(NSRange)range {
    for (NSUInteger i = 0; i < range.length; i++) [self setFunction:functions[i] atIndex:range.location + i];
}

- (MTLResourceID)gpuResourceID {
    return (MTLResourceID){ig_function_table_device_address(_table)};
}

// ---- Resource ----

- (NSUInteger)allocatedSize {
    return ((NSUInteger)ig_function_table_count(_table) + 1) * sizeof(uint64_t);
}
@end
