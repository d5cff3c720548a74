// SPDX-License-Identifier: Apache-2.0
// The translator of AIR on modules of tests/air that were changed. An input says which module, or which small part of it
// (fuzz-air-parts.c), and what to change: most often values, names and metadata of the module in memory
// (fuzz-air-changes.c), so that most are still valid ones of a strange form; now and then words of its text for others of
// their kind, which also changes types, or bits of its bitcode. A module is translated, or refused with a message, and what
// is translated can be read.
//
// LLVM reads bitcode, and garbage may crash it: in Ingot that is another process, and here a child. A child that dies
// while LLVM reads and verifies the module is not counted as a failure; one that dies later is.
#include <dirent.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/IRReader.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "air/flatten.h"
#include "air/translator.h"
#include "core/memory.h"
#include "fuzz-air-changes.h"
#include "fuzz-air-parts.h"
#include "fuzz.h"
#include "msl/llvm-context.h"

enum { MOST_MODULES = 64, MOST_TOKENS = 1 << 16, MOST_CHANGES = 12, LONGEST_TEXT = 1 << 16 };

typedef struct token {
    const char *at;
    size_t length;
} token;

typedef struct module {
    char *text;
    token *tokens;  // in `tokens`
    size_t count;
    char *bitcode;
    size_t bitcode_length;
    air_parts parts;
} module;

static module modules[MOST_MODULES];
static size_t module_count;
static token tokens[MOST_TOKENS];
static size_t token_count;
static LLVMContextRef parts_context;  // of all parts, and what is made of them in a child

// Inputs are collected, and a child works on many of them, because starting one takes longer than a translation. What it
// is at, and what came of it, is in memory that it shares with its parent.
typedef enum stage { READING, INVALID, TRANSLATING } stage;
enum { MOST_INPUTS = 2048 };
typedef struct progress {
    size_t at;  // the input
    stage stage;
    uint64_t refused, translated, invalid;
} progress;
static volatile progress *shared;
static uint64_t crashed;  // children that LLVM crashed

typedef struct input {
    uint8_t *bytes;
    size_t length;
} input;
static input inputs[MOST_INPUTS];
static size_t input_count;

// ---- Words ----

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || (c >= '0' && c <= '9');
}

// Names with their sigil, strings, numbers and words, or one character of anything else.
static size_t token_length(const char *at) {
    size_t length = 1;
    if (*at == '"') {
        while (at[length] && at[length] != '"' && at[length] != '\n') length++;
        return at[length] == '"' ? length + 1 : length;
    }
    if (is_letter(*at) || strchr("@%!", *at))
        while (is_letter(at[length])) length++;
    return length;
}

static char kind_of(const token *t) {
    char c = *t->at;
    return c >= '0' && c <= '9' ? '0' : is_letter(c) ? 'a' : c;
}

static void split(module *m) {
    m->tokens = &tokens[token_count];
    for (const char *at = m->text; *at;) {
        size_t length = token_length(at);
        bool space = *at == ' ' || *at == '\n';
        if (!space && token_count < MOST_TOKENS) tokens[token_count++] = (token){at, length}, m->count++;
        at += length;
    }
}

// ---- Modules ----

static LLVMModuleRef parse_text(LLVMContextRef context, const char *text, size_t length) {
    LLVMModuleRef parsed = NULL;
    char *message = NULL;
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, length, "fuzz");
    if (LLVMParseIRInContext(context, buffer, &parsed, &message)) parsed = NULL;
    LLVMDisposeMessage(message);
    return parsed;
}

static LLVMModuleRef parse_bitcode(LLVMContextRef context, const char *bitcode, size_t length) {
    LLVMModuleRef parsed = NULL;
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRange(bitcode, length, "fuzz", 0);
    if (LLVMParseBitcodeInContext2(context, buffer, &parsed)) parsed = NULL;
    LLVMDisposeMemoryBuffer(buffer);
    return parsed;
}

static void add_module(const char *path) {
    FILE *file = fopen(path, "rb");
    module *m = &modules[module_count++];
    m->text = calloc(1, LONGEST_TEXT + 1);
    MUST(file && m->text && fread(m->text, 1, LONGEST_TEXT, file) > 0);
    fclose(file);
    split(m);
    LLVMContextRef context = igi_msl_llvm_context_create();
    LLVMModuleRef parsed = parse_text(context, m->text, strlen(m->text));
    MUST(parsed);
    LLVMMemoryBufferRef bitcode = LLVMWriteBitcodeToMemoryBuffer(parsed);
    m->bitcode_length = LLVMGetBufferSize(bitcode);
    m->bitcode = malloc(m->bitcode_length);
    memcpy(m->bitcode, LLVMGetBufferStart(bitcode), m->bitcode_length);
    LLVMDisposeMemoryBuffer(bitcode);
    LLVMDisposeModule(parsed);
    LLVMContextDispose(context);
    cut_air(parts_context, m->bitcode, m->bitcode_length, &m->parts);
}

