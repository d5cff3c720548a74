// SPDX-License-Identifier: Apache-2.0
// Thresholds in a file.
#include "tensor/thresholds.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/file.h"
#include "core/settings.h"
#include "device/objects.h"

static char *file_name(const igi_tensor_runtime *runtime) {
    const char *named = igi_setting_named(IGI_SETTING_THRESHOLDS);
    if (named) return igi_strdup(named);
    return runtime->device->cache_dir ? igi_path_join(runtime->device->cache_dir, "thresholds") : NULL;
}

static bool take_line(igi_tensor_runtime *runtime, const char *line) {
    char op_name[64], backend_name[16], work[24];
    ig_op op;
    ig_backend backend;
    uint64_t threshold = UINT64_MAX;
    if (sscanf(line, "%63s %15s %23s", op_name, backend_name, work) != 3) return false;
    if (!igi_op_find(op_name, strlen(op_name), &op)) return false;
    if (!igi_tensor_backend_find(backend_name, strlen(backend_name), &backend) || backend == IG_BACKEND_ANY)
        return false;
    if (strcmp(work, "never") != 0 && sscanf(work, "%" SCNu64, &threshold) != 1) return false;
    runtime->slots[op][backend].threshold = threshold;
    return true;
}

void igi_tensor_thresholds_load(igi_tensor_runtime *runtime) {
    char *path = file_name(runtime), *text = NULL;
    size_t length = 0;
    if (path && igi_file_read(path, &text, &length, NULL) == IG_STATUS_OK) {
        char *rest = NULL;
        for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
            if (*line != '#' && !take_line(runtime, line))
                igi_log(IG_LOG_WARNING, "%s: this line is not \"op backend work\": %.60s", path, line);
    }
    free(text);
    free(path);
}

static char *format(const igi_tensor_runtime *runtime) {
    igi_text text = {0};
    igi_text_add(&text, "# op, backend, least work for which it is chosen: written by `ingot bench ops --tune`\n");
    for (int op = 0; op < IG_OP_COUNT; op++)
        for (int backend = IG_BACKEND_SIMD; backend < IG_BACKEND_COUNT; backend++) {
            const igi_tensor_slot *slot = &runtime->slots[op][backend];
            if (!slot->row) continue;
            igi_text_addf(&text, "%s %s ", ig_op_name((ig_op)op), ig_backend_name((ig_backend)backend));
            if (slot->threshold == UINT64_MAX)
                igi_text_add(&text, "never\n");
            else
                igi_text_addf(&text, "%" PRIu64 "\n", slot->threshold);
        }
    return igi_text_take(&text);
}

ig_status igi_tensor_thresholds_save(igi_tensor_runtime *runtime, ig_error *error) {
    char *path = file_name(runtime), *text = format(runtime);
    ig_status status = IG_STATUS_OK;
    if (!text)
        status = igi_error_no_memory(error);
    else if (!path)
        status = igi_error_set(error, IG_STATUS_UNSUPPORTED,
                               "there is no cache directory to keep thresholds in; set INGOT_THRESHOLDS");
    else if ((status = igi_file_write_atomic(path, text, strlen(text))) != IG_STATUS_OK)
        igi_error_set(error, status, "%s could not be written", path);
    free(text);
    free(path);
    return status;
}
