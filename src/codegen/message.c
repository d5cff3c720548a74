// SPDX-License-Identifier: Apache-2.0
// Requests and replies as bytes. Both sides check what they read: a kernel may have corrupted the process that
// wrote it.
#include "codegen/message.h"

#include <string.h>

#include "compiler-identity.h"
#include "core/bytes.h"
#include "simt/target.h"

// ---- Function constants ----

enum { MOST_COMPONENTS = 4 };

static size_t value_bytes(const ig_function_constant *constant) {
    return (size_t)constant->components * ig_type_size(constant->type);
}

static void put_constant(igi_text *bytes, const ig_function_constant *constant) {
    igi_put_u32(bytes, constant->name != NULL);
    igi_put_string(bytes, constant->name ? constant->name : "");
    igi_put_u32(bytes, constant->id);
    igi_put_u32(bytes, constant->type);
    igi_put_u32(bytes, constant->components);
    igi_put_block(bytes, constant->value, value_bytes(constant));
}

static void get_constant(igi_reader *r, ig_function_constant *constant) {
    bool named = igi_get_u32(r) != 0;
    char *name = igi_get_string(r);
    constant->name = named ? name : NULL;
    if (!named) free(name);
    constant->id = igi_get_u32(r);
    constant->type = (ig_type)igi_get_u32(r);
    constant->components = igi_get_u32(r);
    size_t length;
    constant->value = igi_get_block(r, &length);
    if (!constant->components || constant->components > MOST_COMPONENTS || !length || length != value_bytes(constant))
        r->failed = true;
}

// ---- Sources, which remarks name ----

static void put_sources(igi_text *bytes, const igi_simt_remarks *remarks) {
    const igi_msl_sources *sources = remarks ? remarks->sources : NULL;
    igi_put_u32(bytes, sources ? (uint32_t)sources->count : 0);
    for (size_t i = 0; sources && i < sources->count; i++) {
        igi_put_string(bytes, sources->files[i].path);
        igi_put_string(bytes, sources->files[i].display);
        igi_put_block(bytes, sources->files[i].text, sources->files[i].length);
    }
}

static void get_source(igi_reader *r, igi_msl_source *source) {
    source->path = igi_get_string(r);
    source->display = igi_get_string(r);
    const char *text = igi_get_block(r, &source->length);
    source->text = text ? igi_strndup(text, source->length) : NULL;
    igi_reader_needs(r, source->text);
    if (!r->failed && !igi_msl_rewrite_source(source->text, source->length, &source->rewrite))
        igi_reader_needs(r, NULL);
}

static void get_sources(igi_reader *r, igi_msl_sources *sources) {
    uint32_t count = igi_get_count(r, 12);
    sources->files = igi_calloc(count, sizeof *sources->files);
    igi_reader_needs(r, sources->files);
    for (; sources->count < count && !r->failed; sources->count++) get_source(r, &sources->files[sources->count]);
}

// ---- Linked functions ----

// A library that several of them are in is sent once: a place in the list says where.
static size_t first_of_library(const igi_simt_request *request, size_t index) {
    size_t first = 0;
    while (request->linked[first].bitcode != request->linked[index].bitcode) first++;
    return first;
}

static void put_linked(igi_text *bytes, const igi_simt_request *request) {
    igi_put_u32(bytes, (uint32_t)request->linked_count);
    for (size_t i = 0; i < request->linked_count; i++) {
        const igi_simt_linked *linked = &request->linked[i];
        size_t first = first_of_library(request, i);
        igi_put_string(bytes, linked->symbol);
        igi_put_u32(bytes, linked->bitcode != NULL);
        igi_put_u32(bytes, (uint32_t)first);
        if (linked->bitcode && first == i) igi_put_block(bytes, linked->bitcode, linked->bitcode_length);
    }
}

static void get_linked(igi_reader *r, igi_codegen_job *job) {
    uint32_t count = igi_get_count(r, 12);
    job->linked = igi_calloc(count, sizeof *job->linked);
    igi_reader_needs(r, job->linked);
    for (uint32_t i = 0; i < count && !r->failed; i++) {
        igi_simt_linked *linked = &job->linked[i];
        job->request.linked_count = i + 1;
        linked->symbol = igi_get_string(r);
        bool elsewhere = igi_get_u32(r) != 0;
        uint32_t first = igi_get_u32(r);
        if (first > i) r->failed = true;
        if (!elsewhere || r->failed) continue;
        if (first < i)
            linked->bitcode = job->linked[first].bitcode, linked->bitcode_length = job->linked[first].bitcode_length;
        else
            linked->bitcode = igi_get_block(r, &linked->bitcode_length);
    }
}

