// SPDX-License-Identifier: Apache-2.0
// Streams. Cookies (fopencookie) are missing.
#ifndef STAND_IN_STDIO_H
#define STAND_IN_STDIO_H

#include <stdarg.h>
#include <sys/types.h>

typedef struct stand_in_file FILE;
typedef long long fpos_t;
extern FILE *__stdinp, *__stdoutp, *__stderrp;
#define stdin __stdinp
#define stdout __stdoutp
#define stderr __stderrp
#define EOF (-1)
#define BUFSIZ 1024
#define FILENAME_MAX 1024
#define L_tmpnam 1024
#define P_tmpdir "/var/tmp/"
#define _IOFBF 0
#define _IOLBF 1
#define _IONBF 2
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define FORMAT(text, first) __attribute__((format(printf, text, first)))
#define SCAN(text, first) __attribute__((format(scanf, text, first)))
FILE *fopen(const char *path, const char *mode), *fdopen(int file, const char *mode), *tmpfile(void);
FILE *freopen(const char *path, const char *mode, FILE *file), *popen(const char *command, const char *mode);
FILE *fmemopen(void *buffer, size_t size, const char *mode), *open_memstream(char **buffer, size_t *size);
int fclose(FILE *file), pclose(FILE *file), fflush(FILE *file), fileno(FILE *file), feof(FILE *file),
    ferror(FILE *file);
int printf(const char *format, ...) FORMAT(1, 2);
int fprintf(FILE *file, const char *format, ...) FORMAT(2, 3);
int dprintf(int file, const char *format, ...) FORMAT(2, 3);
int sprintf(char *text, const char *format, ...) FORMAT(2, 3);
int snprintf(char *text, size_t size, const char *format, ...) FORMAT(3, 4);
int asprintf(char **text, const char *format, ...) FORMAT(2, 3);
int vprintf(const char *format, va_list values) FORMAT(1, 0);
int vfprintf(FILE *file, const char *format, va_list values) FORMAT(2, 0);
int vsnprintf(char *text, size_t size, const char *format, va_list values) FORMAT(3, 0);
int vasprintf(char **text, const char *format, va_list values) FORMAT(2, 0);
int scanf(const char *format, ...) SCAN(1, 2);
int fscanf(FILE *file, const char *format, ...) SCAN(2, 3);
int sscanf(const char *text, const char *format, ...) SCAN(2, 3);
#undef FORMAT
#undef SCAN
size_t fread(void *data, size_t size, size_t count, FILE *file);
size_t fwrite(const void *data, size_t size, size_t count, FILE *file);
int fgetc(FILE *file), getc(FILE *file), getchar(void), ungetc(int c, FILE *file), fputc(int c, FILE *file);
int putc(int c, FILE *file), putchar(int c), fputs(const char *text, FILE *file), puts(const char *text);
char *fgets(char *text, int size, FILE *file);
ssize_t getline(char **line, size_t *size, FILE *file), getdelim(char **line, size_t *size, int end, FILE *file);
int fseek(FILE *file, long offset, int from), fseeko(FILE *file, off_t offset, int from);
long ftell(FILE *file);
off_t ftello(FILE *file);
void rewind(FILE *file), clearerr(FILE *file), perror(const char *text), setbuf(FILE *file, char *buffer);
void flockfile(FILE *file), funlockfile(FILE *file);
int setvbuf(FILE *file, char *buffer, int mode, size_t size);
int remove(const char *path), rename(const char *from, const char *to);
int renameat(int from_directory, const char *from, int to_directory, const char *to);

#endif
