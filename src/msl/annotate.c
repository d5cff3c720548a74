// SPDX-License-Identifier: Apache-2.0
// Attributes become annotations. In a macro's body the context is only what the body itself contains.
#include <string.h>

#include "msl/address-space.h"
#include "msl/attributes.h"
#include "msl/function-constant.h"
#include "msl/rewrite-passes.h"

typedef struct frame {  // an open parenthesis
    size_t start;       // first token of the current parameter
    int angles;
    bool of_kernel;      // its parameters are a kernel's, or those of a function that draws
    bool of_graphics;    // the latter
    bool has_slot;       // the current parameter has an explicit slot
    bool has_attribute;  // or another attribute
} frame;

typedef struct context {
    size_t statement;  // first token of the current statement
    bool is_kernel;    // it is a kernel, or a function that draws
    bool is_graphics;  // the latter
    frame *frames;
    size_t count, capacity;
} context;

typedef struct annotator {
    igi_msl_rewriter *r;
    context code, line;  // a preprocessor line has its own context and does not affect the code's
    igi_msl_function_constants constants;
    size_t space_start, space_end;  // the range in which `space` was searched
    const char *space;
} annotator;

typedef struct item {  // one attribute of a [[list]]
    const igi_msl_attribute *attribute;
    size_t name;         // token
    size_t first, last;  // argument tokens, first > last when there are none
    size_t end;          // token after the attribute
} item;

// ---- Context ----

static void follow_frame(context *c, const igi_msl_rewriter *r, size_t index) {
    frame *top = &c->frames[c->count - 1];
    if (igi_msl_is(r, index, ")")) c->count--;
    if (igi_msl_is(r, index, "<")) top->angles++;
    if (igi_msl_is(r, index, ">") && top->angles > 0 && !igi_msl_is(r, index - 1, "-")) top->angles--;
    if (igi_msl_is(r, index, ",") && top->angles == 0)
        top->start = index + 1, top->has_slot = top->has_attribute = false;
}

static void open_frame(context *c, igi_msl_rewriter *r, size_t index) {
    if (!igi_grow((void **)&c->frames, &c->capacity, c->count + 1, sizeof *c->frames)) {
        r->failed = true;
        return;
    }
    bool outer = c->count == 0;
    c->frames[c->count++] =
        (frame){.start = index + 1, .of_kernel = c->is_kernel && outer, .of_graphics = c->is_graphics && outer};
}

static void follow(context *c, igi_msl_rewriter *r, size_t index) {
    igi_msl_token_kind kind = igi_msl_at(r, index)->kind;
    if (kind == IGI_TOKEN_BOUNDARY || kind == IGI_TOKEN_DIRECTIVE || igi_msl_is(r, index, ";") ||
        igi_msl_is(r, index, "{") || igi_msl_is(r, index, "}")) {
        c->statement = index + 1;
        c->is_kernel = c->is_graphics = false;
        c->count = 0;
    } else if (kind == IGI_TOKEN_PUNCT && igi_msl_is(r, index, "(")) {
        open_frame(c, r, index);
    } else if (kind == IGI_TOKEN_PUNCT && c->count) {
        follow_frame(c, r, index);
    } else if (igi_msl_is(r, index, "kernel")) {
        c->is_kernel = true;
    } else if (igi_msl_is(r, index, "vertex") || igi_msl_is(r, index, "fragment")) {
        c->is_kernel = c->is_graphics = true;
    }
}

// The address space in the declaration that begins at `start`. Remembers how far it has searched, because a hostile
// parameter may have thousands of attributes.
static const char *space_in(annotator *a, size_t start, size_t end) {
    if (start != a->space_start) {
        a->space_start = a->space_end = start;
        a->space = NULL;
    }
    for (; a->space_end < end && !a->space; a->space_end++)
        a->space = igi_msl_address_space(&a->r->tokens, a->space_end);
    return a->space ? a->space : "";
}

