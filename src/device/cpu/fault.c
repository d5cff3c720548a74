// SPDX-License-Identifier: Apache-2.0
// Fault signals of guarded threads become a jump; all others go to the handlers that were there before.
#undef _FORTIFY_SOURCE  // it takes a jump from one stack to another for a mistake
#include "device/cpu/fault.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#if __has_include(<sys/auxv.h>)
#include <sys/auxv.h>
#endif

static const struct {
    int number;
    const char *name;
} signals[] = {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"}, {SIGILL, "SIGILL"}, {SIGTRAP, "SIGTRAP"}};
enum { SIGNAL_COUNT = sizeof signals / sizeof *signals, STACK_BYTES = 256 << 10, OUR_SHARE = 4 << 10 };

static struct sigaction previous[SIGNAL_COUNT];
// initial-exec: a signal handler must not allocate thread-local storage.
static _Thread_local igi_device_fault_guard *guard_of_thread __attribute__((tls_model("initial-exec")));

const char *igi_device_fault_signal_name(int number) {
    for (int i = 0; i < SIGNAL_COUNT; i++)
        if (signals[i].number == number) return signals[i].name;
    return "a signal";
}

// ---- Handlers of the host ----

// Sent by kill() or raise(), not caused by an instruction.
static bool was_sent(const siginfo_t *info) {
    // Linux uses all codes that are not positive for this, macOS two large ones.
    bool by_sign = SI_USER <= 0;
    return by_sign ? info->si_code <= 0 : info->si_code == SI_USER || info->si_code == SI_QUEUE;
}

// With the signal mask that the host asked for.
static void call_handler(struct sigaction *old, int number, siginfo_t *info, void *context) {
    const struct sigaction handler = *old;
    sigset_t blocked = handler.sa_mask, before, only;
    sigemptyset(&only), sigaddset(&only, number);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    if (handler.sa_flags & SA_NODEFER) pthread_sigmask(SIG_UNBLOCK, &only, NULL);
    if (handler.sa_flags & SA_RESETHAND) *old = (struct sigaction){.sa_handler = SIG_DFL};
    if (handler.sa_flags & SA_SIGINFO)
        handler.sa_sigaction(number, info, context);
    else
        handler.sa_handler(number);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

// What the system would have done without our handler. A fault occurs again as soon as we return; a signal that was
// sent, or is raised after its instruction, must be sent again.
static void take_default(const struct sigaction *old, int number, const siginfo_t *info) {
    if (old->sa_handler == SIG_IGN && was_sent(info)) return;
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
    if (was_sent(info) || number == SIGTRAP) pthread_kill(pthread_self(), number);
}

static void pass_on(int number, siginfo_t *info, void *context) {
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        if (signals[i].number != number) continue;
        struct sigaction *old = &previous[i];
        bool handled = (old->sa_flags & SA_SIGINFO) || (old->sa_handler != SIG_DFL && old->sa_handler != SIG_IGN);
        if (handled)
            call_handler(old, number, info, context);
        else
            take_default(old, number, info);
        return;
    }
}

// ---- Guards ----

// The system reports no address for an access through a non-canonical pointer.
static bool tells_address(const siginfo_t *info) {
#if defined(SI_KERNEL)
    return info->si_code != SI_KERNEL;
#else
    (void)info;
    return true;
#endif
}

void igi_device_fault_leave(void) {
    igi_device_fault_guard *guard = guard_of_thread;
    assert(guard);
    guard->signal = 0;
    guard->has_address = false;
    guard_of_thread = NULL;
    siglongjmp(guard->back, 1);
}

static void caught(int number, siginfo_t *info, void *context) {
    igi_device_fault_guard *guard = guard_of_thread;
    if (!guard || was_sent(info)) {
        pass_on(number, info, context);
        return;
    }
    guard->signal = number;
    guard->has_address = (number == SIGSEGV || number == SIGBUS) && tells_address(info);
    guard->address = (uint64_t)(uintptr_t)info->si_addr;
    guard_of_thread = NULL;
    // The jump leaves the handler without the kernel restoring the signal mask.
    pthread_sigmask(SIG_SETMASK, &((ucontext_t *)context)->uc_sigmask, NULL);
    siglongjmp(guard->back, 1);
}

static void install(void) {
    struct sigaction action = {.sa_sigaction = caught, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < SIGNAL_COUNT; i++) sigaction(signals[i].number, &action, &previous[i]);
}

void igi_device_fault_install(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
}

void igi_device_fault_set(igi_device_fault_guard *guard) {
    guard_of_thread = guard;
}

// ---- Stacks for handlers ----

// The state that the system saves grows with the processor's registers; our handler itself needs little.
static size_t least_stack(void) {
    size_t system = 0;
#if defined(AT_MINSIGSTKSZ)
    system = getauxval(AT_MINSIGSTKSZ);
#endif
    return system + OUR_SHARE;
}

bool igi_device_fault_stack_open(igi_device_fault_stack *stack) {
    stack_t theirs;
    *stack = (igi_device_fault_stack){0};
    bool has_one = sigaltstack(NULL, &theirs) == 0 && !(theirs.ss_flags & SS_DISABLE);
    if (has_one && theirs.ss_size >= least_stack()) return true;
    if (!igi_guarded_open(&stack->memory, STACK_BYTES, IGI_GUARD_LARGE)) return false;
    stack->in_turn = has_one;
    if (has_one) return true;
    stack_t ours = {.ss_sp = stack->memory.memory, .ss_size = stack->memory.bytes};
    if (sigaltstack(&ours, NULL) != 0) igi_guarded_close(&stack->memory);
    return true;
}

void igi_device_fault_stack_close(igi_device_fault_stack *stack) {
    stack_t now;
    if (!stack->memory.memory) return;
    bool ours = sigaltstack(NULL, &now) == 0 && now.ss_sp == stack->memory.memory;
    if (ours) sigaltstack(&(stack_t){.ss_flags = SS_DISABLE, .ss_size = STACK_BYTES}, NULL);
    igi_guarded_close(&stack->memory);
}

void igi_device_fault_stack_enter(igi_device_fault_stack *stack) {
    if (!stack->in_turn) return;
    stack_t ours = {.ss_sp = stack->memory.memory, .ss_size = stack->memory.bytes};
    sigaltstack(&ours, &stack->theirs);
}

void igi_device_fault_stack_leave(igi_device_fault_stack *stack) {
    if (stack->in_turn) sigaltstack(&stack->theirs, NULL);
}
