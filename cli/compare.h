// SPDX-License-Identifier: Apache-2.0
// The parts of `ingot compare`: rules say how kernels run, inputs are generated, both kernels run on them in a worker
// process, and what they wrote is compared.
#ifndef INGOT_CLI_COMPARE_H
#define INGOT_CLI_COMPARE_H

#include <ingot/texture.h>

#include "source.h"

// ---- Rules (compare-rules.c) ----

// How kernels run, as the file says: of one section, or of all sections that match a kernel. Texts are the file's.
typedef struct compare_plan {
    ig_size grid, groups, group;
    cli_list values;       // NAME=VALUE[,VALUE...]
    cli_list constants;    // ID=TYPE:VALUE
    cli_list arguments;    // INDEX=SPEC
    cli_list threadgroup;  // INDEX=BYTES
    const char *skip;      // why these kernels are not compared; NULL: they are
} compare_plan;

typedef struct compare_section {
    cli_list patterns;
    compare_plan plan;
} compare_section;

typedef struct compare_rules {
    char *text;
    compare_section *sections;
    size_t count;
} compare_rules;

// Returns CLI_CONTINUE, or the exit code after printing an error.
int compare_rules_load(const char *path, compare_rules *rules);
void compare_rules_free(compare_rules *rules);
// What holds for a kernel: later sections and lines override earlier ones. Freed with compare_plan_free.
void compare_plan_make(const compare_rules *rules, const char *kernel, compare_plan *plan);
void compare_plan_free(compare_plan *plan);
// The text after "NAME=", or NULL.
const char *compare_find(const cli_list *list, const char *name);
const char *compare_find_index(const cli_list *list, uint32_t index);

// ---- The job ----

typedef struct compare_job {
    const char *paths[2];
    const char *pattern;  // NULL: all kernels
    const char *rules_path;
    cli_source source;  // for those of the two that are sources
    uint64_t ulps, seed, size, limit, every, deadline_ns, time_runs;
    bool all;  // show kernels that are the same, too
    compare_rules rules;
} compare_job;

typedef enum compare_verdict {
    COMPARE_SAME,
    COMPARE_DIFFERENT,
    COMPARE_FAILS_IN_BOTH,
    COMPARE_FAILS_IN_ONE,
    COMPARE_NOT_COMPARABLE,
    COMPARE_VERDICT_COUNT,
} compare_verdict;

enum { COMPARE_NAME = 512, COMPARE_REASON = 768 };

// What became of one kernel. It travels through a pipe as it is.
typedef struct compare_row {
    uint64_t index, total;  // among the kernels to compare
    bool begun;             // only announces the kernel: if the worker dies, it was this one
    compare_verdict verdict;
    char kernel[COMPARE_NAME], reason[COMPARE_REASON];
    // Of the elements that the kernels can write:
    uint64_t elements, changed, different;
    uint64_t largest_ulps;
    double largest;
    // The first that differs:
    uint32_t argument;
    char argument_name[64];
    ig_type type;
    uint64_t first;
    unsigned char values[2][8];
    uint64_t best_ns[2];
} compare_row;

// Compares kernels from `first` on and writes rows to `pipe`. Returns the exit code of the worker process; COMPARE_MORE
// when it has used much memory and another one should continue.
enum { COMPARE_MORE = 100 };
int compare_work(const compare_job *job, uint64_t first, int pipe);

// ---- Inputs (compare-inputs.c) ----

// One argument that both kernels get.
typedef struct compare_argument {
    uint32_t index;
    const ig_argument *sides[2];  // NULL where the kernel has none
    bool written, typed;
    ig_type type;  // of its elements, as far as they are known
    uint64_t bytes;
    char *contents;    // at first
    char *results[2];  // afterwards, if written
    ig_buffer *buffer;
} compare_argument;

// A texture or a sampler that both kernels get.
typedef struct compare_object {
    const ig_argument *reflection;
    bool written;
    ig_type type;  // of the components of a texture
    ig_texture_desc desc;
    ig_texture *texture;
    ig_texture_sampler *sampler;
    uint64_t bytes;
    char *contents, *results[2];  // of a texture
} compare_object;

enum { COMPARE_MAX_ARGUMENTS = 31, COMPARE_MAX_OBJECTS = 32 };

typedef struct compare_inputs {
    compare_argument arguments[COMPARE_MAX_ARGUMENTS];
    size_t count;
    struct {
        uint32_t index;
        uint64_t bytes;
    } threadgroup[COMPARE_MAX_ARGUMENTS];
    size_t threadgroup_count;
    compare_object objects[COMPARE_MAX_OBJECTS];
    size_t object_count;
    ig_size grid, groups, group;  // grid.x or groups.x is 0
} compare_inputs;

// Returns false with a reason if no inputs can be made for these kernels.
bool compare_inputs_make(const compare_job *job, const compare_plan *plan, ig_pipeline *const pipelines[2],
                         compare_inputs *inputs, char reason[COMPARE_REASON]);
void compare_inputs_free(compare_inputs *inputs);

// compare-objects.c: textures and samplers. Those of both kernels that have one index are one.
bool compare_objects_add(const compare_job *job, const ig_argument *argument, compare_inputs *inputs,
                         char reason[COMPARE_REASON]);
bool compare_objects_create(ig_device *device, compare_inputs *inputs);
void compare_objects_release(compare_inputs *inputs);
void compare_objects_refill(compare_inputs *inputs);
void compare_objects_keep(compare_inputs *inputs, int side);
void compare_objects_encode(const compare_inputs *inputs, ig_commands *commands);

// ---- Contents (compare-fill.c) ----

// Data fill arrays in device memory: floats in [-2,2), small integers. Parameters are sizes and switches.
typedef enum compare_role { COMPARE_DATA, COMPARE_PARAMETER } compare_role;

void compare_fill(ig_type type, compare_role role, uint64_t seed, void *memory, uint64_t count);
// From VALUE[,VALUE...]; the last is repeated. False if one is no value of the type.
bool compare_fill_values(ig_type type, const char *values, void *memory, uint64_t count);
// A structure, or an array of it, as `known`, which has a layout, describes it. `type` becomes that of all its members, if
// they agree. False with a reason if it cannot be filled.
bool compare_fill_structures(const compare_plan *plan, const ig_argument *known, compare_role role, uint64_t seed,
                             compare_argument *argument, char reason[COMPARE_REASON]);
uint64_t compare_mix(uint64_t seed, uint64_t number);

// ---- Results (compare-results.c) ----

// Compares what both kernels wrote.
void compare_results(const compare_job *job, const compare_inputs *inputs, compare_row *row);
void compare_show(const compare_job *job, const compare_row *row);

#endif
