// SPDX-License-Identifier: Apache-2.0
// Blit encoders: copies and fills of buffers, copies of textures.
#include "commands.h"
#include "counters.h"
#include "indirect-commands.h"
#include "resource.h"
#include "texture.h"

@implementation IGBlitEncoder
- (void)copyFromBuffer:(id<MTLBuffer>)source
          sourceOffset:(NSUInteger)sourceOffset
              toBuffer:(id<MTLBuffer>)target
     destinationOffset:(NSUInteger)targetOffset
                  size:(NSUInteger)size {
    if ([self isOpen])
        (void)ig_commands_copy(_commands, igi_buffer_of(source), sourceOffset, igi_buffer_of(target), targetOffset,
                               size);
}

- (void)fillBuffer:(id<MTLBuffer>)buffer range:(NSRange)range value:(uint8_t)value {
    if ([self isOpen]) (void)ig_commands_fill(_commands, igi_buffer_of(buffer), range.location, range.length, value);
}

// ---- Textures ----

static ig_region region_of(MTLOrigin origin, MTLSize size, NSUInteger level, NSUInteger slice) {
    return (ig_region){(uint32_t)origin.x,    (uint32_t)origin.y,   (uint32_t)origin.z, (uint32_t)size.width,
                       (uint32_t)size.height, (uint32_t)size.depth, (uint32_t)level,    (uint32_t)slice};
}

static BOOL fits(NSUInteger a, NSUInteger b, NSUInteger c) {
    return a <= UINT32_MAX && b <= UINT32_MAX && c <= UINT32_MAX;
}

static MTLSize size_of_level(id<MTLTexture> texture, NSUInteger level) {
    if (level >= texture.mipmapLevelCount) return MTLSizeMake(1, 1, 1);  // which the copy reports
    return MTLSizeMake(MAX(texture.width >> level, 1u), MAX(texture.height >> level, 1u),
                       MAX(texture.depth >> level, 1u));
}

// A size of 0 copies nothing; Ingot would take it for everything.
- (BOOL)mayCopy:(MTLSize)size from:(MTLOrigin)origin {
    if (![self isOpen] || !size.width || !size.height || !size.depth) return NO;
    if (fits(size.width, size.height, size.depth) && fits(origin.x, origin.y, origin.z)) return YES;
    [_owner fail:@"the region of a copy is outside of the texture"];
    return NO;
}

- (void)copyFromBuffer:(id<MTLBuffer>)sourceBuffer
           sourceOffset:(NSUInteger)sourceOffset
      sourceBytesPerRow:(NSUInteger)sourceBytesPerRow
    sourceBytesPerImage:(NSUInteger)sourceBytesPerImage
             sourceSize:(MTLSize)sourceSize
              toTexture:(id<MTLTexture>)destinationTexture
       destinationSlice:(NSUInteger)destinationSlice
       destinationLevel:(NSUInteger)destinationLevel
      destinationOrigin:(MTLOrigin)destinationOrigin {
    ig_region to = region_of(destinationOrigin, sourceSize, destinationLevel, destinationSlice);
    if ([self mayCopy:sourceSize from:destinationOrigin])
        (void)ig_commands_copy_to_texture(_commands, igi_buffer_of(sourceBuffer), sourceOffset, sourceBytesPerRow,
                                          sourceBytesPerImage, igi_texture_of(destinationTexture), &to);
}

- (void)copyFromBuffer:(id<MTLBuffer>)sourceBuffer
           sourceOffset:(NSUInteger)sourceOffset
      sourceBytesPerRow:(NSUInteger)sourceBytesPerRow
    sourceBytesPerImage:(NSUInteger)sourceBytesPerImage
             sourceSize:(MTLSize)sourceSize
              toTexture:(id<MTLTexture>)destinationTexture
       destinationSlice:(NSUInteger)destinationSlice
       destinationLevel:(NSUInteger)destinationLevel
      destinationOrigin:(MTLOrigin)destinationOrigin
                options:(MTLBlitOption)options {
    [self copyFromBuffer:sourceBuffer
               sourceOffset:sourceOffset
          sourceBytesPerRow:sourceBytesPerRow
        sourceBytesPerImage:sourceBytesPerImage
                 sourceSize:sourceSize
                  toTexture:destinationTexture
           destinationSlice:destinationSlice
           destinationLevel:destinationLevel
          destinationOrigin:destinationOrigin];
}

