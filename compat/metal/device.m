// SPDX-License-Identifier: Apache-2.0
// The device itself: finding it, its lifetime, its limits.
#include "device.h"

#include "capture.h"
#include "counters.h"
#include "log-state.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

MTLDeviceNotificationName const MTLDeviceWasAddedNotification = @"MTLDeviceWasAddedNotification";
MTLDeviceNotificationName const MTLDeviceRemovalRequestedNotification = @"MTLDeviceRemovalRequestedNotification";
MTLDeviceNotificationName const MTLDeviceWasRemovedNotification = @"MTLDeviceWasRemovedNotification";
MTLCommonCounter const MTLCommonCounterTimestamp = @"GPUTimestamp";
MTLCommonCounterSet const MTLCommonCounterSetTimestamp = @"timestamp";
MTLCommonCounterSet const MTLCommonCounterSetStageUtilization = @"stageutilization";
MTLCommonCounterSet const MTLCommonCounterSetStatistic = @"statistic";

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static IGDevice *living;  // not retained

// ---- Finding it ----

id<MTLDevice> MTLCreateSystemDefaultDevice(void) {
    igi_ensure_pool();
    pthread_mutex_lock(&lock);
    if (living)
        [living retain];
    else
        living = [[IGDevice alloc] init];
    IGDevice *device = living;
    pthread_mutex_unlock(&lock);
    return device;
}

NSArray *MTLCopyAllDevices(void) {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    NSArray *devices = [[NSArray alloc] initWithObjects:device, nil];
    [device release];
    return devices;
}

NSArray *MTLCopyAllDevicesWithObserver(id<NSObject> *observer, MTLDeviceNotificationHandler handler) {
    if (observer) *observer = igi_autoreleased([[NSObject alloc] init]);
    return MTLCopyAllDevices();
}

void MTLRemoveDeviceObserver(id<NSObject> observer) {}

@implementation MTLArchitecture
@synthesize name = _name;

- (id)initWithName:(NSString *)name {
    if ((self = [super init])) _name = [name copy];
    return self;
}

- (id)copyWithZone:(NSZone *)zone {
    return [self retain];
}

- (void)dealloc {
    [_name release];
    [super dealloc];
}
@end

// GPUs stop kernels that run too long. Code that can be stopped is slower, so here only INGOT_METAL_TIMEOUT (seconds) enables it.
static uint64_t watchdog_ns(void) {
    const char *wanted = getenv("INGOT_METAL_TIMEOUT");
    double seconds = wanted ? strtod(wanted, NULL) : 0;
    return seconds > 0 && seconds < 1e9 ? (uint64_t)(seconds * 1e9) : 0;
}

// As on a Mac: MTL_SHADER_VALIDATION=1 checks what kernels do. INGOT_CHECK selects the checks.
static uint32_t validation(void) {
    const char *wanted = getenv("MTL_SHADER_VALIDATION");
    return wanted && *wanted && strcmp(wanted, "0") != 0 && !getenv("INGOT_CHECK") ? IG_CHECK_ALL : 0;
}

bool igi_metal_is_validating(void) {
    const char *checks = getenv("INGOT_CHECK");
    return validation() || (checks && *checks);
}

@implementation IGDevice

// ---- Life ----

- (id)init {
    if (!(self = [super init])) return nil;
    atomic_init(&_references, 1);
    // By name: with INGOT_DEVICE=metal the default could be the backend that uses this class.
    _capturable = igi_metal_may_capture();
    ig_device_desc desc = {.name = "cpu",
                           .deadline_ns = watchdog_ns(),
                           .check = validation(),
                           .kernel_log = igi_metal_default_log(),
                           .capturable = _capturable};
    if (ig_device_create(&desc, &_device, NULL) != IG_STATUS_OK) {
        [self dealloc];  // release would take the lock, which the caller holds
        return nil;
    }
    ig_device_get_properties(_device, &_properties);
    return self;
}

- (id)retain {
    atomic_fetch_add(&_references, 1);
    return self;
}

// Releasing the last reference must not race with taking a new one through `living`.
- (oneway void)release {
    pthread_mutex_lock(&lock);
    BOOL last = atomic_fetch_sub(&_references, 1) == 1;
    if (last && living == self) living = nil;
    pthread_mutex_unlock(&lock);
    if (last) [self dealloc];
}

- (NSUInteger)retainCount {
    return atomic_load(&_references);
}

- (void)dealloc {
    ig_device_release(_device);
    [super dealloc];
}

// ---- Identity ----

- (NSString *)name {
    igi_ensure_pool();
    return [NSString stringWithUTF8String:_properties.name];
}

- (MTLArchitecture *)architecture {
    // Programs read a generation and a class from this: here those of the first Apple GPU with all that Ingot has.
    return igi_autoreleased([[MTLArchitecture alloc] initWithName:@"applegpu_g13g"]);
}

- (uint64_t)registryID {
    return 0x1960;  // the same in every process
}

- (MTLDeviceLocation)location {
    return MTLDeviceLocationBuiltIn;
}

