// SPDX-License-Identifier: Apache-2.0
// The list of findings of a dispatch: each once, by kind and sites, with a count.
#include <string.h>

#include "core/memory.h"
#include "simt/checked/state.h"

enum { MOST_FINDINGS = 256 };

const char *igi_simt_finding_name(igi_simt_finding_kind kind) {
    static const char *const names[] = {
#define NAME(name, text, severity) [IGI_FINDING_##name] = (text),
        IGI_FINDING_LIST(NAME)
#undef NAME
    };
    return names[kind];
}

bool igi_simt_finding_is_error(igi_simt_finding_kind kind) {
    static const bool errors[] = {
#define SEVERITY(name, text, severity) [IGI_FINDING_##name] = (severity),
        IGI_FINDING_LIST(SEVERITY)
#undef SEVERITY
    };
    return errors[kind];
}

// Sites of several instructions at the same source location are one to a reader.
static bool same_place(const igi_simt_checked *checked, const igi_simt_checked_side *a,
                       const igi_simt_checked_side *b) {
    if (a->known != b->known || a->queue != b->queue || a->number != b->number) return false;
    if (!a->known || a->site == b->site) return true;
    const igi_simt_checked_site *x = &checked->sites->sites[a->site], *y = &checked->sites->sites[b->site];
    return x->line && x->line == y->line && x->column == y->column && x->act == y->act &&
           strcmp(igi_simt_checked_string(checked->sites, x->path), igi_simt_checked_string(checked->sites, y->path)) ==
               0;
}

static bool same(const igi_simt_checked *c, const igi_simt_checked_finding *a, const igi_simt_checked_finding *b) {
    if (a->kind != b->kind) return false;
    if (same_place(c, &a->sides[0], &b->sides[0]) && same_place(c, &a->sides[1], &b->sides[1])) return true;
    return same_place(c, &a->sides[0], &b->sides[1]) && same_place(c, &a->sides[1], &b->sides[0]);
}

igi_simt_checked_finding *igi_simt_checked_report(igi_simt_checked *checked, const igi_simt_checked_finding *finding) {
    for (size_t i = 0; i < checked->finding_count; i++) {
        igi_simt_checked_finding *known = &checked->findings[i];
        if (!same(checked, known, finding)) continue;
        known->count++;
        return known;
    }
    if (checked->finding_count >= MOST_FINDINGS || !igi_grow((void **)&checked->findings, &checked->finding_capacity,
                                                             checked->finding_count + 1, sizeof *checked->findings)) {
        checked->left_out++;
        return NULL;
    }
    igi_simt_checked_finding *added = &checked->findings[checked->finding_count++];
    *added = *finding;
    added->count = 1;
    return added;
}

void igi_simt_checked_copy(igi_simt_checked *copy, const igi_simt_checked *checked) {
    *copy = *checked;
    copy->findings = NULL;
    copy->finding_count = copy->finding_capacity = 0;
    copy->releases = NULL;
    copy->release_capacity = 0;
}

// A finding that names an object of the copy must name the same object of the original.
static const igi_simt_checked_object *translate(const igi_simt_checked *to, const igi_simt_checked *from,
                                                const igi_simt_checked_object *object) {
    if (object >= from->objects && object < from->objects + IGI_CHECKED_OBJECTS)
        return &to->objects[object - from->objects];
    if (object >= from->privates && object < from->privates + IGI_CHECKED_PRIVATES)
        return &to->privates[object - from->privates];
    return object == &from->nowhere ? &to->nowhere : object;
}

void igi_simt_checked_merge(igi_simt_checked *checked, igi_simt_checked *copy) {
    for (size_t i = 0; i < copy->finding_count; i++) {
        igi_simt_checked_finding *finding = &copy->findings[i];
        if (finding->object) finding->object = translate(checked, copy, finding->object);
        igi_simt_checked_finding *merged = igi_simt_checked_report(checked, finding);
        if (merged) merged->count += finding->count - 1;
    }
    for (size_t i = 0; i < IGI_CHECKED_OBJECTS; i++)
        if (copy->objects[i].threadgroup) checked->objects[i] = copy->objects[i];
    checked->left_out += copy->left_out;
    free(copy->findings), free(copy->releases);
}

void igi_simt_checked_free(igi_simt_checked *checked) {
    free(checked->findings), free(checked->releases);
    *checked = (igi_simt_checked){0};
}

// ---- Bounds ----

static igi_simt_checked_side side_of(const igi_simt_checked *checked, uint32_t thread, uint32_t site) {
    return (igi_simt_checked_side){
        .site = site, .thread = thread, .group = checked->group - checked->first_group, .known = true};
}

