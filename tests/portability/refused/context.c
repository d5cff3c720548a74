// refused: The deprecated ucontext routines require _XOPEN_SOURCE
#include <ucontext.h>
