// SPDX-License-Identifier: Apache-2.0
// Metal 4: arguments of kernels. A dispatch uses what the table holds when it is encoded.
#ifndef INGOT_METAL_MTL4_ARGUMENT_TABLE_H
#define INGOT_METAL_MTL4_ARGUMENT_TABLE_H

#import <Metal/MTLTypes.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLDevice;

MTL_EXPORT
@interface MTL4ArgumentTableDescriptor : NSObject <NSCopying> {
    NSUInteger _maxBufferBindCount, _maxTextureBindCount, _maxSamplerStateBindCount;
    BOOL _initializeBindings, _supportAttributeStrides;
    NSString *_label;
}
@property (nonatomic) NSUInteger maxBufferBindCount;
@property (nonatomic) NSUInteger maxTextureBindCount;
@property (nonatomic) NSUInteger maxSamplerStateBindCount;
@property (nonatomic) BOOL initializeBindings;
@property (nonatomic) BOOL supportAttributeStrides;
@property (nullable, nonatomic, copy) NSString *label;
@end

// An index beyond the descriptor's counts is ignored.
@protocol MTL4ArgumentTable <NSObject>
@property (readonly) id<MTLDevice> device;
@property (nullable, readonly) NSString *label;
- (void)setAddress:(MTLGPUAddress)gpuAddress atIndex:(NSUInteger)bindingIndex;
- (void)setAddress:(MTLGPUAddress)gpuAddress attributeStride:(NSUInteger)stride atIndex:(NSUInteger)bindingIndex;
- (void)setResource:(MTLResourceID)resourceID atBufferIndex:(NSUInteger)bindingIndex;  // a tensor or a function table
- (void)setTexture:(MTLResourceID)resourceID atIndex:(NSUInteger)bindingIndex;
- (void)setSamplerState:(MTLResourceID)resourceID atIndex:(NSUInteger)bindingIndex;
@end

NS_ASSUME_NONNULL_END

#endif
