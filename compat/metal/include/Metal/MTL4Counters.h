// SPDX-License-Identifier: Apache-2.0
// Metal 4: times that command buffers write while they run.
#ifndef INGOT_METAL_MTL4_COUNTERS_H
#define INGOT_METAL_MTL4_COUNTERS_H

#import <Metal/MTLDefines.h>

NS_ASSUME_NONNULL_BEGIN

typedef NS_ENUM(NSInteger, MTL4CounterHeapType) {
    MTL4CounterHeapTypeInvalid = 0,
    MTL4CounterHeapTypeTimestamp = 1,
};

typedef NS_ENUM(NSInteger, MTL4TimestampGranularity) {
    MTL4TimestampGranularityRelaxed = 0,
    MTL4TimestampGranularityPrecise = 1,
};

typedef struct {
    uint64_t timestamp;  // in nanoseconds here: see queryTimestampFrequency of the device
} MTL4TimestampHeapEntry;

MTL_EXPORT
@interface MTL4CounterHeapDescriptor : NSObject <NSCopying> {
    MTL4CounterHeapType _type;
    NSUInteger _count;
}
@property (nonatomic) MTL4CounterHeapType type;
@property (nonatomic) NSUInteger count;
@end

// Entries get their times when the command buffer that writes them has run; before that, and once invalidated, they are 0.
@protocol MTL4CounterHeap <NSObject>
@property (nullable, copy, atomic) NSString *label;
@property (readonly) NSUInteger count;
@property (readonly) MTL4CounterHeapType type;
- (nullable NSData *)resolveCounterRange:(NSRange)range;  // entries as MTL4TimestampHeapEntry; nil: outside
- (void)invalidateCounterRange:(NSRange)range;
@end

NS_ASSUME_NONNULL_END

#endif
