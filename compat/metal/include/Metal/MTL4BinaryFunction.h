// SPDX-License-Identifier: Apache-2.0
// Metal 4: functions that are compiled before the pipelines that call them through tables.
#ifndef INGOT_METAL_MTL4_BINARY_FUNCTION_H
#define INGOT_METAL_MTL4_BINARY_FUNCTION_H

#import <Metal/MTLLibrary.h>

NS_ASSUME_NONNULL_BEGIN

@class MTL4FunctionDescriptor;

typedef NS_OPTIONS(NSUInteger, MTL4BinaryFunctionOptions) {
    MTL4BinaryFunctionOptionNone = 0,
    MTL4BinaryFunctionOptionPipelineIndependent = 1 << 1,
};

MTL_EXPORT
@interface MTL4BinaryFunctionDescriptor : NSObject <NSCopying> {
    NSString *_name;
    MTL4FunctionDescriptor *_functionDescriptor;
    MTL4BinaryFunctionOptions _options;
}
@property (nonatomic, copy) NSString *name;
@property (nonatomic, copy) MTL4FunctionDescriptor *functionDescriptor;
@property (nonatomic) MTL4BinaryFunctionOptions options;
@end

@protocol MTL4BinaryFunction <NSObject>
@property (nullable, readonly) NSString *name;
@property (readonly) MTLFunctionType functionType;
@end

NS_ASSUME_NONNULL_END

#endif
