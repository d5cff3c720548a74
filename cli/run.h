// SPDX-License-Identifier: Apache-2.0
// The parts of `ingot run`: options become a job, arguments are bound to a pipeline, results are shown.
#ifndef INGOT_CLI_RUN_H
#define INGOT_CLI_RUN_H

#include "console/output.h"
#include "findings.h"
#include "profile.h"
#include "source.h"
#include "timing.h"

// One --arg.
typedef struct run_argument {
    uint32_t index;
    bool raw;          // its bytes are used, whatever type the kernel has
    const char *text;  // the SPEC as given, without "raw:"
    cli_spec spec;
    ig_buffer *buffer;              // NULL for a constant
    const ig_argument *reflection;  // borrowed from the pipeline
} run_argument;

// One --arg that is a texture, a sampler or a function table.
typedef struct run_object {
    ig_argument_kind kind;
    uint32_t index;
    const char *path;  // of a picture; NULL: zeros
    ig_texture_desc desc;
    ig_texture_sampler_desc sampler_desc;
    void *pixels;                   // of the picture, or zeros once they were needed
    const ig_argument *reflection;  // borrowed from the pipeline
    ig_texture *texture;
    ig_texture_sampler *sampler;
    const char *functions;  // of a function table: names with commas between them
    ig_function_table *table;
} run_object;

// One --threadgroup, --print or --out.
typedef struct run_choice {
    uint32_t index;
    uint64_t number;   // bytes of threadgroup memory, or how many elements to print
    const char *path;  // of --out
} run_choice;

typedef struct run_choices {
    run_choice *items;
    size_t count;
} run_choices;

// What fills [[stage_in]].
typedef struct run_stage {
    cli_list attribute_texts, layout_texts;
    const char *indices_text, *region_text;
    ig_stage_input input;
    ig_stage_attribute attributes[31];
    ig_stage_layout layouts[31];
    uint32_t strides[31];  // of dynamic layouts, by buffer
    ig_size origin, size;
} run_stage;

typedef struct run_job {
    // As given by the options:
    cli_source source;
    ig_size grid, groups, group;
    cli_list argument_texts, threadgroup_texts, print_texts, out_texts;
    uint64_t repeat, deadline_ns;
    bool time;
    bool profile;           // show what it cost
    bool profile_lines;     // by source line too
    const char *trace;      // a file for a trace
    uint64_t compile_ns;    // of the library
    bool check;             // run under checking
    uint32_t checks;        // which checks
    uint64_t schedule;      // order of threads
    uint64_t schedules;     // how many of them to run
    cli_findings findings;  // what checking found
    // As read by run_read_options:
    run_argument *arguments;
    size_t argument_count;
    run_object *objects;
    size_t object_count;
    run_choices threadgroup, prints, outs;
    run_stage stage;
    // While running:
    ig_device *device;
    ig_library *library;
    ig_pipeline *pipeline;
    ig_queue *queue;
    uint64_t *nanoseconds;  // of each timed run
} run_job;

// `ingot run`, or with `checking` `ingot check`.
int run_command(int argc, char **argv, bool checking);

// All return CLI_CONTINUE, or the exit code after printing an error.
int run_read_options(run_job *job);
// Loads files and matches the arguments with those of the kernel.
int run_bind_arguments(run_job *job);
// For loaded data: refuses elements whose type differs from the kernel's.
int run_check_type(run_argument *argument);
int run_create_buffers(run_job *job);
// Restores the initial contents of buffers that a kernel reads and writes.
void run_refill_buffers(run_job *job);
int run_show_results(run_job *job);

// run-stage.c
int run_read_stage(run_job *job);
void run_encode_stage(const run_job *job, ig_commands *commands);
void run_free_stage(run_job *job);

// Whether the SPEC is of a texture, a sampler or a function table.
bool run_names_object(const char *spec);
int run_read_object(run_job *job, uint32_t index, const char *spec);
run_object *run_find_object(run_job *job, ig_argument_kind kind, uint32_t index);
int run_create_objects(run_job *job);
// Restores the initial pixels of textures that a kernel reads and writes.
void run_refill_textures(run_job *job);
void run_encode_objects(const run_job *job, ig_commands *commands);
void run_free_objects(run_job *job);
// Writes a texture to a .png file.
int run_save_picture(run_object *object, const char *path);

// Compiles and runs the kernel, until the last run has ended.
int run_prepare_and_run(run_job *job);
// Runs it with its threads in order and in other orders; counts the orders that give other results.
int run_compare_schedules(const run_job *job, size_t *different);

run_argument *run_find_argument(run_job *job, uint32_t index);
size_t run_count(const run_job *job);
void run_free(run_job *job);

#endif
