// SPDX-License-Identifier: Apache-2.0
// GNUstep's headers ask for this file of another runtime when blocks are on; Debian's blocks are in <Block.h>.
#ifndef INGOT_OBJC_BLOCKS_RUNTIME_H
#define INGOT_OBJC_BLOCKS_RUNTIME_H

#include <Block.h>

#endif
