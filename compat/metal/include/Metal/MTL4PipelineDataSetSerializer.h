// SPDX-License-Identifier: Apache-2.0
// Metal 4: what a compiler has compiled, for archives.
#ifndef INGOT_METAL_MTL4_PIPELINE_DATA_SET_SERIALIZER_H
#define INGOT_METAL_MTL4_PIPELINE_DATA_SET_SERIALIZER_H

#import <Metal/MTLDefines.h>

NS_ASSUME_NONNULL_BEGIN

typedef NS_OPTIONS(NSUInteger, MTL4PipelineDataSetSerializerConfiguration) {
    MTL4PipelineDataSetSerializerConfigurationCaptureDescriptors = 1,
    MTL4PipelineDataSetSerializerConfigurationCaptureBinaries = 1 << 1,
};

MTL_EXPORT
@interface MTL4PipelineDataSetSerializerDescriptor : NSObject <NSCopying> {
    MTL4PipelineDataSetSerializerConfiguration _configuration;
}
@property (nonatomic) MTL4PipelineDataSetSerializerConfiguration configuration;  // CaptureDescriptors
@end

@protocol MTL4PipelineDataSetSerializer <NSObject>
// JSON of the pipelines, where descriptors were captured.
- (nullable NSData *)serializeAsPipelinesScriptWithError:(NSError **)error;
// Where binaries were captured.
- (BOOL)serializeAsArchiveAndFlushToURL:(NSURL *)url error:(NSError **)error;
@end

NS_ASSUME_NONNULL_END

#endif
