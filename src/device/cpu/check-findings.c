// SPDX-License-Identifier: Apache-2.0
// From sites and numbers to messages and source locations.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "device/cpu/check-state.h"
#include "device/findings.h"
#include "device/texture.h"
#include "msl/diagnostic.h"
#include "msl/diagnostics.h"
#include "simt/checked/init.h"

typedef struct finding_context {
    const igi_simt_checked *checked;
    const igi_device_dispatch *dispatch;
    const cpu_module *module;
    ig_size group;
    const uint64_t *groups;
    const igi_simt_checked_finding *finding;
} finding_context;

// The dispatch of another queue that a side is of; NULL: it is of this one, or forgotten.
static const cpu_checked_launch *launch_of(const finding_context *t, const igi_simt_checked_side *side) {
    return side->queue ? igi_cpu_queues_launch(t->checked->user, side->queue - 1, side->number) : NULL;
}

static const igi_simt_checked_table *table_of(const finding_context *t, const igi_simt_checked_side *side) {
    const cpu_checked_launch *launch = launch_of(t, side);
    return launch ? launch->sites : t->checked->sites;
}

static const igi_simt_checked_site *site_of(const finding_context *t, const igi_simt_checked_side *side) {
    return &table_of(t, side)->sites[side->site];
}

// ---- Places ----

static char *line_text(const igi_msl_source *source, uint32_t line) {
    size_t length = 0;
    const char *text = source ? igi_msl_source_line(source, line, &length) : NULL;
    return igi_strndup(text ? text : "", length);
}

static void place(const finding_context *t, const igi_simt_checked_side *from, ig_finding_side *side) {
    const igi_simt_checked_site *site = site_of(t, from);
    const cpu_checked_launch *launch = launch_of(t, from);
    const cpu_module *module = launch ? launch->program->module : t->module;
    const char *path = igi_simt_checked_string(table_of(t, from), site->path);
    const igi_msl_source *source = igi_msl_sources_find(&module->sources, path);
    side->line = site->line;
    side->column = site->column;
    if (source && site->column)
        side->column = igi_msl_rewrite_locate(&source->rewrite, source->text, site->line, site->column);
    side->file = igi_strdup(source ? source->display : path);
    side->source = line_text(source, site->line);
}

// ---- Threads ----

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

// Groups at the edge are smaller, and their threads are numbered by their actual size.
static void place_thread(const finding_context *t, const igi_simt_checked_side *from, ig_finding_side *side) {
    const cpu_checked_launch *launch = launch_of(t, from);
    ig_size threads = launch ? launch->grid : t->dispatch->grid, size_of_group = launch ? launch->group : t->group;
    const uint64_t *groups = launch ? launch->groups : t->groups;
    const uint64_t grid[3] = {threads.x, threads.y, threads.z};
    const uint64_t full[3] = {size_of_group.x, size_of_group.y, size_of_group.z};
    uint64_t group = from->group, thread = from->thread;
    for (int i = 0; i < 3; i++) {
        side->group[i] = (uint32_t)(group % groups[i]);
        group /= groups[i];
        uint64_t size = least(full[i], grid[i] - side->group[i] * full[i]);
        side->thread[i] = (uint32_t)(thread % size);
        thread /= size;
    }
    side->simdgroup = from->thread / IGI_SIMD_WIDTH;
    side->lane = from->thread % IGI_SIMD_WIDTH;
    side->has_thread = true;
}

// ---- Objects ----

static const char *argument_name(const finding_context *t, ig_argument_kind kind, uint32_t index) {
    const ig_argument *argument = igi_device_pipeline_argument(t->dispatch->pipeline, kind, index);
    return argument ? argument->name : "";
}

static char *quoted(const char *what, const char *name) {
    return *name ? igi_format("%s '%s'", what, name) : igi_strdup(what);
}

