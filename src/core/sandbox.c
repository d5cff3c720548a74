// SPDX-License-Identifier: Apache-2.0
// Landlock for files, a seccomp filter for sockets and for reaching into other processes.
#include "core/sandbox.h"

#ifdef __linux__

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

// From <linux/landlock.h>, which the machine that builds may have in an older version.
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

enum { IO_URING_SETUP = 425, X32_CALLS = 0x40000000 };

#define LOAD(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)
#define REFUSE RETURN(SECCOMP_RET_ERRNO | EPERM)
// The next instruction is for this number only.
#define IF_CALL(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1)

static void filter_calls(void) {
    struct sock_filter program[] = {
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, HOST_ARCHITECTURE, 1, 0),
        REFUSE,
        LOAD(nr),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_CALLS, 0, 1),
        REFUSE,
        IF_CALL(SYS_socket),
        REFUSE,
        IF_CALL(IO_URING_SETUP),  // it opens sockets too
        REFUSE,
        IF_CALL(SYS_ptrace),
        REFUSE,
        IF_CALL(SYS_process_vm_readv),
        REFUSE,
        IF_CALL(SYS_process_vm_writev),
        REFUSE,
        RETURN(SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof program / sizeof *program, program};
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

#else

static void filter_calls(void) {}

#endif

void igi_sandbox_enter(const igi_sandbox *sandbox) {
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);  // the kernel wants that of processes that are not root
    if (sandbox->rules >= 0) syscall(RESTRICT_SELF, sandbox->rules, 0);
    filter_calls();
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

#endif
