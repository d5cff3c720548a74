// SPDX-License-Identifier: Apache-2.0
// Reading files into resources. Internal.
#ifndef INGOT_COMPAT_METAL_IO_H
#define INGOT_COMPAT_METAL_IO_H

#include <pthread.h>

#include "device.h"

@interface IGIOFileHandle : IGObject <MTLIOFileHandle> {
   @public
    int _file;
}
- (id)initWithURL:(NSURL *)url error:(NSError **)error;
@end

@interface IGIOCommandQueue : IGObject <MTLIOCommandQueue> {
   @public
    dispatch_queue_t _queue;
}
- (id)initWithDescriptor:(MTLIOCommandQueueDescriptor *)descriptor;
@end

@interface IGIOCommandBuffer : IGObject <MTLIOCommandBuffer> {
    IGIOCommandQueue *_owner;
    NSMutableArray *_commands;  // blocks that return what went wrong
    NSMutableArray *_handlers, *_statusCopies;
    pthread_mutex_t _lock;  // guards what follows
    pthread_cond_t _ended;
    MTLIOStatus _status;
    NSError *_error;
    BOOL _committed, _cancelled;
}
- (id)initWithQueue:(IGIOCommandQueue *)owner;
@end

#endif
