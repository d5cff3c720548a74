// SPDX-License-Identifier: Apache-2.0
// Clocks. clock_nanosleep, clock_getcpuclockid, timer_create and CLOCK_REALTIME_COARSE are missing.
#ifndef STAND_IN_TIME_H
#define STAND_IN_TIME_H

#include <sys/types.h>

struct timespec {
    time_t tv_sec;
    long tv_nsec;
};
struct tm {
    int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst;
    long tm_gmtoff;
    char *tm_zone;
};
typedef enum {
    CLOCK_REALTIME = 0,
    CLOCK_MONOTONIC = 6,
    CLOCK_PROCESS_CPUTIME_ID = 12,
    CLOCK_THREAD_CPUTIME_ID = 16
} clockid_t;
#define CLOCKS_PER_SEC ((clock_t)1000000)
time_t time(time_t *now), mktime(struct tm *time);
clock_t clock(void);
double difftime(time_t a, time_t b);
int clock_gettime(clockid_t clock, struct timespec *now), clock_getres(clockid_t clock, struct timespec *resolution);
#define TIME_UTC 1
int timespec_get(struct timespec *now, int base);
int nanosleep(const struct timespec *time, struct timespec *left);
struct tm *gmtime_r(const time_t *time, struct tm *parts), *localtime_r(const time_t *time, struct tm *parts);
size_t strftime(char *text, size_t size, const char *format, const struct tm *time);

#endif
