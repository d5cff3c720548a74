// SPDX-License-Identifier: Apache-2.0
// ingot bench simt: the cases on an OpenCL platform.
#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/common/opencl.h"
#include "bench/common/sources.h"
#include "console/output.h"
#include "core/clock.h"
#include "core/memory.h"
#include "simt.h"

enum { MAX_KERNELS = 32 };
static const uint64_t sample_ns = 500000000;  // of one launch, if only parts of it are run

typedef struct opencl_runner {
    simt_runner base;
    opencl_platform *platform;
    cl_handle programs[2];  // without images, and with them: not every platform has them
    struct {
        const char *name;
        cl_handle program, handle;
    } kernels[MAX_KERNELS];
    size_t kernel_count;
    const simt_case *test;
    void *const *inputs;
    cl_handle buffers[SIMT_MAX_BUFFERS];
    bool samples;    // runs only parts of large grids
    double skipped;  // seconds that the other parts would have taken
} opencl_runner;

static bool uses_images(const simt_case *test) {
    return test->images[0].format;
}

// ---- Launching ----

static cl_handle find_kernel(opencl_runner *runner, const char *name) {
    cl_handle program = runner->programs[uses_images(runner->test)];
    for (size_t i = 0; i < runner->kernel_count; i++)
        if (runner->kernels[i].program == program && strcmp(runner->kernels[i].name, name) == 0)
            return runner->kernels[i].handle;
    cl_handle kernel = opencl_kernel_create(runner->platform, program, name);
    if (kernel && runner->kernel_count < MAX_KERNELS) {
        runner->kernels[runner->kernel_count].name = name;
        runner->kernels[runner->kernel_count].program = program;
        runner->kernels[runner->kernel_count++].handle = kernel;
    }
    return kernel;
}

static bool set_argument(opencl_runner *runner, cl_handle kernel, uint32_t index, const simt_argument *argument) {
    switch (argument->kind) {
        case SIMT_BUFFER:
        case SIMT_TEXTURE:
            return opencl_kernel_set(runner->platform, kernel, index, sizeof(cl_handle),
                                     &runner->buffers[argument->number]);
        case SIMT_UINT:
            return opencl_kernel_set(runner->platform, kernel, index, sizeof argument->number, &argument->number);
        default: return opencl_kernel_set(runner->platform, kernel, index, sizeof argument->real, &argument->real);
    }
}

// An interpreter would need hours for some cases: it runs a few parts of the grid, at regular distances, each with as many
// work-groups as there are processors. The time of the whole is estimated from theirs.
static bool launch_parts(opencl_runner *runner, cl_handle kernel, const simt_launch *launch) {
    static const size_t order[] = {4, 1, 6, 3, 7, 0, 5, 2};
    enum { PARTS = sizeof order / sizeof *order };
    const size_t *group = launch->group;
    size_t rows = launch->grid[0] / group[0], columns = launch->grid[1] / group[1];
    size_t total = rows * columns * (launch->grid[2] / group[2]), done = 0;
    size_t cores = (size_t)sysconf(_SC_NPROCESSORS_ONLN), width = cores < rows ? cores : rows;
    uint64_t start = igi_now_ns(), spent = 0;
    if (total <= PARTS * width) return opencl_enqueue(runner->platform, kernel, launch->grid, group);
    for (size_t i = 0; i < PARTS && spent < sample_ns; i++) {
        size_t at = order[i] * total / PARTS, x = at % rows;
        if (x + width > rows) x = rows - width;
        const size_t offset[] = {x * group[0], at / rows % columns * group[1], at / rows / columns * group[2]};
        const size_t part[] = {width * group[0], group[1], group[2]};
        if (!opencl_enqueue_part(runner->platform, kernel, offset, part, group) || !opencl_finish(runner->platform))
            return false;
        done += width;
        spent = igi_now_ns() - start;
    }
    runner->skipped += (double)spent * 1e-9 * ((double)total / (double)done - 1);
    return true;
}

