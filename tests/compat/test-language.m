// SPDX-License-Identifier: Apache-2.0
// Objective-C as it is written for a Mac, on GCC's runtime: instance variables of implementations and extensions,
// properties without @synthesize, subscripts, and what must keep working beside them.
#include <objc/runtime.h>

#include "helpers.h"

// The subclass first: classes of a file may come in any order.
@interface Base : NSObject {
    char _first;
}
@property (nonatomic) int inherited;
@end

@interface Derived : Base <NSCopying>
@property (copy) NSString *name;
@property (nonatomic, retain) NSArray *list;
@property (readonly) double half;
@end

@interface Derived ()
@property (nonatomic) MTLSize size;
@end

@implementation Derived {
    uint8_t _small;
    uint64_t _large;
}

- (id)init {
    if (!(self = [super init])) return nil;
    _small = 7;
    _large = 1ull << 40;
    _half = 0.5;
    return self;
}

- (void)dealloc {
    [_name release];
    [_list release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone {
    Derived *copy = [[[self class] allocWithZone:zone] init];
    copy.name = self.name;
    copy->_large = _large;
    return copy;
}

- (int)inherited {
    return [super inherited] + 1;
}

- (uint64_t)sum {
    return _small + _large;
}
@end

@implementation Base
- (char)first {
    return _first;
}
- (void)setFirst:(char)first {
    _first = first;
}
@end

@interface NSString (Twice)
- (NSString *)twice;
@end

@implementation NSString (Twice)
- (NSString *)twice {
    return [self stringByAppendingString:self];
}
@end

static void instance_variables_have_places_of_their_own(void **state) {
    Derived *object = [[[Derived alloc] init] autorelease];
    [(Base *)object setFirst:'f'];
    object.inherited = 41;
    object.name = @"name";
    object.list = @[ @"a", @2 ];
    object.size = MTLSizeMake(1, 2, 3);
    assert_int_equal([(Base *)object first], 'f');
    assert_int_equal(object.inherited, 42);
    assert_text(object.name, "name");
    assert_int_equal([object sum], 7 + (1ull << 40));
    assert_true(object.half == 0.5);
    assert_int_equal(object.size.depth, 3);
    assert_true(class_getInstanceSize([Derived class]) > class_getInstanceSize([Base class]));
    Derived *copy = [[object copy] autorelease];
    assert_text(copy.name, "name");
    assert_int_equal([copy sum], [object sum]);
}

static void collections_have_subscripts(void **state) {
    NSArray *array = @[ @"zero", @1, @2.5 ];
    assert_text(array[0], "zero");
    assert_int_equal([array[1] intValue], 1);
    NSMutableDictionary *dictionary = [NSMutableDictionary dictionaryWithDictionary:@{@"key" : @"value"}];
    dictionary[@"more"] = array;
    assert_text(dictionary[@"key"], "value");
    assert_int_equal([dictionary[@"more"] count], 3);
    MTLComputePipelineDescriptor *descriptor = [[[MTLComputePipelineDescriptor alloc] init] autorelease];
    descriptor.buffers[2].mutability = MTLMutabilityImmutable;
    assert_int_equal(descriptor.buffers[2].mutability, MTLMutabilityImmutable);
}

// As on a Mac: generated sources often have a (C) sign in them.
static void strings_beyond_ascii_are_not_nil(void **state) {
    const char *text = "a\xc2\xa9";
    NSStringEncoding ascii = NSASCIIStringEncoding;
    NSData *data = [NSData dataWithBytes:text length:3];
    NSString *strings[] = {
        [NSString stringWithCString:text encoding:ascii],
        [[[NSString alloc] initWithCString:text encoding:ascii] autorelease],
        [[[NSString alloc] initWithBytes:text length:3 encoding:ascii] autorelease],
        [[[NSString alloc] initWithBytesNoCopy:strdup(text) length:3 encoding:ascii freeWhenDone:YES] autorelease],
        [[[NSString alloc] initWithData:data encoding:ascii] autorelease],
        [NSMutableString stringWithCString:text encoding:ascii],
        [[[NSMutableString alloc] initWithBytes:text length:3 encoding:ascii] autorelease],
        [[[NSMutableString alloc] initWithData:data encoding:ascii] autorelease],
    };
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
        assert_non_null(strings[i]);
        assert_int_equal([strings[i] length], 3);
        assert_int_equal([strings[i] characterAtIndex:2], 0xa9);
    }
    assert_text([NSString stringWithCString:"plain" encoding:ascii], "plain");
    assert_int_equal([[NSString stringWithCString:text encoding:NSUTF8StringEncoding] length], 2);
}

static void categories_exceptions_and_enumeration_work(void **state) {
    assert_text([@"ab" twice], "abab");
    int steps = 0;
    @try {
        [NSException raise:@"Trouble" format:@"on purpose"];
    } @catch (NSException *exception) {
        assert_text([exception name], "Trouble");
        steps++;
    } @finally {
        steps++;
    } @
    synchronized(device) {
        for (NSNumber *number in @[ @1, @2, @3 ]) steps += [number intValue];
    }
    assert_int_equal(steps, 8);
    assert_true([Derived conformsToProtocol:@protocol(NSCopying)]);
    assert_true([device conformsToProtocol:@protocol(MTLDevice)]);
    assert_false([device conformsToProtocol:@protocol(MTLBuffer)]);
    assert_text(NSStringFromProtocol(@protocol(MTLBuffer)), "MTLBuffer");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        compat_test(instance_variables_have_places_of_their_own),
        compat_test(collections_have_subscripts),
        compat_test(strings_beyond_ascii_are_not_nil),
        compat_test(categories_exceptions_and_enumeration_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
