// SPDX-License-Identifier: Apache-2.0
// ingot compare: the worker process, which runs the kernels. If a kernel destroys it, the next one goes on.
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "air/container.h"
#include "compare.h"
#include "console/device.h"
#include "console/output.h"
#include "core/memory.h"

typedef struct worker {
    const compare_job *job;
    int pipe;
    ig_device *device;
    ig_library *libraries[2];
    // The first library on a device that runs threads in another order; opened when something differs.
    ig_device *ordered_device;
    ig_library *ordered;
    const char **kernels;  // names that both have
    uint64_t count;
} worker;

// ---- Libraries ----

static void drop_message(const ig_kernel_log_entry *message, void *user) {
    (void)message, (void)user;
}

static int open_device(const compare_job *job, uint64_t schedule, ig_device **device) {
    // One thread: results do not depend on which core is faster. The deadline is the device's, so that kernels are
    // compiled only once, as code that can be stopped.
    ig_device_desc desc = {.worker_count = 1,
                           .schedule = schedule,
                           .deadline_ns = job->deadline_ns,
                           .capture_dir = "",
                           .kernel_log = {.callback = drop_message}};
    return cli_open_device(&desc, device);
}

// A source flushes denormals if a compiled library is what it is compared with: those of Apple's compiler do.
static int open_library(const worker *w, ig_device *device, int side, ig_library **library) {
    cli_source source = w->job->source;
    source.path = w->job->paths[side];
    source.flush_denormals |= igi_air_is_container_file(w->job->paths[!side]);
    return cli_source_compile(&source, device, library, NULL);
}

static int open_all(worker *w) {
    int result = open_device(w->job, 0, &w->device);
    for (int side = 0; side < 2 && result == CLI_CONTINUE; side++)
        result = open_library(w, w->device, side, &w->libraries[side]);
    return result;
}

static void close_all(worker *w) {
    ig_library_release(w->libraries[0]);
    ig_library_release(w->libraries[1]);
    ig_library_release(w->ordered);
    ig_device_release(w->ordered_device);
    ig_device_release(w->device);
    free(w->kernels);
}

// ---- Kernels that both have ----

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char **sorted_names(const ig_library *library, size_t *count) {
    *count = ig_library_kernel_count(library);
    const char **names = cli_alloc((*count + 1) * sizeof *names);
    for (size_t i = 0; i < *count; i++) names[i] = ig_library_kernel_name(library, i);
    qsort(names, *count, sizeof *names, by_name);
    return names;
}

static void choose_kernels(worker *w) {
    size_t counts[2], matching = 0;
    const compare_job *job = w->job;
    w->kernels = sorted_names(w->libraries[0], &counts[0]);
    const char **others = sorted_names(w->libraries[1], &counts[1]);
    for (size_t i = 0; i < counts[0] && (!job->limit || w->count < job->limit); i++) {
        const char *name = w->kernels[i];
        if (job->pattern && fnmatch(job->pattern, name, 0) != 0) continue;
        if (!bsearch(&name, others, counts[1], sizeof *others, by_name)) continue;
        if (matching++ % job->every == 0) w->kernels[w->count++] = name;
    }
    free(others);
}

// ---- Pipelines ----

// From its name: its number may be another one in the other library, or in another kernel of the same.
static uint64_t seed_of(const compare_job *job, const char *name) {
    uint64_t seed = job->seed;
    for (; *name; name++) seed = compare_mix(seed, (unsigned char)*name);
    return seed;
}

static bool take_constant(const char *given, const ig_function_constant_info *constant, void *value) {
    cli_spec spec = {0};
    bool fits = cli_constant_parse(given, &spec, NULL) == IG_STATUS_OK && spec.type == constant->type &&
                spec.count == constant->components;
    if (fits) memcpy(value, spec.values, spec.bytes);
    cli_spec_free(&spec);
    return fits;
}

enum { LARGEST_CONSTANT = 32 };

// Constants of several kernels may share a number: what does not fit one of them is then meant for another.
static bool fits_another(ig_library *library, const char *given, uint32_t id) {
    char value[LARGEST_CONSTANT];
    for (size_t i = 0; i < ig_library_function_constant_count(library); i++) {
        const ig_function_constant_info *info = ig_library_function_constant(library, i);
        if (info->id == id && take_constant(given, info, value)) return true;
    }
    return false;
}

