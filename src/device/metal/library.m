// SPDX-License-Identifier: Apache-2.0
// Libraries: MSL compiled by Metal itself.
#include <stdio.h>
#include <string.h>

#include "device/metal/metal.h"
#include "msl/flatten.h"

// ---- What the compiler says ----

// The first line of the form FILE:LINE:COLUMN: error: MESSAGE.
static bool find_error(const char *log, char file[256], ig_error *error) {
    for (const char *line = log; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        unsigned row, column;
        int end = 0;
        if (sscanf(line, "%255[^:\n]:%u:%u: error: %n", file, &row, &column, &end) < 3 || !end) continue;
        error->line = row;
        error->column = column;
        free(error->message);
        error->message = igi_strndup(line + end, strcspn(line + end, "\n"));
        return true;
    }
    return false;
}

// Metal calls every source program_source.
static char *rename_source(const char *text, const char *name) {
    static const char metals[] = "program_source:";
    igi_text renamed = {0};
    const char *found;
    while ((found = strstr(text, metals))) {
        igi_text_append(&renamed, text, (size_t)(found - text));
        igi_text_addf(&renamed, "%s:", name);
        text = found + sizeof metals - 1;
    }
    igi_text_add(&renamed, text);
    return igi_text_take(&renamed);
}

static ig_status status_of(NSError *problem) {
    if (![[problem domain] isEqualToString:MTLLibraryErrorDomain]) return IG_STATUS_COMPILE_FAILED;
    switch ((MTLLibraryError)[problem code]) {
        case MTLLibraryErrorUnsupported: return IG_STATUS_UNSUPPORTED;
        case MTLLibraryErrorInternal: return IG_STATUS_COMPILER_CRASHED;
        default: return IG_STATUS_COMPILE_FAILED;
    }
}

ig_status igi_metal_read_problem(NSError *problem, const char *name, ig_error *error) {
    ig_status status = status_of(problem);
    if (!error) return status;
    const char *text = [[problem localizedDescription] UTF8String];
    char *log = rename_source(text ? text : "", name), file[256];
    igi_error_set(error, status, "%.*s", log ? (int)strcspn(log, "\n") : 0, log ? log : "");
    if (log && find_error(log, file, error)) error->file = igi_strdup(file);
    error->log = log;
    return status;
}

// ---- Compiling ----

// nil: a definition cannot be passed on.
static MTLCompileOptions *options_of(const ig_library_desc *desc, ig_error *error) {
    MTLCompileOptions *options = [[[MTLCompileOptions alloc] init] autorelease];
    NSMutableDictionary *macros = [NSMutableDictionary dictionary];
    for (size_t i = 0; i < desc->define_count; i++) {
        const char *value = desc->defines[i].value ? desc->defines[i].value : "1";
        NSString *name = igi_metal_exact_string(desc->defines[i].name);
        NSString *text = igi_metal_exact_string(value);
        if (!name || !text) {
            igi_error_set(error, IG_STATUS_BAD_FORMAT, "definition %zu of the preprocessor is not UTF-8", i + 1);
            return nil;
        }
        [macros setObject:text forKey:name];
    }
    [options setPreprocessorMacros:macros];
    uint32_t version = desc->language_version;
    [options setLanguageVersion:(MTLLanguageVersion)((version / 100 << 16) + version / 10 % 10)];
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"  // the replacement is too new for many systems
    [options setFastMathEnabled:desc->math_mode == IG_MATH_FAST];
#pragma clang diagnostic pop
    return options;
}

