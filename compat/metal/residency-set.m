// SPDX-License-Identifier: Apache-2.0
#include "residency-set.h"

@implementation MTLResidencySetDescriptor
@synthesize label = _label, initialCapacity = _initialCapacity;

- (void)dealloc {
    [_label release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    MTLResidencySetDescriptor *copy = [[[self class] allocWithZone:zone] init];
    copy.label = _label;
    copy.initialCapacity = _initialCapacity;
    return copy;
}
@end

@implementation IGResidencySet
- (id)initWithDevice:(IGDevice *)device label:(NSString *)label {
    if (!(self = [super init])) return nil;
    _device = [device retain];
    _allocations = [[NSMutableArray alloc] init];
    self.label = label;
    return self;
}

- (void)dealloc {
    [_allocations release];
    [_device release];
    [super dealloc];
}

- (id<MTLDevice>)device {
    return _device;
}

- (uint64_t)allocatedSize {
    uint64_t size = 0;
    @synchronized(self) {
        for (id<MTLAllocation> allocation in _allocations) size += [allocation allocatedSize];
    }
    return size;
}

- (NSArray *)allAllocations {
    @synchronized(self) {
        return igi_autoreleased([_allocations copy]);
    }
}

- (NSUInteger)allocationCount {
    @synchronized(self) {
        return [_allocations count];
    }
}

- (BOOL)containsAllocation:(id<MTLAllocation>)allocation {
    @synchronized(self) {
        return [_allocations indexOfObjectIdenticalTo:allocation] != NSNotFound;
    }
}

- (void)addAllocation:(id<MTLAllocation>)allocation {
    @synchronized(self) {
        if (allocation && [_allocations indexOfObjectIdenticalTo:allocation] == NSNotFound)
            [_allocations addObject:allocation];
    }
}

- (void)removeAllocation:(id<MTLAllocation>)allocation {
    @synchronized(self) {
        [_allocations removeObjectIdenticalTo:allocation];
    }
}

- (void)addAllocations:(const id<MTLAllocation>[])allocations count:(NSUInteger)count {
    for (NSUInteger i = 0; i < count; i++) [self addAllocation:allocations[i]];
}

- (void)removeAllocations:(const id<MTLAllocation>[])allocations count:(NSUInteger)count {
    for (NSUInteger i = 0; i < count; i++) [self removeAllocation:allocations[i]];
}

- (void)removeAllAllocations {
    @synchronized(self) {
        [_allocations removeAllObjects];
    }
}

- (void)requestResidency {
}

- (void)endResidency {
}

- (void)commit {
}
@end
