// SPDX-License-Identifier: Apache-2.0
// Metal 4: archives, and what fills them. Internal.
#ifndef INGOT_COMPAT_METAL_MTL4_ARCHIVE_H
#define INGOT_COMPAT_METAL_MTL4_ARCHIVE_H

#include "mtl4.h"

@interface IGArchive : IGObject <MTL4Archive> {
    IGCompiler *_compiler;
    NSSet *_keys;
}
- (id)initWithDevice:(IGDevice *)device url:(NSURL *)url error:(NSError **)error;
@end

// Of an archive: a line with the key of each pipeline and function.
@interface IGSerializer : IGObject <MTL4PipelineDataSetSerializer> {
    MTL4PipelineDataSetSerializerConfiguration _configuration;
    NSMutableDictionary *_entries;  // what the script says of each, by its key
}
- (id)initWithDescriptor:(MTL4PipelineDataSetSerializerDescriptor *)descriptor;
- (void)add:(MTL4PipelineDescriptor *)descriptor key:(NSString *)key;
- (void)addFunction:(MTL4BinaryFunctionDescriptor *)descriptor key:(NSString *)key;
@end

@interface IGBinaryFunction : IGObject <MTL4BinaryFunction> {
   @public
    id<MTLFunction> _function;
}
- (id)initWithFunction:(id<MTLFunction>)function name:(NSString *)name;
@end

#pragma GCC visibility push(hidden)
// What decides what is compiled: sources, names, constants, linked functions. nil if that is not known.
NSString *igi_pipeline_key(MTL4PipelineDescriptor *descriptor, MTL4PipelineStageDynamicLinkingDescriptor *dynamic);
NSString *igi_function_key(MTL4FunctionDescriptor *descriptor);
#pragma GCC visibility pop

#endif
