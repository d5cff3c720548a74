// SPDX-License-Identifier: Apache-2.0
// A visible function as one pipeline has it.
#ifndef INGOT_METAL_FUNCTION_HANDLE_H
#define INGOT_METAL_FUNCTION_HANDLE_H

#import <Metal/MTLLibrary.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLFunctionHandle <NSObject>
@property (readonly) MTLFunctionType functionType;
@property (readonly) NSString *name;
@property (readonly) id<MTLDevice> device;
@end

NS_ASSUME_NONNULL_END

#endif
