// SPDX-License-Identifier: Apache-2.0
// Tables of functions that kernels call by number.
#include <string.h>

#include "device/backend.h"
#include "device/encode.h"

// As <metal_visible_function_table> reads it.
static uint64_t *entries_of(const ig_function_table *table) {
    return table->buffer->memory;
}

ig_status ig_function_table_create(ig_pipeline *pipeline, uint32_t count, ig_function_table **table) {
    if (!pipeline || !table)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "function_table_create: pipeline and table must not be NULL");
    ig_device *device = pipeline->library->device;
    if (igi_device_is_inherited(device)) return igi_device_fail_forked();
    if (!device->backend->links_functions)
        return igi_fail(IG_STATUS_UNSUPPORTED, "function_table_create: device '%s' has no function tables",
                        device->backend->name);
    ig_function_table *made = igi_calloc(1, sizeof *made);
    if (!made) return igi_fail_with(IG_STATUS_OUT_OF_MEMORY, "function_table_create: out of memory");
    ig_status status =
        ig_buffer_create(device, &(ig_buffer_desc){.length = ((uint64_t)count + 1) * sizeof(uint64_t)}, &made->buffer);
    if (status != IG_STATUS_OK) {
        free(made);
        return status;
    }
    igi_ref_init(&made->references);
    made->pipeline = ig_pipeline_retain(pipeline);
    made->count = count;
    entries_of(made)[0] = count;
    *table = made;
    return IG_STATUS_OK;
}

ig_function_table *ig_function_table_retain(ig_function_table *table) {
    if (table) igi_ref_take(&table->references);
    return table;
}

void ig_function_table_release(ig_function_table *table) {
    if (!table || igi_device_is_inherited(table->pipeline->library->device) || !igi_ref_drop(&table->references))
        return;
    ig_buffer_release(table->buffer);
    ig_pipeline_release(table->pipeline);
    free(table);
}

uint32_t ig_function_table_count(const ig_function_table *table) {
    return table->count;
}

uint64_t ig_function_table_device_address(const ig_function_table *table) {
    return ig_buffer_device_address(table->buffer);
}

// The number of a linked function, from 1; 0 if there is none of this name.
static uint64_t number_of(const ig_pipeline *pipeline, const char *name) {
    for (size_t i = 0; i < pipeline->function_count; i++)
        if (strcmp(pipeline->functions[i]->name, name) == 0) return i + 1;
    return 0;
}

ig_status ig_function_table_set(ig_function_table *table, uint32_t index, const char *name) {
    if (!table) return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "function_table_set: the table is NULL");
    if (igi_device_is_inherited(table->pipeline->library->device)) return igi_device_fail_forked();
    if (index >= table->count)
        return igi_fail(IG_STATUS_OUT_OF_RANGE, "function_table_set: index %u is outside a table of %u functions",
                        index, table->count);
    uint64_t number = name ? number_of(table->pipeline, name) : 0;
    if (name && !number)
        return igi_fail(
            IG_STATUS_NOT_FOUND,
            "function_table_set: function '%.100s' is not linked to the pipeline of kernel '%s'; name it in "
            "linked_functions",
            name, table->pipeline->kernel.name);
    entries_of(table)[1 + index] = number;
    return IG_STATUS_OK;
}

ig_status ig_commands_set_function_table(ig_commands *commands, ig_function_table *table, uint32_t index) {
    if (!table) return ig_commands_set_buffer(commands, NULL, 0, index);
    ig_status status = ig_commands_set_buffer(commands, table->buffer, 0, index);
    if (status != IG_STATUS_OK) return status;
    if (!igi_device_encode_keep(commands, (igi_device_retained){IGI_RETAINED_FUNCTION_TABLE, table}))
        return igi_device_encode_fail(commands, IG_STATUS_OUT_OF_MEMORY, "set_function_table %u: out of memory", index);
    commands->buffers[index].table = table;
    return IG_STATUS_OK;
}
