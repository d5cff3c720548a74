// SPDX-License-Identifier: Apache-2.0
// The table of sites.
#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "simt/checked/instrument.h"
#include "simt/place.h"

static uint32_t add_string(igi_simt_sites_builder *sites, const char *text, size_t length) {
    if (!sites->strings.length) igi_text_append(&sites->strings, "", 1);  // offset 0 is ""
    if (!length) return 0;
    uint32_t offset = (uint32_t)sites->strings.length;
    igi_text_append(&sites->strings, text, length);
    igi_text_append(&sites->strings, "", 1);
    return offset;
}

// The path is usually that of the previous site.
static uint32_t add_path(igi_simt_sites_builder *sites, LLVMMetadataRef place) {
    char *path = igi_simt_place_path(place);
    if (!path) sites->failed = true;
    uint32_t offset = 0;
    if (path && sites->count) {
        uint32_t last = sites->items[sites->count - 1].path;
        if (last && strcmp(sites->strings.data + last, path) == 0) offset = last;
    }
    if (path && !offset) offset = add_string(sites, path, strlen(path));
    free(path);
    return offset;
}

// clang's "tile", which inlining made "tile.i".
static uint32_t add_name(const igi_simt_instrumenter *in, igi_simt_sites_builder *sites, LLVMValueRef named) {
    unsigned length = 0, end = 0;
    const char *name = named ? igi_simt_remembered_name(in, named, &length) : "";
    while (end < length && name[end] != '.') end++;
    return add_string(sites, name, end);
}

uint32_t igi_simt_add_site(igi_simt_instrumenter *in, LLVMValueRef instruction, igi_simt_checked_act act,
                           const igi_simt_provenance *of, uint32_t bytes, uint32_t index) {
    igi_simt_sites_builder *sites = &in->sites;
    LLVMMetadataRef place = igi_simt_place_of_user(LLVMInstructionGetDebugLoc(instruction));
    sites->too_many = sites->too_many || sites->count >= IGI_CHECKED_MAX_SITES;
    if (sites->too_many) return 0;  // the kernel is refused
    if (!igi_grow((void **)&sites->items, &sites->capacity, sites->count + 1, sizeof *sites->items)) {
        sites->failed = true;
        return 0;
    }
    igi_simt_checked_site site = {.act = act, .bytes = bytes, .index = index};
    if (!place) place = igi_simt_kernel_place(in->m);
    if (place) {
        site.line = LLVMDILocationGetLine(place);
        site.column = LLVMDILocationGetColumn(place);
        site.path = add_path(sites, place);
    }
    if (of) {
        site.space = of->space;
        site.object = add_name(in, sites, of->name);
        if (of->space != IGI_SPACE_PRIVATE && of->space != IGI_SPACE_CONSTANT) site.index = of->index;
    }
    sites->items[sites->count] = site;
    return (uint32_t)sites->count++;
}

void igi_simt_emit_sites(igi_simt_instrumenter *in) {
    igi_simt_sites_builder *sites = &in->sites;
    if (!sites->strings.length) igi_text_append(&sites->strings, "", 1);
    igi_simt_checked_table head = {(uint32_t)sites->count, (uint32_t)sites->strings.length};
    igi_text all = {0};
    igi_text_append(&all, (const char *)&head, sizeof head);
    igi_text_append(&all, (const char *)sites->items, sites->count * sizeof *sites->items);
    igi_text_append(&all, sites->strings.data, sites->strings.length);
    if (all.failed || sites->strings.failed || sites->failed) {
        in->failed = true;
    } else {
        LLVMValueRef bytes = LLVMConstStringInContext2(in->m->context, all.data, all.length, 1);
        LLVMValueRef global = LLVMAddGlobal(in->m->module, LLVMTypeOf(bytes), "ig.sites");
        LLVMSetInitializer(global, bytes);
        LLVMSetGlobalConstant(global, 1);
        LLVMSetAlignment(global, 16);
    }
    igi_text_free(&all);
}

void igi_simt_free_sites(igi_simt_sites_builder *sites) {
    free(sites->items);
    igi_text_free(&sites->strings);
}