// Whether the parameter is a texture, a sampler or another object by its type's name.
static const char *object_in(const igi_msl_rewriter *r, size_t start, size_t end) {
    static const char *const textures[] = {
        "texture1d", "texture1d_array", "texture2d",         "texture2d_array",  "texture2d_ms", "texture2d_ms_array",
        "texture3d", "texturecube",     "texturecube_array", "texture_buffer",   "depth2d",      "depth2d_array",
        "depthcube", "depthcube_array", "depth2d_ms",        "depth2d_ms_array",
    };
    static const char *const in_buffers[] = {
        "visible_function_table",           "tensor",
        "intersection_function_table",      "acceleration_structure",
        "primitive_acceleration_structure", "instance_acceleration_structure",
    };
    for (size_t i = start; i < end; i++) {
        if (igi_msl_is(r, i, "*") || igi_msl_is(r, i, "&")) return NULL;  // in a buffer
        if (igi_msl_is(r, i, "sampler")) return "sampler";
        for (size_t k = 0; k < sizeof in_buffers / sizeof *in_buffers; k++)
            if (igi_msl_is(r, i, in_buffers[k])) return "buffer";
        for (size_t k = 0; k < sizeof textures / sizeof *textures; k++)
            if (igi_msl_is(r, i, textures[k])) return "texture";
    }
    return NULL;
}

static bool has_word(const igi_msl_rewriter *r, size_t first, size_t end, const char *word) {
    for (size_t i = first; i < end; i++)
        if (igi_msl_is(r, i, word)) return true;
    return false;
}

// Buffers without an explicit index carry their address space, as the others do. Functions that draw have parameters that
// are known by their types alone.
static void end_parameter(annotator *a, const context *c, size_t index) {
    if (!c->count || igi_msl_at(a->r, index)->region != IGI_REGION_CODE) return;
    const frame *top = &c->frames[c->count - 1];
    bool end = igi_msl_is(a->r, index, ")") || (igi_msl_is(a->r, index, ",") && top->angles == 0);
    if (!end || !top->of_kernel || top->has_slot || top->start == index) return;
    const char *object = object_in(a->r, top->start, index);
    if (object) {
        igi_msl_rewriter_edit(a->r, igi_msl_at(a->r, index)->offset, 0,
                              igi_format(" __attribute__((annotate(\"ig.%s:\")))", object));
        return;
    }
    bool constant = strcmp(space_in(a, top->start, index), "constant") == 0;
    bool plain = !top->has_attribute && (top->of_graphics || has_word(a->r, top->start, index, "imageblock"));
    if (!constant && !plain) return;
    igi_msl_rewriter_edit(a->r, igi_msl_at(a->r, index)->offset, 0,
                          igi_format(" __attribute__((annotate(\"ig.%s\")))", constant ? "space:constant" : "plain"));
}

// ---- Attributes ----

static bool parse_item(const igi_msl_rewriter *r, size_t index, item *found) {
    const igi_msl_tokens *tokens = &r->tokens;
    if (!igi_msl_token_is_word(tokens, index)) return false;
    *found = (item){.name = index, .first = 1, .last = 0, .end = index + 1};
    bool qualified = igi_msl_is(r, index + 1, ":") && igi_msl_is(r, index + 2, ":");
    if (qualified) found->end = index + 4;
    if (!qualified)
        found->attribute =
            igi_msl_attribute_find(tokens->text + igi_msl_at(r, index)->offset, igi_msl_at(r, index)->length);
    if (found->end >= tokens->count || !igi_msl_is(r, found->end, "(")) return found->end < tokens->count;
    size_t close = igi_msl_at(r, found->end)->partner;
    if (close == found->end) return false;
    found->first = found->end + 1;
    found->last = close - 1;
    found->end = close + 1;
    return true;
}

static bool needs_argument(igi_msl_attribute_kind kind) {
    return kind == IGI_ATTRIBUTE_SLOT || kind == IGI_ATTRIBUTE_CONSTANT || kind == IGI_ATTRIBUTE_HOST_NAME ||
           kind == IGI_ATTRIBUTE_LIMIT;
}

// color(0) keeps its number. What others have in parentheses may be anything: (any), a type.
static void append_unsupported(annotator *a, igi_text *text, const item *attribute) {
    const char *name = attribute->attribute->name;
    igi_text_addf(text, "unsupported:%s\"", name);
    if (strcmp(name, "color") == 0 && attribute->first == attribute->last) {
        igi_text_add(text, ", ");
        igi_msl_rewriter_append(a->r, text, attribute->first, attribute->last + 1);
    }
    igi_text_add(text, "))) ");
}

