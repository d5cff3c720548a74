// SPDX-License-Identifier: Apache-2.0
// Metal Performance Shaders that work on rows, compared with sums in double.
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#include <math.h>
#include <string.h>

#include "helpers.h"

enum { ROWS = 37, COLUMNS = 100, STRIDE = 112, MATRICES = 2 };

typedef _Float16 half;

static double get(id<MTLBuffer> buffer, MPSDataType type, NSUInteger i) {
    return type == MPSDataTypeFloat16 ? (double)((half *)buffer.contents)[i] : (double)((float *)buffer.contents)[i];
}

static id<MTLBuffer> new_values(MPSDataType type, NSUInteger count) {
    NSUInteger size = type == MPSDataTypeFloat16 ? 2 : 4;
    id<MTLBuffer> buffer = [device newBufferWithLength:count * size options:MTLResourceStorageModeShared];
    for (NSUInteger i = 0; i < count; i++) {
        double value = (double)((i * 2654435761u + 17) >> 5 & 1023) / 128 - 4;
        if (size == 2)
            ((half *)buffer.contents)[i] = (half)value;
        else
            ((float *)buffer.contents)[i] = (float)value;
    }
    return buffer;
}

static MPSMatrix *new_matrix(MPSDataType type, NSUInteger columns, NSUInteger stride) {
    NSUInteger size = (type & 0xff) / 8;
    id<MTLBuffer> buffer = new_values(type, MATRICES * ROWS * stride);
    MPSMatrixDescriptor *shape = [MPSMatrixDescriptor matrixDescriptorWithRows:ROWS
                                                                       columns:columns
                                                                      matrices:MATRICES
                                                                      rowBytes:stride * size
                                                                   matrixBytes:ROWS * stride * size
                                                                      dataType:type];
    MPSMatrix *matrix = [[MPSMatrix alloc] initWithBuffer:buffer descriptor:shape];
    assert_non_null(matrix);
    [buffer release];
    return matrix;
}

static MPSVector *new_vector(MPSDataType type, NSUInteger length) {
    NSUInteger size = (type & 0xff) / 8;
    id<MTLBuffer> buffer = new_values(type, MATRICES * length);
    MPSVectorDescriptor *shape = [MPSVectorDescriptor vectorDescriptorWithLength:length
                                                                         vectors:MATRICES
                                                                     vectorBytes:length * size
                                                                        dataType:type];
    MPSVector *vector = [[MPSVector alloc] initWithBuffer:buffer descriptor:shape];
    assert_non_null(vector);
    [buffer release];
    return vector;
}

static void run(void (^encode)(id<MTLCommandBuffer> commands)) {
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    encode(commands);
    [commands commit];
    [commands waitUntilCompleted];
    assert_int_equal(commands.status, MTLCommandBufferStatusCompleted);
    [queue release];
}

static void check_product(MPSDataType type, BOOL transpose, double alpha, double beta) {
    NSUInteger height = transpose ? COLUMNS : ROWS, width = transpose ? ROWS : COLUMNS;
    MPSMatrix *matrix = new_matrix(type, COLUMNS, STRIDE);
    MPSVector *vector = new_vector(type, width), *result = new_vector(type, height), *before = new_vector(type, height);
    MPSMatrixVectorMultiplication *kernel = [[MPSMatrixVectorMultiplication alloc] initWithDevice:device
                                                                                        transpose:transpose
                                                                                             rows:height
                                                                                          columns:width
                                                                                            alpha:alpha
                                                                                             beta:beta];
    run(^(id<MTLCommandBuffer> commands) {
      [kernel encodeToCommandBuffer:commands inputMatrix:matrix inputVector:vector resultVector:result];
    });
    for (NSUInteger m = 0; m < MATRICES; m++)
        for (NSUInteger r = 0; r < height; r++) {
            double sum = 0, scale = 0;
            for (NSUInteger c = 0; c < width; c++) {
                NSUInteger at = m * ROWS * STRIDE + (transpose ? c * STRIDE + r : r * STRIDE + c);
                double term = get(matrix.data, type, at) * get(vector.data, type, m * width + c);
                sum += term, scale += fabs(term);
            }
            double expected = alpha * sum + beta * get(before.data, type, m * height + r);
            double tolerance = type == MPSDataTypeFloat16 ? fabs(expected) / 1024 + 1e-3 : 1e-6 * (scale + 1);
            assert_true(fabs(get(result.data, type, m * height + r) - expected) <= tolerance);
        }
    [kernel release];
    [before release];
    [result release];
    [vector release];
    [matrix release];
}

static void matrices_are_multiplied_with_vectors(void **state) {
    check_product(MPSDataTypeFloat32, NO, 1, 0);
    check_product(MPSDataTypeFloat32, YES, 0.5, 2);
    check_product(MPSDataTypeFloat16, NO, 0.125, 1);
}

