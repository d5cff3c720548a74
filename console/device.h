// SPDX-License-Identifier: Apache-2.0
// The device a command runs on.
#ifndef INGOT_CONSOLE_DEVICE_H
#define INGOT_CONSOLE_DEVICE_H

#include <ingot/device.h>

// Returns CLI_CONTINUE, or the exit code after reporting why there is none. owns: the caller releases *device.
int cli_open_device(const ig_device_desc *desc, ig_device **device);

#endif
