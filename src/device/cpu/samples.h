// SPDX-License-Identifier: Apache-2.0
// Samples of threads while they run kernels: a timer of each thread, by its processor time, sends it SIGPROF, whose handler
// notes where the thread is. Only for devices that are asked for it.
#ifndef INGOT_DEVICE_CPU_SAMPLES_H
#define INGOT_DEVICE_CPU_SAMPLES_H

#include "device/cpu/cpu.h"

typedef struct cpu_samples cpu_samples;

// errors: WRONG_STATE if the program has a handler for SIGPROF, UNSUPPORTED, OUT_OF_MEMORY.
ig_status igi_cpu_samples_create(cpu_samples **samples, ig_error *error);
void igi_cpu_samples_destroy(cpu_samples *samples);

// Around a kernel, on the thread that runs it. NULL is nothing.
void igi_cpu_samples_enter(cpu_samples *samples);
// Adds what was noted to the rows of the device.
void igi_cpu_samples_leave(cpu_samples *samples, ig_device *device, cpu_program *program);

#endif