// ---- Requests ----

// Distinguishes builds of Ingot: a process of another build must not be asked, because its code would be cached under
// our key.
static void put_identity(igi_text *bytes) {
    igi_put_string(bytes, IGI_COMPILER_IDENTITY);
    igi_simt_target target = igi_simt_chosen_target();
    igi_put_string(bytes, target.triple);
    igi_put_string(bytes, target.cpu);
    igi_put_string(bytes, target.features);
}

static bool has_string(igi_reader *r, const char *expected) {
    size_t length;
    const char *found = igi_get_block(r, &length);
    return found && length == strlen(expected) && memcmp(found, expected, length) == 0;
}

static bool has_identity(igi_reader *r) {
    igi_simt_target target = igi_simt_chosen_target();
    return has_string(r, IGI_COMPILER_IDENTITY) && has_string(r, target.triple) && has_string(r, target.cpu) &&
           has_string(r, target.features);
}

void igi_codegen_write_job(const igi_simt_request *request, igi_simt_stage stage, igi_codegen_limits limits,
                           igi_text *bytes) {
    put_identity(bytes);
    igi_put_u64(bytes, limits.cpu_seconds);
    igi_put_u64(bytes, limits.wall_seconds);
    igi_put_u64(bytes, limits.memory_bytes);
    igi_put_u32(bytes, stage);
    igi_put_string(bytes, request->symbol);
    igi_put_string(bytes, request->name);
    igi_put_u32(bytes, request->abortable);
    igi_put_u32(bytes, request->width);
    igi_put_u32(bytes, request->declined);
    for (int i = 0; i < 3; i++) igi_put_u32(bytes, request->group[i]);
    igi_put_u32(bytes, request->batches);
    igi_put_u32(bytes, request->streaming);
    igi_put_u32(bytes, request->first_tier);
    igi_put_u32(bytes, request->line_tables);
    igi_put_u32(bytes, request->variables);
    igi_put_u32(bytes, request->scheduled);
    igi_put_u32(bytes, request->unset_constants_are_zero);
    igi_put_u32(bytes, request->fast_math);
    igi_put_u32(bytes, request->check);
    for (int i = 0; i < IGI_KNOWN_LAYOUTS; i++) igi_put_u64(bytes, request->layouts[i]);
    igi_put_u32(bytes, request->remarks != NULL);
    igi_put_u32(bytes, (uint32_t)request->constant_count);
    for (size_t i = 0; i < request->constant_count; i++) put_constant(bytes, &request->constants[i]);
    put_sources(bytes, request->remarks);
    igi_put_block(bytes, request->bitcode, request->bitcode_length);
    put_linked(bytes, request);
}

static void get_constants(igi_reader *r, igi_codegen_job *job) {
    uint32_t count = igi_get_count(r, 24);
    job->constants = igi_calloc(count, sizeof *job->constants);
    igi_reader_needs(r, job->constants);
    for (; job->request.constant_count < count && !r->failed; job->request.constant_count++)
        get_constant(r, &job->constants[job->request.constant_count]);
}

static void get_request(igi_reader *r, igi_codegen_job *job) {
    igi_simt_request *request = &job->request;
    request->symbol = job->symbol = igi_get_string(r);
    request->name = job->name = igi_get_string(r);
    request->abortable = igi_get_u32(r) != 0;
    request->width = igi_get_u32(r);
    request->declined = igi_get_u32(r) != 0;
    for (int i = 0; i < 3; i++) request->group[i] = igi_get_u32(r);
    request->batches = igi_get_u32(r) != 0;
    request->streaming = igi_get_u32(r) != 0;
    request->first_tier = igi_get_u32(r) != 0;
    request->line_tables = igi_get_u32(r) != 0;
    request->variables = igi_get_u32(r) != 0;
    request->scheduled = igi_get_u32(r) != 0;
    request->unset_constants_are_zero = igi_get_u32(r) != 0;
    request->fast_math = igi_get_u32(r) != 0;
    request->check = igi_get_u32(r);
    for (int i = 0; i < IGI_KNOWN_LAYOUTS; i++) request->layouts[i] = igi_get_u64(r);
    if (igi_get_u32(r)) request->remarks = &job->remarks;
    get_constants(r, job);
    request->constants = job->constants;
    get_sources(r, &job->sources);
    job->remarks = (igi_simt_remarks){.sources = job->sources.count ? &job->sources : NULL, .name = job->name};
    request->bitcode = igi_get_block(r, &request->bitcode_length);
    get_linked(r, job);
    request->linked = job->linked;
}