static bool enqueue(opencl_runner *runner, cl_handle kernel, const simt_launch *launch) {
    if (runner->samples) return launch_parts(runner, kernel, launch);
    return opencl_enqueue(runner->platform, kernel, launch->grid, launch->group);
}

static void launch(void *target, const simt_launch *launch) {
    opencl_runner *runner = target;
    cl_handle kernel = find_kernel(runner, launch->kernel);
    bool ok = kernel;
    for (uint32_t i = 0; i < launch->argument_count && ok; i++)
        ok = set_argument(runner, kernel, i, &launch->arguments[i]);
    if (!ok || !enqueue(runner, kernel, launch)) simt_fail(&runner->base, "cannot launch '%s'", launch->kernel);
}

static double run(simt_runner *base) {
    opencl_runner *runner = (opencl_runner *)base;
    size_t result = runner->test->result;
    if (runner->test->restore)
        opencl_buffer_write(runner->platform, runner->buffers[result], runner->inputs[result],
                            runner->test->bytes[result]);
    runner->skipped = 0;
    uint64_t start = igi_now_ns();
    runner->test->encode(&(simt_sink){launch, runner});
    if (!opencl_finish(runner->platform)) simt_fail(base, "the kernels do not finish");
    return base->error[0] ? -1 : (double)(igi_now_ns() - start) * 1e-9 + runner->skipped;
}

// ---- Cases ----

static bool make_image(opencl_runner *runner, size_t which, const void *pixels) {
    const simt_image *image = &runner->test->images[which];
    const uint32_t format[2] = {
        image->format == IG_PIXEL_RGBA8_UNORM ? OPENCL_RGBA : OPENCL_R,
        image->format == IG_PIXEL_R32_FLOAT ? OPENCL_FLOAT
        : image->format == IG_PIXEL_R8_UINT ? OPENCL_UINT8
                                            : OPENCL_UNORM8,
    };
    cl_handle made = runner->buffers[which] =
        opencl_image_create(runner->platform, format, image->width, image->height);
    return made && opencl_image_write(runner->platform, made, image->width, image->height, pixels);
}

static bool prepare(simt_runner *base, const simt_case *test, void *const *inputs) {
    opencl_runner *runner = (opencl_runner *)base;
    if (test->metal_only) return false;
    runner->test = test;
    runner->inputs = inputs;
    // Fast math is Metal's default; the peers are allowed it too.
    cl_handle *program = &runner->programs[uses_images(test)];
    if (!*program)
        *program = opencl_program_build(runner->platform, bench_source(uses_images(test) ? "images.cl" : "simt.cl"),
                                        "-cl-fast-relaxed-math");
    if (!*program) return simt_fail(base, "cannot compile the kernels");
    for (size_t i = 0; i < test->buffer_count; i++) {
        if (test->images[i].format) {
            if (!make_image(runner, i, inputs[i])) return simt_fail(base, "cannot make an image");
            continue;
        }
        runner->buffers[i] = opencl_buffer_create(runner->platform, test->bytes[i]);
        if (!runner->buffers[i] ||
            !opencl_buffer_write(runner->platform, runner->buffers[i], inputs[i], test->bytes[i]))
            return simt_fail(base, "cannot make a buffer");
    }
    return true;
}

static bool read_result(simt_runner *base, void *result) {
    opencl_runner *runner = (opencl_runner *)base;
    const simt_image *image = &runner->test->images[runner->test->result];
    if (image->format)
        return opencl_image_read(runner->platform, runner->buffers[runner->test->result], image->width, image->height,
                                 result);
    return opencl_buffer_read(runner->platform, runner->buffers[runner->test->result], result,
                              runner->test->result_bytes);
}

static void finish(simt_runner *base) {
    opencl_runner *runner = (opencl_runner *)base;
    for (size_t i = 0; i < SIMT_MAX_BUFFERS; i++) opencl_buffer_release(runner->platform, runner->buffers[i]);
    memset(runner->buffers, 0, sizeof runner->buffers);
}

