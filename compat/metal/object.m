// SPDX-License-Identifier: Apache-2.0
#include "object.h"

#include <stdatomic.h>

static atomic_long live_objects;

long igi_metal_live_objects(void) {
    return atomic_load(&live_objects);
}

@implementation IGObject
@synthesize label = _label;

+ (id)allocWithZone:(NSZone *)zone {
    atomic_fetch_add_explicit(&live_objects, 1, memory_order_relaxed);
    return [super allocWithZone:zone];
}

- (void)dealloc {
    [_label release];
    atomic_fetch_sub_explicit(&live_objects, 1, memory_order_relaxed);
    [super dealloc];
}
@end

// Every object has it on a Mac, where debuggers and bindings for other languages ask for it.
@implementation NSObject (IGDebugDescription)
- (NSString *)debugDescription {
    return [self description];
}
@end

void igi_ensure_pool(void) {
    if (![NSAutoreleasePool currentPool]) [[NSAutoreleasePool alloc] init];
}

id igi_autoreleased(id object) {
    igi_ensure_pool();
    return [object autorelease];
}

const char *igi_text(NSString *string) {
    if (!string) return NULL;
    igi_ensure_pool();
    return [string UTF8String];
}

// FNV-1a.
uint64_t igi_content_hash(NSData *data) {
    const unsigned char *bytes = [data bytes];
    uint64_t hash = 0xcbf29ce484222325;
    for (NSUInteger i = 0; i < [data length]; i++) hash = (hash ^ bytes[i]) * 0x100000001b3;
    return hash;
}

// ---- Arrays of descriptors ----

id igi_element(NSMutableDictionary **elements, NSUInteger index, Class class) {
    igi_ensure_pool();
    NSNumber *key = [NSNumber numberWithUnsignedLong:index];
    if (!*elements) *elements = [[NSMutableDictionary alloc] init];
    id found = [*elements objectForKey:key];
    if (found) return found;
    found = [[class alloc] init];
    [*elements setObject:found forKey:key];
    [found release];
    return found;
}

void igi_set_element(NSMutableDictionary **elements, NSUInteger index, id value) {
    igi_ensure_pool();
    NSNumber *key = [NSNumber numberWithUnsignedLong:index];
    if (!*elements) *elements = [[NSMutableDictionary alloc] init];
    id copy = [value copy];
    if (copy)
        [*elements setObject:copy forKey:key];
    else
        [*elements removeObjectForKey:key];
    [copy release];
}

NSMutableDictionary *igi_copy_elements(NSDictionary *elements) {
    NSMutableDictionary *copy = [[NSMutableDictionary alloc] init];
    for (NSNumber *key in elements) {
        id element = [[elements objectForKey:key] copy];
        [copy setObject:element forKey:key];
        [element release];
    }
    return copy;
}
