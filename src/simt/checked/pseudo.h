// SPDX-License-Identifier: Apache-2.0
// Calls that the instrumented thread function makes for a quick look: IGI_CHECKED_PREFIX and one of these names. No such
// functions exist; igi_simt_widen_check generates code for the calls.
#ifndef INGOT_SIMT_CHECKED_PSEUDO_H
#define INGOT_SIMT_CHECKED_PSEUDO_H

// (check, thread, pointer, object, base, bytes, length, access). base NULL: base and bytes are those of the object.
// access: as in quick.h, without a width. WRITE may write memory: what it saves.
#define IGI_PSEUDO_TOUCH "touch"
#define IGI_PSEUDO_WRITE "write"
// (check, condition)
#define IGI_PSEUDO_UNLESS "unless"
// (check, thread, site, flags)
#define IGI_PSEUDO_MEET "meet"
// (check)
#define IGI_PSEUDO_TOGETHER "together"

// ANYWHERE: the object may be of any kind. STEADY: it is as aligned as its base is.
enum { IGI_PSEUDO_ANYWHERE = 1 << 30, IGI_PSEUDO_STEADY = 1 << 29 };

#endif
