// SPDX-License-Identifier: Apache-2.0
// Scheduling. Affinity, cpu_set_t and sched_getcpu are missing.
#ifndef STAND_IN_SCHED_H
#define STAND_IN_SCHED_H

int sched_yield(void);

#endif