static char *describe_argument(const finding_context *t, ig_argument_kind kind, uint32_t index) {
    char what[48];
    snprintf(what, sizeof what, "%s %u", kind == IG_ARGUMENT_BUFFER ? "buffer" : "threadgroup argument", index);
    return quoted(what, argument_name(t, kind, index));
}

static char *describe_part(uint32_t part) {
    static const char *const names[IGI_PART_COUNT] = {[IGI_PART_PAYLOAD] = "the payload of the message",
                                                      [IGI_PART_STATE] = "the state of the ring kernel",
                                                      [IGI_PART_OPENED] = "the payload of the message to send"};
    return igi_strdup(part < IGI_PART_COUNT ? names[part] : "a part of a buffer");
}

// The texture among the arguments whose pixels an object is; NULL: it is another buffer.
static const igi_device_binding *texture_of(const finding_context *t, const igi_simt_checked_object *object) {
    for (uint32_t i = 0; i < t->dispatch->binding_count; i++) {
        const ig_texture *texture = t->dispatch->bindings[i].texture;
        bool own = texture && !texture->desc.buffer && (uintptr_t)texture->buffer->memory == object->begin;
        if (own) return &t->dispatch->bindings[i];
    }
    return NULL;
}

static char *describe_object(const finding_context *t) {
    const igi_simt_checked_site *site = site_of(t, &t->finding->sides[0]);
    const igi_simt_checked_object *object = t->finding->object;
    const char *name = igi_simt_checked_string(t->checked->sites, site->object);
    switch ((igi_simt_checked_space)site->space) {
        case IGI_SPACE_BUFFER: return describe_argument(t, IG_ARGUMENT_BUFFER, site->index);
        case IGI_SPACE_ARGUMENT: return describe_argument(t, IG_ARGUMENT_THREADGROUP, site->index - IGI_MAX_SLOTS);
        case IGI_SPACE_VARIABLE: return quoted("threadgroup variable", name);
        case IGI_SPACE_PRIVATE: return quoted("variable", name);
        case IGI_SPACE_CONSTANT: return quoted("constant", name);
        case IGI_SPACE_PART:
            if (!object) return describe_part(site->index);
            break;
        default: break;
    }
    if (!object || object == &t->checked->nowhere) return igi_strdup("");
    if (object->threadgroup) return igi_strdup("threadgroup memory");
    const igi_device_binding *texture = texture_of(t, object);
    if (!texture) return quoted("the buffer", object->name ? object->name : "");
    char what[48];
    snprintf(what, sizeof what, "the pixels of texture %u", texture->index);
    return quoted(what, argument_name(t, IG_ARGUMENT_TEXTURE, texture->index));
}

// The offset in the object; in a threadgroup variable, from its own beginning.
static int64_t offset_of(const finding_context *t) {
    const igi_simt_checked_site *site = site_of(t, &t->finding->sides[0]);
    bool variable = site->space == IGI_SPACE_VARIABLE && t->finding->object;
    return (int64_t)(t->finding->address - t->finding->base) - (variable ? (int64_t)site->index : 0);
}

// ---- Sentences ----

static const char *verb_of(const igi_simt_checked_site *site) {
    switch ((igi_simt_checked_act)site->act) {
        case IGI_ACT_READ: return "reads";
        case IGI_ACT_WRITE: return "writes";
        case IGI_ACT_ATOMIC_READ: return "atomically reads";
        case IGI_ACT_ATOMIC_WRITE: return "atomically changes";
        case IGI_ACT_BARRIER: return "waits at a barrier";
        case IGI_ACT_LANES: return "does a simdgroup operation";
        case IGI_ACT_BRANCH: return "decides";
        case IGI_ACT_ADDRESS: return "computes an address";
        case IGI_ACT_MAKE: return "computes it from finite numbers";
        default: return "computes";
    }
}

static char *action_of(const igi_simt_checked_site *site) {
    if (site->act <= IGI_ACT_ATOMIC_WRITE && site->bytes)
        return igi_format("%s %u byte%s", verb_of(site), site->bytes, site->bytes == 1 ? "" : "s");
    return igi_strdup(verb_of(site));
}

