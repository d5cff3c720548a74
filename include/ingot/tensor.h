// SPDX-License-Identifier: Apache-2.0
// Tensors, typed arrays of up to eight dimensions in memory shared by host and device, and streams, in which the ops of
// ops.h run in order.
//
// Errors: calls without an ig_error leave the reason for ig_stream_get_error and ig_last_error.
// Ownership: as in device.h. A view is a separate tensor that shares the memory of another and keeps it alive.
// Threads: tensors may be used from any thread; type and shape never change. When several streams or threads write the
// same elements, the caller must order the writes. A stream may be used by one thread at a time.
#ifndef INGOT_TENSOR_H
#define INGOT_TENSOR_H

#include <ingot/device.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

enum { IG_MAX_RANK = 8 };        // the largest number of dimensions
#define IG_INFER UINT64_MAX      // in the shape of a reshape: inferred from the rest
#define IG_TO_END INT64_MAX      // as the stop of a slice: up to the end
#define IG_WHOLE_AXIS INT64_MIN  // as the start of a slice: from the first element in the direction of step

typedef struct ig_tensor ig_tensor;  // an array in device memory, or a view of one
typedef struct ig_stream ig_stream;  // ops that run in order, and the choice of their backends

// ---- Tensors ----

// Types: bool, i8, u8, i32, i64, f16, bf16, f32. Rank 0 is a single value; a dimension may be 0.
// At most one of `bytes`, `no_copy` and `buffer` is set; with none, all elements are zero, or undefined if
// `uninitialized` is set.
typedef struct ig_tensor_desc {
    ig_type type;
    uint32_t rank;
    uint64_t shape[IG_MAX_RANK];
    const void *bytes;  // all elements, last dimension fastest; they are copied
    void *no_copy;      // used in place; must outlive the tensor and its views; aligned to the size of the type
    void (*deallocate)(void *memory, uint64_t length, void *user);  // called when no_copy is no longer used
    void *user;
    ig_buffer *buffer;  // shared or managed, used in place and retained
    uint64_t offset;    // of the first element in `buffer`, in bytes; a multiple of the size of the type
    bool uninitialized;
} ig_tensor_desc;

// Creates a tensor. errors: INVALID_ARGUMENT, UNSUPPORTED type, OVERFLOW, OUT_OF_RANGE (buffer too short), OUT_OF_MEMORY.
ig_status ig_tensor_create(ig_device *device, const ig_tensor_desc *desc, ig_tensor **tensor);
// A tensor of rank 0, for use with larger ones. The value is converted as by ig_tensor_cast.
ig_status ig_tensor_create_scalar(ig_device *device, ig_type type, double value, ig_tensor **tensor);
ig_tensor *ig_tensor_retain(ig_tensor *tensor);
void ig_tensor_release(ig_tensor *tensor);

ig_type ig_tensor_type(const ig_tensor *tensor);            // of the elements
uint32_t ig_tensor_rank(const ig_tensor *tensor);           // number of dimensions
const uint64_t *ig_tensor_shape(const ig_tensor *tensor);   // `rank` lengths, outermost first
const int64_t *ig_tensor_strides(const ig_tensor *tensor);  // in elements; 0 where a dimension repeats
uint64_t ig_tensor_count(const ig_tensor *tensor);          // elements
bool ig_tensor_is_contiguous(const ig_tensor *tensor);      // in C order without gaps
// The memory that holds the elements. Borrowed from the tensor.
ig_buffer *ig_tensor_buffer(const ig_tensor *tensor);
// The offset of the first element in that buffer, in bytes.
uint64_t ig_tensor_offset(const ig_tensor *tensor);

// ---- Host access: each call waits for device work on the tensor ----
// errors: that of the device work which should have computed the contents; ig_stream_sync has details.

// The first element, for reading (and, with ig_tensor_map_mutable, writing) through the strides, until the next op.
ig_status ig_tensor_map(const ig_tensor *tensor, const void **elements);
ig_status ig_tensor_map_mutable(ig_tensor *tensor, void **elements);
// All elements in C order, whatever the strides. errors: OUT_OF_RANGE if `length` is not exactly their size in bytes.
ig_status ig_tensor_read(const ig_tensor *tensor, void *bytes, uint64_t length);
ig_status ig_tensor_write(ig_tensor *tensor, const void *bytes, uint64_t length);
// The value of a tensor with one element. errors: INVALID_ARGUMENT for any other count.
ig_status ig_tensor_item(const ig_tensor *tensor, double *value);

