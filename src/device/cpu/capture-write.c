// SPDX-License-Identifier: Apache-2.0
// A captured dispatch on disk: a directory with the source, arrays, and a description that is written last.
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/file.h"
#include "core/json.h"
#include "core/npy.h"
#include "device/cpu/capture-write.h"
#include "device/stage-input.h"

typedef cpu_capture_writer writer;

// ---- Files ----

static ig_status cannot_write(writer *w, const char *path) {
    return w->status = igi_error_set(w->error, IG_STATUS_IO, "cannot write '%s': %s", path, strerror(errno));
}

static ig_status no_memory(writer *w) {
    return w->status = igi_error_no_memory(w->error);
}

static void save_file(writer *w, const char *name, const void *data, size_t length) {
    if (w->status != IG_STATUS_OK) return;
    char *path = igi_path_join(w->directory, name);
    if (!path)
        no_memory(w);
    else if (igi_file_write_atomic(path, data, length) != IG_STATUS_OK)
        cannot_write(w, path);
    free(path);
}

void igi_cpu_capture_save(writer *w, const char *name, ig_type type, const void *data, uint64_t bytes) {
    if (w->status != IG_STATUS_OK) return;
    char *path = igi_path_join(w->directory, name);
    const uint64_t count = bytes / ig_type_size(type);
    if (path)
        w->status = igi_npy_save(path, type, 1, &count, data, w->error);
    else
        no_memory(w);
    free(path);
}

// Names of kernels may be anything.
static void plain_name(const char *kernel, char name[64]) {
    size_t length = 0;
    for (; kernel[length] && length < 63; length++) {
        bool plain = isalnum((unsigned char)kernel[length]) || kernel[length] == '_';
        name[length] = plain ? kernel[length] : '_';
    }
    name[length] = '\0';
}

// Other processes may write to the same place.
static char *make_directory(cpu_captures *captures, const char *kernel) {
    char name[64];
    plain_name(kernel, name);
    for (unsigned i = atomic_load(&captures->written) + 1; i < 100000; i++) {
        char *path = igi_format("%s/%04u-%s", captures->directory, i, name);
        if (!path || mkdir(path, 0700) == 0) return path;
        free(path);
        if (errno != EEXIST) return NULL;
    }
    return NULL;
}

// ---- The description ----

static void put_size(writer *w, const char *key, ig_size size) {
    igi_json_key(&w->json, key);
    igi_json_begin_array(&w->json);
    igi_json_u64(&w->json, size.x), igi_json_u64(&w->json, size.y), igi_json_u64(&w->json, size.z);
    igi_json_end_array(&w->json);
}

static void put_library(writer *w, ig_math_mode math) {
    igi_json *json = &w->json;
    igi_json_key(json, "library"), igi_json_begin_object(json);
    igi_json_put_string(json, "source", "kernel.metal");
    igi_json_put_string(json, "name", w->origin->name);
    igi_json_put_u64(json, "language_version", w->origin->language_version);
    igi_json_put_string(json, "math", math == IG_MATH_FAST ? "fast" : "safe");
    igi_json_key(json, "defines"), igi_json_begin_array(json);
    for (size_t i = 0; i < w->origin->define_count; i++) {
        igi_json_begin_object(json);
        igi_json_put_string(json, "name", w->origin->defines[i].name);
        igi_json_put_string(json, "value", w->origin->defines[i].value);
        igi_json_end_object(json);
    }
    igi_json_end_array(json), igi_json_end_object(json);
    save_file(w, "kernel.metal", w->origin->text, w->origin->length);
}

// Values as their bytes, so that every NaN comes back as it was.
static void put_constant(writer *w, const ig_function_constant *constant) {
    static const char digits[] = "0123456789abcdef";
    igi_json *json = &w->json;
    const unsigned char *bytes = constant->value;
    size_t length = (size_t)constant->components * ig_type_size(constant->type);
    char text[2 * 4 * 8 + 1] = "";
    for (size_t i = 0; i < length && i < 32; i++)
        text[2 * i] = digits[bytes[i] >> 4], text[2 * i + 1] = digits[bytes[i] & 15];
    igi_json_begin_object(json);
    if (constant->name)
        igi_json_put_string(json, "name", constant->name);
    else
        igi_json_put_u64(json, "id", constant->id);
    igi_json_put_string(json, "type", ig_type_name(constant->type));
    igi_json_put_u64(json, "components", constant->components);
    igi_json_put_string(json, "bytes", text);
    igi_json_end_object(json);
}

