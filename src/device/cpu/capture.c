// SPDX-License-Identifier: Apache-2.0
// Captures of a device: what its libraries were made of, and what buffers and textures held before a dispatch.
#include "device/cpu/capture.h"

#include <string.h>

#include "core/file.h"
#include "msl/element-type.h"
#include "msl/flatten.h"

// ---- Of a device ----

ig_status igi_cpu_captures_create(const char *directory, const char *choice, cpu_captures **captures, ig_error *error) {
    if (!directory || !*directory) {
        if (!choice || !*choice) return IG_STATUS_OK;
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT,
                             "dispatches were chosen for capture (INGOT_CAPTURE_DISPATCH), but no directory is named; "
                             "set INGOT_CAPTURE_DIR");
    }
    cpu_captures *made = igi_calloc(1, sizeof *made);
    if (!made) return igi_error_no_memory(error);
    igi_ref_init(&made->references);
    ig_status status = igi_cpu_capture_choice_parse(choice, &made->choice, error);
    if (status == IG_STATUS_OK && !(made->directory = igi_path_absolute(directory)))
        status = igi_error_no_memory(error);
    if (status == IG_STATUS_OK && !igi_make_dirs(made->directory))
        status = igi_error_set(error, IG_STATUS_IO, "cannot make the directory for captures '%s' (INGOT_CAPTURE_DIR)",
                               made->directory);
    if (status == IG_STATUS_OK)
        *captures = made;
    else
        igi_cpu_captures_release(made);
    return status;
}

void igi_cpu_captures_release(cpu_captures *captures) {
    if (!captures || !igi_ref_drop(&captures->references)) return;
    igi_cpu_capture_choice_free(&captures->choice);
    free(captures->directory);
    free(captures);
}

static cpu_captures *take(cpu_device *cpu) {
    pthread_mutex_lock(&cpu->lock);
    cpu_captures *captures = cpu->captures;
    if (captures) igi_ref_take(&captures->references);
    pthread_mutex_unlock(&cpu->lock);
    return captures;
}

// Returns what was there before.
static cpu_captures *replace(cpu_device *cpu, cpu_captures *captures) {
    pthread_mutex_lock(&cpu->lock);
    cpu_captures *before = cpu->captures;
    cpu->captures = captures;
    pthread_mutex_unlock(&cpu->lock);
    return before;
}

ig_status igi_cpu_capture_start(ig_device *device, const ig_capture_desc *desc, ig_error *error) {
    cpu_device *cpu = igi_cpu(device);
    if (!cpu->keeps_origins)
        return igi_error_set(error, IG_STATUS_WRONG_STATE,
                             "the device was not opened as capturable, so its libraries have forgotten their sources");
    cpu_captures *made = NULL, *before = take(cpu);
    igi_cpu_captures_release(before);
    if (before) return igi_error_set(error, IG_STATUS_WRONG_STATE, "the device captures dispatches already");
    ig_status status =
        igi_cpu_captures_create(desc->directory, desc->dispatches ? desc->dispatches : "*", &made, error);
    if (status != IG_STATUS_OK) return status;
    made->queue = desc->queue;
    igi_cpu_captures_release(replace(cpu, made));
    return IG_STATUS_OK;
}

size_t igi_cpu_capture_stop(ig_device *device) {
    cpu_captures *captures = replace(igi_cpu(device), NULL);
    size_t written = captures ? atomic_load(&captures->written) : 0;
    igi_cpu_captures_release(captures);
    return written;
}

static void complain(cpu_captures *captures, const char *why) {
    if (!atomic_exchange(&captures->complained, true)) igi_log(IG_LOG_WARNING, "INGOT_CAPTURE_DIR: %s", why);
}

// ---- Of a library ----

