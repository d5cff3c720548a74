// SPDX-License-Identifier: Apache-2.0
// Steps that every op takes.
#include "tensor/front.h"

#include <assert.h>
#include <string.h>

// ---- Beginning and failing ----

void igi_tensor_front_begin(igi_tensor_front *f, ig_stream *stream, ig_op op, const ig_op_options *options) {
    igi_tensor_front_begin_as(f, stream, op, ig_op_name(op), options);
}

void igi_tensor_front_begin_as(igi_tensor_front *f, ig_stream *stream, ig_op op, const char *name,
                               const ig_op_options *options) {
    static const ig_op_options defaults;
    f->stream = stream;
    f->name = stream && stream->caller ? stream->caller : name;
    f->options = options ? options : &defaults;
    f->status = IG_STATUS_OK;
    if (!stream) f->status = igi_fail(IG_STATUS_INVALID_ARGUMENT, "%s: the stream is NULL", name);
    f->temporary_count = 0;
    f->call.op = op;
    f->call.name = f->name;
    f->call.input_count = f->call.output_count = 0;
    f->call.past_caches = false;
    if ((unsigned)f->options->backend >= IG_BACKEND_COUNT)
        igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "unknown backend %d", (int)f->options->backend);
}

void igi_tensor_front_fail(igi_tensor_front *f, ig_status status, const char *format, ...) {
    if (f->status != IG_STATUS_OK) return;
    f->status = status;
    va_list arguments;
    va_start(arguments, format);
    char *message = igi_vformat(format, arguments);
    va_end(arguments);
    igi_tensor_stream_fail(f->stream, status, "%s: %s", f->name, message ? message : ig_status_text(status));
    free(message);
}

static void fail_plainly(igi_tensor_front *f, ig_status status) {
    igi_tensor_front_fail(f, status, "%s", ig_status_text(status));
}

uint32_t igi_tensor_front_axis(igi_tensor_front *f, int32_t axis, uint32_t rank) {
    uint32_t index = 0;
    if (f->status == IG_STATUS_OK && !igi_tensor_axis(axis, rank, &index))
        igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "there is no axis %d in a tensor of rank %u", axis, rank);
    return index;
}

// ---- Inputs ----

void igi_tensor_front_input(igi_tensor_front *f, const char *role, const ig_tensor *tensor) {
    if (f->status != IG_STATUS_OK) return;
    if (!tensor) {
        igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "operand '%s' is NULL", role);
    } else if (tensor->view.storage->device != f->stream->runtime->device) {
        igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "operand '%s' belongs to another device than the stream",
                              role);
    } else {
        assert(f->call.input_count < IGI_MAX_INPUTS);
        f->call.in[f->call.input_count++] = tensor->view;
    }
}

void igi_tensor_front_optional_input(igi_tensor_front *f, const char *role, const ig_tensor *tensor) {
    assert(f->call.input_count < IGI_MAX_INPUTS);
    if (tensor)
        igi_tensor_front_input(f, role, tensor);
    else if (f->status == IG_STATUS_OK)
        f->call.in[f->call.input_count++].storage = NULL;  // the rest of the view is not used if it is absent
}

void igi_tensor_front_own(igi_tensor_front *f, ig_tensor *tensor) {
    assert(f->temporary_count < IGI_MAX_TEMPORARIES);
    f->temporaries[f->temporary_count++] = tensor;
}

ig_tensor *igi_tensor_front_temporary(igi_tensor_front *f, ig_type type, uint32_t rank, const uint64_t *shape) {
    ig_tensor *tensor = NULL;
    if (f->status != IG_STATUS_OK) return NULL;
    ig_status status = igi_tensor_make(f->stream->runtime->device, type, rank, shape, &tensor);
    if (status != IG_STATUS_OK)
        fail_plainly(f, status);
    else
        igi_tensor_front_own(f, tensor);
    return tensor;
}

void igi_tensor_front_run_inner(igi_tensor_front *f, ig_op op, const igi_tensor_view *from, const igi_tensor_view *to,
                                const igi_tensor_parameters *p) {
    if (f->status != IG_STATUS_OK) return;
    igi_tensor_call call = {.op = op, .name = f->name, .input_count = from != NULL, .output_count = 1};
    if (from) call.in[0] = *from;
    if (p) call.p = *p;
    call.out[0] = *to;
    f->status = igi_tensor_stream_run(f->stream, &call, IG_BACKEND_ANY);
}