- (NSUInteger)locationNumber {
    return 0;
}

- (uint64_t)maxTransferRate {
    return 0;
}

- (BOOL)isLowPower {
    return NO;
}

- (BOOL)isHeadless {
    return YES;
}

- (BOOL)isRemovable {
    return NO;
}

- (uint64_t)peerGroupID {
    return 0;
}

- (uint32_t)peerIndex {
    return 0;
}

- (uint32_t)peerCount {
    return 0;
}

// ---- Limits ----

- (BOOL)hasUnifiedMemory {
    return _properties.unified_memory;
}

// Three quarters of the memory, about what macOS recommends on such machines.
- (uint64_t)recommendedMaxWorkingSetSize {
    return _properties.memory_bytes / 4 * 3;
}

- (NSUInteger)currentAllocatedSize {
    ig_device_stats stats;
    ig_device_get_stats(_device, &stats);
    return stats.buffer_bytes;
}

- (NSUInteger)maxBufferLength {
    return MIN(_properties.max_buffer_bytes, [self recommendedMaxWorkingSetSize]);
}

- (NSUInteger)maxThreadgroupMemoryLength {
    return _properties.max_threadgroup_memory;
}

- (MTLSize)maxThreadsPerThreadgroup {
    NSUInteger most = _properties.max_threads_per_threadgroup;
    return MTLSizeMake(most, most, most);
}

- (NSUInteger)maxArgumentBufferSamplerCount {
    return 1024;
}

- (MTLReadWriteTextureTier)readWriteTextureSupport {
    return MTLReadWriteTextureTier2;
}

- (MTLArgumentBuffersTier)argumentBuffersSupport {
    return MTLArgumentBuffersTier2;
}

- (NSUInteger)maximumConcurrentCompilationTaskCount {
    return _properties.worker_count;
}

- (BOOL)shouldMaximizeConcurrentCompilation {
    return _shouldMaximizeConcurrentCompilation;
}

- (void)setShouldMaximizeConcurrentCompilation:(BOOL)maximize {
    _shouldMaximizeConcurrentCompilation = maximize;
}

// ---- Features ----

// Those of an M1: simdgroup operations and matrices, bfloat, unified memory.
- (BOOL)supportsFamily:(MTLGPUFamily)family {
    return (family >= MTLGPUFamilyApple1 && family <= MTLGPUFamilyApple7) || family == MTLGPUFamilyMac1 ||
           family == MTLGPUFamilyMac2 || (family >= MTLGPUFamilyCommon1 && family <= MTLGPUFamilyCommon3) ||
           family == MTLGPUFamilyMetal3;
}

- (BOOL)supportsFeatureSet:(MTLFeatureSet)featureSet {
    return featureSet >= MTLFeatureSet_macOS_GPUFamily1_v1 && featureSet <= MTLFeatureSet_macOS_GPUFamily2_v1;
}

- (BOOL)supportsTextureSampleCount:(NSUInteger)sampleCount {
    return sampleCount == 1 || sampleCount == 2 || sampleCount == 4 || sampleCount == 8;
}

- (BOOL)supportsVertexAmplificationCount:(NSUInteger)count {
    return NO;
}

- (BOOL)supportsCounterSampling:(MTLCounterSamplingPoint)samplingPoint {
    return samplingPoint == MTLCounterSamplingPointAtStageBoundary ||
           samplingPoint == MTLCounterSamplingPointAtDispatchBoundary ||
           samplingPoint == MTLCounterSamplingPointAtBlitBoundary;
}

- (BOOL)supports32BitFloatFiltering {
    return YES;
}

- (BOOL)supportsDynamicLibraries {
    return YES;
}

- (BOOL)supportsFunctionPointers {
    return YES;
}

#define NOT_SUPPORTED(question) \
    -(BOOL)question {           \
        return NO;              \
    }
NOT_SUPPORTED(supportsRenderDynamicLibraries)
NOT_SUPPORTED(supportsRaytracing)
NOT_SUPPORTED(supportsRaytracingFromRender)
NOT_SUPPORTED(supportsFunctionPointersFromRender)
NOT_SUPPORTED(supportsPrimitiveMotionBlur)
NOT_SUPPORTED(supports32BitMSAA)
NOT_SUPPORTED(supportsQueryTextureLOD)
NOT_SUPPORTED(supportsBCTextureCompression)
NOT_SUPPORTED(supportsPullModelInterpolation)
NOT_SUPPORTED(supportsShaderBarycentricCoordinates)
NOT_SUPPORTED(areRasterOrderGroupsSupported)
NOT_SUPPORTED(areProgrammableSamplePositionsSupported)
NOT_SUPPORTED(areBarycentricCoordsSupported)
NOT_SUPPORTED(isDepth24Stencil8PixelFormatSupported)

- (NSArray *)counterSets {
    return igi_counter_sets();
}

// Host and device use the same clock.
- (void)sampleTimestamps:(MTLTimestamp *)cpuTimestamp gpuTimestamp:(MTLTimestamp *)gpuTimestamp {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    *cpuTimestamp = *gpuTimestamp = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
@end
