// SPDX-License-Identifier: Apache-2.0
// The language options of clang, and the arguments of one run.
#include "msl/clang-flags.h"

#include "core/file.h"
#include "msl/headers.h"
#include "msl/overlay.h"

// clang reads MSL as C++17 for a target with clean vector calls and real half and bfloat arithmetic on any host
// (x86-64 would pass float2 as a double); src/simt retargets the module to the host.
static const char *const base_flags[] = {
    "--no-default-config",
    "-std=c++17",
    // Of SYCL only its address spaces, which C++ lacks. Mangling asks for the host's types, which are the target's.
    "-Xclang",
    "-fsycl-is-device",
    "-Xclang",
    "-aux-triple",
    "-Xclang",
    "aarch64-unknown-linux-gnu",
    "-target",
    "aarch64-unknown-linux-gnu",
    "-march=armv8.2-a+fp16+bf16",
    // Swizzles are properties.
    "-fms-extensions",
    "-fdeclspec",
    "-nostdinc",
    "-ffreestanding",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-threadsafe-statics",
    "-fno-gnu-inline-asm",
    // Constructors are functions, not aliases of other constructors: contents.c refuses aliases.
    "-Xclang",
    "-mno-constructor-aliases",
    "-fsigned-char",
    // What GPUs define and C++ leaves undefined: wrapping integers, saturating conversions, type punning.
    "-fwrapv",
    "-fno-strict-float-cast-overflow",
    "-fno-strict-aliasing",
    "-fno-delete-null-pointer-checks",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-finite-loops",
    "-Xclang",
    "-fbfloat16-excess-precision=none",
    // Demanglers of today's C++ runtimes do not understand newer manglings of template arguments.
    "-fclang-abi-compat=17",
    // Annotations and value names must be kept; src/simt runs the passes.
    "-O1",
    "-Xclang",
    "-disable-llvm-passes",
    "-fno-discard-value-names",
    // The order of uses, which clang's driver asks for, is a tenth of the bitcode and of clang's time, and changes nothing.
    "-Xclang",
    "-no-emit-llvm-uselists",
    "-fno-ident",
    "-fno-color-diagnostics",
    "-fno-crash-diagnostics",
    "-fno-elide-type",
    "-fcaret-diagnostics-max-lines=1",
    "-fdiagnostics-print-source-range-info",
    // Printed only with carets.
    "-fdiagnostics-parseable-fixits",
    "-ferror-limit=50",
    "-Werror=unknown-attributes",
    "-Werror=return-type",
    "-Werror=vla-cxx-extension",
    "-Wuninitialized",
    "-Wno-ignored-attributes",
    "-Wno-duplicate-decl-specifier",
    "-Wno-unknown-pragmas",
    "-Wno-user-defined-literals",
    "-Wno-undefined-internal",
    "-Wno-undefined-inline",
    "-Wno-c99-designator",
    "-Wno-reorder-init-list",
    "-Wno-unused-command-line-argument",
};
enum { BASE_FLAG_COUNT = sizeof base_flags / sizeof *base_flags };

void igi_msl_hash_flags(igi_hasher *hasher) {
    for (size_t i = 0; i < BASE_FLAG_COUNT; i++) igi_hasher_add_string(hasher, base_flags[i]);
}

// ---- Argument lists ----

void igi_msl_add_owned_argument(igi_msl_arguments *list, char *argument) {
    if (!argument || !igi_grow((void **)&list->items, &list->capacity, list->count + 2, sizeof *list->items)) {
        free(argument);
        list->failed = true;
        return;
    }
    list->items[list->count++] = argument;
    list->items[list->count] = NULL;
}

void igi_msl_add_argument(igi_msl_arguments *list, const char *argument) {
    igi_msl_add_owned_argument(list, igi_strdup(argument));
}

void igi_msl_free_arguments(igi_msl_arguments *list) {
    for (size_t i = 0; i < list->count; i++) free(list->items[i]);
    free(list->items);
}

static void add(igi_msl_arguments *list, const char *argument) {
    igi_msl_add_argument(list, argument);
}

static void add_owned(igi_msl_arguments *list, char *argument) {
    igi_msl_add_owned_argument(list, argument);
}

// ---- MSL ----

// matmul2d has a structure as its template argument, and tensors take several indices, which C++17 does not allow; nor
// does it have parameters for the object of a member function.
bool igi_msl_needs_new_language(const igi_msl_request *request) {
    bool objects = false;
    for (size_t i = 0; i < request->sources.count; i++) objects |= request->sources.files[i].rewrite.has_objects;
    return objects || request->language_version >= 400;
}

