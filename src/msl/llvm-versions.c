// SPDX-License-Identifier: Apache-2.0
// Names by which newer versions know what older ones had.
#include "msl/llvm-versions.h"

#include <string.h>

static const struct {
    const char *name, *successor;
} renamed[] = {
    {"nocapture", "captures"},  // 21: nocapture is captures(none)
};

static unsigned kind_of(const char *name) {
    return LLVMGetEnumAttributeKindForName(name, strlen(name));
}

unsigned igi_llvm_attribute_kind(const char *name) {
    unsigned kind = kind_of(name);
    for (size_t i = 0; !kind && i < sizeof renamed / sizeof *renamed; i++)
        if (strcmp(renamed[i].name, name) == 0) kind = kind_of(renamed[i].successor);
    return kind;
}