// Metal does not search for headers, so those that were found become part of the text.
static ig_status read_source(const ig_library_desc *desc, NSString **text, ig_error *error) {
    igi_msl_sources sources;
    igi_msl_main_source main = {desc->source, desc->source_length, desc->path, desc->name};
    ig_status status = igi_msl_sources_load(&sources, &main, desc->include_dirs, desc->include_dir_count, error);
    if (status != IG_STATUS_OK) return status;
    char *flat = NULL;
    size_t length = 0;
    status = igi_msl_sources_flatten(&sources, &flat, &length, error);
    igi_msl_sources_free(&sources);
    if (status != IG_STATUS_OK) return status;
    *text = [[[NSString alloc] initWithBytes:flat length:length encoding:NSUTF8StringEncoding] autorelease];
    if (!*text)
        status = igi_error_set(error, IG_STATUS_BAD_FORMAT, "%s: the source is not UTF-8",
                               desc->path ? desc->path : "program_source");
    free(flat);
    return status;
}

static const char *name_of(const ig_library_desc *desc) {
    if (desc->path) return desc->path;
    return desc->name ? desc->name : "program_source";
}

static bool is_compiled(const ig_library_desc *desc) {
    static const char end[] = ".metallib";
    size_t length = desc->path ? strlen(desc->path) : 0, wanted = sizeof end - 1;
    return desc->data || (length > wanted && strcmp(desc->path + length - wanted, end) == 0);
}

static ig_status load(ig_library *library, const ig_library_desc *desc, id<MTLLibrary> *made, ig_error *error) {
    id<MTLDevice> device = igi_metal(library->device)->device;
    NSError *problem = nil;
    if (desc->data) {
        dispatch_data_t data =
            dispatch_data_create(desc->data, desc->data_length, NULL, DISPATCH_DATA_DESTRUCTOR_DEFAULT);
        *made = [device newLibraryWithData:data error:&problem];
        dispatch_release(data);
    } else {
        NSURL *url = igi_metal_file(desc->path);
        if (!url) return igi_error_set(error, IG_STATUS_BAD_FORMAT, "%s: the path is not UTF-8", name_of(desc));
        *made = [device newLibraryWithURL:url error:&problem];
    }
    if (!*made) return igi_metal_read_problem(problem, name_of(desc), error);
    library->log = igi_strdup("");
    return IG_STATUS_OK;
}

static ig_status compile(ig_library *library, const ig_library_desc *desc, id<MTLLibrary> *made, ig_error *error) {
    NSString *text = nil;
    NSError *problem = nil;
    ig_status status = read_source(desc, &text, error);
    if (status != IG_STATUS_OK) return status;
    MTLCompileOptions *options = options_of(desc, error);
    if (!options) return IG_STATUS_BAD_FORMAT;
    atomic_fetch_add(&library->device->compilations, 1);
    *made = [igi_metal(library->device)->device newLibraryWithSource:text options:options error:&problem];
    if (!*made) return igi_metal_read_problem(problem, name_of(desc), error);
    const char *warnings = [[problem localizedDescription] UTF8String];
    library->log = rename_source(warnings ? warnings : "", name_of(desc));
    return IG_STATUS_OK;
}

// ---- What is in it ----

static bool has_constant(const igi_msl_reflection *reflection, const char *name) {
    for (size_t i = 0; i < reflection->constant_count; i++)
        if (strcmp(reflection->constants[i].name, name) == 0) return true;
    return false;
}

static bool add_constant(igi_msl_reflection *reflection, MTLFunctionConstant *constant) {
    const char *name = [[constant name] UTF8String];
    ig_function_constant_info info = {.id = (uint32_t)[constant index]};
    if (has_constant(reflection, name) || !igi_metal_type([constant type], &info.type, &info.components)) return true;
    if (!igi_grow((void **)&reflection->constants, &reflection->constant_capacity, reflection->constant_count + 1,
                  sizeof *reflection->constants))
        return false;
    info.name = igi_strdup(name);
    reflection->constants[reflection->constant_count] = info;
    reflection->constant_count += info.name != NULL;
    return info.name != NULL;
}

static bool add_kernel(igi_msl_reflection *reflection, const char *name) {
    if (!igi_grow((void **)&reflection->kernels, &reflection->kernel_capacity, reflection->kernel_count + 1,
                  sizeof *reflection->kernels))
        return false;
    igi_msl_kernel *kernel = &reflection->kernels[reflection->kernel_count];
    *kernel = (igi_msl_kernel){.info.name = igi_strdup(name)};
    reflection->kernel_count += kernel->info.name != NULL;
    return kernel->info.name != NULL;
}

