// SPDX-License-Identifier: Apache-2.0
// Every public call that can fail and takes no ig_error leaves its own message, under its own name, for ig_last_error;
// calls on tensors also for ig_stream_get_error. check-messages.py makes sure that none is missing here.
#include <ingot/halo.h>
#include <ingot/llm.h>
#include <ingot/nn.h>
#include <ingot/ring.h>
#include <pthread.h>
#include <string.h>

#include "tensor-helpers.h"

// ---- Checking what is left behind ----

static void leave_an_old_error(void) {
    assert_status(ig_event_signal(NULL, 1), IG_STATUS_INVALID_ARGUMENT);
}

static void expect_sentence(ig_status status, const ig_error *error, const char *call, const char *begin) {
    if (status == IG_STATUS_OK) fail_msg("%s succeeded", call);
    if (error->status != status || !error->message)
        fail_msg("%s: %s, but the error left behind is %s: %s", call, ig_status_name(status),
                 ig_status_name(error->status), error->message ? error->message : "no sentence");
    if (strncmp(error->message, begin, strlen(begin)) != 0 || strlen(error->message) < 16)
        fail_msg("%s: the sentence is '%s', which does not begin with '%s'", call, error->message, begin);
}

static void expect_last(ig_status status, const char *call, const char *begin) {
    ig_error error = {0};
    assert_int_equal(ig_last_error(&error), status);
    expect_sentence(status, &error, call, begin);
    ig_error_clear(&error);
}

static void expect_on_stream(ig_status status, const char *call, const char *begin) {
    ig_error error = {0};
    assert_int_equal(ig_stream_get_error(stream, &error), status);
    expect_sentence(status, &error, call, begin);
    ig_error_clear(&error);
}

