// SPDX-License-Identifier: Apache-2.0
// ingot-metal-clang: clang for programs that were made for a Mac.
//
//     clang, clang++, cc, c++, gcc, g++ ARGUMENT...    compile with what <Metal/Metal.h> needs, and link what it needs
//     ingot-metal-clang --link COMMAND...    run a command that links, with a Mac's options translated
//
// The names are links in the directory of Ingot's stand-ins for Apple's tools, for builds that call clang themselves. CMake's
// toolchain file, which has the flags already, links through the second form.
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/memory.h"
#include "core/program.h"
#include "metal-clang-config.h"
#include "options.h"

static const char *const flags[] = {METAL_CLANG_FLAGS};

// The prefix under which this program was installed, wherever that is now. owns: the caller; NULL: not known.
static char *find_prefix(void) {
    char own[PATH_MAX];
    if (!igi_program_self(own)) return NULL;
    return igi_format("%s/%s", dirname(own), METAL_CLANG_TO_PREFIX);
}

static bool add_all(command *c, const char *const words[], size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!command_add(c, words[i])) return false;
    return true;
}

// Memory of the words is never freed: the process becomes another program.
static bool add_formatted(command *c, const char *format, const char *first, const char *second) {
    char *word = igi_format(format, first, second);
    return word && command_add(c, word);
}

static bool add_flags(command *c, const char *prefix) {
    return add_all(c, flags, sizeof flags / sizeof *flags) &&
           add_formatted(c, "-I%s/%s", prefix, METAL_CLANG_INCLUDE) &&
           add_formatted(c, "-I%s/%s/gcc", prefix, METAL_CLANG_INCLUDE) && command_add(c, "-include") &&
           add_formatted(c, "%s/%s/ingot/cxx-includes.h", prefix, METAL_CLANG_INCLUDE) &&
           command_add(c, "-Dweak_import=weak");
}

// After everything else, and only what the program uses of it.
static bool add_libraries(command *c, const char *libraries) {
    static const char *const names[] = {"-Wl,--as-needed", "-lMetal", "-lgnustep-base", "-lobjc", "-Wl,--no-as-needed"};
    return add_formatted(c, "-L%s%s", libraries, "") && add_formatted(c, "-Wl,-rpath,%s%s", libraries, "") &&
           add_all(c, names, sizeof names / sizeof *names);
}

static bool write_compilation(command *c, const char *name, char **arguments, const char *prefix,
                              const char *libraries) {
    bool is_cxx = strstr(name, "++") != NULL;
    return command_add(c, is_cxx ? METAL_CLANG_CXX : METAL_CLANG_C) && add_flags(c, prefix) &&
           options_translate(c, arguments, libraries) && (!options_link(arguments) || add_libraries(c, libraries));
}

static int become(const command *c) {
    execvp(c->words[0], (char **)c->words);
    fprintf(stderr, "clang: cannot run %s: %s\n", c->words[0], strerror(errno));
    return 1;
}

int main(int argc, char **argv) {
    const char *name = argc ? basename(argv[0]) : "";
    bool links = argc > 1 && strcmp(argv[1], "--link") == 0;
    if (argc < (links ? 3 : 2)) {
        fprintf(stderr, "%s: no input files\n", *name ? name : "clang");
        return 1;
    }
    char *prefix = find_prefix();
    char *libraries = prefix ? igi_format("%s/%s", prefix, METAL_CLANG_LIBRARIES) : NULL;
    command c = {0};
    if (!libraries) {
        fputs("clang: out of memory, or the place of this program is not known\n", stderr);
        return 1;
    }
    bool written =
        links ? options_translate(&c, argv + 2, libraries) : write_compilation(&c, name, argv + 1, prefix, libraries);
    return written ? become(&c) : 1;
}
