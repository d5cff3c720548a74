// SPDX-License-Identifier: Apache-2.0
// The macOS version that libMetal stands for, and @available and __builtin_available, which answer for it: clang itself
// answers yes to every version outside of Apple's systems.
#ifndef INGOT_AVAILABILITY_H
#define INGOT_AVAILABILITY_H

// The one place: major, minor. What libMetal has is described by the SDK of this version.
#define INGOT_MACOS_MAJOR 15
#define INGOT_MACOS_MINOR 0
#define INGOT_MACOS_VERSION (INGOT_MACOS_MAJOR * 10000 + INGOT_MACOS_MINOR * 100)

#define __MAC_OS_X_VERSION_MAX_ALLOWED INGOT_MACOS_VERSION
#define __MAC_OS_X_VERSION_MIN_REQUIRED INGOT_MACOS_VERSION
#define __MAC_10_11 101100
#define __MAC_10_12 101200
#define __MAC_10_13 101300
#define __MAC_10_14 101400
#define __MAC_10_15 101500
#define __MAC_11_0 110000
#define __MAC_12_0 120000
#define __MAC_13_0 130000
#define __MAC_14_0 140000
#define __MAC_14_2 140200
#define __MAC_15_0 150000

#define API_AVAILABLE(...)
#define API_UNAVAILABLE(...)
#define API_DEPRECATED(...)
#define API_DEPRECATED_WITH_REPLACEMENT(...)
#define API_AVAILABLE_BEGIN(...)
#define API_AVAILABLE_END
#define API_UNAVAILABLE_BEGIN(...)
#define API_UNAVAILABLE_END

// ---- Questions ----

// Reads "15.0.1" at *text as 150001 and moves *text past it.
static inline __attribute__((unused)) int ingot_metal_read_version(const char **text) {
    int number = 0, part = 0, parts = 0;
    for (;; (*text)++) {
        if (**text >= '0' && **text <= '9') {
            part = part * 10 + (**text - '0');
            continue;
        }
        if (parts < 3) number = number * 100 + part;
        parts++;
        part = 0;
        if (**text != '.' && **text != '_') break;
    }
    for (; parts < 3; parts++) number *= 100;
    return number;
}

// `list` is what is between the parentheses: "macOS 15.0, iOS 18, *". Platforms that are not mentioned have everything.
static inline __attribute__((unused)) int ingot_metal_available(const char *list) {
    while (*list) {
        while (*list == ' ' || *list == ',') list++;
        int is_macos = list[0] == 'm' && list[1] == 'a' && list[2] == 'c';
        int is_catalyst = is_macos && (list[3] == 'C' || list[3] == 'c');
        while (*list && *list != ',' && *list != ' ') list++;
        while (*list == ' ') list++;
        if (is_macos && !is_catalyst) return ingot_metal_read_version(&list) <= INGOT_MACOS_VERSION;
        while (*list && *list != ',') list++;
    }
    return 1;
}

#define __builtin_available(...) ingot_metal_available(#__VA_ARGS__)

#ifdef __OBJC__
// @available(macOS 15, *) becomes @encode(int)[0], which is 'i', or [1], which is the end of the text. Calls of other
// functions with this name have no comma in them, and stay.
#define INGOT_AVAILABLE_(first, ...) available(first)
#define INGOT_AVAILABLE_1(...) encode(int)[!ingot_metal_available(#__VA_ARGS__)]
#define available(first, ...) INGOT_AVAILABLE_##__VA_OPT__(1)(first, __VA_ARGS__)
#endif

#endif
