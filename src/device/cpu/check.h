// SPDX-License-Identifier: Apache-2.0
// Checked dispatches of the software device: objects and shadow memory for what a kernel can access, and findings.
#ifndef INGOT_DEVICE_CPU_CHECK_H
#define INGOT_DEVICE_CPU_CHECK_H

#include "device/cpu/cpu.h"
#include "simt/checked/state.h"

typedef struct cpu_checker cpu_checker;

// NULL when memory is short.
cpu_checker *igi_cpu_checker_create(uint32_t checks);
void igi_cpu_checker_destroy(cpu_checker *checker);
// Called while programs can still be released. NULL does nothing.
void igi_cpu_queues_close(cpu_device *cpu, cpu_checker *checker);

// Registers a new buffer. `written`: its memory is initialised.
bool igi_cpu_check_buffer(ig_buffer *buffer, bool written);
void igi_cpu_uncheck_buffer(ig_buffer *buffer);
// Registers a new texture, whose description kernels may read. Its pixels are in a buffer.
bool igi_cpu_check_texture(ig_texture *texture);
void igi_cpu_uncheck_texture(ig_texture *texture);
// A command other than a dispatch has written here.
void igi_cpu_check_written(ig_buffer *buffer, uint64_t offset, uint64_t length);

// The checks for a dispatch that begins now.
uint32_t igi_cpu_check_flags(ig_device *device);
// One dispatch at a time: the checker is held from begin to end. NULL when memory is short.
igi_simt_checked *igi_cpu_check_begin(const ig_commands *commands, const igi_device_dispatch *dispatch,
                                      const igi_simt_code *code, const uint64_t groups[3], uint64_t group_count);
// The same for a dispatch outside of all queues, which may run as long as its owner exists, while other dispatches are
// checked. Only races between its own threads are found. Buffers that it may write count as initialised from now on.
igi_simt_checked *igi_cpu_check_begin_alone(ig_device *device, const igi_device_dispatch *dispatch,
                                            const igi_simt_code *code);
// Where the arguments of one group are.
void igi_cpu_check_arguments(igi_simt_checked *checked, const igi_device_dispatch *dispatch,
                             const igi_simt_group *group, uint32_t static_bytes);
// Moves the findings to the commands.
void igi_cpu_check_end(ig_commands *commands, const igi_device_dispatch *dispatch, igi_simt_checked *checked,
                       ig_size group, const uint64_t groups[3]);
// ---- A quick look ----

typedef struct cpu_quick cpu_quick;

// False: it is not possible, and the dispatch must be checked thread by thread. The checker is held until it ends.
bool igi_cpu_quick_begin(ig_device *device, const igi_device_dispatch *dispatch, const igi_simt_code *code,
                         uint32_t threads, uint64_t group_count, cpu_quick **quick);
// Called by each thread of the host before it runs threadgroups, whose arguments are where those of `group` are. NULL when
// memory is short.
igi_simt_checked *igi_cpu_quick_enter(cpu_quick *quick, const igi_simt_group *group, uint32_t static_bytes);
void igi_cpu_quick_leave(igi_simt_checked *checked);
// True: nothing is wrong. False: something may be, and memory is as it was before.
bool igi_cpu_quick_end(cpu_quick *quick, bool undo);

// ---- Words ----

// Part of igi_cpu_check_end: turns findings into messages.
void igi_cpu_check_describe(ig_commands *commands, const igi_device_dispatch *dispatch, igi_simt_checked *checked,
                            ig_size group, const uint64_t groups[3]);

#endif
