// SPDX-License-Identifier: Apache-2.0
// What a capture says of [[stage_in]]. The library checks what it means; here it only has to be numbers in range.
#include <string.h>

#include "capture.h"
#include "elements.h"

enum { SLOTS = 31 };

typedef struct stage_reader {
    const char *path;  // of the description
    capture_stage *stage;
    ig_error *error;
} stage_reader;

static ig_status wrong(const stage_reader *r, const char *key) {
    return igi_error_set(r->error, IG_STATUS_BAD_FORMAT, "%s: '%s' of 'stage_input' is not what a capture has", r->path,
                         key);
}

static ig_status get_number(const stage_reader *r, const igi_json_value *object, const char *key, uint64_t most,
                            uint32_t *number) {
    uint64_t value;
    if (!igi_json_get_u64(igi_json_member(object, key), &value) || value > most) return wrong(r, key);
    *number = (uint32_t)value;
    return IG_STATUS_OK;
}

static ig_status get_size(const stage_reader *r, const igi_json_value *object, const char *key, ig_size *size) {
    const igi_json_value *array = igi_json_member(object, key);
    uint64_t numbers[3];
    const igi_json_value *item = array && array->kind == IGI_JSON_ARRAY && array->count == 3 ? array->first : NULL;
    for (int i = 0; i < 3; i++, item = item ? item->next : NULL)
        if (!igi_json_get_u64(item, &numbers[i]) || numbers[i] > UINT32_MAX) return wrong(r, key);
    *size = (ig_size){numbers[0], numbers[1], numbers[2]};
    return IG_STATUS_OK;
}

// Each attribute comes with the layout of its buffer.
static ig_status read_attribute(const stage_reader *r, const igi_json_value *item) {
    capture_stage *stage = r->stage;
    ig_stage_attribute *a = &stage->attributes[stage->input.attribute_count++];
    ig_stage_layout *layout = &stage->layouts[stage->input.layout_count++];
    const char *type = igi_json_get_string(igi_json_member(item, "type"));
    uint32_t packing = 0, step = 0, stride = 0;
    bool dynamic = false;
    if (!type || !cli_type_named(type, strlen(type), &a->type)) return wrong(r, "type");
    if (!igi_json_get_bool(igi_json_member(item, "normalized"), &a->normalized)) return wrong(r, "normalized");
    if (!igi_json_get_bool(igi_json_member(item, "dynamic"), &dynamic)) return wrong(r, "dynamic");
    const struct {
        const char *key;
        uint64_t most;
        uint32_t *number;
    } numbers[] = {
        {"index", SLOTS - 1, &a->index},
        {"components", 4, &a->components},
        {"packing", IG_PACKING_RGB9E5_FLOAT, &packing},
        {"offset", UINT32_MAX, &a->offset},
        {"buffer", SLOTS - 1, &a->buffer},
        {"stride", UINT32_MAX - 1, &stride},
        {"step", IG_STEP_CONSTANT, &step},
        {"rate", UINT32_MAX, &layout->rate},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        ig_status status = get_number(r, item, numbers[i].key, numbers[i].most, numbers[i].number);
        if (status != IG_STATUS_OK) return status;
    }
    a->packing = (ig_attribute_packing)packing;
    layout->buffer = a->buffer;
    layout->step = (ig_step)step;
    layout->stride = dynamic ? IG_STRIDE_DYNAMIC : stride;
    if (dynamic) stage->strides[a->buffer] = stride;
    return IG_STATUS_OK;
}

ig_status capture_read_stage(const igi_json_value *root, const char *path, capture_stage *stage, ig_error *error) {
    const igi_json_value *object = igi_json_member(root, "stage_input"), *list = igi_json_member(object, "attributes");
    const stage_reader r = {path, stage, error};
    uint32_t index_bytes = 2;
    if (!object) return IG_STATUS_OK;
    if (!list || list->kind != IGI_JSON_ARRAY || list->count > SLOTS) return wrong(&r, "attributes");
    stage->input.attributes = stage->attributes;
    stage->input.layouts = stage->layouts;
    ig_status status = get_number(&r, object, "index_buffer", SLOTS - 1, &stage->input.index_buffer);
    if (status == IG_STATUS_OK) status = get_number(&r, object, "index_bytes", 4, &index_bytes);
    if (status == IG_STATUS_OK) status = get_size(&r, object, "origin", &stage->origin);
    if (status == IG_STATUS_OK) status = get_size(&r, object, "size", &stage->size);
    stage->input.index_type = index_bytes == 4 ? IG_TYPE_U32 : IG_TYPE_U16;
    for (const igi_json_value *item = list->first; item && status == IG_STATUS_OK; item = item->next)
        status = read_attribute(&r, item);
    return status;
}
