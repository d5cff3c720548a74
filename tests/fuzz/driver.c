// SPDX-License-Identifier: Apache-2.0
// A small fuzzer for machines without libFuzzer: mutates seeds for a while, starting from a fixed number.
//
//   fuzz-x [--seconds N] [--runs N] [--start N] SEED-FILE-OR-DIRECTORY...
//
// On a crash or hang it reports the number of the run and leaves the input in fuzz-x.crash; giving that file as the
// only seed with --runs 0 replays it.
#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

enum { MAX_SEEDS = 256, LONGEST_INPUT = 20000, HANG_SECONDS = 60 };

typedef struct input {
    uint8_t *bytes;
    size_t length;
} input;

static struct {
    input seeds[MAX_SEEDS];
    size_t seed_count;
    uint64_t start, run;  // seed of the generator; the current run
    double seconds;
    uint64_t most_runs;
    input at_hand;
    char crash_path[1024];
} fuzz = {.start = 1, .seconds = 5, .most_runs = UINT64_MAX};

// ---- Random numbers: splitmix64 ----

static uint64_t generator;
static uint64_t next(void) {
    uint64_t z = generator += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}
static size_t below(size_t bound) {
    return bound ? (size_t)(next() % bound) : 0;
}

// ---- Seeds ----

static void read_seed(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file || fuzz.seed_count == MAX_SEEDS) {
        fprintf(stderr, "cannot read seed %s\n", path);
        exit(2);
    }
    input seed = {.bytes = malloc(LONGEST_INPUT)};
    seed.length = fread(seed.bytes, 1, LONGEST_INPUT, file);
    fclose(file);
    fuzz.seeds[fuzz.seed_count++] = seed;
}

static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

// In the order of their names, so that a run is the same everywhere.
static void read_seeds(const char *path) {
    struct stat info;
    struct dirent **names = NULL;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) {
        read_seed(path);
        return;
    }
    int count = scandir(path, &names, NULL, by_name);
    for (int i = 0; i < count; i++) {
        char file[2048];
        snprintf(file, sizeof file, "%s/%s", path, names[i]->d_name);
        if (names[i]->d_name[0] != '.') read_seed(file);
        free(names[i]);
    }
    free(names);
}

// ---- Mutations ----

static const char *const words[] = {
    "[[",
    "]]",
    "/*",
    "*/",
    "//",
    "\\\n",
    "\"",
    "'",
    "R\"x(",
    ")x\"",
    "#define ",
    "#include ",
    "#if 0\n",
    "#endif\n",
    "(",
    ")",
    "{",
    "}",
    "<",
    ">",
    ",",
    ";",
    "::",
    "kernel ",
    "device ",
    "constant ",
    "threadgroup ",
    "buffer(",
    "function_constant(",
    "template ",
    "struct ",
    "0x",
    "1e999h",
    "-1",
    "4294967296",
    "\r\n",
    "\n",
    "\0",
    "\xff",
    "half4x4",
    ".xyzw",
    "operator",
    "const ",
    "&",
    "*",
    "=",
    "(99999999,)",
    "'fortran_order': True",
};

static void replace(input *in, size_t at, size_t removed, const void *bytes, size_t added) {
    if (in->length - removed + added > LONGEST_INPUT) return;
    memmove(in->bytes + at + added, in->bytes + at + removed, in->length - at - removed);
    memcpy(in->bytes + at, bytes, added);
    in->length = in->length - removed + added;
}

static void mutate(input *in) {
    uint8_t piece[256];
    size_t at = below(in->length + 1), left = in->length - at, length;
    switch (below(9)) {
        case 0:
            if (left) in->bytes[at] ^= (uint8_t)(1u << below(8));
            break;
        case 1:
            if (left) in->bytes[at] = (uint8_t)next();
            break;
        case 2: replace(in, at, below(left < 64 ? left + 1 : 64), "", 0); break;
        case 3: {  // a piece of itself, elsewhere
            size_t from = below(in->length + 1);
            length = below(in->length - from < sizeof piece ? in->length - from + 1 : sizeof piece);
            memcpy(piece, in->bytes + from, length);
            replace(in, at, below(2) ? 0 : (length < left ? length : left), piece, length);
            break;
        }
        case 4: {  // a piece of another seed
            const input *other = &fuzz.seeds[below(fuzz.seed_count)];
            size_t from = below(other->length + 1);
            length = below(other->length - from < sizeof piece ? other->length - from + 1 : sizeof piece);
            replace(in, at, 0, other->bytes + from, length);
            break;
        }
        case 5:
        case 6: {
            const char *word = words[below(sizeof words / sizeof *words)];
            replace(in, at, below(2) ? 0 : below(left < 8 ? left + 1 : 8), word, *word ? strlen(word) : 1);
            break;
        }
        case 7: {  // a number that is large, small or a length
            static const uint64_t numbers[] = {0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff, UINT64_MAX};
            uint64_t number = numbers[below(9)];
            length = (size_t)1 << below(4);
            if (left >= length) memcpy(in->bytes + at, &number, length);
            break;
        }
        default: in->length = at; break;
    }
}

