// SPDX-License-Identifier: Apache-2.0
// Calls that clang generates for the newer ABI and that GCC's runtime lacks (modules.c says why there are two).
#import <Foundation/Foundation.h>

#include <objc/message.h>

#define EXPORT __attribute__((visibility("default")))

// ---- Messages to super ----

typedef struct slot {
    Class owner, cached_for;
    const char *types;
    int version;
    IMP method;
} slot;

EXPORT slot *objc_slot_lookup_super(struct objc_super *super, SEL selector);
EXPORT slot *objc_msg_lookup_sender(id *receiver, SEL selector, id sender);

// The caller takes the method from it at once.
static _Thread_local slot found;

slot *objc_slot_lookup_super(struct objc_super *super, SEL selector) {
    found.method = objc_msg_lookup_super(super, selector);
    return &found;
}

slot *objc_msg_lookup_sender(id *receiver, SEL selector, id sender) {
    found.method = objc_msg_lookup(*receiver, selector);
    return &found;
}

// ---- Autorelease pools ----

EXPORT void *objc_autoreleasePoolPush(void);
EXPORT void objc_autoreleasePoolPop(void *pool);

void *objc_autoreleasePoolPush(void) {
    return [[NSAutoreleasePool alloc] init];
}

void objc_autoreleasePoolPop(void *pool) {
    [(NSAutoreleasePool *)pool release];
}
