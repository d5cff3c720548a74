// SPDX-License-Identifier: Apache-2.0
#include "device/stage-input.h"

#include <stdio.h>
#include <string.h>

#include "device/encode.h"

enum { ATTRIBUTES = 31, NAME_BYTES = 20 };

// ---- Formats ----

static bool is_float(ig_type type) {
    return type == IG_TYPE_F16 || type == IG_TYPE_BF16 || type == IG_TYPE_F32;
}

static bool is_signed(ig_type type) {
    return type == IG_TYPE_I8 || type == IG_TYPE_I16 || type == IG_TYPE_I32;
}

static bool exists(const ig_stage_attribute *a) {
    if (a->packing) return a->packing <= IG_PACKING_RGB9E5_FLOAT;
    bool narrow = a->type >= IG_TYPE_I8 && a->type <= IG_TYPE_U16;
    bool number = (a->type >= IG_TYPE_I8 && a->type <= IG_TYPE_U32) || a->type == IG_TYPE_F16 || a->type == IG_TYPE_F32;
    return number && a->components >= 1 && a->components <= 4 && (narrow || !a->normalized);
}

static uint32_t scalar_bytes(const ig_stage_attribute *a) {
    return a->packing ? 4 : ig_type_size(a->type);
}

// Members of floats take floats and normalized integers, those of integers take integers of the same sign.
static bool fits(const ig_stage_attribute *a, const char *member) {
    bool real =
        strncmp(member, "float", 5) == 0 || strncmp(member, "half", 4) == 0 || strncmp(member, "bfloat", 6) == 0;
    if (a->packing || a->normalized || is_float(a->type)) return real;
    bool unsigned_member = *member == 'u' || strncmp(member, "bool", 4) == 0;
    return !real && is_signed(a->type) == !unsigned_member;
}

static void describe_format(const ig_stage_attribute *a, char text[40]) {
    if (a->packing)
        snprintf(text, 40, "packing %d", a->packing);
    else
        snprintf(text, 40, "%s x %u%s", ig_type_name(a->type), a->components, a->normalized ? ", normalized" : "");
}

// ---- Opening ----

static const ig_stage_attribute *find_attribute(const ig_stage_input *input, uint32_t index) {
    for (size_t i = 0; input && i < input->attribute_count; i++)
        if (input->attributes[i].index == index) return &input->attributes[i];
    return NULL;
}

static const ig_stage_layout *find_layout(const ig_stage_input *input, uint32_t buffer) {
    for (size_t i = 0; i < input->layout_count; i++)
        if (input->layouts[i].buffer == buffer) return &input->layouts[i];
    return NULL;
}

static bool is_dynamic(const ig_stage_layout *layout) {
    return layout->stride == IG_STRIDE_DYNAMIC && layout->step != IG_STEP_CONSTANT;
}

static ig_status check_layout(const ig_stage_layout *layout, const ig_stage_attribute *a, ig_error *error) {
    uint32_t bytes = scalar_bytes(a);
    if (!layout)
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "attribute %u is in buffer %u, which has no layout",
                             a->index, a->buffer);
    if ((unsigned)layout->step > IG_STEP_CONSTANT)
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "the layout of buffer %u has no step %d", a->buffer,
                             (int)layout->step);
    if (layout->step != IG_STEP_CONSTANT && !layout->stride)
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "the layout of buffer %u has no stride", a->buffer);
    bool known = layout->step != IG_STEP_CONSTANT && layout->stride != IG_STRIDE_DYNAMIC;
    if (a->offset % bytes == 0 && (!known || layout->stride % bytes == 0)) return IG_STATUS_OK;
    return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT,
                         "attribute %u: offset %u and stride %u must be multiples of %u bytes", a->index, a->offset,
                         layout->stride, bytes);
}

