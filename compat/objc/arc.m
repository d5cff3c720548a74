// SPDX-License-Identifier: Apache-2.0
// The functions that -fobjc-arc calls. Weak variables become nil when their object is deallocated; a thread that loads
// one at that moment is not protected.
#include "arc.h"

#import <Foundation/Foundation.h>

#include <Block.h>
#include <objc/runtime.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

// ---- Strong references ----

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

// ---- Weak references ----

typedef struct weak_variable {
    struct weak_variable *next;
    id object;
    id *variable;
} weak_variable;

enum { BUCKETS = 1024 };
static weak_variable *weak_variables[BUCKETS];
static pthread_mutex_t weak_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool any_weak;

static weak_variable **bucket_of(id object) {
    return &weak_variables[((uintptr_t)object >> 4) % BUCKETS];
}

static void forget(id object, id *variable) {
    for (weak_variable **link = bucket_of(object); *link; link = &(*link)->next) {
        weak_variable *entry = *link;
        if (entry->object != object || entry->variable != variable) continue;
        *link = entry->next;
        free(entry);
        return;
    }
}

static void remember(id object, id *variable) {
    weak_variable *entry = malloc(sizeof *entry);
    if (!entry) abort();  // the compiler's code cannot handle an error
    weak_variable **bucket = bucket_of(object);
    *entry = (weak_variable){*bucket, object, variable};
    *bucket = entry;
    atomic_store(&any_weak, true);
}

static void clear_weak(id object) {
    pthread_mutex_lock(&weak_lock);
    weak_variable **link = bucket_of(object);
    while (*link) {
        weak_variable *entry = *link;
        if (entry->object != object) {
            link = &entry->next;
            continue;
        }
        *entry->variable = nil;
        *link = entry->next;
        free(entry);
    }
    pthread_mutex_unlock(&weak_lock);
}

EXPORT id objc_initWeak(id *variable, id value);
EXPORT id objc_storeWeak(id *variable, id value);
EXPORT id objc_loadWeakRetained(id *variable);
EXPORT id objc_loadWeak(id *variable);
EXPORT void objc_destroyWeak(id *variable);
EXPORT void objc_copyWeak(id *to, id *from);
EXPORT void objc_moveWeak(id *to, id *from);

id objc_storeWeak(id *variable, id value) {
    igi_arc_release_variables();
    pthread_mutex_lock(&weak_lock);
    if (*variable) forget(*variable, variable);
    if (value) remember(value, variable);
    *variable = value;
    pthread_mutex_unlock(&weak_lock);
    return value;
}

id objc_initWeak(id *variable, id value) {
    *variable = nil;
    return objc_storeWeak(variable, value);
}

id objc_loadWeakRetained(id *variable) {
    pthread_mutex_lock(&weak_lock);
    id value = [*variable retain];
    pthread_mutex_unlock(&weak_lock);
    return value;
}

id objc_loadWeak(id *variable) {
    return [objc_loadWeakRetained(variable) autorelease];
}

void objc_destroyWeak(id *variable) {
    objc_storeWeak(variable, nil);
}

void objc_copyWeak(id *to, id *from) {
    id value = objc_loadWeakRetained(from);
    objc_initWeak(to, value);
    [value release];
}

void objc_moveWeak(id *to, id *from) {
    objc_copyWeak(to, from);
    objc_destroyWeak(from);
}

// ---- The end of objects ----

typedef void (*ending)(id object, SEL selector);
static IMP end_object;  // NSObject's dealloc

// The method that the compiler names .cxx_destruct releases the variables of one class, not those of its superclasses.
static void release_variables(id object) {
    SEL destruct = sel_registerName(".cxx_destruct");
    for (Class class = object_getClass(object); class_respondsToSelector(class, destruct);) {
        Class super = class_getSuperclass(class);
        IMP own = class_getMethodImplementation(class, destruct);
        BOOL inherited =
            class_respondsToSelector(super, destruct) && class_getMethodImplementation(super, destruct) == own;
        if (!inherited) ((ending)(void *)own)(object, destruct);
        class = super;
    }
}

static void end_with_variables(id object, SEL selector) {
    release_variables(object);
    if (atomic_load_explicit(&any_weak, memory_order_relaxed)) clear_weak(object);
    ((ending)(void *)end_object)(object, selector);
}

static void replace_dealloc(void) {
    Method dealloc = class_getInstanceMethod(objc_getClass("NSObject"), @selector(dealloc));
    end_object = method_getImplementation(dealloc);
    method_setImplementation(dealloc, (IMP)(void *)end_with_variables);
}

void igi_arc_release_variables(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, replace_dealloc);
}