// The call fails, and its message begins like this.
#define FAILS(call, begin)                      \
    do {                                        \
        leave_an_old_error();                   \
        ig_status failed = (call);              \
        expect_last(failed, #call, begin);      \
        expect_on_stream(failed, #call, begin); \
    } while (0)

// ---- Devices ----

static void buffers(void **state) {
    (void)state;
    ig_buffer *shared = make_buffer(16), *private = NULL, *none = NULL;
    char bytes[32] = {0};
    assert_ok(ig_buffer_create(device, &(ig_buffer_desc){.length = 16, .storage = IG_STORAGE_PRIVATE}, &private));
    FAILS(ig_buffer_create(device, NULL, &none), "buffer_create: device, desc and buffer");
    FAILS(ig_buffer_create(device, &(ig_buffer_desc){0}, &none), "buffer_create: the length is 0");
    FAILS(ig_buffer_create(device, &(ig_buffer_desc){.length = 1, .storage = 9}, &none), "buffer_create: the storage");
    FAILS(ig_buffer_create(device, &(ig_buffer_desc){.length = 1, .no_copy = bytes, .bytes = bytes}, &none),
          "buffer_create: give either bytes");
    FAILS(ig_buffer_create(device, &(ig_buffer_desc){.length = 1, .no_copy = bytes, .pooled = true}, &none),
          "buffer_create: no_copy memory cannot be pooled");
    FAILS(ig_buffer_create(device, &(ig_buffer_desc){.length = UINT64_MAX}, &none),
          "buffer_create: 18446744073709551615 bytes are more than");
    FAILS(ig_buffer_write(shared, 10, bytes, 7), "buffer_write: 7 bytes at offset 10 are outside a buffer of 16");
    FAILS(ig_buffer_read(shared, 17, bytes, 0), "buffer_read: 0 bytes at offset 17 are outside");
    FAILS(ig_buffer_read(private, 0, bytes, 1), "buffer_read: the host has no access");
    FAILS(ig_buffer_write(NULL, 0, bytes, 1), "buffer_write: ");
    FAILS(ig_buffer_did_modify(NULL, 0, 1), "buffer_did_modify: the buffer is NULL");
    FAILS(ig_buffer_did_modify(shared, 0, 1), "buffer_did_modify: the buffer's storage");
    assert_null(none);
    ig_buffer_release(shared), ig_buffer_release(private);
}

static void ignore(ig_commands *commands, ig_status status, void *user) {
    (void)commands, (void)status, (void)user;
}

static void nulls_instead_of_commands(void **state) {
    (void)state;
    ig_size one = {1, 1, 1};
    size_t count;
    FAILS(ig_device_enumerate(NULL, 1, &count), "device_enumerate: ");
    FAILS(ig_commands_create(NULL, NULL, NULL), "commands_create: ");
    FAILS(ig_commands_set_pipeline(NULL, NULL), "encoding: ");
    FAILS(ig_commands_set_buffer(NULL, NULL, 0, 0), "encoding: ");
    FAILS(ig_commands_set_bytes(NULL, "", 1, 0), "encoding: ");
    FAILS(ig_commands_set_threadgroup_memory(NULL, 1, 0), "encoding: ");
    FAILS(ig_commands_set_stage_region(NULL, one, one), "encoding: ");
    FAILS(ig_commands_set_stage_region_indirect(NULL, NULL, 0), "encoding: ");
    FAILS(ig_commands_set_attribute_stride(NULL, 4, 0), "encoding: ");
    FAILS(ig_commands_dispatch_threads(NULL, one, one), "encoding: ");
    FAILS(ig_commands_dispatch_threadgroups(NULL, one, one), "encoding: ");
    FAILS(ig_commands_dispatch_indirect(NULL, NULL, 0, one), "encoding: ");
    FAILS(ig_commands_dispatch_threads_indirect(NULL, NULL, 0), "encoding: ");
    FAILS(ig_commands_copy(NULL, NULL, 0, NULL, 0, 0), "encoding: ");
    FAILS(ig_commands_fill(NULL, NULL, 0, 0, 0), "encoding: ");
    FAILS(ig_commands_barrier(NULL), "encoding: ");
    FAILS(ig_commands_wait_event(NULL, NULL, 0), "encoding: ");
    FAILS(ig_commands_signal_event(NULL, NULL, 0), "encoding: ");
    FAILS(ig_commands_on_completed(NULL, ignore, NULL), "on_completed: ");
    FAILS(ig_commands_commit(NULL), "commit: ");
    FAILS(ig_commands_wait(NULL, 0), "wait: ");
    FAILS(ig_commands_get_dispatch_timing(NULL, 0, NULL), "get_dispatch_timing: ");
    FAILS(ig_event_create(NULL, NULL), "event_create: ");
    FAILS(ig_event_wait(NULL, 0, 0), "event_wait: ");
    FAILS(ig_queue_create(NULL, NULL), "queue_create: ");
    FAILS(ig_queue_set_label(NULL, "uploads"), "queue_set_label: ");
    FAILS(ig_pipeline_emit(NULL, "asm", NULL), "pipeline_emit: ");
    FAILS(ig_pipeline_get_remarks(NULL, NULL, NULL), "get_remarks: ");
    FAILS(ig_device_get_profile(NULL, NULL, NULL), "get_profile: ");
    FAILS(ig_device_get_line_profile(NULL, NULL, NULL), "get_line_profile: ");
    FAILS(ig_pipeline_create_async(NULL, NULL, NULL, NULL), "pipeline_create_async: library, kernel name and callback");
    FAILS(ig_texture_create(NULL, NULL, NULL), "texture_create: ");
    FAILS(ig_texture_create_view(NULL, NULL, NULL), "texture_create_view: ");
    FAILS(ig_texture_write(NULL, NULL, NULL, 0, 0), "texture_write: ");
    FAILS(ig_texture_read(NULL, NULL, NULL, 0, 0), "texture_read: ");
    FAILS(ig_texture_sampler_create(NULL, NULL, NULL), "sampler_create: ");
    FAILS(ig_commands_set_texture(NULL, NULL, 0), "encoding: ");
    FAILS(ig_commands_set_sampler(NULL, NULL, 0), "encoding: ");
    FAILS(ig_commands_set_function_table(NULL, NULL, 0), "encoding: ");
    FAILS(ig_commands_set_tensor(NULL, NULL, 0), "encoding: ");
    FAILS(ig_commands_execute(NULL, NULL, 0, 1), "encoding: ");
    FAILS(ig_commands_execute_indirect(NULL, NULL, NULL, 0), "encoding: ");
    FAILS(ig_commands_reset_indirect(NULL, NULL, 0, 1), "encoding: ");
    FAILS(ig_commands_copy_indirect(NULL, NULL, 0, 1, NULL, 0), "encoding: ");
    FAILS(ig_function_table_create(NULL, 1, NULL), "function_table_create: ");
    FAILS(ig_function_table_set(NULL, 0, NULL), "function_table_set: ");
    FAILS(ig_pipeline_resource_id(NULL, NULL), "pipeline_resource_id: ");
    FAILS(ig_indirect_commands_create(NULL, NULL, NULL), "indirect_commands_create: ");
    FAILS(ig_indirect_commands_set_pipeline(NULL, 0, NULL), "indirect_commands_set_pipeline: ");
    FAILS(ig_indirect_commands_set_buffer(NULL, 0, NULL, 0, 0), "indirect_commands_set_buffer: ");
    FAILS(ig_indirect_commands_set_attribute_stride(NULL, 0, 4, 0), "indirect_commands_set_attribute_stride: ");
    FAILS(ig_indirect_commands_set_threadgroup_memory(NULL, 0, 0, 0), "indirect_commands_set_threadgroup_memory: ");
    FAILS(ig_indirect_commands_set_stage_region(NULL, 0, one, one), "indirect_commands_set_stage_region: ");
    FAILS(ig_indirect_commands_dispatch_threads(NULL, 0, one, one), "indirect_commands_dispatch_threads: ");
    FAILS(ig_indirect_commands_dispatch_threadgroups(NULL, 0, one, one), "indirect_commands_dispatch_threadgroups: ");
    FAILS(ig_indirect_commands_set_barrier(NULL, 0, true), "indirect_commands_set_barrier: ");
    FAILS(ig_indirect_commands_reset(NULL, 0, 1), "indirect_commands_reset: ");
    FAILS(ig_commands_copy_texture(NULL, NULL, NULL, NULL, NULL), "encoding: ");
    FAILS(ig_commands_copy_to_texture(NULL, NULL, 0, 0, 0, NULL, NULL), "encoding: ");
    FAILS(ig_commands_copy_from_texture(NULL, NULL, NULL, NULL, 0, 0, 0), "encoding: ");
    FAILS(ig_commands_generate_mipmaps(NULL, NULL), "encoding: ");
}

static void command_buffers(void **state) {
    (void)state;
    ig_queue *queue = make_queue();
    ig_commands *commands = make_commands(queue), *other = make_commands(queue);
    ig_event *event;
    ig_timing timing;
    assert_ok(ig_event_create(device, &event));
    FAILS(ig_event_wait(event, 7, 1), "event_wait: the event did not reach 7");
    FAILS(ig_commands_wait(commands, 0), "wait: the command buffer was not committed");
    FAILS(ig_commands_get_dispatch_timing(commands, 0, &timing), "get_dispatch_timing: the command buffer is not");
    assert_ok(ig_commands_wait_event(commands, event, 1));
    assert_ok(ig_commands_commit(commands));
    FAILS(ig_commands_commit(commands), "commit: the command buffer was committed already");
    FAILS(ig_commands_barrier(commands), "encoding: the command buffer was committed already");
    FAILS(ig_commands_on_completed(commands, ignore, NULL), "on_completed: the command buffer was committed");
    FAILS(ig_commands_wait(commands, 1), "wait: the command buffer has not finished within the timeout");
    assert_ok(ig_event_signal(event, 1));
    assert_ok(ig_commands_wait(commands, IG_FOREVER));
    FAILS(ig_commands_get_dispatch_timing(commands, 3, &timing), "get_dispatch_timing: the command buffer has only 0");
    FAILS(ig_commands_set_pipeline(other, NULL), "set_pipeline: the pipeline is NULL");
    // The first error of encoding is returned by the commit.
    FAILS(ig_commands_set_bytes(other, NULL, 0, 3), "set_bytes 3: the bytes are NULL");
    FAILS(ig_commands_commit(other), "set_pipeline: the pipeline is NULL");
    ig_commands_release(commands), ig_commands_release(other);
    ig_event_release(event), ig_queue_release(queue);
}

static void kernels_that_fail(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    use_fault_handlers();
    ig_pipeline *pipeline =
        make_pipeline("kernel void wild(device int *a) { *(device int *)8ul = 1; a[0] = 1; }", "wild");
    ig_queue *queue = make_queue();
    ig_commands *commands = make_commands(queue);
    ig_buffer *buffer = make_buffer(16);
    char *text;
    assert_ok(ig_commands_set_pipeline(commands, pipeline));
    assert_ok(ig_commands_set_buffer(commands, buffer, 0, 0));
    assert_ok(ig_commands_dispatch_threads(commands, line(1), line(1)));
    assert_ok(ig_commands_commit(commands));
    FAILS(ig_commands_wait(commands, IG_FOREVER), "kernel 'wild'");
    FAILS(ig_pipeline_emit(pipeline, "nonsense", &text), "pipeline_emit: unknown stage 'nonsense'");
    ig_commands_release(commands), ig_queue_release(queue);
    ig_buffer_release(buffer), ig_pipeline_release(pipeline);
}

// ---- Tensors without a stream ----

static void views(void **state) {
    (void)state;
    ig_tensor *a = iota(SHAPE(2, 3)), *turned = NULL, *view = NULL;
    assert_ok(ig_tensor_transpose(a, 0, 1, &turned));
    FAILS(ig_tensor_reshape(a, SHAPE(4, 2), &view), "reshape: [2, 3] cannot become [4, 2]: the number of elements");
    FAILS(ig_tensor_reshape(turned, SHAPE(6), &view), "reshape: [3, 2] cannot become [6]: its strides");
    FAILS(ig_tensor_reshape(a, 9, NULL, &view), "reshape: rank 9 is more than 8");
    FAILS(ig_tensor_reshape(a, 1, NULL, &view), "reshape: the shape is NULL");
    FAILS(ig_tensor_reshape(NULL, SHAPE(6), &view), "reshape: tensor and view must not be NULL");
    FAILS(ig_tensor_permute(a, (const int32_t[]){0, 0}, &view), "permute: axis 0 is given twice");
    FAILS(ig_tensor_permute(a, (const int32_t[]){0, 2}, &view), "permute: there is no axis 2 in a tensor of rank 2");
    FAILS(ig_tensor_permute(a, NULL, &view), "permute: the axes are NULL");
    FAILS(ig_tensor_transpose(a, 0, 5, &view), "transpose: there is no axis 5");
    FAILS(ig_tensor_slice(a, 2, 0, 1, 1, &view), "slice: there is no axis 2");
    FAILS(ig_tensor_select(a, 0, 7, &view), "select: index 7 is outside axis 0 of length 2");
    FAILS(ig_tensor_select(a, 0, -3, &view), "select: index -3 is outside");
    FAILS(ig_tensor_broadcast(a, SHAPE(3, 3), &view), "broadcast: [2, 3] cannot become [3, 3]");
    FAILS(ig_tensor_unsqueeze(a, 4, &view), "unsqueeze: there is no axis 4 in a tensor of rank 3");
    FAILS(ig_tensor_squeeze(a, 0, &view), "squeeze: axis 0 has length 2, not 1");
    assert_null(view);
    ig_tensor_release(a), ig_tensor_release(turned);
}

static void tensors(void **state) {
    (void)state;
    ig_tensor *a = iota(SHAPE(2, 3)), *none = NULL;
    ig_buffer *buffer = make_buffer(8);
    char bytes[64];
    double value;
    const void *elements;
    void *mutable;
    FAILS(ig_tensor_create(device, NULL, &none), "tensor_create: device, desc and tensor");
    FAILS(ig_tensor_create(device, &(ig_tensor_desc){.type = IG_TYPE_U16, .rank = 1, .shape = {4}}, &none),
          "tensor_create: tensors cannot have type u16");
    FAILS(ig_tensor_create(device, &(ig_tensor_desc){.type = IG_TYPE_F32, .rank = 9}, &none),
          "tensor_create: rank 9 is more than 8");
    FAILS(ig_tensor_create(device, &(ig_tensor_desc){.rank = 2, .shape = {1ull << 40, 1ull << 40}}, &none),
          "tensor_create: the shape has too many");
    FAILS(ig_tensor_create(device, &(ig_tensor_desc){.bytes = bytes, .buffer = buffer}, &none),
          "tensor_create: give at most one of");
    FAILS(ig_tensor_create(device, &(ig_tensor_desc){IG_TYPE_F32, 1, {4}, .buffer = buffer}, &none),
          "tensor_create: 16 bytes at offset 0 are outside a buffer of 8");
    FAILS(ig_tensor_create_scalar(device, IG_TYPE_U64, 1, &none), "create_scalar: tensors cannot have type u64");
    FAILS(ig_tensor_read(a, bytes, 20), "read: the tensor has 24 bytes, but the length given is 20");
    FAILS(ig_tensor_write(a, bytes, 28), "write: the tensor has 24 bytes, but the length given is 28");
    FAILS(ig_tensor_item(a, &value), "item: the tensor has 6 elements, not one");
    FAILS(ig_tensor_item(NULL, &value), "item: tensor and value");
    FAILS(ig_tensor_map(NULL, &elements), "map: ");
    FAILS(ig_tensor_map_mutable(NULL, &mutable), "map_mutable: ");
    FAILS(ig_stream_flush(NULL), "stream_flush: ");
    FAILS(ig_stream_explain(stream, IG_OP_COUNT, false, NULL), "stream_explain: ");
    FAILS(ig_stream_set_threshold(stream, IG_OP_ADD, IG_BACKEND_ANY, 1), "set_threshold: ");
    FAILS(ig_stream_set_threshold(stream, IG_OP_ADD, IG_BACKEND_BLAS, 1), "set_threshold: backend 'blas' has no 'add'");
    assert_null(none);
    ig_tensor_release(a), ig_buffer_release(buffer);
}

// ---- Ops ----

// Without an operand, with one that is too small, and without a stream: under the name of the call each time.
#define OP(name, call) FAILS(ig_tensor_##call, name ": ")
#define UNARY(id, name, type)                                      \
    FAILS(ig_tensor_##name(stream, NULL, NULL, &out), #name ": "); \
    FAILS(ig_tensor_##name(stream, x, NULL, NULL), #name ": ");    \
    FAILS(ig_tensor_##name(stream, x, &absent, &out), #name ": "); \
    FAILS(ig_tensor_##name(NULL, x, NULL, &out), #name ": ");
#define BINARY(id, name, type)                                        \
    FAILS(ig_tensor_##name(stream, x, NULL, NULL, &out), #name ": "); \
    FAILS(ig_tensor_##name(stream, x, four, NULL, &out), #name ": "); \
    FAILS(ig_tensor_##name(stream, x, x, &absent, &out), #name ": "); \
    FAILS(ig_tensor_##name(NULL, x, x, NULL, &out), #name ": ");
#define REDUCE(id, name, type)                                            \
    FAILS(ig_tensor_##name(stream, NULL, NULL, NULL, &out), #name ": ");  \
    FAILS(ig_tensor_##name(stream, x, &outside, NULL, &out), #name ": "); \
    FAILS(ig_tensor_##name(stream, x, NULL, &absent, &out), #name ": ");  \
    FAILS(ig_tensor_##name(NULL, x, NULL, NULL, &out), #name ": ");

static const ig_op_options absent = {.backend = IG_BACKEND_BLAS};  // has products alone

static void elementwise_ops(void **state) {
    (void)state;
    ig_tensor *x = iota(SHAPE(2, 3)), *four = iota(SHAPE(4)), *out = NULL;
    const ig_reduce_desc outside = {.axis_count = 1, .axes = {2}};
    IG_UNARY_LIST(UNARY)
    IG_BINARY_LIST(BINARY)
    IG_REDUCE_LIST(REDUCE)
    OP("leaky_relu", leaky_relu(stream, NULL, 0.1, NULL, &out));
    OP("leaky_relu", leaky_relu(stream, x, 0.1, &absent, &out));
    OP("clamp", clamp(stream, x, 2, 1, NULL, &out));
    OP("clamp", clamp(stream, NULL, 1, 2, NULL, &out));
    OP("clamp", clamp(NULL, x, 2, 1, NULL, &out));
    OP("cast", cast(stream, x, IG_TYPE_U16, NULL, &out));
    OP("cast", cast(stream, x, IG_TYPE_F16, &absent, &out));
    OP("copy", copy(stream, NULL, NULL, &out));
    OP("where", where(stream, x, x, four, NULL, &out));
    OP("where", where(stream, x, x, NULL, NULL, &out));
    assert_null(out);
    ig_tensor_release(x), ig_tensor_release(four);
}

static void other_ops(void **state) {
    (void)state;
    ig_tensor *x = iota(SHAPE(2, 3)), *v = iota(SHAPE(3)), *four = iota(SHAPE(4)), *out = NULL, *more = NULL;
    ig_tensor *far = tensor_of(IG_TYPE_I64, SHAPE(1), VALUES(9)), *image = iota(SHAPE(1, 1, 4, 4));
    const ig_op_options into_four = {.into = four};
    const ig_pool_desc wide = {.window = {9, 9}}, padded = {.window = {2, 2}, .padding = {2, 2}};
    OP("cumsum", cumsum(stream, x, 2, NULL, &out));
    OP("matmul", matmul(stream, x, four, NULL, NULL, &out));
    OP("matmul", matmul(stream, x, NULL, NULL, NULL, &out));
    OP("dot", dot(stream, x, v, NULL, &out));
    OP("dot", dot(stream, v, four, NULL, &out));
    OP("dot", dot(stream, v, v, &into_four, NULL));
    OP("matvec", matvec(stream, v, v, NULL, &out));
    OP("matvec", matvec(stream, x, four, NULL, &out));
    OP("outer", outer(stream, x, v, NULL, &out));
    OP("outer", outer(stream, v, v, &into_four, NULL));
    OP("softmax", softmax(stream, x, 2, NULL, &out));
    OP("log_softmax", log_softmax(stream, x, 2, NULL, &out));
    OP("layer_norm", layer_norm(stream, x, four, NULL, 0, NULL, &out));
    OP("rms_norm", rms_norm(stream, x, four, 0, NULL, &out));
    OP("gather", gather(stream, x, 0, v, NULL, &out));
    OP("scatter", scatter(stream, x, 0, v, x, false, NULL, &out));
    OP("index_select", index_select(stream, v, 0, far, NULL, &out));
    OP("concatenate", concatenate(stream, NULL, 0, 0, NULL, &out));
    OP("concatenate", concatenate(stream, (const ig_tensor *[]){x, v}, 2, 0, NULL, &out));
    OP("pad", pad(stream, x, NULL, NULL, 0, NULL, &out));
    OP("sort", sort(stream, x, 5, false, NULL, &out, &more));
    OP("sort", sort(stream, x, 0, false, &absent, &out, &more));
    OP("argsort", argsort(stream, x, 5, false, NULL, &out));
    OP("argsort", argsort(stream, x, 0, false, &absent, &out));
    OP("argsort", argsort(stream, x, 0, false, NULL, NULL));
    OP("argsort", argsort(stream, x, 0, false, &into_four, NULL));
    OP("top_k", top_k(stream, x, 1, 9, NULL, &out, NULL));
    OP("top_k", top_k(stream, NULL, 1, 9, NULL, &out, NULL));
    OP("top_k", top_k(stream, x, 1, 1, &absent, &out, NULL));
    OP("fill", fill(stream, IG_TYPE_U16, (ig_shape){1, {4}}, 0, NULL, &out));
    OP("arange", arange(stream, IG_TYPE_U16, 0, 1, 4, NULL, &out));
    OP("random_uniform",
       random_uniform(stream, IG_TYPE_I32, (ig_shape){1, {4}}, (ig_random_desc){.seed = 1}, 0, 1, NULL, &out));
    OP("random_normal",
       random_normal(stream, IG_TYPE_F32, (ig_shape){.rank = 9}, (ig_random_desc){.seed = 1}, 0, 1, NULL, &out));
    OP("conv1d", conv1d(stream, x, x, NULL, NULL, NULL, &out));
    OP("conv2d", conv2d(stream, x, four, NULL, NULL, NULL, &out));
    OP("conv2d", conv2d(stream, image, NULL, NULL, NULL, NULL, &out));
    OP("conv2d", conv2d(stream, image, image, NULL, NULL, &into_four, &out));
    OP("max_pool1d", max_pool1d(stream, x, NULL, NULL, &out));
    OP("max_pool2d", max_pool2d(stream, image, &wide, NULL, &out));
    OP("max_pool2d", max_pool2d(stream, image, &padded, NULL, &out));
    OP("avg_pool1d", avg_pool1d(stream, x, &wide, NULL, &out));
    OP("avg_pool2d", avg_pool2d(stream, image, &wide, NULL, &out));
    assert_null(out);
    ig_tensor_release(x), ig_tensor_release(v), ig_tensor_release(four), ig_tensor_release(far);
    ig_tensor_release(image);
}

// ---- Transformers ----

static void ops_of_transformers(void **state) {
    (void)state;
    ig_tensor *x = iota(SHAPE(2, 3)), *v = iota(SHAPE(3)), *far = tensor_of(IG_TYPE_I64, SHAPE(1), VALUES(9)),
              *out = NULL;
    ig_tensor *rows = iota(SHAPE(2, 32));
    ig_weight *plain = NULL, *packed = NULL, *none = NULL;
    const ig_op_options into = {.into = v};
    uint64_t size;
    assert_ok(ig_weight_quantize(stream, x, IG_WEIGHT_F32, NULL, &plain));
    assert_ok(ig_weight_quantize(stream, rows, IG_WEIGHT_Q8_0, NULL, &packed));
    OP("masked_softmax", masked_softmax(stream, v, NULL, NULL, NULL, &out));
    OP("attention", attention(stream, x, x, v, NULL, NULL, &out));
    OP("attention_scores", attention_scores(stream, x, v, 0, NULL, &out));
    OP("weighted_sum", weighted_sum(stream, x, v, NULL, &out));
    OP("rope", rope(stream, x, NULL, NULL, &out));
    OP("embedding", embedding(stream, v, far, NULL, &out));
    for (int b = IG_BACKEND_SCALAR; b < IG_BACKEND_COUNT; b++)
        OP("embedding", embedding(stream, x, far, &(ig_op_options){.backend = (ig_backend)b}, &out));
    OP("linear", linear(stream, x, v, NULL, &out));
    FAILS(ig_weight_size(IG_WEIGHT_Q8_0, 1, 3, &size),
          "weight_size: 3 columns are not a multiple of the block size 32 ");
    FAILS(ig_weight_create(device, &(ig_weight_desc){0}, &none), "weight_create: give bytes");
    FAILS(ig_weight_quantize(stream, x, IG_WEIGHT_Q8_0, NULL, &none), "weight_quantize: ");
    FAILS(ig_weight_quantize(stream, v, IG_WEIGHT_F32, NULL, &none), "weight_quantize: ");
    FAILS(ig_weight_quantize(stream, NULL, IG_WEIGHT_F32, NULL, &none), "weight_quantize: ");
    FAILS(ig_weight_quantize(stream, x, IG_WEIGHT_F32, &into, &none), "weight_quantize: ");
    FAILS(ig_weight_dequantize(stream, packed, IG_TYPE_I32, NULL, &out), "weight_dequantize: ");
    FAILS(ig_weight_dequantize(stream, plain, IG_TYPE_U16, NULL, &out), "weight_dequantize: ");
    FAILS(ig_weight_matmul(stream, plain, rows, NULL, &out), "weight_matmul: ");
    FAILS(ig_weight_matmul(stream, packed, x, NULL, &out), "weight_matmul: ");
    FAILS(ig_weight_embedding(stream, packed, v, IG_TYPE_F32, NULL, &out), "weight_embedding: ");
    FAILS(ig_weight_embedding(stream, plain, far, IG_TYPE_F32, NULL, &out), "weight_embedding: ");
    FAILS(ig_weight_embedding(stream, plain, NULL, IG_TYPE_F32, NULL, &out), "weight_embedding: ");
    FAILS(ig_model_parameters(&(ig_model_shape){.hidden = 5, .heads = 2}, &size), "model_parameters: hidden");
    FAILS(ig_model_size(NULL, IG_WEIGHT_F32, NULL), "model_size: ");
    assert_null(none);
    assert_null(out);
    ig_weight_release(plain), ig_weight_release(packed);
    ig_tensor_release(x), ig_tensor_release(v), ig_tensor_release(far), ig_tensor_release(rows);
}

static void caches_of_keys(void **state) {
    (void)state;
    const ig_kv_cache_desc desc = {.type = IG_TYPE_F32, .layers = 1, .heads = 1, .dim = 2, .capacity = 2};
    ig_kv_cache *cache = NULL, *none = NULL;
    ig_tensor *three = iota(SHAPE(3, 1, 2)), *flat = iota(SHAPE(2)), *out = NULL, *more = NULL;
    uint64_t size;
    assert_ok(ig_kv_cache_create(device, &desc, &cache));
    FAILS(ig_kv_cache_size(NULL, &size), "kv_cache_size: ");
    FAILS(ig_kv_cache_create(NULL, &desc, &none), "kv_cache_create: ");
    FAILS(ig_kv_cache_view(cache, 1, &out, &more), "kv_cache_view: there is no layer 1 of 1");
    FAILS(ig_kv_cache_append(stream, cache, 1, three, three), "kv_cache_append: there is no layer 1");
    FAILS(ig_kv_cache_append(stream, cache, 0, three, three), "kv_cache_append: 3 positions do not fit, only 2 do");
    FAILS(ig_kv_cache_append_sequence(stream, cache, 0, 1, three, three),
          "kv_cache_append_sequence: there is no sequence 1");
    FAILS(ig_kv_cache_append_sequence(stream, cache, 0, 0, flat, three), "kv_cache_append_sequence: k of shape [2]");
    FAILS(ig_kv_cache_truncate(NULL, 0), "kv_cache_truncate: ");
    FAILS(ig_kv_cache_truncate_sequence(cache, 3, 0), "kv_cache_truncate_sequence: there is no sequence 3 of 1");
    FAILS(ig_kv_cache_attention(stream, cache, 0, three, 0, NULL, &out), "kv_cache_attention: queries must be");
    FAILS(ig_kv_cache_attention_sequence(stream, cache, 0, 5, three, 0, NULL, &out),
          "kv_cache_attention_sequence: there is no sequence 5");
    assert_null(out);
    ig_kv_cache_release(cache);
    ig_tensor_release(three), ig_tensor_release(flat);
}

// ---- Language models ----

static void language_models(void **state) {
    (void)state;
    ig_sampler *sampler = NULL;
    ig_gguf_value value;
    ig_gguf_tensor tensor;
    ig_text text;
    ig_weight_type type;
    uint64_t count;
    int32_t token;
    FAILS(ig_gguf_find(NULL, "key", &value), "gguf_find: ");
    FAILS(ig_gguf_element(NULL, 0, &value), "gguf_element: ");
    FAILS(ig_gguf_tensor_at(NULL, 0, &tensor), "gguf_tensor_at: ");
    FAILS(ig_gguf_find_tensor(NULL, "name", &tensor), "gguf_find_tensor: ");
    FAILS(ig_gguf_weight_type(12345, &type), "gguf_weight_type: weights of type 12345");
    FAILS(ig_tokenizer_encode(NULL, "", 0, NULL, NULL, 0, &count), "tokenizer_encode: ");
    FAILS(ig_tokenizer_decode(NULL, 0, &text), "tokenizer_decode: ");
    FAILS(ig_session_truncate(NULL, 0), "session_truncate: ");
    FAILS(ig_sampler_create(&(ig_sampler_desc){.top_p = 2}, &sampler), "sampler_create: ");
    FAILS(ig_sampler_next(NULL, NULL, 0, &token), "sampler_next: ");
    FAILS(ig_chat_format(NULL, NULL, 0, NULL, 0, &count), "chat_format: ");
    assert_null(sampler);
}

// ---- Ring kernels ----

static void answer_or_fail(ig_ring_context *context, void *user) {
    (void)user;
    uint64_t type = ig_ring_context_message(context)->message_type;
    if (type == 1) ig_ring_context_reply(context, type, "x", 1);
    if (type == 2) ig_ring_context_fail(context, IG_RING_ERROR_USER);
}

static ig_ring_kernel *launch_kernel(ig_ring_runtime *runtime, const char *name, bool k2k) {
    ig_ring_kernel *kernel;
    ig_ring_launch_desc desc = {.name = name,
                                .handler = answer_or_fail,
                                .mode = IG_RING_EVENT_DRIVEN,
                                .input_capacity = 2,
                                .max_payload = 64,
                                .k2k = k2k};
    assert_ok(ig_ring_launch(runtime, &desc, &kernel, NULL));
    return kernel;
}

static void clocks(void **state) {
    (void)state;
    ig_hlc *clock;
    uint64_t packed[2];
    ig_hlc_timestamp ahead = {UINT64_MAX / 2, 0, 3};
    assert_ok(ig_hlc_create(1, &clock));
    FAILS(ig_hlc_create(1, NULL), "hlc_create: clock must not");
    FAILS(ig_hlc_update(NULL, ahead, NULL), "hlc_update: clock must not");
    FAILS(ig_hlc_update(clock, ahead, NULL), "hlc_update: the timestamp 9223372036854775807 us, logical 0, of node 3");
    FAILS(ig_hlc_pack(ahead, NULL), "hlc_pack: packed must not");
    FAILS(ig_hlc_pack((ig_hlc_timestamp){1, 1ull << 48, 0}, packed), "hlc_pack: logical 281474976710656 must fit");
    ig_hlc_release(clock);
}

static void ring_runtimes(void **state) {
    (void)state;
    ig_ring_runtime *a, *b, *none = NULL;
    assert_ok(ig_ring_runtime_create(device, NULL, &a));
    assert_ok(ig_ring_runtime_create(device, NULL, &b));
#define CREATE(...) ig_ring_runtime_create(device, &(ig_ring_runtime_desc){__VA_ARGS__}, &none)
    FAILS(ig_ring_runtime_create(NULL, NULL, &none), "runtime_create: device and runtime");
    FAILS(CREATE(.max_kernels = 5000), "runtime_create: max_kernels is 5000; at most 1024");
    FAILS(CREATE(.dispatchers = 5000), "runtime_create: dispatchers is 5000; at most 1024");
    FAILS(CREATE(.inbox_capacity = 3), "runtime_create: inbox_capacity is 3; it must be a power of two");
    FAILS(CREATE(.inbox_payload = 70000), "runtime_create: inbox_payload is 70000; at most 65536");
    FAILS(CREATE(.max_kernels = 1024, .inbox_capacity = 1 << 20), "runtime_create: 1024 inboxes of 1048576 messages");
#undef CREATE
    FAILS(ig_ring_runtime_join(a, NULL), "runtime_join: neither runtime may");
    FAILS(ig_ring_runtime_join(a, b), "runtime_join: both runtimes have node 0");
    FAILS(ig_ring_runtime_shutdown(NULL), "runtime_shutdown: the runtime must not");
    assert_null(none);
    assert_ok(ig_ring_runtime_shutdown(a));
    assert_ok(ig_ring_runtime_shutdown(b));
}

static void states_of_ring_kernels(void **state) {
    (void)state;
    ig_ring_runtime *runtime;
    ig_error error = {0};
    assert_ok(ig_ring_runtime_create(device, NULL, &runtime));
    ig_ring_kernel *kernel = launch_kernel(runtime, "k", false);
    FAILS(ig_ring_activate(NULL), "ring kernel: the kernel must not");
    FAILS(ig_ring_deactivate(NULL), "ring kernel: the kernel must not");
    FAILS(ig_ring_terminate(NULL, IG_RING_DROP), "ring kernel: the kernel must not");
    FAILS(ig_ring_wait(NULL, 0), "ring kernel: the kernel must not");
    FAILS(ig_ring_activate(kernel), "ring kernel 'k' is active; it can be activated only when");
    FAILS(ig_ring_wait(kernel, 0), "ring kernel 'k' is active and has not ended within");
    assert_ok(ig_ring_deactivate(kernel));
    FAILS(ig_ring_deactivate(kernel), "ring kernel 'k' is deactivated; it can be deactivated only when");
    FAILS(ig_ring_send(kernel, &(ig_message){0}, 0, NULL), "sending: ring kernel 'k' is deactivated; it takes");
    assert_ok(ig_ring_terminate(kernel, IG_RING_DROP));
    assert_ok(ig_ring_wait(kernel, IG_FOREVER));
    FAILS(ig_ring_terminate(kernel, IG_RING_DROP), "ring kernel 'k' is terminated; it can be terminated only");
    FAILS(ig_ring_receive(kernel, &(ig_message){0}, IG_FOREVER), "receiving: ring kernel 'k' is terminated, and");
    assert_status(ig_ring_launch(NULL, NULL, NULL, &error), IG_STATUS_INVALID_ARGUMENT);
    assert_string_equal(error.message, "ring_launch: runtime, desc and kernel must not be NULL");
    assert_status(ig_ring_get_error(NULL, &error), IG_STATUS_INVALID_ARGUMENT);
    assert_string_equal(error.message, "ring_get_error: the kernel must not be NULL");
    ig_error_clear(&error);
    ig_ring_kernel_release(kernel);
    assert_ok(ig_ring_runtime_shutdown(runtime));
}

static void messages_that_are_not_sent(void **state) {
    (void)state;
    ig_ring_runtime *runtime;
    ig_ring_slot slot, held;
    size_t sent;
    assert_ok(ig_ring_runtime_create(device, NULL, &runtime));
    ig_ring_kernel *kernel = launch_kernel(runtime, "k", false);
    ig_message large = {.header.payload_size = 65}, missing = {.header.payload_size = 8}, none = {0};
    FAILS(ig_ring_send(kernel, NULL, 0, NULL), "sending: kernel and message must not");
    FAILS(ig_ring_send(kernel, &large, 0, NULL), "sending: a payload of 65 bytes is more than the 64 that");
    FAILS(ig_ring_send(kernel, &missing, 0, NULL), "sending: the payload is NULL, but payload_size is 8");
    FAILS(ig_ring_send_batch(kernel, NULL, 1, 0, &sent), "sending: kernel and message must not");
    FAILS(ig_ring_send_batch(kernel, &large, 1, 0, &sent), "sending: a payload of 65 bytes");
    FAILS(ig_ring_send_array(kernel, &missing, 1, 0, &sent), "sending: the payload is NULL");
    FAILS(ig_ring_reserve(kernel, 0, 0, NULL), "ring_reserve: kernel and slot must not");
    FAILS(ig_ring_reserve(kernel, 65, 0, &slot), "sending: a payload of 65 bytes");
    assert_ok(ig_ring_reserve(kernel, 8, 0, &held));  // the kernel waits for it
    assert_ok(ig_ring_send(kernel, &none, 0, NULL));
    FAILS(ig_ring_send(kernel, &none, 1, NULL), "sending: the kernel's input ring is full; wait");
    FAILS(ig_ring_reserve(kernel, 8, 0, &slot), "sending: the kernel's input ring is full; wait");
    ig_ring_cancel(kernel, &held);
    ig_ring_kernel_release(kernel);
    assert_ok(ig_ring_runtime_shutdown(runtime));
}

static void messages_that_do_not_come(void **state) {
    (void)state;
    ig_ring_runtime *runtime;
    ig_ring_slot slot;
    size_t count;
    assert_ok(ig_ring_runtime_create(device, NULL, &runtime));
    ig_ring_kernel *kernel = launch_kernel(runtime, "k", false);
    ig_message silent = {.header.message_type = 3}, failing = {.header.message_type = 2}, answer = {0};
    FAILS(ig_ring_receive(kernel, NULL, 0), "receiving: kernel and message must not");
    FAILS(ig_ring_receive(kernel, &answer, 0), "receiving: no message came");
    FAILS(ig_ring_receive_batch(NULL, &answer, 1, 0, &count), "receiving: kernel and message must not");
    FAILS(ig_ring_receive_batch(kernel, &answer, 1, 1, &count), "receiving: no message came");
    FAILS(ig_ring_receive_correlated(kernel, 0, &answer, 0), "receiving: the id is 0");
    FAILS(ig_ring_receive_correlated(kernel, 12345, &answer, 0), "receiving: no message came");
    FAILS(ig_ring_peek(kernel, 0, NULL), "ring_peek: kernel and slot must not");
    FAILS(ig_ring_peek(kernel, 0, &slot), "receiving: no message came");
    FAILS(ig_ring_receive_dead(kernel, NULL), "receiving: kernel and message must not");
    FAILS(ig_ring_receive_dead(kernel, &answer), "receiving: the kernel has no dead letters");
    FAILS(ig_ring_request(kernel, NULL, &answer, 0), "ring_request: kernel, question and answer");
    FAILS(ig_ring_request(kernel, &silent, &answer, IG_FOREVER), "the handler of ring kernel 'k' handled the message");
    FAILS(ig_ring_request(kernel, &failing, &answer, IG_FOREVER), "ring kernel 'k' did not handle the message: the");
    FAILS(ig_ring_wait(kernel, IG_FOREVER), "the handler of ring kernel 'k' failed with code 256");
    ig_ring_kernel_release(kernel);
    assert_ok(ig_ring_runtime_shutdown(runtime));
}

static void routes_between_ring_kernels(void **state) {
    (void)state;
    ig_ring_runtime *runtime;
    ig_k2k_routing_table table;
    const uint32_t pair[3] = {2, 1, 1}, flat[3] = {2, 0, 1};
    assert_ok(ig_ring_runtime_create(device, NULL, &runtime));
    ig_ring_kernel *a = launch_kernel(runtime, "a", true), *b = launch_kernel(runtime, "b", true);
    ig_ring_kernel *c = launch_kernel(runtime, "c", false), *both[] = {a, b}, *swapped[] = {b, a}, *mixed[] = {b, c};
    FAILS(ig_ring_connect(a, NULL), "ring_connect: neither kernel may");
    FAILS(ig_ring_connect(a, a), "ring_connect: ring kernel 'a' cannot have a route to itself");
    FAILS(ig_ring_connect(a, c), "ring_connect: ring kernel 'c' was launched without the option k2k");
    FAILS(ig_ring_disconnect(a, b), "ring_disconnect: ring kernel 'a' has no route to 'b'");
    FAILS(ig_ring_connect_grid(NULL, pair, IG_NEIGHBOURS_FACES, false), "connect_grid: kernels and grid must not");
    FAILS(ig_ring_connect_grid(both, flat, IG_NEIGHBOURS_FACES, false), "connect_grid: the grid is 2 x 0 x 1; every");
    FAILS(ig_ring_connect_grid(swapped, pair, IG_NEIGHBOURS_FACES, false), "connect_grid: kernel 1 of 2 is NULL, of");
    FAILS(ig_ring_connect_grid(mixed, pair, IG_NEIGHBOURS_FACES, false), "connect_grid: ring kernel 'c' was launched");
#define TABLE(self, grid) ig_k2k_routing_table_grid(&table, self, 0, grid, IG_NEIGHBOURS_FACES, false, 64)
    FAILS(TABLE(0, NULL), "routing_table_grid: table and grid must not");
    FAILS(TABLE(0, flat), "routing_table_grid: the grid is 2 x 0 x 1; every");
    FAILS(TABLE(2, pair), "routing_table_grid: a grid of 2 x 1 x 1 has no kernel 2");
#undef TABLE
    ig_ring_kernel_release(a), ig_ring_kernel_release(b), ig_ring_kernel_release(c);
    assert_ok(ig_ring_runtime_shutdown(runtime));
}

// ---- Halo exchange ----

static void halos(void **state) {
    (void)state;
    ig_halo *halo;
    ig_queue *queue = make_queue();
    ig_commands *commands = make_commands(queue);
    ig_k2k_routing_table table;
    ig_error error = {0};
    float cells[16] = {0};
    ig_halo_config config = ig_halo_config_2d(2, 2, 2, 2, 1);
    assert_ok(ig_halo_create(device, &config, &halo, NULL));
    FAILS(ig_halo_get_routes(NULL, 0, &table), "halo_get_routes: halo and table must not");
    FAILS(ig_halo_get_routes(halo, 4, &table), "halo_get_routes: there is no tile 4; this process has 4");
    FAILS(ig_halo_scatter(halo, 1, cells), "halo_scatter: there is no field 1; the halo has 1");
    FAILS(ig_halo_gather(halo, 0, NULL), "halo_gather: the halo and the cells must not");
    FAILS(ig_halo_fill(NULL, 0, cells), "halo_fill: the halo and the cells must not");
    FAILS(ig_halo_encode_exchange(halo, NULL, 1), "halo_encode_exchange: halo and commands must not");
    FAILS(ig_halo_encode_exchange(halo, commands, 2), "halo_encode_exchange: fields is 0x2; the halo has 1");
    FAILS(ig_halo_reset(NULL), "halo_reset: the halo must not");
    assert_ok(ig_halo_exchange_begin(halo, 1, NULL));
    FAILS(ig_halo_reset(halo), "halo_reset: an exchange has begun; call");
    assert_ok(ig_halo_exchange_finish(halo, NULL));
    assert_status(ig_halo_exchange_finish(halo, &error), IG_STATUS_WRONG_STATE);
    assert_string_equal(error.message, "no exchange is under way; call ig_halo_exchange_begin first");
    assert_status(ig_halo_exchange(NULL, 1, &error), IG_STATUS_INVALID_ARGUMENT);
    assert_string_equal(error.message, "halo exchange: the halo must not be NULL");
    ig_error_clear(&error);
    ig_commands_release(commands), ig_queue_release(queue);
    ig_halo_release(halo);
}

// ---- What ig_last_error promises ----

static void a_success_leaves_the_stream_without_news(void **state) {
    (void)state;
    ig_stream *fresh;
    ig_error error = {0};
    leave_an_old_error();
    assert_ok(ig_stream_create(device, NULL, &fresh, NULL));
    assert_ok(ig_stream_get_error(fresh, &error));
    assert_null(error.message);
    ig_stream_release(fresh);
}

static void *look(void *user) {
    ig_error *error = user;
    return ig_last_error(error) == IG_STATUS_OK ? NULL : user;
}

static void other_threads_see_nothing(void **state) {
    (void)state;
    ig_error error = {0};
    pthread_t thread;
    void *saw;
    leave_an_old_error();
    assert_int_equal(pthread_create(&thread, NULL, look, &error), 0);
    assert_int_equal(pthread_join(thread, &saw), 0);
    assert_null(saw);
    assert_null(error.message);
    assert_int_equal(ig_last_error(NULL), IG_STATUS_INVALID_ARGUMENT);
}

// The op failed on the stream, then a view, then the op again: the last failure is reported each time.
static void the_later_of_stream_and_thread_is_told(void **state) {
    (void)state;
    ig_tensor *x = iota(SHAPE(2, 3)), *out = NULL;
    assert_status(ig_tensor_softmax(stream, x, 7, NULL, &out), IG_STATUS_INVALID_ARGUMENT);
    expect_error("softmax: there is no axis 7");
    assert_status(ig_tensor_squeeze(x, 1, &out), IG_STATUS_INVALID_ARGUMENT);
    expect_error("squeeze: axis 1 has length 3");
    assert_status(ig_tensor_cumsum(stream, x, 8, NULL, &out), IG_STATUS_INVALID_ARGUMENT);
    expect_error("cumsum: there is no axis 8");
    ig_tensor_release(x);
}

// Long names are cut, never written past the end.
static void long_sentences_are_cut(void **state) {
    (void)state;
    char stage[2000];
    memset(stage, 'x', sizeof stage - 1);
    stage[sizeof stage - 1] = 0;
    ig_pipeline *pipeline = make_pipeline("kernel void k(device int *a) { a[0] = 1; }", "k");
    char *text;
    if (on_software_device()) FAILS(ig_pipeline_emit(pipeline, stage, &text), "pipeline_emit: unknown stage 'xxx");
    ig_pipeline_release(pipeline);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffers),
        cmocka_unit_test(nulls_instead_of_commands),
        cmocka_unit_test(command_buffers),
        cmocka_unit_test(kernels_that_fail),
        cmocka_unit_test(views),
        cmocka_unit_test(tensors),
        cmocka_unit_test(elementwise_ops),
        cmocka_unit_test(other_ops),
        cmocka_unit_test(ops_of_transformers),
        cmocka_unit_test(caches_of_keys),
        cmocka_unit_test(language_models),
        cmocka_unit_test(clocks),
        cmocka_unit_test(ring_runtimes),
        cmocka_unit_test(states_of_ring_kernels),
        cmocka_unit_test(messages_that_are_not_sent),
        cmocka_unit_test(messages_that_do_not_come),
        cmocka_unit_test(routes_between_ring_kernels),
        cmocka_unit_test(halos),
        cmocka_unit_test(a_success_leaves_the_stream_without_news),
        cmocka_unit_test(other_threads_see_nothing),
        cmocka_unit_test(the_later_of_stream_and_thread_is_told),
        cmocka_unit_test(long_sentences_are_cut),
    };
    return cmocka_run_group_tests(tests, open_test_stream, close_test_stream);
}
