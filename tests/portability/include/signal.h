// SPDX-License-Identifier: Apache-2.0
// Signals, with the context of a handler. SIGEV_THREAD_ID, SI_KERNEL, si_overrun, gregs, sigtimedwait and
// timer_create are missing.
#ifndef STAND_IN_SIGNAL_H
#define STAND_IN_SIGNAL_H

#include <sys/types.h>

#define SIGHUP 1
#define SIGINT 2
#define SIGQUIT 3
#define SIGILL 4
#define SIGTRAP 5
#define SIGABRT 6
#define SIGFPE 8
#define SIGKILL 9
#define SIGBUS 10
#define SIGSEGV 11
#define SIGSYS 12
#define SIGPIPE 13
#define SIGALRM 14
#define SIGTERM 15
#define SIGSTOP 17
#define SIGTSTP 18
#define SIGCONT 19
#define SIGCHLD 20
#define SIGXCPU 24
#define SIGXFSZ 25
#define SIGVTALRM 26
#define SIGPROF 27
#define SIGWINCH 28
#define SIGUSR1 30
#define SIGUSR2 31
#define SIG_DFL ((void (*)(int))0)
#define SIG_IGN ((void (*)(int))1)
#define SIG_ERR ((void (*)(int)) - 1)
#define SIG_BLOCK 1
#define SIG_UNBLOCK 2
#define SIG_SETMASK 3
#define SA_ONSTACK 0x0001
#define SA_RESTART 0x0002
#define SA_RESETHAND 0x0004
#define SA_NOCLDSTOP 0x0008
#define SA_NODEFER 0x0010
#define SA_SIGINFO 0x0040
#define SS_ONSTACK 0x0001
#define SS_DISABLE 0x0004
#define MINSIGSTKSZ 32768
#define SIGSTKSZ 131072
#define SI_USER 0x10001
#define SI_QUEUE 0x10002
#define SI_TIMER 0x10003
typedef int sig_atomic_t;
union sigval {
    int sival_int;
    void *sival_ptr;
};
typedef struct {
    int si_signo, si_errno, si_code;
    pid_t si_pid;
    uid_t si_uid;
    int si_status;
    void *si_addr;
    union sigval si_value;
    long si_band;
    unsigned long reserved[7];
} siginfo_t;
struct sigaction {
    union {
        void (*__sa_handler)(int);
        void (*__sa_sigaction)(int, siginfo_t *, void *);
    } __sigaction_u;
    sigset_t sa_mask;
    int sa_flags;
};
#define sa_handler __sigaction_u.__sa_handler
#define sa_sigaction __sigaction_u.__sa_sigaction
typedef struct {
    void *ss_sp;
    size_t ss_size;
    int ss_flags;
} stack_t;
struct stand_in_registers {
#if defined(__aarch64__)
    uint64_t __x[29], __fp, __lr, __sp, __pc;
    uint32_t __cpsr, __pad;
#else
    uint64_t __rax, __rbx, __rcx, __rdx, __rdi, __rsi, __rbp, __rsp, __r8, __r9, __r10, __r11, __r12, __r13, __r14,
        __r15;
    uint64_t __rip, __rflags, __cs, __fs, __gs;
#endif
};
struct stand_in_machine_context {
    uint64_t __es[2];
    struct stand_in_registers __ss;
};
typedef struct {
    int uc_onstack;
    sigset_t uc_sigmask;
    stack_t uc_stack;
    void *uc_link;
    size_t uc_mcsize;
    struct stand_in_machine_context *uc_mcontext;
} ucontext_t;
int sigaction(int number, const struct sigaction *action, struct sigaction *before);
void (*signal(int number, void (*handler)(int)))(int);
int sigemptyset(sigset_t *set), sigfillset(sigset_t *set), sigaddset(sigset_t *set, int number);
int sigdelset(sigset_t *set, int number), sigismember(const sigset_t *set, int number);
int sigprocmask(int how, const sigset_t *set, sigset_t *before);
int pthread_sigmask(int how, const sigset_t *set, sigset_t *before);
int pthread_kill(pthread_t thread, int number);
int sigsuspend(const sigset_t *set), sigwait(const sigset_t *set, int *number), sigpending(sigset_t *set);
int sigaltstack(const stack_t *stack, stack_t *before);
int kill(pid_t process, int number), killpg(pid_t group, int number), raise(int number);

#endif
