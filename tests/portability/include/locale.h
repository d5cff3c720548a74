// SPDX-License-Identifier: Apache-2.0
// Locales.
#ifndef STAND_IN_LOCALE_H
#define STAND_IN_LOCALE_H

#define LC_ALL 0
#define LC_NUMERIC 4
typedef struct stand_in_locale *locale_t;
char *setlocale(int category, const char *name);

#endif
