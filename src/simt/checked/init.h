// SPDX-License-Identifier: Apache-2.0
// Shadow memory for initialisation: for each byte, which of its bits nobody has written, and to which object they belong.
#ifndef INGOT_SIMT_CHECKED_INIT_H
#define INGOT_SIMT_CHECKED_INIT_H

#include "simt/checked/state.h"
#include "simt/run.h"

// Where a value that nobody wrote comes from, as the hooks know it.
enum {
    IGI_ORIGIN_THREADGROUP = 0x40000000,
    IGI_ORIGIN_BUFFER = 0x20000000,
    IGI_ORIGIN_VARIABLE = 0x10000000,  // plus the number of a name
};

// Of the calling thread, about to run a threadgroup. NULL: nothing is checked. False when memory is short.
bool igi_simt_checked_enter(igi_simt_checked *checked, igi_simt_scratch *scratch, const igi_simt_group *group,
                            uint64_t threadgroup_bytes);
void igi_simt_checked_leave(void);
// Name of the private variable of an origin; "" when there is none.
const char *igi_simt_checked_variable(uint32_t origin);

// The symbols that LLVM's sanitizer wants, by name; NULL for others.
void (*igi_simt_checked_sanitizer_symbol(const char *name))(void);

#endif
