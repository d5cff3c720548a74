// SPDX-License-Identifier: Apache-2.0
// Values for the function constants of a kernel.
#ifndef INGOT_METAL_FUNCTION_CONSTANT_VALUES_H
#define INGOT_METAL_FUNCTION_CONSTANT_VALUES_H

#import <Metal/MTLDataType.h>

NS_ASSUME_NONNULL_BEGIN

MTL_EXPORT
@interface MTLFunctionConstantValues : NSObject <NSCopying> {
    NSMutableDictionary *_byIndex;
    NSMutableDictionary *_byName;
    BOOL _mustBeSet;
}
- (void)setConstantValue:(const void *)value type:(MTLDataType)type atIndex:(NSUInteger)index;
- (void)setConstantValues:(const void *)values type:(MTLDataType)type withRange:(NSRange)range;
- (void)setConstantValue:(const void *)value type:(MTLDataType)type withName:(NSString *)name;
- (void)reset;
@end

NS_ASSUME_NONNULL_END

#endif