static int is_text(const struct dirent *entry) {
    const char *end = strrchr(entry->d_name, '.');
    return end && strcmp(end, ".ll") == 0;
}

static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void run_inputs(void);

static void tell(void) {
    run_inputs();
    fprintf(stderr, "of the modules %llu were invalid, %llu refused, %llu translated, LLVM crashed on %llu\n",
            (unsigned long long)shared->invalid, (unsigned long long)shared->refused,
            (unsigned long long)shared->translated, (unsigned long long)crashed);
    for (size_t i = 0; i < module_count; i++) {
        free(modules[i].text), free(modules[i].bitcode);
        free_air_parts(&modules[i].parts);
    }
    LLVMContextDispose(parts_context);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    struct dirent **names = NULL;
    parts_context = igi_msl_llvm_context_create();
    int count = scandir(AIR_KERNELS, &names, is_text, by_name);
    for (int i = 0; i < count && module_count < MOST_MODULES; i++) {
        char path[2048];
        snprintf(path, sizeof path, "%s/%s", AIR_KERNELS, names[i]->d_name);
        add_module(path);
        free(names[i]);
    }
    free(names);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    MUST(module_count && shared != MAP_FAILED);
    atexit(tell);
    return 0;
}

// ---- Changes ----

typedef struct reader {
    const uint8_t *at;
    size_t left;
} reader;

static uint32_t take(reader *r) {
    uint32_t number = 0;
    for (int i = 0; i < 2 && r->left; i++, r->left--) number = number << 8 | *r->at++;
    return number;
}

static bool is_same(const token *a, const token *b) {
    return a->length == b->length && memcmp(a->at, b->at, a->length) == 0;
}

// The first token of its kind from a place on: of this module if it is a name that is declared there, else of any.
static const token *find_like(const module *m, const token *old, uint32_t from) {
    bool local = *old->at == '%' || *old->at == '!';
    const token *pool = local ? m->tokens : tokens;
    size_t count = local ? m->count : token_count;
    for (size_t i = 0; i < count; i++) {
        const token *t = &pool[(from * 7919ull + i) % count];
        if (kind_of(t) == kind_of(old) && !is_same(t, old)) return t;
    }
    return old;
}

// A global name changes everywhere, everything else at one place.
static void change_word(const module *m, token *changed, uint32_t at, uint32_t with) {
    size_t index = at % m->count;
    token old = changed[index];
    const token *new = find_like(m, &old, with);
    for (size_t i = 0; i < m->count; i++)
        if (i == index || (*old.at == '@' && is_same(&changed[i], &old))) changed[i] = *new;
}

static void write_words(const module *m, const token *changed, igi_text *text) {
    const char *at = m->text;
    for (size_t i = 0; i < m->count; i++) {
        igi_text_append(text, at, (size_t)(m->tokens[i].at - at));
        igi_text_append(text, changed[i].at, changed[i].length);
        at = m->tokens[i].at + m->tokens[i].length;
    }
    igi_text_add(text, at);
}

// ---- One module, in a child ----

static void check_result(ig_status status, char *output, size_t length, ig_error *error) {
    igi_air_translated translated;
    MUST(status == IG_STATUS_OK || (error->message && status != IG_STATUS_OUT_OF_MEMORY));
    *(status == IG_STATUS_OK ? &shared->translated : &shared->refused) += 1;
    if (status == IG_STATUS_OK) {
        MUST(igi_air_translated_read(output, length, &translated));
        igi_air_translated_free(&translated);
    }
    free(output);
    ig_error_clear(error);
}

static bool is_valid(LLVMModuleRef read) {
    bool valid = read && !LLVMVerifyModule(read, LLVMReturnStatusAction, NULL);
    shared->stage = valid ? TRANSLATING : INVALID;
    shared->invalid += !valid;
    return valid;
}

static void translate_if_valid(LLVMContextRef context, LLVMModuleRef read) {
    bool valid = is_valid(read);
    LLVMMemoryBufferRef bitcode = valid ? LLVMWriteBitcodeToMemoryBuffer(read) : NULL;
    if (read) LLVMDisposeModule(read);
    LLVMContextDispose(context);
    if (!valid) return;
    char *output = NULL;
    size_t length = 0;
    ig_error error = {0};
    ig_status status =
        igi_air_translate(LLVMGetBufferStart(bitcode), LLVMGetBufferSize(bitcode), "fuzzed", &output, &length, &error);
    check_result(status, output, length, &error);
    LLVMDisposeMemoryBuffer(bitcode);
}

static void try_words(const module *m, reader *r) {
    token *changed = malloc(m->count * sizeof *changed);
    igi_text text = {0};
    memcpy(changed, m->tokens, m->count * sizeof *changed);
    for (int i = 0; i < MOST_CHANGES && r->left; i++) {
        uint32_t at = take(r);
        change_word(m, changed, at, take(r));
    }
    write_words(m, changed, &text);
    LLVMContextRef context = igi_msl_llvm_context_create();
    translate_if_valid(context, parse_text(context, text.data, text.length));
    igi_text_free(&text);
    free(changed);
}