// A value for a function constant: the user's, a rule's, or one made from its type.
static bool constant_value(const compare_job *job, const compare_plan *plan, ig_library *library,
                           const ig_function_constant_info *constant, void *value) {
    const cli_list *lists[] = {&job->source.constant_texts, &plan->constants};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const char *named = compare_find(lists[i], constant->name);
        if (named) return take_constant(named, constant, value);
        const char *numbered = compare_find_index(lists[i], constant->id);
        if (!numbered) continue;
        if (take_constant(numbered, constant, value)) return true;
        if (!fits_another(library, numbered, constant->id)) return false;
    }
    const char *values = compare_find(&plan->values, constant->name);
    if (values) return compare_fill_values(constant->type, values, value, constant->components);
    compare_fill(constant->type, COMPARE_PARAMETER, seed_of(job, constant->name), value, constant->components);
    return true;
}

static ig_status make_pipeline(const worker *w, const compare_plan *plan, ig_library *library, const char *kernel,
                               ig_pipeline **pipeline, ig_error *error) {
    size_t count = ig_library_function_constant_count(library);
    ig_function_constant *constants = cli_alloc((count + 1) * (sizeof *constants + LARGEST_CONSTANT));
    char *values = (char *)(constants + count + 1);
    ig_status status = IG_STATUS_OK;
    for (size_t i = 0; i < count && status == IG_STATUS_OK; i++) {
        const ig_function_constant_info *info = ig_library_function_constant(library, i);
        constants[i] = (ig_function_constant){.name = info->name,
                                              .type = info->type,
                                              .value = values + i * LARGEST_CONSTANT,
                                              .components = info->components};
        if (!constant_value(w->job, plan, library, info, values + i * LARGEST_CONSTANT))
            status = igi_error_set(error, IG_STATUS_WRONG_CONSTANT, "the value for function constant '%s' does not fit",
                                   info->name);
    }
    ig_pipeline_desc desc = {.kernel = kernel,
                             .constants = constants,
                             .constant_count = count,
                             .unset_constants_are_zero = true,
                             .tier = w->job->time_runs ? 2 : 0};
    if (status == IG_STATUS_OK) status = ig_pipeline_create(library, &desc, pipeline, error);
    free(constants);
    return status;
}

// ---- Running ----

static void encode(const compare_inputs *inputs, ig_pipeline *pipeline, ig_commands *commands) {
    ig_commands_set_pipeline(commands, pipeline);
    for (size_t i = 0; i < inputs->count; i++)
        ig_commands_set_buffer(commands, inputs->arguments[i].buffer, 0, inputs->arguments[i].index);
    compare_objects_encode(inputs, commands);
    for (size_t i = 0; i < inputs->threadgroup_count; i++)
        ig_commands_set_threadgroup_memory(commands, inputs->threadgroup[i].bytes, inputs->threadgroup[i].index);
    if (inputs->grid.x)
        ig_commands_dispatch_threads(commands, inputs->grid, inputs->group);
    else
        ig_commands_dispatch_threadgroups(commands, inputs->groups, inputs->group);
}

static ig_status create_buffers(ig_device *device, compare_inputs *inputs) {
    ig_status status = IG_STATUS_OK;
    for (size_t i = 0; i < inputs->count && status == IG_STATUS_OK; i++) {
        compare_argument *argument = &inputs->arguments[i];
        ig_buffer_desc desc = {.length = argument->bytes, .bytes = argument->contents};
        status = ig_buffer_create(device, &desc, &argument->buffer);
    }
    if (status == IG_STATUS_OK && !compare_objects_create(device, inputs)) status = IG_STATUS_OUT_OF_MEMORY;
    if (status == IG_STATUS_OK) compare_objects_refill(inputs);
    return status;
}

static void keep_results(compare_inputs *inputs, int side) {
    for (size_t i = 0; i < inputs->count; i++) {
        compare_argument *argument = &inputs->arguments[i];
        if (!argument->written) continue;
        if (!argument->results[side]) argument->results[side] = cli_alloc(argument->bytes);
        memcpy(argument->results[side], ig_buffer_contents(argument->buffer), argument->bytes);
    }
    compare_objects_keep(inputs, side);
}

static void release_buffers(compare_inputs *inputs) {
    for (size_t i = 0; i < inputs->count; i++) {
        ig_buffer_release(inputs->arguments[i].buffer);
        inputs->arguments[i].buffer = NULL;
    }
    compare_objects_release(inputs);
}

