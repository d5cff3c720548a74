// SPDX-License-Identifier: Apache-2.0
// Strings. strchrnul, memrchr, rawmemchr, mempcpy, basename, strverscmp and explicit_bzero are missing.
#ifndef STAND_IN_STRING_H
#define STAND_IN_STRING_H

#include <strings.h>
#include <sys/types.h>

void *memcpy(void *to, const void *from, size_t count), *memmove(void *to, const void *from, size_t count);
void *memset(void *to, int value, size_t count), *memchr(const void *bytes, int value, size_t count);
void *memmem(const void *bytes, size_t count, const void *wanted, size_t length);
void *memccpy(void *to, const void *from, int value, size_t count);
int memcmp(const void *a, const void *b, size_t count), strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t count), strcoll(const char *a, const char *b);
char *strcpy(char *to, const char *from), *strncpy(char *to, const char *from, size_t count);
char *stpcpy(char *to, const char *from), *strcat(char *to, const char *from);
char *strncat(char *to, const char *from, size_t count), *strchr(const char *text, int c);
char *strrchr(const char *text, int c), *strstr(const char *text, const char *wanted);
char *strcasestr(const char *text, const char *wanted), *strpbrk(const char *text, const char *any);
char *strtok(char *text, const char *any), *strtok_r(char *text, const char *any, char **state);
char *strsep(char **text, const char *any), *strdup(const char *text), *strndup(const char *text, size_t count);
char *strerror(int number), *strsignal(int number);
int strerror_r(int number, char *text, size_t size);
size_t strlen(const char *text), strnlen(const char *text, size_t most), strspn(const char *text, const char *any);
size_t strcspn(const char *text, const char *any), strlcpy(char *to, const char *from, size_t size);
size_t strlcat(char *to, const char *from, size_t size);

#endif
