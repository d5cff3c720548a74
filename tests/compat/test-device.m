// SPDX-License-Identifier: Apache-2.0
// The device: one object, its limits, its features and those it lacks.
#include <time.h>

#include "helpers.h"

static void there_is_one_device_object(void **state) {
    id<MTLDevice> again = MTLCreateSystemDefaultDevice();
    assert_ptr_equal(again, device);
    assert_int_equal([device retainCount], 2);
    _Static_assert(sizeof MTLCopyAllDevices()[0].name == sizeof(NSString *), "elements are devices");
    NSArray<id<MTLDevice>> *all = MTLCopyAllDevices();
    assert_true([all[0].name length] > 0);
    assert_int_equal([all count], 1);
    assert_ptr_equal([all objectAtIndex:0], device);
    [all release];
    id<NSObject> observer = nil;
    all = MTLCopyAllDevicesWithObserver(&observer, ^(id<MTLDevice> which, MTLDeviceNotificationName name){
                                        });
    assert_int_equal([all count], 1);
    assert_non_null(observer);
    MTLRemoveDeviceObserver(observer);
    [all release];
    [again release];
    assert_int_equal([device retainCount], 1);
    [device release];
    assert_int_equal(igi_metal_live_objects(), 0);
    device = MTLCreateSystemDefaultDevice();
    assert_non_null(device);
}

static void the_device_says_what_it_is(void **state) {
    assert_contains(device.name, "Ingot software Metal device");
    assert_true(device.registryID != 0);
    assert_text(device.architecture.name, "applegpu_g13g");
    assert_int_equal(device.location, MTLDeviceLocationBuiltIn);
    assert_int_equal(device.locationNumber, 0);
    assert_false(device.isLowPower || device.isRemovable);
    assert_true(device.isHeadless);
    assert_true(device.hasUnifiedMemory);
    assert_int_equal(device.peerGroupID + device.peerIndex + device.peerCount + device.maxTransferRate, 0);
}

static void the_device_has_limits(void **state) {
    assert_int_equal(device.maxThreadsPerThreadgroup.width, 1024);
    assert_int_equal(device.maxThreadsPerThreadgroup.depth, 1024);
    assert_int_equal(device.maxThreadgroupMemoryLength, 32768);
    assert_true(device.maxBufferLength >= 1u << 28);
    assert_true(device.recommendedMaxWorkingSetSize >= device.maxBufferLength / 2);
    assert_int_equal(device.argumentBuffersSupport, MTLArgumentBuffersTier2);
    assert_int_equal(device.readWriteTextureSupport, MTLReadWriteTextureTier2);
    assert_true(device.maximumConcurrentCompilationTaskCount >= 1);
    device.shouldMaximizeConcurrentCompilation = YES;
    assert_true(device.shouldMaximizeConcurrentCompilation);
    NSUInteger before = device.currentAllocatedSize;
    id<MTLBuffer> buffer = [device newBufferWithLength:4096 options:0];
    assert_int_equal(device.currentAllocatedSize, before + 4096);
    [buffer release];
    assert_int_equal(device.currentAllocatedSize, before);
}

static void its_families_are_those_of_an_m1(void **state) {
    assert_true([device supportsFamily:MTLGPUFamilyApple1] && [device supportsFamily:MTLGPUFamilyApple7]);
    assert_true([device supportsFamily:MTLGPUFamilyCommon3] && [device supportsFamily:MTLGPUFamilyMac2]);
    assert_true([device supportsFamily:MTLGPUFamilyMetal3]);
    assert_false([device supportsFamily:MTLGPUFamilyApple8] || [device supportsFamily:MTLGPUFamilyMetal4]);
    assert_false([device supportsFamily:(MTLGPUFamily)1000]);
    assert_true([device supportsFeatureSet:MTLFeatureSet_macOS_GPUFamily2_v1]);
    assert_false([device supportsFeatureSet:MTLFeatureSet_iOS_GPUFamily5_v1]);
}

static void what_it_has_not_it_says(void **state) {
    assert_false(device.supportsRaytracing || device.supportsRenderDynamicLibraries);
    MTLCounterSampleBufferDescriptor *counters = [[[MTLCounterSampleBufferDescriptor alloc] init] autorelease];
    counters.sampleCount = 2;
    NSError *error = nil;
    assert_null([device newCounterSampleBufferWithDescriptor:counters error:&error]);
    assert_error(error, MTLCounterErrorDomain, MTLCounterSampleBufferErrorInvalid);
    assert_null([device newCounterSampleBufferWithDescriptor:counters error:NULL]);
    MTLIndirectCommandBufferDescriptor *indirect = [[[MTLIndirectCommandBufferDescriptor alloc] init] autorelease];
    indirect.commandTypes = MTLIndirectCommandTypeDraw;
    assert_null([device newIndirectCommandBufferWithDescriptor:indirect maxCommandCount:4 options:0]);
    assert_null([device newTextureWithDescriptor:nil]);
    assert_null([device newSamplerStateWithDescriptor:nil]);
    assert_null([device newArgumentEncoderWithArguments:[NSArray array]]);
}

