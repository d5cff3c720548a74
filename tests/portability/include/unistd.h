// SPDX-License-Identifier: Apache-2.0
// POSIX. pipe2, dup3, execvpe, gettid, syscall, get_current_dir_name and close_range are missing.
#ifndef STAND_IN_UNISTD_H
#define STAND_IN_UNISTD_H

#include <sys/types.h>

// The options of POSIX that macOS does not have.
#define _POSIX_CLOCK_SELECTION (-1)
#define _POSIX_CPUTIME (-1)
#define _POSIX_THREAD_CPUTIME (-1)
#define _POSIX_TIMERS (-1)
#define _POSIX_TIMEOUTS (-1)
#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
#define F_OK 0
#define X_OK 1
#define W_OK 2
#define R_OK 4
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define _SC_CLK_TCK 3
#define _SC_OPEN_MAX 5
#define _SC_PAGESIZE 29
#define _SC_PAGE_SIZE _SC_PAGESIZE
#define _SC_NPROCESSORS_CONF 57
#define _SC_NPROCESSORS_ONLN 58
#define _SC_PHYS_PAGES 200
ssize_t read(int file, void *data, size_t length), write(int file, const void *data, size_t length);
ssize_t pread(int file, void *data, size_t length, off_t at),
    pwrite(int file, const void *data, size_t length, off_t at);
ssize_t readlink(const char *path, char *target, size_t size);
int close(int file), dup(int file), dup2(int from, int to), pipe(int ends[2]), fsync(int file);
int access(const char *path, int mode), unlink(const char *path), rmdir(const char *path), chdir(const char *path);
int unlinkat(int directory, const char *path, int flags), link(const char *from, const char *to);
int symlink(const char *target, const char *path), ftruncate(int file, off_t length), isatty(int file);
int truncate(const char *path, off_t length), chown(const char *path, uid_t user, gid_t group);
int execv(const char *path, char *const arguments[]), execvp(const char *file, char *const arguments[]);
int execve(const char *path, char *const arguments[], char *const environment[]);
int execl(const char *path, const char *first, ...), execlp(const char *file, const char *first, ...);
int setpgid(pid_t process, pid_t group), usleep(useconds_t us), gethostname(char *name, size_t size);
int getentropy(void *bytes, size_t count);
pid_t fork(void), getpid(void), getppid(void), setsid(void), getpgrp(void), getpgid(pid_t process);
int setuid(uid_t user), setgid(gid_t group);
uid_t getuid(void), geteuid(void);
gid_t getgid(void), getegid(void);
off_t lseek(int file, off_t offset, int from);
char *getcwd(char *path, size_t size), *ttyname(int file);
unsigned alarm(unsigned seconds), sleep(unsigned seconds);
long sysconf(int name);
int getpagesize(void), pause(void), nice(int increment),
    getopt(int count, char *const arguments[], const char *options);
extern char *optarg;
extern int optind, opterr, optopt;
_Noreturn void _exit(int status);

#endif
