// SPDX-License-Identifier: Apache-2.0
// Macros that every header of this framework uses.
#ifndef INGOT_METAL_DEFINES_H
#define INGOT_METAL_DEFINES_H

#include <Availability.h>
// Apple's Foundation brings these, and programs rely on it.
#include <TargetConditionals.h>
#include <mach/mach.h>

#import <Foundation/Foundation.h>

#if !__has_feature(blocks)
#error "Metal's API has blocks in it: compile with clang -fblocks"
#endif

#ifdef __cplusplus
#define MTL_EXTERN extern "C" __attribute__((visibility("default")))
#else
#define MTL_EXTERN extern __attribute__((visibility("default")))
#endif
#define MTL_EXPORT __attribute__((visibility("default")))
#define MTL_INLINE static inline

// Seconds. Apple's is in CoreFoundation, which GNUstep does not have.
typedef double CFTimeInterval;

#endif
