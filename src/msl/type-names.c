// SPDX-License-Identifier: Apache-2.0
// Parameter types of a kernel, spelled as in MSL.
#include "msl/type-names.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "msl/diagnostic.h"

// From the C++ runtime that libLLVM links to.
char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status);

static const struct {
    const char *from, *to;
} spellings[] = {
    {"unsigned char", "uchar"},
    {"signed char", "char"},
    {"unsigned short", "ushort"},
    {"unsigned int", "uint"},
    {"unsigned long", "ulong"},
    {"decimal32", "bfloat"},
    {"(metal::access)0", "access::sample"},
    {"(metal::access)1", "access::read"},
    {"(metal::access)2", "access::write"},
    {"(metal::access)3", "access::read_write"},
    {"metal::", ""},
    {"SYdevice", "device"},
    {"SYhost", "constant"},
    {"SYlocal", "threadgroup"},
};

static bool word_char(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

static char *respell(const char *type) {
    igi_text words = {0};
    for (size_t i = 0; type[i];) {
        size_t k = 0, count = sizeof spellings / sizeof *spellings;
        bool fresh = i == 0 || !word_char(type[i - 1]);
        while (k < count && !(fresh && type[i] == *spellings[k].from &&
                              strncmp(type + i, spellings[k].from, strlen(spellings[k].from)) == 0))
            k++;
        if (k == count) {
            igi_text_append(&words, type + i++, 1);
        } else {
            igi_text_add(&words, spellings[k].to);
            i += strlen(spellings[k].from);
        }
    }
    char *renamed = words.failed ? NULL : igi_msl_rename_types(words.data ? words.data : "");
    igi_text_free(&words);
    return renamed;
}

// "float const*" becomes "const float *".
static char *const_first(char *type) {
    static const char marker[] = " const";
    char *found = type ? strstr(type, marker) : NULL;
    char after = found ? found[strlen(marker)] : 0;
    if (!found || (after != '*' && after != '&' && after != 0)) return type;
    char *moved = igi_format("const %.*s%s", (int)(found - type), type, found + strlen(marker));
    free(type);
    return moved;
}

// How address spaces are mangled; <__ingot_keywords> has their spellings.
static const struct {
    const char *mangled, *msl;
} spaces[] = {{" SYdevice", "device"}, {" SYhost", "constant"}, {" SYlocal", "threadgroup"}};
enum { SPACE_COUNT = sizeof spaces / sizeof *spaces };

// The space before the last * or &, as in "float SYdevice*" and "float SYdevice (&) [4]".
static const char *space_of(const char *type, size_t length) {
    while (length && type[length - 1] != '*' && type[length - 1] != '&') length--;
    if (length) length--;
    while (length && (type[length - 1] == '(' || type[length - 1] == ' ')) length--;
    for (size_t i = 0; i < SPACE_COUNT; i++) {
        size_t size = strlen(spaces[i].mangled);
        if (length > size && memcmp(type + length - size, spaces[i].mangled, size) == 0) return spaces[i].msl;
    }
    return "";
}

static void drop_spaces(char *type) {
    char *to = type;
    while (*type) {
        size_t size = 0;
        for (size_t i = 0; i < SPACE_COUNT && !size && *type == ' '; i++)
            if (strncmp(type, spaces[i].mangled, strlen(spaces[i].mangled)) == 0 &&
                !word_char(type[strlen(spaces[i].mangled)]))
                size = strlen(spaces[i].mangled);
        type += size;
        if (!size) *to++ = *type++;
    }
    *to = 0;
}

static bool add_type(igi_msl_signature *signature, size_t *capacity, const char *text, size_t length) {
    char *piece = igi_strndup(text, length);
    if (piece) drop_spaces(piece);
    char *type = piece ? const_first(respell(piece)) : NULL;
    size_t space_capacity = *capacity;
    free(piece);
    if (!type || !igi_grow((void **)&signature->types, capacity, signature->count + 1, sizeof *signature->types) ||
        !igi_grow((void **)&signature->spaces, &space_capacity, signature->count + 1, sizeof *signature->spaces)) {
        free(type);
        return false;
    }
    signature->spaces[signature->count] = space_of(text, length);
    signature->types[signature->count++] = type;
    return true;
}

static bool split_parameters(igi_msl_signature *signature, const char *text) {
    size_t capacity = 0, start = 0;
    int depth = 0;
    for (size_t i = 0; text[i]; i++) {
        char c = text[i];
        bool end = depth == 0 && (c == ',' || c == ')');
        if (c == '<' || c == '(' || c == '[') depth++;
        if (end) {
            if (i > start && !add_type(signature, &capacity, text + start, i - start)) return false;
            start = i + 1 + (text[i + 1] == ' ');
            if (c == ')') return true;
        }
        if ((c == '>' || c == ')' || c == ']') && depth > 0) depth--;
    }
    return true;
}

static const char *parameter_list(const char *text) {
    int angles = 0;
    for (; *text; text++) {
        if (*text == '<') angles++;
        if (*text == '>') angles--;
        if (*text == '(' && angles == 0) return text;
    }
    return NULL;
}

// Names that are local to a function lose their prefix: "Tree::walk(uint)" of "k(uint*)::Tree::walk(uint)".
static const char *skip_enclosing(const char *text, const char **open) {
    const char *at = text;
    for (int depth = 0; *open && *at; at++) {
        if (*at == '(' || *at == '<') depth++;
        if (*at == ')' || *at == '>') depth--;
        if (depth != 0 || strncmp(at, ")::", 3) != 0) continue;
        text = at + 3;
        *open = parameter_list(text);
        at = text - 1;
    }
    return text;
}

typedef struct replacement {
    const char *from, *to;
} replacement;

// The text with every `from` replaced; NULL when memory is short.
static char *replace_all(const char *text, const replacement *list, size_t count) {
    igi_text result = {0};
    igi_text_add(&result, "");
    while (*text) {
        size_t k = 0;
        while (k < count && (*text != *list[k].from || strncmp(text, list[k].from, strlen(list[k].from)) != 0)) k++;
        igi_text_append(&result, k < count ? list[k].to : text, k < count ? strlen(list[k].to) : 1);
        text += k < count ? strlen(list[k].from) : 1;
    }
    return igi_text_take(&result);
}

// Older demanglers do not know _Float16 and bfloat, and take AArch64's __bf16 for a type that later parts of the name
// may refer to, which clang does not. Codes of types that MSL does not have are used instead: "Dh" reads half, "Df" decimal32.
// For them an address space and const are two steps to a type, for clang one: const becomes part of the space's name.
static char *demangle(const char *symbol) {
    static const replacement codes[] = {
        {"DF16_", "Dh"},
        {"DF16b", "Df"},
        {"u6__bf16", "Df"},
        {"U8SYdeviceVK", "U10SYdevicecv"},
        {"U8SYdeviceK", "U9SYdevicec"},
        {"U8SYdeviceV", "U9SYdevicev"},
        {"U6SYhostVK", "U8SYhostcv"},
        {"U6SYhostK", "U7SYhostc"},
        {"U7SYlocalVK", "U9SYlocalcv"},
        {"U7SYlocalK", "U8SYlocalc"},
        {"U7SYlocalV", "U8SYlocalv"},
    };
    static const replacement words[] = {
        {" SYdevicecv", " const volatile SYdevice"},
        {" SYdevicec", " const SYdevice"},
        {" SYdevicev", " volatile SYdevice"},
        {" SYhostcv", " const volatile SYhost"},
        {" SYhostc", " const SYhost"},
        {" SYlocalcv", " const volatile SYlocal"},
        {" SYlocalc", " const SYlocal"},
        {" SYlocalv", " volatile SYlocal"},
    };
    char *known = replace_all(symbol, codes, sizeof codes / sizeof *codes);
    if (!known) return NULL;
    int status = 0;
    char *text = __cxa_demangle(known, NULL, NULL, &status);
    char *readable = text ? replace_all(text, words, sizeof words / sizeof *words) : NULL;
    free(known), free(text);
    return readable;
}

void igi_msl_signature_read(const char *symbol, igi_msl_signature *signature) {
    *signature = (igi_msl_signature){0};
    char *text = demangle(symbol);
    const char *open = text ? parameter_list(text) : NULL;
    const char *name = text;
    if (text && strncmp(text, "void ", 5) == 0) name += 5;
    if (text) name = skip_enclosing(name, &open);
    if (!open) {
        signature->name = igi_strdup(symbol);
    } else {
        char *raw = igi_strndup(name, (size_t)(open - name));
        signature->name = raw ? respell(raw) : NULL;
        free(raw);
        if (signature->name && !split_parameters(signature, open + 1)) igi_msl_signature_free(signature);
    }
    free(text);
}

void igi_msl_signature_free(igi_msl_signature *signature) {
    for (size_t i = 0; i < signature->count; i++) free(signature->types[i]);
    free(signature->types), free(signature->spaces), free(signature->name);
    *signature = (igi_msl_signature){0};
}

// "5calls" or "5calls_0", to the end.
static const char *whole_source_name(const char *text, size_t *length) {
    size_t digits = strspn(text, "0123456789");
    *length = digits && digits < 6 ? (size_t)atoi(text) : 0;
    const char *name = text + digits;
    if (!*length || strlen(name) < *length) return NULL;
    const char *after = name + *length;
    bool whole = *after == 0 || (*after == '_' && after[1 + strspn(after + 1, "_0123456789")] == 0);
    return whole ? name : NULL;
}

char *igi_msl_variable_name(const char *symbol) {
    size_t length;
    if (*symbol == '\1') symbol++;  // clang's marker for a name that must not be mangled
    const char *name = strncmp(symbol, "_ZL", 3) == 0 ? whole_source_name(symbol + 3, &length) : NULL;
    const char *end = strncmp(symbol, "_ZZ", 3) == 0 || strncmp(symbol, "_ZGVZ", 5) == 0 ? strchr(symbol, 'E') : NULL;
    for (; end && !name; end = strchr(end + 1, 'E')) name = whole_source_name(end + 1, &length);
    if (name) return igi_strndup(name, length);
    char *text = strncmp(symbol, "_Z", 2) == 0 ? demangle(symbol) : NULL,
         *known = text ? respell(text) : igi_strdup(symbol);
    free(text);
    return known;
}
