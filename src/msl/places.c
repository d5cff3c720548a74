// SPDX-License-Identifier: Apache-2.0
#include "msl/places.h"

#include <llvm-c/DebugInfo.h>

#include "core/memory.h"

static bool set_file(igi_msl_place *place, LLVMMetadataRef file) {
    unsigned name_length = 0, directory_length = 0;
    const char *name = file ? LLVMDIFileGetFilename(file, &name_length) : NULL;
    const char *directory = file ? LLVMDIFileGetDirectory(file, &directory_length) : NULL;
    if (!name_length) return false;
    bool absolute = name[0] == '/' || !directory_length;
    const char *slash = absolute || directory[directory_length - 1] == '/' ? "" : "/";
    place->file = igi_format("%.*s%s%.*s", absolute ? 0 : (int)directory_length, absolute ? "" : directory, slash,
                             (int)name_length, name);
    return place->file != NULL;
}

static bool place_instruction(LLVMValueRef instruction, igi_msl_place *place) {
    LLVMMetadataRef location = LLVMInstructionGetDebugLoc(instruction);
    if (!location) return false;
    place->line = LLVMDILocationGetLine(location);
    place->column = LLVMDILocationGetColumn(location);
    return place->line && set_file(place, LLVMDIScopeGetFile(LLVMDILocationGetScope(location)));
}

static bool place_function(LLVMValueRef function, igi_msl_place *place) {
    LLVMMetadataRef subprogram = LLVMGetSubprogram(function);
    if (!subprogram) return false;
    place->line = LLVMDISubprogramGetLine(subprogram);
    return place->line && set_file(place, LLVMDIScopeGetFile(subprogram));
}

static LLVMMetadataRef variable_of(LLVMValueRef global) {
    size_t count = 0;
    LLVMMetadataRef found = NULL;
    LLVMValueMetadataEntry *entries = LLVMGlobalCopyAllMetadata(global, &count);
    for (unsigned i = 0; i < count && !found; i++) {
        LLVMMetadataRef entry = LLVMValueMetadataEntriesGetMetadata(entries, i);
        if (LLVMGetMetadataKind(entry) == LLVMDIGlobalVariableExpressionMetadataKind)
            found = LLVMDIGlobalVariableExpressionGetVariable(entry);
    }
    LLVMDisposeValueMetadataEntries(entries);
    return found;
}

static bool place_variable(LLVMValueRef global, igi_msl_place *place) {
    LLVMMetadataRef variable = variable_of(global);
    if (!variable) return false;
    place->line = LLVMDIVariableGetLine(variable);
    return place->line && set_file(place, LLVMDIVariableGetFile(variable));
}

bool igi_msl_place_of(LLVMValueRef value, igi_msl_place *place) {
    *place = (igi_msl_place){0};
    if (LLVMIsAInstruction(value)) return place_instruction(value, place);
    if (LLVMIsAFunction(value)) return place_function(value, place);
    return LLVMIsAGlobalVariable(value) && place_variable(value, place);
}
