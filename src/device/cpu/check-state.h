// SPDX-License-Identifier: Apache-2.0
// What check.c and check-quick.c share.
#ifndef INGOT_DEVICE_CPU_CHECK_STATE_H
#define INGOT_DEVICE_CPU_CHECK_STATE_H

#include "device/cpu/check.h"

// Cells for a quick look: one set for each thread of the host at work, so that none waits for another.
typedef struct quick_cells {
    void *memory;  // owners, infos and what was touched, one after the other
    uint64_t bytes;
    uint64_t granules;  // that there is room for
    igi_simt_quick_cells at;
} quick_cells;

enum { QUICK_MOST_SETS = 256 };

typedef struct checked_buffer {
    ig_buffer *buffer;
    igi_simt_checked_object object;  // all of it
    uint64_t cell_bytes, shadow_bytes;
    // For a quick look; guarded by the checker's lock
    quick_cells *sets;
    size_t set_count;
    bool tracked;    // in this dispatch
    uint8_t *saved;  // pages that were, and
    char *copy;      // what was in them
    uint64_t saved_bytes, copy_bytes;
    // For races between queues
    igi_simt_checked_marks *marks[IGI_CHECKED_QUEUES];
    uint64_t mark_bytes, marks_of;  // the buffer's id
} checked_buffer;

typedef struct checked_texture {
    const ig_texture *texture;
    igi_simt_checked_object description;
} checked_texture;

// Where a buffer was that is gone.
typedef struct cpu_released {
    uint64_t begin, length;
} cpu_released;
enum { RELEASED_COUNT = 64, QUICK_LOCKS = 64 };

// A dispatch that other queues may race with.
typedef struct cpu_checked_launch {
    uint32_t number;       // in its queue
    cpu_program *program;  // referenced
    const igi_simt_checked_table *sites;
    ig_size grid, group;
    uint64_t groups[3];
    char *queue;  // its name
} cpu_checked_launch;
enum { QUEUE_LAUNCHES = 256 };  // remembered, of each queue

struct cpu_checker {
    // Of a dispatch outside of all queues, which is checked by itself: the device's, whose buffers it may access. NULL: this is
    // the device's.
    cpu_checker *device;
    igi_simt_checked_object *found;  // buffers as such a dispatch sees them
    size_t found_count, found_capacity;
    uint32_t checks;
    pthread_mutex_t dispatch;  // held while one runs
    pthread_mutex_t lock;      // guards what follows
    checked_buffer **buffers;  // by address
    size_t count, capacity;
    size_t shadowed;             // of them, with shadow
    checked_texture **textures;  // by the address of what kernels see of them
    size_t texture_count, texture_capacity;
    igi_simt_checked_object srgb;           // the table of sRGB, which descriptions refer to
    cpu_released released[RELEASED_COUNT];  // the last ones, in turn
    size_t released_count;
    uint32_t next_group;
    igi_simt_checked state;
    igi_simt_checked_cell *threadgroup_cells;
    uint64_t threadgroup_cell_bytes;
    cpu_checked_launch *launches[IGI_CHECKED_QUEUES];  // QUEUE_LAUNCHES each, by number; NULL: none
    // For a quick look
    bool quick;  // under way
    uint32_t next_token;
    quick_cells threadgroup_sets[QUICK_MOST_SETS];
    bool set_taken[QUICK_MOST_SETS];
    pthread_mutex_t saving[QUICK_LOCKS];  // of pages, in turn
};

// check-textures.c. What kernels may read although it is in no buffer: descriptions of textures, and what they need. NULL: there
// is no such thing. Call without the checker's lock.
void igi_cpu_check_srgb(cpu_checker *checker);
const igi_simt_checked_object *igi_cpu_find_description(cpu_checker *checker, uint64_t address);

// The checker with the device's buffers and textures: of a dispatch outside of all queues, the device's.
cpu_checker *igi_cpu_checker_of_device(cpu_checker *checker);
// Call without the checker's lock. NULL: there is none.
checked_buffer *igi_cpu_find_checked_buffer(cpu_checker *checker, uint64_t address);
void igi_cpu_refresh_checked_buffer(checked_buffer *buffer);
bool igi_cpu_is_written(const igi_device_dispatch *dispatch, const ig_buffer *buffer);
// Fills the objects of the checker's state that are arguments.
bool igi_cpu_describe_arguments(cpu_checker *checker, const igi_device_dispatch *dispatch);

// check-queues.c. The dispatch that begins, if there are several queues; false when memory is short.
bool igi_cpu_queues_begin(cpu_checker *checker, const ig_commands *commands, const igi_device_dispatch *dispatch,
                          const igi_simt_code *code, const uint64_t groups[3]);
// Lets the dispatch under way leave its marks.
bool igi_cpu_queues_mark(const cpu_checker *checker, checked_buffer *b);
void igi_cpu_queues_forget_marks(checked_buffer *b);
// NULL: it was too long ago.
const cpu_checked_launch *igi_cpu_queues_launch(const cpu_checker *checker, uint32_t place, uint32_t number);

// check-quick.c: frees what it keeps.
void igi_cpu_quick_forget(checked_buffer *buffer);
void igi_cpu_quick_free_sets(cpu_checker *checker);

#endif
