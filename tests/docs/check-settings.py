#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Environment variables: src/core/settings.h lists all that the code reads, and the documents list the same."""
import re
import sys
from pathlib import Path

root = Path(sys.argv[1])
rows = re.findall(r'X\((\w+), "([^"]*)", "([^"]*)", "([^"]*)"\)', (root / "src/core/settings.h").read_text())
listed = ["INGOT_" + row[0] for row in rows]
problems = []

# The Metal backend is a plugin, and libMetal a library of its own: they read theirs themselves.
for path in sorted(root.glob("*/**/*.[chm]")):
    name = str(path.relative_to(root))
    if not name.startswith(("src/", "console/", "cli/", "bench/", "compat/")):
        continue
    for variable in re.findall(r'getenv\("(INGOT_\w+)"\)', path.read_text()):
        if variable not in listed:
            problems.append(f"{name} reads {variable}, which src/core/settings.h does not list")
        if name.startswith("src/") and not name.startswith("src/device/metal/"):
            problems.append(f"{name} reads {variable} by itself: use igi_setting_text")

man = re.findall(r"^\.It Ev (INGOT_\w+)", (root / "man/ingot.1").read_text(), re.M)
page = re.findall(r"^\| `(INGOT_\w+)` \| .* \| (.*) \| (.*) \|$", (root / "docs/environment.md").read_text(), re.M)
if listed != sorted(listed):
    problems.append("src/core/settings.h is not in alphabetical order")
if man != listed:
    problems.append(f"man/ingot.1 describes {man}, src/core/settings.h lists {listed}")
if page != [("INGOT_" + name, standard, meaning) for name, _, standard, meaning in rows]:
    problems.append("docs/environment.md has other rows than src/core/settings.h")
if not rows or problems:
    sys.exit("\n".join(problems) or "src/core/settings.h lists nothing")
