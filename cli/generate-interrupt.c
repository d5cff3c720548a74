// SPDX-License-Identifier: Apache-2.0
// ingot generate: Ctrl-C stops an answer before it stops the command.
#include <signal.h>

#include "generate.h"

static volatile sig_atomic_t interrupted;

static void note_interrupt(int number) {
    if (interrupted) {
        signal(number, SIG_DFL);
        raise(number);
    }
    interrupted = 1;
}

// Without SA_RESTART, so that waiting for a line is interrupted too.
void generate_catch_interrupts(void) {
    struct sigaction action = {.sa_handler = note_interrupt};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
}

bool generate_is_interrupted(void) {
    return interrupted != 0;
}

void generate_forget_interrupt(void) {
    interrupted = 0;
}