// Replaces an input by a temporary made from it.
static void replace(igi_tensor_front *f, uint32_t index, ig_op op, ig_type type) {
    igi_tensor_view *input = &f->call.in[index];
    ig_tensor *made = igi_tensor_front_temporary(f, type, input->rank, input->shape);
    if (!made) return;
    igi_tensor_front_run_inner(f, op, input, &made->view, NULL);
    *input = made->view;
}

void igi_tensor_front_convert(igi_tensor_front *f, uint32_t index, ig_type type) {
    const igi_tensor_view *input = &f->call.in[index];
    if (f->status == IG_STATUS_OK && input->storage && input->type != type) replace(f, index, IG_OP_CAST, type);
}

void igi_tensor_front_pack(igi_tensor_front *f, uint32_t index) {
    const igi_tensor_view *input = &f->call.in[index];
    if (f->status == IG_STATUS_OK && input->storage && !igi_tensor_view_is_contiguous(input))
        replace(f, index, IG_OP_COPY, input->type);
}

ig_type igi_tensor_front_unify(igi_tensor_front *f, uint32_t first, uint32_t end) {
    if (f->status != IG_STATUS_OK) return IG_TYPE_F32;
    ig_type common = f->call.in[first].type, operand, result;
    for (uint32_t i = first + 1; i < end; i++)
        if (f->call.in[i].storage) common = igi_tensor_promote(common, f->call.in[i].type);
    igi_op_types(f->call.op, common, &operand, &result);
    for (uint32_t i = first; i < end; i++) igi_tensor_front_convert(f, i, operand);
    return result;
}

void igi_tensor_front_broadcast(igi_tensor_front *f, uint32_t first, uint32_t end, uint32_t *rank, uint64_t *shape) {
    char a[IGI_SHAPE_TEXT], b[IGI_SHAPE_TEXT];
    if (f->status != IG_STATUS_OK) return;
    igi_tensor_view *in = f->call.in;
    *rank = in[first].rank;
    memcpy(shape, in[first].shape, sizeof in[first].shape);
    for (uint32_t i = first + 1; i < end; i++) {
        if (!in[i].storage || igi_tensor_broadcast_shapes(*rank, shape, in[i].rank, in[i].shape, rank, shape)) continue;
        igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "shapes %s and %s do not fit together",
                              igi_tensor_shape_text(*rank, shape, a),
                              igi_tensor_shape_text(in[i].rank, in[i].shape, b));
        return;
    }
    for (uint32_t i = first; i < end; i++)
        if (in[i].storage && !(in[i].rank == *rank && memcmp(in[i].shape, shape, *rank * sizeof *shape) == 0))
            igi_tensor_view_broadcast(&in[i], *rank, shape, &in[i]);
}

// ---- Outputs ----

static bool repeats(const igi_tensor_view *view) {
    for (uint32_t i = 0; i < view->rank; i++)
        if (view->strides[i] == 0 && view->shape[i] > 1) return igi_tensor_view_count(view) != 0;
    return false;
}

static void use_given(igi_tensor_front *f, ig_tensor *into, const igi_tensor_view *wanted) {
    char has[IGI_SHAPE_TEXT], needs[IGI_SHAPE_TEXT];
    if (into->view.storage->device != f->stream->runtime->device)
        igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "'into' belongs to another device than the stream");
    else if (into->view.type != wanted->type || !igi_tensor_same_shape(&into->view, wanted))
        igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "'into' is %s %s but the result is %s %s",
                              ig_type_name(into->view.type),
                              igi_tensor_shape_text(into->view.rank, into->view.shape, has), ig_type_name(wanted->type),
                              igi_tensor_shape_text(wanted->rank, wanted->shape, needs));
    else if (repeats(&into->view))
        igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "'into' is a broadcast view, which cannot be written");
    else
        f->outputs[f->call.output_count] = ig_tensor_retain(into);
}

