// SPDX-License-Identifier: Apache-2.0
// Source locations.
#include "simt/place.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "core/embedded.h"
#include "core/memory.h"

char *igi_simt_place_path(LLVMMetadataRef place) {
    LLVMMetadataRef scope = LLVMDILocationGetScope(place), file = scope ? LLVMDIScopeGetFile(scope) : NULL;
    unsigned length = 0, directory_length = 0;
    const char *name = file ? LLVMDIFileGetFilename(file, &length) : "";
    const char *directory = file ? LLVMDIFileGetDirectory(file, &directory_length) : "";
    if (name[0] == '/' || !directory_length) return igi_strndup(name, length);
    return igi_format("%.*s/%.*s", (int)directory_length, directory, (int)length, name);
}

// They are in a directory "stdlib-..." or a temporary one; their names are distinctive enough.
static bool in_standard_header(LLVMMetadataRef place) {
    char *path = igi_simt_place_path(place);
    const char *slash = path ? strrchr(path, '/') : NULL;
    bool found = false;
    for (size_t i = 0; slash && !found && i < igi_stdlib_files_count; i++)
        found = strcmp(igi_stdlib_files[i].name, slash + 1) == 0;
    free(path);
    return found;
}

LLVMMetadataRef igi_simt_place_of_user(LLVMMetadataRef place) {
    while (place && (!LLVMDILocationGetLine(place) || in_standard_header(place)))
        place = LLVMDILocationGetInlinedAt(place);
    return place;
}
