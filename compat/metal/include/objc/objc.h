// SPDX-License-Identifier: Apache-2.0
// GCC's header, with the nil of Apple's: a null pointer of no type, which programs also use for pointers to structures.
#ifndef INGOT_OBJC_OBJC_H
#define INGOT_OBJC_OBJC_H

#include_next <objc/objc.h>

#undef nil
#undef Nil
#if defined(__cplusplus) && __cplusplus >= 201103L
#define nil nullptr
#define Nil nullptr
#elif defined(__cplusplus)
#define nil __null
#define Nil __null
#else
#define nil ((void *)0)
#define Nil ((void *)0)
#endif

#endif
