// SPDX-License-Identifier: Apache-2.0
// Time of day and interval timers.
#ifndef STAND_IN_SYS_TIME_H
#define STAND_IN_SYS_TIME_H

#include <sys/types.h>
#include <time.h>

struct timeval {
    time_t tv_sec;
    suseconds_t tv_usec;
};
struct itimerval {
    struct timeval it_interval, it_value;
};
#define ITIMER_REAL 0
#define ITIMER_VIRTUAL 1
#define ITIMER_PROF 2
#define timeradd(a, b, sum)                                                                   \
    ((sum)->tv_sec = (a)->tv_sec + (b)->tv_sec, (sum)->tv_usec = (a)->tv_usec + (b)->tv_usec, \
     (sum)->tv_usec >= 1000000 ? (void)((sum)->tv_sec++, (sum)->tv_usec -= 1000000) : (void)0)
int gettimeofday(struct timeval *now, void *zone);
int setitimer(int which, const struct itimerval *value, struct itimerval *before);
int utimes(const char *path, const struct timeval times[2]);

#endif
