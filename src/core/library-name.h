// SPDX-License-Identifier: Apache-2.0
// The file name of a shared library, as linkers of this system expect it: libNAME.so.0 or libNAME.0.dylib.
#ifndef INGOT_CORE_LIBRARY_NAME_H
#define INGOT_CORE_LIBRARY_NAME_H

#if defined(__MACH__)
#define IGI_LIBRARY_NAME(name, version) "lib" name "." version ".dylib"
#else
#define IGI_LIBRARY_NAME(name, version) "lib" name ".so." version
#endif

#endif
