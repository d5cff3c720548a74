// SPDX-License-Identifier: Apache-2.0
// Loading libraries. RTLD_DEEPBIND, dladdr1, dlinfo and dlmopen are missing.
#ifndef STAND_IN_DLFCN_H
#define STAND_IN_DLFCN_H

enum { RTLD_LAZY = 1, RTLD_NOW = 2, RTLD_LOCAL = 4, RTLD_GLOBAL = 8, RTLD_NOLOAD = 16, RTLD_NODELETE = 128 };
#define RTLD_NEXT ((void *)-1)
#define RTLD_DEFAULT ((void *)-2)
typedef struct dl_info {
    const char *dli_fname;
    void *dli_fbase;
    const char *dli_sname;
    void *dli_saddr;
} Dl_info;
void *dlopen(const char *path, int mode);
void *dlsym(void *library, const char *name);
int dlclose(void *library);
char *dlerror(void);
int dladdr(const void *address, Dl_info *info);

#endif
