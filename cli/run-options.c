// SPDX-License-Identifier: Apache-2.0
// ingot run: reading --arg, --threadgroup, --print and --out.
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "run.h"

static const char raw_mark[] = "raw:";
enum { DEFAULT_PRINTED = 16, DEFAULT_TIMED_RUNS = 10, MAX_RUNS = 100000000 };

size_t run_count(const run_job *job) {
    if (job->repeat) return job->repeat;
    return job->time ? DEFAULT_TIMED_RUNS : 1;
}

run_argument *run_find_argument(run_job *job, uint32_t index) {
    for (size_t i = 0; i < job->argument_count; i++)
        if (job->arguments[i].index == index) return &job->arguments[i];
    return NULL;
}

static int read_argument(run_job *job, const char *text) {
    run_argument argument = {0};
    const char *spec;
    if (!cli_split_index(text, &argument.index, &spec))
        return cli_usage_error("--arg takes INDEX=SPEC, like 0=f32[1000] or 1=x.npy, not '%s'", text);
    if (run_names_object(spec)) return run_read_object(job, argument.index, spec);
    if (run_find_argument(job, argument.index)) return cli_usage_error("--arg %u is given twice", argument.index);
    argument.raw = strncmp(spec, raw_mark, sizeof raw_mark - 1) == 0;
    argument.text = spec + (argument.raw ? sizeof raw_mark - 1 : 0);
    ig_error error = {0};
    if (cli_spec_parse(argument.text, &argument.spec, &error) != IG_STATUS_OK) {
        int result = cli_usage_error("--arg %u: %s", argument.index, error.message);
        ig_error_clear(&error);
        return result;
    }
    job->arguments[job->argument_count++] = argument;
    return CLI_CONTINUE;
}

static int read_arguments(run_job *job) {
    job->arguments = cli_alloc(job->argument_texts.count * sizeof *job->arguments);
    job->objects = cli_alloc(job->argument_texts.count * sizeof *job->objects);
    for (size_t i = 0; i < job->argument_texts.count; i++) {
        int result = read_argument(job, job->argument_texts.items[i]);
        if (result != CLI_CONTINUE) return result;
    }
    return CLI_CONTINUE;
}

typedef int choice_reader(const char *text, run_choice *choice);

static int read_threadgroup(const char *text, run_choice *choice) {
    const char *bytes;
    if (cli_split_index(text, &choice->index, &bytes) && cli_parse_u64(bytes, strlen(bytes), &choice->number) &&
        choice->number)
        return CLI_CONTINUE;
    return cli_usage_error("--threadgroup takes INDEX=BYTES, like 0=4096, not '%s'", text);
}

static int read_print(const char *text, run_choice *choice) {
    uint64_t index;
    size_t digits = strcspn(text, ":");
    choice->number = DEFAULT_PRINTED;
    bool formed = cli_parse_u64(text, digits, &index) && index <= UINT32_MAX;
    if (formed && text[digits] == ':')
        formed = cli_parse_u64(text + digits + 1, strlen(text + digits + 1), &choice->number);
    if (!formed) return cli_usage_error("--print takes INDEX or INDEX:COUNT, like 0:100, not '%s'", text);
    choice->index = (uint32_t)index;
    return CLI_CONTINUE;
}

static int read_out(const char *text, run_choice *choice) {
    if (!cli_split_index(text, &choice->index, &choice->path) || !*choice->path)
        return cli_usage_error("--out takes INDEX=FILE.npy, or INDEX=FILE.png for a texture, not '%s'", text);
    int result = cli_check_ending("out", choice->path, "|.npy|.png|");
    return result == CLI_OK ? CLI_CONTINUE : result;
}

static int read_choices(const cli_list *texts, choice_reader *read, run_choices *choices) {
    choices->items = cli_alloc(texts->count * sizeof *choices->items);
    for (size_t i = 0; i < texts->count; i++) {
        run_choice choice = {0};
        int result = read(texts->items[i], &choice);
        if (result != CLI_CONTINUE) return result;
        choices->items[choices->count++] = choice;
    }
    return CLI_CONTINUE;
}

static bool is_picture(const run_choice *choice) {
    size_t length = choice->path ? strlen(choice->path) : 0;
    return length > 4 && strcmp(choice->path + length - 4, ".png") == 0;
}

// Only an array, or a texture as a picture, can be read back.
static int check_readable(run_job *job, const run_choices *choices, const char *option) {
    for (size_t i = 0; i < choices->count; i++) {
        uint32_t index = choices->items[i].index;
        if (is_picture(&choices->items[i])) {
            if (run_find_object(job, IG_ARGUMENT_TEXTURE, index)) continue;
            return cli_usage_error("--%s %u: there is no --arg %u=texture:...", option, index, index);
        }
        const run_argument *argument = run_find_argument(job, index);
        if (!argument && run_find_object(job, IG_ARGUMENT_TEXTURE, index))
            return cli_usage_error("--%s %u: argument %u is a texture, which becomes a picture: use --out %u=FILE.png",
                                   option, index, index, index);
        if (!argument) return cli_usage_error("--%s %u: there is no --arg %u", option, index, index);
        if (argument->spec.is_constant)
            return cli_usage_error("--%s %u: a constant cannot be read back; give --arg %u a shape, like %s[%llu]",
                                   option, index, index, ig_type_name(argument->spec.type),
                                   (unsigned long long)argument->spec.count);
    }
    return CLI_CONTINUE;
}

int run_read_options(run_job *job) {
    if (job->grid.x && job->groups.x)
        return cli_usage_error("--grid counts threads, --groups threadgroups: give one of them");
    if (!job->grid.x && !job->groups.x)
        return cli_usage_error("--grid is missing: how many threads to run, like --grid 1000");
    job->profile |= job->profile_lines;
    if (job->repeat > MAX_RUNS) return cli_usage_error("--repeat is at most %d", MAX_RUNS);
    int result = cli_source_read_options(&job->source);
    if (result == CLI_CONTINUE) result = read_arguments(job);
    if (result == CLI_CONTINUE) result = run_read_stage(job);
    if (result == CLI_CONTINUE) result = read_choices(&job->threadgroup_texts, read_threadgroup, &job->threadgroup);
    if (result == CLI_CONTINUE) result = read_choices(&job->print_texts, read_print, &job->prints);
    if (result == CLI_CONTINUE) result = read_choices(&job->out_texts, read_out, &job->outs);
    if (result == CLI_CONTINUE) result = check_readable(job, &job->prints, "print");
    if (result == CLI_CONTINUE) result = check_readable(job, &job->outs, "out");
    return result;
}

void run_free(run_job *job) {
    for (size_t i = 0; i < job->argument_count; i++) {
        ig_buffer_release(job->arguments[i].buffer);
        cli_spec_free(&job->arguments[i].spec);
    }
    run_free_objects(job);
    run_free_stage(job);
    free(job->arguments);
    free(job->threadgroup.items);
    free(job->prints.items);
    free(job->outs.items);
    free(job->nanoseconds);
    ig_queue_release(job->queue);
    ig_pipeline_release(job->pipeline);
    ig_library_release(job->library);
    ig_device_release(job->device);
    cli_list_free(&job->argument_texts);
    cli_list_free(&job->threadgroup_texts);
    cli_list_free(&job->print_texts);
    cli_list_free(&job->out_texts);
    cli_source_free(&job->source);
}