- (void)copyFromTexture:(id<MTLTexture>)sourceTexture
                 sourceSlice:(NSUInteger)sourceSlice
                 sourceLevel:(NSUInteger)sourceLevel
                sourceOrigin:(MTLOrigin)sourceOrigin
                  sourceSize:(MTLSize)sourceSize
                    toBuffer:(id<MTLBuffer>)destinationBuffer
           destinationOffset:(NSUInteger)destinationOffset
      destinationBytesPerRow:(NSUInteger)destinationBytesPerRow
    destinationBytesPerImage:(NSUInteger)destinationBytesPerImage {
    ig_region from = region_of(sourceOrigin, sourceSize, sourceLevel, sourceSlice);
    if ([self mayCopy:sourceSize from:sourceOrigin])
        (void)ig_commands_copy_from_texture(_commands, igi_texture_of(sourceTexture), &from,
                                            igi_buffer_of(destinationBuffer), destinationOffset, destinationBytesPerRow,
                                            destinationBytesPerImage);
}

- (void)copyFromTexture:(id<MTLTexture>)sourceTexture
                 sourceSlice:(NSUInteger)sourceSlice
                 sourceLevel:(NSUInteger)sourceLevel
                sourceOrigin:(MTLOrigin)sourceOrigin
                  sourceSize:(MTLSize)sourceSize
                    toBuffer:(id<MTLBuffer>)destinationBuffer
           destinationOffset:(NSUInteger)destinationOffset
      destinationBytesPerRow:(NSUInteger)destinationBytesPerRow
    destinationBytesPerImage:(NSUInteger)destinationBytesPerImage
                     options:(MTLBlitOption)options {
    [self copyFromTexture:sourceTexture
                     sourceSlice:sourceSlice
                     sourceLevel:sourceLevel
                    sourceOrigin:sourceOrigin
                      sourceSize:sourceSize
                        toBuffer:destinationBuffer
               destinationOffset:destinationOffset
          destinationBytesPerRow:destinationBytesPerRow
        destinationBytesPerImage:destinationBytesPerImage];
}

- (void)copyFromTexture:(id<MTLTexture>)sourceTexture
            sourceSlice:(NSUInteger)sourceSlice
            sourceLevel:(NSUInteger)sourceLevel
           sourceOrigin:(MTLOrigin)sourceOrigin
             sourceSize:(MTLSize)sourceSize
              toTexture:(id<MTLTexture>)destinationTexture
       destinationSlice:(NSUInteger)destinationSlice
       destinationLevel:(NSUInteger)destinationLevel
      destinationOrigin:(MTLOrigin)destinationOrigin {
    ig_region from = region_of(sourceOrigin, sourceSize, sourceLevel, sourceSlice),
              to = region_of(destinationOrigin, sourceSize, destinationLevel, destinationSlice);
    if ([self mayCopy:sourceSize from:sourceOrigin] && [self mayCopy:sourceSize from:destinationOrigin])
        (void)ig_commands_copy_texture(_commands, igi_texture_of(sourceTexture), &from,
                                       igi_texture_of(destinationTexture), &to);
}

- (void)copyFromTexture:(id<MTLTexture>)sourceTexture
            sourceSlice:(NSUInteger)sourceSlice
            sourceLevel:(NSUInteger)sourceLevel
              toTexture:(id<MTLTexture>)destinationTexture
       destinationSlice:(NSUInteger)destinationSlice
       destinationLevel:(NSUInteger)destinationLevel
             sliceCount:(NSUInteger)sliceCount
             levelCount:(NSUInteger)levelCount {
    for (NSUInteger level = 0; level < levelCount; level++)
        for (NSUInteger slice = 0; slice < sliceCount; slice++)
            [self copyFromTexture:sourceTexture
                      sourceSlice:sourceSlice + slice
                      sourceLevel:sourceLevel + level
                     sourceOrigin:MTLOriginMake(0, 0, 0)
                       sourceSize:size_of_level(sourceTexture, sourceLevel + level)
                        toTexture:destinationTexture
                 destinationSlice:destinationSlice + slice
                 destinationLevel:destinationLevel + level
                destinationOrigin:MTLOriginMake(0, 0, 0)];
}

