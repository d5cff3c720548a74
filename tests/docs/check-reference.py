#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The API reference has an entry with a sentence for everything public, and Doxygen has nothing to complain about.

check-reference.py SOURCE_ROOT LIBRARY...: every function that a library exports must be in the reference.
"""
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
from pathlib import Path

root = Path(sys.argv[1])
sys.path.insert(0, str(root / "scripts"))
import reference  # noqa: E402


# Enums whose constants are made from a list, and whose names say all.
LISTED = {"ig_pixel_format"}


def described(node):
    """Whether a sentence says what it is: errors and conditions alone do not."""
    text = "".join("".join(part.itertext()) for part in node if part.tag in ("briefdescription", "detaileddescription")).strip()
    return text and not text.startswith(("Errors", "Precondition", "Ownership", "Threads"))


def members(compound):
    """(kind, name, node) of what a file or struct of the reference declares, and of a struct itself."""
    if compound.get("kind") == "struct":
        yield "struct", compound.findtext("compoundname"), compound
    if compound.get("kind") not in ("file", "group"):
        return
    for member in compound.iter("memberdef"):
        yield member.get("kind"), member.findtext("name"), member
        if member.findtext("name") in LISTED:
            continue
        for value in member.findall("enumvalue"):
            yield "enumerator", value.findtext("name"), value


def exported(library):
    output = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in output.splitlines() if line.split()[-1].startswith("ig_")}


with tempfile.TemporaryDirectory() as directory:
    output = Path(directory)
    problems = reference.doxygen(root, output, GENERATE_HTML="NO").splitlines()
    found = [entry for path in (output / "xml").glob("*.xml") if path.name != "index.xml"
             for compound in xml.parse(path).iter("compounddef") for entry in members(compound)]
# An anonymous enum is only the home of its constants.
named = [(kind, name, node) for kind, name, node in found if name and not name.startswith("@")]
problems += sorted({f"{kind} {name} is not described" for kind, name, node in named if not described(node)})
functions = {name for kind, name, _ in named if kind == "function"}
for library in sys.argv[2:]:
    problems += [f"{name} is exported but has no entry in the reference" for name in sorted(exported(library) - functions)]
if problems:
    sys.exit("\n".join(problems))
print(f"{len(functions)} functions, {len(named)} entries")
