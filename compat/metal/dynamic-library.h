// SPDX-License-Identifier: Apache-2.0
// Dynamic libraries. Internal.
#ifndef INGOT_COMPAT_METAL_DYNAMIC_LIBRARY_H
#define INGOT_COMPAT_METAL_DYNAMIC_LIBRARY_H

#include "library.h"

@interface IGDynamicLibrary : IGObject <MTLDynamicLibrary> {
   @public
    NSData *_source;

   @private
    IGDevice *_device;
    NSString *_installName;
}
- (id)initWithDevice:(IGDevice *)device source:(NSData *)source installName:(NSString *)installName;
@end

#pragma GCC visibility push(hidden)
// The text with those of the libraries after it.
NSData *igi_linked_source(const char *source, size_t length, NSArray *libraries);
#pragma GCC visibility pop

#endif
