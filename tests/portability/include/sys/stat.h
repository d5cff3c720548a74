// SPDX-License-Identifier: Apache-2.0
// Properties of files: times are st_mtimespec, not st_mtim.
#ifndef STAND_IN_SYS_STAT_H
#define STAND_IN_SYS_STAT_H

#include <sys/types.h>
#include <time.h>

struct stat {
    dev_t st_dev;
    mode_t st_mode;
    nlink_t st_nlink;
    ino_t st_ino;
    uid_t st_uid;
    gid_t st_gid;
    dev_t st_rdev;
    struct timespec st_atimespec, st_mtimespec, st_ctimespec, st_birthtimespec;
    off_t st_size;
    blkcnt_t st_blocks;
    blksize_t st_blksize;
    uint32_t st_flags, st_gen;
};
#define st_atime st_atimespec.tv_sec
#define st_mtime st_mtimespec.tv_sec
#define st_ctime st_ctimespec.tv_sec
#define UTIME_NOW (-1)
#define UTIME_OMIT (-2)
#define S_IFMT 0170000
#define S_ISDIR(mode) (((mode) & S_IFMT) == 0040000)
#define S_ISREG(mode) (((mode) & S_IFMT) == 0100000)
#define S_ISCHR(mode) (((mode) & S_IFMT) == 0020000)
#define S_ISLNK(mode) (((mode) & S_IFMT) == 0120000)
#define S_ISSOCK(mode) (((mode) & S_IFMT) == 0140000)
#define S_ISFIFO(mode) (((mode) & S_IFMT) == 0010000)
#define S_IRWXU 0000700
#define S_IRUSR 0000400
#define S_IWUSR 0000200
#define S_IXUSR 0000100
#define S_IRWXG 0000070
#define S_IRGRP 0000040
#define S_IWGRP 0000020
#define S_IRWXO 0000007
#define S_IROTH 0000004
#define S_IWOTH 0000002
#define S_ISVTX 0001000
int stat(const char *path, struct stat *info), lstat(const char *path, struct stat *info);
int fstat(int file, struct stat *info), fstatat(int directory, const char *path, struct stat *info, int flags);
int mkdir(const char *path, mode_t mode), mkdirat(int directory, const char *path, mode_t mode);
int chmod(const char *path, mode_t mode), fchmod(int file, mode_t mode), mkfifo(const char *path, mode_t mode);
int futimens(int file, const struct timespec times[2]);
int utimensat(int directory, const char *path, const struct timespec times[2], int flags);
mode_t umask(mode_t mask);

#endif
