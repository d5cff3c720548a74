// SPDX-License-Identifier: Apache-2.0
// ingot run: what fills [[stage_in]], from --attribute, --layout, --indices and --region.
#include <string.h>

#include "elements.h"
#include "run.h"

enum { SLOTS = 31 };

typedef struct piece {
    const char *at;
    size_t length;
} piece;

// The text up to the separator, and the text after it; NULL at the end.
static piece take(const char **text, char separator) {
    const char *end = *text ? strchr(*text, separator) : NULL;
    piece taken = {*text ? *text : "", *text ? (end ? (size_t)(end - *text) : strlen(*text)) : 0};
    *text = end ? end + 1 : NULL;
    return taken;
}

static bool is(piece p, const char *word) {
    return p.length == strlen(word) && memcmp(p.at, word, p.length) == 0;
}

static bool read_number(piece p, uint32_t most, uint32_t *number) {
    uint64_t value;
    if (!cli_parse_u64(p.at, p.length, &value) || value > most) return false;
    *number = (uint32_t)value;
    return true;
}

// ---- Attributes ----

static const struct {
    const char *name;
    ig_attribute_packing packing;
} packings[] = {
    {"rgb10a2_unorm", IG_PACKING_RGB10A2_UNORM}, {"rgb10a2_snorm", IG_PACKING_RGB10A2_SNORM},
    {"bgra8_unorm", IG_PACKING_BGRA8_UNORM},     {"rg11b10_float", IG_PACKING_RG11B10_FLOAT},
    {"rgb9e5_float", IG_PACKING_RGB9E5_FLOAT},
};

// "f32", "f32x3", "u8x4n"
static bool read_format(piece p, ig_stage_attribute *a) {
    for (size_t i = 0; i < sizeof packings / sizeof *packings; i++) {
        if (!is(p, packings[i].name)) continue;
        a->packing = packings[i].packing;
        return true;
    }
    if (p.length && p.at[p.length - 1] == 'n') a->normalized = true, p.length--;
    a->components = 1;
    if (p.length > 2 && p.at[p.length - 2] == 'x') {
        a->components = (uint32_t)(p.at[p.length - 1] - '0');
        p.length -= 2;
    }
    return a->components >= 1 && a->components <= 4 && cli_type_named(p.at, p.length, &a->type);
}

static int read_attribute(run_stage *stage, const char *text) {
    const char *rest;
    ig_stage_attribute a = {0};
    bool formed = cli_split_index(text, &a.index, &rest) && read_number(take(&rest, ':'), SLOTS - 1, &a.buffer) &&
                  rest && read_format(take(&rest, ':'), &a);
    if (formed && rest) formed = read_number(take(&rest, ':'), UINT32_MAX, &a.offset) && !rest;
    if (!formed || a.index >= SLOTS)
        return cli_usage_error("--attribute takes N=BUFFER:FORMAT[:OFFSET], like 0=1:f32x3 or 1=1:u8x4n:12, not '%s'",
                               text);
    for (size_t i = 0; i < stage->input.attribute_count; i++)
        if (stage->attributes[i].index == a.index) return cli_usage_error("--attribute %u is given twice", a.index);
    stage->attributes[stage->input.attribute_count++] = a;
    return CLI_CONTINUE;
}

// ---- Layouts ----

static bool read_word(piece p, ig_stage_layout *layout, bool *dynamic) {
    static const char *const steps[] = {[IG_STEP_GRID_X] = "x",
                                        [IG_STEP_GRID_Y] = "y",
                                        [IG_STEP_GRID_X_INDEXED] = "x-indexed",
                                        [IG_STEP_GRID_Y_INDEXED] = "y-indexed",
                                        [IG_STEP_CONSTANT] = "constant"};
    static const char rate[] = "rate=";
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (!is(p, steps[i])) continue;
        layout->step = (ig_step)i;
        return true;
    }
    if (is(p, "dynamic")) return *dynamic = true;
    size_t length = sizeof rate - 1;
    if (p.length <= length || memcmp(p.at, rate, length) != 0) return false;
    return read_number((piece){p.at + length, p.length - length}, UINT32_MAX, &layout->rate) && layout->rate;
}