// Reads a tensor from a .npy file of NumPy. errors: UNSUPPORTED for types that tensors do not have.
ig_status ig_tensor_load(ig_device *device, const char *path, ig_tensor **tensor, ig_error *error);
// Writes a tensor to a .npy file, in C order. bf16 is written as its bit patterns, with type '<u2'.
ig_status ig_tensor_save(const ig_tensor *tensor, const char *path, ig_error *error);

// ---- Views: no elements are copied ----
// Axes count from 0, or backwards from -1. errors: INVALID_ARGUMENT where shape or axes do not fit.

// The same elements in the same order, with another shape. errors: also UNSUPPORTED if the strides do not allow such a
// view; make a contiguous tensor with ig_tensor_copy first.
ig_status ig_tensor_reshape(const ig_tensor *tensor, uint32_t rank, const uint64_t *shape, ig_tensor **view);
// The dimensions in another order: `axes` lists all of them.
ig_status ig_tensor_permute(const ig_tensor *tensor, const int32_t *axes, ig_tensor **view);
// Exchanges two dimensions.
ig_status ig_tensor_transpose(const ig_tensor *tensor, int32_t axis, int32_t other_axis, ig_tensor **view);
// Elements start, start + step, ... before stop, as in Python: negative positions count from the end, positions outside
// the axis are clamped to it, a negative step goes backwards. A step of 0 means 1.
ig_status ig_tensor_slice(const ig_tensor *tensor, int32_t axis, int64_t start, int64_t stop, int64_t step,
                          ig_tensor **view);
// The sub-tensor at one position of an axis; the axis is removed.
ig_status ig_tensor_select(const ig_tensor *tensor, int32_t axis, int64_t index, ig_tensor **view);
// Repeats dimensions of length 1, and new leading ones, to fill the shape.
ig_status ig_tensor_broadcast(const ig_tensor *tensor, uint32_t rank, const uint64_t *shape, ig_tensor **view);
ig_status ig_tensor_unsqueeze(const ig_tensor *tensor, int32_t axis, ig_tensor **view);  // new dimension of length 1
ig_status ig_tensor_squeeze(const ig_tensor *tensor, int32_t axis, ig_tensor **view);    // removes one of length 1

// ---- Streams ----

// Options of a stream.
typedef struct ig_stream_desc {
    const char *backends;  // see ig_stream_set_backends; NULL: those of INGOT_BACKEND
    uint64_t deadline_ns;  // time limit for device work between two waits; 0: the device's
} ig_stream_desc;

// Creates a stream. desc may be NULL. errors: NOT_FOUND for an unknown op or backend in `backends`, OUT_OF_MEMORY.
ig_status ig_stream_create(ig_device *device, const ig_stream_desc *desc, ig_stream **stream, ig_error *error);
ig_stream *ig_stream_retain(ig_stream *stream);
void ig_stream_release(ig_stream *stream);
ig_device *ig_stream_device(const ig_stream *stream);  // borrowed

// Chooses backends: "simd" uses that backend for every op it has, and for other ops the ones after it in the order
// msl, blas, simd, scalar. "matmul=blas,softmax=simd" applies to these ops only. Both forms can be combined; later
// entries win. "" restores the default choice. "msl" means MSL kernels on the stream's device, whichever that is.
// errors: NOT_FOUND for an unknown op or backend, saying which.
ig_status ig_stream_set_backends(ig_stream *stream, const char *backends, ig_error *error);

// Submits device work that has been collected so far.
ig_status ig_stream_flush(ig_stream *stream);
// Waits for all work of the stream. Returns the first failure since the last sync; the error names the op that failed.
ig_status ig_stream_sync(ig_stream *stream, ig_error *error);
// The reason of the most recent failure: of a call on this stream (an op refused its arguments, or sync found a failure)
// or of a call by this thread that takes neither a stream nor an ig_error, such as a view.
ig_status ig_stream_get_error(const ig_stream *stream, ig_error *error);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