static ig_status dispatch(ig_queue *queue, ig_pipeline *pipeline, const compare_inputs *inputs, uint64_t *nanoseconds,
                          ig_error *error) {
    ig_commands *commands = NULL;
    ig_status status = ig_commands_create(queue, NULL, &commands);
    if (status != IG_STATUS_OK) return status;
    encode(inputs, pipeline, commands);
    status = ig_commands_commit(commands);
    if (status == IG_STATUS_OK) status = ig_commands_wait(commands, IG_FOREVER);
    if (status != IG_STATUS_OK) ig_commands_get_error(commands, error);
    ig_timing timing = {0};
    if (status == IG_STATUS_OK) ig_commands_get_dispatch_timing(commands, 0, &timing);
    if (nanoseconds) *nanoseconds = timing.end_ns - timing.start_ns;
    ig_commands_release(commands);
    return status;
}

// Runs the kernel on fresh inputs and keeps what it wrote as that of `side`.
static ig_status run(ig_device *device, ig_pipeline *pipeline, compare_inputs *inputs, int side, uint64_t *nanoseconds,
                     ig_error *error) {
    ig_queue *queue = NULL;
    ig_status status = ig_queue_create(device, &queue);
    if (status == IG_STATUS_OK) status = create_buffers(device, inputs);
    if (status == IG_STATUS_OK) status = dispatch(queue, pipeline, inputs, nanoseconds, error);
    if (status == IG_STATUS_OK) keep_results(inputs, side);
    release_buffers(inputs);
    ig_queue_release(queue);
    return status;
}

// ---- One kernel ----

static void send(const worker *w, const compare_row *row) {
    const char *at = (const char *)row;
    for (size_t left = sizeof *row; left;) {
        ssize_t sent = write(w->pipe, at, left);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) _exit(CLI_FAILED);  // nobody reads any more
        at += sent, left -= (size_t)sent;
    }
}

static const char *after_address(const char *text) {
    return text + 2 + strspn(text + 2, "0123456789abcdef");
}

// Whether two messages say the same. Where memory was mapped differs from run to run.
static bool are_alike(const char *a, const char *b) {
    while (*a && *a == *b) {
        bool addresses = strncmp(a, "0x", 2) == 0 && strncmp(b, "0x", 2) == 0;
        a = addresses ? after_address(a) : a + 1;
        b = addresses ? after_address(b) : b + 1;
    }
    return *a == *b;
}

// Says what failed, on which side.
static void set_failures(const ig_status statuses[2], ig_error errors[2], compare_row *row) {
    const char *texts[2];
    for (int side = 0; side < 2; side++)
        texts[side] = errors[side].message ? errors[side].message : ig_status_text(statuses[side]);
    bool both = statuses[0] != IG_STATUS_OK && statuses[1] != IG_STATUS_OK;
    row->verdict = both ? COMPARE_FAILS_IN_BOTH : COMPARE_FAILS_IN_ONE;
    if (both && are_alike(texts[0], texts[1]))
        snprintf(row->reason, sizeof row->reason, "%s", texts[0]);
    else if (both)
        snprintf(row->reason, sizeof row->reason, "in the first: %.300s; in the second: %.300s", texts[0], texts[1]);
    else
        snprintf(row->reason, sizeof row->reason, "only in the %s: %.600s",
                 statuses[0] != IG_STATUS_OK ? "first" : "second", texts[statuses[0] == IG_STATUS_OK]);
}

// Whether the first kernel gives something else when its threads run in another order.
static bool depends_on_order(worker *w, const compare_plan *plan, const char *kernel, compare_inputs *inputs) {
    if (!w->ordered_device && open_device(w->job, 1, &w->ordered_device) != CLI_CONTINUE) return false;
    if (!w->ordered && open_library(w, w->ordered_device, 0, &w->ordered) != CLI_CONTINUE) return false;
    ig_pipeline *pipeline = NULL;
    ig_error error = {0};
    ig_status status = make_pipeline(w, plan, w->ordered, kernel, &pipeline, &error);
    if (status == IG_STATUS_OK) status = run(w->ordered_device, pipeline, inputs, 1, NULL, &error);
    compare_row row = {0};
    if (status == IG_STATUS_OK) compare_results(w->job, inputs, &row);
    ig_pipeline_release(pipeline);
    ig_error_clear(&error);
    return row.different != 0;
}

