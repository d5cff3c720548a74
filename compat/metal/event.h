// SPDX-License-Identifier: Apache-2.0
// Events and fences. Internal.
#ifndef INGOT_COMPAT_METAL_EVENT_H
#define INGOT_COMPAT_METAL_EVENT_H

#include "device.h"

@interface IGFence : IGObject <MTLFence> {
    IGDevice *_device;
}
- (id)initWithDevice:(IGDevice *)device;
@end

@interface IGEvent : IGObject <MTLEvent> {
   @public
    ig_event *_event;

   @private
    IGDevice *_device;
}
- (id)initWithDevice:(IGDevice *)device;
@end

@interface IGSharedEvent : IGEvent <MTLSharedEvent>
@end

@interface MTLSharedEventHandle (Ingot)
- (id)initWithEvent:(IGSharedEvent *)event;
- (IGSharedEvent *)event;
@end

#endif
