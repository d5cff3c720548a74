// SPDX-License-Identifier: Apache-2.0
// The name of the system.
#ifndef STAND_IN_SYS_UTSNAME_H
#define STAND_IN_SYS_UTSNAME_H

struct utsname {
    char sysname[256], nodename[256], release[256], version[256], machine[256];
};
int uname(struct utsname *name);

#endif