static void check_softmax(MPSDataType type, BOOL logarithm) {
    MPSMatrix *source = new_matrix(type, COLUMNS, STRIDE), *result = new_matrix(type, COLUMNS, STRIDE + 8);
    Class class = logarithm ? [MPSMatrixLogSoftMax class] : [MPSMatrixSoftMax class];
    MPSMatrixSoftMax *kernel = [[class alloc] initWithDevice:device];
    run(^(id<MTLCommandBuffer> commands) {
      [kernel encodeToCommandBuffer:commands inputMatrix:source resultMatrix:result];
    });
    for (NSUInteger r = 0; r < MATRICES * ROWS; r++) {
        double sum = 0;
        for (NSUInteger c = 0; c < COLUMNS; c++) sum += exp(get(source.data, type, r * STRIDE + c));
        for (NSUInteger c = 0; c < COLUMNS; c++) {
            double x = get(source.data, type, r * STRIDE + c), y = get(result.data, type, r * (STRIDE + 8) + c);
            double expected = logarithm ? x - log(sum) : exp(x) / sum;
            assert_true(fabs(y - expected) <= fabs(expected) * (type == MPSDataTypeFloat16 ? 1e-3 : 2e-6) + 1e-7);
        }
    }
    [kernel release];
    [result release];
    [source release];
}

static void rows_have_their_softmax(void **state) {
    check_softmax(MPSDataTypeFloat32, NO);
    check_softmax(MPSDataTypeFloat32, YES);
    check_softmax(MPSDataTypeFloat16, NO);
}

static void the_largest_values_are_found(void **state) {
    enum { K = 5, FIRST = 3 };
    MPSMatrix *source = new_matrix(MPSDataTypeFloat32, COLUMNS, STRIDE);
    MPSMatrix *values = new_matrix(MPSDataTypeFloat32, K, 16), *indices = new_matrix(MPSDataTypeUInt32, K, 16);
    MPSMatrixFindTopK *kernel = [[MPSMatrixFindTopK alloc] initWithDevice:device numberOfTopKValues:K];
    kernel.sourceMatrixOrigin = MTLOriginMake(0, FIRST, 0);
    kernel.indexOffset = FIRST;
    run(^(id<MTLCommandBuffer> commands) {
      [kernel encodeToCommandBuffer:commands inputMatrix:source resultIndexMatrix:indices resultValueMatrix:values];
    });
    for (NSUInteger r = 0; r < MATRICES * ROWS; r++) {
        const float *row = (float *)source.data.contents + r * STRIDE;
        bool taken[COLUMNS] = {false};
        for (NSUInteger k = 0; k < K; k++) {
            NSUInteger best = FIRST;
            while (taken[best]) best++;
            for (NSUInteger c = FIRST; c < COLUMNS; c++)
                if (!taken[c] && row[c] > row[best]) best = c;
            taken[best] = true;
            assert_int_equal(((uint32_t *)indices.data.contents)[r * 16 + k], best);
            assert_true(((float *)values.data.contents)[r * 16 + k] == row[best]);
        }
    }
    kernel.numberOfTopKValues = 17;
    BOOL refused = NO;
    id<MTLCommandQueue> queue = [device newCommandQueue];
    @try {
        [kernel encodeToCommandBuffer:[queue commandBuffer]
                          inputMatrix:source
                    resultIndexMatrix:indices
                    resultValueMatrix:values];
    } @catch (NSException *exception) {
        refused = [[exception reason] rangeOfString:@"numberOfTopKValues"].length > 0;
    }
    [queue release];
    assert_true(refused);
    [kernel release];
    [indices release];
    [values release];
    [source release];
}

static void vectors_that_do_not_fit_are_nil(void **state) {
    id<MTLBuffer> buffer = new_words(4);
    MPSVectorDescriptor *shape = [MPSVectorDescriptor vectorDescriptorWithLength:5 dataType:MPSDataTypeFloat32];
    assert_null([[MPSVector alloc] initWithBuffer:buffer descriptor:shape]);
    shape = [MPSVectorDescriptor vectorDescriptorWithLength:NSUIntegerMax dataType:MPSDataTypeFloat32];
    assert_null([[MPSVector alloc] initWithBuffer:buffer descriptor:shape]);
    shape = [MPSVectorDescriptor vectorDescriptorWithLength:3 dataType:MPSDataTypeFloat32];
    MPSVector *vector = [[MPSVector alloc] initWithBuffer:buffer offset:4 descriptor:shape];
    assert_int_equal(vector.length, 3);
    [vector release];
    [buffer release];
}

int main(void) {
    const struct CMUnitTest tests[] = {
        compat_test(matrices_are_multiplied_with_vectors),
        compat_test(rows_have_their_softmax),
        compat_test(the_largest_values_are_found),
        compat_test(vectors_that_do_not_fit_are_nil),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
