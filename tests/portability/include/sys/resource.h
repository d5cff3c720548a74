// SPDX-License-Identifier: Apache-2.0
// Limits and usage: ru_maxrss is in bytes. prlimit and RUSAGE_THREAD are missing.
#ifndef STAND_IN_SYS_RESOURCE_H
#define STAND_IN_SYS_RESOURCE_H

#include <sys/time.h>

#define RLIM_INFINITY (((uint64_t)1 << 63) - 1)
#define RLIMIT_CPU 0
#define RLIMIT_FSIZE 1
#define RLIMIT_DATA 2
#define RLIMIT_STACK 3
#define RLIMIT_CORE 4
#define RLIMIT_AS 5
#define RLIMIT_NPROC 7
#define RLIMIT_NOFILE 8
#define RUSAGE_SELF 0
#define RUSAGE_CHILDREN (-1)
#define PRIO_PROCESS 0
typedef uint64_t rlim_t;
struct rlimit {
    rlim_t rlim_cur, rlim_max;
};
struct rusage {
    struct timeval ru_utime, ru_stime;
    long ru_maxrss, ru_ixrss, ru_idrss, ru_isrss, ru_minflt, ru_majflt, ru_nswap, ru_inblock, ru_oublock, ru_msgsnd;
    long ru_msgrcv, ru_nsignals, ru_nvcsw, ru_nivcsw;
};
int getrlimit(int resource, struct rlimit *limit), setrlimit(int resource, const struct rlimit *limit);
int getrusage(int who, struct rusage *usage), setpriority(int which, id_t who, int priority);

#endif