static ig_function_kind kind_of(MTLFunctionType type) {
    switch (type) {
        case MTLFunctionTypeVertex: return IG_FUNCTION_VERTEX;
        case MTLFunctionTypeFragment: return IG_FUNCTION_FRAGMENT;
        case MTLFunctionTypeVisible: return IG_FUNCTION_VISIBLE;
        case MTLFunctionTypeIntersection: return IG_FUNCTION_INTERSECTION;
        case MTLFunctionTypeMesh: return IG_FUNCTION_MESH;
        case MTLFunctionTypeObject: return IG_FUNCTION_OBJECT;
        default: return IG_FUNCTION_KERNEL;
    }
}

// Metal says nothing of their arguments.
static bool add_other(igi_msl_reflection *reflection, const char *name, ig_function_kind kind) {
    if (!igi_grow((void **)&reflection->others, &reflection->other_capacity, reflection->other_count + 1,
                  sizeof *reflection->others))
        return false;
    igi_msl_kernel *other = &reflection->others[reflection->other_count];
    *other = (igi_msl_kernel){.info = {.name = igi_strdup(name), .kind = kind}};
    reflection->other_count += other->info.name != NULL;
    return other->info.name != NULL;
}

static int by_id(const void *a, const void *b) {
    uint32_t left = ((const ig_function_constant_info *)a)->id, right = ((const ig_function_constant_info *)b)->id;
    return (left > right) - (left < right);
}

// Names only: arguments become known when they are first requested or a pipeline is created.
static bool list_functions(igi_msl_reflection *reflection, id<MTLLibrary> library) {
    for (NSString *name in [library functionNames]) {
        id<MTLFunction> function = [[library newFunctionWithName:name] autorelease];
        ig_function_kind kind = kind_of([function functionType]);
        if (kind == IG_FUNCTION_VISIBLE) continue;  // none can be linked
        if (kind != IG_FUNCTION_KERNEL) {
            if (!add_other(reflection, [name UTF8String], kind)) return false;
            continue;
        }
        if (!add_kernel(reflection, [name UTF8String])) return false;
        NSDictionary<NSString *, MTLFunctionConstant *> *constants = [function functionConstantsDictionary];
        for (NSString *key in constants)
            if (!add_constant(reflection, [constants objectForKey:key])) return false;
    }
    if (reflection->constant_count)
        qsort(reflection->constants, reflection->constant_count, sizeof *reflection->constants, by_id);
    return true;
}

// ---- The calls ----

static metal_library *make_state(ig_library *library, id<MTLLibrary> made) {
    metal_library *state = igi_calloc(1, sizeof *state);
    bool listed = state && list_functions(&library->reflection, made);
    if (listed) state->reflected = igi_calloc(library->reflection.kernel_count, sizeof *state->reflected);
    if (!listed || !state->reflected) {
        free(state);
        return NULL;
    }
    pthread_mutex_init(&state->lock, NULL);
    state->library = made;
    return state;
}

ig_status igi_metal_library_open(ig_library *library, const ig_library_desc *desc, ig_error *error) {
    @autoreleasepool {
        id<MTLLibrary> made = nil;
        ig_status status = (is_compiled(desc) ? load : compile)(library, desc, &made, error);
        if (status != IG_STATUS_OK) return status;
        library->state = make_state(library, made);
        if (library->state) return IG_STATUS_OK;
        [made release];
        igi_msl_reflection_free(&library->reflection);
        free(library->log);
        library->log = NULL;
        return igi_error_no_memory(error);
    }
}

void igi_metal_library_close(ig_library *library) {
    metal_library *state = library->state;
    @autoreleasepool {
        [state->library release];
    }
    pthread_mutex_destroy(&state->lock);
    free(state->reflected);
    free(state);
}