// "12 bytes past the end", or how far before the beginning.
static char *where_outside(const igi_simt_checked_finding *f, const char *object) {
    int64_t offset = (int64_t)(f->address - f->base);
    if (!*object) return igi_format("at address 0x%" PRIx64 ", where there is no buffer", f->address);
    if (offset < 0) return igi_format("%" PRId64 " bytes before the beginning of %s", -offset, object);
    return igi_format("at byte %" PRId64 " of %s, which has %" PRIu64, offset, object, f->bytes);
}

static char *message_bounds(const finding_context *t, const char *object) {
    char *action = action_of(site_of(t, &t->finding->sides[0])), *where = where_outside(t->finding, object);
    char *text = action && where ? igi_format("%s %s", action, where) : NULL;
    free(action), free(where);
    return text;
}

static char *message_queues(const finding_context *t, const char *object) {
    const igi_simt_checked_finding *f = t->finding;
    const cpu_checked_launch *launch = launch_of(t, &f->sides[1]);
    const char *verb = verb_of(site_of(t, &f->sides[0])), *object_text = *object ? object : "memory";
    if (!launch)
        return igi_format("%s byte %" PRId64 " of %s that another queue accesses, and nothing orders the queues", verb,
                          offset_of(t), object_text);
    return igi_format("%s byte %" PRId64 " of %s that kernel '%s' of %s %s, and nothing orders the queues", verb,
                      offset_of(t), object_text, launch->program->name, launch->queue,
                      verb_of(site_of(t, &f->sides[1])));
}

static char *message_race(const finding_context *t, const char *object) {
    const igi_simt_checked_finding *f = t->finding;
    if (f->sides[1].queue) return message_queues(t, object);
    const igi_simt_checked_site *a = site_of(t, &f->sides[0]), *b = site_of(t, &f->sides[1]);
    bool groups = f->sides[0].group != f->sides[1].group;
    const char *who = groups ? "a thread of another threadgroup" : "another thread";
    const char *object_text = *object ? object : "memory";
    int64_t offset = offset_of(t);
    if (f->kind == IGI_FINDING_MISSING_FLAG)
        return igi_format("%s byte %" PRId64
                          " of %s that %s %s, and the barrier between them does not order this memory",
                          verb_of(a), offset, object_text, who, verb_of(b));
    if (f->kind == IGI_FINDING_SAME_VALUE_RACE)
        return igi_format("%s the same value to byte %" PRId64 " of %s as %s, and nothing orders them", verb_of(a),
                          offset, object_text, who);
    return igi_format("%s byte %" PRId64 " of %s that %s %s, and nothing orders them", verb_of(a), offset, object_text,
                      who, verb_of(b));
}

static char *message_uninitialised(const finding_context *t) {
    const igi_simt_checked_finding *f = t->finding;
    const igi_simt_checked_site *site = site_of(t, &f->sides[0]);
    const char *variable = igi_simt_checked_variable(f->origin);
    char *whose = f->origin & IGI_ORIGIN_THREADGROUP ? igi_strdup("threadgroup memory")
                  : f->origin & IGI_ORIGIN_BUFFER    ? igi_strdup("a buffer")
                  : *variable                        ? igi_format("variable '%s'", variable)
                                                     : igi_strdup("a variable");
    static const char *const uses[IGI_ACT_COUNT] = {[IGI_ACT_BRANCH] = "decides by",
                                                    [IGI_ACT_ADDRESS] = "computes an address from",
                                                    [IGI_ACT_RESULT] = "writes to a buffer"};
    const char *use = uses[site->act] ? uses[site->act] : "uses";
    char *text = whose ? igi_format("%s a value of %s that nothing has written", use, whose) : NULL;
    free(whose);
    return text;
}

