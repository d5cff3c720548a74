// SPDX-License-Identifier: Apache-2.0
// With one call where the system has it, with several elsewhere.
#include "core/descriptors.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/memory.h"

static void close_on_exec(int file) {
    fcntl(file, F_SETFD, FD_CLOEXEC);
}

bool igi_pipe(int ends[2]) {
#ifdef IGI_HAS_PIPE2
    return pipe2(ends, O_CLOEXEC) == 0;
#else
    if (pipe(ends) != 0) return false;
    close_on_exec(ends[0]), close_on_exec(ends[1]);
    return true;
#endif
}

void igi_socket_keep_private(int socket) {
    close_on_exec(socket);
#ifdef SO_NOSIGPIPE
    setsockopt(socket, SOL_SOCKET, SO_NOSIGPIPE, &(int){1}, sizeof(int));
#endif
}

bool igi_socket_pair(int ends[2]) {
#ifdef SOCK_CLOEXEC
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return false;
#else
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return false;
#endif
    igi_socket_keep_private(ends[0]), igi_socket_keep_private(ends[1]);
    return true;
}

int igi_memory_file(const char *name) {
#ifdef MFD_CLOEXEC
    return memfd_create(name, MFD_CLOEXEC);
#else
    const char *directory = getenv("TMPDIR");
    char *path = igi_format("%s/%s-XXXXXX", directory && *directory ? directory : "/tmp", name);
    int file = path ? mkostemp(path, O_CLOEXEC) : -1;
    if (file >= 0) unlink(path);
    free(path);
    return file;
#endif
}
