// SPDX-License-Identifier: Apache-2.0
// The few names of CoreFoundation that headers for Metal mention, and the C headers that Apple's includes, on which
// programs rely. GNUstep has no CoreFoundation.
#ifndef INGOT_CORE_FOUNDATION_H
#define INGOT_CORE_FOUNDATION_H

#include <Availability.h>
#include <assert.h>
#include <ctype.h>
#include <dispatch/dispatch.h>
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef const void *CFTypeRef;
typedef double CFTimeInterval;
typedef double CFAbsoluteTime;
typedef long CFIndex;

#endif
