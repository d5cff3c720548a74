// SPDX-License-Identifier: Apache-2.0
// Which object has a resource id: argument tables hold only ids. Internal.
#ifndef INGOT_COMPAT_METAL_LIVING_H
#define INGOT_COMPAT_METAL_LIVING_H

#include "object.h"

// Part of an object that can be found.
typedef struct igi_living {
    struct igi_living *next;
    uint64_t identity;
    id owner;  // not retained
} igi_living;

#pragma GCC visibility push(hidden)
void igi_living_add(igi_living *entry, uint64_t identity, id owner);
// The first thing in the owner's dealloc; nothing happens if it is not there.
void igi_living_remove(igi_living *entry);
// Calls `use` with the object of that class and id; what it consists of exists until `use` returns, but it may be about to
// go, so it must not be retained itself. Returns whether there is one.
BOOL igi_living_use(uint64_t identity, Class class, void (^use)(id owner));
#pragma GCC visibility pop

#endif
