// SPDX-License-Identifier: Apache-2.0
// What the classes behind Metal's protocols share. Internal.
#ifndef INGOT_COMPAT_METAL_OBJECT_H
#define INGOT_COMPAT_METAL_OBJECT_H

#import <Metal/Metal.h>

#include <ingot/device.h>

// The number of living objects of these classes, devices included: the tests check that none is leaked.
extern __attribute__((visibility("default"))) long igi_metal_live_objects(void);

#pragma GCC visibility push(hidden)

// Base class of all. Counts living objects and has the label that most of them have.
@interface IGObject : NSObject {
    NSString *_label;
}
@property (copy, atomic) NSString *label;
@end

// Threads without an autorelease pool get one that lasts until they end, as on a Mac: programs in C have none.
void igi_ensure_pool(void);
id igi_autoreleased(id object);

// UTF-8 of a string, or NULL for nil.
const char *igi_text(NSString *string);

// Of the program's own contents: nobody looks for two with one hash.
uint64_t igi_content_hash(NSData *data);

// Arrays of descriptors create their elements on first use, and hold copies of those that are set.
id igi_element(NSMutableDictionary **elements, NSUInteger index, Class class);
void igi_set_element(NSMutableDictionary **elements, NSUInteger index, id value);
NSMutableDictionary *igi_copy_elements(NSDictionary *elements);  // the caller releases it

// ---- Errors ----

NSError *igi_error(NSErrorDomain domain, NSInteger code, NSString *text);
// Metal sets errors to nil where nothing goes wrong, and programs rely on that.
static inline void igi_clear_error(NSError **error) {
    if (error) *error = nil;
}
// Fills *error, if there is one, and returns nil.
id igi_refuse(NSError **error, NSErrorDomain domain, NSInteger code, NSString *text);
NSError *igi_library_error(ig_status status, const ig_error *error);
NSError *igi_command_error(ig_status status, const ig_error *error);

#pragma GCC visibility pop

#endif