static char *message_not_finite(const finding_context *t, const char *object) {
    const igi_simt_checked_side *from = &t->finding->sides[1];
    bool read = from->known && site_of(t, from)->act == IGI_ACT_READ;
    return igi_format("writes a NaN or an infinity to byte %" PRId64 " of %s%s", offset_of(t),
                      *object ? object : "a buffer", read ? ", which it has read from memory" : "");
}

static char *message_for(const finding_context *t, const char *object) {
    const igi_simt_checked_finding *f = t->finding;
    const igi_simt_checked_site *site = site_of(t, &f->sides[0]);
    switch (f->kind) {
        case IGI_FINDING_OUT_OF_BOUNDS: return message_bounds(t, object);
        case IGI_FINDING_RELEASED: return igi_format("%s a buffer that was released", verb_of(site));
        case IGI_FINDING_NULL_POINTER: return igi_format("%s through a null pointer", verb_of(site));
        case IGI_FINDING_MISALIGNED:
            return igi_format("%s %u bytes at byte %" PRIu64 " of %s, which is not a multiple of %u", verb_of(site),
                              site->bytes, f->address - f->base, *object ? object : "memory", site->alignment);
        case IGI_FINDING_WRITE_TO_CONST:
            return igi_format("writes to %s, which is constant", *object ? object : "memory");
        case IGI_FINDING_RACE:
        case IGI_FINDING_SAME_VALUE_RACE:
        case IGI_FINDING_MISSING_FLAG: return message_race(t, object);
        case IGI_FINDING_UNINITIALISED: return message_uninitialised(t);
        case IGI_FINDING_BARRIER_NOT_REACHED:
            return igi_format("waits at a barrier that %u of its %u threads never reach: they have returned", f->absent,
                              f->absent + f->present);
        case IGI_FINDING_DIFFERENT_BARRIERS:
            return igi_strdup("waits at a barrier while other threads of its threadgroup wait at another");
        case IGI_FINDING_LANES_MISSING:
            return igi_format("needs all lanes of the simdgroup here, but %u of %u are inactive", f->absent,
                              f->absent + f->present);
        case IGI_FINDING_INACTIVE_LANE: return igi_format("reads the value of lane %u, which is inactive", f->absent);
        case IGI_FINDING_OVERFLOW: return igi_strdup("computes an integer that its type cannot hold");
        case IGI_FINDING_CONVERSION: return igi_strdup("converts a number to a type that cannot hold it");
        case IGI_FINDING_SHIFT: return igi_strdup("shifts by as many bits as the type has, or more");
        case IGI_FINDING_NOT_FINITE: return message_not_finite(t, object);
        case IGI_FINDING_COUNT: break;
    }
    return igi_strdup("");
}

static const char *advice_race(const finding_context *t) {
    const igi_simt_checked_finding *f = t->finding;
    if (f->sides[1].queue) return "signal an event after the one and wait for it before the other, or use one queue";
    if (f->sides[0].group != f->sides[1].group)
        return "threadgroups of a dispatch run in any order: use atomics, or do it in two dispatches";
    if (f->object && f->object->threadgroup)
        return "put threadgroup_barrier(mem_flags::mem_threadgroup) between them, in every thread of the threadgroup";
    return "put threadgroup_barrier(mem_flags::mem_device) between them, or let one thread do both";
}