ig_status igi_codegen_read_job(const char *bytes, size_t length, igi_codegen_job *job, ig_error *error) {
    igi_reader r = igi_read_from(bytes, length);
    *job = (igi_codegen_job){0};
    if (!has_identity(&r))
        return igi_error_set(error, IG_STATUS_BAD_FORMAT,
                             "ingot-codegen belongs to another build of Ingot than the library that started it; "
                             "install both together, or name the right one in INGOT_CODEGEN");
    job->limits = (igi_codegen_limits){igi_get_u64(&r), igi_get_u64(&r), igi_get_u64(&r)};
    job->stage = (igi_simt_stage)igi_get_u32(&r);
    get_request(&r, job);
    if (!r.failed && job->stage > IGI_STAGE_NONE && job->stage <= IGI_STAGE_AIR) return IG_STATUS_OK;
    if (r.no_memory) return igi_error_no_memory(error);
    return igi_error_set(error, IG_STATUS_BAD_FORMAT, "a request to ingot-codegen is damaged");
}

void igi_codegen_job_free(igi_codegen_job *job) {
    for (size_t i = 0; job->constants && i < job->request.constant_count; i++) free((char *)job->constants[i].name);
    for (size_t i = 0; job->linked && i < job->request.linked_count; i++) free((char *)job->linked[i].symbol);
    free(job->constants), free(job->symbol), free(job->name), free(job->linked);
    igi_simt_remarks_free(&job->remarks);
    igi_msl_sources_free(&job->sources);
    *job = (igi_codegen_job){0};
}

// ---- Replies ----

static void put_remark(igi_text *bytes, const igi_simt_remark *remark) {
    igi_put_u32(bytes, remark->kind);
    igi_put_string(bytes, remark->file);
    igi_put_u32(bytes, remark->line);
    igi_put_u32(bytes, remark->column);
    igi_put_string(bytes, remark->text);
}

static void get_remark(igi_reader *r, igi_simt_remark *remark) {
    remark->kind = (igi_simt_remark_kind)igi_get_u32(r);
    remark->file = igi_get_string(r);
    remark->line = igi_get_u32(r);
    remark->column = igi_get_u32(r);
    remark->text = igi_get_string(r);
    if (remark->kind > IGI_REMARK_UNIFORM) r->failed = true;
}

void igi_codegen_write_reply(ig_status status, const char *message, const char *output, size_t length,
                             const igi_simt_remarks *remarks, igi_text *bytes) {
    igi_put_u32(bytes, status);
    igi_put_string(bytes, message ? message : "");
    igi_put_block(bytes, output, length);
    igi_put_u32(bytes, remarks ? (uint32_t)remarks->count : 0);
    for (size_t i = 0; remarks && i < remarks->count; i++) put_remark(bytes, &remarks->items[i]);
}

static void get_remarks(igi_reader *r, igi_simt_remarks *remarks) {
    uint32_t count = igi_get_count(r, 20);
    if (!count || !remarks) return;
    if (!igi_grow((void **)&remarks->items, &remarks->capacity, count, sizeof *remarks->items))
        igi_reader_needs(r, NULL);
    for (; remarks->count < count && !r->failed; remarks->count++) {
        remarks->items[remarks->count] = (igi_simt_remark){0};
        get_remark(r, &remarks->items[remarks->count]);
    }
}

ig_status igi_codegen_read_reply(const char *bytes, size_t count, igi_simt_remarks *remarks, char **output,
                                 size_t *length, ig_error *error) {
    igi_reader r = igi_read_from(bytes, count);
    ig_status status = (ig_status)igi_get_u32(&r);
    char *message = igi_get_string(&r);
    size_t made = 0;
    const char *block = igi_get_block(&r, &made);
    get_remarks(&r, remarks);
    if (r.no_memory)
        status = igi_error_no_memory(error);
    else if (r.failed || status >= IG_STATUS_COUNT)
        status = igi_error_set(error, IG_STATUS_BAD_FORMAT, "the reply of ingot-codegen is damaged");
    else if (status != IG_STATUS_OK)
        igi_error_set(error, status, "%s", message);
    free(message);
    if (status != IG_STATUS_OK || !output) return status;
    *output = igi_strndup(block, made);
    *length = made;
    return *output ? IG_STATUS_OK : igi_error_no_memory(error);
}
