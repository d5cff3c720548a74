// SPDX-License-Identifier: Apache-2.0
// Numbers of system calls: none that Linux has. The function `syscall` is deprecated, and left out.
#ifndef STAND_IN_SYS_SYSCALL_H
#define STAND_IN_SYS_SYSCALL_H

#define SYS_exit 1

#endif
