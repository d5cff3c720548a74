// SPDX-License-Identifier: Apache-2.0
// Whether the contents of a directory can be trusted.
#ifndef INGOT_CORE_TRUST_H
#define INGOT_CORE_TRUST_H

// The directory that the path names, without symbolic links, if only this user and root can change what it holds: it
// and every directory above it belong to one of them, and nobody else may write there. In directories above it others
// may add files of their own (sticky, like /tmp). A user's own group, which has the user's number, is the user. For
// directories that do not exist yet, the deepest existing one decides. NULL: not so, and then *why names the directory and what is
// wrong with it (NULL when memory is short). owns: both are the caller's.
char *igi_trusted_directory(const char *path, char **why);

#endif
