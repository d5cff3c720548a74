// SPDX-License-Identifier: Apache-2.0
// Pipelines that nobody waits for.
#include "core/pool.h"
#include "device/backend.h"
#include "device/constants.h"
#include "device/stage-input.h"

typedef struct creation {
    igi_task task;
    ig_library *library;
    ig_pipeline_desc desc;  // a copy, with all it points to
    ig_pipeline_callback done;
    void *user;
} creation;

static void free_linked(ig_linked_function *linked, size_t count) {
    for (size_t i = 0; linked && i < count; i++) {
        ig_library_release(linked[i].library);
        free((char *)linked[i].name);
    }
    free(linked);
}

static void free_creation(creation *c) {
    ig_library *library = c->library;
    igi_device_constants_free((ig_function_constant *)c->desc.constants, c->desc.constant_count);
    free_linked((ig_linked_function *)c->desc.linked_functions, c->desc.linked_function_count);
    free((char *)c->desc.kernel), free((char *)c->desc.label), free((void *)c->desc.stage_input);
    free(c);
    ig_library_release(library);  // and perhaps the device, with the thread that this runs on
}

static void create(igi_task *task) {
    creation *c = (creation *)task;
    ig_pipeline *pipeline = NULL;
    ig_error error = {0};
    ig_status status = ig_pipeline_create(c->library, &c->desc, &pipeline, &error);
    c->done(pipeline, status, &error, c->user);
    ig_error_clear(&error);
    free_creation(c);
}

// ---- Copying ----

static bool copy_linked(ig_pipeline_desc *copy, const ig_pipeline_desc *desc) {
    ig_linked_function *linked = igi_calloc(desc->linked_function_count, sizeof *linked);
    copy->linked_functions = linked;
    if (!linked) return false;
    for (size_t i = 0; i < desc->linked_function_count; i++) {
        const ig_linked_function *given = &desc->linked_functions[i];
        copy->linked_function_count = i + 1;
        linked[i] = (ig_linked_function){ig_library_retain(given->library), igi_strdup(given->name)};
        if (given->name && !linked[i].name) return false;
    }
    return true;
}

static bool copy_desc(ig_pipeline_desc *copy, const ig_pipeline_desc *desc) {
    *copy = (ig_pipeline_desc){.constant_count = desc->constant_count,
                               .unset_constants_are_zero = desc->unset_constants_are_zero,
                               .tier = desc->tier};
    copy->kernel = igi_strdup(desc->kernel);
    copy->label = igi_strdup(desc->label);
    copy->constants = igi_device_constants_copy(desc->constants, desc->constant_count);
    if (desc->stage_input && !(copy->stage_input = igi_device_stage_input_copy(desc->stage_input))) return false;
    return copy->kernel && (copy->label || !desc->label) && copy->constants && copy_linked(copy, desc);
}

static bool is_complete(const ig_pipeline_desc *desc) {
    if (!desc->kernel || (desc->constant_count && !desc->constants) ||
        (desc->linked_function_count && !desc->linked_functions))
        return false;
    for (size_t i = 0; i < desc->constant_count; i++)
        if (!desc->constants[i].value || (unsigned)desc->constants[i].type >= IG_TYPE_COUNT) return false;
    const ig_stage_input *input = desc->stage_input;
    return !input || ((input->attributes || !input->attribute_count) && (input->layouts || !input->layout_count));
}

ig_status ig_pipeline_create_async(ig_library *library, const ig_pipeline_desc *desc, ig_pipeline_callback done,
                                   void *user) {
    if (!library || !desc || !done || !is_complete(desc))
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT,
                             "pipeline_create_async: library, kernel name and callback must not be NULL, and function "
                             "constants need a value and a type");
    if (igi_device_is_inherited(library->device)) return igi_device_fail_forked();
    creation *c = igi_calloc(1, sizeof *c);
    if (!c) return igi_fail_with(IG_STATUS_OUT_OF_MEMORY, "pipeline_create_async: memory is short");
    *c = (creation){.task.run = create, .library = ig_library_retain(library), .done = done, .user = user};
    if (!copy_desc(&c->desc, desc)) {
        free_creation(c);
        return igi_fail_with(IG_STATUS_OUT_OF_MEMORY, "pipeline_create_async: memory is short");
    }
    const igi_device_backend *backend = library->device->backend;
    if (!backend->run_later || !backend->run_later(library->device, &c->task)) create(&c->task);
    return IG_STATUS_OK;
}
