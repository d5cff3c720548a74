// SPDX-License-Identifier: Apache-2.0
// Memory, numbers, the environment. secure_getenv, reallocarray and malloc_usable_size are missing.
#ifndef STAND_IN_STDLIB_H
#define STAND_IN_STDLIB_H

#include <sys/types.h>
#include <sys/wait.h>

#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 0x7fffffff
#define MB_CUR_MAX 4
typedef struct {
    int quot, rem;
} div_t;
void *malloc(size_t bytes), *calloc(size_t count, size_t bytes), *realloc(void *memory, size_t bytes);
void *aligned_alloc(size_t alignment, size_t bytes);
int posix_memalign(void **memory, size_t alignment, size_t bytes);
void free(void *memory);
_Noreturn void abort(void), exit(int status), _Exit(int status);
int atexit(void (*run)(void)), system(const char *command);
char *getenv(const char *name), *realpath(const char *path, char *resolved), *mkdtemp(char *path);
int setenv(const char *name, const char *value, int replace), unsetenv(const char *name), putenv(char *text);
int mkstemp(char *path), mkstemps(char *path, int suffix), mkostemp(char *path, int flags);
int abs(int x), atoi(const char *text), rand(void);
void srand(unsigned seed);
long labs(long x), atol(const char *text), strtol(const char *text, char **end, int base), random(void);
long long llabs(long long x), atoll(const char *text), strtoll(const char *text, char **end, int base);
unsigned long strtoul(const char *text, char **end, int base);
unsigned long long strtoull(const char *text, char **end, int base);
double atof(const char *text), strtod(const char *text, char **end), drand48(void);
float strtof(const char *text, char **end);
long double strtold(const char *text, char **end);
void qsort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *));
void *bsearch(const void *key, const void *items, size_t count, size_t size,
              int (*compare)(const void *, const void *));
uint32_t arc4random(void);
void arc4random_buf(void *bytes, size_t count);
const char *getprogname(void);
int getloadavg(double load[], int count);

#endif
