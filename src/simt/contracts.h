// SPDX-License-Identifier: Apache-2.0
// What each pass promises (post: in passes.h), as far as a machine can check it. Debug builds check after every pass.
#ifndef INGOT_SIMT_CONTRACTS_H
#define INGOT_SIMT_CONTRACTS_H

#include "simt/passes.h"

// The first promise of the pass that does not hold; NULL if all do.
const char *igi_simt_broken_promise(const igi_simt_module *m, const char *pass);

// After a pass, or a part of one: the module must be valid and the promises of the pass kept. Does nothing in builds without
// asserts. errors: INTERNAL.
ig_status igi_simt_verify(igi_simt_module *m, const char *pass);

#endif
