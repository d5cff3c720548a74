// SPDX-License-Identifier: Apache-2.0
// ingot run: printing arrays and times, writing files.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "elements.h"
#include "format.h"
#include "run.h"

static void put_shape(igi_json *row, const cli_spec *spec) {
    igi_json_put_string(row, "type", ig_type_name(spec->type));
    igi_json_key(row, "shape");
    igi_json_begin_array(row);
    for (uint32_t i = 0; i < spec->rank; i++) igi_json_u64(row, spec->shape[i]);
    igi_json_end_array(row);
}

static void put_size(igi_json *row, const char *key, ig_size size) {
    igi_json_key(row, key);
    igi_json_begin_array(row);
    igi_json_u64(row, size.x);
    igi_json_u64(row, size.y ? size.y : 1);
    igi_json_u64(row, size.z ? size.z : 1);
    igi_json_end_array(row);
}

static void put_elements(const run_argument *argument, uint64_t count) {
    const char *elements = ig_buffer_contents(argument->buffer);
    igi_json *row = cli_begin_row();
    igi_json_put_u64(row, "argument", argument->index);
    igi_json_put_string(row, "name", argument->reflection->name);
    put_shape(row, &argument->spec);
    igi_json_key(row, "values");
    igi_json_begin_array(row);
    for (uint64_t i = 0; i < count; i++)
        cli_element_json(argument->spec.type, elements + i * ig_type_size(argument->spec.type), row);
    igi_json_end_array(row);
    cli_end_row();
}

static void print_elements(const run_argument *argument, uint64_t count) {
    const cli_spec *spec = &argument->spec;
    const char *elements = ig_buffer_contents(argument->buffer);
    printf("%s%s %s[", cli_escape(stdout, CLI_DIM), cli_visible(argument->reflection->name), ig_type_name(spec->type));
    for (uint32_t i = 0; i < spec->rank; i++) printf("%s%" PRIu64, i ? "," : "", spec->shape[i]);
    printf("]:%s", cli_escape(stdout, CLI_PLAIN));
    for (uint64_t i = 0; i < count; i++) {
        char text[CLI_ELEMENT_TEXT];
        cli_element_format(spec->type, elements + i * ig_type_size(spec->type), text);
        printf(" %s", text);
    }
    printf("%s\n", count < spec->count ? " ..." : "");
}

static void show_elements(run_job *job, const run_choice *choice) {
    const run_argument *argument = run_find_argument(job, choice->index);
    uint64_t count = choice->number < argument->spec.count ? choice->number : argument->spec.count;
    (cli_json ? put_elements : print_elements)(argument, count);
}

static int save_array(run_job *job, const run_choice *choice) {
    size_t length = strlen(choice->path);
    if (strcmp(choice->path + length - 4, ".png") == 0)
        return run_save_picture(run_find_object(job, IG_ARGUMENT_TEXTURE, choice->index), choice->path);
    const run_argument *argument = run_find_argument(job, choice->index);
    const cli_spec *spec = &argument->spec;
    ig_error error = {0};
    ig_status status =
        igi_npy_save(choice->path, spec->type, spec->rank, spec->shape, ig_buffer_contents(argument->buffer), &error);
    if (status != IG_STATUS_OK) return cli_report_and_clear(status, &error);
    if (cli_json) {
        igi_json *row = cli_begin_row();
        igi_json_put_u64(row, "argument", argument->index);
        igi_json_put_string(row, "name", argument->reflection->name);
        put_shape(row, spec);
        igi_json_put_string(row, "file", choice->path);
        cli_end_row();
    }
    return CLI_CONTINUE;
}

typedef struct dispatch_shape {
    ig_size grid, group;  // in threads
} dispatch_shape;

static dispatch_shape shape_of(const run_job *job) {
    dispatch_shape shape = {job->grid, job->group};
    ig_size counted = job->grid.x ? job->grid : job->groups;
    if (!shape.group.x) shape.group = ig_pipeline_threadgroup_size(job->pipeline, counted);
    if (!shape.grid.x)
        shape.grid = (ig_size){counted.x * shape.group.x, counted.y * shape.group.y, counted.z * shape.group.z};
    return shape;
}

static void put_run(run_job *job, const cli_timing *timing) {
    ig_device_properties device;
    ig_device_get_properties(job->device, &device);
    dispatch_shape shape = shape_of(job);
    igi_json *row = cli_begin_row();
    igi_json_put_string(row, "kernel", ig_pipeline_kernel(job->pipeline)->name);
    igi_json_put_string(row, "device", device.name);
    put_size(row, "grid", shape.grid);
    put_size(row, "group", shape.group);
    igi_json_put_u64(row, "runs", timing->runs);
    igi_json_put_double(row, "best_ns", timing->best_ns);
    igi_json_put_double(row, "median_ns", timing->median_ns);
    igi_json_put_double(row, "spread", timing->spread);
    cli_end_row();
}

static void print_times(run_job *job, const cli_timing *timing) {
    char best[CLI_FORMAT_TEXT], median[CLI_FORMAT_TEXT];
    printf("%s: best %s, median %s, spread %.1f %% (%zu run%s)\n", cli_visible(ig_pipeline_kernel(job->pipeline)->name),
           cli_format_time(timing->best_ns, best), cli_format_time(timing->median_ns, median), 100 * timing->spread,
           timing->runs, timing->runs == 1 ? "" : "s");
}

static void note_run(run_job *job, const cli_timing *timing) {
    char time[CLI_FORMAT_TEXT];
    cli_note("ran %s in %s; --print and --out show what it computed", ig_pipeline_kernel(job->pipeline)->name,
             cli_format_time(timing->best_ns, time));
}

static int show_lines(const run_job *job) {
    ig_line_profile *rows;
    size_t count;
    ig_status status = ig_device_get_line_profile(job->device, &rows, &count);
    if (status != IG_STATUS_OK) return cli_report(status, NULL);
    cli_profile_show_lines(rows, count);
    free(rows);
    return CLI_CONTINUE;
}

static int show_profile(const run_job *job) {
    ig_kernel_profile *rows;
    size_t count;
    ig_status status = ig_device_get_profile(job->device, &rows, &count);
    if (status != IG_STATUS_OK) return cli_report(status, NULL);
    cli_profile_show(rows, count);
    char time[CLI_FORMAT_TEXT];
    if (!cli_json) printf("the library took %s\n", cli_format_time((double)job->compile_ns, time));
    free(rows);
    return job->profile_lines ? show_lines(job) : CLI_CONTINUE;
}

int run_show_results(run_job *job) {
    cli_timing timing = cli_timing_of(job->nanoseconds, run_count(job));
    if (cli_json) {
        put_run(job, &timing);
    } else if (job->time) {
        print_times(job, &timing);
    } else if (job->prints.count == 0 && job->outs.count == 0 && !job->profile) {
        note_run(job, &timing);
    }
    for (size_t i = 0; i < job->prints.count; i++) show_elements(job, &job->prints.items[i]);
    int result = CLI_CONTINUE;
    for (size_t i = 0; i < job->outs.count && result == CLI_CONTINUE; i++)
        result = save_array(job, &job->outs.items[i]);
    if (job->profile && result == CLI_CONTINUE) result = show_profile(job);
    return result;
}
