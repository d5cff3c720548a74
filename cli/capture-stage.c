// SPDX-License-Identifier: Apache-2.0
// What a capture says of [[stage_in]]. The library checks what it means; here it only has to be numbers in range.
#include <string.h>

#include "capture-fields.h"
#include "elements.h"

enum { SLOTS = 31 };

// Each attribute comes with the layout of its buffer.
static ig_status read_attribute(const capture_loader *l, const igi_json_value *item) {
    capture_stage *stage = &l->read->stage;
    ig_stage_attribute *a = &stage->attributes[stage->input.attribute_count++];
    ig_stage_layout *layout = &stage->layouts[stage->input.layout_count++];
    uint32_t packing = 0, step = 0, stride = 0;
    bool dynamic = false;
    ig_status status = capture_get_type(l, item, &a->type);
    if (status != IG_STATUS_OK) return status;
    if (!igi_json_get_bool(igi_json_member(item, "normalized"), &a->normalized))
        return capture_wrong(l, "normalized", "must be a boolean");
    if (!igi_json_get_bool(igi_json_member(item, "dynamic"), &dynamic))
        return capture_wrong(l, "dynamic", "must be a boolean");
    const capture_number numbers[] = {
        {"index", SLOTS - 1, &a->index},
        {"components", 4, &a->components},
        {"packing", IG_PACKING_RGB9E5_FLOAT, &packing},
        {"offset", UINT32_MAX, &a->offset},
        {"buffer", SLOTS - 1, &a->buffer},
        {"stride", UINT32_MAX - 1, &stride},
        {"step", IG_STEP_CONSTANT, &step},
        {"rate", UINT32_MAX, &layout->rate},
    };
    status = capture_get_numbers(l, item, numbers, sizeof numbers / sizeof *numbers);
    if (status != IG_STATUS_OK) return status;
    a->packing = (ig_attribute_packing)packing;
    layout->buffer = a->buffer;
    layout->step = (ig_step)step;
    layout->stride = dynamic ? IG_STRIDE_DYNAMIC : stride;
    if (dynamic) stage->strides[a->buffer] = stride;
    return IG_STATUS_OK;
}

ig_status capture_read_stage(const capture_loader *l) {
    capture_stage *stage = &l->read->stage;
    const igi_json_value *object = igi_json_member(l->read->document.root, "stage_input"), *list;
    uint32_t index_bytes = 2;
    if (!object) return IG_STATUS_OK;
    stage->input.attributes = stage->attributes;
    stage->input.layouts = stage->layouts;
    const capture_number numbers[] = {{"index_buffer", SLOTS - 1, &stage->input.index_buffer},
                                      {"index_bytes", 4, &index_bytes}};
    ig_status status = capture_get_array(l, object, "attributes", SLOTS, &list);
    if (status == IG_STATUS_OK) status = capture_get_numbers(l, object, numbers, 2);
    if (status == IG_STATUS_OK) status = capture_get_size(l, object, "origin", 0, &stage->origin);
    if (status == IG_STATUS_OK) status = capture_get_size(l, object, "size", 0, &stage->size);
    if (status != IG_STATUS_OK) return status;
    stage->input.index_type = index_bytes == 4 ? IG_TYPE_U32 : IG_TYPE_U16;
    for (const igi_json_value *item = list->first; item && status == IG_STATUS_OK; item = item->next)
        status = read_attribute(l, item);
    return status;
}
