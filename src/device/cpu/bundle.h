// SPDX-License-Identifier: Apache-2.0
// Libraries of the software device that Ingot's own `metal` and `metallib` wrote (msl/bundle.h). Each unit is a module.
#ifndef INGOT_DEVICE_CPU_BUNDLE_H
#define INGOT_DEVICE_CPU_BUNDLE_H

#include "device/cpu/cpu.h"

// Whether the descriptor names such a library.
bool igi_cpu_is_bundle(const ig_library_desc *desc);
// Units whose bitcode this version of Ingot made for these options are loaded; the others are compiled from their sources.
ig_status igi_cpu_bundle_open(ig_library *library, const ig_library_desc *desc, ig_error *error);
void igi_cpu_units_free(cpu_device *cpu, struct cpu_units *units);

// The module of the library's kernel of that number.
cpu_module *igi_cpu_unit_of_kernel(const struct cpu_units *units, size_t kernel);
// The module of a [[visible]] function of the library, whatever the library was made from.
cpu_module *igi_cpu_module_of_function(const ig_library *library, const igi_msl_function *function);

#endif