static void host_and_device_have_one_clock(void **state) {
    MTLTimestamp host = 0, gpu = 0;
    [device sampleTimestamps:&host gpuTimestamp:&gpu];
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    assert_int_equal(host, gpu);
    assert_true(host > 0 && host <= (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
}

static void captures_are_refused(void **state) {
    MTLCaptureManager *manager = [MTLCaptureManager sharedCaptureManager];
    assert_ptr_equal(manager, [MTLCaptureManager sharedCaptureManager]);
    assert_false([manager supportsDestination:MTLCaptureDestinationGPUTraceDocument]);
    MTLCaptureDescriptor *descriptor = [[[MTLCaptureDescriptor alloc] init] autorelease];
    descriptor.captureObject = device;
    descriptor.destination = MTLCaptureDestinationGPUTraceDocument;
    descriptor.outputURL = [NSURL fileURLWithPath:@"/nowhere.gputrace"];
    NSError *error = nil;
    assert_false([manager startCaptureWithDescriptor:descriptor error:&error]);
    assert_error(error, MTLCaptureErrorDomain, MTLCaptureErrorNotSupported);
    assert_false(manager.isCapturing);
    [manager startCaptureWithDevice:device];
    [manager stopCapture];
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLCaptureScope> scope = [manager newCaptureScopeWithCommandQueue:queue];
    assert_ptr_equal(scope.commandQueue, queue);
    assert_ptr_equal(scope.device, device);
    scope.label = @"scope";
    assert_text(scope.label, "scope");
    manager.defaultCaptureScope = scope;
    [manager startCaptureWithScope:scope];
    [manager startCaptureWithCommandQueue:queue];
    [scope beginScope];
    [scope endScope];
    manager.defaultCaptureScope = nil;
    [scope release];
    scope = [manager newCaptureScopeWithDevice:device];
    assert_null(scope.commandQueue);
    [scope release];
    [queue release];
}

static void residency_sets_remember_and_succeed(void **state) {
    MTLResidencySetDescriptor *descriptor = [[[MTLResidencySetDescriptor alloc] init] autorelease];
    descriptor.label = @"weights";
    descriptor.initialCapacity = 4;
    NSError *error = nil;
    id<MTLResidencySet> set = [device newResidencySetWithDescriptor:descriptor error:&error];
    assert_non_null(set);
    assert_null(error);
    id<MTLBuffer> buffers[2] = {new_words(64), new_words(16)};
    [set addAllocation:buffers[0]];
    [set addAllocations:(const id<MTLAllocation> *)(void *)buffers count:2];
    assert_int_equal(set.allocationCount, 2);
    assert_int_equal(set.allocatedSize, 80 * 4);
    assert_true([set containsAllocation:buffers[1]]);
    [set commit];
    [set requestResidency];
    id<MTLCommandQueue> queue = [device newCommandQueue];
    [queue addResidencySet:set];
    [queue addResidencySets:&set count:1];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    [commands useResidencySet:set];
    [commands useResidencySets:&set count:1];
    [queue removeResidencySet:set];
    [queue removeResidencySets:&set count:1];
    [set removeAllocation:buffers[0]];
    assert_int_equal([set.allAllocations count], 1);
    [set removeAllocations:(const id<MTLAllocation> *)(void *)&buffers[1] count:1];
    [set addAllocation:buffers[0]];
    [set removeAllAllocations];
    assert_int_equal(set.allocationCount, 0);
    [set endResidency];
    assert_text(set.label, "weights");
    assert_ptr_equal(set.device, device);
    [queue release];
    [buffers[0] release];
    [buffers[1] release];
    [set release];
}

int main(void) {
    const struct CMUnitTest tests[] = {
        compat_test(there_is_one_device_object), compat_test(the_device_says_what_it_is),
        compat_test(the_device_has_limits),      compat_test(its_families_are_those_of_an_m1),
        compat_test(what_it_has_not_it_says),    compat_test(host_and_device_have_one_clock),
        compat_test(captures_are_refused),       compat_test(residency_sets_remember_and_succeed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
