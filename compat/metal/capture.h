// SPDX-License-Identifier: Apache-2.0
// Captures by MTLCaptureManager. Internal.
#ifndef INGOT_COMPAT_METAL_CAPTURE_H
#define INGOT_COMPAT_METAL_CAPTURE_H

#include "commands.h"

#pragma GCC visibility push(hidden)
bool igi_metal_may_capture(void);                // the environment allows it
void igi_capture_note(IGCommandBuffer *buffer);  // that is about to be committed
#pragma GCC visibility pop

#endif
