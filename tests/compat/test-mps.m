// SPDX-License-Identifier: Apache-2.0
// Matrix products, compared with sums in double.
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#include <math.h>
#include <string.h>

#include "helpers.h"

typedef struct product_case {
    NSUInteger rows, columns, inner, matrices, pad;  // elements between the end of a row and the next
    BOOL transpose_left, transpose_right;
    double alpha, beta;
    MPSDataType type;
} product_case;

// The kernels' own type makes the halves, so that nothing here must know how.
typedef _Float16 half;

static NSUInteger size_of(MPSDataType type) {
    return type == MPSDataTypeFloat16 ? sizeof(half) : sizeof(float);
}

static double get(const void *memory, MPSDataType type, NSUInteger i) {
    return type == MPSDataTypeFloat16 ? (double)((const half *)memory)[i] : (double)((const float *)memory)[i];
}

static void set(void *memory, MPSDataType type, NSUInteger i, double value) {
    if (type == MPSDataTypeFloat16) ((half *)memory)[i] = (half)value;
    if (type == MPSDataTypeFloat32) ((float *)memory)[i] = (float)value;
}

// Small multiples of 1/8: products of few of them are exact in every type.
static MPSMatrix *new_matrix(const product_case *c, NSUInteger rows, NSUInteger columns, unsigned seed) {
    NSUInteger stride = columns + c->pad, count = c->matrices * rows * stride;
    id<MTLBuffer> buffer = [device newBufferWithLength:count * size_of(c->type) options:MTLResourceStorageModeShared];
    for (NSUInteger i = 0; i < count; i++)
        set([buffer contents], c -> type, i, (double)((i * 2654435761u + seed) >> 7 & 15) / 8 - 1);
    MPSMatrixDescriptor *descriptor = [MPSMatrixDescriptor matrixDescriptorWithRows:rows
                                                                            columns:columns
                                                                           matrices:c->matrices
                                                                           rowBytes:stride * size_of(c->type)
                                                                        matrixBytes:rows * stride * size_of(c->type)
                                                                           dataType:c->type];
    MPSMatrix *matrix = [[MPSMatrix alloc] initWithBuffer:buffer descriptor:descriptor];
    assert_non_null(matrix);
    [buffer release];
    return matrix;
}

static double element(MPSMatrix *m, BOOL transposed, NSUInteger matrix, NSUInteger row, NSUInteger column) {
    NSUInteger size = size_of(m.dataType), at = matrix * m.matrixBytes / size;
    at += transposed ? column * m.rowBytes / size + row : row * m.rowBytes / size + column;
    return get([m.data contents], m.dataType, at);
}

static void run(MPSMatrixMultiplication *kernel, MPSMatrix *left, MPSMatrix *right, MPSMatrix *result) {
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    [kernel encodeToCommandBuffer:commands leftMatrix:left rightMatrix:right resultMatrix:result];
    [commands commit];
    [commands waitUntilCompleted];
    assert_int_equal([commands status], MTLCommandBufferStatusCompleted);
    [queue release];
}

static void check_product(const product_case *c) {
    MPSMatrix *left = c->transpose_left ? new_matrix(c, c->inner, c->rows, 1) : new_matrix(c, c->rows, c->inner, 1);
    MPSMatrix *right =
        c->transpose_right ? new_matrix(c, c->columns, c->inner, 2) : new_matrix(c, c->inner, c->columns, 2);
    MPSMatrix *result = new_matrix(c, c->rows, c->columns, 3), *before = new_matrix(c, c->rows, c->columns, 3);
    MPSMatrixMultiplication *kernel = [[MPSMatrixMultiplication alloc] initWithDevice:device
                                                                        transposeLeft:c->transpose_left
                                                                       transposeRight:c->transpose_right
                                                                           resultRows:c->rows
                                                                        resultColumns:c->columns
                                                                      interiorColumns:c->inner
                                                                                alpha:c->alpha
                                                                                 beta:c->beta];
    run(kernel, left, right, result);
    for (NSUInteger m = 0; m < c->matrices; m++)
        for (NSUInteger row = 0; row < c->rows; row++)
            for (NSUInteger column = 0; column < c->columns; column++) {
                double sum = 0;
                for (NSUInteger k = 0; k < c->inner; k++)
                    sum +=
                        element(left, c->transpose_left, m, row, k) * element(right, c->transpose_right, m, k, column);
                sum = c->alpha * sum + c->beta * element(before, NO, m, row, column);
                double error = fabs(element(result, NO, m, row, column) - sum);
                assert_true(error <= (c->type == MPSDataTypeFloat16 ? 0x1p-10 : 0x1p-22) * (1 + fabs(sum)));
            }
    [kernel release], [left release], [right release], [result release], [before release];
}

static void products_are_those_of_the_reference(void **state) {
    static const product_case shapes[] = {
        {.rows = 1, .columns = 1, .inner = 1, .matrices = 1, .alpha = 1},
        {.rows = 33, .columns = 17, .inner = 31, .matrices = 1, .pad = 3, .alpha = 1},
        {.rows = 65, .columns = 33, .inner = 257, .matrices = 1, .alpha = -0.5, .beta = 2},
        {.rows = 64, .columns = 32, .inner = 16, .matrices = 3, .pad = 1, .alpha = 2, .beta = 1},
    };
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes * 8; i++) {
        product_case c = shapes[i / 8];
        c.transpose_left = i & 1, c.transpose_right = i >> 1 & 1;
        c.type = i >> 2 & 1 ? MPSDataTypeFloat16 : MPSDataTypeFloat32;
        check_product(&c);
    }
}