static ig_status check_attribute(const ig_stage_attribute *a, const char *member, const char *type, ig_error *error) {
    char format[40];
    if (a->index >= ATTRIBUTES || a->buffer >= IGI_SLOTS)
        return igi_error_set(error, IG_STATUS_OUT_OF_RANGE, "attribute %u in buffer %u: the highest of both is %d",
                             a->index, a->buffer, IGI_SLOTS - 1);
    if (!exists(a))
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "attribute %u has a format that does not exist",
                             a->index);
    if (!*type || fits(a, type)) return IG_STATUS_OK;
    describe_format(a, format);
    return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "attribute %u is %s, which '%s' (%s) cannot hold", a->index,
                         format, member, type);
}

static ig_status add_item(igi_device_stage *stage, const ig_stage_input *input, const ig_stage_attribute *a,
                          const char *member, const char *type, ig_error *error) {
    const ig_stage_layout *layout = find_layout(input, a->buffer);
    ig_status status = check_attribute(a, member, type, error);
    if (status == IG_STATUS_OK) status = check_layout(layout, a, error);
    if (status != IG_STATUS_OK) return status;
    uint32_t bytes = a->packing ? 4 : ig_type_size(a->type) * a->components;
    stage->items[stage->count++] = (igi_device_stage_item){*a, *layout, member, bytes};
    stage->indexed |= layout->step == IG_STEP_GRID_X_INDEXED || layout->step == IG_STEP_GRID_Y_INDEXED;
    stage->dynamic |= is_dynamic(layout);
    return IG_STATUS_OK;
}

static ig_status add_known(igi_device_stage *stage, const ig_stage_input *input, const ig_kernel_info *kernel,
                           ig_error *error) {
    ig_status status = IG_STATUS_OK;
    for (size_t i = 0; i < kernel->argument_count && status == IG_STATUS_OK; i++) {
        const ig_argument *argument = &kernel->arguments[i];
        if (argument->kind != IG_ARGUMENT_STAGE_INPUT) continue;
        const ig_stage_attribute *a = find_attribute(input, argument->index);
        if (!a)
            return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT,
                                 "kernel '%s' reads '%s' from [[attribute(%u)]]: describe it in stage_input of "
                                 "ig_pipeline_desc",
                                 kernel->name, argument->name, argument->index);
        status = add_item(stage, input, a, argument->name, argument->type, error);
    }
    return status;
}

static ig_status add_all(igi_device_stage *stage, const ig_stage_input *input, ig_error *error) {
    ig_status status = IG_STATUS_OK;
    for (size_t i = 0; i < input->attribute_count && status == IG_STATUS_OK; i++)
        status = add_item(stage, input, &input->attributes[i], "", "", error);
    return status;
}

ig_status igi_device_stage_open(const ig_pipeline_desc *desc, const ig_kernel_info *kernel, bool known,
                                igi_device_stage **stage, ig_error *error) {
    const ig_stage_input *input = desc->stage_input;
    size_t most = known ? kernel->argument_count : input ? input->attribute_count : 0;
    *stage = NULL;
    if (input && ((input->attribute_count && !input->attributes) || (input->layout_count && !input->layouts)))
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "stage_input has a count without a list");
    igi_device_stage *made = igi_calloc(1, sizeof *made + most * sizeof *made->items);
    if (!made) return igi_error_no_memory(error);
    ig_status status = known   ? add_known(made, input, kernel, error)
                       : input ? add_all(made, input, error)
                               : IG_STATUS_OK;
    if (status == IG_STATUS_OK && input && made->indexed && input->index_buffer >= IGI_SLOTS)
        status = igi_error_set(error, IG_STATUS_OUT_OF_RANGE, "the index buffer is %u; the highest is %d",
                               input->index_buffer, IGI_SLOTS - 1);
    if (status == IG_STATUS_OK && input && made->count) {
        made->index_buffer = input->index_buffer;
        made->index_bytes = input->index_type == IG_TYPE_U32 ? 4 : 2;
        *stage = made;
        return IG_STATUS_OK;
    }
    free(made);
    return status;
}

// ---- As function constants ----

static const char prefix[] = "__ig_stage_";

bool igi_device_stage_has(const ig_function_constant *constant) {
    return constant->name && strncmp(constant->name, prefix, sizeof prefix - 1) == 0;
}

