// SPDX-License-Identifier: Apache-2.0
// Names of Mach that headers for Metal mention.
#ifndef INGOT_MACH_H
#define INGOT_MACH_H

#include <mach/vm_page_size.h>

typedef int kern_return_t;
typedef unsigned int task_id_token_t;
#define KERN_SUCCESS 0

#endif
