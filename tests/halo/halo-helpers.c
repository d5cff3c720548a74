// SPDX-License-Identifier: Apache-2.0
// Shared by the halo tests.
#include "halo-helpers.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// ---- Processes played by threads ----

typedef struct parcel {
    uint32_t from, to, tag;
    uint64_t length;
    void *bytes;
    struct parcel *next;
} parcel;

struct rank_threads {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    parcel *first, **last;
    rank_body *body;
    void *user;
};

typedef struct rank_thread {
    rank_threads *all;
    ig_halo_transport transport;
    pthread_t thread;
} rank_thread;

typedef struct expected {
    ig_halo_message *messages;
    size_t count;
} expected;

static ig_status begin(void *context, const ig_halo_message *receives, size_t receive_count,
                       const ig_halo_message *sends, size_t send_count, void **pending, char *reason) {
    (void)reason;
    rank_thread *self = context;
    expected *list = malloc(sizeof *list);
    list->messages = malloc(receive_count * sizeof *receives + 1);
    list->count = receive_count;
    if (receive_count) memcpy(list->messages, receives, receive_count * sizeof *receives);
    pthread_mutex_lock(&self->all->lock);
    for (size_t i = 0; i < send_count; i++) {
        parcel *sent = malloc(sizeof *sent);
        *sent =
            (parcel){self->transport.rank, sends[i].rank, sends[i].tag, sends[i].length, malloc(sends[i].length), NULL};
        memcpy(sent->bytes, sends[i].bytes, sends[i].length);
        *self->all->last = sent;
        self->all->last = &sent->next;
    }
    pthread_cond_broadcast(&self->all->changed);
    pthread_mutex_unlock(&self->all->lock);
    *pending = list;
    return IG_STATUS_OK;
}

static parcel *take(rank_threads *all, uint32_t to, const ig_halo_message *message) {
    for (parcel **at = &all->first; *at; at = &(*at)->next) {
        parcel *found = *at;
        if (found->to != to || found->from != message->rank || found->tag != message->tag) continue;
        *at = found->next;
        if (!*at) all->last = at;
        return found;
    }
    return NULL;
}

static ig_status receive(rank_thread *self, const ig_halo_message *message, const struct timespec *until) {
    parcel *found;
    int timeout = 0;
    pthread_mutex_lock(&self->all->lock);
    while (!(found = take(self->all, self->transport.rank, message)) && timeout == 0)
        timeout = pthread_cond_timedwait(&self->all->changed, &self->all->lock, until);
    pthread_mutex_unlock(&self->all->lock);
    if (!found) return IG_STATUS_TIMEOUT;
    ig_status status = found->length == message->length ? IG_STATUS_OK : IG_STATUS_BAD_FORMAT;
    if (status == IG_STATUS_OK) memcpy(message->bytes, found->bytes, found->length);
    free(found->bytes);
    free(found);
    return status;
}

static ig_status finish(void *context, void *pending, uint64_t timeout_ns, char *reason) {
    rank_thread *self = context;
    expected *list = pending;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    uint64_t end = (uint64_t)until.tv_nsec + timeout_ns;
    until.tv_sec += (time_t)(end / 1000000000);
    until.tv_nsec = (long)(end % 1000000000);
    ig_status status = IG_STATUS_OK;
    for (size_t i = 0; i < list->count && status == IG_STATUS_OK; i++) {
        status = receive(self, &list->messages[i], &until);
        if (status == IG_STATUS_TIMEOUT)
            snprintf(reason, IG_HALO_REASON_BYTES, "rank %u sent nothing in time", list->messages[i].rank);
    }
    free(list->messages);
    free(list);
    return status;
}

static void *run_rank(void *user) {
    rank_thread *self = user;
    self->all->body(&self->transport, self->all->user);
    return NULL;
}

void run_ranks(uint32_t count, rank_body *body, void *user) {
    rank_threads all = {.body = body, .user = user};
    all.last = &all.first;
    pthread_mutex_init(&all.lock, NULL);
    pthread_cond_init(&all.changed, NULL);
    rank_thread *ranks = calloc(count, sizeof *ranks);
    for (uint32_t i = 0; i < count; i++) {
        ranks[i].all = &all;
        ranks[i].transport = (ig_halo_transport){i, count, begin, finish, &ranks[i]};
        assert_int_equal(pthread_create(&ranks[i].thread, NULL, run_rank, &ranks[i]), 0);
    }
    for (uint32_t i = 0; i < count; i++) pthread_join(ranks[i].thread, NULL);
    for (parcel *p = all.first, *next; p; p = next) next = p->next, free(p->bytes), free(p);
    free(ranks);
    pthread_cond_destroy(&all.changed);
    pthread_mutex_destroy(&all.lock);
}