static bool copy_defines(struct cpu_origin *origin, const igi_msl_request *request) {
    origin->defines = igi_calloc(request->define_count, sizeof *origin->defines);
    for (size_t i = 0; origin->defines && i < request->define_count; i++) {
        ig_define *copy = &origin->defines[origin->define_count++];
        copy->name = igi_strdup(request->defines[i].name);
        copy->value = igi_strdup(request->defines[i].value ? request->defines[i].value : "1");
        if (!copy->name || !copy->value) return false;
    }
    return origin->defines != NULL;
}

// Files that are not spliced into the one text.
static bool needs_other_files(const igi_msl_sources *sources) {
    bool data = false;
    for (size_t i = 0; i < sources->count; i++) data |= sources->files[i].data;
    return data || sources->wanted_count;
}

struct cpu_origin *igi_cpu_origin_create(const igi_msl_request *request) {
    struct cpu_origin *origin = igi_calloc(1, sizeof *origin);
    if (!origin) return NULL;
    const char *name = request->sources.files[0].display;
    ig_error error = {0};
    ig_status status = igi_msl_sources_flatten(&request->sources, &origin->text, &origin->length, &error);
    if (status == IG_STATUS_OK && needs_other_files(&request->sources))
        igi_log(IG_LOG_WARNING, "INGOT_CAPTURE_DIR: captures of %s lack the files of #embed and of #include MACRO",
                name);
    origin->name = igi_strdup(name);
    origin->language_version = request->language_version;
    if (status == IG_STATUS_OK && origin->name && copy_defines(origin, request)) return origin;
    igi_log(IG_LOG_WARNING, "INGOT_CAPTURE_DIR: %s cannot be captured: %s", name,
            error.message ? error.message : "not enough memory");
    ig_error_clear(&error);
    igi_cpu_origin_free(origin);
    return NULL;
}

void igi_cpu_origin_free(struct cpu_origin *origin) {
    if (!origin) return;
    for (size_t i = 0; i < origin->define_count; i++)
        free((char *)origin->defines[i].name), free((char *)origin->defines[i].value);
    free(origin->defines), free(origin->text), free(origin->name), free(origin);
}

// ---- Of a dispatch ----

static void free_capture(cpu_capture *capture) {
    for (size_t i = 0; i < capture->buffer_count; i++) free(capture->buffers[i].before);
    free(capture->buffers);
    igi_cpu_capture_free_textures(capture);
    igi_cpu_captures_release(capture->captures);
    free(capture);
}

size_t igi_cpu_capture_index(const cpu_capture *capture, const ig_buffer *buffer) {
    size_t i = 0;
    while (i < capture->buffer_count && capture->buffers[i].buffer != buffer) i++;
    return i;
}

bool igi_cpu_capture_keep_buffer(cpu_capture *capture, ig_buffer *buffer, ig_type type, bool written) {
    size_t index = igi_cpu_capture_index(capture, buffer);
    cpu_capture_buffer *entry = &capture->buffers[index];
    if (index == capture->buffer_count) {
        *entry = (cpu_capture_buffer){.buffer = buffer, .type = type};
        capture->buffer_count++;
    }
    if (!written || entry->before) return true;
    entry->before = igi_alloc(buffer->length);
    if (entry->before) memcpy(entry->before, buffer->memory, buffer->length);
    return entry->before != NULL;
}

static ig_type type_in(const ig_argument *argument, const ig_buffer *buffer) {
    ig_type type;
    bool known = argument && igi_msl_element_type(argument->type, &type) && type != IG_TYPE_BOOL;
    return known && buffer->length % ig_type_size(type) == 0 ? type : IG_TYPE_U8;
}

static bool keep(cpu_capture *capture, const igi_device_binding *binding) {
    if (binding->texture) return igi_cpu_capture_keep_texture(capture, binding);
    if (!binding->buffer) return true;
    const ig_argument *argument =
        igi_device_pipeline_argument(capture->dispatch->pipeline, binding->kind, binding->index);
    bool written = !argument || argument->access != IG_ACCESS_READ;
    return igi_cpu_capture_keep_buffer(capture, binding->buffer, type_in(argument, binding->buffer), written);
}

