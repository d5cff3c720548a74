// SPDX-License-Identifier: Apache-2.0
// With blocks enabled, GNUstep's headers include this file of another runtime; Debian's blocks are in <Block.h>.
#ifndef INGOT_OBJC_BLOCKS_RUNTIME_H
#define INGOT_OBJC_BLOCKS_RUNTIME_H

#include <Block.h>

#endif