static void put_constants(writer *w, const cpu_program *program) {
    igi_json_key(&w->json, "constants"), igi_json_begin_array(&w->json);
    for (size_t i = 0; i < program->constant_count; i++)
        if (!igi_device_stage_has(&program->constants[i])) put_constant(w, &program->constants[i]);
    igi_json_end_array(&w->json);
}

// ---- [[stage_in]] ----

static void put_attribute(writer *w, const igi_device_stage_item *item) {
    const ig_stage_attribute *a = &item->attribute;
    const ig_stage_layout *layout = &item->layout;
    const uint32_t *strides = w->capture->dispatch->stage_strides;
    bool dynamic = strides && layout->stride == IG_STRIDE_DYNAMIC;
    igi_json *json = &w->json;
    igi_json_begin_object(json);
    igi_json_put_u64(json, "index", a->index);
    igi_json_put_string(json, "type", ig_type_name(a->type));
    igi_json_put_u64(json, "components", a->components);
    igi_json_put_bool(json, "normalized", a->normalized);
    igi_json_put_u64(json, "packing", a->packing);
    igi_json_put_u64(json, "offset", a->offset);
    igi_json_put_u64(json, "buffer", a->buffer);
    igi_json_put_u64(json, "stride", dynamic ? strides[a->buffer] : layout->stride);
    igi_json_put_bool(json, "dynamic", dynamic);
    igi_json_put_u64(json, "step", layout->step);
    igi_json_put_u64(json, "rate", layout->rate);
    igi_json_end_object(json);
}

static void put_stage_input(writer *w) {
    const igi_device_dispatch *dispatch = w->capture->dispatch;
    const igi_device_stage *stage = dispatch->pipeline->stage;
    if (!stage) return;
    igi_json_key(&w->json, "stage_input"), igi_json_begin_object(&w->json);
    igi_json_key(&w->json, "attributes"), igi_json_begin_array(&w->json);
    for (size_t i = 0; i < stage->count; i++) put_attribute(w, &stage->items[i]);
    igi_json_end_array(&w->json);
    igi_json_put_u64(&w->json, "index_buffer", stage->index_buffer);
    igi_json_put_u64(&w->json, "index_bytes", stage->index_bytes);
    put_size(w, "origin", dispatch->stage_origin);
    put_size(w, "size", dispatch->stage_size);
    igi_json_end_object(&w->json);
}

static void put_buffer(writer *w, size_t index) {
    const cpu_capture_buffer *entry = &w->capture->buffers[index];
    const ig_buffer *buffer = entry->buffer;
    char before[48], after[48];
    snprintf(before, sizeof before, "buffer-%zu.npy", index);
    snprintf(after, sizeof after, "buffer-%zu-after.npy", index);
    igi_json_begin_object(&w->json);
    igi_json_put_string(&w->json, "file", before);
    igi_json_put_string(&w->json, "type", ig_type_name(entry->type));
    igi_json_put_u64(&w->json, "length", buffer->length);
    if (buffer->label) igi_json_put_string(&w->json, "label", buffer->label);
    if (entry->before && w->has_results) igi_json_put_string(&w->json, "after", after);
    igi_json_end_object(&w->json);
    igi_cpu_capture_save(w, before, entry->type, entry->before ? entry->before : buffer->memory, buffer->length);
    if (entry->before && w->has_results) igi_cpu_capture_save(w, after, entry->type, buffer->memory, buffer->length);
}

static void put_argument(writer *w, const igi_device_binding *binding) {
    igi_json *json = &w->json;
    const ig_argument *argument =
        igi_device_pipeline_argument(w->capture->dispatch->pipeline, binding->kind, binding->index);
    bool threadgroup = binding->kind == IG_ARGUMENT_THREADGROUP;
    bool image = binding->texture || binding->sampler;
    if (!binding->buffer && !binding->bytes && !image && !(threadgroup && binding->length)) return;
    igi_json_begin_object(json);
    igi_json_put_u64(json, "index", binding->index);
    if (argument) igi_json_put_string(json, "name", argument->name);
    if (threadgroup) igi_json_put_u64(json, "threadgroup", binding->length);
    if (binding->texture) igi_cpu_capture_put_view(w, binding->texture);
    if (binding->sampler) igi_cpu_capture_put_sampler(w, binding->sampler);
    if (binding->buffer) {
        igi_json_put_u64(json, "buffer", igi_cpu_capture_index(w->capture, binding->buffer));
        igi_json_put_u64(json, "offset", binding->offset);
    }
    if (binding->bytes) {
        char name[32];
        snprintf(name, sizeof name, "bytes-%u.npy", binding->index);
        igi_json_put_string(json, "bytes", name);
        igi_cpu_capture_save(w, name, IG_TYPE_U8, binding->bytes, binding->length);
    }
    igi_json_end_object(json);
}

