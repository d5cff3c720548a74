// SPDX-License-Identifier: Apache-2.0
#include "mps.h"

enum { LINE = 64 };  // bytes of a cache's

@implementation MPSVectorDescriptor
@synthesize length = _length, vectors = _vectors, vectorBytes = _vectorBytes, dataType = _dataType;

+ (instancetype)vectorDescriptorWithLength:(NSUInteger)length dataType:(MPSDataType)dataType {
    NSUInteger bytes;
    if (__builtin_mul_overflow(length, igi_mps_size(dataType), &bytes)) bytes = 0;
    return [self vectorDescriptorWithLength:length vectors:1 vectorBytes:bytes dataType:dataType];
}

+ (instancetype)vectorDescriptorWithLength:(NSUInteger)length
                                   vectors:(NSUInteger)vectors
                               vectorBytes:(NSUInteger)vectorBytes
                                  dataType:(MPSDataType)dataType {
    MPSVectorDescriptor *made = [[[self alloc] init] autorelease];
    made->_length = length, made->_vectors = vectors, made->_vectorBytes = vectorBytes;
    made->_dataType = dataType;
    return made;
}

+ (NSUInteger)vectorBytesForLength:(NSUInteger)length dataType:(MPSDataType)dataType {
    return (length * igi_mps_size(dataType) + LINE - 1) / LINE * LINE;
}
@end

// Whether its size fits into 64 bits and is at most `length`.
static bool fits(MPSVectorDescriptor *d, NSUInteger offset, NSUInteger length) {
    NSUInteger size = igi_mps_size(d.dataType), one, all, end;
    if (!size || !d.length || !d.vectors || d.vectorBytes % size || offset % size) return false;
    if (__builtin_mul_overflow(d.length, size, &one) || one > d.vectorBytes) return false;
    if (__builtin_mul_overflow(d.vectors - 1, d.vectorBytes, &all) || __builtin_add_overflow(all, one, &all))
        return false;
    return !__builtin_add_overflow(all, offset, &end) && end <= length;
}

@implementation MPSVector
@synthesize data = _data, offset = _offset, length = _length, vectors = _vectors, vectorBytes = _vectorBytes,
            dataType = _dataType;

- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer descriptor:(MPSVectorDescriptor *)descriptor {
    return [self initWithBuffer:buffer offset:0 descriptor:descriptor];
}

- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer
                        offset:(NSUInteger)offset
                    descriptor:(MPSVectorDescriptor *)descriptor {
    if (!(self = [super init])) return nil;
    if (!buffer || !descriptor || !fits(descriptor, offset, [buffer length])) {
        [self release];
        return nil;
    }
    _data = [buffer retain];
    _offset = offset, _length = descriptor.length, _vectors = descriptor.vectors;
    _vectorBytes = descriptor.vectorBytes, _dataType = descriptor.dataType;
    return self;
}

- (instancetype)initWithDevice:(id<MTLDevice>)device descriptor:(MPSVectorDescriptor *)descriptor {
    NSUInteger bytes;
    if (__builtin_mul_overflow(descriptor.vectors, descriptor.vectorBytes, &bytes)) bytes = 0;
    id<MTLBuffer> buffer = [device newBufferWithLength:bytes options:MTLResourceStorageModeShared];
    self = [self initWithBuffer:buffer offset:0 descriptor:descriptor];
    [buffer release];
    return self;
}

- (void)dealloc {
    [_data release];
    [super dealloc];
}

- (id<MTLDevice>)device {
    return [_data device];
}

- (NSUInteger)resourceSize {
    return [_data length];
}

- (void)synchronizeOnCommandBuffer:(id<MTLCommandBuffer>)commandBuffer {
    igi_mps_synchronize(_data, commandBuffer);
}
@end
