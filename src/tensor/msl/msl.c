// SPDX-License-Identifier: Apache-2.0
// The msl backend: its rows, its libraries and pipelines.
#include "tensor/msl/msl.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "core/hash.h"
#include "core/status-internal.h"
#include "kernels/library.h"

// Below this a dispatch costs more than the work, on a GPU; `ingot bench ops --tune` measures it.
enum { GPU_THRESHOLD = 1 << 15 };

#define ROW(id, set, test, function) \
    {.op = IG_OP_##id, .types = (set), .threshold = GPU_THRESHOLD, .accepts = (test), .run = igi_tensor_msl_##function},
// The types of operands after conversion to the type that the op computes in.
#define TYPES_FLOAT IGI_FLOATS
#define TYPES_KEEP IGI_ANY_TYPE
#define TYPES_SAME IGI_ANY_TYPE
#define TYPES_BOOL IGI_ANY_TYPE
#define TYPES_INDEX IGI_ANY_TYPE
#define TYPES_SUM IGI_ANY_TYPE
#define UNARY(id, name, type) ROW(id, TYPES_##type, igi_tensor_msl_accepts_all, unary)
#define BINARY(id, name, type) ROW(id, TYPES_##type, igi_tensor_msl_accepts_all, binary)
#define REDUCE(id, name, type) ROW(id, TYPES_##type, igi_tensor_msl_accepts_all, reduce)

static const igi_tensor_implementation rows[] = {
    // clang-format off
    IG_UNARY_LIST(UNARY)
    IG_BINARY_LIST(BINARY)
    IG_REDUCE_LIST(REDUCE)
    IGI_MSL_ROWS(ROW)
    // clang-format on
};

// ---- Libraries and pipelines ----

typedef struct built_library {
    const char *name;  // a literal
    ig_library *library;
    struct built_library *next;
} built_library;

typedef struct built_pipeline {
    igi_hash key;
    ig_pipeline *pipeline;
    struct built_pipeline *next;
} built_pipeline;

typedef struct msl_state {
    pthread_mutex_t lock;  // guards what follows
    built_library *libraries;
    built_pipeline *pipelines;
} msl_state;

static bool open_msl(igi_tensor_runtime *runtime, void **state, char *reason) {
    (void)runtime;
    msl_state *msl = igi_calloc(1, sizeof *msl);
    if (!msl) {
        snprintf(reason, 120, "not enough memory");
        return false;
    }
    pthread_mutex_init(&msl->lock, NULL);
    *state = msl;
    return true;
}

static void close_msl(void *state) {
    msl_state *msl = state;
    for (built_pipeline *p = msl->pipelines, *next; p; p = next) {
        next = p->next;
        ig_pipeline_release(p->pipeline);
        free(p);
    }
    for (built_library *l = msl->libraries, *next; l; l = next) {
        next = l->next;
        ig_library_release(l->library);
        free(l);
    }
    pthread_mutex_destroy(&msl->lock);
    free(msl);
}

// Call with the lock held.
static ig_status get_library(msl_state *msl, ig_device *device, const char *name, ig_library **library,
                             ig_error *error) {
    for (built_library *l = msl->libraries; l; l = l->next)
        if (strcmp(l->name, name) == 0) {
            *library = l->library;
            return IG_STATUS_OK;
        }
    built_library *made = igi_calloc(1, sizeof *made);
    if (!made) return igi_error_no_memory(error);
    ig_status status = igi_kernels_kernel_library_create(device, name, &made->library, error);
    if (status != IG_STATUS_OK) {
        free(made);
        return status;
    }
    made->name = name;
    made->next = msl->libraries;
    msl->libraries = made;
    *library = made->library;
    return IG_STATUS_OK;
}

static uint64_t constant_bytes(const ig_function_constant *constant) {
    return ig_type_size(constant->type) * (uint64_t)(constant->components ? constant->components : 1);
}

// Writes everything that distinguishes pipelines into `text`, which is large enough.
static size_t write_key(const char *file, const char *kernel, const ig_function_constant *constants, size_t count,
                        char *text) {
    char *at = stpcpy(stpcpy(stpcpy(text, file), "/"), kernel) + 1;
    for (size_t i = 0; i < count; i++) {
        memcpy(at, &constants[i].id, sizeof constants[i].id);
        at += sizeof constants[i].id;
        memcpy(at, constants[i].value, constant_bytes(&constants[i]));
        at += constant_bytes(&constants[i]);
    }
    return (size_t)(at - text);
}

static ig_status key_of(const char *file, const char *kernel, const ig_function_constant *constants, size_t count,
                        igi_hash *key, ig_error *error) {
    char few[512], *text = few;
    size_t needed = strlen(file) + strlen(kernel) + 2;
    for (size_t i = 0; i < count; i++) needed += sizeof constants[i].id + constant_bytes(&constants[i]);
    if (needed > sizeof few && !(text = igi_alloc(needed))) return igi_error_no_memory(error);
    size_t used = write_key(file, kernel, constants, count, text);
    assert(used == needed);
    *key = igi_hash_bytes(text, used);
    if (text != few) free(text);
    return IG_STATUS_OK;
}

// Call with the lock held.
static ig_status build_pipeline(msl_state *msl, ig_device *device, const char *file, const ig_pipeline_desc *desc,
                                igi_hash key, ig_pipeline **pipeline, ig_error *error) {
    ig_library *library = NULL;
    ig_status status = get_library(msl, device, file, &library, error);
    if (status != IG_STATUS_OK) return status;
    built_pipeline *made = igi_calloc(1, sizeof *made);
    if (!made) return igi_error_no_memory(error);
    status = ig_pipeline_create(library, desc, &made->pipeline, error);
    if (status != IG_STATUS_OK) {
        free(made);
        return status;
    }
    made->key = key;
    made->next = msl->pipelines;
    msl->pipelines = made;
    *pipeline = made->pipeline;
    return IG_STATUS_OK;
}

ig_status igi_op_pipeline(igi_tensor_runtime *runtime, const char *file, const char *kernel,
                          const ig_function_constant *constants, size_t constant_count, ig_pipeline **pipeline,
                          ig_error *error) {
    msl_state *msl = runtime->states[IG_BACKEND_MSL];
    igi_hash key = {0};
    ig_status status = key_of(file, kernel, constants, constant_count, &key, error);
    if (status != IG_STATUS_OK) return status;
    pthread_mutex_lock(&msl->lock);
    built_pipeline *found = msl->pipelines;
    while (found && !igi_hash_equal(found->key, key)) found = found->next;
    if (found) {
        *pipeline = found->pipeline;
    } else {
        // Optimised at once: what is validated must be what runs.
        ig_pipeline_desc desc = {.kernel = kernel, .constants = constants, .constant_count = constant_count, .tier = 2};
        status = build_pipeline(msl, runtime->device, file, &desc, key, pipeline, error);
    }
    pthread_mutex_unlock(&msl->lock);
    return status;
}

const igi_op_backend igi_ops_msl = {
    .id = IG_BACKEND_MSL,
    .encodes = true,
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .open = open_msl,
    .close = close_msl,
};
