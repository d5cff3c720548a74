// SPDX-License-Identifier: Apache-2.0
// Fills argument buffers. Those of a function have the layout of its struct; those of descriptors that of a structure whose
// members come in the order of their indices.
#ifndef INGOT_METAL_ARGUMENT_ENCODER_H
#define INGOT_METAL_ARGUMENT_ENCODER_H

#import <Metal/MTLArgument.h>
#import <Metal/MTLDataType.h>
#import <Metal/MTLTexture.h>

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
@property (copy, atomic) NSString *label;
@property (readonly) NSUInteger encodedLength;
@property (readonly) NSUInteger alignment;
- (void)setArgumentBuffer:(id<MTLBuffer>)argumentBuffer offset:(NSUInteger)offset;
- (void)setArgumentBuffer:(id<MTLBuffer>)argumentBuffer
              startOffset:(NSUInteger)startOffset
             arrayElement:(NSUInteger)arrayElement;
- (void)setBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index;
- (void)setBuffers:(const id<MTLBuffer>[])buffers offsets:(const NSUInteger[])offsets withRange:(NSRange)range;
- (void)setTexture:(id<MTLTexture>)texture atIndex:(NSUInteger)index;
- (void)setTextures:(const id<MTLTexture>[])textures withRange:(NSRange)range;
- (void)setSamplerState:(id<MTLSamplerState>)sampler atIndex:(NSUInteger)index;
- (void)setSamplerStates:(const id<MTLSamplerState>[])samplers withRange:(NSRange)range;
- (void)setVisibleFunctionTable:(id<MTLVisibleFunctionTable>)visibleFunctionTable atIndex:(NSUInteger)index;
- (void)setVisibleFunctionTables:(const id<MTLVisibleFunctionTable>[])visibleFunctionTables withRange:(NSRange)range;
- (void)setComputePipelineState:(id<MTLComputePipelineState>)pipeline atIndex:(NSUInteger)index;
- (void)setComputePipelineStates:(const id<MTLComputePipelineState>[])pipelines withRange:(NSRange)range;
- (void)setIndirectCommandBuffer:(id<MTLIndirectCommandBuffer>)indirectCommandBuffer atIndex:(NSUInteger)index;
- (void)setIndirectCommandBuffers:(const id<MTLIndirectCommandBuffer>[])buffers withRange:(NSRange)range;
- (void *)constantDataAtIndex:(NSUInteger)index;  // NULL: there is none
// For the struct that a pointer in this one points to; nil if it points to something else. The caller releases it.
- (id<MTLArgumentEncoder>)newArgumentEncoderForBufferAtIndex:(NSUInteger)index;
@end

#endif
