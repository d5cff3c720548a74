// SPDX-License-Identifier: Apache-2.0
// Objective-C as programs for a Mac are written (instance variables in implementations, properties without @synthesize,
// array[i]) needs an ABI that GCC's runtime does not load: clang -fobjc-runtime=gnustep-1.6 generates it. Its modules
// differ little. This function overrides the runtime's function of the same name: it lays out instance variables, sets
// "version 8" and passes the module on.
#include <dlfcn.h>
#include <objc/runtime.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "arc.h"

enum {
    OLD_ABI = 8,
    NEW_ABI = 9,
    NEW_ABI_ARC = 10,
    OLD_SIZE = 4 * sizeof(long),
    OLD_PROTOCOL = 2,
    NEW_PROTOCOL = 3,
    NEW_CLASS_FLAG = 0x10
};

typedef struct protocol_list {
    struct protocol_list *next;
    size_t count;
    struct protocol {
        uintptr_t version;  // until the runtime stores the class here
        const char *name;
        struct protocol_list *parents;
    } *protocols[];
} protocol_list;

typedef struct ivar_list {
    int count;
    struct {
        const char *name, *type;
        int offset;
    } ivars[];
} ivar_list;

typedef struct method_list {
    struct method_list *next;
    int count;
    struct {
        const char *name;  // until the runtime stores the selector here
        const char *types;
        void *code;
    } methods[];
} method_list;

// As clang writes it. The runtime knows the fields before `abi`.
typedef struct class_layout {
    struct class_layout *meta;
    const char *super_name;  // until the runtime stores the class here
    const char *name;
    long version;
    unsigned long info;
    long instance_size;  // minus the size of its own variables
    ivar_list *ivars;
    method_list *methods;
    void *dispatch_table, *subclasses, *sibling;
    protocol_list *protocols;
    void *collector;
    long abi;
    int **ivar_offsets;
} class_layout;

typedef struct category_layout {
    const char *name, *class_name;
    void *instance_methods, *class_methods;
    protocol_list *protocols;
} category_layout;

typedef struct module_layout {
    unsigned long version, size;
    const char *file;
    struct {
        unsigned long selector_count;
        void *selectors;
        unsigned short class_count, category_count;
        void *definitions[];  // classes, categories, static instances
    } *symbols;
} module_layout;

static void adapt_protocols(protocol_list *list) {
    for (; list; list = list->next) {
        for (size_t i = 0; i < list->count; i++) {
            struct protocol *protocol = list->protocols[i];
            if (protocol->version != NEW_PROTOCOL) continue;
            protocol->version = OLD_PROTOCOL;
            adapt_protocols(protocol->parents);
        }
    }
}

// Results of @protocol(): clang lists them in a category of a class that does not exist, which the runtime ignores.
static void finish_protocols(protocol_list *list, uintptr_t class) {
    for (; list; list = list->next) {
        for (size_t i = 0; i < list->count; i++) {
            struct protocol *protocol = list->protocols[i];
            if (protocol->version != OLD_PROTOCOL) continue;
            protocol->version = class;
            finish_protocols(protocol->parents, class);
        }
    }
}

// A superclass in the same module was adapted before, if it comes first; others are loaded.
static long super_size(const class_layout *class, const module_layout *module) {
    if (!class->super_name) return 0;
    for (unsigned i = 0; i < module->symbols->class_count; i++) {
        const class_layout *other = module->symbols->definitions[i];
        if (strcmp(other->name, class->super_name) == 0) return other->instance_size;
    }
    Class super = objc_lookUpClass(class->super_name);
    return super ? (long)class_getInstanceSize(super) : 0;
}

static void place_ivars(class_layout *class, long start) {
    class->instance_size = start - class->instance_size;
    for (int i = 0; class->ivars && i < class->ivars->count; i++) {
        class->ivars->ivars[i].offset += (int)start;
        if (class->ivar_offsets) *class->ivar_offsets[i] += (int)start;
    }
}

static void adapt_class(class_layout *class, const module_layout *module) {
    if (!(class->info & NEW_CLASS_FLAG)) return;
    class->info &= ~(unsigned long)NEW_CLASS_FLAG;
    class->meta->info &= ~(unsigned long)NEW_CLASS_FLAG;
    if (class->instance_size <= 0) place_ivars(class, super_size(class, module));
    adapt_protocols(class->protocols);
}

// In the order of inheritance: a subclass may come before its superclass.
static int is_ready(const class_layout *class, const module_layout *module) {
    for (unsigned i = 0; i < module->symbols->class_count; i++) {
        const class_layout *other = module->symbols->definitions[i];
        int is_super = class->super_name && strcmp(other->name, class->super_name) == 0;
        if (is_super && (other->info & NEW_CLASS_FLAG)) return 0;
    }
    return 1;
}

// Whether objects of its classes hold references that ARC must release.
static int has_counted_variables(const module_layout *module) {
    for (unsigned i = 0; i < module->symbols->class_count; i++) {
        const method_list *list = ((const class_layout *)module->symbols->definitions[i])->methods;
        for (int k = 0; list && k < list->count; k++)
            if (strcmp(list->methods[k].name, ".cxx_destruct") == 0) return 1;
    }
    return 0;
}

static void adapt(module_layout *module) {
    unsigned classes = module->symbols->class_count, categories = module->symbols->category_count;
    for (unsigned round = 0; round < classes; round++)
        for (unsigned i = 0; i < classes; i++)
            if (is_ready(module->symbols->definitions[i], module)) adapt_class(module->symbols->definitions[i], module);
    for (unsigned i = 0; i < categories; i++)
        adapt_protocols(((category_layout *)module->symbols->definitions[classes + i])->protocols);
    module->version = OLD_ABI;
    module->size = OLD_SIZE;  // without the field for garbage collection
}

static void finish(const module_layout *module) {
    uintptr_t class = (uintptr_t)objc_lookUpClass("Protocol");
    unsigned classes = module->symbols->class_count;
    for (unsigned i = 0; class && i < module->symbols->category_count; i++)
        finish_protocols(((category_layout *)module->symbols->definitions[classes + i])->protocols, class);
}

__attribute__((visibility("default"))) void __objc_exec_class(void *module);

void __objc_exec_class(void *module) {
    static void (*load)(void *module);
    if (!load) load = (void (*)(void *))dlsym(RTLD_NEXT, "__objc_exec_class");
    unsigned long version = ((module_layout *)module)->version;
    int adapted = version == NEW_ABI || version == NEW_ABI_ARC;
    int counted = adapted && has_counted_variables(module);
    if (adapted) adapt(module);
    load(module);
    if (adapted) finish(module);
    if (counted) igi_arc_release_variables();
}