- (void)copyFromTexture:(id<MTLTexture>)sourceTexture toTexture:(id<MTLTexture>)destinationTexture {
    BOOL cube = sourceTexture.textureType == MTLTextureTypeCube || sourceTexture.textureType == MTLTextureTypeCubeArray;
    [self copyFromTexture:sourceTexture
              sourceSlice:0
              sourceLevel:0
                toTexture:destinationTexture
         destinationSlice:0
         destinationLevel:0
               sliceCount:sourceTexture.arrayLength * (cube ? 6 : 1)levelCount
                         :MIN(sourceTexture.mipmapLevelCount, destinationTexture.mipmapLevelCount)];
}

- (void)generateMipmapsForTexture:(id<MTLTexture>)texture {
    if ([self isOpen]) (void)ig_commands_generate_mipmaps(_commands, igi_texture_of(texture));
}

// Host and device see the same pixels, in one order.
- (void)synchronizeTexture:(id<MTLTexture>)texture slice:(NSUInteger)slice level:(NSUInteger)level {
    [self isOpen];
}

- (void)optimizeContentsForGPUAccess:(id<MTLTexture>)texture {
    [self isOpen];
}

- (void)optimizeContentsForGPUAccess:(id<MTLTexture>)texture slice:(NSUInteger)slice level:(NSUInteger)level {
    [self isOpen];
}

- (void)optimizeContentsForCPUAccess:(id<MTLTexture>)texture {
    [self isOpen];
}

- (void)optimizeContentsForCPUAccess:(id<MTLTexture>)texture slice:(NSUInteger)slice level:(NSUInteger)level {
    [self isOpen];
}

// Host and device see the same memory.
- (void)synchronizeResource:(id<MTLResource>)resource {
    [self isOpen];
}

- (void)updateFence:(id<MTLFence>)fence {
    [self isOpen];
}

- (void)waitForFence:(id<MTLFence>)fence {
    [self isOpen];
}

- (void)sampleCountersInBuffer:(id<MTLCounterSampleBuffer>)sampleBuffer
                 atSampleIndex:(NSUInteger)sampleIndex
                   withBarrier:(BOOL)barrier {
    [self sampleCounters:sampleBuffer at:sampleIndex];
}

- (void)resolveCounters:(id<MTLCounterSampleBuffer>)sampleBuffer
                inRange:(NSRange)range
      destinationBuffer:(id<MTLBuffer>)destinationBuffer
      destinationOffset:(NSUInteger)destinationOffset {
    if (![self isOpen]) return;
    NSUInteger count = sampleBuffer.sampleCount, length = destinationBuffer.length;
    if (range.location > count || range.length > count - range.location || destinationOffset > length ||
        range.length > (length - destinationOffset) / sizeof(MTLCounterResultTimestamp))
        return [_owner fail:@"resolveCounters: a range is outside of the sample buffer or of the destination"];
    [[_owner sampling] resolve:sampleBuffer range:range to:destinationBuffer offset:destinationOffset];
}

// ---- Indirect command buffers ----

- (ig_indirect_commands *)commandsOf:(id<MTLIndirectCommandBuffer>)buffer range:(NSRange)range {
    IGIndirectCommandBuffer *indirect = (IGIndirectCommandBuffer *)buffer;
    if (![self isOpen]) return NULL;
    if (indirect && [indirect has:range]) return indirect->_indirect;
    [_owner fail:@"a range of commands is outside of the indirect command buffer"];
    return NULL;
}

- (void)resetCommandsInBuffer:(id<MTLIndirectCommandBuffer>)buffer withRange:(NSRange)range {
    ig_indirect_commands *indirect = [self commandsOf:buffer range:range];
    if (indirect)
        (void)ig_commands_reset_indirect(_commands, indirect, (uint32_t)range.location, (uint32_t)range.length);
}

- (void)copyIndirectCommandBuffer:(id<MTLIndirectCommandBuffer>)source
                      sourceRange:(NSRange)sourceRange
                      destination:(id<MTLIndirectCommandBuffer>)destination
                 destinationIndex:(NSUInteger)destinationIndex {
    ig_indirect_commands *from = [self commandsOf:source range:sourceRange],
                         *to = from ? [self commandsOf:destination
                                                 range:NSMakeRange(destinationIndex, sourceRange.length)]
                                    : NULL;
    if (to)
        (void)ig_commands_copy_indirect(_commands, from, (uint32_t)sourceRange.location, (uint32_t)sourceRange.length,
                                        to, (uint32_t)destinationIndex);
}

// Recorded commands need no optimisation.
- (void)optimizeIndirectCommandBuffer:(id<MTLIndirectCommandBuffer>)buffer withRange:(NSRange)range {
    (void)[self commandsOf:buffer range:range];
}
@end