typedef struct described {  // of an attribute, as stdlib/__ingot_stage_input reads it
    char names[2][NAME_BYTES];
    uint32_t words[2][4];
} described;

static void describe_item(const igi_device_stage *stage, const igi_device_stage_item *item, described *d) {
    const ig_stage_attribute *a = &item->attribute;
    const ig_stage_layout *layout = &item->layout;
    uint32_t format =
        (uint32_t)a->type | a->components << 8 | (uint32_t)a->normalized << 16 | (uint32_t)a->packing << 24;
    const uint32_t words[2][4] = {{format, a->offset, a->buffer, (uint32_t)layout->step},
                                  {layout->stride, layout->rate, stage->index_buffer, stage->index_bytes}};
    memcpy(d->words, words, sizeof words);
    snprintf(d->names[0], NAME_BYTES, "%s%u_a", prefix, a->index);
    snprintf(d->names[1], NAME_BYTES, "%s%u_b", prefix, a->index);
}

ig_function_constant *igi_device_stage_constants(const igi_device_stage *stage, const ig_pipeline_desc *desc,
                                                 size_t *count) {
    *count = desc->constant_count + 2 * stage->count;
    size_t list = *count * sizeof(ig_function_constant);
    ig_function_constant *constants = igi_calloc(1, list + stage->count * sizeof(described));
    if (!constants) return NULL;
    described *all = (described *)(constants + *count);
    if (desc->constant_count) memcpy(constants, desc->constants, desc->constant_count * sizeof *constants);
    for (size_t i = 0; i < stage->count; i++) {
        describe_item(stage, &stage->items[i], &all[i]);
        for (int k = 0; k < 2; k++)
            constants[desc->constant_count + 2 * i + (size_t)k] = (ig_function_constant){
                .name = all[i].names[k], .type = IG_TYPE_U32, .value = all[i].words[k], .components = 4};
    }
    return constants;
}

// ---- Buffers ----

static bool is_argument(const ig_kernel_info *kernel, uint32_t slot) {
    for (size_t i = 0; i < kernel->argument_count; i++) {
        const ig_argument *argument = &kernel->arguments[i];
        bool buffer = argument->kind == IG_ARGUMENT_BUFFER || argument->kind == IG_ARGUMENT_FUNCTION_TABLE;
        if (buffer && argument->index == slot) return true;
    }
    return false;
}

static void add_buffer(ig_kernel_info *kernel, ig_argument *arguments, uint32_t slot, const char *type) {
    for (size_t i = 0; i < kernel->argument_count; i++)
        if (arguments[i].kind == IG_ARGUMENT_BUFFER && arguments[i].index == slot)
            arguments[i].access |= IG_ACCESS_READ;
    if (is_argument(kernel, slot)) return;
    arguments[kernel->argument_count++] = (ig_argument){.name = "stage_in",
                                                        .type = type,
                                                        .attribute = "buffer",
                                                        .address_space = "device",
                                                        .condition = "",
                                                        .kind = IG_ARGUMENT_BUFFER,
                                                        .access = IG_ACCESS_READ,
                                                        .index = slot,
                                                        .array_length = 1};
}

bool igi_device_stage_add_buffers(ig_pipeline *pipeline) {
    const igi_device_stage *stage = pipeline->stage;
    ig_kernel_info *kernel = &pipeline->kernel;
    ig_argument *arguments = igi_calloc(kernel->argument_count + stage->count + 1, sizeof *arguments);
    if (!arguments) return false;
    if (kernel->argument_count) memcpy(arguments, kernel->arguments, kernel->argument_count * sizeof *arguments);
    free((void *)kernel->arguments);
    kernel->arguments = arguments;
    for (size_t i = 0; i < stage->count; i++)
        add_buffer(kernel, arguments, stage->items[i].attribute.buffer, "attributes");
    if (stage->indexed) add_buffer(kernel, arguments, stage->index_buffer, "indices");
    return true;
}

