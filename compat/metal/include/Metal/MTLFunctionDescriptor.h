// SPDX-License-Identifier: Apache-2.0
// Selects a function of a library, and its constants.
#ifndef INGOT_METAL_FUNCTION_DESCRIPTOR_H
#define INGOT_METAL_FUNCTION_DESCRIPTOR_H

#import <Metal/MTLFunctionConstantValues.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLBinaryArchive;

typedef NS_OPTIONS(NSUInteger, MTLFunctionOptions) {
    MTLFunctionOptionNone = 0,
    MTLFunctionOptionCompileToBinary = 1,
    MTLFunctionOptionStoreFunctionInMetalPipelinesScript = 2,
};

MTL_EXPORT
@interface MTLFunctionDescriptor : NSObject <NSCopying> {
    NSString *_name, *_specializedName;
    MTLFunctionConstantValues *_constantValues;
    MTLFunctionOptions _options;
    NSArray *_binaryArchives;
}
+ (MTLFunctionDescriptor *)functionDescriptor;
@property (nullable, copy, nonatomic) NSString *name;
@property (nullable, copy, nonatomic) NSString *specializedName;
@property (nullable, copy, nonatomic) MTLFunctionConstantValues *constantValues;
@property (nonatomic) MTLFunctionOptions options;
@property (nullable, copy, nonatomic) NSArray<id<MTLBinaryArchive>> *binaryArchives;
@end

NS_ASSUME_NONNULL_END

#endif
