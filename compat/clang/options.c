// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/memory.h"

typedef enum action {
    DROP,        // has no meaning here, or the same result without it
    DROP_VALUE,  // and the word after it
    REPLACE,     // by another option
    FRAMEWORK,   // the word after it names one
} action;

typedef struct option {
    const char *name;  // with a star at its end: all that begin so
    action action;
    const char *replacement;
} option;

static const option table[] = {
    {"-framework", FRAMEWORK, NULL},
    {"-weak_framework", FRAMEWORK, NULL},
    {"-needed_framework", FRAMEWORK, NULL},
    {"-F", DROP_VALUE, NULL},
    {"-F*", DROP, NULL},
    {"-iframework", DROP_VALUE, NULL},
    {"-arch", DROP_VALUE, NULL},
    {"-isysroot", DROP_VALUE, NULL},
    {"-mmacosx-version-min=*", DROP, NULL},
    {"-mmacos-version-min=*", DROP, NULL},
    {"-dynamiclib", REPLACE, "-shared"},
    {"-bundle", REPLACE, "-shared"},
    {"-install_name", DROP_VALUE, NULL},
    {"-current_version", DROP_VALUE, NULL},
    {"-compatibility_version", DROP_VALUE, NULL},
    {"-undefined", DROP_VALUE, NULL},
    {"-headerpad_max_install_names", DROP, NULL},
    {"-Wl,-headerpad_max_install_names", DROP, NULL},
    {"-search_paths_first", DROP, NULL},
    {"-Wl,-search_paths_first", DROP, NULL},
    {"-dead_strip", REPLACE, "-Wl,--gc-sections"},
    {"-Wl,-dead_strip", REPLACE, "-Wl,--gc-sections"},
};

// A Mac has LLVM's library of C++; here it is GCC's, unless the words ask for the other one.
static const option cxx_libraries[] = {
    {"-lc++", REPLACE, "-lstdc++"},
    {"-lc++abi", DROP, NULL},
};

bool command_add(command *c, const char *word) {
    if (c->count + 2 > c->capacity) {
        size_t capacity = c->capacity ? 2 * c->capacity : 64;
        const char **words = realloc(c->words, capacity * sizeof *words);
        if (!words) {
            fputs("clang: out of memory\n", stderr);
            return false;
        }
        c->words = words;
        c->capacity = capacity;
    }
    c->words[c->count++] = word;
    c->words[c->count] = NULL;
    return true;
}

static bool matches(const option *o, const char *word) {
    size_t length = strlen(o->name);
    if (o->name[length - 1] != '*') return strcmp(o->name, word) == 0;
    return strncmp(o->name, word, length - 1) == 0;
}

static const option *find_in(const option *options, size_t count, const char *word) {
    for (size_t i = 0; i < count; i++)
        if (matches(&options[i], word)) return &options[i];
    return NULL;
}

static const option *find(const char *word, bool has_libcxx) {
    const option *found = find_in(table, sizeof table / sizeof *table, word);
    if (found || has_libcxx) return found;
    return find_in(cxx_libraries, sizeof cxx_libraries / sizeof *cxx_libraries, word);
}

static bool has_word(char **words, const char *word) {
    while (*words && strcmp(*words, word) != 0) words++;
    return *words != NULL;
}

// ---- Frameworks ----

// A framework is a library, or a script of the linker's that names some. libMetal is where libraries are, the others one
// directory below.
static bool add_framework(command *c, const char *name, const char *directory) {
    char *path = igi_format("%s/ingot-metal/lib%s.so", directory, name);
    if (path && access(path, R_OK) != 0) {
        free(path);
        path = igi_format("%s/lib%s.so", directory, name);
    }
    if (path && !strchr(name, '/') && access(path, R_OK) == 0) return command_add(c, path);
    fprintf(stderr, "clang: error: framework '%s' not found: Metal for Linux does not have it\n", name);
    free(path);
    return false;
}

// "-Wl,-framework,Metal"
static const char *framework_of_linker(const char *word) {
    static const char prefix[] = "-Wl,-framework,";
    return strncmp(word, prefix, sizeof prefix - 1) == 0 ? word + sizeof prefix - 1 : NULL;
}

// ---- Paths that begin where the program is ----

static const char *find_own_place(const char *word, size_t *length) {
    static const char *const names[] = {"@loader_path", "@executable_path"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *found = strstr(word, names[i]);
        *length = strlen(names[i]);
        if (found) return found;
    }
    return NULL;
}

// "-Wl,-rpath,/usr/lib:@loader_path/lib": Linux has one word for both places. The linker is the only one who reads these.
static const char *replace_own_places(const char *word) {
    size_t length;
    const char *found = word;
    while (word && (found = find_own_place(word, &length)))
        word = igi_format("%.*s$ORIGIN%s", (int)(found - word), word, found + length);
    return word;
}

static bool add_word(command *c, const char *word) {
    bool names_place = strncmp(word, "-Wl,", 4) == 0 || (c->count && strcmp(c->words[c->count - 1], "-rpath") == 0);
    if (names_place) word = replace_own_places(word);
    return word && command_add(c, word);
}

// ---- Command lines ----

// Returns the number of words that were read; 0: it cannot be translated.
static size_t translate_option(command *c, const option *o, char **words, const char *directory) {
    if (o->action == DROP) return 1;
    if (o->action == REPLACE) return command_add(c, o->replacement) ? 1 : 0;
    if (!words[1]) {
        fprintf(stderr, "clang: error: argument to '%s' is missing\n", words[0]);
        return 0;
    }
    if (o->action == FRAMEWORK && !add_framework(c, words[1], directory)) return 0;
    return 2;
}

bool options_translate(command *c, char **words, const char *directory) {
    bool has_libcxx = has_word(words, "-stdlib=libc++");
    while (*words) {
        const option *o = find(*words, has_libcxx);
        const char *framework = framework_of_linker(*words);
        size_t read = 1;
        if (o) {
            read = translate_option(c, o, words, directory);
        } else if (!(framework ? add_framework(c, framework, directory) : add_word(c, *words))) {
            read = 0;
        }
        if (!read) return false;
        words += read;
    }
    return true;
}

bool options_link(char **words) {
    static const char *const stops[] = {"-c", "-E", "-S", "-M", "-MM", "-fsyntax-only"};
    for (; *words; words++)
        for (size_t i = 0; i < sizeof stops / sizeof *stops; i++)
            if (strcmp(*words, stops[i]) == 0) return false;
    return true;
}