const igi_simt_checked_object *igi_simt_checked_find(igi_simt_checked *checked, uint64_t address) {
    for (size_t i = 0; i < IGI_CHECKED_OBJECTS; i++) {
        const igi_simt_checked_object *object = &checked->objects[i];
        if (!object->id && address - object->base < object->readable) return object;
    }
    for (size_t i = 0; i < IGI_CHECKED_PRIVATES; i++)
        if (address - checked->privates[i].base < checked->privates[i].readable) return &checked->privates[i];
    if (checked->quick) return igi_simt_quick_find(checked, address);
    const igi_simt_checked_object *found = checked->find ? checked->find(checked->user, address) : NULL;
    return found ? found : &checked->nowhere;
}

static igi_simt_finding_kind kind_of(const igi_simt_checked_site *site, uint64_t address, uint64_t base, uint64_t bytes,
                                     const igi_simt_checked_object *object) {
    enum { FIRST_PAGES = 65536 };
    uint64_t readable = object && bytes == object->writable ? object->readable : bytes;
    bool inside = address - base < readable && site->bytes <= readable - (address - base);
    bool writes = site->act == IGI_ACT_WRITE || site->act == IGI_ACT_ATOMIC_WRITE;
    if (!base && !bytes && address < FIRST_PAGES) return IGI_FINDING_NULL_POINTER;
    if (site->space == IGI_SPACE_CONSTANT && writes) return IGI_FINDING_WRITE_TO_CONST;
    if (inside && site->alignment > 1 && address % site->alignment) return IGI_FINDING_MISALIGNED;
    if (inside && object && writes && !object->writable) return IGI_FINDING_WRITE_TO_CONST;
    return IGI_FINDING_OUT_OF_BOUNDS;
}

void igi_simt_checked_outside(igi_simt_checked *checked, uint32_t thread, uint32_t site, uint64_t address,
                              uint64_t base, uint64_t bytes, const igi_simt_checked_object *object) {
    if (checked->quick) igi_simt_quick_suspect(checked);
    const igi_simt_checked_site *at = &checked->sites->sites[site];
    igi_simt_finding_kind kind = kind_of(at, address, base, bytes, object);
    bool nowhere = object == &checked->nowhere && kind == IGI_FINDING_OUT_OF_BOUNDS;
    if (nowhere && checked->is_released && checked->is_released(checked->user, address)) kind = IGI_FINDING_RELEASED;
    bool of_object = object && at->space != IGI_SPACE_VARIABLE && at->space != IGI_SPACE_PART && base == object->base;
    igi_simt_checked_finding finding = {.kind = kind,
                                        .sides = {side_of(checked, thread, site)},
                                        .object = of_object ? object : NULL,
                                        .address = address,
                                        .base = base,
                                        .bytes = of_object ? object->readable : bytes};
    igi_simt_checked_report(checked, &finding);
}

void igi_simt_checked_odd(igi_simt_checked *checked, uint32_t thread, uint32_t site, uint32_t kind) {
    if (checked->quick) igi_simt_quick_suspect(checked);
    igi_simt_checked_finding finding = {.kind = (igi_simt_finding_kind)kind, .sides = {side_of(checked, thread, site)}};
    if (kind < IGI_FINDING_COUNT) igi_simt_checked_report(checked, &finding);
}

void igi_simt_checked_not_finite(igi_simt_checked *checked, uint32_t thread, uint32_t site, uint64_t address,
                                 uint32_t origin) {
    const igi_simt_checked_site *at = &checked->sites->sites[site];
    const igi_simt_checked_object *object = at->space == IGI_SPACE_BUFFER ? &checked->objects[at->index] : NULL;
    igi_simt_checked_finding finding = {.kind = IGI_FINDING_NOT_FINITE,
                                        .sides = {side_of(checked, thread, site)},
                                        .object = object,
                                        .address = address,
                                        .base = object ? object->base : address,
                                        .bytes = object ? object->readable : 0};
    if (origin) finding.sides[1] = side_of(checked, thread, origin - 1);
    igi_simt_checked_report(checked, &finding);
}

void igi_simt_checked_uninitialised(igi_simt_checked *checked, uint32_t thread, uint32_t site, uint32_t origin) {
    igi_simt_checked_finding finding = {
        .kind = IGI_FINDING_UNINITIALISED, .sides = {side_of(checked, thread, site)}, .origin = origin};
    igi_simt_checked_report(checked, &finding);
}
