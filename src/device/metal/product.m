// SPDX-License-Identifier: Apache-2.0
// Matrix products by Metal Performance Shaders, which are tuned for all of Apple's GPUs. INGOT_MPS=0 leaves them to
// kernels.
#include <string.h>

#include "device/metal/metal.h"

bool igi_metal_has_products(ig_device *device) {
    const char *wanted = getenv("INGOT_MPS");
    return !(wanted && strcmp(wanted, "0") == 0) && MPSSupportsMTLDevice(igi_metal(device)->device);
}

static MPSMatrix *new_matrix(const igi_device_matrix *m) {
    const metal_buffer *made = igi_metal_buffer(m->buffer);
    MPSMatrixDescriptor *descriptor = [MPSMatrixDescriptor matrixDescriptorWithRows:m->rows
                                                                            columns:m->columns
                                                                           rowBytes:m->row_bytes
                                                                           dataType:MPSDataTypeFloat32];
    return [[MPSMatrix alloc] initWithBuffer:made->buffer offset:made->base + m->offset descriptor:descriptor];
}

static bool same_shape(const igi_device_product *a, const igi_device_product *b) {
    return a->result.rows == b->result.rows && a->result.columns == b->result.columns && a->left.rows == b->left.rows &&
           a->left.columns == b->left.columns && a->transpose_left == b->transpose_left &&
           a->transpose_right == b->transpose_right && a->alpha == b->alpha;
}

// owns: the last object is kept for the next product of the same shape.
static MPSMatrixMultiplication *retain_multiplication(metal_device *metal, const igi_device_product *p) {
    pthread_mutex_lock(&metal->lock);
    if (!metal->multiplication || !same_shape(&metal->multiplied, p)) {
        [metal->multiplication release];
        metal->multiplication =
            [[MPSMatrixMultiplication alloc] initWithDevice:metal->device
                                              transposeLeft:p->transpose_left
                                             transposeRight:p->transpose_right
                                                 resultRows:p->result.rows
                                              resultColumns:p->result.columns
                                            interiorColumns:p->transpose_left ? p->left.rows : p->left.columns
                                                      alpha:p->alpha
                                                       beta:0];
        metal->multiplied = *p;
    }
    MPSMatrixMultiplication *made = [metal->multiplication retain];
    pthread_mutex_unlock(&metal->lock);
    return made;
}

bool igi_metal_encode_product(metal_device *metal, id<MTLCommandBuffer> buffer, const igi_device_product *product) {
    MPSMatrixMultiplication *multiplication = retain_multiplication(metal, product);
    MPSMatrix *left = new_matrix(&product->left), *right = new_matrix(&product->right);
    MPSMatrix *result = new_matrix(&product->result);
    bool made = multiplication && left && right && result;
    if (made) [multiplication encodeToCommandBuffer:buffer leftMatrix:left rightMatrix:right resultMatrix:result];
    [left release];
    [right release];
    [result release];
    [multiplication release];
    return made;
}
