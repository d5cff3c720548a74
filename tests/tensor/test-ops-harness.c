// SPDX-License-Identifier: Apache-2.0
// Every op, type, backend, shape, layout and kind of values against the scalar reference.
//
//   test-ops-harness [-n N] [all|OP[,OP...] [BACKEND]]
//
// With -n one case of N runs. Where kernels are compiled, which takes most of the time, all cases of one op and type of
// N run.
#include <ingot/ingot.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "tensor/runtime.h"
#include "tensor/samples.h"

typedef struct tally {
    uint64_t passed, failed, declined;
} tally;

static igi_tensor_runtime *runtime;
static ig_queue *queue;
static tally totals[IG_BACKEND_COUNT];
static uint32_t every = 1;

// Fibonacci hashing: neighbours land far apart, so every shape, layout and kind of values has its share.
static bool sampled(uint32_t number) {
    return ((number * UINT32_C(0x9e3779b9)) >> 16) % every == 0;
}

// Kernels of all float types are one template. How it accesses operands of any layout and size is tested with f32; the
// others are tested with every size, and every layout of the first few.
static bool repeats_f32(const igi_tensor_sample_spec *spec) {
    bool half = spec->type == IG_TYPE_F16 || spec->type == IG_TYPE_BF16;
    return half && spec->layout != IGI_LAYOUT_CONTIGUOUS && spec->shape >= IGI_VALIDATION_SHAPES;
}

static bool wants(const igi_tensor_sample_spec *spec, ig_backend backend) {
    uint32_t kernel = (uint32_t)spec->op * IG_TYPE_COUNT + (uint32_t)spec->type;
    uint32_t layout = spec->shape * IGI_LAYOUT_COUNT + (uint32_t)spec->layout;
    if (runtime->backends[backend] && runtime->backends[backend]->encodes) return sampled(kernel) && !repeats_f32(spec);
    return sampled(kernel * 1000 + layout * IGI_VALUES_COUNT + (uint32_t)spec->values);
}

static void report(const igi_tensor_sample_spec *spec, ig_backend backend, const char *what) {
    static const char *const layouts[] = {"contiguous", "padded", "transposed", "reversed", "repeated"};
    printf("FAIL %s %s %s shape %u %s %s: %s\n", ig_op_name(spec->op), ig_type_name(spec->type),
           ig_backend_name(backend), spec->shape, layouts[spec->layout],
           spec->values == IGI_VALUES_SPECIAL ? "special" : "random", what);
    totals[backend].failed++;
}

static ig_status run(const igi_tensor_implementation *row, ig_backend backend, igi_tensor_call *call, ig_error *error) {
    call->runtime = runtime;
    call->error = error;
    if (!runtime->backends[backend]->encodes) return row->run(call);
    ig_status status = ig_commands_create(queue, NULL, &call->commands);
    if (status == IG_STATUS_OK) status = row->run(call);
    if (status == IG_STATUS_OK) status = ig_commands_commit(call->commands);
    if (status == IG_STATUS_OK) status = ig_commands_wait(call->commands, IG_FOREVER);
    if (status != IG_STATUS_OK && call->commands) ig_commands_get_error(call->commands, error);
    ig_commands_release(call->commands);
    return status;
}

static void compare(const igi_tensor_sample_spec *spec, ig_backend backend, const igi_tensor_sample *sample) {
    char difference[IGI_DIFFERENCE_TEXT];
    igi_tensor_tolerance tolerance = igi_tensor_tolerance_for(&sample->call, sample->scale);
    for (uint32_t i = 0; i < sample->call.output_count; i++) {
        if (igi_tensor_views_agree(&sample->call.out[i], &sample->again[i], tolerance, difference)) continue;
        report(spec, backend, difference);
        return;
    }
    totals[backend].passed++;
}

static void try_backend(const igi_tensor_sample_spec *spec, ig_backend backend, const igi_tensor_sample *sample) {
    const igi_tensor_implementation *row = runtime->slots[spec->op][backend].row;
    if (!row || !igi_tensor_type_in(spec->type, row->types) || !wants(spec, backend)) return;
    igi_tensor_call call = sample->call;
    memcpy(call.out, sample->again, sizeof call.out);
    if (row->accepts && !row->accepts(&call)) {
        totals[backend].declined++;
        return;
    }
    ig_error error = {0};
    ig_status status = run(row, backend, &call, &error);
    if (status != IG_STATUS_OK)
        report(spec, backend, error.message ? error.message : ig_status_text(status));
    else
        compare(spec, backend, sample);
    ig_error_clear(&error);
}