static bool keep_all(cpu_capture *capture) {
    const igi_device_dispatch *dispatch = capture->dispatch;
    capture->buffers = igi_calloc(dispatch->binding_count + 1, sizeof *capture->buffers);
    capture->textures = igi_calloc(dispatch->binding_count + 1, sizeof *capture->textures);
    if (!capture->buffers || !capture->textures) return false;
    for (uint32_t i = 0; i < dispatch->binding_count; i++)
        if (!keep(capture, &dispatch->bindings[i])) return false;
    return true;
}

// Why no dispatch of the program can be written now; NULL: it can.
static const char *obstacle(const cpu_captures *captures, const cpu_program *program) {
    if (atomic_load(&captures->written) >= IGI_CAPTURE_MOST)
        return "100 dispatches were captured; there will be no more";
    return program->module->origin ? NULL : "kernels whose source is not at hand, as of a .metallib, are not captured";
}

static cpu_capture *begin(cpu_captures *captures, ig_commands *commands, const igi_device_dispatch *dispatch) {
    const cpu_program *program = dispatch->pipeline->state;
    bool chosen = igi_cpu_capture_choose(&captures->choice, dispatch->pipeline->kernel.name);
    const char *why = obstacle(captures, program);
    if (why) {
        complain(captures, why);
        return NULL;
    }
    cpu_capture *capture = igi_calloc(1, sizeof *capture);
    if (capture)
        *capture = (cpu_capture){
            .commands = commands, .dispatch = dispatch, .chosen = chosen, .first_finding = commands->findings.count};
    if (capture && keep_all(capture)) return capture;
    if (capture) free_capture(capture);
    complain(captures, "there is not enough memory to keep what buffers and textures held before a dispatch");
    return NULL;
}

cpu_capture *igi_cpu_capture_begin(ig_commands *commands, const igi_device_dispatch *dispatch) {
    cpu_captures *captures = take(igi_cpu(commands->queue->device));
    if (!captures) return NULL;
    bool other = captures->queue && captures->queue != commands->queue;
    cpu_capture *capture = other ? NULL : begin(captures, commands, dispatch);
    if (capture)
        capture->captures = captures;
    else
        igi_cpu_captures_release(captures);
    return capture;
}

static bool has_errors(const cpu_capture *capture) {
    const igi_device_findings *findings = &capture->commands->findings;
    for (size_t i = capture->first_finding; i < findings->count; i++)
        if (!findings->items[i].warning) return true;
    return false;
}

// NULL: there is nothing to write.
static const char *reason_for(const cpu_capture *capture, ig_status status) {
    if (status == IG_STATUS_KERNEL_FAULT) return "fault";
    if (status == IG_STATUS_TIMEOUT) return "timeout";
    if (status != IG_STATUS_OK) return NULL;
    if (has_errors(capture)) return "check";
    return capture->chosen ? "chosen" : NULL;
}

void igi_cpu_capture_end(cpu_capture *capture, ig_status status, const ig_error *error) {
    if (!capture) return;
    const char *reason = reason_for(capture, status), *kernel = capture->dispatch->pipeline->kernel.name;
    ig_error problem = {0};
    char *path = NULL;
    if (reason) {
        const char *message = error && error->message ? error->message : "";
        ig_status written = igi_cpu_capture_write(capture, reason, message, &path, &problem);
        if (written != IG_STATUS_OK)
            complain(capture->captures, problem.message ? problem.message : ig_status_text(written));
        else
            igi_log(strcmp(reason, "chosen") == 0 ? IG_LOG_INFO : IG_LOG_WARNING,
                    "a dispatch of kernel '%s' was captured (%s); `ingot replay %s` runs it again", kernel, reason,
                    path);
    }
    ig_error_clear(&problem);
    free(path);
    free_capture(capture);
}
