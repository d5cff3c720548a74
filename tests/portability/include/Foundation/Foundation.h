// SPDX-License-Identifier: Apache-2.0
// The part of Foundation that src/device/metal and the headers of Metal use. A string made of bytes may be nil, and so
// clang refuses it where an object must be.
#ifndef STAND_IN_FOUNDATION_H
#define STAND_IN_FOUNDATION_H

#include <CoreFoundation/CoreFoundation.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define NS_ASSUME_NONNULL_BEGIN _Pragma("clang assume_nonnull begin")
#define NS_ASSUME_NONNULL_END _Pragma("clang assume_nonnull end")
#define NS_ENUM(type, name) \
    enum name : type name;  \
    enum name : type
#define NS_OPTIONS(type, name) NS_ENUM(type, name)
#define NS_RETURNS_RETAINED __attribute__((ns_returns_retained))
#define NSUIntegerMax UINTPTR_MAX
#define NSEC_PER_SEC 1000000000ull
#define YES __objc_yes
#define NO __objc_no
#define nil ((id)0)

typedef signed char STAND_IN_BOOL;
#if defined(__aarch64__)
typedef bool BOOL;
#else
typedef STAND_IN_BOOL BOOL;
#endif
typedef long NSInteger;
#define NSIntegerMax __LONG_MAX__
typedef unsigned long NSUInteger;
typedef double NSTimeInterval;
typedef struct stand_in_zone NSZone;
typedef struct _NSRange {
    NSUInteger location, length;
} NSRange;
static inline NSRange NSMakeRange(NSUInteger location, NSUInteger length) {
    return (NSRange){location, length};
}

NS_ASSUME_NONNULL_BEGIN

@class NSString, NSError;
typedef NSString *NSErrorDomain;
typedef NSString *NSExceptionName;
typedef enum { NSUTF8StringEncoding = 4 } NSStringEncoding;

@protocol NSObject
- (instancetype)retain;
- (oneway void)release;
- (instancetype)autorelease;
- (NSUInteger)retainCount;
- (NSUInteger)hash;
- (BOOL)isEqual:(nullable id)other;
- (BOOL)isKindOfClass:(Class)wanted;
- (BOOL)respondsToSelector:(SEL)selector;
- (BOOL)conformsToProtocol:(Protocol *)protocol;
@end

__attribute__((objc_root_class))
@interface NSObject<NSObject>
+ (instancetype)alloc;
+ (instancetype)new;
- (instancetype)init;
- (void)dealloc;
- (id)copy;
@end

@protocol NSCopying
- (id)copyWithZone:(nullable NSZone *)zone;
@end
@protocol NSCoding
@end
@protocol NSSecureCoding <NSCoding>
@end

typedef struct {
    unsigned long state;
    id __unsafe_unretained _Nullable *_Nullable itemsPtr;
    unsigned long *_Nullable mutationsPtr;
    unsigned long extra[5];
} NSFastEnumerationState;
@protocol NSFastEnumeration
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState *)state
                                  objects:(id __unsafe_unretained _Nullable[_Nonnull])buffer
                                    count:(NSUInteger)count;
@end

@interface NSString : NSObject <NSCopying>
+ (nullable instancetype)stringWithUTF8String:(const char *)bytes;
+ (instancetype)stringWithFormat:(NSString *)format, ...;
- (nullable instancetype)initWithBytes:(const void *)bytes
                                length:(NSUInteger)length
                              encoding:(NSStringEncoding)encoding;
- (nullable const char *)UTF8String;
- (NSUInteger)length;
- (BOOL)isEqualToString:(NSString *)other;
- (NSString *)stringByAppendingPathComponent:(NSString *)part;
@end

@interface NSArray<__covariant T> : NSObject <NSCopying, NSFastEnumeration>
+ (instancetype)array;
+ (instancetype)arrayWithObject:(T)object;
- (NSUInteger)count;
- (T)objectAtIndex:(NSUInteger)index;
- (BOOL)containsObject:(T)object;
@end
@interface NSMutableArray<T> : NSArray <T>
- (void)addObject:(T)object;
@end

@interface NSDictionary<__covariant K, __covariant V> : NSObject <NSCopying, NSFastEnumeration>
+ (instancetype)dictionary;
- (NSUInteger)count;
- (nullable V)objectForKey:(K)key;
@end
@interface NSMutableDictionary<K, V> : NSDictionary <K, V>
- (void)setObject:(V)value forKey:(K)key;
@end

@interface NSNumber : NSObject <NSCopying>
@end
@interface NSData : NSObject <NSCopying>
@end
@interface NSBundle : NSObject
@end

@interface NSURL : NSObject <NSCopying>
+ (NSURL *)fileURLWithPath:(NSString *)path;
- (BOOL)checkResourceIsReachableAndReturnError:(NSError *_Nullable *_Nullable)error;
@end

@interface NSError : NSObject <NSCopying>
- (NSInteger)code;
- (NSErrorDomain)domain;
- (NSString *)localizedDescription;
@end

NS_ASSUME_NONNULL_END

#endif
