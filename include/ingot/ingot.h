// SPDX-License-Identifier: Apache-2.0
// Ingot: Metal compute for C, with or without a Mac. Includes every public header.
#ifndef INGOT_INGOT_H
#define INGOT_INGOT_H

#include <ingot/device.h>
#include <ingot/halo.h>
#include <ingot/indirect.h>
#include <ingot/llm.h>
#include <ingot/nn.h>
#include <ingot/ops.h>
#include <ingot/ring.h>
#include <ingot/status.h>
#include <ingot/tensor.h>
#include <ingot/texture.h>

#endif
