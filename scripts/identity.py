#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write a header that names this build of some sources: identity.py OUTPUT.h DEPFILE SYMBOL VERSION DIRECTORY FILE...

What is cached is keyed by it: machine code by the compiler that made it, verdicts by the code that was tried. What the
files include of this project (beside them, in DIRECTORY or in DIRECTORY/../include) is part of them. DEPFILE tells the
build which files those were."""
import hashlib
import os
import re
import sys

INCLUDE = re.compile(rb'^[ \t]*#[ \t]*(?:include|import)[ \t]*["<]([^">]+)[">]', re.MULTILINE)


def find(name, includer, directory):
    for place in (os.path.dirname(includer), directory, os.path.join(directory, "..", "include")):
        path = os.path.normpath(os.path.join(place, name))
        if os.path.isfile(path):
            return path
    return None  # generated, or not of this project


def closure(paths, directory):
    """Every file of the project that these are made of, with its bytes."""
    found, waiting = {}, [os.path.normpath(path) for path in paths]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        with open(path, "rb") as file:
            found[path] = file.read()
        names = (os.fsdecode(name) for name in INCLUDE.findall(found[path]))
        waiting += [header for header in (find(name, path, directory) for name in names) if header]
    return found


def main():
    output, depfile, symbol, version, directory, *paths = sys.argv[1:]
    found = closure(paths, directory)
    digest = hashlib.sha256(version.encode())
    # Sorted by name, but names are not hashed: the location of the project makes no difference.
    for path in sorted(found, key=lambda path: os.path.relpath(path, directory)):
        digest.update(len(found[path]).to_bytes(8, "little") + found[path])
    with open(output, "w") as file:
        file.write(f'#define {symbol} "{digest.hexdigest()}"\n')
    with open(depfile, "w") as file:
        escaped = (path.replace(" ", "\\ ") for path in sorted(found))
        file.write(f"{output}: {' '.join(escaped)}\n")


main()