void igi_msl_add_language(igi_msl_arguments *list, const char *overlay, const igi_msl_request *request) {
    for (size_t i = 0; i < BASE_FLAG_COUNT; i++) add(list, base_flags[i]);
    uint32_t version = request->language_version;
    bool fast = request->math_mode == IG_MATH_FAST;
    if (igi_msl_needs_new_language(request)) add(list, "-std=c++23");
    add(list, "-D__METAL__=1");
    add_owned(list, igi_format("-D__METAL_VERSION__=%u", version));
    add(list, "-D__METAL_MACOS__=1");
    add(list, "-D__INGOT__=1");
    add_owned(list, igi_format("-D__INGOT_FAST_MATH__=%d", fast));
    if (fast) add(list, "-D__FAST_MATH__=1");
    // As Apple's compiler does it: safe math joins products and sums within an expression only.
    add(list, fast ? "-ffp-contract=fast" : "-ffp-contract=on");
    if (request->preprocess) add(list, "-D__INGOT_TEXT__=1");
    add(list, "-isystem"), add(list, igi_msl_stdlib);
    add(list, "-ivfsoverlay"), add(list, overlay);
}

// The driver would look for a precompiled form next to `path`; clang itself does not.
static void add_implicit_include(igi_msl_arguments *list, const char *path) {
    add(list, "-Xclang"), add(list, "-include"), add(list, "-Xclang"), add(list, path);
}

void igi_msl_add_prelude(igi_msl_arguments *list, bool precompiled) {
    if (precompiled) {
        add(list, "-Xclang"), add(list, "-include-pch"), add(list, "-Xclang"), add(list, igi_msl_pch);
        return;
    }
    char *prelude = igi_path_join(igi_msl_stdlib, igi_msl_prelude);
    if (prelude)
        add_implicit_include(list, prelude);
    else
        list->failed = true;
    free(prelude);
}

static void add_described_ids(igi_msl_arguments *list) {
    char *header = igi_path_join(igi_msl_stdlib, "__ingot_describe");
    if (header)
        add_implicit_include(list, header);
    else
        list->failed = true;
    free(header);
}

// Lines with the path of each file that is included, on stderr. -H would leave out the source itself, and what it includes.
static void add_use_notes(igi_msl_arguments *list) {
    static const char *const flags[] = {"-header-include-file", "-", "-header-include-format=textual",
                                        "-header-include-filtering=none"};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) add(list, "-Xclang"), add(list, flags[i]);
}

void igi_msl_add_inputs(igi_msl_arguments *list, const igi_msl_request *request) {
    if (request->tensor_layout) add_owned(list, igi_format("-D__INGOT_TENSOR_LAYOUT__=%u", request->tensor_layout));
    for (size_t i = 0; i < request->define_count; i++) {
        const ig_define *define = &request->defines[i];
        add_owned(list, igi_format("-D%s=%s", define->name, define->value ? define->value : "1"));
    }
    for (size_t i = 0; i < request->sources.include_dir_count; i++) {
        add(list, "-I");
        add_owned(list, igi_path_absolute(request->sources.include_dirs[i]));
    }
    add(list, "-idirafter"), add(list, igi_msl_own_includes);
    // Paths in the line tables are absolute: the current directory is not part of the cache key.
    // gdb finds nothing through the indices of DWARF 5 in code that is generated at run time.
    bool complete = request->places || request->variables || request->types;
    if (request->line_tables || request->places || request->types)
        add(list, "-gdwarf-4"), add(list, complete ? "-g" : "-gline-tables-only"),
            add(list, "-fdebug-compilation-dir=/");
    if (request->types) {
        add(list, "-fstandalone-debug");  // also of types that are only pointed to
        add_described_ids(list);
    }
    if (request->marks_overflow) add(list, "-fno-wrapv");
    if (request->notes_uses) add_use_notes(list);
    for (size_t i = 0; i < request->style_count; i++) add(list, request->styles[i]);
    for (size_t i = 1; i < request->sources.count; i++)
        if (request->sources.files[i].before) add_implicit_include(list, request->sources.files[i].path);
    // Included rather than compiled, because the driver does not look into the overlay for its input.
    add_implicit_include(list, request->sources.files[0].path);
    add(list, "-x"), add(list, "c++"), add(list, "/dev/null");
    if (request->preprocess) {
        // The standard headers stay #include directives: expanded, they are of use to Ingot alone.
        add(list, "-E"), add(list, "-fkeep-system-includes");
    } else if (request->syntax_of) {
        add(list, "-fsyntax-only"), add(list, "-Xclang"), add(list, "-ast-dump"), add(list, "-Xclang");
        add_owned(list, igi_format("-ast-dump-filter=%s", request->syntax_of));
    } else {
        add(list, "-c"), add(list, "-emit-llvm"), add(list, "-o"), add(list, "-");
    }
}
