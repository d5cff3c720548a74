#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write a header that names this build of the compiler: identity.py OUTPUT.h LLVM_VERSION FILE...

Cached machine code is keyed by it, so that a changed compiler never runs code of an older one."""
import hashlib
import sys

digest = hashlib.sha256(sys.argv[2].encode())
for path in sorted(sys.argv[3:]):
    digest.update(open(path, "rb").read())
open(sys.argv[1], "w").write(f'#define IGI_COMPILER_IDENTITY "{digest.hexdigest()}"\n')