static const char *advice_for(const finding_context *t) {
    switch (t->finding->kind) {
        case IGI_FINDING_OUT_OF_BOUNDS: return "compare the index with the length, or make the object larger";
        case IGI_FINDING_NULL_POINTER: return "bind a buffer to the argument, or do not use it";
        case IGI_FINDING_RELEASED: return "keep the buffer until the command buffer has ended";
        case IGI_FINDING_MISALIGNED: return "use a packed type, or an offset that fits the type";
        case IGI_FINDING_WRITE_TO_CONST: return "declare the memory without const, or do not write there";
        case IGI_FINDING_RACE: return advice_race(t);
        case IGI_FINDING_SAME_VALUE_RACE: return "let one thread write it, or use an atomic store";
        case IGI_FINDING_MISSING_FLAG:
            return t->finding->object && t->finding->object->threadgroup
                       ? "add mem_flags::mem_threadgroup to the barrier"
                       : "add mem_flags::mem_device to the barrier";
        case IGI_FINDING_UNINITIALISED: return "write it first";
        case IGI_FINDING_BARRIER_NOT_REACHED:
            return "return only after the last barrier, and put the work before it under a condition";
        case IGI_FINDING_DIFFERENT_BARRIERS:
            return "move the barrier out of the branch, so that all threads meet at it";
        case IGI_FINDING_NOT_FINITE: return "keep the operands in the range where the result is finite";
        case IGI_FINDING_LANES_MISSING: return "move it out of the branch, so that all lanes do it";
        case IGI_FINDING_INACTIVE_LANE: return "move it out of the branch, or ask a lane that is there";
        default: return "";
    }
}

// ---- All of it ----

static void add_side(const finding_context *t, const igi_simt_checked_side *from, ig_finding *into) {
    ig_finding_side *side = &into->sides[into->side_count++];
    const cpu_checked_launch *launch = launch_of(t, from);
    side->action = action_of(site_of(t, from));
    place(t, from, side);
    if (launch) side->kernel = igi_strdup(launch->program->name), side->queue = igi_strdup(launch->queue);
    if (from->thread != UINT32_MAX) place_thread(t, from, side);
}

static bool is_forgotten(const finding_context *t, const igi_simt_checked_side *side) {
    return side->queue && !launch_of(t, side);
}

static ig_finding make_finding(const finding_context *t) {
    const igi_simt_checked_finding *f = t->finding;
    bool access = site_of(t, &f->sides[0])->act <= IGI_ACT_ATOMIC_WRITE;
    ig_finding made = {.kind = igi_simt_finding_name(f->kind),
                       .warning = !igi_simt_finding_is_error(f->kind),
                       .kernel = igi_strdup(t->dispatch->pipeline->kernel.name),
                       .object = access ? describe_object(t) : igi_strdup(""),
                       .advice = advice_for(t),
                       .offset = access ? offset_of(t) : 0,
                       .bytes = access ? site_of(t, &f->sides[0])->bytes : 0,
                       .object_bytes = access ? f->bytes : 0,
                       .count = f->count};
    made.message = made.object ? message_for(t, made.object) : NULL;
    for (int i = 0; i < 2; i++)
        if (f->sides[i].known && !is_forgotten(t, &f->sides[i])) add_side(t, &f->sides[i], &made);
    return made;
}

// A pair of writes that differed even once is not harmless.
static bool is_covered(const igi_simt_checked *checked, const igi_simt_checked_finding *mild) {
    if (mild->kind != IGI_FINDING_SAME_VALUE_RACE) return false;
    for (size_t i = 0; i < checked->finding_count; i++) {
        const igi_simt_checked_finding *f = &checked->findings[i];
        if (f->kind == IGI_FINDING_RACE && f->sides[0].site == mild->sides[0].site &&
            f->sides[1].site == mild->sides[1].site)
            return true;
    }
    return false;
}

void igi_cpu_check_describe(ig_commands *commands, const igi_device_dispatch *dispatch, igi_simt_checked *checked,
                            ig_size group, const uint64_t groups[3]) {
    const cpu_program *program = dispatch->pipeline->state;
    finding_context t = {
        .checked = checked, .dispatch = dispatch, .module = program->module, .group = group, .groups = groups};
    for (size_t i = 0; i < checked->finding_count; i++) {
        t.finding = &checked->findings[i];
        if (is_covered(checked, t.finding)) continue;
        ig_finding made = make_finding(&t);
        igi_device_findings_add(&commands->findings, &made);
    }
    checked->finding_count = 0;
    checked->left_out = 0;
}
