// SPDX-License-Identifier: Apache-2.0
// Members and files of a captured dispatch. They come from outside: nothing is taken as it stands.
#include "capture-fields.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/file.h"
#include "elements.h"

ig_status capture_wrong(const capture_loader *l, const char *key, const char *what) {
    return igi_error_set(l->error, IG_STATUS_BAD_FORMAT, "%s: '%s' %s", l->path, key, what);
}

// ---- Values ----

ig_status capture_get_text(const capture_loader *l, const igi_json_value *object, const char *key, const char **text) {
    *text = igi_json_get_string(igi_json_member(object, key));
    return *text ? IG_STATUS_OK : capture_wrong(l, key, "must be a string");
}

ig_status capture_get_number(const capture_loader *l, const igi_json_value *object, const char *key, uint64_t most,
                             uint64_t *number) {
    if (!igi_json_get_u64(igi_json_member(object, key), number) || *number > most)
        return capture_wrong(l, key, "must be a whole number in range");
    return IG_STATUS_OK;
}

ig_status capture_get_array(const capture_loader *l, const igi_json_value *object, const char *key, size_t most,
                            const igi_json_value **array) {
    *array = igi_json_member(object, key);
    if (!*array || (*array)->kind != IGI_JSON_ARRAY) return capture_wrong(l, key, "must be an array");
    return (*array)->count <= most ? IG_STATUS_OK : capture_wrong(l, key, "has too many elements");
}

ig_status capture_get_size(const capture_loader *l, const igi_json_value *object, const char *key, uint64_t least,
                           ig_size *size) {
    const igi_json_value *array;
    uint64_t numbers[3];
    ig_status status = capture_get_array(l, object, key, 3, &array);
    if (status != IG_STATUS_OK) return status;
    const igi_json_value *item = array->first;
    for (int i = 0; i < 3; i++, item = item ? item->next : NULL)
        if (!igi_json_get_u64(item, &numbers[i]) || numbers[i] < least || numbers[i] > UINT32_MAX)
            return capture_wrong(
                l, key,
                least ? "must be three numbers from 1 to 2^32 - 1" : "must be three numbers from 0 to 2^32 - 1");
    *size = (ig_size){numbers[0], numbers[1], numbers[2]};
    return IG_STATUS_OK;
}

ig_status capture_get_numbers(const capture_loader *l, const igi_json_value *object, const capture_number *numbers,
                              size_t count) {
    uint64_t value = 0;
    for (size_t i = 0; i < count; i++) {
        ig_status status = capture_get_number(l, object, numbers[i].key, numbers[i].most, &value);
        if (status != IG_STATUS_OK) return status;
        *numbers[i].number = (uint32_t)value;
    }
    return IG_STATUS_OK;
}

ig_status capture_get_type(const capture_loader *l, const igi_json_value *object, ig_type *type) {
    const char *name;
    ig_status status = capture_get_text(l, object, "type", &name);
    if (status == IG_STATUS_OK && !cli_type_named(name, strlen(name), type))
        status = capture_wrong(l, "type", "must be the name of a type such as f32");
    return status;
}

// ---- Files ----

ig_status capture_get_file(const capture_loader *l, const char *name, char **path) {
    bool plain = *name && *name != '.' && !strchr(name, '/') && strlen(name) < 256;
    if (!plain) return capture_wrong(l, name, "is not the name of a file in the directory of the capture");
    *path = igi_path_join(l->directory, name);
    if (!*path) return igi_error_no_memory(l->error);
    struct stat info;
    if (lstat(*path, &info) == 0 && S_ISREG(info.st_mode)) return IG_STATUS_OK;
    ig_status status = igi_error_set(l->error, IG_STATUS_NOT_FOUND, "%s: there is no such regular file", *path);
    free(*path);
    *path = NULL;
    return status;
}

ig_status capture_load_array(const capture_loader *l, const char *name, igi_npy *array) {
    char *path = NULL;
    ig_status status = capture_get_file(l, name, &path);
    if (status == IG_STATUS_OK) status = igi_npy_load(path, array, l->error);
    if (status == IG_STATUS_OK && !array->bytes)
        status = igi_error_set(l->error, IG_STATUS_BAD_FORMAT, "%s: the array is empty", path);
    free(path);
    return status;
}