// Our own reader has the bytes first, in a block of exactly their size. Returns false if it refuses them.
static bool flatten(char *bytes, size_t length) {
    igi_air_spaces spaces = {0};
    shared->stage = TRANSLATING;
    bool ok = igi_air_flatten(bytes, length, &spaces);
    shared->stage = READING;
    free(spaces.of_variables);
    return ok;
}

static void try_bits(const module *m, reader *r) {
    char *bytes = malloc(m->bitcode_length), *copy = malloc(m->bitcode_length);
    memcpy(bytes, m->bitcode, m->bitcode_length);
    for (int i = 0; i < MOST_CHANGES && r->left; i++) {
        uint32_t at = take(r), bit = take(r) & 7;
        bytes[at % m->bitcode_length] ^= (char)(1 << bit);
    }
    memcpy(copy, bytes, m->bitcode_length);
    LLVMContextRef context = igi_msl_llvm_context_create();
    translate_if_valid(context,
                       flatten(copy, m->bitcode_length) ? parse_bitcode(context, bytes, m->bitcode_length) : NULL);
    free(bytes), free(copy);
}

// The whole module takes as long as many of its parts: it is seldom chosen.
static LLVMModuleRef choose_part(const air_parts *parts, uint32_t number) {
    enum { SELDOM = 8 };
    size_t pieces = parts->count - 1;
    bool whole = !pieces || number % (SELDOM * parts->count) == 0;
    return parts->modules[whole ? 0 : 1 + number % pieces];
}

// Without LLVM's reader and writer, which would take most of the time.
static void try_changes(const module *m, reader *r) {
    LLVMModuleRef part = LLVMCloneModule(choose_part(&m->parts, take(r)));
    for (int i = 0; i < MOST_CHANGES && r->left; i++) {
        air_change change = {.kind = take(r), .at = take(r), .with = take(r)};
        const token *word = &tokens[change.with * 7919ull % token_count];
        change.word = word->at, change.word_length = word->length;
        change_air(part, &change);
    }
    if (!is_valid(part)) {
        LLVMDisposeModule(part);
        return;
    }
    char *output = NULL;
    size_t length = 0;
    ig_error error = {0};
    ig_status status = igi_air_translate_parsed(part, "fuzzed", &output, &length, &error);
    check_result(status, output, length, &error);
}

enum { SECONDS = SANITIZED ? 10 : 1 };

// LLVM's reader believes lengths, and may take memory and time without end.
static void limit_memory(void) {
    enum { MOST_BYTES = 1 << 30 };
    if (!SANITIZED) setrlimit(RLIMIT_AS, &(struct rlimit){MOST_BYTES, MOST_BYTES});
}

// Of processor time, for one input.
static void limit_time(void) {
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = SECONDS}, NULL);
}

static void run_input(const input *in) {
    enum { HEADER = 2, WAYS = 8, RARE = 16 };
    if (in->length < HEADER) return;
    reader r = {in->bytes + HEADER, in->length - HEADER};
    const module *m = &modules[in->bytes[1] % module_count];
    shared->stage = READING;
    limit_time();
    bool rare = r.left && *r.at % RARE == 0;  // what LLVM reads takes ten times as long
    unsigned how = in->bytes[0] % WAYS;
    (rare && how == 0 ? try_bits : rare && how == 1 ? try_words : try_changes)(m, &r);
}

// ---- Children ----

static void work(void) {
    limit_memory();
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);  // the driver's would tell of LLVM's crashes
    for (; shared->at < input_count; shared->at++) run_input(&inputs[shared->at]);
    _exit(0);
}

// The driver keeps only the last input.
static void keep(const input *in) {
    FILE *file = fopen("fuzz-air.input", "wb");
    if (!file) return;
    fwrite(in->bytes, 1, in->length, file);
    fclose(file);
    fprintf(stderr, "the input that crashed is in fuzz-air.input\n");
}

// A child that LLVM crashed is followed by another one for the inputs after that.
static void run_child(void) {
    int result = 0;
    fflush(NULL);
    pid_t child = fork();
    MUST(child >= 0);
    if (child == 0) work();
    MUST(waitpid(child, &result, 0) == child);
    if (WIFEXITED(result) && WEXITSTATUS(result) == 0) return;
    if (shared->stage != READING) keep(&inputs[shared->at]);
    MUST(shared->stage == READING);
    crashed++;
    shared->at++;
}

static void run_inputs(void) {
    alarm(0);  // the driver's, which counts the time that other programs take too
    for (shared->at = 0; shared->at < input_count;) run_child();
    for (size_t i = 0; i < input_count; i++) free(inputs[i].bytes);
    input_count = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input *in = &inputs[input_count++];
    *in = (input){malloc(size + 1), size};
    MUST(in->bytes);
    memcpy(in->bytes, data, size);
    if (input_count == MOST_INPUTS) run_inputs();
    return 0;
}
