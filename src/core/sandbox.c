// SPDX-License-Identifier: Apache-2.0
// Landlock for files; a seccomp filter for sockets and for access to other processes.
#include "core/sandbox.h"

#if __has_include(<linux/seccomp.h>)

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// ---- Files ----

// From <linux/landlock.h>, of which the build machine may have an older version.
enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446, ASK_VERSION = 1, RULE_PATH_BENEATH = 1 };
enum {
    EXECUTE = 1 << 0,
    WRITE_FILE = 1 << 1,
    READ_FILE = 1 << 2,
    READ_DIR = 1 << 3,
    ALL_OF_VERSION_1 = (1 << 13) - 1,
    REFER = 1 << 13,     // version 2
    TRUNCATE = 1 << 14,  // version 3
    OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE,
};

typedef struct ruleset {
    uint64_t files;
} ruleset;

typedef struct __attribute__((packed)) path_rule {
    uint64_t allowed;
    int32_t parent;
} path_rule;

static uint64_t restrictable(long version) {
    uint64_t rights = ALL_OF_VERSION_1;
    if (version >= 2) rights |= REFER;
    if (version >= 3) rights |= TRUNCATE;
    return rights;
}

static void allow(int rules, const char *path, uint64_t rights) {
    struct stat info;
    path_rule rule = {.allowed = rights, .parent = open(path, O_PATH | O_CLOEXEC)};
    if (rule.parent < 0) return;
    if (fstat(rule.parent, &info) == 0 && !S_ISDIR(info.st_mode)) rule.allowed &= OF_FILES;
    syscall(ADD_RULE, rules, RULE_PATH_BENEATH, &rule, 0);
    close(rule.parent);
}

igi_sandbox igi_sandbox_create(const char *const *readable, const char *const *writable) {
    long version = syscall(CREATE_RULESET, NULL, 0, ASK_VERSION);
    if (version < 1) return (igi_sandbox){-1};
    ruleset all = {restrictable(version)};
    int rules = (int)syscall(CREATE_RULESET, &all, sizeof all, 0);
    for (; rules >= 0 && *readable; readable++) allow(rules, *readable, EXECUTE | READ_FILE | READ_DIR);
    for (; rules >= 0 && *writable; writable++) allow(rules, *writable, all.files & ~(uint64_t)EXECUTE);
    return (igi_sandbox){rules};
}

void igi_sandbox_destroy(igi_sandbox *sandbox) {
    if (sandbox->rules >= 0) close(sandbox->rules);
    sandbox->rules = -1;
}

// ---- System calls ----

#if defined __x86_64__
#define HOST_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define HOST_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef HOST_ARCHITECTURE

enum { IO_URING_SETUP = 425, X32_CALLS = 0x40000000, MOST_REFUSED = 16 };

// The network, and access to other processes. io_uring opens sockets too.
static const uint32_t refused_to_compilers[] = {SYS_socket, IO_URING_SETUP, SYS_ptrace, SYS_process_vm_readv,
                                                SYS_process_vm_writev};
// In addition, starting programs and sending signals.
static const uint32_t refused_to_sealed[] = {
    SYS_socket, IO_URING_SETUP, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev,
    SYS_execve, SYS_execveat,   SYS_kill};

#define LOAD(member) (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define RETURN(value) (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, value)
#define REFUSE RETURN(SECCOMP_RET_ERRNO | EPERM)

static void refuse_calls(const uint32_t *calls, size_t count) {
    struct sock_filter program[7 + 2 * MOST_REFUSED];
    size_t at = 0;
    program[at++] = LOAD(arch);
    program[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, HOST_ARCHITECTURE, 1, 0);
    program[at++] = REFUSE;
    program[at++] = LOAD(nr);
    program[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_CALLS, 0, 1);
    program[at++] = REFUSE;
    for (size_t i = 0; i < count && i < MOST_REFUSED; i++) {
        program[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i], 0, 1);
        program[at++] = REFUSE;
    }
    program[at++] = RETURN(SECCOMP_RET_ALLOW);
    struct sock_fprog filter = {(unsigned short)at, program};
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

#define REFUSE_CALLS(list) refuse_calls(list, sizeof(list) / sizeof *(list))

#else

#define REFUSE_CALLS(list)

#endif

static void restrict_files(const igi_sandbox *sandbox) {
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);  // the kernel requires this of processes that are not root
    if (sandbox->rules >= 0) syscall(RESTRICT_SELF, sandbox->rules, 0);
}

void igi_sandbox_enter(const igi_sandbox *sandbox) {
    restrict_files(sandbox);
    REFUSE_CALLS(refused_to_compilers);
}

void igi_sandbox_seal(void) {
    const char *const nothing[] = {NULL};
    igi_sandbox closed = igi_sandbox_create(nothing, nothing);
    restrict_files(&closed);
    igi_sandbox_destroy(&closed);
    REFUSE_CALLS(refused_to_sealed);
}

#else

igi_sandbox igi_sandbox_create(const char *const *readable, const char *const *writable) {
    (void)readable, (void)writable;
    return (igi_sandbox){-1};
}

void igi_sandbox_destroy(igi_sandbox *sandbox) {
    (void)sandbox;
}

void igi_sandbox_enter(const igi_sandbox *sandbox) {
    (void)sandbox;
}

void igi_sandbox_seal(void) {}

#endif
