// SPDX-License-Identifier: Apache-2.0
// Fills argument buffers. Those of a function have the layout of its struct; those of descriptors that of a structure whose
// members come in the order of their indices.
#ifndef INGOT_METAL_ARGUMENT_ENCODER_H
#define INGOT_METAL_ARGUMENT_ENCODER_H

#import <Metal/MTLArgument.h>
#import <Metal/MTLDataType.h>
#import <Metal/MTLTexture.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLBuffer;
@protocol MTLComputePipelineState;
@protocol MTLDevice;
@protocol MTLIndirectCommandBuffer;
@protocol MTLSamplerState;
@protocol MTLVisibleFunctionTable;

// Members with the indices from `index` to `index + arrayLength - 1`; an arrayLength of 0 is one member.
MTL_EXPORT
@interface MTLArgumentDescriptor : NSObject <NSCopying> {
    MTLDataType _dataType;
    NSUInteger _index, _arrayLength, _constantBlockAlignment;
    MTLBindingAccess _access;
    MTLTextureType _textureType;
}
+ (MTLArgumentDescriptor *)argumentDescriptor;
@property (nonatomic) MTLDataType dataType;
@property (nonatomic) NSUInteger index;
@property (nonatomic) NSUInteger arrayLength;
@property (nonatomic) MTLBindingAccess access;
@property (nonatomic) MTLTextureType textureType;
@property (nonatomic) NSUInteger constantBlockAlignment;
@end

// An index that no descriptor has, and a place outside of the buffer, change nothing.
@protocol MTLArgumentEncoder <NSObject>
@property (readonly) id<MTLDevice> device;
@property (nullable, copy, atomic) NSString *label;
@property (readonly) NSUInteger encodedLength;
@property (readonly) NSUInteger alignment;
- (void)setArgumentBuffer:(nullable id<MTLBuffer>)argumentBuffer offset:(NSUInteger)offset;
- (void)setArgumentBuffer:(nullable id<MTLBuffer>)argumentBuffer
              startOffset:(NSUInteger)startOffset
             arrayElement:(NSUInteger)arrayElement;
- (void)setBuffer:(nullable id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index;
- (void)setBuffers:(const id<MTLBuffer> _Nullable[_Nonnull])buffers
           offsets:(const NSUInteger[_Nonnull])offsets
         withRange:(NSRange)range;
- (void)setTexture:(nullable id<MTLTexture>)texture atIndex:(NSUInteger)index;
- (void)setTextures:(const id<MTLTexture> _Nullable[_Nonnull])textures withRange:(NSRange)range;
- (void)setSamplerState:(nullable id<MTLSamplerState>)sampler atIndex:(NSUInteger)index;
- (void)setSamplerStates:(const id<MTLSamplerState> _Nullable[_Nonnull])samplers withRange:(NSRange)range;
- (void)setVisibleFunctionTable:(nullable id<MTLVisibleFunctionTable>)visibleFunctionTable atIndex:(NSUInteger)index;
- (void)setVisibleFunctionTables:(const id<MTLVisibleFunctionTable> _Nullable[_Nonnull])visibleFunctionTables
                       withRange:(NSRange)range;
- (void)setComputePipelineState:(nullable id<MTLComputePipelineState>)pipeline atIndex:(NSUInteger)index;
- (void)setComputePipelineStates:(const id<MTLComputePipelineState> _Nullable[_Nonnull])pipelines
                       withRange:(NSRange)range;
- (void)setIndirectCommandBuffer:(nullable id<MTLIndirectCommandBuffer>)indirectCommandBuffer atIndex:(NSUInteger)index;
- (void)setIndirectCommandBuffers:(const id<MTLIndirectCommandBuffer> _Nullable[_Nonnull])buffers
                        withRange:(NSRange)range;
- (void *)constantDataAtIndex:(NSUInteger)index;  // NULL: there is none
// For the struct that a pointer in this one points to; nil if it points to something else. The caller releases it.
- (nullable id<MTLArgumentEncoder>)newArgumentEncoderForBufferAtIndex:(NSUInteger)index;
@end

NS_ASSUME_NONNULL_END

#endif
