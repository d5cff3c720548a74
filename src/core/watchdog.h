// SPDX-License-Identifier: Apache-2.0
// Sets abort flags when their deadlines pass.
#ifndef INGOT_CORE_WATCHDOG_H
#define INGOT_CORE_WATCHDOG_H

#include <stdatomic.h>
#include <stdint.h>

#include "core/status-internal.h"

typedef struct igi_watchdog igi_watchdog;

// One alarm, embedded in what it watches.
typedef struct igi_alarm {
    uint64_t deadline_ns;
    _Atomic uint32_t *flag;
    void (*ring)(struct igi_alarm *alarm);  // called after the flag is set; must not arm or disarm
    struct igi_alarm *next;
} igi_alarm;

igi_watchdog *igi_watchdog_create(void);
void igi_watchdog_destroy(igi_watchdog *watchdog);
// Starts the watchdog thread on first use. errors: SYSTEM.
ig_status igi_watchdog_arm(igi_watchdog *watchdog, igi_alarm *alarm);
// After this call the flag is no longer touched.
void igi_watchdog_disarm(igi_watchdog *watchdog, igi_alarm *alarm);

#endif
