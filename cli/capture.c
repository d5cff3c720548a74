// SPDX-License-Identifier: Apache-2.0
// Reading captures.
#include "capture-fields.h"

#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/memory.h"

enum { MAX_DESCRIPTION = 16 << 20, FORMAT = 1, MAX_CONSTANTS = 65536 };
static const char description_name[] = "capture.json";

// ---- Parts ----

static ig_status read_defines(const capture_loader *l, const igi_json_value *library) {
    const igi_json_value *array;
    capture *read = l->read;
    ig_status status = capture_get_array(l, library, "defines", CAPTURE_MAX_DEFINES, &array);
    if (status != IG_STATUS_OK) return status;
    read->defines = igi_calloc(array->count, sizeof *read->defines);
    if (!read->defines) return igi_error_no_memory(l->error);
    for (const igi_json_value *item = array->first; item && status == IG_STATUS_OK; item = item->next) {
        ig_define *define = &read->defines[read->define_count++];
        status = capture_get_text(l, item, "name", &define->name);
        if (status == IG_STATUS_OK) status = capture_get_text(l, item, "value", &define->value);
    }
    return status;
}

static ig_status read_library(const capture_loader *l) {
    const igi_json_value *library = igi_json_member(l->read->document.root, "library");
    const char *name, *math;
    uint64_t version;
    ig_status status = capture_get_text(l, library, "source", &name);
    if (status == IG_STATUS_OK) status = capture_get_text(l, library, "math", &math);
    if (status == IG_STATUS_OK) status = capture_get_number(l, library, "language_version", 10000, &version);
    if (status == IG_STATUS_OK) status = capture_get_file(l, name, &l->read->source_path);
    if (status == IG_STATUS_OK) status = read_defines(l, library);
    if (status != IG_STATUS_OK) return status;
    l->read->language_version = (uint32_t)version;
    l->read->math = strcmp(math, "safe") == 0 ? IG_MATH_SAFE : IG_MATH_FAST;
    return IG_STATUS_OK;
}

static int hex_digit(char c) {
    const char *found = c ? strchr("0123456789abcdef", c) : NULL;
    return found ? (int)(found - "0123456789abcdef") : -1;
}

static bool read_hex(const char *text, size_t length, unsigned char *bytes) {
    if (strlen(text) != 2 * length) return false;
    for (size_t i = 0; i < length; i++) {
        int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        bytes[i] = (unsigned char)(high * 16 + low);
    }
    return true;
}

static ig_status read_constant(const capture_loader *l, const igi_json_value *item, ig_function_constant *constant,
                               unsigned char *value) {
    uint64_t components, id = 0;
    const char *bytes;
    constant->name = igi_json_get_string(igi_json_member(item, "name"));
    ig_status status = constant->name ? IG_STATUS_OK : capture_get_number(l, item, "id", UINT32_MAX, &id);
    if (status == IG_STATUS_OK) status = capture_get_type(l, item, &constant->type);
    if (status == IG_STATUS_OK) status = capture_get_number(l, item, "components", 4, &components);
    if (status == IG_STATUS_OK) status = capture_get_text(l, item, "bytes", &bytes);
    if (status != IG_STATUS_OK) return status;
    constant->id = (uint32_t)id;
    constant->components = components ? (uint32_t)components : 1;
    constant->value = value;
    if (read_hex(bytes, (size_t)constant->components * ig_type_size(constant->type), value)) return IG_STATUS_OK;
    return capture_wrong(l, "bytes", "must be the value's bytes in hexadecimal");
}

static ig_status read_constants(const capture_loader *l) {
    const igi_json_value *array;
    capture *read = l->read;
    ig_status status = capture_get_array(l, read->document.root, "constants", MAX_CONSTANTS, &array);
    if (status != IG_STATUS_OK) return status;
    read->constants = igi_calloc(array->count, sizeof *read->constants);
    read->constant_values = igi_calloc(array->count, sizeof *read->constant_values);
    if (!read->constants || !read->constant_values) return igi_error_no_memory(l->error);
    for (const igi_json_value *item = array->first; item && status == IG_STATUS_OK; item = item->next) {
        size_t i = read->constant_count++;
        status = read_constant(l, item, &read->constants[i], read->constant_values[i]);
    }
    return status;
}

// Of the type that the description says, which for bf16 is another than the file's.
static ig_status load_elements(const capture_loader *l, const char *name, const capture_buffer *buffer, uint64_t length,
                               igi_npy *array) {
    ig_status status = capture_load_array(l, name, array);
    if (status != IG_STATUS_OK) return status;
    bool same = array->type == buffer->type || (buffer->type == IG_TYPE_BF16 && array->type == IG_TYPE_U16);
    if (!same || array->bytes != length)
        return capture_wrong(l, name, "has another type or length than the description says");
    return IG_STATUS_OK;
}

static ig_status read_buffer(const capture_loader *l, const igi_json_value *item) {
    capture_buffer *buffer = &l->read->buffers[l->read->buffer_count++];
    const char *file, *after = igi_json_get_string(igi_json_member(item, "after"));
    uint64_t length;
    buffer->label = igi_json_get_string(igi_json_member(item, "label"));
    ig_status status = capture_get_text(l, item, "file", &file);
    if (status == IG_STATUS_OK) status = capture_get_type(l, item, &buffer->type);
    if (status == IG_STATUS_OK) status = capture_get_number(l, item, "length", UINT64_MAX, &length);
    if (status == IG_STATUS_OK) status = load_elements(l, file, buffer, length, &buffer->before);
    if (status == IG_STATUS_OK && after) status = load_elements(l, after, buffer, length, &buffer->after);
    return status;
}

