// SPDX-License-Identifier: Apache-2.0
// What shader validation found in the functions of a command buffer.
#ifndef INGOT_METAL_FUNCTION_LOG_H
#define INGOT_METAL_FUNCTION_LOG_H

#import <Metal/MTLDefines.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLFunction;

typedef NS_ENUM(NSUInteger, MTLFunctionLogType) {
    MTLFunctionLogTypeValidation = 0,
};

// Of MTLFunctionLog.
@protocol MTLLogContainer <NSFastEnumeration>
@end

@protocol MTLFunctionLogDebugLocation <NSObject>
@property (nullable, readonly, nonatomic) NSString *functionName;
@property (nullable, readonly, nonatomic) NSURL *URL;  // nil for text that was given without a name
@property (readonly, nonatomic) NSUInteger line;
@property (readonly, nonatomic) NSUInteger column;
@end

// Its description is a sentence about what happened.
@protocol MTLFunctionLog <NSObject>
@property (readonly, nonatomic) MTLFunctionLogType type;
@property (nullable, readonly, nonatomic) NSString *encoderLabel;                         // nil
@property (nullable, readonly, nonatomic) id<MTLFunction> function;                       // nil
@property (nullable, readonly, nonatomic) id<MTLFunctionLogDebugLocation> debugLocation;  // nil: not known
@end

NS_ASSUME_NONNULL_END

#endif
