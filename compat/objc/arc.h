// SPDX-License-Identifier: Apache-2.0
// Automatic reference counting. Internal.
#ifndef INGOT_COMPAT_OBJC_ARC_H
#define INGOT_COMPAT_OBJC_ARC_H

// Objects release their variables when they are deallocated, which GCC's runtime does not do. Called once a class with
// such variables is loaded.
__attribute__((visibility("hidden"))) void igi_arc_release_variables(void);

#endif
