// SPDX-License-Identifier: Apache-2.0
// Visible functions that a kernel may call, by name or through tables.
#ifndef INGOT_METAL_LINKED_FUNCTIONS_H
#define INGOT_METAL_LINKED_FUNCTIONS_H

#import <Metal/MTLDefines.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLFunction;

MTL_EXPORT
@interface MTLLinkedFunctions : NSObject <NSCopying> {
    NSArray *_functions, *_binaryFunctions, *_privateFunctions;
    NSDictionary *_groups;
}
+ (MTLLinkedFunctions *)linkedFunctions;
@property (nullable, readwrite, nonatomic, copy) NSArray<id<MTLFunction>> *functions;
@property (nullable, readwrite, nonatomic, copy) NSArray<id<MTLFunction>> *binaryFunctions;
@property (nullable, readwrite, nonatomic, copy) NSArray<id<MTLFunction>> *privateFunctions;
// Without effect: every linked function can be called from everywhere.
@property (nullable, readwrite, nonatomic, copy) NSDictionary<NSString *, NSArray<id<MTLFunction>> *> *groups;
@end

NS_ASSUME_NONNULL_END

#endif
