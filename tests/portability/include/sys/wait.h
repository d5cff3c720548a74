// SPDX-License-Identifier: Apache-2.0
// Children.
#ifndef STAND_IN_SYS_WAIT_H
#define STAND_IN_SYS_WAIT_H

#include <sys/types.h>

#define WNOHANG 1
#define WUNTRACED 2
#define WIFEXITED(status) (((status) & 0177) == 0)
#define WEXITSTATUS(status) (((status) >> 8) & 0xff)
#define WIFSIGNALED(status) (((status) & 0177) != 0177 && ((status) & 0177) != 0)
#define WTERMSIG(status) ((status) & 0177)
struct rusage;
pid_t wait(int *status), waitpid(pid_t child, int *status, int options);
pid_t wait4(pid_t child, int *status, int options, struct rusage *usage);

#endif
