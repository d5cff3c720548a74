// SPDX-License-Identifier: Apache-2.0
// A name that headers for Metal mention; there are no surfaces here.
#ifndef INGOT_IOSURFACE_REF_H
#define INGOT_IOSURFACE_REF_H

typedef struct __IOSurface *IOSurfaceRef;

#endif
