// SPDX-License-Identifier: Apache-2.0
// Functions that a kernel calls by number.
#ifndef INGOT_METAL_VISIBLE_FUNCTION_TABLE_H
#define INGOT_METAL_VISIBLE_FUNCTION_TABLE_H

#import <Metal/MTLResource.h>
#import <Metal/MTLTypes.h>

NS_ASSUME_NONNULL_BEGIN

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
- (void)setFunction:(nullable id<MTLFunctionHandle>)function atIndex:(NSUInteger)index;
- (void)setFunctions:(const id<MTLFunctionHandle> _Nullable[_Nonnull])functions withRange:(NSRange)range;
@end

NS_ASSUME_NONNULL_END

#endif