static int read_layout(run_stage *stage, const char *text) {
    const char *rest;
    ig_stage_layout layout = {0};
    bool dynamic = false;
    bool formed = cli_split_index(text, &layout.buffer, &rest) && layout.buffer < SLOTS &&
                  read_number(take(&rest, ','), UINT32_MAX - 1, &layout.stride);
    while (formed && rest) formed = read_word(take(&rest, ','), &layout, &dynamic);
    if (!formed)
        return cli_usage_error("--layout takes BUFFER=STRIDE[,WORD]..., like 1=16 or 2=4,y-indexed,rate=2, not '%s'",
                               text);
    for (size_t i = 0; i < stage->input.layout_count; i++)
        if (stage->layouts[i].buffer == layout.buffer)
            return cli_usage_error("--layout %u is given twice", layout.buffer);
    if (dynamic) stage->strides[layout.buffer] = layout.stride, layout.stride = IG_STRIDE_DYNAMIC;
    stage->layouts[stage->input.layout_count++] = layout;
    return CLI_CONTINUE;
}

// ---- The rest ----

static int read_indices(run_stage *stage) {
    const char *type;
    if (!stage->indices_text) return CLI_CONTINUE;
    bool formed = cli_split_index(stage->indices_text, &stage->input.index_buffer, &type) &&
                  stage->input.index_buffer < SLOTS && (strcmp(type, "u16") == 0 || strcmp(type, "u32") == 0);
    if (!formed) return cli_usage_error("--indices takes BUFFER=u16 or BUFFER=u32, not '%s'", stage->indices_text);
    stage->input.index_type = strcmp(type, "u32") == 0 ? IG_TYPE_U32 : IG_TYPE_U16;
    return CLI_CONTINUE;
}

static bool read_size(piece p, ig_size *size) {
    uint32_t numbers[3];
    const char *end = p.at + p.length;
    for (int i = 0; i < 3; i++) {
        const char *comma = i < 2 ? memchr(p.at, ',', (size_t)(end - p.at)) : end;
        if (!comma || !read_number((piece){p.at, (size_t)(comma - p.at)}, UINT32_MAX, &numbers[i])) return false;
        p.at = comma + 1;
    }
    *size = (ig_size){numbers[0], numbers[1], numbers[2]};
    return true;
}

static int read_region(run_stage *stage) {
    const char *rest = stage->region_text;
    if (!rest) return CLI_CONTINUE;
    if (read_size(take(&rest, ':'), &stage->origin) && rest && read_size(take(&rest, ':'), &stage->size) && !rest)
        return CLI_CONTINUE;
    return cli_usage_error("--region takes X,Y,Z:W,H,D, like 1,0,0:2,1,1, not '%s'", stage->region_text);
}

int run_read_stage(run_job *job) {
    run_stage *stage = &job->stage;
    if (stage->attribute_texts.count > SLOTS || stage->layout_texts.count > SLOTS)
        return cli_usage_error("there are at most %d attributes and layouts", SLOTS);
    int result = CLI_CONTINUE;
    for (size_t i = 0; i < stage->attribute_texts.count && result == CLI_CONTINUE; i++)
        result = read_attribute(stage, stage->attribute_texts.items[i]);
    for (size_t i = 0; i < stage->layout_texts.count && result == CLI_CONTINUE; i++)
        result = read_layout(stage, stage->layout_texts.items[i]);
    if (result == CLI_CONTINUE) result = read_indices(stage);
    if (result == CLI_CONTINUE) result = read_region(stage);
    stage->input.attributes = stage->attributes;
    stage->input.layouts = stage->layouts;
    if (stage->input.attribute_count) job->source.stage_input = &stage->input;
    return result;
}

void run_encode_stage(const run_job *job, ig_commands *commands) {
    const run_stage *stage = &job->stage;
    for (uint32_t i = 0; i < SLOTS; i++)
        if (stage->strides[i]) ig_commands_set_attribute_stride(commands, stage->strides[i], i);
    ig_commands_set_stage_region(commands, stage->origin, stage->size);
}

void run_free_stage(run_job *job) {
    cli_list_free(&job->stage.attribute_texts);
    cli_list_free(&job->stage.layout_texts);
}