static ig_status read_argument(const capture_loader *l, const igi_json_value *item) {
    capture_argument *argument = &l->read->arguments[l->read->argument_count++];
    const char *name = igi_json_get_string(igi_json_member(item, "name"));
    const char *bytes = igi_json_get_string(igi_json_member(item, "bytes"));
    uint64_t index, buffer = 0;
    argument->name = name ? name : "";
    ig_status status = capture_get_number(l, item, "index", UINT32_MAX, &index);
    if (status != IG_STATUS_OK) return status;
    argument->index = (uint32_t)index;
    if (igi_json_member(item, "threadgroup")) {
        argument->kind = CAPTURE_THREADGROUP;
        return capture_get_number(l, item, "threadgroup", UINT32_MAX, &argument->length);
    }
    if (igi_json_member(item, "texture")) return capture_read_view(l, item, argument);
    if (igi_json_member(item, "sampler")) return capture_read_sampler(l, item, argument);
    argument->kind = bytes ? CAPTURE_BYTES : CAPTURE_BUFFER;
    if (bytes) return capture_load_array(l, bytes, &argument->bytes);
    status = capture_get_number(l, item, "offset", UINT64_MAX, &argument->offset);
    if (status == IG_STATUS_OK) status = capture_get_number(l, item, "buffer", CAPTURE_MAX_ITEMS, &buffer);
    if (status == IG_STATUS_OK && buffer >= l->read->buffer_count)
        status = capture_wrong(l, "buffer", "does not exist");
    argument->buffer = buffer;
    return status;
}

static ig_status read_items(const capture_loader *l, const char *key,
                            ig_status read(const capture_loader *l, const igi_json_value *item)) {
    const igi_json_value *array;
    ig_status status = capture_get_array(l, l->read->document.root, key, CAPTURE_MAX_ITEMS, &array);
    if (status != IG_STATUS_OK) return status;
    for (const igi_json_value *item = array->first; item && status == IG_STATUS_OK; item = item->next)
        status = read(l, item);
    return status;
}

static ig_status read_all(const capture_loader *l) {
    capture *read = l->read;
    const igi_json_value *root = read->document.root;
    uint64_t format;
    ig_status status = capture_get_number(l, root, "ingot_capture", UINT64_MAX, &format);
    if (status == IG_STATUS_OK && format != FORMAT)
        status = capture_wrong(l, "ingot_capture", "is of another version of Ingot");
    if (status == IG_STATUS_OK) status = capture_get_text(l, root, "reason", &read->reason);
    if (status == IG_STATUS_OK) status = capture_get_text(l, root, "error", &read->error);
    if (status == IG_STATUS_OK) status = capture_get_text(l, root, "kernel", &read->kernel);
    if (status == IG_STATUS_OK) status = capture_get_number(l, root, "deadline_ns", UINT64_MAX, &read->deadline_ns);
    if (status == IG_STATUS_OK) status = capture_get_number(l, root, "schedule", UINT64_MAX, &read->schedule);
    if (status == IG_STATUS_OK) status = capture_get_size(l, root, "grid", 1, &read->grid);
    if (status == IG_STATUS_OK) status = capture_get_size(l, root, "group", 1, &read->group);
    if (status == IG_STATUS_OK) status = read_library(l);
    if (status == IG_STATUS_OK) status = read_constants(l);
    igi_json_get_bool(igi_json_member(root, "unset_constants_are_zero"), &read->unset_constants_are_zero);
    if (status == IG_STATUS_OK) status = read_items(l, "buffers", read_buffer);
    // Captures of versions that left textures out have no such member.
    if (status == IG_STATUS_OK && igi_json_member(root, "textures"))
        status = read_items(l, "textures", capture_read_texture);
    if (status == IG_STATUS_OK) status = read_items(l, "arguments", read_argument);
    if (status == IG_STATUS_OK) status = capture_read_stage(l);
    return status;
}

ig_status capture_load(const char *directory, capture *read, ig_error *error) {
    *read = (capture){0};
    char *text = NULL;
    size_t length;
    capture_loader l = {directory, igi_path_join(directory, description_name), read, error};
    if (!l.path) return igi_error_no_memory(error);
    ig_status status = igi_file_read_within(l.path, MAX_DESCRIPTION, IGI_FILE_NO_LINK, &text, &length, error);
    if (status == IG_STATUS_OK) status = igi_json_parse(l.path, text, length, &read->document, error);
    if (status == IG_STATUS_OK) status = read_all(&l);
    free(text), free(l.path);
    return status;
}

void capture_free(capture *read) {
    for (size_t i = 0; i < read->buffer_count; i++) {
        igi_npy_free(&read->buffers[i].before);
        igi_npy_free(&read->buffers[i].after);
    }
    for (size_t i = 0; i < read->texture_count; i++) {
        igi_npy_free(&read->textures[i].before);
        igi_npy_free(&read->textures[i].after);
    }
    for (size_t i = 0; i < read->argument_count; i++) igi_npy_free(&read->arguments[i].bytes);
    free(read->source_path), free(read->defines), free(read->constants), free(read->constant_values);
    igi_json_document_free(&read->document);
    *read = (capture){0};
}
