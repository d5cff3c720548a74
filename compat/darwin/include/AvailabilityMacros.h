// SPDX-License-Identifier: Apache-2.0
// Not in Availability.h: GNUstep's headers leave out extensions of theirs where these are defined before.
#ifndef INGOT_AVAILABILITY_MACROS_H
#define INGOT_AVAILABILITY_MACROS_H

#include <Availability.h>

#ifndef MAC_OS_X_VERSION_MAX_ALLOWED
#define MAC_OS_X_VERSION_MAX_ALLOWED INGOT_MACOS_VERSION
#define MAC_OS_X_VERSION_MIN_REQUIRED INGOT_MACOS_VERSION
#endif

#endif