static void origins_and_batches_choose_a_part(void **state) {
    product_case c = {.rows = 5, .columns = 7, .inner = 6, .matrices = 4, .type = MPSDataTypeFloat32};
    MPSMatrix *left = new_matrix(&c, 5, 6, 1), *right = new_matrix(&c, 6, 7, 2), *result = new_matrix(&c, 5, 7, 3);
    MPSMatrix *before = new_matrix(&c, 5, 7, 3);
    MPSMatrixMultiplication *kernel = [[MPSMatrixMultiplication alloc] initWithDevice:device
                                                                           resultRows:2
                                                                        resultColumns:3
                                                                      interiorColumns:4];
    kernel.leftMatrixOrigin = MTLOriginMake(1, 2, 0);
    kernel.rightMatrixOrigin = MTLOriginMake(2, 3, 0);
    kernel.resultMatrixOrigin = MTLOriginMake(3, 4, 0);
    kernel.batchStart = 1, kernel.batchSize = 2;
    MPSMatrixMultiplication *copy = [kernel copy];
    run(copy, left, right, result);
    for (NSUInteger m = 0; m < 4; m++)
        for (NSUInteger row = 0; row < 5; row++)
            for (NSUInteger column = 0; column < 7; column++) {
                double sum = element(before, NO, m, row, column);
                if (m >= 1 && m < 3 && row >= 3 && column >= 4) {
                    sum = 0;
                    for (NSUInteger k = 0; k < 4; k++)
                        sum += element(left, NO, m, row - 3 + 1, k + 2) * element(right, NO, m, k + 2, column - 4 + 3);
                }
                assert_true(element(result, NO, m, row, column) == sum);
            }
    [kernel release], [copy release], [left release], [right release], [result release], [before release];
}

static void what_is_not_added_may_be_nan(void **state) {
    product_case c = {.rows = 3, .columns = 3, .inner = 3, .matrices = 1, .type = MPSDataTypeFloat32};
    MPSMatrix *left = new_matrix(&c, 3, 3, 1), *right = new_matrix(&c, 3, 3, 2), *result = new_matrix(&c, 3, 3, 3);
    MPSMatrixMultiplication *kernel = [[MPSMatrixMultiplication alloc] initWithDevice:device
                                                                           resultRows:3
                                                                        resultColumns:3
                                                                      interiorColumns:3];
    for (NSUInteger i = 0; i < 9; i++) ((float *)[result.data contents])[i] = NAN;
    ((float *)[left.data contents])[0] = INFINITY;
    run(kernel, left, right, result);
    const float *r = [result.data contents];
    for (int i = 0; i < 3; i++) assert_true(isnan(r[i]) || isinf(r[i]));
    for (int i = 3; i < 9; i++) assert_true(isfinite(r[i]));
    [kernel release], [left release], [right release], [result release];
}

static void what_cannot_be_is_refused(void **state) {
    product_case c = {.rows = 4, .columns = 4, .matrices = 1, .type = MPSDataTypeFloat32};
    product_case halves = c;
    halves.type = MPSDataTypeFloat16;
    MPSMatrix *good = new_matrix(&c, 4, 4, 1), *half_matrix = new_matrix(&halves, 4, 4, 1);
    MPSMatrix *small = new_matrix(&c, 4, 3, 1);
    MPSMatrixMultiplication *kernel = [[MPSMatrixMultiplication alloc] initWithDevice:device
                                                                           resultRows:4
                                                                        resultColumns:4
                                                                      interiorColumns:4];
    MPSMatrix *const sets[][3] = {
        {half_matrix, good, good}, {small, good, good}, {good, small, good}, {good, good, small}};
    for (int i = 0; i < 4; i++) {
        BOOL refused = NO;
        id<MTLCommandQueue> queue = [device newCommandQueue];
        @try {
            [kernel encodeToCommandBuffer:[queue commandBuffer]
                               leftMatrix:sets[i][0]
                              rightMatrix:sets[i][1]
                             resultMatrix:sets[i][2]];
        } @catch (NSException *exception) {
            refused = [[exception name] isEqual:NSInvalidArgumentException];
        }
        assert_true(refused);
        [queue release];
    }
    MPSMatrixDescriptor *large = [MPSMatrixDescriptor matrixDescriptorWithRows:5
                                                                       columns:4
                                                                      rowBytes:16
                                                                      dataType:MPSDataTypeFloat32];
    assert_null([[MPSMatrix alloc] initWithBuffer:good.data descriptor:large]);
    large.rows = NSUIntegerMax;
    assert_null([[MPSMatrix alloc] initWithBuffer:good.data descriptor:large]);
    assert_int_equal([MPSMatrixDescriptor rowBytesForColumns:17 dataType:MPSDataTypeFloat32], 128);
    assert_true(MPSSupportsMTLDevice(device));
    [kernel release], [good release], [half_matrix release], [small release];
}

int main(void) {
    const struct CMUnitTest tests[] = {
        compat_test(products_are_those_of_the_reference),
        compat_test(origins_and_batches_choose_a_part),
        compat_test(what_is_not_added_may_be_nan),
        compat_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests_name("mps", tests, NULL, NULL);
}
