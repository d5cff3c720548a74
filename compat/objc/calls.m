// SPDX-License-Identifier: Apache-2.0
// Calls that clang makes for the newer ABI and GCC's runtime does not have (modules.c says why there are two).
#import <Foundation/Foundation.h>

#include <Block.h>
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

// The caller takes the method out at once.
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

// ---- Properties ----

EXPORT void objc_setProperty(id self, SEL selector, ptrdiff_t offset, id value, BOOL atomic, signed char copy);

#define SETTER(name, atomic, copy)                                       \
    EXPORT void name(id self, SEL selector, id value, ptrdiff_t offset); \
    void name(id self, SEL selector, id value, ptrdiff_t offset) {       \
        objc_setProperty(self, selector, offset, value, atomic, copy);   \
    }
SETTER(objc_setProperty_atomic, YES, NO)
SETTER(objc_setProperty_atomic_copy, YES, YES)
SETTER(objc_setProperty_nonatomic, NO, NO)
SETTER(objc_setProperty_nonatomic_copy, NO, YES)

// ---- Counting references, for -fobjc-arc ----

#define COUNTING(name, expression) \
    EXPORT id name(id object);     \
    id name(id object) {           \
        return expression;         \
    }
COUNTING(objc_retain, [object retain])
COUNTING(objc_autorelease, [object autorelease])
COUNTING(objc_autoreleaseReturnValue, [object autorelease])
COUNTING(objc_retainAutorelease, [[object retain] autorelease])
COUNTING(objc_retainAutoreleaseReturnValue, [[object retain] autorelease])
COUNTING(objc_retainAutoreleasedReturnValue, [object retain])
COUNTING(objc_unsafeClaimAutoreleasedReturnValue, object)
COUNTING(objc_retainBlock, _Block_copy(object))

EXPORT void objc_release(id object);
EXPORT id objc_storeStrong(id *variable, id value);

void objc_release(id object) {
    [object release];
}

id objc_storeStrong(id *variable, id value) {
    id before = *variable;
    *variable = [value retain];
    [before release];
    return value;
}

// Weak variables do not become nil here; they hold nothing either.
#define WEAK(name, parameters, body) \
    EXPORT id name parameters;       \
    id name parameters {             \
        body;                        \
    }
WEAK(objc_initWeak, (id * variable, id value), return *variable = value)
WEAK(objc_storeWeak, (id * variable, id value), return *variable = value)
WEAK(objc_loadWeak, (id * variable), return [[*variable retain] autorelease])
WEAK(objc_loadWeakRetained, (id * variable), return [*variable retain])

EXPORT void objc_destroyWeak(id *variable);
EXPORT void objc_copyWeak(id *to, id *from);
EXPORT void objc_moveWeak(id *to, id *from);

void objc_destroyWeak(id *variable) {
    *variable = nil;
}

void objc_copyWeak(id *to, id *from) {
    *to = *from;
}

void objc_moveWeak(id *to, id *from) {
    *to = *from;
}
