// SPDX-License-Identifier: Apache-2.0
// Fault signals of guarded threads become a jump; all others go where they went before.
#include "device/cpu/fault.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <ucontext.h>

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
enum { SIGNAL_COUNT = sizeof signals / sizeof *signals };

static struct sigaction previous[SIGNAL_COUNT];
// initial-exec: a signal handler must not allocate thread-local storage.
static _Thread_local igi_fault_guard *guard_of_thread __attribute__((tls_model("initial-exec")));

static void pass_on(int number, siginfo_t *info, void *context) {
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        if (signals[i] != number) continue;
        struct sigaction *old = &previous[i];
        if (old->sa_flags & SA_SIGINFO) {
            old->sa_sigaction(number, info, context);
        } else if (old->sa_handler != SIG_DFL && old->sa_handler != SIG_IGN) {
            old->sa_handler(number);
        } else {
            sigaction(number, old, NULL);  // back to the default: the instruction faults again and ends the process
        }
        return;
    }
}

static void caught(int number, siginfo_t *info, void *context) {
    igi_fault_guard *guard = guard_of_thread;
    if (!guard) {
        pass_on(number, info, context);
        return;
    }
    guard->address = (uint64_t)(uintptr_t)info->si_addr;
    guard->signal = number;
    guard_of_thread = NULL;
    // The jump leaves the handler without the kernel restoring the signal mask.
    pthread_sigmask(SIG_SETMASK, &((ucontext_t *)context)->uc_sigmask, NULL);
    siglongjmp(guard->back, 1);
}

static void install(void) {
    struct sigaction action = {.sa_sigaction = caught, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < SIGNAL_COUNT; i++) sigaction(signals[i], &action, &previous[i]);
}

void igi_fault_install(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
}

void igi_fault_set(igi_fault_guard *guard) {
    guard_of_thread = guard;
}
