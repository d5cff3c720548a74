// SPDX-License-Identifier: Apache-2.0
// Writing clang's virtual file system.
#include "msl/overlay.h"

#include <stdio.h>
#include <string.h>

#include "core/embedded.h"
#include "core/file.h"
#include "msl/headers.h"

const char igi_msl_stdlib[] = "/ingot-stdlib";
const char igi_msl_pch[] = "/ingot-stdlib.pch";

static void add_json_string(igi_text *text, const char *string) {
    igi_text_add(text, "\"");
    for (; *string; string++) {
        char escaped[8] = {*string};
        if (*string == '"' || *string == '\\')
            snprintf(escaped, sizeof escaped, "\\%c", *string);
        else if ((unsigned char)*string < ' ')
            snprintf(escaped, sizeof escaped, "\\x%02x", (unsigned char)*string);
        igi_text_add(text, escaped);
    }
    igi_text_add(text, "\"");
}

// owns: takes `real`; NULL means that memory was short.
static void show(igi_text *text, const char *name, char *real) {
    if (!real) {
        text->failed = true;
        return;
    }
    igi_text_add(text, "{\"type\":\"file\",\"name\":");
    add_json_string(text, name);
    igi_text_add(text, ",\"external-contents\":");
    add_json_string(text, real);
    igi_text_add(text, "},\n");
    free(real);
}

static void show_header_as(igi_text *text, const char *headers, const char *name, const char *as) {
    char *shown = igi_path_join(igi_msl_stdlib, as);
    if (shown)
        show(text, shown, igi_path_join(headers, name));
    else
        text->failed = true;
    free(shown);
}

static void show_header(igi_text *text, const char *headers, const char *name) {
    show_header_as(text, headers, name, name);
}

// One of our headers is all of <simd/>.
static void show_simd(igi_text *text, const char *headers) {
    static const char *const names[] = {"simd/simd.h",         "simd/types.h",  "simd/vector.h", "simd/vector_types.h",
                                        "simd/matrix_types.h", "simd/packed.h", "simd/base.h",   "simd/matrix.h",
                                        "simd/vector_make.h",  "simd/common.h", "simd/math.h",   "simd/geometry.h"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) show_header_as(text, headers, "__ingot_simd", names[i]);
}

static void show_primitives(igi_text *text, const char *headers) {
    static const char *const names[] = {"MetalPerformancePrimitives/MetalPerformancePrimitives.h",
                                        "MetalPerformancePrimitives/MPPTensorOpsMatMul2d.h",
                                        "MetalPerformancePrimitives/MPPTensorOpsConvolution2d.h"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        show_header_as(text, headers, "__ingot_tensor_ops", names[i]);
}

static ig_status show_source(const igi_msl_overlay *overlay, igi_text *text, const char *directory, size_t index) {
    const igi_msl_source *source = &overlay->sources->files[index];
    char *copy = igi_format("%s/%zu", directory, index);
    if (!copy) return IG_STATUS_OUT_OF_MEMORY;
    bool original = source->data || overlay->original;
    const char *bytes = original ? source->text : source->rewrite.text;
    size_t length = original ? source->length : source->rewrite.length;
    ig_status status = igi_file_write_atomic(copy, bytes, length);
    show(text, source->path, copy);
    return status;
}

static ig_status show_all(const igi_msl_overlay *overlay, const char *directory, igi_text *text) {
    ig_status status = IG_STATUS_OK;
    for (size_t i = 0; i < igi_stdlib_files_count; i++) show_header(text, overlay->headers, igi_stdlib_files[i].name);
    show_header(text, overlay->headers, igi_msl_prelude);
    show_simd(text, overlay->headers);
    show_primitives(text, overlay->headers);
    if (overlay->pch) show(text, igi_msl_pch, igi_strdup(overlay->pch));
    for (size_t i = 0; overlay->sources && i < overlay->sources->count && status == IG_STATUS_OK; i++)
        status = show_source(overlay, text, directory, i);
    return status;
}

// "redirect-only" closes it: a file that is not listed does not exist, whatever is on disk.
ig_status igi_msl_overlay_write(const igi_msl_overlay *overlay, const char *directory, char **path) {
    igi_text text = {0};
    igi_text_add(&text,
                 "{\"version\":0,\"case-sensitive\":\"true\",\"use-external-names\":\"false\","
                 "\"redirecting-with\":\"redirect-only\",\"roots\":[\n");
    ig_status status = show_all(overlay, directory, &text);
    igi_text_add(&text, "{\"type\":\"file\",\"name\":\"/dev/null\",\"external-contents\":\"/dev/null\"}]}\n");
    char *name = igi_path_join(directory, "overlay.yaml");
    if (status == IG_STATUS_OK && (!name || text.failed)) status = IG_STATUS_OUT_OF_MEMORY;
    if (status == IG_STATUS_OK) status = igi_file_write_atomic(name, text.data, text.length);
    igi_text_free(&text);
    if (status == IG_STATUS_OK)
        *path = name;
    else
        free(name);
    return status;
}
