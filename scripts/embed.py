#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write C source that holds the given files: embed.py OUTPUT.c SYMBOL FILE..."""
import os
import sys


def literal(data):
    rows = []
    for line in data.splitlines(keepends=True):
        text = "".join(
            "\\n" if byte == 10 else
            "\\" + chr(byte) if byte in b'"\\' else
            chr(byte) if 32 <= byte < 127 and byte != ord("?") else
            "\\%03o" % byte
            for byte in line)
        rows.append(f'    "{text}"')
    return "\n".join(rows) or '    ""'


def main():
    output, symbol, files = sys.argv[1], sys.argv[2], sorted(sys.argv[3:], key=os.path.basename)
    with open(output, "w") as out:
        out.write('#include "core/embedded.h"\n\n')
        out.write(f"const igi_embedded {symbol}[] = {{\n")
        for path in files:
            data = open(path, "rb").read()
            out.write(f'  {{"{os.path.basename(path)}", {len(data)},\n{literal(data)}}},\n')
        out.write(f"}};\nconst size_t {symbol}_count = {len(files)};\n")


main()
