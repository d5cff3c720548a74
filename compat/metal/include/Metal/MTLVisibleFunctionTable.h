// SPDX-License-Identifier: Apache-2.0
// Functions that a kernel calls by number.
#ifndef INGOT_METAL_VISIBLE_FUNCTION_TABLE_H
#define INGOT_METAL_VISIBLE_FUNCTION_TABLE_H

#import <Metal/MTLResource.h>
#import <Metal/MTLTypes.h>

@protocol MTLFunctionHandle;

MTL_EXPORT
@interface MTLVisibleFunctionTableDescriptor : NSObject <NSCopying> {
    NSUInteger _functionCount;
}
+ (MTLVisibleFunctionTableDescriptor *)visibleFunctionTableDescriptor;
@property (nonatomic) NSUInteger functionCount;
@end

@protocol MTLVisibleFunctionTable <MTLResource>
@property (readonly) MTLResourceID gpuResourceID;
- (void)setFunction:(id<MTLFunctionHandle>)function atIndex:(NSUInteger)index;
- (void)setFunctions:(const id<MTLFunctionHandle>[])functions withRange:(NSRange)range;
@end

#endif
