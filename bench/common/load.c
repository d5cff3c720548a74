// SPDX-License-Identifier: Apache-2.0
// The load of other programs on this machine while we measure.
#include "bench/common/load.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "console/output.h"
#include "core/clock.h"

static double seconds_of(int who) {
    struct rusage usage;
    if (getrusage(who, &usage) != 0) return 0;
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

// Seconds that all cores together have been busy, or taken by other virtual machines, since the machine started.
static double busy_seconds(void) {
    double user = 0, nice = 0, system = 0, idle = 0, wait = 0, interrupts = 0, soft = 0, stolen = 0;
    FILE *file = fopen("/proc/stat", "r");
    if (!file) return 0;
    int got = fscanf(file, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &user, &nice, &system, &idle, &wait, &interrupts,
                     &soft, &stolen);
    fclose(file);
    return got == 8 ? (user + nice + system + interrupts + soft + stolen) / (double)sysconf(_SC_CLK_TCK) : 0;
}

bench_load bench_load_now(void) {
    return (bench_load){
        .ns = igi_now_ns(), .busy = busy_seconds(), .ours = seconds_of(RUSAGE_SELF) + seconds_of(RUSAGE_CHILDREN)};
}

double bench_load_of_others(const bench_load *start) {
    bench_load now = bench_load_now();
    double possible = (double)(now.ns - start->ns) * 1e-9 * (double)sysconf(_SC_NPROCESSORS_ONLN);
    double others = (now.busy - start->busy) - (now.ours - start->ours);
    return others > 0 ? others / possible : 0;
}

void bench_warn_of_load(const bench_load *start) {
    double others = bench_load_of_others(start);
    if (others > 0.05)
        cli_note("other programs used %.0f%% of this machine during the run: measure again when it is idle",
                 others * 100);
}