// Attributes of functions that keywords may stand for as well.
static bool is_graphics_function(const char *name) {
    static const char *const names[] = {"vertex", "fragment", "object", "mesh", "intersection"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

static void append_annotation(annotator *a, igi_text *text, const item *attribute, size_t start, size_t open) {
    const char *name = attribute->attribute->name;
    igi_msl_attribute_kind kind = attribute->attribute->kind;
    igi_text_add(text, "__attribute__((annotate(\"ig.");
    switch (kind) {
        case IGI_ATTRIBUTE_HOST_NAME: igi_text_add(text, "host_name:\" "); break;
        case IGI_ATTRIBUTE_VISIBLE: igi_text_add(text, "visible\"), hot)) "); return;
        case IGI_ATTRIBUTE_UNSUPPORTED: append_unsupported(a, text, attribute); return;
        case IGI_ATTRIBUTE_CONSTANT: igi_text_add(text, "condition:\" __IG_CONDITION("); break;
        case IGI_ATTRIBUTE_SLOT: igi_text_addf(text, "%s:%s\", ", name, space_in(a, start, open)); break;
        case IGI_ATTRIBUTE_LIMIT: igi_text_addf(text, "%s\", ", name); break;
        default: igi_text_addf(text, "%s\"", name);
    }
    if (needs_argument(kind)) igi_msl_rewriter_append(a->r, text, attribute->first, attribute->last + 1);
    igi_text_add(text, kind == IGI_ATTRIBUTE_CONSTANT ? ")))) " : "))) ");
}

// clang takes no attribute between a name and its [2]; of members of graphics structures nobody needs it.
static bool is_before_array(const igi_msl_rewriter *r, const item *attribute) {
    return attribute->attribute->kind == IGI_ATTRIBUTE_UNSUPPORTED && igi_msl_is(r, attribute->end, "]") &&
           igi_msl_is(r, attribute->end + 2, "[") && !igi_msl_is(r, attribute->end + 3, "[");
}

// A function constant has no other attribute. One that a member of a graphics structure depends on comes with its slot.
static bool is_alone(const igi_msl_rewriter *r, const item *attribute, size_t open) {
    return attribute->name == open + 2 && igi_msl_is(r, attribute->end, "]");
}

// A declaration with one declarator can be followed by another declaration, which carries the number.
static void append_member(annotator *a, igi_text *text, const item *attribute) {
    bool ends = igi_msl_is(a->r, attribute->end, "]") && igi_msl_is(a->r, attribute->end + 2, ";");
    if (!ends || attribute->first > attribute->last) return;
    igi_text_add(text, "__ig_member_id(");
    igi_msl_rewriter_append(a->r, text, attribute->first, attribute->last + 1);
    igi_text_add(text, ") ");
}

// The member of a structure is followed by a function that fetches it (stdlib/__ingot_stage_input).
static void append_stage_input(annotator *a, igi_text *text, const item *attribute, size_t open) {
    size_t close = igi_msl_at(a->r, open)->partner;
    bool ends = close > open && igi_msl_is(a->r, close + 1, ";") && igi_msl_token_is_word(&a->r->tokens, open - 1);
    if (!ends || attribute->first > attribute->last) return;
    igi_text_add(text, "; __IG_STAGE_MEMBER(");
    igi_msl_rewriter_append(a->r, text, open - 1, open);
    igi_text_add(text, ", ");
    igi_msl_rewriter_append(a->r, text, attribute->first, attribute->last + 1);
    igi_text_add(text, ") ");
}

static void append_item(annotator *a, igi_text *text, const item *attribute, context *c, size_t open) {
    const char *name = attribute->attribute->name;
    igi_msl_attribute_kind kind = attribute->attribute->kind;
    if (needs_argument(kind) && attribute->first > attribute->last) {
        igi_msl_rewriter_complain(a->r, attribute->name,
                                  igi_format("attribute '%s' needs an argument, as in [[%s(%s)]]", name, name,
                                             kind == IGI_ATTRIBUTE_HOST_NAME ? "\"name\"" : "0"));
        return;
    }
    bool parameter = c->count > 0;
    if (parameter && kind == IGI_ATTRIBUTE_SLOT) c->frames[c->count - 1].has_slot = true;
    if (parameter && kind != IGI_ATTRIBUTE_CONSTANT) c->frames[c->count - 1].has_attribute = true;
    if (!parameter && strcmp(name, "kernel") == 0) c->is_kernel = true;
    if (!parameter && is_graphics_function(name)) c->is_kernel = c->is_graphics = true;
    bool constant = kind == IGI_ATTRIBUTE_CONSTANT && !parameter;
    if (kind == IGI_ATTRIBUTE_IGNORED || is_before_array(a->r, attribute) ||
        (constant && !is_alone(a->r, attribute, open)))
        return;
    if (kind == IGI_ATTRIBUTE_MEMBER) {
        append_member(a, text, attribute);
        return;
    }
    if (kind == IGI_ATTRIBUTE_STAGE_INPUT) {
        if (!parameter && open > 0) append_stage_input(a, text, attribute, open);
        return;
    }
    if (constant)
        igi_msl_declare_function_constant(a->r, &a->constants, text, c->statement, open, attribute->first,
                                          attribute->last + 1);
    else
        append_annotation(a, text, attribute, parameter ? c->frames[c->count - 1].start : c->statement, open);
}

// The token after the list [[a, b(1)]] that opens at `open`, or 0 if it is not such a list.
static size_t list_end(const igi_msl_rewriter *r, size_t open, bool *metal) {
    if (!igi_msl_is(r, open, "[") || !igi_msl_is(r, open + 1, "[")) return 0;
    item attribute = {.end = open + 1};
    *metal = false;
    do {
        if (!parse_item(r, attribute.end + 1, &attribute)) return 0;
        *metal |= attribute.attribute != NULL;
    } while (igi_msl_is(r, attribute.end, ","));
    return igi_msl_is(r, attribute.end, "]") && igi_msl_is(r, attribute.end + 1, "]") ? attribute.end + 2 : 0;
}

// A preprocessor line inside could not be copied into the annotation; clang will refuse such an attribute.
static bool in_one_piece(const igi_msl_rewriter *r, size_t first, size_t end) {
    for (size_t i = first; i < end; i++)
        if (igi_msl_at(r, i)->region != igi_msl_at(r, first)->region) return false;
    return true;
}

static void rewrite_list(annotator *a, context *c, size_t open, size_t end) {
    igi_text ours = {0}, theirs = {0};
    igi_text_add(&ours, " ");  // MSL allows name[[attribute]]
    item attribute = {.end = open + 1};
    while (attribute.end + 2 < end) {
        parse_item(a->r, attribute.end + 1, &attribute);
        if (attribute.attribute) {
            append_item(a, &ours, &attribute, c, open);
        } else {
            if (theirs.length) igi_text_add(&theirs, ", ");
            igi_msl_rewriter_append(a->r, &theirs, attribute.name, attribute.end);
        }
    }
    if (theirs.length) igi_text_addf(&ours, "[[%s]]", theirs.data);
    if (ours.failed || theirs.failed)
        a->r->failed = true;
    else
        igi_msl_rewriter_replace(a->r, open, end, ours.data);
    igi_text_free(&ours), igi_text_free(&theirs);
}

void igi_msl_rewrite_attributes(igi_msl_rewriter *r) {
    annotator a = {.r = r, .space_start = SIZE_MAX};
    for (size_t i = 0; i < r->tokens.count && !r->failed;) {
        context *c = igi_msl_at(r, i)->region == IGI_REGION_CODE ? &a.code : &a.line;
        bool metal = false;
        size_t end = igi_msl_at(r, i)->done ? 0 : list_end(r, i, &metal);
        if (metal && end && in_one_piece(r, i, end)) rewrite_list(&a, c, i, end);
        if (!end) end_parameter(&a, c, i);
        if (!end) follow(c, r, i);
        i = end ? end : i + 1;
    }
    free(a.code.frames), free(a.line.frames);
}