static void put_arrays(writer *w) {
    const igi_device_dispatch *dispatch = w->capture->dispatch;
    igi_json_key(&w->json, "buffers"), igi_json_begin_array(&w->json);
    for (size_t i = 0; i < w->capture->buffer_count; i++) put_buffer(w, i);
    igi_json_end_array(&w->json);
    igi_cpu_capture_put_textures(w);
    igi_json_key(&w->json, "arguments"), igi_json_begin_array(&w->json);
    for (uint32_t i = 0; i < dispatch->binding_count; i++) put_argument(w, &dispatch->bindings[i]);
    igi_json_end_array(&w->json);
}

static void put_findings(writer *w) {
    const igi_device_findings *findings = &w->capture->commands->findings;
    igi_json_key(&w->json, "findings"), igi_json_begin_array(&w->json);
    for (size_t i = w->capture->first_finding; i < findings->count; i++) {
        const ig_finding *finding = &findings->items[i];
        igi_json_begin_object(&w->json);
        igi_json_put_string(&w->json, "kind", finding->kind);
        igi_json_put_string(&w->json, "file", finding->sides[0].file);
        igi_json_put_u64(&w->json, "line", finding->sides[0].line);
        igi_json_put_string(&w->json, "message", finding->message);
        igi_json_end_object(&w->json);
    }
    igi_json_end_array(&w->json);
}

static void describe(writer *w, const char *reason, const char *message) {
    const igi_device_dispatch *dispatch = w->capture->dispatch;
    const cpu_program *program = dispatch->pipeline->state;
    igi_json *json = &w->json;
    igi_json_begin_object(json);
    igi_json_put_u64(json, "ingot_capture", IGI_CAPTURE_FORMAT);
    igi_json_put_string(json, "version", ig_version());
    igi_json_put_string(json, "reason", reason);
    igi_json_put_string(json, "error", message);
    igi_json_put_string(json, "kernel", dispatch->pipeline->kernel.name);
    put_library(w, program->module->math_mode);
    put_constants(w, program);
    igi_json_put_bool(json, "unset_constants_are_zero", program->unset_constants_are_zero);
    put_size(w, "grid", dispatch->grid);
    put_size(w, "group", dispatch->group);
    put_stage_input(w);
    igi_json_put_u64(json, "deadline_ns", w->capture->commands->deadline_ns);
    igi_json_put_u64(json, "schedule", igi_cpu(w->capture->commands->queue->device)->schedule);
    put_arrays(w);
    put_findings(w);
    igi_json_end_object(json);
    igi_json_end_row(json);
}

ig_status igi_cpu_capture_write(const cpu_capture *capture, const char *reason, const char *message, char **path,
                                ig_error *error) {
    const cpu_program *program = capture->dispatch->pipeline->state;
    cpu_captures *captures = capture->captures;
    writer w = {.capture = capture, .origin = program->module->origin, .error = error};
    w.has_results = strcmp(reason, "chosen") == 0;
    w.directory = make_directory(captures, capture->dispatch->pipeline->kernel.name);
    if (!w.directory) return cannot_write(&w, captures->directory);
    atomic_fetch_add(&captures->written, 1);
    igi_json_to_memory(&w.json);
    describe(&w, reason, message);
    size_t length = w.json.text.length;
    char *text = igi_json_take_text(&w.json);
    if (!text && w.status == IG_STATUS_OK) no_memory(&w);
    if (text) save_file(&w, "capture.json", text, length);
    free(text);
    if (w.status == IG_STATUS_OK) {
        *path = w.directory;
    } else {
        igi_remove_tree(w.directory);
        free(w.directory);
    }
    return w.status;
}
