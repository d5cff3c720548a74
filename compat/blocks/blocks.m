// SPDX-License-Identifier: Apache-2.0
// Blocks that are Objective-C objects, as Metal programs expect: [block copy], blocks in arrays and properties.
//
// On GCC's Objective-C runtime neither libBlocksRuntime (whose blocks answer no message) nor the functions in GNUstep
// (whose _Block_copy leaves blocks on the stack) give that. The layout is clang's, docs/Block-ABI-Apple.
#import <Foundation/Foundation.h>

#include <Block.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    HAS_HELPERS = 1 << 25,  // of blocks and of __block variables
    ON_HEAP = 1 << 24,      // of __block variables
    ONE_REFERENCE = 2,      // of __block variables, counted in their flags
    REFERENCES = 0xfffe,
};

// The kind of a captured variable, as encoded by the compiler's helpers.
enum { IS_OBJECT = 3, IS_BLOCK = 7, IS_BYREF = 8, IS_WEAK = 16, IN_BYREF = 128 };

typedef struct block_descriptor {
    unsigned long reserved, size;
    void (*copy)(void *to, const void *from);
    void (*dispose)(const void *block);
} block_descriptor;

typedef struct block_layout {
    void *isa;
    int flags;
    atomic_int references;  // of blocks on the heap
    void (*invoke)(void *, ...);
    block_descriptor *descriptor;
} block_layout;

typedef struct byref {
    void *isa;
    struct byref *forwarding;
    atomic_int flags;
    unsigned size;
    void (*keep)(void *to, void *from);  // with HAS_HELPERS
    void (*destroy)(void *variable);
} byref;

// ---- Classes ----

@interface NSBlock : NSObject
@end
@interface __NSStackBlock__ : NSBlock
@end
@interface __NSGlobalBlock__ : NSBlock
@end
@interface __NSMallocBlock__ : NSBlock
@end

// The compiler puts the addresses of these symbols into blocks: they must be the classes themselves.
#define BLOCK_CLASS(symbol, class)                                             \
    __asm__(".globl " #symbol "\n.set " #symbol ", _OBJC_CLASS_" #class "\n"); \
    extern char symbol[]
BLOCK_CLASS(_NSConcreteStackBlock, __NSStackBlock__);
BLOCK_CLASS(_NSConcreteGlobalBlock, __NSGlobalBlock__);
BLOCK_CLASS(_NSConcreteMallocBlock, __NSMallocBlock__);

@implementation NSBlock
- (id)copy {
    return _Block_copy(self);
}
- (id)copyWithZone:(NSZone *)zone {
    return _Block_copy(self);
}
- (id)retain {
    return self;
}
- (oneway void)release {
}
- (NSUInteger)retainCount {
    return 1;
}
- (void)dealloc {
    return;
    [super dealloc];  // blocks are freed by _Block_release
}
@end

@implementation __NSStackBlock__
@end

@implementation __NSGlobalBlock__
@end

@implementation __NSMallocBlock__
- (id)retain {
    return _Block_copy(self);
}
- (oneway void)release {
    _Block_release(self);
}
- (NSUInteger)retainCount {
    return (NSUInteger)atomic_load(&((block_layout *)(void *)self)->references);
}
@end

// ---- Blocks ----

static void *copy_to_heap(const block_layout *block) {
    block_layout *copy = malloc(block->descriptor->size);
    if (!copy) return NULL;
    memcpy(copy, block, block->descriptor->size);
    copy->isa = _NSConcreteMallocBlock;
    atomic_init(&copy->references, 1);
    if (block->flags & HAS_HELPERS) block->descriptor->copy(copy, block);
    return copy;
}

void *_Block_copy(const void *block) {
    block_layout *layout = (block_layout *)block;
    if (!layout) return NULL;
    if (layout->isa == _NSConcreteStackBlock) return copy_to_heap(layout);
    if (layout->isa == _NSConcreteMallocBlock) atomic_fetch_add(&layout->references, 1);
    return layout;
}

void _Block_release(const void *block) {
    block_layout *layout = (block_layout *)block;
    if (!layout || layout->isa != _NSConcreteMallocBlock) return;
    if (atomic_fetch_sub(&layout->references, 1) != 1) return;
    if (layout->flags & HAS_HELPERS) layout->descriptor->dispose(layout);
    free(layout);
}

// ---- Captured variables ----

static byref *move_to_heap(byref *variable) {
    byref *copy = malloc(variable->size);
    if (!copy) abort();  // the compiler's code cannot handle an error
    size_t header = offsetof(byref, keep);
    copy->isa = NULL;
    copy->forwarding = copy;
    copy->size = variable->size;
    // One reference for the new owner, one for the scope in which the variable was declared.
    atomic_init(&copy->flags, (atomic_load(&variable->flags) & ~REFERENCES) | ON_HEAP | 2 * ONE_REFERENCE);
    variable->forwarding = copy;
    if (atomic_load(&variable->flags) & HAS_HELPERS) {
        copy->keep = variable->keep;
        copy->destroy = variable->destroy;
        variable->keep(copy, variable);
    } else {
        memcpy((char *)copy + header, (char *)variable + header, variable->size - header);
    }
    return copy;
}

static byref *keep_byref(byref *variable) {
    byref *shared = variable->forwarding;
    if (!(atomic_load(&shared->flags) & ON_HEAP)) return move_to_heap(shared);
    atomic_fetch_add(&shared->flags, ONE_REFERENCE);
    return shared;
}

static void drop_byref(byref *variable) {
    byref *shared = variable->forwarding;
    if (!(atomic_load(&shared->flags) & ON_HEAP)) return;
    int flags = atomic_fetch_sub(&shared->flags, ONE_REFERENCE);
    if ((flags & REFERENCES) != ONE_REFERENCE) return;
    if (flags & HAS_HELPERS) shared->destroy(shared);
    free(shared);
}

__attribute__((visibility("default"))) void _Block_object_assign(void *target, const void *value, int kind);
__attribute__((visibility("default"))) void _Block_object_dispose(const void *value, int kind);

void _Block_object_assign(void *target, const void *value, int kind) {
    const void **variable = target;
    switch (kind & ~IS_WEAK) {
        case IS_OBJECT: *variable = [(id)value retain]; break;
        case IS_BLOCK: *variable = _Block_copy(value); break;
        case IS_BYREF: *variable = keep_byref((byref *)value); break;
        default: *variable = value;  // in a __block variable, which retains nothing
    }
}

void _Block_object_dispose(const void *value, int kind) {
    switch (kind & ~IS_WEAK) {
        case IS_OBJECT: [(id)value release]; break;
        case IS_BLOCK: _Block_release(value); break;
        case IS_BYREF: drop_byref((byref *)value); break;
        default: break;
    }
}
