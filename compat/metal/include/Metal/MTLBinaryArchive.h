// SPDX-License-Identifier: Apache-2.0
// Archives of compiled pipelines. Ingot's own cache does the work: an archive remembers names.
#ifndef INGOT_METAL_BINARY_ARCHIVE_H
#define INGOT_METAL_BINARY_ARCHIVE_H

#import <Metal/MTLDefines.h>

NS_ASSUME_NONNULL_BEGIN

@class MTLComputePipelineDescriptor, MTLFunctionDescriptor;
@protocol MTLDevice;
@protocol MTLLibrary;

MTL_EXTERN NSErrorDomain const MTLBinaryArchiveDomain;

typedef NS_ENUM(NSUInteger, MTLBinaryArchiveError) {
    MTLBinaryArchiveErrorNone = 0,
    MTLBinaryArchiveErrorInvalidFile = 1,
    MTLBinaryArchiveErrorUnexpectedElement = 2,
    MTLBinaryArchiveErrorCompilationFailure = 3,
    MTLBinaryArchiveErrorInternalError = 4,
};

MTL_EXPORT
@interface MTLBinaryArchiveDescriptor : NSObject <NSCopying> {
    NSURL *_url;
}
@property (nullable, copy, nonatomic) NSURL *url;
@end

@protocol MTLBinaryArchive <NSObject>
@property (nullable, copy, atomic) NSString *label;
@property (readonly) id<MTLDevice> device;
- (BOOL)addComputePipelineFunctionsWithDescriptor:(MTLComputePipelineDescriptor *)descriptor error:(NSError **)error;
- (BOOL)addFunctionWithDescriptor:(MTLFunctionDescriptor *)descriptor
                          library:(id<MTLLibrary>)library
                            error:(NSError **)error;
- (BOOL)serializeToURL:(NSURL *)url error:(NSError **)error;
@end

NS_ASSUME_NONNULL_END

#endif
