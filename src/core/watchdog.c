// SPDX-License-Identifier: Apache-2.0
// Sets abort flags when their deadlines pass.
#include "core/watchdog.h"

#include <pthread.h>
#include <stdbool.h>

#include "core/clock.h"
#include "core/memory.h"

struct igi_watchdog {
    pthread_mutex_t lock;  // guards what follows
    pthread_cond_t changed;
    pthread_t thread;
    bool started, ending;
    igi_alarm *alarms;
};

igi_watchdog *igi_watchdog_create(void) {
    igi_watchdog *watchdog = igi_calloc(1, sizeof *watchdog);
    if (!watchdog) return NULL;
    pthread_mutex_init(&watchdog->lock, NULL);
    igi_monotonic_cond_init(&watchdog->changed);
    return watchdog;
}

// Sets the flags that are due and returns the next deadline.
static uint64_t ring(igi_watchdog *watchdog) {
    uint64_t now = igi_now_ns(), next = UINT64_MAX;
    for (igi_alarm **link = &watchdog->alarms; *link;) {
        igi_alarm *alarm = *link;
        if (alarm->deadline_ns <= now) {
            atomic_store(alarm->flag, 1);
            *link = alarm->next;
            alarm->ring(alarm);
            continue;
        }
        if (alarm->deadline_ns < next) next = alarm->deadline_ns;
        link = &alarm->next;
    }
    return next;
}

static void *watch(void *argument) {
    igi_watchdog *watchdog = argument;
    pthread_mutex_lock(&watchdog->lock);
    while (!watchdog->ending) {
        igi_cond_wait_until(&watchdog->changed, &watchdog->lock, ring(watchdog));
    }
    pthread_mutex_unlock(&watchdog->lock);
    return NULL;
}

ig_status igi_watchdog_arm(igi_watchdog *watchdog, igi_alarm *alarm) {
    pthread_mutex_lock(&watchdog->lock);
    if (!watchdog->started) watchdog->started = pthread_create(&watchdog->thread, NULL, watch, watchdog) == 0;
    bool started = watchdog->started;
    if (started) {
        alarm->next = watchdog->alarms;
        watchdog->alarms = alarm;
        pthread_cond_signal(&watchdog->changed);
    }
    pthread_mutex_unlock(&watchdog->lock);
    return started ? IG_STATUS_OK : IG_STATUS_SYSTEM;
}

void igi_watchdog_disarm(igi_watchdog *watchdog, igi_alarm *alarm) {
    pthread_mutex_lock(&watchdog->lock);
    for (igi_alarm **link = &watchdog->alarms; *link; link = &(*link)->next) {
        if (*link != alarm) continue;
        *link = alarm->next;
        break;
    }
    pthread_mutex_unlock(&watchdog->lock);
}

void igi_watchdog_destroy(igi_watchdog *watchdog) {
    if (!watchdog) return;
    pthread_mutex_lock(&watchdog->lock);
    watchdog->ending = true;
    bool started = watchdog->started;
    pthread_cond_signal(&watchdog->changed);
    pthread_mutex_unlock(&watchdog->lock);
    if (started) pthread_join(watchdog->thread, NULL);
    pthread_mutex_destroy(&watchdog->lock);
    pthread_cond_destroy(&watchdog->changed);
    free(watchdog);
}
