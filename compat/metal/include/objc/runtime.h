// SPDX-License-Identifier: Apache-2.0
// GCC's header for the Objective-C runtime or, under ARC, which cannot compile it, the part that Foundation and most
// programs need.
#ifndef INGOT_OBJC_RUNTIME_H
#define INGOT_OBJC_RUNTIME_H

#if defined(__OBJC__) && __has_feature(objc_arc)

#include <objc/objc.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct objc_ivar *Ivar;
typedef struct objc_method *Method;
typedef struct objc_category *Category;
typedef struct objc_property *objc_property_t;
struct objc_method_description {
    SEL name;
    char *types;
};

extern Class objc_getClass(const char *name);
extern Class objc_lookUpClass(const char *name);
extern Protocol *objc_getProtocol(const char *name);
extern const char *class_getName(Class which);
extern Class class_getSuperclass(Class which);
extern size_t class_getInstanceSize(Class which);
extern BOOL class_respondsToSelector(Class which, SEL selector);
extern const char *sel_getName(SEL selector);
extern SEL sel_registerName(const char *name);

#ifdef __cplusplus
}
#endif

#else
#include_next <objc/runtime.h>
#endif

#endif
