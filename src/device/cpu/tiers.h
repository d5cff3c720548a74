// SPDX-License-Identifier: Apache-2.0
// Two tiers of code: what is made when a kernel is first needed, and what replaces it if the kernel runs for long.
#ifndef INGOT_DEVICE_CPU_TIERS_H
#define INGOT_DEVICE_CPU_TIERS_H

#include "device/cpu/cpu.h"

// The tier of a program for which the descriptor asks for `wanted` (0, 1 or 2).
cpu_tier igi_cpu_choose_tier(const cpu_device *cpu, uint32_t wanted);

// Fills a new variant with the first code for its purpose. Call with the program's lock held.
ig_status igi_cpu_variant_open(ig_device *device, const cpu_program *program, cpu_variant *variant, ig_error *error);
// The same for code that is only worth having if it is fast: it may come later.
void igi_cpu_variant_open_later(ig_device *device, const cpu_program *program, cpu_variant *variant);
void igi_cpu_variant_close(cpu_device *cpu, cpu_variant *variant);

// A dispatch has run this long for lack of better code. Soon after, there may be some, which runs in flight
// change to between threadgroups.
void igi_cpu_variant_charge(ig_device *device, cpu_program *program, cpu_variant *variant, uint64_t ns);
static inline bool igi_cpu_variant_can_improve(cpu_variant *variant) {
    return variant && !atomic_load_explicit(&variant->settled, memory_order_relaxed);
}

uint32_t igi_cpu_pipeline_tier(const ig_pipeline *pipeline);

// Gives up what is being made, and waits for its threads. Before the device's parts are closed.
void igi_cpu_tiers_close(cpu_device *cpu);

// Runs the task soon on a thread that may wait for the compiler. Returns false if there are no threads.
bool igi_cpu_create_later(ig_device *device, igi_task *task);

#endif
