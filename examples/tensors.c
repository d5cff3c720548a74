// SPDX-License-Identifier: Apache-2.0
// The forward pass of a small network: y = softmax(gelu(x W1 + b1) W2), with random weights, and which backend ran each
// op.
#include <ingot/ingot.h>
#include <stdio.h>

enum { BATCH = 4, INPUTS = 64, HIDDEN = 128, CLASSES = 3 };

static ig_tensor *random_matrix(ig_stream *stream, uint64_t rows, uint64_t columns, uint64_t seed) {
    ig_tensor *made = NULL;
    const ig_shape shape = {2, {rows, columns}};
    ig_tensor_random_normal(stream, IG_TYPE_F32, shape, (ig_random_desc){.seed = seed}, 0, 0.2, NULL, &made);
    return made;
}

// A call with an operand that could not be created fails too, so one check at the end is enough.
static ig_status forward(ig_stream *stream, const ig_tensor *x, ig_tensor **probabilities) {
    ig_tensor *w1 = random_matrix(stream, INPUTS, HIDDEN, 1), *w2 = random_matrix(stream, HIDDEN, CLASSES, 2);
    ig_tensor *bias = NULL, *hidden = NULL, *scores = NULL;
    ig_tensor_fill(stream, IG_TYPE_F32, (ig_shape){1, {HIDDEN}}, 0.1, NULL, &bias);
    ig_tensor_matmul(stream, x, w1, &(ig_matmul_desc){.c = bias}, NULL, &hidden);
    ig_tensor_gelu(stream, hidden, &(ig_op_options){.into = hidden}, NULL);
    ig_tensor_matmul(stream, hidden, w2, NULL, NULL, &scores);
    ig_status status = ig_tensor_softmax(stream, scores, -1, NULL, probabilities);
    ig_tensor_release(w1), ig_tensor_release(w2), ig_tensor_release(bias);
    ig_tensor_release(hidden), ig_tensor_release(scores);
    return status;
}

static void print_rows(const float *values) {
    for (int i = 0; i < BATCH; i++) {
        for (int j = 0; j < CLASSES; j++) printf("%8.4f", (double)values[i * CLASSES + j]);
        printf("\n");
    }
}

int main(void) {
    ig_device *device = NULL;
    ig_stream *stream = NULL;
    ig_tensor *x = NULL, *probabilities = NULL;
    ig_error error = {0};
    float values[BATCH * CLASSES];
    ig_status status = ig_device_create(NULL, &device, &error);
    if (status == IG_STATUS_OK) status = ig_stream_create(device, NULL, &stream, &error);
    if (status == IG_STATUS_OK) {
        x = random_matrix(stream, BATCH, INPUTS, 3);
        status = forward(stream, x, &probabilities);
        if (status == IG_STATUS_OK) status = ig_tensor_read(probabilities, values, sizeof values);
        if (status != IG_STATUS_OK) ig_stream_get_error(stream, &error);
    }
    if (status == IG_STATUS_OK) {
        print_rows(values);
        printf("matmul by %s, gelu by %s\n",
               ig_backend_name(ig_stream_choice(stream, IG_OP_MATMUL, IG_TYPE_F32, BATCH * INPUTS * HIDDEN)),
               ig_backend_name(ig_stream_choice(stream, IG_OP_GELU, IG_TYPE_F32, BATCH * HIDDEN)));
    } else {
        fprintf(stderr, "%s\n", error.message ? error.message : ig_status_text(status));
    }
    ig_error_clear(&error);
    ig_tensor_release(x), ig_tensor_release(probabilities);
    ig_stream_release(stream);
    ig_device_release(device);
    return status != IG_STATUS_OK;
}
