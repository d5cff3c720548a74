#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write a header that names this build of some sources: identity.py OUTPUT.h SYMBOL VERSION FILE...

What is cached is keyed by it: machine code by the compiler that made it, verdicts by the code that was tried."""
import hashlib
import sys

output, symbol, version, *paths = sys.argv[1:]
digest = hashlib.sha256(version.encode())
for path in sorted(paths):
    digest.update(open(path, "rb").read())
open(output, "w").write(f'#define {symbol} "{digest.hexdigest()}"\n')
