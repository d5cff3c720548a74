// SPDX-License-Identifier: Apache-2.0
// Whether the contents of a directory can be trusted.
#ifndef INGOT_CORE_TRUST_H
#define INGOT_CORE_TRUST_H

// The directory that the path names, with symbolic links resolved, if only this user and root can change its contents:
// it and every directory above it belong to one of them, and nobody else may write there. In directories above it,
// others may add their own files (sticky, like /tmp). A private group, with the same number as the user, counts as the
// user. For directories that do not exist yet, the deepest existing one decides. Otherwise returns NULL, and *why names
// the directory and what is wrong with it (NULL when memory is short). owns: both are the caller's.
char *igi_trusted_directory(const char *path, char **why);

#endif
