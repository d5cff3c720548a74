// SPDX-License-Identifier: Apache-2.0
// What shader validation found in the functions of a command buffer.
#ifndef INGOT_METAL_FUNCTION_LOG_H
#define INGOT_METAL_FUNCTION_LOG_H

#import <Metal/MTLDefines.h>

@protocol MTLFunction;

typedef NS_ENUM(NSUInteger, MTLFunctionLogType) {
    MTLFunctionLogTypeValidation = 0,
};

// Of MTLFunctionLog.
@protocol MTLLogContainer <NSFastEnumeration>
@end

@protocol MTLFunctionLogDebugLocation <NSObject>
@property (readonly, nonatomic) NSString *functionName;
@property (readonly, nonatomic) NSURL *URL;  // nil for text that was given without a name
@property (readonly, nonatomic) NSUInteger line;
@property (readonly, nonatomic) NSUInteger column;
@end

// Its description is a sentence about what happened.
@protocol MTLFunctionLog <NSObject>
@property (readonly, nonatomic) MTLFunctionLogType type;
@property (readonly, nonatomic) NSString *encoderLabel;                         // nil
@property (readonly, nonatomic) id<MTLFunction> function;                       // nil
@property (readonly, nonatomic) id<MTLFunctionLogDebugLocation> debugLocation;  // nil: not known
@end

#endif
