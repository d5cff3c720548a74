// SPDX-License-Identifier: Apache-2.0
// Strings of NSASCIIStringEncoding with bytes beyond 127, which are strings on a Mac and nil in GNUstep: here they are
// read as Latin-1. Every initialiser for bytes and C strings ends in the two methods of these classes.
#import <Foundation/Foundation.h>

#include <objc/runtime.h>

typedef id (*copying_init)(id, SEL, const void *, NSUInteger, NSStringEncoding);
typedef id (*owning_init)(id, SEL, void *, NSUInteger, NSStringEncoding, BOOL);

static const char *const class_names[] = {"GSPlaceholderString", "GSMutableString"};
enum { CLASSES = sizeof class_names / sizeof *class_names };

static NSStringEncoding real_encoding(const unsigned char *bytes, NSUInteger length, NSStringEncoding encoding) {
    if (encoding != NSASCIIStringEncoding) return encoding;
    for (NSUInteger i = 0; i < length; i++)
        if (bytes[i] > 127) return NSISOLatin1StringEncoding;
    return encoding;
}

static IMP replace(Class class, SEL selector, IMP with) {
    Method method = class_getInstanceMethod(class, selector);
    return method ? class_replaceMethod(class, selector, with, method_getTypeEncoding(method)) : NULL;
}

// ---- A pair of methods for each class, because each goes on to the one that it replaces ----

static copying_init copying[CLASSES];
static owning_init owning[CLASSES];

#define INITIALISERS(n)                                                                                         \
    static id init_copying_##n(id self, SEL command, const void *bytes, NSUInteger length,                      \
                               NSStringEncoding encoding) {                                                     \
        return copying[n](self, command, bytes, length, real_encoding(bytes, length, encoding));                \
    }                                                                                                           \
    static id init_owning_##n(id self, SEL command, void *bytes, NSUInteger length, NSStringEncoding encoding,  \
                              BOOL free_when_done) {                                                            \
        return owning[n](self, command, bytes, length, real_encoding(bytes, length, encoding), free_when_done); \
    }
INITIALISERS(0)
INITIALISERS(1)

__attribute__((constructor)) static void read_beyond_ascii(void) {
    static const copying_init new_copying[CLASSES] = {init_copying_0, init_copying_1};
    static const owning_init new_owning[CLASSES] = {init_owning_0, init_owning_1};
    for (size_t i = 0; i < CLASSES; i++) {
        Class class = objc_getClass(class_names[i]);
        if (!class) continue;
        // By name: this file's own selectors may not be registered yet.
        SEL copies = sel_registerName("initWithBytes:length:encoding:");
        SEL owns = sel_registerName("initWithBytesNoCopy:length:encoding:freeWhenDone:");
        copying[i] = (copying_init)class_getMethodImplementation(class, copies);
        owning[i] = (owning_init)class_getMethodImplementation(class, owns);
        replace(class, copies, (IMP)new_copying[i]);
        replace(class, owns, (IMP)new_owning[i]);
    }
}
