// SPDX-License-Identifier: Apache-2.0
// Metal as bindings for other languages know it, such as Rust's `metal`, `objc` and `block`: methods that are looked up by
// name, blocks that the program lays out itself, the main queue as a variable, and the library names of other systems.
#include <stdio.h>

typedef struct objc_object *id;
typedef struct objc_selector *SEL;
typedef unsigned long (*get_number)(id receiver, SEL selector);

struct dispatch_queue_s;
extern struct dispatch_queue_s _dispatch_main_q;
extern void *_NSConcreteStackBlock[];

const char *dispatch_queue_get_label(struct dispatch_queue_s *queue);
void *_Block_copy(const void *block);
void _Block_release(const void *block);
id MTLCreateSystemDefaultDevice(void);
SEL sel_registerName(const char *name);
get_number objc_msg_lookup(id receiver, SEL selector);

typedef struct block {
    void *isa;
    int flags, reserved;
    int (*invoke)(struct block *block, int number);
    const struct description {
        unsigned long reserved, size;
    } *description;
    int more;
} block;

static int add(block *b, int number) {
    return number + b->more;
}

int main(void) {
    static const struct description description = {0, sizeof(block)};
    block on_stack = {_NSConcreteStackBlock, 0, 0, add, &description, 2};
    printf("%s\n", dispatch_queue_get_label(&_dispatch_main_q));
    block *copy = _Block_copy(&on_stack);
    on_stack.more = 0;
    printf("%d\n", copy->invoke(copy, 40));
    _Block_release(copy);
    id device = MTLCreateSystemDefaultDevice();
    SEL most = sel_registerName("maxThreadgroupMemoryLength");
    printf("%lu\n", objc_msg_lookup(device, most)(device, most));
}
