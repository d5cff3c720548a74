// SPDX-License-Identifier: Apache-2.0
#include "living.h"

#include <pthread.h>

enum { BUCKETS = 1024 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static igi_living *buckets[BUCKETS];

// Ids are addresses, or states of samplers.
static igi_living **bucket_of(uint64_t identity) {
    return &buckets[identity * 0x9e3779b97f4a7c15u >> 54];
}

void igi_living_add(igi_living *entry, uint64_t identity, id owner) {
    igi_living **bucket = bucket_of(identity);
    pthread_mutex_lock(&lock);
    *entry = (igi_living){.next = *bucket, .identity = identity, .owner = owner};
    *bucket = entry;
    pthread_mutex_unlock(&lock);
}

void igi_living_remove(igi_living *entry) {
    if (!entry->owner) return;
    pthread_mutex_lock(&lock);
    igi_living **at = bucket_of(entry->identity);
    while (*at != entry) at = &(*at)->next;
    *at = entry->next;
    entry->owner = nil;
    pthread_mutex_unlock(&lock);
}

BOOL igi_living_use(uint64_t identity, Class class, void (^use)(id owner)) {
    pthread_mutex_lock(&lock);
    igi_living *at = *bucket_of(identity);
    while (at && (at->identity != identity || ![at->owner isKindOfClass:class])) at = at->next;
    if (at) use(at->owner);
    pthread_mutex_unlock(&lock);
    return at != NULL;
}
