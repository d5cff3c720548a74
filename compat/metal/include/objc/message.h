// SPDX-License-Identifier: Apache-2.0
// Messages: what GCC's runtime has, and the functions of Apple's that libMetal adds.
#ifndef INGOT_OBJC_MESSAGE_H
#define INGOT_OBJC_MESSAGE_H

#include_next <objc/message.h>

#ifdef __cplusplus
extern "C" {
#endif

// Called through a cast to the method's own type. Results of more than 16 bytes come from _stret on x86-64.
extern void objc_msgSend(void);
extern void objc_msgSend_stret(void);
extern void objc_msgSend_fpret(void);

#ifdef __cplusplus
}
#endif
#endif
