// SPDX-License-Identifier: Apache-2.0
// Visible functions: handles and tables. Internal.
#ifndef INGOT_COMPAT_METAL_FUNCTION_TABLE_H
#define INGOT_COMPAT_METAL_FUNCTION_TABLE_H

#include "library.h"
#include "resource.h"

@interface IGFunctionHandle : IGObject <MTLFunctionHandle> {
    IGPipeline *_pipeline;
    NSString *_name;
}
- (id)initWithPipeline:(IGPipeline *)pipeline name:(NSString *)name;
@end

@interface IGVisibleFunctionTable : IGResource <MTLVisibleFunctionTable> {
   @public
    ig_function_table *_table;

   @private
    IGPipeline *_pipeline;
}
// nil if there is no memory for it.
- (id)initWithPipeline:(IGPipeline *)pipeline count:(NSUInteger)count;
@end

#endif
