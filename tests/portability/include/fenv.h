// SPDX-License-Identifier: Apache-2.0
// The modes of floating-point arithmetic. feenableexcept is missing.
#ifndef STAND_IN_FENV_H
#define STAND_IN_FENV_H

#define FE_TONEAREST 0x00000000
#define FE_UPWARD 0x00400000
#define FE_DOWNWARD 0x00800000
#define FE_TOWARDZERO 0x00C00000
#define FE_INVALID 0x0001
#define FE_DIVBYZERO 0x0002
#define FE_OVERFLOW 0x0004
#define FE_ALL_EXCEPT 0x009f
typedef struct {
    unsigned long long status, control;
} fenv_t;
int fesetround(int mode), fegetround(void), feclearexcept(int exceptions), fetestexcept(int exceptions);
int fegetenv(fenv_t *environment), fesetenv(const fenv_t *environment);

#endif
