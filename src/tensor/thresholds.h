// SPDX-License-Identifier: Apache-2.0
// Measured thresholds, kept in a file: lines of "op backend work", where work is a number or "never".
//
// INGOT_THRESHOLDS names the file; otherwise it is "thresholds" in the device's cache directory.
#ifndef INGOT_TENSOR_THRESHOLDS_H
#define INGOT_TENSOR_THRESHOLDS_H

#include "tensor/runtime.h"

// Best effort: invalid lines are skipped with a warning in the log.
void igi_tensor_thresholds_load(igi_tensor_runtime *runtime);
// errors: UNSUPPORTED if there is no place for the file, IO.
ig_status igi_tensor_thresholds_save(igi_tensor_runtime *runtime, ig_error *error);

#endif