void igi_tensor_front_output(igi_tensor_front *f, ig_type type, uint32_t rank, const uint64_t *shape) {
    if (f->status != IG_STATUS_OK) return;
    uint32_t index = f->call.output_count;
    assert(index < IGI_MAX_OUTPUTS);
    ig_tensor *into = index == 0 ? f->options->into : NULL;
    if (into) {
        igi_tensor_view wanted = {.type = type, .rank = rank};
        memcpy(wanted.shape, shape, rank * sizeof *shape);
        use_given(f, into, &wanted);
    } else {
        char text[IGI_SHAPE_TEXT];
        ig_status status = igi_tensor_make(f->stream->runtime->device, type, rank, shape, &f->outputs[index]);
        if (status != IG_STATUS_OK)
            igi_tensor_front_fail(f, status, "no memory for a result of %s %s", ig_type_name(type),
                                  igi_tensor_shape_text(rank, shape, text));
    }
    if (f->status != IG_STATUS_OK) return;
    f->call.out[index] = f->outputs[index]->view;
    f->call.output_count++;
}

// ---- Running ----

static bool may_run_in_place(const igi_tensor_call *call, uint32_t input) {
    return igi_ops[call->op]->in_place >> input & 1;
}

static bool endangers_input(const igi_tensor_call *call) {
    for (uint32_t i = 0; i < call->input_count; i++) {
        if (!igi_tensor_views_overlap(&call->in[i], &call->out[0])) continue;
        if (!may_run_in_place(call, i) || !igi_tensor_view_same_layout(&call->in[i], &call->out[0])) return true;
    }
    return false;
}

// The result would overwrite what is still needed: it is computed in other memory and then copied.
static void run_aside(igi_tensor_front *f) {
    igi_tensor_view target = f->call.out[0];
    ig_tensor *aside = igi_tensor_front_temporary(f, target.type, target.rank, target.shape);
    if (!aside) return;
    f->call.out[0] = aside->view;
    f->status = igi_tensor_stream_run(f->stream, &f->call, f->options->backend);
    igi_tensor_front_run_inner(f, IG_OP_COPY, &aside->view, &target, NULL);
}

static void run(igi_tensor_front *f) {
    if (f->status != IG_STATUS_OK) return;
    if (f->options->into && endangers_input(&f->call))
        run_aside(f);
    else
        f->status = igi_tensor_stream_run(f->stream, &f->call, f->options->backend);
}

static void give(igi_tensor_front *f, uint32_t index, ig_tensor **out) {
    if (index >= f->call.output_count) return;
    if (out && f->status == IG_STATUS_OK)
        *out = f->outputs[index];
    else
        ig_tensor_release(f->outputs[index]);
}

static ig_status finish(igi_tensor_front *f, ig_tensor **first, ig_tensor **second) {
    give(f, 0, first);
    give(f, 1, second);
    for (uint32_t i = 0; i < f->temporary_count; i++) ig_tensor_release(f->temporaries[i]);
    return f->status;
}

static void require_output(igi_tensor_front *f, ig_tensor **out) {
    if (!out && !f->options->into)
        igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "out is NULL, and no 'into' is given");
}

ig_status igi_tensor_front_finish(igi_tensor_front *f, ig_tensor **out) {
    require_output(f, out);
    run(f);
    return finish(f, out, NULL);
}

ig_status igi_tensor_front_finish_two(igi_tensor_front *f, ig_tensor **first, ig_tensor **second) {
    run(f);
    return finish(f, first, second);
}

ig_status igi_tensor_front_hand_over(igi_tensor_front *f, ig_tensor **out) {
    require_output(f, out);
    return finish(f, out, NULL);
}

// ---- Elementwise ----

static const char *const roles[] = {"a", "b", "c"};

ig_status igi_tensor_front_elementwise(ig_stream *stream, ig_op op, const ig_tensor *const *inputs,
                                       const igi_tensor_parameters *p, const ig_op_options *options, ig_tensor **out) {
    igi_tensor_front f;
    uint32_t count = igi_ops[op]->inputs, rank = 0;
    uint64_t shape[IG_MAX_RANK];
    assert(count >= 1 && count <= sizeof roles / sizeof *roles);
    igi_tensor_front_begin(&f, stream, op, options);
    for (uint32_t i = 0; i < count; i++) igi_tensor_front_input(&f, count == 1 ? "x" : roles[i], inputs[i]);
    ig_type type = igi_tensor_front_unify(&f, 0, count);
    igi_tensor_front_broadcast(&f, 0, count, &rank, shape);
    if (p) f.call.p = *p;
    igi_tensor_front_output(&f, type, rank, shape);
    return igi_tensor_front_finish(&f, out);
}