// In turns, so that both meet the same state of the machine.
static void measure(const worker *w, ig_pipeline *const pipelines[2], compare_inputs *inputs, compare_row *row) {
    for (uint64_t i = 0; i < w->job->time_runs; i++)
        for (int side = 0; side < 2; side++) {
            uint64_t nanoseconds = 0;
            ig_error error = {0};
            if (run(w->device, pipelines[side], inputs, side, &nanoseconds, &error) != IG_STATUS_OK) nanoseconds = 0;
            ig_error_clear(&error);
            if (nanoseconds && (!row->best_ns[side] || nanoseconds < row->best_ns[side]))
                row->best_ns[side] = nanoseconds;
        }
}

static void compare_pipelines(worker *w, const compare_plan *plan, ig_pipeline *const pipelines[2], compare_row *row) {
    compare_inputs *inputs = memset(cli_alloc(sizeof *inputs), 0, sizeof *inputs);
    ig_status statuses[2] = {IG_STATUS_OK, IG_STATUS_OK};
    ig_error errors[2] = {{0}, {0}};
    row->verdict = COMPARE_NOT_COMPARABLE;
    if (compare_inputs_make(w->job, plan, pipelines, inputs, row->reason)) {
        for (int side = 0; side < 2; side++)
            statuses[side] = run(w->device, pipelines[side], inputs, side, NULL, &errors[side]);
        if (statuses[0] == IG_STATUS_OK && statuses[1] == IG_STATUS_OK) {
            compare_results(w->job, inputs, row);
            measure(w, pipelines, inputs, row);
        } else {
            set_failures(statuses, errors, row);
        }
    }
    if (row->verdict == COMPARE_DIFFERENT && depends_on_order(w, plan, row->kernel, inputs)) {
        row->verdict = COMPARE_NOT_COMPARABLE;
        snprintf(row->reason, sizeof row->reason, "what it computes depends on the order of its threads");
    }
    for (int side = 0; side < 2; side++) ig_error_clear(&errors[side]);
    compare_inputs_free(inputs);
    free(inputs);
}

static void compare_kernel(worker *w, uint64_t index) {
    compare_row row = {.index = index, .total = w->count, .begun = true};
    const char *kernel = w->kernels[index];
    snprintf(row.kernel, sizeof row.kernel, "%s", kernel);
    send(w, &row);
    row.begun = false;
    compare_plan plan;
    compare_plan_make(&w->job->rules, kernel, &plan);
    ig_pipeline *pipelines[2] = {NULL, NULL};
    ig_status statuses[2];
    ig_error errors[2] = {{0}, {0}};
    if (plan.skip) {
        row.verdict = COMPARE_NOT_COMPARABLE;
        snprintf(row.reason, sizeof row.reason, "%.700s", plan.skip);
    } else {
        for (int side = 0; side < 2; side++)
            statuses[side] = make_pipeline(w, &plan, w->libraries[side], kernel, &pipelines[side], &errors[side]);
        if (pipelines[0] && pipelines[1])
            compare_pipelines(w, &plan, pipelines, &row);
        else
            set_failures(statuses, errors, &row);
    }
    for (int side = 0; side < 2; side++) ig_pipeline_release(pipelines[side]), ig_error_clear(&errors[side]);
    compare_plan_free(&plan);
    send(w, &row);
}

// A compiled library keeps the kernels that it has translated.
static bool uses_much_memory(void) {
    enum { MOST_KIB = 3 << 20 };
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 && usage.ru_maxrss > MOST_KIB;
}

int compare_work(const compare_job *job, uint64_t first, int pipe) {
    enum { FEWEST = 100 };
    worker w = {.job = job, .pipe = pipe};
    int result = open_all(&w);
    if (result == CLI_CONTINUE) choose_kernels(&w);
    if (result == CLI_CONTINUE && !w.count)
        result = cli_error(CLI_BAD_INPUT, "%s and %s have no kernel in common%s%s", job->paths[0], job->paths[1],
                           job->pattern ? " that matches " : "", job->pattern ? job->pattern : "");
    uint64_t i = first;
    for (; result == CLI_CONTINUE && i < w.count; i++) {
        if (i - first >= FEWEST && uses_much_memory()) result = COMPARE_MORE;
        if (result == CLI_CONTINUE) compare_kernel(&w, i);
    }
    close_all(&w);
    return result == CLI_CONTINUE ? CLI_OK : result;
}
