// SPDX-License-Identifier: Apache-2.0
// Counters of the device: times, in nanoseconds of the clock of sampleTimestamps:gpuTimestamp:.
#ifndef INGOT_METAL_COUNTERS_H
#define INGOT_METAL_COUNTERS_H

#import <Metal/MTLResource.h>

NS_ASSUME_NONNULL_BEGIN

typedef NSString *MTLCommonCounter;
typedef NSString *MTLCommonCounterSet;
MTL_EXTERN MTLCommonCounter const MTLCommonCounterTimestamp;
MTL_EXTERN MTLCommonCounterSet const MTLCommonCounterSetTimestamp;
MTL_EXTERN MTLCommonCounterSet const MTLCommonCounterSetStageUtilization;
MTL_EXTERN MTLCommonCounterSet const MTLCommonCounterSetStatistic;

#define MTLCounterErrorValue ((uint64_t)~0ULL)
#define MTLCounterDontSample ((NSUInteger) - 1)

typedef struct {
    uint64_t timestamp;
} MTLCounterResultTimestamp;
typedef struct {
    uint64_t totalCycles, vertexCycles, tessellationCycles, postTessellationVertexCycles, fragmentCycles,
        renderTargetCycles;
} MTLCounterResultStageUtilization;
typedef struct {
    uint64_t tessellationInputPatches, vertexInvocations, postTessellationVertexInvocations, clipperInvocations,
        clipperPrimitivesOut, fragmentInvocations, fragmentsPassed, computeKernelInvocations;
} MTLCounterResultStatistic;

MTL_EXTERN NSErrorDomain const MTLCounterErrorDomain;

typedef NS_ENUM(NSInteger, MTLCounterSampleBufferError) {
    MTLCounterSampleBufferErrorOutOfMemory = 0,
    MTLCounterSampleBufferErrorInvalid = 1,
    MTLCounterSampleBufferErrorInternal = 2,
};

typedef NS_ENUM(NSUInteger, MTLCounterSamplingPoint) {
    MTLCounterSamplingPointAtStageBoundary = 0,
    MTLCounterSamplingPointAtDrawBoundary = 1,
    MTLCounterSamplingPointAtDispatchBoundary = 2,
    MTLCounterSamplingPointAtTileDispatchBoundary = 3,
    MTLCounterSamplingPointAtBlitBoundary = 4,
};

@protocol MTLCounter <NSObject>
@property (readonly) NSString *name;
@end

// The software device has one set, MTLCommonCounterSetTimestamp.
@protocol MTLCounterSet <NSObject>
@property (readonly) NSString *name;
@property (readonly) NSArray<id<MTLCounter>> *counters;
@end

MTL_EXPORT
@interface MTLCounterSampleBufferDescriptor : NSObject <NSCopying> {
    id<MTLCounterSet> _counterSet;
    NSString *_label;
    MTLStorageMode _storageMode;
    NSUInteger _sampleCount;
}
@property (nullable, readwrite, retain, nonatomic) id<MTLCounterSet> counterSet;
@property (readwrite, copy, nonatomic) NSString *label;
@property (readwrite, nonatomic) MTLStorageMode storageMode;
@property (readwrite, nonatomic) NSUInteger sampleCount;
@end

@protocol MTLCounterSampleBuffer <NSObject>
@property (readonly) id<MTLDevice> device;
@property (readonly) NSString *label;
@property (readonly) NSUInteger sampleCount;
// MTLCounterResultTimestamp for each sample; MTLCounterErrorValue for those that no command buffer has taken yet.
- (nullable NSData *)resolveCounterRange:(NSRange)range;
@end

NS_ASSUME_NONNULL_END

#endif