static bool wanted_by_any(const igi_tensor_sample_spec *spec) {
    for (int b = IG_BACKEND_SCALAR; b < IG_BACKEND_COUNT; b++)
        if (wants(spec, (ig_backend)b)) return true;
    return false;
}

static void try_spec(const igi_tensor_sample_spec *spec, ig_backend wanted) {
    igi_tensor_sample sample;
    ig_error error = {0};
    if (!igi_tensor_sample_applies(spec) || !wanted_by_any(spec)) return;
    if (!runtime->slots[spec->op][IG_BACKEND_SCALAR].row) return;
    if (igi_tensor_sample_make(runtime->device, spec, &sample) != IG_STATUS_OK) {
        report(spec, IG_BACKEND_SCALAR, "the sample could not be made");
        return;
    }
    ig_status status = run(runtime->slots[spec->op][IG_BACKEND_SCALAR].row, IG_BACKEND_SCALAR, &sample.call, &error);
    if (status != IG_STATUS_OK)
        report(spec, IG_BACKEND_SCALAR, error.message ? error.message : ig_status_text(status));
    else
        totals[IG_BACKEND_SCALAR].passed++;
    for (int b = IG_BACKEND_SIMD; b < IG_BACKEND_COUNT && status == IG_STATUS_OK; b++)
        if (wanted == IG_BACKEND_ANY || wanted == (ig_backend)b) try_backend(spec, (ig_backend)b, &sample);
    igi_tensor_sample_free(&sample);
    ig_error_clear(&error);
}

static void try_op(ig_op op, ig_backend wanted) {
    uint32_t shapes = igi_tensor_sample_shapes(op);
    for (int type = 0; type < IG_TYPE_COUNT; type++)
        for (uint32_t shape = 0; shape < shapes; shape++)
            for (int layout = 0; layout < IGI_LAYOUT_COUNT; layout++)
                for (int values = 0; values < IGI_VALUES_COUNT; values++)
                    try_spec(&(igi_tensor_sample_spec){op, (ig_type)type, shape, (igi_tensor_sample_layout)layout,
                                                       (igi_tensor_sample_values)values},
                             wanted);
}

static bool named(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == 0)) return true;
    return false;
}

static uint64_t print_totals(void) {
    uint64_t passed = 0, failed = 0;
    for (int b = IG_BACKEND_SCALAR; b < IG_BACKEND_COUNT; b++) {
        printf("%-6s %6llu passed %4llu failed %4llu declined\n", ig_backend_name((ig_backend)b),
               (unsigned long long)totals[b].passed, (unsigned long long)totals[b].failed,
               (unsigned long long)totals[b].declined);
        passed += totals[b].passed, failed += totals[b].failed;
    }
    printf("%llu passed, %llu failed\n", (unsigned long long)passed, (unsigned long long)failed);
    return failed;
}

int main(int argc, char **argv) {
    if (argc > 2 && strcmp(argv[1], "-n") == 0) {
        every = (uint32_t)atoi(argv[2]);
        argc -= 2, argv += 2;
    }
    if (every == 0) return 2;
    const char *ops = argc > 1 && strcmp(argv[1], "all") != 0 ? argv[1] : NULL;
    ig_backend wanted = IG_BACKEND_ANY;
    if (argc > 2 && !igi_tensor_backend_find(argv[2], strlen(argv[2]), &wanted)) return 2;
    ig_device *device = NULL;
    const char *shared = getenv("INGOT_CACHE_DIR");
    char *cache = shared ? strdup(shared) : igi_make_temp_dir();
    if (!cache || ig_device_create(&(ig_device_desc){.cache_dir = cache}, &device, NULL) != IG_STATUS_OK) return 2;
    if (igi_tensor_runtime_create(device, igi_op_backends, &runtime, NULL) != IG_STATUS_OK) return 2;
    if (ig_queue_create(device, &queue) != IG_STATUS_OK) return 2;
    for (int op = 0; op < IG_OP_COUNT; op++)
        if (!ops || named(ops, ig_op_name((ig_op)op))) try_op((ig_op)op, wanted);
    uint64_t failed = print_totals();
    ig_queue_release(queue);
    igi_tensor_runtime_release(runtime);
    ig_device_release(device);
    if (!shared) igi_remove_tree(cache);
    free(cache);
    return failed != 0;
}