static void close_runner(simt_runner *base) {
    opencl_runner *runner = (opencl_runner *)base;
    for (size_t i = 0; i < runner->kernel_count; i++)
        opencl_kernel_release(runner->platform, runner->kernels[i].handle);
    for (size_t i = 0; i < 2; i++) opencl_program_release(runner->platform, runner->programs[i]);
    opencl_close(runner->platform);
    free(runner);
}

// ---- Opening ----

// Debian's PoCL 3.1 is the yardstick and is named `pocl`; other versions have their number in the name, and any other
// platform has its own name in lower case.
static void name_peer(const opencl_platform *platform, char *name, size_t size) {
    const char *version = strstr(opencl_platform_version(platform), "PoCL ");
    const char *platform_name = opencl_platform_name(platform);
    if (version) {
        version += strlen("PoCL ");
        bool debian = strncmp(version, "3.1", 3) == 0;
        snprintf(name, size, debian ? "pocl" : "pocl-%.*s", (int)strspn(version, "0123456789."), version);
    } else if (strstr(platform_name, "Intel")) {
        snprintf(name, size, "intel-opencl");
    } else {
        snprintf(name, size, "%s", platform_name);
        for (char *at = name; *at; at++) *at = isalnum((unsigned char)*at) ? (char)tolower((unsigned char)*at) : '-';
    }
}

static simt_runner *make_runner(opencl_platform *platform) {
    static const simt_runner_ops ops = {prepare, run, read_result, finish, close_runner};
    if (!platform) return NULL;
    opencl_runner *runner = cli_alloc(sizeof *runner);
    *runner = (opencl_runner){.base.ops = &ops, .platform = platform};
    name_peer(platform, runner->base.name, sizeof runner->base.name);
    return &runner->base;
}

// ocl-icd accepts the name of one .icd file as well as of a directory. Platforms are loaded one by one because two
// versions of PoCL conflict in one process.
simt_runner *simt_open_opencl(const char *vendor) {
    if (vendor[0]) setenv("OCL_ICD_VENDORS", vendor, 1);
    return make_runner(opencl_open(""));
}

// Its library lies in the lib directory beside the bin directory of the command.
static char *find_oclgrind(void) {
    const char *path = getenv("PATH");
    for (const char *at = path; at && *at;) {
        size_t length = strcspn(at, ":");
        char *command = igi_format("%.*s/oclgrind", (int)length, at);
        char *library = igi_format("%.*s/../lib/oclgrind/liboclgrind-rt.so", (int)length, at);
        bool found = command && library && access(command, X_OK) == 0 && access(library, R_OK) == 0;
        free(command);
        if (found) return library;
        free(library);
        at += length + (at[length] == ':');
    }
    return NULL;
}

bool simt_has_oclgrind(void) {
    char *library = find_oclgrind();
    free(library);
    return library;
}

simt_runner *simt_open_oclgrind(const char *checks) {
    char *library = find_oclgrind();
    setenv("OCLGRIND_LOG", "/dev/null", 1);
    if (strstr(checks, "races")) setenv("OCLGRIND_DATA_RACES", "1", 1);
    if (strstr(checks, "init")) setenv("OCLGRIND_UNINITIALIZED", "1", 1);
    simt_runner *runner = library ? make_runner(opencl_open_library(library)) : NULL;
    if (runner) ((opencl_runner *)runner)->samples = true;
    free(library);
    return runner;
}

void simt_each_opencl(void (*found)(const char *vendor, void *user), void *user) {
    const char *place = getenv("OCL_ICD_VENDORS");
    char *pattern = igi_format("%s/*.icd", place ? place : "/etc/OpenCL/vendors");
    glob_t files = {0};
    int missing = pattern ? glob(pattern, 0, NULL, &files) : GLOB_NOMATCH;
    for (size_t i = 0; !missing && i < files.gl_pathc; i++) found(files.gl_pathv[i], user);
    // Not a directory: something that the loader interprets itself.
    if (missing && place) found("", user);
    globfree(&files);
    free(pattern);
}
