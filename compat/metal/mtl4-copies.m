// SPDX-License-Identifier: Apache-2.0
// Metal 4: copies and fills, as encoders remember them. Options concern depth, stencil and compressed pixels, and have no
// effect.
#include "mtl4.h"
#include "tensor.h"

@implementation IGMTL4Encoder (Copies)
- (void)copyFromBuffer:(id<MTLBuffer>)source
          sourceOffset:(NSUInteger)sourceOffset
              toBuffer:(id<MTLBuffer>)target
     destinationOffset:(NSUInteger)targetOffset
                  size:(NSUInteger)size {
    [self record:^(IGReplay *replay) {
      [[replay blit] copyFromBuffer:source
                       sourceOffset:sourceOffset
                           toBuffer:target
                  destinationOffset:targetOffset
                               size:size];
    }];
}

- (void)copyFromBuffer:(id<MTLBuffer>)source
           sourceOffset:(NSUInteger)sourceOffset
      sourceBytesPerRow:(NSUInteger)bytesPerRow
    sourceBytesPerImage:(NSUInteger)bytesPerImage
             sourceSize:(MTLSize)size
              toTexture:(id<MTLTexture>)target
       destinationSlice:(NSUInteger)slice
       destinationLevel:(NSUInteger)level
      destinationOrigin:(MTLOrigin)origin {
    [self record:^(IGReplay *replay) {
      [[replay blit] copyFromBuffer:source
                       sourceOffset:sourceOffset
                  sourceBytesPerRow:bytesPerRow
                sourceBytesPerImage:bytesPerImage
                         sourceSize:size
                          toTexture:target
                   destinationSlice:slice
                   destinationLevel:level
                  destinationOrigin:origin];
    }];
}

- (void)copyFromTexture:(id<MTLTexture>)source
                 sourceSlice:(NSUInteger)slice
                 sourceLevel:(NSUInteger)level
                sourceOrigin:(MTLOrigin)origin
                  sourceSize:(MTLSize)size
                    toBuffer:(id<MTLBuffer>)target
           destinationOffset:(NSUInteger)offset
      destinationBytesPerRow:(NSUInteger)bytesPerRow
    destinationBytesPerImage:(NSUInteger)bytesPerImage {
    [self record:^(IGReplay *replay) {
      [[replay blit] copyFromTexture:source
                         sourceSlice:slice
                         sourceLevel:level
                        sourceOrigin:origin
                          sourceSize:size
                            toBuffer:target
                   destinationOffset:offset
              destinationBytesPerRow:bytesPerRow
            destinationBytesPerImage:bytesPerImage];
    }];
}

- (void)copyFromBuffer:(id<MTLBuffer>)source
           sourceOffset:(NSUInteger)sourceOffset
      sourceBytesPerRow:(NSUInteger)bytesPerRow
    sourceBytesPerImage:(NSUInteger)bytesPerImage
             sourceSize:(MTLSize)size
              toTexture:(id<MTLTexture>)target
       destinationSlice:(NSUInteger)slice
       destinationLevel:(NSUInteger)level
      destinationOrigin:(MTLOrigin)origin
                options:(MTLBlitOption)options {
    [self copyFromBuffer:source
               sourceOffset:sourceOffset
          sourceBytesPerRow:bytesPerRow
        sourceBytesPerImage:bytesPerImage
                 sourceSize:size
                  toTexture:target
           destinationSlice:slice
           destinationLevel:level
          destinationOrigin:origin];
}

- (void)copyFromTexture:(id<MTLTexture>)source
                 sourceSlice:(NSUInteger)slice
                 sourceLevel:(NSUInteger)level
                sourceOrigin:(MTLOrigin)origin
                  sourceSize:(MTLSize)size
                    toBuffer:(id<MTLBuffer>)target
           destinationOffset:(NSUInteger)offset
      destinationBytesPerRow:(NSUInteger)bytesPerRow
    destinationBytesPerImage:(NSUInteger)bytesPerImage
                     options:(MTLBlitOption)options {
    [self copyFromTexture:source
                     sourceSlice:slice
                     sourceLevel:level
                    sourceOrigin:origin
                      sourceSize:size
                        toBuffer:target
               destinationOffset:offset
          destinationBytesPerRow:bytesPerRow
        destinationBytesPerImage:bytesPerImage];
}

