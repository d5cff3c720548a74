// SPDX-License-Identifier: Apache-2.0
// Kinds of characters.
#ifndef STAND_IN_CTYPE_H
#define STAND_IN_CTYPE_H

int isalnum(int c), isalpha(int c), isblank(int c), iscntrl(int c), isdigit(int c), isgraph(int c), islower(int c);
int isprint(int c), ispunct(int c), isspace(int c), isupper(int c), isxdigit(int c), tolower(int c), toupper(int c);

#endif
