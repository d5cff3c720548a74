// SPDX-License-Identifier: Apache-2.0
// assert.
#ifndef STAND_IN_ASSERT_H
#define STAND_IN_ASSERT_H

#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
_Noreturn void __assert_rtn(const char *function, const char *file, int line, const char *condition);
#define assert(condition) ((condition) ? (void)0 : __assert_rtn(__func__, __FILE__, __LINE__, #condition))
#endif
#define static_assert _Static_assert

#endif
