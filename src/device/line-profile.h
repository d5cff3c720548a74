// SPDX-License-Identifier: Apache-2.0
// Which source lines the time of kernels goes to: samples, counted by kernel and line.
#ifndef INGOT_DEVICE_LINE_PROFILE_H
#define INGOT_DEVICE_LINE_PROFILE_H

#include "device/objects.h"

// NULL when memory is short.
struct igi_device_line_profile *igi_device_line_profile_create(void);
void igi_device_line_profile_destroy(struct igi_device_line_profile *profile);

// Adds samples of a line. line 0: elsewhere, as in a function of the runtime. `source`: the text of the line.
// threads: any. When memory is short they are lost.
void igi_device_line_profile_add(struct igi_device_line_profile *profile, const char *kernel, const char *file,
                                 uint32_t line, const char *source, size_t source_length, uint64_t samples);

#endif
