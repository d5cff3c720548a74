// SPDX-License-Identifier: Apache-2.0
// C strings as the objects that Metal wants. Bytes that are not UTF-8 have no such object, and Metal stops a program that
// passes nil.
#include <string.h>

#include "core/visible.h"
#include "device/metal/metal.h"

NSString *igi_metal_exact_string(const char *text) {
    return [NSString stringWithUTF8String:text];
}

NSString *igi_metal_string(const char *text) {
    NSString *string = igi_metal_exact_string(text);
    if (string) return string;
    igi_text escaped = {0};
    igi_text_add_visible(&escaped, text, strlen(text));
    if (!escaped.failed) string = igi_metal_exact_string(escaped.data);
    igi_text_free(&escaped);
    return string ? string : @"";
}

NSURL *igi_metal_file(const char *path) {
    NSString *string = igi_metal_exact_string(path);
    return string ? [NSURL fileURLWithPath:string] : nil;
}