// ---- Fields with known contents ----

void cell_bytes(const ig_halo_layout *layout, const int64_t at[3], unsigned char *bytes) {
    uint64_t cell = ((uint64_t)at[2] * layout->domain.y + (uint64_t)at[1]) * layout->domain.x + (uint64_t)at[0];
    for (uint32_t i = 0; i < layout->element_bytes; i++) {
        uint64_t mixed = (cell * 64 + i + 1) * UINT64_C(0x9e3779b97f4a7c15);
        bytes[i] = (unsigned char)(mixed >> 56);
    }
}

static void to_array(ig_size size, int64_t values[3]) {
    values[0] = (int64_t)size.x, values[1] = (int64_t)size.y, values[2] = (int64_t)size.z;
}

void fill_domain(ig_halo *halo, uint32_t field, unsigned char rim) {
    ig_halo_layout layout;
    ig_halo_get_layout(halo, &layout);
    unsigned char *element = malloc(layout.element_bytes), *array = malloc(layout.block_bytes), *next = array;
    memset(element, rim, layout.element_bytes);
    assert_ok(ig_halo_fill(halo, field, element));
    int64_t first[3], tile[3], cells[3], at[3];
    to_array(layout.first, first), to_array(layout.tile, tile), to_array(layout.cells, cells);
    for (int64_t z = 0; z < cells[2]; z++)
        for (int64_t y = 0; y < cells[1]; y++)
            for (int64_t x = 0; x < cells[0]; x++, next += layout.element_bytes) {
                at[0] = first[0] * tile[0] + x, at[1] = first[1] * tile[1] + y, at[2] = first[2] * tile[2] + z;
                cell_bytes(&layout, at, next);
            }
    assert_ok(ig_halo_scatter(halo, field, array));
    free(element), free(array);
}

// Wraps a position in the domain, or returns false if there is none.
static bool exists(const ig_halo_config *config, const ig_halo_layout *layout, int64_t at[3]) {
    int64_t domain[3];
    to_array(layout->domain, domain);
    for (int i = 0; i < 3; i++) {
        bool leaves = at[i] < 0 || at[i] >= domain[i];
        if (domain[i] < 1 || (leaves && !config->periodic[i])) return false;
        at[i] = (at[i] + domain[i]) % domain[i];
    }
    return true;
}

static bool is_wrong(const ig_halo_config *config, const ig_halo_layout *layout, const int64_t tile_at[3],
                     const int64_t in_tile[3], const unsigned char *found, unsigned char rim) {
    int64_t tile[3], at[3], left = 0;
    to_array(layout->tile, tile);
    for (int i = 0; i < 3; i++) {
        at[i] = tile_at[i] * tile[i] + in_tile[i];
        left += in_tile[i] < 0 || in_tile[i] >= tile[i];
    }
    unsigned char *wanted = malloc(layout->element_bytes);
    bool reached = left <= 1 || config->neighbours == IG_NEIGHBOURS_ALL;
    if (reached && exists(config, layout, at))
        cell_bytes(layout, at, wanted);
    else
        memset(wanted, rim, layout->element_bytes);
    bool wrong = memcmp(wanted, found, layout->element_bytes) != 0;
    free(wanted);
    return wrong;
}

uint64_t count_wrong_cells(ig_halo *halo, const ig_halo_config *config, uint32_t field, unsigned char rim) {
    ig_halo_layout layout;
    ig_halo_get_layout(halo, &layout);
    int64_t padded[3], block[3], first[3], width[3];
    to_array(layout.padded, padded), to_array(layout.block, block), to_array(layout.first, first);
    for (int i = 0; i < 3; i++) width[i] = i < (int)layout.dimensions ? layout.halo : 0;
    const unsigned char *found = ig_buffer_contents(ig_halo_field(halo, field));
    uint64_t wrong = 0;
    for (int64_t t = 0; t < block[0] * block[1] * block[2]; t++)
        for (int64_t i = 0; i < padded[0] * padded[1] * padded[2]; i++, found += layout.element_bytes) {
            int64_t tile_at[] = {first[0] + t % block[0], first[1] + t / block[0] % block[1],
                                 first[2] + t / block[0] / block[1]};
            int64_t in_tile[] = {i % padded[0] - width[0], i / padded[0] % padded[1] - width[1],
                                 i / padded[0] / padded[1] - width[2]};
            wrong += is_wrong(config, &layout, tile_at, in_tile, found, rim);
        }
    return wrong;
}