// ---- Dispatches ----

static uint64_t bound_bytes(const ig_commands *commands, uint32_t slot) {
    const igi_device_binding *binding = &commands->buffers[slot];
    return binding->buffer ? binding->buffer->length - binding->offset : binding->length;
}

static ig_status check_bytes(ig_commands *commands, const char *what, uint32_t slot, uint64_t needed) {
    if (bound_bytes(commands, slot) >= needed) return IG_STATUS_OK;
    return igi_device_encode_fail(
        commands, IG_STATUS_BUFFER_TOO_SMALL,
        "kernel '%s': %s of [[stage_in]] in buffer %u need %llu bytes, but only %llu are bound",
        commands->pipeline->kernel.name, what, slot, (unsigned long long)needed,
        (unsigned long long)bound_bytes(commands, slot));
}

// How many elements the threads of the dispatch step through.
static uint64_t elements(const igi_device_dispatch *dispatch, const ig_stage_layout *layout) {
    bool y = layout->step == IG_STEP_GRID_Y || layout->step == IG_STEP_GRID_Y_INDEXED;
    ig_size grid = dispatch->grid, size = dispatch->stage_size, origin = dispatch->stage_origin;
    uint64_t threads = y ? grid.y : grid.x, inside = y ? size.y : size.x, rate = layout->rate ? layout->rate : 1;
    if (size.x && inside < threads) threads = inside;
    if (layout->step == IG_STEP_CONSTANT || !threads) return 1;
    return (y ? origin.y : origin.x) + (threads - 1) / rate + 1;
}

static ig_status check_item(ig_commands *commands, const igi_device_dispatch *dispatch,
                            const igi_device_stage_item *item) {
    const igi_device_stage *stage = commands->pipeline->stage;
    const ig_stage_layout *layout = &item->layout;
    uint64_t count = elements(dispatch, layout), before, last = (uint64_t)item->attribute.offset + item->bytes;
    uint32_t stride = is_dynamic(layout) ? commands->stage_strides[item->attribute.buffer] : layout->stride;
    if (layout->step == IG_STEP_GRID_X_INDEXED || layout->step == IG_STEP_GRID_Y_INDEXED)
        return check_bytes(commands, "the indices", stage->index_buffer, count * stage->index_bytes);
    bool fits = igi_mul(count - 1, stride, &before) && before <= UINT64_MAX - last;
    return check_bytes(commands, "the attributes", item->attribute.buffer, fits ? before + last : UINT64_MAX);
}

static ig_status check_stride(ig_commands *commands, const igi_device_stage_item *item) {
    const ig_stage_attribute *a = &item->attribute;
    uint32_t stride = commands->stage_strides[a->buffer], bytes = scalar_bytes(a);
    if (!is_dynamic(&item->layout) || (stride && stride % bytes == 0)) return IG_STATUS_OK;
    const char *kernel = commands->pipeline->kernel.name;
    if (stride)
        return igi_device_encode_fail(
            commands, IG_STATUS_INVALID_ARGUMENT,
            "kernel '%s': attribute %u: the stride of buffer %u is %u, and must be a multiple of %u bytes", kernel,
            a->index, a->buffer, stride, bytes);
    return igi_device_encode_fail(
        commands, IG_STATUS_UNBOUND_ARGUMENT,
        "kernel '%s': the stride of buffer %u is dynamic and was not set: call ig_commands_set_attribute_stride",
        kernel, a->buffer);
}

// They may be set to others before the dispatch runs.
static ig_status keep_strides(ig_commands *commands, igi_device_dispatch *dispatch) {
    uint32_t *copy = igi_arena_alloc(&commands->arena, sizeof commands->stage_strides);
    if (!copy) return igi_device_encode_fail(commands, IG_STATUS_OUT_OF_MEMORY, "not enough memory");
    dispatch->stage_strides = memcpy(copy, commands->stage_strides, sizeof commands->stage_strides);
    return IG_STATUS_OK;
}

