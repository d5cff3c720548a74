// SPDX-License-Identifier: Apache-2.0
// Objective-C++: the headers, blocks with captured C++ objects, and a kernel run.
#include <numeric>
#include <vector>

#include "helpers.h"

static void vectors_go_in_and_out(void **state) {
    std::vector<uint32_t> values(256);
    std::iota(values.begin(), values.end(), 0u);
    id<MTLComputePipelineState> pipeline = new_pipeline(increment_source, "increment");
    id<MTLBuffer> buffer =
        [device newBufferWithBytes:values.data()
                            length:values.size() * sizeof values[0]
                           options:MTLResourceStorageModeShared | MTLResourceHazardTrackingModeTracked];
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:pipeline];
    [encoder setBuffer:buffer offset:0 atIndex:0];
    [encoder dispatchThreads:MTLSizeMake(values.size(), 1, 1)
        threadsPerThreadgroup:MTLSizeMake(pipeline.maxTotalThreadsPerThreadgroup, 1, 1)];
    [encoder endEncoding];
    __block uint64_t sum = 0;
    [commands addCompletedHandler:^(id<MTLCommandBuffer>) {
      std::vector<uint32_t> seen(values);  // a copy of the copy in the block
      const uint32_t *words = static_cast<const uint32_t *>([buffer contents]);
      for (std::size_t i = 0; i < seen.size(); i++) sum += words[i] - seen[i];
    }];
    [commands commit];
    [commands waitUntilCompleted];
    assert_int_equal(sum, values.size());
    [queue release];
    [buffer release];
    [pipeline release];
}

int main() {
    const struct CMUnitTest tests[] = {compat_test(vectors_go_in_and_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
