#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether clang warns about nil exactly where a source says "// warns", and the headers themselves say all they must:

    check-nullability.py SOURCE -- CLANG FLAGS...
"""
import pathlib
import re
import subprocess
import sys

WARNINGS = ["-Wnullability", "-Wnonnull", "-Wnullable-to-nonnull-conversion", "-Wnullability-completeness",
            "-Wnullability-completeness-on-arrays", "-Wno-unused"]


def main():
    source = pathlib.Path(sys.argv[1])
    command = sys.argv[sys.argv.index("--") + 1:]
    expected = {}
    for number, line in enumerate(source.read_text().splitlines(), 1):
        said = re.search(r"// warns( twice)?", line)
        if said:
            expected[number] = 2 if said[1] else 1
    result = subprocess.run([*command, *WARNINGS, "-fsyntax-only", "-fno-color-diagnostics", str(source)],
                            capture_output=True, text=True)
    seen, elsewhere = {}, []
    for line in result.stderr.splitlines():
        found = re.match(r"(.*?):(\d+):\d+: (warning|error): ", line)
        if found and found[1] == str(source) and found[3] == "warning":
            seen[int(found[2])] = seen.get(int(found[2]), 0) + 1
        elif found:
            elsewhere.append(line)
    for line in elsewhere:
        print(line, file=sys.stderr)
    for number in sorted(expected.keys() | seen.keys()):
        if expected.get(number, 0) != seen.get(number, 0):
            print(f"{source}:{number}: {seen.get(number, 0)} warnings, not {expected.get(number, 0)}", file=sys.stderr)
    sys.exit(bool(elsewhere) or expected != seen or not expected)


main()