ig_status igi_device_stage_check(ig_commands *commands, igi_device_dispatch *dispatch) {
    const igi_device_stage *stage = commands->pipeline->stage;
    bool known = !dispatch->indirect && !dispatch->stage_region;
    ig_status status = stage->dynamic ? keep_strides(commands, dispatch) : IG_STATUS_OK;
    for (size_t i = 0; i < stage->count && status == IG_STATUS_OK; i++) {
        status = check_stride(commands, &stage->items[i]);
        if (status == IG_STATUS_OK && known) status = check_item(commands, dispatch, &stage->items[i]);
    }
    return status;
}

ig_status ig_commands_set_attribute_stride(ig_commands *commands, uint32_t stride, uint32_t index) {
    ig_status status = igi_device_encode_check(commands);
    if (status != IG_STATUS_OK) return status;
    if (index >= IGI_SLOTS)
        return igi_device_encode_fail(commands, IG_STATUS_OUT_OF_RANGE,
                                      "set_attribute_stride: index %u is above the highest, %d", index, IGI_SLOTS - 1);
    if (stride == IG_STRIDE_DYNAMIC)
        return igi_device_encode_fail(commands, IG_STATUS_OUT_OF_RANGE,
                                      "set_attribute_stride %u: a stride is at most 2^32 - 2 bytes", index);
    commands->stage_strides[index] = stride;
    return IG_STATUS_OK;
}

ig_status ig_commands_set_stage_region_indirect(ig_commands *commands, ig_buffer *buffer, uint64_t offset) {
    ig_status status = igi_device_encode_check(commands);
    if (status != IG_STATUS_OK) return status;
    if (!buffer || buffer->device != commands->queue->device)
        return igi_device_encode_fail(commands, IG_STATUS_INVALID_ARGUMENT,
                                      "set_stage_region_indirect: the buffer is NULL or belongs to another device");
    if (offset % 4 || !igi_in_range(offset, 6 * sizeof(uint32_t), buffer->length))
        return igi_device_encode_fail(commands, IG_STATUS_OUT_OF_RANGE,
                                      "set_stage_region_indirect: six uint32_t at offset %llu do not fit a buffer of "
                                      "%llu bytes, or are not aligned to 4",
                                      (unsigned long long)offset, (unsigned long long)buffer->length);
    if (!igi_device_encode_keep(commands, (igi_device_retained){IGI_RETAINED_BUFFER, buffer}))
        return igi_device_encode_fail(commands, IG_STATUS_OUT_OF_MEMORY, "not enough memory");
    commands->stage_region = buffer;
    commands->stage_region_offset = offset;
    return IG_STATUS_OK;
}

ig_status ig_commands_set_stage_region(ig_commands *commands, ig_size origin, ig_size size) {
    ig_status status = igi_device_encode_check(commands);
    if (status != IG_STATUS_OK) return status;
    commands->stage_region = NULL;
    const uint64_t ends[3] = {origin.x | size.x, origin.y | size.y, origin.z | size.z};
    for (int i = 0; i < 3; i++)
        if (ends[i] > UINT32_MAX)
            return igi_device_encode_fail(commands, IG_STATUS_OVERFLOW,
                                          "set_stage_region: origin and size are at most 2^32 - 1 in each dimension");
    if (size.x && !size.y) size.y = 1;
    if (size.x && !size.z) size.z = 1;
    commands->stage_origin = origin;
    commands->stage_size = size;
    return IG_STATUS_OK;
}

// ---- Copies ----

ig_stage_input *igi_device_stage_input_copy(const ig_stage_input *input) {
    size_t attributes = input->attribute_count * sizeof *input->attributes;
    size_t layouts = input->layout_count * sizeof *input->layouts;
    ig_stage_input *copy = igi_calloc(1, sizeof *copy + attributes + layouts);
    if (!copy) return NULL;
    *copy = *input;
    if (attributes) copy->attributes = memcpy(copy + 1, input->attributes, attributes);
    if (layouts) copy->layouts = memcpy((char *)(copy + 1) + attributes, input->layouts, layouts);
    return copy;
}
