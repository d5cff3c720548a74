// SPDX-License-Identifier: Apache-2.0
// Jumps.
#ifndef STAND_IN_SETJMP_H
#define STAND_IN_SETJMP_H

typedef int jmp_buf[48], sigjmp_buf[49];
int setjmp(jmp_buf place) __attribute__((returns_twice));
_Noreturn void longjmp(jmp_buf place, int value);
int sigsetjmp(sigjmp_buf place, int mask) __attribute__((returns_twice));
_Noreturn void siglongjmp(sigjmp_buf place, int value);

#endif