// ---- Running ----

static void save_and_tell(const char *what) {
    FILE *file = fopen(fuzz.crash_path, "wb");
    if (file) {
        fwrite(fuzz.at_hand.bytes, 1, fuzz.at_hand.length, file);
        fclose(file);
    }
    fprintf(stderr, "%s in run %llu (--start %llu); input of %zu bytes left in %s\n", what,
            (unsigned long long)fuzz.run, (unsigned long long)fuzz.start, fuzz.at_hand.length, fuzz.crash_path);
    printf("%llu passed, 1 failed\n", (unsigned long long)fuzz.run);
    fflush(stdout);
}

static void died(int number) {
    signal(number, SIG_DFL);
    save_and_tell(number == SIGALRM ? "hang" : strsignal(number));
    if (number == SIGALRM) _exit(1);
    raise(number);
}

static void run_one(const uint8_t *bytes, size_t length) {
    // A block of exactly its size, so that the address sanitizer sees the first byte past it.
    uint8_t *copy = malloc(length ? length : 1);
    memcpy(copy, bytes, length);
    fuzz.at_hand = (input){copy, length};
    alarm(HANG_SECONDS);
    LLVMFuzzerTestOneInput(copy, length);
    alarm(0);
    free(copy);
    fuzz.run++;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void run_mutated(double until) {
    uint8_t buffer[LONGEST_INPUT];
    for (uint64_t n = 0; n < fuzz.most_runs && now() < until; n++) {
        generator = fuzz.start * 1000003 + n;
        const input *seed = &fuzz.seeds[below(fuzz.seed_count)];
        input in = {buffer, seed->length};
        memcpy(buffer, seed->bytes, seed->length);
        for (size_t k = 1 + below(1 + below(12)); k-- > 0;) mutate(&in);
        run_one(in.bytes, in.length);
    }
}

static const char *read_options(int argc, char **argv, int *next_argument) {
    int i = 1;
    for (; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2) {
        if (strcmp(argv[i], "--seconds") == 0)
            fuzz.seconds = strtod(argv[i + 1], NULL);
        else if (strcmp(argv[i], "--runs") == 0)
            fuzz.most_runs = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--start") == 0)
            fuzz.start = strtoull(argv[i + 1], NULL, 10);
        else
            return argv[i];
    }
    *next_argument = i;
    return i < argc ? NULL : "no seeds";
}

int main(int argc, char **argv) {
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};
    int first = 1;
    const char *wrong = read_options(argc, argv, &first);
    if (wrong) {
        fprintf(stderr, "%s: usage: [--seconds N] [--runs N] [--start N] SEEDS...\n", wrong);
        return 2;
    }
    const char *name = strrchr(argv[0], '/');
    snprintf(fuzz.crash_path, sizeof fuzz.crash_path, "%s.crash", name ? name + 1 : argv[0]);
    LLVMFuzzerInitialize(&argc, &argv);
    for (int i = first; i < argc; i++) read_seeds(argv[i]);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], died);
    double until = now() + fuzz.seconds;
    for (size_t i = 0; i < fuzz.seed_count; i++) run_one(fuzz.seeds[i].bytes, fuzz.seeds[i].length);
    run_mutated(until);
    for (size_t i = 0; i < fuzz.seed_count; i++) free(fuzz.seeds[i].bytes);
    fprintf(stderr, "start %llu: %llu inputs\n", (unsigned long long)fuzz.start, (unsigned long long)fuzz.run);
    printf("1 passed, 0 failed\n");
    return 0;
}