- (void)copyFromTexture:(id<MTLTexture>)source
            sourceSlice:(NSUInteger)sourceSlice
            sourceLevel:(NSUInteger)sourceLevel
           sourceOrigin:(MTLOrigin)sourceOrigin
             sourceSize:(MTLSize)size
              toTexture:(id<MTLTexture>)target
       destinationSlice:(NSUInteger)targetSlice
       destinationLevel:(NSUInteger)targetLevel
      destinationOrigin:(MTLOrigin)targetOrigin {
    [self record:^(IGReplay *replay) {
      [[replay blit] copyFromTexture:source
                         sourceSlice:sourceSlice
                         sourceLevel:sourceLevel
                        sourceOrigin:sourceOrigin
                          sourceSize:size
                           toTexture:target
                    destinationSlice:targetSlice
                    destinationLevel:targetLevel
                   destinationOrigin:targetOrigin];
    }];
}

- (void)copyFromTexture:(id<MTLTexture>)source
            sourceSlice:(NSUInteger)sourceSlice
            sourceLevel:(NSUInteger)sourceLevel
              toTexture:(id<MTLTexture>)target
       destinationSlice:(NSUInteger)targetSlice
       destinationLevel:(NSUInteger)targetLevel
             sliceCount:(NSUInteger)sliceCount
             levelCount:(NSUInteger)levelCount {
    [self record:^(IGReplay *replay) {
      [[replay blit] copyFromTexture:source
                         sourceSlice:sourceSlice
                         sourceLevel:sourceLevel
                           toTexture:target
                    destinationSlice:targetSlice
                    destinationLevel:targetLevel
                          sliceCount:sliceCount
                          levelCount:levelCount];
    }];
}

- (void)copyFromTexture:(id<MTLTexture>)source toTexture:(id<MTLTexture>)target {
    [self record:^(IGReplay *replay) {
      [[replay blit] copyFromTexture:source toTexture:target];
    }];
}

- (void)fillBuffer:(id<MTLBuffer>)buffer range:(NSRange)range value:(uint8_t)value {
    [self record:^(IGReplay *replay) {
      [[replay blit] fillBuffer:buffer range:range value:value];
    }];
}

- (void)copyFromTensor:(id<MTLTensor>)sourceTensor
             sourceOrigin:(MTLTensorExtents *)sourceOrigin
         sourceDimensions:(MTLTensorExtents *)sourceDimensions
                 toTensor:(id<MTLTensor>)destinationTensor
        destinationOrigin:(MTLTensorExtents *)destinationOrigin
    destinationDimensions:(MTLTensorExtents *)destinationDimensions {
    IGTensor *from = (IGTensor *)sourceTensor, *to = (IGTensor *)destinationTensor;
    igi_slice slice = {.rank = sourceDimensions.rank};
    NSUInteger element = igi_mtl_tensor_element_size(from.dataType);
    if (!from || !to || from.dataType != to.dataType || ![sourceDimensions isEqual:destinationDimensions] ||
        !igi_mtl_tensor_slice(from, sourceOrigin, sourceDimensions, &slice.from_start, slice.from) ||
        !igi_mtl_tensor_slice(to, destinationOrigin, destinationDimensions, &slice.to_start, slice.to))
        return [_owner mistake:@"copyFromTensor: the slices are not of one size and type, or not in their tensors"];
    for (NSUInteger d = 0; d < slice.rank; d++)
        slice.counts[d] = (NSUInteger)[sourceDimensions extentAtDimensionIndex:d];
    [self record:^(IGReplay *replay) {
      id<MTLBlitCommandEncoder> blit = [replay blit];
      igi_slice_copy(&slice, ^(NSUInteger source, NSUInteger target, NSUInteger count) {
        [blit copyFromBuffer:from->_memory
                 sourceOffset:from->_offset + source * element
                     toBuffer:to->_memory
            destinationOffset:to->_offset + target * element
                         size:count * element];
      });
    }];
}

- (void)generateMipmapsForTexture:(id<MTLTexture>)texture {
    [self record:^(IGReplay *replay) {
      [[replay blit] generateMipmapsForTexture:texture];
    }];
}

// Pixels are always as both sides read them.
- (void)optimizeContentsForGPUAccess:(id<MTLTexture>)texture {
}

- (void)optimizeContentsForGPUAccess:(id<MTLTexture>)texture slice:(NSUInteger)slice level:(NSUInteger)level {
}

- (void)optimizeContentsForCPUAccess:(id<MTLTexture>)texture {
}

- (void)optimizeContentsForCPUAccess:(id<MTLTexture>)texture slice:(NSUInteger)slice level:(NSUInteger)level {
}
@end
